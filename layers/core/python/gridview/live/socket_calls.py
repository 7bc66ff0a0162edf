"""The events of sockets: one opens, speaks, closes or is due to end, or changes are committed.

The owner of a socket is looked up first; all else is done in the name of its tenant.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.sessions import acting_for
from gridview.dynamodb.table import Table
from gridview.encoding.consistency import ConsistencyTokens
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps
from gridview.encoding.seals import Seals
from gridview.encoding.values import datetime_json
from gridview.live import push_turn, seat_store
from gridview.live import socket_store as store
from gridview.live.known_owners import KnownOwners
from gridview.live.presence import LOOK_SECONDS, is_too_soon, looking, next_announcement, people_json
from gridview.live.push_pages import PushPages
from gridview.live.push_shares import AT_ONCE, BATCH_SECONDS, Share, shared_out
from gridview.live.pushes import Pushes, PushOutcome
from gridview.live.seats import Seat
from gridview.live.socket_messages import (
    LookAt,
    Message,
    Renew,
    Subscribe,
    Unsubscribe,
    bye_frame,
    error_frame,
    message_in,
    said_id,
)
from gridview.live.sockets import Bye, Owner, Socket, Subscription
from gridview.live.tickets import Ticket
from gridview.live.wakes import Wake
from gridview.live.wire import Gone, Slow, SocketWire
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.concurrency import in_threads
from gridview.support.errors import NotFound, Overloaded, RequestError, TooManyMessages

_ENDED_AT_ONCE: Final = 200
"""Sockets that are due to end and are looked at together."""

_OWED_AT_ONCE: Final = 200
"""Projects whose sockets are owed changes and are served together."""

_SUBSCRIBE_SECONDS: Final = 1.0
"""Seconds for which a new subscription is sent changes at once, after its first message. The rest follows within a
minute. A user begins two subscriptions a second, so those take two invocations at most.
"""


@dataclass(frozen=True)
class SocketCalls:
    """The calls of one invocation, which has to be over by `deadline` (seconds since 1970).

    `owners`: the table for the role that reads the owners of sockets. `table`: the table for the tenant's
    session.
    """

    table: Table
    owners: Table
    catalogs: Catalogs
    seals: Seals
    cursors: Cursors
    tokens: ConsistencyTokens
    wire: SocketWire
    deadline: float
    count: Callable[[str], None]
    """Counts something by its name."""
    known_owners: KnownOwners

    def opened(self, connection: str, ticket: str) -> None:
        """A client has connected with a ticket; its user's oldest sockets end if there are too many. Unauthenticated,
        TooManySockets.

        The ticket's seal and age are checked before anything is read: a forged ticket costs no call of the table.
        """
        found = Ticket.opened(ticket, self.seals, clock.seconds())
        with acting_for(found.actor.tenant):
            _, replaced = store.open_socket(self.table, self.owners, found, connection)
            self._replace(replaced)

    def closed(self, connection: str) -> None:
        """A client has gone."""
        owner = store.owner_of(self.owners, connection)
        if owner is not None:
            with acting_for(owner.tenant):
                self._forget(owner, [connection])

    def spoke(self, connection: str, body: str, *, is_base64: bool) -> None:
        """Take a client's message. Errors of the request are sent to the client, not raised."""
        owner = self._owner_of(connection)
        socket = None
        if owner is not None:
            with acting_for(owner.tenant):
                socket = store.get_socket(self.table, owner, connection)
        if owner is None or socket is None:
            self.wire.end(connection)
            return
        with acting_for(owner.tenant):
            try:
                store.take_message(self.table, socket)
                self._take(owner, socket, message_in(body, is_base64=is_base64))
            except RequestError as error:
                self.count("Refused")
                if not self._send(connection, error_frame(error, said_id(body))):
                    self._forget(owner, [connection])
            except ConditionFailed:
                self.wire.end(connection)  # it was closed meanwhile

    def _owner_of(self, connection: str) -> Owner | None:
        owner = self.known_owners.of(connection) or store.owner_of(self.owners, connection)
        if owner is not None:
            self.known_owners.note(connection, owner)
        return owner

    def committed(self, wakes: Mapping[Owner, Wake]) -> list[Owner]:
        """Send committed changes of these projects to their subscribers, each tenant and project in its share
        of a short time.

        Returns the projects that wait for a missing number, whose records are to come again. Changes that
        were not sent in time, or cannot be read for now, are owed. 1 read unit for a project without
        subscribers.
        """
        whole = Share(AT_ONCE, self.deadline, BATCH_SECONDS)
        outcomes = shared_out(
            list(wakes), whole, lambda owner, share: self._pushed(owner, wakes[owner], share).complete
        )
        return [owner for owner, is_done in outcomes.items() if not is_done]

    def committed_in_turn(self, wakes: Mapping[Owner, Wake]) -> list[Owner]:
        """Like `committed`, if no other invocation pushes; then continue with the work that others have left
        meanwhile.

        If another pushes, leave it all to that one. That costs 2 write units, a read unit for each project,
        and 3 write units for each project with listeners.
        """
        holder = push_turn.take(self.owners)
        if holder is None:
            self._leave(wakes)
            return []
        try:
            waiting = self.committed(wakes)
            while clock.seconds() < self.deadline and self.settle():
                continue
        finally:
            push_turn.give_back(self.owners, holder)
        return waiting

    def _leave(self, wakes: Mapping[Owner, Wake]) -> None:
        def leave(owner: Owner) -> None:
            with acting_for(owner.tenant):
                sockets, _ = store.listed(self.table, owner)
                if sockets:
                    store.owe(self.owners, owner)

        in_threads(leave, list(wakes), AT_ONCE)

    def settle(self) -> int:
        """Continue with the projects whose sockets are owed changes; return how many are owed none any more."""
        notes = dict(store.owed(self.owners, _OWED_AT_ONCE))

        def settled(owner: Owner, share: Share) -> bool:
            reached = self._pushed(owner, Wake(), share, owes=False)
            if reached.complete:
                store.settle(self.owners, owner, notes[owner], reached.outdated)
            return reached.complete

        return sum(shared_out(list(notes), Share(AT_ONCE, self.deadline), settled).values())

    def end_due(self) -> int:
        """End the sockets that are due to end; return how many."""

        def ended(due: tuple[str, Owner]) -> bool:
            connection, owner = due
            with acting_for(owner.tenant):
                socket = store.get_socket(self.table, owner, connection)
                why = "idle" if socket is None else socket.why_ended(clock.seconds())
                if why is not None:
                    self._end(owner, {connection: why})
            return why is not None

        return sum(in_threads(ended, store.ending(self.owners, _ENDED_AT_ONCE), AT_ONCE))

    def _pushed(self, owner: Owner, wake: Wake, share: Share, *, owes: bool = True) -> PushOutcome:
        """Send a project's sockets the changes that they lack. Not complete: some are not sent, and (unless it
        `owes`) that is not noted.
        """
        try:
            with acting_for(owner.tenant):
                sockets, subscriptions = store.listed(self.table, owner)
                now = clock.seconds()
                over = {one.connection: why for one in sockets.values() if (why := one.why_ended(now))}
                self._end(owner, over)
                listeners = [
                    (sockets[one.connection], one)
                    for one in subscriptions
                    if one.connection not in over and wake.concerns(sockets[one.connection], one)
                ]
                try:
                    reached = self._pushes(share, answers=not owes).push(listeners, upto=wake.upto)
                except NotFound:
                    self._end(owner, dict.fromkeys(sockets.keys() - over.keys(), "project"))
                    return PushOutcome(complete=True)
                self._forget(owner, reached.gone)
        except Overloaded:
            reached = PushOutcome(complete=False, late=True)
        if reached.late and owes:
            self._owe(owner)
            return PushOutcome(complete=True)
        if reached.renewed and owes and reached.outdated is not None:
            store.owe_at(self.owners, owner, reached.outdated)  # a view may have `today` only now
        return reached

    def _owe(self, owner: Owner) -> None:
        self.count("Late")
        store.owe(self.owners, owner)

    def _pushes(self, share: Share, *, answers: bool = False) -> Pushes:
        pages = PushPages(self.table, self.catalogs, self.cursors, self.tokens, share.at_once)
        return Pushes(self.table, pages, self._send, share, answers)

    def _take(self, owner: Owner, socket: Socket, message: Message) -> None:
        now = clock.seconds()
        if isinstance(message, Renew):
            self._renew(socket, Ticket.opened(message.ticket, self.seals, now))
        elif (why := socket.why_ended(now)) is not None and why != "idle":
            self._end(owner, {socket.connection: why})
            return
        store.note_message(self.table, self.owners, socket)
        match message:
            case Subscribe():
                self._subscribe(owner, socket, message)
            case Unsubscribe():
                store.unsubscribe(self.table, socket, message.id)
            case LookAt():
                self._look(owner, socket, message.num)

    def _renew(self, socket: Socket, ticket: Ticket) -> None:
        renewed = store.renew_socket(self.table, socket, ticket)
        until = datetime_json(clock.stored(renewed.until))
        self._send(socket.connection, dumps({"renewed": until}))

    def _subscribe(self, owner: Owner, socket: Socket, asked: Subscribe) -> None:
        wanted = Subscription(
            tenant=socket.tenant,
            project=socket.project,
            connection=socket.connection,
            id=asked.id,
            rows=asked.rows,
            received=asked.since,
            at="",
            begun=socket.begun,
        )
        store.admit(self.table, socket, wanted)  # before anything else is read: a refusal is to cost little
        pushes = self._pushes(Share(1, self.deadline, _SUBSCRIBE_SECONDS).begun())
        subscription = replace(wanted, at=pushes.begin(socket, asked.since))
        store.subscribe(self.table, socket, subscription)
        # Later commits find the subscription; earlier ones are read here.
        reached = pushes.push([(socket, subscription)], answer_by=self.deadline)
        self._forget(owner, reached.gone)
        if not reached.complete:
            self._owe(owner)
        elif reached.outdated is not None:
            store.owe_at(self.owners, owner, reached.outdated)

    def _look(self, owner: Owner, socket: Socket, num: int | None) -> None:
        if is_too_soon(socket, clock.seconds()):
            raise TooManyMessages(
                f"A socket can send `look` once in {LOOK_SECONDS:.0f} s. Wait, then send it again."
            )
        store.look(self.table, socket, num)
        if num != socket.num or not socket.looked:
            self._announce_people(owner, socket.user)

    def _announce_people(self, owner: Owner, user: str | None = None) -> None:
        """Show the people who look at rows of a project to each other, once a second at most.

        At most one call waits for the next message. It reads the rows after the wait, so all other calls
        leave the work to it.

        `user`: whose look it is. One who makes many calls wait, in many projects, is shown with the next look of anyone.
        """
        seen = store.people_announced(self.table, owner)
        now = clock.seconds()
        at = next_announcement(seen / 1_000, now)
        if at is None:
            return
        if at > now and user is not None and not seat_store.take_wait(self.table, owner.tenant, user):
            return
        if not store.claim_announcement(self.table, owner, seen, at):
            return
        if at > now:
            clock.sleep(at - now)
        shown = looking(store.listed(self.table, owner).sockets.values(), clock.seconds())
        frame = dumps({"people": people_json(shown)})
        sent = in_threads(lambda one: self._send(one.connection, frame), shown, AT_ONCE)
        lost = [one.connection for one, is_sent in zip(shown, sent, strict=True) if not is_sent]
        self._forget(owner, lost)

    def _send(self, connection: str, frame: bytes) -> bool:
        """Send a message; False: the connection is lost. A connection that does not take it is closed at
        once, without a last message: its client comes again with its cursors, and misses nothing.
        """
        try:
            self.wire.post(connection, frame)
        except Gone:
            return False
        except Slow:
            self.count("Slow")
            self.wire.end(connection)
            return False
        self.count("Frames")
        return True

    def _replace(self, seats: Iterable[Seat]) -> None:
        """End the sockets of these seats, for newer ones of their user."""
        for seat in seats:
            self._end(Owner(seat.tenant, seat.project), {seat.connection: "replaced"})
            seat_store.leave(self.table, seat)  # its socket may have gone before

    def _end(self, owner: Owner, ended: Mapping[str, Bye]) -> None:
        """Say to connections why they end, and end them."""

        def end(connection: str) -> None:
            with suppress(Gone, Slow):
                self.wire.post(connection, bye_frame(ended[connection]))
            self.wire.end(connection)

        in_threads(end, ended, AT_ONCE)
        self._forget(owner, ended)

    def _forget(self, owner: Owner, connections: Iterable[str]) -> None:
        """Forget sockets, and update the other users if some of the closed sockets looked at rows."""
        closed = in_threads(
            lambda one: store.close_socket(self.table, self.owners, owner, one), connections, AT_ONCE
        )
        if any(one is not None and one.looked for one in closed):
            self._announce_people(owner)
