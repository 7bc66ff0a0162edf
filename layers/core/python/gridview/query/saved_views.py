"""Saved views: read from a request against the fields of the project, and completed for the table. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gridview.encoding.json_codec import dumps
from gridview.encoding.values import number_json
from gridview.query import boards
from gridview.query.grid_request import SortKey, asked_key
from gridview.query.group_request import NEVER_RANKED, GroupBy, dimension
from gridview.query.number_functions import OF_NUMBERS
from gridview.query.predicates import NUMBER
from gridview.query.references import Reference
from gridview.query.relative_operands import unresolved
from gridview.query.request_filters import collecting, parse_resolved
from gridview.query.rules import parse_rules
from gridview.query.view_answers import view_json
from gridview.query.view_filters import field_at, keys_of_filter
from gridview.query.view_request import ViewCreate, ViewGroupOrder, ViewPatch
from gridview.schema.catalog import Catalog, Part
from gridview.schema.fields import Field, FieldType
from gridview.schema.manual_orders import MANUAL
from gridview.schema.views import MAX_VIEW_BYTES, Look, View, ViewChange
from gridview.support.errors import FieldError, InvalidRequest, LimitExceeded
from gridview.support.validation import parse


def parse_create(catalog: Catalog, body: Any, reference: Reference) -> ViewChange:
    """Return all of a new view. Raises InvalidRequest with all its errors at once.

    The view keeps relative operands as they are; they have to be valid for the reference.
    """
    return _parsed(catalog, ViewCreate, body, reference, whole=True)


def parse_patch(catalog: Catalog, body: Any, reference: Reference, view: int) -> ViewChange:
    """Return the parts of the view with this number that a request changes. As for `parse_create`."""
    return _parsed(catalog, ViewPatch, body, reference, whole=False, view=view)


def _parsed(
    catalog: Catalog,
    model: type[ViewCreate | ViewPatch],
    body: Any,
    reference: Reference,
    *,
    whole: bool,
    view: int | None = None,
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
        errors += _wrong_manual(request, view) if "query" in given else ()
    if request is None or found is None or rules is None or errors:
        raise InvalidRequest("The request is not valid. Fix what `errors` lists.", errors)
    look = {part: stored(catalog, request) for part, stored in _STORED.items() if part in given}
    if "query" in given:
        look["sort"] = [_stored_key(catalog, one) for one in request.query.sort]
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
    # What a patch omits is None.
    place = request.place if isinstance(request, ViewPatch) else None
    return ViewChange(request.name, request.visibility, look, place)


def _stored_key(catalog: Catalog, key: SortKey) -> list[Any]:
    part = Part(MANUAL) if key.manual is not None else asked_key(catalog, key).part
    return list(part)


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
    "kind": lambda _, request: request.kind,
    "board": lambda catalog, request: request.board and boards.stored(catalog, request.board),
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
    if request.board is not None:
        yield from boards.errors(catalog, request.board)


def _wrong_manual(request: ViewCreate | ViewPatch, view: int | None) -> Iterator[FieldError]:
    named = next((one.manual for one in request.query.sort if one.manual is not None), None)
    if named is None or (view is not None and named == f"v{view}"):
        return
    yield FieldError(
        "query.sort.0.manual",
        "must be the id of the view itself" if view is not None else "is not possible before the view exists",
    )


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
    """Return a view as it will be written, and its answer then.

    LimitExceeded if it is larger than allowed. InvalidRequest if it is a board without its parts.
    """
    if view.look["kind"] == "board" and view.look["board"] is None:
        raise InvalidRequest(
            "The request is not valid. Fix what `errors` lists.",
            [FieldError("board", "is required for a board")],
        )
    before = view.look.get("named", {})
    named = {}
    for key in _keys(view.look):
        if key == MANUAL:
            continue
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
    if look["board"] is not None:
        yield from boards.keys_of(look["board"])
