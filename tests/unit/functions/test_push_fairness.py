"""The effect of one tenant's sockets on another tenant's pushes, in virtual time, through the real handler."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from gridview.encoding import live_keys
from gridview.live import changes, push_pages, push_shares, pushes, seats, socket_store
from gridview.live.push_shares import BATCH_SECONDS, Share, shared_out
from gridview.live.sockets import Owner
from gridview.live.token_buckets import TokenBucket
from gridview.live.wire import SECONDS as POST_PATIENCE
from gridview.support.concurrency import in_threads
from gridview.support.errors import Overloaded
from tests.support.cloud import Cloud
from tests.support.http import Client, Context
from tests.support.sockets import Commits, SocketClient, connected
from tests.support.stream import Stream
from tests.support.virtual_time import TimedWire, VirtualTime, virtual_time

POST_SECONDS = 0.01

BOUND = 2.0
"""Seconds by which another tenant's sockets may delay a push at worst: a running batch, and this one's own."""

PATH = "/v1/projects/plain"


@pytest.fixture
def virtual(monkeypatch: pytest.MonkeyPatch) -> Iterator[VirtualTime]:
    with virtual_time(monkeypatch) as clock:
        yield clock


@pytest.fixture
def wire(account: Cloud, virtual: VirtualTime, monkeypatch: pytest.MonkeyPatch) -> TimedWire:
    timed = TimedWire(account.wire, virtual, seconds=POST_SECONDS, patience=POST_PATIENCE)
    monkeypatch.setattr(account.modules["socket"], "wire", timed)
    return timed


def with_project(account: Cloud, tenant: str, project: str = "plain") -> Client:
    api = account.api(tenant=tenant)
    api.made("/v1/projects", {"name": project, "id": project})
    return api


def named(name: str) -> dict[str, Any]:
    return {"field": "name", "op": "ne", "value": name}


def end_task(account: Cloud, virtual: VirtualTime) -> dict[str, int]:
    result: dict[str, int] = virtual.run(
        lambda: account.modules["socket"].handler({"task": "end"}, Context())
    )
    return result


def worst_of(account: Cloud, api: Client, users: Sequence[str]) -> list[SocketClient]:
    """All sockets and filters that these users may have: 20 sockets each, with 10 subscriptions each, to 40 filters a
    user.
    """
    clients = []
    for user in users:
        for number in range(seats.MAX_USER_SOCKETS):
            client = connected(account, api.acting(user=user), PATH)
            for each in range(seats.MAX_SUBSCRIPTIONS):
                rows = (number * seats.MAX_SUBSCRIPTIONS + each) % seats.MAX_USER_ROWS
                assert "items" in client.subscribe(f"s{each}", filter=named(f"{user} {rows}"))[0]
            clients.append(client)
    return clients


@pytest.mark.parametrize("stuck", [0, 10, 40], ids="{} stuck".format)
def test_the_worst_of_one_tenant_delays_no_other(
    account: Cloud, virtual: VirtualTime, wire: TimedWire, stuck: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message takes 10 ms, and some connections take none. The neighbour's change comes during a
    batch of the others.
    """
    # Users who open them one after the other, over minutes.
    monkeypatch.setattr("gridview.live.seat_store.START_BUCKET", TokenBucket(10_000, 2))
    api, neighbour = with_project(account, "0807"), with_project(account, "1910")
    stream, commits = Stream(account), Commits(account)
    clients = worst_of(account, api, ["ann", "bob"])
    theirs = connected(account, neighbour, PATH)
    theirs.subscribe()
    wire.stuck = {one.id for one in clients[:stuck]}
    wire.attempts.clear()
    began = virtual.now
    api.made(f"{PATH}/issues", {"name": "a"})
    stream.deliver()
    first = commits.take()
    assert virtual.run(lambda: commits.deliver(first)) == {"batchItemFailures": []}
    assert virtual.now - began <= BATCH_SECONDS + POST_PATIENCE + 0.1
    neighbour.made(f"{PATH}/issues", {"name": "b"})
    api.made(f"{PATH}/issues", {"name": "c"})
    stream.deliver()
    second = commits.take()
    assert virtual.run(lambda: commits.deliver(second)) == {"batchItemFailures": []}
    assert wire.posted[theirs.id][-1] - began <= BOUND
    assert theirs.ids() == ["1.1"]
    for client in clients[stuck:]:
        for each in range(seats.MAX_SUBSCRIPTIONS):
            assert client.ids(f"s{each}") == ["1.1", "2.1"], "and all of them were served"
            assert client.missed == 0
    assert {wire.attempts.get(one.id) for one in clients[:stuck]} <= {1}, (
        "one message each, though ten were there"
    )
    assert not any(one.is_open for one in clients[:stuck])


def test_a_user_with_sockets_in_many_projects_holds_few_invocations(
    account: Cloud, virtual: VirtualTime
) -> None:
    """Two sockets in each of ten projects look at another row once a second, half a second apart. Each second look
    waits for the message of presence of its project.
    """
    projects = [f"p{number}" for number in range(seats.MAX_USER_SOCKETS // 2)]
    for project in projects:
        with_project(account, "0807", project)
    api = account.api(tenant="0807").acting(user="mallory")
    colleague = connected(account, account.api(tenant="0807").acting(user="carol"), "/v1/projects/p0")
    clients = [connected(account, api, f"/v1/projects/{project}") for project in projects for _ in range(2)]
    virtual.now += 60  # the bucket of starts is full
    begins = virtual.now
    held = [0.0, 0.0]
    """Seconds of invocations in each half."""

    def look(number: int) -> None:
        virtual.sleep(number % 2 / 2)
        for num in range(1, 31):
            began = virtual.now
            clients[number].say(do="look", num=num)
            held[began >= begins + 15] += virtual.now - began
            virtual.sleep(max(1.01 - (virtual.now - began), 0.0))

    def work() -> None:
        in_threads(look, range(len(clients)), len(clients))

    virtual.run(work)
    assert held[1] / 15 <= seats.STARTS_PER_SECOND
    assert sum(held) <= seats.WAITS + 30 * seats.STARTS_PER_SECOND
    virtual.now += 1.1
    frames = virtual.run(lambda: colleague.say(do="look", num=7))
    shown = {one["user"]: one["num"] for one in frames[-1]["people"]}
    assert shown == {"carol": 7, "mallory": 30}, "a look that did not wait is shown with the next one"


def test_changes_not_sent_in_time_are_sent_within_a_minute(
    account: Cloud, virtual: VirtualTime, wire: TimedWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gridview.live.socket_calls.AT_ONCE", 2)
    api = with_project(account, "0807")
    stream, commits = Stream(account), Commits(account)
    wire.seconds = 4 * POST_SECONDS  # so a few dozen clients are more than a batch can serve in time
    fits = round(2 * BATCH_SECONDS / wire.seconds)
    clients = []
    for number in range(2 * fits):
        client = connected(account, api.acting(user=f"u{number // 20}"), PATH)
        client.subscribe()
        clients.append(client)
    api.made(f"{PATH}/issues", {"name": "a"})
    stream.deliver()
    began = virtual.now
    assert virtual.run(lambda: commits.push()) == {"batchItemFailures": []}, "others wait for no repetition"
    assert virtual.now - began <= BATCH_SECONDS + wire.seconds
    served = [one for one in clients if one.ids()]
    assert fits - 4 <= len(served) <= fits + 4
    left = [one for one in clients if not one.ids()]
    left[0].subscribe()
    assert left[0].ids() == ["1.1"], "by its cursor"
    assert end_task(account, virtual) == {"ended": 0, "settled": 1}
    assert [one.ids() for one in clients] == [["1.1"]] * len(clients)
    assert sum(one.missed for one in clients) == 0
    assert end_task(account, virtual) == {"ended": 0, "settled": 0}
    assert not [key for key in account.table.items if key[1] == live_keys.OWED]


def test_changes_not_sent_in_time_are_sent_with_the_next_change(
    account: Cloud, virtual: VirtualTime, wire: TimedWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = with_project(account, "0807")
    stream, commits = Stream(account), Commits(account)
    clients = [connected(account, api.acting(user=f"u{number}"), PATH) for number in range(10)]
    for one in clients:
        one.subscribe()
    api.made(f"{PATH}/issues", {"name": "a"})
    stream.deliver()
    with monkeypatch.context() as patch:
        patch.setattr("gridview.live.socket_calls.AT_ONCE", 1)
        patch.setattr("gridview.live.socket_calls.BATCH_SECONDS", 0.025)
        virtual.run(lambda: commits.push())
    assert 0 < sum(bool(one.ids()) for one in clients) < 10
    api.made(f"{PATH}/issues", {"name": "b"})
    stream.deliver()
    virtual.run(lambda: commits.push())
    assert [one.ids() for one in clients] == [["1.1", "2.1"]] * 10
    assert sum(one.missed for one in clients) == 0


def test_an_owed_project_that_is_late_again_stays_owed(
    account: Cloud, virtual: VirtualTime, wire: TimedWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = with_project(account, "0807")
    stream, commits = Stream(account), Commits(account)
    client = connected(account, api, PATH)
    client.subscribe()
    api.made(f"{PATH}/issues", {"name": "a"})
    stream.deliver()
    monkeypatch.setattr("gridview.live.socket_calls.BATCH_SECONDS", 0.0)
    virtual.run(lambda: commits.push())
    assert client.ids() == []
    short = Context(milliseconds_left=4_000)  # as long as an invocation reserves
    assert virtual.run(lambda: account.modules["socket"].handler({"task": "end"}, short))["settled"] == 0
    assert end_task(account, virtual)["settled"] == 1
    assert client.ids() == ["1.1"]


def test_a_tenant_with_unreadable_items_is_owed_and_delays_no_other(
    account: Cloud, virtual: VirtualTime, wire: TimedWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    api, neighbour = with_project(account, "0807"), with_project(account, "1910")
    stream, commits = Stream(account), Commits(account)
    ours, theirs = connected(account, api, PATH), connected(account, neighbour, PATH)
    for one, by in ((ours, api), (theirs, neighbour)):
        one.subscribe()
        by.made(f"{PATH}/issues", {"name": "a"})
    stream.deliver()
    listed = socket_store.listed

    def busy(table: Any, owner: Owner) -> Any:
        if owner.tenant == "0807":
            raise Overloaded("The table is busy; try again.")
        return listed(table, owner)

    with monkeypatch.context() as patch:
        patch.setattr(socket_store, "listed", busy)
        assert virtual.run(lambda: commits.push()) == {"batchItemFailures": []}
    assert (ours.ids(), theirs.ids()) == ([], ["1.1"])
    assert end_task(account, virtual)["settled"] == 1
    assert ours.ids() == ["1.1"]


def test_projects_are_served_side_by_side_and_each_in_order(
    account: Cloud, virtual: VirtualTime, wire: TimedWire
) -> None:
    apis = [
        with_project(account, tenant, project) for tenant in ("0807", "1910") for project in ("one", "two")
    ]
    stream, commits = Stream(account), Commits(account)
    clients = []
    for place, api in enumerate(apis):
        path = f"/v1/projects/{('one', 'two')[place % 2]}"
        client = connected(account, api, path)
        client.subscribe()
        clients.append(client)
        for number in range(3):
            num = api.made(f"{path}/issues", {"name": f"{number}"})["num"]
            stream.look()
            assert api.patch(f"{path}/issues/{num}", {"name": "again"}).status == 200
            stream.deliver()
    began = virtual.now
    virtual.run(lambda: commits.push())
    assert virtual.now - began <= POST_SECONDS, "at the same time"
    for client in clients:
        ids = client.ids()
        assert sorted(ids) == ["1.1", "1.2", "2.1", "2.2", "3.1", "3.2"]
        assert all(ids.index(f"{num}.1") < ids.index(f"{num}.2") for num in (1, 2, 3))
        assert client.missed == 0


def test_a_user_with_many_sockets_leaves_another_of_the_project_a_turn(
    account: Cloud, virtual: VirtualTime, wire: TimedWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time is enough for some five messages: each user's first socket comes before any second one."""
    monkeypatch.setattr("gridview.live.socket_calls.AT_ONCE", 1)
    monkeypatch.setattr("gridview.live.socket_calls.BATCH_SECONDS", 0.045)
    api = with_project(account, "0807")
    stream, commits = Stream(account), Commits(account)
    clients = [connected(account, api.acting(user="ann"), PATH) for _ in range(10)]
    clients += [connected(account, api.acting(user="bob"), PATH)]
    clients += [connected(account, api.acting(user="ann"), PATH) for _ in range(10)]
    for one in clients:
        one.subscribe()
    api.made(f"{PATH}/issues", {"name": "a"})
    stream.deliver()
    virtual.run(lambda: commits.push())
    assert sum(bool(one.ids()) for one in clients) in range(2, 7)
    assert clients[10].ids() == ["1.1"]


def test_reading_leaves_time_to_send_what_was_read(
    account: Cloud, virtual: VirtualTime, wire: TimedWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """40 filters that take 50 ms each: more than a batch's time."""
    monkeypatch.setattr("gridview.live.socket_calls.AT_ONCE", 1)
    api = with_project(account, "0807")
    stream, commits = Stream(account), Commits(account)
    clients = [connected(account, api, PATH) for _ in range(4)]
    for number in range(seats.MAX_USER_ROWS):
        clients[number % 4].subscribe(f"s{number}", filter=named(f"{number}"))
    client_events = changes.client_events

    def slowly(*given: Any, **options: Any) -> Any:
        virtual.sleep(0.05)
        return client_events(*given, **options)

    monkeypatch.setattr(changes, "client_events", slowly)
    api.made(f"{PATH}/issues", {"name": "a"})
    stream.deliver()
    virtual.run(lambda: commits.push())
    served = sum(bool(clients[number % 4].ids(f"s{number}")) for number in range(seats.MAX_USER_ROWS))
    assert served >= BATCH_SECONDS / 2 / 0.05 - 1


def test_a_private_view_wakes_its_followers_only(
    account: Cloud, virtual: VirtualTime, wire: TimedWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = with_project(account, "0807")
    commits = Commits(account)
    view = api.made(f"{PATH}/views", {"name": "Mine", "query": {"filter": named("a")}})["id"]
    other = api.made(f"{PATH}/views", {"name": "Other", "query": {"filter": named("b")}})["id"]
    follower, another, all_changes = (connected(account, api, PATH) for _ in range(3))
    follower.subscribe(view=view)
    another.subscribe(view=other)
    all_changes.subscribe()
    commits.take()
    looked: list[str] = []
    push = pushes.Pushes.push

    def noting(self: pushes.Pushes, sent: Any, **named: Any) -> Any:
        looked.extend(socket.connection for socket, _ in sent)
        return push(self, sent, **named)

    monkeypatch.setattr(pushes.Pushes, "push", noting)
    assert api.patch(f"{PATH}/views/{view}", {"query": {"filter": named("c")}}).status == 200
    virtual.run(lambda: commits.push())
    assert looked == [follower.id]
    assert [one.ids() for one in (follower, another, all_changes)] == [["reset"], [], []]
    looked.clear()
    assert api.patch(f"{PATH}/views/{view}", {"visibility": "shared"}).status == 200
    virtual.run(lambda: commits.push())
    assert set(looked) == {follower.id}, "where it was, and where it is"


def test_one_filter_is_judged_once_for_all_its_followers(
    account: Cloud, virtual: VirtualTime, wire: TimedWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same rows in other words, and by a view that two users follow."""
    api = with_project(account, "0807")
    stream, commits = Stream(account), Commits(account)
    shared = {"name": "Shared", "visibility": "shared", "query": {"filter": named("a")}}
    view = api.made(f"{PATH}/views", shared)["id"]
    ways: list[dict[str, Any]] = [
        {"view": view},
        {"filter": named("a")},
        {"filter": dict(reversed(named("a").items()))},
    ]
    clients = []
    for user in ("ann", "bob"):
        for way in ways:
            client = connected(account, api.acting(user=user), PATH)
            client.subscribe(**way)
            clients.append(client)
    commits.take()
    judged, read = list[int](), list[int]()

    def counting(seen: list[int], work: Any) -> Any:
        def counted(*given: Any, **named: Any) -> Any:
            seen.append(1)
            return work(*given, **named)

        return counted

    monkeypatch.setattr(changes, "client_events", counting(judged, changes.client_events))
    monkeypatch.setattr(changes, "feed_page", counting(read, changes.feed_page))
    api.made(f"{PATH}/issues", {"name": "b"})
    stream.deliver()
    virtual.run(lambda: commits.push())
    assert [one.ids() for one in clients] == [["1.1"]] * len(clients)
    assert (len(judged), len(read)) == (1, 1)
    for one in clients[:2]:
        one.subscribe("more", filter=named("z"))
    judged.clear()
    read.clear()
    api.made(f"{PATH}/issues", {"name": "c"})
    stream.deliver()
    virtual.run(lambda: commits.push())
    assert len(judged) == 2, "another filter is judged by itself"
    assert len(read) == 1, "from the same reading"


# Shares


def test_shares_are_of_threads_then_of_time() -> None:
    whole = Share(64, deadline=1_000.0, seconds=0.8)
    assert whole.part(1) == whole
    assert whole.part(4) == Share(16, 1_000.0, 0.8)
    assert whole.part(64) == Share(1, 1_000.0, 0.8)
    assert whole.part(65) == Share(1, 1_000.0, 0.4)
    assert whole.part(32).part(3) == Share(1, 1_000.0, 0.4)


@pytest.mark.parametrize("tenants", [1, 2, 63, 64, 65, 100])
def test_a_tenant_with_many_projects_leaves_the_others_their_time(virtual: VirtualTime, tenants: int) -> None:
    """All work until their time is up; each is started, and all have ended by the end of the batch."""
    owners = [Owner("greedy", f"p{number}") for number in range(200)]
    owners += [Owner(f"t{number}", "one") for number in range(1, tenants)]
    began, times = virtual.now, dict[Owner, float]()

    def work(owner: Owner, share: Share) -> bool:
        times[owner] = share.deadline - virtual.now
        virtual.sleep(times[owner])
        return True

    done = virtual.run(lambda: shared_out(owners, Share(64, began + 25, 0.8), work))
    assert len(done) == len(owners)
    assert all(done.values())
    assert virtual.now - began <= 0.8 + 1e-6
    assert min(times.values()) > 0
    others = [seconds for owner, seconds in times.items() if owner.tenant != "greedy"]
    assert all(seconds == pytest.approx(0.8 if tenants <= push_shares.AT_ONCE else 0.4) for seconds in others)


def test_nothing_to_share_is_nothing() -> None:
    assert shared_out([], Share(64, 0.0), lambda *_: True) == {}
    assert push_pages.PushPage((), None, "", 1, 0, ended=True, more=False).is_all(None)
