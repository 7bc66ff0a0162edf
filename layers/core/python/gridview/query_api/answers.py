"""Shared parts of the endpoints that read an index."""

from collections.abc import Callable

from gridview.api import tokens
from gridview.api.http import Response, count_capacity, ok
from gridview.commands import reads
from gridview.encoding.consistency import Recent
from gridview.encoding.cursors import Cursors
from gridview.query.references import Reference
from gridview.query_api.container import QueryRequest
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck
from gridview.schema.generations import IndexNotReady
from gridview.view.context import ReadContext
from gridview.view.shown_versions import Answered, Shown


def token(request: QueryRequest, shown: Shown) -> dict[str, str]:
    """Return the header with the token of the versions in an answer."""
    own = request.container
    return tokens.token_header(request, own.cursor_source, shown, own.logger)


def recent(request: QueryRequest) -> Recent:
    """Return the writes that the answer has to include, by the tokens of the request. InvalidRequest."""
    return tokens.carried(request, request.container.cursor_source)


def reference(request: QueryRequest) -> Reference:
    """Return what relative operands of the request refer to: the present instant and the caller."""
    return Reference.of(request.actor.user)


def feed(request: QueryRequest) -> Cursors:
    """Return the seals for cursors of the feed of changes."""
    return request.container.cursor_source.cursors("changes")


def answered(
    request: QueryRequest,
    answer: Callable[[ReadContext], Answered],
    recent: Recent = (),
    feed: Cursors | None = None,
) -> Response:
    """Return the result of a query over the current catalog. Its cost is published, even if the query fails.

    TooManyLongQueries: the user's or the tenant's queries take more than their share of the container.
    """
    own, actor, project = request.container, request.actor, request.path["project"]
    metered = own.table.metered()

    def asked(catalog: Catalog, epoch: EpochCheck) -> Answered:
        return answer(ReadContext(metered, catalog, own.cache, epoch, recent, feed))

    try:
        with own.work_shares.working(actor):
            page, shown = own.catalogs.using(metered, actor.tenant, project, asked, numbered=True)
    except IndexNotReady as error:
        raise reads.with_progress(own.table, actor, project, error) from error
    finally:
        count_capacity(own.metrics, metered.meter)
    return ok(page).with_headers(token(request, shown))
