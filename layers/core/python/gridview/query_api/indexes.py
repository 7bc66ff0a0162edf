"""The composite indexes of a project."""

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, ok, versioned
from gridview.commands import reads
from gridview.commands.actor import Role
from gridview.query_api.container import QueryContainer, QueryRequest

endpoints = Endpoints[QueryContainer]("Indexes", "query")


@endpoints.get(
    "/v1/projects/<project>/indexes",
    Role.VIEWER,
    "The composite indexes of a project",
    answer="IndexList",
)
def list_indexes(request: QueryRequest) -> Response:
    """Return the composite indexes of a project."""
    return ok(reads.list_composites(request.container.table, request.actor, request.path["project"]))


@endpoints.get(
    "/v1/projects/<project>/indexes/<index>",
    Role.VIEWER,
    "A composite index of a project",
    answer="CompositeIndex",
)
def get_index(request: QueryRequest) -> Response:
    """One composite index."""
    project, index = request.path["project"], request.path["index"]
    return versioned(reads.get_composite(request.container.table, request.actor, project, index))
