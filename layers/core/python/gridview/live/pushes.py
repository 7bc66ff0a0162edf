"""Sends subscriptions the committed changes after the cursor of each, page after page, up to the end of the
feed.

A message is sent first, and then its cursor is stored. After a crash in between it is sent again. So each
message names the cursor that it continues from (`since`). A client that has another cursor begins the
subscription again from its own. Nothing is lost, and nothing counts twice.

Each connection gets its messages one after the other, and none after a message that it did not take.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from operator import itemgetter
from typing import Final

from gridview.dynamodb.table import Table
from gridview.journal.feed_cursors import FeedCursor
from gridview.live import changes as live_changes
from gridview.live.push_pages import Listener, PushPage, PushPages, Sendable
from gridview.live.push_shares import Share
from gridview.live.socket_messages import changes_frame, error_frame
from gridview.live.socket_store import advance, unsubscribe
from gridview.live.sockets import Socket, Subscription
from gridview.schema.catalog import Catalog
from gridview.schema.history import RESET
from gridview.support import clock
from gridview.support.concurrency import in_threads
from gridview.support.errors import RequestError

_PATIENCE: Final = 6.0
"""Seconds without progress after which a number that was committed is waited for no more: one that is missing
is emptied after 3.
"""

_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 0.5

_QUIETLY: Final = 10
"""Journal numbers that may go by a subscription which they do not concern before that is noted."""


class _Fate(Enum):
    """The fate of a subscription that does not continue."""

    OVER = "over"
    """It ended, or began again meanwhile."""
    UNREACHED = "unreached"
    """Its connection is lost."""
    LEFT = "left"
    """The time was up before its turn came."""


_Sent = tuple[Listener, Sendable, Subscription | _Fate]
"""A subscription, its page or error, and its state afterwards."""


@dataclass(frozen=True, slots=True)
class PushOutcome:
    """Whether subscriptions were sent everything, and the connections that were lost over it.

    `outdated`: when the first rows of these subscriptions become others, because it is another day then (seconds
    since 1970); None: never. `renewed`: some of them became others now, and got a reset.

    `late`: the time was up before all that was there was sent. Neither: a number is missing, or a copy of the table is
    late.
    """

    complete: bool
    late: bool = False
    gone: frozenset[str] = frozenset()
    outdated: float | None = None
    renewed: bool = False


@dataclass(frozen=True)
class Pushes:
    """Sends subscriptions of one project the changes that they lack. Begins nothing after the deadline of its
    `share`.
    """

    table: Table
    pages: PushPages
    send: Callable[[str, bytes], bool]
    """Sends a message to a connection; False: the connection is lost."""
    share: Share
    answers: bool = False
    """Whether subscriptions whose first message was not sent in time get it now, also without changes."""

    def begin(self, socket: Socket, since: str | None) -> str:
        """Return the cursor to begin a subscription at: the client's, or the present one. InvalidRequest."""
        catalog = self._catalog(socket)
        if since is not None:
            FeedCursor.opened(since, self.pages.cursors, catalog)
            return since
        return self.pages.sealed(live_changes.beginning(self.table, catalog), catalog)

    def push(
        self, listeners: Iterable[Listener], *, upto: int | None = None, answer_by: float | None = None
    ) -> PushOutcome:
        """Send these subscriptions of one project the changes after their cursors.

        Complete once the feed ends there, and has passed the journal number `upto`. `answer_by`: send a message
        even if there are no changes, and do not read late copies of the table. The first message may be sent until this
        instant, whatever the share is.

        For each message a request of the management API and a write unit for each KB of its subscription.
        `read_changes` for each position, and `moves_of` for each position and rows. NotFound: there is no
        such project.
        """
        waiting, gone, pause = _in_turns(listeners), set[str](), _FIRST_PAUSE
        outdated: list[float] = []
        renewed = False
        has_more, late = True, False
        deadline = self.share.deadline
        until = min(deadline, clock.seconds() + _PATIENCE)
        while waiting:
            sent = self._round(waiting, answer_by)
            pages = [page for _, page, _ in sent if isinstance(page, PushPage)]
            outdated += (page.outdated for page in pages if page.outdated is not None)
            renewed = renewed or any(page.items and page.items[0] is RESET for page in pages)
            gone |= {socket.connection for (socket, _), _, fate in sent if fate is _Fate.UNREACHED}
            is_cut = any(fate is _Fate.LEFT for *_, fate in sent)
            late = late or (has_more and is_cut)
            goes_on = [
                (socket, page, outcome)
                for (socket, _), page, outcome in sent
                if isinstance(page, PushPage)
                and isinstance(outcome, Subscription)
                and socket.connection not in gone
            ]
            waiting = [(socket, outcome) for socket, page, outcome in goes_on if not page.is_all(upto)]
            answer_by, has_more = None, any(page.more for _, page, _ in goes_on)
            now = clock.seconds()
            if any(page.passed for page in pages):
                until, pause = min(deadline, now + _PATIENCE), _FIRST_PAUSE
            elif waiting:
                clock.sleep(min(pause, max(until - now, 0.0)))
                pause = min(2 * pause, _LONGEST_PAUSE)
            if is_cut or (waiting and clock.seconds() >= until):
                return PushOutcome(complete=False, late=late or has_more, gone=frozenset(gone))
        first = min(outdated, default=None)
        return PushOutcome(complete=True, gone=frozenset(gone), outdated=first, renewed=renewed)

    def _catalog(self, socket: Socket) -> Catalog:
        return self.pages.catalogs.current(self.table, socket.tenant, socket.project)

    def _round(self, waiting: Sequence[Listener], answer_by: float | None) -> list[_Sent]:
        """Send each of these one page. Reading takes half of the remaining time at most, so that time remains
        to send.
        """
        now = clock.seconds()
        deadline = self.share.deadline if answer_by is None else answer_by
        half = now + (deadline - now) / 2
        catalog = self._catalog(waiting[0][0])
        found = self.pages.of(catalog, waiting, half, consistent=answer_by is not None)
        of_connection: defaultdict[str, list[tuple[Listener, Sendable]]] = defaultdict(list)
        for one, page in zip(waiting, found, strict=True):
            of_connection[one[0].connection].append((one, page))

        def deliver(connection: str) -> list[_Sent]:
            sent: list[_Sent] = []
            for one, page in of_connection[connection]:
                is_lost = bool(sent) and sent[-1][2] is _Fate.UNREACHED
                answer = answer_by is not None or (self.answers and not one[1].is_answered)
                fate = _Fate.UNREACHED if is_lost else self._deliver(one, page, deadline, answer=answer)
                sent.append((one, page, fate))
            return sent

        return [one for sent in in_threads(deliver, of_connection, self.share.at_once) for one in sent]

    def _deliver(
        self, listener: Listener, page: Sendable, deadline: float, *, answer: bool
    ) -> Subscription | _Fate:
        """Send one subscription its page; return the subscription afterwards."""
        socket, subscription = listener
        if page is None or clock.seconds() >= deadline:
            return _Fate.LEFT
        if isinstance(page, RequestError):
            sent = self.send(socket.connection, error_frame(page, subscription.id))
            unsubscribe(self.table, socket, subscription.id)
            return _Fate.OVER if sent else _Fate.UNREACHED
        if page.items or answer:
            frame = changes_frame(subscription.id, subscription.received, page.items, page.cursor, page.token)
            if not self.send(socket.connection, frame):
                return _Fate.UNREACHED
            return advance(self.table, subscription, received=page.cursor, at=page.cursor) or _Fate.OVER
        if page.passed >= _QUIETLY and subscription.is_answered:
            return (
                advance(self.table, subscription, received=subscription.received, at=page.cursor)
                or _Fate.OVER
            )
        # Not noted, but gone on from.
        return replace(subscription, at=page.cursor) if page.passed else subscription


def _in_turns(listeners: Iterable[Listener]) -> list[Listener]:
    """Return the first of each user, then the second of each, and so on. So each user's first connection gets
    its messages before anyone's second.
    """
    turns = Counter[str]()
    placed = []
    for one in listeners:
        turns[one[0].user] += 1
        placed.append((turns[one[0].user], one))
    return [one for _, one in sorted(placed, key=itemgetter(0))]
