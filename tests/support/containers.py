"""What a container keeps before its first request to a project."""

from gridview.dynamodb.table import Table
from gridview.index.block_cache import BlockCache
from gridview.index.journal_log import Log
from gridview.index.journal_tail import learn
from gridview.schema.catalog import Catalog


def new_container(table: Table, catalog: Catalog) -> BlockCache:
    """The cache of a container that has just read the catalog, and beside it where the journal ends."""
    cache = BlockCache()
    learn(Log(table, catalog.tenant, catalog.project), cache)
    return cache
