"""The rows beside a place in a manual order."""

from gridview.encoding.consistency import MAX_ISSUES, issues_in
from gridview.query import planner
from gridview.query.answer import carried_out
from gridview.query.counted import never
from gridview.query.grid_request import AskedKey, GridQuery
from gridview.query.page_steps import read_page
from gridview.query.sort_order import OrderKey, Place, Spot
from gridview.schema.catalog import Part
from gridview.schema.fields import FieldOrder
from gridview.schema.placements import RankedRow, RowsRead
from gridview.view.context import ReadContext

_BEYOND = "~"
"""Above every rank."""


def rows_beside(
    context: ReadContext,
    order: FieldOrder,
    beside: RankedRow | None,
    limit: int,
    *,
    backward: bool,
    with_it: bool = False,
) -> RowsRead:
    """Return the next rows of a manual order after a row, in order; `backward`: those before it, the nearest first.

    `beside` None: from the first row on, or backward from the last one. `with_it`: begin with the row itself.

    The rows are exact as of the writes that the context includes. Costs as a result page of so many rows without any field.
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
    plan = planner.plan_page(context.catalog, query, spot, backward=backward)
    found, _, shown = carried_out(context, plan, lambda: read_page(plan, context.catalog), decides=never)
    rows = [
        RankedRow(row.place.num, row.place.parts[0] or "")
        for row in found.rows[:limit]
        if row.document is not None and row.belongs
    ]
    named = issues_in(context.recent)
    # More issues than a token names: any may be among them.
    pending = named if len(shown.versions) >= MAX_ISSUES else named & shown.versions.keys()
    return RowsRead(rows, frozenset(pending))
