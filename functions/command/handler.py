"""The writes of the API: projects, attributes and issues."""

from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any, TypeVar

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit

from gridview.api import snapshots
from gridview.api.config import (
    CursorSource,
    journals,
    required,
    session_role,
    stack_metrics,
    writes_per_second,
)
from gridview.api.http import Endpoint, Request, Response, ok, written
from gridview.api.http import handler as http_handler
from gridview.commands import attributes, composite_indexes, issues, projects, users
from gridview.commands.attempts import Attempt, once
from gridview.commands.batch import parse_batch, run_batch, versions_written
from gridview.commands.idempotency import Commit, created_once
from gridview.commands.write_rate import Admission, WriteRate
from gridview.dynamodb.table import Table
from gridview.encoding.consistency import CONSISTENCY_TOKEN, DELETED
from gridview.schema import documents
from gridview.schema.catalog import Catalog, UnknownOption
from gridview.schema.epoch import EpochCheck
from gridview.schema.store import Catalogs
from gridview.support import aws, clock

Result = TypeVar("Result")

logger = Logger()
metrics = stack_metrics()
table = Table(required("TABLE_NAME"), session_role=session_role())
catalogs = Catalogs()
cursor_source = CursorSource()
settling = float(required("SETTLE_SECONDS"))


def _uncounted() -> None:
    metrics.add_metric(name="UncountedWrites", unit=MetricUnit.Count, value=1)


rate = WriteRate(writes_per_second(), _uncounted)
journalled = journals()


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
        partial(projects.create_project, table, actor, body, journalled=journalled),
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
    projects.delete_project(table, catalogs, request.actor, project, request.expected(), settling=settling)
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
    attributes.delete_attribute(
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


def create_issue(request: Request) -> Response:
    """Create an issue."""
    actor, project, body = request.actor, request.path["project"], request.body()

    def create(commit: Commit | None = None) -> dict[str, Any]:
        def created(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
            document = issues.create_issue(
                table, catalog, actor, body, change=request.change, commit=commit, epoch=epoch
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
    document = _using(
        request,
        lambda catalog, epoch: issues.update_issue(
            table,
            catalog,
            request.actor,
            num,
            body,
            expected,
            change=request.change,
            epoch=epoch,
            admission=admission,
        ),
    )
    token = _token(request, {num: document["version"]})
    return written(200, _issue_json(request, document)).telling(token)


@_counted
def delete_issue(request: Request) -> Response:
    """Delete an issue."""
    num, expected = int(request.path["num"]), request.expected()
    catalogs.existing(
        table,
        request.actor.tenant,
        request.path["project"],
        lambda catalog: issues.delete_issue(table, catalog, num, expected),
    )
    return Response(204).telling(_token(request, {num: DELETED}))


def batch(request: Request) -> Response:
    """Many creates, updates and deletes; repeatable with an Idempotency-Key."""
    actor, use, asked = request.actor, request.use(), parse_batch(request.body())
    admission = _admission(request, len(asked.operations))

    def current() -> Catalog:
        # So many writes are worth a read: no operation is judged by a stale catalog.
        return catalogs.current(table, actor.tenant, request.path["project"])

    def run(catalog: Catalog, attempt: Attempt | None) -> Response:
        change = attempt.change if attempt else request.change
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


def _created(
    request: Request,
    create: Callable[..., Mapping[str, Any]],
    location: Callable[[Mapping[str, Any]], str],
    further: Callable[[Mapping[str, Any]], Mapping[str, str]] = lambda _: {},
) -> Response:
    """201 with what `create` creates; with an Idempotency-Key it is created once, however often the request is repeated.

    Only the first of them is counted as a write. `further`: headers of the answer.
    """
    admission = _admission(request)

    def admitted(**commit: Commit) -> Mapping[str, Any]:
        admission.require(table)
        return create(**commit)

    def response(resource: Mapping[str, Any]) -> Response:
        return written(201, resource, location(resource)).telling(further(resource)).under(request.change)

    use = request.use()
    if use is None:
        return response(admitted())
    return Response.again(
        created_once(
            table, use, lambda commit: admitted(commit=commit), lambda resource: response(resource).kept
        )
    )


def _token(request: Request, versions: Mapping[int, int]) -> dict[str, str]:
    """The header with the token of issues that were just written.

    Without the secret there is none: what was written is not to look as if it had failed.
    """
    if not versions:
        return {}
    try:
        tokens = cursor_source.tokens()
    except aws.FAILURES:
        logger.exception("no secret to seal tokens by")
        return {}
    tenant, project = request.actor.tenant, request.path["project"]
    return {CONSISTENCY_TOKEN: tokens.token(tenant, project, versions, clock.seconds())}


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
        create_attribute,
        update_attribute,
        delete_attribute,
        create_index,
        delete_index,
        create_issue,
        update_issue,
        delete_issue,
        batch,
    )
}

snapshots.start([table.connect, cursor_source.prime], [*table.services, "secretsmanager"])
handler = http_handler(OPERATIONS, logger, metrics)
