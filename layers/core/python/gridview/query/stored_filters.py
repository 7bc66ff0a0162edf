"""A stored filter, for work that continues while people rename fields and options. Pure.

    ["and", ["state", "eq", "o1"], ["not", ["a2", "is_empty", null]]]

Fields, options and values are in stored form, so a filter keeps its meaning when they are renamed.
"""

from typing import Any

from gridview.query.operators import OPERATORS
from gridview.query.predicates import NUMBER, Every, Filter, Not, Predicate, Some
from gridview.schema.catalog import Catalog
from gridview.schema.fields import NUM
from gridview.support.errors import Conflict


def to_stored(only: Filter) -> list[Any]:
    """Encode a filter."""
    return only.canonical()


def from_stored(catalog: Catalog, stored: list[Any]) -> Filter:
    """Decode the output of `to_stored`. Raises Conflict if one of its fields has been deleted since."""
    kind, *rest = stored
    match kind:
        case "and":
            return Every(tuple(from_stored(catalog, part) for part in rest))
        case "or":
            return Some(tuple(from_stored(catalog, part) for part in rest))
        case "not":
            return Not(from_stored(catalog, rest[0]))
    operator, operand = rest
    if kind == NUM:
        return Predicate(NUMBER, OPERATORS[operator], operand)
    field = catalog.living(kind)
    if field is None:
        raise Conflict("A field of the filter was deleted. Choose another filter.")
    return Predicate(field, OPERATORS[operator], operand)
