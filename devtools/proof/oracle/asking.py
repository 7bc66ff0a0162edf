"""The questions as they are put to the core, and its answers as a client reads them."""

import json
from decimal import Decimal

from devtools.proof.oracle.world import Json
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps
from gridview.query import counting, group_request, summary_request
from gridview.query.grid import grid_page
from gridview.query.grid_request import resolve, resolve_row_number
from gridview.query.references import Reference
from gridview.query.row_number import row_number_of
from gridview.view.context import ReadContext
from gridview.view.shown_versions import Answered

CURSORS = Cursors([b"of the oracle"], "grid")
FEED = Cursors([b"of the oracle"], "changes")


def page(context: ReadContext, body: Json, reference: Reference | None = None) -> Answered:
    """A page of the grid."""
    return _read(grid_page(context, resolve(context.catalog, body, reference), CURSORS))


def grouped(context: ReadContext, body: Json, reference: Reference | None = None) -> Answered:
    """Grouped counts."""
    query = group_request.resolve(context.catalog, body, reference)
    return _read(counting.grouped_counts(context, query, CURSORS))


def summarized(context: ReadContext, body: Json, reference: Reference | None = None) -> Answered:
    """A summary of fields."""
    return _read(counting.summarized(context, summary_request.resolve(context.catalog, body, reference)))


def position(context: ReadContext, num: int, body: Json, reference: Reference | None = None) -> Answered:
    """The position of an issue."""
    return _read(row_number_of(context, num, resolve_row_number(context.catalog, body, reference)))


def _read(answer: Answered) -> Answered:
    return answer._replace(body=json.loads(dumps(answer.body), parse_float=Decimal))
