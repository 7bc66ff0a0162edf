"""The changes that one request lays over the index: the journal's, the issues that its tokens name, and new issues.

A request that names no issues begins with the container's tail of the journal. Otherwise nothing is known until the
changes are read (`read`, `take`).
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from gridview.derive.ledger import Ledger
from gridview.dynamodb.side_by_side import side_by_side
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.consistency import issues_in, number_in
from gridview.journal.log import Log
from gridview.schema.trash import is_trashed, living
from gridview.support import clock
from gridview.support.errors import Overloaded
from gridview.view.block_reader import BlockReader
from gridview.view.context import ReadContext
from gridview.view.index_clock import index_time
from gridview.view.journal_tail import recent_moves, tail_of
from gridview.view.moves import Logged, Move, NewIssues, move_of
from gridview.view.new_issues import new_issues
from gridview.view.overlay import NOTHING, Overlay
from gridview.view.shown_versions import Overlaid, ShownVersion


class ReadChanges(NamedTuple):
    """The recent changes that were read: the journal's, and the whole overlay with the moves of the named issues.

    `deleted`: named issues that are in the trash -> their versions.
    """

    overlay: Overlay
    logged: Logged
    deleted: Mapping[int, int] = {}


class RecentChanges:
    """The recent changes of one request, as far as they are known. `overlay`, `logged`: None while nothing is known."""

    def __init__(self, context: ReadContext) -> None:
        self.overlay: Overlay | None = None
        self.logged: Logged | None = None
        self._context = context
        self._named = issues_in(context.recent)
        self._number = number_in(context.recent)
        self._tail = tail_of(context.log, context.cache)
        self._begun = clock.seconds() if self._tail is None else self._tail.since
        self._consistent = context.consistent
        self._new: Sequence[Move] = ()
        self._deleted: dict[int, int] = {}
        if self._tail is not None and not self._named:
            self.logged = self._tail.logged(())
            self.overlay = Overlay(_logged_alone(self.logged))

    @property
    def since(self) -> float:
        """The instant from which reads of GSI1 agree with the journal items at hand (seconds since 1970)."""
        return self._begun if self.logged is None else self.logged.since

    def room(self, family: str) -> int:
        """The number of sort entries of a family that the changes may take out of the result of a Query."""
        return len(self._named) if self.overlay is None else self.overlay.leaving(family)

    # Reading

    def read(self, table: Table) -> ReadChanges:
        """Read the journal, and the documents and ledgers of the named issues, strongly consistent: one round."""
        tenant, project = self._context.catalog.tenant, self._context.catalog.project
        log, listing = replace(self._context.log, table=table), keys.project(tenant, project)
        partitions = {num: keys.issue(tenant, project, num) for num in sorted(self._named)}
        wanted = [(one, sort) for one in partitions.values() for sort in (listing, derived_keys.LEDGER)]
        if not wanted:
            logged = self._journal(log)
            return ReadChanges(Overlay(_logged_alone(logged)), logged)
        found, logged = side_by_side(
            table,
            lambda: table.batch_get(wanted, consistent=True).items,
            lambda own: self._journal(replace(log, table=own)),
        )
        now = int(index_time(clock.seconds(), self._context.cache.sighting))
        read = (
            move_of(
                self._context.catalog,
                num,
                living(found.get((one, listing))),
                Ledger.from_item(found.get((one, derived_keys.LEDGER))),
                now,
                logged.moves.get(num),
            )
            for num, one in partitions.items()
        )
        moves = {move.num: move for move in read if move is not None}
        documents = (item for (_, sort), item in found.items() if sort == listing)
        deleted = {item["num"]: item["version"] for item in documents if is_trashed(item)}
        # An issue from which nothing can be derived stays where the journal has it.
        return ReadChanges(Overlay([*moves.values(), *_logged_alone(logged, moves)]), logged, deleted)

    def read_new_issues(self, table: Table, after: int, last: int, most: int) -> NewIssues:
        """The new issues that the index does not have yet, as `view.new_issues`."""
        context = self._context
        reader = BlockReader(table, context.catalog, context.cache, self.since)
        known = (self.overlay or NOTHING).issues
        return new_issues(table, context.catalog, reader, after, last, known, most)

    def _journal(self, log: Log) -> Logged:
        """The journal's changes. If they lack some that the answer must include, it is read again, strongly consistent.

        Raises Overloaded if they still lack some and the number was given out. A number that was not given out is from a
        time before the table was restored to an earlier moment. Nothing of it can be included.
        """
        cache = self._context.cache
        logged = recent_moves(log, cache, self._tail, consistent=self._consistent)
        if logged.last < self._number:
            logged = recent_moves(log, cache, tail_of(log, cache), consistent=True)
        if logged.last < self._number <= log.head().last:
            raise Overloaded("The index has not caught up with your tokens; try again.")
        return logged

    # Taking in

    def take(self, found: ReadChanges) -> frozenset[int] | None:
        """Lay these over; returns the issues that have changed meanwhile, or None if no change came since last time."""
        before, self.logged = self.logged, found.logged
        self._deleted |= found.deleted
        if before is not None and found.logged.is_unchanged_since(before):
            return None
        self.overlay = found.overlay.with_new(self._new)
        return frozenset() if before is None else found.logged.changed_since(before)

    def take_new(self, found: NewIssues) -> bool:
        """Lay new issues over too; returns whether there are any that were not."""
        if self._new or not found.moves:
            return False
        self._new = found.moves
        self.overlay = (self.overlay or NOTHING).with_new(found.moves)
        return True

    def outrun(self) -> None:
        """Have the next read of the journal begin at the container's present tail, consistently: the index was ahead."""
        self._tail = tail_of(self._context.log, self._context.cache)
        self._consistent = True

    # The result

    def overlaid(self) -> Overlaid:
        """The changes that were laid over."""
        overlay = self.overlay or NOTHING
        versions = {
            num: self._deleted.get(num) if document is None else document["version"]
            for num, document in overlay.documents.items()
        }
        again = [
            ShownVersion(move.num, self._deleted.get(move.num, 0), removed=True)
            if move.document is None
            else ShownVersion(move.num, move.document["version"])
            for move in overlay.of(self._named)
            if move.families
        ]
        return Overlaid(self.logged or Logged(), versions, again)


def _logged_alone(logged: Logged, others: Container[int] = ()) -> list[Move]:
    """The moves by the journal, except those of `others`, of which more is known."""
    return [
        Move(num, families, None, known=False, pending=num in logged.pending)
        for num, families in logged.moves.items()
        if num not in others
    ]
