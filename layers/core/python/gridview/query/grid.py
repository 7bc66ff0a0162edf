"""A page of the grid: the plan of a query, carried out with as few sequential calls as it needs.

A walk along one index (`readwalk`) where that answers the query; else by sets of issues (`readblocks`); a small project is read
whole (`readwhole`) for what these leave open.
"""

from collections.abc import Sequence
from typing import Any

import orjson

from gridview.dynamodb.table import Table
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps, size_in_response
from gridview.index import freshness
from gridview.index.block_cache import BlockCache
from gridview.index.block_reader import BlockReader
from gridview.query import planner
from gridview.query.bitmap_scan import BlocksReader
from gridview.query.explain import explanation
from gridview.query.full_scan import WholeReader
from gridview.query.grid_request import GridQuery
from gridview.query.index_scan import WalkReader
from gridview.query.page import MAX_PAGE_BYTES, Reader, Reading, Row
from gridview.query.sort_order import Place, Spot
from gridview.schema.catalog import Catalog
from gridview.schema.documents import to_json
from gridview.support.errors import CursorExpired

MAX_RESPONSE_BYTES = 6_000_000
"""Of the rows of one answer as Lambda counts them, which gives out at most 6 MiB."""

_CURSOR_VERSION = 3


def grid_page(
    table: Table, catalog: Catalog, query: GridQuery, cursors: Cursors, cache: BlockCache | None = None
) -> dict[str, Any]:
    """One page: `rows`, `next`, `prev`, `offset` and, if asked for, `total`, `matched` and `explain`.

    Read units: `explain` and README tell. Unprocessable for what would take too much; CursorExpired.
    `cache`: what the container keeps.
    """
    binding = query.binding(catalog.tenant, catalog.project)
    spot, backward = (None, False) if query.cursor is None else _opened(query, cursors, binding)
    cache = cache or BlockCache(0.0)
    behind_by = ""
    if query.explain:
        (reader, reading), late = freshness.read_beside(
            table, catalog, lambda: _read(table, catalog, query, cache, spot, backward=backward)
        )
        behind_by = late.sentence()
    else:
        reader, reading = _read(table, catalog, query, cache, spot, backward=backward)
    rows, taken = _encoded(catalog, query, reading.rows[: query.limit])
    end = (
        Spot(reading.rows[taken - 1].place, after=not backward)
        if taken < len(reading.rows)
        else reading.stopped_at
    )
    start = Spot(reading.rows[0].place, after=backward) if taken else reading.behind
    ahead, behind = end, start if reading.behind is not None else None
    if backward:
        rows.reverse()
        ahead, behind = start, end

    def sealed(place: Spot | None, *, backward: bool) -> str | None:
        if place is None:
            return None
        (parts, num), after = place
        return cursors.seal([_CURSOR_VERSION, _arrangements(query), backward, after, parts, num], binding)

    page: dict[str, Any] = {
        "rows": rows,
        "next": sealed(ahead, backward=False),
        "prev": sealed(behind, backward=True),
        "offset": query.offset if query.cursor is None else None,
    }
    if query.count:
        page.update(reading.counts)
    if query.explain:
        page["explain"] = explanation([*reader.plan(), behind_by], table.meter, reader.steps)
    return page


def _read(
    table: Table, catalog: Catalog, query: GridQuery, cache: BlockCache, spot: Spot | None, *, backward: bool
) -> tuple[Reader, Reading]:
    """The rows of a page by the plan that answers the query, and who has read them."""
    blocks = BlockReader(table, catalog, cache)
    reader = BlocksReader(table, catalog, query, blocks)
    if planner.walks(query, spot) and not reader.is_near(spot, backward=backward):
        walker = WalkReader(table, catalog, query, cache)
        return walker, walker.read(spot, backward=backward)
    try:
        return reader, reader.read(spot, backward=backward)
    except planner.Undecided as found:
        if reader.numbers.total > planner.WHOLE:
            raise found.refusal from None
        whole = WholeReader(
            table,
            catalog,
            query,
            blocks,
            reader.numbers,
            among=found.among,
            reason=found.reason,
            steps=reader.steps,
        )
        return whole, whole.read(spot, backward=backward)


def _opened(query: GridQuery, cursors: Cursors, binding: bytes) -> tuple[Spot, bool]:
    """The spot and direction of the query's cursor."""
    payload: Any = cursors.open(query.cursor or "", binding)
    version, arrangements, *rest = payload
    if version != _CURSOR_VERSION or arrangements != _arrangements(query):
        raise CursorExpired("The order was rebuilt since the cursor was given; start again without it.")
    backward, after, parts, num = rest
    return Spot(Place(tuple(parts), num), after), backward


def _arrangements(query: GridQuery) -> list[list[int | bool]]:
    return [key.arrangement for key in query.keys]


def _encoded(catalog: Catalog, query: GridQuery, rows: Sequence[Row]) -> tuple[list[orjson.Fragment], int]:
    """The rows that are shown, as JSON, and how many places of the order they stand for: all, or those that fit in an answer.

    A row whose document no longer belongs where it was found is left out, and so is an issue that is there already: entries and
    documents are not of one moment, so one that just got its first value may stand among those without, too.
    """
    shown: list[orjson.Fragment] = []
    numbers: set[int] = set()
    size, size_in_all = 0, 0
    for taken, row in enumerate(rows):
        if row.document is None or not row.belongs:
            continue
        num = row.document["num"]
        if num in numbers:
            continue
        numbers.add(num)
        encoded = dumps(to_json(catalog, row.document, query.columns))
        size += len(encoded)
        size_in_all += size_in_response(encoded)
        if shown and (size > MAX_PAGE_BYTES or size_in_all > MAX_RESPONSE_BYTES):
            return shown, taken
        shown.append(orjson.Fragment(encoded))
    return shown, len(rows)
