"""The functions of formulas: what they take, and the type of their result. Pure.

The check of a formula, the types of a stored tree, the table in docs/formulas.md and the completion in the page are made
from `FUNCTIONS`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from gridview.formulas.tree import Expression, ValueType

VERSION = 1
"""The version of the functions. A change of any result is a new one. A formula keeps the version it was saved under."""

_NODES_OF_ROOTS = 5
"""Nodes that a function counts as whose result takes several times as long as that of others."""

UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
"""The units of time, short ones first. A formula can also name them in the plural."""
_UNITS_OF_TIME = frozenset(UNITS[:3])


class Word(Enum):
    """Parameters that must be written as a text in quotes, and what it names."""

    UNIT = "a unit of time"
    OFFSET = "an offset from UTC"
    OPTION = "an option"


Accepted = frozenset[ValueType] | Word

_TEXT = frozenset((ValueType.TEXT,))
NUMBER = frozenset((ValueType.NUMBER,))
_BOOL = frozenset((ValueType.BOOL,))
_DATETIME = frozenset((ValueType.DATETIME,))
_MOMENT = frozenset((ValueType.DATE, ValueType.DATETIME))
_SET = frozenset((ValueType.MULTI_ENUM,))
SHOWN = frozenset((ValueType.TEXT, ValueType.NUMBER, ValueType.DATE, ValueType.DATETIME, ValueType.BOOL))
"""The types that become text, and that branches can have."""
ORDERED = frozenset((ValueType.TEXT, ValueType.NUMBER, ValueType.DATE, ValueType.DATETIME))
"""The types that `<` compares."""
COMPARED = SHOWN | {ValueType.ENUM, ValueType.USER}
"""The types that `=` compares."""
_LEAST = ORDERED - _TEXT
_ANY = frozenset(ValueType)


class Disagreement(Exception):
    """Two parts have types that do not fit together. `place`: which of the parts is the second."""

    def __init__(self, place: int, first: ValueType, second: ValueType) -> None:
        super().__init__(first, second)
        self.place = place
        self.first = first
        self.second = second


def joined(parts: Sequence[Expression], places: Iterable[int] | None = None) -> ValueType:
    """Return the type that parts share. No value fits every type, and a date fits a datetime. Disagreement."""
    shared = ValueType.NONE
    for place in range(len(parts)) if places is None else places:
        one = parts[place].type
        if fits(one, shared):
            continue
        if not fits(shared, one):
            raise Disagreement(place, shared, one)
        shared = one
    return shared


def fits(given: ValueType, wanted: ValueType) -> bool:
    """Return whether a value of a type can be one of another: no value always, and a date can be a datetime."""
    return given in (wanted, ValueType.NONE) or (given, wanted) == (ValueType.DATE, ValueType.DATETIME)


ResultOf = Callable[[Sequence[Expression]], ValueType]


class FormulaFunction(NamedTuple):
    """A function. `takes` has an element for each parameter, and the last `repeats` of them can follow again.

    `parameters` names them for people; those in brackets can be omitted, and `least` cannot.
    """

    name: str
    parameters: str
    summary: str
    takes: tuple[Accepted, ...]
    result: ResultOf
    least: int
    repeats: int = 0
    nodes: int = 1

    def taken(self, place: int) -> Accepted | None:
        """Return what the parameter at a place takes; None if there is none."""
        if place < len(self.takes):
            return self.takes[place]
        return self.takes[-self.repeats + (place - len(self.takes)) % self.repeats] if self.repeats else None


def _text(_: Sequence[Expression]) -> ValueType:
    return ValueType.TEXT


def _number(_: Sequence[Expression]) -> ValueType:
    return ValueType.NUMBER


def _bool(_: Sequence[Expression]) -> ValueType:
    return ValueType.BOOL


def _date(_: Sequence[Expression]) -> ValueType:
    return ValueType.DATE


def branches_of_if(count: int) -> Iterable[int]:
    """Return the places of the branches among the parts of IF."""
    return range(1, count)


def patterns_of_switch(count: int) -> Iterable[int]:
    """Return the places of the patterns among the parts of SWITCH."""
    return range(1, count - 1, 2)


def branches_of_switch(count: int) -> Iterable[int]:
    """Return the places of the branches among the parts of SWITCH; the last one is the default if the count is even."""
    return (*range(2, count, 2), *((count - 1,) if count % 2 == 0 else ()))


def _of_dateadd(parts: Sequence[Expression]) -> ValueType:
    return ValueType.DATETIME if parts[2].value in _UNITS_OF_TIME else parts[0].type


_TABLE = (
    FormulaFunction(
        "IF",
        "condition, then, [else]",
        "`then` if the condition is true, otherwise `else`",
        (_BOOL, SHOWN, SHOWN),
        lambda parts: joined(parts, branches_of_if(len(parts))),
        2,
    ),
    FormulaFunction(
        "SWITCH",
        "value, pattern, result, …, [default]",
        "the result after the first pattern that equals the value",
        (COMPARED, COMPARED, SHOWN),
        lambda parts: joined(parts, branches_of_switch(len(parts))),
        3,
        2,
    ),
    FormulaFunction("COALESCE", "value, …", "the first that is a value", (SHOWN,), joined, 1, 1),
    FormulaFunction("AND", "condition, …", "whether all are true", (_BOOL,), _bool, 1, 1),
    FormulaFunction("OR", "condition, …", "whether any is true", (_BOOL,), _bool, 1, 1),
    FormulaFunction("NOT", "condition", "whether it is not true", (_BOOL,), _bool, 1),
    FormulaFunction("ISBLANK", "value", "whether it is no value", (_ANY,), _bool, 1),
    FormulaFunction("CONTAINS", "text, part", "whether the text contains the part", (_TEXT, _TEXT), _bool, 2),
    FormulaFunction("HAS", "field, option", "whether the option is chosen", (_SET, Word.OPTION), _bool, 2),
    FormulaFunction("COUNT", "field", "how many options are chosen", (_SET,), _number, 1),
    FormulaFunction("ABS", "number", "without its sign", (NUMBER,), _number, 1),
    FormulaFunction(
        "ROUND", "number, [digits]", "the nearest, a half away from zero", (NUMBER, NUMBER), _number, 1
    ),
    FormulaFunction("ROUNDUP", "number, [digits]", "away from zero", (NUMBER, NUMBER), _number, 1),
    FormulaFunction("ROUNDDOWN", "number, [digits]", "toward zero", (NUMBER, NUMBER), _number, 1),
    FormulaFunction("INT", "number", "the next whole number below", (NUMBER,), _number, 1),
    FormulaFunction(
        "MOD", "number, divisor", "the remainder, with the sign of the number", (NUMBER, NUMBER), _number, 2
    ),
    FormulaFunction(
        "POWER",
        "number, exponent",
        "the number to a whole power",
        (NUMBER, NUMBER),
        _number,
        2,
        nodes=_NODES_OF_ROOTS,
    ),
    FormulaFunction("SQRT", "number", "the square root", (NUMBER,), _number, 1, nodes=_NODES_OF_ROOTS),
    FormulaFunction("SUM", "number, …", "the sum of the values", (NUMBER,), _number, 1, 1),
    FormulaFunction("AVERAGE", "number, …", "the mean of the values", (NUMBER,), _number, 1, 1),
    FormulaFunction("MIN", "value, …", "the lowest number, date or datetime", (_LEAST,), joined, 1, 1),
    FormulaFunction("MAX", "value, …", "the highest number, date or datetime", (_LEAST,), joined, 1, 1),
    FormulaFunction("VALUE", "text", "the number that the text is", (_TEXT,), _number, 1),
    FormulaFunction("LEN", "text", "how many characters", (_TEXT,), _number, 1),
    FormulaFunction("CONCAT", "value, …", "all as one text", (SHOWN,), _text, 1, 1),
    FormulaFunction("LOWER", "text", "in lower case", (_TEXT,), _text, 1),
    FormulaFunction("UPPER", "text", "in upper case", (_TEXT,), _text, 1),
    FormulaFunction("TRIM", "text", "without white space at both ends", (_TEXT,), _text, 1),
    FormulaFunction("LEFT", "text, count", "the first characters", (_TEXT, NUMBER), _text, 2),
    FormulaFunction("RIGHT", "text, count", "the last characters", (_TEXT, NUMBER), _text, 2),
    FormulaFunction(
        "MID", "text, start, count", "the characters from a place on", (_TEXT, NUMBER, NUMBER), _text, 3
    ),
    FormulaFunction(
        "SUBSTITUTE", "text, part, new", "with each part replaced", (_TEXT, _TEXT, _TEXT), _text, 3
    ),
    FormulaFunction(
        "FIND",
        "part, text, [start]",
        "where the part first is; 0: nowhere",
        (_TEXT, _TEXT, NUMBER),
        _number,
        2,
    ),
    FormulaFunction("TEXT", "value", "as text", (SHOWN,), _text, 1),
    FormulaFunction("YEAR", "date, [offset]", "the year", (_MOMENT, Word.OFFSET), _number, 1),
    FormulaFunction("MONTH", "date, [offset]", "the month, 1 to 12", (_MOMENT, Word.OFFSET), _number, 1),
    FormulaFunction("DAY", "date, [offset]", "the day of the month", (_MOMENT, Word.OFFSET), _number, 1),
    FormulaFunction(
        "WEEKDAY", "date, [offset]", "the day of the week; 0: Monday", (_MOMENT, Word.OFFSET), _number, 1
    ),
    FormulaFunction("DATE", "year, month, day", "the date", (NUMBER, NUMBER, NUMBER), _date, 3),
    FormulaFunction(
        "DATEADD", "date, count, unit", "so many units later", (_MOMENT, NUMBER, Word.UNIT), _of_dateadd, 3
    ),
    FormulaFunction(
        "DATETIME_DIFF", "a, b, unit", "whole units from b to a", (_MOMENT, _MOMENT, Word.UNIT), _number, 3
    ),
)

_DATE_OF_TEXT = FormulaFunction("DATE", "text", "the date that the text is", (_TEXT,), _date, 1)
_DATE_OF_DATETIME = FormulaFunction(
    "DATE", "datetime, [offset]", "its date", (_DATETIME, Word.OFFSET), _date, 1
)
_DATE_OF: Mapping[ValueType, FormulaFunction] = {
    ValueType.TEXT: _DATE_OF_TEXT,
    ValueType.NONE: _DATE_OF_TEXT,
    ValueType.DATE: _DATE_OF_DATETIME,
    ValueType.DATETIME: _DATE_OF_DATETIME,
}
"""The other forms of DATE, by the type of the first part."""

FUNCTIONS: Mapping[str, FormulaFunction] = {one.name: one for one in _TABLE}
"""The functions by name, in the order of the documentation."""


def form_of(name: str, first: ValueType, count: int) -> FormulaFunction:
    """Return the function of a name for so many parts, the first of a type. KeyError if there is none."""
    if name == "DATE" and (first is not ValueType.NONE or count == 1):
        return _DATE_OF.get(first, FUNCTIONS[name])
    return FUNCTIONS[name]


OPERATORS: Mapping[str, ValueType] = {
    **dict.fromkeys(("=", "!=", "<", "<=", ">", ">="), ValueType.BOOL),
    "&": ValueType.TEXT,
    **dict.fromkeys(("+", "-", "*", "/", "minus"), ValueType.NUMBER),
}
"""The operators, and the types of their results."""


def result_of(kind: str, parts: Sequence[Expression]) -> ValueType:
    """Return the type of an operator or a function over typed parts. KeyError if there is none. Disagreement."""
    return OPERATORS.get(kind) or FUNCTIONS[kind].result(parts)
