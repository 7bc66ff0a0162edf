"""Every operator of a filter, in one table: its types, the form of its value, and the issues that it matches. Pure.

Validation, the OpenAPI document and tests are made from `OPERATORS`; a test compares the table in docs/querying.md with it.
Values are in stored form. An operator uses two forms of a value:

- its *body* in the sort strings, whose order is the order of the field
- its *identity*, which is equal exactly for equal values
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache, partial
from typing import Any

from gridview.derive import sort_entries
from gridview.encoding import sort_strings
from gridview.encoding.tokenizer import REMEMBERED, case_folded, words
from gridview.query import key_ranges
from gridview.query.key_ranges import Access, AccessOf, Asked
from gridview.schema.fields import Field, FieldType

MAX_VALUES = 200
"""Limit of the values of `in` and `not_in`."""


class Operand(Enum):
    """The required value of a condition; docs/querying.md and the OpenAPI document use these words."""

    NOTHING = "no value"
    ONE = "a value of the field"
    SEVERAL = f"an array of 1 to {MAX_VALUES} values"
    TWO = "an array of two values"
    TEXT = "a text"
    WORDS = "a text that contains a word"
    OPTIONS = "an array of the field's options"


ALL = frozenset(FieldType)
TEXT = frozenset({FieldType.TEXT})
MULTI = frozenset({FieldType.MULTI_ENUM})

Test = Callable[[Any], bool]
"""Tests the stored value of an issue that has one."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator. `test` makes the test of a field and an operand; an issue without a value passes if `matches_empty`.

    `access` returns the places in indexes of the issues that it matches; it agrees with `test`.
    """

    name: str
    types: frozenset[FieldType]
    operand: Operand
    summary: str
    test: Callable[[Field, Any], Test]
    access: AccessOf
    matches_empty: bool = False

    def accessed(self, field: Field, operand: Any) -> Access:
        """The places in indexes of the issues that match a condition."""
        return self.access(Asked(field, operand, partial(self.test, field, operand)))


def body(field: Field, value: Any) -> str:
    """The form that the order of the field compares."""
    if field.type is FieldType.TEXT:
        return _text_body(value)
    return sort_entries.SPECS[sort_strings.SPEC_VERSION][field.type](field, value)


_text_body = lru_cache(maxsize=REMEMBERED)(sort_strings.text)


def identity(field: Field, value: Any) -> Any:
    """The form that is equal for equal values only: a text wholly case-folded, options by their ids."""
    match field.type:
        case FieldType.TEXT:
            return case_folded(value)
        case FieldType.ENUM:
            return value
        case FieldType.MULTI_ENUM:
            return frozenset(value)
    return body(field, value)


def _equal(field: Field, operand: Any) -> Test:
    return _among(field, [operand])


def _among(field: Field, operand: Any) -> Test:
    wanted = {identity(field, one) for one in operand}
    return lambda value: identity(field, value) in wanted


def _before(field: Field, operand: Any) -> Test:
    bound = body(field, operand)
    return lambda value: body(field, value) < bound


def _after(field: Field, operand: Any) -> Test:
    bound = body(field, operand)
    return lambda value: body(field, value) > bound


def _between(field: Field, operand: Any) -> Test:
    least, most = (body(field, one) for one in operand)
    return lambda value: least <= body(field, value) <= most


def _starts_with(_: Field, operand: Any) -> Test:
    beginning = sort_strings.case_fold(operand)
    return lambda value: case_folded(value).startswith(beginning)


def _contains(_: Field, operand: Any) -> Test:
    part = sort_strings.case_fold(operand)
    return lambda value: part in case_folded(value)


def _has_words(_: Field, operand: Any) -> Test:
    wanted = words(operand)
    return lambda value: wanted <= words(value)


def _has_any(_: Field, operand: Any) -> Test:
    wanted = frozenset(operand)
    return lambda value: not wanted.isdisjoint(value)


def _has_all(_: Field, operand: Any) -> Test:
    wanted = frozenset(operand)
    return lambda value: wanted.issubset(value)


def _anything(_: Field, __: Any) -> Test:
    return lambda _: True


def _not(test: Callable[[Field, Any], Test]) -> Callable[[Field, Any], Test]:
    def opposite(field: Field, operand: Any) -> Test:
        passes = test(field, operand)
        return lambda value: not passes(value)

    return opposite


_TABLE = (
    Operator("eq", ALL, Operand.ONE, "is", _equal, key_ranges.equal),
    Operator(
        "ne",
        ALL,
        Operand.ONE,
        "is not",
        _not(_equal),
        key_ranges.outside(key_ranges.equal),
        matches_empty=True,
    ),
    Operator("in", ALL, Operand.SEVERAL, "is one of", _among, key_ranges.among),
    Operator(
        "not_in",
        ALL,
        Operand.SEVERAL,
        "is none of",
        _not(_among),
        key_ranges.outside(key_ranges.among),
        matches_empty=True,
    ),
    Operator("lt", ALL, Operand.ONE, "comes before", _before, key_ranges.below),
    Operator("lte", ALL, Operand.ONE, "does not come after", _not(_after), key_ranges.up_to),
    Operator("gt", ALL, Operand.ONE, "comes after", _after, key_ranges.above),
    Operator("gte", ALL, Operand.ONE, "does not come before", _not(_before), key_ranges.from_on),
    Operator(
        "between",
        ALL,
        Operand.TWO,
        "is from the first to the second of",
        _between,
        key_ranges.between,
    ),
    Operator("starts_with", TEXT, Operand.TEXT, "starts with", _starts_with, key_ranges.starting),
    Operator("contains", TEXT, Operand.TEXT, "contains", _contains, key_ranges.containing),
    Operator("has_words", TEXT, Operand.WORDS, "has all words of", _has_words, key_ranges.with_words),
    Operator("has_any", MULTI, Operand.OPTIONS, "has any of", _has_any, key_ranges.with_any),
    Operator("has_all", MULTI, Operand.OPTIONS, "has all of", _has_all, key_ranges.with_all),
    Operator(
        "has_none",
        MULTI,
        Operand.OPTIONS,
        "has none of",
        _not(_has_any),
        key_ranges.outside(key_ranges.with_any),
        matches_empty=True,
    ),
    Operator(
        "is_empty",
        ALL,
        Operand.NOTHING,
        "has no value",
        _not(_anything),
        key_ranges.outside(key_ranges.anything),
        matches_empty=True,
    ),
    Operator("is_not_empty", ALL, Operand.NOTHING, "has a value", _anything, key_ranges.anything),
)

OPERATORS: Mapping[str, Operator] = {operator.name: operator for operator in _TABLE}
"""Operators by name, in the order of the contract."""
