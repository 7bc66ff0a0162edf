"""Saved views: created, changed, deleted. Their checks are imported when one is written, not when the
function starts.

Viewers too may write private views. A shared view takes a role that `commands.views` requires.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, written
from gridview.command_api.container import CommandContainer, CommandRequest
from gridview.command_api.writes import counted, created, using
from gridview.commands.actor import Role
from gridview.commands.context import WriteContext
from gridview.commands.idempotency import Transact, at_once
from gridview.dynamodb.expressions import Write
from gridview.dynamodb.table import Table
from gridview.query.references import Reference
from gridview.schema import ids
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck
from gridview.schema.views import View
from gridview.support.errors import Conflict, Forbidden, LimitExceeded

endpoints = Endpoints[CommandContainer]("Views", "command")


@endpoints.post(
    "/v1/projects/<project>/views",
    Role.VIEWER,
    "Save a view",
    status=201,
    body="ViewCreate",
    answer="SavedView",
    problems=(Conflict, Forbidden, LimitExceeded),
)
def create_view(request: CommandRequest) -> Response:
    """Save a view."""
    from gridview.commands import views
    from gridview.query import saved_views

    table, actor, body = request.container.table, request.actor, request.body()
    reference = Reference.of(actor.user)

    def create(transact: Transact = at_once) -> dict[str, Any]:
        def stored(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
            change = saved_views.parse_create(catalog, body, reference)
            ready = partial(saved_views.ready, catalog)
            return views.create_view(table, catalog, actor, change, ready, transact=transact, epoch=epoch)

        return using(request, stored)

    project = request.path["project"]
    return created(request, create, lambda view: f"/v1/projects/{project}/views/{view['id']}")


@endpoints.patch(
    "/v1/projects/<project>/views/<view>",
    Role.VIEWER,
    "Change a saved view",
    body="ViewPatch",
    answer="SavedView",
    problems=(Conflict, Forbidden, LimitExceeded),
)
@counted
def update_view(request: CommandRequest) -> Response:
    """Change a view."""
    from gridview.commands import views
    from gridview.query import saved_views, view_answers

    table, body, expected, num = request.container.table, request.body(), request.expected(), _view(request)
    reference = Reference.of(request.actor.user)

    def changed(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
        change = saved_views.parse_patch(catalog, body, reference)
        ready, to_json = partial(saved_views.ready, catalog), partial(view_answers.view_json, catalog)
        context = WriteContext(table, catalog, request.actor, epoch=epoch)
        beside = _notices_beside(table, catalog)
        return views.update_view(context, num, change, expected, ready, to_json, beside=beside)

    return written(200, using(request, changed))


@endpoints.delete(
    "/v1/projects/<project>/views/<view>",
    Role.VIEWER,
    "Delete a saved view",
    problems=(Conflict, Forbidden),
)
@counted
def delete_view(request: CommandRequest) -> Response:
    """Delete a view."""
    from gridview.commands import views
    from gridview.query import view_answers

    table, num, expected = request.container.table, _view(request), request.expected()

    def deleted(catalog: Catalog, epoch: EpochCheck) -> None:
        to_json = partial(view_answers.view_json, catalog)
        beside = _notices_beside(table, catalog)
        views.delete_view(table, catalog, request.actor, num, expected, to_json, beside=beside, epoch=epoch)

    using(request, deleted)
    return Response(204)


def _notices_beside(table: Table, catalog: Catalog) -> Callable[[View, View | None], list[Write]]:
    from gridview.live import webhook_store

    return partial(webhook_store.notices_of_view, table, catalog.tenant, catalog.project)


def _view(request: CommandRequest) -> int:
    return ids.view_number(request.path["view"])
