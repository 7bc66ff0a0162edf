"""Long polls at their limits, through the handler: eight of a user wait, the ninth ends the oldest, and a crowd is
refused cheaply.

Time is virtual: of the threads of requests only one runs at a time, and time passes only while all of them wait.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from gridview.commands.actor import Actor, Role
from gridview.encoding import keys, live_keys
from gridview.encoding.attribute_values import item_size
from gridview.live import open_polls
from gridview.live.open_polls import OpenPolls
from gridview.live.poll_limits import KNOWN_SECONDS, MOST_IN_FLIGHT, MOST_OF_USER
from gridview.support import clock
from gridview.support.errors import Overloaded
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client
from tests.support.side_by_side import Scene, Started
from tests.support.stream import Stream

PARTITION = live_keys.polls("0807")


@pytest.fixture
def live(account: Cloud, project: str) -> str:
    """The path of a project to follow."""
    return project


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch, account: Cloud) -> Scene:
    monkeypatch.setattr(account.modules["live"], "open_polls", OpenPolls(90))
    return Scene(monkeypatch)


@pytest.fixture
def poll(scene: Scene, api: Client, live: str) -> Callable[..., Started[Answer]]:
    """Starts a poll of a user, with the current cursor."""
    cursor = api.get(f"{live}/changes").body["next"]

    def begin(user: str = "ann", wait: int = 20) -> Started[Answer]:
        client = api.acting(user=user, role="viewer")
        query = {"since": cursor, "wait": str(wait)}
        return scene.start(lambda: client.get(f"{live}/changes", query=query))

    return begin


def writes(account: Cloud) -> int:
    """The writes of requests for changes, including refused ones."""
    calls = account.modules["live"].table.meter.calls
    return sum(call.operation in ("put_item", "update_item", "delete_item") for call in calls)


def listed(account: Cloud, user: str = "ann") -> dict[str, Any] | None:
    return account.table.get(PARTITION, user, consistent=True)


def test_eight_polls_of_a_user_wait_as_long_as_they_ask(
    scene: Scene, poll: Callable[..., Started[Answer]], account: Cloud
) -> None:
    begun = [poll() for _ in range(MOST_OF_USER)]
    scene.pass_time(19.0)
    assert not any(one.is_over for one in begun)
    item = listed(account)
    assert item is not None
    assert item["polls"] == MOST_OF_USER
    scene.pass_time(2.0)
    assert [one.result.body["items"] for one in begun] == [[]] * MOST_OF_USER
    assert not any("retry-after" in one.result.headers for one in begun)
    assert listed(account) is None, "the last one removes the item"


def test_the_ninth_ends_the_oldest_which_answers_empty(
    scene: Scene, poll: Callable[..., Started[Answer]]
) -> None:
    begun = []
    for _ in range(MOST_OF_USER + 1):
        begun.append(poll())
        scene.pass_time(0.2)
    scene.pass_time(1.3)
    assert [one.is_over for one in begun] == [True] + [False] * MOST_OF_USER
    oldest = begun[0].result
    assert (oldest.status, oldest.body["items"]) == (200, [])
    assert 16 <= int(oldest.headers["retry-after"]) <= 19, "it pauses for the rest"


def test_of_repeated_polls_the_newest_waits(
    scene: Scene, poll: Callable[..., Started[Answer]], api: Client, live: str, account: Cloud
) -> None:
    """A browser abandons each earlier request, which continues to wait in its function."""
    for _ in range(30):
        newest = poll()
        scene.pass_time(0.5)
    assert not newest.is_over
    api.made(f"{live}/issues", {"name": "new"})
    Stream(account).deliver()
    scene.pass_time(1.0)
    assert [item["num"] for item in newest.result.body["items"]] == [1]


def test_ten_tabs_all_receive_a_change(
    scene: Scene, poll: Callable[..., Started[Answer]], api: Client, live: str, account: Cloud
) -> None:
    tabs = [poll() for _ in range(10)]
    scene.pass_time(3.0)
    assert sum(not one.is_over for one in tabs) == MOST_OF_USER
    api.made(f"{live}/issues", {"name": "new"})
    Stream(account).deliver()
    scene.pass_time(1.0)
    again = [poll() for one in tabs if not one.result.body["items"]]
    scene.pass_time(0.1)
    assert len(again) == 2
    assert all(one.result.body["items"] for one in again)


@pytest.mark.parametrize("most_of_tenant", [1, 2, 90])
def test_ten_tabs_that_poll_as_the_page_does_all_receive_a_change_also_in_a_new_account(
    scene: Scene,
    api: Client,
    live: str,
    account: Cloud,
    monkeypatch: pytest.MonkeyPatch,
    most_of_tenant: int,
) -> None:
    """Without sockets. Each pauses as the answers request."""
    monkeypatch.setattr(account.modules["live"], "open_polls", OpenPolls(most_of_tenant))
    cursor = api.get(f"{live}/changes").body["next"]
    viewer = api.acting(user="ann", role="viewer")
    received, refused, asked = list[float](), list[int](), list[int]()
    made = clock.seconds() + 40

    def follow(tab: int) -> None:
        clock.sleep(tab / 10)
        while True:
            asked.append(tab)
            answer = viewer.get(f"{live}/changes", query={"since": cursor, "wait": "20"})
            if answer.status == 429:
                assert answer.kind == (429, "too-many-polls")
                refused.append(tab)
            elif answer.body["items"]:
                received.append(clock.seconds() - made)
                return
            clock.sleep(max(float(answer.headers.get("retry-after", 0)), 0.01))

    for tab in range(10):
        scene.start(partial(follow, tab))
    scene.pass_time(40)
    api.made(f"{live}/issues", {"name": "new"})
    Stream(account).deliver()
    scene.pass_time(22)
    assert len(received) == 10
    assert max(received) <= 20.5, "no later than where the page looks each 20 seconds"
    assert len(refused) <= {1: 40, 2: 15}.get(most_of_tenant, 0), "each pauses the feed by a second"
    assert len(asked) <= (70 if most_of_tenant == 1 else 60)


def test_repeated_polls_in_a_new_account_pause_at_most_a_second(
    scene: Scene,
    poll: Callable[..., Started[Answer]],
    account: Cloud,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(account.modules["live"], "open_polls", OpenPolls(2))
    begun = []
    for _ in range(10):
        begun.append(poll())
        scene.pass_time(0.2)
    refused = [one.result for one in begun if one.is_over and one.result.status == 429]
    assert refused
    assert {one.headers["retry-after"] for one in refused} == {"1"}
    scene.pass_time(1.0)
    last = poll()
    scene.pass_time(10.0)
    assert not last.is_over, "it waits, and ends none of its own"


def test_five_hundred_at_once_leave_eight(
    scene: Scene, poll: Callable[..., Started[Answer]], account: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each meets a container that has not refused this user yet.
    monkeypatch.setattr(open_polls, "_REFUSED", 0.0)
    begun = [poll() for _ in range(500)]
    scene.pass_time(0.1)
    refused = [one.result for one in begun if one.is_over]
    assert len(refused) == 500 - MOST_IN_FLIGHT
    assert {one.kind for one in refused} == {(429, "too-many-polls")}
    assert {one.headers["retry-after"] for one in refused} == {"1"}
    item = listed(account)
    assert item is not None
    assert item_size(item) <= 1_024
    scene.pass_time(1.2)
    assert sum(not one.is_over for one in begun) == MOST_OF_USER
    scene.pass_time(20.0)
    assert listed(account) is None


def test_a_refusal_costs_one_write_at_most_and_then_no_call(
    scene: Scene, poll: Callable[..., Started[Answer]], account: Cloud
) -> None:
    for _ in range(MOST_IN_FLIGHT):
        poll()
    scene.pass_time(0.1)
    before = writes(account)
    first = poll()
    scene.pass_time(0.1)
    assert writes(account) - before == 1
    meter = account.modules["live"].table.meter
    calls = len(meter.calls)
    more = [poll() for _ in range(20)]
    scene.pass_time(0.1)
    assert {one.result.kind for one in (first, *more)} == {(429, "too-many-polls")}
    assert len(meter.calls) == calls, "nothing is read either"


def test_a_poll_without_a_wait_is_never_counted(
    scene: Scene, poll: Callable[..., Started[Answer]], account: Cloud
) -> None:
    begun = [poll() for _ in range(MOST_OF_USER)]
    scene.pass_time(0.2)
    before = writes(account)
    looks = [poll(wait=0) for _ in range(50)]
    scene.pass_time(0.1)
    assert {one.result.status for one in looks} == {200}
    assert writes(account) == before
    scene.pass_time(5.0)
    assert not any(one.is_over for one in begun)


def test_a_poll_with_changes_is_never_counted(
    scene: Scene, poll: Callable[..., Started[Answer]], api: Client, live: str, account: Cloud
) -> None:
    api.made(f"{live}/issues", {"name": "new"})
    Stream(account).deliver()
    before = writes(account)
    begun = poll()
    scene.pass_time(0.1)
    assert begun.result.body["items"]
    assert writes(account) == before


def test_waits_get_shorter_as_more_of_the_tenant_wait(
    scene: Scene,
    poll: Callable[..., Started[Answer]],
    account: Cloud,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(account.modules["live"], "open_polls", OpenPolls(10))
    begun = [poll(user=f"user{at}") for at in range(9)]
    scene.pass_time(7.9)
    assert not any(one.is_over for one in begun)
    scene.pass_time(0.2)
    assert [one.is_over for one in begun] == [False] * 8 + [True], "the last one saw eight of ten"
    last = begun[8].result
    assert (last.status, last.headers["retry-after"]) == (200, "12")
    scene.pass_time(12.5)
    assert [int(one.result.headers.get("retry-after", 0)) for one in begun[5:8]] == [0, 4, 8]


def test_more_than_the_tenant_may_have_end_the_oldest_and_other_tenants_wait_in_full(
    scene: Scene,
    poll: Callable[..., Started[Answer]],
    account: Cloud,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(account.modules["live"], "open_polls", OpenPolls(10))
    begun = [poll(user=f"user{at}") for at in range(5)]
    scene.pass_time(1.0)
    crowd = [poll(user=f"more{at}") for at in range(12)]
    scene.pass_time(1.1)
    assert all(one.is_over for one in begun)
    assert sum(not one.is_over for one in crowd) <= 10
    stranger = account.api(tenant="0808")
    stranger.made("/v1/projects", {"name": "Plain", "id": "plain"})
    cursor = stranger.get("/v1/projects/plain/changes").body["next"]
    query = {"since": cursor, "wait": "20"}
    theirs = scene.start(lambda: stranger.get("/v1/projects/plain/changes", query=query))
    scene.pass_time(19.0)
    assert not theirs.is_over
    scene.pass_time(2.0)
    assert theirs.result.status == 200


def test_polls_of_stopped_functions_stop_counting(
    scene: Scene, poll: Callable[..., Started[Answer]], account: Cloud
) -> None:
    dead = {f"poll-{at:08x}": int(clock.seconds() * 1000) for at in range(MOST_IN_FLIGHT)}
    account.table.put({keys.PK: PARTITION, keys.SK: "ann", "polls": MOST_IN_FLIGHT, **dead})
    refused = poll()
    scene.pass_time(0.1)
    assert refused.result.kind == (429, "too-many-polls")
    scene.pass_time(KNOWN_SECONDS + 1)
    waits = poll()
    scene.pass_time(3.0)
    assert not waits.is_over
    item = listed(account)
    assert item is not None
    assert item["polls"] == 1


def test_a_poll_that_cannot_be_listed_does_not_wait_and_asks_for_a_pause(
    scene: Scene,
    poll: Callable[..., Started[Answer]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def busy(*_: Any, **__: Any) -> Any:
        raise Overloaded("The table is busy.")

    monkeypatch.setattr(open_polls.OpenPoll, "_add", busy)
    begun = poll()
    scene.pass_time(0.1)
    assert (begun.result.status, begun.result.headers["retry-after"]) == (200, "20")


def test_a_registration_that_the_sdk_repeats_counts_once(
    scene: Scene, account: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    poll = OpenPolls(90)
    table = account.table
    repeated: list[Any] = []

    def twice(*given: Any, **named: Any) -> Any:
        if not repeated:
            repeated.append(update(*given, **named))
        return update(*given, **named)

    update = table.update
    monkeypatch.setattr(table, "update", twice)
    with poll.polling(table, Actor("0807", "ann", Role.VIEWER), 20) as one:
        assert one.until(clock.seconds()) == clock.seconds() + 20
        item = listed(account)
        assert item is not None
        assert item["polls"] == 1
    assert listed(account) is None
