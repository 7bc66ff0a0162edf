"""Sends messages to the receiver of a webhook, several at once: each is signed, sent once, and its outcome
recorded.

After a crash between an attempt and its record, the message is sent again, so each is sent at least once.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from gridview.encoding.seals import Sealing
from gridview.encoding.values import datetime_json
from gridview.live.messages import WebhookMessage, body_of
from gridview.live.outbox import GONE, Delivery, Outbox
from gridview.live.outbox_store import OutboxStore
from gridview.live.retries import is_hopeless
from gridview.live.sending import Sender
from gridview.live.signatures import signed_headers
from gridview.live.webhook import Webhook
from gridview.schema.catalog import Catalog
from gridview.support import clock
from gridview.support.concurrency import in_threads

AT_ONCE: Final = 4
"""Messages to one receiver that are under way at once."""


class DeliveryAttempt(NamedTuple):
    """One attempt: the delivery after it, when it began (a stored instant), and how many seconds it took."""

    delivery: Delivery
    began: str
    seconds: float


class DeliveryOutcome(NamedTuple):
    """The outcome of several attempts: the outbox after them, how many failed, and how many deliveries were
    given up.

    `hopeless`: why the webhook is to be disabled; empty: it is not.
    """

    outbox: Outbox
    failures: int
    given_up: int
    hopeless: str


def opened_secrets(seals: Sealing, webhook: Webhook) -> list[str]:
    """Return the secrets that sign now, the present one first. Secrets that do not open any more are left
    out.
    """
    opened: list[str] = []
    for sealed in webhook.signing(clock.now()):
        with suppress(ValueError):
            opened.append(seals.open(sealed, webhook.binding).decode())
    return opened


def room(outbox: Outbox) -> int:
    """Return how many messages may be under way at once. After a failed attempt, one shows whether the
    receiver is back.
    """
    return 1 if outbox.failures else AT_ONCE


@dataclass(frozen=True, slots=True)
class DeliveryAttempts:
    """Attempts at the messages of one webhook. `secrets` sign them; `draw` gives random numbers from 0 to 1."""

    store: OutboxStore
    sender: Sender
    draw: Callable[[], float]
    webhook: Webhook
    secrets: Sequence[str]

    def send(self, outbox: Outbox, catalog: Catalog, messages: Sequence[WebhookMessage]) -> DeliveryOutcome:
        """Send these messages at once, and record each outcome. Does not save the outbox. Write units: as for
        `record`.
        """
        made = in_threads(lambda message: self._attempt(catalog, message), messages, AT_ONCE)
        failures = given_up = 0
        hopeless = ""
        for message, (delivery, began, seconds) in zip(messages, made, strict=True):
            outbox = outbox.tried(delivery.reply, began, self.draw(), seconds)
            if message.position is not None:
                outbox = replace(outbox, position=message.position)
            failures += not delivery.reply.succeeded
            if not hopeless and delivery.status == "failed":
                given_up += 1
                hopeless = why_hopeless(outbox, delivery)
        return DeliveryOutcome(outbox, failures, given_up, hopeless)

    def _attempt(self, catalog: Catalog, message: WebhookMessage) -> DeliveryAttempt:
        began, start = clock.now(), clock.seconds()
        body = body_of(self.webhook, catalog, message)
        name = message.delivery.message_id(self.webhook.id)
        headers = signed_headers(self.secrets, name, int(clock.seconds()), body)
        reply = self.sender.post(self.webhook.url, headers, body)
        seconds = clock.seconds() - start
        after = message.delivery.tried(reply, began, self.draw())
        self.store.record(message.delivery, after)
        return DeliveryAttempt(after, began, seconds)


def why_hopeless(outbox: Outbox, given_up: Delivery) -> str:
    """Why a webhook is to be disabled, one of whose deliveries was given up; empty if it is not. `outbox`:
    after the attempt.
    """
    if given_up.reply.code == GONE:
        return "The receiver answered 410, so it wants no more messages."
    first, failing = given_up.first, outbox.failing
    if not failing or not is_hopeless(clock.instant(first), clock.instant(failing)):
        return ""
    return f"Every attempt since {datetime_json(failing)} has failed. The last one: {given_up.reply.problem}"
