"""The rows beside a place in a manual order."""

from dataclasses import replace
from functools import partial

from gridview.encoding.consistency import MAX_ISSUES, issues_in
from gridview.query import planner
from gridview.query.answer import carried_out
from gridview.query.counted import never
from gridview.query.grid_request import MAX_LIMIT, AskedKey, GridQuery
from gridview.query.page_steps import read_page
from gridview.query.sort_order import OrderKey, Place, Spot
from gridview.schema.catalog import Part
from gridview.schema.fields import FieldOrder
from gridview.schema.placements import Neighbors, RankedRow
from gridview.view.context import ReadContext

_BEYOND = "~"
"""Above every rank."""

_GROWTH = 4
"""How many times as many rows the next page has."""


def rows_beside(
    context: ReadContext,
    order: FieldOrder,
    beside: RankedRow | None,
    limit: int,
    *,
    backward: bool,
    with_it: bool = False,
) -> Neighbors:
    """Return the next rows of a manual order after a row, in order; `backward`: those before it, the nearest first.

    `beside` None: from the first row on, or backward from the last one. `with_it`: begin with the row itself.

    The rows are exact as of the writes that the context includes, if it reads strongly consistent. Costs as a result page of
    so many rows without any field.
    If rows were deleted or moved that the index still has there, further pages are read: fewer rows mean the end of the order.
    """
    query = GridQuery(
        sort=(AskedKey(order.id, Part(order.key)),),
        keys=(OrderKey(order),),
        filter=None,
        columns=frozenset(),
        limit=limit,
        cursor=None,
        offset=0,
        count=False,
        with_keys=False,
        explain=False,
    )
    spot = None
    if beside is not None:
        spot = Spot(Place((beside.rank,), beside.num), after=backward if with_it else not backward)
    elif backward:
        spot = Spot(Place((_BEYOND,), 1), after=False)
    rows, named, pending = list[RankedRow](), issues_in(context.recent), frozenset[int]()
    while True:
        plan = planner.plan_page(context.catalog, query, spot, backward=backward)
        found, _, shown = carried_out(context, plan, partial(read_page, plan, context.catalog), decides=never)
        # More issues than a token names: any may be among them.
        pending |= named if len(shown.versions) >= MAX_ISSUES else named & shown.versions.keys()
        page = found.rows[: query.limit]
        rows += (
            RankedRow(row.place.num, row.place.parts[0] or "")
            for row in page
            if row.document is not None and row.belongs
        )
        more = len(found.rows) > len(page)
        spot = Spot(page[-1].place, after=not backward) if more else found.stopped_at
        if spot is None or len(rows) >= limit:
            return Neighbors(rows[:limit], pending)
        # Rows that the index still has were deleted or moved: the next page makes up for them.
        query = replace(query, limit=max(query.limit, min(query.limit * _GROWTH, MAX_LIMIT)))
