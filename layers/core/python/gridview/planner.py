"""How a query is answered: a choice made from the request alone, and the budget that it has to keep. Pure.

walk      along one index (or the issue numbers), from the place asked for on: its price does not depend on the project's size
whole     the fields that it takes of all issues, judged and sorted in memory: for small projects
"""

from collections.abc import Iterator
from dataclasses import dataclass

from gridview.errors import Unprocessable
from gridview.gridrequest import GridQuery

WHOLE = 10_000
"""Issue numbers that a project may have given out to be read whole."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What was chosen. `reasons`: the parts of the request that no walk along one index can answer."""

    reasons: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether the project is read whole."""
        return bool(self.reasons)


def plan(query: GridQuery) -> Plan:
    """The cheapest way to answer a grid query exactly."""
    return Plan(tuple(_reasons(query)))


def _reasons(query: GridQuery) -> Iterator[str]:
    if query.filter is not None:
        yield "a filter"
    if query.count:
        yield "an exact count"
    if query.offset:
        yield "an offset"
    if len(query.keys) > 1:
        yield "several sort keys"


def check_budget(numbers: int, reasons: tuple[str, ...]) -> None:
    """Refuse to read a project whole that has given out this many issue numbers; Unprocessable says what is possible."""
    if numbers > WHOLE:
        raise Unprocessable(
            f"The project has given out {numbers:,} issue numbers, and {in_words(reasons)} can be answered for up to {WHOLE:,} so "
            "far. Larger projects can be sorted by one indexed field, without a filter, and walked by cursors."
        )


def in_words(reasons: tuple[str, ...]) -> str:
    """`a filter and an offset`."""
    *others, last = reasons
    return f"{', '.join(others)} and {last}" if others else last
