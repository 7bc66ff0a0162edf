"""The memory of a container before its first request to a project."""

from gridview.dynamodb.table import Table
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog
from gridview.view.block_cache import BlockCache
from gridview.view.journal_tail import learn


def new_container(table: Table, catalog: Catalog) -> BlockCache:
    """The cache of a container that has just read the catalog, and the end of the journal."""
    cache = BlockCache()
    learn(Log(table, catalog.tenant, catalog.project), cache)
    return cache
