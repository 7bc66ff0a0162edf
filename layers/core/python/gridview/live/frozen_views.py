"""The parts of a saved view that a webhook keeps when an administrator chooses it: order, filter and columns.
Pure.

Editors change shared views. A webhook sends data out of the project, so only administrators decide which
data. The webhook keeps the view as it was, by internal ids, and later changes of the view do not affect it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from gridview.live.change_requests import rows_of
from gridview.live.followed_rows import FollowedRows
from gridview.query.saved_views import query_json
from gridview.query.stored_filters import from_stored
from gridview.schema.catalog import Catalog
from gridview.schema.fields import NUM
from gridview.schema.views import View
from gridview.support.errors import Conflict, FieldError, InvalidRequest


class FrozenView(NamedTuple):
    """A view as it was at an instant (`at`), when an administrator (`by`) chose it. Its parts are as in a
    look.
    """

    num: int
    name: str
    sort: list[list[Any]]
    filter: list[Any] | None
    named: Mapping[str, str]
    at: str
    by: str

    @property
    def id(self) -> str:
        """The view's id in the API."""
        return f"v{self.num}"

    @property
    def order(self) -> frozenset[str]:
        """The internal ids of the fields in its order, but for the number, which every event has."""
        return frozenset(key for key, *_ in self.sort) - {NUM}

    def query(self, catalog: Catalog) -> tuple[dict[str, Any], list[Any]]:
        """Return the order and the filter as the API returns them, and the missing parts."""
        return query_json(catalog, {"sort": self.sort, "filter": self.filter, "named": self.named})

    def rows(self, catalog: Catalog) -> FollowedRows:
        """Return the rows that it has. Conflict if a field of its filter was deleted; IndexNotReady,
        QueryTooExpensive of its order.
        """
        only = None if self.filter is None else from_stored(catalog, self.filter)
        query, _ = self._replace(filter=None).query(catalog)
        return rows_of(catalog, {"sort": query["sort"]})._replace(only=only)


def frozen(catalog: Catalog, view: View, at: str, by: str) -> FrozenView:
    """Freeze a view as it is. InvalidRequest if a field of its filter was deleted: the rest of the filter
    would let more pass.
    """
    look = view.look
    made = FrozenView(view.num, view.name, look["sort"], look["filter"], look["named"], at, by)
    try:
        if made.filter is not None:
            from_stored(catalog, made.filter)
    except Conflict:
        message = "has a filter by a deleted field: save the view with another filter, or choose another view"
        raise InvalidRequest(
            "The request is not valid. Fix what `errors` lists.", [FieldError("view", message)]
        ) from None
    return made


def columns_of(view: View) -> tuple[str, ...] | None:
    """Return the internal ids of a view's columns; None: it shows all fields."""
    columns = view.look["columns"]
    return None if columns is None else tuple(key for key, *_ in columns)
