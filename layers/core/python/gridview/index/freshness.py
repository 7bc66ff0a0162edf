"""The lag of a project's index behind its issues: noted by the stream consumer, shown by `explain`.

The note is one item in a partition of its own, outside GSI1. It says when the consumer finished a batch with changes of the
project, and how old the newest of them was then. Each container writes it unconditionally, at most once a second. It expires after
a week without changes. Nothing depends on it except the text shown to people.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.catalog import Catalog
from gridview.support import clock
from gridview.support.errors import Overloaded

_REMEMBERED_DAYS = 7
_SECONDS_BETWEEN = 1.0
_KEPT = 1_000
"""Projects for which a container remembers when it wrote its last note."""


class Notes:
    """The notes that one container of the stream consumer writes."""

    def __init__(self, seconds_between: float = _SECONDS_BETWEEN) -> None:
        self._seconds_between = seconds_between
        self._written: dict[tuple[str, str], float] = {}

    def note(self, table: Table, records: Iterable[Mapping[str, Any]]) -> None:
        """Note that all of these stream records have been processed: 1 write unit for each project in turn, if it succeeds."""
        now = time.time()
        for project, made in _newest(records).items():
            if not 0 <= now - self._written.get(project, 0.0) < self._seconds_between:
                if len(self._written) >= _KEPT:
                    self._written.clear()
                self._written[project] = now
                self._write(table, project, now, made)

    def _write(self, table: Table, project: tuple[str, str], now: float, made: float) -> None:
        item = {
            keys.PK: keys.lag(*project),
            keys.SK: keys.LAG,
            "taken_in": round(now * 1_000),
            "behind": max(round((now - made) * 1_000), 0),
            keys.TTL_ATTRIBUTE: clock.expiry(_REMEMBERED_DAYS),
        }
        try:
            table.put(item)
        except Overloaded:
            return  # the next batch will note it


def _newest(records: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], float]:
    """Tenant and project -> when the newest change of their issues among the records was made, in seconds since 1970."""
    newest: dict[tuple[str, str], float] = {}
    for record in records:
        stream = record["dynamodb"]
        try:
            tenant, project, _ = keys.parse_issue(stream["Keys"][keys.PK]["S"])
        except ValueError:
            continue
        made = stream.get("ApproximateCreationDateTime")
        if made is not None:
            newest[tenant, project] = max(newest.get((tenant, project), 0.0), float(made))
    return newest


class Lag(NamedTuple):
    """When the index last processed changes of a project (seconds since 1970), how many seconds after they were made, and the last
    issue number assigned. The times are None if the index processed no change for a week.
    """

    taken_in: float | None
    behind: float | None
    last: int

    def sentence(self, issues: int | None = None) -> str:
        """The lag in words. `issues`: the number of issues in the index, if known."""
        if self.taken_in is None or self.behind is None:
            said = "The index has processed no change of this project for a week"
        else:
            ago = max(time.time() - self.taken_in, 0.0)
            said = (
                f"The index last processed changes of this project {_seconds(ago)} ago, "
                f"the newest of them {_seconds(self.behind)} after it was made"
            )
        if issues is None:
            return f"{said}."
        if issues >= self.last:
            return f"{said}; it has all {self.last:,} assigned issue numbers."
        missing = self.last - issues
        return f"{said}; {missing:,} of {self.last:,} assigned issue numbers are not in it: deleted, or still to come."


def _seconds(seconds: float) -> str:
    return f"{seconds:,.1f} s" if seconds < 10 else f"{seconds:,.0f} s"


def read(table: Table, catalog: Catalog) -> Lag:
    """The present lag: one BatchGetItem, 1 read unit."""
    own = catalog.tenant, catalog.project
    note_key, counter_key = (keys.lag(*own), keys.LAG), (keys.project(*own), keys.COUNTER)
    items = table.batch_get([note_key, counter_key]).items
    note, last = items.get(note_key), int(items.get(counter_key, {}).get("last", 0))
    if note is None:
        return Lag(None, None, last)
    return Lag(float(note["taken_in"]) / 1_000, float(note["behind"]) / 1_000, last)
