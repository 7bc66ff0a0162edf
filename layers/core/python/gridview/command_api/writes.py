"""Shared parts of the endpoints that write: the rate of writes, idempotency keys, tokens of writes."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar
from uuid import UUID

from gridview.api import tokens
from gridview.api.http import Response, written
from gridview.command_api.container import CommandRequest
from gridview.commands import written_changes
from gridview.commands.idempotency import Transact, created_once
from gridview.commands.write_rate import ADMITTED, Admission
from gridview.encoding.consistency import CONSISTENCY_TOKEN, Recent
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck
from gridview.support import aws, clock

Result = TypeVar("Result")


def admission(request: CommandRequest, writes: int = 1) -> Admission:
    """Return the admission of so many writes by the tenant's rate."""
    return request.container.rate.admission(request.actor.tenant, writes)


def counted(endpoint: Callable[[CommandRequest], Response]) -> Callable[[CommandRequest], Response]:
    """Return the endpoint, before which one write of the tenant's rate is taken."""

    @wraps(endpoint)
    def after_counting(request: CommandRequest) -> Response:
        admission(request).require(request.container.table)
        return endpoint(request)

    return after_counting


def created(
    request: CommandRequest,
    create: Callable[..., Mapping[str, Any]],
    location: Callable[[Mapping[str, Any]], str],
    further: Callable[[Mapping[str, Any]], Mapping[str, str]] = lambda _: {},
) -> Response:
    """Return 201 with the result of `create`, as `done_once`. `further`: headers of the answer."""
    return done_once(
        request,
        create,
        lambda resource: written(201, resource, location(resource)).with_headers(further(resource)),
    )


def done_once(
    request: CommandRequest,
    create: Callable[..., Mapping[str, Any]],
    answer: Callable[[Mapping[str, Any]], Response],
) -> Response:
    """Return the answer of `create`. With an Idempotency-Key it runs once, however often the request is
    repeated.

    Only the first of them is counted as a write.
    """
    table, admitted = request.container.table, admission(request)

    def counting(**transact: Transact) -> Mapping[str, Any]:
        admitted.require(table)
        return create(**transact)

    def response(resource: Mapping[str, Any]) -> Response:
        return answer(resource).under(request.change)

    use = request.use()
    if use is None:
        return response(counting())
    return Response.again(
        created_once(
            table, use, lambda transact: counting(transact=transact), lambda resource: response(resource).kept
        )
    )


def using(request: CommandRequest, use: Callable[[Catalog, EpochCheck], Result]) -> Result:
    """Return the result of `use` over the current definitions of the project."""
    own = request.container
    return own.catalogs.using(own.table, request.actor.tenant, request.path["project"], use)


def note(
    request: CommandRequest, change: UUID, admitted: Admission = ADMITTED, *, always: bool = False
) -> None:
    """Before the first write under a change, note it unless its id states it, so that it can be taken back at
    once.
    """
    if always or not written_changes.is_stated(change):
        table, actor = request.container.table, request.actor
        admitted.require(table)
        written_changes.note(table, actor.tenant, request.path["project"], change, actor.user)


def token(request: CommandRequest, versions: Mapping[int, int]) -> dict[str, str]:
    """Return the header with the token of issues that were just written.

    Without the secret there is none: a write that succeeded must not look like a failure.
    """
    if not versions:
        return {}
    try:
        sealing = request.container.cursor_source.tokens()
    except aws.FAILURES:
        request.container.logger.exception("there is no secret to seal tokens with")
        return {}
    tenant, project = request.actor.tenant, request.path["project"]
    return {CONSISTENCY_TOKEN: sealing.token(tenant, project, versions, clock.seconds())}


def recent(request: CommandRequest) -> Recent:
    """Return the writes to include, by the tokens of the request. InvalidRequest."""
    return tokens.carried(request, request.container.cursor_source)
