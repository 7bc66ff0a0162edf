"""A tenant's rate of writes, counted in the table in windows of ten seconds: one update for each request that
writes.

It is off unless the deployment sets it. The writes that count: docs/decisions/0021-a-rate-of-writes.md.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import Condition
from gridview.dynamodb.side_by_side import side_by_side
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.support import clock
from gridview.support.aws import FAILURES
from gridview.support.errors import Overloaded, TooManyWrites

WINDOW = 10
"""Seconds whose writes are counted together. A burst may take the rate of all of them."""

_KEPT_DAYS = 1 / 24
_WRITES = "writes"

Result = TypeVar("Result")


class Admission:
    """Whether a request may write. It is counted once at most, before its first write."""

    def __init__(self, count: Callable[[Table], TooManyWrites | None] | None = None) -> None:
        """`count` counts the request, and gives the refusal if there is one. None: it is admitted and not counted."""
        self._count = count
        self._refusal: TooManyWrites | None = None

    def require(self, table: Table) -> None:
        """Raise TooManyWrites if the request is over the rate: 1 write unit, unless it has been counted."""
        if self._count is not None:
            count, self._count = self._count, None
            self._refusal = count(table)
        if self._refusal is not None:
            raise self._refusal

    def beside(self, table: Table, work: Callable[[], Result]) -> Result:
        """Return the result of `work`, which must not write; the request is counted in the first of its
        rounds.
        """
        if self._count is None:
            self.require(table)
            return work()
        result, _ = side_by_side(table, work, self.require)
        return result


ADMITTED = Admission()
"""The admission of uncounted writes."""


class WriteRate:
    """The rate that each tenant may write at. Containers share the count, which is in the table."""

    def __init__(self, per_second: int, uncounted: Callable[[], None], share: float = 1.0) -> None:
        """`per_second`: 0 is no limit. `uncounted` is called for a request that was admitted because it could
        not be counted.

        `share`: once so much of a window's writes has been taken, by any writers, these writers get no more
        of it.
        """
        self._limit = math.ceil(per_second * WINDOW * share)
        self._uncounted = uncounted
        self._window = 0
        self._refused: dict[str, int] = {}
        """By tenant, the fewest writes that this window has had no room for. It gets no more, so nobody need
        ask again.
        """

    @property
    def most(self) -> int | None:
        """The writes that a window has room for; None: no limit."""
        return self._limit or None

    def admission(self, tenant: str, writes: int = 1) -> Admission:
        """Return the admission of a request that makes so many writes."""
        return Admission(partial(self._count, tenant, writes)) if self._limit else ADMITTED

    def _count(self, tenant: str, writes: int, table: Table) -> TooManyWrites | None:
        now = clock.seconds()
        window = int(now // WINDOW)
        if window != self._window:
            self._window, self._refused = window, {}
        if writes < self._refused.get(tenant, math.inf) and self._fits(table, tenant, writes):
            return None
        wait = math.ceil((window + 1) * WINDOW - now)
        return TooManyWrites(
            f"The tenant can make {self._limit:,} writes in {WINDOW} s. Try again in {wait} s.",
            headers={"Retry-After": str(wait)},
        )

    def _fits(self, table: Table, tenant: str, writes: int) -> bool:
        # A batch that is larger than the limit is admitted as the first of its window, or it would be refused for ever.
        fits = Condition(
            "attribute_not_exists(PK) OR #writes <= :room",
            {"#writes": _WRITES},
            {":room": self._limit - writes},
        )
        try:
            table.add(
                keys.rate(tenant),
                str(self._window),
                _WRITES,
                writes,
                fits,
                expires=clock.expiry(_KEPT_DAYS),
            )
        except ConditionFailed:
            self._refused[tenant] = writes
            return False
        except (Overloaded, *FAILURES):
            # A failure of one tenant's limit must not stop all tenants.
            self._uncounted()
        return True
