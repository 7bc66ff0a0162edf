"""The orders of bulk changes: the bodies of `update-matching` and `delete-matching`, and their stored form in
a job. Pure.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from pydantic import Field as ModelField
from pydantic import ValidationInfo, field_validator

from gridview.encoding.consistency import Recent, from_texts, to_texts
from gridview.maintenance.bulk_edits import (
    CopyInput,
    Edit,
    ReplaceInput,
    SetValues,
    copied,
    parse_copy,
    parse_replace,
    replacement,
)
from gridview.query.grid_request import MAX_OFFSET, SortKeys, resolve_row_number
from gridview.query.predicates import Filter
from gridview.query.references import Reference
from gridview.query.request_filters import FilterDocument, collecting, parse_with_filter
from gridview.query.sort_order import RowRange
from gridview.query.stored_queries import from_stored, order_from_stored, order_to_stored, to_stored
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Changes
from gridview.support.errors import Conflict, FieldError, InvalidRequest, LimitExceeded, invalid
from gridview.support.validation import RequestModel, omissible

MAX_ROWS = 1_000_000
"""Rows of an order that one job takes: as many as a project has issues."""


class RowsInput(RequestModel):
    """Rows of a grid with this sort and the filter, from one row to another, both included. Rows count from 0."""

    sort: SortKeys = ModelField(default_factory=list)
    first: int = ModelField(alias="from", ge=0, le=MAX_OFFSET)
    last: int = ModelField(alias="to", ge=0, le=MAX_OFFSET)

    @field_validator("last")
    @classmethod
    def _not_before_the_first(cls, last: int, known: ValidationInfo) -> int:
        if last < known.data.get("first", 0):
            raise ValueError("must not be less than from")
        return last


class DeleteMatching(RequestModel):
    """POST /v1/projects/{project}/issues/delete-matching. A filter of null means all issues, or all rows in
    the range.
    """

    filter: FilterDocument
    rows: RowsInput | None = None


class UpdateMatching(DeleteMatching):
    """POST /v1/projects/{project}/issues/update-matching. Exactly one of `set`, `replace` and `copy`."""

    values: dict[str, Any] = omissible(
        alias="set",
        min_length=1,
        max_length=RequestModel.max_properties,
        description="The new values of each issue: the body of `PATCH .../issues/{num}`, without `base`.",
    )
    replace: ReplaceInput = omissible()
    copy_: CopyInput = omissible(alias="copy")
    dry_run: bool = ModelField(
        default=False,
        description="Write nothing, and return in the job how many issues would change, with examples.",
    )


@dataclass(frozen=True, slots=True)
class BulkOrder:
    """The order of a job, in stored form: the issues, and their edit by its name (None: they are deleted).

    `dry_run`: nothing is written.
    """

    filter: list[Any] | None
    rows: Mapping[str, Any] | None
    edit: tuple[str, Mapping[str, Any]] | None
    recent: tuple[str, ...]
    dry_run: bool = False

    def to_stored(self) -> dict[str, Any]:
        """Encode."""
        return {
            "filter": self.filter,
            "rows": self.rows,
            "edit": None if self.edit is None else list(self.edit),
            "recent": list(self.recent),
            "dry_run": self.dry_run,
        }

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Self:
        """Decode."""
        edit = None if stored["edit"] is None else tuple(stored["edit"])
        return cls(stored["filter"], stored["rows"], edit, tuple(stored["recent"]), stored["dry_run"])

    def filter_in(self, catalog: Catalog) -> Filter | None:
        """Return the filter under the present definitions. Conflict if a field of it has been deleted."""
        return None if self.filter is None else from_stored(catalog, self.filter)

    def rows_in(self, catalog: Catalog) -> RowRange | None:
        """Return the rows in question. Conflict if a field of their order has been deleted. IndexNotReady,
        QueryTooExpensive: nothing can be sorted so any more.
        """
        if self.rows is None:
            return None
        keys = resolve_row_number(catalog, {"sort": order_from_stored(catalog, self.rows["sort"])}).keys
        return RowRange(keys, self.rows["first"], self.rows["last"])

    def edit_in(self, catalog: Catalog) -> Edit | None:
        """Return the edit of each issue; None if they are deleted. Conflict if a field or an option of it has been
        deleted.
        """
        if self.edit is None:
            return None
        name, stored = self.edit
        return _EDITS[name](catalog, stored)

    def recent_writes(self) -> Recent:
        """Return the writes that the index has to include when the numbers are frozen."""
        return from_texts(self.recent)


def parse_update(catalog: Catalog, body: Any, recent: Recent, reference: Reference) -> BulkOrder:
    """Return the order in an `update-matching`, its filter resolved for a reference.

    InvalidRequest lists all errors at once; LimitExceeded, QueryTooExpensive and IndexNotReady of its rows.
    """
    return _parse(UpdateMatching, catalog, body, recent, reference)


def parse_delete(catalog: Catalog, body: Any, recent: Recent, reference: Reference) -> BulkOrder:
    """Return the order in a `delete-matching`, like `parse_update`."""
    return _parse(DeleteMatching, catalog, body, recent, reference)


def _parse(
    model: type[DeleteMatching], catalog: Catalog, body: Any, recent: Recent, reference: Reference
) -> BulkOrder:
    errors: list[FieldError] = []
    found = collecting(errors, lambda: parse_with_filter(model, catalog, body, reference))
    edit = None
    if model is UpdateMatching and isinstance(body, dict):
        edit = collecting(errors, lambda: _edit(catalog, body, None if found is None else found[0]))
    if found is None or errors:
        raise invalid("The request is not valid. Fix what `errors` lists.", errors)
    request, (only, *_) = found
    return BulkOrder(
        None if only is None else to_stored(only),
        None if request.rows is None else _rows(catalog, request.rows),
        edit,
        tuple(to_texts(recent)),
        isinstance(request, UpdateMatching) and request.dry_run,
    )


def _edit(
    catalog: Catalog, body: Mapping[str, Any], request: DeleteMatching | None
) -> tuple[str, Mapping[str, Any]] | None:
    """Return the edit of an `update-matching` in stored form; None if its form is not valid. InvalidRequest."""
    given = [name for name in _EDITS if name in body]
    if len(given) != 1:
        errors = [FieldError(name, f"cannot be combined with {given[0]}") for name in given[1:]]
        raise InvalidRequest("", errors or [FieldError("set", "is required, or replace or copy")])
    if isinstance(body.get("set"), dict) and body["set"]:
        try:
            return "set", _changes(catalog, body["set"])._asdict()
        except InvalidRequest as error:
            raise InvalidRequest(
                "", [one._replace(field=f"set.{one.field}") for one in error.errors]
            ) from None
    if not isinstance(request, UpdateMatching):
        return None
    if "replace" in given:
        return "replace", parse_replace(catalog, request.replace)
    return "copy", parse_copy(catalog, request.copy_)


def _set(catalog: Catalog, stored: Mapping[str, Any]) -> SetValues:
    """Decode fixed values. Conflict if one of their fields or options was deleted."""
    fields = stored["fields"]
    for key, value in {**stored["builtins"], **fields}.items():
        field = catalog.living(key)
        if field is None:
            raise Conflict("A field that the job sets was deleted.")
        if field.type.has_options and value is not None:
            options = {option.id for option in field.live_options}
            if not options.issuperset(value if isinstance(value, list) else [value]):
                raise Conflict(f"An option of {field.id} that the job sets was deleted.")
    return SetValues(Changes(stored["builtins"], fields, stored["replaces_fields"]))


_EDITS: Mapping[str, Callable[[Catalog, Mapping[str, Any]], Edit]] = {
    "set": _set,
    "replace": replacement,
    "copy": copied,
}
"""Decodes edits."""


def _changes(catalog: Catalog, asked: dict[str, Any]) -> Changes:
    if "base" in asked:
        raise InvalidRequest("", [FieldError("base", "is not a known property")])
    return documents.parse_patch(catalog, asked)


def _rows(catalog: Catalog, rows: RowsInput) -> dict[str, Any]:
    if rows.last - rows.first >= MAX_ROWS:
        raise LimitExceeded(
            f"A job can take at most {MAX_ROWS:,} rows. Use a filter, which has no such limit."
        )
    sort = [key.to_json() for key in rows.sort]
    resolve_row_number(catalog, {"sort": sort})
    return {"sort": order_to_stored(catalog, sort), "first": rows.first, "last": rows.last}
