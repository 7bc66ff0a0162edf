"""The questions as they are put to the core, and its answers as a client reads them."""

import json
from decimal import Decimal
from typing import Any

from devtools.proof.oracle.world import Json
from gridview.dynamodb.table import Table
from gridview.encoding.consistency import Recent
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps
from gridview.query import counting, group_request, summary_request
from gridview.query.grid import grid_page
from gridview.query.grid_request import resolve, resolve_position
from gridview.query.row_number import position as find_position
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import CONFIRMED, EpochCheck
from gridview.view.block_cache import BlockCache
from gridview.view.shown_versions import Shown

CURSORS = Cursors([b"of the oracle"], "grid")
FEED = Cursors([b"of the oracle"], "changes")


def page(
    table: Table,
    catalog: Catalog,
    body: Json,
    cache: BlockCache,
    recent: Recent = (),
    epoch: EpochCheck = CONFIRMED,
    feed: Cursors | None = None,
    shown: Shown | None = None,
) -> Any:
    """A page of the grid."""
    query = resolve(catalog, body)
    return _read(
        grid_page(
            *(table.metered(), catalog, query, CURSORS, cache),
            recent=recent,
            epoch=epoch,
            feed=feed,
            shown=shown,
        )
    )


def grouped(
    table: Table,
    catalog: Catalog,
    body: Json,
    cache: BlockCache,
    recent: Recent = (),
    epoch: EpochCheck = CONFIRMED,
    feed: Cursors | None = None,
    shown: Shown | None = None,
) -> Any:
    """Grouped counts."""
    query = group_request.resolve(catalog, body)
    return _read(
        counting.grouped_counts(
            *(table.metered(), catalog, query, CURSORS, cache),
            recent=recent,
            epoch=epoch,
            feed=feed,
            shown=shown,
        )
    )


def summarized(
    table: Table,
    catalog: Catalog,
    body: Json,
    cache: BlockCache,
    recent: Recent = (),
    epoch: EpochCheck = CONFIRMED,
    feed: Cursors | None = None,
    shown: Shown | None = None,
) -> Any:
    """A summary of fields."""
    query = summary_request.resolve(catalog, body)
    return _read(
        counting.summarized(
            *(table.metered(), catalog, query, cache), recent=recent, epoch=epoch, feed=feed, shown=shown
        )
    )


def position(
    table: Table,
    catalog: Catalog,
    num: int,
    body: Json,
    cache: BlockCache,
    recent: Recent = (),
    epoch: EpochCheck = CONFIRMED,
) -> Any:
    """The position of an issue."""
    query = resolve_position(catalog, body)
    return _read(find_position(table.metered(), catalog, num, query, cache, recent=recent, epoch=epoch))


def _read(answer: Any) -> Any:
    return json.loads(dumps(answer), parse_float=Decimal)
