"""Reads webhooks. Nothing here writes: the query function's role does not allow it."""

from typing import Any

from gridview.commands.actor import Actor
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.live.webhook import Webhook
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.errors import NotFound


def list_webhooks(table: Table, catalogs: Catalogs, actor: Actor, project: str) -> dict[str, Any]:
    """The project's webhooks in creation order, strongly consistent: a read unit for each 4 KB. NotFound."""
    found = catalogs.existing(table, actor.tenant, project, lambda _: stored(table, actor.tenant, project))
    now = clock.now()
    in_order = sorted(found, key=lambda one: (one.created, one.id))
    return {"items": [one.to_json(now) for one in in_order], "next": None}


def get_webhook(table: Table, catalogs: Catalogs, actor: Actor, project: str, webhook: str) -> dict[str, Any]:
    """A webhook as the API answers it, strongly consistent: a read unit. NotFound."""
    return existing(table, catalogs, actor, project, webhook).to_json(clock.now())


def existing(table: Table, catalogs: Catalogs, actor: Actor, project: str, webhook: str) -> Webhook:
    """A webhook, strongly consistent, and beside it the project's epoch: 2 read units. NotFound."""
    found = catalogs.existing(
        table,
        actor.tenant,
        project,
        lambda _: table.get(keys.webhooks(actor.tenant, project), webhook, consistent=True),
    )
    if found is None:
        raise NotFound("Webhook not found.")
    return Webhook.from_item(found)


def stored(table: Table, tenant: str, project: str) -> list[Webhook]:
    """The webhooks of a project in any order, strongly consistent: a read unit for each 4 KB."""
    items = table.query_all(keys.webhooks(tenant, project), consistent=True)
    return [Webhook.from_item(item) for item in items]
