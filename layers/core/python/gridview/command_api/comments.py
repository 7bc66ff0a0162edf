"""The comments on an issue: created, changed, deleted. Their writers are imported when one is written."""

from typing import Any

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, written
from gridview.command_api.container import CommandContainer, CommandRequest
from gridview.command_api.writes import counted, created, using
from gridview.commands.actor import Role
from gridview.commands.idempotency import Transact, at_once
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck
from gridview.support.errors import Conflict, LimitExceeded

endpoints = Endpoints[CommandContainer]("Comments", "command")


@endpoints.post(
    "/v1/projects/<project>/issues/<num>/comments",
    Role.EDITOR,
    "Comment on an issue",
    status=201,
    body="CommentCreate",
    answer="IssueComment",
    problems=(Conflict, LimitExceeded),
)
def create_comment(request: CommandRequest) -> Response:
    """Comment on an issue."""
    from gridview.commands import comments

    table, actor, project = request.container.table, request.actor, request.path["project"]
    num, body = int(request.path["num"]), request.body()

    def create(transact: Transact = at_once) -> dict[str, Any]:
        return using(
            request,
            lambda catalog, epoch: comments.create_comment(
                table, catalog, actor, num, body, transact=transact, epoch=epoch
            ),
        )

    return created(
        request,
        create,
        lambda comment: f"/v1/projects/{project}/issues/{num}/comments/{comment['id']}",
    )


@endpoints.patch(
    "/v1/projects/<project>/issues/<num>/comments/<comment>",
    Role.EDITOR,
    "Change your own comment",
    body="CommentPatch",
    answer="IssueComment",
    problems=(Conflict,),
)
@counted
def update_comment(request: CommandRequest) -> Response:
    """Change a comment."""
    from gridview.commands import comments

    table, body, expected = request.container.table, request.body(), request.expected()
    place = _comment(request)

    def changed(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
        return comments.update_comment(table, catalog, request.actor, *place, body, expected, epoch=epoch)

    return written(200, using(request, changed))


@endpoints.delete(
    "/v1/projects/<project>/issues/<num>/comments/<comment>",
    Role.EDITOR,
    "Delete a comment",
    problems=(Conflict,),
)
@counted
def delete_comment(request: CommandRequest) -> Response:
    """Delete a comment."""
    from gridview.commands import comments

    table, expected, place = request.container.table, request.expected(), _comment(request)

    def deleted(catalog: Catalog, epoch: EpochCheck) -> None:
        comments.delete_comment(table, catalog, request.actor, *place, expected, epoch=epoch)

    using(request, deleted)
    return Response(204)


def _comment(request: CommandRequest) -> tuple[int, int]:
    return int(request.path["num"]), int(request.path["comment"])
