"""Changes that were made: taken back."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response
from gridview.api.routes import Gives, Takes
from gridview.command_api.container import CommandContainer, CommandRequest
from gridview.command_api.jobs import accepted, wake
from gridview.command_api.writes import admission, note, recent, token
from gridview.commands import jobs
from gridview.commands.actor import Role
from gridview.commands.attempts import Attempt, once
from gridview.commands.idempotency import at_once
from gridview.encoding.consistency import writes_in
from gridview.schema.user_jobs import JobKind
from gridview.support.errors import Conflict, HistoryDisabled, HistoryExpired, HistoryNotReady, TooManyJobs

endpoints = Endpoints[CommandContainer]("History", "command")


@endpoints.post(
    "/v1/projects/<project>/undo",
    Role.EDITOR,
    "Undo all writes under an X-Change-Id",
    body="UndoRequest",
    answer="UndoAnswer",
    takes=(Takes.TOKENS_OF_CHANGE,),
    gives=(Gives.TOKEN_OF_WRITES,),
    problems=(Conflict, HistoryExpired, HistoryDisabled, HistoryNotReady, TooManyJobs),
    job=True,
)
def undo(request: CommandRequest) -> Response:
    """Take a change back, at once or by a job; repeatable with an Idempotency-Key."""
    from gridview.commands import undo as undoing
    from gridview.commands import undo_answers as answers
    from gridview.commands.undo_decision import Undo

    own, actor = request.container, request.actor
    asked, use = undoing.parse_undo(request.body()), request.use()
    carried = writes_in(recent(request))

    def run(change: UUID, attempt: Attempt | None) -> Response:
        undoing.require_another(asked, change)
        catalog = own.catalogs.current(own.table, actor.tenant, request.path["project"])
        order, extent = undoing.find(own.table, catalog, actor, asked, carried)
        jobs.require_over(own.table, actor.tenant, catalog.project, order.change, order.by)
        if "nums" in asked.model_fields_set:
            extent = undoing.of_issues(own.table, catalog, order, extent, asked.nums)
        if asked.dry_run:
            return Response(200, undoing.looked_at(extent)).under(change)
        admission(request, 1 if extent.more else len(extent.versions)).require(own.table)
        if extent.more:

            def begun(job: Mapping[str, Any]) -> Response:
                return accepted(request, job).under(change)

            transact = at_once if attempt is None else attempt.keeping(lambda job: begun(job).kept)
            started = jobs.start(
                own.table, actor, catalog.project, JobKind.UNDO, order.to_stored(), change, transact
            )
            return begun(started)
        rule = Undo(catalog, actor.user, change)
        note(request, change, always=True)
        results = undoing.take_back(own.table, rule, order, extent)
        if (late := answers.late_in(results)) is not None and not answers.has_written(results):
            raise late
        written = token(request, answers.versions_written(results))
        return Response(200, answers.answer_of(results, change), written).under(change)

    if use is None:
        answer = run(request.change, None)
    else:
        answer = Response.again(
            once(
                own.table,
                use,
                request.change,
                request.deadline,
                lambda attempt: run(attempt.change, attempt).kept,
            )
        )
    if answer.status == 202:
        wake(request)
    return answer
