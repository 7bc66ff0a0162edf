"""The three questions as they are put to the core, and its answers as a client reads them."""

import json
from decimal import Decimal
from typing import Any

from devtools.oracle.world import Json
from gridview import counting, groups
from gridview.blockcache import BlockCache
from gridview.catalog import Catalog
from gridview.cursors import Cursors
from gridview.grid import grid_page
from gridview.gridrequest import resolve, resolve_position
from gridview.jsontext import dumps
from gridview.position import position as find_position
from gridview.storage import Table

CURSORS = Cursors([b"of the oracle"], "grid")


def page(table: Table, catalog: Catalog, body: Json, cache: BlockCache) -> Any:
    """A page of the grid."""
    return _read(grid_page(table.metered(), catalog, resolve(catalog, body), CURSORS, cache))


def grouped(table: Table, catalog: Catalog, body: Json, cache: BlockCache) -> Any:
    """Grouped counts."""
    return _read(counting.grouped_counts(table.metered(), catalog, groups.resolve(catalog, body), cache))


def position(table: Table, catalog: Catalog, num: int, body: Json, cache: BlockCache) -> Any:
    """The position of an issue."""
    order, only = resolve_position(catalog, body)
    return _read(find_position(table.metered(), catalog, num, order, only, cache))


def _read(answer: Any) -> Any:
    return json.loads(dumps(answer), parse_float=Decimal)
