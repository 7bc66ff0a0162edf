"""Folds the journals of projects: a turn when one is due, or all that stands in one before something else can go on."""

from collections.abc import Callable
from dataclasses import dataclass

from gridview.dynamodb.table import Table
from gridview.index.fence_cache import Fences
from gridview.index.fold import MOST, fold
from gridview.index.journal_log import Log
from gridview.index.maintainer import current_catalog
from gridview.schema.catalog import Catalog
from gridview.schema.jobs import Hint, Turn
from gridview.schema.leases import LEASE, RETRY
from gridview.schema.store import Catalogs, require_deleted
from gridview.support import clock
from gridview.support.errors import Overloaded

_TOO_MUCH = 4 * MOST
"""Changes of issues that may wait before a pass waits for the fold: readers lay them over what blocks hold."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The fold of one project. The instant at which it is due is its lease too: whoever moves that on has the fold until then.

    A lease only saves money: folds may overlap.
    """

    table: Table
    catalogs: Catalogs
    fences: Fences
    tenant: str
    project: str

    def take_turn(self, due: str, left: Callable[[], float]) -> Turn | None:
        """Fold for a turn if the fold is due at this instant and time is `left`; None if not. The hints say when to look again.

        If the fold fails, the lease runs out. Unreadable, DefinitionsMissing.
        """
        if due > clock.now() or left() <= 0:
            return None
        try:
            if not self._log.claim(due, clock.after(LEASE)):
                return None
            self._fold_for(left)
        except Overloaded:
            pass  # what has been written is not written again
        try:
            again = self._log.rest(clock.after(RETRY if left() > 0 else 0))
        except Overloaded:
            return Turn()
        return Turn(hints=() if again is None else (Hint(self._log.partition, again),))

    def fold_all(self, left: Callable[[], float]) -> bool:
        """Fold what stands in the journal by now; False if there is something to wait for, or the seconds in `left` ran out."""
        last = self._log.head().last
        self._fold_for(left)
        return self._log.head().folded >= last

    def relieve(self, left: Callable[[], float]) -> None:
        """Fold for a turn if much waits: 1 read unit if not. Overloaded if others fold and cannot keep up."""
        head = self._log.head()
        if head.waiting < MOST:
            return
        turn = None if head.due is None else self.take_turn(head.due, left)
        if turn is None and head.waiting >= _TOO_MUCH:
            raise Overloaded(f"{self._log.partition} has to be folded first.")

    @property
    def _log(self) -> Log:
        return Log(self.table, self.tenant, self.project)

    def _fold_for(self, left: Callable[[], float]) -> None:
        while left() > 0 and fold(self._log, self.fences, self._catalog):
            pass

    def _catalog(self) -> Catalog | None:
        catalog = current_catalog(self.table, self.catalogs, self.tenant, self.project)
        if catalog is None:
            require_deleted(self.table, self.tenant, self.project)
        return catalog
