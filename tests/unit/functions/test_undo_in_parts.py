"""An undo of some issues of a change: its effect, the part left for further undos, and the refused issues."""

from typing import Any

import pytest

from gridview.commands import undo as undoing
from tests.support import recorded_changes
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client

CHANGE = "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3"


@pytest.fixture
def path(account: Cloud, project: str, api: Client, monkeypatch: pytest.MonkeyPatch) -> str:
    """A project of five issues. Its history is never late."""
    monkeypatch.setattr(undoing, "SETTLED", 0.0)
    recorded_changes.on_time(account.table)
    api.made(f"{project}/attributes", {"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b"]})
    for name in ("Pier", "Deck", "Cable", "Bolt", "Rail"):
        api.made(f"{project}/issues", {"name": name, "fields": {"kind": "a"}})
    account.follow()
    return project


def changed(account: Cloud, api: Client, path: str) -> str:
    """A change that edits 1, deletes 2, creates 6, and edits and deletes 3."""
    operations: list[dict[str, Any]] = [
        {"update": {"num": 1, "name": "Pier 2", "fields": {"kind": "b"}}},
        {"delete": {"num": 2}},
        {"create": {"name": "New"}},
        {"update": {"num": 3, "name": "Cable 2"}},
    ]
    headers = {"x-change-id": CHANGE}
    made = api.post(f"{path}/issues/batch", {"operations": operations}, headers=headers)
    assert [one["status"] for one in made.body["results"]] == [200, 204, 201, 200]
    assert api.delete(f"{path}/issues/3", headers=headers).status == 204
    account.follow()
    return CHANGE


def seen(api: Client, path: str) -> list[Any]:
    """The visible values of the six issues; None for a deleted one."""
    answers = [api.get(f"{path}/issues/{num}") for num in range(1, 7)]
    return [
        {name: answer.body[name] for name in ("name", "fields")} if answer.status == 200 else None
        for answer in answers
    ]


def undo(account: Cloud, api: Client, path: str, change: str, *nums: int, **more: Any) -> Answer:
    account.follow()
    answer = api.post(f"{path}/undo", {"change": change, **({"nums": [*nums]} if nums else {}), **more})
    account.follow()
    return answer


def undone(answer: Answer) -> list[int]:
    assert (answer.status, answer.body["refused"]) == (200, []), answer.text
    return [one["num"] for one in answer.body["undone"]]


def test_some_issues_go_back_and_the_others_stay(account: Cloud, api: Client, path: str) -> None:
    before = seen(api, path)
    change = changed(account, api, path)
    after = seen(api, path)
    assert undone(undo(account, api, path, change, 6, 1)) == [1, 6]
    assert seen(api, path) == [before[0], *after[1:5], None]


@pytest.mark.parametrize("rest", [(2, 3), ()], ids=["named", "as a whole"])
def test_the_rest_goes_back_later_and_each_part_can_be_redone(
    account: Cloud, api: Client, path: str, rest: tuple[int, ...]
) -> None:
    """An undo of the whole change finds nothing to do in the issues of a partial undo."""
    before = seen(api, path)
    change = changed(account, api, path)
    after = seen(api, path)
    first = undo(account, api, path, change, 1, 6)
    part = seen(api, path)
    second = undo(account, api, path, change, *rest)
    assert undone(second) == [*(rest or (1, 2, 3, 6))]
    assert seen(api, path) == before
    # A redo reverses exactly its own undo.
    redo = undo(account, api, path, second.body["change"])
    assert undone(redo) == [2, 3]
    assert seen(api, path) == part
    assert undone(undo(account, api, path, first.body["change"])) == [1, 6]
    assert seen(api, path) == after


def test_parts_under_one_id_are_one_change(account: Cloud, api: Client, path: str) -> None:
    change = changed(account, api, path)
    after = seen(api, path)
    own = "0b9f6c1e-3d3a-4a57-9c0e-7a3f5be2d914"
    for nums in ([1, 2], [3, 6]):
        answer = api.post(f"{path}/undo", {"change": change, "nums": nums}, headers={"x-change-id": own})
        assert undone(answer) == nums
    assert undone(undo(account, api, path, own)) == [1, 2, 3, 6]
    assert seen(api, path) == after


def test_a_part_of_a_redo_is_taken_back(account: Cloud, api: Client, path: str) -> None:
    before = seen(api, path)
    change = changed(account, api, path)
    first = undo(account, api, path, change, 1, 2)
    redo = undo(account, api, path, first.body["change"])
    assert undone(undo(account, api, path, redo.body["change"], 2)) == [2]
    assert seen(api, path)[1] == before[1]
    assert seen(api, path)[0] != before[0]


def test_parts_that_others_have_undone_are_not_written(account: Cloud, api: Client, path: str) -> None:
    """The issue that the change created is deleted, and the one that it deleted is restored: nothing is left to do."""
    change = changed(account, api, path)
    bob = api.acting(user="bob")
    bob.delete(f"{path}/issues/6")
    bob.post(f"{path}/trash/2/restore")
    assert undone(undo(account, api, path, change, 2, 6)) == [2, 6]
    versions = [
        api.get(f"{path}/issues/2").body["version"],
        api.get(f"{path}/trash").body["items"][0]["version"],
    ]
    assert versions == [3, 2], "nothing was written"


def test_issues_that_the_change_did_not_touch_are_named(account: Cloud, api: Client, path: str) -> None:
    change = changed(account, api, path)
    before = seen(api, path)
    answer = undo(account, api, path, change, 1, 4, 99)
    assert answer.kind == (400, "invalid-request")
    assert answer.body["detail"] == "The change did not touch the issues 4, 99. Leave them out of `nums`."
    assert answer.body["errors"] == [
        {"field": "nums.1", "message": "must be an issue that the change touched"},
        {"field": "nums.2", "message": "must be an issue that the change touched"},
    ]
    assert seen(api, path) == before, "nothing is taken back"


@pytest.mark.parametrize(
    ("nums", "field", "message"),
    [
        ([], "nums", "at least 1"),
        ([1, 2, 1, 2], "nums", "must not name an issue twice: 1, 2"),
        ([0], "nums.0", "greater than or equal to 1"),
        ([100_000_000], "nums.0", "less than or equal to 99999999"),
        (["1"], "nums.0", "integer"),
        ([*range(1, 502)], "nums", "at most 500"),
        (None, "nums", "array"),
    ],
)
def test_a_list_that_names_no_issues_is_refused(
    api: Client, path: str, nums: Any, field: str, message: str
) -> None:
    answer = api.post(f"{path}/undo", {"change": CHANGE, "nums": nums})
    assert answer.status == 400
    (error,) = answer.body["errors"]
    assert error["field"] == field
    assert message in error["message"]


def test_issues_that_the_history_may_not_know_yet_are_waited_for(
    account: Cloud, api: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another write of the change may be in flight: the caller's token covers only one issue."""
    change = changed(account, api, path)
    monkeypatch.setattr(undoing, "SETTLED", 60.0)
    edited = api.patch(f"{path}/issues/4", {"name": "Bolt 2"}, headers={"x-change-id": change})
    account.follow()
    headers = {"x-consistency-token": edited.headers["x-consistency-token"]}
    answer = api.post(f"{path}/undo", {"change": change, "nums": [4, 5]}, headers=headers)
    assert answer.kind == (409, "history-not-ready")
    assert undone(api.post(f"{path}/undo", {"change": change, "nums": [4]}, headers=headers)) == [4]


def test_a_few_issues_of_a_large_change_need_no_job(
    account: Cloud, api: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undoing, "MAX_AT_ONCE", 1)
    before = seen(api, path)
    change = changed(account, api, path)
    assert undone(undo(account, api, path, change, 3)) == [3]
    assert seen(api, path)[2] == before[2]
    assert undo(account, api, path, change, 3, 4).kind == (400, "invalid-request")
    assert undo(account, api, path, change).status == 202


def test_a_dry_run_says_how_many_issues_the_change_touched(
    account: Cloud, api: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = changed(account, api, path)
    before = seen(api, path)
    nothing: dict[str, Any] = {"undone": [], "change": None, "refused": []}
    assert undo(account, api, path, change, dry_run=True).body == {**nothing, "issues": 4}
    assert undo(account, api, path, change, 1, 6, dry_run=True).body == {**nothing, "issues": 2}
    monkeypatch.setattr(undoing, "MAX_AT_ONCE", 3)
    many = undo(account, api, path, change, dry_run=True)
    assert (many.status, many.body) == (200, {**nothing, "issues": None})
    assert seen(api, path) == before
    assert api.get(f"{path}/jobs").body["items"] == []
