"""The jobs of a project."""

from collections.abc import Callable
from functools import partial
from typing import Any

from gridview.api.config import session_role
from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, ok
from gridview.commands import jobs
from gridview.commands.actor import Role
from gridview.query_api.container import QueryContainer, QueryRequest
from gridview.schema.user_jobs import UserJob

endpoints = Endpoints[QueryContainer]("Jobs", "query")


@endpoints.get(
    "/v1/projects/<project>/jobs",
    Role.VIEWER,
    "The jobs of a project, newest first",
    parameters="ListParameters",
    answer="BackgroundJobPage",
)
def list_jobs(request: QueryRequest) -> Response:
    """Return a page of the project's jobs."""
    own = request.container
    cursors = own.cursor_source.cursors("jobs")
    return _of_a_project(
        request,
        lambda project: jobs.list_jobs(own.table, request.actor, project, request.parameters, cursors),
    )


@endpoints.get(
    "/v1/projects/<project>/jobs/<job>", Role.VIEWER, "A job and its progress", answer="BackgroundJob"
)
def get_job(request: QueryRequest) -> Response:
    """One job, and a link to the file that it has made."""
    own, job = request.container, request.path["job"]

    def found(project: str) -> dict[str, Any]:
        link = partial(_link, own.export_bucket, project)
        return jobs.get_job(own.table, request.actor, project, job, link)

    return _of_a_project(request, found)


def _link(bucket: str, project: str, job: UserJob) -> str | None:
    """Return a URL of the file of an export. The signer is imported when a URL is asked for, not when the
    function starts.
    """
    from gridview.maintenance.export_links import export_links, link_of

    link = link_of(project, job)
    return None if link is None else export_links(bucket, session_role()).url(link)


@endpoints.get(
    "/v1/projects/<project>/jobs/<job>/refused",
    Role.VIEWER,
    "The issues that a job could not change, with the reasons",
    parameters="ListParameters",
    answer="RefusedPage",
)
def list_refused(request: QueryRequest) -> Response:
    """Return a page of the issues that a job could not change."""
    own, job = request.container, request.path["job"]
    cursors = own.cursor_source.cursors("refused")
    return _of_a_project(
        request,
        lambda project: jobs.list_refused(
            own.table, request.actor, project, job, request.parameters, cursors
        ),
    )


def _of_a_project(request: QueryRequest, read: Callable[[str], dict[str, Any]]) -> Response:
    """Return the result of `read` for a project that exists."""
    own, project = request.container, request.path["project"]
    return ok(own.catalogs.existing(own.table, request.actor.tenant, project, lambda _: read(project)))
