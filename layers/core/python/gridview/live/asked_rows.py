"""The rows that a request for changes means: by a filter and a sort, or by a saved view."""

from collections.abc import Mapping
from typing import Any

from gridview.commands import reads, views
from gridview.commands.actor import Actor
from gridview.dynamodb.table import Table
from gridview.live.change_requests import rows_of
from gridview.live.followed_rows import FollowedRows
from gridview.query import view_answers
from gridview.query.references import Reference
from gridview.schema import ids
from gridview.schema.catalog import Catalog
from gridview.schema.generations import IndexNotReady


def rows_of_view(
    table: Table, catalog: Catalog, actor: Actor, view: int, reference: Reference
) -> FollowedRows:
    """Return the rows of a saved view for a reader, at the cost of `get_view`. NotFound; as for `rows_of` if the
    definitions have changed since.
    """
    stored = views.get_view(table, catalog, actor, view)
    return rows_of(catalog, view_answers.view_json(catalog, stored)["query"], reference)


def asked_rows(
    table: Table, catalog: Catalog, actor: Actor, asked: Mapping[str, Any], at: str
) -> FollowedRows | None:
    """Return the rows of a request with `view`, or with `sort` and `filter`; None: it asks for no rows, but
    for all changes. `at`: the instant (stored form) for which filters are resolved.

    NotFound, InvalidRequest, UnfollowableFilter, QueryTooExpensive, IndexBuilding.
    """
    reference = Reference(at, actor.user)
    if not asked:
        return None
    try:
        if "view" in asked:
            return rows_of_view(table, catalog, actor, ids.view_number(asked["view"]), reference)
        return rows_of(catalog, asked, reference)
    except IndexNotReady as error:
        raise reads.with_progress(table, actor, catalog.project, error) from error
