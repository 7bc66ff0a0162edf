"""Rebalances the ranks of a manual order where they have become too long.

The rows around a long rank get new ranks, spread evenly over the gap between the rows beside them. Their order is
the same after each write: rising ranks are written from the last row back, falling ranks from the first row on. Each
write is a placement like a user's (`schema.placements`), so a user who places a row at the same time loses no place.

No rank passes the rank that an issue has by its number. So a new issue that the index still lacks keeps its place too.

A turn that dies has done some of these writes. The next one begins with the ranks as they are then.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from gridview.commands.placing import TOGETHER, in_transactions, read_placements, write_placements
from gridview.dynamodb.errors import ConditionFailed, TransactionFailed
from gridview.dynamodb.leases import lease_end
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.fractional_keys import (
    Draw,
    NoRoom,
    between,
    default_key_above,
    default_key_up_to,
)
from gridview.query.neighbors import rows_beside
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck
from gridview.schema.jobs import Hint, Turn
from gridview.schema.manual_orders import ManualOrder
from gridview.schema.placements import Full, LongRank, Placements, RankedRow
from gridview.schema.store import Catalogs
from gridview.support import backoff, clock
from gridview.support.concurrency import chunked
from gridview.support.errors import NotFound
from gridview.view.context import ReadContext

SHORT = 12
"""Characters of the longest rank that a rebalanced range should have."""

_WINDOWS = (16, 64, 256, 400)
"""The numbers of rows that are tried. More than 500 placements would not be known to the next ones."""


class Respread(NamedTuple):
    """A row, and the rank that it gets."""

    row: RankedRow
    rank: str


class _Outdated(Exception):
    """The rows of the range have changed since they were read."""


def respread(before: Sequence[RankedRow], after: Sequence[RankedRow], draw: Draw) -> list[Respread]:
    """Return new ranks for the rows around a place, in the order in which they may be written. Pure.

    `before`: the rows before the place, the nearest first; `after`: those from it on. Rows at both ends of a range whose
    ranks are short keep them. The smallest range is chosen that gets short ranks; if there is none, the one that gets the
    shortest. Empty if no range gets shorter ranks than it has.
    """
    best: list[Respread] = []
    for size in _WINDOWS:
        rows, low, high = _range(before, after, size // 2)
        try:
            ranks = _spread(rows, low, high, draw)
        except NoRoom:
            continue
        longest = max(map(len, ranks), default=0)
        if longest < min(_longest(rows), max((len(one.rank) for one in best), default=longest + 1)):
            pairs = zip(rows, ranks, strict=True)
            best = [Respread(row, rank) for row, rank in pairs if rank != row.rank]
        if longest <= SHORT:
            break
    rising = [one for one in best if one.rank > one.row.rank]
    return rising[::-1] + [one for one in best if one.rank < one.row.rank]


def _range(
    before: Sequence[RankedRow], after: Sequence[RankedRow], reach: int
) -> tuple[list[RankedRow], str | None, str | None]:
    """Return the rows with long ranks around a place, up to `reach` on each side, and the ranks beside them."""
    rows = [*before[: reach + 1][::-1], *after[: reach + 1]]
    first = 1 if len(before) > reach else 0
    last = len(rows) - 1 if len(after) > reach else len(rows)
    while first < last and len(rows[first].rank) <= SHORT:
        first += 1
    while first < last and len(rows[last - 1].rank) <= SHORT:
        last -= 1
    low = rows[first - 1].rank if first else None
    high = rows[last].rank if last < len(rows) else None
    return rows[first:last], low, high


def _spread(rows: Sequence[RankedRow], low: str | None, high: str | None, draw: Draw) -> list[str]:
    """Return new ranks for rows between two others: no higher and no lower than the default keys around each. NoRoom."""
    ranks: list[str] = []
    for (below, above), some in groupby(rows, lambda row: _default_keys_around(row.rank)):
        together = [one.rank for one in some]
        kept = [rank for rank in together if rank == below]
        lowest = max((one for one in (below, low) if one is not None), default=None)
        highest = min((one for one in (above, high) if one is not None), default=None)
        left = len(together) - len(kept)
        ranks += [*kept, *(between(lowest, highest, draw, left) if left else ())]
    return ranks


def _default_keys_around(rank: str) -> tuple[str | None, str | None]:
    return default_key_up_to(rank), default_key_above(rank)


def _longest(rows: Iterable[RankedRow]) -> int:
    return max((len(one.rank) for one in rows), default=0)


@dataclass(frozen=True, slots=True)
class Rebalancing:
    """Rebalances the ranges of a project's orders that wait for it."""

    table: Table
    catalogs: Catalogs
    tenant: str
    project: str
    draw: Draw = lambda: random.random()  # noqa: S311  (no secret, and the simulator has its own)

    def take_turn(self, hint: Hint, left: Callable[[], float]) -> Turn | None:
        """Rebalance until the seconds in `left` are over. None if none is left, the placements are not due, or the hint is
        outdated.

        A range costs a result page of up to 402 rows. Each row of it costs a read, and twice the write units of its document.
        """
        if left() <= 0:
            return None
        state = self._read()
        if not state.due or state.due != hint.due or state.due > clock.now():
            return None
        try:
            self._save(state, replace(state, due=lease_end()))
        except ConditionFailed:
            return None  # another placement came first: the next hint names the new instant
        written = 0
        while left() > 0:
            state = self._read()
            if not state.long:
                return Turn(written)
            try:
                written += self._shortened(state.long[0], left)
            except Full:
                return Turn(written)  # it is due at the end of the lease
        return Turn(written, hints=self._released())

    def _released(self) -> tuple[Hint, ...]:
        """Make the rest due now."""
        state = self._read()
        if not state.due:
            return ()
        due = clock.now()
        try:
            self._save(state, replace(state, due=due))
        except ConditionFailed:
            return ()  # it is due at the end of the lease
        return (Hint(keys.placements(self.tenant, self.project), due),)

    def _shortened(self, long: LongRank, left: Callable[[], float]) -> int:
        """Rebalance one range, and take it off the list. Returns the number of rows that were written."""

        def act(catalog: Catalog, epoch: EpochCheck) -> int:
            order = next((one for one in catalog.manual_orders if one.key == long.order), None)
            return 0 if order is None else self._rebalanced(catalog, epoch, order, long.rank, left)

        try:
            written = self.catalogs.using(self.table, self.tenant, self.project, act, numbered=True)
        except NotFound:
            written = 0
        if left() > 0:
            for _ in backoff.attempts():
                state = self._read()
                try:
                    self._save(state, state.shortened(long))
                except ConditionFailed:
                    continue
                break
        return written

    def _rebalanced(
        self, catalog: Catalog, epoch: EpochCheck, order: ManualOrder, rank: str, left: Callable[[], float]
    ) -> int:
        epoch.confirm(self.table)
        written = 0
        for _ in backoff.attempts():
            state = self._read()
            new, pending = self._respread(catalog, epoch, order, rank, state)
            try:
                for some in chunked(new, TOGETHER):
                    if left() <= 0:
                        return written
                    state, count = self._written(catalog, order, state, some, pending=pending)
                    written += count
                    pending |= {one.row.num for one in some}
            except (TransactionFailed, _Outdated):
                continue
            break
        return written

    def _respread(
        self, catalog: Catalog, epoch: EpochCheck, order: ManualOrder, rank: str, state: Placements
    ) -> tuple[list[Respread], frozenset[int]]:
        """Return the new ranks, and the issues whose placements the index lacks."""
        if order.served is None:
            return [], frozenset()
        recent = state.writes_known(self.project, clock.seconds())
        # A row that an earlier state of its document hides would lose its place.
        context = ReadContext(self.table, catalog, epoch=epoch, recent=recent, consistent=True)
        reach = _WINDOWS[-1] // 2 + 1
        place = RankedRow(1, rank)
        before = rows_beside(context, order.served, place, reach, backward=True)
        after = rows_beside(context, order.served, place, reach, backward=False, with_it=True)
        return respread(before.rows, after.rows, self.draw), before.pending | after.pending

    def _written(
        self,
        catalog: Catalog,
        order: ManualOrder,
        state: Placements,
        some: Iterable[Respread],
        *,
        pending: frozenset[int],
    ) -> tuple[Placements, int]:
        """Write some new ranks. TransactionFailed if a placement came first; _Outdated if a row has another rank. Full."""
        wanted = {one.row.num: one for one in some}
        _, found = read_placements(self.table, catalog, wanted)
        if any(order.value_in(found[num]) != wanted[num].row.rank for num in found):
            raise _Outdated
        now, count = clock.now(), 0
        for together in in_transactions(found[num] for num in wanted if num in found):
            written = [
                documents.placed(one, order.key, wanted[one["num"]].rank, user="", now=now)
                for one in together
            ]
            versions = {one["num"]: one["version"] for one in written}
            after = state.adding(versions, clock.seconds(), pending=pending)
            pending |= versions.keys()
            write_placements(self.table, catalog, state, after, written)
            state, count = replace(after, revision=state.revision + 1), count + len(written)
        return state, count

    def _read(self) -> Placements:
        item = self.table.get(keys.placements(self.tenant, self.project), keys.JOB, consistent=True)
        return Placements.from_item(item)

    def _save(self, state: Placements, after: Placements) -> None:
        """Save the placements. ConditionFailed if others have written them since."""
        raised = replace(after, revision=state.revision + 1)
        self.table.put(raised.to_item(self.tenant, self.project), state.unchanged)
