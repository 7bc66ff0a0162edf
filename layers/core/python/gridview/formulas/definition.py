"""The definition of a formula: from its text to a formula that a field can have, within the limits. Pure."""

import unicodedata
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gridview.formulas import functions
from gridview.formulas.checking import checked, noun
from gridview.formulas.errors import FormulaError
from gridview.formulas.formula import Formula
from gridview.formulas.functions import fits
from gridview.formulas.lexer import Token, tokens
from gridview.formulas.parser import MAX_NODES, parse
from gridview.formulas.scope import FormulaScope
from gridview.formulas.tree import RESULTS, ValueType

MAX_EXPANDED = 500
"""Nodes of one formula, with those of the formulas that it reads wherever it reads them."""
MAX_EXPANDED_OF_PROJECT = 1_000
"""Nodes of all formulas of a project, expanded."""
MAX_FORMULA_DEPTH = 5
"""Formulas on formulas: one that reads stored fields only has depth 1."""


class Cycle(Exception):
    """A formula reads itself. `path`: internal keys from a field to itself, each reading the next."""

    def __init__(self, path: tuple[str, ...]) -> None:
        super().__init__(path)
        self.path = path


class Expansion(NamedTuple):
    """A formula with the formulas that it reads: its nodes, and how deep it reads formulas on formulas."""

    nodes: int
    depth: int


def define(
    source: str, scope: FormulaScope, *, key: str | None = None, wanted: ValueType | None = None
) -> Formula:
    """Return the formula of a text. FormulaError.

    `key`: the internal key of its field if that exists; `wanted`: the type of the field. Without it, the type is that of
    the formula.
    """
    syntax = parse(source)
    tree = checked(syntax, scope)
    if tree.type not in RESULTS:
        reason = "never has a value" if tree.type is ValueType.NONE else f"is {noun(tree.type)}"
        raise FormulaError(
            syntax.position,
            f"The formula {reason}. A formula is a text, a number, a date, a datetime, or true or false.",
        )
    if wanted is not None and not fits(tree.type, wanted):
        raise FormulaError(
            syntax.position,
            f"The formula is {noun(tree.type)}, but the type of the field is {wanted}. Change one of them.",
        )
    formula = Formula(tree, wanted or tree.type, functions.VERSION, unicodedata.unidata_version)
    if formula.nodes > MAX_NODES:
        raise FormulaError(
            0,
            f"The formula counts as {formula.nodes} nodes (SQRT and POWER as five each), of at most {MAX_NODES}. Split it.",
        )
    _check_expansion(source, formula, scope, key)
    return formula


_NEW = ""
"""The key of a formula whose field does not exist yet."""


def _check_expansion(source: str, formula: Formula, scope: FormulaScope, key: str | None) -> None:
    others = {one.key: one.formula for one in scope.by_key.values() if one.formula is not None}
    own = _NEW if key is None else key
    formulas = {**others, own: formula}
    try:
        found = expansions(formulas)
    except Cycle as cycle:
        path = _turned(cycle.path, own)
        names = " → ".join(map(scope.label, path))
        raise FormulaError(
            _place_of(source, scope, path[1]), f"The formula reads itself: {names}. Break the cycle."
        ) from None
    for at, one in found.items():
        name = "The formula" if at == own else f"With this, the formula of {scope.label(at)}"
        if one.depth > MAX_FORMULA_DEPTH:
            raise FormulaError(
                0,
                f"{name} reads formulas on formulas to depth {one.depth}, of at most {MAX_FORMULA_DEPTH}. Read stored fields.",
            )
        if one.nodes > MAX_EXPANDED:
            raise FormulaError(
                0,
                f"{name} has {one.nodes:,} nodes with the formulas that it reads, of at most {MAX_EXPANDED}. Shorten them.",
            )
    total = sum(one.nodes for one in found.values())
    if total > MAX_EXPANDED_OF_PROJECT:
        raise FormulaError(
            0,
            f"The project's formulas would have {total:,} nodes, of at most {MAX_EXPANDED_OF_PROJECT:,}. Shorten some.",
        )


def expansions(formulas: Mapping[str, Formula]) -> dict[str, Expansion]:
    """Return the expansion of each formula, by internal key of its field, those read by others first. Cycle."""
    found: dict[str, Expansion] = {}
    path: list[str] = []

    def expand(key: str) -> Expansion:
        if key in found:
            return found[key]
        if key in path:
            raise Cycle((*path[path.index(key) :], key))
        path.append(key)
        formula = formulas[key]
        read = [expand(one.value) for one in formula.tree.walk() if one.reads and one.value in formulas]
        path.pop()
        depth = 1 + max((one.depth for one in read), default=0)
        found[key] = Expansion(formula.nodes + sum(one.nodes for one in read), depth)
        return found[key]

    for key in formulas:
        expand(key)
    return found


def _turned(path: tuple[str, ...], own: str) -> tuple[str, ...]:
    """Return a cycle so that it begins and ends with a field in it."""
    at = path.index(own)
    return (*path[at:-1], *path[:at], own) if at else path


def _place_of(source: str, scope: FormulaScope, key: str) -> int:
    """Return the place of a field in the text of a formula."""
    fields: Iterable[Token] = (one for one in tokens(source) if one.kind == "field")
    for one in fields:
        known = scope.named(one.value)
        if known is not None and known.key == key:
            return one.position
    return 0
