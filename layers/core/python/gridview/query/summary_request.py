"""A summary of fields: the request checked against the project's fields, and the functions of values. Pure.

Values are distinct as in `groups`: each option of a multi_enum separately, and texts by their whole length. The least
value is that of the first issue in the field's order, the greatest that of the last one. Whole texts are compared.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

from pydantic import Field as ModelField

from gridview.query.grid_request import FieldId
from gridview.query.number_functions import OF_NUMBERS, Function, SomeNumbers, listed, value_of
from gridview.query.operators import body, identity
from gridview.query.predicates import NUMBER, Filter
from gridview.query.references import Reference
from gridview.query.relative_operands import FIXED, RelativeOperands
from gridview.query.request_filters import FilterDocument, parse_with_filter
from gridview.schema.catalog import Catalog
from gridview.schema.fields import Field, FieldType
from gridview.schema.formats import value_json
from gridview.support.errors import FieldError, InvalidRequest
from gridview.support.validation import RequestModel

MAX_FIELDS = 50


class FieldFunctions(RequestModel):
    """A field, and the functions of its values."""

    field: FieldId
    functions: list[Function] = ModelField(min_length=1, max_length=len(get_args(Function)))


class SummaryRequest(RequestModel):
    """POST /v1/projects/{project}/summary."""

    fields: list[FieldFunctions] = ModelField(min_length=1, max_length=MAX_FIELDS)
    filter: FilterDocument = None
    explain: bool = False


@dataclass(frozen=True, slots=True)
class FieldSummary:
    """One field, and the requested functions, each once."""

    field: Field
    functions: tuple[Function, ...]


@dataclass(frozen=True, slots=True)
class SummaryQuery:
    """A checked request for a summary."""

    summaries: tuple[FieldSummary, ...]
    filter: Filter | None
    explain: bool
    operands: RelativeOperands = FIXED

    def fields(self) -> list[Field]:
        """The fields that it reads."""
        judged = self.filter.fields() if self.filter is not None else ()
        return [*(one.field for one in self.summaries), *judged]


def resolve(catalog: Catalog, body: Any, reference: Reference | None = None) -> SummaryQuery:
    """Return the query over the project's fields, resolved for a reference. Raises InvalidRequest with all its errors."""
    request, found = parse_with_filter(SummaryRequest, catalog, body, reference)
    errors: list[FieldError] = []
    summaries: dict[str, FieldSummary] = {}
    for at, one in enumerate(request.fields):
        field = catalog.get(one.field) or NUMBER  # validation has looked: else it is the number
        if one.field in summaries:
            errors.append(FieldError(f"fields.{at}.field", "must not be named twice"))
        if field.type is not FieldType.NUMBER:
            errors += (
                FieldError(f"fields.{at}.functions.{place}", "can be used only with number fields")
                for place, function in enumerate(one.functions)
                if function in OF_NUMBERS
            )
        summaries[one.field] = FieldSummary(field, tuple(dict.fromkeys(one.functions)))
    if errors:
        raise InvalidRequest("The request is not valid. Fix what `errors` lists.", errors)
    return SummaryQuery(tuple(summaries.values()), found.only, request.explain, found.operands)


class FieldAnswer(NamedTuple):
    """The answer for a field: the requested functions, each with its value as the API answers it."""

    field: Field
    values: dict[str, Any]


def _rank(field: Field, value: Any) -> tuple[str, str]:
    """The rank of a stored value among those of its field."""
    whole = str(identity(field, value)) if field.type is FieldType.TEXT else ""
    return body(field, value), whole


def end(field: Field, function: Function, values: Sequence[Any]) -> Any:
    """Return the least or the greatest of values in their issues' number order: the first or the last of equal ones."""
    if function == "min":
        return min(values, key=lambda value: _rank(field, value))
    return max(reversed(values), key=lambda value: _rank(field, value))


def parts(field: Field, value: Any) -> Iterable[Any]:
    """Return the distinct values that a stored value counts as."""
    return value if field.type is FieldType.MULTI_ENUM else (identity(field, value),)


def of_values(asked: FieldSummary, values: Sequence[Any], matched: int) -> FieldAnswer:
    """Return the functions of a field's values, in number order of their issues; `matched`: the number of issues."""
    field = asked.field
    if field.type is FieldType.NUMBER:
        return of_numbers(asked, listed(values), matched)

    def function_of(function: Function) -> Any:
        match function:
            case "count":
                return len(values)
            case "empty":
                return matched - len(values)
            case "distinct":
                return len({one for value in values for one in parts(field, value)})
        return value_json(field, end(field, function, values)) if values else None

    return FieldAnswer(field, {function: function_of(function) for function in asked.functions})


def of_numbers(asked: FieldSummary, numbers: SomeNumbers, matched: int) -> FieldAnswer:
    """Return the functions of a number field's numbers; `matched`: the number of issues."""
    return FieldAnswer(
        asked.field, {function: value_of(function, numbers, matched) for function in asked.functions}
    )


def summary_json(matched: int, summaries: Iterable[FieldAnswer]) -> dict[str, Any]:
    """Return the answer, as the API returns it."""
    return {
        "matched": matched,
        "summaries": [{"field": one.field.id, **one.values} for one in summaries],
    }
