"""The filters of requests: resolved for a reference, and checked, with all errors of a request at once. Pure."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationInfo

from gridview.query import relative_operands
from gridview.query.predicates import LIMITS, Filter, parse_filter
from gridview.query.references import Reference
from gridview.query.relative_operands import FIXED, RelativeOperands
from gridview.schema.catalog import Catalog
from gridview.support.errors import FieldError, InvalidRequest
from gridview.support.validation import RequestModel, parse

FilterDocument = Any
"""A filter in a request. `parse_with_filter` reads it, because it knows the place of each error in it."""

Request = TypeVar("Request", bound=RequestModel)
Part = TypeVar("Part")


def not_with_a_view(given: Any, known: ValidationInfo) -> Any:
    """Validate that a part of a request is not given with a view, which has a part of its own in its place."""
    if given and known.data.get("view") is not None:
        raise ValueError("cannot be combined with view")
    return given


class ParsedFilter(NamedTuple):
    """A filter with fixed values only, and the relative operands that it was resolved from.

    `document`: the same as a request has it. None: no filter.
    """

    only: Filter | None = None
    operands: RelativeOperands = FIXED
    document: Any = None


def parse_resolved(catalog: Catalog, document: Any, reference: Reference | None) -> ParsedFilter:
    """Return a filter of a request, resolved for a reference; None refuses relative operands. InvalidRequest."""
    if document is None:
        return ParsedFilter()
    resolved = relative_operands.resolve(catalog, document, reference, LIMITS)
    errors: Sequence[FieldError] = ()
    try:
        found = parse_filter(catalog, resolved.document)
        if not resolved.errors:
            return ParsedFilter(found, resolved.operands, resolved.document)
    except InvalidRequest as error:
        errors = error.errors
    raise InvalidRequest("The request is not valid. Fix what `errors` lists.", resolved.further(errors))


def parse_with_filter(
    model: type[Request], catalog: Catalog, body: Any, reference: Reference | None = None
) -> tuple[Request, ParsedFilter]:
    """Return a request and its filter, resolved for a reference; without one, relative operands are refused.

    Raises InvalidRequest with all errors of both.
    """
    errors: list[FieldError] = []
    document = body.get("filter") if isinstance(body, dict) else None
    request = collecting(errors, lambda: parse(model, body, context=catalog))
    found = collecting(errors, lambda: parse_resolved(catalog, document, reference))
    if request is None or found is None:
        raise InvalidRequest("The request is not valid. Fix what `errors` lists.", errors)
    return request, found


def collecting(errors: list[FieldError], read: Callable[[], Part]) -> Part | None:
    """Return a part of a request; None if it is not valid, whose errors are added to `errors`."""
    try:
        return read()
    except InvalidRequest as error:
        errors += error.errors
        return None
