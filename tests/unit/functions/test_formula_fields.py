"""Formulas as fields: defined, shown, queried, changed and deleted as an administrator sees it."""

from typing import Any

import pytest

from tests.support.cloud import Cloud
from tests.support.http import Client

TOTAL = "ROUND({cost} * {qty}, 2)"
ROWS = ((2, 5), (30, 1), (None, 4), (7, 3))
"""Cost and quantity of the issues 1 to 4: totals of 10, 30, none and 21."""


@pytest.fixture
def sales(api: Client, account: Cloud, project: str) -> str:
    """The path of a project with costs, quantities, their totals, and four issues."""
    for name in ("Cost", "Qty"):
        api.made(f"{project}/attributes", {"name": name, "type": "number"})
    for cost, qty in ROWS:
        api.made(f"{project}/issues", {"name": "x", "fields": {"cost": cost, "qty": qty}})
    add(api, project, "total", "number", TOTAL)
    settle(account)
    return project


def add(api: Client, project: str, attribute: str, kind: str, formula: str, **more: Any) -> Any:
    name = attribute.capitalize()
    body = {"id": attribute, "name": name, "type": kind, "formula": formula, **more}
    return api.made(f"{project}/attributes", body)


def settle(account: Cloud) -> None:
    account.derive()
    for _ in range(8):
        account.upkeep()
        account.derive()
    account.fold()


def grid(api: Client, project: str, **query: Any) -> list[Any]:
    answer = api.post(f"{project}/grid", query)
    assert answer.status == 200, answer.text
    rows: list[Any] = answer.body["rows"]
    return rows


def numbers(api: Client, project: str, **query: Any) -> list[int]:
    return [row["num"] for row in grid(api, project, **query)]


def totals(api: Client, project: str) -> list[Any]:
    return [row["fields"].get("total") for row in grid(api, project, columns=["total"])]


# Definitions


def test_a_formula_is_answered_with_present_names(api: Client, sales: str) -> None:
    path = f"{sales}/attributes/total"
    found = api.get(path).body
    assert (found["type"], found["formula"], found["uses"]) == (
        "number",
        "ROUND({Cost} * {Qty}, 2)",
        ["cost", "qty"],
    )
    api.patch(f"{sales}/attributes/cost", {"name": "Unit price"})
    assert api.get(path).body["formula"] == "ROUND({Unit price} * {Qty}, 2)"
    assert api.get(path).body["version"] == found["version"]
    assert "formula" not in api.get(f"{sales}/attributes/cost").body


@pytest.mark.parametrize(
    ("more", "wrong"),
    [
        ({"formula": "{cost} +"}, "formula"),
        ({"formula": "{nothing}"}, "formula"),
        ({"formula": "TODAY()"}, "formula"),
        ({"type": "text"}, "formula"),
        ({"type": "enum"}, "formula"),
        ({"required": True}, "formula"),
        ({"default": 1}, "formula"),
        ({"formula": ""}, "formula"),
        ({"formula": "1" * 8_193}, "formula"),
    ],
)
def test_a_formula_that_cannot_be_is_refused(
    api: Client, sales: str, more: dict[str, Any], wrong: str
) -> None:
    body = {"name": "Other", "type": "number", "formula": "{cost} * 2", **more}
    answer = api.post(f"{sales}/attributes", body)
    assert answer.kind == (400, "invalid-request")
    assert answer.errors.keys() == {wrong}


def test_an_error_of_a_formula_has_its_place(api: Client, sales: str) -> None:
    body = {"name": "Other", "type": "number", "formula": "{cost} * {nothing}"}
    assert api.post(f"{sales}/attributes", body).body["position"] == 9


def test_a_cycle_is_refused_with_its_path(api: Client, sales: str) -> None:
    add(api, sales, "net", "number", "{total} * 0.8")
    answer = api.patch(f"{sales}/attributes/total", {"formula": "{net} + {cost}"})
    assert answer.status == 400
    assert "Total → Net → Total" in answer.errors["formula"]


def test_a_stored_attribute_gets_no_formula_and_a_computed_one_no_setting_of_stored_ones(
    api: Client, sales: str
) -> None:
    assert api.patch(f"{sales}/attributes/cost", {"formula": "{qty}"}).errors.keys() == {"formula"}
    assert api.patch(f"{sales}/attributes/name", {"formula": "{qty}"}).errors.keys() == {"formula"}
    for setting in ({"required": True}, {"default": 1}):
        assert api.patch(f"{sales}/attributes/total", setting).errors.keys() == setting.keys()


# The check


def test_a_check_has_the_values_under_the_formulas_of_the_project(api: Client, sales: str) -> None:
    body = {"formula": "{total} / ({qty} - 5)", "nums": [4, 1, 3, 99]}
    checked = api.post(f"{sales}/formulas/check", body)
    assert checked.body["formula"] == "{Total} / ({Qty} - 5)"
    assert checked.body["values"] == [
        {"num": 4, "value": -10.5},
        {"num": 1, "value": None, "unavailable": "division-by-zero"},
        {"num": 3, "value": None},
    ]


def test_a_check_for_an_attribute_finds_what_its_change_would(
    api: Client, sales: str, account: Cloud
) -> None:
    add(api, sales, "net", "number", "{total} * 0.8")
    cycle = {"formula": "{net} + {cost}"}
    checked = api.post(f"{sales}/formulas/check", {**cycle, "attribute": "total"})
    changed = api.patch(f"{sales}/attributes/total", cycle)
    assert checked.status == changed.status == 400
    assert checked.errors == changed.errors
    assert checked.body["position"] == changed.body["position"]
    assert "Total → Net → Total" in checked.errors["formula"]
    other = {"formula": '"a text"', "attribute": "total"}
    assert api.post(f"{sales}/formulas/check", other).errors.keys() == {"formula"}, "its type is fixed"
    fine = {"formula": "{cost} + {qty}", "attribute": "total", "nums": [1]}
    answer = api.post(f"{sales}/formulas/check", fine).body
    assert answer["values"] == [{"num": 1, "value": 7}]
    assert api.get(f"{sales}/attributes/total").body["formula"] == "ROUND({Cost} * {Qty}, 2)", (
        "nothing is saved"
    )


def test_a_check_for_an_attribute_counts_its_nodes_once(api: Client, sales: str) -> None:
    """The formula that is checked takes the place of the present one: in a full project it may be as long."""
    long = " + ".join(["{cost}"] * 100)
    for at in range(5):
        add(api, sales, f"long{at}", "number", long, indexed=False)
    body = {"formula": long}
    assert api.post(f"{sales}/formulas/check", body).errors.keys() == {"formula"}
    assert api.post(f"{sales}/formulas/check", {**body, "attribute": "long0"}).status == 200


@pytest.mark.parametrize(
    ("more", "wrong"),
    [
        ({"attribute": "cost"}, "attribute"),
        ({"attribute": "none"}, "attribute"),
        ({"attribute": "state"}, "attribute"),
        ({"attribute": 1}, "attribute"),
        ({"formula": "{cost} *"}, "formula"),
        ({"type": "text"}, "formula"),
        ({"type": "user"}, "type"),
        ({"nums": [1, 1]}, "nums"),
        ({"nums": [*range(1, 22)]}, "nums"),
    ],
)
def test_a_check_of_something_else_is_refused(
    api: Client, sales: str, more: dict[str, Any], wrong: str
) -> None:
    answer = api.post(f"{sales}/formulas/check", {"formula": "{cost}", "nums": [1], **more})
    assert answer.kind == (400, "invalid-request")
    assert answer.errors.keys() == {wrong}


# Values


def test_rows_and_issues_have_the_values(api: Client, sales: str, account: Cloud) -> None:
    assert totals(api, sales) == [10, 30, None, 21]
    assert api.get(f"{sales}/issues/1").body["fields"] == {"cost": 2, "qty": 5, "total": 10}
    assert not any(
        "total" in str(item) or "a3" in item.get("fields", {}).get("M", {})
        for item in account.items()
        if item["PK"]["S"].startswith("issue-") and item["SK"]["S"].startswith("project-")
    )


def test_a_value_that_cannot_be_computed_says_why(api: Client, sales: str, account: Cloud) -> None:
    add(api, sales, "share", "number", "{cost} / ({qty} - 5)")
    settle(account)
    issue = api.get(f"{sales}/issues/1").body
    assert issue["unavailable"] == {"share": "division-by-zero"}
    assert "share" not in issue["fields"]
    assert "unavailable" not in api.get(f"{sales}/issues/3").body, "no value is no error"
    first, second, *_ = grid(api, sales, columns=["share"])
    assert first["unavailable"] == {"share": "division-by-zero"}
    assert "unavailable" not in second
    assert "unavailable" not in grid(api, sales, columns=["total"])[0]


def test_formulas_sort_filter_group_and_sum(api: Client, sales: str) -> None:
    up = [{"field": "total"}]
    assert numbers(api, sales, sort=up) == [1, 4, 2, 3]
    assert numbers(api, sales, sort=[{"field": "total", "direction": "desc", "nulls": "first"}]) == [
        3,
        2,
        4,
        1,
    ]
    assert numbers(api, sales, sort=up, columns=["name"]) == [1, 4, 2, 3], "the inputs are read for the check"
    assert numbers(api, sales, filter={"field": "total", "op": "gt", "value": 15}) == [2, 4]
    assert numbers(api, sales, filter={"field": "total", "op": "is_empty"}) == [3]
    summary = api.post(
        f"{sales}/summary", {"fields": [{"field": "total", "functions": ["sum", "count", "max"]}]}
    )
    assert summary.body["summaries"] == [{"field": "total", "count": 3, "sum": 61, "max": 30}]
    groups = api.post(f"{sales}/groups", {"by": ["total"]}).body["groups"]
    assert [one["count"] for one in groups] == [1, 1, 1, 1]
    assert api.get(f"{sales}/issues/4/row-number", query={"sort": "total"}).body["row_number"] == 1


def test_an_edit_of_an_input_moves_the_row(api: Client, sales: str, account: Cloud) -> None:
    written = api.patch(f"{sales}/issues/1", {"fields": {"qty": 50}})
    assert written.body["fields"]["total"] == 100
    account.derive()
    assert numbers(api, sales, sort=[{"field": "total"}]) == [4, 2, 1, 3]
    account.fold()
    assert numbers(api, sales, filter={"field": "total", "op": "gte", "value": 100}) == [1]
    history = api.get(f"{sales}/issues/1/history").body["items"]
    assert not any("total" in one["fields"] for one in history), "the history has the inputs"


def test_a_formula_that_is_not_indexed_is_computed_for_small_projects(api: Client, sales: str) -> None:
    add(api, sales, "half", "number", "{total} / 2", indexed=False)
    assert [row["fields"].get("half") for row in grid(api, sales)] == [5, 15, None, 10.5]
    assert numbers(api, sales, filter={"field": "half", "op": "lt", "value": 12}) == [1, 4]


def test_texts_dates_and_truth_are_indexed(api: Client, sales: str, account: Cloud) -> None:
    add(api, sales, "label", "text", 'IF({qty} > 3, "many pieces", "few")', search=True)
    add(api, sales, "large", "bool", "{total} > 20")
    add(api, sales, "due", "date", 'DATEADD(DATE(2024, 1, 31), {qty}, "day")')
    settle(account)
    assert numbers(api, sales, filter={"field": "label", "op": "has_words", "value": "pieces"}) == [1, 3]
    assert numbers(api, sales, filter={"field": "large", "op": "eq", "value": True}) == [2, 4]
    assert numbers(api, sales, sort=[{"field": "due"}]) == [2, 4, 3, 1]


# Writes


@pytest.mark.parametrize("value", [5, None])
def test_a_computed_value_cannot_be_written(api: Client, sales: str, value: Any) -> None:
    fields = {"fields": {"total": value}}
    refused = [
        api.post(f"{sales}/issues", {"name": "x", **fields}),
        api.patch(f"{sales}/issues/1", fields),
        api.post(f"{sales}/issues/update-matching", {"filter": None, "set": fields}),
    ]
    assert [one.kind for one in refused] == [(400, "computed-field")] * 3
    batch = api.post(f"{sales}/issues/batch", {"operations": [{"update": {"num": 1, **fields}}]})
    assert batch.body["results"][0]["problem"]["type"] == "computed-field"


def test_jobs_do_not_write_a_computed_field(api: Client, sales: str, account: Cloud) -> None:
    add(api, sales, "label", "text", '"total " & {total}')
    path = f"{sales}/issues/update-matching"
    copy = api.post(path, {"filter": None, "copy": {"from": "cost", "to": "total"}})
    replaced = api.post(path, {"filter": None, "replace": {"fields": ["label"], "find": "t", "with": "T"}})
    assert (copy.kind, replaced.kind) == ((400, "computed-field"), (400, "computed-field"))


# Another formula


def test_another_formula_is_served_when_its_index_is_built(api: Client, sales: str, account: Cloud) -> None:
    add(api, sales, "double", "number", "{total} * 2")
    add(api, sales, "half", "number", "{double} / 4")
    index = {"sort": [{"field": "state"}, {"field": "double", "direction": "desc"}]}
    api.made(f"{sales}/indexes", index)
    settle(account)
    changed = api.patch(f"{sales}/attributes/total", {"formula": "0 - {cost} * {qty}"})
    readers = [api.get(f"{sales}/attributes/{reader}").body for reader in ("double", "half")]
    composites = api.get(f"{sales}/indexes").body["items"]
    builds = [one["build"] and one["build"]["state"] for one in (changed.body, *readers, *composites)]
    assert builds == ["rebuilding"] * 4
    api.patch(f"{sales}/issues/1", {"fields": {"qty": 20}})
    account.derive()
    assert totals(api, sales) == [40, 30, None, 21], "as before, until the index is built"
    for reader in ("double", "half"):
        assert numbers(api, sales, sort=[{"field": reader}]) == [4, 2, 1, 3]
    assert numbers(api, sales, **index) == [1, 2, 4, 3]
    settle(account)
    assert api.get(f"{sales}/attributes/total").body["build"] is None
    assert totals(api, sales) == [-40, -30, None, -21]
    for reader in ("double", "half"):
        assert numbers(api, sales, sort=[{"field": reader}]) == [1, 2, 4, 3]
    assert numbers(api, sales, **index) == [4, 2, 1, 3]


def test_a_composite_index_keeps_the_formula_it_was_built_under(
    api: Client, sales: str, account: Cloud
) -> None:
    add(api, sales, "double", "number", "{total} * 2", indexed=False)
    index = {"sort": [{"field": "state"}, {"field": "double"}]}
    api.made(f"{sales}/indexes", index)
    settle(account)
    api.patch(f"{sales}/attributes/double", {"formula": "0 - {total}"})
    api.patch(f"{sales}/issues/1", {"fields": {"qty": 20}})
    account.derive()
    account.fold()
    assert numbers(api, sales, **index) == [4, 2, 1, 3], "in the former order, until the index is built"
    settle(account)
    assert numbers(api, sales, **index) == [1, 2, 4, 3]


@pytest.mark.parametrize(
    ("formula", "value"),
    [(" & ".join(["{name}"] * 100), "x" * 100), ("IF(FALSE(), 1, " * 49 + "2" + ")" * 49, "2")],
    ids=["long", "deep"],
)
def test_a_formula_of_many_levels(api: Client, sales: str, account: Cloud, formula: str, value: str) -> None:
    kind = "text" if "name" in formula else "number"
    made = add(api, sales, "many", kind, formula)
    assert made["formula"] == formula.replace("name", "Name")
    settle(account)
    assert {str(row["fields"]["many"]) for row in grid(api, sales, columns=["many"])} == {value}


def test_the_same_formula_changes_nothing(api: Client, sales: str) -> None:
    path = f"{sales}/attributes/total"
    before = api.get(path).body
    assert api.patch(path, {"formula": "ROUND( {cost}*{qty},2 )"}).body == before


def test_former_formulas_are_forgotten_when_no_index_needs_them(
    api: Client, sales: str, account: Cloud
) -> None:
    for formula in ("{cost}", "{qty}", "{cost} + {qty}"):
        api.patch(f"{sales}/attributes/total", {"formula": formula})
    settle(account)
    assert totals(api, sales) == [7, 31, None, 10]
    (item,) = [one for one in account.items() if one["SK"]["S"].endswith(".total")]
    assert len(item["formulas"]["L"]) == 1


# Fields and options in use


def test_a_field_in_use_cannot_be_deleted(api: Client, sales: str, account: Cloud) -> None:
    add(api, sales, "net", "number", "{total} * 0.8")
    for field, readers in (("cost", ["total"]), ("total", ["net"])):
        answer = api.delete(f"{sales}/attributes/{field}")
        assert answer.status == 409
        assert answer.kind == (409, "field-in-use")
        assert answer.body["dependents"] == readers
    assert api.delete(f"{sales}/attributes/net").status == 204
    hidden = api.delete(f"{sales}/attributes/total")
    assert hidden.status == 409
    assert hidden.kind == (409, "field-in-use")
    assert hidden.body["dependents"] == ["net"], "a deleted formula can be restored"
    assert api.delete(f"{sales}/deleted-attributes/net").status == 204
    assert api.delete(f"{sales}/attributes/total").status == 204


def test_an_option_in_use_cannot_be_dropped(api: Client, sales: str) -> None:
    body = {"name": "Level", "type": "enum", "options": ["low", "high", "top"]}
    api.made(f"{sales}/attributes", body)
    add(api, sales, "urgent", "bool", '{level} = "high"')
    add(api, sales, "closed", "bool", '{state} = "closed"')
    answer = api.patch(f"{sales}/attributes/level", {"options": ["low"]})
    assert answer.kind == (409, "field-in-use")
    assert answer.body["dependents"] == ["urgent"]
    assert api.patch(f"{sales}/attributes/level", {"options": ["low", "high"]}).status == 200
    assert api.patch(sales, {"states": ["open"]}).kind == (409, "field-in-use")


def test_a_deleted_formula_comes_back_with_its_values(api: Client, sales: str, account: Cloud) -> None:
    assert api.delete(f"{sales}/attributes/total").status == 204
    assert "total" not in api.get(f"{sales}/issues/1").body["fields"]
    api.patch(f"{sales}/issues/1", {"fields": {"qty": 20}})
    account.derive()
    api.post(f"{sales}/deleted-attributes/total/restore")
    assert numbers(api, sales, sort=[{"field": "total"}]) == [4, 2, 1, 3]
    assert totals(api, sales)[0] == 40
