"""The typed tree of a formula, and its form in JSON, in which it is stored. Pure.

    ["ROUND", ["*", ["f", "a1", "number"], ["n", "1.5"]], ["n", "2"]]

`f` is an attribute by its internal key, `g` a built-in field, both with their type. `n`, `t`, `b`, `z`, `o` and `u` are
a number, a text, a boolean, no value, an option of a field, and a user. Every other name is an operator or a function.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from gridview.encoding.values import number_json, parse_number


class ValueType(StrEnum):
    """The types of expressions. A formula has one of the first five. Options and users are inputs only."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    DATETIME = "datetime"
    BOOL = "bool"
    ENUM = "enum"
    MULTI_ENUM = "multi_enum"
    USER = "user"
    NONE = "none"
    """The type of `BLANK()`. It fits wherever another type does."""


RESULTS = (ValueType.TEXT, ValueType.NUMBER, ValueType.DATE, ValueType.DATETIME, ValueType.BOOL)
"""The types that a formula can have."""

ATTRIBUTE = "f"
BUILTIN = "g"
LITERALS: Mapping[str, ValueType] = {
    "n": ValueType.NUMBER,
    "t": ValueType.TEXT,
    "b": ValueType.BOOL,
    "z": ValueType.NONE,
    "o": ValueType.ENUM,
    "u": ValueType.USER,
}
"""The kinds of values in formulas, with their types."""


class ChosenOption(NamedTuple):
    """An option by its id, with the internal key of its field."""

    field: str
    option: str


class Expression(NamedTuple):
    """A part of a formula. `kind` is one of the stored form.

    `value`: the key of a field; the value of a literal in stored form, a `ChosenOption` for an option.
    """

    kind: str
    type: ValueType
    value: Any = None
    parts: tuple["Expression", ...] = ()

    def walk(self) -> Iterator["Expression"]:
        """Return this part and all within it."""
        yield self
        for part in self.parts:
            yield from part.walk()

    @property
    def reads(self) -> bool:
        """Whether it is a field."""
        return self.kind in (ATTRIBUTE, BUILTIN)


class UnknownForm(Exception):
    """A stored formula has a form or a version that this release does not know."""


def to_json(tree: Expression) -> list[Any]:
    """Return a tree as lists of JSON."""
    match tree.kind:
        case "f" | "g":
            return [tree.kind, tree.value, str(tree.type)]
        case "n":
            return [tree.kind, number_json(tree.value)]
        case "z":
            return [tree.kind]
        case "o":
            return [tree.kind, *tree.value]
        case "t" | "b" | "u":
            return [tree.kind, tree.value]
    return [tree.kind, *map(to_json, tree.parts)]


def leaf_from_json(form: Sequence[Any]) -> Expression | None:
    """Return a field or a value from its form in JSON; None for an operator or a function."""
    kind = form[0]
    match kind:
        case "f" | "g":
            return Expression(kind, ValueType(form[2]), form[1])
        case "n":
            return Expression(kind, LITERALS[kind], parse_number(form[1]))
        case "z":
            return Expression(kind, LITERALS[kind])
        case "o":
            return Expression(kind, LITERALS[kind], ChosenOption(form[1], form[2]))
        case "t" | "b" | "u":
            return Expression(kind, LITERALS[kind], form[1])
    return None
