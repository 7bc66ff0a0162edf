"""Views in an order of one's own: made, placed in, read, followed, and removed with their views."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from gridview.commands import manual_orders, placing, undo
from gridview.encoding import keys
from gridview.encoding.fractional_keys import default_key
from gridview.encoding.json_codec import dumps
from gridview.maintenance.rebalancing import Rebalancing
from gridview.schema import placements
from gridview.schema.jobs import Hint
from gridview.schema.manual_orders import MAX_MANUAL_ORDERS
from gridview.schema.placements import Placements
from gridview.schema.store import Catalogs
from gridview.support import clock
from tests.support import recorded_changes
from tests.support.cloud import Cloud
from tests.support.depth import one_of
from tests.support.http import Answer, Client
from tests.support.stream import Stream

PLAIN = ("0807", "plain")
OPEN = {"field": "state", "op": "eq", "value": "open"}


def by(view: str) -> list[dict[str, str]]:
    """The order of a view."""
    return [{"manual": view}]


def make(api: Client, project: str, visibility: str = "shared", name: str = "Mine") -> str:
    """Make a view that is sorted by hand. Returns its id."""
    made: str = api.made(f"{project}/views", {"name": name, "visibility": visibility})["id"]
    answer = sort_by_hand(api, project, made)
    assert answer.status == 200, answer.text
    return made


def sort_by_hand(api: Client, project: str, view: str) -> Answer:
    return api.patch(f"{project}/views/{view}", {"query": {"sort": by(view)}})


def place(api: Client, project: str, view: str, *nums: int, **anchor: int | None) -> list[dict[str, Any]]:
    answer = api.post(f"{project}/views/{view}/order", {"nums": nums, **anchor})
    assert answer.status == 200, answer.text
    items: list[dict[str, Any]] = answer.body["items"]
    return items


def rows(api: Client, project: str, view: str, **query: Any) -> list[int]:
    """The issues in the order of a view."""
    answer = api.post(f"{project}/grid", {"sort": by(view), "limit": 500, **query})
    assert answer.status == 200, answer.text
    return [row["num"] for row in answer.body["rows"]]


def changes(api: Client, project: str, since: str, **query: Any) -> Answer:
    return api.get(f"{project}/changes", query={"since": since, **query})


@pytest.fixture
def issues(api: Client, account: Cloud, project: str) -> str:
    """A project with ten issues."""
    for num in range(1, 11):
        api.made(f"{project}/issues", {"name": f"issue {num}"})
    account.derive()
    return project


@pytest.fixture
def view(api: Client, account: Cloud, issues: str) -> str:
    """A view whose order is built."""
    made = make(api, issues)
    account.upkeep()
    return made


# Making an order


def test_an_order_begins_when_its_view_is_sorted_by_it(api: Client, account: Cloud, issues: str) -> None:
    made = api.made(f"{issues}/views", {"name": "Mine", "visibility": "shared"})
    assert made["manual_order"] is None
    answer = sort_by_hand(api, issues, made["id"])
    assert (answer.status, answer.body["query"]["sort"], answer.body["manual_order"]) == (
        200,
        by("v1"),
        "building",
    )
    building = api.post(f"{issues}/grid", {"sort": by("v1")})
    assert building.kind == (409, "index-building")
    assert building.body["build"] == {"state": "building", "done": 0, "total": 10}
    refused = api.post(f"{issues}/views/v1/order", {"nums": [1], "before": None})
    assert (refused.kind, refused.body["build"]) == ((409, "index-building"), building.body["build"])
    account.upkeep()
    assert api.get(f"{issues}/views/v1").body["manual_order"] == "ready"
    assert rows(api, issues, "v1") == [*range(1, 11)]


def test_sorting_a_view_otherwise_keeps_its_order(
    api: Client, account: Cloud, issues: str, view: str
) -> None:
    place(api, issues, view, 9, after=None)
    account.derive()
    answer = api.patch(f"{issues}/views/{view}", {"query": {"sort": [{"field": "name"}]}})
    assert (answer.body["manual_order"], answer.body["remedies"]) == ("ready", [])
    assert rows(api, issues, view)[0] == 9
    assert sort_by_hand(api, issues, view).body["manual_order"] == "ready"
    assert rows(api, issues, view)[0] == 9


def test_a_view_that_is_changed_otherwise_keeps_its_order(api: Client, issues: str, view: str) -> None:
    answer = api.patch(f"{issues}/views/{view}", {"name": "Other", "row_height": 40})
    assert (answer.body["query"]["sort"], answer.body["manual_order"]) == (by(view), "ready")
    assert api.get(f"{issues}/views").body["items"][0]["query"]["sort"] == by(view)


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({"sort": [{"manual": "v9"}]}, {"query.sort.0.manual": "must be the id of the view itself"}),
        (
            {"sort": [{"manual": "9"}]},
            {"query.sort.0.manual": "String should match pattern '^v[1-9][0-9]{0,7}$'"},
        ),
        ({"sort": [{}]}, {"query.sort.0.field": "is required"}),
        (
            {"sort": [{"manual": "v1", "field": "name"}]},
            {"query.sort.0.field": "cannot be combined with manual"},
        ),
        (
            {"sort": [{"manual": "v1", "direction": "desc"}]},
            {"query.sort.0.direction": "cannot be combined with manual"},
        ),
        (
            {"sort": [{"field": "name"}, {"manual": "v1"}]},
            {"query.sort": "can have no other key beside a manual order"},
        ),
    ],
)
def test_orders_that_a_view_cannot_have(
    api: Client, issues: str, body: dict[str, Any], errors: dict[str, str]
) -> None:
    api.made(f"{issues}/views", {"name": "Mine", "visibility": "shared"})
    answer = api.patch(f"{issues}/views/v1", {"query": body})
    assert (answer.status, answer.errors) == (400, errors)


def test_a_new_view_names_no_order(api: Client, issues: str) -> None:
    body = {"name": "Mine", "visibility": "shared", "query": {"sort": by("v1")}}
    answer = api.post(f"{issues}/views", body)
    assert answer.errors == {"query.sort.0.manual": "is not possible before the view exists"}


def test_a_private_view_has_no_order(api: Client, account: Cloud, issues: str, view: str) -> None:
    api.made(f"{issues}/views", {"name": "Own"})
    refused = {"query.sort.0.manual": "is not possible for a private view"}
    assert sort_by_hand(api, issues, "v2").errors == refused
    both = api.patch(f"{issues}/views/{view}", {"visibility": "private", "query": {"sort": by(view)}})
    assert both.errors == refused
    place(api, issues, view, 9, after=None)
    answer = api.patch(f"{issues}/views/{view}", {"visibility": "private"})
    assert (answer.body["query"]["sort"], answer.body["manual_order"]) == ([], None)
    assert api.post(f"{issues}/grid", {"sort": by(view)}).errors == {
        "sort.0.manual": "is not a view with a manual order"
    }
    shared = {"visibility": "shared", "query": {"sort": by(view)}}
    assert api.patch(f"{issues}/views/{view}", shared).body["manual_order"] == "building"
    account.upkeep()
    assert rows(api, issues, view) == [*range(1, 11)], "another order begins with the numbers"


def test_a_project_has_at_most_ten_orders(api: Client, issues: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_MANUAL_ORDERS == 10
    monkeypatch.setattr(manual_orders, "MAX_MANUAL_ORDERS", 2)
    make(api, issues), make(api, issues)
    api.made(f"{issues}/views", {"name": "Third", "visibility": "shared"})
    assert sort_by_hand(api, issues, "v3").kind == (422, "limit-exceeded")
    assert api.delete(f"{issues}/views/v1").status == 204
    assert sort_by_hand(api, issues, "v3").status == 200


def test_editors_sort_shared_views_by_hand(api: Client, account: Cloud, issues: str) -> None:
    editor, viewer = account.api(role="editor", user="eve"), account.api(role="viewer", user="vic")
    made = make(editor, issues)
    account.upkeep()
    assert place(editor, issues, made, 3, after=None)[0]["num"] == 3
    account.derive()
    answer = viewer.post(f"{issues}/views/{made}/order", {"nums": [4], "after": None})
    assert answer.kind == (403, "forbidden")
    assert rows(viewer, issues, made)[0] == 3


def test_a_default_view_that_another_replaces_keeps_its_order(
    api: Client, account: Cloud, issues: str
) -> None:
    made = make(api, issues, "default")
    account.upkeep()
    api.made(f"{issues}/views", {"name": "New", "visibility": "default"})
    answer = api.get(f"{issues}/views/{made}").body
    assert (answer["visibility"], answer["manual_order"]) == ("shared", "ready")


# The end of an order


def values(account: Cloud) -> set[str]:
    """The internal ids of the values in the documents."""
    documents = (one for one in account.table.items.values() if one.get("num") and "fields" in one)
    return {key for one in documents for key in one["fields"]}


def test_an_order_ends_with_its_view(api: Client, account: Cloud, issues: str, view: str) -> None:
    place(api, issues, view, 9, 8, after=None)
    account.derive()
    assert values(account) == {"m1"}
    api.delete(f"{issues}/views/{view}")
    assert api.post(f"{issues}/grid", {"sort": by(view)}).errors == {
        "sort.0.manual": "is not a view with a manual order"
    }
    assert api.post(f"{issues}/views/{view}/order", {"nums": [1], "after": None}).status == 404
    account.upkeep()
    assert values(account) == set()
    left = [key for key in account.table.items if ".m1" in key[1] or ".m1" in key[0]]
    assert [key for key in left if "sort" in account.table.items[key]] == []
    assert Catalogs().reload(account.table, *PLAIN).definitions[-1].key != "m1"


def test_an_edit_removes_the_rank_of_an_order_that_ended(
    api: Client, account: Cloud, issues: str, view: str
) -> None:
    place(api, issues, view, 9, after=None)
    api.delete(f"{issues}/views/{view}")
    api.patch(f"{issues}/issues/9", {"name": "other"})
    assert values(account) == set()


def test_a_deleted_project_loses_its_placements(api: Client, account: Cloud, issues: str, view: str) -> None:
    place(api, issues, view, 9, after=None)
    stored = (keys.placements(*PLAIN), keys.JOB)
    assert stored in account.table.items
    api.delete(issues)
    api.delete("/v1/deleted-projects/plain")
    account.upkeep()
    account.upkeep()
    assert stored not in account.table.items


# Placing


@pytest.mark.parametrize(
    ("nums", "anchor", "expected"),
    [
        ([7], {"after": 2}, [1, 2, 7, 3, 4, 5, 6, 8, 9, 10]),
        ([7], {"before": 2}, [1, 7, 2, 3, 4, 5, 6, 8, 9, 10]),
        ([7], {"before": None}, [1, 2, 3, 4, 5, 6, 8, 9, 10, 7]),
        ([7], {"after": None}, [7, 1, 2, 3, 4, 5, 6, 8, 9, 10]),
        ([9, 3, 6], {"after": 4}, [1, 2, 4, 9, 3, 6, 5, 7, 8, 10]),
        ([5, 4, 3], {"before": 6}, [1, 2, 5, 4, 3, 6, 7, 8, 9, 10]),
        ([1, 2, 3], {"before": None}, [4, 5, 6, 7, 8, 9, 10, 1, 2, 3]),
        ([10, 9], {"after": None}, [10, 9, 1, 2, 3, 4, 5, 6, 7, 8]),
        ([2, 1, 3, 4, 5, 6, 7, 8, 9, 10], {"after": None}, [2, 1, 3, 4, 5, 6, 7, 8, 9, 10]),
    ],
)
def test_placing(
    api: Client,
    account: Cloud,
    issues: str,
    view: str,
    nums: list[int],
    anchor: dict[str, int | None],
    expected: list[int],
) -> None:
    placed = place(api, issues, view, *nums, **anchor)
    assert [one["num"] for one in placed] == nums
    account.derive()
    assert rows(api, issues, view) == expected
    answer = api.post(f"{issues}/grid", {"sort": by(view), "keys": True}).body["rows"]
    found = {row["num"]: (row["key"], row["version"]) for row in answer}
    assert {one["num"]: (one["key"], one["version"]) for one in placed}.items() <= found.items()
    assert [row["num"] for row in sorted(answer, key=lambda row: row["key"])] == expected


def test_only_the_rows_of_the_request_are_written(
    api: Client, account: Cloud, issues: str, view: str
) -> None:
    place(api, issues, view, 7, after=2)
    versions = {num: api.get(f"{issues}/issues/{num}").body["version"] for num in range(1, 11)}
    assert versions == {**dict.fromkeys(range(1, 11), 1), 7: 2}
    before = len(account.table.items)
    again = place(api, issues, view, 7, after=2)
    assert again[0]["version"] == 2, "it is in place already"
    assert len(account.table.items) == before


def test_a_placement_is_hidden_in_the_issue(api: Client, account: Cloud, issues: str, view: str) -> None:
    before = api.get(f"{issues}/issues/7").body
    place(account.api(user="bob"), issues, view, 7, after=2)
    assert api.get(f"{issues}/issues/7").body == {**before, "version": 2}
    for name in ("columns", "filter"):
        body = {"columns": ["m1"]} if name == "columns" else {"filter": {"field": "m1", "op": "is_empty"}}
        assert api.post(f"{issues}/grid", body).status == 400
    assert api.patch(f"{issues}/issues/7", {"fields": {"m1": "V"}}).status == 400
    assert api.get(f"{issues}/attributes/manual.{view}").status in (400, 403, 404)
    assert api.get(issues).body["attributes"] == []


def test_clearing_all_fields_keeps_the_place(api: Client, account: Cloud, issues: str, view: str) -> None:
    place(api, issues, view, 7, after=2)
    assert api.patch(f"{issues}/issues/7", {"name": "x", "fields": None}).body["version"] == 3
    account.derive()
    assert rows(api, issues, view)[2] == 7


def test_a_restored_issue_has_its_place_again(api: Client, account: Cloud, issues: str, view: str) -> None:
    place(api, issues, view, 7, after=2)
    api.delete(f"{issues}/issues/7")
    account.derive()
    assert 7 not in rows(api, issues, view)
    api.post(f"{issues}/trash/7/restore")
    account.derive()
    assert rows(api, issues, view)[2] == 7


def test_deleted_issues_are_left_out(api: Client, account: Cloud, issues: str, view: str) -> None:
    api.delete(f"{issues}/issues/7")
    assert [one["num"] for one in place(api, issues, view, 7, 8, 99, after=2)] == [8]
    assert place(api, issues, view, 7, after=2) == []


def test_deleted_rows_that_the_index_still_has_are_no_end_of_the_order(
    api: Client, account: Cloud, issues: str, view: str
) -> None:
    for num in range(1, 6):
        api.delete(f"{issues}/issues/{num}")
    place(api, issues, view, 8, after=None)
    account.derive()
    assert rows(api, issues, view) == [8, 6, 7, 9, 10]


def test_later_rows_of_a_request_stay_before_an_anchor_that_the_index_lacks(
    api: Client, account: Cloud, issues: str, view: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placing, "TOGETHER", 1)
    place(api, issues, view, 2, after=1)
    api.delete(f"{issues}/issues/4")
    account.derive()
    api.post(f"{issues}/trash/4/restore")
    place(api, issues, view, 6, 7, 8, 9, 10, before=4)
    account.derive()
    assert rows(api, issues, view) == [1, 2, 3, 6, 7, 8, 9, 10, 4, 5]


def test_an_anchor_that_is_gone(api: Client, issues: str, view: str) -> None:
    api.delete(f"{issues}/issues/2")
    for anchor in (2, 99):
        answer = api.post(f"{issues}/views/{view}/order", {"nums": [7], "after": anchor})
        assert answer.kind == (409, "anchor-gone")


@pytest.mark.parametrize(
    ("body", "place_of_error"),
    [
        ({"nums": [1]}, "body"),
        ({"nums": [1], "before": 2, "after": 3}, "body"),
        ({"nums": [1], "before": 1}, "before"),
        ({"nums": [], "before": 1}, "nums"),
        ({"nums": [1, 1], "before": 2}, "nums"),
        ({"nums": [*range(1, 502)], "before": None}, "nums"),
        ({"nums": [0], "before": None}, "nums.0"),
        ({"nums": [1], "before": 100_000_000}, "before"),
        ({"nums": [1], "before": "2"}, "before"),
        ({"nums": [1], "before": 2, "rank": "V"}, "rank"),
    ],
)
def test_requests_that_are_not_valid(
    api: Client, issues: str, view: str, body: dict[str, Any], place_of_error: str
) -> None:
    answer = api.post(f"{issues}/views/{view}/order", body)
    assert (answer.status, [*answer.errors]) == (400, [place_of_error])


def test_a_view_without_an_order(api: Client, account: Cloud, issues: str) -> None:
    api.made(f"{issues}/views", {"name": "Shared", "visibility": "shared"})
    answer = api.post(f"{issues}/views/v1/order", {"nums": [7], "after": 1})
    assert answer.kind == (409, "conflict")
    assert (
        'PATCH /v1/projects/plain/views/v1 {"query": {"sort": [{"manual": "v1"}]}}' in answer.body["detail"]
    )
    account.api(user="bob").made(f"{issues}/views", {"name": "Bob's"})
    for unknown in ("v2", "v3"):
        body = {"nums": [7], "after": 1}
        assert api.post(f"{issues}/views/{unknown}/order", body).kind == (404, "not-found")


def test_a_placement_is_a_change_and_has_a_token(api: Client, issues: str, view: str) -> None:
    change = "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3"
    answer = api.post(
        f"{issues}/views/{view}/order", {"nums": [7], "after": 2}, headers={"x-change-id": change}
    )
    assert answer.headers["x-change-id"] == change
    token = {"x-consistency-token": answer.headers["x-consistency-token"]}
    shown = api.post(f"{issues}/grid", {"sort": by(view)}, headers=token)
    assert [row["num"] for row in shown.body["rows"]][:4] == [1, 2, 7, 3], "the index does not have it yet"


def test_a_request_under_a_key_is_carried_out_once(api: Client, issues: str, view: str) -> None:
    path, body = f"{issues}/views/{view}/order", {"nums": [7], "after": 2}
    first = api.post(path, body, headers={"idempotency-key": "k"})
    place(api, issues, view, 7, after=9)
    again = api.post(path, body, headers={"idempotency-key": "k"})
    assert (again.status, again.body) == (first.status, first.body)
    assert api.post(path, {"nums": [7], "after": 3}, headers={"idempotency-key": "k"}).status == 409
    assert api.get(f"{issues}/issues/7").body["version"] == 3


def test_many_rows_are_placed_in_several_transactions(
    api: Client, account: Cloud, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placing, "TOGETHER", 3)
    monkeypatch.setattr(placing, "_BYTES_TOGETHER", 400)
    for num in range(12):
        api.made(f"{project}/issues", {"name": f"issue {num}"})
    account.derive()
    made = make(api, project)
    account.upkeep()
    assert len(place(api, project, made, 12, 3, 11, 5, 10, 7, 9, before=2)) == 7
    account.derive()
    assert rows(api, project, made) == [1, 12, 3, 11, 5, 10, 7, 9, 2, 4, 6, 8]
    place(api, project, made, 2, 4, 6, 8, 1, 12, 3, after=None)
    place(api, project, made, 5, 11, 10, 2, before=None)
    account.derive()
    assert rows(api, project, made) == [4, 6, 8, 1, 12, 3, 7, 9, 5, 11, 10, 2]


def test_a_new_issue_comes_after_the_rows_that_were_placed_last(
    api: Client, account: Cloud, issues: str, view: str
) -> None:
    place(api, issues, view, 1, 2, before=None)
    place(api, issues, view, 3, before=None)
    api.made(f"{issues}/issues", {"name": "new"})
    account.derive()
    assert rows(api, issues, view) == [*range(4, 11), 1, 2, 3, 11]


def test_two_orders_of_a_project_are_independent(api: Client, account: Cloud, issues: str, view: str) -> None:
    other = make(api, issues)
    account.upkeep()
    place(api, issues, view, 7, after=None)
    place(api, issues, other, 8, after=None)
    account.derive()
    assert (rows(api, issues, view)[:2], rows(api, issues, other)[:2]) == ([7, 1], [8, 1])


# Reading


def test_pages_counts_and_row_numbers(api: Client, account: Cloud, issues: str, view: str) -> None:
    place(api, issues, view, 9, 3, 6, after=4)
    api.patch(f"{issues}/issues/3", {"state": "closed"})
    account.derive()
    first = api.post(f"{issues}/grid", {"sort": by(view), "limit": 4, "filter": OPEN, "count": True}).body
    assert ([row["num"] for row in first["rows"]], first["matched"]) == ([1, 2, 4, 9], 9)
    rest = {"sort": by(view), "filter": OPEN, "cursor": first["next"]}
    assert [row["num"] for row in api.post(f"{issues}/grid", rest).body["rows"]] == [6, 5, 7, 8, 10]
    assert rows(api, issues, view, offset=7) == [7, 8, 10]
    path = f"{issues}/issues/6/row-number"
    found = api.get(path, query={"sort": dumps(by(view)).decode(), "filter": dumps(OPEN).decode()})
    assert found.body["row_number"] == 4
    shown = api.get(f"{issues}/grid", query={"sort": dumps(by(view)).decode()})
    assert [row["num"] for row in shown.body["rows"]][:3] == [1, 2, 4]


def test_a_cursor_of_an_order_that_ended(api: Client, account: Cloud, issues: str, view: str) -> None:
    page = api.post(f"{issues}/grid", {"sort": by(view), "limit": 4}).body
    api.patch(f"{issues}/views/{view}", {"visibility": "private"})
    api.patch(f"{issues}/views/{view}", {"visibility": "shared", "query": {"sort": by(view)}})
    account.upkeep()
    answer = api.post(f"{issues}/grid", {"sort": by(view), "cursor": page["next"]})
    assert answer.status == 400


def test_jobs_take_rows_of_the_order(api: Client, account: Cloud, issues: str, view: str) -> None:
    place(api, issues, view, 9, 3, after=None)
    account.derive()
    body = {"filter": None, "rows": {"sort": by(view), "from": 0, "to": 1}, "set": {"state": "closed"}}
    job = api.post(f"{issues}/issues/update-matching", body)
    assert job.status == 202, job.text
    account.upkeep()
    closed = [num for num in range(1, 11) if api.get(f"{issues}/issues/{num}").body["state"] == "closed"]
    assert closed == [3, 9]


def test_exports_have_the_order(api: Client, account: Cloud, issues: str, view: str) -> None:
    place(api, issues, view, 9, 3, after=None)
    account.derive()
    for query in ({"view": view}, {"sort": by(view), "columns": ["num"]}):
        job = api.post(f"{issues}/export", {"query": query, "format": "ndjson"})
        assert job.status == 202, job.text
        account.upkeep()
        assert api.get(f"{issues}/jobs/{job.body['id']}").body["state"] == "done"


# Histories


def test_a_placement_is_in_no_list_of_changes(api: Client, account: Cloud, issues: str, view: str) -> None:
    change = {"x-change-id": "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3"}
    stream = Stream(account)
    stream.deliver()
    api.patch(f"{issues}/issues/7", {"name": "one"}, headers=change)
    stream.look()
    api.post(f"{issues}/views/{view}/order", {"nums": [7], "after": 2}, headers=change)
    stream.look()
    api.patch(f"{issues}/issues/7", {"name": "two"})
    stream.look()
    api.delete(f"{issues}/issues/7")
    stream.deliver()
    history = api.get(f"{issues}/issues/7/history").body["items"]
    assert [one["version"] for one in history] == [5, 4, 2, 1]
    assert all("m1" not in one["fields"] for one in history)
    pages = [api.get(f"{issues}/issues/7/history", query={"limit": "1"}).body]
    while pages[-1]["next"] is not None:
        query = {"limit": "1", "cursor": pages[-1]["next"]}
        pages.append(api.get(f"{issues}/issues/7/history", query=query).body)
    assert [one["version"] for page in pages for one in page["items"]] == [5, 4, 2, 1]
    activity = api.get(f"{issues}/activity").body["items"]
    assert [one["version"] for one in activity if one["num"] == 7] == [5, 4, 2, 1]


def test_an_undo_leaves_the_place(
    api: Client, account: Cloud, issues: str, view: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo, "SETTLED", 0.0)
    recorded_changes.on_time(account.table)
    change = "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3"
    api.patch(f"{issues}/issues/7", {"name": "one"}, headers={"x-change-id": change})
    api.post(f"{issues}/views/{view}/order", {"nums": [7, 8], "after": 2}, headers={"x-change-id": change})
    account.follow()
    answer = api.post(f"{issues}/undo", {"change": change})
    assert (answer.status, [one["num"] for one in answer.body["undone"]]) == (200, [7]), answer.text
    account.derive()
    assert api.get(f"{issues}/issues/7").body["name"] == "issue 7"
    assert rows(api, issues, view)[2:4] == [7, 8]


def test_a_placement_by_another_is_no_obstacle_to_an_undo(
    api: Client, account: Cloud, issues: str, view: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo, "SETTLED", 0.0)
    recorded_changes.on_time(account.table)
    change = "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3"
    made = api.made(f"{issues}/issues", {"name": "new"}, headers={"x-change-id": change})["num"]
    place(account.api(user="bob"), issues, view, made, after=2)
    account.follow()
    answer = api.post(f"{issues}/undo", {"change": change})
    assert [one["num"] for one in answer.body["undone"]] == [made], answer.text


# Following


def test_followers_of_the_view_get_a_move(api: Client, account: Cloud, issues: str, view: str) -> None:
    stream = Stream(account)
    stream.deliver()
    since = api.get(f"{issues}/changes", query={"view": view}).body["next"]
    (before,) = [
        row["key"]
        for row in api.post(f"{issues}/grid", {"sort": by(view), "keys": True}).body["rows"]
        if row["num"] == 7
    ]
    (placed,) = place(account.api(user="bob"), issues, view, 7, after=2)
    stream.deliver()
    (event,) = changes(api, issues, since, view=view).body["items"]
    assert (event["kind"], event["by"], event["fields"], event["version"]) == ("update", "bob", {}, 2)
    assert (event["move"], event["key"], event["previous_key"]) == ("update", placed["key"], before)


def test_followers_by_the_time_of_edits_see_no_move(
    api: Client, account: Cloud, issues: str, view: str
) -> None:
    query = {"sort": "-updated"}
    stream = Stream(account)
    stream.deliver()
    since = api.get(f"{issues}/changes", query=query).body["next"]
    place(account.api(user="bob"), issues, view, 7, after=2)
    stream.look()
    api.patch(f"{issues}/issues/7", {"name": "x"})
    stream.deliver()
    moved, edited = changes(api, issues, since, **query).body["items"]
    assert moved["key"] == moved["previous_key"] == edited["previous_key"] != edited["key"]


def test_a_webhook_of_the_view_gets_no_move(api: Client, account: Cloud, issues: str, view: str) -> None:
    body = {"url": "https://hooks.example.org/x", "view": view}
    made = api.made(f"{issues}/webhooks", body)
    assert made["frozen"]["query"] == {"sort": [], "filter": None}


class Follower:
    """The rows of a client that follows a view: read once, and moved by events."""

    def __init__(self, api: Client, project: str, view: str) -> None:
        self._api, self._project, self._view = api, project, view
        self._cursor: str = api.get(f"{project}/changes", query={"view": view}).body["next"]
        answer = api.post(f"{project}/grid", {"sort": by(view), "keys": True, "limit": 500})
        self._keys = {row["num"]: row["key"] for row in answer.body["rows"]}

    def rows(self) -> list[int]:
        """The rows after all events."""
        while True:
            answer = changes(self._api, self._project, self._cursor, view=self._view)
            assert answer.status == 200, answer.text
            self._cursor = answer.body["next"]
            for event in answer.body["items"]:
                assert event["kind"] != "reset"
                if event["key"] is None:
                    del self._keys[event["num"]]
                else:
                    self._keys[event["num"]] = event["key"]
            if not answer.body["items"]:
                return sorted(self._keys, key=lambda num: self._keys[num])


@pytest.mark.parametrize("seed", range(one_of(3, thorough=30)))
def test_random_placements_are_as_in_a_list(
    api: Client, account: Cloud, issues: str, view: str, seed: int
) -> None:
    """Placements know each other before the index knows them, and followers end with the order of the grid."""
    random = Random(seed)  # noqa: S311 - the same seed is the same test
    order = [*range(1, 11)]
    stream = Stream(account)
    stream.deliver()
    follower = Follower(api, issues, view)
    for _ in range(60):
        act = random.random()
        if act < 0.7 and len(order) > 4:
            nums = random.sample(order, random.randint(1, 3))
            others = [num for num in order if num not in nums]
            side, anchor = random.choice(["before", "after"]), random.choice([None, *others])
            place(api, issues, view, *nums, **{side: anchor})
            at = {"before": len(others), "after": 0}[side]
            if anchor is not None:
                at = others.index(anchor) + (side == "after")
            order = [*others[:at], *nums, *others[at:]]
        elif act < 0.8 and len(order) > 4:
            gone = random.choice(order)
            api.delete(f"{issues}/issues/{gone}")
            order.remove(gone)
        elif act < 0.9:
            made = api.made(f"{issues}/issues", {"name": "new"})["num"]
            order.append(made)
        else:
            api.patch(f"{issues}/issues/{random.choice(order)}", {"name": f"name {random.random()}"})
        stream.look()
        if random.random() < 0.2:
            stream.deliver()
            if random.random() < 0.3:
                account.fold()
    stream.deliver()
    assert rows(api, issues, view) == order
    assert follower.rows() == order


def recent(account: Cloud) -> list[int]:
    """The issues of the placements that are kept, the oldest first."""
    stored = Placements.from_item(account.table.get(keys.placements(*PLAIN), keys.JOB))
    return [one.num for one in stored.recent]


def test_placements_are_known_until_the_index_has_them(
    api: Client, account: Cloud, issues: str, view: str, later: Callable[[float], None]
) -> None:
    stream = Stream(account)
    stream.deliver()
    place(api, issues, view, 5, after=1)
    stream.look()
    later(3_600)
    place(api, issues, view, 6, after=1)
    stream.look()
    place(api, issues, view, 7, after=6)
    stream.look()
    assert recent(account) == [5, 6, 7]
    stream.deliver()
    assert rows(api, issues, view)[:5] == [1, 6, 7, 5, 2]
    later(3_600)
    place(api, issues, view, 8, after=1)
    assert recent(account) == [8]


def test_no_row_is_placed_while_the_index_lacks_too_many_placements(
    api: Client, account: Cloud, issues: str, view: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placements, "MOST", 3)
    monkeypatch.setattr(clock, "sleep", lambda _: None)
    stream = Stream(account)
    stream.deliver()
    place(api, issues, view, 5, 6, 7, after=1)
    stream.look()
    refused = api.post(f"{issues}/views/{view}/order", {"nums": [8], "after": 1})
    assert refused.kind == (503, "overloaded")
    assert refused.headers["retry-after"]
    # One that is placed again takes no other's place.
    place(api, issues, view, 6, after=1)
    stream.look()
    stream.deliver()
    place(api, issues, view, 8, after=1)
    assert recent(account) == [8]
    stream.look()
    stream.deliver()
    assert rows(api, issues, view)[:6] == [1, 8, 6, 5, 7, 2]


# Long ranks


def ranks(account: Cloud) -> list[str]:
    documents = (one for one in account.table.items.values() if one.get("num") and "fields" in one)
    return [one["fields"]["m1"] for one in documents if "m1" in one["fields"]]


def test_long_ranks_are_rebalanced_in_the_background(
    api: Client, account: Cloud, issues: str, view: str
) -> None:
    stream = Stream(account)
    stream.deliver()
    follower = Follower(api, issues, view)
    order = [*range(1, 11)]
    for _ in range(300):
        num = order[-1]
        place(api, issues, view, num, after=1)
        order = [1, num, *(one for one in order[1:] if one != num)]
        stream.look()
        if max(map(len, ranks(account))) > 24:
            break
    else:
        raise AssertionError("ranks do not grow")
    stored = Placements.from_item(account.table.get(keys.placements(*PLAIN), keys.JOB))
    assert stored.due
    stream.deliver()
    account.upkeep()
    stream.deliver()
    assert max(map(len, ranks(account))) <= 12
    assert rows(api, issues, view) == order == follower.rows()
    stored = Placements.from_item(account.table.get(keys.placements(*PLAIN), keys.JOB))
    assert (stored.due, stored.long) == ("", ())
    place(api, issues, view, order[-1], after=1)


def test_without_room_a_placement_waits_for_the_rebalance(
    api: Client, account: Cloud, issues: str, view: str
) -> None:
    for num, rank in ((3, "V"), (4, "V" + "0" * 29 + "1")):
        document = account.table.get(*issue_key(num), consistent=True)
        assert document is not None
        document = {**document, "fields": {"m1": rank}, "version": 2}
        account.table.put(
            {**document, "changed": {"m1": 2}, "placed_at": document["updated"], "placed_by": ""}
        )
    account.derive()
    answer = api.post(f"{issues}/views/{view}/order", {"nums": [7], "after": 3})
    assert answer.kind == (409, "index-building")
    stored = Placements.from_item(account.table.get(keys.placements(*PLAIN), keys.JOB))
    hint = Hint(keys.placements(*PLAIN), stored.due)
    # Without time, a turn takes nothing: it would only hand the rest on again.
    assert Rebalancing(account.table, Catalogs(), *PLAIN).take_turn(hint, lambda: 0.0) is None
    assert stored == Placements.from_item(account.table.get(keys.placements(*PLAIN), keys.JOB))
    account.upkeep()
    account.derive()
    place(api, issues, view, 7, after=3)
    account.derive()
    assert rows(api, issues, view)[-3:] == [3, 7, 4]


def test_a_row_keeps_its_place_though_an_earlier_state_of_its_document_is_read(
    api: Client, account: Cloud, issues: str, view: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, hidden = Stream(account), issue_key(11)
    account.table.stale(lambda _, __: 0)
    api.made(f"{issues}/issues", {"name": "issue 11"})
    place(api, issues, view, 11, after=1)
    stream.deliver()
    # The index has had it for longer than placements are kept.
    monkeypatch.setattr(placements, "_KEPT_SECONDS", 0)
    place(api, issues, view, 2, after=3)
    stream.deliver()
    account.table.stale(lambda key, states: states if key == hidden else 0)
    for _ in range(8):
        place(api, issues, view, 2, after=1)
        order = [1, 2, 11, *range(3, 11)]
        assert sorted(order, key=lambda num: ranked(account, num)) == order
        place(api, issues, view, 2, before=None)
    order = [1, 11, *range(3, 11), 2]
    for _ in range(300):
        num = next(one for one in (order[-1], order[0]) if one != 11)
        place(api, issues, view, num, before=11)
        order.remove(num)
        order.insert(order.index(11), num)
        stream.look()
        if max(map(len, ranks(account))) > 24:
            break
    else:
        raise AssertionError("ranks do not grow")
    stream.deliver()
    account.upkeep()
    stream.deliver()
    assert max(map(len, ranks(account))) <= 12
    account.table.stale(None)
    assert rows(api, issues, view) == order


def ranked(account: Cloud, num: int) -> str:
    """The rank of an issue in the only order of the project."""
    document = account.table.get(*issue_key(num), consistent=True)
    assert document is not None
    rank: str = document["fields"].get("m1") or default_key(num)
    return rank


def issue_key(num: int) -> tuple[str, str]:
    return keys.issue(*PLAIN, num), keys.project(*PLAIN)
