"""The changes and their times: an issue's history and a project's activity, through the API."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from devtools.proof.faults import memory_table
from gridview.encoding import derived_keys
from gridview.query import activity_pages, change_lists
from gridview.support import clock
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client

CHANGE = "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3"


@pytest.fixture
def path(project: str, api: Client) -> str:
    """A project with two attributes."""
    for body in (
        {"id": "start", "name": "Start", "type": "date"},
        {"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b"]},
    ):
        api.made(f"{project}/attributes", body)
    return project


def history(api: Client, path: str, num: int, **parameters: str) -> Answer:
    return api.get(f"{path}/issues/{num}/history", query=parameters)


def activity(api: Client, path: str, **parameters: str) -> list[str]:
    """The ids of the changes on all pages together."""
    found, cursor = [], None
    for _ in range(40):
        answer = api.get(f"{path}/activity", query=parameters | ({"cursor": cursor} if cursor else {}))
        assert answer.status == 200, answer.text
        found += [one["id"] for one in answer.body["items"]]
        cursor = answer.body["next"]
        if cursor is None:
            return found
    raise AssertionError("the list does not end")


def edited(api: Client, path: str, num: int, **fields: Any) -> None:
    assert api.patch(f"{path}/issues/{num}", {"fields": fields}).status == 200


def test_the_history_of_an_issue_from_its_last_change_to_its_first(
    account: Cloud, api: Client, path: str
) -> None:
    made = api.acting(user="ann").made(
        f"{path}/issues", {"name": "Pier", "fields": {"kind": "a"}}, headers={"x-change-id": CHANGE}
    )
    changed = api.acting(user="bob").patch(
        f"{path}/issues/1", {"name": "Pier 2", "fields": {"start": "2026-11-21", "kind": None}}
    )
    account.follow()
    answer = history(api.acting(role="viewer"), path, 1)
    assert answer.body == {
        "items": [
            {
                "id": "1.2",
                "num": 1,
                "version": 2,
                "kind": "update",
                "by": "bob",
                "at": changed.body["updated"],
                "change": changed.headers["x-change-id"],
                "fields": {
                    "name": {"old": "Pier", "new": "Pier 2"},
                    "start": {"old": None, "new": "2026-11-21"},
                    "kind": {"old": "a", "new": None},
                },
            },
            {
                "id": "1.1",
                "num": 1,
                "version": 1,
                "kind": "create",
                "by": "ann",
                "at": made["created"],
                "change": CHANGE,
                "fields": {
                    "name": {"old": None, "new": "Pier"},
                    "state": {"old": None, "new": "open"},
                    "kind": {"old": None, "new": "a"},
                },
            },
        ],
        "next": None,
    }


def test_a_history_page_by_page(account: Cloud, api: Client, path: str) -> None:
    api.made(f"{path}/issues", {"name": "Pier"})
    for day in range(1, 8):
        edited(api, path, 1, start=f"2026-11-0{day}")
    account.follow()
    cursor: dict[str, str] = {}
    pages = []
    while True:
        answer = history(api, path, 1, limit="3", **cursor).body
        pages.append([one["version"] for one in answer["items"]])
        if answer["next"] is None:
            break
        cursor = {"cursor": answer["next"]}
    assert [version for page in pages for version in page] == [8, 7, 6, 5, 4, 3, 2, 1]
    assert all(len(page) <= 3 for page in pages)


@pytest.mark.parametrize("texts", [(1, 4_500), (500, 1)], ids=["of long comments", "of long changes"])
def test_a_history_is_newest_first_though_a_query_ends_at_its_megabyte(
    account: Cloud, api: Client, path: str, monkeypatch: pytest.MonkeyPatch, texts: tuple[int, int]
) -> None:
    change, comment = texts
    api.made(f"{path}/attributes", {"id": "remarks", "name": "Remarks", "type": "text", "indexed": False})
    api.made(f"{path}/issues", {"name": "Pier"})
    expected = ["1.1"]
    for round_ in range(2, 10):
        noise = Random(round_)  # noqa: S311  (not a secret)
        edited(api, path, 1, remarks=f"{round_} {noise.randbytes(change).hex()}")
        said = api.made(f"{path}/issues/1/comments", {"text": noise.randbytes(comment).hex()})
        expected += [f"1.{round_}", f"1.comment.{said['id']}"]
    account.follow()
    monkeypatch.setattr(memory_table, "QUERY_BYTES", 4 * max(texts))
    found, cursor = [], dict[str, str]()
    while True:
        answer = history(api, path, 1, limit="20", **cursor).body
        found += [one["id"] for one in answer["items"]]
        if answer["next"] is None:
            break
        cursor = {"cursor": answer["next"]}
    assert found == expected[::-1]


def test_the_history_of_an_undelivered_issue_is_empty_and_of_a_missing_one_404(
    account: Cloud, api: Client, path: str
) -> None:
    """An existing issue has an empty history until the stream delivers it; a missing one answers 404."""
    api.made(f"{path}/issues", {"name": "Pier"})
    assert history(api, path, 1).body == {"items": [], "next": None}
    assert history(api, path, 2).kind == (404, "not-found")
    assert api.get(f"{path}/issues/0/history").kind == (404, "not-found")


def test_a_deleted_issue_still_has_its_history(account: Cloud, api: Client, path: str) -> None:
    api.made(f"{path}/issues", {"name": "Pier"})
    assert api.delete(f"{path}/issues/1").status == 204
    account.follow()
    deleted, created = history(api, path, 1).body["items"]
    assert (deleted["kind"], created["kind"]) == ("delete", "create")
    assert deleted["fields"]["name"] == {"old": "Pier", "new": None}


@pytest.fixture
def busy(account: Cloud, api: Client, path: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Three issues by ann, edited by bob (start) and by cid (kind), a change each second."""
    seconds = iter(range(100))
    monkeypatch.setattr(clock, "now", lambda: f"{clock.after(-3600)[:14]}00:{next(seconds):02d}.000000Z")
    for name in ("one", "two", "three"):
        api.acting(user="ann").made(f"{path}/issues", {"name": name})
    for num in (1, 2, 3):
        edited(api.acting(user="bob"), path, num, start="2026-11-21")
    edited(api.acting(user="cid"), path, 2, kind="a")
    account.follow()
    return path


ALL = ["2.3", "3.2", "2.2", "1.2", "3.1", "2.1", "1.1"]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, ALL),
        ({"by": "bob"}, ["3.2", "2.2", "1.2"]),
        ({"by": "bo"}, []),
        ({"field": "kind"}, ["2.3"]),
        ({"field": "start"}, ["3.2", "2.2", "1.2"]),
        ({"field": "name"}, ["3.1", "2.1", "1.1"]),
        ({"field": "name", "by": "bob"}, []),
        ({"field": "start", "by": "bob"}, ["3.2", "2.2", "1.2"]),
    ],
)
@pytest.mark.parametrize("limit", ["1", "2", "100"])
def test_activity_by_person_and_field(
    api: Client, busy: str, parameters: dict[str, str], expected: list[str], limit: str
) -> None:
    assert activity(api, busy, limit=limit, **parameters) == expected


@pytest.mark.parametrize("limit", ["1", "3", "100"])
def test_activity_between_two_instants(api: Client, busy: str, limit: str) -> None:
    events = api.get(f"{busy}/activity").body["items"]
    times = {one["id"]: one["at"] for one in events}
    assert activity(api, busy, limit=limit, **{"from": times["1.2"], "to": times["2.3"]}) == ALL[1:4]
    assert activity(api, busy, limit=limit, **{"from": times["3.2"]}) == ALL[:2]
    for to in ("1.2", "2.3"):
        empty = api.get(f"{busy}/activity", query={"from": times["2.3"], "to": times[to]})
        assert empty.errors == {"to": "must be later than from"}
    assert activity(api, busy, limit=limit, to=times["1.1"]) == []
    assert activity(api, busy, limit=limit, to="9999-12-31T23:59:59Z") == ALL
    assert activity(api, busy, **{"from": "9999-01-01T00:00:00Z"}) == []
    in_offset = times["1.2"].replace("Z", "+00:00")
    assert activity(api, busy, **{"from": in_offset}) == ALL[:4]


def test_a_page_that_finds_nothing_among_many_has_a_next_page(
    account: Cloud, api: Client, busy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_lists, "_EXAMINED", 2)
    monkeypatch.setattr(activity_pages, "_ITEMS", 2)
    first = api.get(f"{busy}/activity", query={"by": "ann"}).body
    assert first["items"] == []
    assert first["next"] is not None
    assert activity(api, busy, by="ann") == ALL[4:]


def test_a_page_holds_as_much_as_an_answer_may(
    api: Client, busy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_lists, "_ANSWER_BYTES", 900)
    monkeypatch.setattr(change_lists, "_READ_AT_ONCE", 2)
    assert len(api.get(f"{busy}/activity").body["items"]) < len(ALL)
    assert activity(api, busy) == ALL
    monkeypatch.setattr(change_lists, "_ANSWER_BYTES", 1)
    assert activity(api, busy) == ALL
    assert [one["version"] for one in history(api, busy, 2).body["items"]] == [3]


def test_an_entry_without_its_change_is_passed_over(account: Cloud, api: Client, busy: str) -> None:
    account.table.delete(derived_keys.history("0807", "plain", 2), derived_keys.history_item(2))
    assert activity(api, busy, limit="2") == [one for one in ALL if one != "2.2"]


def test_comments_are_among_the_changes(account: Cloud, api: Client, busy: str) -> None:
    for user in ("ann", "bob"):
        api.acting(user=user).get("/v1/me")
    comment = api.acting(user="ann").made(f"{busy}/issues/2/comments", {"text": "Look.", "mentions": ["bob"]})
    api.acting(user="bob").made(f"{busy}/issues/1/comments", {"text": "I see."})
    answer = api.get(f"{busy}/activity", query={"mentions": "bob"})
    assert answer.body["items"] == [
        {
            "id": "2.comment.1",
            "num": 2,
            "kind": "comment",
            "by": "ann",
            "at": comment["created"],
            "comment": 1,
            "mentions": ["bob"],
        }
    ]
    everything = activity(api, busy, limit="2")
    assert sorted(everything) == sorted([*ALL, "2.comment.1", "1.comment.1"])
    assert activity(api, busy, by="bob", limit="1") == [one for one in everything if one in BOBS]
    assert activity(api, busy, field="start") == ["3.2", "2.2", "1.2"]
    assert activity(api, busy, mentions="ann") == []


BOBS = {"3.2", "2.2", "1.2", "1.comment.1", "2.comment.1"}
"""The events by bob, and the comments that mention bob."""


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "501"}, "limit"),
        ({"limit": "x"}, "limit"),
        ({"cursor": "x"}, "cursor"),
        ({"field": "nothing"}, "field"),
        ({"field": "num"}, "field"),
        ({"field": "created"}, "field"),
        ({"field": "updated"}, "field"),
        ({"by": ""}, "by"),
        ({"mentions": ""}, "mentions"),
        ({"by": "x" * 257}, "by"),
        ({"from": "yesterday"}, "from"),
        ({"to": "2026-11-21"}, "to"),
        ({"from": "2026-11-21T00:00:00Z", "to": "2026-11-20T00:00:00Z"}, "to"),
        ({"since": "2026-11-21T00:00:00Z"}, "since"),
        ({"sort": "at"}, "sort"),
    ],
)
def test_a_wrong_parameter_is_refused_by_name(
    api: Client, busy: str, parameters: dict[str, str], field: str
) -> None:
    answer = api.get(f"{busy}/activity", query=parameters)
    assert answer.kind == (400, "invalid-request")
    assert list(answer.errors) == [field]


def test_a_cursor_goes_with_its_own_list(api: Client, busy: str) -> None:
    of_all = api.get(f"{busy}/activity", query={"limit": "2"}).body["next"]
    of_two = history(api, busy, 2, limit="1").body["next"]
    for place, cursor in (
        ("/activity?by=bob", of_all),
        ("/activity?field=start", of_all),
        ("/activity", of_two),
        ("/issues/2/history", of_all),
        ("/issues/3/history", of_two),
    ):
        where, _, query = place.partition("?")
        parameters = dict([query.split("=")]) if query else {}
        assert api.get(f"{busy}{where}", query=parameters | {"cursor": cursor}).status == 400, place


def test_another_tenants_changes_are_as_if_they_were_not(account: Cloud, api: Client, busy: str) -> None:
    other = api.acting(tenant="9999")
    for place in ("/activity", "/issues/1/history"):
        theirs, nobodys = other.get(f"{busy}{place}"), other.get(f"/v1/projects/nobodys{place}")
        assert theirs.kind == nobodys.kind == (404, "not-found")
        assert theirs.body["detail"] == nobodys.body["detail"]
    other.made("/v1/projects", {"name": "Plain", "id": "plain"})
    assert activity(other, busy) == []
    assert history(other, busy, 1).kind == (404, "not-found")
    cursor = api.get(f"{busy}/activity", query={"limit": "2"}).body["next"]
    assert other.get(f"{busy}/activity", query={"cursor": cursor}).status == 400


def test_the_history_goes_back_as_far_as_its_setting(
    account: Cloud, api: Client, path: str, later: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    after, passed = clock.after, [0.0]
    monkeypatch.setattr(clock, "after", lambda seconds: after(seconds + passed[0]))

    def days(count: float) -> None:
        later(count * 86_400)
        passed[0] += count * 86_400

    api.made(f"{path}/issues", {"name": "Pier"})
    account.follow()
    days(20)
    edited(api, path, 1, start="2026-11-21")
    account.follow()
    assert activity(api, path) == ["1.2", "1.1"]
    assert api.patch(path, {"history": {"days": 10}}).status == 200
    assert activity(api, path) == ["1.2"]
    assert [one["id"] for one in history(api, path, 1).body["items"]] == ["1.2"]
    assert api.patch(path, {"history": {"enabled": False}}).status == 200
    edited(api, path, 1, start="2026-11-22")
    account.follow()
    assert activity(api, path) == ["1.2"], "what was listed before stays for its time"
    assert [one["id"] for one in history(api, path, 1).body["items"]] == ["1.3", "1.2"]
    days(8)
    assert activity(api, path) == []
    assert history(api, path, 1).body == {"items": [], "next": None}


@pytest.mark.parametrize(
    ("place", "rounds"),
    [("/issues/2/history", 1), ("/activity", 2), ("/issues/99/history", 2), ("/activity?by=nobody", 1)],
)
def test_how_many_calls_of_the_table_follow_each_other(
    api: Client, busy: str, capsys: pytest.CaptureFixture[str], place: str, rounds: int
) -> None:
    """The epoch is read beside the list."""
    where, _, query = place.partition("?")
    parameters = dict([query.split("=")]) if query else {}
    api.get(f"{busy}{where}", query=parameters)  # the definitions are known from then on
    capsys.readouterr()
    api.get(f"{busy}{where}", query=parameters)
    published = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "CapacityUnits" in line]
    assert [one["SequentialCalls"] for one in published] == [[rounds]]
