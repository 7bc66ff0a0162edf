"""The plan of a query, and its allowed cost."""

from typing import Any

import pytest

from devtools.local.built_chains import built_chain
from gridview.chains.blocks import entry_of
from gridview.chains.directory import Directory
from gridview.encoding.sort_strings import sort_string
from gridview.query import planner
from gridview.query.aggregate_planner import GroupsRule
from gridview.query.buckets import Bucket, BucketOrder
from gridview.query.grid_request import resolve
from gridview.query.sort_order import Place, Spot
from gridview.schema.catalog import Catalog
from gridview.support.errors import QueryTooExpensive

CATALOG = Catalog("0807", "35e9", 1, (), (), 1)
FILTER = {"field": "num", "op": "gt", "value": 1}
BY_NAME: dict[str, Any] = {"sort": [{"field": "name"}]}


def line(issues: int = 20_000, bodies: int = 20_000, **body: Any) -> BucketOrder:
    """An order with this many bodies, evenly."""
    keys = (sort_string(f"{num % bodies:06d}", num) for num in range(1, issues + 1))
    chain = built_chain("name.1", sorted(keys))
    return BucketOrder(
        resolve(CATALOG, body or BY_NAME).keys, Directory("name.1", tuple(map(entry_of, chain))), issues
    )


@pytest.mark.parametrize(
    ("body", "walks"),
    [
        ({}, True),
        (BY_NAME, True),
        ({"count": True}, True),
        ({"offset": 0, "count": False, "filter": None, "sort": []}, True),
        ({"sort": [{"field": "name"}, {"field": "num"}, {"field": "state"}]}, True),
        ({"sort": [{"field": "num"}, {"field": "state"}]}, True),
        ({"sort": [{"field": "name"}, {"field": "num", "direction": "desc"}]}, False),
        ({"sort": [{"field": "name"}, {"field": "state"}]}, False),
        ({"filter": FILTER}, False),
        ({"offset": 1}, False),
    ],
)
def test_one_index_answers_all_issues_in_the_order_of_one_key(body: Any, walks: bool) -> None:
    assert planner.walks(resolve(CATALOG, body), None) == walks


def test_a_page_that_begins_without_a_value_is_no_walk() -> None:
    query = resolve(CATALOG, BY_NAME)
    assert planner.walks(query, Spot(Place(("a",), 1), after=True))
    assert not planner.walks(query, Spot(Place((None,), 1), after=True))


def test_blocks_serve_a_page_where_they_are_few_and_have_its_order() -> None:
    few, many = line(20_000, 20).buckets[1:], line(20_000, 20_000).buckets
    assert planner.blocks_suffice(few, 101, begun=False)
    assert planner.blocks_suffice(few, 1_000, begun=False)
    assert not planner.blocks_suffice(many, 101, begun=False)
    # A small page takes half a unit of sort entries, and that is one block.
    assert planner.blocks_suffice(few, 11, begun=False)
    assert not planner.blocks_suffice(few, 11, begun=True)
    assert planner.blocks_suffice(few, 101, begun=True)
    # Up to the end of the order it may be fewer rows; after the values the walk continues by itself.
    assert planner.blocks_suffice(few[-2:], 2_001, begun=False)
    assert not planner.blocks_suffice([few[0], Bucket((), 5)], 1_001, begun=False)
    assert not planner.blocks_suffice([], 1, begun=False)


def test_a_page_reads_the_blocks_that_it_should_need_and_some_more() -> None:
    by_name = line(60_000, 60_000)
    in_all = len(by_name.buckets)
    tenth = planner.first_buckets(by_name, by_name.buckets, 101, 15_000, 60_000)
    hundredth = planner.first_buckets(by_name, by_name.buckets, 1_001, 15_000, 60_000)
    assert 4 <= tenth < hundredth <= in_all
    assert planner.first_buckets(by_name, by_name.buckets, 15_001, 15_000, 60_000) == in_all


def test_few_matching_issues_are_all_fetched_without_blocks() -> None:
    by_name = line()
    assert planner.first_buckets(by_name, by_name.buckets, 101, 20, 20_000) == 0
    assert planner.sorts_all(20, 101, 0, 0.0)
    assert planner.sorts_all(120, 101, 0, 10.0)
    assert not planner.sorts_all(150, 101, 0, 10.0)
    assert planner.sorts_all(150, 101, 150, 10.0), "most of it has to be looked at anyway"
    assert not planner.sorts_all(planner.CANDIDATES + 1, 101, 2_000, 10_000.0)


def test_sort_entries_are_read_where_they_cost_less_than_documents() -> None:
    bucket = line().buckets[0]
    assert not planner.reads_entries(bucket, 18, 0)
    assert planner.reads_entries(bucket, 900, 100)
    assert not planner.reads_entries(bucket, 100, 100), "the page takes these documents anyway"
    assert not planner.reads_entries(line(bodies=3).buckets[1], 900, 0), "the block has its body"


def test_rows_without_a_value_are_looked_for_among_all_documents_where_there_are_many() -> None:
    assert planner.queries_rest(101, 9_000, 10_000, 10)
    assert not planner.queries_rest(101, 90, 10_000, 10)
    assert not planner.queries_rest(101, 1_000, 100_000, 60)
    assert planner.documents_to_find(100, 5_000, 10_000) >= 200


def test_there_is_an_end_to_what_is_read() -> None:
    planner.check_blocks(planner.MAX_BLOCKS)
    with pytest.raises(QueryTooExpensive, match="3,001 blocks"):
        planner.check_blocks(planner.MAX_BLOCKS + 1)
    assert "2,001 issues" in str(planner.too_wide(None, 2_001))


@pytest.mark.parametrize(
    ("field_id", "reason"),
    [(None, "the groups of 10,001 issues would need"), ("tags", "their values of tags")],
)
def test_groups_by_documents_are_those_of_ten_thousand_issues_at_most(
    field_id: str | None, reason: str
) -> None:
    nothing: Any = None
    rule = GroupsRule(CATALOG, nothing, nothing, ())
    assert rule.beyond_documents(10_000, field_id) is None
    beyond = rule.beyond_documents(10_001, field_id)
    assert beyond is not None
    assert reason in beyond.reason
