"""The attributes of a project: created, changed, deleted, restored."""

from functools import partial

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, written
from gridview.command_api.container import CommandContainer, CommandRequest
from gridview.command_api.writes import counted, created, done_once
from gridview.commands import attributes, deleted_attributes
from gridview.commands.actor import Role
from gridview.support.errors import Conflict, FieldInUse, LimitExceeded, RemovalInProgress

endpoints = Endpoints[CommandContainer]("Attributes", "command")


@endpoints.post(
    "/v1/projects/<project>/attributes",
    Role.ADMIN,
    "Add an attribute to a project",
    status=201,
    body="AttributeCreate",
    answer="Attribute",
    problems=(Conflict, RemovalInProgress, LimitExceeded),
)
def create_attribute(request: CommandRequest) -> Response:
    """Add an attribute."""
    own, actor, project, body = request.container, request.actor, request.path["project"], request.body()
    return created(
        request,
        partial(
            attributes.create_attribute,
            *(own.table, own.catalogs, actor, project, body),
            settling=own.settling,
        ),
        lambda attribute: f"/v1/projects/{project}/attributes/{attribute['id']}",
    )


@endpoints.patch(
    "/v1/projects/<project>/attributes/<attribute>",
    Role.ADMIN,
    "Change an attribute",
    body="AttributePatch",
    answer="Attribute",
    problems=(Conflict, FieldInUse, LimitExceeded),
)
@counted
def update_attribute(request: CommandRequest) -> Response:
    """Change an attribute."""
    own, project, attribute = request.container, request.path["project"], request.path["attribute"]
    return written(
        200,
        attributes.update_attribute(
            own.table,
            own.catalogs,
            request.actor,
            project,
            attribute,
            request.body(),
            request.expected(),
            settling=own.settling,
        ),
    )


@endpoints.delete(
    "/v1/projects/<project>/attributes/<attribute>",
    Role.ADMIN,
    "Delete an attribute",
    problems=(Conflict, FieldInUse, LimitExceeded),
)
@counted
def delete_attribute(request: CommandRequest) -> Response:
    """Delete an attribute."""
    own, project, attribute = request.container, request.path["project"], request.path["attribute"]
    attributes.delete_attribute(
        own.table, own.catalogs, request.actor, project, attribute, request.expected()
    )
    return Response(204)


@endpoints.post(
    "/v1/projects/<project>/deleted-attributes/<attribute>/restore",
    Role.ADMIN,
    "Restore a deleted attribute with its values",
    answer="Attribute",
    problems=(Conflict, LimitExceeded),
)
def restore_attribute(request: CommandRequest) -> Response:
    """Bring a deleted attribute back."""
    own, actor = request.container, request.actor
    project, attribute = request.path["project"], request.path["attribute"]
    request.require_no_body()
    restore = partial(
        deleted_attributes.restore_attribute, own.table, own.catalogs, actor, project, attribute
    )
    return done_once(request, restore, lambda restored: written(200, restored))


@endpoints.delete(
    "/v1/projects/<project>/deleted-attributes/<attribute>",
    Role.ADMIN,
    "Permanently delete a deleted attribute",
    problems=(Conflict,),
)
@counted
def purge_attribute(request: CommandRequest) -> Response:
    """Remove a deleted attribute permanently."""
    own, project, attribute = request.container, request.path["project"], request.path["attribute"]
    deleted_attributes.purge_attribute(
        *(own.table, own.catalogs, request.actor, project, attribute, request.expected()),
        settling=own.settling,
    )
    return Response(204)
