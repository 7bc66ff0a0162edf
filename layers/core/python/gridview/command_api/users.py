"""The caller. It is noted, so the function that can write serves it."""

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, ok
from gridview.command_api.container import CommandContainer, CommandRequest
from gridview.commands import users
from gridview.commands.actor import Role

endpoints = Endpoints[CommandContainer]("Users", "command")


@endpoints.get("/v1/me", Role.VIEWER, "The caller", answer="Caller")
def me(request: CommandRequest) -> Response:
    """Return the caller, whose name is noted for the others of the tenant."""
    return ok(users.me(request.container.table, request.actor, request.name))
