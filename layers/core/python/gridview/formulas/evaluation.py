"""The evaluation of formulas on documents: a tree becomes one function, which is called for each document. Pure."""

import decimal
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import eq, ge, gt, le, lt, ne
from typing import Any, NamedTuple

from gridview.encoding import sort_strings
from gridview.encoding.values import TEXT_LIMIT, datetime_json
from gridview.formulas import dates, numbers
from gridview.formulas.characters import Characters, characters_of
from gridview.formulas.folding import ARITHMETIC, folded
from gridview.formulas.formula import Formula
from gridview.formulas.functions import (
    FUNCTIONS,
    NUMBER,
    branches_of_if,
    branches_of_switch,
    joined,
    patterns_of_switch,
)
from gridview.formulas.numbers import BEYOND_RANGE, BY_ZERO, FIELD, NoValue, Unavailable
from gridview.formulas.parts import (
    Evaluation,
    FormulaPart,
    check_length,
    constant,
    of_one,
    of_three,
    of_two,
    of_values,
    with_second,
)
from gridview.formulas.text_functions import TEXT_FUNCTIONS, concatenated, stripped
from gridview.formulas.tree import ATTRIBUTE, BUILTIN, LITERALS, ChosenOption, Expression, ValueType


class Computed(NamedTuple):
    """The value of a formula for one issue, in stored form; None: no value. `unavailable`: why it cannot be computed."""

    value: Any
    unavailable: Unavailable | None = None


_available = partial(tuple.__new__, Computed)
"""Makes a `Computed`, in half the time."""


class Evaluator:
    """A formula that is ready to be evaluated. `part`: its value as a part of formulas that read it."""

    __slots__ = ("formula", "part")

    def __init__(self, formula: Formula, part: FormulaPart) -> None:
        self.formula = formula
        self.part = part

    def __call__(self, document: Mapping[str, Any]) -> Computed:
        """Return the value for an issue's document, whose values have their stored form. Never raises."""
        try:
            value = self.part(Evaluation(document))
        except NoValue as none:
            return Computed(None, none.reason)
        except BEYOND_RANGE:
            return Computed(None, Unavailable.OUT_OF_RANGE)
        except BY_ZERO:
            return Computed(None, Unavailable.DIVISION_BY_ZERO)
        # A comparison of a decimal with a text takes longer than all else here.
        return _available((None if not value and value == "" else value, None))


def evaluator_of(formula: Formula, others: Mapping[str, Evaluator]) -> Evaluator:
    """Return a formula ready to be evaluated. `others`: the formulas that it reads, by internal key of their fields."""
    compiler = _Compiler(characters_of(formula.unicode), others)
    part = compiler.value(folded(formula.tree), formula.type)
    return Evaluator(formula, _RESULTS.get(formula.type, _as_it_is)(part))


def evaluators_of(formulas: Mapping[str, Formula]) -> dict[str, Evaluator]:
    """Return all formulas of a project ready to be evaluated, by internal key of their fields. None reads itself."""
    ready: dict[str, Evaluator] = {}

    def make(key: str) -> None:
        for one in formulas[key].uses & formulas.keys() - ready.keys():
            make(one)
        ready[key] = evaluator_of(formulas[key], ready)

    for key in formulas:
        if key not in ready:
            make(key)
    return ready


def _as_it_is(part: FormulaPart) -> FormulaPart:
    return part


def _text_result(part: FormulaPart) -> FormulaPart:
    def value(evaluation: Evaluation) -> str:
        text: str = part(evaluation)
        check_length(len(text), TEXT_LIMIT)
        return text

    return value


_RESULTS: Mapping[ValueType, Callable[[FormulaPart], FormulaPart]] = {
    ValueType.TEXT: _text_result,
    ValueType.NUMBER: lambda part: of_one(numbers.canonical, part),
}


class _Compiler:
    def __init__(self, characters: Characters, others: Mapping[str, Evaluator]) -> None:
        self._characters = characters
        self._others = others

    def value(self, tree: Expression, wanted: ValueType) -> FormulaPart:
        """Return a part as a value of a type that it fits."""
        if tree.type is wanted:
            return self._part(tree)
        if tree.type is ValueType.NONE:
            part = self._part(tree)
            return part if wanted is not ValueType.TEXT else lambda evaluation: part(evaluation) or ""
        return of_one(dates.midnight, self._part(tree))

    def _values(self, parts: Sequence[Expression], wanted: ValueType) -> list[FormulaPart]:
        return [self.value(one, wanted) for one in parts]

    def _part(self, tree: Expression) -> FormulaPart:
        if tree.kind in (ATTRIBUTE, BUILTIN):
            return self._field(tree)
        if tree.kind in LITERALS:
            return constant(tree.value.option if isinstance(tree.value, ChosenOption) else tree.value)
        return _BUILDERS[tree.kind](self, tree)

    def _field(self, tree: Expression) -> FormulaPart:
        key = tree.value
        other = self._others.get(key)
        if other is not None:
            # A date that a datetime field computes is a datetime: the evaluator has the type of the field.
            return other.part
        nothing = _nothing(tree.type)
        if tree.kind == BUILTIN:
            return lambda evaluation: evaluation.document.get(key, nothing)
        return lambda evaluation: evaluation.fields.get(key, nothing)

    # Operators

    def shown(self, tree: Expression) -> FormulaPart:
        """Return a part as text."""
        if tree.type in (ValueType.TEXT, ValueType.NONE):
            return self.value(tree, ValueType.TEXT)
        part, form = self._part(tree), _FORMS[tree.type]

        def value(evaluation: Evaluation) -> str:
            given = part(evaluation)
            return "" if given is None else form(given)

        return value

    def concatenation(self, tree: Expression) -> FormulaPart:
        return concatenated([self.shown(one) for one in tree.parts])

    def text(self, tree: Expression) -> FormulaPart:
        return self.shown(tree.parts[0])

    def equality(self, tree: Expression) -> FormulaPart:
        test = eq if tree.kind == "=" else ne
        one, other = self._comparable(tree.parts)
        return lambda evaluation: test(one(evaluation), other(evaluation))

    def order(self, tree: Expression) -> FormulaPart:
        test = _ORDERS[tree.kind]
        one, other = self._comparable(tree.parts, beginning=True)

        def value(evaluation: Evaluation) -> bool:
            left, right = one(evaluation), other(evaluation)
            return left is not None and right is not None and test(left, right)

        return value

    def _comparable(self, parts: Sequence[Expression], *, beginning: bool = False) -> list[FormulaPart]:
        """Return parts in the form in which they are compared.

        `beginning`: texts only with the characters that count in an order.
        """
        shared = joined(parts)
        values = self._values(parts, shared)
        if shared is ValueType.TEXT:
            return [self._folded(one, sort_strings.TEXT_WIDTH if beginning else None) for one in values]
        return [of_one(self._characters.user, one) for one in values] if shared is ValueType.USER else values

    def _folded(self, part: FormulaPart, width: int | None) -> FormulaPart:
        fold = self._characters.fold

        def value(evaluation: Evaluation) -> str:
            text = part(evaluation)
            evaluation.read(len(text))
            return fold(text)[:width]

        return value

    # Conditions

    def if_(self, tree: Expression) -> FormulaPart:
        condition = self._part(tree.parts[0])
        then, *others = (self.value(tree.parts[at], tree.type) for at in branches_of_if(len(tree.parts)))
        otherwise = others[0] if others else constant(_nothing(tree.type))
        return lambda evaluation: then(evaluation) if condition(evaluation) else otherwise(evaluation)

    def switch(self, tree: Expression) -> FormulaPart:
        count = len(tree.parts)
        compared = [tree.parts[0], *(tree.parts[at] for at in patterns_of_switch(count))]
        # Each pattern is of the type of the value or fits it, or the value fits the pattern.
        subject, *patterns = self._comparable(compared)
        branches = [self.value(tree.parts[at], tree.type) for at in branches_of_switch(count)]
        default = branches.pop() if count % 2 == 0 else constant(_nothing(tree.type))
        cases = list(zip(patterns, branches, strict=True))

        def value(evaluation: Evaluation) -> Any:
            given = subject(evaluation)
            for pattern, branch in cases:
                if pattern(evaluation) == given:
                    return branch(evaluation)
            return default(evaluation)

        return value

    def coalesce(self, tree: Expression) -> FormulaPart:
        parts = self._values(tree.parts, tree.type)
        nothing = _nothing(tree.type)

        def value(evaluation: Evaluation) -> Any:
            for part in parts:
                found = part(evaluation)
                if found is not None and found != "":
                    return found
            return nothing

        return value

    def and_(self, tree: Expression) -> FormulaPart:
        parts = self._values(tree.parts, ValueType.BOOL)

        def value(evaluation: Evaluation) -> bool:
            for part in parts:  # noqa: SIM110 - a generator takes longer than its conditions
                if not part(evaluation):
                    return False
            return True

        return value

    def or_(self, tree: Expression) -> FormulaPart:
        parts = self._values(tree.parts, ValueType.BOOL)

        def value(evaluation: Evaluation) -> bool:
            for part in parts:  # noqa: SIM110 - as above
                if part(evaluation):
                    return True
            return False

        return value

    def not_(self, tree: Expression) -> FormulaPart:
        part = self._part(tree.parts[0])
        return lambda evaluation: not part(evaluation)

    def is_blank(self, tree: Expression) -> FormulaPart:
        part = self._part(tree.parts[0])
        if tree.parts[0].type is ValueType.TEXT:
            return lambda evaluation: not part(evaluation)
        return lambda evaluation: part(evaluation) is None

    # Options

    def has(self, tree: Expression) -> FormulaPart:
        part, option = self._part(tree.parts[0]), tree.parts[1].value.option
        return lambda evaluation: option in (part(evaluation) or ())

    def count(self, tree: Expression) -> FormulaPart:
        part = self._part(tree.parts[0])
        return lambda evaluation: len(part(evaluation) or ())

    # Numbers

    def numeric(self, tree: Expression) -> FormulaPart:
        function = _NUMERIC[tree.kind]
        one, *others = self._values(tree.parts, ValueType.NUMBER)
        if not others:
            return of_one(function, one)
        left, right = tree.parts
        if right.kind == "n":
            return with_second(function, one, right.value)
        return (
            of_one(partial(function, left.value), *others)
            if left.kind == "n"
            else of_two(function, one, *others)
        )

    def rounding(self, tree: Expression) -> FormulaPart:
        mode = _ROUNDING[tree.kind]
        number, *digits = self._values(tree.parts, ValueType.NUMBER)
        if not digits or tree.parts[1].kind == "n":
            places = tree.parts[1].value if digits else 0
            return of_one(numbers.rounding_to(mode, places), number)
        return of_two(numbers.rounding(mode), number, digits[0])

    def aggregate(self, tree: Expression) -> FormulaPart:
        return of_values(_AGGREGATES[tree.kind], self._values(tree.parts, tree.type))

    # Texts

    def textual(self, tree: Expression) -> FormulaPart:
        function = FUNCTIONS[tree.kind]
        parts = [
            self.value(one, ValueType.NUMBER if function.taken(place) == NUMBER else ValueType.TEXT)
            for place, one in enumerate(tree.parts)
        ]
        return TEXT_FUNCTIONS[tree.kind](parts, self._characters)

    # Dates

    def part_of_date(self, tree: Expression) -> FormulaPart:
        function, moment = _PARTS_OF_DATES[tree.kind], self._part(tree.parts[0])
        return of_one(function, moment if len(tree.parts) == 1 else self._day(tree.parts))

    def _day(self, parts: Sequence[Expression]) -> FormulaPart:
        """Return the date of a date or a datetime, in the offset of the second part."""
        return of_one(dates.day_of if len(parts) == 1 else dates.day_at(parts[1].value), self._part(parts[0]))

    def date(self, tree: Expression) -> FormulaPart:
        if len(tree.parts) == 3:
            return of_three(dates.date_of, self._values(tree.parts, ValueType.NUMBER))
        if tree.parts[0].type not in (ValueType.TEXT, ValueType.NONE):
            return self._day(tree.parts)
        return stripped(dates.date_in, self.value(tree.parts[0], ValueType.TEXT))

    def date_add(self, tree: Expression) -> FormulaPart:
        moment = self.value(tree.parts[0], tree.type)
        count = self.value(tree.parts[1], ValueType.NUMBER)
        return of_two(dates.adding(tree.parts[2].value), moment, count)

    def date_diff(self, tree: Expression) -> FormulaPart:
        one, other = (self._part(part) for part in tree.parts[:2])
        return of_two(dates.between(tree.parts[2].value), one, other)


def _nothing(kind: ValueType) -> str | None:
    """Return no value of a type, as parts of that type return it."""
    return "" if kind is ValueType.TEXT else None


_FORMS: Mapping[ValueType, Callable[[Any], str]] = {
    ValueType.NUMBER: numbers.plain,
    ValueType.DATE: str,
    ValueType.DATETIME: datetime_json,
    ValueType.BOOL: lambda value: "true" if value else "false",
}
"""The forms of values in texts."""

_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_NUMERIC: Mapping[str, Callable[..., Any]] = {
    **ARITHMETIC,
    "ABS": FIELD.abs,
    "INT": numbers.floor,
    "MOD": numbers.remainder,
    "POWER": numbers.power,
    "SQRT": numbers.root,
}
_ROUNDING = {"ROUND": decimal.ROUND_HALF_UP, "ROUNDUP": decimal.ROUND_UP, "ROUNDDOWN": decimal.ROUND_DOWN}
"""The modes of rounding: a half away from zero, away from zero, and toward zero."""
_AGGREGATES: Mapping[str, Callable[[Sequence[Any]], Any]] = {
    "SUM": numbers.total,
    "AVERAGE": numbers.mean,
    "MIN": min,
    "MAX": max,
}
_PARTS_OF_DATES: Mapping[str, Callable[[str], int]] = {
    "YEAR": dates.year_of,
    "MONTH": dates.month_of,
    "DAY": dates.day_in_month,
    "WEEKDAY": dates.weekday_of,
}
_BUILDERS: Mapping[str, Callable[[_Compiler, Expression], FormulaPart]] = {
    "&": _Compiler.concatenation,
    "CONCAT": _Compiler.concatenation,
    "TEXT": _Compiler.text,
    "=": _Compiler.equality,
    "!=": _Compiler.equality,
    **dict.fromkeys(_ORDERS, _Compiler.order),
    "IF": _Compiler.if_,
    "SWITCH": _Compiler.switch,
    "COALESCE": _Compiler.coalesce,
    "AND": _Compiler.and_,
    "OR": _Compiler.or_,
    "NOT": _Compiler.not_,
    "ISBLANK": _Compiler.is_blank,
    "HAS": _Compiler.has,
    "COUNT": _Compiler.count,
    **dict.fromkeys(_NUMERIC, _Compiler.numeric),
    **dict.fromkeys(_ROUNDING, _Compiler.rounding),
    **dict.fromkeys(_AGGREGATES, _Compiler.aggregate),
    **dict.fromkeys(TEXT_FUNCTIONS, _Compiler.textual),
    **dict.fromkeys(_PARTS_OF_DATES, _Compiler.part_of_date),
    "DATE": _Compiler.date,
    "DATEADD": _Compiler.date_add,
    "DATETIME_DIFF": _Compiler.date_diff,
}
"""What makes a part of each operator and function of version 1."""
