"""The filters and fields of a saved view as a request has them, and what is missing of them. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gridview.query.operators import OPERATORS, Operand
from gridview.query.predicates import NUMBER
from gridview.schema.catalog import Catalog
from gridview.schema.fields import NUM, Field, FieldType, UnknownOption
from gridview.schema.formats import value_json

MAX_MISSING: Final = 100
"""The most missing parts of a view that an answer lists."""

_JOINS = ("and", "or", "not")
_GONE: Any = object()
"""Represents an operand of which nothing is left."""


class Missing:
    """The parts of a look that are missing, because their fields or options were deleted."""

    def __init__(self, catalog: Catalog, named: Mapping[str, str]) -> None:
        """`named`: the ids that the fields had when the view was written."""
        self.parts: list[dict[str, Any]] = []
        self._catalog = catalog
        self._named = named

    def nothing(self) -> "Missing":
        """Return the same without any part."""
        return Missing(self._catalog, self._named)

    def note(self, missing: dict[str, Any]) -> None:
        """Add a part, unless it is known."""
        if missing not in self.parts and len(self.parts) < MAX_MISSING:
            self.parts.append(missing)

    def field(self, part: str, key: str) -> Field | None:
        """Return the field with this internal id; None if it was deleted, which is noted."""
        field = field_at(self._catalog, key)
        if field is None:
            self.note({"part": part, "field": self._named.get(key, key)})
        return field


class FilterReader:
    """Returns a filter of one part of a look, and notes what is missing of it."""

    def __init__(self, missing: Missing, part: str) -> None:
        self._missing = missing
        self._part = part

    def read(self, node: Sequence[Any]) -> dict[str, Any] | None:
        """The filter in the form of a request; None if no part of it is left."""
        kind, *parts = node
        if kind == "not":
            inner = self.read(parts[0])
            return inner and {"not": inner}
        if kind in _JOINS:
            left = [one for one in map(self.read, parts) if one is not None]
            return {kind: left} if left else None
        return self._condition(kind, *parts)

    def _condition(self, key: str, name: str, operand: Any) -> dict[str, Any] | None:
        field = self._missing.field(self._part, key)
        if field is None:
            return None
        condition: dict[str, Any] = {"field": field.id, "op": name}
        form = OPERATORS[name].operand
        if form is Operand.NOTHING:
            return condition
        value = self._operand(field, form, operand)
        return None if value is _GONE else {**condition, "value": value}

    def _operand(self, field: Field, form: Operand, operand: Any) -> Any:
        if form in (Operand.SEVERAL, Operand.OPTIONS):
            of_one = self._option if form is Operand.OPTIONS else self._value
            left = [one for one in (of_one(field, each) for each in operand) if one is not _GONE]
            return left or _GONE
        if form is Operand.TWO:
            both = [self._value(field, one) for one in operand]
            return _GONE if _GONE in both else both
        return self._value(field, operand)

    def _value(self, field: Field, value: Any) -> Any:
        if isinstance(value, dict):
            return value  # a relative operand
        if field.type is FieldType.ENUM:
            return self._option(field, value)
        if field.type is FieldType.MULTI_ENUM:
            chosen = [self._option(field, one) for one in value]
            return _GONE if _GONE in chosen else chosen
        return value_json(field, value)

    def _option(self, field: Field, option_id: str) -> Any:
        option = field.option(option_id)
        if not option.retired:
            return option.value
        self._missing.note({"part": self._part, "field": field.id, "value": option.value})
        return _GONE


def keys_of_filter(node: Sequence[Any]) -> Iterator[str]:
    """The internal ids of the fields that a stored filter names."""
    kind, *parts = node
    if kind in _JOINS:
        for part in parts:
            yield from keys_of_filter(part)
    else:
        yield kind


def field_at(catalog: Catalog, key: str) -> Field | None:
    """Return the field with this internal id; None if it was deleted. Raises UnknownOption if the catalog is too old."""
    if key == NUM:
        return NUMBER
    if catalog.deleted(key):
        return None
    try:
        return catalog.field_of(key)
    except KeyError:
        raise UnknownOption("a view names a field that the catalog does not know") from None
