"""Columns and totals of numbers, as if they held the recent changes. Pure.

By state, as all of the overlay. The numbers of changed issues are taken out of the column, and their present ones are
added. A total is corrected by what each changed issue had at its position, and only if that is certain.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from pyroaring import BitMap

from gridview.chains.column_totals import ColumnTotal
from gridview.chains.number_columns import NumberColumn, Numbers
from gridview.chains.unpacked_layers import UnpackedLayer
from gridview.journal.items import Totals
from gridview.journal.replay import number_in
from gridview.view.moves import Logged
from gridview.view.overlay import Overlay


@dataclass(frozen=True)
class ShownColumn:
    """The numbers of a field. `changed`: the issues whose numbers are not those of the column, but in `numbers`, if any."""

    column: NumberColumn
    changed: BitMap = field(default_factory=BitMap)
    numbers: Mapping[int, Decimal] = field(default_factory=dict)

    @property
    def members(self) -> BitMap:
        """The issues that have a number."""
        return self.column.members - self.changed | BitMap(self.numbers)

    @property
    def all(self) -> Numbers:
        """The numbers of all issues."""
        return self.among(self.members)

    @cached_property
    def _unpacked(self) -> tuple[UnpackedLayer, ...]:
        return self.column.unpack()

    def among(self, issues: BitMap) -> Numbers:
        """The numbers of a set of issues."""
        if not self.changed:
            return self.column.among(issues, (), self._unpacked)
        added = [number for num, number in self.numbers.items() if num in issues]
        return self.column.among(issues - self.changed, added, self._unpacked)


def shown_column(overlay: Overlay, family: str, column: NumberColumn) -> ShownColumn:
    """Return a column with the overlay's changes."""
    numbers = {num: number_in(move.takes, num) for num, move in overlay.moves_in(family)}
    there = {num: number for num, number in numbers.items() if number is not None}
    return ShownColumn(column, BitMap(numbers), there)


def shown_total(overlay: Overlay, logged: Logged, family: str, totals: Totals) -> ColumnTotal | None:
    """Return the total of a column with the overlay's changes, from totals that were just read.

    None if it is unknown. A fold left it so, or it is older than the journal items at hand. Or it is uncertain what a
    changed issue had at its position.
    """
    total = totals.of(family)
    if total is None or not logged.floor <= totals.position <= logged.last:
        return None
    for num, move in overlay.moves_in(family):
        if not move.steps and (move.leaves or num in logged.moves):
            return (
                None  # the journal has the issue, and not what it had before: the total may have it already
            )
        had = move.had_at(totals.position) if move.steps else None
        total = total.plus(_of(number_in(move.takes, num))).minus(_of(number_in(had, num)))
    return total


def _of(number: Decimal | None) -> ColumnTotal:
    return ColumnTotal() if number is None else ColumnTotal(1, number)
