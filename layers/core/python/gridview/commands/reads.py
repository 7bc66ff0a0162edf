"""Plain reads of projects, attributes and composite indexes. Nothing here writes: the query function's role
does not allow it.

This is a module of `commands`, because reads and writes share the forms of answers and the strongly
consistent read of a project's definitions. The trash is listed here too. `schema.document_store` reads a
single issue.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any, Literal

from orjson import Fragment

from gridview.commands.actor import Actor
from gridview.commands.answers import (
    attribute_json,
    attributes_json,
    build_json,
    composite_json,
    find_attribute,
    find_composite,
    fitting,
    project_json,
)
from gridview.commands.parameters import ListParameters
from gridview.dynamodb.expressions import Bound, Item, Key
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.attribute_values import item_size
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps, size_in_response
from gridview.encoding.values import datetime_json
from gridview.schema.catalog import Catalog
from gridview.schema.document_store import issue_key
from gridview.schema.documents import Document, to_json
from gridview.schema.generations import IndexNotReady
from gridview.schema.items import ProjectItems, to_catalog
from gridview.schema.restorable import is_living
from gridview.schema.store import read
from gridview.schema.trash import DELETED_AT, DELETED_BY, is_restorable
from gridview.support import clock
from gridview.support.errors import IndexBuilding
from gridview.support.validation import as_integers, parse
from gridview.view import freshness
from gridview.view.context import ReadContext
from gridview.view.issue_count import issues_in
from gridview.view.shown_versions import Answered, Shown, ShownVersion

MAX_TRASH_BYTES = 5_000_000
"""Bytes of the issues of one answer. Lambda limits an answer to 6 MB."""


def whole_project(table: Table, catalog: Catalog, items: ProjectItems) -> dict[str, Any]:
    """Return a project with its attributes and its issue count, at the cost of `issues_in`."""
    attributes = attributes_json(items, catalog.attributes)
    issues = issues_in(table, catalog)
    return {**project_json(catalog.project, items.project, issues), "attributes": attributes}


def get_project(table: Table, actor: Actor, project: str) -> dict[str, Any]:
    """Return the project with its attributes in display order, strongly consistent, and its issue count.
    NotFound.

    A read unit for each 4 KB of definitions, then the reads of `issues_in`.
    """
    items = read(table, actor.tenant, project)
    return whole_project(table, to_catalog(actor.tenant, project, items), items)


def list_projects(
    table: Table, actor: Actor, parameters: Mapping[str, str], cursors: Cursors
) -> dict[str, Any]:
    """Return a page of the tenant's projects in name order (`page_of_projects`)."""

    def to_json(project: str, own: Item) -> dict[str, Any] | None:
        return project_json(project, own) if is_living(own) else None

    return page_of_projects(table, actor, parameters, cursors, ">", to_json)


def page_of_projects(
    table: Table,
    actor: Actor,
    parameters: Mapping[str, str],
    cursors: Cursors,
    side: Literal["<", ">"],
    to_json: Callable[[str, Item], Mapping[str, Any] | None],
) -> dict[str, Any]:
    """Return a page of the deleted (`<`, the last first) or living (`>`, by name) projects. It may be short.

    The index says which projects and in which order; their own items, strongly consistent, say the rest. One Query,
    and a read unit for each 4 KB of a project. `to_json` returns None for a project that has left the list since.
    """
    request = parse(ListParameters, {**parameters, **as_integers(parameters, "limit")})
    binding = actor.tenant.encode()
    begin = keys.LIVING_PROJECTS if request.cursor is None else str(cursors.open(request.cursor, binding))
    listing = keys.tenant(actor.tenant)
    page = table.query(
        listing,
        index=True,
        bound=Bound(side, begin),
        forward=side == ">",
        limit=request.limit + 1,
        paths=(),
    )
    places = page.items[: request.limit]
    own_keys = [(item[keys.PK], listing) for item in places]
    stored = table.batch_get(own_keys, consistent=True).items
    listed = [
        (item[keys.SORT], found)
        for item, key in zip(places, own_keys, strict=True)
        if key in stored and (found := to_json(keys.parse_project(key[0])[1], stored[key])) is not None
    ]
    shown = fitting(found for _, found in listed)
    more = page.last is not None or len(page.items) > len(places)
    last = places[-1][keys.SORT] if more else None
    if len(shown) < len(listed):
        last = listed[len(shown) - 1][0]
    return {"items": shown, "next": None if last is None else cursors.seal(last, binding)}


def get_attribute(table: Table, actor: Actor, project: str, attribute: str) -> dict[str, Any]:
    """Return the attribute or built-in field as the API returns it, strongly consistent. NotFound."""
    items = read(table, actor.tenant, project)
    return attribute_json(items, find_attribute(to_catalog(actor.tenant, project, items), attribute))


def list_composites(table: Table, actor: Actor, project: str) -> dict[str, Any]:
    """Return the project's composite indexes in creation order, strongly consistent. NotFound."""
    items = read(table, actor.tenant, project)
    catalog = to_catalog(actor.tenant, project, items)
    found = [composite_json(items, catalog, one) for one in catalog.living_composites]
    return {"items": found, "next": None}


def get_composite(table: Table, actor: Actor, project: str, index: str) -> dict[str, Any]:
    """Return the composite index as the API returns it, strongly consistent. NotFound."""
    items = read(table, actor.tenant, project)
    catalog = to_catalog(actor.tenant, project, items)
    return composite_json(items, catalog, find_composite(catalog, index))


def list_trash(context: ReadContext, parameters: Mapping[str, str], cursors: Cursors) -> Answered:
    """Return a page of a project's deleted issues, newest first, as the stream consumer has listed them. It
    may be short.

    A Query, half a read unit for some 40 issues, and half a unit for each 4 KB of a document.
    """
    table, catalog = context.table, context.catalog
    request = parse(ListParameters, {**parameters, **as_integers(parameters, "limit")})
    partition = keys.trash(catalog.tenant, catalog.project)
    binding = partition.encode()
    bound = Bound("<", str(cursors.open(request.cursor, binding))) if request.cursor is not None else None
    page = table.query(partition, bound=bound, forward=False, limit=request.limit)
    places = {item[keys.SK]: keys.parse_trash_place(item[keys.SK]) for item in page.items}
    wanted = {place: issue_key(catalog, num) for place, (num, _) in places.items()}

    def is_enough(found: Mapping[Key, Item]) -> bool:
        at_the_head = takewhile(lambda key: key in found, wanted.values())
        return sum(item_size(found[key]) for key in at_the_head) > MAX_TRASH_BYTES

    fetched = table.batch_get(list(wanted.values()), enough=is_enough)
    items: list[Fragment] = []
    versions: list[ShownVersion] = []
    size, seen, more = 0, "", page.last is not None
    for place, key in wanted.items():
        document = fetched.items.get(key)
        encoded = b""
        if document is not None and _is_trashed_at(document, places[place][1]):
            encoded = dumps(trashed_json(catalog, document))
        size += size_in_response(encoded)
        if key in fetched.left or (items and size > MAX_TRASH_BYTES):
            more = True
            break
        seen = place
        if document is not None and encoded:
            items.append(Fragment(encoded))
            versions.append(ShownVersion(document["num"], document["version"], document["updated"], True))
    body = {"items": items, "next": cursors.seal(seen, binding) if more else None}
    return Answered(body, Shown.of(versions, freshness.kept(context.cache)))


def _is_trashed_at(document: Item, version: int) -> bool:
    """Return whether a document is in the trash, in this version. The list may still have the item of a
    restored issue.
    """
    return is_restorable(document, clock.seconds()) and bool(document["version"] == version)


def trashed_json(catalog: Catalog, document: Document) -> dict[str, Any]:
    """Return a deleted issue as the API returns it. UnknownOption if the catalog is older than the document."""
    expires = datetime.fromtimestamp(int(document[keys.TTL_ATTRIBUTE]), UTC)
    return {
        **to_json(catalog, document),
        "deleted": datetime_json(document[DELETED_AT]),
        "deleted_by": document[DELETED_BY],
        "expires": expires.isoformat().replace("+00:00", "Z"),
    }


def with_progress(table: Table, actor: Actor, project: str, error: IndexNotReady) -> IndexBuilding:
    """Return the same error with the progress of the missing index."""
    if error.view is not None:
        items = read(table, actor.tenant, project)
        order = to_catalog(actor.tenant, project, items).manual_order(error.view)
        build = None if order is None else build_json(items, order, moving=0)
    elif error.composite is not None:
        build = get_composite(table, actor, project, error.composite)["build"]
    else:
        build = get_attribute(table, actor, project, error.attribute)["build"]
    progress = (
        f"{build['done']:,} of {build['total']:,} issues are done. Send the request again later."
        if build
        else "The index is ready now. Send the request again."
    )
    return IndexBuilding(f"{error.detail} {progress}", members={"build": build})
