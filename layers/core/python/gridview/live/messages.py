"""The messages that a webhook is sent: one for each change or reset, with its body as JSON. Pure.

    {"type": "update", "timestamp": "2026-11-21T08:00:00Z", "project": "demo", "webhook": "w3k9q2m7x1c0z", "data": {...}}

`data` is the event as the feed of changes returns it (`event_json`), with the webhook's columns only.
"""

from typing import Any, Final, NamedTuple

from gridview.encoding.json_codec import dumps
from gridview.encoding.values import datetime_json
from gridview.journal.feed_positions import FeedPosition
from gridview.live.outbox import Delivery
from gridview.live.webhook import Webhook
from gridview.schema.catalog import Catalog
from gridview.schema.history import Change, event_json

MOST_BYTES_SENT: Final = 256 * 1024
"""The largest message, in bytes. A larger one leaves out the values of its fields, and `left_out` names them."""


class WebhookMessage(NamedTuple):
    """One message to a receiver: its delivery, and the change that it reports (None: a reset).

    `position`: where the outbox is once the message was tried; None: where it was, since it is a retry or
    comes before a page.
    """

    delivery: Delivery
    change: Change | None
    position: FeedPosition | None = None

    @property
    def is_reset_of_page(self) -> bool:
        """Whether it is the reset before the changes of a page."""
        return self.change is None and self.position is None


def body_of(webhook: Webhook, catalog: Catalog, message: WebhookMessage) -> bytes:
    """Return the body of a message, under the definitions of `catalog`."""
    delivery, change, _ = message
    data: dict[str, Any] = {} if change is None else event_json(catalog, change, webhook.columns)
    if delivery.row is not None:
        key, before = delivery.row if webhook.sends_keys else (None, None)
        data |= {"move": delivery.event, "key": key, "previous_key": before}
    body = {
        "type": delivery.event,
        "timestamp": datetime_json(delivery.at),
        "project": webhook.project,
        "webhook": webhook.id,
        "data": data,
    }
    made = dumps(body)
    if len(made) <= MOST_BYTES_SENT:
        return made
    return dumps({**body, "data": {**data, "fields": {}, "left_out": sorted(data["fields"])}})
