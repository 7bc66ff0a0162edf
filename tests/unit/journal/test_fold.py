"""The fold: blocks follow the journal, past no hole, and apply no item at or below their position again."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.chains import blocks
from gridview.chains.block_writer import BlockWriter, Replay
from gridview.chains.blocks import FIRST, HEAD, Block, KeyChange
from gridview.chains.fence_cache import Fences
from gridview.derive.images import Poison
from gridview.derive.issue_changes import FamilyChange, IssueChange
from gridview.encoding import derived_keys, keys
from gridview.encoding.fences import before as before_body
from gridview.encoding.sort_strings import sort_string
from gridview.journal import items as journal
from gridview.journal import replay
from gridview.journal.items import JournalItem
from gridview.support.errors import Overloaded
from tests.support.block_truth import chain
from tests.support.derived_project import (
    PROJECT,
    TENANT,
    before,
    catalog_of,
    fold,
    log_of,
    members,
    new_table,
    positions,
)

pytestmark = pytest.mark.usefixtures("no_pauses")

KIND = "a2.1b"
_A, _B = "a", "b"


@pytest.fixture
def table() -> MemoryTable:
    return new_table()


def moved(num: int, left: str | None, to: str | None, family: str = KIND) -> IssueChange:
    strings = tuple(sort_string(one, num) for one in (left,) if one is not None)
    move = FamilyChange(strings, None if to is None else sort_string(to, num))
    return IssueChange(num, 1, removed=False, revision=1, moves={family: move})


def log(table: MemoryTable, *changes: IssueChange) -> int:
    """Commit a batch with these changes, and confirm its sort entries."""
    own = log_of(table)
    number = own.reserve(len(changes))
    assert own.put(number, changes) is not None
    own.mark(number)
    return number


def writes_block(attempted: Attempted) -> bool:
    return attempted.writes and derived_keys.is_block(attempted.key[0])


def block_writes(table: MemoryTable) -> tuple[list[str], Callable[..., Any]]:
    """The write ids of put blocks, and a recorder of them."""
    written: list[str] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if writes_block(attempted) and attempted.item is not None:
            written.append(attempted.item["write_id"])
        return perform()

    return written, around


def test_many_batches_make_one_write_of_a_block(table: MemoryTable) -> None:
    for num in range(1, 11):
        log(table, moved(num, None, _A))
        log(table, moved(num, _A, _B))
    written, around = block_writes(table)
    assert fold(table.seen_through(around)) == 20
    assert len(written) == 1
    assert members(table, KIND) == {_B: list(range(1, 11))}
    assert positions(table, KIND) == [20]
    assert log_of(table).head().folded == 20


def test_a_folded_item_is_not_folded_again(table: MemoryTable) -> None:
    log(table, moved(1, None, _A))
    assert fold(table) == 1
    written, around = block_writes(table)
    assert fold(table.seen_through(around)) == 0
    assert written == []


def test_a_fold_that_loses_a_block_applies_nothing_up_to_its_position(table: MemoryTable) -> None:
    """A fold up to 1 meets one that has reached 2, and does not put item 1 over item 2."""
    log(table, moved(1, None, _A))

    def further() -> None:
        log(table, moved(1, _A, _B))
        assert fold(table) == 2

    assert fold(table.seen_through(before(writes_block, further))) == 1
    assert members(table, KIND) == {_B: [1]}
    assert positions(table, KIND) == [2]
    assert log_of(table).head().folded == 2


def test_no_hole_is_passed_while_its_batch_may_still_come(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "PATIENCE", 60.0)
    own = log_of(table)
    late = own.reserve(1)
    log(table, moved(2, None, _B))
    assert fold(table) == 0
    assert own.put(late, [moved(1, None, _A)]) is not None
    own.mark(late)
    assert fold(table) == 2
    assert members(table, KIND) == {_A: [1], _B: [2]}


def test_a_hole_is_closed_in_the_end_and_its_batch_comes_too_late(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "PATIENCE", -1.0)
    own = log_of(table)
    late = own.reserve(1)
    log(table, moved(2, None, _B))
    assert fold(table) == 2
    assert own.put(late, [moved(1, None, _A)]) is None
    assert list(own.head().emptied) == [late]
    assert members(table, KIND) == {_B: [2]}


def test_an_item_without_its_mark_gets_its_sort_entries_before_it_is_passed(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "FEW_ENTRIES", 0)
    own = log_of(table)
    number = own.reserve(1)
    assert own.put(number, [moved(1, None, "2023-05-01", "a1.1")]) is not None
    assert fold(table) == 0
    monkeypatch.setattr(replay, "PATIENCE", -1.0)
    assert fold(table) == 1
    entry = table.get(keys.issue(TENANT, PROJECT, 1), derived_keys.order(TENANT, PROJECT, "a1.1"))
    assert entry is not None
    assert entry[keys.SORT] == sort_string("2023-05-01", 1)
    assert own.marked([number]) == {number}


def test_an_item_of_few_sort_entries_is_passed_once_they_are_there(table: MemoryTable) -> None:
    own = log_of(table)
    number = own.reserve(1)
    assert own.put(number, [moved(1, None, "2023-05-01", "a1.1")]) is not None
    assert fold(table) == 1
    entry = table.get(keys.issue(TENANT, PROJECT, 1), derived_keys.order(TENANT, PROJECT, "a1.1"))
    assert entry is not None
    assert entry[keys.SORT] == sort_string("2023-05-01", 1)
    assert own.marked([number]) == frozenset()


def test_an_item_with_only_orders_without_entries_needs_no_mark(table: MemoryTable) -> None:
    own = log_of(table)
    number = own.reserve(1)
    assert own.put(number, [moved(1, None, _A)]) is not None
    assert fold(table) == 1
    assert table.get(keys.issue(TENANT, PROJECT, 1), derived_keys.order(TENANT, PROJECT, KIND)) is None
    assert own.marked([number]) == frozenset()


def test_a_block_that_cannot_be_read_is_reported_and_stops_nothing_else(table: MemoryTable) -> None:
    log(table, moved(1, None, _A))
    assert fold(table) == 1
    log(table, moved(1, _A, _B), moved(2, None, _A), moved(1, None, "2023-05-01", "a1.1"))
    key = derived_keys.block(TENANT, PROJECT, KIND, HEAD), derived_keys.directory(TENANT, PROJECT, KIND)
    table.put({**table.items[key], "set": b"\x07"})
    letters: list[Poison] = []
    assert fold(table, letters.append) == 1
    ((issue, version, error),) = letters
    assert (issue, version) == (keys.issue(TENANT, PROJECT, 1), 0)
    assert KIND in error
    assert log_of(table).head().folded == 2
    assert members(table, "a1.1") == {"2023-05-01": [1]}
    assert fold(table) == 0


def test_the_watermark_stays_where_others_keep_changing_a_block(table: MemoryTable) -> None:
    log(table, moved(1, None, _A))
    assert fold(table) == 1
    log(table, moved(1, _A, _B))
    (block,) = chain(table, catalog_of(table), KIND)

    def restless(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if writes_block(attempted):
            table.put(blocks.touched(block).to_item(TENANT, PROJECT))
        return perform()

    with pytest.raises(Overloaded):
        fold(table.seen_through(restless))
    assert log_of(table).head().folded == 1


def test_a_family_that_is_no_longer_written_is_not_created(table: MemoryTable) -> None:
    log(table, moved(1, None, _A, "a9.1"))
    assert fold(table) == 1
    assert chain(table, catalog_of(table), "a9.1") == []


@pytest.mark.parametrize(
    ("up_to", "position", "count"),
    [(None, 4, 1), (None, 6, 2), (10, 6, 1), (10, 11, 2)],
    ids=["alike", "apart, and no fold", "apart, and nothing waits between", "after the fold"],
)
def test_two_blocks_become_one_if_both_say_the_same_of_the_journal(
    table: MemoryTable, up_to: int | None, position: int, count: int
) -> None:
    first = Block(KIND, HEAD, FIRST, "m", "two", "d1@4", {})
    for block in (first, Block(KIND, "two", "m", None, None, f"d2@{position}", {})):
        table.put(block.to_item(TENANT, PROJECT))
    replay = None if up_to is None else Replay(up_to, lambda _: ())
    BlockWriter(table, TENANT, PROJECT, Fences(), replay).tidy([first])
    found = chain(table, catalog_of(table), KIND)
    assert len(found) == count
    if count == 1:
        assert found[0].position == position


def test_a_block_gets_all_that_waits_between_its_fences(table: MemoryTable) -> None:
    """Also a key that was looked up in the former block before a split: the position would claim that it is there."""
    fence = before_body("m")
    for block in (
        Block(KIND, HEAD, FIRST, fence, "two", "d1@4", {}),
        Block(KIND, "two", fence, None, None, "d2@4", {}),
    ):
        table.put(block.to_item(TENANT, PROJECT))
    changes = [KeyChange(f"issue-{num}", KIND, sort_string("x", num), True, number=8) for num in (1, 2)]
    writer = BlockWriter(table, TENANT, PROJECT, Fences(), Replay(10, lambda _: ()))
    assert writer.read(changes) == {}
    writer._located[KIND, changes[0].key] = KIND, HEAD
    writer._blocks[KIND, HEAD] = Block(KIND, HEAD, FIRST, None, None, "d0@3", {})
    assert writer.write(changes).failed == {}
    assert members(table, KIND) == {"x": [1, 2]}


def test_a_repair_keeps_the_position_of_a_block(table: MemoryTable) -> None:
    log(table, moved(1, None, _A))
    fold(table)
    (block,) = chain(table, catalog_of(table), KIND)
    assert blocks.touched(block).position == 1
    assert blocks.fitted(block, None, None).position == 1
    assert blocks.changed(block, blocks.BlockChange(frozenset((sort_string(_B, 2),)))).position == 1
    assert [one.position for one in blocks.split(block)] == [1]


def test_a_fold_continues_after_a_full_page_of_the_journal(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gridview.journal.fold.MOST", 2)
    for num in range(1, 6):
        log(table, moved(num, None, _A))
    assert [fold(table) for _ in range(4)] == [2, 2, 1, 0]
    assert members(table, KIND) == {_A: [1, 2, 3, 4, 5]}


def test_a_head_that_another_fold_has_moved_is_not_overwritten(table: MemoryTable) -> None:
    own = log_of(table)
    head = own.head()
    assert own.advance(head, [JournalItem(own.reserve(0), 0.0)], 0.0) is not None
    assert own.advance(head, [JournalItem(own.reserve(0), 0.0)], 0.0) is None
    assert own.head().folded == 1
    head = own.head()
    assert own.advance(replace(head, folded=0), [JournalItem(head.last, 0.0)], 0.0) is None
    assert own.head() == head
