"""Issues: created, changed, deleted, one by one or up to 500 at a time."""

from collections.abc import Mapping
from typing import Any

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, written
from gridview.api.routes import Gives
from gridview.command_api.container import CommandContainer, CommandRequest
from gridview.command_api.writes import admission, counted, created, note, token, using
from gridview.commands import issues
from gridview.commands.actor import Role
from gridview.commands.attempts import Attempt, once
from gridview.commands.batch import parse_batch, run_batch, versions_written
from gridview.commands.context import WriteContext
from gridview.commands.idempotency import Transact
from gridview.encoding.consistency import DELETED
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import CONFIRMED, EpochCheck
from gridview.schema.fields import UnknownOption
from gridview.support.errors import (
    ComputedFieldWrite,
    Conflict,
    EditConflict,
    LimitExceeded,
    RequestInProgress,
)

endpoints = Endpoints[CommandContainer]("Issues", "command")


@endpoints.post(
    "/v1/projects/<project>/issues",
    Role.EDITOR,
    "Create an issue",
    status=201,
    body="IssueCreate",
    answer="Issue",
    gives=(Gives.TOKEN_OF_WRITES,),
    problems=(ComputedFieldWrite, Conflict, LimitExceeded),
)
def create_issue(request: CommandRequest) -> Response:
    """Create an issue."""
    table, actor = request.container.table, request.actor
    project, body = request.path["project"], request.body()

    def create(transact: Transact | None = None) -> dict[str, Any]:
        def stored(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
            note(request, request.change)
            document = issues.create_issue(
                WriteContext(table, catalog, actor, change=request.change, epoch=epoch),
                body,
                transact=transact,
            )
            return documents.to_json(catalog, document)

        return using(request, stored)

    def location(issue: Mapping[str, Any]) -> str:
        return f"/v1/projects/{project}/issues/{issue['num']}"

    return created(request, create, location, lambda issue: token(request, {issue["num"]: issue["version"]}))


@endpoints.post(
    "/v1/projects/<project>/issues/batch",
    Role.EDITOR,
    "Create, update and delete up to 500 issues",
    body="BatchRequest",
    answer="BatchAnswer",
    gives=(Gives.TOKEN_OF_WRITES,),
    problems=(Conflict, RequestInProgress),
)
def batch(request: CommandRequest) -> Response:
    """Many creates, updates and deletes; repeatable with an Idempotency-Key."""
    own, actor, use, asked = request.container, request.actor, request.use(), parse_batch(request.body())
    admitted = admission(request, len(asked.operations))

    def current() -> Catalog:
        # So many writes are worth a read: no operation is judged by a stale catalog.
        return own.catalogs.current(own.table, actor.tenant, request.path["project"])

    def run(catalog: Catalog, attempt: Attempt | None) -> Response:
        change = attempt.change if attempt else request.change
        note(request, change)
        found = run_batch(own.table, catalog, actor, asked, change, attempt)
        written_token = token(request, versions_written(asked, found["results"]))
        return Response(200, found, written_token).under(change)

    if use is None:
        return run(admitted.beside(own.table, current), None)
    catalog = current()
    return Response.again(
        once(
            own.table,
            use,
            request.change,
            request.deadline,
            lambda attempt: run(catalog, attempt).kept,
            admitted,
        )
    )


@endpoints.patch(
    "/v1/projects/<project>/issues/<num>",
    Role.EDITOR,
    "Change an issue by a merge patch (RFC 7396)",
    body="IssuePatch",
    answer="UpdatedIssue",
    gives=(Gives.TOKEN_OF_WRITES,),
    problems=(ComputedFieldWrite, Conflict, EditConflict, LimitExceeded),
)
def update_issue(request: CommandRequest) -> Response:
    """Change an issue."""
    num, body, expected = int(request.path["num"]), request.body(), request.expected()
    table, admitted = request.container.table, admission(request)

    def update(catalog: Catalog, epoch: EpochCheck) -> issues.Updated:
        note(request, request.change, admitted)
        return issues.update_issue(
            WriteContext(
                table, catalog, request.actor, change=request.change, epoch=epoch, admission=admitted
            ),
            num,
            body,
            expected,
        )

    document, merged = using(request, update)
    further = {} if merged is None else {"merged": merged}
    answer = written(200, _issue_json(request, document) | further)
    return answer.with_headers(token(request, {num: document["version"]}))


@endpoints.delete(
    "/v1/projects/<project>/issues/<num>",
    Role.EDITOR,
    "Move an issue to the trash",
    gives=(Gives.TOKEN_OF_WRITES,),
    problems=(Conflict, LimitExceeded),
)
@counted
def delete_issue(request: CommandRequest) -> Response:
    """Put an issue into the trash."""
    num, expected = int(request.path["num"]), request.expected()
    own = request.container

    def delete(catalog: Catalog, epoch: EpochCheck = CONFIRMED) -> None:
        note(request, request.change)
        issues.delete_issue(
            WriteContext(own.table, catalog, request.actor, change=request.change, epoch=epoch), num, expected
        )

    if expected is None:
        # The issues of a deleted project stay as they are: nothing is written before that is known.
        delete(own.catalogs.current(own.table, request.actor.tenant, request.path["project"]))
    else:
        using(request, delete)
    return Response(204).with_headers(token(request, {num: DELETED}))


def _issue_json(request: CommandRequest, document: documents.Document) -> dict[str, Any]:
    """Return the answer to a write. The document may hold an option that is younger than the definitions that
    the write used.
    """
    own, project = request.container, (request.actor.tenant, request.path["project"])
    try:
        return documents.to_json(own.catalogs.get(own.table, *project), document)
    except UnknownOption:
        return documents.to_json(own.catalogs.reload(own.table, *project), document)
