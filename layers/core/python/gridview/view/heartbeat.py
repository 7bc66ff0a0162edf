"""The heartbeat: an item that upkeep puts each minute, so that something comes through the stream when nobody changes anything.

The consumer notes when it took the last one in (`freshness`). So an idle project does not look late, and one whose changes are not
taken in does, whether or not any of them came through.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.support import clock
from gridview.support.errors import Overloaded

SECONDS = 60.0
"""Between two beats, by the schedule of upkeep."""

_AT_LEAST = 45.0
"""Seconds between two beats at least: a schedule is not always on time, and a local one is faster."""


class Heart:
    """Beats, for one container of upkeep."""

    def __init__(self, at_least: float = _AT_LEAST) -> None:
        self._at_least = at_least
        self._last = -math.inf

    def beat(self, table: Table) -> None:
        """Put the heartbeat, unless this container did so just now: 1 write unit. A table that is busy is left alone."""
        now = clock.seconds()
        if now - self._last < self._at_least:
            return
        try:
            table.put({keys.PK: keys.BEAT, keys.SK: keys.BEAT, "at": round(now * 1_000)})
        except Overloaded:
            return
        self._last = now


def beaten(records: Iterable[Mapping[str, Any]]) -> float | None:
    """When the newest heartbeat among stream records was put, in seconds since 1970; None if there is none. Pure."""
    images = (
        one["dynamodb"].get("NewImage", {})
        for one in records
        if one["dynamodb"]["Keys"][keys.PK]["S"] == keys.BEAT
    )
    return max((int(image["at"]["N"]) / 1_000 for image in images if "at" in image), default=None)
