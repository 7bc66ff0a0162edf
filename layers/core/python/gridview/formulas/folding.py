"""Arithmetic of numbers in a formula, computed once instead of for each document. Pure."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from gridview.formulas.numbers import BEYOND_RANGE, BY_ZERO, FIELD
from gridview.formulas.tree import Expression

ARITHMETIC: Mapping[str, Callable[..., Any]] = {
    "+": FIELD.add,
    "-": FIELD.subtract,
    "*": FIELD.multiply,
    "/": FIELD.divide,
    "minus": FIELD.minus,
}
"""The operators of numbers."""


def folded(tree: Expression) -> Expression:
    """Return the tree with each operation on literal numbers as its result. One without a value stays.

    All literal numbers become decimals: a context would convert an int each time that it computes with it.
    """
    if tree.kind == "n":
        return tree._replace(value=Decimal(tree.value))
    if not tree.parts:
        return tree
    parts = tuple(map(folded, tree.parts))
    if tree.kind in ARITHMETIC and all(one.kind == "n" for one in parts):
        try:
            return Expression("n", tree.type, ARITHMETIC[tree.kind](*(one.value for one in parts)))
        except (*BEYOND_RANGE, *BY_ZERO):
            pass  # as it is for every document
    return tree._replace(parts=parts)
