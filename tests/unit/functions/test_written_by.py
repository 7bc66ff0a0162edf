"""`created_by` and `updated_by` wherever a field may be named: built-in fields that the server writes."""

from typing import Any

import pytest

from gridview.encoding.json_codec import loads
from gridview.query import aggregate_planner, planner
from tests.support.checked import differences_in
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client
from tests.unit.functions.test_export import exported, lines
from tests.unit.functions.test_live_rows import Rows

PATH = "/v1/projects/plain"
PEOPLE = {1: ("ann", "ann"), 2: ("ann", "cyd"), 3: ("Bob", "Bob"), 4: ("bob", "ann"), 5: ("cyd", "cyd")}
"""Who created and last changed each issue. `Bob` and `bob` are one user to filters and orders."""
COSTS = {1: 1, 2: 2, 3: 4, 4: 8, 5: 16}

Condition = dict[str, Any]


@pytest.fixture
def filled(account: Cloud, api: Client, project: str) -> str:
    """A project with an issue for each pair of people."""
    api.made(f"{project}/attributes", {"id": "cost", "name": "Cost", "type": "number"})
    for num, (creator, editor) in PEOPLE.items():
        body = {"name": f"n{num}", "fields": {"cost": COSTS[num]}}
        account.api(user=creator).made(f"{project}/issues", body)
        if editor != creator:
            edit(account, editor, num, name=f"edited {num}")
    account.derive()
    account.fold()
    return project


def edit(account: Cloud, user: str, num: int, **body: Any) -> None:
    answer = account.api(user=user).patch(f"{PATH}/issues/{num}", body)
    assert answer.status == 200, answer.text


def grid(api: Client, **query: Any) -> Any:
    answer = api.post(f"{PATH}/grid", {"limit": 100, **query})
    assert answer.status == 200, answer.text
    return answer.body


def nums(api: Client, **query: Any) -> list[int]:
    return [row["num"] for row in grid(api, **query)["rows"]]


def is_(field: str, value: str) -> Condition:
    return {"field": field, "op": "eq", "value": value}


@pytest.mark.parametrize(
    ("condition", "matching"),
    [
        ({"field": "created_by", "op": "eq", "value": "BOB"}, [3, 4]),
        ({"field": "created_by", "op": "ne", "value": "bob"}, [1, 2, 5]),
        ({"field": "updated_by", "op": "in", "value": ["cyd", "bob", "nobody"]}, [2, 3, 5]),
        ({"field": "updated_by", "op": "not_in", "value": ["cyd", "bob"]}, [1, 4]),
        ({"field": "created_by", "op": "lt", "value": "bob"}, [1, 2]),
        ({"field": "created_by", "op": "lte", "value": "bob"}, [1, 2, 3, 4]),
        ({"field": "created_by", "op": "gt", "value": "bob"}, [5]),
        ({"field": "created_by", "op": "gte", "value": "bob"}, [3, 4, 5]),
        ({"field": "updated_by", "op": "between", "value": ["b", "c"]}, [3]),
        ({"field": "created_by", "op": "is_empty"}, []),
        ({"field": "updated_by", "op": "is_not_empty"}, [1, 2, 3, 4, 5]),
        ({"and": [is_("created_by", "ann"), {"not": is_("updated_by", "ann")}]}, [2]),
    ],
)
@pytest.mark.parametrize("indexed", [True, False])
def test_every_operator_of_users_filters_by_writers_with_and_without_an_index(
    account: Cloud, api: Client, filled: str, condition: Condition, matching: list[int], indexed: bool
) -> None:
    if not indexed:
        switch(account, api, "created_by", on=False)
        switch(account, api, "updated_by", on=False)
    answer = grid(api, filter=condition, count=True)
    assert [row["num"] for row in answer["rows"]] == matching
    assert answer["matched"] == len(matching)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ({"field": "created_by", "op": "eq", "value": 7}, "filter.value"),
        ({"field": "created_by", "op": "contains", "value": "a"}, "filter.op"),
        ({"field": "updated_by", "op": "has_any", "value": ["ann"]}, "filter.op"),
    ],
)
def test_a_wrong_value_or_operator_is_refused_by_its_place(
    api: Client, filled: str, condition: Condition, message: str
) -> None:
    answer = api.post(f"{PATH}/grid", {"filter": condition})
    assert (answer.status, {*answer.errors}) == (400, {message})


def switch(account: Cloud, api: Client, field: str, *, on: bool) -> None:
    assert api.patch(f"{PATH}/attributes/{field}", {"indexed": on}).status == 200
    account.upkeep()


def test_the_fields_are_listed_and_only_their_index_changes(account: Cloud, api: Client, filled: str) -> None:
    for field, name in (("created_by", "Created by"), ("updated_by", "Updated by")):
        shown = api.get(f"{PATH}/attributes/{field}").body
        about = [shown[part] for part in ("id", "name", "type", "required", "indexed", "position", "build")]
        assert about == [field, name, "user", True, True, None, None]
        assert api.patch(f"{PATH}/attributes/{field}", {"name": "x"}).errors.keys() == {"name"}
        assert api.delete(f"{PATH}/attributes/{field}").kind == (409, "conflict")
        switch(account, api, field, on=False)
        switch(account, api, field, on=True)
        assert nums(api, filter=is_(field, "cyd")) == [
            n for n, one in PEOPLE.items() if one[field[0] == "u"] == "cyd"
        ]
    assert differences_in(account.table) == []


def test_rows_are_sorted_by_writers_in_pages_and_positions(api: Client, filled: str) -> None:
    by_creator = [{"field": "created_by"}]
    assert nums(api, sort=by_creator) == [1, 2, 3, 4, 5]
    assert nums(api, sort=[{"field": "updated_by", "direction": "desc"}]) == [5, 2, 3, 4, 1]
    several = [{"field": "updated_by"}, {"field": "cost", "direction": "desc"}]
    assert nums(api, sort=several) == [4, 1, 3, 5, 2]
    walked: list[int] = []
    page = grid(api, sort=[{"field": "updated_by"}], limit=2)
    while True:
        walked += [row["num"] for row in page["rows"]]
        if page["next"] is None:
            break
        page = grid(api, sort=[{"field": "updated_by"}], limit=2, cursor=page["next"])
    assert walked == [1, 4, 3, 2, 5]
    assert nums(api, sort=[{"field": "updated_by"}], offset=3) == [2, 5]
    found = api.get(f"{PATH}/issues/2/row-number", query={"sort": "updated_by"})
    assert found.body["row_number"] == 3
    mine = api.get(
        f"{PATH}/issues/3/row-number", query={"filter": '{"field":"created_by","op":"eq","value":"bob"}'}
    )
    assert mine.body["row_number"] == 0


def test_a_composite_index_sorts_by_writers(account: Cloud, api: Client, filled: str) -> None:
    sort = [{"field": "created_by", "direction": "desc"}, {"field": "updated_by"}]
    made = api.made(f"{PATH}/indexes", {"sort": sort})
    account.upkeep()
    assert api.get(f"{PATH}/indexes/{made['id']}").body["state"] == "ready"
    answer = grid(api, sort=sort, explain=True)
    assert [row["num"] for row in answer["rows"]] == [5, 4, 3, 1, 2]
    edit(account, "zoe", 4, name="again")
    account.derive()
    assert nums(api, sort=sort) == [5, 3, 4, 1, 2]
    assert differences_in(account.table) == []


def test_groups_and_summaries_of_writers(api: Client, filled: str) -> None:
    body: dict[str, Any] = {"by": ["created_by"], "aggregates": [{"field": "cost", "function": "sum"}]}
    answer = api.post(f"{PATH}/groups", body)
    groups = {
        one["values"][0].casefold(): (one["count"], one["aggregates"][0]["value"])
        for one in answer.body["groups"]
    }
    assert groups == {"ann": (2, 3), "bob": (2, 12), "cyd": (1, 16)}
    for group in answer.body["groups"]:
        assert len(nums(api, filter=group["filter"])) == group["count"]
    both = api.post(
        f"{PATH}/groups", {"by": ["updated_by", "state"], "order": {"by": "count", "direction": "desc"}}
    )
    assert [(one["values"], one["count"]) for one in both.body["groups"]] == [
        (["ann", "open"], 2),
        (["cyd", "open"], 2),
        (["Bob", "open"], 1),
    ]
    functions = ["count", "empty", "distinct", "min", "max"]
    asked = {"fields": [{"field": name, "functions": functions} for name in ("created_by", "updated_by")]}
    for only in (None, is_("state", "open")):
        summaries = api.post(f"{PATH}/summary", {**asked, "filter": only}).body["summaries"]
        assert summaries == [
            {"field": name, "count": 5, "empty": 0, "distinct": 3, "min": "ann", "max": "cyd"}
            for name in ("created_by", "updated_by")
        ]
    wrong = api.post(f"{PATH}/summary", {"fields": [{"field": "created_by", "functions": ["sum"]}]})
    assert wrong.status == 400


def test_columns_show_writers_as_they_show_other_fields(api: Client, filled: str) -> None:
    rows = grid(api, columns=["updated_by", "cost"])["rows"]
    assert rows[1] == {"num": 2, "version": 2, "updated_by": "cyd", "fields": {"cost": 2}}
    assert [*grid(api, columns=[])["rows"][0]] == ["num", "version", "fields"]
    whole = grid(api)["rows"][3]
    assert (whole["created_by"], whole["updated_by"]) == ("bob", "ann")
    assert whole == api.get(f"{PATH}/issues/4").body


def test_the_plan_names_them(api: Client, filled: str) -> None:
    filtered = grid(api, filter=is_("created_by", "ann"), explain=True)
    assert "created_by is the value given" in " ".join(filtered["explain"]["plan"])
    ordered = grid(api, sort=[{"field": "updated_by"}], explain=True)
    assert "updated_by" in " ".join(ordered["explain"]["plan"])


def test_nobody_writes_them(api: Client, filled: str) -> None:
    for name in ("created_by", "updated_by"):
        assert api.post(f"{PATH}/issues", {"name": "x", name: "eve"}).errors.keys() == {name}
        assert api.patch(f"{PATH}/issues/1", {name: "eve"}).errors.keys() == {name}
        assert api.patch(f"{PATH}/issues/1", {"fields": {name: "eve"}}).errors.keys() == {f"fields.{name}"}
        answer = api.post(
            f"{PATH}/issues/update-matching", {"filter": is_("created_by", "ann"), "set": {name: "eve"}}
        )
        assert answer.errors.keys() == {f"set.{name}"}
        assert api.get(f"{PATH}/activity", query={"field": name}).errors.keys() == {"field"}
    assert api.get(f"{PATH}/issues/1").body["version"] == 1


def test_a_large_project_answers_by_the_index_and_otherwise_says_how_to_index(
    account: Cloud, api: Client, filled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planner, "WHOLE", 2)
    monkeypatch.setattr(planner, "CANDIDATES", 1)
    for module in (planner, aggregate_planner):
        monkeypatch.setattr(module, "CANDIDATES", 1)
    monkeypatch.setattr(aggregate_planner, "MAX_DOCUMENTS", 2)
    asked: list[tuple[str, dict[str, Any]]] = [
        ("grid", {"filter": is_("created_by", "ann"), "count": True}),
        ("grid", {"sort": [{"field": "created_by"}]}),
        ("groups", {"by": ["created_by"]}),
        ("summary", {"fields": [{"field": "created_by", "functions": ["distinct"]}]}),
    ]
    answers = [api.post(f"{PATH}/{call}", body) for call, body in asked]
    assert [answer.status for answer in answers] == [200] * 4
    switch(account, api, "created_by", on=False)
    remedy_in_words = f'PATCH {PATH}/attributes/created_by {{"indexed": true}}'
    for name, body in asked:
        answer = api.post(f"{PATH}/{name}", body)
        assert answer.kind == (422, "query-too-expensive")
        assert remedy_in_words in answer.body["detail"]
        (remedy,) = answer.body["remedies"]
        assert (remedy["method"], remedy["path"], remedy["body"], remedy["role"]) == (
            "PATCH",
            f"{PATH}/attributes/created_by",
            {"indexed": True},
            "admin",
        )
    switch(account, api, "created_by", on=True)
    again = [api.post(f"{PATH}/{call}", body) for call, body in asked]
    assert [found(one) for one in again] == [found(one) for one in answers]


def found(answer: Answer) -> Any:
    """The rows, groups or values of an answer."""
    return [answer.body.get(part) for part in ("rows", "matched", "groups", "summaries")]


# Views, jobs and exports


def test_a_view_stores_them_everywhere(account: Cloud, api: Client, filled: str) -> None:
    mine = {"filter": is_("created_by", "ann"), "sort": [{"field": "updated_by", "direction": "desc"}]}
    made = api.made(
        f"{PATH}/views",
        {
            "name": "Mine",
            "query": mine,
            "columns": [{"field": "updated_by", "width": 140}],
            "groups": [{"field": "created_by"}],
            "footers": [{"field": "updated_by", "function": "distinct"}],
        },
    )
    shown = api.get(f"{PATH}/views/{made['id']}").body
    assert shown["query"]["filter"] == mine["filter"]
    assert [key["field"] for key in shown["query"]["sort"]] == ["updated_by"]
    assert [one["field"] for part in ("columns", "groups", "footers") for one in shown[part]] == [
        "updated_by",
        "created_by",
        "updated_by",
    ]
    assert (shown["missing"], shown["remedies"]) == ([], [])
    switch(account, api, "updated_by", on=False)
    (remedy,) = api.get(f"{PATH}/views/{made['id']}").body["remedies"]
    assert remedy["path"] == f"{PATH}/attributes/updated_by"


def test_jobs_take_the_issues_of_a_writer(account: Cloud, api: Client, filled: str) -> None:
    only = is_("updated_by", "cyd")
    answer = api.acting(user="dee", role="editor").post(
        f"{PATH}/issues/update-matching", {"filter": only, "set": {"state": "closed"}}
    )
    account.upkeep()
    done = api.get(answer.headers["location"]).body
    assert (done["state"], done["done"], done["refused"]) == ("done", 2, 0)
    account.derive()
    assert nums(api, filter=is_("updated_by", "dee")) == [2, 5]
    assert nums(api, filter=only) == []
    rows = {"sort": [{"field": "created_by"}], "from": 0, "to": 1}
    api.post(f"{PATH}/issues/delete-matching", {"filter": None, "rows": rows})
    account.upkeep()
    account.derive()
    assert nums(api) == [3, 4, 5]
    assert differences_in(account.table) == []


def test_exports_have_them_and_are_filtered_and_sorted_by_them(
    account: Cloud, api: Client, filled: str
) -> None:
    query = {
        "filter": {"not": is_("created_by", "bob")},
        "sort": [{"field": "updated_by", "direction": "desc"}],
    }
    found = lines(exported(account, api, PATH, query=query))
    assert [(one["num"], one["created_by"], one["updated_by"]) for one in found] == [
        ("5", "cyd", "cyd"),
        ("2", "ann", "cyd"),
        ("1", "ann", "ann"),
    ]
    chosen = exported(account, api, PATH, query={**query, "columns": ["updated_by"]})
    assert [[*one] for one in lines(chosen)] == [["updated_by"]] * 3
    rows = [loads(line) for line in exported(account, api, PATH, "ndjson", query=query).splitlines()]
    assert rows == grid(api, **query)["rows"]


# History, trash and undo


def test_a_deleted_issue_leaves_its_writers_and_a_restored_one_has_a_new_one(
    account: Cloud, api: Client, filled: str
) -> None:
    assert account.api(user="cyd").delete(f"{PATH}/issues/1").status == 204
    account.derive()
    assert nums(api, filter=is_("created_by", "ann")) == [2]
    assert nums(api, filter=is_("updated_by", "cyd")) == [2, 5]
    assert account.api(user="dee").post(f"{PATH}/trash/1/restore", b"").status == 200
    account.derive()
    assert nums(api, filter=is_("created_by", "ann")) == [1, 2]
    assert nums(api, filter=is_("updated_by", "dee")) == [1]
    assert differences_in(account.table) == []


def test_undo_is_a_write_of_the_user_who_undoes(account: Cloud, api: Client, filled: str) -> None:
    account.follow()
    change = "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3"
    cyd = account.api(user="cyd")
    written = cyd.patch(f"{PATH}/issues/1", {"name": "x"}, headers={"x-change-id": change})
    token = {"x-consistency-token": written.headers["x-consistency-token"]}
    account.follow()
    assert nums(api, filter=is_("updated_by", "cyd")) == [1, 2, 5]
    undone = api.acting(user="ann").post(f"{PATH}/undo", {"change": change}, headers=token)
    assert undone.status == 200, undone.text
    account.follow()
    assert nums(api, filter=is_("updated_by", "cyd")) == [2, 5]
    assert nums(api, filter=is_("updated_by", "ann")) == [1, 4]
    assert differences_in(account.table) == []


# Followed rows


def test_followed_rows_enter_and_leave_with_their_writer(account: Cloud, api: Client, filled: str) -> None:
    account.follow()
    query = {"filter": is_("updated_by", "ann"), "sort": [{"field": "created_by", "direction": "desc"}]}
    rows = Rows(api, query)
    rows.keys = {row["num"]: row["key"] for row in grid(api, keys=True, **query)["rows"]}
    assert rows.shown == [4, 1]
    for num, user in ((1, "cyd"), (5, "ann"), (4, "ann"), (5, "bob"), (2, "ann"), (5, "ann")):
        edit(account, user, num, name=f"{num} by {user}")
        account.follow()
    moves = [(one["num"], one["move"]) for one in rows.poll()]
    assert moves == [(1, "leave"), (5, "enter"), (4, "update"), (5, "leave"), (2, "enter"), (5, "enter")]
    assert account.api(user="cyd").delete(f"{PATH}/issues/2").status == 204
    account.follow()
    assert account.api(user="ann").post(f"{PATH}/trash/2/restore", b"").status == 200
    account.follow()
    assert [(one["num"], one["move"]) for one in rows.poll()] == [(2, "leave"), (2, "enter")]
    assert (rows.resets, rows.shown) == (0, nums(api, **query))
