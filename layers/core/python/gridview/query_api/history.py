"""Changes that were made, of an issue and of a project."""

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response
from gridview.api.routes import Gives
from gridview.commands.actor import Role
from gridview.query import change_lists
from gridview.query_api.answers import answered
from gridview.query_api.container import QueryContainer, QueryRequest
from gridview.support.errors import TooManyLongQueries
from gridview.view.context import ReadContext
from gridview.view.shown_versions import Answered

endpoints = Endpoints[QueryContainer]("History", "query")


@endpoints.get(
    "/v1/projects/<project>/issues/<num>/history",
    Role.VIEWER,
    "The changes of an issue, newest first",
    parameters="HistoryParameters",
    answer="HistoryPage",
    gives=(Gives.TOKEN_OF_SHOWN,),
    problems=(TooManyLongQueries,),
)
def issue_history(request: QueryRequest) -> Response:
    """Return the changes of an issue."""
    num = int(request.path["num"])

    def listed(context: ReadContext) -> Answered:
        cursors = request.container.cursor_source.cursors("history")
        return change_lists.issue_history(context, num, request.parameters, cursors)

    return answered(request, listed)


@endpoints.get(
    "/v1/projects/<project>/activity",
    Role.VIEWER,
    "The changes of a project by user, field and time, newest first",
    parameters="ActivityParameters",
    answer="ActivityPage",
    gives=(Gives.TOKEN_OF_SHOWN,),
    problems=(TooManyLongQueries,),
)
def activity(request: QueryRequest) -> Response:
    """Return the changes of a project."""

    def listed(context: ReadContext) -> Answered:
        cursors = request.container.cursor_source.cursors("activity")
        return change_lists.activity(context, request.parameters, cursors)

    return answered(request, listed)
