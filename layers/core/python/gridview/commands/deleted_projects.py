"""Lists deleted projects, restores them, and permanently removes them.

A deleted project is hidden: it is indistinguishable from a missing project. All its data stays, and its index
is kept right, so that it is back at once when it is restored. After seven days the upkeep function
permanently removes it (`job_worker`).
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from gridview.commands.actor import Actor
from gridview.commands.answers import project_json
from gridview.commands.idempotency import Transact, at_once
from gridview.commands.preconditions import Expected, check
from gridview.commands.projects import listed_at, one_more
from gridview.commands.reads import page_of_projects, whole_project
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.cursors import Cursors
from gridview.encoding.values import datetime_json
from gridview.schema import deleted_projects, restorable
from gridview.schema.items import ProjectItems, to_catalog
from gridview.schema.restorable import ProjectDeletion
from gridview.schema.store import Catalogs, read_kept, retry_lost_races
from gridview.support import clock
from gridview.support.errors import NotFound


def list_deleted_projects(
    table: Table, actor: Actor, parameters: Mapping[str, str], cursors: Cursors
) -> dict[str, Any]:
    """Return a page of the projects that can be restored, the last deleted first (`page_of_projects`)."""

    def to_json(project: str, own: Item) -> dict[str, Any] | None:
        deleted = _restorable(own)
        return None if deleted is None else _deleted_json(project, own, deleted)

    return page_of_projects(table, actor, parameters, cursors, "<", to_json)


def restore_project(
    table: Table,
    catalogs: Catalogs,
    actor: Actor,
    project: str,
    *,
    most: int = 0,
    transact: Transact = at_once,
) -> dict[str, Any]:
    """Bring a deleted project back with all that belongs to it: one transaction of four items.

    NotFound if it is not deleted, or was for more than seven days; LimitExceeded if the tenant has `most` projects
    (0: no limit).
    """

    def change() -> dict[str, Any]:
        items, _ = _find(table, actor, project)
        place = listed_at(items.project["name"], project)
        own = deleted_projects.restored(items, place, actor.user, clock.now())
        counter = table.get(own[keys.PK], keys.COUNTER, consistent=True) or {}
        answer = whole_project(table, to_catalog(actor.tenant, project, items), items._replace(project=own))
        counted = one_more(table, actor.tenant, most)
        transact(table, [*deleted_projects.restoration(items, own, counter), counted], answer)
        return answer

    restored = retry_lost_races(change, partial(_current, table, actor, project))
    catalogs.forget(actor.tenant, project)
    return restored


def purge_project(
    table: Table,
    catalogs: Catalogs,
    actor: Actor,
    project: str,
    expected: Expected,
    *,
    settling: float,
) -> None:
    """Permanently remove a deleted project: one transaction of three items. NotFound, VersionMismatch.

    Background work removes all its data. It begins after `settling` seconds. The project's id stays taken
    until even the tombstones of its issues have expired (`job_worker`), so that an issue number never means
    two things.
    """

    def change() -> None:
        items, deleted = _find(table, actor, project)
        current = partial(_deleted_json, project, items.project, deleted)
        check(expected, items.project["version"], current)
        table.transact(deleted_projects.removal(items, items.job, clock.after(settling)))

    retry_lost_races(change, partial(_current, table, actor, project))
    catalogs.forget(actor.tenant, project)


def _current(table: Table, actor: Actor, project: str) -> dict[str, Any]:
    """Return a deleted project as the API does. NotFound."""
    items, deleted = _find(table, actor, project)
    return _deleted_json(project, items.project, deleted)


def _find(table: Table, actor: Actor, project: str) -> tuple[ProjectItems, ProjectDeletion]:
    try:
        items = read_kept(table, actor.tenant, project)
    except NotFound:
        raise _missing() from None
    deleted = _restorable(items.project)
    if deleted is None:
        raise _missing()
    return items, deleted


def _missing() -> NotFound:
    return NotFound("There is no deleted project with this id.")


def _restorable(own: Item) -> ProjectDeletion | None:
    deleted = restorable.deletion_of(own)
    return None if deleted is None or restorable.is_over(deleted.at) else deleted


def _deleted_json(project: str, own: Item, deleted: ProjectDeletion) -> dict[str, Any]:
    return {
        **project_json(project, own),
        "deleted": datetime_json(deleted.at),
        "deleted_by": deleted.by,
        "expires": datetime_json(restorable.expires(deleted.at)),
    }
