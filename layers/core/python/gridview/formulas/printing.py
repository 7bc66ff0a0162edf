"""The text of a formula, with the present names of fields and options. Parsing it gives the same tree. Pure."""

from gridview.encoding.values import number_json
from gridview.formulas.parser import MINUS, MINUS_RANK, RANKS
from gridview.formulas.scope import FormulaScope
from gridview.formulas.tree import Expression

_TEXT = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"})
_FIELD = str.maketrans({"\\": "\\\\", "}": "\\}"})
_CONSTANTS = {True: "TRUE()", False: "FALSE()"}


def printed(tree: Expression, scope: FormulaScope) -> str:
    """Return the text of a formula."""
    return _printed(tree, scope, 0)


def field_printed(name: str) -> str:
    """Return a field in braces."""
    return f"{{{name.translate(_FIELD)}}}"


def _printed(tree: Expression, scope: FormulaScope, rank: int) -> str:
    """Return a part, in parentheses if it binds less than a rank."""
    match tree.kind:
        case "f" | "g":
            return field_printed(scope.label(tree.value))
        case "n":
            return number_json(tree.value)
        case "t" | "u":
            return _quoted(tree.value)
        case "o":
            return _quoted(_option(tree, scope))
        case "b":
            return _CONSTANTS[tree.value]
        case "z":
            return "BLANK()"
        case _ if tree.kind == MINUS:
            return f"-{_printed(tree.parts[0], scope, MINUS_RANK)}"
    if tree.kind in RANKS:
        own = RANKS[tree.kind]
        left, right = (_printed(part, scope, own + at) for at, part in enumerate(tree.parts))
        text = f"{left} {tree.kind} {right}"
        return f"({text})" if own < rank else text
    return f"{tree.kind}({', '.join(_printed(part, scope, 0) for part in tree.parts)})"


def _option(tree: Expression, scope: FormulaScope) -> str:
    known = scope.by_key.get(tree.value.field)
    options = {} if known is None else known.options
    return options.get(tree.value.option, tree.value.option)


def _quoted(text: str) -> str:
    return f'"{text.translate(_TEXT)}"'
