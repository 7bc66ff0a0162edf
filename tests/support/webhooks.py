"""Webhooks that are in the table without a request."""

from dataclasses import replace
from typing import Any

from gridview.dynamodb.table import Table
from gridview.encoding import live_keys
from gridview.journal.log import Log
from gridview.live.feed import end_of
from gridview.live.outbox import Delivery, Reply, new_outbox
from gridview.live.webhook import SealedSecret, Webhook
from gridview.support import clock

NOW = "2026-11-21T08:00:00.000000Z"


def stored(webhook: str, tenant: str = "0807", project: str = "35e9", **parts: Any) -> dict[str, Any]:
    """The stored item of a webhook."""
    made = {
        "url": "https://hooks.example.org/gridview",
        "secrets": (SealedSecret("sealed"),),
        "created": NOW,
        "created_by": "ann",
        "updated": NOW,
        "updated_by": "ann",
    }
    return Webhook(tenant, project, webhook, **{**made, **parts}).to_item()


def opened(webhook: str, table: Table, tenant: str = "0807", project: str = "35e9") -> dict[str, Any]:
    """The stored item of its outbox, which sends the changes from now on."""
    return new_outbox(end_of(Log(table, tenant, project))).to_item(live_keys.outbox(tenant, project, webhook))


DELIVERY = "57_1"


def delivered(webhook: str, tenant: str = "0807", project: str = "35e9") -> dict[str, Any]:
    """The stored item of the delivery of issue 1, whose first attempt has just succeeded."""
    now = clock.now()
    made = Delivery(57, 1, "create", now, 1, 1, status="delivered", attempts=1, first=now, last=now)
    return replace(made, reply=Reply(200, "ok")).to_item(live_keys.outbox(tenant, project, webhook))
