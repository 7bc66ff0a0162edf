"""The effects of the routes of issues: one by one, in batches, deleted, undone, and their history."""

from collections.abc import Callable
from typing import Any

from gridview.encoding import derived_keys, keys
from tests.support.effects import CALLER, PROJECT, TENANT, Example, in_project, issue
from tests.support.recorded_changes import CHANGE
from tests.support.worked_example import ISSUES, PATH

COUNTER = in_project(keys.COUNTER)
THE_CHANGE = "0b9f6c1e-3d3a-4a57-9c0e-7a3f5be2d914"
"""The X-Change-Id of the event files."""
START = derived_keys.order(TENANT, PROJECT, "a1.1")
"""The sort key of an issue's entry in the order by Start."""


def start_of(example: Example, num: int) -> str | None:
    """The issue's sort string in the order by Start; None if it is not in that order."""
    item = example.items.get((issue(num)[0], START), {})
    return item.get(keys.SORT)


def written_under(change: str) -> Any:
    """The key of the note that the caller has just written under a change."""
    return derived_keys.change(
        TENANT, PROJECT, bytes.fromhex(change.replace("-", ""))
    ), derived_keys.change_note(CALLER)


def test_create_issue(example: Example) -> None:
    answer = example.write(201)
    assert answer.headers["location"] == f"{PATH}/issues/4"
    made = answer.body
    assert example.get("/issues/4") == made
    assert (made["name"], made["state"], made["version"]) == ("Rivets missing", "open", 1)
    assert made["fields"] == {"3812": "2023-05-04", "3fe6": 12.5}
    assert (made["created_by"], made["updated_by"]) == (CALLER, CALLER)
    assert example.changed.keys() == {COUNTER, issue(4)}
    assert example.item(COUNTER)["last"] == 4
    assert start_of(example, 4) is None
    example.follow()
    assert start_of(example, 4) == "2023-05-04\x0100000004"
    assert example.rows("-3812") == [4, 2, 1, 3]
    assert example.rows("3fe6") == [4, 3, 1, 2]
    assert example.get()["issues"] == 4
    assert example.get("/issues/4/history")["items"][0]["id"] == "4.1"
    assert example.news.get(f"{PATH}/issues/4").status == 404


def test_batch(example: Example) -> None:
    created, updated, deleted, unknown = example.write(200).body["results"]
    assert [one["status"] for one in (created, updated, deleted, unknown)] == [201, 200, 204, 404]
    assert example.get("/issues/4") == created["issue"]
    assert example.get("/issues/1") == updated["issue"]
    assert (updated["issue"]["state"], updated["issue"]["fields"]["882a"]) == ("closed", "2023-05-20")
    assert example.gone("/issues/2")
    assert {COUNTER, issue(1), issue(2), issue(4), written_under(THE_CHANGE)} < example.changed.keys()
    assert {pk.partition("-")[0] for pk, _ in example.changed} == {"issue", "project", "change", "request"}
    example.settle()
    assert example.rows("-3812") == [4, 1, 3]
    assert example.rows("882a") == [1, 3, 4]
    assert [one["num"] for one in example.get("/trash")["items"]] == [2]
    events = [one for one in example.get("/activity")["items"] if one["change"] == THE_CHANGE]
    assert {one["id"]: one["kind"] for one in events} == {"4.1": "create", "1.2": "update", "2.2": "delete"}


def test_get_issue(example: Example) -> None:
    found = example.read().body
    assert {name: found[name] for name in ISSUES[2]} == ISSUES[2]
    assert (found["num"], found["version"], found["created_by"]) == (3, 1, "ann")


def test_update_issue(example: Example) -> None:
    answer = example.write(200)
    assert example.get("/issues/3") == answer.body
    assert (answer.body["state"], answer.body["version"], answer.body["updated_by"]) == ("closed", 2, CALLER)
    assert answer.body["fields"] == {"3812": "2023-05-03", "3fe6": 42}
    assert example.changed.keys() == {issue(3), written_under(THE_CHANGE)}
    read_by = {"x-consistency-token": answer.headers["x-consistency-token"]}
    page = example.api.post(f"{PATH}/grid", {"sort": [{"field": "3812"}]}, headers=read_by)
    assert [row["num"] for row in page.body["rows"]] == [1, 2, 3], "the token shows it before the index does"
    example.follow()
    assert start_of(example, 3) == "2023-05-03\x0100000003"
    assert example.rows("-3812") == [3, 2, 1]
    assert example.rows("-47e5") == [3, 2, 1]
    last = example.get("/issues/3/history")["items"][0]
    assert (last["id"], last["by"], last["fields"]["47e5"]) == (
        "3.2",
        CALLER,
        {"old": "Approved", "new": None},
    )


def test_delete_issue(example: Example) -> None:
    example.write(204)
    assert example.gone("/issues/2")
    assert example.changed.keys() == {issue(2)}
    assert example.item(issue(2))["deleted_by"] == CALLER
    example.follow()
    assert start_of(example, 2) is None
    assert example.rows("-3812") == [1, 3]
    assert example.get()["issues"] == 2
    assert [one["num"] for one in example.get("/trash")["items"]] == [2]
    assert list(example.partition(keys.trash(TENANT, PROJECT)))


def test_list_trash(example: Example) -> None:
    example.before("delete_issue")
    assert example.api.delete(f"{PATH}/issues/1").status == 204
    example.follow()
    newest, oldest = example.read().body["items"]
    assert (newest["num"], newest["deleted_by"]) == (1, "ann")
    assert (oldest["num"], oldest["deleted_by"], oldest["name"]) == (2, CALLER, "Check for rust")
    assert oldest["fields"] == ISSUES[1]["fields"]


def test_restore_issue(example: Example) -> None:
    example.before("delete_issue")
    example.follow()
    assert example.rows("-3812") == [1, 3]
    answer = example.write(200).body
    assert example.get("/issues/2") == answer
    assert ({name: answer[name] for name in ISSUES[1]}, answer["version"]) == (ISSUES[1], 3)
    assert example.changed.keys() == {issue(2)}
    example.follow()
    assert example.rows("-3812") == [2, 1, 3]
    assert start_of(example, 2) == "2023-05-02\x0100000002"
    assert example.get("/trash")["items"] == []
    assert example.partition(keys.trash(TENANT, PROJECT)) == {}


def test_purge_issue(example: Example) -> None:
    example.before("delete_issue")
    example.follow()
    example.write(204)
    assert example.changed == {issue(2): None}
    assert example.get("/trash")["items"] == []
    assert example.api.post(f"{PATH}/trash/2/restore").status == 404
    example.follow()
    assert example.partition(keys.trash(TENANT, PROJECT)) == {}
    assert example.partition(derived_keys.history(TENANT, PROJECT, 2)) == {}
    assert example.rows("-3812") == [1, 3]
    assert example.api.made(f"{PATH}/issues", {"name": "Rivets"})["num"] == 4, "its number is not given again"


def test_undo(example: Example, later: Callable[[float], None]) -> None:
    changed = {"name": "Needs no painting", "fields": {"3812": "2024-01-01"}}
    path, headers = f"{PATH}/issues/1", {"x-change-id": CHANGE}
    assert example.caller.patch(path, changed, headers=headers).status == 200
    assert example.api.patch(f"{PATH}/issues/2", {"name": "Check for more rust"}).status == 200
    example.settle()
    assert example.rows("-3812") == [1, 2, 3]
    later(120)  # until then, more of the change may come
    example.settle()
    undone = example.write(200).body
    assert undone == {"undone": [{"num": 1, "version": 3}], "change": THE_CHANGE, "refused": []}
    found = example.get("/issues/1")
    assert ({name: found[name] for name in ISSUES[0]}, found["version"]) == (ISSUES[0], 3)
    assert issue(1) in example.changed
    example.follow()
    assert example.rows("-3812") == [2, 1, 3]
    assert example.get("/issues/2")["name"] == "Check for more rust", "only that change is undone"
    assert example.get("/issues/1/history")["items"][0]["change"] == THE_CHANGE


def test_issue_history(example: Example) -> None:
    assert example.caller.patch(f"{PATH}/issues/1", {"state": "closed"}).status == 200
    example.before("create_comment")
    example.follow()
    comment, update, creation = example.read().body["items"]
    assert (comment["kind"], comment["comment"], comment["by"]) == ("comment", 1, CALLER)
    assert (update["id"], update["by"]) == ("1.2", CALLER)
    assert update["fields"] == {"state": {"old": "open", "new": "closed"}}
    assert (creation["id"], creation["by"], creation["kind"]) == ("1.1", "ann", "create")
    assert creation["fields"]["3812"] == {"old": None, "new": "2023-05-01"}


def test_activity(example: Example) -> None:
    for client, num in ((example.api, 3), (example.caller, 2)):
        assert client.patch(f"{PATH}/issues/{num}", {"fields": {"3812": "2023-05-09"}}).status == 200
    assert example.api.patch(f"{PATH}/issues/1", {"state": "closed"}).status == 200
    example.follow()
    listed = example.read().body["items"]
    assert [one["id"] for one in listed] == ["3.2", "2.1", "1.1"], "what ann did to Start, the last first"
    assert {one["by"] for one in listed} == {"ann"}


COMMENTS = keys.comments(TENANT, PROJECT)
FIRST = keys.comment(1, 1)
"""The sort key of the first comment on issue 1."""


def test_list_comments(example: Example) -> None:
    example.before("create_comment")
    for num in (1, 2):
        example.api.made(f"{PATH}/issues/{num}/comments", {"text": f"Of issue {num}."})
    listed = example.read().body["items"]
    assert [(one["id"], one["created_by"], one["text"]) for one in listed] == [
        (1, CALLER, "The paint is ordered."),
        (2, "ann", "Of issue 1."),
    ]


def test_create_comment(example: Example) -> None:
    answer = example.write(201)
    assert example.api.get(answer.headers["location"]).body == answer.body
    assert (answer.body["text"], answer.body["created_by"]) == ("The paint is ordered.", CALLER)
    assert {(COMMENTS, FIRST), (COMMENTS, keys.comment_register(1))} < example.changed.keys()
    assert example.item((COMMENTS, keys.comment_register(1)))["count"] == 1
    example.follow()
    assert example.get("/issues/1/history")["items"][0]["kind"] == "comment"
    assert example.get("/issues/1")["version"] == 1, "it is no change of the issue"


def test_get_comment(example: Example) -> None:
    made = example.before("create_comment").body
    assert example.read().body == made
    assert made["text"] == example.item((COMMENTS, FIRST))["text"] == "The paint is ordered."


def test_update_comment(example: Example) -> None:
    made = example.before("create_comment").body
    answer = example.write(200).body
    assert answer == {**made, "text": "The paint is here.", "version": 2, "updated": answer["updated"]}
    assert example.get("/issues/1/comments/1") == answer
    assert example.changed.keys() == {(COMMENTS, FIRST)}


def test_delete_comment(example: Example) -> None:
    example.before("create_comment")
    example.write(204)
    assert example.gone("/issues/1/comments/1")
    assert example.get("/issues/1/comments")["items"] == []
    assert example.changed[COMMENTS, FIRST] is None
    assert example.item((COMMENTS, keys.comment_register(1)))["count"] == 0
    assert [one["kind"] for one in example.get("/issues/1/history")["items"]] == ["create"]
    assert example.api.made(f"{PATH}/issues/1/comments", {"text": "Again."})["id"] == 2
