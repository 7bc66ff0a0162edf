"""The findings and repairs of fsck in a journal."""

from collections.abc import Sequence
from typing import Any

import pytest

from devtools.operate.project_walk import ProjectWalk
from devtools.proof.faults.memory_table import MemoryTable
from gridview.encoding import derived_keys, keys
from gridview.fsck import journal_check
from gridview.fsck.checker import Check
from gridview.fsck.issue_diff import DifferenceKind
from gridview.fsck.progress import BY_HAND, Finding
from gridview.fsck.repairs import Repairs
from gridview.journal import items as journal
from gridview.journal.items import EXPIRES_DAYS
from gridview.schema.store import Catalogs
from gridview.support import clock, fold_pace
from tests.support.derived_project import PROJECT, TENANT, Derived, log_of, new_table

pytestmark = pytest.mark.usefixtures("no_pauses")

PARTITION = derived_keys.journal(TENANT, PROJECT)


@pytest.fixture
def derived() -> Derived:
    return Derived(new_table())


def checked(table: MemoryTable, *, repair: bool = False) -> list[Finding]:
    found: list[Finding] = []
    repairs = Repairs(table, Catalogs()) if repair else None
    check = Check(table, ProjectWalk(table, TENANT, PROJECT), found.append, patience=0, repair=repairs)
    while not check.done:
        check.step()
    return found


def named(found: Sequence[Finding]) -> list[tuple[str, str]]:
    """The kinds and numbers of the findings in the journal."""
    return [(str(one.kind), one.place) for some in found for one in some.differences if some.key == PARTITION]


def test_a_journal_in_use_has_no_fault(derived: Derived) -> None:
    derived.consume(1)
    log_of(derived.table).reserve(1)
    derived.consume(2)
    assert named(checked(derived.table)) == []
    derived.fold()
    assert named(checked(derived.table)) == []


def test_an_issue_is_sound_when_the_journal_contains_it_before_the_fold(derived: Derived) -> None:
    derived.consume(1)
    derived.consume(1, start="2023-06-01")
    derived.consume(2)
    assert checked(derived.table) == []


def test_an_issue_that_no_journal_item_contains_is_unfinished(derived: Derived) -> None:
    derived.consume(1)
    derived.consume(1, start="2023-06-01")
    derived.table.delete(PARTITION, derived_keys.journal_item(2))
    derived.table.delete(PARTITION, derived_keys.journal_mark(2))
    (wrong,) = (one for one in checked(derived.table) if one.key == keys.issue(TENANT, PROJECT, 1))
    assert "an unfinished intent" in [one.found for one in wrong.differences]


def test_an_item_that_waits_too_long_is_named_and_folded(derived: Derived, later: Any) -> None:
    derived.consume(1)
    derived.consume(2)
    later(journal_check.LATE + 1)
    assert named(checked(derived.table)) == [("unfolded", "1")]
    (repaired,) = [one for one in checked(derived.table, repair=True) if one.key == PARTITION]
    assert repaired.repaired
    assert log_of(derived.table).head().folded == 2
    assert checked(derived.table) == []
    derived.assert_chains()


def test_a_gap_that_the_fold_may_still_wait_for_is_no_fault(derived: Derived, later: Any) -> None:
    derived.consume(1)
    log_of(derived.table).reserve(1)
    derived.consume(2)
    later(fold_pace.LONGEST + 600)
    assert checked(derived.table) == []


def test_holes_and_items_without_marks_are_named_and_made_right(
    derived: Derived, later: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "FEW_ENTRIES", 0)
    table, log = derived.table, log_of(derived.table)
    hole = log.reserve(1)
    derived.consume(1)
    table.delete(PARTITION, derived_keys.journal_mark(2))
    derived.consume(2)
    later(journal_check.LATE + 1)
    assert named(checked(table)) == [("hole", str(hole)), ("unmarked", "2"), ("unfolded", "3")]
    (repaired,) = [one for one in checked(table, repair=True) if one.key == PARTITION]
    assert repaired.repaired
    assert (log.head().folded, list(log.head().emptied)) == (3, [hole])
    assert log.marked([2]) == {2}
    assert checked(table) == []


def test_a_hole_after_everything_is_named_once_the_fold_has_seen_it(derived: Derived, later: Any) -> None:
    log = log_of(derived.table)
    log.reserve(1)
    later(journal_check.LATE + 1)
    assert named(checked(derived.table)) == []
    log.release(clock.now())
    assert named(checked(derived.table)) == []
    later(journal_check.LATE + 1)
    assert named(checked(derived.table)) == [("hole", "1")]
    checked(derived.table, repair=True)
    assert log.head().folded == 1


def test_an_item_that_is_missing_before_its_expiry_is_named(derived: Derived, later: Any) -> None:
    for num in range(1, 5):
        derived.consume(num)
    derived.fold()
    derived.table.delete(PARTITION, derived_keys.journal_item(3))
    assert named(checked(derived.table)) == [("lost", "3")]
    (left,) = checked(derived.table, repair=True)
    assert (left.repaired, left.reason) == (False, BY_HAND)
    later((EXPIRES_DAYS - 1) * 86_400)
    assert named(checked(derived.table)) == []


def test_a_journal_without_a_head_is_named_and_nothing_else_is_asked(derived: Derived) -> None:
    derived.consume(1)
    derived.fold()
    derived.table.delete(PARTITION, derived_keys.FOLD)
    found = [one for one in checked(derived.table) if one.key == PARTITION]
    assert [one.kind for some in found for one in some.differences] == [DifferenceKind.HEADLESS]


@pytest.mark.parametrize("waiting", [False, True])
@pytest.mark.parametrize("folds_first", [False, True])
def test_a_block_that_cannot_be_read_is_rebuilt(derived: Derived, waiting: bool, folds_first: bool) -> None:
    """With anything that waits for it at the time, and with a fold that passes it before or after the repair."""
    table = derived.table
    derived.consume(1)
    derived.consume(2)
    derived.fold()
    spoilt = [key for key in table.items if derived_keys.is_block(key[0])]
    for key in spoilt[:2]:
        table.put({**table.items[key], "set": b"\x07"})
    if waiting:
        derived.consume(3)
        derived.consume(1, "2024-01-01")
    letters = derived.fold() if folds_first else []
    assert bool(letters) is (waiting and folds_first)
    checked(table, repair=True)
    derived.fold()
    assert checked(table) == []
    derived.assert_chains()
