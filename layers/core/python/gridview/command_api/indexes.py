"""The composite indexes of a project: defined and deleted."""

from functools import partial

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response
from gridview.command_api.container import CommandContainer, CommandRequest
from gridview.command_api.writes import counted, created
from gridview.commands import composite_indexes
from gridview.commands.actor import Role
from gridview.support.errors import Conflict, LimitExceeded

endpoints = Endpoints[CommandContainer]("Indexes", "command")


@endpoints.post(
    "/v1/projects/<project>/indexes",
    Role.ADMIN,
    "Create a composite index",
    status=201,
    body="CompositeCreate",
    answer="CompositeIndex",
    problems=(Conflict, LimitExceeded),
)
def create_index(request: CommandRequest) -> Response:
    """Define a composite index."""
    own, actor, project, body = request.container, request.actor, request.path["project"], request.body()
    return created(
        request,
        partial(
            composite_indexes.create_composite,
            *(own.table, own.catalogs, actor, project, body),
            settling=own.settling,
        ),
        lambda index: f"/v1/projects/{project}/indexes/{index['id']}",
    )


@endpoints.delete(
    "/v1/projects/<project>/indexes/<index>", Role.ADMIN, "Delete a composite index", problems=(Conflict,)
)
@counted
def delete_index(request: CommandRequest) -> Response:
    """Delete a composite index."""
    own, project, index = request.container, request.path["project"], request.path["index"]
    composite_indexes.delete_composite(
        *(own.table, own.catalogs, request.actor, project, index, request.expected()),
        settling=own.settling,
    )
    return Response(204)
