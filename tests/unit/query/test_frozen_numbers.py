"""The numbers of a background job: those of the rows that a grid shows, under any sort and filter."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from devtools.local.derived_items import derived_items
from gridview.encoding.consistency import RecentWrites
from gridview.query import frozen_numbers as frozen
from gridview.query import planner
from gridview.query.bitmap_filter import Judged
from gridview.query.frozen_numbers import frozen_numbers
from gridview.query.grid_request import resolve_row_number
from gridview.query.sort_order import RowRange
from gridview.schema.epoch import CONFIRMED
from gridview.support.errors import QueryTooExpensive
from tests.support.depth import one_of
from tests.unit.query.test_bitmap_scan import PROJECT, Project, asked, filters, small_blocks

MATCHING = 2**20


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch)
        yield Project(400)


@pytest.fixture(params=[256, 3])
def at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frozen, "BUCKETS_AT_ONCE", request.param)


def numbers(project: Project, first: int | None = None, last: int = MATCHING, **body: Any) -> Judged:
    query = resolve_row_number(project.catalog, body)
    rows = None if first is None else RowRange(query.keys, first, last)
    return frozen_numbers(project.table.metered(), project.catalog, query.filter, rows, CONFIRMED)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("candidates", [2_000, 60, 20])
@pytest.mark.parametrize("seed", range(one_of(3, thorough=12)))
def test_random_rows_are_those_of_all_documents(
    project: Project, monkeypatch: pytest.MonkeyPatch, seed: int, candidates: int
) -> None:
    monkeypatch.setattr(planner, "CANDIDATES", candidates)
    draw = random.Random(seed * 1000 + candidates)  # noqa: S311
    for _ in range(10):
        body = asked(draw)
        order = project.expected(**body)
        first = draw.randrange(len(order) + 20)
        last = first + draw.choice([0, 1, 7, 50, 399, MATCHING])
        found = numbers(project, first, last, **body)
        assert list(found.sure) == sorted(order[first : last + 1]), (body, first, last)
        assert found.undecided == found.sure - found.sure


@pytest.mark.parametrize("seed", range(one_of(3, thorough=12)))
def test_sure_numbers_match_and_excluded_ones_do_not(project: Project, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    for _ in range(10):
        only = filters(draw)
        found, expected = numbers(project, filter=only), {*project.expected(filter=only)}
        assert {*found.sure} <= expected <= {*found.maybe}, only
    whole = numbers(project)
    assert list(whole.sure) == list(whole.maybe) == sorted(project.documents)


def test_rows_inside_an_order_read_its_blocks_and_no_document(project: Project) -> None:
    metered = project.table.metered()
    query = resolve_row_number(project.catalog, {"sort": [{"field": "note"}]})
    frozen_numbers(metered, project.catalog, None, RowRange(query.keys, 20, 60), CONFIRMED)
    called = [call for call in metered.meter.calls if call.operation == "batch_get_item"]
    of_all = len(project.documents)
    assert sum(call.items for call in called) < of_all / 4
    documents = project.table.metered()
    frozen_numbers(documents, project.catalog, None, RowRange(query.keys, 0, of_all), CONFIRMED)
    assert not [
        call for call in documents.meter.calls if call.operation == "query" and call.items > of_all / 4
    ]


def test_a_large_project_refuses_rows_that_only_documents_decide(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planner, "CANDIDATES", 20)
    bare = {"field": "bare", "op": "lt", "value": 5}
    ties = [{"field": "state"}, {"field": "name"}]
    assert numbers(project, 0, 3, filter=bare).sure
    assert numbers(project, 3, 6, sort=ties).sure
    monkeypatch.setattr(planner, "WHOLE", 399)
    with pytest.raises(QueryTooExpensive, match="bare"):
        numbers(project, 0, 3, filter=bare)
    with pytest.raises(QueryTooExpensive, match="state"):
        numbers(project, 3, 6, sort=ties)
    assert len(numbers(project, filter=bare).undecided) > 20, "without rows nothing has to be decided yet"


def test_more_blocks_than_one_answer_may_take_are_refused(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planner, "MAX_BLOCKS", 3)
    with pytest.raises(QueryTooExpensive, match="blocks"):
        numbers(project, 0, sort=[{"field": "note"}])


def test_the_writes_of_tokens_are_overlaid(project: Project) -> None:
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch)
        fresh = Project(40)
    num, other = sorted(fresh.documents)[:2]
    changed = fresh.document(num, version=2, state="closed", cost=7_000)
    fresh.table.put(changed)
    fresh.table.delete(fresh.documents[other]["PK"], fresh.documents[other]["SK"])
    recent = (RecentWrites(PROJECT, 0, {num: 2, other: 0}),)
    query = resolve_row_number(
        fresh.catalog,
        {
            "sort": [{"field": "cost", "direction": "desc"}],
            "filter": {"field": "state", "op": "eq", "value": "closed"},
        },
    )

    def first_row(recent: Any) -> list[int]:
        rows = RowRange(query.keys, 0, 0)
        found = frozen_numbers(fresh.table.metered(), fresh.catalog, query.filter, rows, CONFIRMED, recent)
        return list(found.sure)

    assert first_row(()) != [num]
    assert first_row(recent) == [num]
    every = frozen_numbers(fresh.table.metered(), fresh.catalog, None, None, CONFIRMED, recent)
    assert sorted(fresh.documents.keys() - {other}) == list(every.sure)
    assert derived_items(fresh.catalog, changed)
