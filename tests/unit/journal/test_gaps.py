"""Numbers without an item: the ones missing too long, and that the consumer's reads empty them."""

from collections.abc import Callable
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.derive.issue_changes import IssueChange
from gridview.journal.gaps import MISSING_SECONDS, Gaps, first_missing, overdue
from gridview.journal.items import JournalItem
from gridview.support import clock
from tests.support.derived_project import log_of, new_table

NOW = 1_700_000_000.0
CHANGE = IssueChange(1, 1, removed=False, revision=1, moves={}, before=0)


def items(**made: float) -> list[JournalItem]:
    """Items by their numbers, made so many seconds ago."""
    return [JournalItem(int(number[1:]), NOW - ago, (CHANGE,)) for number, ago in made.items()]


def test_the_first_missing_number_is_the_first_that_no_item_has() -> None:
    assert first_missing(0, []) == 1
    assert first_missing(4, items(n5=0, n6=0, n8=0)) == 7


def test_a_number_is_overdue_some_seconds_after_a_later_item() -> None:
    young, old = MISSING_SECONDS - 0.1, MISSING_SECONDS
    assert overdue(4, [], NOW) == []
    assert overdue(4, items(n5=old, n6=old), NOW) == []
    assert overdue(4, items(n6=young), NOW) == []
    assert overdue(4, items(n6=old), NOW) == [5]
    assert overdue(4, items(n3=old, n6=young), NOW) == []  # an earlier item says nothing of it
    # The writer of 7 took its number before 9 was put.
    assert overdue(4, items(n5=old, n8=young, n9=old), NOW) == [6, 7]
    assert overdue(4, items(n6=old, n9=young), NOW) == [5]


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> MemoryTable:
    monkeypatch.setattr(clock, "seconds", lambda: NOW)
    return new_table()


def test_a_look_empties_what_was_left(table: MemoryTable, monkeypatch: pytest.MonkeyPatch) -> None:
    log, gaps = log_of(table), Gaps()
    log.put(log.reserve(1), [CHANGE])
    left, taken = log.reserve(1), log.reserve(1)
    log.put(taken, [CHANGE])
    gaps.close(log, log.head())
    assert log.item(left) is None
    monkeypatch.setattr(clock, "seconds", lambda: NOW + MISSING_SECONDS)
    gaps.close(log, log.head())
    assert log.item(left) == JournalItem(left, NOW + MISSING_SECONDS)
    assert log.put(left, [CHANGE]) is None  # too late


def test_the_last_number_is_left_to_its_writer(table: MemoryTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """No writer waits for it: there is nothing after it."""
    log = log_of(table)
    last = log.reserve(1)
    monkeypatch.setattr(clock, "seconds", lambda: NOW + 10 * MISSING_SECONDS)
    Gaps().close(log, log.head())
    assert log.item(last) is None


def test_a_range_without_gaps_is_not_read_again(table: MemoryTable) -> None:
    read: list[Attempted] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        read.append(attempted)
        return perform()

    log, watched, gaps = log_of(table), log_of(table.seen_through(around)), Gaps()
    for _ in range(3):
        log.put(log.reserve(1), [CHANGE])
    head = log.head()
    gaps.close(watched, head)
    assert [one.consistent for one in read] == [False]
    gaps.close(watched, head)
    assert len(read) == 1
    log.put(log.reserve(1), [CHANGE])
    gaps.close(watched, log.head())
    assert len(read) == 2


def test_a_project_that_was_made_again_is_checked_from_its_beginning(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    gaps, log = Gaps(), log_of(table)
    for _ in range(5):
        log.put(log.reserve(1), [CHANGE])
    gaps.close(log, log.head())
    second = log_of(new_table())
    left, taken = second.reserve(1), second.reserve(1)
    second.put(taken, [CHANGE])
    monkeypatch.setattr(clock, "seconds", lambda: NOW + MISSING_SECONDS)
    gaps.close(second, second.head())
    assert second.item(left) is not None
