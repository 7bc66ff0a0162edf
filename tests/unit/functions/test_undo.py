"""Undo from outside: the parts that return, the parts that stay because others changed them, rights, and refusals."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from gridview.commands import jobs
from gridview.commands import undo as undoing
from gridview.commands.changes import change_of
from gridview.encoding import derived_keys, keys
from gridview.journal.change_members import members_of
from gridview.journal.history import read_changes
from gridview.support import clock
from gridview.support.errors import Overloaded
from tests.support import recorded_changes
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client

# A killed function has no metrics to publish, which Powertools finds worth a warning.
pytestmark = pytest.mark.filterwarnings("ignore:No application metrics")

CHANGE = "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3"


@pytest.fixture
def path(account: Cloud, project: str, api: Client) -> str:
    """A project with two attributes and two issues, by ann."""
    for body in (
        {"id": "start", "name": "Start", "type": "date"},
        {"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b"]},
        {"id": "tags", "name": "Tags", "type": "multi_enum", "options": ["x", "y"]},
    ):
        api.made(f"{project}/attributes", body)
    for name in ("Pier", "Deck"):
        api.made(f"{project}/issues", {"name": name, "fields": {"kind": "a"}})
    account.follow()
    return project


@pytest.fixture(autouse=True)
def settled(account: Cloud, project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The history is never late, and no request waits for more of a change."""
    monkeypatch.setattr(undoing, "SETTLED", 0.0)
    recorded_changes.on_time(account.table)


def undo(
    account: Cloud, api: Client, path: str, change: str, *, follow: bool = True, **headers: str
) -> Answer:
    """Take back a change, after the history has received everything."""
    if follow:
        account.follow()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return api.post(f"{path}/undo", {"change": change}, headers=named)


def undone(answer: Answer) -> dict[int, int]:
    assert answer.status == 200, answer.text
    return {one["num"]: one["version"] for one in answer.body["undone"]}


def refused(answer: Answer) -> dict[int, Any]:
    return {one["num"]: one["problem"] for one in answer.body["refused"]}


def values(api: Client, path: str, num: int) -> Any:
    """The visible values of an issue; None if it is deleted."""
    answer = api.get(f"{path}/issues/{num}")
    return {name: answer.body[name] for name in ("name", "state", "fields")} if answer.status == 200 else None


def edit(api: Client, path: str, num: int, body: Mapping[str, Any], change: str | None = None) -> str:
    """Edit an issue, and deliver the change."""
    answer = api.patch(f"{path}/issues/{num}", body, headers={"x-change-id": change} if change else {})
    assert answer.status == 200, answer.text
    return answer.headers["x-change-id"]


def test_an_edit_is_taken_back_by_one_version_more(account: Cloud, api: Client, path: str) -> None:
    before = values(api, path, 1)
    change = edit(
        api, path, 1, {"name": "Pier 2", "state": "closed", "fields": {"start": "2026-11-21", "kind": None}}
    )
    editor = api.acting(role="editor")
    answer = undo(account, editor, path, change)
    assert answer.body == {
        "undone": [{"num": 1, "version": 3}],
        "change": answer.headers["x-change-id"],
        "refused": [],
    }
    assert values(api, path, 1) == before
    account.follow()
    event = api.get(f"{path}/issues/1/history").body["items"][0]
    assert (event["version"], event["kind"], event["change"]) == (3, "update", answer.body["change"])
    assert event["fields"]["start"] == {"old": "2026-11-21", "new": None}
    grid = api.post(
        f"{path}/grid", {}, headers={"x-consistency-token": answer.headers["x-consistency-token"]}
    )
    assert [row["version"] for row in grid.body["rows"]] == [3, 1]


def test_the_undo_of_an_undo_is_a_redo(account: Cloud, api: Client, path: str) -> None:
    change = edit(api, path, 1, {"name": "Pier 2", "fields": {"tags": ["y", "x"]}})
    states = [values(api, path, 1)]
    for _ in range(4):
        change = undo(account, api, path, change).body["change"]
        states.append(values(api, path, 1))
    assert states[0] == states[2] == states[4]
    assert states[1] == states[3] == {"name": "Pier", "state": "open", "fields": {"kind": "a"}}


def test_a_change_of_every_kind_is_taken_back_and_made_again(account: Cloud, api: Client, path: str) -> None:
    operations: list[dict[str, Any]] = [
        {"create": {"name": "New", "fields": {"kind": "b"}}},
        {"update": {"num": 1, "name": "Pier 2"}},
        {"delete": {"num": 2}},
    ]
    made = api.post(f"{path}/issues/batch", {"operations": operations}, headers={"x-change-id": CHANGE})
    assert [one["status"] for one in made.body["results"]] == [201, 200, 204]
    after = [values(api, path, num) for num in (1, 2, 3)]
    answer = undo(account, api, path, CHANGE)
    assert undone(answer) == {1: 3, 2: 3, 3: 2}
    assert [values(api, path, num) for num in (1, 2, 3)] == [
        {"name": "Pier", "state": "open", "fields": {"kind": "a"}},
        {"name": "Deck", "state": "open", "fields": {"kind": "a"}},
        None,
    ]
    account.follow()
    assert [one["num"] for one in api.get(f"{path}/trash").body["items"]] == [3]
    again = undo(account, api, path, answer.body["change"])
    assert undone(again) == {1: 4, 2: 4, 3: 3}
    assert [values(api, path, num) for num in (1, 2, 3)] == after
    assert undone(undo(account, api, path, again.body["change"])) == {1: 5, 2: 5, 3: 4}


def test_a_restore_is_taken_back_by_a_delete(account: Cloud, api: Client, path: str) -> None:
    api.delete(f"{path}/issues/1")
    change = api.post(f"{path}/trash/1/restore").headers["x-change-id"]
    assert undone(undo(account, api, path, change)) == {1: 4}
    assert values(api, path, 1) is None


def test_later_changes_of_others_stay_and_are_listed_with_their_version(
    account: Cloud, api: Client, path: str
) -> None:
    change = edit(api, path, 1, {"name": "Pier 2", "fields": {"start": "2026-11-21", "kind": "b"}})
    edit(api, path, 2, {"name": "Deck 2"}, change)
    edit(api.acting(user="bob"), path, 1, {"fields": {"start": "2026-11-22"}})
    edit(api, path, 1, {"state": "closed"})
    answer = undo(account, api, path, change)
    assert undone(answer) == {1: 5, 2: 3}
    problem = refused(answer)[1]
    assert (problem["type"], problem["status"]) == ("edit-conflict", 409)
    assert "version 3" in problem["detail"]
    assert problem["conflicts"] == [
        {"field": "start", "yours": None, "theirs": "2026-11-22", "by": "bob", "version": 3}
    ]
    assert values(api, path, 1) == {
        "name": "Pier",
        "state": "closed",
        "fields": {"start": "2026-11-22", "kind": "a"},
    }
    assert values(api, path, 2)["name"] == "Deck"


def test_a_former_value_set_by_others_is_no_conflict(account: Cloud, api: Client, path: str) -> None:
    change = edit(api, path, 1, {"name": "Pier 2"})
    edit(api.acting(user="bob"), path, 1, {"name": "Pier"})
    answer = undo(account, api, path, change)
    assert (undone(answer), refused(answer)) == ({1: 3}, {})


def test_several_edits_of_one_change_go_back_to_before_the_first(
    account: Cloud, api: Client, path: str
) -> None:
    for name in ("Pier 2", "Pier 3", "Pier 4"):
        edit(api, path, 1, {"name": name}, CHANGE)
    edit(api, path, 1, {"state": "closed"})
    assert undone(undo(account, api, path, CHANGE)) == {1: 6}
    assert values(api, path, 1) == {"name": "Pier", "state": "closed", "fields": {"kind": "a"}}


def test_an_edit_goes_back_to_what_others_set_in_between(account: Cloud, api: Client, path: str) -> None:
    edit(api, path, 1, {"name": "mine", "state": "closed"}, CHANGE)
    edit(api.acting(user="bob"), path, 1, {"name": "theirs"})
    edit(api, path, 1, {"name": "mine again"}, CHANGE)
    answer = undo(account, api, path, CHANGE)
    assert values(api, path, 1)["name"] == "theirs"
    assert values(api, path, 1)["state"] == "open"
    (conflict,) = refused(answer)[1]["conflicts"]
    assert (conflict["field"], conflict["by"], conflict["version"]) == ("name", "bob", 3)


def test_a_delete_and_a_restore_by_others_change_no_value_in_between(
    account: Cloud, api: Client, path: str
) -> None:
    edit(api, path, 1, {"fields": {"kind": "b", "tags": ["x"]}}, CHANGE)
    bob = api.acting(user="bob")
    assert bob.delete(f"{path}/issues/1").status == 204
    account.follow()
    assert bob.post(f"{path}/trash/1/restore").status == 200
    edit(api, path, 1, {"fields": {"kind": None, "tags": ["y"]}}, CHANGE)
    answer = undo(account, api, path, CHANGE)
    assert (undone(answer), refused(answer)) == ({1: 6}, {})
    assert values(api, path, 1)["fields"] == {"kind": "a"}


def test_a_new_issue_that_others_have_edited_stays(account: Cloud, api: Client, path: str) -> None:
    change = api.post(f"{path}/issues", {"name": "New"}).headers["x-change-id"]
    edit(api.acting(user="bob"), path, 3, {"fields": {"kind": "b"}})
    answer = undo(account, api, path, change)
    assert undone(answer) == {}
    (conflict,) = refused(answer)[3]["conflicts"]
    assert conflict == {"field": "kind", "yours": None, "theirs": "b", "by": "bob", "version": 2}
    assert values(api, path, 3)["fields"] == {"kind": "b"}


def test_a_new_issue_that_others_have_deleted_and_restored_stays(
    account: Cloud, api: Client, path: str
) -> None:
    change = api.post(f"{path}/issues", {"name": "New"}).headers["x-change-id"]
    bob = api.acting(user="bob")
    bob.delete(f"{path}/issues/3")
    account.follow()
    answer = undo(account, api, path, change)
    assert (undone(answer), refused(answer)) == ({3: 2}, {}), "it is gone already"
    bob.post(f"{path}/trash/3/restore")
    answer = undo(account, api, path, change)
    assert (undone(answer), refused(answer)[3]["type"]) == ({}, "edit-conflict")
    assert values(api, path, 3)["name"] == "New"


def test_an_undo_of_issues_that_others_deleted_restored_or_purged(
    account: Cloud, api: Client, path: str
) -> None:
    bob = api.acting(user="bob")
    edited = edit(api, path, 1, {"name": "Pier 2"})
    bob.delete(f"{path}/issues/1")
    deleted = api.delete(f"{path}/issues/2").headers["x-change-id"]
    answer = undo(account, api, path, edited)
    assert (undone(answer), refused(answer)[1]["type"]) == ({}, "not-found")
    assert "version 3" in refused(answer)[1]["detail"]
    bob.post(f"{path}/trash/2/restore")
    answer = undo(account, api, path, deleted)
    assert (undone(answer), refused(answer)) == ({2: 3}, {}), "it is there already"
    bob.delete(f"{path}/trash/1")
    account.follow()
    assert refused(undo(account, api, path, edited))[1]["type"] == "not-found"


def test_an_issue_that_was_edited_and_deleted_in_one_change_comes_back_as_it_was(
    account: Cloud, api: Client, path: str
) -> None:
    edit(api, path, 1, {"name": "Pier 2"}, CHANGE)
    api.delete(f"{path}/issues/1", headers={"x-change-id": CHANGE})
    answer = undo(account, api, path, CHANGE)
    assert undone(answer) == {1: 5}, "one version brings it back, one more its name"
    assert values(api, path, 1)["name"] == "Pier"
    redo = undo(account, api, path, answer.body["change"])
    assert undone(redo) == {1: 7}
    assert values(api, path, 1) is None
    account.follow()
    assert api.get(f"{path}/trash").body["items"][0]["name"] == "Pier 2", "it is in the trash as it was"


def test_an_issue_made_and_deleted_in_one_change_needs_no_undo(
    account: Cloud, api: Client, path: str
) -> None:
    api.post(f"{path}/issues", {"name": "New"}, headers={"x-change-id": CHANGE})
    api.delete(f"{path}/issues/3", headers={"x-change-id": CHANGE})
    answer = undo(account, api, path, CHANGE)
    assert (undone(answer), refused(answer)) == ({3: 2}, {})
    assert "x-consistency-token" in answer.headers


# Definitions that have changed since


def test_attributes_and_options_that_were_deleted_since_are_named(
    account: Cloud, api: Client, path: str
) -> None:
    edit(api, path, 1, {"fields": {"start": "2026-11-20"}})
    change = edit(api, path, 1, {"name": "Pier 2", "fields": {"start": "2026-11-21", "kind": "b"}})
    assert api.delete(f"{path}/attributes/start").status == 204
    assert api.patch(f"{path}/attributes/kind", {"options": ["b"]}).status == 409, "an issue uses it"
    edit(api, path, 2, {"fields": {"kind": None}})
    account.follow()
    account.upkeep()
    assert api.patch(f"{path}/attributes/kind", {"options": ["b"]}).status == 200
    answer = undo(account, api, path, change)
    problem = refused(answer)[1]
    assert problem["type"] == "conflict"
    assert {one["field"]: one["message"] for one in problem["errors"]} == {
        "fields": "an attribute that the change set was deleted",
        "fields.kind": "the former option was deleted",
    }
    assert values(api, path, 1) == {"name": "Pier", "state": "open", "fields": {"kind": "b"}}


def test_a_value_required_by_now_is_not_cleared(account: Cloud, api: Client, path: str) -> None:
    change = edit(api, path, 1, {"fields": {"start": "2026-11-21"}})
    assert api.patch(f"{path}/attributes/start", {"required": True}).status == 200
    answer = undo(account, api, path, change)
    assert refused(answer)[1]["errors"] == [{"field": "fields.start", "message": "is required"}]
    change = edit(api, path, 1, {"name": "Pier 2"})
    other = edit(api, path, 2, {"name": "Deck 2", "fields": {"start": "2026-11-21"}})
    assert undone(undo(account, api, path, change)) == {1: 4}
    answer = undo(account, api, path, other)
    assert (undone(answer), refused(answer)[2]["type"]) == ({2: 3}, "conflict")
    assert values(api, path, 2) == {
        "name": "Deck",
        "state": "open",
        "fields": {"kind": "a", "start": "2026-11-21"},
    }


def test_an_issue_that_cannot_be_valid_is_refused_as_any_edit_of_it_is(
    account: Cloud, api: Client, path: str
) -> None:
    change = edit(api, path, 1, {"name": "Pier 2"})
    assert api.patch(f"{path}/attributes/start", {"required": True}).status == 200
    answer = undo(account, api, path, change)
    assert (undone(answer), refused(answer)[1]["type"]) == ({}, "invalid-request")
    assert refused(answer)[1]["errors"] == [{"field": "fields.start", "message": "is required"}]


def test_a_state_that_was_dropped_is_not_given_back(account: Cloud, api: Client, path: str) -> None:
    api.patch(path, {"states": ["open", "closed", "late"]})
    edit(api, path, 1, {"state": "late"})
    change = edit(api, path, 1, {"state": "closed"})
    gone = api.delete(f"{path}/issues/2").headers["x-change-id"]
    account.follow()
    account.upkeep()
    assert api.patch(path, {"states": ["open", "closed"]}).status == 200
    assert refused(undo(account, api, path, change))[1]["errors"][0]["field"] == "state"
    assert undone(undo(account, api, path, gone)) == {2: 3}


# Rights


def test_an_editor_takes_back_what_is_theirs_and_an_administrator_all(
    account: Cloud, api: Client, path: str
) -> None:
    ben, viewer = api.acting(role="editor", user="ben"), api.acting(role="viewer", user="ben")
    change = edit(ben, path, 1, {"name": "Pier 2"})
    assert undo(account, viewer, path, change).kind == (403, "forbidden")
    assert undo(account, api.acting(role="editor", user="cem"), path, change).kind == (403, "forbidden")
    assert undone(undo(account, api, path, change)) == {1: 3}
    assert api.get(f"{path}/issues/1").body["updated_by"] == "ann"


def test_the_same_id_of_two_people_is_two_changes(account: Cloud, api: Client, path: str) -> None:
    ben, cem = api.acting(role="editor", user="ben"), api.acting(role="editor", user="cem")
    edit(ben, path, 1, {"name": "ben's"}, CHANGE)
    edit(cem, path, 2, {"name": "cem's"}, CHANGE)
    assert undo(account, api, path, CHANGE).kind == (409, "conflict")
    assert undone(undo(account, ben, path, CHANGE)) == {1: 3}
    edit(api, path, 1, {"state": "closed"}, CHANGE)
    assert undone(undo(account, api, path, CHANGE)) == {1: 5}
    answer = api.post(f"{path}/undo", {"change": CHANGE, "by": "cem"})
    assert undone(answer) == {2: 3}
    assert ben.post(f"{path}/undo", {"change": CHANGE, "by": "cem"}).kind == (403, "forbidden")
    assert api.post(f"{path}/undo", {"change": CHANGE, "by": "dora"}).kind == (404, "not-found")


def test_another_tenant_finds_nothing(account: Cloud, api: Client, path: str) -> None:
    change = edit(api, path, 1, {"name": "Pier 2"})
    other = api.acting(tenant="0808")
    assert undo(account, other, path, change).kind == (404, "not-found")
    other.made("/v1/projects", {"name": "Theirs", "id": path.rpartition("/")[2]})
    assert undo(account, other, path, change).kind == (404, "not-found")
    assert values(api, path, 1)["name"] == "Pier 2"


def test_unknown_and_invalid_changes_are_refused(account: Cloud, api: Client, path: str) -> None:
    assert undo(account, api, path, str(uuid4())).kind == (404, "not-found")
    for body in (
        {},
        {"change": "x"},
        {"change": CHANGE, "num": 1},
        {"change": CHANGE, "by": ""},
        {"change": 1},
    ):
        assert api.post(f"{path}/undo", body).kind == (400, "invalid-request")
    assert undo(account, api, "/v1/projects/nowhere", CHANGE).kind == (404, "not-found")
    edit(api, path, 1, {"name": "Pier 2"}, CHANGE)
    answer = undo(account, api, path, CHANGE, x_change_id=CHANGE.upper())
    assert (answer.kind, "X-Change-Id" in answer.errors) == ((400, "invalid-request"), True)


# Certainty


def test_an_undo_waits_until_the_history_is_ready(
    account: Cloud, api: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the token of a write it is certain; without it more writes may come."""
    written = api.patch(f"{path}/issues/1", {"name": "Pier 2"}, headers={"x-change-id": CHANGE})
    token = written.headers["x-consistency-token"]
    answer = undo(account, api, path, CHANGE, follow=False, x_consistency_token=token)
    assert (answer.kind, answer.headers["retry-after"]) == ((409, "history-not-ready"), "1")
    account.follow()
    monkeypatch.setattr(undoing, "SETTLED", 3.0)
    answer = undo(account, api, path, CHANGE)
    assert answer.kind == (409, "history-not-ready")
    assert 1 <= int(answer.headers["retry-after"]) <= 3
    assert values(api, path, 1)["name"] == "Pier 2"
    assert undone(undo(account, api, path, CHANGE, x_consistency_token=token)) == {1: 3}


def test_a_token_of_a_delete_is_waited_for(account: Cloud, api: Client, path: str) -> None:
    deleted = api.delete(f"{path}/issues/1", headers={"x-change-id": CHANGE})
    token = deleted.headers["x-consistency-token"]
    assert undo(account, api, path, CHANGE, follow=False, x_consistency_token=token).kind == (
        409,
        "history-not-ready",
    )
    assert undone(undo(account, api, path, CHANGE, x_consistency_token=token)) == {1: 3}


@pytest.mark.parametrize("second", ["edit", "delete"])
def test_a_token_of_a_write_that_the_history_lacks_is_waited_for_though_it_has_another(
    account: Cloud, api: Client, path: str, second: str
) -> None:
    first = api.patch(f"{path}/issues/1", {"name": "Pier 2"}, headers={"x-change-id": CHANGE})
    account.follow()
    headers = {"x-change-id": CHANGE}
    late = (
        api.delete(f"{path}/issues/2", headers=headers)
        if second == "delete"
        else api.patch(f"{path}/issues/2", {"name": "Deck 2"}, headers=headers)
    )
    tokens = ", ".join(answer.headers["x-consistency-token"] for answer in (first, late))
    answer = undo(account, api, path, CHANGE, follow=False, x_consistency_token=tokens)
    assert answer.kind == (409, "history-not-ready")
    assert values(api, path, 1)["name"] == "Pier 2"
    assert undone(undo(account, api, path, CHANGE, x_consistency_token=tokens)) == {1: 3, 2: 3}


def test_a_token_of_a_delete_is_waited_for_beside_one_of_an_earlier_write(
    account: Cloud, api: Client, path: str
) -> None:
    earlier = api.patch(f"{path}/issues/2", {"name": "Deck 2"})
    headers = {"x-change-id": CHANGE}
    first = api.delete(f"{path}/issues/1", headers=headers)
    account.follow()
    late = api.delete(f"{path}/issues/2", headers=headers)
    tokens = ", ".join(answer.headers["x-consistency-token"] for answer in (late, first, earlier))
    answer = undo(account, api, path, CHANGE, follow=False, x_consistency_token=tokens)
    assert answer.kind == (409, "history-not-ready")
    assert undone(undo(account, api, path, CHANGE, x_consistency_token=tokens)) == {1: 3, 2: 4}


def test_tokens_of_other_issues_do_not_complete_a_change(
    account: Cloud, api: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(api, path, 1, {"name": "Pier 2"}, CHANGE)
    other = api.patch(f"{path}/issues/2", {"name": "Deck 2"}).headers["x-consistency-token"]
    monkeypatch.setattr(undoing, "SETTLED", 3.0)
    assert undo(account, api, path, CHANGE, x_consistency_token=other).kind == (409, "history-not-ready")


def test_a_token_of_a_read_does_not_complete_a_change(
    account: Cloud, api: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(api, path, 1, {"name": "Pier 2"}, CHANGE)
    seen = api.get(f"{path}/issues/1").headers["x-consistency-token"]
    monkeypatch.setattr(undoing, "SETTLED", 3.0)
    assert undo(account, api, path, CHANGE, x_consistency_token=seen).kind == (409, "history-not-ready")


def test_a_late_history_is_waited_for(account: Cloud, api: Client, path: str) -> None:
    change = edit(api, path, 1, {"name": "Pier 2"})
    recorded_changes.on_time(account.table, lag=20)
    answer = undo(account, api, path, change)
    assert answer.kind == (409, "history-not-ready")
    assert 15 <= int(answer.headers["retry-after"]) <= 20
    assert undo(account, api, path, str(uuid4())).kind == (409, "history-not-ready"), "it may be of just now"
    account.table.delete(keys.LAG_OF_BEAT, keys.LAG)
    account.table.delete(keys.lag("0807", "plain"), keys.LAG)
    assert undo(account, api, path, change).kind == (409, "history-not-ready"), "its lag is unknown"


def test_an_issue_with_a_version_that_the_history_lacks_is_refused(
    account: Cloud, api: Client, path: str
) -> None:
    edit(api, path, 1, {"name": "Pier 2"}, CHANGE)
    edit(api, path, 2, {"name": "Deck 2"}, CHANGE)
    account.follow()
    edit(api, path, 1, {"state": "closed"}, CHANGE)
    answer = undo(account, api, path, CHANGE, follow=False)
    assert undone(answer) == {2: 3}
    assert refused(answer)[1]["type"] == "history-not-ready"
    assert undone(undo(account, api, path, CHANGE, x_change_id=answer.body["change"])) == {1: 4, 2: 3}


def test_a_change_that_only_the_lists_of_the_history_have_is_waited_for(
    account: Cloud, api: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The consumer writes the lists first. After a day, no record of the stream can bring the rest any more."""
    change = edit(api, path, 1, {"name": "Pier 2"})
    account.follow()
    key = derived_keys.history("0807", "plain", 1), derived_keys.history_item(2)
    item = account.table.get(*key, consistent=True)
    assert item is not None
    account.table.delete(*key)
    answer = undo(account, api, path, change, follow=False)
    assert (answer.kind, answer.headers["retry-after"]) == ((409, "history-not-ready"), "1")
    with monkeypatch.context() as later:
        later.setattr(undoing, "_LATE", 0.0)
        expired = undo(account, api, path, change, follow=False)
        assert (expired.status, refused(expired)[1]["type"]) == (200, "conflict")
    account.table.put(item)
    assert undone(undo(account, api, path, change)) == {1: 3}


def test_without_history_there_is_no_undo(account: Cloud, api: Client, path: str) -> None:
    change = edit(api, path, 1, {"name": "Pier 2"})
    assert api.patch(path, {"history": {"enabled": False}}).status == 200
    assert undo(account, api, path, change).kind == (409, "history-disabled")


def test_an_expired_change_cannot_be_undone(
    account: Cloud, api: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = edit(api, path, 1, {"name": "Pier 2"})
    account.follow()
    assert api.patch(path, {"history": {"days": 1}}).status == 200
    now = clock.seconds()
    for hours, status in ((22.9, 200), (23.1, 410)):
        with monkeypatch.context() as patch:
            patch.setattr(clock, "seconds", lambda: now + hours * 3600)  # noqa: B023
            patch.setattr(clock, "after", lambda more: stored(now + hours * 3600 + more))  # noqa: B023
            recorded_changes.on_time(account.table)
            answer = undo(account, api, path, change)
            assert answer.status == status, answer.text
    assert answer.kind == (410, "history-expired")


def stored(seconds: float) -> str:
    """An instant as it is stored."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


# Once


def test_a_repetition_under_a_key_answers_the_same_and_does_nothing(
    account: Cloud, api: Client, path: str
) -> None:
    change = edit(api, path, 1, {"name": "Pier 2"})
    first = undo(account, api, path, change, idempotency_key="k")
    assert undone(first) == {1: 3}
    edit(api, path, 1, {"name": "Pier 3"})
    again = undo(account, api, path, change, idempotency_key="k")
    assert (again.text, again.headers) == (first.text, first.headers)
    assert values(api, path, 1)["name"] == "Pier 3"
    other = edit(api, path, 1, {"name": "Pier 4"})
    assert undo(account, api, path, other, idempotency_key="k").kind == (409, "conflict")


def test_without_a_key_a_second_undo_finds_its_fields_changed(account: Cloud, api: Client, path: str) -> None:
    change = edit(api, path, 1, {"name": "Pier 2"})
    first = undo(account, api, path, change)
    redo = undo(account, api, path, first.body["change"])
    answer = undo(account, api, path, change)
    assert (undone(answer), refused(answer)[1]["conflicts"][0]["version"]) == ({}, undone(redo)[1])
    assert values(api, path, 1)["name"] == "Pier 2"


# Jobs


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a change of more than one issue a job."""
    monkeypatch.setattr(undoing, "MAX_AT_ONCE", 1)


def both(account: Cloud, api: Client, path: str) -> str:
    """A change of two issues."""
    edit(api, path, 1, {"name": "Pier 2"}, CHANGE)
    return edit(api, path, 2, {"name": "Deck 2", "state": "closed"}, CHANGE)


@pytest.mark.usefixtures("large")
def test_a_large_change_is_taken_back_by_a_job_which_can_be_undone(
    account: Cloud, api: Client, path: str
) -> None:
    answer = undo(account, api, path, both(account, api, path))
    assert (answer.status, answer.body["kind"], answer.body["state"]) == (202, "undo", "waiting")
    assert answer.headers["location"] == f"{path}/jobs/{answer.body['id']}"
    assert answer.headers["x-change-id"] == answer.body["change"]
    assert len(account.hints) == 1, "a worker gets a hint at once"
    account.upkeep()
    done = api.get(answer.headers["location"]).body
    assert (done["state"], done["done"], done["total"], done["refused"]) == ("done", 2, 2, 0)
    assert [values(api, path, num)["name"] for num in (1, 2)] == ["Pier", "Deck"]
    redo = undo(account, api, path, answer.body["change"])
    account.upkeep()
    assert api.get(redo.headers["location"]).body["done"] == 2
    assert [values(api, path, num)["name"] for num in (1, 2)] == ["Pier 2", "Deck 2"]


@pytest.mark.usefixtures("large")
def test_a_job_lists_what_stays(account: Cloud, api: Client, path: str) -> None:
    both(account, api, path)
    edit(api.acting(user="bob"), path, 2, {"name": "theirs"})
    job = undo(account, api, path, CHANGE).headers["location"]
    account.upkeep()
    done = api.get(job).body
    assert (done["state"], done["done"], done["total"], done["refused"]) == ("done", 1, 2, 1)
    (one,) = api.get(f"{job}/refused").body["items"]
    assert (one["num"], one["problem"]["type"]) == (2, "edit-conflict")
    assert one["problem"]["conflicts"][0]["version"] == 3
    assert values(api, path, 2) == {"name": "theirs", "state": "open", "fields": {"kind": "a"}}


@pytest.mark.usefixtures("large")
def test_a_change_of_an_open_job_is_not_taken_back_yet(account: Cloud, api: Client, path: str) -> None:
    job = undo(account, api, path, both(account, api, path), x_change_id=str(UUID(int=7)))
    edit(api, path, 1, {"state": "closed"}, str(UUID(int=7)))
    assert undo(account, api, path, str(UUID(int=7))).kind == (409, "conflict")
    assert undo(account, api.acting(user="bob"), path, CHANGE).status == 202, "another change is free"
    assert api.delete(job.headers["location"]).status == 204
    account.upkeep()
    assert undo(account, api, path, str(UUID(int=7))).status == 200


@pytest.mark.usefixtures("large")
def test_a_job_is_begun_once_under_a_key_even_by_an_attempt_that_died(
    account: Cloud, api: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = both(account, api, path)
    start = jobs.start

    def die(*given: Any) -> Any:
        start(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "start", die)
        with pytest.raises(KeyboardInterrupt):
            undo(account, api, path, change, idempotency_key="k")
    (begun,) = api.get(f"{path}/jobs").body["items"]
    for _ in range(2):
        answer = undo(account, api, path, change, idempotency_key="k")
        assert (answer.status, answer.body["id"]) == (202, begun["id"])
    assert len(api.get(f"{path}/jobs").body["items"]) == 1


@pytest.mark.usefixtures("large")
def test_a_job_is_begun_once_though_its_beginning_looked_like_a_failure(
    account: Cloud, api: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = both(account, api, path)
    table = account.modules["command"].table
    transact = table.transact

    def lose_the_answer(writes: Any) -> None:
        transact(writes)
        raise Overloaded("The table cannot be reached; try again.")

    with monkeypatch.context() as patch:
        patch.setattr(table, "transact", lose_the_answer)
        lost = undo(account, api, path, change, idempotency_key="k")
        assert lost.status in (429, 503)
        assert "retry-after" in lost.headers
    answer = undo(account, api, path, change, idempotency_key="k")
    (begun,) = api.get(f"{path}/jobs").body["items"]
    assert (answer.status, answer.body["id"]) == (202, begun["id"])


@pytest.mark.usefixtures("large")
def test_an_undo_that_was_refused_first_is_not_answered_with_another_undos_job(
    account: Cloud, api: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = str(UUID(int=7))
    for num in (1, 2):
        edit(api, path, num, {"name": "first"}, other)
    own = str(UUID(int=8))
    first = undo(account, api, path, other, x_change_id=own)
    account.upkeep()
    change = both(account, api, path)
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "MOST_OF_PROJECT", 0)
        assert undo(account, api, path, change, idempotency_key="k", x_change_id=own).status == 429
    second = undo(account, api, path, change, idempotency_key="k", x_change_id=own)
    assert second.status == 202
    assert second.body["id"] != first.body["id"]
    account.upkeep()
    assert [values(api, path, num)["name"] for num in (1, 2)] == ["Pier", "Deck"]


def test_a_change_without_a_given_id_needs_no_item_and_can_be_undone(
    account: Cloud, api: Client, path: str
) -> None:
    """Its id contains the second in which the activity lists it."""
    change = edit(api, path, 1, {"name": "Pier 2"})
    account.follow()
    assert UUID(change).version == 7
    assert not [pk for pk, _ in account.table.items if pk.startswith(derived_keys.CHANGE_PREFIX)]
    assert undone(undo(account, api, path, change)) == {1: 3}


def test_a_change_item_contains_the_instant_of_its_version(account: Cloud, api: Client, path: str) -> None:
    """The basis of an undo: an instant of each version."""
    edit(api, path, 1, {"name": "Pier 2"}, CHANGE)
    account.follow()
    (found,) = members_of(account.table, "0807", "plain", UUID(CHANGE).bytes)
    (change,) = read_changes(account.table, "0807", "plain", [(1, 2)]).values()
    assert (found.at, found.num, found.version) == (change.at, 1, 2)


# Right after the write


@pytest.fixture
def unsettled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As deployed: an undo waits for further writes of the change."""
    monkeypatch.setattr(undoing, "SETTLED", 3.0)


def not_yet(answer: Answer) -> None:
    """The history cannot have the change yet, and the answer says when to retry."""
    assert answer.kind == (409, "history-not-ready"), answer.text
    assert 1 <= int(answer.headers["retry-after"]) <= 4


@pytest.mark.usefixtures("unsettled")
@pytest.mark.parametrize("named", [None, CHANGE], ids=["of an id that states its time", "of any other id"])
def test_an_undo_right_after_the_write_is_too_early_and_not_lost(
    account: Cloud, api: Client, path: str, named: str | None
) -> None:
    """By every call that writes issues."""
    header = {"x-change-id": named} if named else {}
    writes: list[Callable[[], Answer]] = [
        lambda: api.post(f"{path}/issues", {"name": "New"}, headers=header),
        lambda: api.patch(f"{path}/issues/1", {"name": "Pier 2"}, headers=header),
        lambda: api.delete(f"{path}/issues/1", headers=header),
        lambda: api.post(f"{path}/trash/1/restore", headers=header),
        lambda: api.post(
            f"{path}/issues/batch", {"operations": [{"update": {"num": 2, "name": "D"}}]}, headers=header
        ),
        lambda: api.post(f"{path}/issues", {"name": "Once"}, headers={**header, "idempotency-key": "k"}),
    ]
    for write in writes:
        account.table.delete(
            derived_keys.change("0807", "plain", UUID(CHANGE).bytes), derived_keys.change_note("ann")
        )
        written = write()
        assert written.status < 300, written.text
        not_yet(undo(account, api, path, written.headers["x-change-id"], follow=False))


def test_a_redo_right_after_the_undo_waits_for_it_however_late_the_history_is(
    account: Cloud, api: Client, path: str
) -> None:
    """An undo leaves a note, so that no lag of the history must be assumed."""
    change = edit(api, path, 1, {"name": "Pier 2"})
    undo_id = undo(account, api, path, change).body["change"]
    not_yet(undo(account, api, path, undo_id, follow=False))
    assert undone(undo(account, api, path, undo_id)) == {1: 4}
    assert values(api, path, 1)["name"] == "Pier 2"


@pytest.mark.usefixtures("large")
def test_an_undo_right_after_a_job_waits_for_it(account: Cloud, api: Client, path: str) -> None:
    job = undo(account, api, path, both(account, api, path)).body
    open_still = undo(account, api, path, job["change"], follow=False)
    assert open_still.kind == (409, "conflict"), open_still.text
    assert "still open" in open_still.text
    account.upkeep()
    not_yet(undo(account, api, path, job["change"], follow=False))


def test_an_export_under_the_id_is_no_write_that_an_undo_waits_for(
    account: Cloud, api: Client, path: str
) -> None:
    begun = api.post(f"{path}/export", {"format": "ndjson"}, headers={"x-change-id": CHANGE})
    assert (begun.status, begun.body["change"]) == (202, CHANGE), begun.text
    assert undo(account, api, path, CHANGE).kind == (404, "not-found")


@pytest.mark.usefixtures("unsettled")
def test_an_id_under_which_nothing_was_written_is_unknown_at_once(
    account: Cloud, api: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = undo(account, api, path, str(uuid4()))
    assert refusal.kind == (404, "not-found")
    recent = new_id()
    not_yet(undo(account, api, path, recent))
    now = clock.seconds() + 6
    monkeypatch.setattr(clock, "seconds", lambda: now)
    recorded_changes.on_time(account.table)
    assert undo(account, api, path, recent).kind == (404, "not-found")
    far = UUID(int=int((now + 3_600) * 1000) << 80 | 7 << 76 | 1 << 63)
    assert undo(account, api, path, str(far)).kind == (404, "not-found"), "no write can have left no note"


def new_id() -> str:
    """An id with this instant, as pages make them."""
    return str(change_of(None))


def test_the_same_redo_sent_twice_is_one_change(account: Cloud, api: Client, path: str) -> None:
    change = edit(api, path, 1, {"name": "Pier 2"})
    undo_id = undo(account, api, path, change).body["change"]
    redo_id = str(uuid4())
    first = undo(account, api, path, undo_id, x_change_id=redo_id)
    assert (undone(first), first.body["change"]) == ({1: 4}, redo_id)
    again = api.post(f"{path}/undo", {"change": undo_id}, headers={"x-change-id": redo_id})
    assert (undone(again), again.body["change"]) == ({1: 4}, redo_id), "it is the same redo"
    other = undo(account, api, path, undo_id)
    assert (undone(other), other.body["change"]) == ({1: 4}, None), "nothing is left for another one"
    assert undone(undo(account, api, path, redo_id)) == {1: 5}


def test_an_undo_that_wrote_nothing_has_no_change(account: Cloud, api: Client, path: str) -> None:
    change = edit(api, path, 1, {"name": "Pier 2"})
    edit(api.acting(user="bob"), path, 1, {"name": "theirs"})
    answer = undo(account, api, path, change)
    assert (answer.body["undone"], answer.body["change"]) == ([], None)
    assert refused(answer)[1]["type"] == "edit-conflict"


def test_the_callers_own_change_comes_first_also_before_it_is_known(
    account: Cloud, api: Client, path: str
) -> None:
    """Another editor's change under the same id is neither mistaken for it nor a reason for a refusal."""
    ben, cem = api.acting(role="editor", user="ben"), api.acting(role="editor", user="cem")
    edit(ben, path, 1, {"name": "ben's"}, CHANGE)
    account.follow()
    edit(cem, path, 2, {"name": "cem's"}, CHANGE)
    not_yet(undo(account, cem, path, CHANGE, follow=False))
    edit(api, path, 2, {"state": "closed"}, CHANGE)
    not_yet(undo(account, api, path, CHANGE, follow=False))
    assert undone(undo(account, cem, path, CHANGE)) == {2: 4}
    assert values(api, path, 1)["name"] == "ben's"


@pytest.mark.usefixtures("large")
def test_the_callers_own_change_is_found_after_a_large_one(account: Cloud, api: Client, path: str) -> None:
    ben, cem = api.acting(role="editor", user="ben"), api.acting(role="editor", user="cem")
    for num in (1, 2):
        edit(ben, path, num, {"name": "ben's"}, CHANGE)
    third = api.post(f"{path}/issues", {"name": "New"}).body["num"]
    edit(cem, path, third, {"name": "cem's"}, CHANGE)
    assert undone(undo(account, cem, path, CHANGE)) == {third: 3}
    assert undo(account, api, path, CHANGE).kind == (409, "conflict"), "ben's part fills a request"


def test_an_administrator_names_the_user_of_a_change_of_several(
    account: Cloud, api: Client, path: str
) -> None:
    ben, cem = api.acting(role="editor", user="ben"), api.acting(role="editor", user="cem")
    edit(ben, path, 1, {"name": "ben's"}, CHANGE)
    account.follow()
    edit(cem, path, 2, {"name": "cem's"}, CHANGE)
    answer = undo(account, api, path, CHANGE, follow=False)
    assert answer.kind == (409, "conflict"), "cem's is not known to the history yet, and counts"
    assert "`ben`, `cem`" in answer.body["detail"]
    assert [one["field"] for one in answer.body["errors"]] == ["by"]
    for name, after in (("ben", {1: 3}), ("cem", {2: 3})):
        account.follow()
        assert undone(api.post(f"{path}/undo", {"change": CHANGE, "by": name})) == after


def test_a_note_of_a_change_goes_by_itself(account: Cloud, api: Client, path: str) -> None:
    edit(api, path, 1, {"name": "Pier 2"}, CHANGE)
    note = account.table.get(
        derived_keys.change("0807", "plain", UUID(CHANGE).bytes), derived_keys.change_note("ann")
    )
    assert note is not None
    assert 0 < note[keys.TTL_ATTRIBUTE] - clock.seconds() <= 3_601
