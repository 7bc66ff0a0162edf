"""Saved views: read from a request against the project's fields, and returned with the fields that still exist. Pure.

A view remains when fields that it names are deleted. The answer has its remaining parts, and lists the others in `gone`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field as ModelField

from gridview.encoding.json_codec import dumps
from gridview.encoding.values import datetime_json, number_json
from gridview.query.grid_request import MAX_COLUMNS, FieldId, SortKey, SortKeys, asked_key, order_keys
from gridview.query.group_filter import exactly
from gridview.query.group_request import MAX_FIELDS as MAX_GROUP_KEYS
from gridview.query.group_request import NEVER_RANKED, GroupBy, GroupInput, dimension
from gridview.query.number_functions import OF_NUMBERS, Function
from gridview.query.predicates import NUMBER
from gridview.query.references import Reference
from gridview.query.relative_operands import unresolved
from gridview.query.request_filters import FilterDocument, collecting, parse_resolved
from gridview.query.rules import MAX_RULES, RuleFilter, parse_rules
from gridview.query.summary_request import MAX_FIELDS as MAX_FOOTERS
from gridview.query.view_filters import FilterReader, Missing, field_at, keys_of_filter
from gridview.schema.catalog import Catalog
from gridview.schema.fields import Color, Field, FieldType
from gridview.schema.generations import IndexNotReady
from gridview.schema.views import MAX_VIEW_BYTES, Look, View, ViewChange, Visibility
from gridview.support.errors import FieldError, InvalidRequest, LimitExceeded, QueryTooExpensive
from gridview.support.validation import RequestModel, omissible, parse

MAX_NAME_LENGTH = 256
MAX_FILTER_BYTES = 1_000_000
"""Limit of a filter in an answer.

A view's filter may exceed it if options were given longer values since; it is then among the missing parts.
"""


class ViewQuery(RequestModel):
    """The order and the filter of a view, as in a grid query."""

    sort: SortKeys = ModelField(default_factory=list)
    filter: FilterDocument = None


class ViewColumn(RequestModel):
    """A column of a view; `width` in pixels. Frozen columns stay when the others scroll."""

    field: FieldId
    width: int = ModelField(ge=16, le=2_000)
    frozen: bool = False


class ViewFooter(RequestModel):
    """The value below a column, as in a summary."""

    field: FieldId
    function: Function


class ViewGroupOrder(RequestModel):
    """The order of a view's groups: by a function of a number field, or by the groups' counts without a field."""

    field: FieldId | None = None
    function: Function
    direction: Literal["asc", "desc"] = "asc"


class ViewRule(RequestModel):
    """Rows that the filter matches have a color: one cell of them, or without `field` the whole row."""

    filter: RuleFilter
    color: Color
    field: FieldId | None = None


_Name = Annotated[str, ModelField(min_length=1, max_length=MAX_NAME_LENGTH)]
_Columns = Annotated[list[ViewColumn], ModelField(max_length=MAX_COLUMNS)] | None
_Groups = Annotated[list[GroupInput], ModelField(max_length=MAX_GROUP_KEYS)]
_Footers = Annotated[list[ViewFooter], ModelField(max_length=MAX_FOOTERS)]
_Rules = Annotated[
    list[ViewRule],
    ModelField(
        max_length=MAX_RULES,
        description="The first that matches a row or a cell gives it its color. The filters have 50 conditions together.",
    ),
]
_PLACE = "The place among the views of the project that everyone sees, or among the caller's private ones; 0 is the first."
_Height = Annotated[int, ModelField(ge=16, le=400, description="The height of a row, in pixels.")]

_COLUMNS = "The columns in their order on the screen; null for all fields in the project's order."
_GROUP_ORDER = "The order of the groups; null for that of their fields."
_COLOR = "The field with options that gives the rows their colors."


class ViewCreate(RequestModel):
    """POST /v1/projects/{project}/views."""

    name: _Name
    visibility: Visibility = "private"
    query: ViewQuery = ModelField(default_factory=ViewQuery)
    columns: _Columns = ModelField(default=None, description=_COLUMNS)
    groups: _Groups = ModelField(default_factory=list)
    group_order: ViewGroupOrder | None = ModelField(default=None, description=_GROUP_ORDER)
    footers: _Footers = ModelField(default_factory=list)
    color_by: FieldId | None = ModelField(default=None, description=_COLOR)
    rules: _Rules = ModelField(default_factory=list)
    row_height: _Height = 32


class ViewPatch(RequestModel):
    """PATCH /v1/projects/{project}/views/{view}. Omitted properties stay unchanged; each given one is replaced as a whole."""

    name: _Name = omissible()
    visibility: Visibility = omissible()
    query: ViewQuery = omissible()
    columns: _Columns = omissible(description=_COLUMNS)
    groups: _Groups = omissible()
    group_order: ViewGroupOrder | None = omissible(description=_GROUP_ORDER)
    footers: _Footers = omissible()
    color_by: FieldId | None = omissible(description=_COLOR)
    rules: _Rules = omissible()
    row_height: _Height = omissible()
    place: int = omissible(ge=0, description=_PLACE)


# From a request


def parse_create(catalog: Catalog, body: Any, reference: Reference) -> ViewChange:
    """Return all of a new view. Raises InvalidRequest with all its errors at once.

    The view keeps relative operands as they are; they have to be valid for the reference.
    """
    return _parsed(catalog, ViewCreate, body, reference, whole=True)


def parse_patch(catalog: Catalog, body: Any, reference: Reference) -> ViewChange:
    """Return the parts of a view that a request changes. As for `parse_create`."""
    return _parsed(catalog, ViewPatch, body, reference, whole=False)


def _parsed(
    catalog: Catalog, model: type[ViewCreate | ViewPatch], body: Any, reference: Reference, *, whole: bool
) -> ViewChange:
    errors: list[FieldError] = []
    of_query: list[FieldError] = []
    parts = body if isinstance(body, dict) else {}
    sent = _filter_sent(parts)
    request = collecting(errors, lambda: parse(model, body, context=catalog))
    found = collecting(of_query, lambda: parse_resolved(catalog, sent, reference))
    errors += (FieldError(f"query.{one.field}", one.message) for one in of_query)
    rules = collecting(errors, lambda: parse_rules(catalog, parts.get("rules"), reference, "filter"))
    if request is not None:
        given = set(model.model_fields) if whole else request.model_fields_set
        errors += _wrong(catalog, request, given)
    if request is None or found is None or rules is None or errors:
        raise InvalidRequest("The request is not valid. Fix what `errors` lists.", errors)
    look = {part: stored(catalog, request) for part, stored in _STORED.items() if part in given}
    if "query" in given:
        look["sort"] = [list(asked_key(catalog, one).part) for one in request.query.sort]
        look["filter"] = None if found.only is None else unresolved(found.only.canonical(), sent)
    if "rules" in given:
        look["rules"] = [
            [
                unresolved(rule.only.canonical(), rule.document),
                one.color,
                one.field and _key(catalog, one.field),
            ]
            for rule, one in zip(rules, request.rules, strict=True)
        ]
    return ViewChange(
        request.name if "name" in given else None,
        request.visibility if "visibility" in given else None,
        look,
        request.place if isinstance(request, ViewPatch) and "place" in given else None,
    )


def _stored_columns(catalog: Catalog, request: ViewCreate | ViewPatch) -> Any:
    if request.columns is None:
        return None
    return [[_key(catalog, one.field), one.width, one.frozen] for one in request.columns]


def _stored_color(catalog: Catalog, request: ViewCreate | ViewPatch) -> str | None:
    return None if request.color_by is None else _key(catalog, request.color_by)


def _stored_group(catalog: Catalog, one: GroupBy) -> list[Any]:
    bins = None if one.bins is None else [number_json(bound) for bound in one.bins]
    width = None if one.width is None else number_json(one.width)
    return [_key(catalog, one.field), one.unit, one.timezone, bins, width]


def _stored_order(catalog: Catalog, order: ViewGroupOrder | None) -> list[Any] | None:
    if order is None:
        return None
    return [order.field and _key(catalog, order.field), order.function, order.direction]


_STORED: Mapping[str, Callable[[Catalog, ViewCreate | ViewPatch], Any]] = {
    "columns": _stored_columns,
    "groups": lambda catalog, request: [_stored_group(catalog, one) for one in request.groups],
    "group_order": lambda catalog, request: _stored_order(catalog, request.group_order),
    "footers": lambda catalog, request: [[_key(catalog, one.field), one.function] for one in request.footers],
    "color_by": _stored_color,
    "row_height": lambda _, request: request.row_height,
}
"""Makes the parts of a look from those of a request."""


def _filter_sent(body: Mapping[str, Any]) -> Any:
    query = body.get("query")
    return query.get("filter") if isinstance(query, dict) else None


def _wrong(catalog: Catalog, request: ViewCreate | ViewPatch, given: set[str]) -> Iterator[FieldError]:
    """The errors of a view's parts that depend on the types of their fields."""
    if "columns" in given:
        yield from _repeated("columns", [one.field for one in request.columns or ()])
    if "groups" in given:
        found: list[FieldError] = []
        for at, one in enumerate(request.groups):
            dimension(catalog, one, f"groups.{at}", found)
        yield from found
    if "footers" in given:
        yield from _repeated("footers", [one.field for one in request.footers])
        for at, footer in enumerate(request.footers):
            of_numbers = _field(catalog, footer.field).type is FieldType.NUMBER
            if footer.function in OF_NUMBERS and not of_numbers:
                yield FieldError(f"footers.{at}.function", "can be used only with number fields")
    if request.group_order is not None:
        yield from _wrong_order(catalog, request.group_order)
    if request.color_by is not None and _field(catalog, request.color_by).type is not FieldType.ENUM:
        yield FieldError("color_by", "must be a field whose options have colors")


def _wrong_order(catalog: Catalog, order: ViewGroupOrder) -> Iterator[FieldError]:
    if order.field is None and order.function != "count":
        yield FieldError("group_order.field", "is required for this function")
    elif order.field is not None and _field(catalog, order.field).type is not FieldType.NUMBER:
        yield FieldError("group_order.field", "is not a number field")
    if order.function in NEVER_RANKED:
        yield FieldError("group_order.function", f"{order.function} cannot order groups")


def _repeated(part: str, fields: Sequence[str]) -> Iterator[FieldError]:
    seen = set[str]()
    for at, one in enumerate(fields):
        if one in seen:
            yield FieldError(f"{part}.{at}.field", "must not be named twice")
        seen.add(one)


def _field(catalog: Catalog, name: str) -> Field:
    return catalog.get(name) or NUMBER  # validation has looked: else it is the number


def _key(catalog: Catalog, name: str) -> str:
    return _field(catalog, name).key


def ready(catalog: Catalog, view: View) -> tuple[View, dict[str, Any]]:
    """Return a view as it will be written, and its answer then. Raises LimitExceeded if it is larger than allowed."""
    before = view.look.get("named", {})
    named = {}
    for key in _keys(view.look):
        field = field_at(catalog, key)
        named[key] = before.get(key, key) if field is None else field.id
    whole = replace(view, look={**view.look, "named": named})
    answer = view_json(catalog, whole)
    if max(whole.size, len(dumps(answer))) > MAX_VIEW_BYTES:
        raise LimitExceeded(
            f"The view would be larger than {MAX_VIEW_BYTES // 1024} KB. Shorten its filter or remove columns."
        )
    return whole, answer


def _keys(look: Look) -> Iterator[str]:
    """The internal ids of the fields that a look names."""
    for part in ("sort", "columns", "groups", "footers"):
        yield from (one[0] for one in look[part] or ())
    if look["color_by"] is not None:
        yield look["color_by"]
    if look["group_order"] is not None and look["group_order"][0] is not None:
        yield look["group_order"][0]
    if look["filter"] is not None:
        yield from keys_of_filter(look["filter"])
    for only, _, key in look["rules"]:
        yield from keys_of_filter(only)
        if key is not None:
            yield key


# To a client


def view_json(catalog: Catalog, view: View) -> dict[str, Any]:
    """Return a view's answer, by the present fields. Raises UnknownOption if the catalog is older than the view."""
    reader = _LookReader(catalog, view.look["named"])
    query = reader.query(view.look)
    return {
        "id": view.id,
        "name": view.name,
        "visibility": view.visibility,
        "query": query,
        **reader.rest(view.look),
        "missing": reader.missing,
        "remedies": remedies(catalog, query["sort"]),
        "version": view.version,
        "created": datetime_json(view.created),
        "updated": datetime_json(view.updated),
        "created_by": view.created_by,
        "updated_by": view.updated_by,
    }


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
        return {"sort": sort, "filter": _whole_filter(self._missing, "filter", look["filter"])}

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
        }

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
