"""The questions, in words that both sides understand: pages, row N, exact counts, groups. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final

ROWS: Final = 100
"""The rows of a page, with all columns."""
GROUPS_AT_ONCE: Final = 500
"""The groups of an answer."""
DOCUMENT_UNITS: Final = 0.5
"""Read units of each row's own document, which no index can save."""


class Kind(Enum):
    """The contents of the answer."""

    PAGE = "page"
    COUNT = "count"
    GROUPS = "groups"
    SUMS = "sums"
    GROUPED_SUMS = "grouped sums"


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
    - `kept_target`: the most that it should take with kept reads, if that is not a tenth.
    - `ours_first`: it should take less time than the attribute-value design, if that has a million issues.
    - `ours_first_kept`: with kept reads, it should take less time than either design then.
    - `sums`: the number fields whose values are counted and summed, in the order of their attributes. Every issue has
      a value of each, and of `field`.
    """

    name: str
    kind: Kind = Kind.PAGE
    field: str | None = None
    only: Condition | None = None
    offset: int = 0
    without: bool = False
    target: float | None = None
    kept_target: float | None = None
    ours_first: bool = False
    ours_first_kept: bool = False
    sums: Sequence[str] = ()

    def body(self) -> dict[str, Any]:
        """The request as the API takes it."""
        only: Mapping[str, Any] = {} if self.only is None else {"filter": self.only.to_json()}
        if self.kind is Kind.GROUPS:
            return {"by": [self.field], **only}
        if self.kind is Kind.SUMS:
            return {"fields": [{"field": one, "functions": ["count", "sum"]} for one in self.sums], **only}
        if self.kind is Kind.GROUPED_SUMS:
            sums = [{"field": one, "function": "sum"} for one in self.sums]
            return {"by": [self.field], "aggregates": sums, "limit": GROUPS_AT_ONCE, **only}
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


SUM_OF_ALL: Final = "five fields: count and sum"
SUM_OF_FEW: Final = "a sum, filtered (1 %)"
SUM_OF_HALF: Final = "a sum, filtered (50 %)"
GROUPED_SUM: Final = "50 groups with a sum"
GROUPED_SUM_OF_FEW: Final = "50 groups with a sum, filtered (1 %)"
_SUM_TARGETS: Final[Mapping[int, Mapping[str, float]]] = {
    100_000: {SUM_OF_ALL: 6, SUM_OF_FEW: 65, SUM_OF_HALF: 70, GROUPED_SUM_OF_FEW: 100},
    1_000_000: {SUM_OF_ALL: 6, SUM_OF_FEW: 500, SUM_OF_HALF: 650, GROUPED_SUM_OF_FEW: 850},
}
_SUM_KEPT_TARGET: Final = 1.5


@dataclass(frozen=True, slots=True)
class NumberSubject:
    """The fields of a dataset of numbers."""

    issues: int
    numbers: Sequence[str]
    group: str
    """A field of 50 values."""
    few: Condition
    """About 1 % of the issues."""
    half: Condition
    """About half of the issues."""

    def questions(self) -> Sequence[Question]:
        """All of them, in the order of the table."""
        first = self.numbers[:1]
        return tuple(
            map(
                self._with_targets,
                (
                    Question(SUM_OF_ALL, Kind.SUMS, sums=self.numbers),
                    Question(SUM_OF_FEW, Kind.SUMS, only=self.few, sums=first),
                    Question(SUM_OF_HALF, Kind.SUMS, only=self.half, sums=first),
                    Question(GROUPED_SUM, Kind.GROUPED_SUMS, field=self.group, sums=first),
                    Question(
                        GROUPED_SUM_OF_FEW, Kind.GROUPED_SUMS, field=self.group, only=self.few, sums=first
                    ),
                ),
            )
        )

    def _with_targets(self, question: Question) -> Question:
        target = _SUM_TARGETS.get(self.issues, {}).get(question.name)
        kept = None if target is None else _SUM_KEPT_TARGET
        return replace(question, target=target, kept_target=kept, ours_first_kept=True)
