"""Changes that were just written, for an undo that comes before the history has them.

The id of most changes states when they were made: a write under it in that second or the next is expected in
the history. Before any other write, and before the writes of an undo, a note is put beside the history's list
of the change:

    change-T.P.<id>    written.<user>    the instant of the user's last request
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self
from uuid import UUID

from gridview.commands import jobs
from gridview.dynamodb.expressions import Bound
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.schema.change_entries import begun_at, is_listed_by_time
from gridview.schema.user_jobs import JobKind
from gridview.support import clock

_KEPT_DAYS = 1 / 24
"""Days for which notes are kept. A history that is later than that is known to be late."""

_LISTED_BY_ID = 2.0
"""Seconds after the instant in an id in which its writes leave no note: its second, and the next."""

_CLOCKS_DIFFER = 5.0
"""Seconds by which an id may be ahead of this container's clock and still state when it was made."""


def is_stated(change: UUID) -> bool:
    """Return whether the id of a change states that it is written now."""
    return is_listed_by_time(change.bytes, clock.now())


def note(table: Table, tenant: str, project: str, change: UUID, user: str) -> None:
    """Note that a user is about to write under a change: 1 write unit."""
    table.put(
        {
            keys.PK: derived_keys.change(tenant, project, change.bytes),
            keys.SK: derived_keys.change_note(user),
            "at": clock.now(),
            keys.TTL_ATTRIBUTE: clock.expiry(_KEPT_DAYS),
        }
    )


@dataclass(frozen=True, slots=True)
class WrittenChange:
    """The records of a change outside the history, in seconds since 1970.

    `stated`: until when writes are expected by the id; None: it states no time. `noted`: user -> the last
    request. `working`: users whose jobs still write under it.
    """

    stated: float | None
    noted: Mapping[str, float]
    working: frozenset[str]

    @classmethod
    def read(cls, table: Table, tenant: str, project: str, change: UUID) -> Self:
        """Strongly consistent: a read unit for the notes, and a Query of the project's last jobs."""
        place, now = derived_keys.change(tenant, project, change.bytes), clock.seconds()
        page = table.query(place, bound=Bound("begins_with", derived_keys.CHANGE_NOTE), consistent=True)
        noted = {
            derived_keys.parse_change_note(one[keys.SK]): clock.instant(one["at"])
            for one in page.items
            if one[keys.TTL_ATTRIBUTE] > now
        }
        of_change = jobs.all_of_change(table, tenant, project, change)
        writing = [job for job in of_change if job.kind is not JobKind.EXPORT and job.preview is None]
        for job in writing:
            if job.state.final and job.done:
                noted[job.user] = max(noted.get(job.user, 0.0), clock.instant(job.ended))
        working = frozenset(job.user for job in writing if not job.state.final)
        return cls(_stated(change.bytes, now), noted, working)

    @property
    def users(self) -> frozenset[str]:
        """Everyone who is known to write, or to have just written, under it."""
        return self.working | self.noted.keys()


def _stated(change: bytes, now: float) -> float | None:
    begun = begun_at(change)
    at = None if begun is None else clock.instant(begun)
    return None if at is None or at > now + _CLOCKS_DIFFER else min(at + _LISTED_BY_ID, now)
