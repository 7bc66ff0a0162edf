"""The canary: an item in GSI1 that upkeep puts each minute and looks for, so that readers know how late GSI1 is (`index_clock`).

One canary is one partition of GSI1: it shows that the index as a whole is late, and not that another partition is.
"""

import math
from contextlib import suppress

from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import Condition
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.support import clock
from gridview.support.errors import Overloaded
from gridview.view.index_clock import Sighting

_AT_LEAST = 45.0
"""Seconds between two canaries at least, as between two heartbeats."""

_PAUSES = (0.0, 0.05, 0.1, 0.2, 0.4)
"""Seconds before each look. GSI1 shows most writes within a fraction of one, and a function is paid for while it waits."""

_SAME = 0.001
"""A stored instant has microseconds."""


class Canary:
    """Puts and looks for the canary, for one container of upkeep."""

    def __init__(self, at_least: float = _AT_LEAST) -> None:
        self._at_least = at_least
        self._last = -math.inf

    def look(self, table: Table) -> float | None:
        """Put the canary, look which one GSI1 shows, note it for readers, and return its age in seconds.

        None if this container did so just now, if GSI1 shows none yet, or if the table is busy. 3 write units, and half a read unit
        for each of up to five looks within a second.
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
        """When the canary was put that GSI1 shows, after some looks for the one put at `now`."""
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
