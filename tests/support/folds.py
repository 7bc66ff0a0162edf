"""Folds of a project in a table in memory, called directly."""

from collections.abc import Callable

from gridview.chains.fence_cache import Fences
from gridview.derive.images import Poison
from gridview.dynamodb.table import Table
from gridview.journal.fold import fold
from gridview.journal.items import PATIENCE
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs, current_catalog


def no_poison(poison: Poison) -> None:
    raise AssertionError(poison)


def fold_once(
    log: Log,
    send_poison: Callable[[Poison], None] = no_poison,
    catalogs: Catalogs | None = None,
    fences: Fences | None = None,
) -> int:
    """Run one fold in a new container. Without `send_poison` all blocks must be readable."""

    def current() -> Catalog | None:
        return current_catalog(log.table, catalogs or Catalogs(), log.tenant, log.project)

    return fold(log, fences or Fences(), current, send_poison)


def fold_all(table: Table, tenant: str, project: str, wait: Callable[[float], None] | None = None) -> None:
    """Fold everything. `wait` lets the seconds pass after which holes are closed and items completed; without it there
    must be none.
    """
    log = Log(table, tenant, project)
    for _ in range(20):
        while fold_once(log):
            pass
        if log.release("2024-01-01T00:00:00.000000Z") is None:
            return
        if wait is not None:
            wait(PATIENCE)
    raise AssertionError("an undisturbed fold comes to the end")
