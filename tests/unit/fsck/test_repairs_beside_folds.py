"""Repairs beside folds: ledgers are ahead of blocks, keep their intents, and folds run at any time."""

from collections.abc import Callable
from typing import Any

import pytest

from devtools.operate.project_walk import ProjectWalk
from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.project import SMALL
from devtools.proof.faults.watched import Attempted
from gridview.chains import blocks
from gridview.chains.blocks import HEAD, Block, BlockChange
from gridview.chains.fence_cache import Fences
from gridview.derive.families import NUMBERS
from gridview.dynamodb.errors import TransactionFailed
from gridview.dynamodb.expressions import put
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.sort_strings import sort_string
from gridview.fsck import journal_check
from gridview.fsck.block_membership import BlockMembership, Misplaced, SuspectKey
from gridview.fsck.chain_repair import Chain, straighten
from gridview.fsck.checker import Check, _reason
from gridview.fsck.issue_diff import Difference, DifferenceKind
from gridview.fsck.progress import BY_HAND, STUCK, Finding, Tally
from gridview.fsck.repair import repair_issues
from gridview.fsck.repairs import Repairs
from gridview.maintenance.stream_consumer import consume
from gridview.schema.store import Catalogs
from gridview.support.errors import Overloaded
from tests.support.derived_project import (
    PROJECT,
    TENANT,
    Derived,
    before,
    catalog_of,
    fold,
    log_of,
    new_table,
    puts_journal_item,
)
from tests.support.folds import no_poison

pytestmark = pytest.mark.usefixtures("no_pauses")

OLD, NEW = "2023-05-01", "2024-01-01"


@pytest.fixture
def derived() -> Derived:
    """Issues 1 to 3, folded."""
    made = Derived(new_table())
    for num in (1, 2, 3):
        made.consume(num, OLD)
    made.fold()
    return made


def make_small(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Let a few issues split blocks."""
    for name, small in SMALL[size].items():
        monkeypatch.setattr(f"gridview.{name}", small)


def membership(table: Table) -> BlockMembership:
    return BlockMembership(table, Fences(), TENANT, PROJECT)


def dates(table: MemoryTable) -> str:
    """The family of the field `start`."""
    (field,) = (one for one in catalog_of(table).attributes if one.id == "start")
    assert field.served is not None
    return field.served.order_id


def place(family: str, block_id: str = HEAD) -> tuple[str, str]:
    return derived_keys.block(TENANT, PROJECT, family, block_id), derived_keys.directory(
        TENANT, PROJECT, family
    )


def block_of(table: MemoryTable, family: str) -> Block:
    return Block.from_item(table.items[place(family)])


def lose(table: MemoryTable, *doubts: SuspectKey) -> None:
    """Remove these keys from their block."""
    for doubt in doubts:
        without = blocks.changed(block_of(table, doubt.family), BlockChange(remove=frozenset({doubt.key})))
        table.put(without.to_item(TENANT, PROJECT))


def in_numbers(num: int) -> SuspectKey:
    return SuspectKey(num, NUMBERS, sort_string("", num))


def in_dates(table: MemoryTable, num: int, date: str = OLD) -> SuspectKey:
    return SuspectKey(num, dates(table), sort_string(date, num))


def checked(table: Table, *, repair: bool = False) -> tuple[list[Finding], Tally]:
    found: list[Finding] = []
    repairs = Repairs(table, Catalogs()) if repair else None
    check = Check(table, ProjectWalk(table, TENANT, PROJECT), found.append, patience=0, repair=repairs)
    while not check.done:
        check.step()
    return found, check.tally


def kinds(findings: list[Finding], *, repaired: bool) -> set[DifferenceKind]:
    return {one.kind for some in findings if some.repaired is repaired for one in some.differences}


# Membership


def test_a_repair_that_loses_its_block_to_a_fold_is_carried_out_all_the_same(derived: Derived) -> None:
    table = derived.table
    lose(table, in_numbers(1), in_numbers(2))
    derived.consume(4, NEW)

    def is_the_block(attempted: Attempted) -> bool:
        return attempted.operation == "put" and attempted.key == place(NUMBERS)

    around = before(is_the_block, derived.fold)
    membership(table.seen_through(around)).amend([in_numbers(1), in_numbers(2)])
    assert list(block_of(table, NUMBERS).members) == [1, 2, 3, 4]
    derived.assert_chains()


def test_an_issue_that_waits_for_the_fold_is_judged_by_what_its_block_has_to_hold_until_then(
    derived: Derived,
) -> None:
    table = derived.table
    lose(table, in_numbers(1), in_dates(table, 1))
    derived.consume(1, NEW)
    doubts = [in_numbers(1), in_dates(table, 1), in_dates(table, 1, NEW)]
    judged = membership(table).judge(doubts, catalog_of(table))
    assert {one.suspect for one in judged.misplaced} == {in_numbers(1), in_dates(table, 1)}
    assert judged.unsettled == []
    membership(table).amend(doubts)
    assert membership(table).judge(doubts, catalog_of(table)) == ([], [])
    assert block_of(table, dates(table)).sets == {OLD: block_of(table, NUMBERS).members}
    derived.fold()
    derived.assert_chains()


def test_a_block_that_is_folded_beyond_the_watermark_is_judged_at_its_position(derived: Derived) -> None:
    table = derived.table
    derived.consume(1, NEW)
    log = log_of(table)
    stopped = table.seen_through(before(lambda one: one.operation == "update", _stop))
    with pytest.raises(_Stopped):
        fold(stopped)
    assert (block_of(table, dates(table)).position, log.head().folded) == (4, 3)
    doubts = [in_dates(table, 1), in_dates(table, 1, NEW)]
    assert membership(table).judge(doubts, catalog_of(table)) == ([], [])
    lose(table, in_dates(table, 1, NEW))
    expected = Misplaced(1, dates(table), sort_string(NEW, 1), HEAD, missing=True)
    assert membership(table).judge(doubts, catalog_of(table)).misplaced == [expected]
    membership(table).amend(doubts)
    derived.fold()
    derived.assert_chains()


class _Stopped(Exception):
    pass


def _stop() -> None:
    raise _Stopped


def test_an_issue_with_an_uncommitted_change_is_open(derived: Derived) -> None:
    table = derived.table
    lose(table, in_numbers(1))
    derived.consume(1, NEW)
    for sort_key in (derived_keys.journal_item(4), derived_keys.journal_mark(4)):
        table.delete(derived_keys.journal(TENANT, PROJECT), sort_key)
    before_it = table.items
    assert membership(table).judge([in_numbers(1)], catalog_of(table)) == ([], [in_numbers(1)])
    membership(table).amend([in_numbers(1)])
    assert table.items == before_it


def test_a_repair_that_is_open_is_counted_and_not_called_clean(derived: Derived) -> None:
    table = derived.table
    lose(table, in_numbers(1))
    ledger = keys.issue(TENANT, PROJECT, 1), derived_keys.LEDGER

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        found = perform()
        if attempted.operation == "batch_get" and ledger in attempted.keys:
            item = table.items[ledger]  # another user writes the issue at each look
            table.put({**item, "revision": item["revision"] + 1})
        return found

    found, tally = checked(table.seen_through(around))
    assert (found, tally.wrong) == ([], 0)
    assert tally.unsettled == 1
    found, _ = checked(table)
    assert kinds(found, repaired=False) == {DifferenceKind.UNLISTED}


def test_a_chain_that_begins_again_is_folded_up_to_the_watermark(derived: Derived) -> None:
    """Otherwise a fold that began before would put back older changes."""
    table = derived.table
    table.delete(*place(NUMBERS))
    membership(table).amend([in_numbers(1), in_numbers(2), in_numbers(3)])
    assert (block_of(table, NUMBERS).position, list(block_of(table, NUMBERS).members)) == (3, [1, 2, 3])


def test_a_chain_that_changes_at_each_look_is_counted_and_not_called_clean(
    derived: Derived, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = derived.table
    family = dates(table)
    table.put({**table.items[place(family)], "upper": "2024", "next": "gone"})

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "get" and attempted.key == place(family):
            table.put(blocks.touched(block_of(table, family)).to_item(TENANT, PROJECT))
        return perform()

    found, tally = checked(table.seen_through(around))
    assert (found, tally.wrong, tally.unsettled) == ([], 0, 1)
    assert kinds(checked(table)[0], repaired=False) == {DifferenceKind.CHAIN}


def test_entries_of_a_late_item_of_a_lost_ledger_are_found_and_removed(derived: Derived) -> None:
    """It commits a change that no ledger intends any more, and the repair of the issue does not know of it."""
    table = derived.table
    late: list[Callable[[], Any]] = []

    def keep_item(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if puts_journal_item(attempted):
            late.append(perform)
            raise Overloaded("The table is busy; try again.")
        return perform()

    issue, partition = keys.issue(TENANT, PROJECT, 1), keys.project(TENANT, PROJECT)
    was = table.items[issue, partition]
    (field,) = (one.key for one in catalog_of(table).attributes if one.id == "start")
    edited = {**was, "version": 2, "fields": {**was["fields"], field: NEW}}
    through = table.seen_through(keep_item)
    assert consume(through, Catalogs(), [record(1, was, edited)], no_poison) is not None
    table.delete(issue, derived_keys.LEDGER)
    assert repair_issues(table, Catalogs(), {issue: 0}) == {issue: True}
    late[0]()
    log_of(table).mark(4)
    derived.fold()
    assert membership(table).judge([in_dates(table, 1, NEW)], catalog_of(table)).misplaced
    found, tally = checked(table, repair=True)
    assert kinds(found, repaired=True) == {DifferenceKind.STRAY}
    assert (tally.wrong, tally.unsettled) == (0, 0)
    derived.assert_chains()


# A fold meets a repair


@pytest.mark.parametrize("damage", ["unreadable", "gone"])
def test_a_fold_that_has_read_a_damaged_chain_does_not_move_the_watermark_past_its_repair(
    derived: Derived, damage: str
) -> None:
    """A part that it passed over, or wrote to a block that is gone, is folded once more."""
    table = derived.table
    derived.consume(4, NEW)
    letters: list[Any] = []
    if damage == "unreadable":
        table.put({**table.items[place(NUMBERS)], "set": b"\x07"})

    def repaired() -> None:
        if damage == "gone":
            table.delete(*place(NUMBERS))
        straighten(Chain(table, TENANT, PROJECT, NUMBERS), Fences())
        membership(table).amend([in_numbers(num) for num in (1, 2, 3, 4)])
        assert list(block_of(table, NUMBERS).members) == [1, 2, 3]

    def moves_the_watermark(attempted: Attempted) -> bool:
        return attempted.operation == "update" and attempted.key[1] == derived_keys.FOLD

    fold(table.seen_through(before(moves_the_watermark, repaired)), letters.append)
    assert log_of(table).head().folded == 3
    derived.fold()
    derived.assert_chains()


def fill_small_blocks(derived: Derived, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fold four more issues into small blocks."""
    make_small(monkeypatch, 0)
    for num in range(4, 8):
        derived.consume(num, f"2024-02-{num:02d}")
    derived.fold()


def test_a_fold_that_passed_over_a_block_begins_again_once_the_block_is_replaced(
    derived: Derived, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = derived.table
    fill_small_blocks(derived, monkeypatch)
    family = dates(table)
    derived.consume(1, "2024-02-07")
    last = next(
        key for key, item in table.items.items() if key[1] == place(family)[1] and "upper" not in item
    )
    assert last != place(family)
    table.put({**table.items[last], "set": b"\x07"})

    def moves_the_watermark(attempted: Attempted) -> bool:
        return attempted.operation == "update" and attempted.key[1] == derived_keys.FOLD

    def repaired() -> None:
        straighten(Chain(table, TENANT, PROJECT, family), Fences())

    letters: list[Any] = []
    fold(table.seen_through(before(moves_the_watermark, repaired)), letters.append)
    assert letters
    assert log_of(table).head().folded == 7
    derived.fold()
    assert checked(table, repair=True)[1].wrong == 0
    derived.assert_chains()


def test_a_gap_is_filled_at_the_watermark_or_not_at_all(derived: Derived) -> None:
    table = derived.table
    log = log_of(table)
    head = log.head()
    derived.consume(4)
    derived.fold()
    other = block_of(table, NUMBERS)
    with pytest.raises(TransactionFailed):
        table.transact([put(other.to_item(TENANT, PROJECT)), log.rechaining(head)])
    table.transact([put(other.to_item(TENANT, PROJECT)), log.rechaining(log.head())])


def test_without_a_head_no_chain_begins(derived: Derived) -> None:
    derived.table.delete(derived_keys.journal(TENANT, PROJECT), derived_keys.FOLD)
    with pytest.raises(Overloaded):
        log_of(derived.table).rechain()


def test_a_plain_block_that_is_far_too_large_is_split_by_ledgers_and_journal(
    derived: Derived, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = derived.table
    monkeypatch.setattr(blocks, "DETAILED_BODIES", 1)
    for num in range(4, 14):
        derived.consume(num, f"2024-02-{num:02d}")
    derived.fold()
    derived.consume(4, NEW)  # waits, and its ledger is ahead of the block
    make_small(monkeypatch, 1)
    family = dates(table)
    straighten(Chain(table, TENANT, PROJECT, family), Fences())
    assert len([key for key in table.items if key[1] == place(family)[1]]) > 2
    derived.fold()
    derived.assert_chains()
    assert checked(table)[0] == []


# Reports


def test_changes_after_a_gap_are_folded_once_the_gap_is_filled(
    derived: Derived, monkeypatch: pytest.MonkeyPatch, later: Any
) -> None:
    table = derived.table
    fill_small_blocks(derived, monkeypatch)
    assert len([key for key in table.items if key[1] == place(dates(table))[1]]) > 1
    table.delete(
        *next(key for key in table.items if key[1] == place(dates(table))[1] and key != place(dates(table)))
    )
    derived.consume(1, "2024-02-05")
    derived.consume(2, "2024-02-06")
    derived.consume(3, "2024-02-07")
    later(journal_check.LATE + 1)
    assert DifferenceKind.UNFOLDED in kinds(checked(table)[0], repaired=False)
    found, tally = checked(table, repair=True)
    assert kinds(found, repaired=False) == set()
    assert {DifferenceKind.UNFOLDED, DifferenceKind.CHAIN} <= kinds(found, repaired=True)
    assert (tally.wrong, tally.unsettled) == (0, 0)
    assert checked(table)[0] == []
    derived.assert_chains()


def test_a_stuck_fold_has_its_own_reason(
    derived: Derived, monkeypatch: pytest.MonkeyPatch, later: Any
) -> None:
    derived.consume(4)
    later(journal_check.LATE + 1)
    monkeypatch.setattr(Repairs, "fold", lambda *_: None)
    found, tally = checked(derived.table, repair=True)
    (left,) = (one for one in found if not one.repaired)
    assert (left.reason, [one.kind for one in left.differences]) == (STUCK, [DifferenceKind.UNFOLDED])
    assert tally.wrong == 1


def test_a_lost_item_is_named_once_beside_a_stuck_fold(
    derived: Derived, monkeypatch: pytest.MonkeyPatch, later: Any
) -> None:
    for num in (1, 2, 3):
        derived.consume(num)
    derived.fold()
    derived.table.delete(derived_keys.journal(TENANT, PROJECT), derived_keys.journal_item(2))
    derived.consume(4)
    later(journal_check.LATE + 1)
    monkeypatch.setattr(Repairs, "fold", lambda *_: None)
    found, _ = checked(derived.table, repair=True)
    assert sorted(
        (one.reason, [each.kind for each in one.differences]) for one in found if not one.repaired
    ) == [
        (BY_HAND, [DifferenceKind.LOST]),
        (STUCK, [DifferenceKind.UNFOLDED]),
    ]


def test_a_block_that_is_half_repaired_is_reported_as_both(
    derived: Derived, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = derived.table
    lose(table, in_numbers(1), in_numbers(2))
    amend = BlockMembership.amend

    def half(self: BlockMembership, doubts: Any) -> None:
        amend(self, [one for one in doubts if one.num != 2])

    monkeypatch.setattr(BlockMembership, "amend", half)
    found, tally = checked(table, repair=True)
    reported = {(some.repaired, one.key[-1]) for some in found for one in some.differences}
    assert reported == {(True, "1"), (False, "2")}
    assert (tally.repaired, tally.wrong) == (1, 1)


def test_a_repair_that_wakes_late_leaves_what_another_has_repaired(derived: Derived) -> None:
    table = derived.table
    ledger = keys.issue(TENANT, PROJECT, 1), derived_keys.LEDGER
    table.put({**table.items[ledger], "applied": "nothing"})
    repaired: list[Any] = []

    def another() -> None:
        assert repair_issues(table, Catalogs(), {ledger[0]: 0}) == {ledger[0]: True}
        repaired.append(table.items[ledger])

    late = table.seen_through(before(lambda one: one.operation == "delete", another))
    repair_issues(late, Catalogs(), {ledger[0]: 0})
    assert [table.items[ledger]] == repaired
    derived.fold()
    assert checked(table)[0] == []


def test_a_difference_of_a_later_writer_has_no_reason() -> None:
    derived, stranger = (
        Difference("issue", kind, "place") for kind in (DifferenceKind.LEDGER, DifferenceKind.UNKNOWN)
    )
    assert _reason(False, [derived, stranger]) is None
    assert "an operator" in (_reason(False, [stranger]) or "")
