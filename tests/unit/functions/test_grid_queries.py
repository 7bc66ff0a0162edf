"""Filters, counts, offsets, orders of several keys, groups and positions, through the HTTP layer."""

import json
import re
from decimal import Decimal
from typing import Any

import pytest

from gridview.query import planner
from gridview.query.operators import OPERATORS
from gridview.schema.fields import BUILTINS
from tests.support import nasty
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client

PATH = "/v1/projects/many"
ISSUES = 40


@pytest.fixture(scope="module")
def owner(shared_account: Cloud) -> Client:
    """The owner of a project with an attribute of every type, indexed. No test changes it."""
    owner = shared_account.api()
    owner.made("/v1/projects", {"id": "many", "name": "Many", "states": nasty.STATES})
    for attribute in nasty.ATTRIBUTES:
        owner.made(f"{PATH}/attributes", attribute)
    answer = owner.batch("many", *({"create": issue} for issue in nasty.issues(ISSUES, 1)))
    assert {result["status"] for result in answer.body["results"]} == {201}
    shared_account.derive()
    return owner


@pytest.fixture(scope="module")
def api(owner: Client) -> Client:
    return owner.acting(role="viewer")


@pytest.fixture
def project(owner: Client) -> str:
    """The path of a new project of the same tenant."""
    project_id: str = owner.made("/v1/projects", {"name": "Small"})["id"]
    return f"/v1/projects/{project_id}"


@pytest.fixture(scope="module")
def rows(api: Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.post(f"{PATH}/grid", {"limit": 500}).body["rows"]
    assert len(found) == ISSUES
    return found


def nums(answer: Answer) -> list[int]:
    assert answer.status == 200, answer.text
    return [row["num"] for row in answer.body["rows"]]


def held(row: dict[str, Any], field: str) -> Any:
    return row[field] if field in {"num", *BUILTINS} else row["fields"].get(field)


def plain(value: Any) -> Any:
    """A value in the form that a request can hold."""
    return str(value) if isinstance(value, Decimal) else value


TYPES = {"num": "number"} | {
    one["id"]: one["type"]
    for one in nasty.ATTRIBUTES
    if one["id"] not in {"amount", "rare", "never", "always"}
}
"""A field of each type."""


@pytest.mark.parametrize("op", OPERATORS)
def test_every_operator_works_for_each_of_its_types(api: Client, rows: list[dict[str, Any]], op: str) -> None:
    """An issue's own value is the operand; the result for that issue is then known."""
    for field, kind in TYPES.items():
        if kind not in OPERATORS[op].types:
            answer = api.post(f"{PATH}/grid", {"filter": {"field": field, "op": op, "value": "x"}})
            assert answer.kind == (400, "invalid-request")
            assert answer.errors.keys() == {"filter.op"}
            continue
        row = next((row for row in rows if held(row, field) is not None), None)
        value = None if row is None else plain(held(row, field))
        condition: dict[str, Any] = {"field": field, "op": op}
        if op in {"in", "not_in"}:
            condition["value"] = [value]
        elif op == "between":
            condition["value"] = [value, value]
        elif op not in {"is_empty", "is_not_empty"}:
            condition["value"] = value
        if row is None and "value" in condition:
            continue
        if op == "has_words":
            condition["value"] = "no such word"
        answer = api.post(f"{PATH}/grid", {"filter": condition, "limit": 500, "count": True})
        found = nums(answer)
        assert (answer.body["total"], answer.body["matched"]) == (ISSUES, len(found))
        without = {one["num"] for one in rows if held(one, field) is None}
        assert without.isdisjoint(found) != (op in {"ne", "not_in", "has_none", "is_empty"} and bool(without))
        itself = op not in {"ne", "not_in", "lt", "gt", "has_none", "is_empty", "has_words"}
        assert row is None or (row["num"] in found) == itself


def test_a_get_asks_the_same_as_a_post(api: Client) -> None:
    body: dict[str, Any] = {
        "filter": {"or": [{"field": "done", "op": "eq", "value": True}, {"field": "day", "op": "is_empty"}]},
        "sort": [
            {"field": "state"},
            {"field": "amount", "direction": "desc", "nulls": "first"},
            {"field": "num"},
        ],
        "offset": 3,
        "limit": 5,
        "count": True,
    }
    query = {name: value if isinstance(value, str) else json.dumps(value) for name, value in body.items()}
    posted, got = api.post(f"{PATH}/grid", body), api.get(f"{PATH}/grid", query=query)
    assert len(nums(posted)) == 5
    assert posted.timeless == got.timeless
    short = api.get(f"{PATH}/grid", query={"sort": "-state,amount,-num", "limit": "500"})
    assert sorted(nums(short)) == list(range(1, ISSUES + 1))


def test_an_offset_jumps_and_cursors_lead_both_ways_from_there(api: Client) -> None:
    body = {"sort": [{"field": "title", "direction": "desc"}], "limit": 7}
    order = nums(api.post(f"{PATH}/grid", {**body, "limit": 500}))
    page = api.post(f"{PATH}/grid", {**body, "offset": 10})
    assert (nums(page), page.body["offset"]) == (order[10:17], 10)
    after = api.post(f"{PATH}/grid", {**body, "cursor": page.body["next"]})
    assert (nums(after), after.body["offset"]) == (order[17:24], None)
    assert nums(api.post(f"{PATH}/grid", {**body, "cursor": page.body["prev"]})) == order[3:10]


def test_up_to_three_sort_keys_are_taken(api: Client) -> None:
    sort = [{"field": "state"}, {"field": "level"}, {"field": "day"}]
    assert len(nums(api.post(f"{PATH}/grid", {"sort": sort, "limit": 500}))) == ISSUES
    answer = api.post(f"{PATH}/grid", {"sort": [*sort, {"field": "num"}]})
    assert answer.kind == (400, "invalid-request")
    assert answer.errors.keys() == {"sort"}


def test_every_sort_key_has_to_be_indexed(owner: Client, project: str) -> None:
    owner.made(f"{project}/attributes", {"id": "bare", "name": "Bare", "type": "text", "indexed": False})
    for sort in ([{"field": "bare"}], [{"field": "state"}, {"field": "bare"}]):
        assert owner.post(f"{project}/grid", {"sort": sort}).kind == (422, "query-too-expensive")
    only = {"field": "bare", "op": "is_empty"}
    assert owner.post(f"{project}/grid", {"filter": only, "count": True}).body["matched"] == 0


def test_errors_of_a_filter_are_listed_with_all_others(api: Client) -> None:
    answer = api.post(
        f"{PATH}/grid",
        {
            "sort": [{"field": "nme"}],
            "filter": {
                "and": [
                    {"field": "amount", "op": "gt", "value": "many"},
                    {"field": "nme", "op": "eq", "value": 1},
                ]
            },
            "limit": 0,
        },
    )
    assert answer.kind == (400, "invalid-request")
    assert answer.errors.keys() == {"sort.0.field", "filter.and.0.value", "filter.and.1.field", "limit"}
    assert answer.errors["filter.and.0.value"] == "amount: must be a number"


def test_a_query_of_too_many_documents_names_the_remedy(
    owner: Client, project: str, shared_account: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner.made(f"{project}/attributes", {"id": "bare", "name": "Bare", "type": "text", "indexed": False})
    for _ in range(3):
        owner.made(f"{project}/issues", {"name": "x", "fields": {"bare": "y"}})
    shared_account.derive()
    body = {"filter": {"field": "bare", "op": "eq", "value": "y"}}
    monkeypatch.setattr(planner, "CANDIDATES", 1)
    assert nums(owner.post(f"{project}/grid", body)) == [1, 2, 3]
    monkeypatch.setattr(planner, "WHOLE", 2)
    answer = owner.post(f"{project}/grid", body)
    assert answer.kind == (422, "query-too-expensive")
    assert "open whether 3 issues" in answer.body["detail"]
    assert "attributes/bare" in answer.body["detail"]
    query = {"filter": json.dumps(body["filter"])}
    assert owner.get(f"{project}/issues/1/row-number", query=query).kind == (422, "query-too-expensive")
    assert nums(owner.post(f"{project}/grid", {"count": True, "limit": 1})) == [1]


# Groups


def groups(api: Client, **body: Any) -> list[tuple[Any, ...]]:
    answer = api.post(f"{PATH}/groups", body)
    assert answer.status == 200, answer.text
    return [(*one["values"], one["count"]) for one in answer.body["groups"]]


def test_groups_are_in_the_order_of_their_fields(api: Client, rows: list[dict[str, Any]]) -> None:
    by_state = groups(api, by=["state"])
    assert [state for state, _ in by_state] == nasty.STATES
    assert sum(count for _, count in by_state) == ISSUES
    by_done = groups(api, by=["done", "state"])
    assert sum(count for *_, count in by_done) == ISSUES
    assert [done for done, *_ in by_done] == sorted(
        (done for done, *_ in by_done), key=[False, True, None].index
    )


def test_an_issue_counts_in_the_group_of_each_of_its_options(api: Client, rows: list[dict[str, Any]]) -> None:
    expected = [(one, sum(one in row["fields"].get("labels", ()) for row in rows)) for one in nasty.OPTIONS]
    without = sum("labels" not in row["fields"] for row in rows)
    assert groups(api, by=["labels"]) == [*(one for one in expected if one[1]), (None, without)]


def test_a_limit_of_groups_says_whether_there_are_more(api: Client) -> None:
    for limit in (1, len(nasty.STATES) - 1, len(nasty.STATES)):
        answer = api.post(f"{PATH}/groups", {"by": ["state"], "limit": limit})
        assert len(answer.body["groups"]) == limit
        assert answer.body["more"] == (limit < len(nasty.STATES))


def test_aggregates_are_exact(owner: Client, shared_account: Cloud, project: str) -> None:
    owner.made(f"{project}/attributes", {"id": "cost", "name": "Cost", "type": "number"})
    for cost in ("0.1", "0.2", "1E+125", "-1E+125", "1E-130", None):
        owner.made(f"{project}/issues", {"name": "x", "fields": {"cost": cost}})
    owner.made(f"{project}/issues", {"name": "x", "state": "closed"})
    shared_account.derive()
    functions = ("sum", "min", "max", "avg")
    wanted = [{"field": "cost", "function": function} for function in functions]
    answer = owner.post(f"{project}/groups", {"by": ["state"], "aggregates": wanted, "explain": True})
    opened, closed = answer.body["groups"]
    assert {one["function"]: one["value"] for one in closed["aggregates"]} == dict.fromkeys(functions)
    total = Decimal("0." + "3" + "0" * 128 + "1")
    assert [one["value"] for one in opened["aggregates"][:3]] == [
        total,
        Decimal("-1E+125"),
        Decimal("1E+125"),
    ]
    assert opened["aggregates"][3]["value"] == Decimal("0.06")
    assert answer.body["explain"]["sequential_calls"] >= 2
    assert any(
        re.match(r"Take the numbers of \w+ from their columns: ", one)
        for one in answer.body["explain"]["plan"]
    )


@pytest.mark.parametrize(
    ("unit", "timezone", "expected"),
    [
        ("year", None, ["0001", "2023", "2024", "9999", None]),
        ("month", None, ["0001-01", "2023-12", "2024-01", "9999-12", None]),
        ("day", None, ["0001-01-01", "2023-12-31", "2024-01-01", "9999-12-31", None]),
        ("year", "Asia/Tokyo", ["0001", "2024", "10000", None]),
        ("day", "America/New_York", ["0000-12-31", "2023-12-31", "9999-12-31", None]),
    ],
)
def test_instants_group_by_the_local_calendar(
    owner: Client,
    shared_account: Cloud,
    project: str,
    unit: str,
    timezone: str | None,
    expected: list[str | None],
) -> None:
    owner.made(f"{project}/attributes", {"id": "at", "name": "At", "type": "datetime"})
    for at in (
        "0001-01-01T00:00:00Z",
        "2023-12-31T23:30:00Z",
        "2024-01-01T02:00:00Z",
        "9999-12-31T23:59:59.999999Z",
        None,
    ):
        owner.made(f"{project}/issues", {"name": "x", "fields": {"at": at}})
    shared_account.derive()
    by = {"field": "at", "unit": unit, **({} if timezone is None else {"timezone": timezone})}
    found = owner.post(f"{project}/groups", {"by": [by]}).body["groups"]
    assert [value for one in found for value in one["values"]] == expected


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"by"}),
        ({"by": []}, {"by"}),
        ({"by": ["state"] * 4}, {"by"}),
        ({"by": "state"}, {"by"}),
        ({"by": ["nme", {"field": "state", "step": 1}]}, {"by.0.field", "by.1.step"}),
        ({"by": [{"field": "state", "unit": "month"}]}, {"by.0.unit"}),
        ({"by": [{"field": "day", "unit": "week"}]}, {"by.0.unit"}),
        ({"by": [{"field": "day", "unit": "day", "timezone": "UTC"}]}, {"by.0.timezone"}),
        ({"by": [{"field": "moment", "timezone": "UTC"}]}, {"by.0.timezone"}),
        *(
            ({"by": [{"field": "moment", "unit": "day", "timezone": zone}]}, {"by.0.timezone"})
            for zone in ("Mars/Olympus", "", "Europe", "../UTC", "/etc/passwd", "UTC\x00")
        ),
        ({"by": ["state"], "limit": 501, "more": 1}, {"limit", "more"}),
        ({"by": ["state"], "aggregates": [{"field": "day", "function": "sum"}]}, {"aggregates.0.field"}),
        (
            {"by": ["state"], "aggregates": [{"field": "amount", "function": "mean"}]},
            {"aggregates.0.function"},
        ),
        ({"by": ["state"], "filter": {"field": "nme", "op": "eq", "value": 1}}, {"filter.field"}),
    ],
)
def test_all_errors_of_groups_are_listed_at_once(api: Client, body: Any, fields: set[str]) -> None:
    answer = api.post(f"{PATH}/groups", body)
    assert answer.kind == (400, "invalid-request"), answer.text
    assert answer.errors.keys() == fields


# Positions


def position(api: Client, num: int, **query: Any) -> Answer:
    texts = {name: one if isinstance(one, str) else json.dumps(one) for name, one in query.items()}
    return api.get(f"{PATH}/issues/{num}/row-number", query=texts)


def test_the_row_number_of_an_issue_is_its_place_in_the_grid(api: Client) -> None:
    only = {"field": "done", "op": "is_not_empty"}
    sort = [{"field": "level", "nulls": "first"}, {"field": "amount", "direction": "desc"}]
    order = nums(api.post(f"{PATH}/grid", {"sort": sort, "filter": only, "limit": 500}))
    assert 0 < len(order) < ISSUES
    everything = nums(api.post(f"{PATH}/grid", {"sort": sort, "limit": 500}))
    for place, num in enumerate(everything):
        found = position(api, num, sort=sort, filter=only).body
        assert found["row_number"] == (order.index(num) if num in order else None)
        assert found["before"] == len(set(everything[:place]) & set(order))
    assert position(api, 5).body["row_number"] == 4
    assert position(api, 5, sort="-num").body["row_number"] == ISSUES - 5


def test_an_issue_that_is_not_there_has_no_position(api: Client) -> None:
    for num in (ISSUES + 1, 99_999_999):
        assert position(api, num).kind == (404, "not-found")
    answer = position(api, 1, sort="nme", filter="{}", limit="1")
    assert answer.kind == (400, "invalid-request")
    assert answer.errors.keys() == {"sort.0.field", "filter", "limit"}


def test_nothing_of_another_tenant_is_counted_found_or_placed(owner: Client, shared_account: Cloud) -> None:
    stranger = owner.acting(tenant="3cc8")
    stranger.made("/v1/projects", {"id": "many", "name": "Many"})
    stranger.made(f"{PATH}/issues", {"name": "theirs"})
    shared_account.derive()
    page = stranger.post(f"{PATH}/grid", {"count": True, "filter": {"field": "num", "op": "gte", "value": 1}})
    assert (nums(page), page.body["total"], page.body["matched"]) == ([1], 1, 1)
    assert stranger.post(f"{PATH}/groups", {"by": ["state"]}).body["groups"] == [
        {"values": ["open"], "count": 1, "filter": {"field": "state", "op": "eq", "value": "open"}}
    ]
    assert position(stranger, 2).status == 404
    nobody = owner.acting(tenant="4dd9")
    assert nobody.post(f"{PATH}/grid", {"count": True}).status == 404
    assert nobody.post(f"{PATH}/groups", {"by": ["state"]}).status == 404
    cursor = owner.post(f"{PATH}/grid", {"count": True, "limit": 1}).body["next"]
    assert stranger.post(f"{PATH}/grid", {"count": True, "cursor": cursor}).kind == (400, "invalid-request")
