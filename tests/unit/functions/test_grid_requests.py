"""Grid requests and the form of answers. (Other tests walk the orders themselves.)"""

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest

from gridview.query import planner
from tests.support import worked_example
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client

PATH = f"{worked_example.PATH}/grid"
BUILT_IN = ["name", "state", "created", "updated", "created_by", "updated_by"]
FIELDS = ["num", *BUILT_IN, "3812", "882a", "3fe6", "47e5"]


@pytest.fixture(scope="module")
def api(shared_account: Cloud) -> Client:
    """A viewer of the worked example, indexed. No test changes it."""
    worked_example.load(shared_account.api())
    shared_account.derive()
    return shared_account.api(role="viewer")


def as_query(body: dict[str, Any]) -> dict[str, str]:
    """The same request as query parameters."""
    texts: dict[str, Callable[[Any], str]] = {
        "columns": lambda value: ",".join(value),
        "cursor": str,
        "limit": str,
        "offset": str,
    }
    return {name: texts.get(name, json.dumps)(value) for name, value in body.items()}


def both(api: Client, body: dict[str, Any]) -> Answer:
    """The answer to a POST, which equals that to a GET."""
    posted = api.post(PATH, body)
    got = api.get(PATH, query=as_query(body))
    assert posted.status == got.status
    assert posted.timeless == got.timeless
    return posted


def nums(answer: Answer) -> list[int]:
    assert answer.status == 200, answer.text
    return [row["num"] for row in answer.body["rows"]]


def test_an_empty_request_is_all_issues_by_number(api: Client) -> None:
    answer = both(api, {})
    assert answer.body.keys() == {"rows", "next", "prev", "offset", "index", "changes_cursor"}
    assert nums(answer) == [1, 2, 3]
    assert (answer.body["next"], answer.body["prev"], answer.body["offset"]) == (None, None, 0)
    assert answer.body["rows"] == [api.get(f"{worked_example.PATH}/issues/{num}").body for num in (1, 2, 3)]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("nulls", ["first", "last"])
def test_every_field_sorts_in_both_directions(api: Client, field: str, direction: str, nulls: str) -> None:
    values = {
        "3812": {1: "2023-05-01", 2: "2023-05-02"},
        "882a": {1: "2023-06-01", 2: "2023-06-02"},
        "3fe6": {3: "42"},
        "47e5": {3: "Approved"},
        "name": {1: "needs", 2: "check", 3: "girder"},
        "state": {1: "0", 2: "1", 3: "0"},
    }.get(field, {1: "", 2: "", 3: ""})
    reverse = direction == "desc"
    expected = sorted(values, key=lambda num: (values[num], num), reverse=reverse)
    without = sorted({1, 2, 3} - values.keys(), reverse=reverse)
    expected = [*without, *expected] if nulls == "first" else [*expected, *without]
    assert nums(both(api, {"sort": [{"field": field, "direction": direction, "nulls": nulls}]})) == expected


def test_the_short_form_of_a_sort(api: Client) -> None:
    assert nums(api.get(PATH, query={"sort": "-3812"})) == [2, 1, 3]
    assert nums(api.get(PATH, query={"sort": "3fe6"})) == [3, 1, 2]
    assert nums(api.get(PATH, query={"sort": "-47e5"})) == [3, 2, 1]


@pytest.mark.parametrize(
    ("columns", "shown", "fields"),
    [
        ([], set(), set()),
        (["num"], set(), set()),
        (["name"], {"name"}, set()),
        (["3812", "3fe6"], set(), {"3812", "3fe6"}),
        (["created", "updated", "state", "3812", "3812"], {"created", "updated", "state"}, {"3812"}),
        (["updated_by", "3812"], {"updated_by"}, {"3812"}),
        (FIELDS, {*BUILT_IN}, {"3812", "882a", "3fe6", "47e5"}),
    ],
)
def test_columns_choose_what_is_shown_beside_number_and_version(
    api: Client, columns: list[str], shown: set[str], fields: set[str]
) -> None:
    for sort in ([], [{"field": "3812"}], [{"field": "882a", "nulls": "first"}]):
        answer = api.post(PATH, {"columns": columns, "sort": sort})
        for row in answer.body["rows"]:
            whole = api.get(f"{worked_example.PATH}/issues/{row['num']}").body
            expected: dict[str, Any] = {name: whole[name] for name in ("num", "version", *shown)}
            expected["fields"] = {name: value for name, value in whole["fields"].items() if name in fields}
            assert row == expected


def nodes_of(tree: Any) -> Iterator[Any]:
    yield tree
    for child in tree.get("children", ()):
        yield from nodes_of(child)


def test_explain_is_the_same_for_a_position(api: Client) -> None:
    path = f"{worked_example.PATH}/issues/2/row-number"
    without = api.get(path).body
    found = api.get(path, query={"explain": "true"}).body
    assert without.keys() == {"row_number", "before", "index"}
    assert found["row_number"] == without["row_number"]
    explained = found["explain"]
    assert [node["node"] for node in nodes_of(explained["tree"])] == [
        "row number",
        "directory scan",
        "bucket count",
        "overlay read",
        "epoch read",
        "freshness",
        "new issues read",
    ]
    assert sum(node["read_units"] for node in nodes_of(explained["tree"])) == pytest.approx(
        float(explained["read_units"])
    )


def test_explain_returns_the_plan_the_calls_and_their_cost(api: Client) -> None:
    for sort, calls in (([], 1), ([{"field": "name"}], 2)):
        assert api.post(PATH, {"sort": sort}).status == 200  # the catalog is known from here on
        explained = api.post(PATH, {"sort": sort, "explain": True}).body["explain"]
        assert explained.keys() == {
            "plan",
            "tree",
            "calls",
            "sequential_calls",
            "items_read",
            "read_units",
        }
        assert explained["sequential_calls"] == calls
        assert {at for node in nodes_of(explained["tree"]) for at in node["rounds"]} == set(
            range(1, calls + 1)
        )
        # The journal, the epoch, and the lag of the index are read beside the first call.
        assert [call["round"] for call in explained["calls"]] == [1, 1, 1, *range(1, calls + 1)]
        assert Decimal(str(explained["read_units"])) > 0
    assert api.get(PATH, query={"explain": "true"}).body.keys() >= {"explain"}


def test_a_refused_query_is_metered_too(
    api: Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert api.post(PATH, {}).status == 200  # the catalog is known from here on
    monkeypatch.setattr(planner, "MAX_BLOCKS", 0)
    capsys.readouterr()
    assert api.post(PATH, {"sort": [{"field": "name"}], "offset": 1}).status == 422
    published = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "CapacityUnits" in line]
    assert [(one["CapacityUnits"] > [0], one["SequentialCalls"]) for one in published] == [(True, [1])]


@pytest.mark.parametrize(
    "body", [{"filter": None}, {"count": False}, {"offset": None}, {"cursor": None}, {"columns": None}]
)
def test_empty_parameters_count_as_left_out(api: Client, body: dict[str, Any]) -> None:
    assert nums(api.post(PATH, body)) == [1, 2, 3]


def test_a_cursor_and_an_offset_exclude_each_other(api: Client) -> None:
    cursor = api.post(PATH, {"limit": 1}).body["next"]
    answer = both(api, {"cursor": cursor, "offset": 0})
    assert answer.kind == (400, "invalid-request")
    assert answer.errors.keys() == {"offset"}


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"limit": 0}, {"limit"}),
        ({"limit": 501}, {"limit"}),
        ({"limit": -1}, {"limit"}),
        ({"limit": 1.5}, {"limit"}),
        ({"limit": "10"}, {"limit"}),
        ({"limit": True}, {"limit"}),
        ({"limit": None}, {"limit"}),
        ({"sort": {"field": "name"}}, {"sort"}),
        ({"sort": ["name"]}, {"sort.0"}),
        ({"sort": [{}]}, {"sort.0.field"}),
        (
            {"sort": [{"field": "name", "direction": "up", "nulls": "middle"}]},
            {"sort.0.direction", "sort.0.nulls"},
        ),
        ({"sort": [{"field": "nme", "order": "asc"}]}, {"sort.0.field", "sort.0.order"}),
        ({"sort": [{"field": "a1"}]}, {"sort.0.field"}),
        ({"sort": [{"field": "deleted_by"}]}, {"sort.0.field"}),
        ({"sort": [{"field": "fields.3812"}]}, {"sort.0.field"}),
        ({"columns": "name"}, {"columns"}),
        ({"columns": ["name", "nme", "", "version"]}, {"columns.1", "columns.2", "columns.3"}),
        ({"columns": [1]}, {"columns.0"}),
        ({"filter": []}, {"filter"}),
        ({"offset": -1}, {"offset"}),
        ({"offset": "0"}, {"offset"}),
        ({"count": "yes"}, {"count"}),
        ({"explain": 1}, {"explain"}),
        ({"cursor": 1}, {"cursor"}),
        ({"cursor": ""}, {"cursor"}),
        ({"total": True, "rows": 1}, {"total", "rows"}),
        (
            {"sort": [{"field": "nme"}], "columns": ["nme"], "limit": 0, "offset": -1, "x": 1},
            {"sort.0.field", "columns.0", "limit", "offset", "x"},
        ),
    ],
)
def test_all_errors_of_a_request_are_listed_at_once(
    api: Client, body: dict[str, Any], fields: set[str]
) -> None:
    answer = api.post(PATH, body)
    assert answer.kind == (400, "invalid-request")
    assert answer.errors.keys() == fields


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        (
            {"limit": "ten", "offset": "", "count": "1", "explain": "TRUE"},
            {"limit", "offset", "count", "explain"},
        ),
        ({"limit": " 1"}, {"limit"}),
        ({"limit": "1_0"}, {"limit"}),
        ({"limit": "\u0661"}, {"limit"}),
        ({"limit": "9" * 5000}, {"limit"}),
        ({"limit": "0"}, {"limit"}),
        ({"offset": "-1"}, {"offset"}),
        ({"sort": ""}, {"sort.0.field"}),
        ({"sort": "-"}, {"sort.0.field"}),
        ({"sort": "--name"}, {"sort.0.field"}),
        ({"sort": "nme,-start"}, {"sort.0.field", "sort.1.field"}),
        ({"sort": "[{]"}, {"sort"}),
        ({"sort": '[{"field": "nme"}]'}, {"sort.0.field"}),
        ({"columns": ""}, {"columns.0"}),
        ({"columns": "name,,nme"}, {"columns.1", "columns.2"}),
        ({"filter": "state=open"}, {"filter"}),
        ({"filter": "[]"}, {"filter"}),
        ({"cursor": ""}, {"cursor"}),
        ({"Sort": "name", "page": "2"}, {"Sort", "page"}),
        (
            {"sort": "nme", "limit": "x", "filter": "{", "page": "2"},
            {"sort.0.field", "limit", "filter", "page"},
        ),
    ],
)
def test_all_errors_of_query_parameters_are_listed_at_once(
    api: Client, query: dict[str, str], fields: set[str]
) -> None:
    answer = api.get(PATH, query=query)
    assert answer.kind == (400, "invalid-request"), answer.text
    assert answer.errors.keys() == fields


@pytest.mark.parametrize("limit", [1, 2, 3, 500])
def test_a_limit_is_kept(api: Client, limit: int) -> None:
    for sort in ([], [{"field": "3812"}]):
        answer = both(api, {"limit": limit, "sort": sort})
        assert nums(answer) == [1, 2, 3][:limit]
        assert (answer.body["next"] is None) == (limit >= 3)
