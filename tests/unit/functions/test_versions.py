"""Versions, entity tags and If-Match: a write replaces only the state that its client has seen."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from gridview.dynamodb.errors import ConditionFailed
from tests.support.cloud import Cloud
from tests.support.http import Client


class Resource(NamedTuple):
    """A resource with a version: its path, and a change of it with the effect that a GET shows."""

    path: str
    change: dict[str, Any]
    shows: Callable[[Any], bool]


RESOURCES = {
    "project": Resource("", {"name": "Changed"}, lambda body: body["name"] == "Changed"),
    "attribute": Resource("/attributes/3812", {"name": "Changed"}, lambda body: body["name"] == "Changed"),
    "issue": Resource("/issues/1", {"fields": {"3812": None}}, lambda body: "3812" not in body["fields"]),
}


@pytest.fixture(params=sorted(RESOURCES))
def resource(request: pytest.FixtureRequest) -> Resource:
    return RESOURCES[request.param]


@pytest.fixture
def path(resource: Resource, bridge: str) -> str:
    return bridge + resource.path


def matching(tag: str) -> dict[str, str]:
    return {"if-match": tag}


def test_a_write_raises_the_version_and_answers_the_whole_with_its_tag(
    api: Client, path: str, resource: Resource
) -> None:
    before = api.get(path)
    assert (before.body["version"], before.etag) == (1, '"1"')
    changed = api.patch(path, resource.change)
    assert (changed.status, changed.body["version"], changed.etag) == (200, 2, '"2"')
    after = api.get(path)
    assert after.body == changed.body
    assert resource.shows(after.body)
    differing = {name for name in after.body if after.body[name] != before.body[name]}
    assert differing == {"version", "updated", *resource.change}


@pytest.mark.parametrize("tag", ['"1"', 'W/"1"', "*", '"7", "1"', 'W/"9","1" ', None])
def test_a_tag_that_matches_lets_the_change_through(
    api: Client, path: str, resource: Resource, tag: str | None
) -> None:
    headers = {} if tag is None else matching(tag)
    assert api.patch(path, resource.change, headers=headers).body["version"] == 2


NO_MATCH = ['"2"', '"0"', 'W/"2"', '"01"', '"one"', '""', '"2", "3"', 'W/"3", "2"']
MALFORMED = ["1", '"1', "1, 2", "", "W/1", '"1" "2"']


def test_a_tag_that_does_not_match_or_is_malformed_changes_nothing(
    api: Client, account: Cloud, path: str, resource: Resource
) -> None:
    before = account.items()
    for tag in NO_MATCH:
        assert api.patch(path, resource.change, headers=matching(tag)).kind == (412, "version-mismatch"), tag
        assert api.delete(path, headers=matching(tag)).kind == (412, "version-mismatch"), tag
    for tag in MALFORMED:
        assert api.patch(path, resource.change, headers=matching(tag)).kind == (400, "invalid-request"), tag
        assert api.delete(path, headers=matching(tag)).kind == (400, "invalid-request"), tag
    assert account.items() == before


def test_a_tag_is_good_for_one_change(api: Client, path: str, resource: Resource) -> None:
    tag = api.get(path).etag
    assert api.patch(path, resource.change, headers=matching(tag)).status == 200
    stale = api.patch(path, resource.change, headers=matching(tag))
    assert stale.status == 412
    assert "2" in stale.body["detail"]
    assert api.delete(path, headers=matching(tag)).status == 412
    assert api.delete(path, headers=matching('"2"')).status == 204
    assert api.get(path).status == 404


def test_a_patch_without_effect_keeps_the_version(
    api: Client, account: Cloud, path: str, resource: Resource
) -> None:
    changed = api.patch(path, resource.change)
    before = account.items()
    for patch in ({}, resource.change):
        answer = api.acting(user="bob").patch(path, patch, headers=matching('"2"'))
        assert (answer.status, answer.etag, answer.body) == (200, '"2"', changed.body)
    assert account.items() == before
    assert api.patch(path, {}, headers=matching('"1"')).status == 412


@pytest.mark.parametrize("tag", ['"1"', "*"])
def test_no_version_matches_a_missing_resource(api: Client, bridge: str, tag: str) -> None:
    for missing in (f"{bridge}/issues/99", f"{bridge}/attributes/none", "/v1/projects/none"):
        assert api.patch(missing, {"name": "x"}, headers=matching(tag)).status == 404
        assert api.delete(missing, headers=matching(tag)).status == 404


def test_an_invalid_change_is_refused_before_its_version_is_looked_at(api: Client, bridge: str) -> None:
    assert api.patch(f"{bridge}/issues/1", {"nme": "x"}, headers=matching('"9"')).status == 400


def test_two_writers_of_one_issue_lose_no_field(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, path = account.modules["command"].table, f"{bridge}/issues/1"
    put, others = table.put, iter([{"name": "Other"}])

    def put_after_another(item: Any, condition: Any = None) -> None:
        for change in others:
            assert api.patch(path, change).status == 200
        put(item, condition)

    monkeypatch.setattr(table, "put", put_after_another)
    assert api.patch(path, {"state": "closed"}).body["version"] == 3
    issue = api.get(path).body
    assert (issue["name"], issue["state"]) == ("Other", "closed")


def test_a_writer_that_named_a_version_gets_412_when_another_was_faster(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, path = account.modules["command"].table, f"{bridge}/issues/1"
    put, others = table.put, iter([{"name": "Other"}])

    def put_after_another(item: Any, condition: Any = None) -> None:
        for change in others:
            assert api.patch(path, change).status == 200
        put(item, condition)

    monkeypatch.setattr(table, "put", put_after_another)
    assert api.patch(path, {"state": "closed"}, headers=matching('"1"')).status == 412
    assert api.get(path).body["state"] == "open"


def test_a_write_that_loses_every_race_is_a_conflict(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> None:
        raise ConditionFailed

    monkeypatch.setattr(account.modules["command"].table, "put", never)
    assert api.patch(f"{bridge}/issues/1", {"name": "x"}).kind == (409, "conflict")
