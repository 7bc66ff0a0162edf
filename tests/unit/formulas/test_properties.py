"""Random typed formulas: values as the oracle's, printing and parsing come back, renaming changes nothing, no exception."""

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devtools.proof.formulas import comparing, oracle
from devtools.proof.formulas.__main__ import main
from gridview.formulas import evaluation
from gridview.formulas.definition import define
from gridview.formulas.errors import FormulaError
from gridview.formulas.evaluation import evaluators_of
from gridview.formulas.formula import Formula
from gridview.formulas.functions import FUNCTIONS, OPERATORS
from gridview.formulas.numbers import Unavailable
from gridview.formulas.printing import printed
from gridview.formulas.scope import FormulaScope
from tests.support.depth import one_of
from tests.support.formulas import DOCUMENT, SCOPE

SEEDS = one_of(200, thorough=2_000)


@pytest.mark.parametrize("first", range(0, SEEDS, 50))
def test_formulas_have_the_values_of_the_oracle(first: int) -> None:
    for seed in range(first, first + 50):
        assert comparing.compare(seed).difference is None


def test_the_oracle_computes_every_function_and_operator() -> None:
    here = {"NEG" if name == "minus" else name for name in {*FUNCTIONS, *OPERATORS}}
    assert set(oracle.functions()) == here
    seen: set[str] = set()
    for seed in range(SEEDS):
        seen |= comparing.compare(seed).seen.keys()
    assert here <= seen
    assert {"value", "no value", *Unavailable} <= seen


@pytest.mark.parametrize("seed", range(0, SEEDS, 8))
def test_renaming_changes_the_text_and_no_value(seed: int) -> None:
    drawn = comparing.project(seed)
    changing = random.Random(seed)  # noqa: S311 - the same names each time
    names = ["Same", "cost", "x } \\ {", "Ünïcode 漢字", "", '"']
    renamed = FormulaScope(
        replace(
            one,
            name=changing.choice(names) + changing.choice(("", one.key)),
            options={key: f"{value}\n}}\"'" for key, value in one.options.items()},
        )
        for one in drawn.scope.by_key.values()
    )
    for one in drawn.formulas:
        text = printed(one.formula.tree, renamed)
        again = define(text, renamed, key=one.field.key, wanted=one.formula.type)
        assert again == one.formula


@pytest.mark.parametrize("seed", range(0, SEEDS, 8))
def test_a_stored_formula_is_the_same(seed: int) -> None:
    drawn = comparing.project(seed)
    for one in drawn.formulas:
        assert Formula.from_item(one.formula.to_item()) == one.formula


@pytest.mark.parametrize("seed", range(0, SEEDS, 8))
def test_a_document_with_few_values_has_values_or_none(seed: int) -> None:
    drawn = comparing.project(seed)
    evaluators = evaluators_of({one.field.key: one.formula for one in drawn.formulas})
    documents: list[dict[str, Any]] = [{}, {"fields": {}}, comparing.documents(seed)[0]]
    for document in documents:
        for evaluate in evaluators.values():
            found = evaluate(document)
            assert found.unavailable is None or found.value is None
            assert found.value != ""


PIECES = [
    "(",
    ")",
    ",",
    "{",
    "}",
    '"',
    "'",
    "\\",
    "+",
    "-",
    "*",
    "/",
    "&",
    "=",
    "<",
    ">",
    "!",
    " ",
    "1",
    "0.5",
    "E",
    "\n",
]
WORDS = [
    "{cost}",
    "{note}",
    "{level}",
    "{labels}",
    "{owner}",
    '"High"',
    "BLANK()",
    "TRUE",
    *(f"{name}(" for name in FUNCTIONS),
]


@given(st.lists(st.sampled_from(PIECES + WORDS) | st.text(max_size=2), max_size=12).map("".join))
def test_any_text_is_a_formula_or_has_an_error_with_its_place(source: str) -> None:
    refusal: FormulaError | None = None
    try:
        formula = define(source, SCOPE)
    except FormulaError as error:
        refusal = error
    if refusal is not None:
        assert 0 <= refusal.position <= len(source)
        assert refusal.reason.endswith(".")
        return
    evaluators_of({"a99": formula})["a99"](DOCUMENT)
    assert define(printed(formula.tree, SCOPE), SCOPE) == formula


def test_a_difference_is_reported_with_the_command_that_repeats_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["formulas", "--seed", "7", "--jobs", "1"])
    assert main() == 0
    assert "12 values of 3 formulas, 0 differences" in capsys.readouterr().out
    monkeypatch.setattr(oracle, "value_of", lambda *_: (None, "a reason"))
    assert main() == 1
    assert "./dev python -m devtools.proof.formulas --seed 7" in capsys.readouterr().out
    monkeypatch.setattr(evaluation.Evaluator, "__call__", lambda *_: 1 / 0)
    assert "raises ZeroDivisionError" in (comparing.compare(7).difference or "")
