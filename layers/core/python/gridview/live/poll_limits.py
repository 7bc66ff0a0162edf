"""Limits on open long polls of a user and a tenant, and on the wait of each. Pure.

Nothing here depends on the order of writes. Every poll judges itself by the same list of open polls, sorted
by age, and ends when it is not among the newest. So two polls that begin at the same instant agree. Clocks
that differ by a second only swap neighbors.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from gridview.live.change_requests import MAX_WAIT

MOST_OF_USER = 8
"""Open polls of a user. One more ends the oldest: a browser that gives up a request leaves its poll open. A
refusal of the newest would refuse the user's own next sort.
"""

MOST_IN_FLIGHT = 32
"""Polls of a user that are listed at once, including polls about to end. It bounds the stored item to 1 KB."""

SHORTEST = 2.0
"""Seconds that a poll waits however many others do."""

KNOWN_SECONDS = MAX_WAIT + 10
"""Seconds after which a listed poll counts no more: its function was stopped before it could take the poll off the
list.
"""


class Poll(NamedTuple):
    """An open poll. Polls sort by age, the oldest first. `started` is in milliseconds since 1970."""

    started: int
    id: str
    user: str

    def is_dead(self, now: float) -> bool:
        """Return whether it can't be open any more at an instant, in seconds since 1970."""
        return self.started < (now - KNOWN_SECONDS) * 1000


def may_stay(own: Poll, listed: Iterable[Poll], most_of_tenant: int) -> bool:
    """Return whether a poll is among the newest of its user, and of its tenant. `listed`: the tenant's open
    polls.
    """
    newer = [one for one in listed if one > own]
    return len(newer) < most_of_tenant and sum(one.user == own.user for one in newer) < MOST_OF_USER


def in_flight(most_of_tenant: int) -> int:
    """Return how many polls of a user may be listed at once. If few may wait, polls about to end must not
    fill the account.
    """
    return min(MOST_IN_FLIGHT, 2 * most_of_tenant)


def granted_wait(asked: int, others: int, most_of_tenant: int) -> float:
    """Return the seconds that a poll may wait, out of `asked`, while so many others of its tenant wait.

    All of them up to half of the tenant's limit, then fewer in proportion to the room that is left. A client
    that pauses for the rest (`pause_after`) sends as many requests as one that waits to the end.
    """
    share = min(1.0, 2 * (1 - others / most_of_tenant))
    return min(float(asked), max(SHORTEST, asked * share))


def pause_after(asked: int, waited: float) -> int:
    """Seconds that a client is asked to pause after an empty answer that came earlier than asked for; 0: none."""
    rest = asked - waited
    return math.ceil(rest) if rest >= 1 else 0
