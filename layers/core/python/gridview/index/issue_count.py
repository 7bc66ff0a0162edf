"""The number of issues in a project, as of the index."""

from gridview.dynamodb.table import Table
from gridview.index.block_cache import BlockCache
from gridview.index.block_reader import BlockReader
from gridview.index.families import NUMBERS
from gridview.schema.catalog import Catalog


def issues_in(table: Table, catalog: Catalog) -> int:
    """The sum of the sizes of the blocks of issue numbers: one Query, 0.5 read units for up to some 20 blocks."""
    return BlockReader(table, catalog, BlockCache(0.0)).directories((NUMBERS,))[NUMBERS].total
