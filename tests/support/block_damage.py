"""Everything that can be wrong with the blocks of a project whose issues are right."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from devtools.local.built_chains import built_chain
from devtools.proof.faults.memory_table import MemoryTable
from gridview.chains import blocks
from gridview.chains.blocks import HEAD, Block, BlockChange
from gridview.dynamodb.expressions import Item
from gridview.encoding import derived_keys, keys
from gridview.encoding.sort_strings import sort_string
from gridview.fsck.issue_diff import DifferenceKind
from tests.support import block_truth
from tests.support.damage import PROJECT, TENANT, catalog_of

PLAIN, DETAILED, NUMBERS, TOKENS = "name.1", "a2.1b", "num", "name.1.has"
"""Families: of an order in which each issue has a body of its own, of one with few; of the numbers; of words."""


class PlantedInBlocks(NamedTuple):
    """Damage to blocks, and the kinds of differences of which at least one is found."""

    name: str
    inflict: Callable[[MemoryTable], None]
    found: DifferenceKind


def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a project of a few issues chains of many blocks of each kind."""
    for name, size in {
        "MAX_BYTES": 120,
        "POPULAR": 12,
        "UNPOPULAR": 6,
        "MERGED": 30,
        "ROOMY": 72,
        "PLAIN_KEYS": 8,
        "DETAILED_BODIES": 4,
        "DETAILED_BYTES": 60,
    }.items():
        monkeypatch.setattr(blocks, name, size)


def chain_of(table: MemoryTable, family: str) -> list[Block]:
    found = block_truth.chain(table, catalog_of(table), family)
    assert len(found) > 3 or family == NUMBERS, (family, len(found))
    return found


def key_of_block(family: str, block_id: str) -> tuple[str, str]:
    return derived_keys.block(TENANT, PROJECT, family, block_id), derived_keys.directory(
        TENANT, PROJECT, family
    )


def change(table: MemoryTable, block: Block, changes: Item, *without: str) -> None:
    item = {name: one for name, one in block.to_item(TENANT, PROJECT).items() if name not in without}
    table.put({**item, **changes})


def _gone(family: str, at: int) -> Callable[[MemoryTable], None]:
    return lambda table: table.delete(*key_of_block(family, chain_of(table, family)[at].id))


def _all_gone(family: str) -> Callable[[MemoryTable], None]:
    def inflict(table: MemoryTable) -> None:
        for block in chain_of(table, family):
            table.delete(*key_of_block(family, block.id))

    return inflict


def _changed(
    family: str, at: int, changes: Callable[[list[Block]], dict[str, Any]], *without: str
) -> Callable[[MemoryTable], None]:
    def inflict(table: MemoryTable) -> None:
        found = chain_of(table, family)
        change(table, found[at], changes(found), *without)

    return inflict


def _without(family: str, at: int) -> Callable[[MemoryTable], None]:
    """Damage: a block loses an issue."""

    def inflict(table: MemoryTable) -> None:
        block = [one for one in chain_of(table, family) if one.size][at]
        lost = max(block.members)
        if block.sets is None:
            after = Block(*_fences(block), None, block.members - type(block.members)((lost,)))
        else:
            body = next(body for body, numbers in block.sets.items() if lost in numbers)
            after = blocks.changed(block, BlockChange(remove=frozenset((sort_string(body, lost),))))
        table.put(after.to_item(TENANT, PROJECT))

    return inflict


def _with(family: str, at: int, num: int) -> Callable[[MemoryTable], None]:
    """Damage: a block gets a wrong issue."""

    def inflict(table: MemoryTable) -> None:
        block = [one for one in chain_of(table, family) if one.size and num not in one.members][at]
        body = None if block.sets is None else next(iter(block.sets))
        key = blocks.some_key(block, body, num)
        assert key is not None
        table.put(blocks.changed(block, BlockChange(add=frozenset((key,)))).to_item(TENANT, PROJECT))

    return inflict


def _fences(block: Block) -> tuple[str, str, str, str | None, str | None, str]:
    return block.family, block.id, block.lower, block.upper, block.next, block.write_id


def _overlap(family: str) -> Callable[[MemoryTable], None]:
    """Damage: another block within the range of one, without a link to it."""

    def inflict(table: MemoryTable) -> None:
        found = chain_of(table, family)
        middle = found[len(found) // 2]
        another = Block(family, "beef", middle.lower + "\x01\x01", middle.upper, middle.next, "d1", {})
        assert middle.covers(another.lower)
        table.put(another.to_item(TENANT, PROJECT))

    return inflict


def _one_for_all(family: str) -> Callable[[MemoryTable], None]:
    """Damage: a single block, far too large."""

    def inflict(table: MemoryTable) -> None:
        found = chain_of(table, family)
        sets: dict[str, Any] = {}
        for block in found:
            for body, numbers in (block.sets or {}).items():
                sets[body] = sets.get(body, type(numbers)()) | numbers
            table.delete(*key_of_block(family, block.id))
        members = type(found[0].members).union(*(block.members for block in found))
        plain = found[0].sets is None
        whole = Block(
            family,
            HEAD,
            blocks.FIRST,
            None,
            None,
            "p1" if plain else "d1",
            None if plain else sets,
            members if plain else None,
        )
        table.put(whole.to_item(TENANT, PROJECT))

    return inflict


def _dead(family: str) -> Callable[[MemoryTable], None]:
    def inflict(table: MemoryTable) -> None:
        for block in built_chain(family, [sort_string("x", num) for num in range(1, 40)]):
            table.put(block.to_item(TENANT, PROJECT))

    return inflict


def _garbage(_: list[Block]) -> dict[str, Any]:
    return {"set": b"\x00\x05\x00\x00\x00\x05garbage!!!"}


PLANTED_IN_BLOCKS = (
    *(
        PlantedInBlocks(f"{what} of {family} gone", _gone(family, at), DifferenceKind.CHAIN)
        for family in (PLAIN, DETAILED, TOKENS)
        for what, at in (("first block", 0), ("second block", 1), ("last block", -1))
    ),
    *(
        PlantedInBlocks(f"all blocks of {family} gone", _all_gone(family), DifferenceKind.UNLISTED)
        for family in (PLAIN, DETAILED, NUMBERS, TOKENS)
    ),
    *(
        PlantedInBlocks(f"an issue lost from {family}, {at}", _without(family, at), DifferenceKind.UNLISTED)
        for family in (PLAIN, DETAILED, NUMBERS, TOKENS)
        for at in (0, -1)
    ),
    *(
        PlantedInBlocks(
            f"issue {num} too much in {family}, {at}", _with(family, at, num), DifferenceKind.STRAY
        )
        for family in (PLAIN, DETAILED, TOKENS)
        for num in (7, 99_999)
        for at in (0, -1)
    ),
    PlantedInBlocks("a number that was never given", _with(NUMBERS, 0, 99_999), DifferenceKind.STRAY),
    PlantedInBlocks(
        "link to the block after the next",
        _changed(PLAIN, 1, lambda found: {"next": found[3].id}),
        DifferenceKind.CHAIN,
    ),
    PlantedInBlocks(
        "link to the block before",
        _changed(PLAIN, 2, lambda found: {"next": found[1].id}),
        DifferenceKind.CHAIN,
    ),
    PlantedInBlocks("link that ends", _changed(PLAIN, 1, lambda _: {}, "next"), DifferenceKind.CHAIN),
    PlantedInBlocks(
        "chain that ends", _changed(TOKENS, 1, lambda _: {}, "next", "upper"), DifferenceKind.CHAIN
    ),
    PlantedInBlocks(
        "link after the end",
        _changed(PLAIN, -1, lambda _: {"next": "beef", "upper": "zz"}),
        DifferenceKind.CHAIN,
    ),
    PlantedInBlocks(
        "fence too far", _changed(DETAILED, 1, lambda found: {"upper": found[3].lower}), DifferenceKind.CHAIN
    ),
    PlantedInBlocks(
        "fence too near",
        _changed(PLAIN, 1, lambda found: {"upper": found[1].lower + "\x01\x01"}),
        DifferenceKind.CHAIN,
    ),
    PlantedInBlocks(
        "fence moved",
        _changed(PLAIN, 2, lambda found: {keys.SORT: found[2].lower + "\x01\x01"}),
        DifferenceKind.CHAIN,
    ),
    PlantedInBlocks(
        "first fence moved", _changed(PLAIN, 0, lambda _: {keys.SORT: "b"}), DifferenceKind.CHAIN
    ),
    PlantedInBlocks("two blocks for one range", _overlap(PLAIN), DifferenceKind.CHAIN),
    PlantedInBlocks("two blocks for one range of tokens", _overlap(TOKENS), DifferenceKind.CHAIN),
    *(
        PlantedInBlocks(
            f"unreadable {at} of {family}", _changed(family, at, _garbage), DifferenceKind.UNREADABLE
        )
        for family in (PLAIN, DETAILED, TOKENS, NUMBERS)
        for at in (0, -1)
    ),
    PlantedInBlocks(
        "block without a set", _changed(PLAIN, 1, lambda _: {}, "set"), DifferenceKind.UNREADABLE
    ),
    PlantedInBlocks(
        "block without a write id", _changed(TOKENS, 1, lambda _: {}, "write_id"), DifferenceKind.UNREADABLE
    ),
    PlantedInBlocks(
        "size that is not the set's", _changed(PLAIN, 1, lambda _: {"size": 999}), DifferenceKind.SIZE
    ),
    PlantedInBlocks("no size", _changed(DETAILED, 1, lambda _: {}, "size"), DifferenceKind.SIZE),
    PlantedInBlocks(
        "another kind of set", _changed(TOKENS, 1, lambda _: {"write_id": "p0"}), DifferenceKind.SIZE
    ),
    *(
        PlantedInBlocks(f"one block for all of {family}", _one_for_all(family), DifferenceKind.OVERSIZE)
        for family in (PLAIN, TOKENS)
    ),
    PlantedInBlocks("blocks of a generation that is gone", _dead("a1.7"), DifferenceKind.DEAD),
    PlantedInBlocks("tokens of an order without", _dead("a3.1.has"), DifferenceKind.DEAD),
    PlantedInBlocks("blocks of an attribute that never was", _dead("a77.1"), DifferenceKind.DEAD),
)
