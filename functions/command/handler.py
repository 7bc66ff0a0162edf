"""The writes of the API: projects, attributes and issues."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, wraps
from typing import Any, Protocol, TypeVar
from uuid import UUID

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit

from gridview.api import snapshots, tokens
from gridview.api.config import (
    CursorSource,
    projects_per_tenant,
    required,
    session_role,
    stack_metrics,
    stack_transport,
    use_forms,
    webhooks_to_localhost,
    writes_per_second,
)
from gridview.api.http import Endpoint, Request, Response, ok, written
from gridview.api.http import handler as http_handler
from gridview.commands import (
    attributes,
    composite_indexes,
    deleted_attributes,
    deleted_projects,
    issues,
    jobs,
    projects,
    reads,
    trash,
    users,
    written_changes,
)
from gridview.commands.attempts import Attempt, once
from gridview.commands.batch import parse_batch, run_batch, versions_written
from gridview.commands.context import WriteContext
from gridview.commands.idempotency import Commit, at_once, created_once
from gridview.commands.write_rate import ADMITTED, Admission, WriteRate
from gridview.dynamodb.expressions import Write
from gridview.dynamodb.table import Table
from gridview.encoding.consistency import CONSISTENCY_TOKEN, DELETED, Recent, writes_in
from gridview.encoding.seals import Seals
from gridview.maintenance import bulk_request
from gridview.maintenance.job_queue import JobQueue
from gridview.schema import documents, ids
from gridview.schema.catalog import Catalog, UnknownOption
from gridview.schema.epoch import CONFIRMED, EpochCheck
from gridview.schema.generations import IndexNotReady
from gridview.schema.jobs import Hint
from gridview.schema.store import Catalogs
from gridview.schema.user_jobs import JobKind
from gridview.schema.views import View
from gridview.support import aws, clock
from gridview.support.errors import Overloaded

Result = TypeVar("Result")

logger = Logger()
metrics = stack_metrics()
table = Table(required("TABLE_NAME"), session_role=session_role(), transport=stack_transport(logger))
catalogs = Catalogs()
cursor_source = CursorSource()
settling = float(required("SETTLE_SECONDS"))
job_queue = JobQueue(required("JOB_QUEUE_URL"))
webhook_queue = JobQueue(required("WEBHOOK_QUEUE_URL"))


def _uncounted() -> None:
    metrics.add_metric(name="UncountedWrites", unit=MetricUnit.Count, value=1)


rate = WriteRate(writes_per_second(), _uncounted)
most_projects = projects_per_tenant()
use_forms()
to_localhost = webhooks_to_localhost()


def _counted(operation: Endpoint) -> Endpoint:
    """One write of the tenant's rate is taken before `operation` begins."""

    @wraps(operation)
    def counted(request: Request) -> Response:
        _admission(request).require(table)
        return operation(request)

    return counted


def me(request: Request) -> Response:
    """The caller, whose name is noted for the others of the tenant."""
    return ok(users.me(table, request.actor, request.name))


def create_project(request: Request) -> Response:
    """Create a project."""
    actor, body = request.actor, request.body()
    return _created(
        request,
        partial(projects.create_project, table, actor, body, most=most_projects),
        lambda project: f"/v1/projects/{project['id']}",
    )


@_counted
def update_project(request: Request) -> Response:
    """Change a project."""
    project = request.path["project"]
    return written(
        200,
        projects.update_project(
            table,
            catalogs,
            request.actor,
            project,
            request.body(),
            request.expected(),
            settling=settling,
        ),
    )


@_counted
def delete_project(request: Request) -> Response:
    """Delete a project."""
    project = request.path["project"]
    projects.delete_project(table, catalogs, request.actor, project, request.expected())
    return Response(204)


def restore_project(request: Request) -> Response:
    """Bring a deleted project back."""
    actor, project = request.actor, request.path["project"]
    request.require_no_body()
    restore = partial(deleted_projects.restore_project, table, catalogs, actor, project, most=most_projects)
    return _once(request, restore, lambda restored: written(200, restored))


@_counted
def purge_project(request: Request) -> Response:
    """Remove a deleted project for good."""
    project, expected = request.path["project"], request.expected()
    deleted_projects.purge_project(table, catalogs, request.actor, project, expected, settling=settling)
    return Response(204)


def create_attribute(request: Request) -> Response:
    """Add an attribute."""
    actor, project, body = request.actor, request.path["project"], request.body()
    return _created(
        request,
        partial(attributes.create_attribute, table, catalogs, actor, project, body),
        lambda attribute: f"/v1/projects/{project}/attributes/{attribute['id']}",
    )


@_counted
def update_attribute(request: Request) -> Response:
    """Change an attribute."""
    project, attribute = request.path["project"], request.path["attribute"]
    return written(
        200,
        attributes.update_attribute(
            table,
            catalogs,
            request.actor,
            project,
            attribute,
            request.body(),
            request.expected(),
            settling=settling,
        ),
    )


@_counted
def delete_attribute(request: Request) -> Response:
    """Delete an attribute."""
    project, attribute = request.path["project"], request.path["attribute"]
    attributes.delete_attribute(table, catalogs, request.actor, project, attribute, request.expected())
    return Response(204)


def restore_attribute(request: Request) -> Response:
    """Bring a deleted attribute back."""
    actor, project, attribute = request.actor, request.path["project"], request.path["attribute"]
    request.require_no_body()
    restore = partial(deleted_attributes.restore_attribute, table, catalogs, actor, project, attribute)
    return _once(request, restore, lambda restored: written(200, restored))


@_counted
def purge_attribute(request: Request) -> Response:
    """Remove a deleted attribute for good."""
    project, attribute = request.path["project"], request.path["attribute"]
    deleted_attributes.purge_attribute(
        table, catalogs, request.actor, project, attribute, request.expected(), settling=settling
    )
    return Response(204)


def create_index(request: Request) -> Response:
    """Define a composite index."""
    actor, project, body = request.actor, request.path["project"], request.body()
    return _created(
        request,
        partial(composite_indexes.create_composite, table, catalogs, actor, project, body, settling=settling),
        lambda index: f"/v1/projects/{project}/indexes/{index['id']}",
    )


@_counted
def delete_index(request: Request) -> Response:
    """Delete a composite index."""
    project, index = request.path["project"], request.path["index"]
    composite_indexes.delete_composite(
        table, catalogs, request.actor, project, index, request.expected(), settling=settling
    )
    return Response(204)


def create_view(request: Request) -> Response:
    """Save a view. What checks views is imported when one is written, not when the function starts."""
    from gridview.commands import views
    from gridview.query import saved_views

    actor, project, body = request.actor, request.path["project"], request.body()

    def create(commit: Commit = at_once) -> dict[str, Any]:
        def created(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
            change = saved_views.parse_create(catalog, body)
            ready = partial(saved_views.ready, catalog)
            return views.create_view(table, catalog, actor, change, ready, commit=commit, epoch=epoch)

        return _using(request, created)

    return _created(
        request,
        create,
        lambda view: f"/v1/projects/{project}/views/{view['id']}",
    )


@_counted
def update_view(request: Request) -> Response:
    """Change a view."""
    from gridview.commands import views
    from gridview.query import saved_views

    body, expected, num = request.body(), request.expected(), _view(request)

    def changed(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
        change = saved_views.parse_patch(catalog, body)
        ready, tell = partial(saved_views.ready, catalog), partial(saved_views.view_json, catalog)
        context = WriteContext(table, catalog, request.actor, epoch=epoch)
        beside = _notices_beside(catalog)
        return views.update_view(context, num, change, expected, ready, tell, beside=beside)

    return written(200, _using(request, changed))


@_counted
def delete_view(request: Request) -> Response:
    """Delete a view."""
    from gridview.commands import views
    from gridview.query import saved_views

    num, expected = _view(request), request.expected()

    def deleted(catalog: Catalog, epoch: EpochCheck) -> None:
        tell = partial(saved_views.view_json, catalog)
        beside = _notices_beside(catalog)
        views.delete_view(table, catalog, request.actor, num, expected, tell, beside=beside, epoch=epoch)

    _using(request, deleted)
    return Response(204)


def _notices_beside(catalog: Catalog) -> Callable[[View, View | None], list[Write]]:
    from gridview.live import webhook_store

    return partial(webhook_store.notices_of_view, table, catalog.tenant, catalog.project)


def _view(request: Request) -> int:
    return ids.view_number(request.path["view"])


def create_comment(request: Request) -> Response:
    """Comment on an issue."""
    from gridview.commands import comments

    actor, project, num = request.actor, request.path["project"], int(request.path["num"])
    body = request.body()

    def create(commit: Commit = at_once) -> dict[str, Any]:
        return _using(
            request,
            lambda catalog, epoch: comments.create_comment(
                table, catalog, actor, num, body, commit=commit, epoch=epoch
            ),
        )

    return _created(
        request,
        create,
        lambda comment: f"/v1/projects/{project}/issues/{num}/comments/{comment['id']}",
    )


@_counted
def update_comment(request: Request) -> Response:
    """Change a comment."""
    from gridview.commands import comments

    body, expected, place = request.body(), request.expected(), _comment(request)

    def changed(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
        return comments.update_comment(table, catalog, request.actor, *place, body, expected, epoch=epoch)

    return written(200, _using(request, changed))


@_counted
def delete_comment(request: Request) -> Response:
    """Delete a comment."""
    from gridview.commands import comments

    expected, place = request.expected(), _comment(request)

    def deleted(catalog: Catalog, epoch: EpochCheck) -> None:
        comments.delete_comment(table, catalog, request.actor, *place, expected, epoch=epoch)

    _using(request, deleted)
    return Response(204)


def _comment(request: Request) -> tuple[int, int]:
    return int(request.path["num"]), int(request.path["comment"])


def create_issue(request: Request) -> Response:
    """Create an issue."""
    actor, project, body = request.actor, request.path["project"], request.body()

    def create(commit: Commit | None = None) -> dict[str, Any]:
        def created(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
            _note(request, request.change)
            document = issues.create_issue(
                WriteContext(table, catalog, actor, change=request.change, epoch=epoch), body, commit=commit
            )
            return documents.to_json(catalog, document)

        return _using(request, created)

    return _created(
        request,
        create,
        lambda issue: f"/v1/projects/{project}/issues/{issue['num']}",
        lambda issue: _token(request, {issue["num"]: issue["version"]}),
    )


def update_issue(request: Request) -> Response:
    """Change an issue."""
    num, body, expected = int(request.path["num"]), request.body(), request.expected()
    admission = _admission(request)

    def update(catalog: Catalog, epoch: EpochCheck) -> issues.Updated:
        _note(request, request.change, admission)
        return issues.update_issue(
            WriteContext(
                table, catalog, request.actor, change=request.change, epoch=epoch, admission=admission
            ),
            num,
            body,
            expected,
        )

    document, merged = _using(request, update)
    token = _token(request, {num: document["version"]})
    told = {} if merged is None else {"merged": merged}
    return written(200, _issue_json(request, document) | told).telling(token)


@_counted
def delete_issue(request: Request) -> Response:
    """Put an issue into the trash."""
    num, expected = int(request.path["num"]), request.expected()

    def delete(catalog: Catalog, epoch: EpochCheck = CONFIRMED) -> None:
        _note(request, request.change)
        issues.delete_issue(
            WriteContext(table, catalog, request.actor, change=request.change, epoch=epoch), num, expected
        )

    if expected is None:
        # What is in a deleted project stays as it is: nothing is written before that is known.
        delete(catalogs.current(table, request.actor.tenant, request.path["project"]))
    else:
        _using(request, delete)
    return Response(204).telling(_token(request, {num: DELETED}))


def restore_issue(request: Request) -> Response:
    """Bring a deleted issue back."""
    num, actor = int(request.path["num"]), request.actor
    request.require_no_body()

    def restore(commit: Commit | None = None) -> dict[str, Any]:
        def restored(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
            _note(request, request.change)
            document = trash.restore_issue(
                table, catalog, actor, num, change=request.change, commit=commit, epoch=epoch
            )
            return documents.to_json(catalog, document)

        return _using(request, restored)

    return _once(
        request,
        restore,
        lambda issue: written(200, issue).telling(_token(request, {num: issue["version"]})),
    )


@_counted
def purge_issue(request: Request) -> Response:
    """Remove a deleted issue for good."""
    num, expected = int(request.path["num"]), request.expected()
    _using(request, lambda catalog, epoch: trash.purge_issue(table, catalog, num, expected, epoch=epoch))
    return Response(204)


def batch(request: Request) -> Response:
    """Many creates, updates and deletes; repeatable with an Idempotency-Key."""
    actor, use, asked = request.actor, request.use(), parse_batch(request.body())
    admission = _admission(request, len(asked.operations))

    def current() -> Catalog:
        # So many writes are worth a read: no operation is judged by a stale catalog.
        return catalogs.current(table, actor.tenant, request.path["project"])

    def run(catalog: Catalog, attempt: Attempt | None) -> Response:
        change = attempt.change if attempt else request.change
        _note(request, change)
        found = run_batch(table, catalog, actor, asked, change, attempt)
        token = _token(request, versions_written(asked, found["results"]))
        return Response(200, found, token).under(change)

    if use is None:
        return run(admission.beside(table, current), None)
    catalog = current()
    return Response.again(
        once(
            table,
            use,
            request.change,
            request.deadline,
            lambda attempt: run(catalog, attempt).kept,
            admission,
        )
    )


def create_webhook(request: Request) -> Response:
    """Create a webhook, and tell its secret."""
    from gridview.live import webhook_store

    actor, project, body, seals = request.actor, request.path["project"], request.body(), _webhook_seals()
    return _with_secret(
        request,
        _created(
            request,
            partial(
                webhook_store.create_webhook,
                *(table, catalogs, actor, project, body, seals),
                localhost=to_localhost,
            ),
            lambda webhook: f"/v1/projects/{project}/webhooks/{webhook['id']}",
        ),
    )


@_counted
def update_webhook(request: Request) -> Response:
    """Change a webhook."""
    from gridview.live import webhook_store

    project, webhook = request.path["project"], request.path["webhook"]
    return written(
        200,
        webhook_store.update_webhook(
            table,
            catalogs,
            request.actor,
            project,
            webhook,
            request.body(),
            request.expected(),
            localhost=to_localhost,
        ),
    )


def rotate_webhook(request: Request) -> Response:
    """Replace the secret of a webhook, and tell the new one."""
    from gridview.live import webhook_store

    project, webhook = request.path["project"], request.path["webhook"]
    rotate = partial(
        webhook_store.rotate_webhook, table, catalogs, request.actor, project, webhook, _webhook_seals()
    )
    return _with_secret(request, _once(request, rotate, lambda rotated: written(200, rotated)))


@_counted
def delete_webhook(request: Request) -> Response:
    """Delete a webhook."""
    from gridview.live import webhook_store

    project, webhook = request.path["project"], request.path["webhook"]
    webhook_store.delete_webhook(table, catalogs, request.actor, project, webhook, request.expected())
    return Response(204)


def replay_delivery(request: Request) -> Response:
    """Have a delivery sent again."""
    from gridview.live import webhook_store

    project, webhook, delivery = (request.path[name] for name in ("project", "webhook", "delivery"))
    replay = partial(
        webhook_store.replay_delivery,
        *(table, catalogs, request.actor, project, webhook, delivery, _hint_at_outbox),
    )
    log = f"/v1/projects/{project}/webhooks/{webhook}/deliveries"
    return _once(request, replay, lambda replayed: Response(202, replayed, {"Location": log}))


def _hint_at_outbox(hint: Hint) -> None:
    """The outbox is due; if the hint is lost, it is looked at within a minute."""
    try:
        webhook_queue.send(hint)
    except aws.FAILURES:
        logger.exception("the hint at an outbox failed")


def _webhook_seals() -> Seals:
    from gridview.live.webhook import SECRETS

    return cursor_source.seals(SECRETS)


def _with_secret(request: Request, response: Response) -> Response:
    """The response with the secret in the place of the sealed one, which is what is stored of it."""
    from gridview.live import webhook_store

    told = webhook_store.with_secret(response.body, request.actor, request.path["project"], _webhook_seals())
    return replace(response, body=told)


def update_matching(request: Request) -> Response:
    """Begin to change all issues that a filter matches."""
    return _begun(request, JobKind.UPDATE, bulk_request.parse_update)


def delete_matching(request: Request) -> Response:
    """Begin to delete all issues that a filter matches."""
    return _begun(request, JobKind.DELETE, bulk_request.parse_delete)


def undo(request: Request) -> Response:
    """Take a change back, at once or by a job; repeatable with an Idempotency-Key."""
    from gridview.commands import undo as undoing
    from gridview.commands.undo_decision import Undo

    asked, use = undoing.parse_undo(request.body()), request.use()
    recent = writes_in(tokens.carried(request, cursor_source))

    def run(change: UUID, attempt: Attempt | None) -> Response:
        undoing.require_another(asked, change)
        catalog = catalogs.current(table, request.actor.tenant, request.path["project"])
        begun = None if attempt is None or not attempt.again else _undo_job(request, change)
        if begun is not None:
            return begun.under(change)
        order, extent = undoing.find(table, catalog, request.actor, asked, recent)
        jobs.require_over(table, request.actor.tenant, catalog.project, order.change, order.by)
        if "nums" in asked.model_fields_set:
            extent = undoing.of_issues(table, catalog, order, extent, asked.nums)
        if asked.dry_run:
            return Response(200, undoing.looked_at(extent)).under(change)
        _admission(request, 1 if extent.more else len(extent.versions)).require(table)
        if extent.more:
            stored = order.to_stored()
            return _accepted(
                request, jobs.start(table, request.actor, catalog.project, JobKind.UNDO, stored, change)
            ).under(change)
        rule = Undo(catalog, request.actor.user, change)
        _note(request, change, always=True)
        results = undoing.take_back(table, rule, order, extent.versions)
        token = _token(request, undoing.versions_written(results))
        return Response(200, undoing.answer_of(results, change), token).under(change)

    if use is None:
        answer = run(request.change, None)
    else:
        answer = Response.again(
            once(
                table,
                use,
                request.change,
                request.deadline,
                lambda attempt: run(attempt.change, attempt).kept,
            )
        )
    if answer.status == 202:
        _wake(request.actor.tenant)
    return answer


def _undo_job(request: Request, change: UUID) -> Response | None:
    """The job that an earlier attempt at this request has started, if it has."""
    actor, project = request.actor, request.path["project"]
    job = jobs.of_change(table, actor.tenant, project, JobKind.UNDO, actor.user, change)
    return None if job is None else _accepted(request, job)


def _accepted(request: Request, job: Mapping[str, Any]) -> Response:
    """202 with a job."""
    return Response(202, job, {"Location": f"/v1/projects/{request.path['project']}/jobs/{job['id']}"})


def export(request: Request) -> Response:
    """Begin to write rows into a file. What checks exports is imported when one is asked for, not when the function starts."""
    from gridview.commands import views
    from gridview.maintenance.export_request import ExportOrder, parse_export
    from gridview.query import saved_views

    def parsed(catalog: Catalog, body: Any, recent: Recent) -> ExportOrder:
        def view(num: int) -> Mapping[str, Any]:
            return saved_views.view_json(catalog, views.get_view(table, catalog, request.actor, num))

        return parse_export(catalog, body, recent, view)

    return _begun(request, JobKind.EXPORT, parsed)


@_counted
def cancel_job(request: Request) -> Response:
    """Cancel a job."""
    actor, project, job = request.actor, request.path["project"], request.path["job"]
    catalogs.current(table, actor.tenant, project)
    jobs.cancel_job(table, actor, project, job)
    return Response(204)


class _Asked(Protocol):
    """What a job is asked to do."""

    def to_stored(self) -> dict[str, Any]:
        """Encode."""


def _begun(request: Request, kind: JobKind, parsed: Callable[[Catalog, Any, Recent], _Asked]) -> Response:
    """202 with a new job, of which the workers are told; with an Idempotency-Key it is made once."""
    actor, project, body = request.actor, request.path["project"], request.body()
    recent = tokens.carried(request, cursor_source)

    def start(commit: Commit = at_once) -> dict[str, Any]:
        def started(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
            asked = parsed(catalog, body, recent).to_stored()
            epoch.confirm(table)
            return jobs.start(table, actor, project, kind, asked, request.change, commit)

        try:
            return _using(request, started)
        except IndexNotReady as error:
            raise reads.with_progress(table, actor, project, error) from error

    answer = _once(request, start, partial(_accepted, request))
    _wake(actor.tenant)
    return answer


def _wake(tenant: str) -> None:
    """Have a worker come at once. If that fails, the next minute brings one."""
    try:
        hint = jobs.waiting(table, tenant)
        if hint is not None:
            job_queue.send(hint)
    except (Overloaded, *aws.FAILURES):
        logger.exception("the hint at a job failed")


def _created(
    request: Request,
    create: Callable[..., Mapping[str, Any]],
    location: Callable[[Mapping[str, Any]], str],
    further: Callable[[Mapping[str, Any]], Mapping[str, str]] = lambda _: {},
) -> Response:
    """201 with what `create` creates, as `_once`. `further`: headers of the answer."""
    return _once(
        request,
        create,
        lambda resource: written(201, resource, location(resource)).telling(further(resource)),
    )


def _once(
    request: Request,
    create: Callable[..., Mapping[str, Any]],
    answer: Callable[[Mapping[str, Any]], Response],
) -> Response:
    """The answer to what `create` does; with an Idempotency-Key it is done once, however often the request is repeated.

    Only the first of them is counted as a write.
    """
    admission = _admission(request)

    def admitted(**commit: Commit) -> Mapping[str, Any]:
        admission.require(table)
        return create(**commit)

    def response(resource: Mapping[str, Any]) -> Response:
        return answer(resource).under(request.change)

    use = request.use()
    if use is None:
        return response(admitted())
    return Response.again(
        created_once(
            table, use, lambda commit: admitted(commit=commit), lambda resource: response(resource).kept
        )
    )


def _note(request: Request, change: UUID, admission: Admission = ADMITTED, *, always: bool = False) -> None:
    """Before the first write under a change: note it where its id does not tell, so that it can be taken back at once."""
    if always or not written_changes.is_stated(change):
        admission.require(table)
        actor = request.actor
        written_changes.note(table, actor.tenant, request.path["project"], change, actor.user)


def _token(request: Request, versions: Mapping[int, int]) -> dict[str, str]:
    """The header with the token of issues that were just written.

    Without the secret there is none: what was written is not to look as if it had failed.
    """
    if not versions:
        return {}
    try:
        sealing = cursor_source.tokens()
    except aws.FAILURES:
        logger.exception("no secret to seal tokens by")
        return {}
    tenant, project = request.actor.tenant, request.path["project"]
    return {CONSISTENCY_TOKEN: sealing.token(tenant, project, versions, clock.seconds())}


def _admission(request: Request, writes: int = 1) -> Admission:
    return rate.admission(request.actor.tenant, writes)


def _using(request: Request, use: Callable[[Catalog, EpochCheck], Result]) -> Result:
    return catalogs.using(table, request.actor.tenant, request.path["project"], use)


def _issue_json(request: Request, document: documents.Document) -> dict[str, Any]:
    """The answer to a write. The document may hold an option that is younger than the definitions that the write used."""
    project = request.actor.tenant, request.path["project"]
    try:
        return documents.to_json(catalogs.get(table, *project), document)
    except UnknownOption:
        return documents.to_json(catalogs.reload(table, *project), document)


OPERATIONS: dict[str, Endpoint] = {
    operation.__name__: operation
    for operation in (
        me,
        create_project,
        update_project,
        delete_project,
        restore_project,
        purge_project,
        create_attribute,
        update_attribute,
        delete_attribute,
        restore_attribute,
        purge_attribute,
        create_index,
        delete_index,
        create_view,
        update_view,
        delete_view,
        create_webhook,
        update_webhook,
        rotate_webhook,
        delete_webhook,
        replay_delivery,
        create_comment,
        update_comment,
        delete_comment,
        create_issue,
        update_issue,
        delete_issue,
        restore_issue,
        purge_issue,
        batch,
        update_matching,
        delete_matching,
        undo,
        export,
        cancel_job,
    )
}

snapshots.start([table.connect, cursor_source.prime], [*table.services, "secretsmanager"])
handler = http_handler(OPERATIONS, logger, metrics)
