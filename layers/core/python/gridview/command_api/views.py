"""Saved views: created, changed, deleted. Their checks are imported when one is written, not when the
function starts.

Viewers too may write private views. A shared view takes a role that `commands.views` requires.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, written
from gridview.api.routes import Gives
from gridview.command_api.container import CommandContainer, CommandRequest
from gridview.command_api.writes import admission, counted, created, token, using
from gridview.commands.actor import Role
from gridview.commands.attempts import once
from gridview.commands.context import WriteContext
from gridview.commands.idempotency import Transact, at_once
from gridview.dynamodb.expressions import Write
from gridview.encoding.consistency import Recent
from gridview.query.references import Reference
from gridview.schema import ids
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck
from gridview.schema.generations import IndexNotReady
from gridview.schema.manual_orders import ManualOrder
from gridview.schema.placements import Neighbors, RankedRow
from gridview.schema.views import View
from gridview.support.errors import (
    AnchorGone,
    Conflict,
    Forbidden,
    IndexBuilding,
    LimitExceeded,
    RequestInProgress,
)
from gridview.support.validation import parse

if TYPE_CHECKING:
    from gridview.commands.placing_request import OrderRequest

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
        change = saved_views.parse_patch(catalog, body, reference, num)
        ready, to_json = partial(saved_views.ready, catalog), partial(view_answers.view_json, catalog)
        context = WriteContext(table, catalog, request.actor, epoch=epoch)
        beside = _beside(request, catalog)
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
        beside = _beside(request, catalog)
        views.delete_view(table, catalog, request.actor, num, expected, to_json, beside=beside, epoch=epoch)

    using(request, deleted)
    return Response(204)


@endpoints.post(
    "/v1/projects/<project>/views/<view>/order",
    Role.EDITOR,
    "Place up to 500 issues together in the manual order of a view",
    body="OrderRequest",
    answer="PlacedRows",
    gives=(Gives.TOKEN_OF_WRITES,),
    problems=(AnchorGone, Conflict, IndexBuilding, LimitExceeded, RequestInProgress),
)
def place_rows(request: CommandRequest) -> Response:
    """Place rows; repeatable with an Idempotency-Key."""
    from gridview.commands.placing_request import OrderRequest

    own, use, asked = request.container, request.use(), parse(OrderRequest, request.body())
    admitted = admission(request, len(asked.nums))
    if use is None:
        admitted.require(own.table)
        return _placed(request, asked, request.change)
    return Response.again(
        once(
            own.table,
            use,
            request.change,
            request.deadline,
            lambda attempt: _placed(request, asked, attempt.change).kept,
            admitted,
        )
    )


def _placed(request: CommandRequest, asked: "OrderRequest", change: UUID) -> Response:
    from gridview.commands import reads
    from gridview.commands.placing import Placing
    from gridview.query.neighbors import rows_beside
    from gridview.query.row_keys import row_key
    from gridview.query.sort_order import OrderKey, Place
    from gridview.view.context import ReadContext

    own, actor, project = request.container, request.actor, request.path["project"]

    def place(catalog: Catalog, epoch: EpochCheck) -> Response:
        epoch.confirm(own.table)
        order = _manual_order(request, catalog)
        if order.served is None:
            raise IndexNotReady("", view=order.view)
        served = order.served

        def near(beside: RankedRow | None, limit: int, recent: Recent, *, backward: bool) -> Neighbors:
            context = ReadContext(own.table, catalog, epoch=epoch, recent=recent, consistent=True)
            return rows_beside(context, served, beside, limit, backward=backward)

        context = WriteContext(own.table, catalog, actor, change=change, epoch=epoch)
        rows = Placing(context, order, near).place(asked)
        keys = (OrderKey(served),)
        items = [
            {"num": one.num, "key": row_key(keys, Place((one.rank,), one.num)), "version": one.version}
            for one in rows
        ]
        written_token = token(request, {one.num: one.version for one in rows})
        return Response(200, {"items": items}, written_token).under(change)

    try:
        return own.catalogs.using(own.table, actor.tenant, project, place, numbered=True)
    except IndexNotReady as error:
        raise reads.with_progress(own.table, actor, project, error) from error


def _manual_order(request: CommandRequest, catalog: Catalog) -> ManualOrder:
    """Return the manual order of the request's view. NotFound; Conflict if the view has none."""
    from gridview.commands import views

    num = _view(request)
    order = catalog.manual_order(num)
    if order is None:
        views.get_view(request.container.table, catalog, request.actor, num)
        raise Conflict(
            f"The view has no manual order. Sort it by hand first: PATCH /v1/projects/{catalog.project}/views/v{num} "
            f'{{"query": {{"sort": [{{"manual": "v{num}"}}]}}}}.'
        )
    return order


def _beside(request: CommandRequest, catalog: Catalog) -> Callable[[View, View | None], list[Write]]:
    """Return what makes the writes beside a view: notices to webhooks, and its manual order."""
    from gridview.commands.manual_orders import OrdersOfViews
    from gridview.live import webhook_store

    own, place = request.container, (catalog.tenant, catalog.project)
    orders = OrdersOfViews(own.table, own.catalogs, *place, own.settling)

    def beside(view: View, after: View | None) -> list[Write]:
        notices = webhook_store.notices_of_view(own.table, *place, view, after)
        return [*notices, *orders.writes_beside(view, after)]

    return beside


def _view(request: CommandRequest) -> int:
    return ids.view_number(request.path["view"])
