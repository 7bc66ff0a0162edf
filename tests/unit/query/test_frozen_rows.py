"""The frozen rows of an order: those of a grid, in its order, under any sort and filter."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from gridview.encoding.consistency import RecentWrites
from gridview.query import frozen_rows as frozen
from gridview.query import planner
from gridview.query.frozen_rows import frozen_rows
from gridview.query.grid_request import resolve_row_number
from gridview.schema.epoch import CONFIRMED
from gridview.support.errors import QueryTooExpensive
from tests.support.depth import one_of
from tests.unit.query.test_bitmap_scan import PROJECT, Project, asked, recorded_fields, small_blocks


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch)
        yield Project(400)


@pytest.fixture(params=[256, 3])
def at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frozen, "BUCKETS_AT_ONCE", request.param)
    monkeypatch.setattr(frozen, "_DOCUMENTS_AT_ONCE", request.param * 4)


def rows(project: Project, recent: Any = (), **body: Any) -> list[int]:
    query = resolve_row_number(project.catalog, body)
    table = project.table.metered()
    return list(frozen_rows(table, project.catalog, query.filter, query.keys, CONFIRMED, recent))


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("candidates", [2_000, 20])
@pytest.mark.parametrize("seed", range(one_of(3, thorough=12)))
def test_random_orders_hold_what_matches_as_the_grid_has_it(
    project: Project, monkeypatch: pytest.MonkeyPatch, seed: int, candidates: int
) -> None:
    monkeypatch.setattr(planner, "CANDIDATES", candidates)
    draw = random.Random(seed * 1000 + candidates)  # noqa: S311
    for _ in range(10):
        body = asked(draw)
        found, expected = rows(project, **body), project.expected(**body)
        assert len(set(found)) == len(found), body
        matching = set(expected)
        assert [num for num in found if num in matching] == expected, body
        without_filter = {name: value for name, value in body.items() if name != "filter"}
        whole = project.expected(**without_filter)
        assert found == [num for num in whole if num in set(found)], "undecided issues are where they belong"


def test_an_order_that_blocks_decide_reads_no_document(project: Project) -> None:
    metered = project.table.metered()
    query = resolve_row_number(project.catalog, {"sort": [{"field": "note"}]})
    found = frozen_rows(metered, project.catalog, None, query.keys, CONFIRMED)
    assert len(found) == len(project.documents)
    read = [key for call in metered.meter.calls if call.operation == "batch_get_item" for key in [call.items]]
    assert sum(read) < len(project.documents) / 2


@pytest.mark.parametrize(("most", "reads"), [(400, 1), (399, 2)])
def test_the_documents_of_ties_are_read_together_and_without_other_fields(
    project: Project, monkeypatch: pytest.MonkeyPatch, most: int, reads: int
) -> None:
    monkeypatch.setattr(frozen, "_DOCUMENTS_AT_ONCE", most)
    read = recorded_fields(monkeypatch)
    rows(project, sort=[{"field": "state"}, {"field": "name"}])
    assert read == [{"num", "version", "updated", "state", "name", "deleted_by"}] * reads


def test_a_large_project_refuses_an_order_that_only_documents_decide(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planner, "CANDIDATES", 20)
    ties = [{"field": "state"}, {"field": "name"}]
    assert rows(project, sort=ties) == project.expected(sort=ties)
    monkeypatch.setattr(planner, "WHOLE", 399)
    with pytest.raises(QueryTooExpensive, match="state"):
        rows(project, sort=ties)


def test_the_writes_of_tokens_are_overlaid() -> None:
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch)
        fresh = Project(40)
    num, other = sorted(fresh.documents)[:2]
    changed = fresh.document(num, version=2, state="closed", cost=7_000)
    fresh.table.put(changed)
    fresh.table.delete(fresh.documents[other]["PK"], fresh.documents[other]["SK"])
    recent = (RecentWrites(PROJECT, 0, {num: 2, other: 0}),)
    body = {"sort": [{"field": "cost", "direction": "desc"}]}
    assert rows(fresh, **body)[0] != num
    found = rows(fresh, recent, **body)
    assert found[0] == num
    assert sorted(found) == sorted(fresh.documents.keys() - {other})
