"""Answers from the index: pages of the grid, groups, summaries and positions.

The modules that count groups and summaries are imported when they are asked for, not when the function
starts.
"""

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response
from gridview.api.routes import Gives, Takes
from gridview.commands.actor import Role
from gridview.query import grid_request
from gridview.query.grid import grid_page
from gridview.query.row_number import row_number_of
from gridview.query_api.answers import answered, feed, recent, reference
from gridview.query_api.container import QueryContainer, QueryRequest
from gridview.support.errors import CursorExpired, IndexBuilding, QueryTooExpensive, TooManyLongQueries
from gridview.view.context import ReadContext
from gridview.view.shown_versions import Answered

endpoints = Endpoints[QueryContainer]("Grid", "query")


@endpoints.post(
    "/v1/projects/<project>/grid",
    Role.VIEWER,
    "A page of issues, filtered and sorted",
    body="GridRequest",
    answer="IssuePage",
    takes=(Takes.TOKENS,),
    gives=(Gives.TOKEN_OF_SHOWN,),
    problems=(CursorExpired, IndexBuilding, TooManyLongQueries, QueryTooExpensive),
)
def grid(request: QueryRequest) -> Response:
    """Return a page of the grid, for a request with a body."""
    return _grid(request, request.body() if request.raw_body.strip() else {})


@endpoints.get(
    "/v1/projects/<project>/grid",
    Role.VIEWER,
    "A page of issues, by query parameters",
    parameters="GridRequest",
    answer="IssuePage",
    takes=(Takes.TOKENS,),
    gives=(Gives.TOKEN_OF_SHOWN,),
    problems=(CursorExpired, IndexBuilding, TooManyLongQueries, QueryTooExpensive),
)
def grid_get(request: QueryRequest) -> Response:
    """Return a page of the grid, for a request with query parameters."""
    return _grid(request, grid_request.from_parameters(request.parameters))


def _grid(request: QueryRequest, body: object) -> Response:
    asked = reference(request)

    def page(context: ReadContext) -> Answered:
        query = grid_request.resolve(context.catalog, body, asked)
        return grid_page(context, query, request.container.cursor_source.cursors("grid"))

    return answered(request, page, recent(request), feed(request))


@endpoints.post(
    "/v1/projects/<project>/groups",
    Role.VIEWER,
    "Exact counts of issues by up to three fields",
    body="GroupsRequest",
    answer="IssueGroups",
    takes=(Takes.TOKENS,),
    gives=(Gives.TOKEN_OF_SHOWN,),
    problems=(CursorExpired, IndexBuilding, TooManyLongQueries, QueryTooExpensive),
)
def groups(request: QueryRequest) -> Response:
    """Counts of issues by group."""
    from gridview.query import counting
    from gridview.query.group_request import resolve

    body, asked = request.body(), reference(request)

    def counted(context: ReadContext) -> Answered:
        query = resolve(context.catalog, body, asked)
        return counting.grouped_counts(context, query, request.container.cursor_source.cursors("groups"))

    return answered(request, counted, recent(request), feed(request))


@endpoints.post(
    "/v1/projects/<project>/summary",
    Role.VIEWER,
    "Exact aggregates of fields over the issues that match a filter",
    body="SummaryRequest",
    answer="IssueSummary",
    takes=(Takes.TOKENS,),
    gives=(Gives.TOKEN_OF_SHOWN,),
    problems=(IndexBuilding, TooManyLongQueries, QueryTooExpensive),
)
def summary(request: QueryRequest) -> Response:
    """Aggregates of fields."""
    from gridview.query import counting
    from gridview.query.summary_request import resolve

    body, asked = request.body(), reference(request)

    def summarized(context: ReadContext) -> Answered:
        return counting.summarized(context, resolve(context.catalog, body, asked))

    return answered(request, summarized, recent(request), feed(request))


@endpoints.get(
    "/v1/projects/<project>/issues/<num>/row-number",
    Role.VIEWER,
    "The row number of an issue in an order",
    parameters="RowNumberRequest",
    answer="RowNumber",
    takes=(Takes.TOKENS,),
    gives=(Gives.TOKEN_OF_SHOWN,),
    problems=(IndexBuilding, TooManyLongQueries, QueryTooExpensive),
)
def row_number(request: QueryRequest) -> Response:
    """Return the row number of an issue."""
    body, asked = grid_request.from_parameters(request.parameters), reference(request)

    def found(context: ReadContext) -> Answered:
        query = grid_request.resolve_row_number(context.catalog, body, asked)
        return row_number_of(context, int(request.path["num"]), query)

    return answered(request, found, recent(request))
