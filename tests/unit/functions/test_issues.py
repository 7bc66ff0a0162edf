"""Issues: numbers, merge patches, required values, and the values that stay in a change of others."""

import re
from typing import Any

import pytest

from tests.support.cloud import Cloud
from tests.support.http import Client

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


def require(api: Client, path: str, attribute: str) -> None:
    assert api.patch(f"{path}/attributes/{attribute}", {"required": True}).status == 200


def test_a_new_issue_is_answered_whole(api: Client, bridge: str) -> None:
    body = {"name": "Rivets missing", "state": "closed", "fields": {"3812": "2023-05-04", "3fe6": 12.5}}
    answer = api.acting(user="bob").post(f"{bridge}/issues", body)
    assert answer.status == 201
    assert answer.headers["location"] == f"{bridge}/issues/4"
    created = answer.body["created"]
    assert INSTANT.fullmatch(created)
    assert answer.body == {
        **body,
        "num": 4,
        "version": 1,
        "created": created,
        "updated": created,
        "created_by": "bob",
        "updated_by": "bob",
    }
    assert api.get(answer.headers["location"]).body == answer.body


def test_numbers_count_from_one_in_every_project_and_are_never_reused(api: Client, bridge: str) -> None:
    assert api.delete(f"{bridge}/issues/3").status == 204
    assert api.made(f"{bridge}/issues", {"name": "x"})["num"] == 4
    api.made("/v1/projects", {"id": "other", "name": "Other"})
    assert [api.made("/v1/projects/other/issues", {"name": "x"})["num"] for _ in range(3)] == [1, 2, 3]


def test_a_refused_issue_takes_no_number(api: Client, bridge: str) -> None:
    assert api.post(f"{bridge}/issues", {"name": ""}).status == 400
    assert api.post(f"{bridge}/issues", {"name": "x", "fields": {"3812": "soon"}}).status == 400
    assert api.made(f"{bridge}/issues", {"name": "x"})["num"] == 4


@pytest.mark.parametrize("state", [{}, {"state": None}, {"state": ""}])
def test_without_a_state_an_issue_is_in_the_first_one(
    api: Client, project: str, state: dict[str, Any]
) -> None:
    assert api.made(f"{project}/issues", {"name": "x", **state})["state"] == "open"


@pytest.mark.parametrize("state", ["Open", "opened", 1, ["open"], "o1"])
def test_a_state_is_one_of_the_projects(api: Client, project: str, state: Any) -> None:
    assert api.post(f"{project}/issues", {"name": "x", "state": state}).errors.keys() == {"state"}


@pytest.mark.parametrize("name", ["x", "x" * 1024, "\U0001f600" * 1024, " ", "\x00", "\u0301", "a\nb"])
def test_any_text_is_a_name(api: Client, project: str, name: str) -> None:
    made = api.made(f"{project}/issues", {"name": name})
    assert api.get(f"{project}/issues/{made['num']}").body["name"] == name


START, END = {"3812": "2023-05-01"}, {"882a": "2023-06-01"}
PATCHES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"name": "New"}, {"name": "New"}),
    ({"state": "closed"}, {"state": "closed"}),
    ({"fields": {"3812": None}}, {"fields": END}),
    ({"fields": {"3812": ""}}, {"fields": END}),
    ({"fields": {"3812": "2023-07-01"}}, {"fields": {"3812": "2023-07-01", **END}}),
    ({"fields": {"3fe6": 0, "882a": None}}, {"fields": {**START, "3fe6": 0}}),
    ({"fields": None}, {"fields": {}}),
    ({"name": "New", "state": "closed", "fields": None}, {"name": "New", "state": "closed", "fields": {}}),
]


@pytest.mark.parametrize(("patch", "effect"), PATCHES, ids=str)
def test_a_patch_merges(api: Client, bridge: str, patch: dict[str, Any], effect: dict[str, Any]) -> None:
    path = f"{bridge}/issues/1"
    before = api.get(path).body
    after = api.acting(user="bob").patch(path, patch).body
    assert after == {**before, **effect, "version": 2, "updated": after["updated"], "updated_by": "bob"}
    assert after["updated"] > before["updated"]
    assert api.get(path).body == after


@pytest.mark.parametrize(
    "patch",
    [
        {},
        {"fields": {}},
        {"fields": {"47e5": None}},
        {"name": "Needs Painting", "state": "open", "fields": START},
        {"fields": {"3812": "2023-05-01", "882a": "2023-06-01", "3fe6": ""}},
    ],
    ids=str,
)
def test_a_patch_that_changes_nothing_is_no_change(
    api: Client, account: Cloud, bridge: str, patch: dict[str, Any]
) -> None:
    before, stored = api.get(f"{bridge}/issues/1"), account.items()
    after = api.acting(user="bob").patch(f"{bridge}/issues/1", patch)
    assert (after.status, after.etag, after.body) == (200, before.etag, before.body)
    assert account.items() == stored


@pytest.mark.parametrize(
    ("kind", "first", "again"),
    [
        ("number", 1, "1.00"),
        ("datetime", "2023-05-01T12:00:00Z", "2023-05-01T14:00:00+02:00"),
        ("multi_enum", ["low", "high"], ["high", "low"]),
    ],
)
def test_another_spelling_of_the_same_value_changes_nothing(
    api: Client, project: str, kind: str, first: Any, again: Any
) -> None:
    options = {"options": ["low", "high"]} if kind == "multi_enum" else {}
    api.made(f"{project}/attributes", {"id": "x", "name": "X", "type": kind, **options})
    api.made(f"{project}/issues", {"name": "x", "fields": {"x": first}})
    assert api.patch(f"{project}/issues/1", {"fields": {"x": again}}).body["version"] == 1


def test_a_value_of_an_attribute_that_was_deleted_is_no_change(api: Client, bridge: str) -> None:
    assert api.delete(f"{bridge}/attributes/882a").status == 204
    assert api.patch(f"{bridge}/issues/1", {"fields": START}).body["version"] == 1


def test_each_patch_of_many_raises_the_version_by_one(api: Client, bridge: str) -> None:
    versions = [api.patch(f"{bridge}/issues/1", {"fields": {"3fe6": n}}).body["version"] for n in range(5)]
    assert versions == [2, 3, 4, 5, 6]


def test_a_deleted_issue_is_not_found(api: Client, bridge: str) -> None:
    answer = api.delete(f"{bridge}/issues/1")
    assert (answer.status, answer.text) == (204, "")
    assert api.get(f"{bridge}/issues/1").kind == (404, "not-found")
    assert api.patch(f"{bridge}/issues/1", {"name": "x"}).kind == (404, "not-found")
    assert api.delete(f"{bridge}/issues/1").kind == (404, "not-found")


def test_each_required_value_that_is_missing_is_named(api: Client, bridge: str) -> None:
    require(api, bridge, "3812")
    require(api, bridge, "3fe6")
    missing = {"fields.3812", "fields.3fe6"}
    lacking: list[dict[str, Any]] = [
        {},
        {"fields": {}},
        {"fields": {"3812": None, "3fe6": ""}},
        {"fields": {"47e5": "x", "3812": ""}},
    ]
    for body in lacking:
        answer = api.post(f"{bridge}/issues", {"name": "x", **body})
        assert answer.errors == dict.fromkeys(missing, "is required")
    assert api.post(f"{bridge}/issues", {"fields": {"3812": "soon"}}).errors.keys() == {"name", *missing}
    assert (
        api.made(f"{bridge}/issues", {"name": "x", "fields": {"3812": "2023-05-01", "3fe6": 0}})["num"] == 4
    )


def test_a_required_value_cannot_be_cleared(api: Client, bridge: str) -> None:
    require(api, bridge, "3812")
    path = f"{bridge}/issues/1"
    for fields in ({"3812": None}, {"3812": ""}, None):
        assert api.patch(path, {"fields": fields}).errors.keys() == {"fields.3812"}
    assert api.patch(path, {"fields": {"882a": None}}).body["fields"] == START


def test_an_issue_from_before_a_value_was_required_asks_for_it_at_its_next_edit(
    api: Client, bridge: str
) -> None:
    require(api, bridge, "3812")
    path = f"{bridge}/issues/3"
    assert api.get(path).status == 200
    assert api.patch(path, {"name": "x"}).errors == {"fields.3812": "is required"}
    assert api.patch(path, {"name": "x", "fields": START}).status == 200
    assert api.delete(path).status == 204


def test_a_required_bool_may_be_false_and_a_required_number_zero(api: Client, project: str) -> None:
    for kind in ("bool", "number"):
        api.made(f"{project}/attributes", {"id": kind, "name": kind, "type": kind, "required": True})
    fields = {"bool": False, "number": 0}
    assert api.made(f"{project}/issues", {"name": "x", "fields": fields})["fields"] == fields


def test_an_issue_with_every_value_is_one_write_of_one_document(
    api: Client, account: Cloud, bridge: str
) -> None:
    before = len(account.items())
    fields = {"3812": "2023-05-01", "882a": "2023-05-02", "3fe6": 1, "47e5": "yes"}
    api.made(f"{bridge}/issues", {"name": "x", "fields": fields})
    assert len(account.items()) == before + 1
