"""Forgets a tenant: deletes its projects as an administrator does, and then all other items.

The background work removes the projects, so derived items go in order. Tombstones, journals, remembered requests,
users and counters are deleted when no job is left. A run that was killed is started again.
"""

from collections.abc import Callable
from contextlib import suppress

from devtools.operate.forgetting.person import INVOCATION_SECONDS, Files
from devtools.operate.forgetting.places import find
from gridview.commands.actor import Actor, Role
from gridview.commands.deleted_projects import purge_project
from gridview.commands.projects import delete_project
from gridview.dynamodb.expressions import Item, Key
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.ids import FORMER_USER
from gridview.schema.restorable import deletion_of
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.errors import NotFound

_PAGE = 1_000


def forget_tenant(
    table: Table,
    tenant: str,
    *,
    wait: Callable[[float], None],
    files: Files,
    settling: float,
    tokens: float,
    most: int,
    say: Callable[[int], None] = lambda _: None,
) -> int:
    """Forget a tenant; returns how many items were left at the last of at most `most` passes: 0 if all went well.

    A pass is a Scan of the table. The arguments are those of `forget_person`.
    """
    quiet = clock.seconds() + tokens
    left = 0
    for _ in range(most):
        began = clock.seconds()
        left = _pass(table, tenant, files, settling)
        say(left)
        if not left and began >= quiet:
            break
        if left:
            quiet = max(quiet, clock.seconds() + INVOCATION_SECONDS)
        wait(max(quiet - clock.seconds(), 0.0))
    return left


def _pass(table: Table, tenant: str, files: Files, settling: float) -> int:
    files.remove(tenant, clock.seconds())
    items = list(_items_of(table, tenant))
    projects = [item for item in items if item[keys.SK] == keys.tenant(tenant)]
    # A project that was removed leaves a tombstone, so that a late record is not taken for one whose definitions are lost.
    alive = [item for item in projects if not item.get("deleted")]
    working = [item for item in items if find(item[keys.PK], item[keys.SK]).place.name == "background work"]
    actor = Actor(tenant, FORMER_USER, Role.ADMIN)
    for item in alive:
        project = keys.parse_project(item[keys.PK])[1]
        # It may be deleted or restored meanwhile, and after seven days only upkeep can remove it. The next pass looks again.
        with suppress(NotFound):
            if deletion_of(item) is None:
                delete_project(table, Catalogs(), actor, project, None)
            purge_project(table, Catalogs(), actor, project, None, settling=settling)
    if not alive and not working:
        for item in items:
            table.delete(item[keys.PK], item[keys.SK])
    return len(items)


def _items_of(table: Table, tenant: str) -> list[Item]:
    """The keys of everything that the tenant has, with the items of its projects."""
    found: list[Item] = []
    after: Key | None = None
    while True:
        page = table.scan(after=after, limit=_PAGE)
        for item in page.items:
            place = find(item[keys.PK], item[keys.SK])
            if (place.tenant or _owner(place.place.name, item)) == tenant:
                is_project = place.place.name == "project"
                found.append(item if is_project else {name: item[name] for name in (keys.PK, keys.SK)})
        if page.last is None:
            return found
        after = page.last


def _owner(name: str, item: Item) -> str:
    """The tenant of a socket, whose key does not have it."""
    return str(item["tenant"]) if name == "owner of a socket" else ""
