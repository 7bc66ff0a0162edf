"""The figures as tables for people and as JSON for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from devtools.bench import output
from devtools.bench.edits import Edit
from devtools.bench.folds import CREATE, Changed
from devtools.bench.history import Remembered
from devtools.bench.issues import NUMBERS
from devtools.bench.measure import PAGES, Page, Writes
from devtools.bench.sharing import Neighbour, Shared
from devtools.bench.work import Work


@dataclass(frozen=True, slots=True)
class Result:
    """All figures of one project; `issues` is how many it was loaded with, in `load_seconds`."""

    issues: int
    load_seconds: float
    pages: Mapping[str, Page]
    writes: Writes
    work: Mapping[str, Work]


@dataclass(frozen=True, slots=True)
class Growth:
    """The cost of a page in the largest project, as multiples of its cost in the smallest."""

    sequential_calls: float
    read_units: float
    milliseconds: float
    cpu_milliseconds: float


def growth(results: Sequence[Result]) -> dict[str, Growth]:
    """Kind of page -> its growth from the first result to the last."""
    first, last = results[0].pages, results[-1].pages
    return {
        kind: Growth(*(getattr(last[kind], name) / getattr(first[kind], name) for name in Growth.__slots__))
        for kind in PAGES
    }


def to_json(
    results: Sequence[Result],
    edits: Sequence[Edit],
    remembered: Sequence[Remembered],
    changed: Sequence[Changed],
    columns: Sequence[Changed],
    shared: Shared,
) -> dict[str, Any]:
    """Everything, by name."""
    return {
        "results": [
            asdict(result) | {"work": {name: work.to_json() for name, work in result.work.items()}}
            for result in results
        ],
        "edits": [asdict(edit) for edit in edits],
        "history": [asdict(one) for one in remembered],
        "changes": [_changed(one) for one in changed],
        "columns": [_changed(one) for one in columns],
        "slices": [asdict(one) for one in shared.slices],
        "lags": [asdict(one) | {"neighbour": one.neighbour._asdict()} for one in shared.lags],
        "growth": {kind: asdict(one) for kind, one in growth(results).items()},
    }


def _changed(one: Changed) -> dict[str, Any]:
    works = {
        "accepted": one.accepted,
        "consumed": one.consumed,
        "folded": one.folded,
        "columns": one.columns,
    }
    return {
        "issues": one.issues,
        "kind": one.kind,
        "together": one.together,
        "history": one.history,
        "write_units": one.write_units,
        **{name: work.to_json() for name, work in works.items()},
    }


def show(
    console: Console,
    results: Sequence[Result],
    edits: Sequence[Edit],
    remembered: Sequence[Remembered],
    changed: Sequence[Changed],
    columns: Sequence[Changed],
    shared: Shared,
) -> None:
    """Print the tables, the ratios between the largest size and the smallest, and the figures of sharing.

    The tables are of each size, of edits, of the history and of folds.
    """
    for result in results:
        console.print(_pages(result))
        console.print(_line(result), highlight=False, soft_wrap=True)
        console.print(_work(result))
    console.print(_edits(edits))
    console.print(_remembered(remembered))
    console.print(_changes(changed))
    console.print(_columns(columns))
    for line in _cpu(changed):
        console.print(line, highlight=False, soft_wrap=True)
    console.print(_slices(shared))
    console.print(_lags(shared))
    if len(results) > 1:
        console.print(_growth(results))
        console.print(_memory(results))


def _pages(result: Result) -> Table:
    return output.table(
        f"\n{result.issues:,} issues (loaded in {result.load_seconds:,.0f} s)",
        ("100-row page", "rows", "sequential calls", "read units", "ms", "handler CPU ms"),
        (
            (
                kind,
                f"{page.rows}",
                f"{page.sequential_calls}",
                f"{page.read_units:,.1f}",
                f"{page.milliseconds:,.1f}",
                f"{page.cpu_milliseconds:,.1f}",
            )
            for kind, page in result.pages.items()
        ),
    )


def _line(result: Result) -> str:
    writes = result.writes
    return (
        f"Write units of a change, without its fold: create {writes.create:.1f}, edit of one field {writes.edit:.1f}, "
        f"delete {writes.delete:.1f}."
    )


def _work(result: Result) -> Table:
    units = "calls", "read units", "write units"
    return output.table(
        f"\nWork on many issues, at {result.issues:,}",
        ("for each issue", "issues", "per second", "CPU ms", *units, "memory"),
        (
            (
                name,
                f"{work.issues:,}{'' if work.finished else ' (part)'}",
                f"{work.per_second:,.0f}",
                f"{work.cpu_milliseconds:.2f}",
                f"{work.calls_each:.2f}",
                f"{work.read_units_each:.2f}",
                f"{work.write_units_each:.2f}",
                _megabytes(work),
            )
            for name, work in result.work.items()
        ),
    )


def _edits(edits: Sequence[Edit]) -> Table:
    return output.table(
        "\nWrite units of an edit of one field, without its fold",
        ("field", "`updated`", "the document's put", "with all that the consumer writes"),
        (
            (
                f"{_indexed(edit.indexed)}{', first after a change of definitions' if edit.after_change else ''}",
                _indexed(edit.updated_indexed),
                f"{edit.document:.1f}",
                f"{edit.written:.1f}",
            )
            for edit in edits
        ),
    )


def _indexed(indexed: bool) -> str:
    return "indexed" if indexed else "not indexed"


def _remembered(remembered: Sequence[Remembered]) -> Table:
    return output.table(
        "\nWrite units that the history adds to a change",
        ("change", "only the document", "history on", "history off"),
        ((one.kind, f"{one.stored:.1f}", f"{one.on:.1f}", f"{one.off:.1f}") for one in remembered),
    )


def _changes(changed: Sequence[Changed]) -> Table:
    parts = "document", "ledger, journal, entries and history", "blocks, columns"
    return output.table(
        "\nWrite units of a change, by the changes of its fold",
        ("change", "issues", "changes a fold", "history", "all", *parts, "read units", "calls"),
        (
            (
                one.kind,
                f"{one.issues:,}",
                f"{one.together:,}",
                "on" if one.history else "off",
                f"{one.write_units:.1f}",
                *(f"{work.write_units_each:.1f}" for work in (one.accepted, one.consumed, one.folded)),
                f"{one.read_units:.1f}",
                f"{one.consumed.calls_each + one.folded.calls_each:.1f}",
            )
            for one in changed
        ),
    )


def _columns(columns: Sequence[Changed]) -> Table:
    return output.table(
        f"\nThe part of columns in a change, with {len(NUMBERS)} indexed number fields",
        (
            "change",
            "issues",
            "changes a fold",
            "write units",
            "read units",
            "calls",
            "CPU ms",
            "write units in all",
        ),
        (
            (
                one.kind,
                f"{one.issues:,}",
                f"{one.together:,}",
                f"{one.columns.write_units_each:.3f}",
                f"{one.columns.read_units_each:.3f}",
                f"{one.columns.calls_each:.3f}",
                f"{one.columns.cpu_milliseconds:.3f}",
                f"{one.write_units:.1f}",
            )
            for one in columns
        ),
    )


def _cpu(changed: Sequence[Changed]) -> list[str]:
    """The CPU time of a new issue, in the measurement with the most of them together."""
    found = [one for one in changed if one.kind == CREATE and one.history]
    most = max(found, key=lambda one: one.together, default=None)
    if most is None:
        return []
    consumer, fold = most.consumed.cpu_milliseconds, most.folded.cpu_milliseconds
    return [f"CPU time of a new issue: consumer {consumer:.2f} ms, with the fold {consumer + fold:.2f} ms."]


def _slices(shared: Shared) -> Table:
    return output.table(
        "\nA pass in slices, with its folds, in virtual time: 5 ms a call, and 1 ms of CPU where it is counted",
        ("workers", "CPU", "issues a second", "calls", "write units"),
        (
            (
                f"{one.workers}",
                "counted" if one.cpu else "not",
                f"{one.per_second:,.0f}",
                f"{one.calls:.2f}",
                f"{one.write_units:.2f}",
            )
            for one in shared.slices
        ),
    )


def _lags(shared: Shared) -> Table:
    return output.table(
        "\nThe lag of a tenant's index, in virtual time",
        ("meanwhile another tenant", "median", "worst", "records before one of its own"),
        (
            (_busy(one.neighbour), f"{one.median:,.0f} ms", f"{one.worst:,.0f} ms", f"{one.records}")
            for one in shared.lags
        ),
    )


def _busy(neighbour: Neighbour) -> str:
    if not neighbour.imports:
        return "does nothing"
    and_more = " and reindexes" if neighbour.reindexes else ""
    return f"imports {neighbour.imports:,} issues{and_more}"


def _memory(results: Sequence[Result]) -> Table:
    return output.table(
        "\nBy how much the process grows at most",
        ("of the issues at", *(f"{result.issues:,}" for result in results)),
        (
            (name, *(_megabytes(result.work.get(name)) for result in results))
            for name, work in results[0].work.items()
            if work.memory is not None
        ),
    )


def _megabytes(work: Work | None) -> str:
    return "" if work is None or work.megabytes is None else f"{work.megabytes:.1f} MB"


def _growth(results: Sequence[Result]) -> Table:
    return output.table(
        f"\n{results[-1].issues:,} issues against {results[0].issues:,}",
        ("100-row page", "sequential calls", "read units", "time", "handler CPU"),
        ((kind, *(f"{ratio:.2f} x" for ratio in astuple(one))) for kind, one in growth(results).items()),
    )
