"""Small projects read whole, over a table in memory: what a page costs, what lags, where it ends, and cursors of both plans."""

import json
from typing import Any

import pytest

from gridview import counting, groups, keys, planner, readwhole
from gridview.catalogs import Catalogs
from gridview.counting import grouped_counts, position
from gridview.errors import CursorExpired, InvalidRequest, Unprocessable
from gridview.gridrequest import resolve_position
from gridview.indexes import Index, Indexes, IndexState
from gridview.jsontext import dumps
from gridview.sortstrings import SPEC_VERSION
from gridview.storage import PRESENT
from tests.unit.test_grid import DAYS, PROJECT, TENANT, Grid, flat, nums

OPEN: dict[str, Any] = {"filter": {"field": "state", "op": "eq", "value": "open"}}
BY_DAY: dict[str, Any] = {"sort": [{"field": "day"}]}
COUNTER = (keys.project(TENANT, PROJECT), keys.COUNTER)


def take_numbers(grid: Grid, count: int) -> None:
    grid.table.add(*COUNTER, "last", count, PRESENT)


@pytest.fixture
def few() -> Grid:
    grid = Grid()
    take_numbers(grid, len(DAYS))
    grid.fill(grid.document(num, day=day) for num, day in enumerate(DAYS, start=1))
    return grid


@pytest.fixture
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readwhole, "_RANGE", 2)


def test_a_page_is_a_counter_the_issues_side_by_side_and_the_documents(few: Grid, small_ranges: None) -> None:
    found = few.page(**OPEN, **BY_DAY, limit=3, explain=True)
    assert nums(found) == [3, 8, 1]
    calls = [(call["round"], call["operation"], call["items_read"]) for call in found["explain"]["calls"]]
    ranges = [(2, "query", 2)] * 4 + [(2, "query", 1)]
    assert calls == [(1, "get_item", 1), *ranges, (3, "batch_get_item", 3)]
    assert found["explain"]["sequential_calls"] == 3
    assert found["explain"]["items_read"] == 1 + 9 + 3


def test_the_plan_reads_well(few: Grid) -> None:
    found = few.page(
        **OPEN, sort=[{"field": "day", "direction": "desc"}, {"field": "num"}], count=True, explain=True
    )
    assert found["explain"]["plan"] == [
        "The request asks for a filter, an exact count and several sort keys, and the project has given out at most 10,000 issue "
        "numbers: read all its issues, in ranges of numbers side by side.",
        "Keep those that match: state is the value given. Sort by day descending, then num ascending, in memory.",
        "Fetch the page's documents, and leave out a row whose document no longer passes or stands elsewhere by now.",
    ]


def test_ranges_that_take_more_than_one_call_are_read_to_their_end(few: Grid) -> None:
    big = [few.document(num, note="x" * 200_000) for num in range(10, 40)]
    few.fill(big)
    take_numbers(few, 30)
    found = few.page(count=True, limit=1)
    assert (found["total"], found["matched"]) == (39, 39)
    assert len([name for name, _ in few.operations if name == "query"]) > 3


def test_issues_that_are_too_large_to_be_read_whole_are_refused(
    few: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    few.fill(few.document(num, note="x" * 300_000) for num in range(10, 30))
    monkeypatch.setattr(readwhole, "_MAX_CALLS", 4)
    with pytest.raises(Unprocessable, match="too large for a filter: more than 4 MB"):
        few.page(**OPEN)
    monkeypatch.setattr(readwhole, "_MAX_CALLS", 8)
    assert few.page(**OPEN, count=True)["matched"] == 29


def test_an_issue_whose_number_the_counter_read_has_not_heard_of_is_there(few: Grid) -> None:
    few.fill([few.document(50, day="2023-05-01")])
    assert few.page(count=True)["total"] == len(DAYS) + 1


def test_a_row_whose_document_no_longer_passes_or_moved_or_went_is_left_out(few: Grid) -> None:
    few.table.lag()
    few.table.put(few.document(3, 2, day="2023-05-09"))
    few.table.put({**few.document(8, 2, day="2023-05-01"), "state": "o2"})
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


@pytest.mark.parametrize("nulls", ["first", "last"])
@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_a_cursor_goes_on_whichever_plan_reads_its_next_page(few: Grid, direction: str, nulls: str) -> None:
    """A count makes a page be read whole, and the next one may do without."""
    body: dict[str, Any] = {"sort": [{"field": "day", "direction": direction, "nulls": nulls}], "limit": 2}
    expected = few.walk(**body)
    for parity in (0, 1):
        found = few.page(**body, count=parity == 0)
        pages = [nums(found)]
        while found["next"] is not None:
            found = few.page(found["next"], **body, count=len(pages) % 2 == parity)
            pages.append(nums(found))
        assert pages == expected
        back = few.page(found["prev"], **body, count=parity == 1)
        assert nums(back) == expected[-2]


def test_a_cursor_goes_on_when_the_project_has_grown_past_the_limit(few: Grid) -> None:
    first = few.page(**BY_DAY, offset=2, limit=3)
    assert (nums(first), first["offset"]) == ([1, 4, 9], 2)
    take_numbers(few, planner.WHOLE)
    assert nums(few.page(first["next"], **BY_DAY, limit=3)) == [6, 2, 5]
    assert nums(few.page(first["prev"], **BY_DAY, limit=3)) == [3, 8]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (OPEN, "a filter"),
        ({"count": True}, "an exact count"),
        ({"offset": 5}, "an offset"),
        ({"sort": [{"field": "day"}, {"field": "name"}]}, "several sort keys"),
    ],
)
def test_what_takes_a_larger_project_whole_is_refused_before_it_is_read(
    few: Grid, body: Any, said: str
) -> None:
    take_numbers(few, planner.WHOLE - len(DAYS))
    few.page(**body)
    take_numbers(few, 1)
    with pytest.raises(
        Unprocessable, match=f"10,001 issue numbers, and {said} can be answered for up to 10,000"
    ):
        few.page(**body)
    assert nums(few.page(**BY_DAY, limit=2)) == [3, 8]


def test_an_offset_behind_the_end_is_an_empty_page_that_leads_back(few: Grid) -> None:
    found = few.page(**BY_DAY, offset=20, limit=4)
    assert (nums(found), found["next"], found["offset"]) == ([], None, 20)
    assert nums(few.page(found["prev"], **BY_DAY, limit=4)) == [6, 2, 5, 7]
    empty = Grid().page(offset=3)
    assert (nums(empty), empty["next"], empty["prev"]) == ([], None, None)


def test_a_page_ends_at_5_megabytes_and_the_next_goes_on_without_loss() -> None:
    grid = Grid()
    take_numbers(grid, 80)
    grid.fill(grid.document(num, day="2023-05-01", note="x" * 150_000) for num in range(1, 81))
    pages = grid.walk(**OPEN, **BY_DAY, limit=100)
    assert flat(pages) == list(range(1, 81))
    assert len(pages) > 2


def test_a_cursor_is_bound_to_its_filter(few: Grid) -> None:
    cursor = few.page(**OPEN, **BY_DAY, limit=2)["next"]
    closed = {"filter": {"field": "state", "op": "eq", "value": "closed"}}
    for other in ({}, closed, {"filter": {"not": OPEN["filter"]}}):
        with pytest.raises(InvalidRequest):
            few.page(cursor, **other, **BY_DAY, limit=2)
    spelled: dict[str, Any] = {"filter": {"value": "open", "op": "eq", "field": "state"}}
    assert nums(few.page(cursor, **spelled, **BY_DAY, limit=2)) == [1, 4]


def test_a_cursor_of_several_keys_expires_when_the_index_of_any_was_built_anew(few: Grid) -> None:
    body: dict[str, Any] = {"sort": [{"field": "state"}, {"field": "day"}], "limit": 2}
    cursor = few.page(**body)["next"]
    rebuilt = next(item for item in few.table.items.values() if item.get("id") == "day")
    second = Indexes((Index(2, IndexState.READY, 2, SPEC_VERSION),), 3)
    few.table.put({**rebuilt, **second.to_items()})
    with pytest.raises(CursorExpired):
        few.page(cursor, **body)


def test_an_issue_that_the_index_has_not_heard_of_has_a_position(few: Grid) -> None:
    few.table.lag()
    few.table.put(few.document(10, day="2023-05-02"))
    few.table.put(few.document(3, 2, day="2023-05-09"))
    catalog = Catalogs().get(few.table, TENANT, PROJECT)
    order, only = resolve_position(catalog, BY_DAY)
    assert position(few.table, catalog, 10, order, only) == {"position": 5}
    assert position(few.table, catalog, 3, order, only) == {"position": 5}


def counted(grid: Grid, **body: Any) -> Any:
    catalog = Catalogs().get(grid.table, TENANT, PROJECT)
    return json.loads(dumps(grouped_counts(grid.table.metered(), catalog, groups.resolve(catalog, body))))


def test_groups_that_do_not_fit_an_answer_are_said_to_be_more(
    few: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = counted(few, by=["day"])
    assert [one["count"] for one in everything["groups"]] == [2, 3, 1, 3]
    assert not everything["more"]
    monkeypatch.setattr(counting, "MAX_RESPONSE_BYTES", 100)
    part = counted(few, by=["day"])
    assert part == {"groups": everything["groups"][:2], "more": True}


def test_issues_that_would_count_too_often_are_refused(few: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    few.add_attribute(id="labels", name="Labels", type="multi_enum", options=["x", "y"])
    few.fill([few.document(10, labels=["o1", "o2"])])
    by = {"by": ["labels", "labels"]}
    assert [(one["values"], one["count"]) for one in counted(few, **by)["groups"]] == [
        (["x", "x"], 1),
        (["x", "y"], 1),
        (["y", "x"], 1),
        (["y", "y"], 1),
        ([None, None], 9),
    ]
    monkeypatch.setattr(groups, "_MAX_MEMBERSHIPS", 12)
    with pytest.raises(Unprocessable, match="more than 12 times"):
        counted(few, **by)


def test_texts_that_differ_in_case_alone_are_one_group_and_those_that_differ_at_the_end_are_two(
    few: Grid,
) -> None:
    long = "x" * 240
    few.fill(
        few.document(num, note=note) for num, note in enumerate((f"{long}B", f"{long}a", f"{long}A"), 10)
    )
    found = [(*one["values"], one["count"]) for one in counted(few, by=["note"])["groups"]]
    assert found == [(f"{long}a", 2), (f"{long}B", 1), (None, 9)]
