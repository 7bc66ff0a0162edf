"""Relative operands over HTTP: each answer is that of the resolved filter, and cursors, jobs and views keep what they mean."""

import json
from typing import Any

import pytest

from tests.support.cloud import Cloud
from tests.support.http import Answer, Client
from tests.support.midnight import Midnight
from tests.unit.functions.test_export import exported, lines

PATH = "/v1/projects/plain"
ATTRIBUTES = (
    {"id": "due", "name": "Due", "type": "date"},
    {"id": "at", "name": "At", "type": "datetime"},
    {"id": "owner", "name": "Owner", "type": "user"},
    {"id": "label", "name": "Label", "type": "text"},
    {"id": "size", "name": "Size", "type": "number"},
)
DUE = {"field": "due", "op": "lte", "value": {"today": 0}}
MINE = {"field": "owner", "op": "eq", "value": {"me": True}}
RECENT = {"field": "at", "op": "gte", "value": {"now": 43_200}}


@pytest.fixture
def midnight(monkeypatch: pytest.MonkeyPatch) -> Midnight:
    return Midnight(monkeypatch)


@pytest.fixture
def plain(midnight: Midnight, account: Cloud, project: str, api: Client) -> str:
    """Issues 1 to 9 are due 4 days before the day that ends to 4 days after it; odd ones are Ann's, even ones Bob's."""
    for attribute in ATTRIBUTES:
        api.made(f"{project}/attributes", attribute)
    for at in range(9):
        fields = {"due": midnight.date(at - 4), "owner": "ann" if at % 2 == 0 else "bob", "size": at}
        fields["at"] = f"{midnight.date(at - 4)}T12:00:00Z"
        api.made(f"{project}/issues", {"name": f"n{at}", "fields": fields})
    account.derive()
    account.upkeep()
    return project


def fixed(day: str, user: str = "ann") -> dict[str, Any]:
    return {
        "and": [
            {"field": "due", "op": "lte", "value": day},
            {"field": "owner", "op": "eq", "value": user},
        ]
    }


BOTH = {"and": [DUE, MINE]}
REQUESTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("grid", {"count": True, "explain": True, "sort": [{"field": "due", "direction": "desc"}]}),
    ("grid", {"count": True, "explain": True, "offset": 1}),
    ("groups", {"by": [{"field": "owner"}], "explain": True}),
    ("groups", {"by": [{"field": "due", "unit": "month"}], "limit": 1, "explain": True}),
    ("summary", {"fields": [{"field": "size", "functions": ["sum", "count"]}], "explain": True}),
)


def without_words(answer: Answer) -> Any:
    """An answer without its cursors (of other instants) and the sentences about operands."""
    assert answer.status == 200, answer.text
    body = answer.timeless
    plan = [one for one in body["explain"]["plan"] if not one.startswith("The operand ")]
    rest = {name: value for name, value in body.items() if name not in ("next", "prev")}
    return {**rest, "explain": {**body["explain"], "plan": plan}}


@pytest.mark.parametrize(("call", "body"), REQUESTS)
def test_an_answer_is_that_of_the_resolved_filter_with_the_same_calls_and_units(
    plain: str, api: Client, account: Cloud, midnight: Midnight, call: str, body: dict[str, Any]
) -> None:
    account.forget()
    relative = api.post(f"{plain}/{call}", {**body, "filter": BOTH})
    account.forget()
    resolved = api.post(f"{plain}/{call}", {**body, "filter": fixed(midnight.date())})
    assert without_words(relative) == without_words(resolved)
    assert relative.body["explain"]["read_units"] == resolved.body["explain"]["read_units"]
    assert relative.body["explain"]["plan"][:2] == [
        f'The operand {{"today":0}} of due is {midnight.date()}.',
        'The operand {"me":true} of owner is ann.',
    ]
    if call == "groups":
        parts = relative.body["groups"][0]["filter"]["and"][:2]
        assert parts == fixed(midnight.date())["and"]


def test_row_numbers_are_those_of_the_resolved_filter(plain: str, api: Client, midnight: Midnight) -> None:
    def number(user: str, only: Any, num: int) -> Any:
        query = {"filter": json.dumps(only), "sort": "due", "explain": "true"}
        return api.acting(user=user).get(f"{plain}/issues/{num}/row-number", query=query)

    assert [number("ann", BOTH, num).body["row_number"] for num in (1, 2, 3, 5, 7)] == [0, None, 1, 2, None]
    assert [number("bob", BOTH, num).body["row_number"] for num in (1, 2, 4)] == [None, 0, 1]
    midnight.pass_by()
    assert number("bob", BOTH, 6).body["row_number"] == 2
    said = number("bob", BOTH, 6).body["explain"]["plan"]
    assert f'The operand {{"today":0}} of due is {midnight.date(1)}.' in said


def test_now_is_counted_from_the_request(plain: str, api: Client, midnight: Midnight) -> None:
    hours = {"field": "at", "op": "between", "value": [{"now": -86_400}, {"now": 0}]}
    assert [row["num"] for row in api.post(f"{plain}/grid", {"filter": hours}).body["rows"]] == [5]
    midnight.wait(12 * 3_600 + 61)
    assert [row["num"] for row in api.post(f"{plain}/grid", {"filter": hours}).body["rows"]] == [6]


def test_me_is_the_writer_too(plain: str, api: Client, account: Cloud) -> None:
    api.acting(user="bob").made(f"{plain}/issues", {"name": "of Bob"})
    account.derive()
    written = {"filter": {"field": "created_by", "op": "eq", "value": {"me": True}}, "count": True}
    assert api.post(f"{plain}/grid", written).body["matched"] == 9
    assert api.acting(user="bob").post(f"{plain}/grid", written).body["matched"] == 1


# Cursors


def pages(api: Client, path: str, body: dict[str, Any], midnight: Midnight | None) -> list[list[Any]]:
    """The result pages of a walk, during which it becomes midnight after each page if there is one."""
    found, cursor = [], None
    member = "groups" if path.endswith("groups") else "rows"
    while True:
        answer = api.post(path, {**body, **({} if cursor is None else {"cursor": cursor})})
        assert answer.status == 200, answer.text
        found.append([one.get("num", one.get("values")) for one in answer.body[member]])
        cursor = answer.body["next"]
        if cursor is None:
            return found
        if midnight is not None:
            midnight.pass_by()


@pytest.mark.parametrize(
    ("call", "body"),
    [
        ("grid", {"limit": 2, "sort": [{"field": "due"}], "filter": DUE}),
        (
            "grid",
            {
                "limit": 1,
                "filter": {"not": {"field": "due", "op": "in", "value": [{"today": 0}, {"today": 1}]}},
            },
        ),
        ("grid", {"limit": 1, "filter": RECENT}),
        ("groups", {"by": [{"field": "due"}], "limit": 2, "filter": DUE}),
    ],
)
def test_all_pages_of_a_walk_are_of_its_first_instant(
    plain: str, api: Client, midnight: Midnight, call: str, body: dict[str, Any]
) -> None:
    at_once = pages(api, f"{plain}/{call}", body, None)
    assert pages(api, f"{plain}/{call}", body, midnight) == at_once
    assert pages(api, f"{plain}/{call}", body, None) != at_once


def test_a_cursor_leads_back_to_its_own_day(plain: str, api: Client, midnight: Midnight) -> None:
    body = {"filter": DUE, "limit": 2, "count": True}
    first = api.post(f"{plain}/grid", body)
    midnight.pass_by()
    second = api.post(f"{plain}/grid", {**body, "cursor": first.body["next"]})
    assert second.body["matched"] == first.body["matched"] == 5
    back = api.post(f"{plain}/grid", {**body, "cursor": second.body["prev"]})
    assert back.body["rows"] == first.body["rows"]
    assert api.post(f"{plain}/grid", body).body["matched"] == 6


def test_rows_of_another_day_have_no_cursor_of_changes(plain: str, api: Client, midnight: Midnight) -> None:
    body = {"filter": DUE, "limit": 2}
    first = api.post(f"{plain}/grid", body)
    assert api.post(f"{plain}/grid", {**body, "cursor": first.body["next"]}).body["changes_cursor"]
    midnight.pass_by()
    assert api.post(f"{plain}/grid", {**body, "cursor": first.body["next"]}).body["changes_cursor"] is None
    assert api.post(f"{plain}/grid", body).body["changes_cursor"]


@pytest.mark.parametrize("call", ["grid", "groups"])
def test_a_cursor_is_of_its_user_and_its_instant(
    plain: str, api: Client, midnight: Midnight, call: str
) -> None:
    def refused(client: Client, body: dict[str, Any], cursor: str) -> bool:
        answer = client.post(f"{plain}/{call}", {**body, "cursor": cursor})
        return answer.errors == {"cursor": "does not belong to this query"}

    by = {"by": [{"field": "due"}]} if call == "groups" else {}
    mine, due, plainly = ({**by, "limit": 1, "filter": only} for only in (MINE, DUE, fixed(midnight.date())))
    cursor = api.post(f"{plain}/{call}", mine).body["next"]
    assert "." not in cursor
    assert refused(api.acting(user="bob"), mine, cursor)
    assert not refused(api, mine, cursor)
    timed = api.post(f"{plain}/{call}", due).body["next"]
    instant, _, sealed = timed.partition(".")
    assert not refused(api.acting(user="bob"), due, timed)
    later = f"{int(instant, 16) + 1:x}"  # of the same day
    for changed in (f"{later}.{sealed}", sealed, f".{sealed}", f"0{instant}.{sealed}", f"{instant}.{timed}"):
        assert refused(api, due, changed), changed
    ordinary = api.post(f"{plain}/{call}", plainly).body["next"]
    assert refused(api, plainly, f"{instant}.{ordinary}")
    assert refused(api, plainly, timed)
    far = api.post(f"{plain}/{call}", {**due, "cursor": f"ffffffffffffff.{sealed}"})
    assert far.status == 400


# Views


def test_a_shared_view_is_each_readers_own(plain: str, api: Client, midnight: Midnight) -> None:
    week = {"today": 0, "unit": "week", "start": True, "timezone": "Europe/London"}
    only = {
        "and": [
            BOTH,
            {"field": "due", "op": "in", "value": [week, "2020-01-01", {"today": -4}, {"today": 0}]},
        ]
    }
    made = api.made(f"{plain}/views", {"name": "Mine", "visibility": "shared", "query": {"filter": only}})
    assert made["query"]["filter"] == only
    assert api.acting(user="bob").get(f"{plain}/views/{made['id']}").body["query"]["filter"] == only
    patched = api.patch(f"{plain}/views/{made['id']}", {"query": {"filter": RECENT}})
    assert patched.body["query"]["filter"] == RECENT
    midnight.pass_by()
    assert api.get(f"{plain}/views/{made['id']}").body["query"]["filter"] == RECENT


def test_the_export_of_a_view_is_of_its_caller_and_the_day_of_the_request(
    plain: str, api: Client, account: Cloud, midnight: Midnight
) -> None:
    made = api.made(f"{plain}/views", {"name": "Mine", "visibility": "shared", "query": {"filter": BOTH}})
    for user, expected in (("ann", ["1", "3", "5"]), ("bob", ["2", "4"])):
        content = exported(account, api.acting(user=user), plain, query={"view": made["id"]})
        assert [line["num"] for line in lines(content)] == expected


# Jobs


def test_an_export_freezes_its_filter_when_it_is_requested(
    plain: str, api: Client, account: Cloud, midnight: Midnight
) -> None:
    body = {"query": {"filter": DUE, "columns": ["num"]}, "format": "ndjson"}
    begun = api.post(f"{plain}/export", body, headers={"idempotency-key": "one"})
    midnight.pass_by()
    again = api.post(f"{plain}/export", body, headers={"idempotency-key": "one"})
    assert (again.status, again.body["id"]) == (202, begun.body["id"])
    account.upkeep()
    assert api.get(begun.headers["location"]).body["done"] == 5


def test_a_bulk_change_freezes_its_filter_when_it_is_requested(
    plain: str, api: Client, account: Cloud, midnight: Midnight
) -> None:
    body = {"filter": BOTH, "set": {"name": "overdue"}}
    bob = api.acting(user="bob")
    begun = bob.post(f"{plain}/issues/update-matching", body, headers={"idempotency-key": "one"})
    assert begun.status == 202
    midnight.pass_by()
    assert bob.post(f"{plain}/issues/update-matching", body, headers={"idempotency-key": "one"}).status == 202
    other = bob.post(
        f"{plain}/issues/update-matching", {**body, "filter": MINE}, headers={"idempotency-key": "one"}
    )
    assert other.status == 409
    account.upkeep()
    named = [num for num in range(1, 10) if api.get(f"{plain}/issues/{num}").body["name"] == "overdue"]
    assert named == [2, 4]  # not 6, which is due on the next day
    assert api.post(f"{plain}/issues/delete-matching", {"filter": BOTH}).status == 202
    account.upkeep()
    left = [num for num in range(1, 10) if api.get(f"{plain}/issues/{num}").status == 200]
    assert left == [2, 4, 6, 7, 8, 9]


# Refusals


@pytest.mark.parametrize(
    ("method", "path", "body", "place"),
    [
        ("POST", "issues", {"name": "x", "fields": {"due": {"today": 0}}}, "fields.due"),
        ("POST", "issues", {"name": "x", "fields": {"owner": {"me": True}}}, "fields.owner"),
        ("PATCH", "issues/1", {"fields": {"at": {"now": 0}}}, "fields.at"),
        (
            "POST",
            "issues/update-matching",
            {"filter": DUE, "set": {"fields": {"due": {"today": 0}}}},
            "set.fields.due",
        ),
        (
            "POST",
            "grid",
            {"filter": {"not": {"field": "label", "op": "eq", "value": {"today": 0}}}},
            "filter.not.value",
        ),
        (
            "POST",
            "grid",
            {"filter": {"field": "due", "op": "in", "value": ["2024-01-01", {"now": 0}]}},
            "filter.value.1",
        ),
        ("POST", "grid", {"filter": {"field": "num", "op": "eq", "value": {"me": True}}}, "filter.value"),
        (
            "POST",
            "grid",
            {"filter": {"field": "due", "op": "eq", "value": {"today": 10_001}}},
            "filter.value.today",
        ),
        (
            "POST",
            "groups",
            {
                "by": [{"field": "due"}],
                "filter": {"and": [{"field": "due", "op": "eq", "value": {"today": 0, "unit": "hour"}}]},
            },
            "filter.and.0.value.unit",
        ),
        (
            "POST",
            "views",
            {
                "name": "x",
                "query": {"filter": {"field": "due", "op": "eq", "value": {"today": 0, "timezone": "Mars"}}},
            },
            "query.filter.value.timezone",
        ),
        (
            "POST",
            "export",
            {"format": "csv", "query": {"filter": {"field": "owner", "op": "eq", "value": {"me": False}}}},
            "query.filter.value.me",
        ),
        (
            "POST",
            "issues/delete-matching",
            {"filter": {"field": "due", "op": "eq", "value": {"today": 9_000, "unit": "year"}}},
            "filter.value",
        ),
    ],
)
def test_a_refusal_names_the_place(
    plain: str, api: Client, method: str, path: str, body: dict[str, Any], place: str
) -> None:
    answer = api.call(method, f"{plain}/{path}", body)
    assert answer.status == 400, answer.text
    assert [*answer.errors] == [place]


def test_all_errors_of_a_filter_are_reported_at_once(plain: str, api: Client) -> None:
    wrong = {
        "and": [
            {"field": "due", "op": "eq", "value": {"today": "x"}},
            {"field": "due", "op": "eq", "value": "x"},
            {"field": "nothing", "op": "eq", "value": {"me": True}},
        ]
    }
    answer = api.post(f"{plain}/grid", {"filter": wrong, "limit": 0})
    assert {*answer.errors} == {
        "limit",
        "filter.and.0.value.today",
        "filter.and.1.value",
        "filter.and.2.field",
    }
