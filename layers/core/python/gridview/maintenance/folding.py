"""Folds the journals of projects: a turn when one is due, or everything in one before other work can
continue.

A fold is due when it is worth its writes (`fold_pace`): each minute upkeep offers the due folds, and no
others.
"""

from collections.abc import Callable
from dataclasses import dataclass

from gridview.chains.fence_cache import Fences
from gridview.derive.images import Poison
from gridview.dynamodb.leases import RETRY
from gridview.dynamodb.table import Table
from gridview.journal.column_fold import recount
from gridview.journal.fold import MOST, fold
from gridview.journal.items import Head
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog
from gridview.schema.jobs import Hint, Turn
from gridview.schema.store import Catalogs, current_catalog, require_deleted
from gridview.support import clock
from gridview.support.errors import Overloaded
from gridview.support.fold_pace import pace

_TOO_MUCH = 4 * MOST
"""Changes of issues that may wait before a pass waits for the fold: readers lay them over the content of
blocks.
"""


@dataclass(frozen=True, slots=True)
class Folder:
    """The fold of one project. If many items wait, the first to fold takes a lease.

    A lease only saves money: folds may overlap. So a short fold takes none, and no write of a fold depends on
    one. `send_poison` receives an issue of each block that cannot be read.
    """

    table: Table
    catalogs: Catalogs
    fences: Fences
    tenant: str
    project: str
    send_poison: Callable[[Poison], None]

    def take_turn(self, due: str, left: Callable[[], float]) -> Turn | None:
        """Fold for a turn if the fold is due at this instant and time is `left`; None if not. The hints say
        when to look again.

        If the fold fails, it stays due; a lease runs out. DefinitionsMissing.
        """
        if due > clock.now() or left() <= 0:
            return None
        head = self._log.known_head(consistent=True)
        return self._turn(head, left) if head is not None and head.due == due else None

    def fold_all(self, left: Callable[[], float]) -> bool:
        """Fold the present items of the journal; False if there is something to wait for, or the seconds in
        `left` ran out.

        The fold is then due within seconds: it closes an unused number once that has been seen for long
        enough.
        """
        last = self._log.head().last
        if self._fold_for(left).folded >= last:
            return True
        self._log.release(clock.after(RETRY))
        return False

    def relieve(self, left: Callable[[], float]) -> None:
        """Fold for a turn if much waits: 1 read unit if not. Overloaded if others fold and cannot keep up."""
        head = self._log.head()
        if head.waiting < MOST:
            return
        is_taken = head.holder and head.due is not None and head.due > clock.now()
        turn = None if is_taken else self._turn(head, left)
        if turn is None and head.waiting >= _TOO_MUCH:
            raise Overloaded(f"{self._log.partition} must be folded first.")

    @property
    def _log(self) -> Log:
        return Log(self.table, self.tenant, self.project)

    def _turn(self, head: Head, left: Callable[[], float]) -> Turn | None:
        """Take a turn, if nobody else takes it first."""
        try:
            if head.due is None:
                return None
            taken = self._log.claim(head.due) if head.waiting >= pace().weight else head
            if taken is None:
                return None
            if self._fold_for(left).due != taken.due:  # nothing waits, or another has taken or released it
                return Turn()
        except Overloaded:
            pass  # finished writes are not repeated
        try:
            again = self._log.release(clock.after(RETRY if left() > 0 else 0))
        except Overloaded:
            return Turn()
        if again is None:
            return Turn()
        return Turn(hints=(Hint(self._log.partition, again),), overdue=self._overdue())

    def _overdue(self) -> float:
        """For how many seconds longer than the pace allows the oldest change has waited. A read unit for the
        head and the item.
        """
        head = self._log.known_head()
        waiting = () if head is None else self._log.after(head.folded, consistent=False, rows=1).records
        return max((clock.seconds() - item.made - pace().seconds for item in waiting), default=0.0)

    def _fold_for(self, left: Callable[[], float]) -> Head:
        """Fold the present items of the journal, and later ones if they weigh enough; return the head
        afterwards.
        """
        head = self._log.head()
        last = head.last
        while left() > 0 and (head.folded < last or head.waiting >= pace().weight):
            passed = fold(self._log, self.fences, self._catalog, self.send_poison)
            head = self._log.head()  # another fold may have gone further than this one
            if not passed:
                break
        self._recount(left)
        return head

    def _recount(self, left: Callable[[], float]) -> None:
        """Count the totals of columns that folds could not know. What fails is tried again after the next fold.

        Readers read the column meanwhile, so nothing else waits for it.
        """
        for family, total in self._log.totals().by_family.items():
            if total is None and left() > 0:
                recount(self._log, family)

    def _catalog(self) -> Catalog | None:
        catalog = current_catalog(self.table, self.catalogs, self.tenant, self.project)
        if catalog is None:
            require_deleted(self.table, self.tenant, self.project)
        return catalog
