"""Delivers the changes of projects to their webhooks: a turn of work on one outbox.

The holder of an outbox first retries deliveries that are due. Then it sends the changes after its position in
the feed (`due_messages`), four messages at once (`delivery_attempts`). It saves the position after each four.

After a crash in between, the next holder learns from the stored deliveries which of the four were tried. The same is
true if the table refused a call: the holder then keeps the outbox and makes it due soon. A message that was sent and
not recorded is sent again, so every message is sent at least once.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Self

from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import version_is
from gridview.dynamodb.leases import RETRY, LeaseLost
from gridview.dynamodb.table import Table
from gridview.encoding import live_keys
from gridview.encoding.seals import Sealing
from gridview.journal.log import Log
from gridview.live.delivery_attempts import DeliveryAttempts, opened_secrets, room
from gridview.live.due_messages import DueMessages, messages_on, read_page, retries_of
from gridview.live.feed import end_of
from gridview.live.messages import WebhookMessage
from gridview.live.outbox import Outbox
from gridview.live.outbox_store import OutboxStore
from gridview.live.sending import Sender
from gridview.live.webhook import Webhook, WebhookWarning
from gridview.schema.catalog import Catalog
from gridview.schema.generations import IndexNotReady
from gridview.schema.jobs import Hint
from gridview.schema.store import Catalogs, ProjectClosed
from gridview.support import clock
from gridview.support.errors import (
    Conflict,
    CursorExpired,
    InvalidRequest,
    NotFound,
    Overloaded,
    QueryTooExpensive,
    UnfollowableFilter,
)

TURN: Final = 5.0
"""Seconds of work on one outbox before others get theirs. An invocation ends with its slowest turn, and the hints of
other tenants wait for one to end.
"""

IDLE: Final = 300.0
"""Seconds after which an outbox is looked at even if no hint has come: hints may be lost."""

_BUILDING = 60.0
"""Seconds until a view is looked at again whose order is being built."""

_HIDDEN = 3_600.0
"""Seconds until an outbox is looked at again whose project is deleted and can be restored. A change is hinted
at before that.
"""

_SHORTEST = 1.0
"""Seconds until the next look at least, at the end of a day."""

_MISSING = 2.0
"""Seconds until a number is looked for again at which the feed waits."""

_UNKNOWN = 3.0
"""Seconds after a change of a webhook in which no hint may come. The stream consumer hints once a second at the
webhooks that it then reads, and this one may not have been among them.
"""


def _until(webhook: Webhook, outdated: float | None) -> float:
    """Return the seconds until the next look if no hint comes, `IDLE` at most.

    It is earlier if the webhook may be unknown, or if the rows become others.
    """
    now = clock.seconds()
    known = clock.instant(webhook.updated) + _UNKNOWN
    coming = [outdated, known if known > now else None]
    return min([IDLE, *(max(one - now, _SHORTEST) for one in coming if one is not None)])


class Delivered(NamedTuple):
    """The outcome of a turn: attempts, failed attempts, deliveries given up, and webhooks disabled."""

    attempts: int = 0
    failures: int = 0
    given_up: int = 0
    disabled: int = 0

    @classmethod
    def total(cls, parts: Iterable["Delivered"]) -> Self:
        """Return the sum of these."""
        return cls(*map(sum, zip(*(cls(), *parts), strict=True)))


@dataclass(frozen=True, slots=True)
class DeliveryMeans:
    """The means of a turn. `seals` open secrets, and `draw` returns random numbers from 0 to 1.

    `hint_at` sends a hint to continue, through the slow queue if its second argument is true.
    """

    table: Table
    catalogs: Catalogs
    sender: Sender
    seals: Sealing
    hint_at: Callable[[Hint, bool], None]
    draw: Callable[[], float] = random.random


def take_turn(means: DeliveryMeans, partition: str, left: Callable[[], float], *, slow: bool) -> Delivered:
    """Deliver what an outbox holds, until the seconds in `left` are over. Does nothing if another turn holds
    the outbox, or if it rests.

    `slow`: whether the hint came through the slow queue. In the quick queue, a receiver that fails or answers
    slowly gets one round of messages at most. The outbox then continues through the slow queue, where it
    delays no quick receiver.

    Cost if nothing is new: 5.5 read units, 2 write units, and 4 in GSI1. Also:

    - for each message, a write unit, and half a read unit for each 4 KB of its change,
    - for each four messages, a write unit,
    - for each hundred changes, the cost of `read_changes`.
    """
    store = OutboxStore(means.table, *live_keys.parse_outbox(partition))
    outbox = store.read()
    if outbox is None:
        return Delivered()
    if outbox.delays_others and not slow and outbox.is_free(clock.now()):
        means.hint_at(Hint(partition, clock.now()), True)
        return Delivered()
    taken = store.take(outbox)
    if taken is None:
        return Delivered()
    turn = _Turn(means, store, taken, left, interrupted=bool(outbox.holder), slow=slow)
    try:
        turn.work()
    except LeaseLost:
        pass
    except ProjectClosed:
        turn.put_off()
    except NotFound:  # the webhook, or its project
        store.close()
    return turn.done


class _Turn:
    """One turn of work on an outbox that is held, with its position and its lease. LeaseLost once another
    turn holds it.

    `done`: the outcome so far.
    """

    def __init__(
        self,
        means: DeliveryMeans,
        store: OutboxStore,
        outbox: Outbox,
        left: Callable[[], float],
        *,
        interrupted: bool,
        slow: bool,
    ) -> None:
        self.done = Delivered()
        self._means = means
        self._store = store
        self._outbox = replace(outbox, rests="")
        self._left = left
        self._interrupted = interrupted
        self._slow = slow

    def work(self) -> None:
        """Deliver, and give the outbox back."""
        while True:
            try:
                wait = self._deliver_all()
            except Overloaded:
                self._interrupt()
                return
            if self._given_back(wait):
                return

    def put_off(self) -> None:
        """Give the outbox back as it is: nothing is sent while its project is deleted. It continues once that
        is back.
        """
        with suppress(LeaseLost):
            self._store.give_back(self._outbox, clock.after(_HIDDEN), whatever_has_come=True)

    def _interrupt(self) -> None:
        """End the turn as a crash would, but let the next one begin soon.

        Attempts may be recorded that the position does not show. The next holder asks for them, because the outbox
        still names this one.
        """
        due = clock.after(RETRY)
        self._store.postpone(self._outbox, due)
        self._means.hint_at(Hint(self._store.partition, due), self._outbox.delays_others)

    def _given_back(self, wait: float | None) -> bool:
        """Give the outbox back, to be looked at after so many seconds; None: not until it is put again."""
        if wait is None:
            return self._store.give_back(self._outbox, None)
        rests, over = self._outbox.rests, self._is_over
        due = rests or clock.after(0 if over else wait)
        retry = None if rests or over else self._store.next_retry()
        if retry is not None:
            due = min(due, max(retry, clock.now()))
        if not self._store.give_back(self._outbox, due, whatever_has_come=bool(rests) or over):
            return False
        if clock.until(due) < IDLE - 1:
            self._means.hint_at(Hint(self._store.partition, due), self._outbox.delays_others)
        return True

    @property
    def _is_over(self) -> bool:
        """Return whether the turn ends: its time is up, or the outbox continues through the slow queue."""
        return self._left() <= 0 or (self._outbox.delays_others and not self._slow)

    def _deliver_all(self) -> float | None:
        """Deliver everything present; return the seconds until the next look. None: the webhook is disabled.
        NotFound.
        """
        while not self._is_over and not self._outbox.rests:
            webhook = self._stored()
            if not webhook.enabled:
                return None
            secrets = opened_secrets(self._means.seals, webhook)
            if not secrets:
                if self._disabled(
                    webhook,
                    "The webhook's secret can no longer be decrypted. Rotate the secret, then enable the webhook.",
                ):
                    return None
                continue
            catalog = self._means.catalogs.current(self._means.table, webhook.tenant, webhook.project)
            attempts = DeliveryAttempts(self._store, self._means.sender, self._means.draw, webhook, secrets)
            retries = retries_of(self._store, webhook, room(self._outbox))
            for delivery, why in retries.hopeless:
                self._store.record(delivery, delivery.given_up(why))
                self._count(Delivered(given_up=1))
            if retries.messages and not self._sent(attempts, catalog, retries.messages):
                return None
            if not any(retries):
                wait = self._deliver_next(attempts, catalog)
                if wait != 0.0:
                    return wait
        return 0.0

    def _stored(self) -> Webhook:
        store = self._store
        item = store.table.get(
            live_keys.webhooks(store.tenant, store.project), store.webhook, consistent=True
        )
        if item is None:
            raise NotFound("Webhook not found.")
        return Webhook.from_item(item)

    def _deliver_next(self, attempts: DeliveryAttempts, catalog: Catalog) -> float | None:
        """Deliver the next page of the feed; return the seconds until the next look, 0 to continue. None if
        the webhook is disabled.
        """
        try:
            page = read_page(self._store, self._means.catalogs, catalog, self._outbox, self._left)
        except CursorExpired:
            log = Log(self._store.table, self._store.tenant, self._store.project)
            self._outbox = replace(self._outbox, position=end_of(log), missed=True)
            return 0.0
        try:
            due = messages_on(self._means.table, attempts.webhook, self._outbox, page)
        except IndexNotReady:
            return _BUILDING
        except (Conflict, InvalidRequest, QueryTooExpensive, UnfollowableFilter) as error:
            why = f"The webhook cannot follow the rows of its view. {error.detail}"
            return None if self._disabled(attempts.webhook, why) else 0.0
        self._outbox = due.outbox
        if not self._page_delivered(attempts, due):
            return None
        page = due.page
        if page.ended and not page.overdue and self._outbox.position == page.position:
            return _MISSING if page.held else _until(attempts.webhook, due.outdated)
        return 0.0

    def _page_delivered(self, attempts: DeliveryAttempts, due: DueMessages) -> bool:
        """Send the messages of a page, as far as there is time, and move past it. False if the webhook is disabled."""
        page, messages = due.page, due.messages
        if self._interrupted or self._outbox.missed or page.reset:
            # A turn that was interrupted may have tried some of these. A reset leaves the position where it is.
            recorded = self._store.recorded([one.delivery for one in messages])
            messages = [one for one in messages if one.delivery.sort_key not in recorded]
            self._interrupted = False
        while messages:
            if self._is_over or self._outbox.rests:
                return True
            # Once the reset was tried, it is a delivery like any other: the next position must not repeat it.
            missed = self._outbox.missed and messages[0].is_reset_of_page
            self._outbox = replace(self._outbox, missed=missed)
            # The changes after a reset are sent after it.
            count = room(self._outbox) if messages[0].change else 1
            some, messages = messages[:count], messages[count:]
            if not self._sent(attempts, page.catalog, some):
                return False
        if self._outbox.rests:
            return True
        before = self._outbox
        self._outbox = replace(before, position=page.position, missed=False)
        if page.events or before.missed or before.position.number != page.position.number:
            self._store.save(self._outbox)
        return True

    def _sent(self, attempts: DeliveryAttempts, catalog: Catalog, messages: Sequence[WebhookMessage]) -> bool:
        """Send these at once, and save the outbox's progress. False if the outcome disables the webhook."""
        outcome = attempts.send(self._outbox, catalog, messages)
        self._count(Delivered(len(messages), outcome.failures, outcome.given_up))
        self._outbox = outcome.outbox
        self._store.save(self._outbox)
        return not (outcome.hopeless and self._disabled(attempts.webhook, outcome.hopeless))

    def _disabled(self, webhook: Webhook, reason: str) -> bool:
        """Disable the webhook: 1 write unit. False if an administrator has changed it meanwhile: it is to be
        read again first.
        """
        after = webhook.disabled(WebhookWarning(clock.now(), reason))
        try:
            self._means.table.put(after.to_item(), version_is(webhook.version))
        except ConditionFailed as error:
            if not error.is_repeat_of(after.to_item()):
                return False
        self._count(Delivered(disabled=1))
        return True

    def _count(self, more: Delivered) -> None:
        self.done = Delivered.total((self.done, more))
