"""The parts of a saved view that a webhook keeps when an administrator chooses it: order, filter and columns.
Pure.

Editors change shared views. A webhook sends data out of the project, so only administrators decide which
data. The webhook keeps the view as it was, by internal ids, and later changes of the view do not affect it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from gridview.live.change_requests import rows_of
from gridview.live.followed_rows import FollowedRows, followable
from gridview.query.references import Reference
from gridview.query.relative_operands import resolve_stored
from gridview.query.stored_queries import from_stored
from gridview.query.view_answers import query_json
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

    def rows(self, catalog: Catalog, at: str) -> FollowedRows:
        """Return the rows that it has at an instant (stored form). Conflict if a field of its filter was deleted;
        InvalidRequest and UnfollowableFilter of its filter; IndexNotReady, QueryTooExpensive of its order.
        """
        query, _ = self._replace(filter=None).query(catalog)
        rows = rows_of(catalog, {"sort": query["sort"]})
        if self.filter is None:
            return rows
        try:
            fixed, operands = resolve_stored(catalog, self.filter, Reference(at, ""))
        except ValueError as error:
            raise InvalidRequest(f"An operand of its filter {error}.") from None
        if operands.personal:
            raise InvalidRequest("Its filter has `me`, and a webhook has no user.")
        return rows._replace(only=from_stored(catalog, fixed), valid=followable(operands))


def frozen(catalog: Catalog, view: View, at: str, by: str) -> FrozenView:
    """Freeze a view as it is. UnfollowableFilter. InvalidRequest if its filter has `me`: a webhook has no user.
    InvalidRequest if a field of its filter was deleted: the rest of the filter would let more pass.
    """
    look = view.look
    # A webhook sends no places: the rows of a manual order are in that of their numbers.
    sort = [] if view.manual else look["sort"]
    made = FrozenView(view.num, view.name, sort, look["filter"], look["named"], at, by)
    if made.filter is not None:
        _check(catalog, made.filter, at)
    return made


def _check(catalog: Catalog, stored: list[Any], at: str) -> None:
    try:
        fixed, operands = resolve_stored(catalog, stored, Reference(at, ""))
        from_stored(catalog, fixed)
    except Conflict:
        wrong = "has a filter by a deleted field"
    except ValueError as error:
        wrong = f"has a filter with an operand that {error}"
    else:
        followable(operands)
        if not operands.personal:
            return
        wrong = "has a filter with `me`, and a webhook has no user"
    message = f"{wrong}: save the view with another filter, or choose another view"
    raise InvalidRequest("The request is not valid. Fix what `errors` lists.", [FieldError("view", message)])


def columns_of(view: View) -> tuple[str, ...] | None:
    """Return the internal ids of a view's columns; None: it shows all fields."""
    columns = view.look["columns"]
    return None if columns is None else tuple(key for key, *_ in columns)
