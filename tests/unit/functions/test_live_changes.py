"""GET .../changes: a follower receives each change once, waits for the next, and learns when to
read everything again.
"""

from collections.abc import Callable
from typing import Any

import pytest

from gridview.encoding import derived_keys
from gridview.journal.gaps import MISSING_SECONDS
from gridview.journal.log import Log
from gridview.live import changes
from gridview.maintenance.job_worker import PROJECT_TOMBSTONE_DAYS
from gridview.schema.history import FEED_DAYS
from gridview.support import clock
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client, Context
from tests.support.stream import Stream

KIND = {"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b"]}
DAY = 86_400.0


class Follower:
    """A client that follows the project by its cursor."""

    def __init__(self, api: Client, path: str) -> None:
        self._api = api
        self._path = path
        self.cursor: str = self.asked().body["next"]

    def asked(self, **query: str) -> Answer:
        return self._api.get(f"{self._path}/changes", query=query)

    def events(self, **query: str) -> list[dict[str, Any]]:
        answer = self.asked(since=self.cursor, **query)
        assert answer.status == 200, answer.text
        self.cursor = answer.body["next"]
        items: list[dict[str, Any]] = answer.body["items"]
        return items

    def ids(self, **query: str) -> list[str]:
        return [item.get("id", "reset") for item in self.events(**query)]


@pytest.fixture
def stream(account: Cloud) -> Stream:
    return Stream(account)


@pytest.fixture
def live(account: Cloud, project: str, api: Client) -> str:
    """The path of a project to follow."""
    api.made(f"{project}/attributes", KIND)
    return project


@pytest.fixture
def follower(api: Client, live: str) -> Follower:
    return Follower(api, live)


class Sleeps(list[Callable[[], None]]):
    """The actions during the next pauses of a waiting request, and its total pause in seconds."""

    slept = 0.0


@pytest.fixture
def sleeps(monkeypatch: pytest.MonkeyPatch, later: Callable[[float], None]) -> Sleeps:
    """Pauses take no time, but move the clock."""
    planned = Sleeps()

    def sleep(seconds: float) -> None:
        planned.slept += seconds
        later(seconds)
        if planned:
            planned.pop(0)()

    monkeypatch.setattr(clock, "sleep", sleep)
    return planned


def create(api: Client, path: str, name: str, **fields: Any) -> int:
    num: int = api.made(f"{path}/issues", {"name": name, "fields": fields})["num"]
    return num


def test_without_a_cursor_it_begins_now(api: Client, live: str, stream: Stream) -> None:
    create(api, live, "before")
    stream.deliver()
    answer = api.get(f"{live}/changes")
    assert answer.body["items"] == []
    assert "x-consistency-token" not in answer.headers
    again = api.get(f"{live}/changes", query={"since": answer.body["next"]})
    assert again.body["items"] == []


def test_each_change_is_delivered_once(api: Client, live: str, follower: Follower, stream: Stream) -> None:
    change = "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3"
    num = api.made(
        f"{live}/issues", {"name": "one", "fields": {"kind": "a"}}, headers={"x-change-id": change}
    )["num"]
    stream.deliver()
    (created,) = follower.events()
    assert created == {
        "id": f"{num}.1",
        "num": num,
        "version": 1,
        "kind": "create",
        "by": "ann",
        "at": created["at"],
        "change": change,
        "fields": {
            "name": {"old": None, "new": "one"},
            "state": {"old": None, "new": "open"},
            "kind": {"old": None, "new": "a"},
        },
    }
    assert follower.events() == []
    assert api.acting(user="bob").patch(f"{live}/issues/{num}", {"fields": {"kind": "b"}}).status == 200
    stream.deliver()
    (edited,) = follower.events()
    assert (edited["by"], edited["kind"], edited["fields"]) == (
        "bob",
        "update",
        {"kind": {"old": "a", "new": "b"}},
    )
    assert follower.events() == []


def test_versions_of_one_batch_are_delivered_one_by_one(
    api: Client, live: str, follower: Follower, stream: Stream
) -> None:
    num = create(api, live, "one")
    for name in ("two", "three", "four"):
        stream.look()
        assert api.patch(f"{live}/issues/{num}", {"name": name}).status == 200
    stream.deliver()
    assert follower.ids() == [f"{num}.{version}" for version in (1, 2, 3, 4)]


def test_the_token_of_an_answer_has_a_grid_hold_its_changes(
    api: Client, live: str, follower: Follower, stream: Stream
) -> None:
    create(api, live, "one")
    stream.deliver()
    answer = follower.asked(since=follower.cursor)
    token = {"x-consistency-token": answer.headers["x-consistency-token"]}
    assert api.post(f"{live}/grid", {}, headers=token).body["rows"][0]["name"] == "one"


def test_a_request_waits_for_a_change(
    api: Client,
    live: str,
    follower: Follower,
    stream: Stream,
    sleeps: Sleeps,
) -> None:
    def happens() -> None:
        create(api, live, "meanwhile")
        stream.deliver()

    sleeps += [lambda: None, lambda: None, happens]
    assert follower.ids(wait="20") == ["1.1"]
    assert sleeps.slept == pytest.approx(3 * changes._PAUSE)


@pytest.mark.parametrize(("wait", "left", "took"), [("20", 29_000, 20), ("3", 29_000, 3), ("20", 10_000, 6)])
def test_it_waits_no_longer_than_asked_and_no_longer_than_the_function_lives(
    account: Cloud,
    follower: Follower,
    live: str,
    sleeps: Sleeps,
    wait: str,
    left: int,
    took: float,
) -> None:
    patient = Client(account.handlers, account.api().claims, Context(milliseconds_left=left))
    begun = clock.seconds()
    answer = patient.get(f"{live}/changes", query={"since": follower.cursor, "wait": wait})
    assert answer.body["items"] == []
    assert took - 0.3 <= clock.seconds() - begun
    assert sleeps.slept <= took


def test_a_follower_that_waits_at_an_abandoned_number_empties_it(
    account: Cloud,
    api: Client,
    live: str,
    follower: Follower,
    stream: Stream,
    sleeps: Sleeps,
    later: Callable[[float], None],
) -> None:
    log = Log(account.table, "0807", "plain")
    left = log.reserve(1)
    create(api, live, "behind")
    stream.deliver()
    assert follower.ids() == []
    later(MISSING_SECONDS)
    assert follower.ids(wait="1") == ["1.1"]
    found = log.item(left)
    assert found is not None
    assert found.changes == ()


def test_changed_definitions_are_a_reset_and_then_it_goes_on(
    api: Client, live: str, follower: Follower, stream: Stream
) -> None:
    create(api, live, "one")
    stream.deliver()
    api.made(f"{live}/attributes", {"id": "late", "name": "Late", "type": "text"})
    assert follower.events()[0] == {"kind": "reset"}
    create(api, live, "two", late="x")
    stream.deliver()
    (created,) = follower.events()
    assert created["fields"]["late"] == {"old": None, "new": "x"}


def test_a_change_without_its_history_is_a_reset(
    account: Cloud, api: Client, live: str, follower: Follower, stream: Stream
) -> None:
    for name in ("one", "two"):
        create(api, live, name)
    stream.deliver()
    account.table.delete(derived_keys.history("0807", "plain", 1), derived_keys.history_item(1))
    assert follower.ids() == ["reset", "2.1"]


def test_a_cursor_expires_after_seven_days(
    api: Client, live: str, follower: Follower, later: Callable[[float], None]
) -> None:
    later(7 * DAY - 10)
    assert follower.ids() == []
    later(7 * DAY + 10)
    answer = follower.asked(since=follower.cursor)
    assert answer.kind == (410, "cursor-expired")
    assert follower.asked().status == 200


def test_a_deleted_project_is_not_found(account: Cloud, api: Client, live: str, follower: Follower) -> None:
    assert api.delete(live, headers={"if-match": api.get(live).etag}).status == 204
    assert follower.asked(since=follower.cursor).kind == (404, "not-found")
    account.upkeep()
    assert follower.asked(since=follower.cursor).kind == (404, "not-found")
    # For so long, no other project can have the id.
    assert PROJECT_TOMBSTONE_DAYS > FEED_DAYS


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"wait": "21"}, "wait"),
        ({"wait": "-1"}, "wait"),
        ({"wait": "soon"}, "wait"),
        ({"since": "x"}, "since"),
        ({"since": ""}, "since"),
        ({"until": "1"}, "until"),
    ],
)
def test_errors_name_their_parameters(api: Client, live: str, query: dict[str, str], field: str) -> None:
    answer = api.get(f"{live}/changes", query=query)
    assert answer.kind == (400, "invalid-request")
    assert answer.errors.keys() == {field}


def test_a_cursor_is_of_one_tenant_and_one_project(
    account: Cloud, api: Client, live: str, follower: Follower
) -> None:
    api.made("/v1/projects", {"name": "Other", "id": "other"})
    answer = api.get("/v1/projects/other/changes", query={"since": follower.cursor})
    assert (answer.status, [*answer.errors]) == (400, ["since"])
    stranger = api.acting(tenant="0808")
    for since in ({}, {"since": follower.cursor}):
        there, nowhere = (
            stranger.get(f"/v1/projects/{one}/changes", query=since) for one in ("plain", "nope")
        )
        assert there.status == nowhere.status == 404
        assert {**there.body, "request_id": ""} == {**nowhere.body, "request_id": ""}
    stranger.made("/v1/projects", {"name": "Plain", "id": "plain"})
    answer = stranger.get(f"{live}/changes", query={"since": follower.cursor})
    assert (answer.status, [*answer.errors]) == (400, ["since"])


def test_an_answer_holds_as_much_as_lambda_takes(
    api: Client, live: str, follower: Follower, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        create(api, live, "x" * 1_000)
    stream.deliver()
    monkeypatch.setattr(changes, "MAX_ANSWER_BYTES", 3_000)
    pages = [follower.ids() for _ in range(4)]
    assert pages == [["1.1", "2.1"], ["3.1", "4.1"], ["5.1"], []]
    monkeypatch.setattr(changes, "MAX_ANSWER_BYTES", 100)
    create(api, live, "large")
    stream.deliver()
    assert follower.ids() == ["6.1"]  # one at least


def test_viewers_may_follow(api: Client, live: str) -> None:
    assert api.acting(role="viewer").get(f"{live}/changes").status == 200
    assert api.anonymous().get(f"{live}/changes").status == 401
