"""Filters whose sets take more reads than one query may make: small projects are read whole, others refuse."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps
from gridview.query import group_request, planner, summary_request
from gridview.query.counting import grouped_counts, summarized
from gridview.query.frozen_numbers import frozen_numbers
from gridview.query.frozen_rows import frozen_rows
from gridview.query.grid import grid_page
from gridview.query.grid_request import resolve, resolve_row_number
from gridview.query.row_number import row_number_of
from gridview.query.sort_order import RowRange
from gridview.schema.epoch import CONFIRMED
from gridview.support.errors import QueryTooExpensive
from gridview.view.context import ReadContext
from tests.unit.query.test_bitmap_scan import Project, small_blocks

BUDGET = 60
CURSORS = Cursors([b"a secret of the tests"], "grid")
TEXTS = [f"{color} {num}" for color in ("red", "blue car", "green") for num in range(60)]
WIDE = {"or": [{"field": "note", "op": "in", "value": TEXTS[at::3]} for at in range(3)]}
SORT = [{"field": "cost"}]


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch)
        yield Project(400)


def page(project: Project, context: ReadContext) -> Any:
    query = resolve(project.catalog, {"filter": WIDE, "sort": SORT, "limit": 500})
    return [row["num"] for row in json.loads(dumps(grid_page(context, query, CURSORS).body))["rows"]]


def row_number(project: Project, context: ReadContext) -> Any:
    num = project.expected(filter=WIDE, sort=SORT)[2]
    return row_number_of(
        context, num, resolve_row_number(project.catalog, {"filter": WIDE, "sort": SORT})
    ).body


def rows_of_a_job(project: Project, context: ReadContext) -> Any:
    query = resolve_row_number(project.catalog, {"filter": WIDE, "sort": SORT})
    rows = RowRange(query.keys, 0, 3)
    return list(frozen_numbers(context.table, project.catalog, query.filter, rows, CONFIRMED).sure)


def rows_of_an_export(project: Project, context: ReadContext) -> Any:
    query = resolve_row_number(project.catalog, {"filter": WIDE, "sort": SORT})
    assert query.filter is not None
    may_match = frozen_rows(context.table, project.catalog, query.filter, query.keys, CONFIRMED)
    return [num for num in may_match if query.filter.matches(project.documents[num])]


def groups(project: Project, context: ReadContext) -> Any:
    query = group_request.resolve(project.catalog, {"by": ["state"], "filter": WIDE})
    return json.loads(dumps(grouped_counts(context, query, CURSORS).body))


def summary(project: Project, context: ReadContext) -> Any:
    asked = {"fields": [{"field": "cost", "functions": ["sum", "count"]}], "filter": WIDE}
    return json.loads(dumps(summarized(context, summary_request.resolve(project.catalog, asked)).body))


@pytest.mark.parametrize("ask", [page, row_number, rows_of_a_job, rows_of_an_export, groups, summary])
def test_a_filter_of_more_reads_than_one_query_may_make(
    project: Project, monkeypatch: pytest.MonkeyPatch, ask: Callable[[Project, ReadContext], Any]
) -> None:
    def asked() -> tuple[Any, int]:
        context = ReadContext(project.table.metered(), project.catalog, project.container())
        found = ask(project, context)
        return found, sum(one.operation == "query" for one in context.table.meter.calls)

    expected, calls = asked()
    assert calls > BUDGET, "most values are in blocks that have their keys in sort entries"
    monkeypatch.setattr(planner, "MAX_BLOCKS", BUDGET)
    found, calls = asked()
    assert found == expected
    assert calls < BUDGET
    monkeypatch.setattr(planner, "WHOLE", len(project.documents) - 1)
    with pytest.raises(QueryTooExpensive, match=r"The filter would read \d+ parts .* at most 60 are"):
        asked()
