"""Cursors of the feed: a position in it, and what was followed up to there. Pure.

A cursor is bound to its tenant and project. The id of a deleted project stays taken for longer than a cursor is good.
"""

from typing import Any, NamedTuple

from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps
from gridview.live.feed_positions import FeedPosition
from gridview.schema.catalog import Catalog
from gridview.support.errors import FieldError, InvalidRequest


class FeedCursor(NamedTuple):
    """A position in the feed of a project; `epoch`: of the definitions of that time.

    `rows` is the fingerprint of the rows that were followed (`FollowedRows`); empty: all changes. None: nothing was told yet, so
    any rows may be followed from there.
    """

    position: FeedPosition
    epoch: int
    rows: str | None = None

    def sealed(self, cursors: Cursors, catalog: Catalog) -> str:
        """As a client gets it."""
        return cursors.seal([self.epoch, self.rows, *self.position], _bound_to(catalog))

    @classmethod
    def opened(cls, text: str, cursors: Cursors, catalog: Catalog) -> "FeedCursor":
        """From what a client sends. InvalidRequest: it is none of this project."""
        try:
            payload = cursors.open(text, _bound_to(catalog))
        except InvalidRequest:
            told = "is not a cursor of this project's changes"
            raise InvalidRequest(f"The cursor {told}.", [FieldError("since", told)]) from None
        sealed: Any = payload
        epoch, rows, *position = sealed
        return cls(FeedPosition(*position), epoch, rows)


def _bound_to(catalog: Catalog) -> bytes:
    return dumps(["changes", catalog.tenant, catalog.project])
