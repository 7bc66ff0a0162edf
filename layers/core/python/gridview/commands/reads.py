"""Plain reads of projects, attributes and composite indexes. Nothing here writes: the query function's role does not allow it.

This is a module of `commands`, because reads and writes share the forms of answers and the strongly consistent read of a
project's definitions. `schema.document_store` reads a single issue.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from orjson import Fragment

from gridview.commands.actor import Actor
from gridview.commands.answers import (
    MAX_PROJECT_BYTES,
    attribute_json,
    composite_json,
    find_attribute,
    find_composite,
    project_json,
)
from gridview.commands.requests import ListParameters
from gridview.dynamodb.expressions import Bound, Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps, size_in_response
from gridview.index.issue_count import issues_in
from gridview.schema.catalog import Catalog
from gridview.schema.generations import IndexNotReady
from gridview.schema.items import ProjectItems, to_catalog
from gridview.schema.store import read
from gridview.support.errors import NotReady
from gridview.support.validation import as_integers, parse


def whole_project(table: Table, catalog: Catalog, items: ProjectItems) -> dict[str, Any]:
    """A project with its attributes and its issue count as of the index: 0.5 read units."""
    attributes = [attribute_json(items, field) for field in catalog.attributes]
    issues = issues_in(table, catalog)
    return {**project_json(catalog.project, items.project, issues), "attributes": attributes}


def get_project(table: Table, actor: Actor, project: str) -> dict[str, Any]:
    """The project with its attributes in display order, strongly consistent, and its issue count as of the index. NotFound.

    Two rounds: a read unit for each 4 KB of definitions, and 0.5 for the count.
    """
    items = read(table, actor.tenant, project)
    return whole_project(table, to_catalog(actor.tenant, project, items), items)


def list_projects(
    table: Table, actor: Actor, parameters: Mapping[str, str], cursors: Cursors
) -> dict[str, Any]:
    """A page of the tenant's projects in name order, as of the index: one Query."""
    request = parse(ListParameters, {**parameters, **as_integers(parameters, "limit")})
    binding = actor.tenant.encode()
    bound = Bound(">", str(cursors.open(request.cursor, binding))) if request.cursor is not None else None
    page = table.query(keys.tenant(actor.tenant), index=True, bound=bound, limit=request.limit + 1)
    shown = _fitting(page.items[: request.limit])
    more = len(page.items) > len(shown) or (page.last is not None and len(shown) < request.limit)
    return {
        "items": shown,
        "next": cursors.seal(page.items[len(shown) - 1][keys.SORT], binding) if more else None,
    }


def _fitting(items: Sequence[Item]) -> list[Fragment]:
    """The first of these projects, as JSON: as many as an answer can hold."""
    shown: list[Fragment] = []
    size = 0
    for item in items:
        encoded = dumps(project_json(keys.parse_project(item[keys.PK])[1], item))
        size += size_in_response(encoded)
        if shown and size > MAX_PROJECT_BYTES:
            break
        shown.append(Fragment(encoded))
    return shown


def get_attribute(table: Table, actor: Actor, project: str, attribute: str) -> dict[str, Any]:
    """The attribute or built-in field as the API returns it, strongly consistent. NotFound."""
    items = read(table, actor.tenant, project)
    return attribute_json(items, find_attribute(to_catalog(actor.tenant, project, items), attribute))


def list_composites(table: Table, actor: Actor, project: str) -> dict[str, Any]:
    """The project's composite indexes in creation order, strongly consistent. NotFound."""
    items = read(table, actor.tenant, project)
    catalog = to_catalog(actor.tenant, project, items)
    found = [composite_json(items, catalog, one) for one in catalog.living_composites]
    return {"items": found, "next": None}


def get_composite(table: Table, actor: Actor, project: str, index: str) -> dict[str, Any]:
    """The composite index as the API returns it, strongly consistent. NotFound."""
    items = read(table, actor.tenant, project)
    catalog = to_catalog(actor.tenant, project, items)
    return composite_json(items, catalog, find_composite(catalog, index))


def with_progress(table: Table, actor: Actor, project: str, error: IndexNotReady) -> NotReady:
    """The same error with the progress of the missing index."""
    if error.composite is not None:
        build = get_composite(table, actor, project, error.composite)["build"]
    else:
        build = get_attribute(table, actor, project, error.attribute)["build"]
    told = f"{build['done']:,} of {build['of']:,} issues are done." if build else "The index is ready now."
    return NotReady(f"{error.detail} {told}", members={"build": build})
