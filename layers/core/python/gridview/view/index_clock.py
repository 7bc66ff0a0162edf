"""The clock of GSI1: readers believe that GSI1 shows what was written SHOWN_SECONDS ago by this clock. Pure.

It is the wall clock, held back to the newest canary that GSI1 was seen to show. So if GSI1 stops, no later write is
believed to be shown, from the first second on. No reader waits for a measurement.

    canary put   seen    folded   GSI1 stops     folded          now
    ----|---------|--------|----------|-------------|--------------|--
                           believed to be shown only once a later canary is seen
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from gridview.derive.ledger import HELD_SECONDS, SHOWN_SECONDS

_CLOCKS = 5.0
"""Seconds by which the clocks of the container that put the canary and of one that folds may differ."""


class Sighting(NamedTuple):
    """The newest canary that GSI1 was seen to show: when it was put, and when it was seen, in seconds since 1970."""

    put: float
    seen: float


def sighting_in(note: Mapping[str, Any] | None) -> Sighting | None:
    """The sighting in the stored note of the heartbeat; None if no canary was seen yet."""
    if note is None or "canary" not in note:
        return None
    return Sighting(note["canary"] / 1_000, note["seen"] / 1_000)


def index_time(now: float, sighting: Sighting | None) -> float:
    """The instant that counts as now for GSI1: GSI1 shows what was written SHOWN_SECONDS before it.

    Held back, by at most HELD_SECONDS, while no recent enough canary was seen. Without a sighting it is `now`: upkeep,
    which also folds, has not run yet.
    """
    if sighting is None:
        return now
    held = min(now, sighting.put - _CLOCKS + SHOWN_SECONDS)
    return max(held, now - HELD_SECONDS + SHOWN_SECONDS)


def shown_since(since: float, sighting: Sighting | None) -> float:
    """The instant from which reads of GSI1 show a watermark. `since`: that instant if GSI1 is on time."""
    return since if sighting is None else max(since, sighting.seen)
