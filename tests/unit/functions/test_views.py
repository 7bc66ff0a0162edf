"""Saved views: who reads and writes them, their content, and their fate when fields and options go."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gridview.commands import pages, views
from gridview.encoding import derived_keys, keys
from gridview.query import view_answers, view_filters
from gridview.schema.catalog import MAX_ATTRIBUTES
from gridview.schema.views import MAX_PRIVATE_VIEWS, MAX_SHARED_VIEWS
from tests.support.cloud import Cloud
from tests.support.http import Client
from tests.support.many_attributes import add_attributes
from tests.support.removed import removed

FIELDS: tuple[dict[str, Any], ...] = (
    {"id": "kind", "name": "Kind", "type": "enum", "options": ["small", "large", "huge"]},
    {"id": "tags", "name": "Tags", "type": "multi_enum", "options": ["new", "old", "odd"]},
    {"id": "cost", "name": "Cost", "type": "number"},
    {"id": "due", "name": "Due", "type": "date"},
    {"id": "seen", "name": "Seen", "type": "datetime"},
    {"id": "note", "name": "Note", "type": "text", "indexed": False},
)
FILTER: dict[str, Any] = {
    "and": [
        {"field": "state", "op": "ne", "value": "closed"},
        {
            "or": [
                {"field": "kind", "op": "in", "value": ["small", "huge"]},
                {"field": "cost", "op": "gte", "value": 10},
            ]
        },
        {"not": {"field": "tags", "op": "has_any", "value": ["odd", "new"]}},
        {"field": "due", "op": "between", "value": ["2023-01-01", "2023-12-31"]},
        {"field": "note", "op": "is_empty"},
        {"field": "num", "op": "lt", "value": 1000},
    ]
}
OPEN = {"field": "state", "op": "eq", "value": "open"}
LOOK: dict[str, Any] = {
    "query": {
        "sort": [
            {"field": "cost", "direction": "desc", "nulls": "first"},
            {"field": "num", "direction": "asc", "nulls": "last"},
        ],
        "filter": FILTER,
    },
    "columns": [
        {"field": "num", "width": 72, "frozen": True},
        {"field": "name", "width": 320, "frozen": True},
        {"field": "due", "width": 120, "frozen": False},
    ],
    "groups": [
        {"field": "kind", "unit": None, "timezone": None, "bins": None, "width": None},
        {"field": "seen", "unit": "month", "timezone": "Europe/London", "bins": None, "width": None},
        {"field": "num", "unit": None, "timezone": None, "bins": [0, 99], "width": None},
    ],
    "group_order": {"field": "cost", "function": "sum", "direction": "desc"},
    "footers": [{"field": "cost", "function": "sum"}, {"field": "kind", "function": "distinct"}],
    "color_by": "kind",
    "rules": [
        {"filter": {"field": "due", "op": "lt", "value": {"today": 0}}, "color": "red", "field": "due"},
        {"filter": FILTER, "color": "blue", "field": None},
        {"filter": {"field": "state", "op": "eq", "value": "open"}, "color": "gray", "field": "name"},
    ],
    "row_height": 56,
    "kind": "board",
    "board": {
        "by": "kind",
        "columns": [
            {"value": "large", "hidden": False, "limit": 5},
            {"value": None, "hidden": True, "limit": None},
        ],
        "card": ["num", "due", "tags"],
        "aggregate": {"field": "cost", "function": "sum"},
    },
}
PLAIN: dict[str, Any] = {
    "query": {"sort": [], "filter": None},
    "columns": None,
    "groups": [],
    "group_order": None,
    "footers": [],
    "color_by": None,
    "rules": [],
    "row_height": 32,
    "kind": "grid",
    "board": None,
}


@pytest.fixture
def home(api: Client, project: str) -> str:
    """The path of the views of a project with a field of most types."""
    for field in FIELDS:
        api.made(f"{project}/attributes", field)
    return f"{project}/views"


def look(view: dict[str, Any]) -> dict[str, Any]:
    return {part: view[part] for part in PLAIN}


def names(client: Client, home: str, **query: str) -> list[str]:
    answer = client.get(home, query=query)
    assert answer.status == 200, answer.text
    return [one["name"] for one in answer.body["items"]]


def refused(answer: Any) -> dict[str, str]:
    assert answer.kind == (400, "invalid-request")
    errors: dict[str, str] = answer.errors
    return errors


# The content of a view


def test_a_view_is_answered_whole_and_found_again(api: Client, home: str) -> None:
    answer = api.post(home, {"name": "Mine", "visibility": "shared", **LOOK})
    assert (answer.status, answer.headers["location"], answer.etag) == (201, f"{home}/v1", '"1"')
    made = answer.body
    assert look(made) == LOOK
    assert (made["id"], made["name"], made["visibility"], made["version"]) == ("v1", "Mine", "shared", 1)
    assert (made["created_by"], made["updated_by"], made["missing"]) == ("ann", "ann", [])
    assert api.get(f"{home}/v1").body == made
    assert api.get(f"{home}/v1").etag == '"1"'
    assert api.get(home).body == {"items": [made], "next": None}


def test_a_view_with_only_a_name_is_private_and_plain(api: Client, home: str) -> None:
    made = api.made(home, {"name": "Mine"})
    assert look(made) == PLAIN
    assert made["visibility"] == "private"


def test_an_order_of_groups_by_their_counts_has_no_field(api: Client, home: str) -> None:
    made = api.made(home, {"name": "Mine", "group_order": {"function": "count", "direction": "desc"}})
    assert made["group_order"] == {"field": None, "function": "count", "direction": "desc"}


def test_a_view_can_be_made_from_the_fields_of_another(api: Client, home: str) -> None:
    first = api.made(home, {"name": "One", **LOOK})
    second = api.made(home, {"name": "Two", **look(first)})
    assert look(second) == look(first)
    assert api.post(f"{home.removesuffix('/views')}/grid", first["query"]).status == 200


@pytest.mark.parametrize(
    "condition",
    [
        {"field": "kind", "op": "eq", "value": "huge"},
        {"field": "kind", "op": "between", "value": ["small", "large"]},
        {"field": "tags", "op": "eq", "value": ["new", "odd"]},
        {"field": "tags", "op": "in", "value": [["new"], ["old", "odd"]]},
        {"field": "tags", "op": "has_all", "value": ["odd"]},
        {"field": "name", "op": "has_words", "value": "to do"},
        {"field": "name", "op": "starts_with", "value": "To "},
        {"field": "seen", "op": "gt", "value": "2023-05-01T12:00:00Z"},
        {"field": "cost", "op": "eq", "value": "12345678901234567890.123456789"},
        {"field": "cost", "op": "in", "value": [0, -1, 0.5]},
        {"not": {"not": {"field": "due", "op": "is_not_empty"}}},
    ],
)
def test_a_filter_comes_back_as_it_was_written(api: Client, home: str, condition: Any) -> None:
    made = api.made(home, {"name": "x", "query": {"filter": condition}})
    assert made["query"]["filter"] == condition


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({}, {"name"}),
        ({"name": ""}, {"name"}),
        ({"name": "x" * 257}, {"name"}),
        ({"name": "x", "visibility": "public"}, {"visibility"}),
        ({"name": "x", "view": {}}, {"view"}),
        ({"name": "x", "query": None}, {"query"}),
        ({"name": "x", "query": {"sort": [], "offset": 1}}, {"query.offset"}),
        ({"name": "x", "query": {"sort": [{"field": "kin"}]}}, {"query.sort.0.field"}),
        ({"name": "x", "query": {"sort": [{"field": "kind"}] * 4}}, {"query.sort"}),
        ({"name": "x", "query": {"filter": []}}, {"query.filter"}),
        (
            {"name": "x", "query": {"filter": {"and": [{"field": "kin", "op": "eq", "value": 1}]}}},
            {"query.filter.and.0.field"},
        ),
        (
            {"name": "x", "query": {"filter": {"field": "kind", "op": "eq", "value": "tiny"}}},
            {"query.filter.value"},
        ),
        ({"name": "x", "columns": [{"field": "kind"}]}, {"columns.0.width"}),
        ({"name": "x", "columns": [{"field": "kin", "width": 80}]}, {"columns.0.field"}),
        ({"name": "x", "columns": [{"field": "kind", "width": 15}]}, {"columns.0.width"}),
        ({"name": "x", "columns": [{"field": "kind", "width": 2001}]}, {"columns.0.width"}),
        ({"name": "x", "columns": [{"field": "kind", "width": 80}] * 2}, {"columns.1.field"}),
        ({"name": "x", "columns": [{"field": "kind", "width": 80}] * (MAX_ATTRIBUTES + 8)}, {"columns"}),
        ({"name": "x", "columns": [{"field": "kind", "width": 80, "color": 1}]}, {"columns.0.color"}),
        ({"name": "x", "groups": ["kind"] * 4}, {"groups"}),
        ({"name": "x", "groups": [{"field": "kind", "unit": "month"}]}, {"groups.0.unit"}),
        (
            {"name": "x", "groups": [{"field": "seen", "unit": "day", "timezone": "Mars"}]},
            {"groups.0.timezone"},
        ),
        ({"name": "x", "groups": [{"field": "cost", "bins": [2, 1]}]}, {"groups.0.bins"}),
        ({"name": "x", "groups": [{"field": "kind", "width": 1}]}, {"groups.0.width"}),
        ({"name": "x", "group_order": {"function": "sum"}}, {"group_order.field"}),
        ({"name": "x", "group_order": {"field": "kind", "function": "sum"}}, {"group_order.field"}),
        ({"name": "x", "group_order": {"field": "cost", "function": "median"}}, {"group_order.function"}),
        ({"name": "x", "footers": [{"field": "kind", "function": "sum"}]}, {"footers.0.function"}),
        ({"name": "x", "footers": [{"field": "num", "function": "sum"}] * 2}, {"footers.1.field"}),
        ({"name": "x", "footers": [{"field": "cost", "function": "mode"}]}, {"footers.0.function"}),
        ({"name": "x", "color_by": "cost"}, {"color_by"}),
        ({"name": "x", "rules": [{"color": "red"}]}, {"rules.0.filter"}),
        ({"name": "x", "rules": [{"filter": None, "color": "red"}]}, {"rules.0.filter"}),
        ({"name": "x", "rules": [{"filter": OPEN, "color": "pretty"}]}, {"rules.0.color"}),
        ({"name": "x", "rules": [{"filter": OPEN, "color": "red", "field": "x"}]}, {"rules.0.field"}),
        ({"name": "x", "rules": [{"filter": {"and": []}, "color": "red"}]}, {"rules.0.filter.and"}),
        ({"name": "x", "rules": [{"filter": OPEN, "color": "red"}] * 11}, {"rules"}),
        ({"name": "x", "rules": [{"filter": {"or": [OPEN] * 6}, "color": "red"}] * 9}, {"rules"}),
        ({"name": "x", "color_by": "tags"}, {"color_by"}),
        ({"name": "x", "color_by": "colour"}, {"color_by"}),
        ({"name": "x", "kind": "list"}, {"kind"}),
        ({"name": "x", "board": {}}, {"board.by"}),
        *(
            ({"name": "x", "board": {"by": by}}, {"board.by"})
            for by in ("gone", "tags", "num", "name", "created_by")
        ),
        ({"name": "x", "board": {"by": "kind", "columns": [{"value": "tiny"}]}}, {"board.columns.0.value"}),
        ({"name": "x", "board": {"by": "state", "columns": [{"value": None}]}}, {"board.columns.0.value"}),
        (
            {"name": "x", "board": {"by": "kind", "columns": [{"value": "huge"}] * 2}},
            {"board.columns.1.value"},
        ),
        (
            {"name": "x", "board": {"by": "kind", "columns": [{"value": "huge", "limit": 0}]}},
            {"board.columns.0.limit"},
        ),
        ({"name": "x", "board": {"by": "kind", "columns": [{"value": "huge"}] * 101}}, {"board.columns"}),
        ({"name": "x", "board": {"by": "kind", "card": ["due", "due"]}}, {"board.card.1"}),
        ({"name": "x", "board": {"by": "kind", "card": ["kin"]}}, {"board.card.0"}),
        ({"name": "x", "board": {"by": "kind", "card": ["due"] * 21}}, {"board.card"}),
        (
            {"name": "x", "board": {"by": "kind", "aggregate": {"field": "due", "function": "sum"}}},
            {"board.aggregate.field"},
        ),
        ({"name": "x", "row_height": 15}, {"row_height"}),
        ({"name": "x", "row_height": "32"}, {"row_height"}),
        (
            {"name": "", "query": {"sort": [{"field": "kin"}], "filter": {"not": 7}}, "columns": [{}]},
            {"name", "query.sort.0.field", "query.filter.not", "columns.0.field", "columns.0.width"},
        ),
        (["name"], {"body"}),
    ],
)
def test_all_errors_of_a_view_are_listed_at_once_and_nothing_is_written(
    api: Client, account: Cloud, home: str, body: Any, wrong: set[str]
) -> None:
    made = api.made(home, {"name": "There"})
    before = account.items()
    assert refused(api.post(home, body)).keys() == wrong
    if isinstance(body, dict) and body:
        assert refused(api.patch(f"{home}/{made['id']}", body)).keys() == wrong
    assert account.items() == before


def test_a_view_has_a_size(api: Client, home: str) -> None:
    def holding(texts: int) -> dict[str, Any]:
        values = [f"{num:0500}" for num in range(texts)]
        return {"name": "Large", "query": {"filter": {"field": "name", "op": "in", "value": values}}}

    made = api.made(home, holding(125))
    for answer in (api.post(home, holding(135)), api.patch(f"{home}/{made['id']}", holding(135))):
        assert answer.kind == (422, "limit-exceeded")
        assert "64 KB" in answer.body["detail"]
    assert api.get(f"{home}/{made['id']}").body == made


def test_a_view_of_every_field_of_a_large_project_fits(api: Client, account: Cloud, project: str) -> None:
    prefix = "a_field_with_an_id_that_says_what_it_is_"
    fields = add_attributes(api, account, project, MAX_ATTRIBUTES, prefix, type="text")
    columns = [
        *({"field": one, "width": 120, "frozen": False} for one in ("num", "name", "state")),
        *({"field": one, "width": 220, "frozen": False} for one in fields),
    ]
    made = api.made(f"{project}/views", {"name": "All", "columns": columns})
    assert made["columns"] == columns


# Changing


def test_a_patch_replaces_the_parts_that_it_gives(api: Client, home: str) -> None:
    made = api.made(home, {"name": "One", **LOOK})
    answer = api.patch(f"{home}/v1", {"name": "Two", "query": {"sort": [{"field": "due"}]}, "color_by": None})
    assert (answer.status, answer.etag) == (200, '"2"')
    expected = {
        **LOOK,
        "query": {"sort": [{"field": "due", "direction": "asc", "nulls": "last"}], "filter": None},
        "color_by": None,
    }
    assert look(answer.body) == expected
    assert (answer.body["name"], answer.body["created"]) == ("Two", made["created"])
    for part, value in PLAIN.items():
        assert look(api.patch(f"{home}/v1", {part: value}).body)[part] == value
    assert look(api.get(f"{home}/v1").body) == PLAIN


def test_a_patch_without_effect_is_not_written(api: Client, account: Cloud, home: str) -> None:
    made = api.made(home, {"name": "One", **LOOK})
    before = account.items()
    for body in ({}, {"name": "One"}, {"visibility": "private", **LOOK}):
        answer = api.patch(f"{home}/v1", body)
        assert (answer.status, answer.body) == (200, made)
    assert account.items() == before


def test_a_version_that_is_not_the_present_one_is_neither_changed_nor_deleted(api: Client, home: str) -> None:
    api.made(home, {"name": "One"})
    assert api.patch(f"{home}/v1", {"name": "Two"}, headers={"if-match": '"1"'}).status == 200
    for answer in (
        api.patch(f"{home}/v1", {"name": "Three"}, headers={"if-match": '"1"'}),
        api.delete(f"{home}/v1", headers={"if-match": '"1"'}),
    ):
        assert answer.kind == (412, "version-mismatch")
        assert answer.body["current"] == api.get(f"{home}/v1").body
    assert api.get(f"{home}/v1").body["name"] == "Two"
    assert api.delete(f"{home}/v1", headers={"if-match": '"2"'}).status == 204
    assert api.get(f"{home}/v1").kind == (404, "not-found")


def test_a_number_never_comes_again(api: Client, home: str) -> None:
    for num in (1, 2, 3):
        assert api.made(home, {"name": "x"})["id"] == f"v{num}"
        assert api.delete(f"{home}/v{num}").status == 204
    assert api.get(home).body["items"] == []


def test_a_view_is_saved_once_under_a_key(api: Client, home: str) -> None:
    again = {"idempotency-key": "k"}
    first = api.post(home, {"name": "One"}, headers=again)
    assert api.delete(f"{home}/v1").status == 204
    second = api.post(home, {"name": "One"}, headers=again)
    assert (first.status, first.body, first.headers) == (second.status, second.body, second.headers)
    assert api.get(home).body["items"] == []
    assert api.post(home, {"name": "Two"}, headers=again).kind == (409, "conflict")


# Readers and writers


def test_only_its_owner_sees_a_private_view(account: Cloud, api: Client, home: str) -> None:
    viewer = account.api(role="viewer", user="vic")
    made = viewer.made(home, {"name": "Vic's"})
    path = f"{home}/{made['id']}"
    assert viewer.patch(path, {"name": "Mine"}).status == 200
    missing = api.get(f"{home}/v77")
    for client in (api, account.api(role="viewer", user="vi"), account.api(role="editor", user="vic.x")):
        assert names(client, home) == []
        for answer in (client.get(path), client.patch(path, {"name": "Taken"}), client.delete(path)):
            assert {**answer.body, "request_id": ""} == {**missing.body, "request_id": ""}
    assert names(viewer, home) == ["Mine"]
    assert viewer.delete(path).status == 204


@pytest.mark.parametrize(
    ("visibility", "may"),
    [("private", {"viewer", "editor", "admin"}), ("shared", {"editor", "admin"}), ("default", {"admin"})],
)
def test_it_takes_a_role_to_write_what_everybody_sees(
    account: Cloud, api: Client, home: str, visibility: str, may: set[str]
) -> None:
    for role in ("viewer", "editor", "admin"):
        client = account.api(role=role, user="someone")
        allowed = role in may
        made = client.post(home, {"name": "x", "visibility": visibility})
        assert made.status == (201 if allowed else 403)
        path = f"{home}/{(made if allowed else api.post(home, {'name': 'x', 'visibility': visibility})).body['id']}"
        if visibility != "private":
            assert client.get(path).status == 200
            assert client.patch(path, {"name": "y"}).status == (200 if allowed else 403)
            assert client.delete(path).status == (204 if allowed else 403)
        own = client.made(home, {"name": "own"})
        assert client.patch(f"{home}/{own['id']}", {"visibility": visibility}).status == (
            200 if allowed else 403
        )


def test_a_view_is_shared_and_taken_back(account: Cloud, home: str) -> None:
    editor, other = account.api(role="editor", user="edi"), account.api(role="editor", user="oda")
    viewer = account.api(role="viewer", user="vic")
    path = f"{home}/{editor.made(home, {'name': 'Plan', **LOOK})['id']}"
    assert (editor.get(path).status, other.get(path).status) == (200, 404)
    shared = editor.patch(path, {"visibility": "shared"}).body
    assert (shared["version"], look(shared)) == (2, LOOK)
    assert viewer.get(path).body == shared
    assert names(viewer, home) == ["Plan"]
    assert viewer.patch(path, {"visibility": "private"}).status == 403
    assert other.patch(path, {"visibility": "private"}).status == 200
    assert (editor.get(path).status, other.get(path).status) == (404, 200)
    assert names(editor, home) == []


def test_a_project_has_one_default_and_the_one_before_stays_shared(
    account: Cloud, api: Client, home: str
) -> None:
    first = api.made(home, {"name": "First", "visibility": "default"})
    second = api.made(home, {"name": "Second", "visibility": "shared"})
    path, other = f"{home}/{first['id']}", f"{home}/{second['id']}"
    assert account.api(role="editor", user="edi").patch(other, {"visibility": "default"}).status == 403
    assert api.patch(other, {"visibility": "default"}).body["version"] == 2
    assert (api.get(path).body["visibility"], api.get(path).body["version"]) == ("shared", 2)
    third = api.made(home, {"name": "Third", "visibility": "default"})
    assert [one["visibility"] for one in api.get(home).body["items"]] == ["shared", "shared", "default"]
    assert api.delete(f"{home}/{third['id']}").status == 204
    assert api.patch(path, {"visibility": "default"}).status == 200
    assert api.patch(path, {"name": "Still"}).body["visibility"] == "default"
    assert api.patch(path, {"visibility": "shared"}).status == 200
    assert api.patch(other, {"visibility": "default"}).status == 200
    assert api.get(path).body["version"] == 5, "it was not the default any more"


def test_views_of_another_tenant_are_not_found(account: Cloud, api: Client, home: str) -> None:
    api.made(home, {"name": "Ours", "visibility": "shared"})
    stranger = account.api(tenant="0808")
    for answer in (
        stranger.get(home),
        stranger.get(f"{home}/v1"),
        stranger.post(home, {"name": "Theirs"}),
        stranger.patch(f"{home}/v1", {"name": "Theirs"}),
        stranger.delete(f"{home}/v1"),
    ):
        assert answer.kind == (404, "not-found")
    stranger.made("/v1/projects", {"id": "plain", "name": "Same"})
    assert stranger.get(home).body == {"items": [], "next": None}
    assert stranger.get(f"{home}/v1").kind == (404, "not-found")


@pytest.mark.parametrize("unknown", ["v2", "v0", "v01", "1", "V1", "v1/x", "register", "v100000000"])
def test_a_view_that_there_is_not_is_not_found(api: Client, home: str, unknown: str) -> None:
    api.made(home, {"name": "x"})
    if "/" in unknown:
        return
    for answer in (
        api.get(f"{home}/{unknown}"),
        api.patch(f"{home}/{unknown}", {}),
        api.delete(f"{home}/{unknown}"),
    ):
        assert answer.kind == (404, "not-found")


# The limits


def test_a_project_has_so_many_shared_views_and_a_user_so_many_of_their_own(
    account: Cloud, api: Client, home: str
) -> None:
    ids = [api.made(home, {"name": f"{n}", "visibility": "shared"})["id"] for n in range(MAX_SHARED_VIEWS)]
    own = [api.made(home, {"name": f"own {n}"})["id"] for n in range(MAX_PRIVATE_VIEWS)]

    def full(most: int, *answers: Any) -> None:
        for answer in answers:
            assert answer.kind == (422, "limit-exceeded")
            assert f" {most} " in answer.body["detail"]

    full(
        MAX_SHARED_VIEWS,
        api.post(home, {"name": "x", "visibility": "shared"}),
        api.post(home, {"name": "x", "visibility": "default"}),
        api.patch(f"{home}/{own[0]}", {"visibility": "shared"}),
    )
    full(
        MAX_PRIVATE_VIEWS,
        api.post(home, {"name": "x"}),
        api.patch(f"{home}/{ids[0]}", {"visibility": "private"}),
    )
    assert api.patch(f"{home}/{ids[0]}", {"visibility": "default"}).status == 200
    assert account.api(user="bob").post(home, {"name": "x"}).status == 201
    assert api.delete(f"{home}/{own[0]}").status == 204
    assert api.patch(f"{home}/{ids[1]}", {"visibility": "private"}).status == 200
    assert api.post(home, {"name": "x", "visibility": "shared"}).status == 201
    full(MAX_PRIVATE_VIEWS, api.post(home, {"name": "x"}))


def test_pages_of_views_are_all_views(account: Cloud, api: Client, home: str) -> None:
    for num in range(5):
        api.made(home, {"name": f"shared {num}", "visibility": "shared"})
        api.made(home, {"name": f"own {num}"})
        account.api(user="bob").made(home, {"name": "bob's"})
    expected = [*(f"shared {num}" for num in range(5)), *(f"own {num}" for num in range(5))]
    for limit in range(1, 12):
        found: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = api.get(home, query={"limit": str(limit), **cursor}).body
            assert len(page["items"]) <= limit
            found += [one["name"] for one in page["items"]]
            if page["next"] is None:
                break
            assert len(page["items"]) == limit
            cursor = {"cursor": page["next"]}
        assert found == expected
    cursor = {"cursor": api.get(home, query={"limit": "7"}).body["next"]}
    assert names(api, home, **cursor) == expected[7:]
    assert account.api(user="bob").get(home, query=cursor).kind == (400, "invalid-request")


def test_a_page_of_large_views_is_cut(
    account: Cloud, api: Client, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MAX_PAGE_BYTES", 1_500)
    for num in range(4):
        api.made(home, {"name": f"{num}" * 200})
    first = api.get(home).body
    assert [one["name"][0] for one in first["items"]] == ["0", "1"]
    monkeypatch.setattr(pages, "MAX_PAGE_BYTES", 10)
    second = api.get(home, query={"cursor": first["next"]}).body
    assert [one["name"][0] for one in second["items"]] == ["2"]


# The order


@pytest.fixture
def four(api: Client, home: str) -> str:
    """The path of the views of a project with four shared views, `a` to `d`, and two private ones of the caller."""
    for name in "abcd":
        api.made(home, {"name": name, "visibility": "shared"})
    for name in "yz":
        api.made(home, {"name": name})
    return home


def order(client: Client, home: str) -> str:
    listed = client.get(home).body["items"]
    for owned in (False, True):
        places = [one["place"] for one in listed if (one["visibility"] == "private") == owned]
        assert places == list(range(len(places)))
    return "".join(one["name"] for one in listed)


@pytest.mark.parametrize(
    ("view", "place", "expected"),
    [
        ("v4", 0, "dabcyz"),
        ("v1", 3, "bcdayz"),
        ("v2", 2, "acbdyz"),
        ("v3", 1, "acbdyz"),
        ("v2", 1, "abcdyz"),
        ("v6", 0, "abcdzy"),
        ("v5", 1, "abcdzy"),
    ],
)
def test_a_view_is_moved_among_those_of_its_kind(
    api: Client, four: str, view: str, place: int, expected: str
) -> None:
    before = api.get(f"{four}/{view}").body
    answer = api.patch(f"{four}/{view}", {"place": place}, headers={"if-match": '"1"'})
    assert (answer.status, answer.etag, answer.body) == (200, '"1"', {**before, "place": place})
    assert api.get(f"{four}/{view}").body == answer.body
    assert order(api, four) == expected


def test_a_move_writes_the_order_and_no_view(api: Client, account: Cloud, four: str) -> None:
    before = {(item["PK"]["S"], item["SK"]["S"]): item for item in account.items()}
    assert api.patch(f"{four}/v1", {"place": 0}).status == 200
    assert {(item["PK"]["S"], item["SK"]["S"]): item for item in account.items()} == before
    assert api.patch(f"{four}/v1", {"place": 2}).status == 200
    after = {(item["PK"]["S"], item["SK"]["S"]): item for item in account.items()}
    assert {key for key, item in after.items() if item != before.get(key)} == {
        (keys.views("0807", "plain"), keys.VIEW_REGISTER)
    }


def test_a_view_is_renamed_and_moved_at_once(api: Client, four: str) -> None:
    answer = api.patch(f"{four}/v4", {"name": "e", "place": 1})
    assert (answer.body["name"], answer.body["place"], answer.body["version"]) == ("e", 1, 2)
    assert order(api, four) == "aebcyz"


def test_a_view_that_changes_its_kind_is_the_last_one_there(api: Client, four: str) -> None:
    assert api.patch(f"{four}/v2", {"visibility": "private"}).body["place"] == 2
    assert order(api, four) == "acdyzb"
    assert api.patch(f"{four}/v5", {"visibility": "shared"}).body["place"] == 3
    assert order(api, four) == "acdyzb"
    assert api.patch(f"{four}/v6", {"visibility": "shared", "place": 1}).body["place"] == 1
    assert order(api, four) == "azcdyb"
    assert api.patch(f"{four}/v3", {"visibility": "default"}).body["place"] == 2
    assert api.patch(f"{four}/v4", {"visibility": "default", "place": 0}).body["place"] == 0
    assert order(api, four) == "dazcyb"


def test_the_order_closes_where_a_view_was_deleted(api: Client, four: str) -> None:
    for view in ("v2", "v5"):
        assert api.delete(f"{four}/{view}").status == 204
    assert order(api, four) == "acdz"
    assert api.made(four, {"name": "e", "visibility": "shared"})["place"] == 3


@pytest.mark.parametrize("place", [-1, 4, 10**20, 1.5, "1", None, True, [0]])
def test_a_place_that_there_is_not_is_refused(api: Client, account: Cloud, four: str, place: Any) -> None:
    before = account.items()
    assert refused(api.patch(f"{four}/v1", {"place": place, "name": "x"})).keys() == {"place"}
    assert account.items() == before
    assert refused(api.post(four, {"name": "x", "place": 0})).keys() == {"place"}


def test_it_takes_the_role_of_a_view_to_move_it(account: Cloud, api: Client, four: str) -> None:
    assert api.patch(f"{four}/v1", {"visibility": "default"}).status == 200
    viewer, editor = account.api(role="viewer", user="vic"), account.api(role="editor", user="edi")
    own = viewer.made(four, {"name": "own"})["id"]
    viewer.made(four, {"name": "more"})
    assert viewer.patch(f"{four}/{own}", {"place": 1}).body["place"] == 1
    assert viewer.patch(f"{four}/v2", {"place": 0}).kind == (403, "forbidden")
    assert editor.patch(f"{four}/v2", {"place": 0}).status == 200
    assert editor.patch(f"{four}/v1", {"place": 0}).kind == (403, "forbidden")
    assert editor.patch(f"{four}/{own}", {"place": 0}).kind == (404, "not-found")
    assert editor.patch(f"{four}/v6", {"place": 0}).kind == (404, "not-found")
    assert order(api, four) == "bacdyz"


def test_another_tenant_moves_nothing(account: Cloud, api: Client, four: str) -> None:
    stranger = account.api(tenant="0808")
    assert stranger.patch(f"{four}/v4", {"place": 0}).kind == (404, "not-found")
    stranger.made("/v1/projects", {"id": "plain", "name": "Same"})
    for name in "ab":
        stranger.made(four, {"name": name, "visibility": "shared"})
    assert stranger.patch(f"{four}/v2", {"place": 0}).status == 200
    assert (order(stranger, four), order(api, four)) == ("ba", "abcdyz")


def test_moves_at_once_leave_each_view_in_a_place_of_its_own(
    api: Client, four: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other requests run between the read of the order and its write."""
    others: Iterator[Callable[[], Any]] = iter(
        [
            lambda: api.patch(f"{four}/v4", {"place": 0}),
            lambda: api.delete(f"{four}/v2"),
            lambda: api.made(four, {"name": "e", "visibility": "shared"}),
        ]
    )
    interrupt(monkeypatch, lambda: next(others, lambda: None)())
    answer = api.patch(f"{four}/v1", {"place": 2})
    assert answer.body["place"] == 2
    assert order(api, four) == "dcaeyz"


def test_pages_go_on_after_a_view_that_was_moved_or_deleted(api: Client, four: str) -> None:
    cursor = {"cursor": api.get(four, query={"limit": "2"}).body["next"]}
    assert api.patch(f"{four}/v2", {"place": 2}).status == 200
    assert names(api, four, **cursor) == ["d", "y", "z"]
    assert api.patch(f"{four}/v2", {"place": 1}).status == 200
    assert api.delete(f"{four}/v2").status == 204
    assert names(api, four, **cursor) == ["c", "d", "y", "z"]


def test_a_view_that_is_saved_during_a_list_is_no_error(
    api: Client, four: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = iter([{"name": "e", "visibility": "shared"}])
    interrupt(monkeypatch, lambda: api.made(four, one) if (one := next(others, None)) else None)
    assert names(api, four) == list("abcdyz")
    assert names(api, four) == list("abcdeyz")


# Changes of definitions


def test_a_view_follows_options_and_states_that_are_renamed(api: Client, home: str, project: str) -> None:
    api.made(home, {"name": "x", **LOOK})
    options = api.get(f"{project}/attributes/kind").body["options"]
    renamed = [{**one, "value": one["value"].upper()} for one in options]
    assert api.patch(f"{project}/attributes/kind", {"options": renamed}).status == 200
    states = [{**one, "value": one["value"].upper()} for one in api.get(project).body["states"]]
    assert api.patch(project, {"states": states}).status == 200
    view = api.get(f"{home}/v1").body
    assert view["missing"] == []
    parts = view["query"]["filter"]["and"]
    assert (parts[0]["value"], parts[1]["or"][0]["value"]) == ("CLOSED", ["SMALL", "HUGE"])


def test_a_view_is_returned_with_its_missing_parts(api: Client, home: str, project: str) -> None:
    made = api.made(home, {"name": "x", **LOOK})
    for field in ("cost", "due", "kind", "note"):
        assert api.delete(f"{project}/attributes/{field}").status == 204
    view = api.get(f"{home}/v1").body
    assert look(view) == {
        "query": {
            "sort": [LOOK["query"]["sort"][1]],
            "filter": {"and": [FILTER["and"][0], FILTER["and"][2], FILTER["and"][5]]},
        },
        "columns": LOOK["columns"][:2],
        "groups": LOOK["groups"][1:],
        "group_order": None,
        "footers": [],
        "color_by": None,
        "rules": LOOK["rules"][2:],
        "row_height": 56,
        "kind": "grid",
        "board": None,
    }
    parts = {
        "sort": {"cost"},
        "filter": {"kind", "cost", "due", "note"},
        "columns": {"due"},
        "groups": {"kind"},
        "group_order": {"cost"},
        "footers": {"cost", "kind"},
        "color_by": {"kind"},
        "rules": {"kind", "cost", "due", "note"},
        "board": {"kind"},
    }
    assert sorted((one["part"], one["field"]) for one in view["missing"]) == sorted(
        (part, field) for part, fields in parts.items() for field in fields
    )
    assert view["version"] == made["version"]
    assert api.get(home).body["items"] == [view]
    assert api.post(f"{project}/grid", view["query"]).status == 200


def test_a_field_with_the_id_of_a_deleted_one_is_another_field(
    api: Client, account: Cloud, home: str, project: str
) -> None:
    api.made(home, {"name": "x", "color_by": "kind", "columns": [{"field": "kind", "width": 80}]})
    assert api.delete(f"{project}/attributes/kind").status == 204
    assert api.delete(f"{project}/deleted-attributes/kind").status == 204
    account.upkeep()
    api.made(f"{project}/attributes", {**FIELDS[0], "type": "text", "options": None})
    view = api.get(f"{home}/v1").body
    assert (view["color_by"], view["columns"]) == (None, [])
    assert view["missing"] == [{"part": "columns", "field": "kind"}, {"part": "color_by", "field": "kind"}]


def test_missing_parts_remain_until_they_are_written(api: Client, home: str, project: str) -> None:
    api.made(home, {"name": "x", "color_by": "kind", "footers": [{"field": "cost", "function": "sum"}]})
    for field in ("cost", "kind"):
        assert api.delete(f"{project}/attributes/{field}").status == 204
    renamed = api.patch(f"{home}/v1", {"name": "y"}).body
    assert [one["field"] for one in renamed["missing"]] == ["cost", "kind"]
    settled = api.patch(f"{home}/v1", {"footers": renamed["footers"], "color_by": renamed["color_by"]}).body
    assert (settled["missing"], settled["version"]) == ([], 3)


@pytest.mark.parametrize(
    ("field", "values"),
    [("state", ["closed", "open"]), ("done", [True, False, None]), ("owner", ["ann", None])],
)
def test_a_board_has_columns_by_options_users_or_yes_and_no(
    api: Client, home: str, project: str, field: str, values: list[Any]
) -> None:
    for id_, type_ in (("done", "bool"), ("owner", "user")):
        api.made(f"{project}/attributes", {"id": id_, "name": id_, "type": type_})
    board = {"by": field, "columns": [{"value": one} for one in values]}
    made = api.made(home, {"name": "x", "kind": "board", "board": board})
    assert made["board"] == {
        "by": field,
        "columns": [{"value": one, "hidden": False, "limit": None} for one in values],
        "card": [],
        "aggregate": None,
    }
    assert made["kind"] == "board"


def test_a_board_without_its_parts_is_refused(api: Client, home: str) -> None:
    assert refused(api.post(home, {"name": "x", "kind": "board"})) == {"board": "is required for a board"}
    api.made(home, {"name": "x"})
    assert refused(api.patch(f"{home}/v1", {"kind": "board"})) == {"board": "is required for a board"}
    board = api.patch(f"{home}/v1", {"kind": "board", "board": {"by": "kind"}}).body["board"]
    assert refused(api.patch(f"{home}/v1", {"board": None})) == {"board": "is required for a board"}
    assert api.patch(f"{home}/v1", {"kind": "grid"}).body["board"] == board


def test_a_board_loses_only_its_missing_parts(api: Client, home: str, project: str) -> None:
    board = {**LOOK["board"], "columns": [{"value": one} for one in ("large", "huge")]}
    api.made(home, {"name": "x", "kind": "board", "board": board})
    assert api.patch(f"{project}/attributes/kind", {"options": ["small", "huge"]}).status == 200
    for field in ("cost", "due"):
        assert api.delete(f"{project}/attributes/{field}").status == 204
    view = api.get(f"{home}/v1").body
    assert view["kind"] == "board"
    assert view["board"] == {
        "by": "kind",
        "columns": [{"value": "huge", "hidden": False, "limit": None}],
        "card": ["num", "tags"],
        "aggregate": None,
    }
    assert view["missing"] == [
        {"part": "board", "field": "kind", "value": "large"},
        {"part": "board", "field": "due"},
        {"part": "board", "field": "cost"},
    ]


@pytest.mark.parametrize(
    ("condition", "left", "gone"),
    [
        ({"field": "kind", "op": "eq", "value": "huge"}, None, {"huge"}),
        ({"field": "kind", "op": "in", "value": ["small", "huge"]}, ["small"], {"huge"}),
        ({"field": "kind", "op": "between", "value": ["small", "huge"]}, None, {"huge"}),
        ({"field": "tags", "op": "has_all", "value": ["new", "odd"]}, ["new"], {"odd"}),
        ({"field": "tags", "op": "has_any", "value": ["odd"]}, None, {"odd"}),
        ({"field": "tags", "op": "ne", "value": ["new", "odd"]}, None, {"odd"}),
        ({"field": "tags", "op": "in", "value": [["new"], ["new", "odd"]]}, [["new"]], {"odd"}),
        ({"field": "kind", "op": "in", "value": ["small"]}, ["small"], set()),
    ],
)
def test_missing_options_are_left_out_of_a_filter(
    api: Client, home: str, project: str, condition: Any, left: Any, gone: set[str]
) -> None:
    api.made(home, {"name": "x", "query": {"filter": {"not": {"or": [condition]}}}})
    for field, options in (("kind", ["small", "large"]), ("tags", ["new", "old"])):
        assert api.patch(f"{project}/attributes/{field}", {"options": options}).status == 200
    view = api.get(f"{home}/v1").body
    expected = None if left is None else {"not": {"or": [{**condition, "value": left}]}}
    assert view["query"]["filter"] == expected
    assert {(one["part"], one["field"], one["value"]) for one in view["missing"]} == {
        ("filter", condition["field"], value) for value in gone
    }


def test_a_filter_that_has_grown_too_large_to_return_is_missing(
    api: Client, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.made(home, {"name": "x", **LOOK})
    monkeypatch.setattr(view_answers, "MAX_FILTER_BYTES", 100)
    view = api.get(f"{home}/v1").body
    assert (view["query"]["filter"], view["missing"]) == (None, [{"part": "filter"}, {"part": "rules"}])
    assert view["rules"] == LOOK["rules"][::2], "a rule without its filter would color all rows"
    assert view["query"]["sort"] == LOOK["query"]["sort"]


def test_an_answer_lists_a_limited_number_of_missing_parts(
    api: Client, home: str, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_filters, "MAX_MISSING", 3)
    api.made(home, {"name": "x", **LOOK})
    for field in ("cost", "due", "kind"):
        assert api.delete(f"{project}/attributes/{field}").status == 204
    assert len(api.get(f"{home}/v1").body["missing"]) == 3


# The needs of a view


def test_a_view_without_an_index_for_its_order_has_the_remedy(
    api: Client, account: Cloud, home: str, project: str
) -> None:
    made = api.made(home, {"name": "x", "visibility": "shared", "query": {"sort": [{"field": "note"}]}})
    refusal = api.post(f"{project}/grid", made["query"])
    assert refusal.kind == (422, "query-too-expensive")
    (remedy,) = made["remedies"]
    assert made["remedies"] == refusal.body["remedies"]
    assert api.call(remedy["method"], remedy["path"], remedy["body"]).status == 200
    assert api.get(f"{home}/v1").body["remedies"] == []  # it is being built
    account.upkeep()
    assert api.get(f"{home}/v1").body["remedies"] == []
    assert api.post(f"{project}/grid", made["query"]).status == 200


# Containers that know older definitions, and races


def other_container(account: Cloud, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    from gridview.schema.store import Catalogs

    def call(method: str, path: str, body: Any) -> Any:
        with monkeypatch.context() as patch:
            for module in account.modules.values():
                if hasattr(module, "catalogs"):
                    patch.setattr(module, "catalogs", Catalogs())
            return account.api().call(method, path, body)

    return call


def test_a_container_with_older_definitions_reads_and_writes_by_the_present_ones(
    api: Client, account: Cloud, home: str, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.made(home, {"name": "x"})
    assert api.get(f"{home}/v1").status == api.patch(f"{home}/v1", {"row_height": 24}).status == 200
    elsewhere = other_container(account, monkeypatch)
    elsewhere(
        "POST", f"{project}/attributes", {"id": "late", "name": "Late", "type": "enum", "options": ["a"]}
    )
    assert elsewhere("PATCH", f"{home}/v1", {"color_by": "late"}).status == 200
    assert api.get(f"{home}/v1").body["color_by"] == "late"
    assert api.get(home).body["items"][0]["color_by"] == "late"
    assert api.patch(f"{home}/v1", {"footers": [{"field": "late", "function": "count"}]}).status == 200
    elsewhere("DELETE", f"{project}/attributes/late", None)
    assert refused(api.post(home, {"name": "y", "color_by": "late"})).keys() == {"color_by"}
    assert api.get(f"{home}/v1").body["color_by"] is None


def interrupt(monkeypatch: pytest.MonkeyPatch, other: Callable[[], None]) -> None:
    """Run `other` whenever a request has read the orders of the views, but not within that."""
    init = views._Books.__init__

    def interrupted(*given: Any) -> None:
        init(*given)
        monkeypatch.setattr(views._Books, "__init__", init)
        other()
        monkeypatch.setattr(views._Books, "__init__", interrupted)

    monkeypatch.setattr(views._Books, "__init__", interrupted)


def test_views_that_are_saved_at_once_have_numbers_of_their_own_and_are_all_counted(
    api: Client, account: Cloud, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another request runs between the read of the counts and the transaction."""
    others = iter(["default", "private", "shared"])

    def other() -> None:
        visibility = next(others, None)
        if visibility is not None:
            api.made(home, {"name": f"other {visibility}", "visibility": visibility})

    interrupt(monkeypatch, other)
    made = api.made(home, {"name": "Mine", "visibility": "default"})
    assert made["id"] == "v4"
    found = {one["name"]: one["visibility"] for one in api.get(home).body["items"]}
    assert found == {
        "other default": "shared",
        "other shared": "shared",
        "other private": "private",
        "Mine": "default",
    }
    register = account.table.get(keys.views("0807", "plain"), keys.VIEW_REGISTER)
    assert register is not None
    assert (register["default"], register["last"]) == (4, 4)
    assert sorted(register["order"]) == [1, 3, 4]


# The end


def test_a_deleted_project_takes_its_views_along(
    api: Client, account: Cloud, home: str, project: str
) -> None:
    for num in range(3):
        account.api(user=f"u{num}").made(home, {"name": "own"})
        api.made(home, {"name": "x", "visibility": "shared"})
    removed(api, project)
    for answer in (api.get(home), api.get(f"{home}/v2"), api.post(home, {"name": "x"})):
        assert answer.kind == (404, "not-found")
    account.upkeep()
    assert not [one for one in account.items() if one["PK"]["S"].startswith(keys.VIEW_PREFIX)]


def test_a_row_goes_to_the_end_of_a_view_beyond_one_that_a_late_copy_of_the_journal_lacks(
    api: Client, account: Cloud, project: str
) -> None:
    for name in "abc":
        api.made(f"{project}/issues", {"name": name})
    view = api.made(f"{project}/views", {"name": "Mine", "visibility": "shared"})["id"]
    by_hand = {"sort": [{"manual": view}]}
    assert api.patch(f"{project}/views/{view}", {"query": by_hand}).status == 200
    account.derive()
    account.upkeep()
    api.delete(f"{project}/issues/3")
    account.derive()
    account.table.stale(lambda key, states: states if derived_keys.is_journal(key[0]) else 0)
    api.post(f"{project}/trash/3/restore")
    account.derive()
    assert api.post(f"{project}/views/{view}/order", {"nums": [1], "before": None}).status == 200
    account.table.stale(None)
    account.derive()
    assert [row["num"] for row in api.post(f"{project}/grid", by_hand).body["rows"]] == [2, 3, 1]
