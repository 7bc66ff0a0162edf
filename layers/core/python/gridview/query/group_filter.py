"""The filter of a group: in a grid query, it matches exactly the issues of the group. Pure."""

from decimal import Decimal
from typing import Any

import orjson

from gridview.encoding.json_codec import dumps
from gridview.encoding.values import number_json, parse_number
from gridview.query import periods
from gridview.query.group_request import Dimension, Group, GroupOrder, GroupsQuery
from gridview.query.predicates import MAX_CONDITIONS, MAX_DEPTH, depth_of
from gridview.schema.fields import Field, FieldType

MAX_OWN_BYTES = 16 * 1024
"""Limit of a request's own filter, which the filter of each group repeats."""

_EXACT = 2**53
"""Whole numbers below it are binary numbers."""

_Part = dict[str, Any]
"""A part of a filter, as in a request."""


class GroupFilters:
    """The filters of the groups of one request: its own filter, narrowed to a group."""

    def __init__(self, query: GroupsQuery) -> None:
        self._by = query.by
        self._own: list[orjson.Fragment] = []
        self._depth = self._conditions = self._bytes = 0
        if query.filter is not None:
            # A filter that joins all parts by `and` takes the group's parts too.
            joined = "and" in query.sent
            encoded = [dumps(exactly(one)) for one in (query.sent["and"] if joined else [query.sent])]
            self._own = [orjson.Fragment(one) for one in encoded]
            self._depth = depth_of(query.filter) - joined
            self._conditions = len(list(query.filter.fields()))
            self._bytes = sum(map(len, encoded))

    def of(self, group: Group) -> Any:
        """Return the filter. None if it would exceed the limits of filters, or no filter can name a value of the group."""
        narrowed: list[_Part] = []
        for dimension, order, shown in zip(self._by, group.place, group.shown, strict=True):
            conditions = _conditions(dimension, order, shown)
            if not conditions:
                return None
            narrowed += conditions
        if self._own and not self._has_room(narrowed):
            return None
        parts = [*self._own, *narrowed]
        return parts[0] if len(parts) == 1 else {"and": parts}

    def _has_room(self, narrowed: list[_Part]) -> bool:
        runs = [len(one.get("or", ())) for one in narrowed]
        return (
            self._conditions + sum(max(1, one) for one in runs) <= MAX_CONDITIONS
            and 1 + max(self._depth, *map(bool, runs)) <= MAX_DEPTH
            and self._bytes <= MAX_OWN_BYTES
        )


def _conditions(dimension: Dimension, order: GroupOrder, shown: Any) -> list[_Part]:
    """The conditions for a group of one field, which all hold.

    None for a removed option, for a text whose spelling is unknown, and for bounds of more digits than a number may have.
    """
    field = dimension.field
    if shown is None:
        return [{"field": field.id, "op": "is_empty"}]
    if dimension.unit is not None:
        return [_in_period(dimension, shown)]
    if dimension.ranges is not None:
        return _in_range(field, shown.begin, shown.end)
    if shown == "" or (field.type.has_options and field.option(order[2]).retired):
        return []
    if field.type is FieldType.MULTI_ENUM:
        return [{"field": field.id, "op": "has_any", "value": [shown]}]
    return [{"field": field.id, "op": "eq", "value": exactly(shown)}]


def _in_range(field: Field, begin: Decimal | None, end: Decimal | None) -> list[_Part]:
    try:
        return [
            {"field": field.id, "op": operator, "value": exactly(parse_number(bound))}
            for operator, bound in (("gte", begin), ("lt", end))
            if bound is not None
        ]
    except ValueError:
        return []


def _in_period(dimension: Dimension, period: str) -> _Part:
    field = dimension.field
    of_dates = field.type is FieldType.DATE
    runs = [periods.dates_in(period)] if of_dates else periods.instants_in(period, dimension.zone)
    found: list[_Part] = [{"field": field.id, "op": "between", "value": one} for one in runs]
    return found[0] if len(found) == 1 else {"or": found}


def exactly(part: Any) -> Any:
    """Return the same JSON, with numbers as text if a client that reads binary numbers would return another number."""
    match part:
        case dict():
            return {name: exactly(one) for name, one in part.items()}
        case list():
            return [exactly(one) for one in part]
        case int() if abs(part) < _EXACT:
            return part
        case int() | Decimal():
            exact = Decimal(part)
            return exact if Decimal(repr(float(exact))) == exact else number_json(exact)
    return part
