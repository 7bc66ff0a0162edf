"""Composite indexes of a project: orders by several fields, for projects that are too large to be sorted in memory."""

from dataclasses import replace
from typing import Any

from gridview.commands.actor import Actor
from gridview.commands.attributes import build_json, get_attribute, wanted
from gridview.commands.preconditions import Expected, check
from gridview.commands.requests import CompositeCreate, CompositeKey
from gridview.dynamodb.expressions import ABSENT, put, version_is
from gridview.dynamodb.table import Table
from gridview.encoding.values import datetime_json
from gridview.schema.catalog import MAX_COMPOSITES, NUM, Catalog, Composite, Part, normal_form
from gridview.schema.generations import Indexes, IndexNotReady
from gridview.schema.store import Catalogs, ProjectItems, raise_epoch, read, settle, to_catalog, to_item
from gridview.support import clock
from gridview.support.errors import Conflict, FieldError, InvalidRequest, NotFound, NotReady, Unprocessable
from gridview.support.validation import parse


def composite_json(items: ProjectItems, catalog: Catalog, composite: Composite) -> dict[str, Any]:
    """A composite index as the API answers it; `build` tells what is being made of it, as for an attribute."""
    return {
        "id": composite.id,
        "sort": [
            {
                "field": catalog.field_of(part.field).id,
                "direction": "desc" if part.descending else "asc",
                "nulls": "first" if part.nulls_first else "last",
            }
            for part in composite.sort
        ],
        "state": "building" if composite.indexes.ready is None else "ready",
        "build": build_json(items, composite, moving=_moving(catalog, composite)),
        "version": composite.version,
        "created": datetime_json(composite.created),
    }


def list_composites(table: Table, actor: Actor, project: str) -> dict[str, Any]:
    """The project's composite indexes in the order of their making, strongly consistent; NotFound."""
    items = read(table, actor.tenant, project)
    catalog = to_catalog(actor.tenant, project, items)
    found = [composite_json(items, catalog, one) for one in catalog.living_composites]
    return {"items": found, "next": None}


def get_composite(table: Table, actor: Actor, project: str, index: str) -> dict[str, Any]:
    """The composite index as the API answers it, strongly consistent; NotFound."""
    items = read(table, actor.tenant, project)
    catalog = to_catalog(actor.tenant, project, items)
    return composite_json(items, catalog, _find(catalog, index))


def with_progress(table: Table, actor: Actor, project: str, error: IndexNotReady) -> NotReady:
    """The same error with how far the index that it misses has come."""
    if error.composite is not None:
        build = get_composite(table, actor, project, error.composite)["build"]
    else:
        build = get_attribute(table, actor, project, error.attribute)["build"]
    told = f"{build['done']:,} of {build['of']:,} issues are done." if build else "It is ready now."
    return NotReady(f"{error.detail} {told}", members={"build": build})


def create_composite(
    table: Table, catalogs: Catalogs, actor: Actor, project: str, body: Any, *, settling: float
) -> dict[str, Any]:
    """Define a composite index: one transaction of three items.

    It is built in the background, which begins after `settling` seconds. InvalidRequest on a field that is none of
    the project's, is `num` or comes twice; Conflict when there is an index of the same order or its reversal; Unprocessable
    beyond 20.
    """
    request = parse(CompositeCreate, body)

    def change() -> dict[str, Any]:
        items = read(table, actor.tenant, project)
        catalog = to_catalog(actor.tenant, project, items)
        sort = _parts(catalog, request.sort)
        normal, _ = normal_form(sort)
        for one in catalog.living_composites:
            if one.normal == normal:
                raise Conflict(f"The index {one.id} gives this order already, read forwards or backwards.")
        if len(catalog.living_composites) >= MAX_COMPOSITES:
            raise Unprocessable(
                f"A project can have at most {MAX_COMPOSITES} composite indexes. Delete one that is not needed."
            )
        number = items.next_composite
        created = Composite(f"c{number}", sort, Indexes().on(items.next_epoch), created=clock.now())
        table.transact(
            [
                put(to_item(actor.tenant, project, created), ABSENT),
                raise_epoch(items, next_composite=number + 1),
                wanted(items, settling),
            ]
        )
        return composite_json(items, catalog, created)

    made = settle(change)
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
        composite = _find(to_catalog(actor.tenant, project, items), index)
        check(expected, composite.version)
        epoch = items.next_epoch
        deleted = replace(
            composite, deleted=epoch, indexes=composite.indexes.off(epoch), version=composite.version + 1
        )
        item = to_item(actor.tenant, project, deleted)
        table.transact(
            [put(item, version_is(composite.version)), raise_epoch(items), wanted(items, settling)]
        )

    settle(change)
    catalogs.forget(actor.tenant, project)


def _parts(catalog: Catalog, sort: list[CompositeKey]) -> tuple[Part, ...]:
    errors, parts, seen = [], [], set[str]()
    for place, one in enumerate(sort):
        field = catalog.get(one.field)
        where = f"sort.{place}.field"
        if one.field == NUM:
            errors.append(
                FieldError(where, "cannot be a key: issues that are equal stand in number order anyway")
            )
        elif field is None:
            errors.append(FieldError(where, "is not a field of the project"))
        elif field.key in seen:
            errors.append(FieldError(where, "is a key already"))
        else:
            seen.add(field.key)
            parts.append(Part(field.key, one.direction == "desc", one.nulls == "first"))
    if errors:
        raise InvalidRequest("The request is not valid.", errors)
    return tuple(parts)


def _moving(catalog: Catalog, composite: Composite) -> int:
    """The epoch with which options of its fields were last moved whose issues may still stand where they stood before."""
    return max(catalog.field_of(part.field).moving for part in composite.sort)


def _find(catalog: Catalog, index: str) -> Composite:
    composite = catalog.composite(index)
    if composite is None:
        raise NotFound("There is no such index.")
    return composite
