"""The comparison as a table for people and as JSON for programs. Missed targets are marked."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from devtools.bench import output
from devtools.bench.postgres.designs import AttributeValue, Jsonb
from devtools.bench.postgres.questions import DOCUMENT_UNITS, Kind, Question

COLD: Final = "cold"
KEPT: Final = "kept"
OURS: Final = (COLD, KEPT)
THEIRS: Final = (AttributeValue.name, Jsonb.name)

DOLLARS_PER_MILLION_UNITS: Final = 0.125
"""Read request units on demand, in us-east-1 in November 2024."""
MOST_GROWTH: Final = 1.3
WARM_SHARE: Final = 0.1
"""The share of its target that a query should take in a container with kept reads."""
LARGE: Final = 1_000_000
"""Issues from which on gridview should be faster than the attribute-value design."""

MISSED: Final = " ✗"


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one question on one side: the median time, CPU time, the most calls in sequence, and read units.

    CPU time is of this process, on gridview's side without DynamoDB Local. Read units are 0 for PostgreSQL.
    """

    milliseconds: float
    cpu_milliseconds: float
    sequential_calls: int
    read_units: float


@dataclass(frozen=True, slots=True)
class Line:
    """One question: how many rows its page has, and its cost on each side."""

    question: Question
    rows: int
    costs: Mapping[str, Cost]

    def units(self, side: str) -> float:
        """Read units without the documents of the rows; 0 if a page of the index had these too, for less."""
        return max(self.costs[side].read_units - self.rows_units, 0.0)

    @property
    def rows_units(self) -> float:
        """Read units of the documents shown."""
        return self.rows * DOCUMENT_UNITS if self.question.kind is Kind.PAGE else 0.0

    def missed(self, side: str) -> bool:
        """Whether it takes more units than it should."""
        if self.question.target is None:
            return False
        if side == KEPT and self.question.kept_target is not None:
            return self.units(side) > self.question.kept_target
        share = 1 if side == COLD else WARM_SHARE
        return self.units(side) > self.question.target * share

    @property
    def dollars(self) -> float:
        """A million such queries, cold, documents included."""
        return self.costs[COLD].read_units * DOLLARS_PER_MILLION_UNITS


@dataclass(frozen=True, slots=True)
class Section:
    """One dataset."""

    name: str
    issues: int
    load_seconds: float
    lines: Sequence[Line]

    def slower(self, line: Line, side: str) -> bool:
        """Whether a query should be faster in gridview than in the attribute-value design, or in both, and is not."""
        if self.issues < LARGE:
            return False
        taken = {name: cost.milliseconds for name, cost in line.costs.items()}
        if line.question.ours_first_kept:
            return side == KEPT and taken[side] > min(taken[name] for name in THEIRS)
        return line.question.ours_first and taken[side] > taken[AttributeValue.name]


@dataclass(frozen=True, slots=True)
class Growth:
    """The cost of a question in the largest project, as multiples of its cost in the smallest."""

    name: str
    milliseconds: Mapping[str, float]
    read_units: Mapping[str, float]


def growth(sections: Sequence[Section]) -> list[Growth]:
    """From the first section to the last, question by question."""
    found = []
    for small, large in zip(sections[0].lines, sections[-1].lines, strict=True):
        milliseconds = {
            side: cost.milliseconds / small.costs[side].milliseconds for side, cost in large.costs.items()
        }
        units = {
            side: cost.read_units / small.costs[side].read_units
            for side, cost in large.costs.items()
            if small.costs[side].read_units
        }
        found.append(Growth(large.question.name, milliseconds, units))
    return found


def to_json(sections: Sequence[Section], grown: Sequence[Growth]) -> dict[str, Any]:
    """Everything, by name."""
    return {
        "sections": [
            {
                "name": section.name,
                "issues": section.issues,
                "load_seconds": section.load_seconds,
                "queries": {
                    line.question.name: {
                        "rows": line.rows,
                        "target": line.question.target,
                        "besides_documents": {side: line.units(side) for side in OURS},
                        "missed": [side for side in OURS if line.missed(side)],
                        "slower": [side for side in OURS if section.slower(line, side)],
                        "dollars_per_million": line.dollars,
                        "costs": {side: asdict(cost) for side, cost in line.costs.items()},
                    }
                    for line in section.lines
                },
            }
            for section in sections
        ],
        "growth": {one.name: asdict(one) for one in grown},
    }


def show(console: Console, sections: Sequence[Section], grown: Sequence[Growth]) -> None:
    """Print a table for each dataset, and the growth."""
    for section in sections:
        console.print(_section(section))
    if grown:
        console.print(_growth(sections, grown))
    for line in NOTES:
        console.print(line, highlight=False, soft_wrap=True)


NOTES: Final = (
    "",
    "Cold: the container has only the catalog. Kept: it also has directories, blocks and sort strings of earlier queries. "
    "They are valid while the journal contains the changes since then.",
    f"Units: without {DOCUMENT_UNITS} for each row's document; kept, the target is a tenth. Dollars: a million cold "
    f"queries, documents included, at ${DOLLARS_PER_MILLION_UNITS} a million read request units.",
    "Calls: DynamoDB Local ends a page of a directory after 1 MB of whole items with their sets, though GSI1 has no sets. "
    "Beyond some 280 blocks it needs one call after the other. DynamoDB needs one up to some 7,000 blocks.",
    "CPU: our own code's part of the milliseconds before it. The rest is DynamoDB Local, or waiting for it.",
    f"PostgreSQL has its data in memory and makes no JSON of its rows.{MISSED}: more units than the target. Or: slower "
    f"than the attribute-value design at {LARGE:,} issues, in a query that should be faster. "
    f"Or: growth above {MOST_GROWTH}. Sums should be faster than both designs, with kept reads.",
)


def _section(section: Section) -> Table:
    return output.table(
        f"\n{section.name} (loaded in {section.load_seconds:,.0f} s)",
        (
            *("query", "ms cold", "CPU", "ms kept", "CPU", "attr.-value", "JSONB", "calls", "target"),
            *("units cold", "units kept", "$ / million"),
        ),
        (_row(section, line) for line in section.lines),
    )


def _row(section: Section, line: Line) -> list[str]:
    target = line.question.target
    return [
        line.question.name,
        *(
            cell
            for side in OURS
            for cell in (
                f"{line.costs[side].milliseconds:,.1f}{MISSED if section.slower(line, side) else ''}",
                f"{line.costs[side].cpu_milliseconds:,.1f}",
            )
        ),
        *(f"{line.costs[side].milliseconds:,.1f}" for side in THEIRS),
        f"{line.costs[COLD].sequential_calls}",
        "" if target is None else f"{target:,.0f}",
        *(f"{line.units(side):,.1f}{MISSED if line.missed(side) else ''}" for side in OURS),
        f"{line.dollars:,.2f}",
    ]


def _growth(sections: Sequence[Section], grown: Sequence[Growth]) -> Table:
    largest = max(section.issues for section in sections if not section.name.endswith(")"))
    theirs = (f"ms {name}" for name in THEIRS)
    return output.table(
        f"\nGrowth to {largest:,} issues from {sections[0].issues:,}",
        ("query", "ms cold", "ms kept", *theirs, "units cold", "units kept"),
        (
            (
                one.name,
                *(_ratio(one.milliseconds[side], judged=side in OURS) for side in (*OURS, *THEIRS)),
                *(_ratio(one.read_units.get(side), judged=True) for side in OURS),
            )
            for one in grown
        ),
    )


def _ratio(ratio: float | None, *, judged: bool) -> str:
    if ratio is None:
        return ""
    return f"{ratio:,.2f}{MISSED if judged and ratio > MOST_GROWTH else ''}"
