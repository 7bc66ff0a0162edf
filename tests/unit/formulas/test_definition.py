"""Formulas as they are stored and printed, what they use, and the limits and cycles of formulas on formulas."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from devtools.proof.faults.memory_table import nesting
from gridview.encoding.attribute_values import to_wire
from gridview.formulas import definition, functions
from gridview.formulas.checking import checked
from gridview.formulas.definition import (
    MAX_EXPANDED,
    MAX_EXPANDED_OF_PROJECT,
    MAX_FORMULA_DEPTH,
    Cycle,
    define,
    expansions,
)
from gridview.formulas.errors import FormulaError
from gridview.formulas.evaluation import evaluator_of, evaluators_of
from gridview.formulas.formula import Formula
from gridview.formulas.lexer import MAX_FORMULA_LENGTH
from gridview.formulas.parser import MAX_NODES, parse
from gridview.formulas.printing import field_printed, printed
from gridview.formulas.scope import FormulaInput, FormulaScope
from gridview.formulas.tree import ChosenOption, UnknownForm, ValueType
from tests.support.formulas import DOCUMENT, FIELDS, SCOPE, refused


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("round( {cost}*{Quantity} ,2)", "ROUND({Unit price} * {Quantity}, 2)"),
        ("((1+2))*3", "(1 + 2) * 3"),
        ("1+(2+3)", "1 + (2 + 3)"),
        ("(1+2)+3", "1 + 2 + 3"),
        ("1-(2*3)", "1 - 2 * 3"),
        ("-(1+2)", "-(1 + 2)"),
        ("-(-1)", "--1"),
        ("(-1)*2", "-1 * 2"),
        ('("a"&"b")="ab"', '"a" & "b" = "ab"'),
        ('"a"&("b"="ab")', '"a" & ("b" = "ab")'),
        ("1<>2", "1 != 2"),
        ("true=blank", "TRUE() = BLANK()"),
        (r"""'it\'s "x" \\ \n\t\r'""", r'''"it's \"x\" \\ \n\t\r"'''),
        ('"high"={code}', '"high" = {Code}'),
        ("{level}='a \"b\"'", '{Level} = "a \\"b\\""'),
        ('HAS({labels},"steel")', 'HAS({Labels}, "steel")'),
        ('{owner}="ANN"', '{Owner} = "ANN"'),
        ('dateadd({start},1,"DAYS")', 'DATEADD({Start}, 1, "day")'),
        ("1.50+1E2+1e-9+1e30", "1.5 + 100 + 1E-9 + 1E+30"),
        ("IF({done},1)", "IF({Done}, 1)"),
    ],
)
def test_a_formula_is_printed_with_present_names_and_printing_and_parsing_come_back(
    source: str, expected: str
) -> None:
    formula = define(source, SCOPE)
    assert printed(formula.tree, SCOPE) == expected
    assert define(expected, SCOPE) == formula


def test_a_field_with_a_brace_in_its_name_is_printed_with_an_escape() -> None:
    assert field_printed("a } b \\ {c") == r"{a \} b \\ {c}"


def renamed(changes: Mapping[str, str]) -> FormulaScope:
    return FormulaScope(replace(one, name=changes.get(one.id, one.name)) for one in FIELDS)


def test_renaming_changes_the_text_only() -> None:
    formula = define('IF({level} = "High", {cost}, {qty})', SCOPE)
    later = FormulaScope(
        replace(one, name=f"My {one.name}", options={key: f"{name}!" for key, name in one.options.items()})
        for one in FIELDS
    )
    assert printed(formula.tree, later) == 'IF({My Level} = "High!", {My Unit price}, {My Quantity})'
    assert define(printed(formula.tree, later), later) == formula


def test_a_name_that_does_not_name_its_field_is_printed_as_the_id() -> None:
    formula = define("{cost} + {qty}", SCOPE)
    assert printed(formula.tree, renamed({"cost": "qty"})) == "{cost} + {Quantity}"
    assert printed(formula.tree, renamed({"cost": "Same", "qty": "Same"})) == "{cost} + {qty}"
    assert printed(formula.tree, FormulaScope(())) == "{a1} + {a2}"


def test_an_option_that_is_gone_is_printed_as_its_id() -> None:
    formula = define('{level} = "High"', SCOPE)
    assert printed(formula.tree, FormulaScope(())) == '{a10} = "o2"'


def test_long_names_are_printed_as_ids_if_the_text_would_be_too_long() -> None:
    formula = define(" & ".join(["{name}", "{cost}"] * 20), SCOPE)
    long = renamed({"name": "x" * 250, "cost": "é" * 250})
    text = printed(formula.tree, long)
    assert text == "&".join(["{name}", "{cost}"] * 20)
    assert define(text, long) == formula


@pytest.mark.parametrize(
    "source",
    [
        '"' + "x" * 4_090 + '"&"' + "y" * 4_097 + '"',
        "'" + '"' * 4_090 + "'&\"" + "\n" * 4_097 + '"',
        'IF({cost}>1,"' + "'" * 4_096 + '","' + "\t" * 4_000 + '")',
    ],
    ids=["spaces", "quotes and lines", "function"],
)
def test_a_formula_as_long_as_it_may_be_is_printed_no_longer(source: str) -> None:
    assert len(source) <= MAX_FORMULA_LENGTH
    tree = checked(parse(source), SCOPE)
    assert printed(tree, SCOPE) == source


def test_the_stored_form() -> None:
    formula = define('IF(AND({level} = "Low", {owner} = "ann", TRUE), {name} & "x", BLANK())', SCOPE)
    stored = formula.to_item()
    assert {**stored, "tree": json.loads(stored["tree"])} == {
        "type": "text",
        "functions": 1,
        "unicode": formula.unicode,
        "tree": [
            "IF",
            [
                "AND",
                ["=", ["f", "a10", "enum"], ["o", "a10", "o1"]],
                ["=", ["f", "a12", "user"], ["u", "ann"]],
                ["b", True],
            ],
            ["&", ["g", "name", "text"], ["t", "x"]],
            ["z"],
        ],
    }
    assert Formula.from_item(stored) == formula
    assert define("-1.50", SCOPE).to_item()["tree"] == '["minus",["n","1.5"]]'
    assert define("1E30", SCOPE).to_item()["tree"] == '["n","1E+30"]'


@pytest.mark.parametrize(
    "source", [" & ".join(["{name}"] * 100), "IF(FALSE, 1, " * 49 + "2" + ")" * 49], ids=["long", "deep"]
)
def test_a_formula_of_many_levels_is_stored_flat(source: str) -> None:
    formula = define(source, SCOPE)
    assert nesting(to_wire(formula.to_item())) == 1
    assert Formula.from_item(formula.to_item()) == formula


def test_a_formula_of_a_later_release_is_not_guessed_at() -> None:
    stored = define("ABS(1)", SCOPE).to_item()
    with pytest.raises(UnknownForm):
        Formula.from_item({**stored, "functions": functions.VERSION + 1})
    with pytest.raises(UnknownForm):
        Formula.from_item({**stored, "tree": '["LATER",["n","1"]]'})


def test_what_a_formula_uses() -> None:
    formula = define('IF(HAS({labels}, "steel"), {name} & {cost}, IF({level} = "High", "x"))', SCOPE)
    assert formula.uses == {"a1", "a10", "a11", "name"}
    assert formula.options == {ChosenOption("a11", "o1"), ChosenOption("a10", "o2")}
    assert formula.nodes == 12
    assert define("SQRT(POWER({cost}, 2)) + 1", SCOPE).nodes == 14


def test_roots_and_powers_count_as_five_nodes() -> None:
    assert define(f"SUM({', '.join(['SQRT(1)'] * 33)})", SCOPE).nodes == 199
    assert refused(f"SUM({', '.join(['SQRT(1)'] * 34)})") == (
        0,
        f"The formula counts as 205 nodes (SQRT and POWER as five each), of at most {MAX_NODES}. Split it.",
    )


def project(*sources: str) -> FormulaScope:
    """A project with formulas f1, f2, …, each of which can read the ones before it."""
    fields = list(FIELDS)
    for at, source in enumerate(sources, 1):
        formula = define(source, FormulaScope(fields))
        fields.append(FormulaInput(f"a{100 + at}", f"f{at}", f"Formula {at}", formula.type, formula=formula))
    return FormulaScope(fields)


def formulas_of(scope: FormulaScope) -> dict[str, Formula]:
    return {one.key: one.formula for one in scope.by_key.values() if one.formula is not None}


def test_a_formula_reads_others() -> None:
    scope = project(
        "{cost} * {qty}",
        "{f1} + 1",
        '{f2} & "/" & {f1}',
        "1 / ({qty} - 3)",
        "IF({done}, 1, {f4})",
        "{f4} + 1",
    )
    evaluators = evaluators_of(dict(reversed(formulas_of(scope).items())))
    values = [evaluators[f"a10{at}"](DOCUMENT) for at in range(1, 7)]
    assert [str(one.value) for one in values] == ["37.5", "38.5", "38.5/37.5", "None", "1", "None"]
    assert [one.unavailable for one in values] == [
        None,
        None,
        None,
        "division-by-zero",
        None,
        "division-by-zero",
    ]


def test_a_formula_reads_the_value_that_the_field_has() -> None:
    long = "'" + "x" * 700 + "'"
    scope = project(f"{long} & {long}", "LEFT({f1}, 1)", "{start}")
    evaluators = evaluators_of(formulas_of(scope))
    assert evaluators["a101"](DOCUMENT).unavailable == "too-long"
    assert evaluators["a102"](DOCUMENT).unavailable == "too-long"
    widened = define("{start}", SCOPE, wanted=ValueType.DATETIME)
    fields = (*FIELDS, FormulaInput("a101", "f1", "F1", ValueType.DATETIME, formula=widened))
    reader = define("TEXT({f1})", FormulaScope(fields))
    assert evaluator_of(reader, evaluators_of({"a101": widened}))(DOCUMENT).value == "2024-01-31T00:00:00Z"


def test_a_number_is_read_without_trailing_zeros_and_a_text_without_value_as_empty() -> None:
    scope = project("{cost} * 4", "{f1} & {empty}", "IF({never}, 'x')", "{f3} & 'y'", "ISBLANK({f3})")
    evaluators = evaluators_of(formulas_of(scope))
    assert [evaluators[f"a10{at}"](DOCUMENT).value for at in (2, 3, 4, 5)] == ["50", None, "y", True]


def test_the_depth_of_formulas_on_formulas_has_an_end() -> None:
    scope = project("{cost}", *(f"{{f{at}}} + 1" for at in range(1, MAX_FORMULA_DEPTH)))
    assert expansions(formulas_of(scope))[f"a10{MAX_FORMULA_DEPTH}"].depth == MAX_FORMULA_DEPTH
    assert refused(f"{{f{MAX_FORMULA_DEPTH}}}", scope) == (
        0,
        "The formula reads formulas on formulas to depth 6, of at most 5. Read stored fields.",
    )
    deeper = project("{cost}", *(f"{{f{at}}} + 1" for at in range(1, MAX_FORMULA_DEPTH)), "{cost}")
    with pytest.raises(FormulaError) as refusal:
        define("{f6}", deeper, key="a101")
    assert refusal.value.reason == (
        "With this, the formula of Formula 5 reads formulas on formulas to depth 6, of at most 5. Read stored fields."
    )


def sum_of(count: int) -> str:
    """A formula of so many nodes."""
    return f"SUM({', '.join(['1'] * (count - 1))})"


def test_the_nodes_of_a_formula_count_with_those_that_it_reads() -> None:
    scope = project(sum_of(200))
    largest = "SUM({f1}, {f1}, " + ", ".join(["1"] * 97) + ")"
    formula = define(largest, scope)
    assert expansions({**formulas_of(scope), "x": formula})["x"].nodes == MAX_EXPANDED
    assert refused(largest.replace("SUM(", "SUM(1, "), scope) == (
        0,
        "The formula has 501 nodes with the formulas that it reads, of at most 500. Shorten them.",
    )


def test_the_formulas_of_a_project_have_at_most_so_many_nodes() -> None:
    scope = project(*[sum_of(200)] * 4, sum_of(100))
    assert define(sum_of(100), scope)
    assert refused(sum_of(101), scope) == (
        0,
        "The project's formulas would have 1,001 nodes, of at most 1,000. Shorten some.",
    )
    assert define(sum_of(200), scope, key="a105")
    assert MAX_EXPANDED_OF_PROJECT == 1_000


def test_a_cycle_is_refused_with_its_path_and_place() -> None:
    scope = project("{cost}", "{f1} + 1", "{f2} + 1")
    for source, position, path in (
        ("1 + {f1}", 4, "Formula 1 → Formula 1"),
        ("{cost} + {Formula 3}", 9, "Formula 1 → Formula 3 → Formula 2 → Formula 1"),
    ):
        with pytest.raises(FormulaError) as refusal:
            define(source, scope, key="a101")
        assert (refusal.value.position, refusal.value.reason) == (
            position,
            f"The formula reads itself: {path}. Break the cycle.",
        )
    assert define("{f2}", scope, key="a103")


def test_a_cycle_among_others_has_a_path() -> None:
    one, other = (define(source, project("{cost}", "{cost}")) for source in ("{f2}", "{f1}"))
    with pytest.raises(Cycle) as cycle:
        expansions({"a100": define("1", SCOPE), "a101": one, "a102": other})
    assert cycle.value.path == ("a101", "a102", "a101")


def test_the_path_of_a_cycle_begins_with_the_field_that_is_changed() -> None:
    for own, path in (("a", ("a", "b", "c", "a")), ("b", ("b", "c", "a", "b")), ("c", ("c", "a", "b", "c"))):
        assert definition._turned(("a", "b", "c", "a"), own) == path
