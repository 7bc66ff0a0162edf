"""Properties of blocks: of the blocks just written at any time, and of all blocks once all is quiet."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from devtools.proof.faults import journal_truth
from devtools.proof.faults.world import Chain, Difference, World
from gridview.chains import blocks
from gridview.chains.blocks import Block, Entry, Unreadable
from gridview.derive.families import derived_strings, families_of, is_key, keys_of
from gridview.derive.ledger import Ledger
from gridview.dynamodb.expressions import Item
from gridview.encoding import derived_keys, keys
from gridview.encoding.sort_strings import body_of, number_of, sort_string
from gridview.schema.catalog import Catalog
from gridview.support.errors import NotFound

Member = tuple[str | None, int]
"""The body and the number of an issue in a block; None for the body in a plain block."""


def watch_blocks(world: World, family: str, before: Chain) -> None:
    """Blocks of a family have just been written: check the properties that hold at any time.

    They chain without a gap, and each of them equals the journal up to its position.
    """
    chain = world.blocks[family]
    try:
        in_order(chain)
        for name, block in chain.items():
            if block is not before.get(name):
                journal_truth.assert_replayed(world, block)
    except Difference:
        if _written(world, family):
            raise


def _keys(family: str, derived: Iterable[str], num: int) -> frozenset[str]:
    return frozenset(key for one in derived if is_key(one, num) for key in keys_of(family, one))


def _members(block: Block) -> Iterator[Member]:
    if block.sets is None:
        yield from ((None, num) for num in block.members)
    else:
        yield from ((body, num) for body, numbers in block.sets.items() for num in numbers)


def _assert_explained(world: World, block: Block, members: Iterable[Member]) -> None:
    """By the ledgers of the issues."""
    for body, num in members:
        stored = world.engine.get(
            keys.issue(world.tenant, world.project, num), derived_keys.LEDGER, consistent=True
        )
        named = _keys(block.family, Ledger.from_item(stored).present.get(block.family, ()), num)
        if body is None:
            explained = any(map(block.covers, named))
        else:
            key = sort_string(body, num)
            explained = key in named and block.covers(key)
        if not explained:
            raise Difference(
                f"{_described(block)} has {num} under {body!r}, which is not in its ledger: {sorted(named)}"
            )


def _written(world: World, family: str) -> bool:
    """Whether a family is written under the present definitions; the blocks of others are not checked."""
    try:
        catalog = world.catalog()
    except NotFound:
        return False
    return family in families_of(catalog)


def in_order(chain: Mapping[str, Block]) -> list[Block]:
    """The blocks of a family as their links lead, without a gap, and no others."""
    found: list[Block] = []
    lower, name = blocks.FIRST, blocks.HEAD
    while True:
        block = chain.get(name)
        if block is None:
            raise Difference(f"there is no block {name} of those with {sorted(chain)}")
        if block.lower != lower or len(found) == len(chain):
            raise Difference(f"{_described(block)} does not begin at {lower!r}")
        found.append(block)
        if block.upper is None or block.next is None:
            break
        if block.upper <= block.lower:
            raise Difference(f"{_described(block)} ends before it begins")
        lower, name = block.upper, block.next
    if (found[-1].upper, found[-1].next) != (None, None):
        raise Difference(f"{_described(found[-1])} has one end of two")
    if left := chain.keys() - {block.id for block in found}:
        raise Difference(f"no link leads to {sorted(left)} of {found[0].family}")
    return found


def _described(block: Block) -> str:
    return f"block {block.id} of {block.family}, from {block.lower!r} to {block.upper!r},"


# Once all is quiet


def assert_blocks(world: World, catalog: Catalog | None, but_for: frozenset[str] = frozenset()) -> None:
    """Every chain is sound and holds the issues where their documents put them, and there are no other blocks.

    `but_for`: issues that cannot be derived are where their ledgers say. Without a catalog the project is deleted.
    """
    families = [] if catalog is None else families_of(catalog)
    if gone := sorted(family for family, chain in world.blocks.items() if chain and family not in families):
        raise Difference(f"there are still blocks of {gone}")
    if catalog is None:
        return
    expected: dict[str, set[str]] = {family: set() for family in families}
    for key, document in world.documents.items():
        if key not in but_for:
            for family, derived in derived_strings(catalog, document).items():
                expected[family] |= keys_of(family, derived)
    exempt = {keys.parse_issue(key).num for key in but_for}
    for family in families:
        _assert_chain(world, family, expected[family], exempt)


def _assert_chain(world: World, family: str, expected: set[str], exempt: set[int]) -> None:
    directory = derived_keys.directory(world.tenant, world.project, family)
    items: dict[str, Item] = {}
    name: str | None = blocks.HEAD
    while name is not None and name not in items:
        item = world.engine.get(
            derived_keys.block(world.tenant, world.project, family, name), directory, consistent=True
        )
        if item is None:
            break
        items[name], name = item, item.get("next")
    if not items:
        if expected:
            raise Difference(f"there are no blocks of {family}")
        return
    chain = in_order({name: _read(item) for name, item in items.items()})
    listed = world.engine.query(directory, index=True).items
    if [Entry.from_item(item) for item in listed] != [blocks.entry_of(block) for block in chain]:
        raise Difference(f"the directory of {family} lists {listed} instead of {chain}")
    for block in chain:
        _assert_block(world, block, items[block.id], expected, exempt)


def _read(item: Item) -> Block:
    try:
        return Block.from_item(item)
    except Unreadable as error:
        raise Difference(f"{item[keys.PK]} is not a block: {error.__cause__}") from error


def _assert_block(
    world: World, block: Block, item: Mapping[str, Any], expected: set[str], exempt: set[int]
) -> None:
    if item["size"] != len(list(_members(block))) or block.detailed is not Entry.from_item(item).detailed:
        raise Difference(f"{_described(block)} is not what its directory says: {item}")
    there = set(_members(block))
    wanted = {
        (body_of(key) if block.detailed else None, number_of(key)) for key in expected if block.covers(key)
    }
    excused = {one for one in there if one[1] in exempt}
    if there - excused != wanted:
        raise Difference(
            f"{_described(block)} has {sorted(there, key=repr)} instead of {sorted(wanted, key=repr)}"
        )
    _assert_explained(world, block, excused)
