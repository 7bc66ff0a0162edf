"""`./dev bench`: its figures of calls and units, but not of time."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from statistics import mean
from typing import Any

import pytest

from devtools.bench import background, folds, history, issues, measure
from gridview.journal.items import FEW_ENTRIES
from tests.support.benchmark import benched

BUILTINS = 3
"""Orders in which each issue has a sort entry: name, created and updated. `state` has none."""
DOCUMENT, LEDGER, ENTRY, COUNTER = 2, 1, 2, 1
"""Write units: of a document, a ledger, a sort entry, and giving out numbers."""
MOVED_ENTRY = 3
"""Write units: in the table, out of the index, into the index."""
CHANGE = 1
"""Write units of the record of a change of up to a KB, which followers need whether the history is on or off."""
LISTED = 1
"""Write units of the list of changes, once for each batch, where the history is on."""
TRASH = 1
"""Write units of the trash's entry of a deleted issue."""
JOURNAL = 2
"""Write units of a batch's number and item in the journal."""
MARK = 1
"""Write units of the mark that confirms a batch's sort entries, if there are more than a few."""
FOLD = 5
"""Write units: taking the fold, and its watermark with which it rests."""
TOTALS = 1
"""Write units of the totals of all columns, once for each fold."""
FOLD_READS = 220
"""Read units of a pass whatever its length, most of them blocks of the benchmark's orders, words and sets."""
LAG = 1
"""Write units of the record of the lag, at most once for each batch."""


def indexed_values(count: int, seed: int) -> float:
    """Values that an issue of the benchmark has in indexed attributes, as a mean."""
    return mean(orders_of(issues.bodies(count, seed=seed))) - BUILTINS


def orders_of(bodies: Iterable[Mapping[str, Any]]) -> Iterator[int]:
    """For each issue of the benchmark the orders in which it has a sort entry."""
    return (BUILTINS + sum(field in body["fields"] for field in issues.INDEXED) for body in bodies)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """The figures and the printed text."""
    file = tmp_path_factory.mktemp("bench") / "figures.json"
    return benched(file, "--sizes", "200,300", "--repeat", "3", columns=120, timeout=900)


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
        each = DOCUMENT + LEDGER + CHANGE + LISTED + JOURNAL
        entries = (BUILTINS + values) * ENTRY
        _costs(writes["create"], each + COUNTER + entries, MARK)
        _costs(writes["edit"], each + 2 * MOVED_ENTRY)
        _costs(writes["delete"], each + TRASH + entries, MARK)


def _costs(units: float, expected: float, marks: float = 0) -> None:
    """Assert the expected units, plus at most the lag, the notes that the fold is due, and the marks of some."""
    rounding = 1e-9
    assert expected - rounding <= units < expected + LAG + marks


def test_an_edit_costs_by_the_orders_that_it_moves_the_issue_in(measured: tuple[dict[str, Any], str]) -> None:
    found = measured[0]["edits"]
    assert len(found) == 8
    for edit in found:
        moved = edit["indexed"] + edit["updated_indexed"]
        assert edit["document"] == DOCUMENT
        each = DOCUMENT + LEDGER + CHANGE + LISTED + JOURNAL
        _costs(edit["written"], each + moved * MOVED_ENTRY + (MARK if moved > FEW_ENTRIES else 0))


def test_the_history_adds_a_list_to_what_is_kept_of_a_change(
    measured: tuple[dict[str, Any], str],
) -> None:
    found = {one["kind"]: one for one in measured[0]["history"]}
    assert list(found) == [history.CREATE, history.EDIT, history.DELETE]
    assert [one["stored"] for one in found.values()] == [DOCUMENT + COUNTER, DOCUMENT, DOCUMENT]
    assert (found[history.EDIT]["on"], found[history.EDIT]["off"]) == (CHANGE + LISTED, CHANGE)
    # A change of all values may be larger than a KB; a delete contains them too.
    for kind in (history.CREATE, history.DELETE):
        assert CHANGE <= found[kind]["off"] <= CHANGE + 1
        assert found[kind]["on"] - found[kind]["off"] == pytest.approx(LISTED)


def test_the_consumer_writes_entries_the_ledger_and_the_change_and_shares_all_else_in_batches(
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
        # For each batch: reads of its ledgers and the epoch, and the journal's number, item and mark.
        assert 0 < new["write_units"] - (LEDGER + entries * ENTRY + CHANGE) < 0.3
        assert 0 < edits["write_units"] - (LEDGER + 2 * MOVED_ENTRY + CHANGE) < 0.3
        assert 1 + entries < new["calls"] < 1 + entries + 0.3
        assert 1 + 2 < edits["calls"] < 1 + 2 + 0.3
        assert new["read_units"] < 1 < edits["read_units"] < 1.2
        assert new["cpu_milliseconds"] > edits["cpu_milliseconds"] > 0


def test_a_change_writes_a_ledger_once_and_its_blocks_in_folds(
    measured: tuple[dict[str, Any], str],
) -> None:
    found = measured[0]["changes"]
    loaded = list(orders_of(issues.bodies(300)))
    old = (loaded[num - 1] for num in folds.old_issues(300))
    steps = [
        (300, step) for plan in (folds.PLAN, folds.MOVES, folds.LONE) for step in folds.plan_for(300, plan)
    ]
    created = orders_of(issues.bodies(300, seed=3))
    of = {folds.CREATE: created, folds.EDIT: old, folds.DELETE: old}
    for one, (size, step) in zip(found, steps, strict=True):
        kind, together, times, history = step
        assert (one["issues"], one["kind"], one["together"], one["history"]) == (size, *step[:2], *step[3:])
        parts = [one[name]["write_units"] for name in ("accepted", "consumed", "folded")]
        assert one["write_units"] == pytest.approx(sum(parts))
        document, derived, blocks = parts
        # A bulk change writes issues of its own.
        orders = mean(islice(of[kind], together * times)) if kind in of else 0
        edits = folds.EDIT, folds.EDIT_A_MINUTE, folds.BULK
        # A state has a set, but no sort entry: only the time of the change moves.
        moved = 2.0 if kind in edits else 1.0 if kind == folds.MOVE else 0.0
        entries = moved * MOVED_ENTRY or orders * ENTRY
        # A job's items: the job, its line and its order, each written twice.
        job = 40 / together if kind == folds.BULK else 0
        assert DOCUMENT <= document <= DOCUMENT + COUNTER + job
        # The number, with which the fold may come to be due; the mark; and the item: 1 KB of it for ten issues.
        batch = 1 if kind == folds.EDIT_A_MINUTE else together
        journal = 2 + 2 + LAG + batch / 10
        each = LEDGER + CHANGE + (TRASH if kind == folds.DELETE else 0)
        # A deleted issue's ledger contains its places twice, and its change all values: either may be over a KB.
        larger = 2 if kind == folds.DELETE else 0
        assert 0 < derived - entries - each < larger + (journal + (LISTED if history else 0)) / batch
        assert 0 < blocks * together < together * 60 + FOLD
    alone, *_, together = (one for one in found if one["kind"] == folds.CREATE and one["history"])
    assert alone["folded"]["write_units"] > 4 * together["folded"]["write_units"]
    lone, each_minute = (one["write_units"] for one in found[-2:])
    # The edit is of a number, so its fold writes a page of a column and the totals too.
    assert lone < 22 + 1 + TOTALS
    assert each_minute <= 14
    assert together["consumed"]["cpu_milliseconds"] > 0


def test_the_columns_of_four_number_fields_add_a_write_for_each_page_and_one_for_the_totals(
    measured: tuple[dict[str, Any], str],
) -> None:
    steps = folds.plan_for(300, folds.NUMBERS)
    fields = [body["fields"] for body in issues.bodies(300)]
    fields += [body["fields"] for body in islice(issues.bodies(10**6, seed=3), 200)]
    old, created = iter(folds.old_issues(300, folds.NUMBERS)), iter(range(301, 501))
    for one, step in zip(measured[0]["columns"], steps, strict=True):
        assert (one["kind"], one["together"]) == step[:2]
        expected = 0
        for _ in range(step.folds):
            some = islice(created if step.kind == folds.CREATE else old, step.together)
            moved = [issues.NUMBER] if step.kind == folds.EDIT else issues.NUMBERS
            pages = {(field, num // 256) for num in some for field in moved if field in fields[num - 1]}
            expected += len(pages) + TOTALS
        changes = step.together * step.folds
        assert one["columns"]["write_units"] * changes == pytest.approx(expected)
        # The totals and each page are read before they are written.
        assert one["columns"]["read_units"] * changes == pytest.approx(expected)
        assert one["columns"]["write_units"] < one["folded"]["write_units"]
        assert one["columns"]["cpu_milliseconds"] > 0


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
            # The document and the ledger, strongly consistent; and, however many issues there are, checkpoints,
            # definitions and the blocks into which the waiting items are folded.
            assert 2 <= work[name]["read_units"] < 2 + FOLD_READS / count
            written = work[name]["write_units"] - (0 if name == background.NOTHING else LEDGER + ENTRY)
            assert 0 < written < 0.3


def test_only_work_in_a_separate_process_reports_its_memory(measured: tuple[dict[str, Any], str]) -> None:
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
        assert f" {edit['written']:.1f} " in printed
    for one in figures["changes"]:
        assert f" {one['write_units']:.1f} " in printed
    for one in figures["columns"]:
        assert f" {one['columns']['write_units']:.3f} " in printed
    assert "CPU time of a new issue: consumer " in printed
    assert "300 issues against 200" in printed
    assert f" {figures['growth']['by date']['milliseconds']:.2f} x " in printed
