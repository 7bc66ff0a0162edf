"""A container's memory of a journal: each item is read once, none is lost, and items that every reader sees are
dropped.
"""

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.derive.issue_changes import FamilyChange, IssueChange
from gridview.derive.ledger import SHOWN_SECONDS
from gridview.encoding import derived_keys
from gridview.encoding.sort_strings import sort_string
from gridview.journal.items import Head, JournalItem, Listing
from gridview.journal.log import Log
from gridview.support import clock
from gridview.support.errors import Overloaded
from gridview.view.block_cache import BlockCache
from gridview.view.journal_tail import JournalTail, learn, recent_moves, tail_of
from gridview.view.moves import FamilyMove, FamilyMoves, JournalStep, Logged
from tests.support.derived_project import fold, log_of, new_table

DAY = "a1.1"


class Container:
    """The memory of one container, and the cost of its reads."""

    def __init__(self, table: MemoryTable) -> None:
        self._table = table
        self._cache = BlockCache()

    def learn(self) -> None:
        learn(log_of(self._table), self._cache)

    def read(self) -> tuple[Mapping[int, FamilyMoves], int, list[str]]:
        """The moves, the number of rounds in which they were read, and the calls."""
        own = self._table.metered()
        self.logged = read(own, self._cache)
        return self.logged.moves, own.meter.rounds, sorted(call.operation for call in own.meter.calls)

    @property
    def nums(self) -> list[int]:
        """The issues that a reader may see in the wrong place."""
        self.read()
        return sorted(self.logged.pending)


def read(table: MemoryTable, cache: BlockCache) -> Logged:
    log = log_of(table)
    return recent_moves(log, cache, tail_of(log, cache))


@pytest.fixture
def table() -> MemoryTable:
    return new_table()


@pytest.fixture
def container(table: MemoryTable) -> Container:
    return Container(table)


def day(num: int, left: str | None, to: str) -> IssueChange:
    had = () if left is None else (sort_string(left, num),)
    return IssueChange(num, 1, False, 1, {DAY: FamilyChange(had, sort_string(to, num))})


def put(table: MemoryTable, number: int, *changes: IssueChange) -> None:
    assert log_of(table).put(number, changes) is not None


def commit(table: MemoryTable, *changes: IssueChange) -> int:
    number = log_of(table).reserve(len(changes))
    put(table, number, *changes)
    log_of(table).mark(number)
    return number


def test_an_item_is_read_once(table: MemoryTable, container: Container) -> None:
    commit(table, day(1, None, "x"))
    found, rounds, calls = container.read()
    assert (sorted(found), rounds, calls) == ([1], 2, ["batch_get_item", "query"])
    commit(table, day(2, None, "x"))
    own = table.metered()
    assert (container.nums, own.meter.rounds) == ([1, 2], 0)
    found, rounds, calls = container.read()
    assert (sorted(found), rounds, calls) == ([1, 2], 1, ["query"])


def test_a_quiet_journal_takes_one_call_that_finds_nothing(table: MemoryTable) -> None:
    own, cache = table.metered(), BlockCache()
    learn(log_of(own), cache)
    assert own.meter.capacity == 0.5
    read(own, cache)
    learn(log_of(own), cache)
    assert [(call.operation, call.items) for call in own.meter.calls] == [("batch_get_item", 1), ("query", 0)]


def test_a_container_that_knows_the_journal_reads_it_in_one_round(
    table: MemoryTable, container: Container
) -> None:
    commit(table, day(1, None, "x"))
    container.learn()
    found, rounds, calls = container.read()
    assert (sorted(found), rounds, calls) == ([1], 1, ["query"])


def test_the_journal_of_a_project_that_is_just_being_removed_teaches_nothing(table: MemoryTable) -> None:
    table.delete(log_of(table).partition, derived_keys.FOLD)
    container = Container(table)
    container.learn()
    with pytest.raises(Overloaded):
        container.read()


def test_moves_join_what_was_read_before(table: MemoryTable, container: Container) -> None:
    commit(table, day(1, "x", "y"))
    first = container.read()[0]
    commit(table, day(1, "y", "z"))
    left = tuple(sort_string(one, 1) for one in ("x", "y"))
    steps = tuple(
        JournalStep(number, sort_string(had, 1), sort_string(takes, 1))
        for number, had, takes in ((1, "x", "y"), (2, "y", "z"))
    )
    assert container.read()[0][1][DAY] == FamilyMove(left, sort_string("z", 1), steps)
    assert first[1][DAY].takes == sort_string("y", 1), "what another request holds stays as it is"


def test_an_item_after_a_missing_number_is_overlaid_and_the_number_still_read(
    table: MemoryTable, container: Container
) -> None:
    late = log_of(table).reserve(1)
    commit(table, day(2, None, "x"))
    assert (container.nums, sorted(container.logged.moves)) == ([2], [2])
    put(table, late, day(1, None, "x"))
    assert container.nums == [1, 2]
    assert container.read()[2] == ["query"]


def test_nothing_is_new_only_as_long_as_no_item_has_come_even_after_a_missing_number(
    table: MemoryTable, container: Container
) -> None:
    commit(table, day(1, None, "x"))
    container.read()
    first = container.logged
    container.read()
    assert container.logged.is_unchanged_since(first)
    log_of(table).reserve(1)
    commit(table, day(3, None, "x"))
    container.read()
    assert not container.logged.is_unchanged_since(first)


def test_items_shown_to_all_readers_are_kept_for_older_directories(
    table: MemoryTable, container: Container, later: Any
) -> None:
    commit(table, day(1, None, "x"))
    commit(table, day(2, None, "x"))
    assert fold(table) == 2
    assert container.nums == [1, 2]
    since = container.logged.since
    commit(table, day(3, None, "x"))
    later(SHOWN_SECONDS + 1)
    container.read()
    assert container.nums == [3]
    assert container.read()[2] == ["query"], "the head has been read just now"
    assert (sorted(container.logged.moves), container.logged.since) == ([1, 2, 3], since)


@pytest.mark.parametrize("reason", ["too many", "too old"])
def test_items_shown_to_all_readers_are_dropped_in_the_end(
    table: MemoryTable, container: Container, later: Any, reason: str
) -> None:
    """From then on only reads after every reader saw it fit the rest."""
    before = clock.seconds()
    commit(table, *(day(num, None, "x") for num in range(1, 601 if reason == "too many" else 2)))
    assert fold(table) == 1
    container.read()
    commit(table, day(700, None, "x"))
    later(SHOWN_SECONDS + 1 if reason == "too many" else 2_000)
    container.read()
    assert sorted(container.read()[0]) == [700]
    assert before + SHOWN_SECONDS <= container.logged.since <= before + SHOWN_SECONDS + 5


def test_a_head_that_no_longer_knows_since_when_an_item_is_shown_makes_no_older_read_fit() -> None:
    """Folds thin the trail of the head, and too many items wait."""
    waiting = JournalItem(6, 900.0, tuple(day(num, None, "x") for num in range(1, 502)))
    tail = JournalTail(floor=4, since=500.0, shown=5, last=6, looked_at=900.0, items=[waiting])
    head = Head(last=6, folded=6, trail=((4, 400.0), (6, 1_000.0)))
    found = tail.at_head(head, 1_000.0 + SHOWN_SECONDS - 1)
    assert (found.shown, found.floor, found.since) == (5, 5, 500.0)


def test_folded_items_stay_until_every_reader_has_them(
    table: MemoryTable, container: Container, later: Any
) -> None:
    commit(table, day(1, None, "x"))
    assert fold(table) == 1
    container.learn()
    later(SHOWN_SECONDS - 5)
    assert container.nums == [1]


def test_the_head_is_asked_beside_the_items(table: MemoryTable, container: Container, later: Any) -> None:
    commit(table, day(1, None, "x"))
    assert container.nums == [1]
    later(31)
    _, rounds, calls = container.read()
    assert (rounds, calls) == (1, ["get_item", "query"])


def test_a_container_that_was_idle_leaves_out_what_was_folded_meanwhile(
    table: MemoryTable, container: Container, later: Any
) -> None:
    """Its known end is far older, and the items since take several pages: it reads one of them, and then the waiting
    ones.
    """
    container.learn()
    text = Random(1)  # noqa: S311
    for num in range(1, 1_501):
        commit(table, day(num, None, f"{text.getrandbits(12_000):x}"))
    while fold(table):
        pass
    later(SHOWN_SECONDS + 40)
    commit(table, day(9_999, None, "x"))
    found, rounds, calls = container.read()
    assert sorted(found) == [9_999]
    assert (rounds, calls) == (2, ["get_item", "query", "query"])


@pytest.mark.parametrize("consistent", [True, False])
def test_all_that_waits_is_read_consistently_for_whom_the_first_page_was(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch, *, consistent: bool
) -> None:
    log, cache = log_of(table), BlockCache()
    learn(log, cache)
    commit(table, day(1, None, "x"))
    waiting = log.all_after(0)
    asked: list[bool] = []

    def all_after(_: Log, __: int, *, consistent: bool = True) -> Any:
        asked.append(consistent)
        return waiting

    monkeypatch.setattr(Log, "after", lambda *_, **__: Listing(more=True))
    monkeypatch.setattr(Log, "all_after", all_after)
    assert sorted(recent_moves(log, cache, tail_of(log, cache), consistent=consistent).moves) == [1]
    assert asked == [consistent]


def test_an_item_that_a_late_copy_of_the_table_lacks_is_read_again(
    table: MemoryTable, container: Container, later: Any
) -> None:
    commit(table, day(1, None, "x"))
    assert container.nums == [1]
    table.stale(lambda key, states: states if key[1] == derived_keys.journal_item(2) else 0)
    assert commit(table, day(2, None, "x")) == 2
    later(25)
    assert fold(table) == 2
    assert container.nums == [1]
    later(6)
    assert container.nums == [1, 2]
    table.stale(None)
    assert container.nums == [1, 2]


def test_kept_items_count_as_memory(table: MemoryTable) -> None:
    cache = BlockCache()
    before = cache.used
    commit(table, day(1, None, "x" * 500))
    read(table, cache)
    assert cache.used - before > 2_000
