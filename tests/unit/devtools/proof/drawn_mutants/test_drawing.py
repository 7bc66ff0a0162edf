"""The mutants drawn from a module, their names, and the change of each."""

import ast
from collections.abc import Sequence

import pytest

from devtools.proof.drawn_mutants import sampling
from devtools.proof.drawn_mutants.drawing import Drawn, draw

FUNCTION = """
def work(self, one, other):
    '''Words of a docstring.'''
    {}
"""


def drawn(statement: str) -> list[str]:
    """The mutations of a function with this statement."""
    return [one.name.removeprefix("x:work ") for one in draw("x", FUNCTION.format(statement))]


CHANGES: dict[str, tuple[str, Sequence[str]]] = {
    "comparison": (
        "found = one < other",
        ["one < other => True", "one < other => False", "one < other => one <= other"],
    ),
    "number": ("found = 7", ["7 => 8", "7 => 6"]),
    "truth": ("found = True", ["True => False"]),
    "string": ("found = 'a'", ["'a' => 'a~'"]),
    "sentence": ("found = 'a b'", []),
    "condition": ("if self: raise one", ["self => True", "self => False"]),
    "loop": ("while self: one = other", ["self => True", "self => False"]),
    "filter": (
        "found = {each for each in one if each}",
        ["each => True", "each => False"],
    ),
    "parts of a condition": (
        "return one and other",
        [
            "one and other => True",
            "one and other => False",
            "one and other => one or other",
            "one and other => other",
            "one and other => one",
        ],
    ),
    "not": ("return not one", ["not one => True", "not one => False", "not one => one"]),
    "result": ("return one", ["return one => return None"]),
    "no result": ("return None", []),
    "no": ("return False", ["False => True"]),
    "yes": ("return True", ["return True => return None", "True => False"]),
    "call": ("one.put()", ["one.put() => nothing"]),
    "call of a value": ("found = sorted(one)", ["sorted(one) => one"]),
    "arguments": (
        "found = one(self, other)",
        ["other => None", "one(self, other) => one(other, self)"],
    ),
    "keyword": ("found = one(at=other)", ["other => None"]),
    "operands": ("found = one | other", ["one | other => one", "one | other => other"]),
    "annotation": ("found: Literal['a'] = cast('b', one)", []),
    "words of types": ("__slots__ = ('a', 1)", []),
}


@pytest.mark.parametrize(("statement", "changes"), CHANGES.values(), ids=CHANGES)
def test_a_statement_has_these_mutants_and_no_other(statement: str, changes: Sequence[str]) -> None:
    assert drawn(statement) == changes


MODULE = """
from dataclasses import dataclass

MOST = 5

@dataclass(frozen=True)
class Box:
    size: int = 3

    @property
    def full(self) -> bool:
        return self.size > 1

    @full.setter
    def full(self, value: bool) -> None:
        self.empty(2)

    def put(self, most=4):
        def inner():
            return [7, 7]
        return lambda: 8
"""


def named(start: str) -> Drawn:
    (found,) = [one for one in draw("x", MODULE) if one.name.startswith(start)]
    return found


@pytest.mark.parametrize(
    ("start", "place", "about"),
    [
        ("x: 5 => 6", "x", "MOST"),
        ("x:Box 3 => 4", "x", "size"),
        ("x:Box 4 => 5", "x", "put"),  # a default is there before any call
        ("x:Box.put.inner return [7, 7] => return None", "x:Box.put.inner", "inner"),
        ("x:Box.put 8 => 9", "x:Box.put", "put"),
        (
            "x:Box.full 2 => 3",
            "x",
            "full",
        ),  # which of the two functions of this name is changed, a swap could not know
    ],
)
def test_a_mutant_names_the_function_that_it_swaps(start: str, place: str, about: str) -> None:
    mutant = named(start)
    assert (mutant.place, mutant.about) == (place, about)
    assert (mutant.probe is None) == (about in ("MOST", "size") or start == "x:Box 4 => 5")


def test_equal_changes_of_a_function_each_change_their_own_part() -> None:
    changed = [
        ast.unparse(one.spoilt(MODULE))
        for one in draw("x", MODULE)
        if one.name.startswith("x:Box.put.inner 7 => 8")
    ]
    plain = ast.unparse(ast.parse(MODULE))
    assert changed == [plain.replace("[7, 7]", "[8, 7]"), plain.replace("[7, 7]", "[7, 8]")]


def test_each_mutant_has_its_own_name_and_changes_the_module() -> None:
    plain = ast.unparse(ast.parse(MODULE))
    mutants = draw("x", MODULE)
    assert len({one.name for one in mutants}) == len(mutants)
    for mutant in mutants:
        compile(changed := mutant.spoilt(MODULE), "x", "exec")
        assert ast.unparse(changed) != plain


def test_a_sample_has_some_of_each_module_and_changes_little_when_a_module_does() -> None:
    def module(name: str, count: int) -> list[Drawn]:
        return draw(name, f"def work():\n    return {list(range(count))}")

    drawn = [*module("a", 40), *module("b", 1)]
    some = sampling.sampled(drawn, 10, seed=1)
    assert some == sampling.sampled(drawn[::-1], 10, seed=1)
    assert some != sampling.sampled(drawn, 10, seed=2)
    assert {one.module for one in some} == {"gridview.a", "gridview.b"}
    more = sampling.sampled([*module("a", 41), *module("b", 1)], 10, seed=1)
    assert len({one.name for one in some} & {one.name for one in more}) >= 7


def test_each_mutant_that_may_live_is_one_and_has_a_reason() -> None:
    living = sampling.living()
    modules = {name.partition(":")[0] for name in living}
    assert living.keys() <= {mutant.name for module in modules for mutant in sampling.all_drawn(module)}
    assert all(living.values())
