"""Stored filters and orders, for work that continues while people rename fields and options. Pure.

    ["and", ["state", "eq", "o1"], ["not", ["a2", "is_empty", null]]]
    [{"field": "a2", "direction": "desc", "nulls": "last"}]

Fields, options and values are in stored form. So a filter and an order keep their meaning when fields or options are
renamed. A new field may have the id of a deleted one, and is not taken for it.
"""

from collections.abc import Callable, Iterable, Mapping
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


def stored_field(catalog: Catalog, name: str) -> str:
    """Return the stored form of a field with this id in the API; of the number if there is none."""
    field = catalog.get(name)
    return NUM if field is None else field.key


def order_to_stored(catalog: Catalog, sort: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Encode the keys of an order, each as a request has it. The fields exist."""
    return [_with_field(key, lambda name: stored_field(catalog, name)) for key in sort]


def order_from_stored(catalog: Catalog, stored: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Decode the output of `order_to_stored`. Raises Conflict if one of its fields has been deleted since."""

    def present_id(key: str) -> str:
        field = catalog.living(key)
        if field is None and key != NUM:
            raise Conflict("A field of the order was deleted. Choose another order.")
        return NUM if field is None else field.id

    return [_with_field(key, present_id) for key in stored]


def _with_field(key: Mapping[str, str], other: Callable[[str], str]) -> dict[str, str]:
    """The key with its field named otherwise. A manual order names a view, whose number is never given again."""
    return {**key, "field": other(key["field"])} if "field" in key else dict(key)
