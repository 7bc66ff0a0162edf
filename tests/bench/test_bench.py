"""`./dev bench`: what it says of calls and units; never of time."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from statistics import mean
from typing import Any

import pytest

from devtools import paths
from devtools.bench import background, history, issues, journalled, measure

BUILTINS = 4
"""Orders that each issue is in: name, state, created and updated."""
DOCUMENT, LEDGER, ENTRY, COUNTER = 2, 2, 2, 1
"""Write units: of a document, a ledger (intent and done), a sort entry, and giving out numbers."""
MOVED_ENTRY = 3
"""Write units: in the table, out of the index, into the index."""
BLOCK_LEAST, BLOCK_MOST = 2, 5
"""Write units of a block that is written again: 1 to 4 KB in the table, and its line in the directory."""
HISTORY = 3
"""Write units of what is remembered of a change of up to a KB."""
FAMILIES_BESIDES = 2
"""In which an issue stands besides its orders: all numbers, and the words of its name."""
REMEMBERED = 1
"""Write units of a change in the history, or for followers alone, if it was made together with many."""
WITHOUT_ENTRIES = 1
"""The order by state has no sort entries."""
ONE_LEDGER = 1
"""Write units of a ledger of a journalled project, which is written once."""
FOLD = 5
"""Write units: taking the fold, and its watermark with which it rests."""
LAG = 1
"""Write units: how far the index has come, at most once for each batch."""


def indexed_values(count: int, seed: int) -> float:
    """Values that an issue of the benchmark has in indexed attributes, as a mean."""
    return mean(orders_of(issues.bodies(count, seed=seed))) - BUILTINS


def orders_of(bodies: Iterable[Mapping[str, Any]]) -> Iterator[int]:
    """For each issue of the benchmark the orders that it is in."""
    return (BUILTINS + sum(field in body["fields"] for field in issues.INDEXED) for body in bodies)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """The figures and what was printed. In a process of its own: it loads the handlers with its own environment."""
    file = tmp_path_factory.mktemp("bench") / "figures.json"
    done = subprocess.run(  # noqa: S603  (the arguments are this file's)
        [
            sys.executable,
            "-m",
            "devtools",
            "bench",
            "--sizes",
            "200,300",
            "--repeat",
            "3",
            "--json",
            str(file),
        ],
        env=os.environ | {"PYTHONPATH": paths.PYTHONPATH, "COLUMNS": "120"},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(file.read_text()), done.stdout


def test_a_page_takes_as_many_calls_and_units_in_a_larger_project(
    measured: tuple[dict[str, Any], str],
) -> None:
    small, large = measured[0]["results"]
    assert (small["issues"], large["issues"]) == (200, 300)
    for kind, calls in (("by number", 1), ("by date", 2), ("by text", 2)):
        assert small["pages"][kind]["rows"] == large["pages"][kind]["rows"] == 100
        assert small["pages"][kind]["sequential_calls"] == large["pages"][kind]["sequential_calls"] == calls
        assert small["pages"][kind]["read_units"] == large["pages"][kind]["read_units"]
        assert (
            measured[0]["growth"][kind]["read_units"] == measured[0]["growth"][kind]["sequential_calls"] == 1
        )
    # 100 documents of up to 4 KB, and the entries that lead to them.
    assert 50 < large["pages"]["by date"]["read_units"] < 55
    assert large["pages"]["null tail"]["rows"] == 100


def test_writes_cost_what_the_design_counts(measured: tuple[dict[str, Any], str]) -> None:
    values = indexed_values(20, seed=1)
    for result in measured[0]["results"]:
        writes = result["writes"]
        families = BUILTINS + values + FAMILIES_BESIDES
        created = COUNTER + DOCUMENT + LEDGER + (BUILTINS + values) * ENTRY + HISTORY
        _costs(writes["create"], created, blocks=families)
        _costs(writes["edit"], DOCUMENT + LEDGER + 2 * MOVED_ENTRY + HISTORY, blocks=2)
        _costs(writes["delete"], created - COUNTER, blocks=families)


def _costs(units: float, without_blocks: float, blocks: float) -> None:
    """The blocks of so many families are written besides, at most three of each: where a key was, where it is, a half split off."""
    rounding = 1e-9
    least, most = without_blocks + blocks * BLOCK_LEAST, without_blocks + 3 * blocks * BLOCK_MOST + LAG
    assert least - rounding <= units <= most


def test_an_edit_costs_by_the_orders_that_it_moves_the_issue_in(measured: tuple[dict[str, Any], str]) -> None:
    found = measured[0]["edits"]
    assert len(found) == 8
    for edit in found:
        moved = edit["indexed"] + edit["updated_indexed"]
        touched = 1 if edit["after_change"] else 0  # the ledger is written under the newer definitions
        assert edit["document"] == DOCUMENT
        if moved:
            _costs(edit["everything"], DOCUMENT + LEDGER + moved * MOVED_ENTRY + HISTORY, blocks=moved)
        else:
            unmoved = DOCUMENT + touched + HISTORY
            assert unmoved <= edit["everything"] < unmoved + LAG


def test_the_history_adds_three_items_to_a_change_and_one_where_it_is_off(
    measured: tuple[dict[str, Any], str],
) -> None:
    found = {one["kind"]: one for one in measured[0]["history"]}
    assert list(found) == [history.CREATE, history.EDIT, history.DELETE]
    assert [one["stored"] for one in found.values()] == [DOCUMENT + COUNTER, DOCUMENT, DOCUMENT]
    assert (found[history.EDIT]["on"], found[history.EDIT]["off"]) == (HISTORY, 1)
    # A change of all values may be larger than a KB; a delete tells them too.
    for kind in (history.CREATE, history.DELETE):
        assert HISTORY <= found[kind]["on"] <= HISTORY + 1
        assert found[kind]["on"] - found[kind]["off"] == pytest.approx(2)


def test_the_consumer_writes_entries_and_twice_the_ledger_and_shares_all_else_in_batches(
    measured: tuple[dict[str, Any], str],
) -> None:
    for result in measured[0]["results"]:
        count = result["issues"] // 2
        accepted, new, edits = (
            result["work"][name] for name in (measure.ACCEPTED, measure.CONSUMED_NEW, measure.CONSUMED_EDITS)
        )
        assert accepted["issues"] == new["issues"] == edits["issues"] == count
        assert accepted["write_units"] == pytest.approx(DOCUMENT + COUNTER / count)
        entries = BUILTINS + indexed_values(count, seed=2)
        # For each batch: its ledgers, the epoch, its blocks, which all of its issues share, and now and then the definitions.
        assert 0 < new["write_units"] - (LEDGER + entries * ENTRY + HISTORY) < 2
        assert 0 < edits["write_units"] - (LEDGER + 2 * MOVED_ENTRY + HISTORY) < 1
        assert 2 + entries < new["calls"] < 2 + entries + 0.5
        assert 2 + 2 < edits["calls"] < 2 + 2 + 0.2 + HISTORY / 25  # which a call writes
        assert new["read_units"] < 1 < edits["read_units"] < 1.2
        assert new["cpu_milliseconds"] > edits["cpu_milliseconds"] > 0


def test_a_journalled_project_writes_a_ledger_once_and_its_blocks_in_folds(
    measured: tuple[dict[str, Any], str],
) -> None:
    found = measured[0]["journalled"]
    loaded = list(orders_of(issues.bodies(300)))
    old = (loaded[num - 1] for num in journalled.old_issues(300))
    steps = [
        (300, step) for plan in (journalled.PLAN, journalled.LONE) for step in journalled.plan_for(300, plan)
    ]
    created = orders_of(issues.bodies(300, seed=3))
    of = {journalled.CREATE: created, journalled.EDIT: old, journalled.DELETE: old}
    for one, (size, step) in zip(found, steps, strict=True):
        kind, together, folds, _ = step
        assert (one["issues"], one["kind"], one["together"], one["history"]) == (
            size,
            *step[:2],
            *step[3:],
        )
        parts = [one[name]["write_units"] for name in ("accepted", "consumed", "folded")]
        assert one["write_units"] == pytest.approx(sum(parts))
        document, derived, blocks = parts
        # A bulk change is of issues of its own.
        orders = mean(islice(of[kind], together * folds)) if kind in of else 0
        edits = journalled.EDIT, journalled.EDIT_A_MINUTE, journalled.BULK
        entries = 2.0 * MOVED_ENTRY if kind in edits else (orders - WITHOUT_ENTRIES) * ENTRY
        # A job's items: itself, its line and what it is to do, written and written again.
        job = 40 / together if kind == journalled.BULK else 0
        assert DOCUMENT <= document <= DOCUMENT + COUNTER + job
        # The number, the mark, and the item: 1 KB of it for ten issues.
        batch = 1 if kind == journalled.EDIT_A_MINUTE else together
        journal = (2 + 2 + LAG + batch / 10) / batch
        # The change and its place in the activity, which a batch shares.
        least = ONE_LEDGER + entries + REMEMBERED
        assert least < derived < least + journal + 2
        assert 0 < blocks * together < together * 60 + FOLD
    alone, *_, together = (one for one in found if one["kind"] == journalled.CREATE and one["history"])
    assert alone["folded"]["write_units"] > 4 * together["folded"]["write_units"]
    lone, each_minute = (one["write_units"] for one in found[-2:])
    assert lone < 22
    assert each_minute <= 14
    assert together["consumed"]["cpu_milliseconds"] > 0


def test_the_check_looks_at_every_issue_and_writes_nothing(measured: tuple[dict[str, Any], str]) -> None:
    so_far = 0
    for result in measured[0]["results"]:
        so_far += result["issues"]
        project, table = (result["work"][name] for name in (background.CHECK_PROJECT, background.CHECK_TABLE))
        assert project["finished"]
        assert table["finished"]
        assert project["issues"] == result["issues"]
        assert table["issues"] == so_far
        assert project["write_units"] == table["write_units"] == 0
        assert 1 < project["calls"] < 1.5
        assert table["calls"] < 0.5
        assert table["read_units"] < 0.75 < 1 < project["read_units"] < 1.5


def test_a_pass_reads_every_issue_and_writes_only_what_differs(measured: tuple[dict[str, Any], str]) -> None:
    for result in measured[0]["results"]:
        work, count = result["work"], result["issues"] + result["issues"] // 2
        passes = [name for name in work if name.startswith("reindex: ")]
        assert passes[:2] == [background.NOTHING, background.BUILDING]
        for name in passes:
            assert work[name]["issues"] <= count
            assert work[name]["issues"] == count or not work[name]["finished"]
            # The document and the ledger, strongly consistent; checkpoints and definitions.
            assert 2 <= work[name]["read_units"] < 2.3
            written = work[name]["write_units"] - (0 if name == background.NOTHING else LEDGER + ENTRY)
            assert 0 < written < 0.3


def test_memory_is_told_of_what_ran_in_a_process_of_its_own(measured: tuple[dict[str, Any], str]) -> None:
    apart = ("check: ", "reindex: ")
    for result in measured[0]["results"]:
        for name, work in result["work"].items():
            assert (work["megabytes"] is not None) == name.startswith(apart)
            assert work["megabytes"] is None or 0 < work["megabytes"] < 150


def test_every_figure_is_printed(measured: tuple[dict[str, Any], str]) -> None:
    figures, printed = measured
    for result in figures["results"]:
        assert f"{result['issues']:,} issues (loaded in" in printed
        for kind, page in result["pages"].items():
            assert f"{kind}  " in printed
            assert f" {page['milliseconds']:,.1f} " in printed
            assert f" {page['cpu_milliseconds']:,.1f} " in printed
        assert f"edit of one field {result['writes']['edit']:.1f}" in printed
        for name, work in result["work"].items():
            assert f"{name}  " in printed
            assert f"{work['issues']:,} " in printed
            assert f" {work['per_second']:,.0f} " in printed
            assert f" {work['cpu_milliseconds']:.2f} " in printed
            assert work["megabytes"] is None or f" {work['megabytes']:.1f} MB" in printed
    for edit in figures["edits"]:
        assert f" {edit['everything']:.1f} " in printed
    for one in figures["journalled"]:
        assert f" {one['write_units']:.1f} " in printed
    assert "CPU time of a new issue: consumer " in printed
    assert "300 issues against 200" in printed
    assert f" {figures['growth']['by date']['milliseconds']:.2f} x " in printed
