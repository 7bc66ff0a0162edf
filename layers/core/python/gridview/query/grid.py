"""Answers requests for a result page of the grid: its rows, its cursors and its counts."""

from collections.abc import Sequence
from typing import Any

import orjson

from gridview.dynamodb.expressions import Item
from gridview.encoding.consistency import Recent, from_texts, to_texts
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps, size_in_response
from gridview.query import planner
from gridview.query.answer import carried_out
from gridview.query.counted import never, of_a_page
from gridview.query.grid_request import GridQuery
from gridview.query.page import MAX_PAGE_BYTES, Row, Rows
from gridview.query.page_steps import read_page
from gridview.query.plan import GridPage
from gridview.query.row_keys import row_key
from gridview.query.rules import matches
from gridview.query.sort_order import Place, Spot
from gridview.query.timed_cursors import TimedCursor
from gridview.schema.catalog import Catalog
from gridview.schema.documents import to_json
from gridview.support.errors import CursorExpired
from gridview.view.context import ReadContext
from gridview.view.shown_versions import Answered

MAX_RESPONSE_BYTES = 6_000_000
"""Limit of the rows of one answer as Lambda counts them, which returns at most 6 MiB."""

_CURSOR_VERSION = 3


def grid_page(context: ReadContext, query: GridQuery, cursors: Cursors) -> Answered:
    """Return one page: `rows`, `next`, `prev`, `offset` and, on request, `total`, `matched` and `explain`.

    Read units: see `explain` and docs/performance.md. The answer also includes the writes that the result page before
    included. Raises QueryTooExpensive if it would take too much, CursorExpired, and the errors of `carried_out`.
    """
    catalog = context.catalog
    binding = query.binding(catalog.tenant, catalog.project)
    spot, backward, before = (None, False, ()) if query.cursor is None else _opened(query, cursors, binding)
    context = context.holding(before)
    plan = planner.plan_page(catalog, query, spot, backward=backward)
    found, members, shown = carried_out(
        context,
        plan,
        lambda: read_page(plan, catalog),
        explain=query.explain,
        operands=query.operands,
        decides=of_a_page if query.count else never,
        shows=lambda rows: _documents(query, rows),
    )
    rows, end, start = _shown(plan, catalog, found)

    def sealed(place: Spot | None, *, backward: bool) -> str | None:
        if place is None:
            return None
        (parts, num), after = place
        where = [backward, after, parts, num]
        payload = [_CURSOR_VERSION, _arrangements(query), *where, *to_texts(context.recent)]
        return str(TimedCursor(cursors.seal(payload, binding), query.at))

    counts = {"total": found.total, "matched": found.matched} if query.count else {}
    body = {
        "rows": rows,
        "next": sealed(start if backward else end, backward=False),
        "prev": sealed(end if backward else start, backward=True),
        "offset": query.offset if query.cursor is None else None,
        **counts,
        **members,
    }
    return Answered(body, shown)


def _shown(
    plan: GridPage, catalog: Catalog, found: Rows
) -> tuple[list[orjson.Fragment], Spot | None, Spot | None]:
    """The rows of the answer in the order of the grid, and the spots after and before them in the direction of travel."""
    query, backward = plan.query, plan.backward
    rows, taken = _encoded(catalog, query, found.rows[: query.limit])
    ahead = (
        Spot(found.rows[taken - 1].place, after=not backward) if taken < len(found.rows) else found.stopped_at
    )
    before = Spot(found.rows[0].place, after=backward) if taken else found.started_at
    return (
        (rows[::-1] if backward else rows),
        ahead,
        before if backward or found.started_at is not None else None,
    )


def _documents(query: GridQuery, found: Rows) -> list[Item]:
    """The documents of the rows that are shown, if they fit."""
    return [row.document for row in found.rows[: query.limit] if row.document is not None and row.belongs]


def _opened(query: GridQuery, cursors: Cursors, binding: bytes) -> tuple[Spot, bool, Recent]:
    """Return the spot and direction of the query's cursor, and the recent writes that its page included."""
    payload: Any = cursors.open(query.cursor or "", binding)
    version, arrangements, *rest = payload
    if version != _CURSOR_VERSION or arrangements != _arrangements(query):
        raise CursorExpired(
            "The index was rebuilt since the cursor was returned. Start again without the cursor."
        )
    backward, after, parts, num, *recent = rest
    return Spot(Place(tuple(parts), num), after), backward, from_texts(recent)


def _arrangements(query: GridQuery) -> list[list[int | bool]]:
    return [key.arrangement for key in query.keys]


def _encoded(catalog: Catalog, query: GridQuery, rows: Sequence[Row]) -> tuple[list[orjson.Fragment], int]:
    """Return the rows that are shown, as JSON, and how many places of the order they cover: as many as fit.

    A row whose document no longer belongs where it was found is left out.
    """
    shown: list[orjson.Fragment] = []
    size, size_in_all = 0, 0
    for taken, row in enumerate(rows):
        if row.document is None or not row.belongs:
            continue
        row_json = to_json(catalog, row.document, query.columns)
        if query.with_keys:
            row_json["key"] = row_key(query.keys, row.place)
        if query.rules:
            row_json["matches"] = matches(query.rules, row.document)
        encoded = dumps(row_json)
        size += len(encoded)
        size_in_all += size_in_response(encoded)
        if shown and (size > MAX_PAGE_BYTES or size_in_all > MAX_RESPONSE_BYTES):
            return shown, taken
        shown.append(orjson.Fragment(encoded))
    return shown, len(rows)
