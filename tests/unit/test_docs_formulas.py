"""docs/formulas.md: the table of functions is that of the code, and every example and reason holds."""

import json
from decimal import Decimal
from typing import Any

import pytest

from gridview.encoding.values import datetime_json, parse_datetime
from gridview.formulas.checking import FUNCTIONS_ELSEWHERE
from gridview.formulas.definition import define
from gridview.formulas.evaluation import Computed, evaluator_of
from gridview.formulas.functions import FUNCTIONS
from gridview.formulas.numbers import Unavailable
from gridview.formulas.scope import FormulaInput, FormulaScope
from gridview.formulas.tree import ValueType
from tests.unit.test_docs import table_in, text_of

PAGE = "docs/formulas.md"
ISSUE = {name: (ValueType(kind), json.loads(value)) for name, kind, value in table_in(PAGE, "## Functions")}
OPTIONS = {"level": ("Low", "High"), "labels": ("steel", "paint"), "state": ("open", "closed")}
BUILTINS = {"name", "state", "created"}

SCOPE = FormulaScope(
    FormulaInput(name, name, name, kind, name in BUILTINS, {one: one for one in OPTIONS.get(name, ())})
    for name, (kind, _) in ISSUE.items()
)


def stored(kind: ValueType, value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Decimal(str(value))
    return parse_datetime(value) if kind is ValueType.DATETIME else value


VALUES = {name: stored(kind, value) for name, (kind, value) in ISSUE.items() if value is not None}
DOCUMENT = {**VALUES, "fields": {name: value for name, value in VALUES.items() if name not in BUILTINS}}


def rows_of(table: int) -> list[list[str]]:
    """The rows of a table of the section of functions."""
    section = text_of(PAGE).split("\n## Functions\n", 1)[1].split("\n## ", 1)[0]
    tables = [block for block in section.split("\n\n") if block.startswith("|")]
    return [[cell.strip() for cell in row[1:-1].split(" | ")] for row in tables[table].splitlines()[2:]]


def computed(source: str) -> Computed:
    return evaluator_of(define(source, SCOPE), {})(DOCUMENT)


def test_the_table_of_functions_is_that_of_the_code() -> None:
    rows = [[signature.strip("`"), summary.replace("`", "")] for signature, summary, _, _ in rows_of(1)]
    assert rows == [
        [f"{one.name}({one.parameters})", one.summary.replace("`", "")] for one in FUNCTIONS.values()
    ]


def test_the_page_completes_the_functions_of_the_code() -> None:
    known = json.loads(text_of("web/src/screens/settings/formula/functions.json"))
    assert known == [
        {"name": one.name, "parameters": one.parameters, "summary": one.summary.replace("`", "")}
        for one in FUNCTIONS.values()
    ]


@pytest.mark.parametrize("row", rows_of(1), ids=lambda row: row[0].partition("(")[0].strip("`"))
def test_the_example_of_a_function_has_its_value(row: list[str]) -> None:
    signature, _, example, expected = (cell.strip("`") for cell in row)
    assert f"{signature.partition('(')[0]}(" in example
    found = computed(example)
    assert found.unavailable is None
    value = f"{found.value:f}" if isinstance(found.value, Decimal) else found.value
    if isinstance(found.value, Decimal):
        assert value == expected
    elif isinstance(value, str) and value.endswith("Z"):
        assert json.loads(expected) == datetime_json(value)
    else:
        assert json.loads(expected) == value


def test_every_reason_has_an_example() -> None:
    rows = table_in(PAGE, "## Values that cannot be computed")
    assert [row[0] for row in rows] == list(Unavailable)
    for reason, _, example in rows:
        assert computed(example) == Computed(None, Unavailable(reason)), example


def test_the_names_of_elsewhere_are_those_of_the_hints() -> None:
    (row,) = (row for row in table_in(PAGE, "## Coming from elsewhere") if "CONCATENATE" in row[0])
    pairs = list(zip(row[0].split(", "), row[1].split(", "), strict=True))
    assert all(FUNCTIONS_ELSEWHERE[name] == here for name, here in pairs)
    assert set(FUNCTIONS_ELSEWHERE.values()) <= FUNCTIONS.keys()
    assert not FUNCTIONS_ELSEWHERE.keys() & FUNCTIONS.keys()


@pytest.mark.parametrize(
    "example",
    [
        "{first} & 1",
        "IF({qty} = 0, 0, {cost} / {qty})",
        'SWITCH({level}, "High", "urgent", "can wait")',
        '{level} = "High"',
    ],
)
def test_the_page_has_examples_in_its_text(example: str) -> None:
    if "{first}" not in example:
        assert f"`{example}`" in text_of(PAGE)
        assert computed(example).unavailable is None
