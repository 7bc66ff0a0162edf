"""Row numbers of issues, over a table in memory: while the index lags, and beyond the limits."""

from typing import Any

import pytest

from gridview.chains import blocks
from gridview.derive.families import NUMBERS
from gridview.derive.ledger import Intent, Ledger
from gridview.encoding import derived_keys, keys
from gridview.encoding.sort_strings import sort_string
from gridview.query import planner
from gridview.query.grid_request import resolve_row_number
from gridview.query.row_number import row_number_of
from gridview.schema.store import Catalogs
from gridview.support.errors import NotFound, QueryTooExpensive
from gridview.view.context import ReadContext
from tests.unit.query.test_grid import DAYS, PROJECT, TENANT, Grid, without_notes
from tests.unit.query.test_grouping import MAX_ROUNDS

BY_DAY: dict[str, Any] = {"sort": [{"field": "day"}]}
"""The order: 3 8 | 1 4 9 | 6 | 2 5 7."""


@pytest.fixture
def few() -> Grid:
    grid = Grid()
    grid.add_attribute(id="bare", name="Bare", type="number", indexed=False)
    grid.fill(grid.document(num, day=day, bare=num) for num, day in enumerate(DAYS, start=1))
    return grid


def place(grid: Grid, num: int, **body: Any) -> Any:
    catalog = Catalogs().get(grid.table, TENANT, PROJECT)
    metered = grid.table.metered()
    found = row_number_of(
        ReadContext(metered, catalog, grid.container()), num, resolve_row_number(catalog, body)
    )
    grid.operations = without_notes(metered.meter.calls)
    assert metered.meter.rounds <= MAX_ROUNDS
    return found.body["row_number"]


def test_every_issue_has_its_row_number(few: Grid) -> None:
    assert [place(few, num, **BY_DAY) for num in (3, 8, 1, 4, 9, 6, 2, 5, 7)] == list(range(9))
    assert [place(few, num) for num in range(1, 10)] == list(range(9))


def test_without_a_filter_one_block_is_enough(few: Grid) -> None:
    place(few, 6, **BY_DAY)
    assert [items for name, items in few.operations if name == "batch_get_item"] == [1]


def test_an_issue_that_does_not_match_or_is_not_there_has_none(few: Grid) -> None:
    assert place(few, 1, filter={"field": "num", "op": "gt", "value": 1}) is None
    with pytest.raises(NotFound):
        place(few, 99)


def test_an_issue_that_the_index_lacks_has_a_row_number(few: Grid) -> None:
    few.table.put(few.document(10, day="2023-05-02"))
    assert place(few, 10, **BY_DAY) == 5


@pytest.mark.parametrize(
    "only", [None, {"field": "num", "op": "gt", "value": 0}, {"field": "bare", "op": "ne", "value": 0}]
)
@pytest.mark.parametrize(
    ("num", "day", "row"),
    [(3, "2023-05-09", 5), (6, "2023-04-01", 0), (2, "2023-05-02", 3), (1, None, 5), (3, "2023-05-01", 0)],
)
def test_an_issue_that_the_index_has_elsewhere_is_not_counted_there(
    few: Grid, monkeypatch: pytest.MonkeyPatch, only: Any, num: int, day: str | None, row: int
) -> None:
    """Blocks of a body each, so that the former place may be another block."""
    monkeypatch.setattr(blocks, "POPULAR", 2)
    few.build_blocks()
    few.table.put(few.document(num, 2, day=day, bare=num))
    for candidates in (0, 2_000) if only is None or only["field"] == "num" else (2_000,):
        monkeypatch.setattr(planner, "CANDIDATES", candidates)
        assert place(few, num, **BY_DAY, **({"filter": only} if only else {})) == row


def test_an_issue_that_its_own_block_has_elsewhere_is_not_counted_there(few: Grid) -> None:
    few.table.put(few.document(3, 2, day="2023-05-09"))
    assert place(few, 3, **BY_DAY) == 5
    few.table.put(few.document(6, 2, day="2023-04-01"))
    assert place(few, 6, **BY_DAY) == 0


def test_a_day_that_the_index_never_had_does_not_show_whether_it_has_the_issue(few: Grid) -> None:
    """Its creation with a day died, the next edit cleared the day, and a third set it.

    The index has the changes of other issues on the first day, but not yet that issue.
    """
    intent = {NUMBERS: Intent(sort_string("", 10)), "a1.1": Intent(None, (sort_string("2023-05-09", 10),))}
    ledger = Ledger(version=2, epoch=1, revision=2, intent=intent, number=7)
    few.table.put(ledger.to_item(keys.issue(TENANT, PROJECT, 10)))
    few.table.put(few.document(10, 3, day="2023-05-02"))
    block = derived_keys.block(TENANT, PROJECT, "a1.1", blocks.HEAD)
    (head,) = (item for (key, _), item in few.table.items.items() if key == block)
    few.table.put({**head, "write_id": f"{head['write_id']}@7"})
    catalog = Catalogs().get(few.table, TENANT, PROJECT)
    query = resolve_row_number(catalog, {"sort": [{"field": "day", "nulls": "first"}]})
    found = row_number_of(ReadContext(few.table.metered(), catalog, few.container()), 10, query)
    assert found.body["row_number"] == 8


def test_too_many_ties_are_read_whole_or_refused(few: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "POPULAR", 3)
    monkeypatch.setattr(planner, "CANDIDATES", 5)
    few.build_blocks()
    body: dict[str, Any] = {"sort": [{"field": "state"}, {"field": "day"}]}
    assert [place(few, num, **body) for num in (3, 8, 1, 4, 9, 6, 2, 5, 7)] == list(range(9))
    monkeypatch.setattr(planner, "WHOLE", 8)
    with pytest.raises(QueryTooExpensive, match="POST /v1/projects/bridge/indexes"):
        place(few, 1, **body)
    with pytest.raises(QueryTooExpensive, match="open whether 8 issues"):
        place(few, 1, filter={"field": "bare", "op": "gt", "value": 0})
