"""Tells subscriptions what was committed: what stands behind the cursor of each, page after page, up to the end of the feed.

A message is sent first, and then it is noted that it was. Whoever dies in between sends it again: so each message names the cursor
that it goes on from (`since`), and a client whose own is another one begins the subscription anew with that. Nothing is lost, and
nothing counts twice.

Subscriptions that stand at the same cursor and ask for the same rows are read for once.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

from gridview.dynamodb.table import Table
from gridview.encoding.consistency import ConsistencyTokens
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps
from gridview.index.feed_cursors import FeedCursor
from gridview.index.feed_positions import SAME_SECONDS
from gridview.live import changes as live_changes
from gridview.live.asked_rows import asked_rows
from gridview.live.socket_messages import MAX_ITEMS_BYTES, changes_frame, error_frame
from gridview.live.socket_store import advance, unsubscribe
from gridview.live.sockets import Socket, Subscription
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.concurrency import in_threads
from gridview.support.errors import Overloaded, RequestError

_PATIENCE: Final = 6.0
"""Seconds without progress after which a number that was committed is waited for no more: one that is missing is emptied after
3.
"""

_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 0.5

_LONGEST_SAME: Final = 600.0
"""To so many seconds a cursor that names an item tells its time: it is good for days."""

_QUIETLY: Final = 10
"""Journal numbers that may go by a subscription which they do not concern before that is noted."""


class _Page(NamedTuple):
    """What is behind a cursor: events, their token, the cursor behind them, and its journal number; how many numbers or places that
    passed; and whether the feed ends there.
    """

    items: tuple[Mapping[str, Any], ...]
    token: str | None
    behind: str
    number: int
    passed: int
    ended: bool

    def is_all(self, upto: int | None) -> bool:
        """Whether the feed ends there, behind the number `upto` if there is one."""
        return self.ended and (upto is None or self.number > upto)


@dataclass(frozen=True, slots=True)
class PushOutcome:
    """How far some subscriptions were told: whether to the end, and the connections that were lost over it."""

    complete: bool
    gone: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Pushes:
    """Tells subscriptions of one project. `catalogs` gives the definitions; `cursors` and `tokens` seal what is sent."""

    table: Table
    catalogs: Catalogs
    cursors: Cursors
    tokens: ConsistencyTokens
    send: Callable[[str, bytes], bool]
    """Sends a message to a connection; False: the connection is lost."""
    deadline: float

    def begin(self, socket: Socket, since: str | None) -> str:
        """The cursor to begin a subscription at: one that a client brings, or that of now. InvalidRequest, NotJournalled."""
        catalog = self._catalog(socket)
        if since is not None:
            FeedCursor.opened(since, self.cursors, catalog)
            return since
        return self._sealed(live_changes.beginning(self.table, catalog), catalog)

    def tell(
        self,
        told: Iterable[tuple[Socket, Subscription]],
        *,
        upto: int | None = None,
        answer: bool = False,
    ) -> PushOutcome:
        """Tell these subscriptions of one project what stands behind their cursors.

        Complete once the feed ends there, and has passed the journal number `upto`. `answer`: a message is sent even
        where there is nothing to tell, and late copies of the table are not asked.

        For each message a request of the management API and a write unit for each KB of its subscription; `follow` for each cursor
        and request for rows. NotFound: there is no such project.
        """
        waiting, gone, pause = list(told), set[str](), _FIRST_PAUSE
        until = min(self.deadline, clock.seconds() + _PATIENCE)
        while waiting:
            catalog = self._catalog(waiting[0][0])
            pages: dict[tuple[str, str, str], _Page | RequestError] = {}
            for socket, one in waiting:
                if _read_as(socket, one) not in pages:
                    pages[_read_as(socket, one)] = self._page(catalog, socket, one, consistent=answer)
            deliver = partial(self._deliver, pages, answer=answer)
            after = list(zip(waiting, in_threads(deliver, waiting), strict=True))
            gone |= {socket.connection for (socket, _), stands in after if isinstance(stands, _Unreached)}
            waiting, answer = [], False
            for (socket, one), stands in after:
                page = pages[_read_as(socket, one)]
                if (
                    isinstance(page, _Page)
                    and isinstance(stands, Subscription)
                    and socket.connection not in gone
                    and not page.is_all(upto)
                ):
                    waiting.append((socket, stands))
            now = clock.seconds()
            if any(isinstance(page, _Page) and page.passed for page in pages.values()):
                until, pause = min(self.deadline, now + _PATIENCE), _FIRST_PAUSE
            elif waiting:
                clock.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            if waiting and now >= until:
                return PushOutcome(complete=False, gone=frozenset(gone))
        return PushOutcome(complete=True, gone=frozenset(gone))

    def _catalog(self, socket: Socket) -> Catalog:
        return self.catalogs.current(self.table, socket.tenant, socket.project)

    def _sealed(self, cursor: FeedCursor, catalog: Catalog) -> str:
        """The cursor as a client gets it. Those of one place are the same for minutes, so that they are read for once."""
        position = cursor.position
        same = _LONGEST_SAME if position.item else SAME_SECONDS
        rounded = position._replace(since=position.since // same * same)
        return cursor._replace(position=rounded).sealed(self.cursors, catalog)

    def _page(
        self, catalog: Catalog, socket: Socket, subscription: Subscription, *, consistent: bool
    ) -> _Page | RequestError:
        """What is behind the cursor of a subscription, or why that cannot be told."""
        try:
            rows = asked_rows(self.table, catalog, socket.actor, subscription.rows)
            cursor = FeedCursor.opened(subscription.at, self.cursors, catalog)
            told = live_changes.follow(
                self.table,
                self.catalogs,
                catalog,
                cursor,
                rows=rows,
                deadline=clock.seconds(),
                most_bytes=MAX_ITEMS_BYTES,
                consistent=consistent,
            )
        except Overloaded:
            raise  # it passes; what asks for too much or for what is gone does not
        except RequestError as error:
            return error
        token = None
        if told.versions:
            token = self.tokens.token(catalog.tenant, catalog.project, told.versions, clock.seconds())
        number = told.cursor.position.number
        return _Page(
            told.items,
            token,
            self._sealed(told.cursor, catalog),
            number,
            number - cursor.position.number or told.cursor.position.place - cursor.position.place,
            told.ended and not told.held,
        )

    def _deliver(
        self,
        pages: Mapping[tuple[str, str, str], _Page | RequestError],
        told: tuple[Socket, Subscription],
        *,
        answer: bool,
    ) -> "Subscription | _Unreached | None":
        """Tell one subscription its page; the subscription as it stands then, None if it is over."""
        socket, subscription = told
        page = pages[_read_as(socket, subscription)]
        if isinstance(page, RequestError):
            sent = self.send(socket.connection, error_frame(page, subscription.id))
            unsubscribe(self.table, socket, subscription.id)
            return None if sent else _UNREACHED
        if page.items or answer:
            frame = changes_frame(subscription.id, subscription.told, page.items, page.behind, page.token)
            if not self.send(socket.connection, frame):
                return _UNREACHED
            return advance(self.table, subscription, told=page.behind, at=page.behind)
        if page.passed >= _QUIETLY:
            return advance(self.table, subscription, told=subscription.told, at=page.behind)
        # Not noted, but gone on from.
        return replace(subscription, at=page.behind) if page.passed else subscription


class _Unreached:
    """Stands for a subscription whose connection is lost."""


_UNREACHED: Final = _Unreached()


def _read_as(socket: Socket, subscription: Subscription) -> tuple[str, str, str]:
    """Subscriptions for which this is the same are told the same. A view may be a user's own."""
    user = socket.user if "view" in subscription.rows else ""
    return subscription.at, dumps(subscription.rows).decode(), user
