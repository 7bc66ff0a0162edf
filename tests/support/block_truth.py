"""Checks the chains of blocks in an in-memory table against the documents."""

from collections import defaultdict
from collections.abc import Iterable

from pyroaring import BitMap

from devtools.proof.faults.memory_table import MemoryTable
from gridview.chains import blocks
from gridview.chains.blocks import Block
from gridview.derive.families import derived_strings, families_of, keys_of
from gridview.dynamodb.expressions import Item
from gridview.encoding import derived_keys
from gridview.encoding.sort_strings import body_of, number_of
from gridview.schema.catalog import Catalog


def chain(table: MemoryTable, catalog: Catalog, family: str) -> list[Block]:
    """The blocks of a family from the first on, as their links lead."""
    found = []
    block_id: str | None = blocks.HEAD
    directory = derived_keys.directory(catalog.tenant, catalog.project, family)
    while block_id is not None:
        item = table.items.get(
            (derived_keys.block(catalog.tenant, catalog.project, family, block_id), directory)
        )
        if item is None:
            assert block_id == blocks.HEAD, f"{family}: block {block_id} is missing"
            break
        found.append(Block.from_item(item))
        block_id = found[-1].next
    return found


def assert_chains(table: MemoryTable, catalog: Catalog, documents: Iterable[Item]) -> None:
    """Check that every family's chain is sound, has exactly the keys of the documents, and that there are no other
    blocks.
    """
    expected: dict[str, set[str]] = defaultdict(set)
    for document in documents:
        for family, derived in derived_strings(catalog, document).items():
            expected[family] |= keys_of(family, derived)
    count = 0
    for family in families_of(catalog):
        found = chain(table, catalog, family)
        count += len(found)
        if not found:
            assert not expected[family], family
            continue
        assert found[0].lower == blocks.FIRST
        assert [one.upper for one in found] == [*(one.lower for one in found[1:]), None]
        for block in found:
            wanted = {key for key in expected[family] if block.covers(key)}
            assert block.members == BitMap(map(number_of, wanted)), (family, block)
            if block.sets is not None:
                places = {(body, num) for body, numbers in block.sets.items() for num in numbers}
                assert places == {(body_of(key), number_of(key)) for key in wanted}, (family, block)
    prefix = derived_keys.BLOCK_PREFIX + f"{catalog.tenant}.{catalog.project}."
    assert count == sum(partition.startswith(prefix) for partition, _ in table.items)
