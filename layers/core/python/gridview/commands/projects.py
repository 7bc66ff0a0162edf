"""Creates, changes and deletes projects."""

from dataclasses import replace
from functools import partial
from typing import Any

from gridview.commands.actor import Actor
from gridview.commands.answers import project_json, require_room
from gridview.commands.attributes import changed_options, wanted
from gridview.commands.idempotency import Transact, at_once
from gridview.commands.preconditions import Expected, check
from gridview.commands.reads import get_project, whole_project
from gridview.commands.requests import HistoryInput, ProjectCreate, ProjectPatch
from gridview.dynamodb.errors import TransactionFailed
from gridview.dynamodb.expressions import ABSENT, Item, Write, put, version_is
from gridview.dynamodb.table import Table
from gridview.encoding import keys, sort_strings
from gridview.encoding.fences import before
from gridview.journal.items import new_head
from gridview.schema import ids, options, project_count, restorable
from gridview.schema.catalog import HistorySetting
from gridview.schema.deleted_projects import deletion
from gridview.schema.fields import BUILTINS
from gridview.schema.generations import Indexes
from gridview.schema.items import raise_epoch, to_catalog, to_history, to_item
from gridview.schema.store import Catalogs, read, retry_lost_races
from gridview.support import clock
from gridview.support.errors import Conflict
from gridview.support.validation import parse


def create_project(
    table: Table,
    actor: Actor,
    body: Any,
    *,
    most: int = 0,
    transact: Transact = at_once,
) -> dict[str, Any]:
    """Create a project: one transaction of six items or seven. Conflict if the id is taken; LimitExceeded if the
    tenant has `most` projects (0: no limit).

    A deleted project keeps its id while it can be restored, and for a time after it was removed.
    """
    request = parse(ProjectCreate, body)
    states = options.change("states", (), 1, request.states)

    def change() -> dict[str, Any]:
        counted = one_more(table, actor.tenant, most)
        project_id = request.id or ids.new_project_id()
        now = clock.now()
        item = {
            keys.PK: keys.project(actor.tenant, project_id),
            keys.SK: keys.tenant(actor.tenant),
            keys.SORT: listed_at(request.name, project_id),
            "name": request.name,
            "states": [state.to_item() for state in states.options],
            "next_state": states.next_option,
            "version": 1,
            "created": now,
            "created_by": actor.user,
            "updated": now,
            "updated_by": actor.user,
        }
        if "history" in request.model_fields_set:
            item["history"] = _history(to_history(item), request.history)
        catalog: dict[str, Any] = {
            keys.PK: item[keys.PK],
            keys.SK: keys.CATALOG,
            "epoch": 1,
            "order": [],
            "next_key": 1,
        }
        begun = [
            put(new_head(actor.tenant, project_id), ABSENT),
            put(_state_without_entries(actor.tenant, project_id), ABSENT),
        ]
        counter = {keys.PK: item[keys.PK], keys.SK: keys.COUNTER, "last": 0}
        created = {**project_json(project_id, item, issues=0), "attributes": []}
        try:
            transact(
                table,
                [put(item, ABSENT), put(catalog, ABSENT), put(counter, ABSENT), *begun, counted],
                created,
            )
        except TransactionFailed as error:
            is_only_recounted = set(error.failed) <= {3 + len(begun)}
            if request.id is None or is_only_recounted:
                raise
            raise _taken(table, actor, project_id) from error
        return created

    return retry_lost_races(change)


def one_more(table: Table, tenant: str, most: int) -> Write:
    """Return the write that counts one more project of a tenant: a read unit now. LimitExceeded if it has
    `most` (0: no limit).
    """
    stored = _tenant(table, tenant)
    project_count.require_room(stored, most)
    return project_count.one_more(tenant, stored)


def _one_less(table: Table, tenant: str) -> Write:
    return project_count.one_less(tenant, _tenant(table, tenant))


def _tenant(table: Table, tenant: str) -> Item | None:
    return table.get(keys.tenant(tenant), keys.TENANT_SELF, consistent=True)


def _state_without_entries(tenant: str, project: str) -> dict[str, Any]:
    """Return the item that defines a project's own index of its states: one without sort entries."""
    return to_item(tenant, project, replace(BUILTINS["state"], indexes=Indexes.complete(entries=False)))


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
    """Change a project's name, states or history: one transaction, none if nothing changes.

    Conflict if the request would drop a state that issues are in. If states are reordered, background work
    moves their issues. It begins after `settling` seconds.
    """
    request = parse(ProjectPatch, body)
    given = request.model_fields_set

    def change() -> dict[str, Any]:
        items = read(table, actor.tenant, project)
        catalog = to_catalog(actor.tenant, project, items)
        item = dict(items.project)
        version = item["version"]
        check(expected, version, partial(whole_project, table, catalog, items))
        if "name" in given:
            item |= {"name": request.name, keys.SORT: listed_at(request.name, project)}
        if "states" in given:
            state = replace(catalog.state, next_option=item["next_state"])
            states = changed_options(table, catalog, state, "states", request.states, items.next_epoch)
            item |= {
                "states": [state.to_item() for state in states.options],
                "next_state": states.next_option,
            }
        if "history" in given:
            kept = _history(catalog.history, request.history)
            item |= {"history": kept} if kept != catalog.history._asdict() else {}
        if item == items.project:
            return whole_project(table, catalog, items)
        item |= {"version": version + 1, "updated": clock.now(), "updated_by": actor.user}
        after = items._replace(project=item)
        require_room(after, catalog.attributes)
        writes = [put(item, version_is(version)), raise_epoch(items)]
        if to_catalog(actor.tenant, project, after).state.moving > catalog.state.moving:
            writes.append(wanted(items, settling))
        table.transact(writes)
        return whole_project(table, catalog, after)

    changed = retry_lost_races(change, partial(get_project, table, actor, project))
    catalogs.forget(actor.tenant, project)
    return changed


def delete_project(table: Table, catalogs: Catalogs, actor: Actor, project: str, expected: Expected) -> None:
    """Delete a project: one transaction of five items. NotFound, VersionMismatch.

    Afterwards it answers 404 and takes no issue, as if it did not exist. It can be restored for seven days
    (`deleted_projects`), so its id stays taken; background work removes all its data after that.
    """

    def change() -> None:
        items = read(table, actor.tenant, project)
        catalog = to_catalog(actor.tenant, project, items)
        check(expected, items.project["version"], partial(whole_project, table, catalog, items))
        table.transact([*deletion(items, project, actor.user, clock.now()), _one_less(table, actor.tenant)])

    retry_lost_races(change, partial(get_project, table, actor, project))
    catalogs.forget(actor.tenant, project)


def listed_at(name: str, project_id: str) -> str:
    """Return the sort string of a project: a tenant's projects sort by case-folded name, then id."""
    return before(sort_strings.text(name)) + project_id


def _taken(table: Table, actor: Actor, project: str) -> Conflict:
    """Why a project cannot have this id: 1 read unit."""
    own = table.get(keys.project(actor.tenant, project), keys.tenant(actor.tenant), consistent=True) or {}
    deleted = restorable.deletion_of(own)
    if deleted is None or restorable.is_over(deleted.at):
        return Conflict("The id is already in use. Choose another id.")
    path = f"/v1/deleted-projects/{project}"
    return Conflict(
        f"The project with this id was deleted and can still be restored. Restore it (POST {path}/restore), or "
        f"permanently delete it (DELETE {path}). Its id then stays in use for some months."
    )


def _history(before: HistorySetting, request: HistoryInput) -> dict[str, Any]:
    given = {name: getattr(request, name) for name in request.model_fields_set}
    return {**before._asdict(), **given}
