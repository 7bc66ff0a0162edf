"""The executor over a table in memory: its rounds, its charges, and the node of each charge."""

from typing import Any

import pytest

from gridview.derive.families import NUMBERS
from gridview.query.executor import Executor
from gridview.query.plan import Node
from gridview.query.steps import Ask, Steps, ask, ask_all, record, rounds_taken, side_by_side
from gridview.schema.store import Catalogs
from gridview.support.errors import NotFound
from gridview.view.block_cache import BlockCache
from gridview.view.block_reads import Want
from gridview.view.context import ReadContext
from gridview.view.index_view import IndexView
from gridview.view.reads import (
    ReadBlocks,
    ReadDirectories,
    ReadDocuments,
    ReadFreshness,
    ReadIssue,
    ReadLedger,
    ReadRange,
    ReadRecent,
    Snapshot,
)
from tests.unit.query.test_grid import PROJECT, TENANT, Grid, with_days


@pytest.fixture(scope="module")
def few() -> Grid:
    return with_days(Grid())


def executor(grid: Grid, cache: BlockCache | None = None) -> tuple[Executor, Any]:
    metered = grid.table.metered()
    catalog = Catalogs().get(grid.table, TENANT, PROJECT)
    view = IndexView(ReadContext(metered, catalog, cache or grid.container()), metered.metered())
    return Executor(metered, view), metered.meter


def run(executor: Executor, steps: Steps[Any]) -> Any:
    """The result of steps that need not start again."""
    return executor.run(lambda: steps)


def total(node: Node) -> Steps[int]:
    found: Snapshot = yield from ask(node, ReadDirectories((NUMBERS,)))
    numbers = found.directory(NUMBERS)
    blocks: Snapshot = yield from ask(
        node, ReadBlocks(tuple(Want(NUMBERS, entry) for entry in numbers.entries))
    )
    return sum(len(blocks.block(NUMBERS, entry).members) for entry in numbers.entries)


def test_a_round_is_what_is_asked_for_together(few: Grid) -> None:
    node, other = Node(), Node()
    running, meter = executor(few)

    def steps() -> Steps[Any]:
        found = yield from side_by_side(
            total(node), ask(other, ReadDocuments((1, 2, 99), None)), ask(other, ReadFreshness())
        )
        return found, (yield from rounds_taken())

    (counted, documents, _), rounds = run(running, steps())
    assert (counted, sorted(documents.found), documents.left, rounds) == (9, [1, 2], frozenset(), 2)
    assert sorted((call.operation, call.round) for call in meter.calls) == [
        ("batch_get_item", 1),
        ("batch_get_item", 1),
        ("batch_get_item", 2),
        ("query", 1),
    ]
    assert meter.rounds == 2
    used = running.trace.usage
    assert (used[node].rounds, used[other].rounds) == ({1, 2}, {1})
    assert used[node].units + used[other].units == meter.capacity


def test_cached_reads_take_no_round_and_no_units(few: Grid) -> None:
    cache = few.container()
    first, _ = executor(few, cache)
    assert run(first, total(Node())) == 9
    again, meter = executor(few, cache)
    assert run(again, total(Node())) == 9
    assert (meter.rounds, meter.calls, dict(again.trace.usage)) == (0, [], {})
    assert again.trace.reads.cached == 1
    # Nor does it wait for reads that are not cached.
    beside, meter = executor(few, cache)
    other = Node()
    assert run(beside, side_by_side(total(Node()), ask(other, ReadFreshness())))[0] == 9
    assert (meter.rounds, list(beside.trace.usage)) == (1, [other])


def test_a_read_of_two_nodes_is_made_once_and_counts_for_the_first(few: Grid) -> None:
    one, two = Node(), Node()
    running, meter = executor(few)
    assert run(running, side_by_side(total(one), total(two))) == [9, 9]
    assert [call.operation for call in meter.calls] == ["query", "batch_get_item"]
    assert list(running.trace.usage) == [one]


def test_a_batch_of_several_nodes_is_shared_by_what_each_asked_for(few: Grid) -> None:
    one, two = Node(), Node()
    running, meter = executor(few)
    catalog = Catalogs().get(few.table, TENANT, PROJECT)
    families = tuple(order.order_id for order in catalog.orders)[:2]
    run(
        running,
        ask_all(
            [Ask(one, ReadDirectories((NUMBERS, families[0]))), Ask(two, ReadDirectories((families[1],)))]
        ),
    )
    assert running.trace.usage[one].units == pytest.approx(meter.capacity * 2 / 3)
    assert running.trace.usage[two].units == pytest.approx(meter.capacity / 3)


def test_every_call_is_charged_when_one_is_refused(few: Grid) -> None:
    running, meter = executor(few)
    node = Node()
    with pytest.raises(NotFound):
        run(
            running,
            ask_all(
                [
                    Ask(node, ReadIssue(99)),
                    Ask(node, ReadLedger(1)),
                    Ask(node, ReadRange(None, None, forward=True, limit=3, paths=())),
                ]
            ),
        )
    assert sorted(call.operation for call in meter.calls) == ["get_item", "get_item", "query"]
    assert {call.round for call in meter.calls} == {1}
    assert running.trace.usage[node].units == meter.capacity


def test_documents_are_noted_with_the_missing_ones(few: Grid) -> None:
    running, _ = executor(few)
    node = Node()
    run(running, ask_all([Ask(node, ReadRecent()), Ask(node, ReadDocuments((1, 2, 99), None))]))
    assert (sorted(running.seen.documents), list(running.seen.gone)) == ([1, 2], [99])


def test_reported_facts_are_kept_for_each_node(few: Grid) -> None:
    running, _ = executor(few)
    node = Node()

    def steps() -> Steps[None]:
        yield from record(node, rows=1)
        yield from record(node, rows=2, more=True)

    run(running, steps())
    assert dict(running.trace.facts) == {node: {"rows": 2, "more": True}}
