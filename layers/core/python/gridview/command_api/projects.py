"""Projects: created, changed, deleted, restored."""

from functools import partial

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, written
from gridview.command_api.container import CommandContainer, CommandRequest
from gridview.command_api.writes import counted, created, done_once
from gridview.commands import deleted_projects, projects
from gridview.commands.actor import Role
from gridview.support.errors import Conflict, FieldInUse, LimitExceeded

endpoints = Endpoints[CommandContainer]("Projects", "command")


@endpoints.post(
    "/v1/projects",
    Role.ADMIN,
    "Create a project",
    status=201,
    body="ProjectCreate",
    answer="Project",
    problems=(Conflict, LimitExceeded),
)
def create_project(request: CommandRequest) -> Response:
    """Create a project."""
    own, actor, body = request.container, request.actor, request.body()
    return created(
        request,
        partial(projects.create_project, own.table, actor, body, most=own.most_projects),
        lambda project: f"/v1/projects/{project['id']}",
    )


@endpoints.patch(
    "/v1/projects/<project>",
    Role.ADMIN,
    "Change a project's name or states",
    body="ProjectPatch",
    answer="Project",
    problems=(Conflict, FieldInUse, LimitExceeded),
)
@counted
def update_project(request: CommandRequest) -> Response:
    """Change a project."""
    own = request.container
    return written(
        200,
        projects.update_project(
            own.table,
            own.catalogs,
            request.actor,
            request.path["project"],
            request.body(),
            request.expected(),
            settling=own.settling,
        ),
    )


@endpoints.delete("/v1/projects/<project>", Role.ADMIN, "Delete a project", problems=(Conflict,))
@counted
def delete_project(request: CommandRequest) -> Response:
    """Delete a project."""
    own, project = request.container, request.path["project"]
    projects.delete_project(own.table, own.catalogs, request.actor, project, request.expected())
    return Response(204)


@endpoints.post(
    "/v1/deleted-projects/<project>/restore",
    Role.ADMIN,
    "Restore a deleted project with its contents",
    answer="Project",
    problems=(Conflict, LimitExceeded),
)
def restore_project(request: CommandRequest) -> Response:
    """Bring a deleted project back."""
    own, actor, project = request.container, request.actor, request.path["project"]
    request.require_no_body()
    restore = partial(
        deleted_projects.restore_project, own.table, own.catalogs, actor, project, most=own.most_projects
    )
    return done_once(request, restore, lambda restored: written(200, restored))


@endpoints.delete(
    "/v1/deleted-projects/<project>",
    Role.ADMIN,
    "Permanently delete a deleted project",
    problems=(Conflict,),
)
@counted
def purge_project(request: CommandRequest) -> Response:
    """Remove a deleted project permanently."""
    own, project, expected = request.container, request.path["project"], request.expected()
    deleted_projects.purge_project(
        own.table, own.catalogs, request.actor, project, expected, settling=own.settling
    )
    return Response(204)
