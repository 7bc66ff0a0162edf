"""Writes a heartbeat and a canary each minute, from upkeep, so that readers know how late the index is.

- heartbeat: passes the stream. The consumer notes when it took the last one in (`freshness`). So an idle project does not
  look late. One whose changes are not taken in does, even if none of them reached the consumer.
- canary: is in GSI1. Upkeep notes which one GSI1 shows (`index_clock`). It is in one partition of GSI1. It shows that the
  index as a whole is late, but not that another partition is.
"""

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import Condition
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.support import clock
from gridview.support.errors import Overloaded
from gridview.view.index_clock import Sighting

SECONDS = 60.0
"""Seconds between two beats, by the schedule of upkeep."""

_AT_LEAST = 45.0
"""The least seconds between two beats: a schedule is not always on time, and a local one is faster."""

_PAUSES = (0.0, 0.05, 0.1, 0.2, 0.4)
"""Seconds before each look. GSI1 shows most writes within a fraction of a second, and waiting costs function time."""

_SAME = 0.001
"""Seconds of tolerance: a stored instant has microseconds."""


class Heart:
    """Beats, for one container of upkeep."""

    def __init__(self, at_least: float = _AT_LEAST) -> None:
        self._at_least = at_least
        self._last = -math.inf

    def beat(self, table: Table) -> None:
        """Put the heartbeat, unless this container did so just now: 1 write unit. If the table is busy, do nothing."""
        now = clock.seconds()
        if now - self._last < self._at_least:
            return
        try:
            table.put({keys.PK: keys.BEAT, keys.SK: keys.BEAT, "at": round(now * 1_000)})
        except Overloaded:
            return
        self._last = now


def beaten(records: Iterable[Mapping[str, Any]]) -> float | None:
    """Return when the newest heartbeat among stream records was put, in seconds since 1970; None without one. Pure."""
    images = (
        one["dynamodb"].get("NewImage", {})
        for one in records
        if one["dynamodb"]["Keys"][keys.PK]["S"] == keys.BEAT
    )
    return max((int(image["at"]["N"]) / 1_000 for image in images if "at" in image), default=None)


class Canary:
    """Puts and looks for the canary, for one container of upkeep."""

    def __init__(self, at_least: float = _AT_LEAST) -> None:
        self._at_least = at_least
        self._last = -math.inf

    def look(self, table: Table) -> float | None:
        """Put the canary, look up which one GSI1 shows, note it for readers, and return its age in seconds.

        None if this container did so just now, if GSI1 shows none yet, or if the table is busy. Costs 3 write units, and
        half a read unit for each of up to five looks within a second.
        """
        now = clock.seconds()
        if now - self._last < self._at_least:
            return None
        try:
            table.put(
                {
                    keys.PK: keys.CANARY,
                    keys.SK: keys.CANARY,
                    keys.SORT: keys.CANARY,
                    "updated": clock.stored(now),
                }
            )
            self._last = now
            shown = self._shown(table, now)
            if shown is None:
                return None
            seen = clock.seconds()
            _note(table, Sighting(shown, seen))
        except Overloaded:
            return None
        return max(seen - shown, 0.0)

    def _shown(self, table: Table, now: float) -> float | None:
        """The time at which the canary in GSI1 was put, after some looks for the one put at `now`; None without one."""
        shown: float | None = None
        for pause in _PAUSES:
            if pause:
                clock.sleep(pause)
            page = table.query(keys.CANARY, index=True, limit=1)
            shown = next((clock.instant(item["updated"]) for item in page.items), None)
            if shown is not None and shown >= now - _SAME:
                break
        return shown


def _note(table: Table, sighting: Sighting) -> None:
    """Write a sighting into the note of the heartbeat, which readers read anyway, unless a later one is there."""
    put, seen = round(sighting.put * 1_000), round(sighting.seen * 1_000)
    later = Condition("attribute_not_exists(seen) OR seen <= :seen", values={":seen": seen})
    with suppress(ConditionFailed):
        table.update(keys.LAG_OF_BEAT, keys.LAG, later, assign={"canary": put, "seen": seen})
