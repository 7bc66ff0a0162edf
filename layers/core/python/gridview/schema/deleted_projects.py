"""A project's own item while the project is deleted, restored, and removed. Pure.

- *living*: `sort` is its place among the tenant's projects by name.
- *deleted*: `sort` is its place among the deleted ones; `deletion` has by whom and when.
- *removed*: `deleted` means permanently; it is in no list.

Each step is one transaction on condition of the item's version, and it raises the epoch. So of a restore and
a removal one wins, and users of older definitions read them again.
"""

from collections.abc import Mapping
from typing import Any

from gridview.dynamodb.expressions import Condition, Item, Write, put, set_attribute, version_is
from gridview.encoding import keys
from gridview.schema.items import ProjectItems, raise_epoch
from gridview.schema.jobs import Job, save
from gridview.schema.restorable import DELETION, expires

_CLOSED = "closed"
"""The attribute of a counter that gives out no numbers. So nobody else writes one that has it."""


def deletion(items: ProjectItems, project: str, user: str, now: str) -> list[Write]:
    """Return the writes that hide a project from everybody at the stored instant `now`.

    The job is written too, even if there is work already. A worker that is about to find nothing to wait for
    then loses its race, and looks again.
    """
    own = _changed(items.project, user, now)
    own |= {keys.SORT: keys.deleted_project(now, project), DELETION: [user, now]}
    job = items.job or Job(items.next_epoch, expires(now), rests=True)
    return [
        _put(items, own),
        set_attribute(own[keys.PK], keys.COUNTER, _CLOSED, True),
        raise_epoch(items),
        save(own[keys.PK], items.job, job),
    ]


def restoration(items: ProjectItems, own: Item, counter: Item) -> list[Write]:
    """Return the writes that bring a deleted project back; `own`: its own item then (`restored`); `counter`:
    as it was read.
    """
    opened = {name: value for name, value in counter.items() if name != _CLOSED}
    return [
        _put(items, own),
        put(opened, Condition("attribute_exists(#closed)", {"#closed": _CLOSED})),
        raise_epoch(items),
    ]


def restored(items: ProjectItems, sort: str, user: str, now: str) -> Item:
    """Return a deleted project's own item once it is restored. `sort`: its place among the tenant's projects."""
    return {**_changed(items.project, user, now), keys.SORT: sort}


def removal(items: ProjectItems, job: Job | None, due: str) -> list[Write]:
    """Return the writes that permanently remove a deleted project: work on all its data begins at `due`.
    `job`: as it was read.
    """
    own = _without_marks(items.project) | {"deleted": True, "version": items.project["version"] + 1}
    wanted = Job(items.next_epoch, due) if job is None else job.restarted(items.next_epoch, due)
    return [_put(items, own), raise_epoch(items), save(own[keys.PK], job, wanted)]


def _changed(own: Mapping[str, Any], user: str, now: str) -> Item:
    return {**_without_marks(own), "version": own["version"] + 1, "updated": now, "updated_by": user}


def _without_marks(own: Mapping[str, Any]) -> Item:
    return {name: value for name, value in own.items() if name not in (keys.SORT, DELETION)}


def _put(items: ProjectItems, own: Item) -> Write:
    return put(own, version_is(items.project["version"]))
