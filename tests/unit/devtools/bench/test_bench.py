"""The pure parts of `./dev bench`; tests/engine tests its measurements."""

import io
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from devtools.bench import report
from devtools.bench.apart import Memory, memory_in
from devtools.bench.capacity import CountedClient, Units
from devtools.bench.column_work import metered_columns
from devtools.bench.edits import Edit
from devtools.bench.folds import Changed
from devtools.bench.history import Remembered
from devtools.bench.measure import PAGES, Page, Writes
from devtools.bench.sharing import Lag, Neighbour, Shared, Sliced
from devtools.bench.work import NOTHING, Work
from gridview.journal import fold

STATUS = """\
Name:\tpython
State:\tR (running)
VmPeak:\t  900000 kB
VmHWM:\t   61440 kB
VmRSS:\t   40960 kB
Threads:\t3
"""


SHARED = Shared(
    [Sliced(4, cpu=True, per_second=1_016.4, calls=3.21, write_units=4.13)],
    [Lag(Neighbour(1_000, reindexes=True), median=401.9, worst=2_366.2, records=61)],
)


REMEMBERED = [Remembered("create", stored=3.0, on=3.25, off=1.25)]


CHANGED = [
    Changed(
        100_000,
        "create",
        together,
        history=True,
        accepted=Work(1_000, True, 1.0, 2.0, 20, 10.0, 2_000.0),
        consumed=Work(1_000, True, 1.0, 2.5, 8_400, 10.0, 15_800.0),
        folded=Work(1_000, True, 1.0, cpu, 300, 300.0, blocks),
        columns=Work(1_000, True, 0.1, 0.05, 6, 5.0, 25.0),
    )
    for together, cpu, blocks in ((1_000, 1.25, 1_500.0), (40, 9.0, 19_700.0))
]
COLUMNS = [replace(CHANGED[0], accepted=Work(1_000, True, 1.0, 2.0, 20, 10.0, 2_100.0))]


def result(issues: int, work: dict[str, Work]) -> report.Result:
    page = Page(rows=100, sequential_calls=2, read_units=51.5, milliseconds=9.0, cpu_milliseconds=7.0)
    return report.Result(issues, 2.0, dict.fromkeys(PAGES, page), Writes(19.6, 10.0, 18.6), work)


def printed(results: list[report.Result], edits: list[Edit]) -> list[str]:
    output = io.StringIO()
    report.show(Console(file=output, width=140), results, edits, REMEMBERED, CHANGED, COLUMNS, SHARED)
    return output.getvalue().splitlines()


def test_memory_is_resident_memory_in_bytes() -> None:
    assert memory_in(STATUS) == Memory(now=40_960 * 1024, peak=61_440 * 1024)


def test_units_of_all_parts_of_an_answer_are_added_to_reads_or_writes() -> None:
    units = Units()
    units.add("GetItem", {"ConsumedCapacity": {"CapacityUnits": 1.5}})
    units.add("TransactWriteItems", {"ConsumedCapacity": [{"CapacityUnits": 4.0}, {"CapacityUnits": 2.0}]})
    units.add("PutItem", {"Error": {"Code": "ConditionalCheckFailedException"}})
    assert (units.calls, units.read, units.write) == (3, 1.5, 6.0)


def test_units_of_threads_are_all_counted() -> None:
    units = Units()
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(lambda _: units.add("PutItem", {"ConsumedCapacity": {"CapacityUnits": 2}}), range(4000))
        )
    assert (units.calls, units.write) == (4000, 8000)


def test_work_is_reported_per_issue() -> None:
    work = Work(
        issues=200,
        finished=True,
        seconds=4.0,
        cpu_seconds=0.5,
        calls=600,
        read_units=400.0,
        write_units=820.0,
        memory=30_500_000,
    )
    assert work.to_json() == {
        "issues": 200,
        "finished": True,
        "per_second": 50.0,
        "cpu_milliseconds": pytest.approx(2.5),
        "calls": 3.0,
        "read_units": 2.0,
        "write_units": 4.1,
        "megabytes": 30.5,
    }


def test_work_that_ran_out_of_time_is_marked_and_work_that_was_left_out_is_left_blank() -> None:
    whole = Work(1_000, True, 10.0, 3.0, 3_000, 2_000.0, 4_000.0, 2_000_000)
    part = Work(2_500, False, 25.0, 9.0, 7_500, 5_000.0, 10_000.0, 2_100_000)
    small = result(1_000, {"reindex: building": whole, "reindex: removing": whole})
    large = result(100_000, {"reindex: building": part, "consumer": Work(1_000, True, 5.0, 9.0, 1, 1, 1)})
    lines = printed([small, large], [])
    assert ["reindex:", "building", "1,000", "100", "3.00", "3.00", "2.00", "4.00", "2.0", "MB"] in [
        line.split() for line in lines
    ]
    assert any(line.startswith("reindex: building") and " 2,500 (part) " in line for line in lines)
    memory = lines[next(at for at, line in enumerate(lines) if line.startswith("By how much")) + 1 :]
    assert [line.split() for line in memory] == [
        ["of", "the", "issues", "at", "1,000", "100,000"],
        ["reindex:", "building", "2.0", "MB", "2.1", "MB"],
        ["reindex:", "removing", "2.0", "MB"],
    ]


def test_edits_are_printed_by_what_is_indexed() -> None:
    edits = [
        Edit(indexed=True, updated_indexed=True, after_change=False, document=2.0, written=10.0),
        Edit(indexed=False, updated_indexed=False, after_change=True, document=2.0, written=3.0),
    ]
    lines = [" ".join(line.split()) for line in printed([result(1_000, {})], edits)]
    assert "indexed indexed 2.0 10.0" in lines
    assert "not indexed, first after a change of definitions not indexed 2.0 3.0" in lines


def test_a_change_is_reported_with_its_own_writes_and_those_of_its_fold() -> None:
    lines = printed([result(1_000, {})], [])
    rows = [" ".join(line.split()) for line in lines]
    assert "create 100,000 1,000 on 19.3 2.0 15.8 1.5 0.3 8.7" in rows
    assert "create 100,000 40 on 37.5 2.0 15.8 19.7 0.3 8.7" in rows
    # The figure of the largest fold.
    assert "CPU time of a new issue: consumer 2.50 ms, with the fold 3.75 ms." in lines
    changes = report.to_json([result(1_000, {})], [], REMEMBERED, CHANGED, COLUMNS, SHARED)["changes"]
    assert [(one["together"], round(one["write_units"], 1)) for one in changes] == [(1_000, 19.3), (40, 37.5)]
    assert changes[0]["folded"]["cpu_milliseconds"] == 1.25


def test_the_part_of_columns_is_reported_for_each_change() -> None:
    rows = [" ".join(line.split()) for line in printed([result(1_000, {})], [])]
    assert "create 100,000 1,000 0.025 0.005 0.006 0.050 19.4" in rows
    columns = report.to_json([result(1_000, {})], [], REMEMBERED, CHANGED, COLUMNS, SHARED)["columns"]
    assert [(one["kind"], one["columns"]["write_units"]) for one in columns] == [("create", 0.025)]


def test_the_part_of_columns_is_what_folds_take_for_them_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[tuple[Any, ...]] = []

    def write(*arguments: Any) -> None:
        written.append(arguments)
        CountedClient.units.add("PutItem", {"ConsumedCapacity": {"CapacityUnits": 3}})
        CountedClient.units.add("GetItem", {"ConsumedCapacity": {"CapacityUnits": 0.5}})

    monkeypatch.setattr(fold, "fold_columns", write)
    monkeypatch.setattr(CountedClient, "units", Units())
    monkeypatch.setattr(time, "process_time", iter((1.0, 1.25, 2.0, 2.5)).__next__)
    with metered_columns() as columns:
        for argument in ("a", "b"):
            CountedClient.units.add("PutItem", {"ConsumedCapacity": {"CapacityUnits": 100}})
            vars(fold)["fold_columns"](argument)
        taken = columns.taken(8)
        assert (taken.issues, taken.calls, taken.read_units, taken.write_units) == (8, 4, 1.0, 6.0)
        assert taken.cpu_seconds == 0.75
        assert columns.taken(8) == replace(NOTHING, issues=8)
    assert written == [("a",), ("b",)]
    assert vars(fold)["fold_columns"] is write


def test_shared_work_is_printed_and_in_the_json() -> None:
    lines = [line.split() for line in printed([result(1_000, {})], [])]
    assert ["4", "counted", "1,016", "3.21", "4.13"] in lines
    assert ["imports", "1,000", "issues", "and", "reindexes", "402", "ms", "2,366", "ms", "61"] in lines
    document = report.to_json([result(1_000, {})], [], REMEMBERED, CHANGED, COLUMNS, SHARED)
    neighbour = {"imports": 1_000, "reindexes": True}
    assert document["lags"] == [{"neighbour": neighbour, "median": 401.9, "worst": 2_366.2, "records": 61}]
    assert [one["workers"] for one in document["slices"]] == [4]


def test_the_costs_of_the_history_are_printed_and_in_the_json() -> None:
    lines = [line.split() for line in printed([result(1_000, {})], [])]
    assert ["create", "3.0", "3.2", "1.2"] in lines
    document = report.to_json([result(1_000, {})], [], REMEMBERED, CHANGED, COLUMNS, SHARED)
    assert document["history"] == [{"kind": "create", "stored": 3.0, "on": 3.25, "off": 1.25}]
