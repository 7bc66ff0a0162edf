"""Cuts the families without sort entries into ranges of blocks, and reads the sets of one range for some issue numbers.

A check compares these families with documents, number by number. The sets of a large project do not fit into memory.
Nor can a turn of the nightly check read all of its blocks. So a check passes over the numbers once for each range.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Self

from pyroaring import BitMap

from gridview.chains.blocks import HEAD, Block, Unreadable
from gridview.derive.families import families_of, has_entries
from gridview.dynamodb.table import Table
from gridview.encoding.sort_strings import sort_string
from gridview.fsck.chain_repair import Chain
from gridview.schema.catalog import Catalog
from gridview.support.concurrency import chunked

BLOCKS = 5_000
"""Blocks of a range: 20 MB of sets, which take up to five seconds to read."""

_TOGETHER = 1_000
"""Blocks that are in memory at the same time."""

KeyPlace = tuple[str, str]
"""A family, and a fence or key in it."""

_BEGINNING: KeyPlace = ("", "")


class BlockRange(NamedTuple):
    """The keys of families without sort entries from a place on, to before another; None: to the last."""

    start: KeyPlace = _BEGINNING
    end: KeyPlace | None = None

    @property
    def is_first(self) -> bool:
        """Whether no range is before it."""
        return self.start == _BEGINNING

    def covers(self, family: str, key: str) -> bool:
        """Return whether a fence or key is in the range."""
        return self.start <= (family, key) and (self.end is None or (family, key) < self.end)

    def within(self, family: str, body: str, numbers: BitMap) -> BitMap:
        """Return those of the numbers whose keys with this body are in the range."""
        if not numbers or all(
            self.covers(family, sort_string(body, num)) for num in (numbers.min(), numbers.max())
        ):
            return numbers
        return BitMap(num for num in numbers if self.covers(family, sort_string(body, num)))

    def families(self, catalog: Catalog) -> list[str]:
        """Return the families that may have keys in the range, in their order."""
        every = sorted(family for family in families_of(catalog) if not has_entries(family))
        return [one for one in every if self.start[0] <= one and (self.end is None or one <= self.end[0])]


class NumberPlace(NamedTuple):
    """The progress of a check by number: the issue number to continue with, and the range that is compared."""

    first: int
    blocks: BlockRange

    def to_text(self) -> str:
        """Encode for a visit."""
        return json.dumps(self)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Decode."""
        first, (start, end) = json.loads(text)
        return cls(first, BlockRange(tuple(start), None if end is None else tuple(end)))


FamilySets = Mapping[str, Mapping[str, BitMap]]
"""Family -> body -> numbers."""


def range_from(table: Table, catalog: Catalog, start: KeyPlace = _BEGINNING) -> BlockRange:
    """Return the range of the next blocks from a place on: 0.5 read units for each 4 KB of the directory."""
    count = 0
    for family in BlockRange(start).families(catalog):
        begin = start[1] if family == start[0] else ""
        for fence, _ in Chain(table, catalog.tenant, catalog.project, family).listed(begin):
            place = family, fence
            if count >= BLOCKS and place > start:
                return BlockRange(start, place)
            count += 1
    return BlockRange(start)


def sets_of(table: Table, catalog: Catalog, blocks: BlockRange, among: range) -> FamilySets:
    """Return what the blocks of a range hold of the issues `among`: 0.5 read units for each block."""
    return {family: _sets(table, catalog, family, blocks, among) for family in blocks.families(catalog)}


def _sets(
    table: Table, catalog: Catalog, family: str, blocks: BlockRange, among: range
) -> Mapping[str, BitMap]:
    chain = Chain(table, catalog.tenant, catalog.project, family)
    found: dict[str, BitMap] = defaultdict(BitMap)
    for some in chunked(dict.fromkeys(_ids(chain, blocks)), _TOGETHER):
        for item in table.batch_get([(chain.key(one), chain.directory) for one in some]).items.values():
            try:
                block = Block.from_item(item)
            except Unreadable:
                continue
            for body, numbers in (block.sets or {}).items():
                if held := blocks.within(family, body, between(numbers, among)):
                    found[body] |= held
    return found


def _ids(chain: Chain, blocks: BlockRange) -> Iterable[str]:
    """Return the ids of the blocks in a range. The first one of a chain is always there, even if the index lacks it."""
    begin = blocks.start[1] if chain.family == blocks.start[0] else ""
    if not begin:
        yield HEAD
    for fence, block_id in chain.listed(begin):
        if not blocks.covers(chain.family, fence):
            return
        yield block_id


def between(numbers: BitMap, among: range) -> BitMap:
    """Return those of the numbers that are among others."""
    if not numbers or numbers.max() < among.start:
        return BitMap()
    return numbers & BitMap(range(among.start, min(among.stop, numbers.max() + 1)))
