"""The tokens of a formula's text, each with its place. Pure."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from gridview.encoding.values import json_number, parse_number
from gridview.formulas.errors import FormulaError

MAX_FORMULA_LENGTH = 8_192
"""Characters (code points) of the text of a formula."""

END = "end"

_SPACE = re.compile(r"[ \t\r\n\u00a0]*")
_TOKEN = re.compile(
    r"(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"""|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
    r"|(?P<field>\{(?:[^}\\]|\\.)*\})"
    r"|(?P<sign><=|>=|<>|!=|[-+*/&=<>(),])",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_OF_TEXT = {"\\": "\\", '"': '"', "'": "'", "n": "\n", "t": "\t", "r": "\r"}
_OF_FIELD = {"\\": "\\", "}": "}"}
_OPEN = {
    '"': 'The text has no closing ". Add it, or write \\" for a quote inside a text.',
    "'": "The text has no closing '. Add it, or write \\' for a quote inside a text.",
    "{": "The field has no closing }. Add it, or write \\} for a brace in its name.",
}


class Token(NamedTuple):
    """One token; `kind` is number, name, text, field, end, or the sign itself. `<>` is the sign `!=`."""

    kind: str
    position: int
    value: Any = None


def tokens(source: str) -> Iterator[Token]:
    """Return the tokens of a formula; the last is of the kind `end`. FormulaError."""
    if len(source) > MAX_FORMULA_LENGTH:
        raise FormulaError(
            MAX_FORMULA_LENGTH, f"The formula is longer than {MAX_FORMULA_LENGTH:,} characters. Shorten it."
        )
    at = _after_space(source, 0)
    while at < len(source):
        found = _TOKEN.match(source, at)
        if found is None:
            reason = _OPEN.get(
                source[at], "This character has no meaning here. Put texts in quotes and fields in braces."
            )
            raise FormulaError(at, reason)
        yield _token(str(found.lastgroup), found[0], at)
        at = _after_space(source, found.end())
    yield Token(END, len(source))


def _after_space(source: str, at: int) -> int:
    space = _SPACE.match(source, at)
    return space.end() if space else at


def _token(kind: str, text: str, at: int) -> Token:
    match kind:
        case "number":
            return Token(kind, at, _number(text, at))
        case "name":
            return Token(kind, at, text.upper())
        case "text":
            return Token(kind, at, _unescaped(text, at, _OF_TEXT))
        case "field":
            return Token(kind, at, _unescaped(text, at, _OF_FIELD))
    return Token("!=" if text == "<>" else text, at)


def _number(text: str, at: int) -> Decimal:
    whole = text.lstrip("0")
    try:
        return parse_number(json_number(whole if whole[:1].isdigit() else f"0{whole}"))
    except ValueError as error:
        raise FormulaError(at, f"The number {error}.") from None


def _unescaped(text: str, at: int, escapes: dict[str, str]) -> str:
    """Return what is between the quotes or braces."""

    def character(found: re.Match[str]) -> str:
        if found[1] not in escapes:
            known = ", ".join(f"\\{one}" for one in escapes)
            raise FormulaError(
                at + 1 + found.start(), f"This escape is unknown. Write one of {known}; \\\\ is a backslash."
            )
        return escapes[found[1]]

    return _ESCAPE.sub(character, text[1:-1])
