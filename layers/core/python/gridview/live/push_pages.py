"""The pages that subscriptions of one project are to be sent.

The feed is read once for each position, and judged once for each position and rows, whichever subscriptions
need them. Equivalent filters and sorts share this work, as do all followers of one view.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar

from gridview.dynamodb.table import Table
from gridview.encoding.consistency import ConsistencyTokens
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps
from gridview.journal.feed_cursors import FeedCursor
from gridview.journal.feed_positions import SAME_SECONDS, FeedPosition
from gridview.live import changes as live_changes
from gridview.live.asked_rows import asked_rows
from gridview.live.feed import FeedPage
from gridview.live.followed_rows import FollowedRows
from gridview.live.socket_messages import MAX_ITEMS_BYTES
from gridview.live.sockets import Socket, Subscription
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.concurrency import in_threads
from gridview.support.errors import Overloaded, RequestError

_LONGEST_SAME: Final = 600.0
"""Seconds to which a cursor that names an item rounds its time: it is valid for days."""

Listener = tuple[Socket, Subscription]
"""A subscription and its socket."""


class PushPage(NamedTuple):
    """The changes after a cursor: events, their token, the cursor after them, and its journal number.

    `passed`: how many numbers or places it passed. `ended`: the feed ends there. `more`: the feed continues
    at once. If neither is true, it waits for a number. `outdated`: when the rows become others (seconds since
    1970), because it is another day then; None: never.
    """

    items: tuple[Mapping[str, Any], ...]
    token: str | None
    cursor: str
    number: int
    passed: int
    ended: bool
    more: bool
    outdated: float | None = None

    def is_all(self, upto: int | None) -> bool:
        """Return whether the feed ends there, after the number `upto` if there is one."""
        return self.ended and (upto is None or self.number > upto)


Sendable = PushPage | RequestError | None
"""The outcome for a subscription: a page, the error to send instead, or None because the time was up."""


class _Rows(NamedTuple):
    """Rows that are followed; None: all changes."""

    followed: FollowedRows | None

    @property
    def fingerprint(self) -> str:
        return "" if self.followed is None else self.followed.fingerprint


class _PageParts(NamedTuple):
    """The parts of a page: the cursor as a client has it (`at`) and opened, the feed's page there, and the
    rows.
    """

    at: str
    cursor: FeedCursor
    feed: FeedPage
    rows: _Rows

    @property
    def key(self) -> tuple[str, str]:
        """Return the key that determines the page."""
        return self.at, self.rows.fingerprint


Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


@dataclass(frozen=True)
class PushPages:
    """Reads the pages for subscriptions of one project, in up to `at_once` threads."""

    table: Table
    catalogs: Catalogs
    cursors: Cursors
    tokens: ConsistencyTokens
    at_once: int

    def sealed(self, cursor: FeedCursor, catalog: Catalog) -> str:
        """Seal the cursor for a client. The cursors of one place are equal for minutes, so one read serves
        all of them.
        """
        position = cursor.position
        same = _LONGEST_SAME if position.item else SAME_SECONDS
        rounded = position._replace(since=position.since // same * same)
        return cursor._replace(position=rounded).sealed(self.cursors, catalog)

    def of(
        self, catalog: Catalog, listeners: Sequence[Listener], until: float, *, consistent: bool
    ) -> list[Sendable]:
        """Return the outcome for each of these subscriptions. Begins nothing after the instant `until`."""
        asked = [_asked(*one) for one in listeners]
        askers = dict(zip(asked, listeners, strict=True))
        at = clock.stored(clock.seconds())
        rows = self._once(askers, until, lambda one: self._rows(catalog, *askers[one], at))
        cursors = self._once(
            (one.at for _, one in listeners), until, lambda at: FeedCursor.opened(at, self.cursors, catalog)
        )
        places = {one.position for one in cursors.values() if isinstance(one, FeedCursor)}
        feeds = self._once(
            sorted(places), until, lambda place: self._feed(catalog, place, consistent=consistent)
        )

        def parts(at: str, asked: tuple[str, str]) -> _PageParts | RequestError | None:
            cursor, followed = cursors[at], rows[asked]
            if not isinstance(cursor, FeedCursor):
                return cursor
            if not isinstance(followed, _Rows):
                return followed
            feed = feeds[cursor.position]
            return _PageParts(at, cursor, feed, followed) if isinstance(feed, FeedPage) else feed

        found = [parts(one.at, by) for (_, one), by in zip(listeners, asked, strict=True)]
        whole = {one.key: one for one in found if isinstance(one, _PageParts)}
        pages = self._once(whole, until, lambda key: self._page(catalog, whole[key]))
        return [pages[one.key] if isinstance(one, _PageParts) else one for one in found]

    def _once(
        self, wanted: Iterable[Key], until: float, work: Callable[[Key], Result]
    ) -> dict[Key, Result | RequestError | None]:
        """Return the result of `work` for each of these, or the error that it raises, in parallel; None if
        the time is up.
        """

        def tried(one: Key) -> Result | RequestError | None:
            if clock.seconds() >= until:
                return None
            try:
                return work(one)
            except Overloaded:
                raise  # it passes; an error about a missing thing or too large a request does not
            except RequestError as error:
                return error

        distinct = list(dict.fromkeys(wanted))
        return dict(zip(distinct, in_threads(tried, distinct, self.at_once), strict=True))

    def _rows(self, catalog: Catalog, socket: Socket, subscription: Subscription, at: str) -> _Rows:
        return _Rows(asked_rows(self.table, catalog, socket.actor, subscription.rows, at))

    def _feed(self, catalog: Catalog, position: FeedPosition, *, consistent: bool) -> FeedPage:
        return live_changes.feed_page(self.table, self.catalogs, catalog, position, consistent=consistent)

    def _page(self, catalog: Catalog, parts: "_PageParts") -> PushPage:
        cursor, rows = parts.cursor, parts.rows.followed
        found = live_changes.client_events(self.table, catalog, cursor, parts.feed, rows, MAX_ITEMS_BYTES)
        token = None
        if found.versions:
            token = self.tokens.token(catalog.tenant, catalog.project, found.versions, clock.seconds())
        number = found.cursor.position.number
        return PushPage(
            found.items,
            token,
            self.sealed(found.cursor, catalog),
            number,
            number - cursor.position.number or found.cursor.position.place - cursor.position.place,
            ended=found.ended and not found.held,
            more=not found.ended,
            outdated=None if rows is None or rows.valid is None else rows.valid.end,
        )


def _asked(socket: Socket, subscription: Subscription) -> tuple[str, str]:
    """Subscriptions for which this is the same mean the same rows. A view may be a user's own, and so is `me`."""
    rows = dumps(subscription.rows).decode()
    return rows, socket.user if "view" in subscription.rows or '"me"' in rows else ""
