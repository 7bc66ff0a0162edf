"""The plan of an import for a file."""

import json
from typing import Any

import pytest

from devtools.failure import Failure
from devtools.importer.inference import profile
from devtools.importer.plan import (
    MAX_ISSUE,
    Plan,
    RowRefusedError,
    Types,
    make_plan,
    parse_types,
    project_id_from,
)
from devtools.importer.source import Cell, Row
from gridview.schema.fields import FieldType


def rows(columns: dict[str, list[Any]]) -> list[Row]:
    return [
        Row(number, dict(zip(columns, cells, strict=True)))
        for number, cells in enumerate(zip(*columns.values(), strict=True), 1)
    ]


def plan(columns: dict[str, list[Any]], types: Types | None = None, **choices: Any) -> Plan:
    count, profiles = profile(rows(columns))
    return make_plan(count, profiles, types=types or {}, **choices)


def operation(made: Plan, cells: dict[str, Cell], number: int = 1) -> Any:
    return json.loads(made.operation(Row(number, cells)))["create"]


def test_reserved_and_colliding_names_get_a_suffix() -> None:
    made = plan(
        {c: ["1", "2"] for c in ("created", "updated", "num", "Sign Off", "sign-off", "Größe", "日本")}
    )
    assert [attribute.id for attribute in made.attributes] == [
        "created_2",
        "updated_2",
        "num_2",
        "sign_off",
        "sign_off_2",
        "groe",
        "attribute",
    ]
    assert made.attributes[0].column == "created"


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        ({"id": ["a"], "Title": ["x"], "name": ["y"]}, "Title"),
        ({"title": [""], "name": ["y"]}, "name"),
        ({"n": ["1"], "label": ["x"], "other": ["y"]}, "label"),
        ({"gaps": ["x", ""], "whole": ["x", "y"]}, "whole"),
        ({"n": ["1"], "d": ["2024-01-01"]}, None),
    ],
)
def test_default_name_column(columns: dict[str, list[str]], name: str | None) -> None:
    assert plan(columns).name_column == name


def test_without_a_name_column_rows_are_named_by_their_number() -> None:
    assert operation(plan({"n": ["1"]}), {"n": "1"}, number=17) == {"name": "Row 17", "fields": {"n": "1"}}


def test_states_come_in_order_of_first_appearance() -> None:
    made = plan({"title": list("abcdefgh"), "Status": ["shut", "ajar", "shut", "ajar"] * 2})
    assert made.state_column == "Status"
    assert made.states == ("shut", "ajar")
    assert operation(made, {"title": "a", "Status": "ajar"}) == {"name": "a", "state": "ajar", "fields": {}}


@pytest.mark.parametrize("status", [["a", "b", "c", "d"], ["a", "a", "a", ""], ["1", "1", "1", "1"]])
def test_a_status_that_is_no_state_is_an_attribute(status: list[str]) -> None:
    made = plan({"title": list("abcd"), "status": status})
    assert made.state_column is None
    assert made.states == ()
    assert [attribute.id for attribute in made.attributes] == ["status"]


def test_a_state_column_named_by_hand_need_not_look_like_one() -> None:
    made = plan({"title": list("abc"), "phase": ["x", "y", ""]}, state_column="phase")
    assert made.states == ("x", "y")
    assert "state" not in operation(made, {"title": "a", "phase": ""})


def test_options_are_in_natural_order() -> None:
    made = plan({"title": list("abcd") * 3, "v": ["v1.10", "V1.9", "alpha"] * 4})
    assert made.attributes[0].options == ("alpha", "V1.9", "v1.10")


def test_types_file_overrides_and_skips() -> None:
    types = parse_types('{"n": "text", "zip": "enum", "x": "skip", "who": "user"}', "t.json")
    made = plan(
        {"title": list("ab"), "n": ["1", "2"], "zip": ["01", "02"], "x": ["y", "z"], "who": ["a", "b"]}, types
    )
    assert [(one.id, one.type.value) for one in made.attributes] == [
        ("n", "text"),
        ("zip", "enum"),
        ("who", "user"),
    ]
    assert made.left_out == (("x", "skipped, as the types file says"),)
    assert made.attributes[1].options == ("01", "02")


def test_values_of_another_than_the_forced_type_are_left_to_the_api() -> None:
    made = plan({"title": ["a"], "n": ["1"], "b": ["x"]}, {"n": FieldType.NUMBER, "b": FieldType.BOOL})
    assert operation(made, {"title": "a", "n": "one", "b": "maybe"})["fields"] == {"n": "one", "b": "maybe"}


def test_a_column_without_a_value_is_left_out_unless_named() -> None:
    assert plan({"title": ["a"], "e": [""]}).left_out == (("e", "has no value in any row"),)
    assert [one.type for one in plan({"title": ["a"], "e": [""]}, {"e": FieldType.DATE}).attributes] == [
        FieldType.DATE
    ]


def test_values_are_sent_in_the_api_forms() -> None:
    made = plan(
        {
            "title": ["t"] * 8,
            "n": ["1.50"] * 8,
            "at": ["2024-01-02 03:04"] * 8,
            "ok": ["Yes"] * 8,
            "tags": ["a;b"] * 8,
            "kind": ["None"] * 8,
        }
    )
    cells: dict[str, Cell] = {
        "title": " @t ",
        "n": " 1.50",
        "at": "2024-01-02 03:04",
        "ok": "no",
        "tags": "b;a",
        "kind": "None",
    }
    assert operation(made, cells) == {
        "name": " @t ",
        "fields": {
            "n": "1.50",
            "at": "2024-01-02T03:04:00Z",
            "ok": False,
            "tags": ["b", "a"],
            "kind": "None",
        },
    }


def test_rows_that_cannot_be_sent_say_why() -> None:
    made = plan({"title": ["a"], "t": ["x"]})
    refused: list[tuple[dict[str, Cell], str]] = [
        ({"title": "", "t": "x"}, "no value in 'title'"),
        ({"title": "a", "t": "\ud800"}, "surrogate"),
        ({"title": "a", "t": "x" * MAX_ISSUE}, "longer than"),
    ]
    for cells, reason in refused:
        with pytest.raises(RowRefusedError, match=reason):
            made.operation(Row(1, cells))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "is not JSON"),
        ("[]", "one JSON object"),
        ('{"a": "int"}', "the type of 'a' must be one of"),
        ('{"a": ["text"]}', "the type of 'a' must be one of"),
    ],
)
def test_a_wrong_types_file(content: str, sentence: str) -> None:
    with pytest.raises(Failure, match=sentence):
        parse_types(content, "t.json")


def test_choices_that_do_not_fit_the_file() -> None:
    columns = {"title": ["a"], "n": ["1"]}
    with pytest.raises(Failure, match=r"no column 'Titel'\. The columns are: title, n"):
        plan(columns, name_column="Titel")
    with pytest.raises(Failure, match="no column 'm'"):
        plan(columns, {"m": None})
    with pytest.raises(Failure, match="no rows"):
        plan({"title": []})
    with pytest.raises(Failure, match="401 attributes"):
        plan({f"c{n}": ["1"] for n in range(401)})


@pytest.mark.parametrize(
    ("file", "project"),
    [
        ("titanium_issues.csv", "titaniumissues"),
        ("a.csv.gz", "imported"),
        ("Ä.csv", "imported"),
        ("x" * 99 + ".csv", "x" * 32),
    ],
)
def test_project_id_from_a_file_name(file: str, project: str) -> None:
    assert project_id_from(file) == project


def test_columns_match_the_attributes_of_a_project_by_name_before_id() -> None:
    columns = ("Due", "due", "Cost (cost_2)", "cost", "Zip")
    made = plan({"title": list("ab"), **{column: ["1", "2"] for column in columns}})
    names = {"due": "Deadline", "due_2": "Due", "cost": "Cost", "cost_2": "Cost"}
    assert {one.column: one.id for one in made.matched(names).attributes} == {
        "Due": "due_2",
        "due": "due_3",
        "Cost (cost_2)": "cost_2",
        "cost": "cost",
        "Zip": "zip",
    }
    swapped = plan({"title": list("ab"), "Due": ["1", "2"], "Deadline": ["3", "4"]}).matched(names)
    assert operation(swapped, {"title": "a", "Due": "1", "Deadline": "3"})["fields"] == {
        "due_2": "1",
        "due": "3",
    }
    alone = plan({"title": list("ab"), "Due": ["1", "2"]}).matched({"due": "Deadline"})
    assert [one.id for one in alone.attributes] == ["due"]
