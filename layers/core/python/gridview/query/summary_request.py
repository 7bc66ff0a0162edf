"""A summary of fields: the request checked against the project's fields, and what each function makes of values. Pure.

Values count as distinct where `groups` tells them apart: each option of a multi_enum by itself, texts to their ends. The least
value is that of the first issue in the field's order, the greatest that of the last one; texts are compared to their ends.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any, Literal, NamedTuple, get_args

from pydantic import Field as ModelField

from gridview.query.grid_request import FieldId, FilterDocument, parse_with_filter
from gridview.query.operators import body, identity
from gridview.query.predicates import NUMBER, Filter
from gridview.schema.catalog import Catalog
from gridview.schema.fields import Field, FieldType
from gridview.schema.formats import value_json
from gridview.support.errors import FieldError, InvalidRequest
from gridview.support.validation import RequestModel

MAX_FIELDS = 50

_EXACT = Context(prec=400)
"""Holds the sum of a million numbers digit for digit: from 1E+132 down to 1E-167."""
_ROUNDED = Context(prec=38)
"""An average has as many digits as a number may have."""

Function = Literal["count", "empty", "distinct", "min", "max", "sum", "avg"]
OF_NUMBERS = frozenset(("sum", "avg"))


class FieldFunctions(RequestModel):
    """A field, and what to tell of its values."""

    field: FieldId
    functions: list[Function] = ModelField(min_length=1, max_length=len(get_args(Function)))


class SummaryRequest(RequestModel):
    """POST /v1/projects/{project}/summary."""

    fields: list[FieldFunctions] = ModelField(min_length=1, max_length=MAX_FIELDS)
    filter: FilterDocument = None
    explain: bool = False


@dataclass(frozen=True, slots=True)
class FieldSummary:
    """One field, and the functions asked for, each once."""

    field: Field
    functions: tuple[Function, ...]


@dataclass(frozen=True, slots=True)
class SummaryQuery:
    """A checked request for a summary."""

    summaries: tuple[FieldSummary, ...]
    filter: Filter | None
    explain: bool

    def fields(self) -> list[Field]:
        """The fields that it looks at."""
        judged = self.filter.fields() if self.filter is not None else ()
        return [*(one.field for one in self.summaries), *judged]


def resolve(catalog: Catalog, body: Any) -> SummaryQuery:
    """The query over the project's fields; InvalidRequest names all that is wrong with it."""
    request, found = parse_with_filter(SummaryRequest, catalog, body)
    errors: list[FieldError] = []
    summaries: dict[str, FieldSummary] = {}
    for at, one in enumerate(request.fields):
        field = catalog.get(one.field) or NUMBER  # validation has looked: else it is the number
        if one.field in summaries:
            errors.append(FieldError(f"fields.{at}.field", "is named twice"))
        if field.type is not FieldType.NUMBER:
            errors += (
                FieldError(f"fields.{at}.functions.{place}", "is for number fields")
                for place, function in enumerate(one.functions)
                if function in OF_NUMBERS
            )
        summaries[one.field] = FieldSummary(field, tuple(dict.fromkeys(one.functions)))
    if errors:
        raise InvalidRequest("The request is not valid.", errors)
    return SummaryQuery(tuple(summaries.values()), found, request.explain)


class FieldAnswer(NamedTuple):
    """What is told of a field: the functions asked for, each with its value as the API answers it."""

    field: Field
    values: dict[str, Any]


def total(counted: Iterable[tuple[Decimal, int]]) -> Decimal:
    """The sum of numbers, each so many times, digit for digit."""
    found = Decimal(0)
    for number, count in counted:
        found = _EXACT.add(found, _EXACT.multiply(number, Decimal(count)))
    return found


def average(sum_: Decimal, count: int) -> Decimal:
    """Their mean."""
    return _ROUNDED.divide(sum_, Decimal(count))


def _rank(field: Field, value: Any) -> tuple[str, str]:
    """Where a stored value stands among those of its field."""
    whole = str(identity(field, value)) if field.type is FieldType.TEXT else ""
    return body(field, value), whole


def end(field: Field, function: Function, values: Sequence[Any]) -> Any:
    """The least or the greatest of stored values that are in number order of their issues: the first or the last of equal ones."""
    if function == "min":
        return min(values, key=lambda value: _rank(field, value))
    return max(reversed(values), key=lambda value: _rank(field, value))


def parts(field: Field, value: Any) -> Iterable[Any]:
    """What a stored value counts as among the distinct ones."""
    return value if field.type is FieldType.MULTI_ENUM else (identity(field, value),)


def of_values(asked: FieldSummary, values: Sequence[Any], matched: int) -> FieldAnswer:
    """What the stored values of a field give, in number order of their issues; `matched`: how many issues there are."""
    field = asked.field

    def told(function: Function) -> Any:
        match function:
            case "count":
                return len(values)
            case "empty":
                return matched - len(values)
            case "distinct":
                return len({one for value in values for one in parts(field, value)})
            case "min" | "max":
                if not values:
                    return None
                return value_json(field, end(field, function, values))
        sum_ = total((Decimal(value), 1) for value in values)
        return shown_number(function, sum_, len(values))

    return FieldAnswer(field, {function: told(function) for function in asked.functions})


def shown_number(function: Function, sum_: Decimal, count: int) -> Decimal | None:
    """The sum or the average, as it is shown; None when there are no numbers."""
    if not count:
        return None
    return sum_ if function == "sum" else average(sum_, count)


def summary_json(matched: int, summaries: Iterable[FieldAnswer]) -> dict[str, Any]:
    """The answer, as the API gives it."""
    return {
        "matched": matched,
        "summaries": [{"field": one.field.id, **one.values} for one in summaries],
    }
