"""The order of an export: the body of `POST .../export`, and its stored form in a job. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import Field as ModelField
from pydantic import field_validator

from gridview.encoding.consistency import DELETED, Recent, from_texts, to_texts
from gridview.query.grid_request import MAX_COLUMNS, FieldId, SortKeys, resolve_row_number
from gridview.query.predicates import Filter
from gridview.query.references import Reference
from gridview.query.request_filters import FilterDocument, not_with_a_view, parse_resolved
from gridview.query.sort_order import Keys
from gridview.query.stored_queries import (
    from_stored,
    order_from_stored,
    order_to_stored,
    stored_field,
    to_stored,
)
from gridview.schema.catalog import Catalog
from gridview.schema.fields import NUM, Field
from gridview.schema.ids import VIEW, view_number
from gridview.support.errors import FieldError, InvalidRequest
from gridview.support.validation import RequestModel, parse

ExportFormat = Literal["csv", "ndjson"]


class ExportQuery(RequestModel):
    """The content of an export: the rows and columns of a saved view, or of a grid with this order and
    filter.
    """

    view: str | None = ModelField(
        default=None,
        pattern=f"^{VIEW.pattern}$",
        description="The saved view whose rows and columns are exported.",
    )
    sort: SortKeys = ModelField(default_factory=list)
    filter: FilterDocument = None
    columns: Annotated[list[FieldId], ModelField(min_length=1, max_length=MAX_COLUMNS)] | None = ModelField(
        default=None,
        description="The columns in their order in CSV; null for all fields in the project's order.",
    )

    _alone = field_validator("sort", "filter", "columns")(not_with_a_view)

    @field_validator("columns")
    @classmethod
    def _each_once(cls, columns: list[str] | None) -> list[str] | None:
        if columns is not None and len(set(columns)) < len(columns):
            raise ValueError("must not name a field twice")
        return columns


class ExportRequest(RequestModel):
    """POST /v1/projects/{project}/export."""

    query: ExportQuery = ModelField(default_factory=ExportQuery)
    format: ExportFormat
    formula_guard: bool = ModelField(
        default=True,
        description="For CSV: an apostrophe precedes texts that a spreadsheet would run as formulas. NDJSON has no guard.",
    )


QueryOfView = Callable[[int], Mapping[str, Any]]
"""Returns the `query` and the `columns` of the view with this number, as the API returns them. NotFound."""


@dataclass(frozen=True, slots=True)
class ExportOrder:
    """The order of a job, in stored form. `columns`: the keys of the fields; None: all, which CSV never says."""

    format: ExportFormat
    formula_guard: bool
    filter: list[Any] | None
    sort: Sequence[Mapping[str, Any]]
    columns: list[str] | None
    recent: tuple[str, ...]

    def to_stored(self) -> dict[str, Any]:
        """Encode."""
        return {
            "format": self.format,
            "formula_guard": self.formula_guard,
            "filter": self.filter,
            "sort": [dict(key) for key in self.sort],
            "columns": self.columns,
            "recent": list(self.recent),
        }

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Self:
        """Decode."""
        return cls(**{**stored, "recent": tuple(stored["recent"])})

    def filter_in(self, catalog: Catalog) -> Filter | None:
        """Return the filter under the present definitions. Conflict if a field of it has been deleted."""
        return None if self.filter is None else from_stored(catalog, self.filter)

    def fields_in(self, catalog: Catalog) -> tuple[Field, ...]:
        """Return the fields whose values it reads: those of its columns and of its filter. Conflict as of `filter_in`."""
        named = catalog.attributes if self.columns is None else map(catalog.living, self.columns)
        only = self.filter_in(catalog)
        return (*(one for one in named if one is not None), *(only.fields() if only is not None else ()))

    def keys_in(self, catalog: Catalog) -> Keys:
        """Return the order. Conflict if a field of it has been deleted. IndexNotReady, QueryTooExpensive: nothing can
        be sorted so any more.
        """
        return resolve_row_number(catalog, {"sort": order_from_stored(catalog, self.sort)}).keys

    def recent_writes(self) -> Recent:
        """Return the writes that the index has to include when the rows are frozen."""
        return from_texts(self.recent)

    def least_versions(self) -> dict[int, int]:
        """Return, for each issue that a token names, the version that the export has to contain at least."""
        found: dict[int, int] = {}
        for one in self.recent_writes():
            for num, version in one.versions.items():
                if version != DELETED:
                    found[num] = max(version, found.get(num, 0))
        return found


def parse_export(
    catalog: Catalog, body: Any, recent: Recent, view: QueryOfView, reference: Reference
) -> ExportOrder:
    """Parse a request, its filter resolved for a reference. InvalidRequest lists all errors at once; NotFound;
    QueryTooExpensive, IndexNotReady of its order.
    """
    errors: list[FieldError] = []
    request, only = None, None
    try:
        request = parse(ExportRequest, body, context=catalog)
    except InvalidRequest as error:
        errors += error.errors
    asked = body.get("query") if isinstance(body, dict) else None
    if isinstance(asked, dict):
        try:
            only = parse_resolved(catalog, asked.get("filter"), reference).only
        except InvalidRequest as error:
            errors += (FieldError(f"query.{one.field}", one.message) for one in error.errors)
    if request is None or errors:
        raise InvalidRequest("The request is not valid. Fix what `errors` lists.", errors)
    query = request.query
    sort, columns = [key.to_json() for key in query.sort], query.columns
    if query.view is not None:
        saved = view(view_number(query.view))
        sort = [dict(key) for key in saved["query"]["sort"]]
        columns = saved["columns"] and [column["field"] for column in saved["columns"]]
        only = parse_resolved(catalog, saved["query"]["filter"], reference).only
    resolve_row_number(catalog, {"sort": sort})
    named = None if columns is None else [stored_field(catalog, name) for name in columns]
    if named is None and request.format == "csv":
        named = [NUM, *(field.key for field in (*catalog.builtins, *catalog.attributes))]
    return ExportOrder(
        request.format,
        request.formula_guard,
        None if only is None else to_stored(only),
        order_to_stored(catalog, sort),
        named,
        tuple(to_texts(recent)),
    )
