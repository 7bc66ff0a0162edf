"""Draws a project of formulas, and compares what the language computes with the oracle."""

from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any, Final, NamedTuple

from devtools.proof.forks import forked
from devtools.proof.formulas import oracle
from devtools.proof.formulas.drawing import OPTIONS, STORED, Drawer, Drawn, DrawnField, document, source
from gridview.formulas.definition import define
from gridview.formulas.errors import FormulaError
from gridview.formulas.evaluation import evaluators_of
from gridview.formulas.formula import Formula
from gridview.formulas.printing import printed
from gridview.formulas.scope import FormulaInput, FormulaScope
from gridview.formulas.tree import ValueType

TYPES: Final = ("number", "text", "date", "datetime", "bool")
_DOCUMENTS: Final = 4
"""Documents for which each project is computed."""
COMPUTED: Final = 3
"""Formulas of a project."""
_DEPTH: Final = 6


class DrawnFormula(NamedTuple):
    """A formula with its field, its text, and the expression that it was drawn from."""

    field: DrawnField
    text: str
    expression: Drawn
    formula: Formula


class DrawnProject(NamedTuple):
    """Stored fields, and formulas on them and on each other."""

    scope: FormulaScope
    fields: Mapping[str, DrawnField]
    formulas: tuple[DrawnFormula, ...]


class Compared(NamedTuple):
    """The values of one seed. `seen`: kinds of expressions and outcomes. `difference`: the first, if any."""

    values: int
    seen: Counter[str]
    difference: str | None = None


def project(seed: int) -> DrawnProject:
    """Return the project of a seed. A formula that is too large is drawn again."""
    random = Random(seed)  # noqa: S311 - the same project each time
    fields = {one.key: one for one in STORED}
    inputs = [_input(one) for one in STORED]
    formulas: list[DrawnFormula] = []
    while len(formulas) < COMPUTED:
        kind = random.choice((*TYPES, "number", "text", "bool"))
        drawn = Drawer(random, tuple(fields.values())).expression(kind, random.randint(1, _DEPTH))
        text = source(drawn, fields, random)
        key = f"a{20 + len(formulas)}"
        try:
            formula = define(text, FormulaScope(inputs), key=key, wanted=ValueType(kind))
        except FormulaError as error:
            if not _is_too_large(error) and drawn.type != "none":
                raise AssertionError(
                    f"seed {seed}: {text!r} is refused at {error.position}: {error.reason}"
                ) from error
            continue
        field = DrawnField(key, f"f{len(formulas)}", f"Formula {len(formulas)}", kind, expression=drawn)
        formulas.append(DrawnFormula(field, text, drawn, formula))
        fields[key] = field
        inputs.append(_input(field, formula))
    return DrawnProject(FormulaScope(inputs), fields, tuple(formulas))


def _is_too_large(error: FormulaError) -> bool:
    return any(word in error.reason for word in ("nodes", "nested", "longer", "more than"))


def _input(field: DrawnField, formula: Formula | None = None) -> FormulaInput:
    options = OPTIONS if field.type in ("enum", "multi_enum") else {}
    return FormulaInput(
        field.key, field.id, field.name, ValueType(field.type), field.builtin, options, formula
    )


def documents(seed: int) -> list[dict[str, Any]]:
    """Return the documents of a seed."""
    random = Random(-seed - 1)  # noqa: S311 - the same documents each time
    return [document(random) for _ in range(_DOCUMENTS)]


def compare(seed: int) -> Compared:
    """Compute the project of a seed both ways, for a few documents."""
    drawn = project(seed)
    evaluators = evaluators_of({one.field.key: one.formula for one in drawn.formulas})
    seen: Counter[str] = Counter()
    values = 0
    for one in drawn.formulas:
        seen.update(set(_kinds(one.expression)))
        text = printed(one.formula.tree, drawn.scope)
        again = define(text, drawn.scope, key=one.field.key, wanted=one.formula.type)
        if again != one.formula:
            return Compared(values, seen, f"{one.text!r} is printed as {text!r}, which is another formula")
    for given in documents(seed):
        for one in drawn.formulas:
            try:
                computed = evaluators[one.field.key](given)
            except Exception as error:  # evaluation is total
                return Compared(values, seen, f"{one.text}\n  of {given}\n  raises {error!r}")
            expected, reason = oracle.value_of(one.expression, one.field.type, drawn.fields, given)
            seen[str(computed.unavailable or ("no value" if computed.value is None else "value"))] += 1
            values += 1
            if not _same(computed.value, expected) or computed.unavailable != reason:
                return Compared(
                    values,
                    seen,
                    _difference(one, given, (computed.value, computed.unavailable), (expected, reason)),
                )
    return Compared(values, seen)


def _kinds(drawn: Drawn) -> Iterator[str]:
    yield drawn.kind
    for part in drawn.parts:
        yield from _kinds(part)


def _same(computed: Any, expected: Any) -> bool:
    """Return whether a value is the expected one, and in stored form."""
    if isinstance(expected, Fraction):
        return isinstance(computed, Decimal) and Fraction(computed) == expected and _is_canonical(computed)
    return type(computed) is type(expected) and bool(computed == expected)


def _is_canonical(number: Decimal) -> bool:
    return str(number) == "0" if not number else number.as_tuple().digits[-1] != 0


def _difference(one: DrawnFormula, given: Mapping[str, Any], computed: Any, expected: Any) -> str:
    return f"{one.text}\n  of {given}\n  is {computed}, not {expected}"


_AT_ONCE: Final = 100
"""Seeds that a process is given at a time."""


def compare_all(seeds: range, jobs: int) -> tuple[Compared, list[str]]:
    """Compare many in so many processes; return the totals and the differences, each with the command that repeats it."""
    seen: Counter[str] = Counter()
    values, differences = 0, []
    with forked(jobs) as pool:
        for seed, found in zip(seeds, pool.imap(compare, seeds, _AT_ONCE), strict=True):
            values += found.values
            seen.update(found.seen)
            if found.difference is not None:
                differences.append(f"{found.difference}\n  {replay(seed)}")
    return Compared(values, seen), differences


def replay(seed: int) -> str:
    """Return the command that compares a seed again."""
    return f"./dev python -m devtools.proof.formulas --seed {seed}"
