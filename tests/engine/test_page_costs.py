"""The cost of a page: sequential calls and read units, as DynamoDB reports them; they do not grow with the project."""

import secrets
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from devtools.local import bulk
from devtools.local.engine import Engine
from gridview.schema import documents
from gridview.schema.documents import Changes
from gridview.schema.store import Catalogs
from tests.engine.local import Stack, stack

SMALL, LARGE = SIZES = (300, 900)
EPOCH = 1
"""Read units of the project's epoch, which every page reads beside its first call.

Also of new items in the journal, which are none here: the engine reports no units for that, DynamoDB half a unit.
"""
NULL_TAIL = 60
"""Issues of each project without a day; they have the highest numbers."""


def fill(running: Stack, project: str, size: int) -> None:
    """Issues of the same length each, indexed as the consumer would; days in no order of the numbers."""
    running.api.made("/v1/projects", {"name": project, "id": project})
    for body in (
        {"id": "day", "name": "Day", "type": "date"},
        {"id": "note", "name": "Note", "type": "text"},
    ):
        running.api.made(f"/v1/projects/{project}/attributes", body)
    table = running.table
    catalog = Catalogs().get(table, running.tenant, project)
    day, note = (field.key for field in catalog.attributes)
    bulk.take_numbers(table, catalog, size)
    made = []
    for num in range(1, size + 1):
        fields = {note: f"{num * 7919 % 10_007:05d}" + "x" * 200}
        if num <= size - NULL_TAIL:
            fields[day] = f"20{num * 31 % 90 + 10}-{num * 7 % 12 + 1:02d}-{num * 11 % 28 + 1:02d}"
        changes = Changes({"name": f"issue {num:05d}"}, fields)
        now = f"2024-01-01T00:00:00.{num:06d}Z"
        made.append(documents.new_document(catalog, num, changes, user="ann", now=now, change=UUID(int=num)))
    assert bulk.load(table, catalog, made, bulk.in_batches) == size


class Cost(NamedTuple):
    """The cost of one page."""

    sequential: int
    operations: tuple[str, ...]
    units: float
    rows: int


@pytest.fixture(scope="module")
def filled(engine: Engine, table_name: str) -> Iterator[Stack]:
    """A project of each size."""
    with stack(engine, table_name, f"t{secrets.token_hex(8)}") as running:
        for size in SIZES:
            fill(running, f"p{size}", size)
        yield running


def of_the_page(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls without the one that only `explain` makes beside the first: the lag of the index."""
    return [call for call in calls if (call["round"], call["operation"]) != (1, "batch_get_item")]


def pages(running: Stack, size: int, field: str, *, limit: int = 100, **options: Any) -> list[Cost]:
    """The cost of each page of a whole walk. The catalog is warm."""
    path = f"/v1/projects/p{size}/grid"
    body = {"sort": [{"field": field, **options}], "limit": limit, "explain": True}
    running.api.post(path, {"limit": 1})
    found = []
    cursor = None
    while True:
        answer = running.api.post(path, body if cursor is None else {**body, "cursor": cursor})
        assert answer.status == 200, answer.text
        explain = answer.body["explain"]
        assert explain["read_units"] == sum(call["read_units"] for call in explain["calls"])
        calls = of_the_page(explain["calls"])
        operations = tuple(call["operation"] for call in calls)
        units = float(sum(call["read_units"] for call in calls))
        found.append(Cost(explain["sequential_calls"], operations, units, len(answer.body["rows"])))
        cursor = answer.body["next"]
        if cursor is None:
            return found


def first(running: Stack, field: str) -> Sequence[Cost]:
    """The first page of 100 in each project."""
    return [pages(running, size, field)[0] for size in SIZES]


def test_a_page_by_number_is_one_query_and_the_epoch_and_the_journal_beside_it(filled: Stack) -> None:
    small, large = first(filled, "num")
    assert small == large
    assert (small.sequential, small.operations) == (1, ("query", "query", "query"))
    # 101 documents of some 600 bytes at 0.5 units for each 4 KB of the whole page, and the epoch.
    assert 5 < small.units - EPOCH < 12


@pytest.mark.parametrize("field", ["day", "note", "name", "created"])
def test_a_page_by_a_field_is_a_query_and_then_one_batch_of_documents(filled: Stack, field: str) -> None:
    small, large = first(filled, field)
    assert small == large
    assert (small.sequential, small.operations) == (2, ("query", "query", "query", "batch_get_item"))
    # 100 documents at 0.5 units each, and 101 index entries of some 150 to 400 bytes.
    assert 50 < small.units - EPOCH < 56


def test_a_page_by_a_field_of_few_values_is_directories_then_blocks_and_one_batch_of_documents(
    filled: Stack,
) -> None:
    """Such an order has no sort entries. The container knows the size of the small project; it has read its numbers."""
    for cost in first(filled, "state"):
        assert cost.sequential == 3
        assert cost.operations[-2:] == ("batch_get_item", "batch_get_item")
        assert set(cost.operations[:-2]) == {"query"}
        # 100 documents at 0.5 units each, two directories and a block.
        assert 50 < cost.units - EPOCH < 53


def test_no_page_of_a_walk_costs_more_than_the_first(filled: Stack) -> None:
    """Except for the last, which is full here, and looks for an issue without a value to see whether the order
    continues.
    """
    *found, _ = pages(filled, LARGE, "note")
    assert len(found) == LARGE // 100 - 1
    assert {cost.operations for cost in found} == {("query", "query", "query", "batch_get_item")}
    assert max(cost.units for cost in found) <= found[0].units + 0.5


def test_a_page_of_500_takes_two_calls_in_sequence(filled: Stack) -> None:
    (cost, *_) = pages(filled, LARGE, "day", limit=500)
    assert cost.sequential == 2
    assert cost.operations == ("query", "query", "query", *("batch_get_item",) * 5)


def test_columns_that_are_not_asked_for_cost_no_more_calls(filled: Stack) -> None:
    answer = filled.api.post(
        f"/v1/projects/p{SMALL}/grid", {"sort": [{"field": "day"}], "columns": ["day"], "explain": True}
    )
    calls = of_the_page(answer.body["explain"]["calls"])
    assert [call["operation"] for call in calls][-4:] == ["query", "query", "query", "batch_get_item"]


def test_the_pages_of_the_null_tail_are_full_and_read_each_issue_at_most_about_twice(filled: Stack) -> None:
    """The issues without a value have the highest numbers and come last, so all of the project is read to find them."""
    for size in SIZES:
        head, *rest = pages(filled, size, "day", limit=20, nulls="first")
        full, last = divmod(size, 20)
        assert [cost.rows for cost in (head, *rest)] == [20] * full + ([last] if last else [])
        reading_all = pages(filled, size, "num", limit=500)
        assert head.units < 2 * sum(cost.units for cost in reading_all)


def test_a_dense_null_tail_reads_little_more_than_it_shows(filled: Stack) -> None:
    """Backwards the issues without a value come at once."""
    head, *_ = pages(filled, LARGE, "day", limit=20, direction="desc", nulls="first")
    assert head.rows == 20
    assert head.sequential <= 3
    # Half a unit for each document, and the sets.
    assert head.units - EPOCH < 10 + 3
