"""The figures as tables for people and as JSON for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from devtools.bench.measure import PAGES, Page, PerSecond, Writes


@dataclass(frozen=True, slots=True)
class Result:
    """All figures of one project; `issues` is how many it was loaded with, in `load_seconds`."""

    issues: int
    load_seconds: float
    pages: Mapping[str, Page]
    writes: Writes
    per_second: PerSecond


@dataclass(frozen=True, slots=True)
class Growth:
    """What a page of the largest project takes, as multiples of what it takes in the smallest."""

    sequential_calls: float
    read_units: float
    milliseconds: float
    cpu_milliseconds: float


def growth(results: Sequence[Result]) -> dict[str, Growth]:
    """Kind of page -> its growth from the first result to the last."""
    first, last = results[0].pages, results[-1].pages
    return {
        kind: Growth(
            last[kind].sequential_calls / first[kind].sequential_calls,
            last[kind].read_units / first[kind].read_units,
            last[kind].milliseconds / first[kind].milliseconds,
            last[kind].cpu_milliseconds / first[kind].cpu_milliseconds,
        )
        for kind in PAGES
    }


def to_json(results: Sequence[Result]) -> dict[str, Any]:
    """Everything, by name."""
    return {
        "results": [asdict(result) for result in results],
        "growth": {kind: asdict(one) for kind, one in growth(results).items()},
    }


def show(console: Console, results: Sequence[Result]) -> None:
    """Print a table for each size, and one of the ratios between the largest and the smallest."""
    for result in results:
        console.print(_pages(result))
        console.print(_line(result), highlight=False, soft_wrap=True)
    if len(results) > 1:
        console.print(_growth(results))


def _pages(result: Result) -> Table:
    table = _table(f"\n{result.issues:,} issues (loaded in {result.load_seconds:,.0f} s)")
    for heading in ("100-row page", "rows", "sequential calls", "read units", "ms", "handler CPU ms"):
        table.add_column(heading, justify="left" if heading == "100-row page" else "right")
    for kind, page in result.pages.items():
        table.add_row(
            kind,
            f"{page.rows}",
            f"{page.sequential_calls}",
            f"{page.read_units:,.1f}",
            f"{page.milliseconds:,.1f}",
            f"{page.cpu_milliseconds:,.1f}",
        )
    return table


def _line(result: Result) -> str:
    writes, rate = result.writes, result.per_second
    return (
        f"Write units with everything derived: create {writes.create:.1f}, edit of one field {writes.edit:.1f}, "
        f"delete {writes.delete:.1f}.\n"
        f"Issues per second: {rate.accepted:,.0f} accepted, {rate.indexed:,.0f} indexed."
    )


def _growth(results: Sequence[Result]) -> Table:
    table = _table(f"\n{results[-1].issues:,} issues against {results[0].issues:,}")
    for heading in ("100-row page", "sequential calls", "read units", "time", "handler CPU"):
        table.add_column(heading, justify="left" if heading == "100-row page" else "right")
    for kind, one in growth(results).items():
        ratios = (one.sequential_calls, one.read_units, one.milliseconds, one.cpu_milliseconds)
        table.add_row(kind, *(f"{ratio:.2f} x" for ratio in ratios))
    return table


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 3, 0, 0))
