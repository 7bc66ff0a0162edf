"""The grid query as a client sends it, checked against the project's fields. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field as ModelField

from gridview.catalog import NUM, Catalog, Field
from gridview.errors import FieldError, InvalidRequest, NotAvailable, Unprocessable
from gridview.jsontext import dumps, loads
from gridview.validation import RequestModel, parse

MAX_LIMIT = 500


class SortKey(RequestModel):
    """One key of an order."""

    field: str
    direction: Literal["asc", "desc"] = "asc"
    nulls: Literal["first", "last"] = "last"


class GridRequest(RequestModel):
    """POST /v1/projects/{project}/grid, every part optional."""

    sort: list[SortKey] = ModelField(default_factory=list)
    filter: dict[str, Any] | None = None
    columns: list[str] | None = None
    limit: int = ModelField(default=100, ge=1, le=MAX_LIMIT)
    cursor: str | None = None
    offset: int | None = ModelField(default=None, ge=0)
    count: bool = False
    explain: bool = False


@dataclass(frozen=True, slots=True)
class GridQuery:
    """A checked grid query. `field` is what it sorts by; None: by number."""

    field: Field | None
    descending: bool
    nulls_first: bool
    columns: frozenset[str] | None
    limit: int
    cursor: str | None
    explain: bool

    def binding(self, tenant: str, project: str) -> bytes:
        """What a cursor of this query is bound to: tenant, project, sort and filter."""
        sort = [self.field.key if self.field else NUM, self.descending, self.nulls_first]
        return dumps({"tenant": tenant, "project": project, "sort": sort, "filter": None})


def from_parameters(parameters: Mapping[str, str]) -> dict[str, Any]:
    """The body that the query parameters of `GET .../grid` stand for; InvalidRequest on one that cannot be read.

    `sort=-created` or a JSON list as in the body, `columns=a,b`, `filter=<JSON>`, `limit`, `offset`, `cursor`, `count`, `explain`.
    """
    body: dict[str, Any] = {}
    errors = []
    for name, text in parameters.items():
        try:
            body[name] = _PARAMETERS.get(name, str)(text)
        except (ValueError, InvalidRequest):
            errors.append(FieldError(name, "cannot be read"))
    if errors:
        raise InvalidRequest("A query parameter is not valid.", errors)
    return body


def _sort_parameter(text: str) -> Any:
    if text.startswith("["):
        return loads(text)
    return [
        {"field": name.removeprefix("-"), "direction": "desc" if name.startswith("-") else "asc"}
        for name in text.split(",")
    ]


def _flag(text: str) -> bool:
    return {"true": True, "false": False}[text] if text in ("true", "false") else _unreadable()


def _unreadable() -> bool:
    raise ValueError


_PARAMETERS: dict[str, Any] = {
    "sort": _sort_parameter,
    "filter": loads,
    "columns": lambda text: text.split(","),
    "limit": int,
    "offset": int,
    "count": _flag,
    "explain": _flag,
}


def resolve(catalog: Catalog, body: Any) -> GridQuery:
    """The query over the project's fields; InvalidRequest, Unprocessable or NotAvailable says why it cannot be answered."""
    request = parse(GridRequest, body)
    errors = [
        FieldError(f"sort.{place}.field", "is not a field of the project")
        for place, key in enumerate(request.sort)
        if key.field != NUM and catalog.get(key.field) is None
    ]
    errors += [
        FieldError(f"columns.{place}", "is not a field of the project")
        for place, column in enumerate(request.columns or ())
        if column != NUM and catalog.get(column) is None
    ]
    if request.cursor is not None and request.offset is not None:
        errors.append(FieldError("offset", "cannot go together with cursor"))
    if errors:
        raise InvalidRequest("The query is not valid.", errors)
    _refuse_unavailable(request)
    key = request.sort[0] if request.sort else SortKey(field=NUM)
    field = catalog.get(key.field)
    if field is not None and not field.indexed:
        raise Unprocessable(
            f"The attribute {field.id} is not indexed, so nothing can be sorted by it. Create an attribute with `indexed: true`."
        )
    return GridQuery(
        field=field,
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
