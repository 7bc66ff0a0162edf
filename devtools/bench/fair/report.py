"""The figures of `./dev bench --fair` as a table and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from rich.console import Console

from devtools.bench import output
from devtools.bench.fair.prices import Price
from devtools.bench.fair.virtual import TIMED

SLOWER: Final = 2.0
"""By how much the medians of others may grow."""

WORST_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Row:
    """Seconds that another tenant waits for one thing, without and with the load. `case`: the place and the load."""

    case: str
    kind: str
    alone: float
    median: float
    worst: float

    @property
    def is_fair(self) -> bool:
        """Whether it meets the targets."""
        return self.median <= SLOWER * self.alone and self.worst <= WORST_SECONDS


def rows(case: str, alone: Sequence[Any], beside: Sequence[Any]) -> list[Row]:
    """The median of all runs' medians, and the worst of all runs."""
    return [
        Row(
            case,
            kind,
            alone=_middle([run.median(kind) for run in alone]),
            median=_middle([run.median(kind) for run in beside]),
            worst=max(run.worst(kind) for run in beside),
        )
        for kind in TIMED
    ]


def show(console: Console, found: Sequence[Row]) -> None:
    """Print the figures."""
    console.print(
        output.table(
            "\nAnother tenant beside one viewer's worst",
            ("case", "waits for", "alone", "median", "worst", "target"),
            (
                (
                    row.case,
                    row.kind,
                    *(f"{1000 * seconds:,.0f} ms" for seconds in (row.alone, row.median, row.worst)),
                    "met" if row.is_fair else "missed",
                )
                for row in found
            ),
            texts=2,
        )
    )


def show_prices(console: Console, paid: Sequence[Price]) -> None:
    """Print the cost of refusals."""
    console.print(
        output.table(
            "\nA refused request",
            ("refusal", "status", "write units", "read units", "calls", "CPU", "target"),
            (
                (
                    one.refusal,
                    f"{one.status}",
                    f"{one.write_units}",
                    f"{one.read_units:g}",
                    f"{one.calls}",
                    f"{1000 * one.cpu_seconds:.1f} ms",
                    "met" if one.is_cheap else "missed",
                )
                for one in paid
            ),
        )
    )


def to_json(found: Sequence[Row], paid: Sequence[Price]) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "rows": [{**asdict(row), "is_fair": row.is_fair} for row in found],
        "prices": [{**one._asdict(), "is_cheap": one.is_cheap} for one in paid],
    }


def _middle(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]
