"""The syntax of a formula: what its text says, before fields and types are known. Pure.

A comparison binds least, then `&`, then `+` and `-`, then `*` and `/`, then the minus sign. Operators of the same
rank bind from left to right.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from gridview.formulas.errors import FormulaError
from gridview.formulas.lexer import END, Token, tokens

MAX_NODES = 200
"""Fields, values, functions and operators of one formula."""
MAX_NESTING = 50
"""Levels of functions and operators within each other."""

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
RANKS = {**dict.fromkeys(COMPARISONS, 1), "&": 2, "+": 3, "-": 3, "*": 4, "/": 4}
"""Binary operators with their ranks; a higher one binds more."""
MINUS = "minus"
"""The kind of the minus sign before a value. Names of functions are in upper case."""
MINUS_RANK = 5
CONSTANTS = {"TRUE": True, "FALSE": False, "BLANK": None}
"""Functions without parameters, which can also be written without parentheses."""


class Syntax(NamedTuple):
    """A part of a formula. `kind` is number, text, field, constant, or the name of an operator or a function."""

    kind: str
    position: int
    value: Any = None
    parts: tuple["Syntax", ...] = ()


def parse(source: str) -> Syntax:
    """Return the syntax of a formula. FormulaError."""
    return _Parser(tokens(source)).whole()


class _Parser:
    def __init__(self, coming: Iterator[Token]) -> None:
        self._coming = coming
        self._next = next(coming)
        self._nodes = 0
        self._depth = 0

    def whole(self) -> Syntax:
        if self._next.kind == END:
            raise FormulaError(0, "The formula is empty.")
        syntax = self._expression(0)
        if self._next.kind != END:
            raise self._unexpected("an operator")
        return syntax

    def _expression(self, rank: int) -> Syntax:
        """Return the longest expression whose operators bind more than a rank."""
        left = self._operand()
        while RANKS.get(self._next.kind, 0) > rank:
            sign = self._take()
            right = self._nested(RANKS[sign.kind])
            left = self._node(sign.kind, sign.position, None, (left, right))
        return left

    def _nested(self, rank: int) -> Syntax:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise FormulaError(
                self._next.position, f"The formula is nested deeper than {MAX_NESTING} levels. Simplify it."
            )
        inner = self._expression(rank)
        self._depth -= 1
        return inner

    def _operand(self) -> Syntax:
        token = self._take()
        match token.kind:
            case "number" | "text" | "field":
                return self._node(token.kind, token.position, token.value)
            case "-":
                # Its operand begins here; operators after it bind less.
                return self._node(MINUS, token.position, None, (self._nested(MINUS_RANK),))
            case "(":
                inner = self._nested(0)
                self._expect(")")
                return inner
            case "name":
                return self._call(token)
        self._next = token
        raise self._unexpected("a value, a field or a function")

    def _call(self, name: Token) -> Syntax:
        if name.value in CONSTANTS:
            if self._next.kind == "(":
                self._take()
                self._expect(")")
            return self._node("constant", name.position, CONSTANTS[name.value])
        if self._next.kind != "(":
            reason = f"{name.value} is no field and no value. Write fields in braces, texts in quotes, functions with (."
            raise FormulaError(name.position, reason)
        self._take()
        parts: list[Syntax] = []
        while self._next.kind != ")" or parts:
            parts.append(self._nested(0))
            if self._next.kind != ",":
                break
            self._take()
        self._expect(")")
        return self._node(name.value, name.position, None, tuple(parts))

    def _node(self, kind: str, position: int, value: Any = None, parts: tuple[Syntax, ...] = ()) -> Syntax:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise FormulaError(
                position,
                f"The formula has more than {MAX_NODES} fields, values, functions and operators. Split it.",
            )
        return Syntax(kind, position, value, parts)

    def _take(self) -> Token:
        token = self._next
        if token.kind != END:
            self._next = next(self._coming)
        return token

    def _expect(self, kind: str) -> None:
        if self._next.kind != kind:
            raise self._unexpected("a comma or )" if kind == ")" else kind)
        self._take()

    def _unexpected(self, expected: str) -> FormulaError:
        found = "The formula ends here" if self._next.kind == END else "This does not fit here"
        return FormulaError(self._next.position, f"{found}, but {expected} is expected.")
