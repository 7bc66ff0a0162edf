"""Lists deleted attributes, restores them, and permanently removes them.

A deleted attribute is hidden: no answer names it, and no request can. Issues keep its values, and the index
its entries, so that a restore brings back everything at once. After seven days the upkeep function
permanently removes it (`job_worker`).
"""

from functools import partial
from typing import Any

from gridview.commands.actor import Actor
from gridview.commands.answers import attribute_json, require_room
from gridview.commands.attributes import require_count, wanted
from gridview.commands.idempotency import Transact, at_once
from gridview.commands.preconditions import Expected, check
from gridview.dynamodb.expressions import put, version_is
from gridview.dynamodb.table import Table
from gridview.encoding.values import datetime_json
from gridview.schema import restorable
from gridview.schema.fields import Deletion, Field
from gridview.schema.items import ProjectItems, raise_epoch, to_catalog, to_field, to_item
from gridview.schema.store import Catalogs, read, retry_lost_races
from gridview.support import clock
from gridview.support.errors import NotFound


def list_deleted_attributes(table: Table, actor: Actor, project: str) -> dict[str, Any]:
    """Return the attributes that can be restored, the last deleted first, strongly consistent. NotFound.

    A read unit for each 4 KB of definitions. They are no larger together than a project may be.
    """
    items = read(table, actor.tenant, project)
    found = sorted(_restorable(items), key=lambda one: (one[1].at, one[0].key), reverse=True)
    return {"items": [_deleted_json(items, *one) for one in found], "next": None}


def restore_attribute(
    table: Table,
    catalogs: Catalogs,
    actor: Actor,
    project: str,
    attribute: str,
    *,
    transact: Transact = at_once,
) -> dict[str, Any]:
    """Bring a deleted attribute back as it was, at its former place: one transaction of two items.

    NotFound if it is not deleted, or was for more than seven days. LimitExceeded beyond 400 attributes, or if
    an answer could not hold the project.
    """

    def change() -> dict[str, Any]:
        items = read(table, actor.tenant, project)
        field, deletion = _find(items, attribute)
        order = list(items.catalog["order"])
        require_count(len(order))
        order.insert(min(deletion.position, len(order)), field.key)
        restored = field.changed(clock.now(), deletion=None)
        epoch = raise_epoch(items, order=order)
        others = to_catalog(actor.tenant, project, items).attributes
        items.catalog["order"] = order
        require_room(items, [*others, restored])
        answer = attribute_json(items, restored)
        stored = put(to_item(actor.tenant, project, restored), version_is(field.version))
        transact(table, [stored, epoch], answer)
        return answer

    restored = retry_lost_races(change, partial(_current, table, actor, project, attribute))
    catalogs.forget(actor.tenant, project)
    return restored


def purge_attribute(
    table: Table,
    catalogs: Catalogs,
    actor: Actor,
    project: str,
    attribute: str,
    expected: Expected,
    *,
    settling: float,
) -> None:
    """Permanently remove a deleted attribute: one transaction of three items. NotFound, VersionMismatch.

    Background work removes its values and the data derived from them. It begins after `settling` seconds; the
    attribute's id stays taken until it is done.
    """

    def change() -> None:
        items = read(table, actor.tenant, project)
        field, deletion = _find(items, attribute)
        check(expected, field.version, partial(_deleted_json, items, field, deletion))
        gone = field.removed_from(items.next_epoch, clock.now())
        stored = put(to_item(actor.tenant, project, gone), version_is(field.version))
        table.transact([stored, raise_epoch(items), wanted(items, settling)])

    retry_lost_races(change, partial(_current, table, actor, project, attribute))
    catalogs.forget(actor.tenant, project)


def _current(table: Table, actor: Actor, project: str, attribute: str) -> dict[str, Any]:
    """Return a deleted attribute as the API does. NotFound."""
    items = read(table, actor.tenant, project)
    return _deleted_json(items, *_find(items, attribute))


def _find(items: ProjectItems, attribute: str) -> tuple[Field, Deletion]:
    for field, deletion in _restorable(items):
        if field.id == attribute:
            return field, deletion
    raise NotFound("There is no deleted attribute with this id.")


def _restorable(items: ProjectItems) -> list[tuple[Field, Deletion]]:
    fields = map(to_field, items.attributes)
    return [
        (field, field.deletion)
        for field in fields
        if field.deletion and not restorable.is_over(field.deletion.at)
    ]


def _deleted_json(items: ProjectItems, field: Field, deletion: Deletion) -> dict[str, Any]:
    return {
        **attribute_json(items, field),
        "deleted": datetime_json(deletion.at),
        "deleted_by": deletion.by,
        "expires": datetime_json(restorable.expires(deletion.at)),
    }
