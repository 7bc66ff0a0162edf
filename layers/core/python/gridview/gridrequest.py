"""The grid query as a client sends it, checked against the project's fields. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ValidationInfo, field_validator
from pydantic import Field as ModelField

from gridview.catalog import NUM, Catalog, FieldOrder
from gridview.errors import InvalidRequest, NotAvailable, NotReady, Unprocessable
from gridview.jsontext import dumps, loads
from gridview.validation import RequestModel, as_integers, parse

MAX_LIMIT = 500


class IndexNotReady(NotReady):
    """The index of `attribute`, which the query needs, is being built."""

    def __init__(self, attribute: str) -> None:
        super().__init__(f"The index of {attribute} is being built, so nothing can be sorted by it yet.")
        self.attribute = attribute


def _of_the_project(field_id: str, known: ValidationInfo) -> str:
    catalog: Any = known.context
    if field_id != NUM and catalog.get(field_id) is None:
        raise ValueError("is not a field of the project")
    return field_id


FieldId = Annotated[str, AfterValidator(_of_the_project)]
"""Names a field of the catalog that is the validation's context."""


class SortKey(RequestModel):
    """One key of an order."""

    field: FieldId
    direction: Literal["asc", "desc"] = "asc"
    nulls: Literal["first", "last"] = "last"


_BY_NUMBER = SortKey.model_construct(field=NUM)


class GridRequest(RequestModel):
    """POST /v1/projects/{project}/grid, every part optional."""

    sort: list[SortKey] = ModelField(default_factory=list)
    filter: dict[str, Any] | None = None
    columns: list[FieldId] | None = None
    limit: int = ModelField(default=100, ge=1, le=MAX_LIMIT)
    cursor: str | None = None
    offset: int | None = ModelField(default=None, ge=0)
    count: bool = False
    explain: bool = False

    @field_validator("offset")
    @classmethod
    def _not_from_a_cursor_on(cls, offset: int | None, known: ValidationInfo) -> int | None:
        if offset is not None and known.data.get("cursor") is not None:
            raise ValueError("cannot go together with cursor")
        return offset


@dataclass(frozen=True, slots=True)
class GridQuery:
    """A checked grid query. `order` is what it sorts by; None: by number."""

    order: FieldOrder | None
    descending: bool
    nulls_first: bool
    columns: frozenset[str] | None
    limit: int
    cursor: str | None
    explain: bool

    def binding(self, tenant: str, project: str) -> bytes:
        """What a cursor of this query is bound to: tenant, project, sort and filter."""
        sort = [self.order.field.key if self.order else NUM, self.descending, self.nulls_first]
        return dumps({"tenant": tenant, "project": project, "sort": sort, "filter": None})


def from_parameters(parameters: Mapping[str, str]) -> dict[str, Any]:
    """The body that the query parameters of `GET .../grid` stand for. What cannot be read stays text, and is refused as such.

    `sort=-created` or a JSON list as in the body, `columns=a,b`, `filter=<JSON>`, `limit`, `offset`, `cursor`, `count`, `explain`.
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
    "columns": lambda text: text.split(","),
    "count": _flag,
    "explain": _flag,
}


def resolve(catalog: Catalog, body: Any) -> GridQuery:
    """The query over the project's fields; raises InvalidRequest, IndexNotReady, Unprocessable or NotAvailable."""
    request = parse(GridRequest, body, context=catalog)
    _refuse_unavailable(request)
    key = request.sort[0] if request.sort else _BY_NUMBER
    field = catalog.get(key.field)
    if field is not None and field.served is None:
        if field.indexed:
            raise IndexNotReady(field.id)
        raise Unprocessable(
            f"{field.id} is not indexed, so nothing can be sorted by it. An administrator can switch its index on: "
            f'PATCH /v1/projects/{catalog.project}/attributes/{field.id} {{"indexed": true}}.'
        )
    return GridQuery(
        order=field.served if field is not None else None,
        descending=key.direction == "desc",
        nulls_first=key.nulls == "first" and field is not None,
        columns=None if request.columns is None else frozenset(request.columns),
        limit=request.limit,
        cursor=request.cursor,
        explain=request.explain,
    )


def _refuse_unavailable(request: GridRequest) -> None:
    if request.filter is not None:
        raise NotAvailable("Filters are not available yet.")
    if request.offset is not None:
        raise NotAvailable("`offset` is not available yet; walk by `cursor`.")
    if request.count:
        raise NotAvailable("`count` is not available yet.")
    if len(request.sort) > 1:
        raise NotAvailable("Sorting by more than one key is not available yet.")
