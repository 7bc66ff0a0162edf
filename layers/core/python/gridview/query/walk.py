"""An order as a line to walk along: its stretches, the gaps between its rows, and which range of keys comes next. Pure.

    values | nulls            nulls: last, the default
           ^ a gap is a place between two rows; a cursor is a gap and a direction

Both stretches run in the direction of the sort key: the values by their sort strings, the issues without a value by their numbers.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from gridview.dynamodb.expressions import Bound


class Stretch(StrEnum):
    """The rows with a value (all of them, in number order), and those without one."""

    VALUES = "v"
    NULLS = "n"


class Gap(NamedTuple):
    """A place just before or after the row with this key; without a key, the stretch's own beginning (`after` False)."""

    stretch: Stretch
    key: str | None = None
    after: bool = False


class Walk(NamedTuple):
    """A direction of travel along an order. `nullable`: whether the order has a stretch of rows without a value."""

    descending: bool
    nulls_first: bool
    nullable: bool
    backward: bool = False

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """In the order of the rows, whichever the direction of travel."""
        if not self.nullable:
            return (Stretch.VALUES,)
        return (Stretch.NULLS, Stretch.VALUES) if self.nulls_first else (Stretch.VALUES, Stretch.NULLS)

    @property
    def beginning(self) -> Gap:
        """The gap before the first row."""
        return Gap(self.stretches[0])

    @property
    def ascending_keys(self) -> bool:
        """Whether keys rise in the direction of travel."""
        return self.descending == self.backward

    def ranges_from(self, gap: Gap) -> Iterator[tuple[Stretch, Bound | None]]:
        """The stretches ahead of a gap, each with the bound that its keys have to keep."""
        path = self.stretches[::-1] if self.backward else self.stretches
        ahead = path[path.index(gap.stretch) :]
        if gap.key is not None:
            # A gap lies after or before its row in the order of the rows; travelling, the row itself is ahead or behind.
            includes_row = gap.after == self.backward
            yield gap.stretch, _bound(gap.key, ascending=self.ascending_keys, inclusive=includes_row)
            ahead = ahead[1:]
        elif self.backward:
            ahead = ahead[1:]  # the beginning of a stretch: all of it is behind
        for stretch in ahead:
            yield stretch, None


def _bound(key: str, *, ascending: bool, inclusive: bool) -> Bound:
    match ascending, inclusive:
        case True, True:
            return Bound(">=", key)
        case True, False:
            return Bound(">", key)
        case False, True:
            return Bound("<=", key)
    return Bound("<", key)
