"""The questions, in words that both sides understand: pages, row N, exact counts, groups. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

ROWS: Final = 100
"""The rows of a page, with all columns."""
DOCUMENT_UNITS: Final = 0.5
"""Read units of each row's own document, which no index can save."""


class Kind(Enum):
    """The contents of the answer."""

    PAGE = "page"
    COUNT = "count"
    GROUPS = "groups"


@dataclass(frozen=True, slots=True)
class Condition:
    """The value of a field is between two others, both included; or is one, which then is both."""

    field: str
    lower: Any
    upper: Any

    @property
    def one(self) -> bool:
        """Whether it is about a single value."""
        return bool(self.lower == self.upper)

    def to_json(self) -> dict[str, Any]:
        """As the API takes it."""
        if self.one:
            return {"field": self.field, "op": "eq", "value": self.lower}
        return {"field": self.field, "op": "between", "value": [self.lower, self.upper]}


@dataclass(frozen=True, slots=True)
class Question:
    """One query. `field` is the field by which pages are sorted (None: number) and of which groups are made.

    - `without`: the page is of issues that have no value of the field, and `offset` counts from the first of them.
    - `target`: the most read units that it should take without kept reads, and without its rows' documents. With kept
      reads, a tenth.
    - `ours_first`: it should take less time than the attribute-value design, if that has a million issues.
    """

    name: str
    kind: Kind = Kind.PAGE
    field: str | None = None
    only: Condition | None = None
    offset: int = 0
    without: bool = False
    target: float | None = None
    ours_first: bool = False

    def body(self) -> dict[str, Any]:
        """The request as the API takes it."""
        only: Mapping[str, Any] = {} if self.only is None else {"filter": self.only.to_json()}
        if self.kind is Kind.GROUPS:
            return {"by": [self.field], **only}
        sort = (
            []
            if self.field is None
            else [{"field": self.field, "nulls": "first" if self.without else "last"}]
        )
        limit, count = (1, True) if self.kind is Kind.COUNT else (ROWS, False)
        return {
            "sort": sort,
            "limit": limit,
            "offset": self.offset,
            "count": count,
            **only,
        }


PLAIN: Final = "page by an indexed field"
ROW_N: Final = "row N, the middle"
ROW_N_FILTERED: Final = "row N, filtered"
FILTERED: Final = "filtered (1 %), sorted"
CORRELATED: Final = "filtered (1 %), sorted, correlated"
GROUPS: Final = "grouped counts"
TAIL: Final = "no-value tail, its first page"
TAIL_MIDDLE: Final = "no-value tail, its middle"
COUNT: Final = "exact count, filtered (1 %)"
NUMBER_ORDER: Final = "filtered (1 %), number order"


@dataclass(frozen=True, slots=True)
class Subject:
    """The fields of a dataset that the questions can be about; all of them are indexed."""

    issues: int
    day: str
    """Every issue has one."""
    later: str
    """Another day, a little later than the first; some issues have none."""
    without: int
    """Issues without the later day."""
    few: str
    """A field of few values."""
    rare: Condition
    """About 1 % of the issues, anywhere in the order of the days."""
    common: Condition
    """A third or more of the issues."""
    common_issues: int
    late: Condition
    """About 1 % of the issues, by their day: together at the far end of the order of the later day."""

    def questions(self) -> Sequence[Question]:
        """All of them, in the order of the table."""
        return (
            Question(PLAIN, field=self.day, target=5),
            Question(FILTERED, field=self.day, only=self.rare, target=100, ours_first=True),
            Question(CORRELATED, field=self.later, only=self.late, target=600, ours_first=True),
            Question(ROW_N, field=self.day, offset=self.issues // 2, target=50, ours_first=True),
            Question(
                ROW_N_FILTERED,
                field=self.day,
                only=self.common,
                offset=self.common_issues // 2,
                target=600,
                ours_first=True,
            ),
            Question(GROUPS, Kind.GROUPS, field=self.few, target=40, ours_first=True),
            Question(TAIL, field=self.later, without=True, ours_first=True),
            Question(TAIL_MIDDLE, field=self.later, without=True, offset=self.without // 2, ours_first=True),
            Question(COUNT, Kind.COUNT, only=self.rare),
            Question(NUMBER_ORDER, only=self.rare),
        )
