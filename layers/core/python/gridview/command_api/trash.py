"""Deleted issues: restored, or removed permanently."""

from typing import Any

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, written
from gridview.api.routes import Gives
from gridview.command_api.container import CommandContainer, CommandRequest
from gridview.command_api.writes import counted, done_once, note, token, using
from gridview.commands import trash
from gridview.commands.actor import Role
from gridview.commands.idempotency import Transact
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck
from gridview.support.errors import Conflict, LimitExceeded

endpoints = Endpoints[CommandContainer]("Trash", "command")


@endpoints.post(
    "/v1/projects/<project>/trash/<num>/restore",
    Role.EDITOR,
    "Restore a deleted issue",
    answer="Issue",
    gives=(Gives.TOKEN_OF_WRITES,),
    problems=(Conflict, LimitExceeded),
)
def restore_issue(request: CommandRequest) -> Response:
    """Bring a deleted issue back."""
    num, table, actor = int(request.path["num"]), request.container.table, request.actor
    request.require_no_body()

    def restore(transact: Transact | None = None) -> dict[str, Any]:
        def restored(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
            note(request, request.change)
            document = trash.restore_issue(
                table, catalog, actor, num, change=request.change, transact=transact, epoch=epoch
            )
            return documents.to_json(catalog, document)

        return using(request, restored)

    return done_once(
        request,
        restore,
        lambda issue: written(200, issue).with_headers(token(request, {num: issue["version"]})),
    )


@endpoints.delete(
    "/v1/projects/<project>/trash/<num>",
    Role.ADMIN,
    "Permanently delete a deleted issue",
    problems=(Conflict,),
)
@counted
def purge_issue(request: CommandRequest) -> Response:
    """Remove a deleted issue permanently."""
    table, num, expected = request.container.table, int(request.path["num"]), request.expected()
    using(request, lambda catalog, epoch: trash.purge_issue(table, catalog, num, expected, epoch=epoch))
    return Response(204)
