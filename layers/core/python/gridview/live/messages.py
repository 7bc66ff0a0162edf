"""What is sent to a receiver: the body of a message, as JSON. Pure.

    {"type": "update", "timestamp": "2026-11-21T08:00:00Z", "project": "demo", "webhook": "w3k9q2m7x1c0z", "data": {...}}

`data` is the event as the feed of changes tells it (`event_json`), of the webhook's columns only.
"""

from typing import Any, Final

from gridview.encoding.json_codec import dumps
from gridview.encoding.values import datetime_json
from gridview.live.followed_rows import RowMove
from gridview.live.outbox import Delivery
from gridview.live.webhook import Webhook
from gridview.schema.catalog import Catalog
from gridview.schema.history import Change, event_json

MOST_BYTES_SENT: Final = 256 * 1024
"""Of a message. A larger one leaves out the values of its fields, and `left_out` names them."""


def body_of(webhook: Webhook, catalog: Catalog, delivery: Delivery, change: Change | None) -> bytes:
    """The body of a delivery's message; `change` is what it tells, None for a reset. Definitions are those of `catalog`."""
    data: dict[str, Any] = {} if change is None else event_json(catalog, change, webhook.columns)
    if delivery.row is not None:
        key, before = delivery.row if webhook.sends_keys else (None, None)
        data |= {"move": delivery.event, "key": key, "from": before}
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


def tells_nothing(webhook: Webhook, catalog: Catalog, change: Change, move: RowMove | None) -> bool:
    """Whether a webhook's receiver would learn nothing of a change: it touched no field that is sent, and moved no row visibly."""
    if change.kind != "update" or event_json(catalog, change, webhook.columns)["fields"]:
        return False
    return move is None or (move.move == "change" and (move.key == move.before or not webhook.sends_keys))
