"""Rules: filters that mark rows. They are judged on the documents of the rows, and change no order and no count. Pure."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

from pydantic import WithJsonSchema

from gridview.query.predicates import MAX_CONDITIONS, Filter
from gridview.query.references import Reference
from gridview.query.request_filters import parse_resolved
from gridview.schema.catalog import Catalog
from gridview.support.errors import FieldError, InvalidRequest

RuleFilter = Annotated[Any, WithJsonSchema({"format": "filter"})]
"""A filter of a rule in a request. `parse_rules` reads it. The OpenAPI document has its schema in this place."""

MAX_RULES: Final = 10
"""Rules of a request or a view, with `MAX_CONDITIONS` conditions together."""


class Rule(NamedTuple):
    """A rule with fixed values only, and as the request has it."""

    only: Filter
    document: Any


def parse_rules(
    catalog: Catalog, documents: Any, reference: Reference | None, within: str = ""
) -> tuple[Rule, ...]:
    """Return the rules in a list of a request, resolved for a reference. InvalidRequest with all their errors.

    `within`: the property of each element that is the filter; empty: each element is one. A list that is none, or too
    long, has no rules here: its model refuses it.
    """
    if not isinstance(documents, list) or len(documents) > MAX_RULES:
        return ()
    errors: list[FieldError] = []
    found: list[Rule] = []
    for at, document in enumerate(documents):
        given = document.get(within) if within and isinstance(document, dict) else document
        place = f"rules.{at}.{within}".removesuffix(".")
        if given is None:
            errors.append(FieldError(place, "must be an object"))
            continue
        try:
            only = parse_resolved(catalog, given, reference).only
        except InvalidRequest as refused:
            errors += (
                FieldError(place + one.field.removeprefix("filter"), one.message) for one in refused.errors
            )
        else:
            found += [Rule(only, given)] if only is not None else ()
    if sum(1 for rule in found for _ in rule.only.fields()) > MAX_CONDITIONS:
        errors.append(FieldError("rules", f"must have at most {MAX_CONDITIONS} conditions together"))
    if errors:
        raise InvalidRequest("The request is not valid. Fix what `errors` lists.", errors)
    return tuple(found)


def matches(rules: Sequence[Filter], document: Mapping[str, Any]) -> list[int]:
    """Return the places of the rules that a document passes."""
    return [at for at, rule in enumerate(rules) if rule.matches(document)]
