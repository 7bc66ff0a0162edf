"""The grid query as a client sends it, checked against the project's fields. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, NoReturn, Protocol

from pydantic import AfterValidator, ConfigDict, ValidationInfo, WithJsonSchema, field_validator
from pydantic import Field as ModelField

from gridview.encoding.json_codec import dumps, loads
from gridview.query.predicates import Filter
from gridview.query.references import Reference
from gridview.query.relative_operands import FIXED, RelativeOperands
from gridview.query.remedies import define_index, index_field, refused
from gridview.query.remedies import in_words as in_calls
from gridview.query.request_filters import (
    FilterDocument,
    collecting,
    parse_resolved,
    parse_with_filter,
)
from gridview.query.rules import MAX_RULES, RuleFilter, parse_rules
from gridview.query.sort_order import Keys, OrderKey
from gridview.query.timed_cursors import TimedCursor, referred_to
from gridview.schema import ids
from gridview.schema.catalog import MAX_ATTRIBUTES, MAX_KEYS, Catalog, Part
from gridview.schema.fields import BUILTINS, NUM, Field
from gridview.schema.generations import IndexNotReady
from gridview.schema.ids import FIELD_ID_SCHEMA
from gridview.schema.manual_orders import ManualOrder
from gridview.support.errors import FieldError, InvalidRequest
from gridview.support.validation import RequestModel, as_integers, parse

MAX_LIMIT = 500
MAX_COLUMNS = 1 + len(BUILTINS) + MAX_ATTRIBUTES
"""The number, and as many fields as a project can have."""
MAX_OFFSET = 99_999_999
"""No project has issues with higher numbers."""


def _of_the_project(field_id: str, known: ValidationInfo) -> str:
    catalog: Any = known.context
    if field_id != NUM and catalog.get(field_id) is None:
        raise ValueError("is not a field of the project")
    return field_id


FieldId = Annotated[
    str,
    AfterValidator(_of_the_project),
    WithJsonSchema(FIELD_ID_SCHEMA),
]
"""Names a field of the catalog that is the validation's context."""


MANUAL_ORDER_SCHEMA = {
    "title": "ManualSortKey",
    "description": "The manual order of the saved view with this id. It is the only key of its order.",
    "type": "object",
    "properties": {"manual": {"type": "string", "pattern": f"^{ids.VIEW.pattern}$"}},
    "required": ["manual"],
    "additionalProperties": False,
}


def _either(schema: dict[str, Any]) -> None:
    """Make the schema of a key that of a field's, or of a manual order's."""
    properties = schema["properties"]
    field = {
        "title": "FieldSortKey",
        "type": "object",
        "properties": {
            "field": {**FIELD_ID_SCHEMA},
            **{name: properties[name] for name in ("direction", "nulls")},
        },
        "required": ["field"],
        "additionalProperties": False,
    }
    described = schema["description"]
    schema.clear()
    schema |= {"description": described, "anyOf": [field, MANUAL_ORDER_SCHEMA]}


class SortKey(RequestModel):
    """One key of an order: a field, or the manual order of a saved view."""

    model_config = ConfigDict(json_schema_extra=_either)

    manual: Annotated[str, ModelField(pattern=f"^{ids.VIEW.pattern}$")] | None = None
    field: FieldId | None = ModelField(default=None, validate_default=True)
    direction: Literal["asc", "desc"] = "asc"
    nulls: Literal["first", "last"] = "last"

    @field_validator("field")
    @classmethod
    def _one_of_both(cls, field: str | None, known: ValidationInfo) -> str | None:
        if field is None and known.data.get("manual", "") is None:
            raise ValueError("is required")
        if field is not None and known.data.get("manual") is not None:
            raise ValueError("cannot be combined with manual")
        return field

    @field_validator("direction", "nulls")
    @classmethod
    def _of_a_field(cls, given: str, known: ValidationInfo) -> str:
        if known.data.get("manual") is not None:
            raise ValueError("cannot be combined with manual")
        return given

    def to_json(self) -> dict[str, str]:
        """Return the key as a request has it, whole."""
        if self.manual is not None:
            return {"manual": self.manual}
        return {"field": self.field or NUM, "direction": self.direction, "nulls": self.nulls}


def _manual_alone(keys: list[SortKey]) -> list[SortKey]:
    if len(keys) > 1 and any(key.manual is not None for key in keys):
        raise ValueError("can have no other key beside a manual order")
    return keys


SortKeys = Annotated[list[SortKey], ModelField(max_length=MAX_KEYS), AfterValidator(_manual_alone)]
"""An order in a request."""


class GridRequest(RequestModel):
    """POST /v1/projects/{project}/grid, every part optional."""

    sort: SortKeys = ModelField(default_factory=list)
    filter: FilterDocument = None
    columns: Annotated[list[FieldId], ModelField(max_length=MAX_COLUMNS)] | None = None
    limit: int = ModelField(default=100, ge=1, le=MAX_LIMIT)
    cursor: str | None = None
    offset: int | None = ModelField(default=None, ge=0, le=MAX_OFFSET)
    count: bool = False
    keys: Annotated[
        bool,
        ModelField(
            description="Whether each row has its sort key. The order of the keys is that of the rows."
        ),
    ] = False
    rules: Annotated[
        list[RuleFilter],
        ModelField(
            max_length=MAX_RULES,
            description="Filters with 50 conditions together. Each row has in `matches` the places of the filters that it passes.",
        ),
    ] = ModelField(default_factory=list)
    explain: bool = False

    @field_validator("offset")
    @classmethod
    def _not_from_a_cursor_on(cls, offset: int | None, known: ValidationInfo) -> int | None:
        if offset is not None and known.data.get("cursor") is not None:
            raise ValueError("cannot be combined with cursor")
        return offset


class RowNumberRequest(RequestModel):
    """GET /v1/projects/{project}/issues/{num}/row-number, by query parameters."""

    sort: SortKeys = ModelField(default_factory=list)
    filter: FilterDocument = None
    explain: bool = False


class RowNumberQuery(NamedTuple):
    """A checked query for a row number, with the order and the filter in which the row is counted."""

    keys: Keys
    filter: Filter | None
    explain: bool
    operands: RelativeOperands = FIXED


class AskedKey(NamedTuple):
    """One key of a requested order. Its field need not have an index if a composite index gives the order."""

    field_id: str
    part: Part

    @property
    def descending(self) -> bool:
        """Whether the greatest value comes first."""
        return self.part.descending


@dataclass(frozen=True, slots=True)
class GridQuery:
    """A checked grid query. `sort`: the requested keys; `keys`: the indexes' keys that give that order, at least one.

    `operands`: the relative operands of the filter, which has their values. `cursor`: without its instant, which is `at`.
    `rules`: what rows are judged by; no cursor is bound to them.
    """

    sort: tuple[AskedKey, ...]
    keys: Keys
    filter: Filter | None
    columns: frozenset[str] | None
    limit: int
    cursor: str | None
    offset: int
    count: bool
    with_keys: bool
    explain: bool
    operands: RelativeOperands = FIXED
    at: str = ""
    rules: tuple[Filter, ...] = ()

    def binding(self, tenant: str, project: str) -> bytes:
        """The data that a cursor of this query is bound to: tenant, project, sort, filter, and the filter's instant."""
        return dumps(
            {
                "tenant": tenant,
                "project": project,
                "sort": [list(one.part) for one in self.sort],
                "filter": self.filter.canonical() if self.filter is not None else None,
                "at": self.at,
            }
        )


def from_parameters(parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return the body that the query parameters of `GET .../grid` represent.

    `sort=-created` or a JSON list as in the body, `columns=a,b`, `filter=<JSON>`, `rules=<JSON>`, `limit`, `offset`, `cursor`,
    and the flags `count`, `keys` and `explain`. A value that cannot be read stays text, and the checks of the body refuse it.
    """
    body: dict[str, Any] = {**parameters, **as_integers(parameters, "limit", "offset")}
    for name, read in _PARAMETERS.items():
        if name in parameters:
            body[name] = read(parameters[name])
    return body


def _sort_parameter(text: str) -> Any:
    if text.startswith("["):
        return _json_or_text(text)
    return [
        {"field": name.removeprefix("-"), "direction": "desc" if name.startswith("-") else "asc"}
        for name in text.split(",")
    ]


def _json_or_text(text: str) -> Any:
    try:
        return loads(text)
    except InvalidRequest:
        return text


def _flag(text: str) -> bool | str:
    return {"true": True, "false": False}.get(text, text)


_PARAMETERS: dict[str, Callable[[str], Any]] = {
    "sort": _sort_parameter,
    "filter": _json_or_text,
    "rules": _json_or_text,
    "columns": lambda text: text.split(","),
    "count": _flag,
    "keys": _flag,
    "explain": _flag,
}


def cursor_of(text: str | None, operands: RelativeOperands) -> tuple[str | None, str]:
    """Return the sealed part of a query's cursor, and the instant that its filter is of (empty: of none)."""
    if text is None:
        return None, operands.at if operands.timed else ""
    return TimedCursor.of(text)


def resolve(catalog: Catalog, body: Any, reference: Reference | None = None) -> GridQuery:
    """Return the query over the project's fields, resolved for a reference or for the instant of its cursor.

    Raises InvalidRequest, IndexNotReady or QueryTooExpensive.
    """
    errors: list[FieldError] = []
    parts = body if isinstance(body, dict) else {}
    request = collecting(errors, lambda: parse(GridRequest, body, context=catalog))
    found = collecting(
        errors, lambda: parse_resolved(catalog, parts.get("filter"), referred_to(body, reference))
    )
    rules = collecting(errors, lambda: parse_rules(catalog, parts.get("rules"), reference))
    if request is None or found is None or rules is None:
        raise InvalidRequest("The request is not valid. Fix what `errors` lists.", errors)
    cursor, at = cursor_of(request.cursor, found.operands)
    return GridQuery(
        sort=tuple(asked_key(catalog, key) for key in request.sort) or (AskedKey(NUM, Part(NUM)),),
        keys=order_keys(catalog, request.sort),
        filter=found.only,
        columns=None if request.columns is None else frozenset(request.columns),
        limit=request.limit,
        cursor=cursor,
        offset=request.offset or 0,
        count=request.count,
        with_keys=request.keys,
        explain=request.explain,
        operands=found.operands,
        at=at,
        rules=tuple(rule.only for rule in rules),
    )


def resolve_row_number(catalog: Catalog, body: Any, reference: Reference | None = None) -> RowNumberQuery:
    """Return the query over the project's fields, resolved for a reference.

    Raises InvalidRequest, IndexNotReady or QueryTooExpensive.
    """
    request, found = parse_with_filter(RowNumberRequest, catalog, body, reference)
    return RowNumberQuery(order_keys(catalog, request.sort), found.only, request.explain, found.operands)


def asked_key(catalog: Catalog, key: SortKey) -> AskedKey:
    """The key over the project's fields. InvalidRequest if it names a view without a manual order."""
    if key.manual is not None:
        order = _manual_order(catalog, key.manual)
        return AskedKey(order.id, Part(order.key))
    field, descending = catalog.get(key.field or NUM), key.direction == "desc"
    if field is None:
        return AskedKey(NUM, Part(NUM, descending))
    return AskedKey(field.id, Part(field.key, descending, key.nulls == "first"))


def order_keys(catalog: Catalog, sort: Sequence[SortKey]) -> Keys:
    """Return the fewest keys that give the order: those of a composite index, or of each field's index.

    The fields of a composite index need no index themselves. Raises IndexNotReady or QueryTooExpensive if no index gives the
    order (yet). InvalidRequest if it names a view without a manual order.
    """
    if sort and sort[0].manual is not None:
        order = _manual_order(catalog, sort[0].manual)
        if order.served is None:
            raise IndexNotReady("", view=order.view)
        return (OrderKey(order.served),)
    parts = [asked_key(catalog, key).part for key in sort]
    if (served := catalog.composite_for(parts)) is not None:
        return (OrderKey(served.order, served.reversed),)
    building = catalog.composite_being_built(parts)
    if building is not None and any(catalog.field_of(part.field).served is None for part in building.sort):
        raise IndexNotReady("", building.id)
    named = [catalog.get(key.field or NUM) for key in sort]
    unserved = [field for field in dict.fromkeys(named) if field is not None and field.served is None]
    if unserved:
        _refuse(catalog, parts, unserved)
    return _sufficient(tuple(_key(catalog, key) for key in sort) or (OrderKey(None),))


def _manual_order(catalog: Catalog, view: str) -> ManualOrder:
    order = catalog.manual_order(ids.view_number(view))
    if order is None:
        raise InvalidRequest(
            "The request is not valid. Fix what `errors` lists.",
            [FieldError("sort.0.manual", "is not a view with a manual order")],
        )
    return order


def _refuse(catalog: Catalog, parts: Sequence[Part], unserved: Sequence[Field]) -> NoReturn:
    """Raise QueryTooExpensive with remedies for a sort by unindexed fields; IndexNotReady if an index is being built."""
    for field in unserved:
        if field.indexed:
            raise IndexNotReady(field.id)
    whole = define_index(catalog, parts)
    remedies = [whole] if whole is not None else [index_field(catalog, field) for field in unserved]
    names = ", ".join(field.id for field in unserved)
    raise refused(
        f"A sort by {names} needs an index. An administrator can build it: {in_calls(remedies)}.",
        remedies,
    )


def _key(catalog: Catalog, key: SortKey) -> OrderKey:
    field = catalog.get(key.field or NUM)
    if field is None:
        return OrderKey(None, key.direction == "desc")
    return OrderKey(field.served, key.direction == "desc", key.nulls == "first")


def _sufficient(sort: Keys) -> Keys:
    """The fewest of these keys that give the same order: those up to the issue number, which leaves no ties.

    The number already breaks ties in the direction of the key before it, so it need not be a key in that direction.
    """
    kept = sort[: next((at for at, key in enumerate(sort, 1) if key.order is None), len(sort))]
    if len(kept) > 1 and kept[-1].order is None and kept[-1].descending == kept[-2].descending:
        return kept[:-1]
    return kept


def parts_of(sort: Keys) -> list[Part]:
    """The keys in the form by which the catalog finds composite indexes."""
    return [Part(key.order.key if key.order else NUM, key.descending, key.nulls_first) for key in sort]


class _Described(Protocol):
    @property
    def field_id(self) -> str: ...

    @property
    def descending(self) -> bool: ...


def in_words(sort: Sequence[_Described]) -> str:
    """`day descending, then num ascending`."""
    return ", then ".join(f"{key.field_id} {'descending' if key.descending else 'ascending'}" for key in sort)
