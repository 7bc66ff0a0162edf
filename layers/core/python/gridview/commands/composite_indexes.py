"""Creates and deletes composite indexes: orders by several fields, for projects too large to sort in memory."""

from dataclasses import replace
from functools import partial
from typing import Any

from gridview.commands.actor import Actor
from gridview.commands.answers import composite_json, find_composite
from gridview.commands.attributes import wanted
from gridview.commands.idempotency import Transact, at_once
from gridview.commands.preconditions import Expected, check
from gridview.commands.reads import get_composite
from gridview.commands.requests import CompositeCreate, CompositeKey
from gridview.dynamodb.expressions import ABSENT, put, version_is
from gridview.dynamodb.table import Table
from gridview.schema.catalog import MAX_COMPOSITES, Catalog, Composite, Part, normal_form
from gridview.schema.fields import NUM
from gridview.schema.generations import Indexes
from gridview.schema.items import raise_epoch, to_catalog, to_item
from gridview.schema.store import Catalogs, read, retry_lost_races
from gridview.support import clock
from gridview.support.errors import Conflict, FieldError, InvalidRequest, LimitExceeded
from gridview.support.validation import parse


def create_composite(
    table: Table,
    catalogs: Catalogs,
    actor: Actor,
    project: str,
    body: Any,
    *,
    settling: float,
    transact: Transact = at_once,
) -> dict[str, Any]:
    """Define a composite index: one transaction of three items.

    It is built in the background, which begins after `settling` seconds. InvalidRequest if a key is unknown,
    is `num` or is repeated; Conflict if an index gives the same order or its reversal; LimitExceeded beyond
    20.
    """
    request = parse(CompositeCreate, body)

    def change() -> dict[str, Any]:
        items = read(table, actor.tenant, project)
        catalog = to_catalog(actor.tenant, project, items)
        sort = _parts(catalog, request.sort)
        normal, _ = normal_form(sort)
        for one in catalog.living_composites:
            if one.normal == normal:
                raise Conflict(f"The index {one.id} already serves this order or its reversal. Use it.")
        if len(catalog.living_composites) >= MAX_COMPOSITES:
            raise LimitExceeded(
                f"A project can have at most {MAX_COMPOSITES} composite indexes. Delete one first."
            )
        number = items.next_composite
        created = Composite(f"c{number}", sort, Indexes().on(items.next_epoch), created=clock.now())
        writes = [
            put(to_item(actor.tenant, project, created), ABSENT),
            raise_epoch(items, next_composite=number + 1),
            wanted(items, settling),
        ]
        answered = composite_json(items, catalog, created)
        transact(table, writes, answered)
        return answered

    made = retry_lost_races(change)
    catalogs.forget(actor.tenant, project)
    return made


def delete_composite(
    table: Table,
    catalogs: Catalogs,
    actor: Actor,
    project: str,
    index: str,
    expected: Expected,
    *,
    settling: float,
) -> None:
    """Delete a composite index: one transaction of three items.

    It is out of use at once. Its entries are removed in the background, which begins after `settling` seconds.
    """

    def change() -> None:
        items = read(table, actor.tenant, project)
        catalog = to_catalog(actor.tenant, project, items)
        composite = find_composite(catalog, index)
        check(expected, composite.version, partial(composite_json, items, catalog, composite))
        epoch = items.next_epoch
        deleted = replace(
            composite, deleted=epoch, indexes=composite.indexes.off(epoch), version=composite.version + 1
        )
        item = to_item(actor.tenant, project, deleted)
        table.transact(
            [put(item, version_is(composite.version)), raise_epoch(items), wanted(items, settling)]
        )

    retry_lost_races(change, partial(get_composite, table, actor, project, index))
    catalogs.forget(actor.tenant, project)


def _parts(catalog: Catalog, sort: list[CompositeKey]) -> tuple[Part, ...]:
    errors, parts, seen = [], [], set[str]()
    for place, one in enumerate(sort):
        field = catalog.get(one.field)
        where = f"sort.{place}.field"
        if one.field == NUM:
            errors.append(
                FieldError(where, "cannot be a key: issues with equal keys are sorted by number already")
            )
        elif field is None:
            errors.append(FieldError(where, "is not a field of the project"))
        elif field.key in seen:
            errors.append(FieldError(where, "must not be repeated"))
        else:
            seen.add(field.key)
            parts.append(Part(field.key, one.direction == "desc", one.nulls == "first"))
    if errors:
        raise InvalidRequest("The request is not valid. Fix what `errors` lists.", errors)
    return tuple(parts)
