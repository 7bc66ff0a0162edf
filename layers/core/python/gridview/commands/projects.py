"""Projects: creating, reading, changing and deleting them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import Field as ModelField

from gridview.commands.actor import Actor
from gridview.commands.attributes import attribute_json, changed_options, wanted
from gridview.commands.preconditions import Expected, check
from gridview.commands.requests import ProjectCreate, ProjectPatch
from gridview.dynamodb.errors import TransactionFailed
from gridview.dynamodb.expressions import ABSENT, Bound, put, set_attribute, version_is
from gridview.dynamodb.table import Table
from gridview.encoding import keys, sort_strings
from gridview.encoding.cursors import Cursors
from gridview.encoding.values import datetime_json
from gridview.index.issue_count import issues_in
from gridview.schema import ids, options
from gridview.schema.catalog import Catalog, Option
from gridview.schema.jobs import Job, save
from gridview.schema.store import Catalogs, ProjectItems, raise_epoch, read, settle, to_catalog
from gridview.support import clock
from gridview.support.errors import Conflict
from gridview.support.validation import RequestModel, as_integers, parse


def project_json(project_id: str, item: Mapping[str, Any], issues: int | None = None) -> dict[str, Any]:
    """A project as the API answers it; `issues` is null in a list, where nobody counts them."""
    states = [Option.from_item(state) for state in item["states"]]
    return {
        "id": project_id,
        "name": item["name"],
        "states": [state.value for state in states if not state.retired],
        "issues": issues,
        "version": item["version"],
        "created": datetime_json(item["created"]),
        "updated": datetime_json(item["updated"]),
        "created_by": item["created_by"],
        "updated_by": item["updated_by"],
    }


def _whole(table: Table, catalog: Catalog, items: ProjectItems) -> dict[str, Any]:
    attributes = [attribute_json(items, field) for field in catalog.attributes]
    issues = issues_in(table, catalog)
    return {**project_json(catalog.project, items.project, issues), "attributes": attributes}


def get_project(table: Table, actor: Actor, project: str) -> dict[str, Any]:
    """The project with its attributes in display order, strongly consistent, and how many issues it has as of the index; NotFound.

    Two rounds: a read unit for each 4 KB of definitions, and 0.5 for the count.
    """
    items = read(table, actor.tenant, project)
    return _whole(table, to_catalog(actor.tenant, project, items), items)


class ListParameters(RequestModel):
    """GET /v1/projects."""

    limit: int = ModelField(default=100, ge=1, le=500)
    cursor: str | None = None


def list_projects(
    table: Table, actor: Actor, parameters: Mapping[str, str], cursors: Cursors
) -> dict[str, Any]:
    """A page of the tenant's projects in name order, as of the index: one Query."""
    request = parse(ListParameters, {**parameters, **as_integers(parameters, "limit")})
    binding = actor.tenant.encode()
    bound = Bound(">", str(cursors.open(request.cursor, binding))) if request.cursor is not None else None
    page = table.query(keys.tenant(actor.tenant), index=True, bound=bound, limit=request.limit + 1)
    shown = page.items[: request.limit]
    more = len(page.items) > len(shown) or (page.last is not None and len(shown) < request.limit)
    return {
        "items": [project_json(keys.parse_project(item[keys.PK])[1], item) for item in shown],
        "next": cursors.seal(shown[-1][keys.SORT], binding) if more else None,
    }


def create_project(table: Table, actor: Actor, body: Any) -> dict[str, Any]:
    """Create a project: one transaction of three items. Conflict when the id is taken (a deleted project keeps its id)."""
    request = parse(ProjectCreate, body)
    states = options.change("states", (), 1, request.states)

    def change() -> dict[str, Any]:
        project_id = request.id or ids.new_project_id()
        now = clock.now()
        item = {
            keys.PK: keys.project(actor.tenant, project_id),
            keys.SK: keys.tenant(actor.tenant),
            keys.SORT: _sort(request.name, project_id),
            "name": request.name,
            "states": [state.to_item() for state in states.options],
            "next_state": states.next_option,
            "version": 1,
            "created": now,
            "created_by": actor.user,
            "updated": now,
            "updated_by": actor.user,
        }
        catalog = {keys.PK: item[keys.PK], keys.SK: keys.CATALOG, "epoch": 1, "order": [], "next_key": 1}
        counter = {keys.PK: item[keys.PK], keys.SK: keys.COUNTER, "last": 0}
        try:
            table.transact([put(item, ABSENT), put(catalog, ABSENT), put(counter, ABSENT)])
        except TransactionFailed as error:
            if request.id is None or not error.failed:
                raise
            raise Conflict("The id is taken.") from error
        return {**project_json(project_id, item, issues=0), "attributes": []}

    return settle(change)


def update_project(
    table: Table,
    catalogs: Catalogs,
    actor: Actor,
    project: str,
    body: Any,
    expected: Expected,
    *,
    settling: float,
) -> dict[str, Any]:
    """Change a project's name or states: one transaction. Conflict when a state would be dropped that issues are in.

    The issues of states that were moved are moved in the background, which begins after `settling` seconds.
    """
    request = parse(ProjectPatch, body)
    given = request.model_fields_set

    def change() -> dict[str, Any]:
        items = read(table, actor.tenant, project)
        catalog = to_catalog(actor.tenant, project, items)
        item = dict(items.project)
        version = item["version"]
        check(expected, version)
        if "name" in given:
            item |= {"name": request.name, keys.SORT: _sort(request.name, project)}
        if "states" in given:
            state = replace(catalog.state, next_option=item["next_state"])
            states = changed_options(table, catalog, state, "states", request.states, items.next_epoch)
            item |= {
                "states": [state.to_item() for state in states.options],
                "next_state": states.next_option,
            }
        item |= {"version": version + 1, "updated": clock.now(), "updated_by": actor.user}
        after = items._replace(project=item)
        writes = [put(item, version_is(version)), raise_epoch(items)]
        if to_catalog(actor.tenant, project, after).state.moving > catalog.state.moving:
            writes.append(wanted(items, settling))
        table.transact(writes)
        return _whole(table, catalog, after)

    changed = settle(change)
    catalogs.forget(actor.tenant, project)
    return changed


def delete_project(
    table: Table, catalogs: Catalogs, actor: Actor, project: str, expected: Expected, *, settling: float
) -> None:
    """Delete a project: one transaction, after which it answers 404 and takes no issue.

    All that it had is removed in the background, which begins after `settling` seconds. Its id stays taken until nothing that was
    derived from its issues is remembered either (`upkeep`), so that an issue number never means two things.
    """

    def change() -> None:
        items = read(table, actor.tenant, project)
        version = items.project["version"]
        check(expected, version)
        item = {name: value for name, value in items.project.items() if name != keys.SORT}
        item |= {"deleted": True, "version": version + 1, "updated": clock.now(), "updated_by": actor.user}
        close = set_attribute(item[keys.PK], keys.COUNTER, "closed", True)
        due = clock.after(settling)
        job = Job(items.next_epoch, due)
        if items.job is not None:
            job = items.job.restarted(items.next_epoch, due)
        removal = save(item[keys.PK], items.job, job)
        table.transact([put(item, version_is(version)), close, raise_epoch(items), removal])

    settle(change)
    catalogs.forget(actor.tenant, project)


def _sort(name: str, project_id: str) -> str:
    """The projects of a tenant sort by folded name, then id."""
    return sort_strings.text(name) + sort_strings.SEPARATOR + project_id
