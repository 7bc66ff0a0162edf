"""The share of a container's time for each user and each tenant, kept in the container's memory: no call, no
write.

Lambda takes ten requests a second for each execution of an account. So requests of up to `FREE_SECONDS` never
use up the executions, however many come; only longer ones do. A share counts the time of a request beyond
that.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from gridview.commands.actor import Actor
from gridview.support import clock
from gridview.support.errors import TooManyLongQueries

FREE_SECONDS: Final = 0.1
"""Seconds of each request that no share counts: an execution may take ten requests a second, however short they are."""

WINDOW: Final = 10.0
"""Seconds of share that may be used at once."""

_MOST_KNOWN: Final = 1_000
"""Users and tenants above which payers who owe nothing any more are forgotten."""

Payer = tuple[str, ...]
"""A tenant, or a tenant and a user."""


class WorkShares:
    """The work of one container. A user may take `percent` of its time, a tenant twice that; 100: no limit.

    Each payer has a debt of seconds, which its share pays back all the time. While the debt is more than a
    window's share, requests are refused. A debt grows to two windows' at most. So a refusal lasts ten seconds
    at most, and a single user cannot use up the tenant's share.
    """

    def __init__(self, percent: int) -> None:
        self._share = percent / 100
        self._clear: dict[Payer, float] = {}
        """By payer: the instant at which nothing is owed any more."""
        self._lock = Lock()

    @contextmanager
    def working(self, actor: Actor) -> Iterator[None]:
        """Count some work for a user and the tenant.

        TooManyLongQueries: a share is used up. Then no work is done, and nothing is read.
        """
        if self._share >= 1:
            yield
            return
        user, tenant = (actor.tenant, actor.user), (actor.tenant,)
        began = clock.seconds()
        wait = max(self._clear.get(payer, 0.0) for payer in (user, tenant)) - began - WINDOW
        if wait > 0:
            raise _too_much(wait)
        try:
            yield
        finally:
            ended = clock.seconds()
            with self._lock:
                counted = self._owe(user, ended - began - FREE_SECONDS, self._share, ended)
                self._owe(tenant, counted, min(2 * self._share, 1.0), ended)
                if len(self._clear) > _MOST_KNOWN:
                    self._clear = {payer: end for payer, end in self._clear.items() if end > ended}

    def _owe(self, payer: Payer, seconds: float, share: float, now: float) -> float:
        """Add seconds to a debt that a share pays back. Returns how many of them count."""
        if seconds <= 0:
            return 0.0
        before = max(self._clear.get(payer, now), now)
        after = min(before + seconds / share, now + 2 * WINDOW)
        self._clear[payer] = after
        return (after - before) * share


def _too_much(seconds: float) -> TooManyLongQueries:
    wait = max(math.ceil(seconds), 1)
    return TooManyLongQueries(
        f"Your long queries take more than your share of the service. Wait {wait} s, or use a more selective filter.",
        headers={"Retry-After": str(wait)},
    )
