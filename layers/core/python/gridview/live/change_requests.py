"""The requests of clients that follow the changes of a project. Pure."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import Field as ModelField
from pydantic import field_validator

from gridview.live.followed_rows import FollowedRows, followable
from gridview.query.grid_request import SortKey, SortKeys, from_parameters, order_keys
from gridview.query.references import Reference
from gridview.query.request_filters import (
    FilterDocument,
    ParsedFilter,
    not_with_a_view,
    parse_with_filter,
)
from gridview.schema import ids
from gridview.schema.catalog import Catalog
from gridview.support.validation import RequestModel, as_integers

MAX_WAIT = 20
"""Seconds for which a request may wait for changes."""


class RowsRequest(RequestModel):
    """The rows to follow."""

    sort: SortKeys = ModelField(default_factory=list)
    filter: FilterDocument = None


class ChangesRequest(RequestModel):
    """GET /v1/projects/{project}/changes, by query parameters."""

    since: str | None = ModelField(
        default=None,
        description="`next` of an earlier answer. Without it, the answer begins with changes from now on.",
    )
    wait: Annotated[
        int, ModelField(ge=0, le=MAX_WAIT, description="Seconds to wait for a change if there is none yet.")
    ] = 0
    view: Annotated[str, ModelField(pattern=f"^{ids.VIEW.pattern}$")] | None = ModelField(
        default=None,
        description="A saved view. The answer contains the changes of its rows, and whether a row enters or leaves.",
    )
    sort: SortKeys = ModelField(default_factory=list)
    filter: FilterDocument = None

    _alone = field_validator("sort", "filter")(not_with_a_view)


class AskedChanges(NamedTuple):
    """A checked request. `rows`: the rows that the request itself describes, None if it describes none.
    `view`: the number of a saved view.
    """

    since: str | None
    wait: int
    view: int | None
    rows: FollowedRows | None


def resolve_changes(catalog: Catalog, parameters: Mapping[str, str], reference: Reference) -> AskedChanges:
    """Return the request over the project's fields, its filter resolved for a reference.

    InvalidRequest, UnfollowableFilter, IndexNotReady, QueryTooExpensive.
    """
    body = {**from_parameters(parameters), **as_integers(parameters, "wait")}
    request, found = parse_with_filter(ChangesRequest, catalog, body, reference)
    asks = bool(request.sort) or found.only is not None
    return AskedChanges(
        request.since,
        request.wait,
        None if request.view is None else ids.view_number(request.view),
        _followed(catalog, request.sort, found) if asks else None,
    )


def rows_of(catalog: Catalog, query: Mapping[str, Any], reference: Reference | None = None) -> FollowedRows:
    """Return the rows of a query with a sort and a filter, as a view has it, resolved for a reference.

    InvalidRequest, UnfollowableFilter, IndexNotReady, QueryTooExpensive.
    """
    request, found = parse_with_filter(RowsRequest, catalog, query, reference)
    return _followed(catalog, request.sort, found)


def _followed(catalog: Catalog, sort: Sequence[SortKey], found: ParsedFilter) -> FollowedRows:
    return FollowedRows(order_keys(catalog, sort), found.only, followable(found.operands))
