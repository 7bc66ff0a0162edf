"""Reads webhooks and their deliveries. Nothing here writes: the query function's role does not allow it."""

from collections.abc import Mapping
from typing import Any

from gridview.commands.actor import Actor
from gridview.commands.parameters import ListParameters
from gridview.dynamodb.expressions import Bound
from gridview.dynamodb.table import Table
from gridview.encoding import keys, live_keys
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps
from gridview.live.outbox import Delivery
from gridview.live.webhook import Webhook
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.errors import NotFound
from gridview.support.validation import as_integers, parse


def list_webhooks(table: Table, catalogs: Catalogs, actor: Actor, project: str) -> dict[str, Any]:
    """Return the project's webhooks in creation order, strongly consistent: a read unit for each 4 KB.
    NotFound.
    """
    found = stored(table, actor.tenant, project)
    catalog = catalogs.current(
        table, actor.tenant, project
    )  # after them: it knows every field that they name
    now = clock.now()
    in_order = sorted(found, key=lambda one: (one.created, one.id))
    return {"items": [one.to_json(catalog, now) for one in in_order], "next": None}


def get_webhook(table: Table, catalogs: Catalogs, actor: Actor, project: str, webhook: str) -> dict[str, Any]:
    """Return a webhook as the API answers it, strongly consistent: a read unit. NotFound."""
    found, catalog = existing(table, catalogs, actor, project, webhook)
    return found.to_json(catalog, clock.now())


def list_deliveries(
    table: Table,
    catalogs: Catalogs,
    actor: Actor,
    project: str,
    webhook: str,
    parameters: Mapping[str, str],
    cursors: Cursors,
) -> dict[str, Any]:
    """Return a page of the deliveries of a webhook, the last change first, strongly consistent: one Query.
    NotFound.
    """
    request = parse(ListParameters, {**parameters, **as_integers(parameters, "limit")})
    binding = dumps([actor.tenant, project, webhook])
    before = live_keys.DELIVERY_END if request.cursor is None else str(cursors.open(request.cursor, binding))
    existing(table, catalogs, actor, project, webhook)
    page = table.query(
        live_keys.outbox(actor.tenant, project, webhook),
        bound=Bound("<", before),
        forward=False,
        limit=request.limit,
        consistent=True,
    )
    now = clock.seconds()
    return {
        "items": [
            Delivery.from_item(item).to_json(webhook) for item in page.items if item[keys.TTL_ATTRIBUTE] > now
        ],
        "next": cursors.seal(page.last, binding) if page.last is not None else None,
    }


def existing(
    table: Table, catalogs: Catalogs, actor: Actor, project: str, webhook: str
) -> tuple[Webhook, Catalog]:
    """Return a webhook and the definitions after it, strongly consistent: 2 read units. NotFound."""
    found = table.get(live_keys.webhooks(actor.tenant, project), webhook, consistent=True)
    catalog = catalogs.current(table, actor.tenant, project)
    if found is None:
        raise NotFound("Webhook not found.")
    return Webhook.from_item(found), catalog


def stored(table: Table, tenant: str, project: str) -> list[Webhook]:
    """Return the webhooks of a project in any order, strongly consistent: a read unit for each 4 KB."""
    items = table.query_all(live_keys.webhooks(tenant, project), consistent=True)
    return [Webhook.from_item(item) for item in items]
