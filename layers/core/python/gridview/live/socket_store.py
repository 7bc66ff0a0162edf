"""Open sockets in the table. A tenant's sockets and subscriptions are read and written in that tenant's name.

The owner of a socket (`owners`) is read before the tenant is known, so another role reaches those items, and
nothing else.
"""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import ABSENT, PRESENT, Bound, Condition, revision_is
from gridview.dynamodb.table import Table
from gridview.encoding import keys, live_keys
from gridview.live import bucket_store, seat_store
from gridview.live.seats import Seat, replaced
from gridview.live.sockets import (
    MAX_SOCKETS,
    MESSAGE_BUCKET,
    MESSAGES,
    MESSAGES_PER_SECOND,
    Owner,
    Socket,
    Subscription,
    expiry,
    milliseconds,
)
from gridview.live.tickets import Ticket
from gridview.support import clock
from gridview.support.errors import LimitExceeded, TooManyMessages, TooManySockets, Unauthenticated

_NOTED_SECONDS = 60.0
"""Seconds between two notes of a client's activity, which decides when the socket ends."""


class OpenSockets(NamedTuple):
    """The open sockets of a project, by connection, and their subscriptions."""

    sockets: Mapping[str, Socket]
    subscriptions: tuple[Subscription, ...]


def open_socket(table: Table, owners: Table, ticket: Ticket, connection: str) -> tuple[Socket, list[Seat]]:
    """Open a socket by a ticket, which is used up; also return the user's oldest sockets that it replaces,
    for the caller to end.

    4 write units and 3 for its owner, and the cost of `seat_store.spent`, `count` and `of_user`. A used
    ticket takes 1 write unit. Unauthenticated: the ticket was used before. TooManySockets. TooManySubscriptions,
    which usually takes no write: the ticket stays valid.
    """
    now = clock.seconds()
    tenant, user, role = ticket.actor
    spent = seat_store.spent(table, tenant, user)
    _use(table, ticket)
    if seat_store.count(table, tenant, now) >= MAX_SOCKETS:
        raise TooManySockets(
            f"Your tenant has {MAX_SOCKETS} open sockets, the most allowed. Close one, or wait a minute.",
            headers={"Retry-After": "60"},
        )
    seat_store.take_start(table, tenant, user, spent)
    socket = Socket(
        tenant=tenant,
        project=ticket.project,
        connection=connection,
        user=user,
        name=ticket.name,
        role=role,
        until=ticket.until,
        begun=now,
        spoke=now,
    )
    # The seat comes first: no socket is open that does not count. One without a socket is the oldest before long, and
    # goes.
    seats = seat_store.take(table, socket)
    table.put(socket.to_item())
    _put_owner(owners, socket)
    return socket, replaced(seats)


def renew_socket(table: Table, socket: Socket, ticket: Ticket) -> Socket:
    """Keep a socket open as long as the token that bought this ticket, which is used up: 4 write units.

    Unauthenticated: the ticket is another user's, or of another project, or was used before.
    """
    if (ticket.actor.tenant, ticket.actor.user, ticket.project) != (
        socket.tenant,
        socket.user,
        socket.project,
    ):
        raise Unauthenticated(
            "The ticket is for another user or project. Get one for this socket's: POST .../tickets."
        )
    renewed = replace(socket, until=ticket.until, name=ticket.name, role=ticket.actor.role)
    news = {"until": milliseconds(renewed.until), "name": renewed.name, "role": renewed.role.value}
    _use(table, ticket)
    table.update(live_keys.sockets(socket.tenant), socket.sort_key, PRESENT, assign=news)
    return renewed


def owner_of(owners: Table, connection: str) -> Owner | None:
    """Return the owner of a socket; None: it is closed. 1 read unit."""
    item = owners.get(live_keys.socket_owner(connection), live_keys.SOCKET, consistent=True)
    return None if item is None else Owner(item["tenant"], item["project"])


def get_socket(table: Table, owner: Owner, connection: str) -> Socket | None:
    """Return an open socket: 1 read unit."""
    item = table.get(
        live_keys.sockets(owner.tenant), live_keys.socket(owner.project, connection), consistent=True
    )
    return None if item is None else Socket.from_item(item)


def take_message(table: Table, socket: Socket) -> None:
    """Take a message out of a socket's bucket: 1 write unit, a second one where two messages come together.

    TooManyMessages: the bucket is empty, which usually takes no write. ConditionFailed: the socket was closed.
    """
    place = live_keys.sockets(socket.tenant), socket.sort_key
    try:
        bucket_store.take(table, place, MESSAGE_BUCKET, milliseconds(socket.spent))
    except bucket_store.BucketEmpty:
        raise _too_many_messages() from None


def _too_many_messages() -> TooManyMessages:
    return TooManyMessages(
        f"A socket can send {MESSAGES} messages at once, and {MESSAGES_PER_SECOND} a second. "
        "Wait a second, then send this one again."
    )


def note_message(table: Table, owners: Table, socket: Socket) -> None:
    """Note that its client has spoken, once a minute: 1 write unit, and 3 for its owner. ConditionFailed: it
    was closed.
    """
    now = clock.seconds()
    if 0 <= now - socket.spoke < _NOTED_SECONDS:
        return
    news = {"spoke": milliseconds(now)}
    table.update(live_keys.sockets(socket.tenant), socket.sort_key, PRESENT, assign=news)
    _put_owner(owners, replace(socket, spoke=now))


def look(table: Table, socket: Socket, num: int | None) -> None:
    """Note at which row its user looks: 1 write unit. ConditionFailed: it was closed meanwhile."""
    news = {"num": num, "looked": milliseconds(clock.seconds())}
    table.update(live_keys.sockets(socket.tenant), socket.sort_key, PRESENT, assign=news)


def close_socket(table: Table, owners: Table, owner: Owner, connection: str) -> Socket | None:
    """Forget a socket and its subscriptions: 1 read unit, a write unit for each subscription, 2 for itself
    and 2 for its owner.

    None: it was forgotten before.
    """
    partition = live_keys.sockets(owner.tenant)
    begins = Bound("begins_with", live_keys.socket(owner.project, connection))
    found = None
    for item in table.query(partition, bound=begins, consistent=True).items:
        if live_keys.parse_socket(item[keys.SK])[1] != connection:
            continue
        if live_keys.is_socket(item[keys.SK]):
            found = Socket.from_item(item)
            seat_store.leave(table, Seat.of(found))
        table.delete(partition, item[keys.SK])
    owners.delete(live_keys.socket_owner(connection), live_keys.SOCKET)
    return found


def listed(table: Table, owner: Owner) -> OpenSockets:
    """Return the sockets of a project, also ended ones, and their subscriptions: a read unit for each 4 KB of
    them.
    """
    sockets: dict[str, Socket] = {}
    subscriptions: list[Subscription] = []
    for item in _of_project(table, owner):
        if live_keys.is_socket(item[keys.SK]):
            socket = Socket.from_item(item)
            sockets[socket.connection] = socket
        else:
            subscriptions.append(Subscription.from_item(item))
    return OpenSockets(sockets, tuple(one for one in subscriptions if one.connection in sockets))


def admit(table: Table, socket: Socket, subscription: Subscription) -> None:
    """Let a subscription begin, or begin again, and count it: 1 write unit, and the cost of `of_user`.

    LimitExceeded: the socket or its user has too many. TooManySubscriptions. Then nothing is written.
    """
    found = seat_store.require_room(table, socket, subscription)
    seat_store.take_start(table, socket.tenant, socket.user, found.spent)


def subscribe(table: Table, socket: Socket, subscription: Subscription) -> None:
    """Begin a subscription that was admitted: a write unit for each KB, 1 for the seat, and the cost of
    `of_user`.

    LimitExceeded: as for `admit`; then nothing stays written. ConditionFailed: the socket was closed.
    """
    seat_store.note(table, socket, subscription)
    try:
        # Two sockets of a user may have found room for one at the same time.
        seat_store.require_room(table, socket, subscription)
    except LimitExceeded:
        unsubscribe(table, socket, subscription.id)
        raise
    table.put(subscription.to_item())


def unsubscribe(table: Table, socket: Socket, subscription: str) -> None:
    """End a subscription, if there is one: 2 write units."""
    table.delete(
        live_keys.sockets(socket.tenant),
        live_keys.subscription(socket.project, socket.connection, subscription),
    )
    seat_store.forget(table, socket, subscription)


def advance(
    table: Table, subscription: Subscription, *, received: str | None, at: str
) -> Subscription | None:
    """Store the progress of a subscription: a write unit for each KB. None: it ended or began again
    meanwhile.
    """
    later = replace(subscription, received=received, at=at, revision=subscription.revision + 1)
    news = {"received": received, "at": at, "revision": later.revision}
    try:
        table.update(
            live_keys.sockets(later.tenant), later.sort_key, revision_is(subscription.revision), assign=news
        )
    except ConditionFailed:
        return None
    return later


def people_announced(table: Table, owner: Owner) -> int:
    """Return when the people of a project are shown to each other, the last time or next. In milliseconds
    since 1970; 0: never. 1 read unit.
    """
    item = table.get(live_keys.sockets(owner.tenant), owner.project, consistent=True)
    return 0 if item is None else int(item["people_announced"])


def claim_announcement(table: Table, owner: Owner, seen: int, at: float) -> bool:
    """Claim the next message, at an instant, about who looks at which row. False: another call has claimed it
    since it was `seen`. 1 write unit.
    """
    item = {
        keys.PK: live_keys.sockets(owner.tenant),
        keys.SK: owner.project,
        "people_announced": milliseconds(at),
        "by": secrets.token_hex(4),  # two calls may claim the same instant
        keys.TTL_ATTRIBUTE: expiry(at),
    }
    as_seen = Condition("people_announced = :seen", values={":seen": seen}) if seen else ABSENT
    try:
        table.put(item, as_seen)
    except ConditionFailed as error:
        return error.is_repeat_of(item)
    return True


def ending(owners: Table, most: int) -> Iterator[tuple[str, Owner]]:
    """The connections that are due to end by now, up to so many: half a read unit for each 4 KB, and 1 for each."""
    bound = Bound("<=", clock.stored(clock.seconds()))
    for item in owners.query(live_keys.SOCKET, index=True, bound=bound, limit=most).items:
        connection = live_keys.parse_socket_owner(item[keys.PK])
        owner = owner_of(owners, connection)
        if owner is not None:
            yield connection, owner


def owe(owners: Table, owner: Owner) -> None:
    """Note that a project's sockets are owed changes: 3 write units."""
    owners.put(_note(owner, clock.seconds()))


def owe_at(owners: Table, owner: Owner, at: float) -> None:
    """Note that a project's sockets are owed a look at an instant (seconds since 1970), when their rows become others.

    3 write units, 2 if they are owed one before.

    A note that is due already is renewed, because the push that settles it may not have listed the new subscription.
    """
    later = Condition(
        "attribute_not_exists(#sort) OR #sort > :at", {"#sort": keys.SORT}, {":at": clock.stored(at)}
    )
    try:
        owners.put(_note(owner, at), later)
    except ConditionFailed:
        now = clock.seconds()
        due = Condition("#sort <= :now", {"#sort": keys.SORT}, {":now": clock.stored(now)})
        with suppress(ConditionFailed):
            owners.put(_note(owner, now), due)


def owed(owners: Table, most: int) -> list[tuple[Owner, str]]:
    """Projects whose sockets are owed changes by now, and since when, oldest first: half a read unit for each 4 KB."""
    bound = Bound("<=", clock.stored(clock.seconds()))
    found = owners.query(live_keys.OWED, index=True, bound=bound, limit=most).items
    return [(Owner(*live_keys.parse_owed_pushes(item[keys.PK])), item[keys.SORT]) for item in found]


def settle(owners: Table, owner: Owner, since: str, again: float | None = None) -> None:
    """Remove the note of this instant, or note that the sockets are owed a look `again` (seconds since 1970): 2 to 4
    write units. A newer note stays.
    """
    as_seen = Condition("#sort = :since", {"#sort": keys.SORT}, {":since": since})
    with suppress(ConditionFailed):
        if again is None:
            owners.delete(live_keys.owed_pushes(*owner), live_keys.OWED, as_seen)
        else:
            owners.put(_note(owner, again), as_seen)


def _note(owner: Owner, due: float) -> dict[str, Any]:
    return {
        keys.PK: live_keys.owed_pushes(*owner),
        keys.SK: live_keys.OWED,
        keys.SORT: clock.stored(due),
        keys.TTL_ATTRIBUTE: expiry(due),
    }


def _of_project(table: Table, owner: Owner) -> Iterator[dict[str, Any]]:
    bound = Bound("begins_with", live_keys.socket(owner.project))
    while True:
        page = table.query(live_keys.sockets(owner.tenant), bound=bound, consistent=True)
        yield from page.items
        if page.last is None:
            return
        bound = Bound("between", page.last + "\0", live_keys.socket(owner.project) + "\uffff")


def _use(table: Table, ticket: Ticket) -> None:
    try:
        table.put(_used(ticket), ABSENT)
    except ConditionFailed:
        raise Unauthenticated("The ticket was used before. Get another: POST .../tickets.") from None


def _used(ticket: Ticket) -> dict[str, Any]:
    return {
        keys.PK: live_keys.tickets(ticket.actor.tenant),
        keys.SK: ticket.id,
        keys.TTL_ATTRIBUTE: int(ticket.expires) + 3_600,
    }


def _put_owner(owners: Table, socket: Socket) -> None:
    owners.put(
        {
            keys.PK: live_keys.socket_owner(socket.connection),
            keys.SK: live_keys.SOCKET,
            keys.SORT: clock.stored(socket.ends),
            "tenant": socket.tenant,
            "project": socket.project,
            keys.TTL_ATTRIBUTE: expiry(socket.begun),
        }
    )
