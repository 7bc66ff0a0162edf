"""The text of a formula, with the present names of fields and options. Parsing it gives the same tree. Pure."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from gridview.encoding.values import number_json
from gridview.formulas.lexer import MAX_FORMULA_LENGTH
from gridview.formulas.parser import MINUS, MINUS_RANK, RANKS
from gridview.formulas.scope import FormulaScope
from gridview.formulas.tree import Expression

_TEXT = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"})
_FIELD = str.maketrans({"\\": "\\\\", "}": "\\}"})
_CONSTANTS = {True: "TRUE()", False: "FALSE()"}


class _Style(NamedTuple):
    """How fields, texts and the space around operators are written."""

    label: Callable[[str], str]
    quoted: Callable[[str], str]
    space: str


def printed(tree: Expression, scope: FormulaScope) -> str:
    """Return the text of a formula. If it would be longer than a formula may be, it is as short as possible.

    Then it has ids where they are shorter than names, and no spaces.
    """
    text = _printed(tree, scope, _Style(scope.label, _quoted, " "), 0)
    if len(text) <= MAX_FORMULA_LENGTH:
        return text
    return _printed(tree, scope, _Style(partial(_shortest_label, scope), _shortest_quoted, ""), 0)


def field_printed(name: str) -> str:
    """Return a field in braces."""
    return f"{{{name.translate(_FIELD)}}}"


def _printed(tree: Expression, scope: FormulaScope, style: _Style, rank: int) -> str:
    """Return a part, in parentheses if it binds less than a rank."""
    match tree.kind:
        case "f" | "g":
            return field_printed(style.label(tree.value))
        case "n":
            return number_json(tree.value)
        case "t" | "u":
            return style.quoted(tree.value)
        case "o":
            return style.quoted(_option(tree, scope))
        case "b":
            return _CONSTANTS[tree.value]
        case "z":
            return "BLANK()"
        case _ if tree.kind == MINUS:
            return f"-{_printed(tree.parts[0], scope, style, MINUS_RANK)}"
    if tree.kind in RANKS:
        own = RANKS[tree.kind]
        parts = (_printed(part, scope, style, own + at) for at, part in enumerate(tree.parts))
        text = f"{style.space}{tree.kind}{style.space}".join(parts)
        return f"({text})" if own < rank else text
    return f"{tree.kind}({f',{style.space}'.join(_printed(part, scope, style, 0) for part in tree.parts)})"


def _shortest_label(scope: FormulaScope, key: str) -> str:
    known = scope.by_key.get(key)
    label = scope.label(key)
    return label if known is None else min(label, known.id, key=lambda one: len(field_printed(one)))


def _shortest_quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\")
    return min((quote + escaped.replace(quote, "\\" + quote) + quote for quote in "\"'"), key=len)


def _option(tree: Expression, scope: FormulaScope) -> str:
    known = scope.by_key.get(tree.value.field)
    options = {} if known is None else known.options
    return options.get(tree.value.option, tree.value.option)


def _quoted(text: str) -> str:
    return f'"{text.translate(_TEXT)}"'
