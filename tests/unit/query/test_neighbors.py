"""The rows beside a row of an order, over a table in memory. Here the order is that of a date."""

import pytest

from gridview.query.neighbors import rows_beside
from gridview.schema.placements import RankedRow
from gridview.schema.store import Catalogs
from gridview.view.context import ReadContext
from tests.unit.query.test_grid import PROJECT, TENANT, Grid, with_days


@pytest.fixture
def few() -> Grid:
    return with_days(Grid())


def beside(grid: Grid, row: RankedRow | None, limit: int, *, backward: bool = False) -> list[RankedRow]:
    catalog = Catalogs().get(grid.table, TENANT, PROJECT)
    day = catalog.get("day")
    assert day is not None
    assert day.served is not None
    context = ReadContext(grid.table.metered(), catalog, grid.container())
    return list(rows_beside(context, day.served, row, limit, backward=backward).rows)


def test_a_row_that_was_moved_or_deleted_is_no_neighbor_where_the_index_still_has_it(few: Grid) -> None:
    first, *_, last = beside(few, None, 5)
    assert (first.num, last.num) == (3, 9)
    few.table.put(few.document(4, 2, day="2023-05-09"))
    few.remove(8)
    assert [row.num for row in beside(few, first, 3)] == [1, 9, 6]
    assert [row.num for row in beside(few, last, 2, backward=True)] == [1, 3]
