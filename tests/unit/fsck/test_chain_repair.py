"""A chain is made passable again, link by link. No key that a block still has is lost on the way."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pyroaring import BitMap

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.chains import blocks
from gridview.chains.blocks import FIRST, HEAD, Block
from gridview.chains.fence_cache import Fences
from gridview.encoding import derived_keys
from gridview.encoding.fences import before
from gridview.fsck.chain_repair import Chain, straighten
from gridview.journal.items import new_head
from gridview.support import backoff
from gridview.support.errors import Overloaded

pytestmark = pytest.mark.usefixtures("no_pauses")

TENANT, PROJECT, FAMILY = "acme", "bridge", "a1.1"
DIRECTORY = derived_keys.directory(TENANT, PROJECT, FAMILY)
G, M, T = before("g"), before("m"), before("t")

ONE = Block(FAMILY, HEAD, FIRST, G, "two", "d1", {"a": BitMap([1])})
TWO = Block(FAMILY, "two", G, M, "three", "d2", {"h": BitMap([2])})
THREE = Block(FAMILY, "three", M, None, None, "d3", {"p": BitMap([3])})

Row = tuple[str, str, str | None, str | None, list[int]]


def place(block_id: str) -> tuple[str, str]:
    return derived_keys.block(TENANT, PROJECT, FAMILY, block_id), DIRECTORY


def stored(*chain: Block) -> MemoryTable:
    table = MemoryTable()
    table.put(new_head(TENANT, PROJECT))
    for block in chain:
        table.put(block.to_item(TENANT, PROJECT))
    return table


def straightened(table: MemoryTable, around: Callable[[Attempted, Callable[[], Any]], Any]) -> None:
    straighten(Chain(table.seen_through(around), TENANT, PROJECT, FAMILY), Fences())


def quietly(attempted: Attempted, perform: Callable[[], Any]) -> Any:
    return perform()


def chain_in(table: MemoryTable) -> list[Block]:
    """The blocks in order."""
    found = (Block.from_item(item) for key, item in table.items.items() if key[1] == DIRECTORY)
    return sorted(found, key=lambda one: one.lower)


def rows(table: MemoryTable) -> list[Row]:
    """The blocks in order: id, fences, link and issues. A block that fills a gap is called "gap"."""
    known = {HEAD, "two", "three", "twin"}
    names = {one.id: one.id if one.id in known else "gap" for one in chain_in(table)}
    return [
        (names[one.id], one.lower, one.upper, names.get(one.next or "", one.next), list(one.members))
        for one in chain_in(table)
    ]


WHOLE: list[Row] = [
    (HEAD, FIRST, G, "two", [1]),
    ("two", G, M, "three", [2]),
    ("three", M, None, None, [3]),
]
GAP: list[Row] = [(HEAD, FIRST, G, "gap", [1]), ("gap", G, M, "three", []), WHOLE[2]]
"""Without the second block."""
END: list[Row] = [WHOLE[0], ("two", G, M, "gap", [2]), ("gap", M, None, None, [])]
"""Without the third."""


def test_a_sound_chain_is_read_and_left_as_it_is() -> None:
    table = stored(ONE, TWO, THREE)
    operations = set()

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        operations.add(attempted.writes)
        return perform()

    before_it = table.items
    straightened(table, around)
    assert table.items == before_it
    assert operations == {False}


def test_a_chain_without_blocks_stays_without() -> None:
    table = stored()
    straightened(table, quietly)
    assert table.items == stored().items


@pytest.mark.parametrize(
    ("chain", "right"),
    [
        ((ONE, THREE), GAP),
        ((ONE, TWO), END),
        ((TWO, THREE), [(HEAD, FIRST, G, "two", []), *WHOLE[1:]]),
        ((replace(ONE, upper=M, next="three"), TWO, THREE), WHOLE),
        ((replace(ONE, next="three"), TWO, THREE), WHOLE),
        ((ONE, replace(TWO, next="two"), THREE), WHOLE),
        (
            (ONE, TWO, replace(THREE, upper=T, next=HEAD)),
            [*WHOLE[:2], ("three", M, T, "gap", [3]), ("gap", T, None, None, [])],
        ),
        ((replace(ONE, lower=before("a")), TWO, THREE), WHOLE),
        ((ONE, TWO, replace(THREE, id="twin", lower=G), THREE), None),
        ((ONE, TWO, replace(THREE, lower=FIRST)), END),
    ],
    ids=[
        "a gap",
        "no last block",
        "no first block",
        "an upper fence over the next block",
        "a link past a block",
        "a link in a circle",
        "a link after the last block",
        "a first block that begins late",
        "two blocks with one fence",
        "another block where the first begins",
    ],
)
def test_fences_and_links_are_brought_together(chain: tuple[Block, ...], right: list[Row] | None) -> None:
    table = stored(*chain)
    straightened(table, quietly)
    found = rows(table)
    if right is None:  # either of the two may stay
        assert len(found) == 3
        assert found[1][:2] in {("two", G), ("twin", G)}
    else:
        assert found == right
    assert [found[0][0], found[0][1], found[-1][2], found[-1][3]] == [HEAD, FIRST, None, None]
    assert [(one[2], one[3]) for one in found[:-1]] == [(one[1], one[0]) for one in found[1:]]
    again = table.items
    straightened(table, quietly)
    assert table.items == again


def test_a_last_block_without_an_upper_fence_links_to_none() -> None:
    table = stored(ONE, TWO, THREE)
    table.put({**table.items[place("three")], "next": HEAD})
    straightened(table, quietly)
    assert rows(table) == WHOLE


@pytest.mark.parametrize(
    "spoilt", [{"set": b"\x07"}, {"set": "text"}, {"write_id": None}], ids=["set", "text", "write id"]
)
def test_a_block_that_cannot_be_read_is_taken_out(spoilt: dict[str, Any]) -> None:
    table = stored(ONE, TWO, THREE)
    item = {**table.items[place("two")], **spoilt}
    table.put({name: value for name, value in item.items() if value is not None})
    straightened(table, quietly)
    assert rows(table) == GAP


@pytest.mark.parametrize(
    ("chain", "at", "fences"),
    [((ONE, THREE), 1, (G, M)), ((ONE, TWO), 2, (M, None))],
    ids=["between", "after all"],
)
def test_a_gap_gets_a_block_that_is_folded_up_to_the_watermark(
    chain: tuple[Block, ...], at: int, fences: tuple[str, str | None]
) -> None:
    """A neighbour may be folded further, and would never get the changes in between."""
    ahead = tuple(replace(block, write_id=f"{block.write_id}@9") for block in chain)
    table = stored(*ahead)
    table.put({**new_head(TENANT, PROJECT), "last": 9, "folded": 4})
    straightened(table, quietly)
    found = chain_in(table)
    assert (found[at].lower, found[at].upper) == fences
    assert (found[at].position, list(found[at].members)) == (4, [])
    assert [one.position for one in found if one is not found[at]] == [9, 9]
    assert [(one.upper, one.next) for one in found[:-1]] == [(one.lower, one.id) for one in found[1:]]
    assert (found[0].id, found[-1].upper, found[-1].next) == (HEAD, None, None)
    again = table.items
    straightened(table, quietly)
    assert table.items == again


def test_a_straightened_block_has_its_own_size_and_only_keys_between_its_fences() -> None:
    strayed = replace(TWO, sets={"a": BitMap([7]), "h": BitMap([2])})
    table = stored(ONE, strayed, THREE)
    table.put({**table.items[place(HEAD)], "size": 9})
    straightened(table, quietly)
    assert rows(table) == WHOLE
    assert table.items[place(HEAD)]["size"] == 1
    assert table.items[place(HEAD)]["write_id"] != ONE.write_id


def test_a_block_that_is_far_too_large_is_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_BYTES", 120)
    bodies = {f"h{at:03d}": BitMap([at]) for at in range(1, 20)}
    table = stored(ONE, replace(TWO, sets=bodies), THREE)
    straightened(table, quietly)
    found = rows(table)
    assert len(found) > 3
    assert [num for row in found[1:-1] for num in row[4]] == list(range(1, 20))
    assert [(one[2], one[3]) for one in found[:-1]] == [(one[1], one[0]) for one in found[1:]]


def test_a_lost_race_begins_again_with_what_the_other_has_written() -> None:
    table = stored(ONE, THREE)
    other = replace(THREE, write_id="d4", sets={"p": BitMap([3, 4])})
    writes: list[str] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes and not writes:
            table.put(other.to_item(TENANT, PROJECT))
        if attempted.writes:
            writes.append(attempted.operation)
        return perform()

    straightened(table, around)
    assert writes == ["transact", "transact"]
    assert rows(table) == [*GAP[:2], ("three", M, None, None, [3, 4])]


def test_a_block_that_is_merged_away_meanwhile_is_not_put_back() -> None:
    table = stored(replace(ONE, next="three"), TWO, THREE)
    writes: list[str] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes and not writes:
            table.delete(*place("two"))
        if attempted.writes:
            writes.append(attempted.operation)
        return perform()

    straightened(table, around)
    assert writes == ["transact", "transact"]
    assert rows(table) == GAP


def test_a_repair_that_loses_every_race_gives_up_and_writes_nothing() -> None:
    table = stored(ONE, THREE)
    raced = 0

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        nonlocal raced
        if attempted.writes:
            raced += 1
            table.put(replace(THREE, write_id=f"d{raced + 10}").to_item(TENANT, PROJECT))
        return perform()

    with pytest.raises(Overloaded):
        straightened(table, around)
    assert raced == backoff.ATTEMPTS
    assert rows(table) == [WHOLE[0], WHOLE[2]]


def test_a_block_that_another_writer_has_repaired_is_not_taken_out() -> None:
    table = stored(ONE, TWO, THREE)
    table.put({**table.items[place("two")], "set": b"\x07"})

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes and table.items[place("two")]["write_id"] == "d2":
            table.put(replace(TWO, write_id="d5").to_item(TENANT, PROJECT))
        return perform()

    straightened(table, around)
    assert rows(table) == WHOLE


def test_a_block_is_not_put_over_what_another_has_written() -> None:
    table = stored(ONE, TWO, THREE)
    table.put({**table.items[place("two")], "size": 9})
    other = replace(TWO, write_id="d4", sets={"h": BitMap([2, 4])})

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes and table.items[place("two")]["write_id"] == TWO.write_id:
            table.put(other.to_item(TENANT, PROJECT))
        return perform()

    straightened(table, around)
    assert rows(table) == [WHOLE[0], ("two", G, M, "three", [2, 4]), WHOLE[2]]
