"""Jobs: begun and cancelled. The workers do them in the background.

The checks of jobs' orders are imported when one is begun, not when the function starts.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response
from gridview.api.routes import Takes
from gridview.command_api.container import CommandContainer, CommandRequest
from gridview.command_api.writes import counted, done_once, recent, using
from gridview.commands import jobs, reads
from gridview.commands.actor import Role
from gridview.commands.idempotency import Transact, at_once
from gridview.encoding.consistency import Recent
from gridview.query.references import Reference
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck
from gridview.schema.generations import IndexNotReady
from gridview.schema.user_jobs import JobKind
from gridview.support import aws
from gridview.support.errors import (
    ComputedFieldWrite,
    Conflict,
    Forbidden,
    IndexBuilding,
    LimitExceeded,
    Overloaded,
    QueryTooExpensive,
    TooManyJobs,
)

endpoints = Endpoints[CommandContainer]("Jobs", "command")


@endpoints.post(
    "/v1/projects/<project>/issues/update-matching",
    Role.EDITOR,
    "Change all issues that a filter matches, in the background",
    status=202,
    body="UpdateMatching",
    answer="BackgroundJob",
    takes=(Takes.TOKENS,),
    problems=(ComputedFieldWrite, Conflict, IndexBuilding, TooManyJobs, QueryTooExpensive, LimitExceeded),
)
def update_matching(request: CommandRequest) -> Response:
    """Begin to change all issues that a filter matches."""
    from gridview.maintenance import bulk_request

    return _begun(request, JobKind.UPDATE, bulk_request.parse_update)


@endpoints.post(
    "/v1/projects/<project>/issues/delete-matching",
    Role.EDITOR,
    "Delete all issues that a filter matches, in the background",
    status=202,
    body="DeleteMatching",
    answer="BackgroundJob",
    takes=(Takes.TOKENS,),
    problems=(Conflict, IndexBuilding, TooManyJobs, QueryTooExpensive, LimitExceeded),
)
def delete_matching(request: CommandRequest) -> Response:
    """Begin to delete all issues that a filter matches."""
    from gridview.maintenance import bulk_request

    return _begun(request, JobKind.DELETE, bulk_request.parse_delete)


@endpoints.post(
    "/v1/projects/<project>/export",
    Role.VIEWER,
    "Export rows to a file, in the background",
    status=202,
    body="ExportRequest",
    answer="BackgroundJob",
    takes=(Takes.TOKENS,),
    problems=(Conflict, IndexBuilding, TooManyJobs, QueryTooExpensive, LimitExceeded),
)
def export(request: CommandRequest) -> Response:
    """Begin to write rows into a file."""
    from gridview.commands import views
    from gridview.maintenance.export_request import ExportOrder, parse_export
    from gridview.query import view_answers

    table, actor = request.container.table, request.actor

    def parsed(catalog: Catalog, body: Any, recent: Recent, reference: Reference) -> ExportOrder:
        def view(num: int) -> Mapping[str, Any]:
            return view_answers.view_json(catalog, views.get_view(table, catalog, actor, num))

        return parse_export(catalog, body, recent, view, reference)

    return _begun(request, JobKind.EXPORT, parsed)


@endpoints.delete(
    "/v1/projects/<project>/jobs/<job>",
    Role.VIEWER,
    "Cancel a job; its finished work stays",
    takes=(),
    problems=(Forbidden,),
)
@counted
def cancel_job(request: CommandRequest) -> Response:
    """Cancel a job."""
    own, actor, project = request.container, request.actor, request.path["project"]
    own.catalogs.current(own.table, actor.tenant, project)
    jobs.cancel_job(own.table, actor, project, request.path["job"])
    return Response(204)


class _Asked(Protocol):
    """The order of a job."""

    def to_stored(self) -> dict[str, Any]:
        """Encode."""


def _begun(
    request: CommandRequest, kind: JobKind, parsed: Callable[[Catalog, Any, Recent, Reference], _Asked]
) -> Response:
    """202 with a new job, of which the workers get a hint; with an Idempotency-Key it is made once."""
    table, actor, project = request.container.table, request.actor, request.path["project"]
    body, carried, reference = request.body(), recent(request), Reference.of(actor.user)

    def start(transact: Transact = at_once) -> dict[str, Any]:
        def started(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
            asked = parsed(catalog, body, carried, reference).to_stored()
            epoch.confirm(table)
            return jobs.start(table, actor, project, kind, asked, request.change, transact)

        try:
            return using(request, started)
        except IndexNotReady as error:
            raise reads.with_progress(table, actor, project, error) from error

    answer = done_once(request, start, partial(accepted, request))
    wake(request)
    return answer


def accepted(request: CommandRequest, job: Mapping[str, Any]) -> Response:
    """202 with a job."""
    return Response(202, job, {"Location": f"/v1/projects/{request.path['project']}/jobs/{job['id']}"})


def wake(request: CommandRequest) -> None:
    """Have a worker come at once. If that fails, the next minute brings one."""
    own = request.container
    try:
        hint = jobs.waiting(own.table, request.actor.tenant)
        if hint is not None:
            own.job_queue.send(hint)
    except (Overloaded, *aws.FAILURES):
        own.logger.exception("could not send the hint for a job")
