"""Delivers the changes of projects to their webhooks: a turn of work on one outbox.

Whoever has an outbox tries what is due for another attempt, then what comes behind its position in the feed, four messages at once,
and saves the position behind each four. If he dies in between, whoever takes the outbox after him sees by the deliveries which of
these were tried; what was sent and is not remembered is sent again. So every message is sent at least once.

While the last attempt has failed, messages are tried one by one: the next one tells whether the receiver is back.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import version_is
from gridview.dynamodb.leases import RETRY, LeaseLost
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.seals import Seals
from gridview.encoding.values import datetime_json
from gridview.journal.feed_positions import FeedPosition
from gridview.journal.history import read_changes as read_history
from gridview.journal.log import Log
from gridview.live.feed import FeedPage, end_of, read_changes
from gridview.live.followed_rows import RowMove
from gridview.live.messages import body_of, tells_nothing
from gridview.live.outbox import GONE, RESET, Delivery, Outbox, RowKeys
from gridview.live.outbox_store import OutboxStore
from gridview.live.retries import is_hopeless
from gridview.live.row_moves import Unjudged, Verdict, moves_of
from gridview.live.sending import Sender
from gridview.live.signatures import signed_headers
from gridview.live.webhook import Notice, Webhook
from gridview.schema.catalog import Catalog
from gridview.schema.generations import IndexNotReady
from gridview.schema.history import Change
from gridview.schema.jobs import Hint
from gridview.schema.store import Catalogs, ProjectClosed
from gridview.support import clock
from gridview.support.concurrency import in_threads
from gridview.support.errors import (
    Conflict,
    FeedExpired,
    InvalidRequest,
    NotFound,
    Overloaded,
    Unprocessable,
)

IDLE: Final = 300.0
"""Seconds after which an outbox is looked at even if no hint has come: hints may be lost."""

AT_ONCE: Final = 4
"""Messages to one receiver that are under way at once."""

_PAGE = 100
"""Changes that are read together."""

_BUILDING = 60.0
"""Seconds until a view is looked at again whose order is being built."""

_HIDDEN = 3_600.0
"""Seconds until an outbox is looked at again whose project is deleted and can be restored. A change is hinted at before that."""

_MISSING = 2.0
"""Seconds until a number is looked for again at which the feed waits."""

_FORGOTTEN = "Nothing was sent: what the message tells is not remembered any more."
_OTHER_ROWS = "Nothing was sent: an administrator has chosen other rows since."


class Delivered(NamedTuple):
    """What came of a turn: attempts, those among them that failed, deliveries given up, and webhooks disabled."""

    attempts: int = 0
    failures: int = 0
    given_up: int = 0
    disabled: int = 0


@dataclass(frozen=True, slots=True)
class DeliveryMeans:
    """What a turn needs. `seals` gives those of secrets; `hint_at` sends a hint to go on with, through the slow queue if its second
    argument is true; `draw` gives random numbers from 0 to 1.
    """

    table: Table
    catalogs: Catalogs
    sender: Sender
    seals: Callable[[], Seals]
    hint_at: Callable[[Hint, bool], None]
    draw: Callable[[], float] = random.random


def take_turn(means: DeliveryMeans, partition: str, left: Callable[[], float], *, slow: bool) -> Delivered:
    """Deliver what an outbox holds, until the seconds in `left` are over; nothing if another turn is at work on it, or if it rests.

    `slow`: whether the hint came through the slow queue. In the quick one, a receiver that fails or answers slowly gets one round
    of messages at most: the outbox then goes on through the slow queue, where it delays no quick receiver.

    If nothing is new: 5 read units and a half, 2 write units, and 4 in GSI1. Each message takes a write unit, and half a read unit
    for 4 KB of what it tells; each four a write unit; each hundred changes what `read_changes` takes.
    """
    store = OutboxStore(means.table, *keys.parse_outbox(partition))
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
    return Delivered(turn.attempts, turn.failures, turn.given_up, turn.disabled)


def _stored(means: DeliveryMeans, store: OutboxStore) -> Webhook:
    item = means.table.get(keys.webhooks(store.tenant, store.project), store.webhook, consistent=True)
    if item is None:
        raise NotFound("Webhook not found.")
    return Webhook.from_item(item)


class _Told(NamedTuple):
    """A delivery, what it tells (None for a reset), and the position behind it; None: the outbox stays where it is."""

    delivery: Delivery
    change: Change | None
    behind: FeedPosition | None = None


class _Turn:
    """One turn of work on an outbox that is held. Another one than the outbox's present holder raises LeaseLost."""

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
        self.attempts = self.failures = self.given_up = self.disabled = 0
        self._means = means
        self._store = store
        self._outbox = replace(outbox, rests="")
        self._left = left
        self._interrupted = interrupted
        self._slow = slow
        self._secrets: tuple[Webhook, list[str]] | None = None

    def work(self) -> None:
        """Deliver, and give the outbox back."""
        while True:
            try:
                wait = self._deliver_all()
            except Overloaded:
                wait = RETRY
            if self._given_back(wait):
                return

    @property
    def _is_over(self) -> bool:
        """Whether the turn ends: its time is up, or the outbox goes on through the slow queue."""
        return self._left() <= 0 or (self._outbox.delays_others and not self._slow)

    def put_off(self) -> None:
        """Give the outbox back as it is: nothing is sent while its project is deleted. It goes on from there once that is back."""
        with suppress(LeaseLost):
            self._store.give_back(self._outbox, clock.after(_HIDDEN), whatever_has_come=True)

    def _given_back(self, wait: float | None) -> bool:
        """Give the outbox back, to be looked at after so many seconds; None: not until somebody puts it anew."""
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

    def _deliver_all(self) -> float | None:
        """Deliver what there is; the seconds until the next look, None: the webhook is disabled. NotFound."""
        while not self._is_over and not self._outbox.rests:
            webhook = _stored(self._means, self._store)
            if not webhook.enabled or not self._can_sign(webhook):
                return None
            catalog = self._means.catalogs.current(self._means.table, webhook.tenant, webhook.project)
            retries = self._store.due_retries(self._room)
            if retries:
                if not self._tried(webhook, catalog, self._with_changes(webhook, catalog, retries)):
                    return None
                continue
            wait = self._deliver_next(webhook, catalog)
            if wait != 0.0:
                return wait
        return 0.0

    def _deliver_next(self, webhook: Webhook, catalog: Catalog) -> float | None:
        """Deliver what the next page of the feed tells: the seconds until the next look, 0 to go on; None if it is disabled."""
        log = Log(self._means.table, webhook.tenant, webhook.project)
        try:
            # A hint comes moments after a commit, and is not repeated.
            page = read_changes(
                *(self._means.table, self._means.catalogs, catalog, self._outbox.position, _PAGE),
                consistent=True,
            )
        except FeedExpired:
            self._outbox = replace(self._outbox, position=end_of(log), missed=True)
            return 0.0
        if page.position.number < self._outbox.position.number:  # the table was restored to an earlier moment
            self._store.forget_from(page.position.number, self._left)
        for number in page.overdue:
            log.close(number)
        try:
            page, verdicts = self._judged(webhook, page)
        except IndexNotReady:
            return _BUILDING
        except (Conflict, InvalidRequest, Unprocessable) as error:
            self._disabled(webhook, f"The rows of its view cannot be followed. {error.detail}")
            return None
        if not self._page_delivered(webhook, page, verdicts):
            return None
        if page.ended and not page.overdue and self._outbox.position == page.position:
            return _MISSING if page.held else IDLE
        return 0.0

    @property
    def _room(self) -> int:
        """How many messages may be under way at once."""
        return 1 if self._outbox.failures else AT_ONCE

    def _judged(self, webhook: Webhook, page: FeedPage) -> tuple[FeedPage, Sequence[Verdict] | None]:
        """What each change of a page does to the rows of the webhook's view; None: it follows all issues.

        The page ends where that is not known yet. IndexNotReady, Unprocessable and Conflict of the frozen view.
        """
        if webhook.view is None:
            return page, None
        rows = webhook.view.rows(page.catalog)
        if self._outbox.rows not in ("", rows.fingerprint):
            self._outbox = replace(self._outbox, missed=True)
        self._outbox = replace(self._outbox, rows=rows.fingerprint)
        verdicts = moves_of(self._means.table, page.catalog, rows, page.events)
        if Unjudged.YET not in verdicts:
            return page, verdicts
        count = verdicts.index(Unjudged.YET)
        end = page.behind[count - 1] if count else self._outbox.position
        known = replace(
            page, events=page.events[:count], behind=page.behind[:count], position=end, overdue=()
        )
        return replace(known, ended=True, held=True), verdicts[:count]

    def _page_delivered(self, webhook: Webhook, page: FeedPage, verdicts: Sequence[Verdict] | None) -> bool:
        """Deliver what a page tells, as far as there is time, and go behind it. False if the webhook is disabled."""
        told = list(self._told_by(webhook, page, verdicts))
        if self._interrupted or self._outbox.missed or page.reset:
            # A turn that was interrupted may have tried some of these. A reset has no position behind it.
            recorded = self._store.recorded([one.delivery for one in told])
            told = [one for one in told if one.delivery.sort_key not in recorded]
            self._interrupted = False
        while told:
            if self._is_over or self._outbox.rests:
                return True
            # What follows a reset is sent after it.
            count = self._room if told[0].change else 1
            some, told = told[:count], told[count:]
            if not self._tried(webhook, page.catalog, some):
                return False
        if self._outbox.rests:
            return True
        before = self._outbox
        self._outbox = replace(before, position=page.position, missed=False)
        if page.events or before.missed or before.position.number != page.position.number:
            self._store.save(self._outbox)
        return True

    def _told_by(
        self, webhook: Webhook, page: FeedPage, verdicts: Sequence[Verdict] | None
    ) -> Iterator[_Told]:
        number, at, *_ = self._outbox.position
        if page.reset or self._outbox.missed:
            yield _Told(Delivery(number, at, RESET, clock.now()), None)
        for place, (change, behind) in enumerate(zip(page.events, page.behind, strict=True)):
            verdict = None if verdicts is None else verdicts[place]
            if verdict is Unjudged.FOREVER:
                yield _Told(Delivery(behind.number, behind.place, RESET, clock.now()), None, behind)
                continue
            move = verdict if isinstance(verdict, RowMove) else None
            # A webhook of a view has no event of an issue among its own: what does nothing to the rows is passed over.
            event = change.kind if move is None else move.move
            if event in webhook.events and not tells_nothing(webhook, page.catalog, change, move):
                one = Delivery(behind.number, behind.place, event, change.at, change.num, change.version)
                row = None if move is None else RowKeys(move.key, move.before)
                yield _Told(replace(one, row=row, choice=webhook.choice), change, behind)

    def _with_changes(
        self, webhook: Webhook, catalog: Catalog, deliveries: Sequence[Delivery]
    ) -> list[_Told]:
        """Deliveries with what they tell: a read unit for each 4 KB. What is forgotten, or of former rows, is given up here."""
        wanted = [
            (one.num, one.version) for one in deliveries if one.num is not None and one.version is not None
        ]
        place = catalog.tenant, catalog.project
        found = read_history(self._means.table, *place, wanted, consistent=True) if wanted else {}
        told: list[_Told] = []
        for one in deliveries:
            if one.num is None or one.version is None:
                told.append(_Told(one, None))
            elif one.choice == webhook.choice and (one.num, one.version) in found:
                told.append(_Told(one, found[one.num, one.version]))
            else:
                why = _FORGOTTEN if one.choice == webhook.choice else _OTHER_ROWS
                self._store.record(one, one.given_up(why))
                self.given_up += 1
        return told

    def _tried(self, webhook: Webhook, catalog: Catalog, told: Sequence[_Told]) -> bool:
        """Try these at once, and save how far the outbox has come. False if the webhook is disabled by what came of it."""

        def attempt(one: _Told) -> tuple[Delivery, str, float]:
            began, at = clock.now(), clock.seconds()
            body = body_of(webhook, catalog, one.delivery, one.change)
            message = one.delivery.message_id(webhook.id)
            headers = signed_headers(self._secrets_of(webhook), message, int(clock.seconds()), body)
            reply = self._means.sender.post(webhook.url, headers, body)
            took = clock.seconds() - at
            after = one.delivery.tried(reply, began, self._means.draw())
            self._store.record(one.delivery, after)
            return after, began, took

        outbox, reason = self._outbox, ""
        for one, (after, began, took) in zip(told, in_threads(attempt, told, AT_ONCE), strict=True):
            self.attempts += 1
            self.failures += not after.reply.succeeded
            outbox = outbox.tried(after.reply, began, self._means.draw(), took)
            if one.behind is not None:
                outbox = replace(outbox, position=one.behind)
            reason = reason or self._why_hopeless(outbox, after)
        self._outbox = outbox
        if told:
            self._store.save(outbox)
        return not (reason and self._disabled(webhook, reason))

    def _why_hopeless(self, outbox: Outbox, delivery: Delivery) -> str:
        """Why a webhook is to be disabled after an attempt at one of its deliveries; empty if it is not."""
        if delivery.reply.code == GONE:
            self.given_up += 1
            return "The receiver answered 410: it wants no more messages."
        if delivery.status != "failed":
            return ""
        self.given_up += 1
        if not outbox.failing or not is_hopeless(
            clock.instant(delivery.first), clock.instant(outbox.failing)
        ):
            return ""
        return f"Every attempt since {datetime_json(outbox.failing)} has failed. The last one: {delivery.reply.problem}"

    def _disabled(self, webhook: Webhook, reason: str) -> bool:
        """Disable the webhook: 1 write unit. False if somebody has changed it meanwhile: what he wants is done first."""
        after = webhook.disabled(Notice(clock.now(), reason))
        try:
            self._means.table.put(after.to_item(), version_is(webhook.version))
        except ConditionFailed as error:
            if not error.is_repeat_of(after.to_item()):
                return False
        self.disabled += 1
        return True

    def _can_sign(self, webhook: Webhook) -> bool:
        if self._secrets_of(webhook):
            return True
        return not self._disabled(webhook, "Its secret cannot be opened any more. Rotate it, then enable it.")

    def _secrets_of(self, webhook: Webhook) -> list[str]:
        """The secrets that sign now, the present one first; what nobody can open any more is left out."""
        if self._secrets is None or self._secrets[0] != webhook:
            opened: list[str] = []
            for sealed in webhook.signing(clock.now()):
                with suppress(ValueError):
                    opened.append(self._means.seals().open(sealed, webhook.binding).decode())
            self._secrets = webhook, opened
        return self._secrets[1]
