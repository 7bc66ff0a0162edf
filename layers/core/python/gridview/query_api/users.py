"""The users of a tenant."""

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, ok
from gridview.commands import users
from gridview.commands.actor import Role
from gridview.query_api.container import QueryContainer, QueryRequest

endpoints = Endpoints[QueryContainer]("Users", "query")


@endpoints.get(
    "/v1/users",
    Role.VIEWER,
    "The tenant's users in name order",
    parameters="UsersParameters",
    answer="UserPage",
)
def list_users(request: QueryRequest) -> Response:
    """Return a page of the tenant's users."""
    own = request.container
    return ok(
        users.list_users(own.table, request.actor, request.parameters, own.cursor_source.cursors("users"))
    )
