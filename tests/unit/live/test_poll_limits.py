"""The number and duration of waiting polls: each poll's own judgment, and many clients together in virtual time."""

import heapq
from dataclasses import dataclass, field

import pytest

from gridview.live.change_requests import MAX_WAIT
from gridview.live.poll_limits import (
    KNOWN_SECONDS,
    MOST_OF_USER,
    SHORTEST,
    Poll,
    granted_wait,
    in_flight,
    may_stay,
    pause_after,
)
from infra.ingress import THROTTLE
from infra.settings import Settings

LIMIT = 90


def polls(user: str, count: int, first: int = 0) -> list[Poll]:
    return [Poll(first + at, f"{at:02}", user) for at in range(count)]


def test_the_newest_of_a_user_stay() -> None:
    own = polls("ann", MOST_OF_USER + 2)
    others = polls("ben", 5, first=1_000)
    staying = [one for one in own if may_stay(one, [*own, *others], LIMIT)]
    assert staying == own[2:]


def test_the_newest_of_a_tenant_stay() -> None:
    listed = [one for at in range(LIMIT + 3) for one in polls(f"user{at}", 1, first=at)]
    assert [one for one in listed if may_stay(one, listed, LIMIT)] == listed[3:]


def test_polls_of_the_same_instant_agree() -> None:
    listed = [Poll(5, f"{at:02}", "ann") for at in range(MOST_OF_USER + 1)]
    assert sum(may_stay(one, listed, LIMIT) for one in listed) == MOST_OF_USER


def test_a_poll_stays_though_the_list_lacks_it() -> None:
    assert may_stay(Poll(5, "own", "ann"), polls("ann", MOST_OF_USER - 1, first=9), LIMIT)


def test_a_poll_is_dead_only_when_no_clock_of_a_second_apart_can_see_it_open() -> None:
    poll = Poll(1_000_000, "a", "ann")
    assert not poll.is_dead(1_000 + MAX_WAIT + 2)
    assert poll.is_dead(1_000 + KNOWN_SECONDS + 1)
    assert not poll.is_dead(999), "a faster clock has started it"


@pytest.mark.parametrize(
    ("asked", "others", "limit", "granted"),
    [
        (20, 0, LIMIT, 20),
        (20, 45, LIMIT, 20),
        (20, 60, LIMIT, 20 * 2 / 3),
        (20, 90, LIMIT, SHORTEST),
        (20, 900, LIMIT, SHORTEST),
        (1, 900, LIMIT, 1),
        (20, 1, 2, 20),
        (20, 2, 2, SHORTEST),
    ],
)
def test_the_wait_falls_with_the_room_that_is_left(
    asked: int, others: int, limit: int, granted: float
) -> None:
    assert granted_wait(asked, others, limit) == pytest.approx(granted)


@pytest.mark.parametrize(("waited", "pause"), [(20.3, 0), (19.4, 0), (13.3, 7), (2.0, 18)])
def test_a_client_pauses_for_the_rest(waited: float, pause: int) -> None:
    assert pause_after(20, waited) == pause


@dataclass
class Crowd:
    """Clients of a tenant that poll a quiet project all the time, and pause on request."""

    clients: int
    users: int
    now: float = 0.0
    waiting: dict[Poll, float] = field(default_factory=dict)
    """When each began."""
    most: int = 0
    requests: int = 0
    longest_pause: float = 0.0

    def run(self, seconds: float, settled: float) -> None:
        """Run for so many seconds; the figures are of the time after `settled` seconds."""
        due: list[tuple[float, int, str, Poll | None]] = [
            (20.0 * at / self.clients, at, "poll", None) for at in range(self.clients)
        ]
        while due[0][0] < seconds:
            self.now, client, what, poll = heapq.heappop(due)
            if what == "poll":
                granted = granted_wait(MAX_WAIT, len(self.waiting), LIMIT)
                user = f"user{client % self.users}"
                poll = Poll(int(self.now * 1_000), f"{client:04}", user)
                self.waiting[poll] = self.now
                heapq.heappush(due, (self.now + min(1.0, granted), client, "look", poll))
                heapq.heappush(due, (self.now + granted, client, "end", poll))
                if self.now >= settled:
                    self.requests += 1
                    self.most = max(self.most, len(self.waiting))
            elif poll in self.waiting:
                if what == "look" and may_stay(poll, self.waiting, LIMIT):
                    heapq.heappush(due, (self.now + 1.0, client, "look", poll))
                    continue
                pause = pause_after(MAX_WAIT, self.now - self.waiting.pop(poll))
                if self.now >= settled:
                    self.longest_pause = max(self.longest_pause, pause)
                heapq.heappush(due, (self.now + max(pause, 0.01), client, "poll", None))


@pytest.mark.parametrize("clients", [20, 60, 90, 180, 450, 900, 2_000])
def test_polite_clients_send_as_many_requests_however_short_their_waits_are(clients: int) -> None:
    crowd = Crowd(clients, users=clients)
    crowd.run(160, settled=60)
    assert crowd.requests / 100 <= clients / MAX_WAIT * 1.1
    # The ones beyond the limit live for up to a second, until their next look.
    assert crowd.most <= LIMIT * 1.1 + clients / MAX_WAIT
    assert crowd.longest_pause <= MAX_WAIT
    if clients <= LIMIT / 2:
        assert crowd.longest_pause == 0


def test_ten_tabs_of_one_user_share_eight_polls_and_none_is_left_out_for_long() -> None:
    crowd = Crowd(10, users=1)
    crowd.run(300, settled=100)
    assert crowd.most <= MOST_OF_USER + 1
    assert crowd.requests / 200 <= 10 / MAX_WAIT * 1.2
    assert crowd.longest_pause <= 8


def test_the_throttle_of_the_route_admits_far_more_than_the_limits_let_wait() -> None:
    live = Settings(account_concurrency=1_000).reserved("live")
    assert live is not None
    assert 3 * live / SHORTEST <= THROTTLE.requests_per_second


@pytest.mark.parametrize(("most_of_tenant", "most"), [(1, 2), (2, 4), (8, 16), (16, 32), (90, 32)])
def test_polls_in_flight_leave_room_in_a_small_account(most_of_tenant: int, most: int) -> None:
    assert in_flight(most_of_tenant) == most
