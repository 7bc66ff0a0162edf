"""Projects, also deleted ones that can be restored."""

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, ok, versioned
from gridview.commands import reads
from gridview.commands.actor import Role
from gridview.query_api.container import QueryContainer, QueryRequest

endpoints = Endpoints[QueryContainer]("Projects", "query")


@endpoints.get(
    "/v1/projects",
    Role.VIEWER,
    "The tenant's projects in name order",
    parameters="ListParameters",
    answer="ProjectPage",
)
def list_projects(request: QueryRequest) -> Response:
    """Return a page of the tenant's projects."""
    own = request.container
    cursors = own.cursor_source.cursors("projects")
    return ok(reads.list_projects(own.table, request.actor, request.parameters, cursors))


@endpoints.get(
    "/v1/projects/<project>", Role.VIEWER, "A project with its attributes in display order", answer="Project"
)
def get_project(request: QueryRequest) -> Response:
    """One project."""
    return versioned(reads.get_project(request.container.table, request.actor, request.path["project"]))


@endpoints.get(
    "/v1/deleted-projects",
    Role.ADMIN,
    "The deleted projects that can be restored, the last deleted first",
    parameters="ListParameters",
    answer="DeletedProjectPage",
)
def list_deleted_projects(request: QueryRequest) -> Response:
    """Return a page of the projects that can be restored."""
    from gridview.commands import deleted_projects

    own = request.container
    cursors = own.cursor_source.cursors("deleted-projects")
    return ok(deleted_projects.list_deleted_projects(own.table, request.actor, request.parameters, cursors))
