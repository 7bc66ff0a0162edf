"""Totals of columns: how many numbers there are, and their sum. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from gridview.encoding.number_pages import Slices, count_of, exact_sum, sum_of


@dataclass(frozen=True, slots=True)
class ColumnTotal:
    """How many numbers there are, and their exact sum; or by how much both changed."""

    count: int = 0
    sum: Decimal = Decimal(0)

    def plus(self, other: "ColumnTotal") -> "ColumnTotal":
        """Return both together."""
        return ColumnTotal(self.count + other.count, exact_sum((self.sum, other.sum)))

    def minus(self, other: "ColumnTotal") -> "ColumnTotal":
        """Return the difference from another."""
        return ColumnTotal(self.count - other.count, exact_sum((self.sum, other.sum.copy_negate())))


def total_of(pages: Iterable[Slices]) -> ColumnTotal:
    """Return the total of pages."""
    every = list(pages)
    return ColumnTotal(sum(map(count_of, every)), exact_sum(map(sum_of, every)))
