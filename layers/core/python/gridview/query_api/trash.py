"""Deleted issues that can be restored."""

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, ok
from gridview.api.routes import Gives
from gridview.commands import reads
from gridview.commands.actor import Role
from gridview.query_api.answers import token
from gridview.query_api.container import QueryContainer, QueryRequest
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck
from gridview.view.context import ReadContext
from gridview.view.shown_versions import Answered

endpoints = Endpoints[QueryContainer]("Trash", "query")


@endpoints.get(
    "/v1/projects/<project>/trash",
    Role.VIEWER,
    "The deleted issues, newest first",
    parameters="ListParameters",
    answer="TrashPage",
    gives=(Gives.TOKEN_OF_SHOWN,),
)
def list_trash(request: QueryRequest) -> Response:
    """Return a page of a project's deleted issues."""
    own = request.container

    def page(catalog: Catalog, epoch: EpochCheck) -> Answered:
        context = ReadContext(own.table, catalog, own.cache, epoch)
        cursors = own.cursor_source.cursors("trash")
        return epoch.beside(own.table, lambda: reads.list_trash(context, request.parameters, cursors))

    listed, shown = own.catalogs.using(own.table, request.actor.tenant, request.path["project"], page)
    return ok(listed).with_headers(token(request, shown))
