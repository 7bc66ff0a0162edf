"""Writes of blocks: an unreadable one delays no other; an interrupted removal continues at its place."""

from collections.abc import Callable
from typing import Any

import pytest
from pyroaring import BitMap

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.strands import Pool
from devtools.proof.faults.watched import Attempted
from gridview.chains import block_writer
from gridview.chains.block_writer import BlockWriter, Impassable, Replay, Written, remove_family
from gridview.chains.blocks import FIRST, HEAD, Block, BlockChange, KeyChange, Unreadable, changed
from gridview.chains.fence_cache import Fences
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys
from gridview.encoding.fences import before
from gridview.encoding.sort_strings import sort_string
from gridview.support import concurrency
from gridview.support.errors import Overloaded

pytestmark = pytest.mark.usefixtures("no_pauses")

TENANT, PROJECT, FAMILY = "acme", "bridge", "a1.1"
DIRECTORY = derived_keys.directory(TENANT, PROJECT, FAMILY)
LEFT, RIGHT = (
    KeyChange("issue-1", FAMILY, sort_string("b", 1), True, number=7),
    KeyChange("issue-2", FAMILY, sort_string("x", 2), True, number=7),
)
"""A place in the first block, and one in the second."""


@pytest.fixture
def table() -> MemoryTable:
    """A chain of two blocks, cut before `m`."""
    table = MemoryTable()
    fence = before("m")
    for block in (
        Block(FAMILY, HEAD, FIRST, fence, "second", "w1", {}),
        Block(FAMILY, "second", fence, None, None, "w2", {}),
    ):
        table.put(block.to_item(TENANT, PROJECT))
    return table


def chains(table: Table, fences: Fences | None = None) -> BlockWriter:
    """As a fold up to 7 writes blocks."""
    return BlockWriter(table, TENANT, PROJECT, fences or Fences(), Replay(7, lambda _: ()))


def repairing(table: Table) -> BlockWriter:
    return BlockWriter(table, TENANT, PROJECT, Fences())


def spoil(table: MemoryTable, block_id: str) -> None:
    key = derived_keys.block(TENANT, PROJECT, FAMILY, block_id), DIRECTORY
    table.put({**table.items[key], "set": b"\x07"})


def members(table: MemoryTable, block_id: str) -> list[int]:
    item = table.items[derived_keys.block(TENANT, PROJECT, FAMILY, block_id), DIRECTORY]
    return list(Block.from_item(item).members)


@pytest.mark.parametrize(
    ("spoilt", "sound", "whole"), [(HEAD, RIGHT, "second"), ("second", LEFT, HEAD)], ids=["first", "second"]
)
def test_an_issue_with_no_place_in_a_block_that_cannot_be_read_is_written(
    table: MemoryTable, spoilt: str, sound: KeyChange, whole: str
) -> None:
    spoil(table, spoilt)
    writer = chains(table)
    failed = writer.read([LEFT, RIGHT])
    assert {issue: type(error) for issue, error in failed.items()} == {
        place.issue: Unreadable for place in (LEFT, RIGHT) if place is not sound
    }
    assert writer.write([sound]) == Written(frozenset(), {})
    assert members(table, whole) == [int(sound.issue[-1])]


def test_an_unreadable_block_is_bypassed_by_the_directory(
    table: MemoryTable,
) -> None:
    """Its link cannot be followed, so the directory is read."""
    spoil(table, HEAD)
    fences = Fences()
    fences.learn(DIRECTORY, [(FIRST, HEAD)])
    failed = chains(table, fences).read([LEFT, RIGHT])
    assert set(failed) == {LEFT.issue}


def test_an_issue_fails_once_for_all_its_places(table: MemoryTable) -> None:
    spoil(table, "second")
    both = [LEFT._replace(issue="issue-3"), RIGHT._replace(issue="issue-3")]
    assert set(chains(table).read([LEFT, *both])) == {"issue-3"}


def all_members(table: MemoryTable) -> list[int]:
    """The members of all blocks, which may have been merged."""
    return sorted(num for item in table.items.values() for num in Block.from_item(item).members)


def overtaking(table: MemoryTable, block_id: str, by: Callable[[], None], times: int = 99) -> Table:
    """The table, with an action just before each of so many writes of a block."""
    left = [True] * times

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if (
            attempted.writes
            and attempted.key[0] == derived_keys.block(TENANT, PROJECT, FAMILY, block_id)
            and left
        ):
            left.pop()
            by()
        return perform()

    return table.seen_through(around)


def rewrite(table: MemoryTable, block_id: str) -> Callable[[], None]:
    ids = iter(range(100))

    def again() -> None:
        key = derived_keys.block(TENANT, PROJECT, FAMILY, block_id), DIRECTORY
        table.put({**table.items[key], "write_id": f"other{next(ids)}"})

    return again


def test_a_block_that_is_spoilt_before_it_is_written_fails_only_its_issues(table: MemoryTable) -> None:
    def break_it() -> None:
        rewrite(table, "second")()
        spoil(table, "second")

    writer = chains(overtaking(table, "second", break_it, times=1))
    assert writer.read([LEFT, RIGHT]) == {}
    written = writer.write([LEFT, RIGHT])
    assert written.lost == frozenset()
    assert {issue: type(error) for issue, error in written.failed.items()} == {RIGHT.issue: Unreadable}
    assert members(table, HEAD) == [1]


def test_a_block_that_others_keep_writing_fails_only_its_issues(table: MemoryTable) -> None:
    writer = chains(overtaking(table, "second", rewrite(table, "second")))
    writer.read([LEFT, RIGHT])
    written = writer.write([LEFT, RIGHT])
    assert {issue: type(error) for issue, error in written.failed.items()} == {RIGHT.issue: Overloaded}
    assert members(table, HEAD) == [1]


def test_a_fold_that_loses_a_block_reads_it_again_and_goes_on(table: MemoryTable) -> None:
    writer = chains(overtaking(table, "second", rewrite(table, "second"), times=2))
    assert writer.read([LEFT, RIGHT]) == {}
    assert writer.write([LEFT, RIGHT]) == Written(frozenset(), {})
    assert all_members(table) == [1, 2]


def test_a_repair_that_loses_a_block_reports_its_issues_as_lost(table: MemoryTable) -> None:
    """The members of the block may have changed with its position."""
    writer = repairing(overtaking(table, "second", rewrite(table, "second"), times=1))
    assert writer.read([LEFT, RIGHT]) == {}
    assert writer.write([LEFT, RIGHT]) == Written(frozenset({RIGHT.issue}), {})
    assert all_members(table) == [1]


def test_a_plain_block_is_split_by_a_fold_and_by_no_repair(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ledgers may be ahead of the block: the fold knows the keys of its members as of its position."""
    for limit, small in (("PLAIN_KEYS", 4), ("MAX_BYTES", 40)):
        monkeypatch.setattr(f"gridview.chains.blocks.{limit}", small)
    there = [sort_string(f"{num:04d}", num) for num in range(1, 9)]
    plain = Block(FAMILY, HEAD, FIRST, before("m"), "second", "p1@5", None, BitMap(range(1, 9)))
    table.put(plain.to_item(TENANT, PROJECT))
    repairing(table).tidy([plain])
    assert members(table, HEAD) == list(range(1, 9))
    BlockWriter(table, TENANT, PROJECT, Fences(), Replay(7, lambda _: there)).tidy([plain])
    first = members(table, HEAD)
    assert first == list(range(1, len(first) + 1))
    assert 0 < len(first) < 8


def test_a_broken_chain_fails_only_the_issues_that_need_it(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_writer, "_MAX_HOPS", 6)
    table.delete(derived_keys.block(TENANT, PROJECT, FAMILY, "second"), DIRECTORY)
    failed = chains(table).read([LEFT, RIGHT])
    assert {issue: type(error) for issue, error in failed.items()} == {RIGHT.issue: Impassable}


def test_no_merge_takes_out_a_block_that_another_writer_has_just_changed(table: MemoryTable) -> None:
    def add() -> None:
        second = Block.from_item(
            table.items[derived_keys.block(TENANT, PROJECT, FAMILY, "second"), DIRECTORY]
        )
        table.put(changed(second, BlockChange(frozenset([RIGHT.key]))).to_item(TENANT, PROJECT))

    first = Block.from_item(table.items[derived_keys.block(TENANT, PROJECT, FAMILY, HEAD), DIRECTORY])
    repairing(overtaking(table, HEAD, add, times=1)).tidy([first])
    assert members(table, "second") == [2]
    repairing(table).tidy([first])
    assert all_members(table) == members(table, HEAD) == [2]


# Removing a family


@pytest.fixture
def long() -> MemoryTable:
    """A chain of 230 blocks, the last thirty of which are not in the index yet."""
    table = MemoryTable()
    ids = [HEAD, *(f"b{place:03d}" for place in range(1, 230))]
    fences = [FIRST, *(before(f"{place:03d}") for place in range(1, 230)), None]
    for place, block_id in enumerate(ids):
        if place == 200:
            table.lag()
        following = ids[place + 1] if place + 1 < len(ids) else None
        lower = fences[place]
        assert lower is not None
        block = Block(FAMILY, block_id, lower, fences[place + 1], following, f"w{place}", {})
        table.put(block.to_item(TENANT, PROJECT))
    return table


def left(table: MemoryTable) -> list[str]:
    return [pk.rpartition(".")[2] for pk, _ in table.items]


def seconds(*given: float) -> Callable[[], float]:
    clock = iter(given)
    return lambda: next(clock, 0.0)


def test_the_blocks_of_a_family_are_removed_in_rounds_and_not_one_by_one(long: MemoryTable) -> None:
    table = long.metered()
    assert remove_family(table, TENANT, PROJECT, FAMILY, lambda: 1.0)
    assert left(long) == []
    calls = [call.operation for call in table.meter.calls]
    assert calls.count("delete_item") == 230
    # The list, the blocks it names, and the thirty links beyond it.
    assert len(calls) - 230 <= 1 + 3 + 31


def test_a_removal_looks_at_the_clock_and_goes_on_the_next_time(long: MemoryTable) -> None:
    assert not remove_family(long, TENANT, PROJECT, FAMILY, seconds(1.0, 1.0))
    stopped = left(long)
    assert 0 < len(stopped) <= 230 - 30 - 2 * 50
    assert HEAD in stopped
    assert not remove_family(long, TENANT, PROJECT, FAMILY, seconds())
    assert left(long) == stopped
    assert remove_family(long, TENANT, PROJECT, FAMILY, lambda: 1.0)
    assert left(long) == []


@pytest.mark.parametrize("at", [1, 2, 5, 29, 30, 31, 60, 120, 229])
def test_a_removal_that_is_killed_leaves_nothing_that_the_next_does_not_find(
    long: MemoryTable, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    class Killed(BaseException):
        pass

    deletes = iter(range(1, 1000))

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes and next(deletes) == at:
            raise Killed
        return perform()

    monkeypatch.setattr(concurrency, "ThreadPoolExecutor", Pool)
    with pytest.raises(Killed):
        remove_family(long.seen_through(around), TENANT, PROJECT, FAMILY)
    assert len(left(long)) == 230 - at + 1
    assert remove_family(long, TENANT, PROJECT, FAMILY)
    assert left(long) == []
