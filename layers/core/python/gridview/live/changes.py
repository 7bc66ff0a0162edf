"""The changes of a project that a client receives: the events after its cursor, at once or as soon as there
are some.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gridview.dynamodb.table import Table
from gridview.encoding.consistency import DELETED
from gridview.encoding.json_codec import dumps, size_in_response
from gridview.journal.feed_cursors import FeedCursor
from gridview.journal.feed_positions import FeedPosition
from gridview.journal.log import Log
from gridview.live.feed import FeedPage, end_of, read_changes
from gridview.live.followed_rows import FollowedRows, RowMove
from gridview.live.row_moves import Unjudged, moves_of
from gridview.schema.catalog import Catalog
from gridview.schema.history import RESET, Change, event_json
from gridview.schema.store import Catalogs
from gridview.support import clock

MAX_EVENTS = 100
"""Changes that are looked at together."""

MAX_ANSWER_BYTES = 5_000_000
"""Limit of the events of one answer."""

_PAUSE = 0.5
"""Seconds between two looks at the journal."""


Until = Callable[[float], float]
"""Until when to wait, asked at each look that finds nothing. Takes the present instant; both in seconds since 1970."""


class Wait(NamedTuple):
    """Limits of a wait for changes: `until` gives an instant, and there has to be an answer at the
    `deadline`.
    """

    until: Until
    deadline: float = math.inf


AT_ONCE = Wait(lambda now: now)
"""Do not wait."""


class ClientEvents(NamedTuple):
    """Events as a client gets them, the changes among them, and the cursor after them.

    `ended`: there are no more events now. `held`: there are more, after a number that a writer has taken and
    not filled.
    """

    items: tuple[Mapping[str, Any], ...]
    changes: tuple[Change, ...]
    cursor: FeedCursor
    ended: bool
    held: bool

    @property
    def versions(self) -> dict[int, int]:
        """Return the last version of each issue among the changes, as consistency tokens have it."""
        return {one.num: DELETED if one.kind == "delete" else one.version for one in self.changes}


def beginning(table: Table, catalog: Catalog) -> FeedCursor:
    """Return the cursor of a client that begins to follow a project now. Cost: that of `end_of`."""
    return FeedCursor(end_of(Log(table, catalog.tenant, catalog.project)), catalog.epoch)


def follow(
    table: Table,
    catalogs: Catalogs,
    catalog: Catalog,
    cursor: FeedCursor,
    *,
    rows: FollowedRows | None = None,
    wait: Wait = AT_ONCE,
    most_bytes: int | None = None,
    consistent: bool = False,
) -> ClientEvents:
    """Return the events after a cursor, of some rows or all. If there are none yet, wait for them as `wait`
    says.

    `catalog`: the current one.
    `consistent`: include all that was committed before the call, however late copies of the table are. Its
    items then cost twice.

    A read unit for each second of waiting, and the costs of `read_changes` and `moves_of`. Numbers at which
    the feed has waited for too long are emptied: 1 write unit each. CursorExpired.
    """
    while True:
        page = feed_page(table, catalogs, catalog, cursor.position, consistent=consistent)
        found = client_events(table, catalog, cursor, page, rows, most_bytes or MAX_ANSWER_BYTES)
        cursor, now = found.cursor, clock.seconds()
        is_over = bool(found.items) or now >= wait.deadline
        end = wait.until(now) if found.ended and not is_over else now
        if is_over or (found.ended and now >= end):
            return found
        if found.ended and not page.overdue:
            clock.sleep(min(_PAUSE, end - now))


def feed_page(
    table: Table, catalogs: Catalogs, catalog: Catalog, position: FeedPosition, *, consistent: bool = False
) -> FeedPage:
    """Return the changes of a project from a position on: as for `read_changes`. Numbers at which the feed
    has waited for too long are emptied: 1 write unit each.
    """
    page = read_changes(table, catalogs, catalog, position, MAX_EVENTS, consistent=consistent)
    log = Log(table, catalog.tenant, catalog.project)
    for number in page.overdue:
        log.close(number)
    return page


def client_events(
    table: Table,
    catalog: Catalog,
    cursor: FeedCursor,
    page: FeedPage,
    rows: FollowedRows | None,
    most_bytes: int,
) -> ClientEvents:
    """Return the events of a page that was read at the position of a cursor, at the cost of `moves_of`."""
    followed = "" if rows is None else rows.fingerprint
    restarts = cursor.epoch != catalog.epoch or cursor.rows not in (None, followed)
    if rows is not None and cursor.rows is None:
        # The client has rows of an answer at the cursor's instant, which may have been of another day.
        restarts = restarts or rows.began_after(cursor.position.since)
    ahead = {} if restarts else cursor.still_ahead(clock.seconds())
    builder = _EventBuilder(page, restarts or page.reset, cursor.position, most_bytes, ahead)
    builder.build(None if rows is None else moves_of(table, page.catalog, rows, page.events))
    return ClientEvents(
        tuple(builder.items),
        tuple(builder.changes),
        FeedCursor(builder.position, catalog.epoch, followed, builder.ahead, cursor.until),
        builder.at_the_end,
        page.held,
    )


class _EventBuilder:
    """Makes events of a page, as many as an answer holds, up to the first change that has to be waited for.

    `ahead`: issue number -> the version up to which its changes are known already, and passed over; after a
    reset nothing is.
    """

    def __init__(
        self,
        page: FeedPage,
        reset: bool,
        position: FeedPosition,
        most_bytes: int,
        ahead: Mapping[int, int],
    ) -> None:
        self.items: list[Mapping[str, Any]] = [RESET] if reset else []
        self.ahead = {} if reset else dict(ahead)
        self.changes: list[Change] = []
        self.position = position
        self.at_the_end = True
        self._page = page
        self._room = most_bytes

    def build(self, verdicts: list[RowMove | Unjudged | None] | None) -> None:
        """Add the changes of the page. `verdicts`: the effect of each on the rows that are followed; None:
        add all.
        """
        for place, change in enumerate(self._page.events):
            if self._is_known(change):
                self.position = self._page.ends[place]
                continue
            verdict = None if verdicts is None else verdicts[place]
            if verdict is Unjudged.YET:
                return
            if verdict is Unjudged.FOREVER:
                if self.changes:
                    self.at_the_end = False
                    return
                self.items, self.ahead = [RESET], {}
            elif (verdicts is None or verdict is not None) and not self._add(change, verdict):
                self.at_the_end = False
                return
            self.position = self._page.ends[place]
        self.at_the_end = self._page.ended
        self.position = self._page.position

    def _is_known(self, change: Change) -> bool:
        known = self.ahead.get(change.num, 0)
        if change.version >= known:
            self.ahead.pop(change.num, None)
        return change.version <= known

    def _add(self, change: Change, move: RowMove | None) -> bool:
        event = event_json(self._page.catalog, change)
        if move is not None:
            event |= {"move": move.move, "key": move.key, "previous_key": move.before}
        size = size_in_response(dumps(event))
        if self.changes and size > self._room:
            return False
        self._room -= size
        self.items.append(event)
        self.changes.append(change)
        return True
