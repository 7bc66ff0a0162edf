"""Saved views. Their readers are imported when one is read, not when the function starts."""

from functools import partial
from typing import Any

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, ok, versioned
from gridview.commands.actor import Role
from gridview.query_api.container import QueryContainer, QueryRequest
from gridview.schema import ids
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck

endpoints = Endpoints[QueryContainer]("Views", "query")


@endpoints.get(
    "/v1/projects/<project>/views",
    Role.VIEWER,
    "The saved views of a project that the caller sees",
    parameters="ListParameters",
    answer="SavedViewPage",
)
def list_views(request: QueryRequest) -> Response:
    """Return a page of the views that the caller sees."""
    from gridview.commands import views
    from gridview.query import view_answers

    own = request.container

    def page(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
        cursors, to_json = own.cursor_source.cursors("views"), partial(view_answers.view_json, catalog)
        return epoch.beside(
            own.table,
            lambda: views.list_views(own.table, catalog, request.actor, request.parameters, cursors, to_json),
        )

    return ok(own.catalogs.using(own.table, request.actor.tenant, request.path["project"], page))


@endpoints.get(
    "/v1/projects/<project>/views/<view>", Role.VIEWER, "A saved view of a project", answer="SavedView"
)
def get_view(request: QueryRequest) -> Response:
    """One view."""
    from gridview.commands import views
    from gridview.query import view_answers

    own, num = request.container, ids.view_number(request.path["view"])

    def found(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
        to_json = partial(view_answers.view_json, catalog)
        return epoch.beside(
            own.table, lambda: views.placed_view(own.table, catalog, request.actor, num, to_json)
        )

    return versioned(own.catalogs.using(own.table, request.actor.tenant, request.path["project"], found))
