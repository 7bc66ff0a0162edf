"""Blocks in a table: chains as a bulk load builds them, and as a writer changes them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from devtools.local.derived_items import derived_items
from gridview.chains import blocks
from gridview.chains.blocks import Block, BlockChange
from gridview.chains.directory import Range, keys_in
from gridview.derive import families
from gridview.dynamodb.table import Table
from gridview.encoding.sort_strings import number_of
from gridview.schema.catalog import Catalog

Documents = Iterable[Mapping[str, Any]]


def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit blocks to about twenty keys, so that a few hundred issues make many of them."""
    monkeypatch.setattr(blocks, "MAX_BYTES", 180)
    monkeypatch.setattr(blocks, "MERGED", 60)
    monkeypatch.setattr(blocks, "ROOMY", 140)
    monkeypatch.setattr(blocks, "POPULAR", 15)
    monkeypatch.setattr(blocks, "UNPOPULAR", 7)
    monkeypatch.setattr(blocks, "PLAIN_KEYS", 30)
    monkeypatch.setattr(blocks, "DETAILED_BODIES", 5)


def keys_by_family(catalog: Catalog, documents: Documents) -> dict[str, list[str]]:
    """The keys of issues in every family, in order."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for document in documents:
        for family, derived in families.derived_strings(catalog, document).items():
            found[family] += families.keys_of(family, derived)
    return {family: sorted(some) for family, some in found.items()}


def put_chain(table: Table, catalog: Catalog, chain: Sequence[Block]) -> None:
    """Write blocks."""
    table.batch_put([block.to_item(catalog.tenant, catalog.project) for block in chain])


def put_entries(table: Table, catalog: Catalog, documents: Documents) -> None:
    """Write ledgers and sort entries."""
    for document in documents:
        table.batch_put(derived_items(catalog, document))


def drop(table: Table, catalog: Catalog, block: Block) -> None:
    """Delete a block."""
    item = block.to_item(catalog.tenant, catalog.project)
    table.delete(item["PK"], item["SK"])


class Written:
    """A chain of one family, written like the consumer does: keys are added and removed, blocks are
    split and merged.
    """

    def __init__(self, family: str, random: Random) -> None:
        self.family = family
        self.blocks = [Block.head(family)]
        self.keys: set[str] = set()
        self._random = random

    def add(self, key: str) -> None:
        """Add a key."""
        at = self._place(key)
        self.blocks[at] = blocks.changed(self.blocks[at], BlockChange(add=frozenset([key])))
        self.keys.add(key)
        self._split(at)

    def remove(self, key: str) -> None:
        """Remove a key."""
        at = self._place(key)
        self.blocks[at] = blocks.changed(self.blocks[at], BlockChange(remove=frozenset([key])))
        self.keys.discard(key)
        if blocks.wants_merge(self.blocks[at]):
            merged = blocks.merged(self.blocks[at], self.blocks[at + 1])
            if merged is not None:
                self.blocks[at : at + 2] = [merged]
                self._split(at)

    def change(self, drawn: Callable[[], str], shrinking: bool) -> None:
        """Add a key, or more often remove one if the chain shrinks."""
        if self.keys and self._random.random() < (0.8 if shrinking else 0.2):
            self.remove(self._random.choice(sorted(self.keys)))
        else:
            key = drawn()
            # An issue has one key in an order.
            for other in [one for one in self.keys if number_of(one) == number_of(key)]:
                self.remove(other)
            self.add(key)

    def check(self) -> None:
        """Check that it is a chain without gaps that has each key once, in its place."""
        assert self.blocks[0].lower == blocks.FIRST
        assert self.blocks[-1].upper is None
        assert self.blocks[-1].next is None
        for one, two in pairwise(self.blocks):
            assert (one.upper, one.next) == (two.lower, two.id)
            assert two.lower > one.lower
        for one in self.blocks:
            inside = sorted(key for key in self.keys if one.covers(key))
            assert list(one.members) == sorted({number_of(key) for key in inside})
            assert one.size == len(inside)
            if one.sets is not None:
                assert list(keys_in(one.sets, Range(one.lower, one.upper))) == inside

    def _place(self, key: str) -> int:
        return next(at for at, one in enumerate(self.blocks) if one.covers(key))

    def _split(self, at: int) -> None:
        one = self.blocks[at]
        if blocks.wants_split(one):
            self.blocks[at : at + 1] = blocks.split(one, [key for key in self.keys if one.covers(key)])
