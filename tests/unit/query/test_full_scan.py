"""Small projects read whole, over a table in memory: the cost of a page, lag, and the end of a page."""

import json
from typing import Any

import pytest

from gridview.chains import blocks
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps
from gridview.encoding.sort_strings import SPEC_VERSION
from gridview.query import counting, document_scan, group_request, planner
from gridview.query.counting import grouped_counts
from gridview.schema.generations import Index, Indexes, IndexState
from gridview.schema.store import Catalogs
from gridview.support.errors import CursorExpired, InvalidRequest, QueryTooExpensive
from gridview.view.context import ReadContext
from tests.unit.query.test_bitmap_scan import nodes_of
from tests.unit.query.test_grid import DAYS, PROJECT, TENANT, Grid, flat, nums

OPEN: dict[str, Any] = {"filter": {"field": "bare", "op": "eq", "value": 1}}
"""By a field without an index."""
BY_DAY: dict[str, Any] = {"sort": [{"field": "day"}]}
CURSORS = Cursors([b"of the tests"], "groups")


@pytest.fixture
def few() -> Grid:
    grid = Grid()
    grid.add_attribute(id="bare", name="Bare", type="number", indexed=False)
    grid.fill(grid.document(num, day=day, bare=1) for num, day in enumerate(DAYS, start=1))
    return grid


@pytest.fixture(autouse=True)
def nothing_is_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let undecided issues require a read of the whole project."""
    monkeypatch.setattr(planner, "CANDIDATES", 0)
    monkeypatch.setattr(document_scan, "_LEAST", 2)


def test_a_page_is_directories_sets_the_issues_side_by_side_and_the_documents(few: Grid) -> None:
    found = few.page(**OPEN, **BY_DAY, limit=3, explain=True)
    assert nums(found) == [3, 8, 1]
    rounds = {node["node"]: node["rounds"] for node in nodes_of(found["explain"]["tree"]) if node["rounds"]}
    assert rounds == {
        "overlay read": [1],
        "freshness": [1],
        "directory scan": [1],
        "matching": [2],
        "bitmap scan": [2],
        "full scan": [3],
        "grid page": [4],
    }
    assert found["explain"]["sequential_calls"] == 4
    calls = [
        (call["operation"], call["items_read"]) for call in found["explain"]["calls"] if call["round"] == 3
    ]
    assert calls == [("query", 2)] * 4 + [("query", 1)]


def test_the_plan_reads_well(few: Grid) -> None:
    found = few.page(
        **OPEN, sort=[{"field": "day", "direction": "desc"}, {"field": "num"}], count=True, explain=True
    )
    assert found["explain"]["plan"][:-3] == [
        "Read the directories: the blocks of the indexes, and the number of issues in each.",
        "Choose the way to the rows by the sizes in the directories.",
        "Keep the issues that match: bare is the value given. By the index, 0 issues match, and 9 may match.",
        "Choose how to sort the matching issues by their number, and by the blocks of the order that should contain them.",
        "The request needs a filter that the index leaves open for many issues, and the project has 9 issues. Read all issues "
        "that may match, in parallel ranges of numbers, and filter and sort them in memory.",
        "Show at most 100 rows: fetch their documents if they were not read yet. Leave out rows that no longer match or whose "
        "place has changed.",
    ]


def test_ranges_that_take_more_than_one_call_are_read_to_their_end(few: Grid) -> None:
    few.fill(few.document(num, note="x" * 390_000, bare=1) for num in range(10, 60))  # four for each range
    found = few.page(**OPEN, count=True, limit=1)
    assert (found["total"], found["matched"]) == (59, 59)
    assert len([name for name, _ in few.operations if name == "query"]) > 3


def test_issues_that_are_too_large_to_be_read_whole_are_refused(
    few: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    few.fill(few.document(num, note="x" * 300_000, bare=1) for num in range(10, 30))
    monkeypatch.setattr(document_scan, "_MAX_CALLS", 4)
    with pytest.raises(QueryTooExpensive, match="open for many issues: this would read more than 4 MB"):
        few.page(**OPEN)
    monkeypatch.setattr(document_scan, "_MAX_CALLS", 40)
    assert few.page(**OPEN, count=True)["matched"] == 29


def test_a_row_is_left_out_if_its_document_fails_the_filter_moved_or_is_gone(few: Grid) -> None:
    few.table.lag()
    few.table.put(few.document(3, 2, day="2023-05-09", bare=1))
    few.table.put(few.document(8, 2, day="2023-05-01", bare=2))
    few.remove(1)
    assert flat(few.walk(**OPEN, **BY_DAY, limit=2)) == [4, 9, 6, 2, 5, 7]
    few.table.catch_up_with_all()
    assert flat(few.walk(**OPEN, **BY_DAY, limit=2)) == [4, 9, 6, 3, 2, 5, 7]


def test_a_walk_goes_on_where_the_row_of_its_cursor_was(few: Grid) -> None:
    first = few.page(**OPEN, **BY_DAY, limit=3)
    assert nums(first) == [3, 8, 1]
    for num in (1, 4):
        few.remove(num)
    second = few.page(first["next"], **OPEN, **BY_DAY, limit=3)
    assert nums(second) == [9, 6, 2]
    assert nums(few.page(second["prev"], **OPEN, **BY_DAY, limit=3)) == [3, 8]


def test_a_full_scan_of_a_larger_project_is_refused_with_a_remedy(
    few: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planner, "WHOLE", 9)
    few.page(**OPEN)
    few.fill([few.document(10, bare=1)])
    with pytest.raises(
        QueryTooExpensive, match=r"open whether 10 issues match.*bare is the value given.*indexed"
    ):
        few.page(**OPEN)
    assert nums(few.page(**BY_DAY, limit=2)) == [3, 8]


def test_many_ties_of_several_keys_are_read_whole_or_refused_with_the_call_that_helps(
    few: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "POPULAR", 3)
    few.build_blocks()
    body: dict[str, Any] = {
        "sort": [{"field": "state", "direction": "desc"}, {"field": "day", "nulls": "first"}],
        "limit": 4,
    }
    order = [2, 5, 7, 3, 8, 1, 4, 9, 6]
    assert few.walk(**body) == [order[:4], order[4:8], order[8:]]
    assert few.page(**body, explain=True)["explain"]["sequential_calls"] <= 4
    monkeypatch.setattr(planner, "WHOLE", 8)
    with pytest.raises(QueryTooExpensive) as refused:
        few.page(**body)
    assert "9 issues have the same state" in refused.value.detail
    sort = [
        {"field": "state", "direction": "desc", "nulls": "last"},
        {"field": "day", "direction": "asc", "nulls": "first"},
    ]
    call = f"POST /v1/projects/bridge/indexes {json.dumps({'sort': sort})}"
    assert call in refused.value.detail


def test_an_offset_after_the_end_is_an_empty_page_that_leads_back(few: Grid) -> None:
    found = few.page(**BY_DAY, offset=20, limit=4)
    assert (nums(found), found["next"], found["offset"]) == ([], None, 20)
    assert nums(few.page(found["prev"], **BY_DAY, limit=4)) == [6, 2, 5, 7]
    empty = Grid().page(offset=3)
    assert (nums(empty), empty["next"], empty["prev"]) == ([], None, None)


def test_a_page_ends_at_5_megabytes_and_the_next_goes_on_without_loss() -> None:
    grid = Grid()
    grid.add_attribute(id="bare", name="Bare", type="number", indexed=False)
    grid.fill(grid.document(num, day="2023-05-01", note="x" * 150_000, bare=1) for num in range(1, 81))
    pages = grid.walk(**OPEN, **BY_DAY, limit=100)
    assert flat(pages) == list(range(1, 81))
    assert len(pages) > 2


def test_a_cursor_is_bound_to_its_filter(few: Grid) -> None:
    cursor = few.page(**OPEN, **BY_DAY, limit=2)["next"]
    closed = {"filter": {"field": "bare", "op": "eq", "value": 2}}
    for other in ({}, closed, {"filter": {"not": OPEN["filter"]}}):
        with pytest.raises(InvalidRequest):
            few.page(cursor, **other, **BY_DAY, limit=2)
    spelled: dict[str, Any] = {"filter": {"value": 1, "op": "eq", "field": "bare"}}
    assert nums(few.page(cursor, **spelled, **BY_DAY, limit=2)) == [1, 4]


def test_a_cursor_of_several_keys_expires_when_the_index_of_any_is_rebuilt(few: Grid) -> None:
    body: dict[str, Any] = {"sort": [{"field": "state"}, {"field": "day"}], "limit": 2}
    cursor = few.page(**body)["next"]
    rebuilt = next(item for item in few.table.items.values() if item.get("id") == "day")
    second = Indexes((Index(2, IndexState.READY, 2, SPEC_VERSION),), 3)
    few.table.put({**rebuilt, **second.to_items()})
    with pytest.raises(CursorExpired):
        few.page(cursor, **body)


def counted(grid: Grid, **body: Any) -> Any:
    catalog = Catalogs().get(grid.table, TENANT, PROJECT)
    context = ReadContext(grid.table.metered(), catalog, grid.container())
    return json.loads(dumps(grouped_counts(context, group_request.resolve(catalog, body), CURSORS).body))


def test_groups_that_do_not_fit_an_answer_are_said_to_be_more(
    few: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = counted(few, by=["day"])
    assert [one["count"] for one in everything["groups"]] == [2, 3, 1, 3]
    assert not everything["more"]
    monkeypatch.setattr(counting, "MAX_RESPONSE_BYTES", 100)
    part = counted(few, by=["day"])
    assert (part["groups"], part["more"]) == (everything["groups"][:1], True)
    rest = [counted(few, by=["day"], cursor=part["next"])]
    while rest[-1]["next"] is not None:
        rest.append(counted(few, by=["day"], cursor=rest[-1]["next"]))
    assert [one["groups"] for one in rest] == [[one] for one in everything["groups"][1:]]


def test_issues_that_would_count_too_often_are_refused(few: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    few.add_attribute(id="labels", name="Labels", type="multi_enum", options=["x", "y"], indexed=False)
    few.fill([few.document(10, labels=["o1", "o2"])])
    by = {"by": ["labels", "labels"]}
    assert [(one["values"], one["count"]) for one in counted(few, **by)["groups"]] == [
        (["x", "x"], 1),
        (["x", "y"], 1),
        (["y", "x"], 1),
        (["y", "y"], 1),
        ([None, None], 9),
    ]
    monkeypatch.setattr(group_request, "_MAX_MEMBERSHIPS", 12)
    with pytest.raises(QueryTooExpensive, match="more than 12 times"):
        counted(few, **by)


def test_texts_that_differ_only_in_case_are_one_group(
    few: Grid,
) -> None:
    long = "x" * 240
    few.fill(
        few.document(num, note=note) for num, note in enumerate((f"{long}B", f"{long}a", f"{long}A"), 10)
    )
    found = [(*one["values"], one["count"]) for one in counted(few, by=["note"])["groups"]]
    assert found == [(f"{long}a", 2), (f"{long}B", 1), (None, 9)]
