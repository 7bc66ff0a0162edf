"""Followed rows at midnight: every follower gets one reset when the day changes, and none at any other time."""

from collections.abc import Callable
from typing import Any

import pytest

from gridview.encoding import live_keys
from gridview.encoding.json_codec import dumps
from tests.support.cloud import Cloud
from tests.support.deliveries import Courier
from tests.support.http import Answer, Client, Context
from tests.support.midnight import Midnight
from tests.support.receivers import Receiver
from tests.support.sockets import Commits, SocketClient, connected
from tests.support.stream import Stream

PATH = "/v1/projects/plain"
DUE = {"field": "due", "op": "lte", "value": {"today": 0}}
MINE = {"field": "owner", "op": "eq", "value": {"me": True}}
BOTH = {"and": [DUE, MINE]}
RECENT = {"field": "created", "op": "gte", "value": {"now": -60}}


@pytest.fixture
def midnight(monkeypatch: pytest.MonkeyPatch) -> Midnight:
    return Midnight(monkeypatch)


@pytest.fixture
def stream(account: Cloud) -> Stream:
    return Stream(account)


@pytest.fixture
def plain(midnight: Midnight, account: Cloud, project: str, api: Client) -> str:
    api.made(f"{project}/attributes", {"id": "due", "name": "Due", "type": "date"})
    api.made(f"{project}/attributes", {"id": "owner", "name": "Owner", "type": "user"})
    account.forget()
    return project


def create(api: Client, due: str, owner: str = "ann") -> int:
    num: int = api.made(f"{PATH}/issues", {"name": "one", "fields": {"due": due, "owner": owner}})["num"]
    return num


def asked(api: Client, only: Any, **more: str) -> Answer:
    return api.get(f"{PATH}/changes", query={"filter": dumps(only).decode(), **more})


def kinds(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.text
    return [event.get("move", event["kind"]) for event in answer.body["items"]]


# Polls


def test_a_poll_after_midnight_is_a_reset(
    plain: str, api: Client, stream: Stream, midnight: Midnight
) -> None:
    cursor = asked(api, DUE).body["next"]
    create(api, midnight.date())
    later = create(api, midnight.date(1))
    stream.deliver()
    found = asked(api, DUE, since=cursor)
    assert kinds(found) == ["enter"]  # the other one is due tomorrow
    midnight.pass_by()
    found = asked(api, DUE, since=found.body["next"])
    assert kinds(found) == ["reset"]
    assert api.patch(f"{PATH}/issues/{later}", {"name": "two"}).status == 200
    stream.deliver()
    found = asked(api, DUE, since=found.body["next"])
    assert kinds(found) == ["update"]  # by the filter of the new day
    assert kinds(asked(api, DUE, since=found.body["next"])) == []


def test_a_reset_comes_only_when_values_change(plain: str, api: Client, midnight: Midnight) -> None:
    weeks = {"field": "due", "op": "lte", "value": {"today": 0, "unit": "year", "start": True}}
    asks = [MINE, weeks, {**DUE, "value": {"today": 0, "timezone": "Asia/Tokyo"}}]
    cursors = [asked(api, only).body["next"] for only in asks]
    # Filters without `today` or with the same values go on.
    cursors = [
        asked(api, only, since=cursor).body["next"] for only, cursor in zip(asks, cursors, strict=True)
    ]
    midnight.pass_by()
    expected = [[], ["reset"] if midnight.date(1).endswith("01-01") else [], []]
    assert [
        kinds(asked(api, only, since=cursor)) for only, cursor in zip(asks, cursors, strict=True)
    ] == expected


def test_me_counts_for_each_user(plain: str, api: Client, stream: Stream, midnight: Midnight) -> None:
    cursor = asked(api, MINE).body["next"]
    create(api, midnight.date(), "bob")
    stream.deliver()
    assert kinds(asked(api, MINE, since=cursor)) == []
    assert kinds(asked(api.acting(user="bob"), MINE, since=cursor)) == ["enter"]
    view = api.made(f"{PATH}/views", {"name": "Mine", "visibility": "shared", "query": {"filter": BOTH}})[
        "id"
    ]
    for user, expected in (("ann", []), ("bob", ["enter"])):
        of_view = api.acting(user=user).get(f"{PATH}/changes", query={"view": view, "since": cursor})
        assert kinds(of_view) == expected


def test_the_rows_of_an_answer_before_midnight_are_followed_by_a_reset(
    plain: str, api: Client, stream: Stream, midnight: Midnight
) -> None:
    def cursor() -> str:
        found: str = api.post(f"{PATH}/grid", {"filter": DUE}).body["changes_cursor"]
        return found

    before = cursor()
    assert kinds(asked(api, DUE, since=before)) == []
    midnight.pass_by()
    assert kinds(asked(api, DUE, since=before)) == ["reset"]
    assert kinds(api.get(f"{PATH}/changes", query={"since": before})) == []  # all changes
    assert kinds(asked(api, DUE, since=cursor())) == []


def test_now_cannot_be_followed(account: Cloud, plain: str, api: Client) -> None:
    answer = asked(api, RECENT)
    assert answer.kind == (422, "unfollowable-filter")
    view = api.made(f"{PATH}/views", {"name": "Now", "visibility": "shared", "query": {"filter": RECENT}})[
        "id"
    ]
    assert api.get(f"{PATH}/changes", query={"view": view}).kind == (422, "unfollowable-filter")
    client = connected(account, api, PATH)
    (frame,) = client.subscribe(filter=RECENT)
    assert (frame["id"], frame["error"]["type"]) == ("all", "unfollowable-filter")
    hook = {"url": "https://hooks.example.org/gridview", "view": view}
    assert api.post(f"{PATH}/webhooks", hook).kind == (422, "unfollowable-filter")


# Sockets


def minute(account: Cloud) -> dict[str, int]:
    """Run the schedule of the socket function."""
    done: dict[str, int] = account.modules["socket"].handler({"task": "end"}, Context())
    return done


def events(client: SocketClient, name: str = "all") -> list[str]:
    """The events since the last call."""
    client.frames()
    found = [event.get("move", event["kind"]) for event in client.events[name]]
    client.events[name].clear()
    return found


def test_a_socket_without_changes_gets_its_reset_within_a_minute_of_midnight(
    account: Cloud, plain: str, api: Client, midnight: Midnight
) -> None:
    client = connected(account, api, PATH)
    client.subscribe(filter=DUE)
    client.subscribe("mine", filter=MINE)
    tokyo = {**DUE, "value": {"today": 0, "timezone": "Asia/Tokyo"}}
    client.subscribe("tokyo", filter=tokyo)
    assert minute(account)["settled"] == 0
    assert (events(client), events(client, "tokyo")) == ([], [])
    midnight.pass_by()
    assert minute(account)["settled"] == 1
    assert (events(client), events(client, "tokyo"), events(client, "mine")) == (["reset"], [], [])
    assert minute(account)["settled"] == 0
    client.say(do="look")
    midnight.wait(15 * 3_600 - 300)
    client.frames()
    assert minute(account)["settled"] == 0


def test_the_next_midnight_of_any_subscription_is_noted(
    account: Cloud, plain: str, api: Client, midnight: Midnight
) -> None:
    """The note is of the first midnight, whichever subscription comes first, and is renewed if it is due."""

    def due() -> str:
        (note,) = (item for (_, sk), item in account.table.items.items() if sk == live_keys.OWED)
        return str(note["sort"] if "sort" in note else note["GSI1SK"])

    client = connected(account, api, PATH)
    client.subscribe("tokyo", filter={**DUE, "value": {"today": 0, "timezone": "Asia/Tokyo"}})
    assert due() == f"{midnight.date(1)}T15:00:00.000000Z"
    client.subscribe("utc", filter=DUE)
    assert due() == f"{midnight.date(1)}T00:00:00.000000Z"
    client.subscribe("tokyo", filter={**DUE, "value": {"today": 1, "timezone": "Asia/Tokyo"}})
    assert due() == f"{midnight.date(1)}T00:00:00.000000Z"
    midnight.pass_by()
    client.subscribe("later", filter=DUE)
    assert due().startswith(f"{midnight.date(1)}T00:0")  # the reset of the others is still to come
    assert minute(account)["settled"] == 1
    assert events(client, "utc") == ["reset"]
    assert due() == f"{midnight.date(1)}T15:00:00.000000Z"


def test_a_push_after_midnight_is_a_reset_for_each_socket(
    account: Cloud, plain: str, api: Client, stream: Stream, midnight: Midnight
) -> None:
    commits = Commits(account)
    ann, bob = connected(account, api, PATH), connected(account, api.acting(user="bob"), PATH)
    for one in (ann, bob):
        one.subscribe(filter=BOTH)
        assert events(one) == []
    create(api, midnight.date(1), "bob")
    stream.deliver()
    commits.push()
    assert (events(ann), events(bob)) == ([], [])  # due tomorrow
    create(api, midnight.date(), "bob")
    stream.deliver()
    commits.push()
    assert (events(ann), events(bob)) == ([], ["enter"])
    midnight.pass_by()
    create(api, midnight.date(1), "ann")
    stream.deliver()
    commits.push()
    assert (events(ann), events(bob)) == (["reset", "enter"], ["reset"])
    assert minute(account)["settled"] == 1
    assert (events(ann), events(bob)) == ([], [])


def test_a_view_that_gets_today_later_has_its_midnight_too(
    account: Cloud, plain: str, api: Client, midnight: Midnight
) -> None:
    commits = Commits(account)
    view = api.made(f"{PATH}/views", {"name": "Due", "visibility": "shared"})["id"]
    client = connected(account, api, PATH)
    client.subscribe(view=view)
    assert api.patch(f"{PATH}/views/{view}", {"query": {"filter": DUE}}).status == 200
    commits.push()
    assert events(client) == ["reset"]
    midnight.pass_by()
    assert minute(account)["settled"] == 1
    assert events(client) == ["reset"]


# Webhooks


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def courier(
    account: Cloud, api: Client, receiver: Receiver, midnight: Midnight, monkeypatch: pytest.MonkeyPatch
) -> Courier:
    return Courier(account, api, receiver, monkeypatch)


@pytest.fixture
def hook(courier: Courier, plain: str) -> Callable[..., Answer]:
    def define(only: Any) -> Answer:
        body = {"name": "Due", "visibility": "shared", "query": {"filter": only}}
        view = courier.api.made(f"{PATH}/views", body)["id"]
        return courier.api.post(
            f"{PATH}/webhooks", {"url": "https://hooks.example.org/gridview", "view": view}
        )

    return define


def test_a_webhook_gets_a_reset_at_each_midnight(
    courier: Courier, hook: Callable[..., Answer], midnight: Midnight
) -> None:
    made = hook(DUE)
    assert made.body["frozen"]["query"]["filter"] == DUE
    log = f"{PATH}/webhooks/{made.body['id']}"
    courier.issue(PATH, fields={"due": midnight.date()})
    courier.issue(PATH, fields={"due": midnight.date(1)})
    courier.deliver()
    assert [one["event"] for one in courier.log(log)] == ["enter"]
    courier.wait(90)
    assert [one["event"] for one in courier.log(log)] == ["reset", "enter"]
    assert courier.api.patch(f"{PATH}/issues/2", {"name": "two"}).status == 200
    courier.account.follow()
    courier.deliver()
    assert [one["event"] for one in courier.log(log)] == ["update", "reset", "enter"]
    courier.skip(86_400 - 120)
    for _ in range(4):
        courier.wait(60)
    courier.skip(86_400)
    courier.wait(60)
    found = courier.log(log)
    assert sorted(one["event"] for one in found) == ["enter", "reset", "reset", "reset", "update"]
    assert len({one["message_id"] for one in found}) == 5
    assert all(one["status"] == "delivered" for one in found)
    reset = next(one for one in found if one["event"] == "reset")
    assert courier.api.post(f"{log}/deliveries/{reset['id']}/replay").status == 202


def test_a_webhook_has_no_me(hook: Callable[..., Answer]) -> None:
    answer = hook(BOTH)
    assert answer.status == 400
    assert "webhook has no user" in answer.errors["view"]
