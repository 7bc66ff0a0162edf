"""Saved views as the API returns them, with the fields and options that still exist. Pure.

A view remains when fields that it names are deleted. The answer has its remaining parts, and lists the others in `missing`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from gridview.encoding.json_codec import dumps
from gridview.encoding.values import datetime_json
from gridview.query.grid_request import SortKey, order_keys
from gridview.query.group_filter import exactly
from gridview.query.view_filters import FilterReader, Missing
from gridview.schema.catalog import Catalog
from gridview.schema.fields import Field, FieldType
from gridview.schema.formats import value_json
from gridview.schema.generations import IndexNotReady
from gridview.schema.views import Look, View
from gridview.support.errors import QueryTooExpensive

MAX_FILTER_BYTES = 1_000_000
"""Limit of a filter in an answer.

A view's filter may exceed it if options were given longer values since; it is then among the missing parts.
"""


def view_json(catalog: Catalog, view: View) -> dict[str, Any]:
    """Return a view's answer, by the present fields. Raises UnknownOption if the catalog is older than the view."""
    reader = _LookReader(catalog, view.look["named"])
    query = (
        {"sort": [{"manual": view.id}], **reader.filter(view.look)}
        if view.manual
        else reader.query(view.look)
    )
    return {
        "id": view.id,
        "name": view.name,
        "visibility": view.visibility,
        "query": query,
        **reader.rest(view.look),
        "missing": reader.missing,
        "remedies": [] if view.manual else remedies(catalog, query["sort"]),
        "manual_order": _manual_order(catalog, view),
        "version": view.version,
        "created": datetime_json(view.created),
        "updated": datetime_json(view.updated),
        "created_by": view.created_by,
        "updated_by": view.updated_by,
    }


def _manual_order(catalog: Catalog, view: View) -> str | None:
    """Return the state of a view's manual order; None if it has none."""
    order = None if view.owner else catalog.manual_order(view.num)
    if order is None:  # its order is made in the transaction that this answer reports
        return "building" if view.manual else None
    return "building" if order.served is None else "ready"


def query_json(catalog: Catalog, look: Look) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the order and the filter of a look as the API returns them, and their missing parts."""
    reader = _LookReader(catalog, look["named"])
    return reader.query(look), reader.missing


def remedies(catalog: Catalog, sort: Iterable[Mapping[str, Any]]) -> list[Any]:
    """The calls that make an order possible, if the grid would refuse it.

    A filter's remedies depend on sizes; only the grid returns them.
    """
    try:
        order_keys(catalog, [SortKey.model_construct(**key) for key in sort])
    except IndexNotReady:
        return []  # that is under way
    except QueryTooExpensive as refusal:
        offered: Any = refusal.members["remedies"]
        return list(offered)
    return []


class _LookReader:
    """Returns the parts of one look, and notes the missing ones."""

    def __init__(self, catalog: Catalog, named: Mapping[str, str]) -> None:
        self._missing = Missing(catalog, named)

    @property
    def missing(self) -> list[dict[str, Any]]:
        """The parts that are missing."""
        return self._missing.parts

    def query(self, look: Look) -> dict[str, Any]:
        """The order and the filter."""
        sort = [
            {
                "field": field.id,
                "direction": "desc" if descending else "asc",
                "nulls": "first" if nulls_first else "last",
            }
            for field, descending, nulls_first in self._living("sort", look["sort"])
        ]
        return {"sort": sort, **self.filter(look)}

    def filter(self, look: Look) -> dict[str, Any]:
        """The filter."""
        return {"filter": _whole_filter(self._missing, "filter", look["filter"])}

    def rest(self, look: Look) -> dict[str, Any]:
        """All other parts."""
        columns, color = look["columns"], look["color_by"]
        return {
            "columns": columns
            and [
                {"field": field.id, "width": width, "frozen": frozen}
                for field, width, frozen in self._living("columns", columns)
            ],
            "groups": [
                {
                    "field": field.id,
                    "unit": unit,
                    "timezone": zone,
                    "bins": bins and [Decimal(bound) for bound in bins],
                    "width": width and Decimal(width),
                }
                for field, unit, zone, bins, width in self._living("groups", look["groups"])
            ],
            "group_order": self._group_order(look["group_order"]),
            "footers": [
                {"field": field.id, "function": function}
                for field, function in self._living("footers", look["footers"])
            ],
            "color_by": next(
                (field.id for (field,) in self._living("color_by", [[color]] if color else [])), None
            ),
            "rules": self._rules(look["rules"]),
            "row_height": look["row_height"],
            **self._kind(look),
        }

    def _kind(self, look: Look) -> dict[str, Any]:
        """Its kind and its board. A view whose board lost its field is a grid."""
        board = None if look["board"] is None else _board(look["board"], self._missing)
        return {"kind": "grid" if board is None else look["kind"], "board": board}

    def _rules(self, rules: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
        """The rules of which something is left. One whose filter lost a part would match other rows: it goes."""
        left = []
        for only, color, key in rules:
            missing = self._missing.nothing()
            found = _whole_filter(missing, "rules", only)
            field = None if key is None else missing.field("rules", key)
            if not missing.parts:
                left.append({"filter": found, "color": color, "field": field and field.id})
            for part in missing.parts:
                self._missing.note(part)
        return left

    def _group_order(self, order: Sequence[Any] | None) -> dict[str, Any] | None:
        if order is None:
            return None
        key, function, direction = order
        field = None if key is None else self._missing.field("group_order", key)
        if key is not None and field is None:
            return None
        return {"field": field and field.id, "function": function, "direction": direction}

    def _living(self, part: str, named: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """Those with existing fields, each with its field in the place of its key."""
        found = [(self._missing.field(part, key), *others) for key, *others in named]
        return [one for one in found if one[0] is not None]


def _whole_filter(missing: Missing, part: str, stored: Sequence[Any] | None) -> Any:
    """Return a filter of a look in the form of a request; None if there is none, or nothing of it is left."""
    if stored is None:
        return None
    found = exactly(FilterReader(missing, part).read(stored))
    if found is not None and len(dumps(found)) > MAX_FILTER_BYTES:
        missing.note({"part": part})
        return None
    return found


def _board(board: Sequence[Any], missing: Missing) -> dict[str, Any] | None:
    """Return a stored board as the API does, and note what is missing; None if its field was deleted."""
    key, columns, card, aggregate = board
    by = missing.field("board", key)
    if by is None:
        return None
    left = (missing.field("board", one) for one in card)
    return {
        "by": by.id,
        "columns": list(_columns(by, columns, missing)),
        "card": [field.id for field in left if field is not None],
        "aggregate": None if aggregate is None else _aggregate(missing, *aggregate),
    }


def _columns(by: Field, columns: Sequence[Sequence[Any]], missing: Missing) -> Iterator[dict[str, Any]]:
    for value, hidden, limit in columns:
        if value is not None and by.type is FieldType.ENUM and by.option(value).retired:
            missing.note({"part": "board", "field": by.id, "value": by.option(value).value})
            continue
        shown = None if value is None else value_json(by, value)
        yield {"value": shown, "hidden": hidden, "limit": limit}


def _aggregate(missing: Missing, key: str, function: str) -> dict[str, Any] | None:
    field = missing.field("board", key)
    return None if field is None else {"field": field.id, "function": function}
