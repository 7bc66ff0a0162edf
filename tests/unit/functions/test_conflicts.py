"""`base`: edits of different fields are merged, edits of the same field are conflicts for the later writer."""

import json
from typing import Any

import pytest

from gridview.commands.attempts import Attempt
from gridview.encoding import keys
from gridview.support.errors import MAX_PROBLEM_BYTES
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client, Context

START, END, ITEMS, SIGNED = "3812", "882a", "3fe6", "47e5"
"""The attributes of the worked example."""


@pytest.fixture
def issue(bridge: str) -> str:
    return f"{bridge}/issues/1"


def stored(account: Cloud, num: int = 1) -> dict[str, Any]:
    document = account.table.get(keys.issue("0807", "35e9", num), keys.project("0807", "35e9"))
    assert document is not None
    return document


def edit(api: Client, issue: str, base: int, fields: dict[str, Any], user: str = "ann") -> Answer:
    return api.acting(user=user).patch(issue, {"base": base, "fields": fields})


def test_edits_of_different_fields_are_both_made(api: Client, issue: str) -> None:
    first = edit(api, issue, 1, {START: "2023-05-03"})
    assert (first.status, first.body["version"], first.body["merged"]) == (200, 2, [])
    second = edit(api, issue, 1, {END: None}, "bob")
    assert (second.status, second.body["version"], second.body["merged"]) == (200, 3, [START])
    third = api.patch(issue, {"base": 1, "state": "closed"})
    assert third.body["merged"] == [START, END]
    assert third.body["fields"] == {START: "2023-05-03"}
    assert api.get(issue).body == {name: one for name, one in third.body.items() if name != "merged"}


def test_the_same_field_is_a_conflict_and_nothing_is_written(api: Client, account: Cloud, issue: str) -> None:
    api.acting(user="bob").patch(issue, {"state": "closed", "fields": {START: "2023-05-03"}})
    before = account.items()
    refused = api.patch(
        issue, {"base": 1, "name": "Free", "state": "closed", "fields": {START: None, END: "2023-07-01"}}
    )
    assert refused.kind == (409, "edit-conflict")
    assert refused.body["conflicts"] == [{"field": START, "yours": None, "theirs": "2023-05-03", "by": "bob"}]
    assert refused.body["current"] == api.get(issue).body
    assert account.items() == before


def test_a_conflict_names_only_the_user_of_the_last_change(api: Client, issue: str) -> None:
    api.acting(user="bob").patch(issue, {"fields": {START: "2023-05-03"}})
    api.acting(user="cat").patch(issue, {"name": "Painted", "state": "closed"})
    conflicts = api.patch(
        issue, {"base": 1, "name": "x", "state": "open", "fields": {START: "2024-01-01"}}
    ).body["conflicts"]
    assert conflicts == [
        {"field": "name", "yours": "x", "theirs": "Painted", "by": "cat"},
        {"field": "state", "yours": "open", "theirs": "closed", "by": "cat"},
        {"field": START, "yours": "2024-01-01", "theirs": "2023-05-03", "by": None},
    ]


def test_equal_values_of_both_edits_are_no_conflict(api: Client, issue: str) -> None:
    api.patch(issue, {"fields": {START: "2023-05-03"}})
    same = edit(api, issue, 1, {START: "2023-05-03"})
    assert (same.status, same.body["version"], same.body["merged"]) == (200, 2, [])
    more = edit(api, issue, 1, {START: "2023-05-03", ITEMS: 7})
    assert (more.body["version"], more.body["merged"]) == (3, [])


def test_a_change_that_is_seen_is_no_conflict(api: Client, issue: str) -> None:
    api.patch(issue, {"fields": {START: "2023-05-03"}})
    assert edit(api, issue, 2, {START: "2023-05-04"}).body["version"] == 3


def test_clearing_all_fields_meets_those_that_others_set(api: Client, issue: str) -> None:
    api.patch(issue, {"fields": {ITEMS: 7, START: None}})
    refused = api.patch(issue, {"base": 1, "fields": None})
    assert [one["field"] for one in refused.body["conflicts"]] == [ITEMS]
    api.patch(issue, {"fields": {ITEMS: None}})
    cleared = api.patch(issue, {"base": 1, "fields": None})
    assert (cleared.body["fields"], cleared.body["merged"]) == ({}, [])


@pytest.mark.parametrize("base", [0, -1, 1.5, "1", None, True, 10**30])
def test_a_base_is_a_version_that_the_issue_has_had(
    api: Client, account: Cloud, issue: str, base: Any
) -> None:
    before = account.items()
    refused = api.patch(issue, {"base": base, "name": "x"})
    assert refused.kind == (400, "invalid-request")
    assert refused.errors.keys() == {"base"}
    assert account.items() == before


def test_a_base_of_the_future_is_refused_with_the_version(api: Client, issue: str) -> None:
    refused = api.patch(issue, {"base": 2, "name": "x"})
    assert "version 1" in refused.errors["base"]


def test_a_base_that_a_restore_took_back_is_refused(api: Client, account: Cloud, issue: str) -> None:
    account.table.put({**stored(account), "version": 1_000, "lost": [[1, 1_000]]})
    for base in (2, 999):
        refused = api.patch(issue, {"base": base, "name": "x"})
        assert refused.status == 412
        assert refused.body["current"]["version"] == 1_000
    assert api.patch(issue, {"base": 1, "name": "x"}).status == 200
    assert api.patch(issue, {"base": 1_001, "name": "y"}).status == 200


def test_a_base_replaces_if_match(api: Client, bridge: str, issue: str) -> None:
    both = api.patch(issue, {"base": 1, "name": "x"}, headers={"if-match": '"1"'})
    assert both.status == 400
    assert both.errors.keys() == {"base"}
    (result,) = api.batch("35e9", {"update": {"num": 1, "version": 1, "base": 1, "name": "x"}}).body[
        "results"
    ]
    assert [one["field"] for one in result["problem"]["errors"]] == ["base"]
    assert api.patch(issue, {"base": 1, "name": "x"}, headers={"if-match": "*"}).status == 200


def test_a_create_with_a_base_is_refused(api: Client, bridge: str) -> None:
    assert api.post(f"{bridge}/issues", {"base": 1, "name": "x"}).errors.keys() == {"base"}


def test_a_batch_merges_and_reports_conflicts_one_by_one(api: Client, bridge: str) -> None:
    api.acting(user="bob").patch(f"{bridge}/issues/1", {"state": "closed"})
    updates = [
        {"update": {"num": 1, "base": 1, "name": "Mine"}},
        {"update": {"num": 1, "base": 1, "name": "Mine too", "state": "open"}},
        {"update": {"num": 2, "base": 1, "state": "open"}},
        {"update": {"num": 3, "state": "closed"}},
    ]
    merged, conflict, alone, plain = api.batch("35e9", *updates).body["results"]
    assert (merged["issue"]["version"], merged["merged"]) == (3, ["state"])
    assert conflict["problem"]["type"] == "edit-conflict"
    assert [(one["field"], one["by"]) for one in conflict["problem"]["conflicts"]] == [
        ("name", "ann"),
        ("state", None),
    ]
    assert conflict["problem"]["current"] == merged["issue"]
    assert alone["merged"] == []
    assert "merged" not in plain
    small = api.post(
        f"{bridge}/issues/batch",
        {"operations": [{"update": {"num": 1, "base": 1, "fields": {ITEMS: 1}}}], "return": "minimal"},
    )
    assert small.body["results"] == [{"status": 200, "version": 4, "merged": ["name", "state"]}]


def test_a_version_that_is_not_there_any_more_answers_the_resource_as_it_is(api: Client, bridge: str) -> None:
    for path, change in (
        (f"{bridge}/issues/1", {"name": "x"}),
        (f"{bridge}/attributes/{START}", {"name": "x"}),
        (bridge, {"name": "x"}),
    ):
        api.patch(path, change)
        now = api.get(path).body
        stale = {"if-match": '"1"'}
        for refused in (api.patch(path, change, headers=stale), api.delete(path, headers=stale)):
            assert refused.status == 412
            assert refused.body["current"] == now


def test_a_refused_delete_of_a_composite_index_returns_the_current_one(api: Client, bridge: str) -> None:
    made = api.made(f"{bridge}/indexes", {"sort": [{"field": "state"}, {"field": START}]})
    refused = api.delete(f"{bridge}/indexes/{made['id']}", headers={"if-match": '"9"'})
    assert (refused.status, refused.body["current"]) == (412, made)


def test_a_problem_has_its_limit_and_names_the_conflicts_all_the_same(api: Client, project: str) -> None:
    texts = [f"t{place}" for place in range(100)]
    for text in texts:
        api.made(f"{project}/attributes", {"id": text, "name": text, "type": "text", "indexed": False})
    api.made(f"{project}/issues", {"name": "n"})
    path = f"{project}/issues/1"
    api.patch(path, {"fields": dict.fromkeys(texts, "a" * 1024)})
    refused = api.patch(path, {"base": 1, "fields": dict.fromkeys(texts, "b" * 1024)})
    assert refused.kind == (409, "edit-conflict")
    assert len(refused.text.encode()) <= MAX_PROBLEM_BYTES
    conflicts = refused.body["conflicts"]
    assert [one["field"] for one in conflicts] == texts
    assert conflicts[0]["theirs"] == "a" * 1024
    assert "theirs" not in conflicts[-1]
    assert "current" not in refused.body
    operations = [{"update": {"num": 1, "base": 1, "fields": {"t0": "c" * 1024}}} for _ in range(500)]
    answer = api.batch("plain", *operations)
    assert len(answer.text.encode()) < 1_000_000
    assert {json.dumps(result["problem"]["conflicts"]) for result in answer.body["results"]} == {
        json.dumps([{"field": "t0", "by": "ann"}])
    }


def test_a_new_issue_has_no_changed_fields_until_it_is_changed(
    api: Client, account: Cloud, issue: str
) -> None:
    assert "changed" not in stored(account)
    api.patch(issue, {"state": "closed", "fields": {END: None}})
    assert stored(account)["changed"] == {"state": 2, "a2": 2}


def test_a_deleted_attribute_is_not_among_the_merged_fields(
    api: Client, account: Cloud, bridge: str, issue: str
) -> None:
    api.patch(issue, {"fields": {START: "2023-05-03"}})
    api.delete(f"{bridge}/attributes/{START}")
    assert api.patch(issue, {"base": 1, "name": "x"}).body["merged"] == []
    assert stored(account)["changed"] == {"a1": 2, "name": 3}, "it can be restored"
    api.delete(f"{bridge}/deleted-attributes/{START}")
    api.patch(issue, {"name": "y"})
    assert stored(account)["changed"] == {"name": 4}


def test_options_in_another_order_are_the_same_value(api: Client, project: str) -> None:
    api.made(
        f"{project}/attributes",
        {"id": "tags", "name": "Tags", "type": "multi_enum", "options": ["a", "b", "c"]},
    )
    api.made(f"{project}/issues", {"name": "n"})
    api.patch(f"{project}/issues/1", {"fields": {"tags": ["a", "b"]}})
    assert edit(api, f"{project}/issues/1", 1, {"tags": ["b", "a"]}).body["version"] == 2
    refused = edit(api, f"{project}/issues/1", 1, {"tags": ["b", "c"]})
    assert refused.body["conflicts"] == [
        {"field": "tags", "yours": ["b", "c"], "theirs": ["a", "b"], "by": "ann"}
    ]


def test_after_a_lost_race_the_edit_is_merged_again(
    api: Client, account: Cloud, issue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = account.modules["command"].table
    put, others = table.put, iter([{"name": "Other"}])

    def put_after_another(item: Any, condition: Any = None) -> None:
        for change in others:
            assert api.patch(issue, change).status == 200
        put(item, condition)

    monkeypatch.setattr(table, "put", put_after_another)
    merged = api.patch(issue, {"base": 1, "state": "closed"})
    assert (merged.body["version"], merged.body["name"], merged.body["merged"]) == (3, "Other", ["name"])


class Killed(BaseException):
    """Lambda ends a function that is out of time."""


@pytest.mark.parametrize("answered", ["minimal", "representation"])
@pytest.mark.filterwarnings("ignore:No application metrics")
def test_a_batch_that_is_sent_again_answers_what_was_merged(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch, answered: str
) -> None:
    api.acting(user="bob").patch(f"{bridge}/issues/1", {"state": "closed"})
    body = {"operations": [{"update": {"num": 1, "base": 1, "name": "Mine"}}], "return": answered}

    def dies(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Attempt, "end", dies)
        dead = Client(api.handlers, api.claims, Context(milliseconds_left=-1))
        with pytest.raises(Killed):
            dead.post(f"{bridge}/issues/batch", body, headers={"idempotency-key": "k"})
    assert stored(account)["version"] == 3
    (result,) = api.post(f"{bridge}/issues/batch", body, headers={"idempotency-key": "k"}).body["results"]
    assert (result["status"], result["merged"], stored(account)["version"]) == (200, ["state"], 3)
