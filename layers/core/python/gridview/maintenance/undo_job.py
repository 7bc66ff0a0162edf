"""Takes back a large change, as a user job: batch by batch, as a request does for a small one
(`commands.undo`).

An issue whose undo was cut short needs no note: its document and its history show what the job has written.
So the next worker takes nothing back twice.
"""

from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from pyroaring import BitMap

from gridview.commands import undo
from gridview.commands.undo import UndoOrder
from gridview.commands.undo_answers import TakenBack, late_in
from gridview.commands.undo_decision import Undo
from gridview.commands.write_rate import WriteRate
from gridview.dynamodb.table import Table
from gridview.journal.change_members import ChangeMember, members_of
from gridview.maintenance.bulk_place import Begun
from gridview.maintenance.job_line import HeldJob
from gridview.maintenance.numbered_turn import NumberedTurn, Outcome
from gridview.schema.ids import MAX_ISSUE_NUMBER
from gridview.schema.store import Catalogs
from gridview.support.errors import HistoryNotReady, Overloaded


class UndoChanges:
    """The work of the kind `undo` (`job_line.JobWork`). `rate`: the writes that the jobs of each tenant may
    make.
    """

    def __init__(self, table: Table, catalogs: Catalogs, rate: WriteRate) -> None:
        self._table = table
        self._catalogs = catalogs
        self._rate = rate

    def __call__(self, held: HeldJob, left: Callable[[], float]) -> float:
        """Work for a turn."""
        return _UndoTurn(self._table, self._catalogs, self._rate, held).work(left)


class _UndoTurn(NumberedTurn):
    """One turn of work on one job."""

    def __init__(self, table: Table, catalogs: Catalogs, rate: WriteRate, held: HeldJob) -> None:
        super().__init__(table, catalogs, rate, held)
        self._order = UndoOrder.from_stored(self._asked)

    def _freeze(self) -> float:
        """Store the numbers of all issues of the change, once all of it is recorded: a read unit for each 30
        versions.
        """
        catalog = self._catalogs.current(self._table, *self._project)
        undo.require_history(catalog)
        numbers, extent = BitMap(), undo.Extent({})
        for member in self._members():
            numbers.add(member.num)
            extent = extent.spanning(member)
        undo.require_remembered(catalog, extent)
        try:
            undo.require_settled(self._table, catalog, extent.last)
        except HistoryNotReady as error:
            return float(error.headers["Retry-After"])
        self._store(numbers, BitMap())
        return 0.0

    def _members(self, first: int = 1, last: int = MAX_ISSUE_NUMBER) -> Iterable[ChangeMember]:
        order = self._order
        return members_of(
            self._table, *self._project, order.change.bytes, by=order.by, first=first, last=last
        )

    def _batch(self) -> float:
        """Take up the next batch, and take it back. Returns the seconds to wait first, if the tenant's rate
        has no room for it.
        """
        taken = self._taken()
        if taken is None:
            return 0.0
        numbers = [one.num for one in taken.issues]
        wait = self._refused_by_rate(len(numbers))
        if wait or not self._begins(taken.place, (Begun(num, 0, 0) for num in numbers)):
            return wait
        self._end_batch(_outcome(self._take_back(numbers)))
        return 0.0

    def _settle(self) -> None:
        """Continue a batch whose worker was killed. For a job that is over, count only the issues taken back."""
        numbers = [one.num for one in self._place.begun]
        over = self._held.job.state.final
        results = self._take_back(numbers, only_look=over)
        if over:
            results = [one for one in results if one.refused is None]
        self._end_batch(_outcome(results), interrupted=True)
        self._held.save(self._held.job)

    def _take_back(self, numbers: list[int], *, only_look: bool = False) -> list[TakenBack]:
        job, wanted = self._held.job, frozenset(numbers)
        catalog = self._catalogs.current(self._table, *self._project)
        members = self._members(first=min(numbers), last=max(numbers))
        extent = undo.extent_of(member for member in members if member.num in wanted)
        rule = Undo(catalog, job.user, UUID(bytes=job.change))
        results = undo.take_back(self._table, rule, self._order, extent, only_look=only_look)
        if (late := late_in(results)) is not None and not only_look:
            raise Overloaded(str(late))  # the turn is repeated: what it wrote is not written twice
        return results


def _outcome(results: Sequence[TakenBack]) -> Outcome:
    """Return the outcome of a batch. An issue of which a part stays is refused, even if the rest was taken
    back.
    """
    refused = [(one.num, one.refused) for one in results if one.refused is not None]
    return Outcome(sum(one.refused is None for one in results), refused)
