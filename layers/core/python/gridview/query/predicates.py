"""The filter of a query: checked against the project's fields, described in words, and tested on documents. Pure."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import Any

from gridview.encoding.tokenizer import words
from gridview.query.operators import MAX_VALUES, OPERATORS, Operand, Operator, Test
from gridview.query.relative_operands import OPERANDS, FilterLimits
from gridview.schema.catalog import Catalog
from gridview.schema.documents import parse_value
from gridview.schema.fields import MAX_OPTIONS, NUM, Field, FieldType
from gridview.support.errors import FieldError, InvalidRequest
from gridview.support.validation import RequestModel

MAX_DEPTH = 5
"""Levels of `and`, `or` and `not`."""
MAX_CONDITIONS = 50

LIMITS = FilterLimits(MAX_DEPTH, MAX_CONDITIONS)

_MAX_ERRORS = 500
"""The most errors that a client gets at once."""

NUMBER = Field(NUM, NUM, "Number", FieldType.NUMBER, required=True, builtin=True)
"""The issue number as a field among the others."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """One field compared with an operand in stored form."""

    field: Field
    operator: Operator
    operand: Any
    _test: Test = attribute(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Made once, not for each issue: folding 200 values takes longer than comparing with them.
        object.__setattr__(self, "_test", self.operator.test(self.field, self.operand))

    def matches(self, document: Mapping[str, Any]) -> bool:
        """Whether an issue matches."""
        value = self.field.value_in(document)
        return self.operator.matches_empty if value is None else self._test(value)

    def fields(self) -> Iterator[Field]:
        """The fields that it tests."""
        yield self.field

    def canonical(self) -> list[Any]:
        """A form that is equal for equal filters, however they were spelled; cursors are bound to it."""
        return [self.field.key, self.operator.name, self.operand]

    def __str__(self) -> str:
        operand = "" if self.operator.operand is Operand.NOTHING else " the value given"
        if isinstance(self.operand, list):
            operand = f" the {len(self.operand)} values given"
        return f"{self.field.id} {self.operator.summary}{operand}"


@dataclass(frozen=True, slots=True)
class Every:
    """`and`: all parts."""

    parts: tuple["Filter", ...]

    def matches(self, document: Mapping[str, Any]) -> bool:
        """Whether an issue matches."""
        return all(part.matches(document) for part in self.parts)

    def fields(self) -> Iterator[Field]:
        """The fields that it tests."""
        return (field for part in self.parts for field in part.fields())

    def canonical(self) -> list[Any]:
        """A form that is equal for equal filters, however they were spelled."""
        return ["and", *(part.canonical() for part in self.parts)]

    def __str__(self) -> str:
        return "(" + " and ".join(map(str, self.parts)) + ")"


@dataclass(frozen=True, slots=True)
class Some:
    """`or`: at least one part."""

    parts: tuple["Filter", ...]

    def matches(self, document: Mapping[str, Any]) -> bool:
        """Whether an issue matches."""
        return any(part.matches(document) for part in self.parts)

    def fields(self) -> Iterator[Field]:
        """The fields that it tests."""
        return (field for part in self.parts for field in part.fields())

    def canonical(self) -> list[Any]:
        """A form that is equal for equal filters, however they were spelled."""
        return ["or", *(part.canonical() for part in self.parts)]

    def __str__(self) -> str:
        return "(" + " or ".join(map(str, self.parts)) + ")"


@dataclass(frozen=True, slots=True)
class Not:
    """`not`: the issues that its part does not match."""

    part: "Filter"

    def matches(self, document: Mapping[str, Any]) -> bool:
        """Whether an issue matches."""
        return not self.part.matches(document)

    def fields(self) -> Iterator[Field]:
        """The fields that it tests."""
        return self.part.fields()

    def canonical(self) -> list[Any]:
        """A form that is equal for equal filters, however they were spelled."""
        return ["not", self.part.canonical()]

    def __str__(self) -> str:
        return f"not ({self.part})" if isinstance(self.part, Predicate) else f"not {self.part}"


Filter = Predicate | Every | Some | Not


def depth_of(only: Filter) -> int:
    """Levels of `and`, `or` and `not`."""
    match only:
        case Every(parts) | Some(parts):
            return 1 + max(map(depth_of, parts))
        case Not(part):
            return 1 + depth_of(part)
    return 0


def parse_filter(catalog: Catalog, document: Any) -> Filter:
    """Return the filter of a request. Raises InvalidRequest with all its errors, each with its place."""
    parsing = _Parsing(catalog)
    found = parsing.node(document, "filter", MAX_DEPTH)
    if parsing.conditions > MAX_CONDITIONS:
        parsing.refuse("filter", f"must have at most {MAX_CONDITIONS} conditions")
    if found is None or parsing.errors:
        raise InvalidRequest("The request is not valid. Fix what `errors` lists.", parsing.errors)
    return found


class _Parsing:
    """One filter that is being read. An invalid part becomes None, and adds its errors."""

    def __init__(self, catalog: Catalog) -> None:
        self.errors: list[FieldError] = []
        self.conditions = 0
        self._catalog = catalog
        self._kinds: dict[str, Callable[[Any, str, int], Filter | None]] = {
            "and": self._every,
            "or": self._some,
            "not": self._not,
        }

    def refuse(self, place: str, message: str) -> None:
        """Remember an error."""
        self.errors.append(FieldError(place, message))

    def node(self, document: Any, place: str, depth: int) -> Filter | None:
        """`and`, `or`, `not` or a condition; reads nothing more after too many conditions or errors."""
        if self.conditions > MAX_CONDITIONS or len(self.errors) > _MAX_ERRORS:
            return None
        if not isinstance(document, dict):
            self.refuse(place, "must be an object")
            return None
        if "field" in document or "op" in document:
            self.conditions += 1
            return self._condition(document, place)
        kind = next(iter(document), None)
        if len(document) != 1 or kind not in self._kinds:
            self.refuse(place, "must be a condition (field, op, value) or have one of and, or, not")
            return None
        if depth == 0:
            self.refuse(place, f"must not be nested deeper than {MAX_DEPTH} levels")
            return None
        return self._kinds[kind](document[kind], f"{place}.{kind}", depth - 1)

    def _every(self, parts: Any, place: str, depth: int) -> Filter | None:
        found = self._parts(parts, place, depth)
        return Every(found) if found else None

    def _some(self, parts: Any, place: str, depth: int) -> Filter | None:
        found = self._parts(parts, place, depth)
        return Some(found) if found else None

    def _not(self, part: Any, place: str, depth: int) -> Filter | None:
        found = self.node(part, place, depth)
        return None if found is None else Not(found)

    def _parts(self, parts: Any, place: str, depth: int) -> tuple[Filter, ...]:
        if not isinstance(parts, list) or not parts:
            self.refuse(place, "must be an array of at least one part")
            return ()
        if len(parts) > MAX_CONDITIONS:
            self.refuse(place, f"must have at most {MAX_CONDITIONS} parts")
            return ()
        found = [self.node(part, f"{place}.{at}", depth) for at, part in enumerate(parts)]
        return tuple(part for part in found if part is not None)

    def _condition(self, document: dict[str, Any], place: str) -> Filter | None:
        before = len(self.errors)
        if len(document) > RequestModel.max_properties:
            self.refuse(place, f"must have at most {RequestModel.max_properties} properties")
            return None
        for name in sorted(document.keys() - {"field", "op", "value"}):
            self.refuse(f"{place}.{name}", "is not a known property")
        field = self._field(document.get("field"), f"{place}.field")
        operator = self._operator(document.get("op"), f"{place}.op")
        if field is None or operator is None:
            return None
        if field.type not in operator.types:
            self.refuse(
                f"{place}.op",
                f"{field.id} has the type {field.type}, which does not have the operator {operator.name}",
            )
            return None
        operand = self._operand(field, operator, document.get("value"), f"{place}.value")
        return Predicate(field, operator, operand) if len(self.errors) == before else None

    def _field(self, name: Any, place: str) -> Field | None:
        field = NUMBER if name == NUM else self._catalog.get(name) if isinstance(name, str) else None
        if field is None:
            self.refuse(place, "is not a field of the project")
        return field

    def _operator(self, name: Any, place: str) -> Operator | None:
        operator = OPERATORS.get(name) if isinstance(name, str) else None
        if operator is None:
            self.refuse(place, f"must be one of {', '.join(OPERATORS)}")
        return operator

    def _operand(self, field: Field, operator: Operator, given: Any, place: str) -> Any:
        match operator.operand:
            case Operand.NOTHING:
                if given is not None:
                    self.refuse(place, f"{operator.name} takes no value")
                return None
            case Operand.SEVERAL:
                return self._values(field, given, place, 1, MAX_VALUES)
            case Operand.TWO:
                return self._values(field, given, place, 2, 2)
        value = self._value(field, given, place)
        if operator.operand is Operand.WORDS and value is not None and not words(value):
            self.refuse(place, f"{field.id}: must contain a word")
        return value

    def _values(self, field: Field, given: Any, place: str, least: int, most: int) -> list[Any] | None:
        if not isinstance(given, list) or not least <= len(given) <= most:
            count = "two" if least == most else f"{least} to {most}"
            self.refuse(place, f"{field.id}: must be an array of {count} values")
            return None
        return [self._value(field, one, f"{place}.{at}") for at, one in enumerate(given)]

    def _value(self, field: Field, given: Any, place: str) -> Any:
        if given is None or given in ("", []):
            self.refuse(place, f"{field.id}: must be a value; use is_empty to find issues without one")
            return None
        try:
            return parse_value(field, given)
        except ValueError as error:
            self.refuse(place, f"{field.id}: {error}")
            return None


_NAMES = {
    Operand.NOTHING: "PresenceCondition",
    Operand.ONE: "ValueCondition",
    Operand.SEVERAL: "ListCondition",
    Operand.TWO: "RangeCondition",
    Operand.TEXT: "TextCondition",
    Operand.WORDS: "WordsCondition",
    Operand.OPTIONS: "OptionsCondition",
}
"""The schemas of conditions by the form of their value."""


def schemas(reference: Callable[[str], dict[str, Any]], field: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the JSON Schemas of a filter, `Filter`, and of its parts.

    `reference` refers to a schema by its name; `field`: the schema of a field's id.
    """
    by_operand: dict[Operand, list[str]] = {}
    for operator in OPERATORS.values():
        by_operand.setdefault(operator.operand, []).append(operator.name)
    value = {"anyOf": [*_FIXED, *(reference(one.__name__) for one in OPERANDS)]}
    parts = {"type": "array", "items": reference("Filter"), "minItems": 1, "maxItems": MAX_CONDITIONS}
    found = {
        "AndFilter": _object({"and": parts}),
        "OrFilter": _object({"or": parts}),
        "NotFilter": _object({"not": reference("Filter")}),
        **{_NAMES[one]: _condition_schema(one, names, field, value) for one, names in by_operand.items()},
    }
    joined = {
        "description": f"A condition, or filters that are joined; up to {MAX_DEPTH} levels and {MAX_CONDITIONS} conditions.",
        "anyOf": [reference(name) for name in found],
    }
    operands = {one.__name__: one.model_json_schema() for one in OPERANDS}
    return {"Filter": joined, **found, **operands}


_TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
_FIXED: tuple[dict[str, Any], ...] = (
    _TEXT,
    {"type": "number"},
    {"type": "boolean"},
    {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": MAX_OPTIONS},
)
"""The values that do not depend on the request."""


def _condition_schema(
    operand: Operand, names: list[str], field: dict[str, Any], given: dict[str, Any]
) -> dict[str, Any]:
    """Return the schema of a condition; `given`: that of one value."""
    condition = {"field": field, "op": {"type": "string", "enum": names}}
    value: dict[str, Any] = {"description": f"{operand.value[0].upper()}{operand.value[1:]}."}
    match operand:
        case Operand.NOTHING:
            return _object({**condition, "value": {**value, "type": "null"}}, optional="value")
        case Operand.ONE:
            value |= given
        case Operand.SEVERAL:
            value |= {"type": "array", "items": given, "minItems": 1, "maxItems": MAX_VALUES}
        case Operand.TWO:
            value |= {"type": "array", "items": given, "minItems": 2, "maxItems": 2}
        case Operand.TEXT | Operand.WORDS:
            value |= _TEXT
        case Operand.OPTIONS:
            value |= {
                "type": "array",
                "items": _TEXT,
                "minItems": 1,
                "maxItems": MAX_OPTIONS,
                "uniqueItems": True,
            }
    return _object({**condition, "value": value})


def _object(properties: dict[str, Any], *, optional: str = "") -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name != optional],
        "additionalProperties": False,
    }
