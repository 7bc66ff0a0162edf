"""Mutations of syntax trees: the places that a pattern matches, their replacements, and refusals."""

import ast

import pytest

from devtools.failure import Failure
from devtools.proof.mutation import Mutation

MODULE = """
LIMIT = 5.0

class Box:
    def put(self, item, unchanged):
        '''Put it.'''
        self.table.put(item, unchanged(self.read), consistent=True)
        self.count += 1
        if item is None or item.gone and not self.kept:
            return None
        return [*self.items, item]

def put(table):
    for one in table:
        table.put(one)
"""


def body(of: str) -> str:
    return ast.unparse(ast.parse(of))


MUTATIONS = {
    "a constant of the module": ("x", "LIMIT = HERE", "6.0", "LIMIT = 5.0", "LIMIT = 6.0"),
    "an argument, with the others open": (
        "x:Box.put",
        "_.put(..., consistent=HERE)",
        "False",
        "=True",
        "=False",
    ),
    "an argument away": (
        "x:Box.put",
        "_.put(_, (HERE := unchanged(_)), ...)",
        "",
        ", unchanged(self.read)",
        "",
    ),
    "a keyword away": ("x:Box.put", "_.put(..., consistent=HERE)", "", ", consistent=True", ""),
    "a condition away": (
        "x:Box.put",
        "_ is None or (HERE := _ and _)",
        "",
        " or (item.gone and (not self.kept))",
        "",
    ),
    "a statement away": ("x:Box.put", "self.count += _", "", "        self.count += 1\n", ""),
    "a call away, and a body that is empty then": (
        "x:put",
        "_.put(X)",
        "",
        "        table.put(one)",
        "        pass",
    ),
    "two statements the other way round": (
        "x:Box.put",
        "A\nX += Y",
        "X += Y\nA",
        "        self.table.put(item, unchanged(self.read), consistent=True)\n        self.count += 1\n",
        "        self.count += 1\n        self.table.put(item, unchanged(self.read), consistent=True)\n",
    ),
    "a statement, whatever is in it": (
        "x:Box.put",
        "if _: ...",
        "",
        "        if item is None or (item.gone and (not self.kept)):\n            return None\n",
        "",
    ),
    "parts that represent themselves": (
        "x:Box.put",
        "[*X, Y]",
        "[Y, *X]",
        "[*self.items, item]",
        "[item, *self.items]",
    ),
    "a raise in the place of a call": ("x:put", "_.put(X)", "raise X", "table.put(one)", "raise one"),
}


@pytest.mark.parametrize(
    ("place", "pattern", "instead", "before", "after"), MUTATIONS.values(), ids=MUTATIONS
)
def test_a_part_is_replaced_and_nothing_else(
    place: str, pattern: str, instead: str, before: str, after: str
) -> None:
    plain = body(MODULE)
    assert plain.count(before) == 1
    changed = Mutation(place, pattern, instead).spoilt(MODULE)
    compile(changed, "x", "exec")
    assert ast.unparse(changed) == plain.replace(before, after)


@pytest.mark.parametrize(
    ("place", "pattern", "instead"),
    [
        ("x:Box.put", "_.get(_)", "None"),  # no place
        ("x", "_.put(...)", "None"),  # two places
        ("x:Box.get", "_", "None"),  # no such function
        ("x:Box.put", "X += Y", "X += Y"),  # no change
        ("x:Box.put", "_.put(_, X, consistent=X)", "None"),  # one letter for two things
        ("x:Box.put", "_.put(_)", "None"),  # more arguments than that
    ],
)
def test_a_mutation_with_no_single_place_or_no_change_is_refused(
    place: str, pattern: str, instead: str
) -> None:
    with pytest.raises(Failure):
        Mutation(place, pattern, instead).spoilt(MODULE)
