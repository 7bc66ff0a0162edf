"""The check of a formula: its fields, options and types, and its typed tree. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence

from gridview.formulas.errors import FormulaError
from gridview.formulas.functions import (
    COMPARED,
    FUNCTIONS,
    OPERATORS,
    ORDERED,
    SHOWN,
    UNITS,
    Disagreement,
    FormulaFunction,
    Word,
    fits,
    form_of,
    joined,
    patterns_of_switch,
    result_of,
)
from gridview.formulas.parser import COMPARISONS, MINUS, Syntax
from gridview.formulas.scope import AmbiguousName, FormulaInput, FormulaScope
from gridview.formulas.tree import ATTRIBUTE, BUILTIN, ChosenOption, Expression, ValueType

_OFFSET = re.compile(r"([+-])([01][0-9]|2[0-3]):([0-5][0-9])")
_PLURALS = {f"{one}s": one for one in UNITS}

_NOUNS: Mapping[ValueType, str] = {
    ValueType.TEXT: "a text",
    ValueType.NUMBER: "a number",
    ValueType.DATE: "a date",
    ValueType.DATETIME: "a datetime",
    ValueType.BOOL: "true or false",
    ValueType.ENUM: "an option",
    ValueType.MULTI_ENUM: "a set of options",
    ValueType.USER: "a user",
    ValueType.NONE: "no value",
}
_FILTERS = {
    "TODAY": '{"field": "due", "op": "lt", "value": {"today": 0}}',
    "NOW": '{"field": "created", "op": "gte", "value": {"now": -3600}}',
}
"""Functions of the present time, each with the filter to use instead."""

FUNCTIONS_ELSEWHERE = {
    "AVG": "AVERAGE",
    "BLANKVALUE": "COALESCE",
    "CEILING": "ROUNDUP",
    "CONCATENATE": "CONCAT",
    "DATETIME_FORMAT": "TEXT",
    "DATE_DIFF": "DATETIME_DIFF",
    "DATETIME_PARSE": "DATE",
    "FLOOR": "INT",
    "IS_EMPTY": "ISBLANK",
    "ISNULL": "ISBLANK",
    "IS_NULL": "ISBLANK",
    "LENGTH": "LEN",
    "REPLACE": "SUBSTITUTE",
    "SEARCH": "FIND",
    "TODATE": "DATE",
    "TONUMBER": "VALUE",
    "TOTEXT": "TEXT",
}
"""Names of functions elsewhere that have another name here."""


def noun(kind: ValueType) -> str:
    """Return the type in words, with its article."""
    return _NOUNS[kind]


def checked(syntax: Syntax, scope: FormulaScope) -> Expression:
    """Return the typed tree of a formula. FormulaError."""
    return _Check(scope).part(syntax)


class _Check:
    def __init__(self, scope: FormulaScope) -> None:
        self._scope = scope

    def part(self, syntax: Syntax) -> Expression:
        match syntax.kind:
            case "number":
                return Expression("n", ValueType.NUMBER, syntax.value)
            case "text":
                return Expression("t", ValueType.TEXT, syntax.value)
            case "constant" if syntax.value is None:
                return Expression("z", ValueType.NONE)
            case "constant":
                return Expression("b", ValueType.BOOL, syntax.value)
            case "field":
                return self._field(syntax)
        if syntax.kind in COMPARISONS:
            return self._comparison(syntax)
        if syntax.kind in OPERATORS:
            return self._operator(syntax)
        return self._function(syntax)

    def _field(self, syntax: Syntax) -> Expression:
        known = self._input(syntax)
        return Expression(BUILTIN if known.builtin else ATTRIBUTE, known.type, known.key)

    def _input(self, syntax: Syntax) -> FormulaInput:
        try:
            known = self._scope.named(syntax.value)
        except AmbiguousName:
            raise FormulaError(
                syntax.position, f"Several fields have the name {syntax.value}. Write the id of one of them."
            ) from None
        if known is None:
            raise FormulaError(
                syntax.position,
                f"The project has no field {syntax.value}. Write the id or the name of a field.",
            )
        return known

    # Operators

    def _operator(self, syntax: Syntax) -> Expression:
        takes = SHOWN if syntax.kind == "&" else frozenset((ValueType.NUMBER,))
        name = "The minus sign" if syntax.kind == MINUS else syntax.kind
        parts = tuple(self._taken(name, takes, one) for one in syntax.parts)
        return Expression(syntax.kind, OPERATORS[syntax.kind], None, parts)

    def _comparison(self, syntax: Syntax) -> Expression:
        left, right = syntax.parts
        if syntax.kind in ("=", "!="):
            parts = self._pair(left, right)
        else:
            parts = (self._taken(syntax.kind, ORDERED, left), self._taken(syntax.kind, ORDERED, right))
            self._together(syntax.kind, parts, syntax.parts)
        return Expression(syntax.kind, ValueType.BOOL, None, parts)

    def _pair(self, left: Syntax, right: Syntax) -> tuple[Expression, Expression]:
        """Return two parts that are tested for equality."""
        if left.kind == "text" and right.kind != "text":
            other, one = self._pair(right, left)
            return one, other
        one = self._taken("=", COMPARED, left)
        return one, self._pattern(one, right)

    def _pattern(self, beside: Expression, syntax: Syntax) -> Expression:
        """Return a part that is compared with another. A text beside an option or a user names one."""
        if syntax.kind == "text" and beside.type is ValueType.ENUM:
            return self._option(beside, syntax)
        if syntax.kind == "text" and beside.type is ValueType.USER:
            return Expression("u", ValueType.USER, syntax.value)
        pattern = self._taken("=", COMPARED, syntax)
        types = {beside.type, pattern.type}
        if ValueType.ENUM in types and ValueType.NONE not in types:
            raise FormulaError(
                syntax.position, 'An option is compared with a text in quotes that names one, like "Low".'
            )
        self._together("=", (beside, pattern), (syntax, syntax))
        return pattern

    def _option(self, beside: Expression, syntax: Syntax) -> Expression:
        known = self._scope.by_key[beside.value]
        option = known.option_of(syntax.value)
        if option is None:
            raise FormulaError(
                syntax.position,
                f"The field {known.name} has no option {syntax.value}. Write one as the field lists it.",
            )
        return Expression("o", ValueType.ENUM, ChosenOption(known.key, option))

    def _together(self, name: str, parts: Sequence[Expression], places: Sequence[Syntax]) -> None:
        try:
            joined(parts)
        except Disagreement as found:
            raise self._disagreement(name, found, places) from None

    def _disagreement(self, name: str, found: Disagreement, places: Sequence[Syntax]) -> FormulaError:
        reason = f"{name} needs parts of one type, but has {noun(found.first)} and {noun(found.second)}."
        if ValueType.TEXT in (found.first, found.second) and {found.first, found.second} <= SHOWN:
            reason += " TEXT() makes a text of other values."
        return FormulaError(places[found.place].position, reason)

    def _taken(self, name: str, takes: frozenset[ValueType], syntax: Syntax) -> Expression:
        return _accepted(name, takes, self.part(syntax), syntax.position)

    # Functions

    def _function(self, syntax: Syntax) -> Expression:
        name = syntax.kind
        if name in _FILTERS:
            raise FormulaError(
                syntax.position,
                f"{name} is not in formulas: a value depends on its issue only. Filter instead: {_FILTERS[name]}.",
            )
        if name not in FUNCTIONS:
            hint = f" Here it is {FUNCTIONS_ELSEWHERE[name]}." if name in FUNCTIONS_ELSEWHERE else ""
            raise FormulaError(syntax.position, f"There is no function {name}.{hint}")
        if name == "SWITCH":
            self._count(FUNCTIONS[name], syntax)
            parts = self._switch(syntax)
        else:
            parts = self._parts(syntax)
        try:
            return Expression(name, result_of(name, parts), None, parts)
        except Disagreement as found:
            raise self._disagreement(name, found, syntax.parts) from None

    def _count(self, function: FormulaFunction, syntax: Syntax) -> None:
        count = len(syntax.parts)
        if count < function.least or (count > len(function.takes) and not function.repeats):
            raise FormulaError(
                syntax.position,
                f"{function.name} has another number of parameters than {count}. Write {function.name}({function.parameters}).",
            )

    def _parts(self, syntax: Syntax) -> tuple[Expression, ...]:
        parts: list[Expression] = []
        function = FUNCTIONS[syntax.kind]
        for place, one in enumerate(syntax.parts):
            part = self.part(one)
            if place == 0:
                function = form_of(syntax.kind, part.type, len(syntax.parts))
            takes = function.taken(place)
            if isinstance(takes, Word):
                part = self._word(function, takes, one, parts)
            elif takes is not None:
                part = _accepted(function.name, takes, part, one.position)
            parts.append(part)
        self._count(function, syntax)
        return tuple(parts)

    def _word(
        self, function: FormulaFunction, word: Word, syntax: Syntax, before: Sequence[Expression]
    ) -> Expression:
        if syntax.kind != "text":
            raise FormulaError(
                syntax.position, f"{function.name} takes {word.value} here, as a text in quotes."
            )
        if word is Word.OPTION:
            if before[0].type is ValueType.NONE:
                raise FormulaError(syntax.position, "HAS takes a field of options. Write one in braces.")
            return self._option(before[0], syntax)
        return Expression("t", ValueType.TEXT, _WORDS[word](syntax))

    def _switch(self, syntax: Syntax) -> tuple[Expression, ...]:
        parts = [self._taken("SWITCH", COMPARED, syntax.parts[0])]
        patterns = tuple(patterns_of_switch(len(syntax.parts)))
        for place, one in enumerate(syntax.parts[1:], 1):
            parts.append(
                self._pattern(parts[0], one) if place in patterns else self._taken("SWITCH", SHOWN, one)
            )
        # With no value before them, patterns can still be of different types.
        compared = [0, *patterns]
        self._together("SWITCH", [parts[at] for at in compared], [syntax.parts[at] for at in compared])
        return tuple(parts)


def _accepted(name: str, takes: frozenset[ValueType], part: Expression, position: int) -> Expression:
    """Return a part if it has one of the types. FormulaError."""
    if any(fits(part.type, one) for one in takes):
        return part
    *most, last = (noun(one) for one in ValueType if one in takes and one is not ValueType.NONE)
    wanted = f"{', '.join(most)} or {last}" if most else last
    raise FormulaError(
        position, f"{name} takes {wanted} here, but this is {noun(part.type)}.{_remedy(part, takes)}"
    )


def _remedy(part: Expression, takes: frozenset[ValueType]) -> str:
    if part.type in (ValueType.ENUM, ValueType.USER) and ValueType.TEXT in takes:
        return " Compare it with =, or choose a text for each with SWITCH()."
    if part.type is ValueType.MULTI_ENUM:
        return " Use HAS() or COUNT()."
    if takes == {ValueType.TEXT} and part.type in SHOWN:
        return " TEXT() makes a text of it."
    if takes == {ValueType.NUMBER} and part.type is ValueType.TEXT:
        return " VALUE() reads a number."
    if takes == {ValueType.BOOL} and part.type in SHOWN:
        return " Compare it, for example with >."
    return ""


def _unit(syntax: Syntax) -> str:
    text: str = syntax.value.lower()
    unit = _PLURALS.get(text, text)
    if unit not in UNITS:
        raise FormulaError(syntax.position, f"A unit of time is one of {', '.join(UNITS)}.")
    return unit


def _offset(syntax: Syntax) -> str:
    if not _OFFSET.fullmatch(syntax.value):
        raise FormulaError(syntax.position, "An offset from UTC is a text like +02:00.")
    text: str = syntax.value
    return text


_WORDS: Mapping[Word, Callable[[Syntax], str]] = {Word.UNIT: _unit, Word.OFFSET: _offset}
