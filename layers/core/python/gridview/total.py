"""How many issues a project has, as of the index."""

from gridview.blockcache import BlockCache
from gridview.catalog import Catalog
from gridview.families import NUMBERS
from gridview.setreading import BlockReader
from gridview.storage import Table


def issues_in(table: Table, catalog: Catalog) -> int:
    """The sizes of the blocks of the project's issue numbers, added up: one Query, 0.5 read units up to some 20 blocks."""
    return BlockReader(table, catalog, BlockCache(0.0)).directories((NUMBERS,))[NUMBERS].total
