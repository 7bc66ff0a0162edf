"""The number of issues in a project, as of the index and its journal."""

from gridview.derive.families import NUMBERS
from gridview.dynamodb.side_by_side import side_by_side
from gridview.dynamodb.table import Table
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog
from gridview.support import clock
from gridview.view.block_cache import BlockCache
from gridview.view.block_reader import BlockReader
from gridview.view.block_reads import Want
from gridview.view.journal_tail import moves_now
from gridview.view.unfolded import Unfolded


def issues_in(table: Table, catalog: Catalog) -> int:
    """The sum of the sizes of the blocks of issue numbers, with what the journal changes.

    One Query, 0.5 read units for up to some 20 blocks; `moves_now` beside it, and half a unit for each block that it is about.
    """
    reader = BlockReader(table, catalog, BlockCache(), clock.seconds())
    directories, moves = side_by_side(
        table,
        lambda: reader.directories((NUMBERS,)),
        lambda own: moves_now(Log(own, catalog.tenant, catalog.project)),
    )
    entries, unfolded = directories[NUMBERS].entries, Unfolded.of(NUMBERS, moves)
    if not entries:
        return len(unfolded.keys)
    touched = [entry for entry in entries if unfolded.touches(entry)]
    reader.read(Want(NUMBERS, entry) for entry in touched)
    others = sum(entry.size for entry in entries if entry not in touched)
    return others + sum(len(unfolded.members(reader.block(NUMBERS, entry))) for entry in touched)
