"""The functions of numbers that summaries and groups answer, for numbers from columns, totals or documents. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from pyroaring import BitMap

from gridview.chains.column_totals import ColumnTotal
from gridview.chains.number_columns import NumberColumn, Numbers, mean

Function = Literal["count", "empty", "distinct", "min", "max", "median", "sum", "avg"]
OF_NUMBERS = frozenset[Function](("median", "sum", "avg"))
"""The functions that only number fields have."""


@dataclass(frozen=True)
class IssueNumbers:
    """The numbers of issues themselves: each issue has its own."""

    issues: BitMap

    @property
    def count(self) -> int:
        """How many they are."""
        return len(self.issues)

    @property
    def sum(self) -> Decimal:
        """Their sum."""
        return Decimal(sum(self.issues))

    @property
    def least(self) -> Decimal | None:
        """The least; None for none."""
        return Decimal(self.issues.min()) if self.issues else None

    @property
    def greatest(self) -> Decimal | None:
        """The greatest; None for none."""
        return Decimal(self.issues.max()) if self.issues else None

    @property
    def median(self) -> Decimal | None:
        """The one in the middle, or the mean of the two; None for none."""
        if not self.issues:
            return None
        count = len(self.issues)
        return Decimal(self.issues[(count - 1) // 2] + self.issues[count // 2]) / 2

    @property
    def distinct(self) -> int:
        """How many they are: all differ."""
        return len(self.issues)


@dataclass(frozen=True)
class TotalNumbers:
    """All numbers of a field, by their total and the ends of their order, as far as these are asked."""

    total: ColumnTotal
    least: Decimal | None = None
    greatest: Decimal | None = None

    @property
    def count(self) -> int:
        """How many they are."""
        return self.total.count

    @property
    def sum(self) -> Decimal:
        """Their sum."""
        return self.total.sum

    @property
    def median(self) -> Decimal | None:
        """Unknown."""
        raise LookupError("a total has no median")

    @property
    def distinct(self) -> int:
        """Unknown."""
        raise LookupError("a total does not know different numbers")


SomeNumbers = Numbers | IssueNumbers | TotalNumbers
"""Numbers whose functions are asked. Each takes work only when it is asked."""


def value_of(function: Function, numbers: SomeNumbers, issues: int) -> Decimal | int | None:
    """Return a function of the numbers that `issues` issues have; None if it needs a number and there is none."""
    match function:
        case "count":
            return numbers.count
        case "empty":
            return issues - numbers.count
        case "distinct":
            return numbers.distinct
        case "min":
            return numbers.least
        case "max":
            return numbers.greatest
        case "median":
            return numbers.median
        case "sum":
            return numbers.sum if numbers.count else None
    return mean(numbers.sum, numbers.count)


def listed(numbers: Iterable[Any]) -> Numbers:
    """Return stored numbers that no column has."""
    return NumberColumn().among(BitMap(), [Decimal(one) for one in numbers])
