"""Versions, entity tags and If-Match: a write replaces only the state that its client has seen."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from gridview.api.routes import Takes
from gridview.dynamodb.errors import ConditionFailed, TransactionFailed
from gridview.encoding import keys
from infra.routes import ROUTES
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


ISSUE = keys.issue("0807", "35e9", 1), keys.project("0807", "35e9")


class Write(NamedTuple):
    """A write of a versioned resource: its path below the project's and its body, and the requests that lead to it.

    `current`: the path of a GET that answers the resource; None if only a list has it.
    """

    path: str
    body: Any = None
    current: str | None = ""
    before: tuple[tuple[str, str, Any], ...] = ()


COMMENT = (("POST", "/issues/1/comments", {"text": "Rust!"}),)
VIEW = (("POST", "/views", {"name": "Mine", "visibility": "shared"}),)
INDEX = (("POST", "/indexes", {"sort": [{"field": "3812"}, {"field": "882a"}]}),)
HOOK = (("POST", "/webhooks", {"url": "https://hooks.example.org/gridview"}),)
IN_TRASH = (("DELETE", "/issues/1", None),)
DELETED_ATTRIBUTE = (("DELETE", "/attributes/3812", None),)
DELETED_PROJECT = (("DELETE", "", None),)
OF_LOST_RACES = {
    "update_project": Write("", {"name": "x"}),
    "delete_project": Write(""),
    "restore_project": Write("/v1/deleted-projects/35e9/restore", None, None, DELETED_PROJECT),
    "purge_project": Write("/v1/deleted-projects/35e9", None, None, DELETED_PROJECT),
    "update_attribute": Write("/attributes/3812", {"name": "x"}, "/attributes/3812"),
    "delete_attribute": Write("/attributes/3812", None, "/attributes/3812"),
    "restore_attribute": Write("/deleted-attributes/3812/restore", None, None, DELETED_ATTRIBUTE),
    "purge_attribute": Write("/deleted-attributes/3812", None, None, DELETED_ATTRIBUTE),
    "delete_index": Write("/indexes/c1", None, "/indexes/c1", INDEX),
    "update_issue": Write("/issues/1", {"name": "x"}, "/issues/1"),
    "delete_issue": Write("/issues/1", None, "/issues/1"),
    "restore_issue": Write("/trash/1/restore", None, None, IN_TRASH),
    "purge_issue": Write("/trash/1", None, None, IN_TRASH),
    "update_comment": Write("/issues/1/comments/1", {"text": "x"}, "/issues/1/comments/1", COMMENT),
    "delete_comment": Write("/issues/1/comments/1", None, "/issues/1/comments/1", COMMENT),
    "update_view": Write("/views/v1", {"name": "x"}, "/views/v1", VIEW),
    "delete_view": Write("/views/v1", None, "/views/v1", VIEW),
    "update_webhook": Write("/webhooks/{id}", {"enabled": False}, "/webhooks/{id}", HOOK),
    "delete_webhook": Write("/webhooks/{id}", None, "/webhooks/{id}", HOOK),
    "rotate_webhook": Write("/webhooks/{id}/rotate", None, "/webhooks/{id}", HOOK),
}
"""The writes of versioned resources by their operations."""


def test_every_write_of_a_version_is_tried_without_luck() -> None:
    versioned = {route.operation for route in ROUTES if Takes.VERSIONS in route.takes}
    restores = {"restore_project", "restore_attribute", "restore_issue"}
    assert OF_LOST_RACES.keys() == {*versioned, *restores, "rotate_webhook"}


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("operation", OF_LOST_RACES)
def test_a_write_that_loses_every_race_is_a_conflict_with_the_present_resource(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    write = OF_LOST_RACES[operation]
    route = next(route for route in ROUTES if route.operation == operation)
    made: Any = {}
    for method, path, body in write.before:
        prepared = api.call(method, bridge + path, *([] if body is None else [body]))
        assert prepared.status < 300, prepared.text
        made = prepared.body or {}
    path = write.path if write.path.startswith("/v1/") else bridge + write.path
    path = path.format(id=made.get("id"))
    shown = (
        None if write.current is None else api.get((bridge + write.current).format(id=made.get("id"))).body
    )
    before, table = account.items(), account.modules["command"].table

    def overtaken(*asked: Any, **_: Any) -> None:
        key = (asked[0][keys.PK], asked[0][keys.SK]) if isinstance(asked[0], dict) else asked[:2]
        raise ConditionFailed(table.get(*key, consistent=True))

    def lost(*_: Any, **__: Any) -> None:
        raise TransactionFailed((0,))

    for name in ("put", "update", "delete"):
        monkeypatch.setattr(table, name, overtaken)
    monkeypatch.setattr(table, "transact", lost)
    refused = api.call(route.method, path, *([] if write.body is None else [write.body]))
    assert refused.kind == (409, "conflict"), refused.text
    assert account.items() == before
    if shown is None:
        assert refused.body["current"]["deleted_by"] == "ann"
    else:
        assert refused.body["current"] == shown


def test_a_delete_of_an_issue_that_another_deletes_meanwhile_is_not_found(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, found = account.modules["command"].table, account.table.get(*ISSUE)
    update = table.update
    tries: list[int] = []

    def overtaken(*asked: Any, **named: Any) -> None:
        tries.append(1)
        if len(tries) == 8:
            update(*asked, **named)
        raise ConditionFailed(found)

    monkeypatch.setattr(table, "update", overtaken)
    assert api.delete(f"{bridge}/issues/1").kind == (404, "not-found")
