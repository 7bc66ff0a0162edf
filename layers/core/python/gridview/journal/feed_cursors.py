"""Cursors of the feed: a position in it, the rows that were followed up to there, and later versions known
already. Pure.

- *position*: everything before it is known.
- *ahead*: so are the versions of these issues up to these, though the feed may deliver them after the
  position.

A cursor may replace a consistency token: then an answer has to contain all of this.

A cursor is bound to its tenant and project. The id of a deleted project stays taken for longer than a cursor
is valid.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from gridview.encoding.consistency import Recent, RecentWrites, from_texts, to_texts
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps
from gridview.journal.feed_positions import FeedPosition
from gridview.schema.catalog import Catalog
from gridview.schema.history import FEED_DAYS
from gridview.support.errors import FieldError, InvalidRequest

MAX_AHEAD = 500
"""Issues of which a cursor names versions, so that it fits into a query parameter."""

AHEAD_SECONDS = 86_400
"""Seconds for which a version ahead is named: the stream may still deliver its records for that time."""


class FeedCursor(NamedTuple):
    """A position in the feed of a project; `epoch`: the epoch of the definitions then.

    - `rows`: the fingerprint of the rows that were followed (`FollowedRows`); empty: all changes. None:
      nothing was delivered yet, so any rows may be followed from there.
    - `ahead`: issue number -> a version. The versions up to it are not delivered again, until the instant
      `until` (seconds since 1970).
    """

    position: FeedPosition
    epoch: int
    rows: str | None = None
    ahead: Mapping[int, int] = {}
    until: int = 0

    def sealed(self, cursors: Cursors, catalog: Catalog) -> str:
        """As a client gets it."""
        ahead = to_texts((RecentWrites(catalog.project, self.until, self.ahead),)) if self.ahead else ()
        payload = [self.epoch, self.rows, *self.position, *ahead]
        return cursors.seal(payload, _bound_to(catalog.tenant, catalog.project))

    @classmethod
    def opened(cls, text: str, cursors: Cursors, catalog: Catalog) -> "FeedCursor":
        """Open a client's cursor. InvalidRequest: it is none of this project."""
        try:
            payload = cursors.open(text, _bound_to(catalog.tenant, catalog.project))
        except InvalidRequest:
            message = "is not a cursor of this project's changes"
            raise InvalidRequest(f"The cursor {message}.", [FieldError("since", message)]) from None
        return cls._unsealed(payload)

    @classmethod
    def _unsealed(cls, sealed: Any) -> "FeedCursor":
        epoch, rows, number, place, since, item, *ahead = sealed
        position = FeedPosition(number, place, since, item)
        for one in from_texts(ahead):
            return cls(position, epoch, rows, one.versions, one.until)
        return cls(position, epoch, rows)

    @classmethod
    def held(cls, text: str, cursors: Cursors, tenant: str, project: str) -> Recent:
        """Return the writes before this cursor, which an answer has to contain. ValueError: it is none of
        this project's.

        The definitions and the rows that were followed make no difference. After 7 days the index has all of
        it, in any case.
        """
        try:
            cursor = cls._unsealed(cursors.open(text, _bound_to(tenant, project)))
        except InvalidRequest:
            raise ValueError("not a cursor of these changes") from None
        position = cursor.position
        return (
            RecentWrites(project, int(position.since) + FEED_DAYS * 86_400, {}, position.reached),
            RecentWrites(project, cursor.until, cursor.ahead, 0),
        )

    def still_ahead(self, now: float) -> dict[int, int]:
        """Return the versions ahead that the feed may still deliver."""
        return dict(self.ahead) if now < self.until else {}


def _bound_to(tenant: str, project: str) -> bytes:
    return dumps(["changes", tenant, project])
