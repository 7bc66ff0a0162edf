"""The reads of the API: projects, attributes, issues and the grid. This function's role cannot write."""

from collections.abc import Callable
from functools import partial
from typing import Any

from aws_lambda_powertools import Logger

from gridview.api import snapshots, tokens
from gridview.api.config import CursorSource, required, session_role, stack_metrics, stack_transport
from gridview.api.http import Endpoint, Request, Response, count_capacity, ok
from gridview.api.http import handler as http_handler
from gridview.commands import jobs, reads, users
from gridview.commands.preconditions import etag
from gridview.dynamodb.table import Table
from gridview.encoding.consistency import Recent
from gridview.encoding.cursors import Cursors
from gridview.journal.log import Log
from gridview.query import change_lists, counting, grid_request
from gridview.query.grid import grid_page
from gridview.query.group_request import resolve as resolve_groups
from gridview.query.row_number import position as position_in
from gridview.query.summary_request import resolve as resolve_summary
from gridview.schema import documents, ids
from gridview.schema.catalog import Catalog
from gridview.schema.document_store import get_issue as read_issue
from gridview.schema.epoch import EpochCheck
from gridview.schema.generations import IndexNotReady
from gridview.schema.store import Catalogs
from gridview.schema.user_jobs import UserJob
from gridview.view import freshness
from gridview.view.block_cache import BlockCache
from gridview.view.context import ReadContext
from gridview.view.journal_tail import learn
from gridview.view.shown_versions import Answered, Shown, ShownVersion

logger = Logger()
metrics = stack_metrics()
table = Table(required("TABLE_NAME"), session_role=session_role(), transport=stack_transport(logger))
cache = BlockCache()
catalogs = Catalogs(beside=lambda own, tenant, project: learn(Log(own, tenant, project), cache))
cursor_source = CursorSource()
export_bucket = required("EXPORT_BUCKET")


def health(_: Request) -> Response:
    """The health check; it does not access the table."""
    return ok({"status": "ok"})


def openapi(request: Request) -> Response:
    """The OpenAPI document. What only it needs is imported when it is asked for, not when the function starts."""
    from gridview.api.openapi import document

    # API Gateway says https; the local server says nothing.
    scheme = request.header("x-forwarded-proto") or "http"
    return ok(document(f"{scheme}://{request.event.request_context.domain_name}"))


def list_users(request: Request) -> Response:
    """A page of the tenant's users."""
    return ok(users.list_users(table, request.actor, request.parameters, cursor_source.cursors("users")))


def list_projects(request: Request) -> Response:
    """A page of the tenant's projects."""
    return ok(
        reads.list_projects(table, request.actor, request.parameters, cursor_source.cursors("projects"))
    )


def list_deleted_projects(request: Request) -> Response:
    """A page of the projects that can be restored."""
    from gridview.commands import deleted_projects

    cursors = cursor_source.cursors("deleted-projects")
    return ok(deleted_projects.list_deleted_projects(table, request.actor, request.parameters, cursors))


def get_project(request: Request) -> Response:
    """One project."""
    found = reads.get_project(table, request.actor, request.path["project"])
    return Response(200, found, {"ETag": etag(found["version"])})


def get_attribute(request: Request) -> Response:
    """One attribute."""
    found = reads.get_attribute(table, request.actor, request.path["project"], request.path["attribute"])
    return Response(200, found, {"ETag": etag(found["version"])})


def list_deleted_attributes(request: Request) -> Response:
    """The attributes that can be restored."""
    from gridview.commands import deleted_attributes

    project = request.path["project"]
    return ok(deleted_attributes.list_deleted_attributes(table, request.actor, project))


def list_indexes(request: Request) -> Response:
    """The composite indexes of a project."""
    return ok(reads.list_composites(table, request.actor, request.path["project"]))


def get_index(request: Request) -> Response:
    """One composite index."""
    found = reads.get_composite(table, request.actor, request.path["project"], request.path["index"])
    return Response(200, found, {"ETag": etag(found["version"])})


def list_views(request: Request) -> Response:
    """A page of the views that the caller sees. What tells views is imported when one is read, not when the function starts."""
    from gridview.commands import views
    from gridview.query import saved_views

    def page(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
        cursors, tell = cursor_source.cursors("views"), partial(saved_views.view_json, catalog)
        return epoch.beside(
            table,
            lambda: views.list_views(table, catalog, request.actor, request.parameters, cursors, tell),
        )

    return ok(catalogs.using(table, request.actor.tenant, request.path["project"], page))


def get_view(request: Request) -> Response:
    """One view."""
    from gridview.commands import views
    from gridview.query import saved_views

    num = ids.view_number(request.path["view"])

    def found(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
        view = epoch.beside(table, lambda: views.get_view(table, catalog, request.actor, num))
        return saved_views.view_json(catalog, view)

    told = catalogs.using(table, request.actor.tenant, request.path["project"], found)
    return Response(200, told, {"ETag": etag(told["version"])})


def list_webhooks(request: Request) -> Response:
    """The webhooks of a project."""
    from gridview.live import webhook_reads

    return ok(webhook_reads.list_webhooks(table, catalogs, request.actor, request.path["project"]))


def get_webhook(request: Request) -> Response:
    """One webhook."""
    from gridview.live import webhook_reads

    project, webhook = request.path["project"], request.path["webhook"]
    found = webhook_reads.get_webhook(table, catalogs, request.actor, project, webhook)
    return Response(200, found, {"ETag": etag(found["version"])})


def list_deliveries(request: Request) -> Response:
    """A page of the deliveries of a webhook."""
    from gridview.live import webhook_reads

    return ok(
        webhook_reads.list_deliveries(
            *(table, catalogs, request.actor, request.path["project"], request.path["webhook"]),
            request.parameters,
            cursor_source.cursors("deliveries"),
        )
    )


def list_comments(request: Request) -> Response:
    """A page of the comments on an issue."""
    from gridview.commands import comments

    num, cursors = int(request.path["num"]), cursor_source.cursors("comments")

    def page(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
        return epoch.beside(
            table, lambda: comments.list_comments(table, catalog, num, request.parameters, cursors)
        )

    return ok(catalogs.using(table, request.actor.tenant, request.path["project"], page))


def get_comment(request: Request) -> Response:
    """One comment."""
    from gridview.commands import comments

    num, comment_id = int(request.path["num"]), int(request.path["comment"])

    def found(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
        comment = epoch.beside(table, lambda: comments.get_comment(table, catalog, num, comment_id))
        return comment.to_json()

    told = catalogs.using(table, request.actor.tenant, request.path["project"], found)
    return Response(200, told, {"ETag": etag(told["version"])})


def get_issue(request: Request) -> Response:
    """One issue."""
    num = int(request.path["num"])

    def found(catalog: Catalog, epoch: EpochCheck) -> Answered:
        document = epoch.beside(table, lambda: read_issue(table, catalog, num))
        versions = [ShownVersion(num, document["version"], document["updated"])]
        return Answered(documents.to_json(catalog, document), Shown.of(versions, freshness.kept(cache)))

    issue, shown = catalogs.using(table, request.actor.tenant, request.path["project"], found)
    return Response(200, issue, {"ETag": etag(issue["version"])}).telling(_token(request, shown))


def list_trash(request: Request) -> Response:
    """A page of a project's deleted issues."""

    def page(catalog: Catalog, epoch: EpochCheck) -> Answered:
        context, cursors = ReadContext(table, catalog, cache, epoch), cursor_source.cursors("trash")
        return epoch.beside(table, lambda: reads.list_trash(context, request.parameters, cursors))

    told, shown = catalogs.using(table, request.actor.tenant, request.path["project"], page)
    return ok(told).telling(_token(request, shown))


def grid(request: Request) -> Response:
    """A page of the grid, for a request with a body."""
    return _grid(request, request.body() if request.raw_body.strip() else {})


def grid_get(request: Request) -> Response:
    """A page of the grid, for a request with query parameters."""
    return _grid(request, grid_request.from_parameters(request.parameters))


def _grid(request: Request, body: object) -> Response:
    def page(context: ReadContext) -> Answered:
        query = grid_request.resolve(context.catalog, body)
        return grid_page(context, query, cursor_source.cursors("grid"))

    return _answered(request, page, tokens.carried(request, cursor_source), _feed())


def groups(request: Request) -> Response:
    """Counts of issues by group."""
    body, recent = request.body(), tokens.carried(request, cursor_source)

    def counted(context: ReadContext) -> Answered:
        query = resolve_groups(context.catalog, body)
        return counting.grouped_counts(context, query, cursor_source.cursors("groups"))

    return _answered(request, counted, recent, _feed())


def summary(request: Request) -> Response:
    """Aggregates of fields."""
    body, recent = request.body(), tokens.carried(request, cursor_source)

    def summarized(context: ReadContext) -> Answered:
        return counting.summarized(context, resolve_summary(context.catalog, body))

    return _answered(request, summarized, recent, _feed())


def position(request: Request) -> Response:
    """The row number of an issue."""
    body, recent = grid_request.from_parameters(request.parameters), tokens.carried(request, cursor_source)

    def found(context: ReadContext) -> Answered:
        query = grid_request.resolve_position(context.catalog, body)
        return position_in(context, int(request.path["num"]), query)

    return _answered(request, found, recent)


def issue_history(request: Request) -> Response:
    """The changes of an issue."""
    num = int(request.path["num"])

    def listed(context: ReadContext) -> Answered:
        cursors = cursor_source.cursors("history")
        return change_lists.issue_history(context, num, request.parameters, cursors)

    return _answered(request, listed)


def activity(request: Request) -> Response:
    """The changes of a project."""

    def listed(context: ReadContext) -> Answered:
        return change_lists.activity(context, request.parameters, cursor_source.cursors("activity"))

    return _answered(request, listed)


def list_jobs(request: Request) -> Response:
    """A page of the project's jobs."""
    cursors = cursor_source.cursors("jobs")
    return _of_a_project(
        request,
        lambda project: jobs.list_jobs(table, request.actor, project, request.parameters, cursors),
    )


def get_job(request: Request) -> Response:
    """One job, and a link to the file that it has made."""
    job = request.path["job"]

    def found(project: str) -> dict[str, Any]:
        return jobs.get_job(table, request.actor, project, job, partial(_link, project))

    return _of_a_project(request, found)


def _link(project: str, job: UserJob) -> str | None:
    """A URL of the file of an export. What signs it is imported when one is told, not when the function starts."""
    from gridview.maintenance.export_links import export_links, link_of

    link = link_of(project, job)
    return None if link is None else export_links(export_bucket, session_role()).url(link)


def list_refused(request: Request) -> Response:
    """A page of the issues that a job could not change."""
    cursors, job = cursor_source.cursors("refused"), request.path["job"]
    return _of_a_project(
        request,
        lambda project: jobs.list_refused(table, request.actor, project, job, request.parameters, cursors),
    )


def _of_a_project(request: Request, read: Callable[[str], dict[str, Any]]) -> Response:
    """What is read of a project that exists."""
    project = request.path["project"]
    return ok(catalogs.existing(table, request.actor.tenant, project, lambda _: read(project)))


def _token(request: Request, shown: Shown) -> dict[str, str]:
    """The header with the token of what an answer shows."""
    return tokens.telling(request, cursor_source, shown, logger)


def _feed() -> Cursors:
    """What seals the cursors of the feed of changes."""
    return cursor_source.cursors("changes")


def _answered(
    request: Request,
    answer: Callable[[ReadContext], Answered],
    recent: Recent = (),
    feed: Cursors | None = None,
) -> Response:
    """The result of a query over the current catalog. Its cost is published, even if the query fails."""
    metered, project = table.metered(), request.path["project"]

    def asked(catalog: Catalog, epoch: EpochCheck) -> Answered:
        return answer(ReadContext(metered, catalog, cache, epoch, recent, feed))

    try:
        page, shown = catalogs.using(metered, request.actor.tenant, project, asked, numbered=True)
    except IndexNotReady as error:
        raise reads.with_progress(table, request.actor, project, error) from error
    finally:
        count_capacity(metrics, metered.meter)
    return ok(page).telling(_token(request, shown))


OPERATIONS: dict[str, Endpoint] = {
    operation.__name__: operation
    for operation in (
        health,
        openapi,
        list_users,
        list_projects,
        list_deleted_projects,
        get_project,
        get_attribute,
        list_deleted_attributes,
        list_indexes,
        get_index,
        list_views,
        get_view,
        list_webhooks,
        get_webhook,
        list_deliveries,
        list_comments,
        get_comment,
        get_issue,
        list_trash,
        grid,
        grid_get,
        groups,
        summary,
        position,
        issue_history,
        activity,
        list_jobs,
        get_job,
        list_refused,
    )
}

snapshots.start([table.connect, cursor_source.prime], [*table.services, "secretsmanager"])
handler = http_handler(OPERATIONS, logger, metrics)
