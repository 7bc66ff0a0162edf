"""The limits of one user's sockets: their number, messages and subscriptions; and the cost of a refusal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from devtools.proof.faults.watched import Attempted, Watched
from gridview.encoding import keys, live_keys
from gridview.live import seat_store, seats, sockets
from gridview.live.known_owners import KnownOwners
from gridview.support import clock
from tests.support.cloud import Cloud
from tests.support.http import Client, Context
from tests.support.sockets import Commits, SocketClient, connected, ticket
from tests.support.stream import Stream


@pytest.fixture
def live(account: Cloud, project: str) -> str:
    """The path of a project to follow."""
    return project


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which changes only when a test sets it."""
    instant = [float(int(clock.seconds()))]
    monkeypatch.setattr(clock, "seconds", lambda: instant[0])
    return instant


def named(name: str) -> dict[str, Any]:
    return {"field": "name", "op": "eq", "value": name}


@contextmanager
def calls_of(account: Cloud) -> Iterator[list[Attempted]]:
    """The socket function's calls of the table in this context."""
    module: Any = account.modules["socket"]
    calls = list[Attempted]()
    before = module.table, module.owners

    def noting(attempted: Attempted, work: Callable[[], Any]) -> Any:
        calls.append(attempted)
        return work()

    module.table, module.owners = (Watched(one, noting) for one in before)
    try:
        yield calls
    finally:
        module.table, module.owners = before


def of_tenant(account: Cloud) -> set[tuple[str, str]]:
    """The items of the tenant's sockets."""
    mine = (live_keys.sockets("0807"), live_keys.seats("0807"))
    return {
        key for key in account.table.items if key[0] in mine or key[0].startswith(live_keys.SOCKET_PREFIX)
    }


# Sockets


def test_the_21st_socket_of_a_user_ends_the_oldest(
    account: Cloud, api: Client, live: str, now: list[float]
) -> None:
    clients = []
    for _ in range(seats.MAX_USER_SOCKETS):
        now[0] += 1
        clients.append(connected(account, api, live))
    bob = connected(account, api.acting(user="bob"), live)
    assert all(one.is_open for one in clients)
    now[0] += 1
    clients.append(connected(account, api, live))
    assert clients[0].frames() == [{"bye": "replaced"}]
    assert [one.is_open for one in clients] == [False] + [True] * seats.MAX_USER_SOCKETS
    assert bob.is_open, "another user's"
    assert "items" in clients[1].subscribe()[0]
    assert "items" in clients[-1].subscribe()[0]
    assert not [key for key in of_tenant(account) if clients[0].id in "".join(key)], "it leaves nothing"


def test_the_sockets_of_a_user_count_in_all_projects(
    account: Cloud, api: Client, live: str, now: list[float]
) -> None:
    api.made("/v1/projects", {"name": "Other", "id": "other"})
    first = connected(account, api, "/v1/projects/other")
    for _ in range(seats.MAX_USER_SOCKETS):
        now[0] += 1
        connected(account, api, live)
    assert first.frames() == [{"bye": "replaced"}]
    assert not first.is_open


def test_connections_that_broke_make_room_without_a_word(
    account: Cloud, api: Client, live: str, now: list[float]
) -> None:
    for _ in range(seats.MAX_USER_SOCKETS):
        now[0] += 1
        connected(account, api, live).leave(noticed=False)
    now[0] += 1
    again = [connected(account, api, live) for _ in range(10)]
    assert all("items" in one.subscribe()[0] for one in again)


def test_a_socket_that_closes_frees_its_seat(account: Cloud, api: Client, live: str) -> None:
    client = connected(account, api, live)
    client.subscribe(filter=named("a"))
    client.leave()
    assert of_tenant(account) == {(live_keys.seats("0807"), live_keys.seat("ann"))}, (
        "the bucket stays for an hour"
    )


def test_two_that_open_at_the_same_time_end_the_same_oldest(
    account: Cloud, api: Client, live: str, now: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    clients = []
    for _ in range(seats.MAX_USER_SOCKETS - 1):
        now[0] += 1
        clients.append(connected(account, api, live))
    take, both = seat_store.take, list[SocketClient]()

    def beside(table: Any, socket: Any) -> Any:
        monkeypatch.setattr(seat_store, "take", take)
        both.append(connected(account, api, live))
        return take(table, socket)

    monkeypatch.setattr(seat_store, "take", beside)
    both.append(connected(account, api, live))
    assert [one.is_open for one in (*clients, *both)] == [False] + [True] * seats.MAX_USER_SOCKETS


# Tickets


@pytest.mark.parametrize("text", ["", "x", "A" * 40, "A" * 5_000])
def test_a_forged_ticket_reads_nothing(account: Cloud, live: str, text: str) -> None:
    with calls_of(account) as calls:
        assert SocketClient(account).connect(text) == 401
    assert calls == []


def test_an_expired_ticket_reads_nothing(account: Cloud, api: Client, live: str, now: list[float]) -> None:
    good = ticket(api, live)
    now[0] += 31
    with calls_of(account) as calls:
        assert SocketClient(account).connect(good) == 401
    assert calls == []


def test_a_used_ticket_takes_one_write(account: Cloud, api: Client, live: str) -> None:
    good = ticket(api, live)
    assert SocketClient(account).connect(good) == 200
    with calls_of(account) as calls:
        assert SocketClient(account).connect(good) == 401
    assert [(one.operation, one.key[0]) for one in calls] == [
        ("get", live_keys.seats("0807")),
        ("put", live_keys.tickets("0807")),
    ]


# Messages


def test_a_socket_says_20_messages_at_once_and_5_a_second(
    account: Cloud, api: Client, live: str, now: list[float]
) -> None:
    client, other = connected(account, api, live), connected(account, api, live)
    for _ in range(sockets.MESSAGES):
        assert client.say(do="unsubscribe", id="none") == []
    (frame,) = client.say(do="unsubscribe", id="none")
    assert (frame["id"], frame["error"]["status"], frame["error"]["type"]) == (
        "none",
        429,
        "too-many-messages",
    )
    assert client.is_open
    assert other.say(do="unsubscribe", id="none") == [], "each socket has its own bucket"
    now[0] += 0.2
    assert client.say(do="unsubscribe", id="none") == []
    assert client.say(do="unsubscribe", id="none")[0]["error"]["status"] == 429
    now[0] += 1
    answers = [client.say(do="unsubscribe", id="none") for _ in range(6)]
    assert [bool(frames) for frames in answers] == [False] * 5 + [True]
    now[0] += 3_600 / 60
    answers = [client.say(do="unsubscribe", id="none") for _ in range(sockets.MESSAGES + 1)]
    assert [bool(frames) for frames in answers] == [False] * sockets.MESSAGES + [True], (
        "it is full again, and no fuller"
    )


def test_300_messages_in_a_second_are_25(account: Cloud, api: Client, live: str, now: list[float]) -> None:
    client = connected(account, api, live)
    taken = 0
    for _ in range(300):
        taken += not client.say(do="unsubscribe", id="none")
        now[0] += 1 / 300
    assert sockets.MESSAGES + 4 <= taken <= sockets.MESSAGES + 5


@pytest.mark.parametrize(
    "message",
    [
        {"do": "subscribe", "id": "a"},
        {"do": "look", "num": 1},
        {"do": "renew", "ticket": "x"},
        {"do": "what"},
    ],
    ids=["subscribe", "look", "renew", "unknown"],
)
def test_a_message_too_many_reads_one_item_and_writes_none(
    account: Cloud, api: Client, live: str, now: list[float], message: dict[str, Any]
) -> None:
    client = connected(account, api, live)
    for _ in range(sockets.MESSAGES):
        client.say(do="unsubscribe", id="none")
    before = account.items()
    with calls_of(account) as calls:
        (frame,) = client.say(**message)
    assert frame["error"]["status"] == 429
    assert frame.get("id") == message.get("id")
    assert [(one.operation, one.key[0]) for one in calls] == [("get", live_keys.sockets("0807"))]
    assert account.items() == before


def test_a_container_reads_the_owner_of_a_connection_that_it_does_not_know(
    account: Cloud, api: Client, live: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = connected(account, api, live)
    client.say(do="look", num=None)
    monkeypatch.setattr(account.modules["socket"], "known_owners", KnownOwners(1))
    with calls_of(account) as calls:
        client.say(do="unsubscribe", id="none")
    assert calls[0].key == (live_keys.socket_owner(client.id), live_keys.SOCKET)
    connected(account, api, live).say(do="look", num=None)
    with calls_of(account) as calls:
        client.say(do="unsubscribe", id="none")
    assert calls[0].key == (live_keys.socket_owner(client.id), live_keys.SOCKET), (
        "one other was met since, and one is kept"
    )


def test_a_socket_that_was_closed_is_ended_also_where_it_is_known(
    account: Cloud, api: Client, live: str
) -> None:
    client = connected(account, api, live)
    client.say(do="look", num=None)
    client.leave()
    account.wire.open.add(client.id)
    client.say(do="look", num=1)
    assert not client.is_open
    assert not [key for key in of_tenant(account) if client.id in "".join(key)]


def test_messages_that_come_together_share_the_bucket(
    account: Cloud, api: Client, live: str, now: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of 40 messages sees the bucket as it was before all of them."""
    client = connected(account, api, live)
    module = account.modules["socket"]
    seen = account.table.items[live_keys.sockets("0807"), f"plain.{client.id}"]
    stale = dict(seen)

    def as_before(attempted: Attempted, work: Callable[[], Any]) -> Any:
        found = work()
        if attempted.operation == "get" and attempted.key[0] == live_keys.sockets("0807"):
            return dict(stale)
        return found

    monkeypatch.setattr(module, "table", Watched(module.table, as_before))
    answers = [client.say(do="unsubscribe", id="none") for _ in range(2 * sockets.MESSAGES)]
    assert [bool(frames) for frames in answers] == [False] * sockets.MESSAGES + [True] * sockets.MESSAGES


# Rows


def test_a_user_follows_40_different_rows(account: Cloud, api: Client, live: str, now: list[float]) -> None:
    clients = [connected(account, api, live) for _ in range(5)]
    for number in range(seats.MAX_USER_ROWS):
        client = clients[number // seats.MAX_SUBSCRIPTIONS]
        assert "items" in client.subscribe(f"s{number}", filter=named(f"{number}"))[0]
    last = clients[-1]
    with calls_of(account) as calls:
        (frame,) = last.subscribe("more", filter=named("more"))
    assert (frame["id"], frame["error"]["status"]) == ("more", 422)
    writes = [one for one in calls if one.writes]
    assert [one.key for one in writes] == [(live_keys.sockets("0807"), f"plain.{last.id}")], "only its bucket"
    assert "items" in last.subscribe("same", filter=named("7"))[0], "the same rows count once"
    assert "items" in last.subscribe("all")[0], "all changes are no rows"
    assert "items" in clients[3].subscribe("s39", filter=named("other"))[0], "its former rows make room"
    bob = connected(account, api.acting(user="bob"), live)
    assert "items" in bob.subscribe("more", filter=named("more"))[0], "each user has their own"
    now[0] += 10
    assert clients[0].say(do="unsubscribe", id="s0") == []
    assert "items" in last.subscribe("more", filter=named("more"))[0]
    clients[1].leave()
    assert "items" in last.subscribe("again", filter=named("again"))[0], "what closes makes room"


def test_the_same_rows_in_20_tabs_count_once(
    account: Cloud, api: Client, live: str, now: list[float]
) -> None:
    view = api.made(f"{live}/views", {"name": "Mine", "query": {"filter": named("a")}})["id"]
    for _ in range(seats.MAX_USER_SOCKETS):
        now[0] += 10
        client = connected(account, api, live)
        for number in range(5):
            assert "items" in client.subscribe(f"s{number}", filter=named(f"{number}"))[0]
        assert "items" in client.subscribe("view", view=view)[0]
        assert (
            "items"
            in client.say(do="subscribe", id="other", filter={"value": "0", "op": "eq", "field": "name"})[0]
        )
    found = seat_store.of_user(account.table, "0807", "ann").seats
    assert len(found) == seats.MAX_USER_SOCKETS
    assert len({rows for seat in found for rows in seat.rows.values()}) == 6, (
        "the words of a filter have no order"
    )


def test_two_sockets_that_find_the_last_room_at_once_do_not_both_have_it(
    account: Cloud, api: Client, live: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seats, "MAX_USER_ROWS", 1)
    one, other = connected(account, api, live), connected(account, api, live)
    note = seat_store.note
    answers = []

    def beside(*given: Any) -> None:
        monkeypatch.setattr(seat_store, "note", note)
        answers.extend(other.subscribe("b", filter=named("b")))
        note(*given)

    monkeypatch.setattr(seat_store, "note", beside)
    answers += one.subscribe("a", filter=named("a"))
    assert sorted("items" in frame for frame in answers) == [False, True]
    followed = {
        live_keys.parse_socket(sk)[2] for pk, sk in account.table.items if pk == live_keys.sockets("0807")
    }
    assert len(followed & {"a", "b"}) == 1
    counted = {name for seat in seat_store.of_user(account.table, "0807", "ann").seats for name in seat.rows}
    assert counted == followed & {"a", "b"}, "what was refused does not count"


# Starts


def test_a_user_opens_100_sockets_and_subscriptions_at_once_and_2_a_second(
    account: Cloud, api: Client, live: str, now: list[float]
) -> None:
    clients = [connected(account, api, live) for _ in range(5)]
    for number in range(seats.STARTS - 5):
        assert "items" in clients[number % 5].subscribe("s")[0]
    assert opened(account, api, live) == 429
    (frame,) = clients[0].subscribe("s")
    assert (frame["id"], frame["error"]["status"], frame["error"]["type"]) == (
        "s",
        429,
        "too-many-subscriptions",
    )
    assert clients[0].is_open
    assert opened(account, api.acting(user="bob"), live) == 200, "each user has their own"
    now[0] += 0.5
    assert opened(account, api, live) == 200
    assert opened(account, api, live) == 429
    now[0] += 1
    assert ["items" in clients[0].subscribe("s")[0] for _ in range(3)] == [True, True, False]
    now[0] += 300
    clients = [connected(account, api, live) for _ in range(10)]
    taken = sum("items" in clients[each % 10].subscribe("s")[0] for each in range(seats.STARTS))
    assert taken == seats.STARTS - 10, "it is full again, and no fuller"


def test_opening_and_closing_a_socket_over_and_over_is_refused(
    account: Cloud, api: Client, live: str, now: list[float]
) -> None:
    """A socket that closes leaves no seat, so the 21st is never reached."""
    statuses = []
    for _ in range(300):
        now[0] += 0.01
        client = SocketClient(account)
        statuses.append(client.connect(ticket(api, live)))
        if statuses[-1] == 200:
            client.leave()
    assert seats.STARTS + 5 <= statuses.count(200) <= seats.STARTS + 6
    assert set(statuses) == {200, 429}


def test_a_start_too_many_reads_and_writes_nothing(
    account: Cloud, api: Client, live: str, now: list[float]
) -> None:
    client = connected(account, api, live)
    empty_starts(account, now)
    good = ticket(api, live)
    with calls_of(account) as calls:
        assert SocketClient(account).connect(good) == 429
    assert [(one.operation, one.key) for one in calls] == [
        ("get", (live_keys.seats("0807"), live_keys.seat("ann")))
    ]
    with calls_of(account) as calls:
        assert client.subscribe("s")[0]["error"]["status"] == 429
    assert [one.key for one in calls if one.writes] == [(live_keys.sockets("0807"), f"plain.{client.id}")], (
        "only the bucket of its messages"
    )
    now[0] += 1
    assert SocketClient(account).connect(good) == 200, "the ticket stayed good"


def test_starts_that_come_together_share_the_bucket(
    account: Cloud, api: Client, live: str, now: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of 120 attempts sees the bucket as it was before all of them."""
    monkeypatch.setattr(seat_store, "spent", lambda *_: 0)
    monkeypatch.setattr(seats, "MAX_USER_SOCKETS", 1_000)
    statuses = [opened(account, api, live) for _ in range(seats.STARTS + 20)]
    assert statuses == [200] * seats.STARTS + [429] * 20


def opened(account: Cloud, api: Client, live: str) -> int:
    """The status of an attempt to connect with a new ticket."""
    return SocketClient(account).connect(ticket(api, live))


def empty_starts(account: Cloud, now: list[float]) -> None:
    """Let the user's bucket of starts be empty."""
    place = live_keys.seats("0807"), live_keys.seat("ann")
    account.table.put({keys.PK: place[0], keys.SK: place[1], "spent": seats.START_BUCKET.fullest(now[0]) + 1})


# Honest use


def test_ten_tabs_that_connect_again_three_times_are_refused_nothing(
    account: Cloud, api: Client, live: str, now: list[float]
) -> None:
    """A network that fails and recovers, within ten seconds."""
    for _ in range(3):
        now[0] += 3
        tabs = [connected(account, api, live) for _ in range(10)]
        assert all("items" in tab.subscribe("s1")[0] for tab in tabs)
        for tab in tabs:
            tab.leave()


def test_ten_tabs_that_are_sorted_again_quickly_are_refused_nothing(
    account: Cloud, api: Client, live: str, now: list[float]
) -> None:
    """Each tab follows the project as the page does, and subscribes again with each sort: five times in a second."""
    stream, commits = Stream(account), Commits(account)
    tabs = [connected(account, api, live) for _ in range(10)]
    for tab in tabs:
        tab.subscribe("s0")
        tab.say(do="look", num=None)
        tab.frames()
    for sort in range(1, 6):
        now[0] += 0.2
        for tab in tabs:
            frames = tab.say(do="unsubscribe", id=f"s{sort - 1}") + tab.subscribe(f"s{sort}")
            assert [list(frame) for frame in frames if "people" not in frame] == [
                ["id", "since", "items", "next"]
            ]
    api.made(f"{live}/issues", {"name": "one"})
    stream.deliver()
    commits.push()
    assert [tab.ids("s5") for tab in tabs] == [["1.1"]] * 10
    assert all(tab.is_open and tab.missed == 0 for tab in tabs)


def test_ten_tabs_with_four_views_each_are_refused_nothing(account: Cloud, api: Client, live: str) -> None:
    for number in range(4):
        api.made(f"{live}/views", {"name": f"V{number}", "query": {"filter": named(f"{number}")}})
    for _ in range(10):
        tab = connected(account, api, live)
        assert all("items" in tab.subscribe(f"v{number}", view=f"v{number}")[0] for number in range(1, 5))


def test_a_seat_that_its_socket_has_lost_is_the_first_to_go(
    account: Cloud, api: Client, live: str, now: list[float]
) -> None:
    """The function died between the seat and the socket."""
    client = connected(account, api, live)
    del account.table.items[live_keys.sockets("0807"), f"plain.{client.id}"]
    for _ in range(seats.MAX_USER_SOCKETS):
        now[0] += 1
        connected(account, api, live)
    assert len(seat_store.of_user(account.table, "0807", "ann").seats) == seats.MAX_USER_SOCKETS
    assert account.modules["socket"].handler({"task": "end"}, Context())["ended"] == 0
