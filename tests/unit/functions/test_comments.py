"""Comments on issues: their authors, their mentions, and their end with issues and projects."""

from typing import Any

import pytest

from gridview.commands import comments
from gridview.encoding import derived_keys, keys
from gridview.schema.comments import MAX_COMMENT_LENGTH, MAX_MENTIONS
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client
from tests.support.removed import removed

TENANT = "0807"


@pytest.fixture
def home(account: Cloud, api: Client, project: str) -> str:
    """The path of the comments on an issue, in a tenant where ann, bob and vic are known."""
    for user in ("ann", "bob", "vic"):
        account.api(user=user, role="viewer").claiming(name=user.title()).get("/v1/me")
    api.made(f"{project}/issues", {"name": "Rivets"})
    return f"{project}/issues/1/comments"


@pytest.fixture
def bob(account: Cloud) -> Client:
    return account.api(user="bob", role="editor")


def texts(client: Client, home: str, **query: str) -> list[str]:
    answer = client.get(home, query=query)
    assert answer.status == 200, answer.text
    return [one["text"] for one in answer.body["items"]]


def listed(account: Cloud, project: str = "plain") -> list[dict[str, Any]]:
    """The events about comments in the project's activity, in the order of time."""
    found = account.table.query(derived_keys.activity(TENANT, project)).items
    return [one for one in found if one["kind"] == "comment"]


def without_request_id(answer: Answer) -> dict[str, Any]:
    return {**answer.body, "request_id": ""}


def test_a_comment_is_answered_whole_and_found_again(api: Client, home: str, bob: Client) -> None:
    answer = bob.post(home, {"text": "Ann, look at this.", "mentions": ["ann", "vic"]})
    assert (answer.status, answer.headers["location"], answer.etag) == (201, f"{home}/1", '"1"')
    made = answer.body
    assert (made["id"], made["num"], made["text"]) == (1, 1, "Ann, look at this.")
    assert (made["mentions"], made["version"]) == (["ann", "vic"], 1)
    assert (made["created_by"], made["updated_by"], made["created"]) == ("bob", "bob", made["updated"])
    assert "x-consistency-token" not in answer.headers
    assert api.get(f"{home}/1").body == made
    assert api.get(f"{home}/1").etag == '"1"'
    assert api.get(home).body == {"items": [made], "next": None}
    assert bob.made(home, {"text": "Anybody?"})["mentions"] == []


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({"text": ""}, {"text"}),
        ({"text": None}, {"text"}),
        ({"text": "x" * (MAX_COMMENT_LENGTH + 1)}, {"text"}),
        ({"text": "x", "mentions": ["nobody", "ann", "0808.bob"]}, {"mentions.0", "mentions.2"}),
        ({"text": "x", "mentions": ["ann", "ann"]}, {"mentions"}),
        ({"text": "x", "mentions": ["a b", "", 7]}, {"mentions.0", "mentions.1", "mentions.2"}),
        ({"text": "x", "mentions": [f"u{n}" for n in range(MAX_MENTIONS + 1)]}, {"mentions"}),
        ({"text": "x", "mentions": None}, {"mentions"}),
        ({"text": "x", "by": "ann"}, {"by"}),
        ([], {"body"}),
    ],
)
def test_an_invalid_comment_is_refused(
    api: Client, account: Cloud, home: str, body: Any, wrong: set[str]
) -> None:
    api.made(home, {"text": "First"})
    before = account.items()
    for answer in (api.post(home, body), api.patch(f"{home}/1", body)):
        assert answer.kind == (400, "invalid-request")
        assert answer.errors.keys() == wrong
    assert api.post(home, {}).errors.keys() == {"text"}
    assert account.items() == before


def test_the_longest_comment_that_mentions_as_many_as_it_may(account: Cloud, api: Client, home: str) -> None:
    users = [f"u{n}" for n in range(MAX_MENTIONS)]
    for user in users:
        account.api(user=user).get("/v1/me")
    body = {"text": "\U00020000" * MAX_COMMENT_LENGTH, "mentions": users}
    made = api.made(home, body)
    assert {name: made[name] for name in body} == body


def test_users_of_another_tenant_cannot_be_mentioned(account: Cloud, api: Client, home: str) -> None:
    account.api(tenant="0808", user="eve").get("/v1/me")
    assert api.post(home, {"text": "x", "mentions": ["eve"]}).errors.keys() == {"mentions.0"}


def test_a_mention_may_stay_though_the_tenant_no_longer_lists_the_user(
    account: Cloud, api: Client, home: str
) -> None:
    api.made(home, {"text": "x", "mentions": ["bob"]})
    account.table.delete(keys.user(TENANT, "bob"), keys.users(TENANT))
    assert api.patch(f"{home}/1", {"mentions": ["vic", "bob"]}).body["mentions"] == ["vic", "bob"]
    assert api.patch(f"{home}/1", {"mentions": ["vic"]}).status == 200
    assert api.patch(f"{home}/1", {"mentions": ["bob"]}).errors.keys() == {"mentions.0"}


def test_an_author_changes_and_deletes_their_own_and_an_administrator_deletes_any(
    account: Cloud, api: Client, home: str, bob: Client
) -> None:
    bob.made(home, {"text": "x"})
    eve = account.api(user="eve", role="editor")
    assert eve.patch(f"{home}/1", {"text": "y"}).kind == (403, "forbidden")
    assert api.patch(f"{home}/1", {"text": "y"}).kind == (403, "forbidden")
    assert eve.delete(f"{home}/1").kind == (403, "forbidden")
    assert api.get(f"{home}/1").body["version"] == 1
    changed = bob.patch(f"{home}/1", {"text": "y", "mentions": ["ann"]})
    assert (changed.status, changed.etag) == (200, '"2"')
    assert changed.body == api.get(f"{home}/1").body
    assert (changed.body["text"], changed.body["mentions"]) == ("y", ["ann"])
    assert api.delete(f"{home}/1").status == 204
    assert api.get(f"{home}/1").kind == (404, "not-found")
    bob.made(home, {"text": "z"})
    assert bob.delete(f"{home}/2").status == 204
    assert texts(api, home) == []


def test_a_viewer_reads_comments(account: Cloud, api: Client, home: str) -> None:
    viewer = account.api(user="vic", role="viewer")
    api.made(home, {"text": "x"})
    assert texts(viewer, home) == ["x"]
    assert viewer.post(home, {"text": "y"}).kind == (403, "forbidden")
    assert viewer.patch(f"{home}/1", {"text": "y"}).kind == (403, "forbidden")
    assert viewer.delete(f"{home}/1").kind == (403, "forbidden")


def test_a_patch_without_effect_is_not_written(account: Cloud, api: Client, home: str) -> None:
    made = api.made(home, {"text": "x", "mentions": ["bob"]})
    before = account.items()
    for body in ({}, {"text": "x"}, {"text": "x", "mentions": ["bob"]}):
        assert api.patch(f"{home}/1", body).body == made
    assert account.items() == before


def test_a_version_that_is_not_the_present_one_is_neither_changed_nor_deleted(api: Client, home: str) -> None:
    api.made(home, {"text": "x"})
    present = api.patch(f"{home}/1", {"text": "y"}, headers={"if-match": '"1"'}).body
    for answer in (
        api.patch(f"{home}/1", {"text": "z"}, headers={"if-match": '"1"'}),
        api.delete(f"{home}/1", headers={"if-match": '"1"'}),
    ):
        assert answer.kind == (412, "version-mismatch")
        assert answer.body["current"] == present
    assert api.delete(f"{home}/1", headers={"if-match": '"2"'}).status == 204


def test_ids_never_come_again_and_an_issue_has_so_many_comments(
    api: Client, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comments, "MAX_COMMENTS", 3)
    assert [api.made(home, {"text": "x"})["id"] for _ in range(3)] == [1, 2, 3]
    answer = api.post(home, {"text": "x"})
    assert answer.kind == (422, "limit-exceeded")
    assert " 3 " in answer.body["detail"]
    assert api.delete(f"{home}/3").status == 204
    assert api.made(home, {"text": "x"})["id"] == 4


def test_the_last_id_is_given_out_once(api: Client, home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comments, "MAX_COMMENT_ID", 1)
    assert api.made(home, {"text": "x"})["id"] == 1
    assert api.delete(f"{home}/1").status == 204
    assert api.post(home, {"text": "x"}).kind == (422, "limit-exceeded")


def test_pages_of_comments_are_all_comments(account: Cloud, api: Client, home: str, project: str) -> None:
    api.made(f"{project}/issues", {"name": "Other"})
    for num in range(7):
        api.made(home, {"text": f"{num}"})
        api.made(home.replace("/1/", "/2/"), {"text": "of another issue"})
    assert api.delete(f"{home}/4").status == 204
    for limit in range(1, 8):
        found: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = api.get(home, query={"limit": str(limit), **cursor}).body
            found += [one["text"] for one in page["items"]]
            if page["next"] is None:
                break
            assert len(page["items"]) == limit
            cursor = {"cursor": page["next"]}
        assert found == ["0", "1", "2", "4", "5", "6"]
    cursor = {"cursor": api.get(home, query={"limit": "2"}).body["next"]}
    assert api.get(home.replace("/1/", "/2/"), query=cursor).kind == (400, "invalid-request")


def test_many_long_comments_are_listed_in_pages_that_fit_an_answer(api: Client, home: str) -> None:
    long = '"' * MAX_COMMENT_LENGTH
    for _ in range(150):
        api.made(home, {"text": long})
    first = api.get(home, query={"limit": "500"}).body
    rest = api.get(home, query={"limit": "500", "cursor": first["next"]}).body
    assert 50 < len(first["items"]) < 150
    assert [one["id"] for one in first["items"] + rest["items"]] == list(range(1, 151))
    assert rest["next"] is None


# The issue and the owner


def test_without_the_issue_there_is_no_comment(api: Client, home: str, project: str) -> None:
    api.made(home, {"text": "x"})
    assert api.delete(f"{project}/issues/1").status == 204

    def asked(path: str, text: Any) -> list[Answer]:
        one = f"{path}/1"
        return [
            api.get(path),
            api.post(path, {"text": text}),
            api.get(one),
            api.patch(one, {"text": text}),
            api.delete(one),
        ]

    for gone, never in zip(asked(home, "y"), asked(f"{project}/issues/2/comments", "y"), strict=True):
        assert gone.kind == (404, "not-found")
        assert without_request_id(gone) == without_request_id(never)


def test_another_tenants_comment_is_not_there(account: Cloud, api: Client, home: str) -> None:
    api.made(home, {"text": "x"})
    stranger = account.api(tenant="0808")

    def asked() -> list[Answer]:
        return [
            stranger.get(home),
            stranger.post(home, {"text": "y"}),
            stranger.get(f"{home}/1"),
            stranger.patch(f"{home}/1", {"text": "y"}),
            stranger.delete(f"{home}/1"),
        ]

    assert {answer.kind for answer in asked()} == {(404, "not-found")}
    stranger.made("/v1/projects", {"id": "plain", "name": "Same"})
    assert {answer.kind for answer in asked()} == {(404, "not-found")}
    stranger.made("/v1/projects/plain/issues", {"name": "Same"})
    assert texts(stranger, home) == []
    assert stranger.get(f"{home}/1").kind == (404, "not-found")


def test_a_deleted_project_takes_its_comments_along(
    account: Cloud, api: Client, home: str, project: str
) -> None:
    for _ in range(3):
        api.made(home, {"text": "x"})
    removed(api, project)
    account.derive()
    account.upkeep()
    assert not [one for one in account.items() if one["PK"]["S"].startswith(keys.COMMENT_PREFIX)]


# The project's activity


def test_the_activity_lists_the_mentions_of_a_comment_until_it_is_deleted(
    account: Cloud, api: Client, home: str, bob: Client
) -> None:
    bob.made(home, {"text": "x", "mentions": ["ann"]})
    bob.made(home, {"text": "y"})
    first, second = listed(account)
    assert (first["num"], first["comment"], first["by"], first["mentions"]) == (1, 1, "bob", ["ann"])
    assert (second["comment"], second["mentions"]) == (2, [])
    assert "text" not in first
    assert first[keys.TTL_ATTRIBUTE] > 0
    bob.patch(f"{home}/1", {"mentions": ["ann", "vic"]})
    assert [one["mentions"] for one in listed(account)] == [["ann", "vic"], []]
    assert api.delete(f"{home}/1").status == 204
    assert listed(account) == [second]


def test_without_a_history_no_comment_is_recorded(
    account: Cloud, api: Client, home: str, project: str
) -> None:
    api.made(home, {"text": "x"})
    assert api.patch(project, {"history": {"enabled": False}}).status == 200
    api.made(home, {"text": "y"})
    assert [one["comment"] for one in listed(account)] == [1]
    assert api.delete(f"{home}/1").status == 204
    assert listed(account) == []


# Races


def test_comments_at_once_have_ids_of_their_own_and_are_all_counted(
    account: Cloud, api: Client, home: str, bob: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another comment is written between the read of the register and the transaction."""
    read = comments._register
    others = iter(range(2))

    def interrupted(*given: Any) -> Any:
        found = read(*given)
        if next(others, None) is not None:
            monkeypatch.setattr(comments, "_register", read)
            bob.made(home, {"text": "other"})
            monkeypatch.setattr(comments, "_register", interrupted)
        return found

    monkeypatch.setattr(comments, "_register", interrupted)
    assert api.made(home, {"text": "mine"})["id"] == 3
    assert texts(api, home) == ["other", "other", "mine"]
    register = account.table.get(keys.comments(TENANT, "plain"), keys.comment_register(1))
    assert register is not None
    assert (register["count"], register["last"]) == (3, 3)


def test_a_comment_that_is_made_while_another_is_deleted_is_counted(
    account: Cloud, api: Client, home: str, bob: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = comments._register

    def interrupted(*given: Any) -> Any:
        found = read(*given)
        monkeypatch.setattr(comments, "_register", read)
        bob.made(home, {"text": "other"})
        return found

    api.made(home, {"text": "mine"})
    monkeypatch.setattr(comments, "_register", interrupted)
    assert api.delete(f"{home}/1").status == 204
    register = account.table.get(keys.comments(TENANT, "plain"), keys.comment_register(1))
    assert register is not None
    assert (register["count"], register["last"]) == (1, 2)
    assert api.made(home, {"text": "mine"})["id"] == 3


# The history of the issue, and the activity of users


def pages(client: Client, path: str, **query: str) -> list[list[str]]:
    """The ids of the events on each page."""
    found: list[list[str]] = []
    cursor: dict[str, str] = {}
    for _ in range(30):
        answer = client.get(path, query={**query, **cursor})
        assert answer.status == 200, answer.text
        found.append([one["id"] for one in answer.body["items"]])
        if answer.body["next"] is None:
            return found
        cursor = {"cursor": answer.body["next"]}
    raise AssertionError("the list does not end")


def test_a_history_has_changes_and_comments_in_the_order_of_time(
    account: Cloud, api: Client, home: str, bob: Client, project: str
) -> None:
    made = bob.made(home, {"text": "x", "mentions": ["ann"]})
    for at in range(3):
        api.patch(f"{project}/issues/1", {"name": f"Rivet {at}"})
    for _ in range(4):
        bob.made(home, {"text": "y"})
    api.patch(f"{project}/issues/1", {"name": "Rivet"})
    account.follow()
    history = f"{project}/issues/1/history"
    expected = [
        "1.5",
        *(f"1.comment.{num}" for num in (5, 4, 3, 2)),
        "1.4",
        "1.3",
        "1.2",
        "1.comment.1",
        "1.1",
    ]
    assert pages(api, history) == [expected]
    assert api.get(history).body["items"][-2] == {
        "id": "1.comment.1",
        "num": 1,
        "kind": "comment",
        "by": "bob",
        "at": made["created"],
        "comment": 1,
        "mentions": ["ann"],
    }
    for limit in range(1, 11):
        found = pages(api, history, limit=f"{limit}")
        assert [one for page in found for one in page] == expected
        assert all(len(page) == limit for page in found[:-2])


def test_writes_between_two_pages_of_a_history_do_not_affect_them(
    account: Cloud, api: Client, home: str, project: str
) -> None:
    for _ in range(3):
        api.made(home, {"text": "x"})
    account.follow()
    history = f"{project}/issues/1/history"
    first = api.get(history, query={"limit": "2"}).body
    api.made(home, {"text": "y"})
    api.patch(f"{project}/issues/1", {"name": "Rivet"})
    account.follow()
    second = api.get(history, query={"limit": "5", "cursor": first["next"]}).body
    assert [one["id"] for one in first["items"] + second["items"]] == [
        "1.comment.3",
        "1.comment.2",
        "1.comment.1",
        "1.1",
    ]
    assert second["next"] is None


def test_a_history_of_which_nothing_is_remembered_any_more_has_its_comments(
    account: Cloud, api: Client, home: str, project: str, later: Any
) -> None:
    account.follow()
    api.made(home, {"text": "x"})
    later(100 * 86_400)
    assert pages(api, f"{project}/issues/1/history", limit="1") == [["1.comment.1"], []]


def test_the_activity_of_a_person_has_what_they_said_and_what_mentions_them(
    account: Cloud, api: Client, home: str, bob: Client, project: str
) -> None:
    bob.made(home, {"text": "x", "mentions": ["vic"]})
    api.made(home, {"text": "y", "mentions": ["vic", "bob"]})
    api.made(home, {"text": "z"})
    activity = f"{project}/activity"
    assert pages(api, activity, by="vic") == [["1.comment.2", "1.comment.1"]]
    assert pages(api, activity, by="bob") == [["1.comment.2", "1.comment.1"]]
    assert pages(api, activity, mentions="bob") == [["1.comment.2"]]
    assert pages(api, activity, by="bob", mentions="vic") == [["1.comment.2", "1.comment.1"]]
    assert pages(api, activity, by="nobody") == [[]]
