"""Ranges of numbers that groups are made of: between given bounds, or of one width. Pure.

A range has the numbers from `begin` on, and less than `end`; None: open. Bodies of numbers compare like the numbers, also
with fences, which may be the beginning of a body. So fences show whether a block is in a range.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from itertools import pairwise
from typing import Any, NamedTuple

from pyroaring import BitMap

from gridview.chains.blocks import FIRST
from gridview.encoding.fences import body_in
from gridview.encoding.sort_strings import number_beyond as number_body
from gridview.encoding.sort_strings import number_value
from gridview.encoding.values import number_json

_EXACT = Context(prec=600, rounding=ROUND_FLOOR)
"""Holds the multiple of any width that is next to any number."""


class NumberRange(NamedTuple):
    """The numbers from `begin` on, less than `end`."""

    begin: Decimal | None
    end: Decimal | None

    @property
    def body(self) -> str:
        """The least body in it: ranges sort by it, and no number has that of a range without a beginning."""
        return "" if self.begin is None else number_body(self.begin)

    @property
    def json(self) -> dict[str, Decimal | None]:
        """The range, as the API answers it."""
        return {"from": self.begin, "to": self.end}

    def covers(self, lower: str, upper: str | None) -> bool:
        """Whether it has every number whose key is between two fences."""
        return lower >= self.body and (
            self.end is None or (upper is not None and upper <= number_body(self.end))
        )


@dataclass(frozen=True)
class NumberRanges:
    """The ranges between ascending bounds, or those of a width, counted from 0."""

    bounds: tuple[Decimal, ...] = ()
    width: Decimal | None = None

    def canonical(self) -> Any:
        """A value that is the same for the same ranges, for cursors."""
        return [number_json(one) for one in (self.bounds if self.width is None else (self.width, Decimal(0)))]

    def of(self, number: Decimal | int) -> NumberRange:
        """The range that has a number."""
        if self.width is not None:
            with localcontext(_EXACT):
                begin = (Decimal(number) / self.width).to_integral_value() * self.width
                return NumberRange(begin, begin + self.width)
        at = bisect_right(self.bounds, number)
        return NumberRange(
            self.bounds[at - 1] if at else None, self.bounds[at] if at < len(self.bounds) else None
        )

    def between(self, lower: str, upper: str | None) -> NumberRange | None:
        """The range of every number whose key is between two fences; None if they may be of several."""
        number = _number_in(lower)
        if lower == FIRST:
            found = NumberRange(None, self.bounds[0]) if self.bounds else None
        else:
            found = None if number is None else self.of(number)
        return found if found is not None and found.covers(lower, upper) else None

    def divided(self, numbers: BitMap) -> Iterator[tuple[NumberRange, BitMap]]:
        """Issue numbers by their ranges, in order."""
        at = 0
        while at < len(numbers):
            found = self.of(numbers[at])
            end = (
                numbers.max() + 1
                if found.end is None
                else int(found.end.to_integral_value(rounding="ROUND_CEILING"))
            )
            part = numbers & BitMap(range(numbers[at], min(end, numbers.max() + 1)))
            yield found, part
            at += len(part)


def _number_in(fence: str) -> Decimal | None:
    """The number of the body in a fence; None if the fence is only the beginning of one."""
    try:
        return number_value(body_in(fence))
    except (ValueError, IndexError, ArithmeticError):
        return None


def ascend(bounds: Sequence[Decimal]) -> bool:
    """Whether numbers ascend, so that they bound ranges."""
    return all(earlier < later for earlier, later in pairwise(bounds))
