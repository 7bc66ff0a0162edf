"""The WebSocket API from outside: tickets, subscriptions and their commits, hostile messages, limits, and the end."""

import base64
import json
import time
from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from gridview.encoding import derived_keys, keys, live_keys
from gridview.journal.log import Log
from gridview.live import changes, seats, socket_store, sockets
from gridview.live.socket_messages import MAX_FRAME_BYTES
from gridview.live.tickets import TICKET_SECONDS
from gridview.support import clock
from infra.limits import PUSH_RETRIES
from tests.support.cloud import SOCKET_URL, Cloud
from tests.support.depth import one_of
from tests.support.http import Client, Context
from tests.support.sockets import Commits, SocketClient, connected, ticket
from tests.support.stream import Stream

KIND = {"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b"]}
OPEN = {"field": "state", "op": "eq", "value": "open"}


@pytest.fixture
def stream(account: Cloud) -> Stream:
    return Stream(account)


@pytest.fixture
def live(account: Cloud, project: str, api: Client) -> str:
    """The path of a project to follow."""
    api.made(f"{project}/attributes", KIND)
    return project


@pytest.fixture
def commits(account: Cloud, live: str) -> Commits:
    return Commits(account)


@pytest.fixture
def client(account: Cloud, api: Client, live: str) -> SocketClient:
    return connected(account, api, live)


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """Time passes by pauses, and by a millisecond with each read of the clock. Planned actions run in pauses."""
    planned: list[Callable[[], None]] = []
    now = clock.seconds()

    def seconds() -> float:
        nonlocal now
        now += 0.001
        return now

    def sleep(pause: float) -> None:
        nonlocal now
        now += pause / 2
        if planned:
            planned.pop(0)()
        now += pause / 2

    monkeypatch.setattr(clock, "seconds", seconds)
    monkeypatch.setattr(clock, "sleep", sleep)
    return planned


def create(api: Client, path: str, name: str = "one", **fields: Any) -> int:
    num: int = api.made(f"{path}/issues", {"name": name, "fields": fields})["num"]
    return num


def sockets_in(account: Cloud, tenant: str = "0807") -> set[str]:
    return {sk for pk, sk in account.table.items if pk == live_keys.sockets(tenant) and "." in sk}


# Tickets


def test_a_ticket_contains_where_to_connect_and_until_when(api: Client, live: str) -> None:
    answer = api.claiming(exp="1900000000").post(f"{live}/tickets")
    assert answer.body == {
        "ticket": answer.body["ticket"],
        "url": SOCKET_URL,
        "token_expires": "2030-03-17T17:46:40Z",
    }
    assert answer.headers["cache-control"] == "no-store"
    assert api.post(f"{live}/tickets").body["ticket"] != answer.body["ticket"]


def test_invalid_requests_get_no_ticket(account: Cloud, api: Client, live: str) -> None:
    assert api.acting(tenant="1910").post(f"{live}/tickets").status == 404
    assert api.acting(role="viewer").post(f"{live}/tickets").status == 200
    assert api.post(f"{live}/tickets", {"for": "ever"}).status == 400
    assert api.claiming(exp=None).post(f"{live}/tickets").status == 401


def test_nothing_is_stored_of_a_ticket_before_it_is_used(account: Cloud, api: Client, live: str) -> None:
    before = account.items()
    ticket(api, live)
    assert account.items() == before


def test_a_ticket_opens_one_socket(account: Cloud, api: Client, live: str) -> None:
    good = ticket(api, live)
    first, second = SocketClient(account), SocketClient(account)
    assert first.connect(good) == 200
    assert second.connect(good) == 401
    assert sockets_in(account) == {f"plain.{first.id}"}
    first.leave()
    assert SocketClient(account).connect(good) == 401, "not when the first has gone either"


def test_a_ticket_is_good_for_half_a_minute(
    account: Cloud, api: Client, live: str, later: Callable[[float], None]
) -> None:
    good, late = ticket(api, live), ticket(api, live)
    later(TICKET_SECONDS - 1)
    assert SocketClient(account).connect(good) == 200
    later(2)
    assert SocketClient(account).connect(late) == 401


def test_a_ticket_of_a_token_that_has_ended_opens_nothing(account: Cloud, api: Client, live: str) -> None:
    ended = api.claiming(exp=str(int(clock.seconds()) - 1))
    assert SocketClient(account).connect(ticket(ended, live)) == 401


@pytest.mark.parametrize("text", ["", "x", "é" * 10, "A" * 5_000, "A" * 40])
def test_an_invalid_ticket_opens_nothing(account: Cloud, live: str, text: str) -> None:
    assert SocketClient(account).connect(text) == 401
    assert sockets_in(account) == set()


def test_a_ticket_with_another_letter_opens_nothing(account: Cloud, api: Client, live: str) -> None:
    good = ticket(api, live)
    for place in (0, len(good) // 2, len(good) - 1):
        other = good[:place] + ("A" if good[place] != "A" else "B") + good[place + 1 :]
        assert SocketClient(account).connect(other) == 401


def test_a_cursor_is_no_ticket(account: Cloud, api: Client, live: str) -> None:
    assert SocketClient(account).connect(api.get(f"{live}/changes").body["next"]) == 401


# Subscriptions


def test_a_subscription_without_a_cursor_begins_now(
    api: Client, live: str, client: SocketClient, stream: Stream, commits: Commits
) -> None:
    create(api, live)
    stream.deliver()
    (frame,) = client.subscribe()
    assert frame == {"id": "all", "since": None, "items": [], "next": frame["next"]}
    commits.push()
    assert client.ids() == []
    num = create(api, live, "two")
    stream.deliver()
    commits.push()
    assert client.ids() == [f"{num}.1"]
    assert client.missed == 0


def test_sockets_and_polling_deliver_the_same_changes(
    api: Client, live: str, client: SocketClient, stream: Stream, commits: Commits
) -> None:
    cursor = api.get(f"{live}/changes").body["next"]
    client.subscribe()
    num = create(api, live, kind="a")
    stream.deliver()
    assert api.patch(f"{live}/issues/{num}", {"fields": {"kind": "b"}}).status == 200
    stream.deliver()
    commits.push()
    (frame,) = client.frames()
    polled = api.get(f"{live}/changes", query={"since": cursor})
    assert frame["items"] == polled.body["items"]
    headers = {"x-consistency-token": frame["token"]}
    grid = api.post(f"{live}/grid", {"filter": {"field": "kind", "op": "eq", "value": "b"}}, headers=headers)
    assert [row["num"] for row in grid.body["rows"]] == [num]
    again = api.get(f"{live}/changes", query={"since": frame["next"]})
    assert again.body["items"] == [], "its cursor goes on by polling too"
    polling = api.get(f"{live}/changes", query={"since": polled.body["next"]}).body["next"]
    client.cursors["more"] = polling
    assert client.subscribe("more")[0]["items"] == [], "and the other way"


def test_the_rows_of_a_filter_enter_and_leave(
    api: Client, live: str, client: SocketClient, stream: Stream, commits: Commits
) -> None:
    client.subscribe("rows", filter=OPEN, sort=[{"field": "name"}])
    num, other = create(api, live), create(api, live, "closed")
    stream.deliver()
    assert api.patch(f"{live}/issues/{other}", {"state": "closed"}).status == 200
    stream.deliver()
    commits.push()
    client.frames()
    assert [(one["num"], one["move"]) for one in client.events["rows"]] == [
        (num, "enter"),
        (other, "enter"),
        (other, "leave"),
    ]


def test_the_rows_of_a_writer_enter_and_leave(
    account: Cloud, api: Client, live: str, client: SocketClient, stream: Stream, commits: Commits
) -> None:
    only = {"field": "updated_by", "op": "eq", "value": "ann"}
    client.subscribe("rows", filter=only, sort=[{"field": "created_by"}])
    num = create(api, live)
    stream.deliver()
    for user, name in (("bob", "two"), ("ann", "three")):
        assert account.api(user=user).patch(f"{live}/issues/{num}", {"name": name}).status == 200
        stream.deliver()
    commits.push()
    client.frames()
    assert [(one["by"], one["move"]) for one in client.events["rows"]] == [
        ("ann", "enter"),
        ("bob", "leave"),
        ("ann", "enter"),
    ]


def test_the_rows_of_a_view_follow_the_view(
    api: Client, live: str, client: SocketClient, stream: Stream, commits: Commits
) -> None:
    view = api.made(f"{live}/views", {"name": "Open", "visibility": "shared", "query": {"filter": OPEN}})
    client.subscribe("rows", view=view["id"])
    commits.push()
    create(api, live)
    stream.deliver()
    commits.push()
    assert client.ids("rows") == ["1.1"]
    changed = {"query": {"filter": {"not": OPEN}}}
    assert api.patch(f"{live}/views/{view['id']}", changed).status == 200
    commits.push()
    assert client.ids("rows") == ["1.1", "reset"], "at once, not with the next change"
    assert api.delete(f"{live}/views/{view['id']}").status == 204
    commits.push()
    create(api, live, "two")
    stream.deliver()
    commits.push()
    (frame,) = client.frames()
    assert (frame["id"], frame["error"]["status"]) == ("rows", 404)
    assert sockets_in(client.account) == {f"plain.{client.id}"}, "the subscription is over"


def test_a_private_view_is_its_owners(account: Cloud, api: Client, live: str) -> None:
    view = api.made(f"{live}/views", {"name": "Mine", "query": {"filter": OPEN}})["id"]
    assert "items" in connected(account, api, live).subscribe(view=view)[0]
    other = connected(account, api.acting(user="bob"), live)
    assert other.subscribe(view=view)[0]["error"]["status"] == 404


def test_rows_of_a_view_that_becomes_private_reach_only_its_owner(
    account: Cloud, api: Client, live: str, stream: Stream, commits: Commits
) -> None:
    made = {"name": "Open", "visibility": "shared", "query": {"filter": OPEN}}
    view = api.made(f"{live}/views", made)["id"]
    owner, other = connected(account, api, live), connected(account, api.acting(user="bob"), live)
    for one in (owner, other):
        one.subscribe("rows", view=view)
    assert api.patch(f"{live}/views/{view}", {"visibility": "private"}).status == 200
    create(api, live)
    stream.deliver()
    commits.push()
    assert owner.ids("rows") == ["1.1"]
    (frame,) = other.frames()
    assert frame["error"]["status"] == 404


def test_changed_definitions_are_a_reset_at_once(
    api: Client, live: str, client: SocketClient, commits: Commits
) -> None:
    client.subscribe()
    assert api.patch(f"{live}/attributes/kind", {"name": "Sort"}).status == 200
    commits.push()
    assert client.ids() == ["reset"]
    commits.push()
    assert client.ids() == ["reset"], "once"


def test_rows_that_definitions_do_not_have_any_more_are_an_error_of_their_subscription(
    api: Client, live: str, client: SocketClient, commits: Commits
) -> None:
    client.subscribe("rows", filter={"field": "kind", "op": "eq", "value": "a"})
    client.subscribe()
    assert api.delete(f"{live}/attributes/kind").status == 204
    commits.push()
    frames = {frame["id"]: frame for frame in client.frames()}
    assert frames["rows"]["error"]["status"] == 400
    assert frames["all"]["items"] == [{"kind": "reset"}]


def test_a_client_that_was_away_misses_nothing_and_gets_nothing_twice(
    account: Cloud, api: Client, live: str, stream: Stream, commits: Commits
) -> None:
    client = connected(account, api, live)
    client.subscribe()
    expected: list[str] = []
    for round_ in range(4):
        expected.append(f"{create(api, live, f'issue {round_}')}.1")
        stream.deliver()
        if round_ % 2:
            client.leave(noticed=round_ == 1)
            commits.push()
            back = connected(account, api, live)
            back.cursors, back.events = client.cursors, client.events
            client = back
            client.subscribe()
        commits.push()
    assert client.ids() == expected
    assert client.missed == 0


class Killed(BaseException):
    """Lambda ends a function that is out of time."""


@pytest.mark.filterwarnings("ignore:No application metrics")
@pytest.mark.parametrize("seed", range(one_of(12)))
def test_kills_and_broken_connections_lose_nothing(  # noqa: C901
    account: Cloud,
    api: Client,
    live: str,
    stream: Stream,
    commits: Commits,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
) -> None:
    """The function dies before or after a message is sent, or a connection breaks silently: batches and subscriptions
    are repeated.
    """
    random = Random(seed)  # noqa: S311
    client = connected(account, api, live)
    client.subscribe()
    post = account.wire.post

    def dying(connection: str, frame: bytes) -> None:
        fate = random.random()
        if fate < 0.2:
            raise Killed
        post(connection, frame)
        if fate > 0.8:
            raise Killed

    expected = []
    for step in range(10):
        num = create(api, live, f"issue {step}")
        expected.append(f"{num}.1")
        stream.look()
        if random.random() < 0.5:
            assert api.patch(f"{live}/issues/{num}", {"fields": {"kind": "a"}}).status == 200
            expected.append(f"{num}.2")
        stream.deliver()
        records = commits.take()
        monkeypatch.setattr(account.wire, "post", dying)
        for _ in range(20):  # as the mapping repeats a batch
            try:
                assert commits.deliver(records) == {"batchItemFailures": []}
                break
            except Killed:
                continue
        monkeypatch.setattr(account.wire, "post", post)
        client.frames()
        if random.random() < 0.3:
            client.leave(noticed=random.random() < 0.5)
            back = connected(account, api, live)
            back.cursors, back.events = client.cursors, client.events
            client = back
            client.subscribe()
        elif client.missed:
            client.missed = 0
            client.subscribe()
    client.subscribe()
    seen = client.ids()
    assert sorted(seen) == sorted(expected)
    assert len(set(seen)) == len(seen)
    for issue in {one.partition(".")[0] for one in seen}:
        of_issue = [one for one in seen if one.startswith(f"{issue}.")]
        assert of_issue == sorted(of_issue)


def test_a_push_that_comes_before_the_copy_of_the_table_does_is_made_again(
    api: Client,
    live: str,
    client: SocketClient,
    stream: Stream,
    commits: Commits,
    still: list[Callable[[], None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client.subscribe()
    create(api, live)
    stream.deliver()
    records = commits.take()
    known = Log.after
    late = {"is": True}

    def of_a_late_copy(self: Log, number: int, *, consistent: bool = True, **more: Any) -> Any:
        if late["is"] and not consistent:
            return type(known(self, number))()
        return known(self, number, consistent=consistent, **more)

    monkeypatch.setattr(Log, "after", of_a_late_copy)
    still.extend([lambda: None, lambda: late.update({"is": False})])
    assert commits.deliver(records) == {"batchItemFailures": []}
    assert client.ids() == ["1.1"]
    create(api, live, "two")
    stream.deliver()
    late["is"] = True
    records = commits.take()
    failed = commits.deliver(records)["batchItemFailures"]
    assert failed == [{"itemIdentifier": records[0]["dynamodb"]["SequenceNumber"]}], "for ever late"
    assert client.ids() == ["1.1"]


def test_a_number_that_a_dead_consumer_has_left_is_waited_for(
    account: Cloud,
    api: Client,
    live: str,
    client: SocketClient,
    stream: Stream,
    commits: Commits,
    still: list[Callable[[], None]],
) -> None:
    client.subscribe()
    Log(account.table, "0807", "plain").reserve(1)
    create(api, live)
    stream.deliver()
    records = commits.take()
    invocations = 1
    while commits.deliver(records)["batchItemFailures"]:
        invocations += 1  # as the mapping repeats it: no wait is longer than a batch takes
    assert 1 < invocations <= PUSH_RETRIES + 1
    assert client.ids() == ["1.1"]


def test_a_subscription_waits_a_second_for_such_a_number_and_is_owed_the_rest(
    account: Cloud,
    api: Client,
    live: str,
    client: SocketClient,
    stream: Stream,
    still: list[Callable[[], None]],
) -> None:
    client.cursors["all"] = api.get(f"{live}/changes").body["next"]
    Log(account.table, "0807", "plain").reserve(1)
    create(api, live)
    stream.deliver()
    began = clock.seconds()
    client.subscribe()
    assert clock.seconds() - began < 1.5
    assert client.ids() == []
    clock.sleep(60)
    assert account.modules["socket"].handler({"task": "end"}, Context())["settled"] == 1
    assert client.ids() == ["1.1"]


@pytest.mark.parametrize(("read_seconds", "is_late"), [(1.5, False), (40.0, True)])
def test_slow_reads_leave_no_subscription_without_its_first_message(
    account: Cloud,
    client: SocketClient,
    still: list[Callable[[], None]],
    monkeypatch: pytest.MonkeyPatch,
    read_seconds: float,
    is_late: bool,
) -> None:
    """A read longer than a subscription's second delays the answer; one as long as the invocation leaves it to the
    next minute's task.
    """
    found = changes.feed_page

    def slow(*given: Any, **named: Any) -> Any:
        clock.sleep(read_seconds)
        return found(*given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(changes, "feed_page", slow)
        frames = client.subscribe()
    assert [frame["items"] for frame in frames] == ([] if is_late else [[]])
    clock.sleep(60)
    settled = account.modules["socket"].handler({"task": "end"}, Context())["settled"]
    assert settled == int(is_late)
    assert [frame["items"] for frame in client.frames()] == ([[]] if is_late else []), "once"
    assert client.missed == 0


def test_subscriptions_at_one_place_are_read_for_once(
    account: Cloud,
    api: Client,
    live: str,
    stream: Stream,
    commits: Commits,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clients = [connected(account, api, live) for _ in range(5)]
    for one in clients:
        one.subscribe()
    create(api, live)
    stream.deliver()
    commits.push()
    looks = []
    read = changes.feed_page

    def counted(*given: Any, **named: Any) -> Any:
        looks.append(1)
        return read(*given, **named)

    monkeypatch.setattr(changes, "feed_page", counted)
    create(api, live, "two")
    stream.deliver()
    commits.push()
    assert [one.ids() for one in clients] == [["1.1", "2.1"]] * 5
    assert len(looks) == 1


def test_many_changes_come_in_several_messages(
    account: Cloud,
    api: Client,
    live: str,
    client: SocketClient,
    stream: Stream,
    commits: Commits,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # However slow the machine is, one batch sends them all.
    monkeypatch.setattr("gridview.live.socket_calls.BATCH_SECONDS", 60.0)
    client.subscribe()
    for start in (0, 90):
        creates = [{"create": {"name": f"{'x' * 900} {start + at}"}} for at in range(90)]
        assert api.batch("plain", *creates).status == 200
        stream.deliver()
    commits.push()
    frames = client.frames()
    assert len(frames) > 4
    assert client.ids() == [f"{num}.1" for num in range(1, 181)]


def test_a_change_that_no_message_holds_is_a_reset(
    account: Cloud, api: Client, live: str, client: SocketClient, stream: Stream, commits: Commits
) -> None:
    for number in range(40):
        api.made(f"{live}/attributes", {"id": f"t{number}", "name": f"T {number}", "type": "text"})
    client.subscribe()
    commits.push()
    client.frames()
    client.events["all"].clear()
    create(api, live, **{f"t{number}": "\u00e9" * 1000 for number in range(40)})
    stream.deliver()
    commits.push()
    assert client.ids() == ["reset"]
    create(api, live, "two")
    stream.deliver()
    commits.push()
    assert client.ids() == ["reset", "2.1"]


def test_a_removed_subscription_gets_nothing(
    api: Client, live: str, client: SocketClient, stream: Stream, commits: Commits
) -> None:
    client.subscribe()
    client.subscribe("other")
    assert client.say(do="unsubscribe", id="all") == []
    assert client.say(do="unsubscribe", id="never") == []
    create(api, live)
    stream.deliver()
    commits.push()
    assert [frame["id"] for frame in client.frames()] == ["other"]


def test_two_tenants_with_equal_projects_get_only_their_own_changes(
    account: Cloud, api: Client, live: str, stream: Stream
) -> None:
    others = api.acting(tenant="1910")
    others.made("/v1/projects", {"name": "Plain", "id": "plain"})
    commits = Commits(account)
    ours, theirs = connected(account, api, live), connected(account, others, live)
    cursor = api.get(f"{live}/changes").body["next"]
    assert theirs.say(do="subscribe", id="all", since=cursor)[0]["error"]["status"] == 400
    for one in (ours, theirs):
        one.subscribe()
        one.say(do="look", num=1)
    create(api, live, "ours")
    stream.deliver()
    commits.push()
    create(others, live, "theirs")
    create(others, live, "theirs")
    stream.deliver()
    commits.push()
    assert (ours.ids(), theirs.ids()) == (["1.1"], ["1.1", "2.1"])
    assert ours.events["all"][0]["fields"]["name"]["new"] == "ours"
    assert theirs.say(do="renew", ticket=ticket(api, live))[0]["error"]["status"] == 401


def has(account: Cloud, client: SocketClient) -> None:
    """Wait until a frame was sent to a client that has none yet; at most 30 seconds of the machine."""
    for _ in range(3_000):
        if account.wire.sent.get(client.id):
            return
        time.sleep(0.01)


def test_a_project_that_cannot_be_delivered_holds_up_no_other(
    account: Cloud,
    api: Client,
    live: str,
    stream: Stream,
    still: list[Callable[[], None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    api.made("/v1/projects", {"name": "Other", "id": "other"})
    commits = Commits(account)
    stuck, fine = connected(account, api, "/v1/projects/other"), connected(account, api, live)
    for one in (stuck, fine):
        one.subscribe()
    create(api, "/v1/projects/other")
    create(api, live)
    stream.deliver()
    records = commits.take()
    known = Log.after

    def without_other(self: Log, number: int, **named: Any) -> Any:
        found = known(self, number, **named)
        return type(found)() if self.project == "other" else found

    monkeypatch.setattr(Log, "after", without_other)
    # Both threads use one clock: no pause of the first project takes the time of the other before it was sent its
    # change.
    still += [lambda: has(account, fine)] * 20
    (failed,) = commits.deliver(records)["batchItemFailures"]
    (place,) = [
        record["dynamodb"]["SequenceNumber"]
        for record in records
        if record["dynamodb"]["Keys"]["PK"]["S"] == derived_keys.journal("0807", "other")
    ]
    assert failed["itemIdentifier"] == place
    assert (stuck.ids(), fine.ids()) == ([], ["1.1"])


# Invalid messages

HOSTILE = {
    "no JSON": "hello",
    "half of it": '{"do": "subscribe", "id": "x"',
    "a list": "[1, 2]",
    "a number": "1",
    "nothing": "",
    "null": "null",
    "no do": '{"id": "x"}',
    "an unknown do": '{"do": "drop", "id": "x"}',
    "a do that is no text": '{"do": {"subscribe": 1}}',
    "a list for a do": '{"do": ["subscribe"]}',
    "no id": '{"do": "subscribe"}',
    "a long id": json.dumps({"do": "subscribe", "id": "x" * 33}),
    "a dot in the id": '{"do": "subscribe", "id": "a.b"}',
    "an unknown property": '{"do": "subscribe", "id": "x", "sinse": "y"}',
    "a property twice": '{"do": "look", "num": 1, "num": 2}',
    "a cursor that is none": '{"do": "subscribe", "id": "x", "since": "y"}',
    "an endless cursor": json.dumps({"do": "subscribe", "id": "x", "since": "A" * 30_000}),
    "an unknown field": '{"do": "subscribe", "id": "x", "filter": {"field": "nope", "op": "eq", "value": 1}}',
    "a view and a filter": json.dumps({"do": "subscribe", "id": "x", "view": "v1", "filter": OPEN}),
    "a view that is not there": '{"do": "subscribe", "id": "x", "view": "v9"}',
    "no view's name": '{"do": "subscribe", "id": "x", "view": "../1"}',
    "a row 0": '{"do": "look", "num": 0}',
    "a row too far": '{"do": "look", "num": 100000000}',
    "a row of text": '{"do": "look", "num": "1"}',
    "half a row": '{"do": "look", "num": 1.5}',
    "not a number": '{"do": "look", "num": NaN}',
    "no ticket": '{"do": "renew"}',
    "a bad ticket": '{"do": "renew", "ticket": "x"}',
    "a lone surrogate": '{"do": "unsubscribe", "id": "\\ud800"}',
    "deep nesting": "[" * 15_000 + "]" * 15_000,
    "as deep as no text can be encoded": '{"do": "subscribe", "id": "x", "sort": '
    + "[" * 400
    + "]" * 400
    + "}",
    "a deep filter": '{"do": "subscribe", "id": "x", "filter": ' + '{"not": ' * 2_000 + "1" + "}" * 2_001,
    "too much": json.dumps({"do": "unsubscribe", "id": "x" * 40_000}),
    "a large filter": json.dumps(
        {"do": "subscribe", "id": "x", "filter": {"field": "name", "op": "in", "value": ["x" * 1000] * 20}}
    ),
    "many properties": json.dumps({f"p{number}": 1 for number in range(1_000)} | {"do": "look"}),
    "a null byte": '{"do": "unsubscribe", "id": "\\u0000"}',
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_an_invalid_message_gets_an_error_and_the_socket_stays_open(
    account: Cloud, client: SocketClient, body: str
) -> None:
    before = sockets_in(account)
    (frame,) = client.send(body)
    assert 400 <= frame["error"]["status"] < 500
    assert frame["error"]["detail"]
    assert len(json.dumps(frame)) < MAX_FRAME_BYTES
    assert sockets_in(account) == before
    assert client.is_open
    assert "items" in client.subscribe()[0], "it goes on"


def test_a_message_has_a_longest(client: SocketClient) -> None:
    body = '{"do": "subscribe", "id": "a"}'
    assert "items" in client.send(body.ljust(MAX_FRAME_BYTES))[0]
    assert client.send(body.ljust(MAX_FRAME_BYTES + 1))[0]["error"]["status"] == 413


def test_an_error_names_the_subscription_that_it_is_about(client: SocketClient) -> None:
    (frame,) = client.say(do="subscribe", id="rows", since="y")
    assert frame["id"] == "rows"
    assert [error["field"] for error in frame["error"]["errors"]] == ["since"]


def test_a_message_may_be_binary(client: SocketClient) -> None:
    body = base64.b64encode(b'{"do": "subscribe", "id": "all"}').decode()
    (frame,) = client.send(body, is_base64=True)
    assert frame["items"] == []
    for wrong in ("!!!!", base64.b64encode(b"\xff\xfe").decode(), base64.b64encode(b"x" * 33_000).decode()):
        (frame,) = client.send(wrong, is_base64=True)
        assert 400 <= frame["error"]["status"] < 500


def test_a_defect_ends_neither_the_function_nor_the_socket(
    client: SocketClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(socket_store, "subscribe", lambda *_: 1 / 0)
        (frame,) = client.subscribe()
    assert frame["error"]["status"] == 503
    assert client.is_open
    assert "items" in client.subscribe()[0]


def test_an_unknown_connection_is_closed(account: Cloud, live: str) -> None:
    stranger = SocketClient(account)
    account.wire.open.add(stranger.id)
    assert stranger.say(do="subscribe", id="x") == []
    assert not stranger.is_open


# Limits


def test_a_socket_has_so_many_subscriptions(client: SocketClient) -> None:
    for number in range(seats.MAX_SUBSCRIPTIONS):
        assert "items" in client.subscribe(f"s{number}")[0]
    (refused,) = client.say(do="subscribe", id="more")
    assert refused["error"]["status"] == 422
    assert "items" in client.subscribe("s1")[0], "an existing one may begin again"
    client.say(do="unsubscribe", id="s1")
    assert "items" in client.subscribe("more")[0]


def test_a_tenant_has_so_many_sockets(
    account: Cloud,
    api: Client,
    live: str,
    monkeypatch: pytest.MonkeyPatch,
    later: Callable[[float], None],
) -> None:
    monkeypatch.setattr(socket_store, "MAX_SOCKETS", 3)
    clients = [connected(account, api, live) for _ in range(3)]
    clients[0].subscribe()
    clients[0].say(do="look", num=1)
    assert SocketClient(account).connect(ticket(api, live)) == 429
    others = api.acting(tenant="1910")
    others.made("/v1/projects", {"name": "Plain", "id": "plain"})
    connected(account, others, live)
    clients[0].leave()
    connected(account, api, live)
    assert SocketClient(account).connect(ticket(api, live)) == 429
    later(sockets.IDLE_SECONDS + 1)
    assert end_due(account) == 4, "and the other tenant's"
    connected(account, api, live)  # finished ones no longer count


# The end


def test_a_client_that_has_gone_leaves_nothing(
    account: Cloud, api: Client, live: str, stream: Stream, commits: Commits
) -> None:
    gone, other = connected(account, api, live), connected(account, api, live)
    for one in (gone, other):
        one.subscribe()
        one.subscribe("more")
    gone.leave(noticed=False)
    create(api, live)
    stream.deliver()
    commits.push()
    assert sockets_in(account) == {f"plain.{other.id}{rest}" for rest in ("", ".all", ".more")}
    assert other.ids() == ["1.1"]
    other.leave()
    assert sockets_in(account) == set()
    assert not [pk for pk, _ in account.table.items if pk.startswith(live_keys.SOCKET_PREFIX)]
    other.leave()  # delivered twice


def test_a_client_that_has_gone_before_it_is_refused_something_leaves_nothing(
    account: Cloud, client: SocketClient
) -> None:
    client.subscribe()
    client.leave(noticed=False)
    client.send("{")
    assert sockets_in(account) == set()


def test_a_slow_client_is_dropped_and_comes_back_with_its_cursor(
    account: Cloud, api: Client, live: str, client: SocketClient, stream: Stream, commits: Commits
) -> None:
    client.subscribe()
    account.wire.slow.add(client.id)
    create(api, live)
    stream.deliver()
    assert commits.push() == {"batchItemFailures": []}
    assert not client.is_open
    assert sockets_in(account) == set()
    back = connected(account, api, live)
    back.cursors, back.events = client.cursors, client.events
    back.subscribe()
    assert back.ids() == ["1.1"]


def end_due(account: Cloud) -> int:
    ended: int = account.modules["socket"].handler({"task": "end"}, Context())["ended"]
    return ended


def test_a_socket_ends_when_its_client_says_nothing(
    account: Cloud, client: SocketClient, later: Callable[[float], None]
) -> None:
    client.subscribe()
    later(sockets.IDLE_SECONDS - 10)
    assert end_due(account) == 0
    client.say(do="unsubscribe", id="none")
    later(20)
    assert end_due(account) == 0
    later(sockets.IDLE_SECONDS - 10)
    assert end_due(account) == 1
    assert client.frames() == [{"bye": "idle"}]
    assert not client.is_open
    assert sockets_in(account) == set()
    assert end_due(account) == 0


def test_a_socket_ends_after_two_hours_even_in_use(
    account: Cloud, api: Client, client: SocketClient, later: Callable[[float], None]
) -> None:
    passed = 0.0
    while passed + 400 < sockets.MAX_SECONDS:
        later(400)
        passed += 400
        assert end_due(account) == 0
        client.say(do="unsubscribe", id="none")
    later(400)
    assert end_due(account) == 1
    assert client.frames() == [{"bye": "age"}]
    assert sockets.MAX_SECONDS < 2 * 3600


def test_a_socket_ends_with_its_users_token(
    account: Cloud,
    api: Client,
    live: str,
    stream: Stream,
    commits: Commits,
    later: Callable[[float], None],
) -> None:
    briefly = api.claiming(exp=str(int(clock.seconds()) + 300))
    silent, speaking = connected(account, briefly, live), connected(account, briefly, live)
    for one in (silent, speaking):
        one.subscribe()
    later(301)
    create(api, live)
    stream.deliver()
    assert speaking.say(do="look", num=1) == [{"bye": "expired"}]
    commits.push()
    assert silent.frames() == [{"bye": "expired"}], "and nothing of what was committed"
    assert not silent.is_open
    assert not speaking.is_open
    assert sockets_in(account) == set()


def test_a_renewed_socket_stays_open_as_long_as_the_next_token(
    account: Cloud,
    api: Client,
    live: str,
    stream: Stream,
    commits: Commits,
    later: Callable[[float], None],
) -> None:
    now = int(clock.seconds())
    client = connected(account, api.claiming(exp=str(now + 300)), live)
    client.subscribe()
    later(290)
    again = ticket(api.claiming(exp=str(now + 600)), live)
    (frame,) = client.say(do="renew", ticket=again)
    assert list(frame) == ["renewed"]
    assert client.say(do="renew", ticket=again)[0]["error"]["status"] == 401, "once"
    assert SocketClient(account).connect(again) == 401
    later(200)
    create(api, live)
    stream.deliver()
    commits.push()
    assert client.ids() == ["1.1"]
    later(120)
    assert client.say(do="look", num=1) == [{"bye": "expired"}]


def test_no_other_user_and_no_other_project_renews_a_socket(
    account: Cloud, api: Client, live: str, client: SocketClient
) -> None:
    api.made("/v1/projects", {"name": "Other", "id": "other"})
    for wrong in (ticket(api.acting(user="bob"), live), ticket(api, "/v1/projects/other")):
        assert client.say(do="renew", ticket=wrong)[0]["error"]["status"] == 401
    bob = connected(account, api.acting(user="bob"), live)
    assert "items" in bob.subscribe()[0]


def test_the_sockets_of_a_deleted_project_end(
    api: Client, account: Cloud, live: str, client: SocketClient, commits: Commits
) -> None:
    client.subscribe()
    assert api.delete(live).status == 204
    commits.push()
    assert client.frames()[-1] == {"bye": "project"}
    assert not client.is_open


# Users and the rows at which they look


def people(frames: list[dict[str, Any]]) -> list[tuple[str, int | None]]:
    """The users and the rows at which they look, by the last of these frames that contains them."""
    lists = [frame["people"] for frame in frames if "people" in frame]
    return [(one["user"], one["num"]) for one in lists[-1]]


def test_users_see_which_row_others_look_at(
    account: Cloud, api: Client, live: str, still: list[Callable[[], None]]
) -> None:
    ann, bob = connected(account, api, live), connected(account, api.acting(user="bob"), live)
    assert ann.say(do="look", num=7) == [{"people": [{"user": "ann", "name": "ann", "num": 7}]}]
    assert bob.frames() == [], "a user who has not looked gets nothing"
    assert people(bob.say(do="look", num=None)) == [("ann", 7), ("bob", None)]
    assert people(ann.frames()) == [("ann", 7), ("bob", None)]
    clock.sleep(1.5)
    bob.say(do="look", num=3)
    assert people(ann.frames()) == [("ann", 7), ("bob", 3)]
    bob.leave()
    assert people(ann.frames()) == [("ann", 7)]


def test_a_look_at_the_same_row_again_sends_no_frame(
    account: Cloud, api: Client, live: str, still: list[Callable[[], None]]
) -> None:
    ann, bob = connected(account, api, live), connected(account, api.acting(user="bob"), live)
    ann.say(do="look", num=7)
    bob.say(do="look", num=8)
    ann.frames()
    clock.sleep(2)
    bob.say(do="look", num=8)
    assert ann.frames() == []


def test_a_client_says_at_most_once_a_second_where_it_looks(
    client: SocketClient, still: list[Callable[[], None]]
) -> None:
    client.say(do="look", num=1)
    (frame,) = client.say(do="look", num=2)
    assert (frame["error"]["status"], frame["error"]["type"]) == (429, "too-many-messages")
    clock.sleep(1.1)
    assert client.say(do="look", num=2)[0]["people"][0]["num"] == 2


def test_people_are_sent_at_most_once_a_second(
    account: Cloud, api: Client, live: str, monkeypatch: pytest.MonkeyPatch, later: Callable[[float], None]
) -> None:
    """Virtual time: a user who looks again within a second waits, and the last look is delivered."""
    users = [connected(account, api.acting(user=f"u{number}"), live) for number in range(6)]
    instants: list[int] = []
    monkeypatch.setattr(clock, "sleep", later)
    for one in users:
        shown = people(one.say(do="look", num=1))
        instants.append(account.table.items[live_keys.sockets("0807"), "plain"]["people_announced"])
    assert all(after - before >= 1_000 for before, after in pairwise(instants))
    assert [user for user, _ in shown] == [f"u{number}" for number in range(6)]
    assert people(users[0].frames()) == shown


def test_while_one_call_waits_to_send_people_no_other_waits(
    account: Cloud, api: Client, live: str, still: list[Callable[[], None]]
) -> None:
    ann, bob, cid = (connected(account, api.acting(user=user), live) for user in ("ann", "bob", "cid"))
    ann.say(do="look", num=1)
    ann.frames()

    waited: list[float] = []

    def meanwhile() -> None:
        began = clock.seconds()
        cid.say(do="look", num=3)
        waited.append(clock.seconds() - began)

    still.append(meanwhile)  # while bob waits
    bob.say(do="look", num=2)
    frames = [frame for frame in ann.frames() if "people" in frame]
    assert len(frames) == 1
    assert [one["num"] for one in frames[0]["people"]] == [1, 2, 3]
    assert waited[0] < 0.1


def test_only_one_of_two_concurrent_calls_sends_people(
    account: Cloud,
    api: Client,
    live: str,
    still: list[Callable[[], None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ann, bob = connected(account, api, live), connected(account, api.acting(user="bob"), live)
    claim = socket_store.claim_announcement

    def beside(*given: Any) -> bool:
        monkeypatch.setattr(socket_store, "claim_announcement", claim)
        bob.say(do="look", num=2)
        return claim(*given)

    monkeypatch.setattr(socket_store, "claim_announcement", beside)
    frames = [frame for frame in ann.say(do="look", num=1) if "people" in frame]
    assert [[one["num"] for one in frame["people"]] for frame in frames] == [[1, 2]]


def test_at_most_fifty_people_are_sent(
    account: Cloud, api: Client, live: str, still: list[Callable[[], None]]
) -> None:
    clients = [connected(account, api.acting(user=f"u{number:02}"), live) for number in range(52)]
    for at, one in enumerate(clients):
        shown = people(one.say(do="look", num=at + 1))
    assert len(shown) == 50
    assert [user for user, _ in shown] == [f"u{number:02}" for number in range(2, 52)]
    for one in clients[:2]:
        one.frames()
    clock.sleep(1.1)
    assert ("u05", 99) in people(clients[5].say(do="look", num=99))
    assert clients[0].frames() == clients[1].frames() == []
    assert ("u05", 99) in people(clients[-1].frames())


def test_one_person_with_two_pages_is_one(
    account: Cloud, api: Client, live: str, still: list[Callable[[], None]]
) -> None:
    first, second = connected(account, api, live), connected(account, api, live)
    first.say(do="look", num=1)
    clock.sleep(1)
    assert people(second.say(do="look", num=2)) == [("ann", 2)]
    assert people(first.frames()) == [("ann", 2)]
    second.leave()
    assert people(first.frames()) == [("ann", 1)]


def test_former_rows_of_users_are_not_stored(
    account: Cloud, client: SocketClient, still: list[Callable[[], None]]
) -> None:
    for num in (31, 32, 33):
        client.say(do="look", num=num)
        clock.sleep(1.1)
    looked = [item for item in account.table.items.values() if item.get("num") in (31, 32, 33)]
    assert [item["num"] for item in looked] == [33]
    client.leave()
    assert not [item for item in account.table.items.values() if item.get("num") in (31, 32, 33)]


def test_stored_items_of_sockets_expire(account: Cloud, client: SocketClient) -> None:
    client.subscribe()
    client.say(do="look", num=1)
    prefixes = (live_keys.SOCKETS_PREFIX, live_keys.SOCKET_PREFIX, live_keys.TICKET_PREFIX)
    stored = [item for (pk, _), item in account.table.items.items() if pk.startswith(prefixes)]
    assert len(stored) == 5
    assert all(0 < item[keys.TTL_ATTRIBUTE] - clock.seconds() < 4 * 3600 for item in stored)
