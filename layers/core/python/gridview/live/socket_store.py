"""Open sockets in the table. A tenant's sockets and subscriptions are read and written in that tenant's name; whose a socket is
(`owners`) is known before there is a name to act in, so a role of its own reaches that, and nothing else.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from gridview.dynamodb.errors import ConditionFailed, TransactionFailed
from gridview.dynamodb.expressions import ABSENT, PRESENT, Bound, Condition, put, revision_is
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.live.sockets import (
    MAX_SOCKETS,
    MAX_SUBSCRIPTIONS,
    Owner,
    Socket,
    Subscription,
    expiry,
    milliseconds,
)
from gridview.live.tickets import Ticket
from gridview.support import clock
from gridview.support.errors import TooManySockets, Unauthenticated, Unprocessable

_NOTED_SECONDS = 60.0
"""What a client says is noted once in so many seconds: what is noted decides when the socket ends."""


class OpenSockets(NamedTuple):
    """The open sockets of a project, by connection, and what they subscribe to."""

    sockets: Mapping[str, Socket]
    subscriptions: tuple[Subscription, ...]


def open_socket(table: Table, owners: Table, ticket: Ticket, connection: str) -> Socket:
    """Open a socket by a ticket, which is used up: 4 write units, 3 for its owner, and half a read unit for each 4 KB of what the
    tenant's sockets are. Unauthenticated: the ticket was used before. TooManySockets.
    """
    now = clock.seconds()
    tenant, user, role = ticket.actor
    if _count(table, tenant, now) >= MAX_SOCKETS:
        raise TooManySockets(f"A tenant can have {MAX_SOCKETS} sockets open.", headers={"Retry-After": "60"})
    socket = Socket(
        tenant=tenant,
        project=ticket.project,
        connection=connection,
        user=user,
        name=ticket.name,
        role=role,
        until=ticket.until,
        begun=now,
        heard=now,
    )
    try:
        table.transact([put(_used(ticket), ABSENT), put(socket.to_item(), ABSENT)])
    except TransactionFailed:
        raise Unauthenticated("The ticket was used before; POST .../tickets gives another.") from None
    _put_owner(owners, socket)
    return socket


def renew_socket(table: Table, socket: Socket, ticket: Ticket) -> Socket:
    """Let a socket stand as long as the token that bought this ticket, which is used up: 4 write units.

    Unauthenticated: the ticket is another user's, or of another project, or was used before.
    """
    if (ticket.actor.tenant, ticket.actor.user, ticket.project) != (
        socket.tenant,
        socket.user,
        socket.project,
    ):
        raise Unauthenticated("The ticket is for another socket.")
    renewed = replace(socket, until=ticket.until, name=ticket.name, role=ticket.actor.role)
    news = {"until": milliseconds(renewed.until), "name": renewed.name, "role": renewed.role.value}
    try:
        table.put(_used(ticket), ABSENT)
    except ConditionFailed:
        raise Unauthenticated("The ticket was used before; POST .../tickets gives another.") from None
    table.update(keys.sockets(socket.tenant), socket.sort_key, PRESENT, assign=news)
    return renewed


def owner_of(owners: Table, connection: str) -> Owner | None:
    """Whose a socket is; None: it is open no more. 1 read unit."""
    item = owners.get(keys.socket_owner(connection), keys.SOCKET, consistent=True)
    return None if item is None else Owner(item["tenant"], item["project"])


def get_socket(table: Table, owner: Owner, connection: str) -> Socket | None:
    """An open socket: 1 read unit."""
    item = table.get(keys.sockets(owner.tenant), keys.socket(owner.project, connection), consistent=True)
    return None if item is None else Socket.from_item(item)


def heard(table: Table, owners: Table, socket: Socket) -> None:
    """Note that its client has spoken, once a minute: 1 write unit, and 3 for its owner. ConditionFailed: it was closed."""
    now = clock.seconds()
    if 0 <= now - socket.heard < _NOTED_SECONDS:
        return
    news = {"heard": milliseconds(now)}
    table.update(keys.sockets(socket.tenant), socket.sort_key, PRESENT, assign=news)
    _put_owner(owners, replace(socket, heard=now))


def look(table: Table, socket: Socket, num: int | None) -> None:
    """Note at which row its user looks: 1 write unit. ConditionFailed: it was closed meanwhile."""
    news = {"num": num, "looked": milliseconds(clock.seconds())}
    table.update(keys.sockets(socket.tenant), socket.sort_key, PRESENT, assign=news)


def close_socket(table: Table, owners: Table, owner: Owner, connection: str) -> Socket | None:
    """Forget a socket and what it subscribes to: 1 read unit, a write unit for each subscription, 1 for itself and 2 for its owner.

    None: it was forgotten before.
    """
    partition = keys.sockets(owner.tenant)
    begins = Bound("begins_with", keys.socket(owner.project, connection))
    found = None
    for item in table.query(partition, bound=begins, consistent=True).items:
        if keys.parse_socket(item[keys.SK])[1] != connection:
            continue
        table.delete(partition, item[keys.SK])
        if keys.is_socket(item[keys.SK]):
            found = Socket.from_item(item)
    owners.delete(keys.socket_owner(connection), keys.SOCKET)
    return found


def listed(table: Table, owner: Owner) -> OpenSockets:
    """The open sockets of a project, those that are over too, and what they subscribe to: a read unit for each 4 KB of them."""
    sockets: dict[str, Socket] = {}
    subscriptions: list[Subscription] = []
    for item in _of_project(table, owner):
        if keys.is_socket(item[keys.SK]):
            socket = Socket.from_item(item)
            sockets[socket.connection] = socket
        else:
            subscriptions.append(Subscription.from_item(item))
    return OpenSockets(sockets, tuple(one for one in subscriptions if one.connection in sockets))


def subscribe(table: Table, subscription: Subscription) -> None:
    """Begin a subscription, or begin it anew: a write unit for each KB, and 1 read unit. Unprocessable: there are too many."""
    partition = keys.sockets(subscription.tenant)
    begins = Bound("begins_with", keys.subscription(subscription.project, subscription.connection, ""))
    there = {item[keys.SK] for item in table.query(partition, bound=begins, consistent=True, paths=()).items}
    if subscription.sort_key not in there and len(there) >= MAX_SUBSCRIPTIONS:
        raise Unprocessable(f"A socket can have {MAX_SUBSCRIPTIONS} subscriptions.")
    table.put(subscription.to_item())


def unsubscribe(table: Table, socket: Socket, subscription: str) -> None:
    """End a subscription, if there is one: 1 write unit."""
    table.delete(
        keys.sockets(socket.tenant), keys.subscription(socket.project, socket.connection, subscription)
    )


def advance(table: Table, subscription: Subscription, *, told: str | None, at: str) -> Subscription | None:
    """Note how far a subscription is told: a write unit for each KB. None: it ended or began anew meanwhile."""
    later = replace(subscription, told=told, at=at, revision=subscription.revision + 1)
    news = {"told": told, "at": at, "revision": later.revision}
    try:
        table.update(
            keys.sockets(later.tenant), later.sort_key, revision_is(subscription.revision), assign=news
        )
    except ConditionFailed:
        return None
    return later


def people_told(table: Table, owner: Owner) -> int:
    """When the people of a project were last told of each other, in milliseconds since 1970; 0: never. 1 read unit."""
    item = table.get(keys.sockets(owner.tenant), owner.project, consistent=True)
    return 0 if item is None else int(item["people_told"])


def claim_telling(table: Table, owner: Owner, seen: int) -> bool:
    """Take the telling of who looks at which row, unless somebody has taken it since it was `seen`: 1 write unit."""
    now = clock.seconds()
    item = {
        keys.PK: keys.sockets(owner.tenant),
        keys.SK: owner.project,
        "people_told": max(milliseconds(now), seen + 1),
        keys.TTL_ATTRIBUTE: expiry(now),
    }
    as_seen = Condition("people_told = :seen", values={":seen": seen}) if seen else ABSENT
    try:
        table.put(item, as_seen)
    except ConditionFailed as error:
        return error.is_repeat_of(item)
    return True


def ending(owners: Table, most: int) -> Iterator[tuple[str, Owner]]:
    """The connections that are due to end by now, up to so many: half a read unit for each 4 KB, and 1 for each."""
    bound = Bound("<=", clock.stored(clock.seconds()))
    for item in owners.query(keys.SOCKET, index=True, bound=bound, limit=most).items:
        connection = keys.parse_socket_owner(item[keys.PK])
        owner = owner_of(owners, connection)
        if owner is not None:
            yield connection, owner


def _of_project(table: Table, owner: Owner) -> Iterator[dict[str, Any]]:
    bound = Bound("begins_with", keys.socket(owner.project))
    while True:
        page = table.query(keys.sockets(owner.tenant), bound=bound, consistent=True)
        yield from page.items
        if page.last is None:
            return
        bound = Bound("between", page.last + "\0", keys.socket(owner.project) + "\uffff")


def _count(table: Table, tenant: str, now: float) -> int:
    paths = (("until",), ("begun",), ("heard",))
    open_now = (
        item
        for item in table.query_all(keys.sockets(tenant), paths=paths)
        if keys.is_socket(item[keys.SK]) and _stands(item, now)
    )
    return sum(1 for _ in open_now)


def _stands(item: Mapping[str, Any], now: float) -> bool:
    told = {"user": "", "name": "", "role": 1, "looked": 0, "num": None}
    return Socket.from_item({**told, **item}).why_ended(now) is None


def _used(ticket: Ticket) -> dict[str, Any]:
    return {
        keys.PK: keys.tickets(ticket.actor.tenant),
        keys.SK: ticket.id,
        keys.TTL_ATTRIBUTE: int(ticket.expires) + 3_600,
    }


def _put_owner(owners: Table, socket: Socket) -> None:
    owners.put(
        {
            keys.PK: keys.socket_owner(socket.connection),
            keys.SK: keys.SOCKET,
            keys.SORT: clock.stored(socket.ends),
            "tenant": socket.tenant,
            "project": socket.project,
            keys.TTL_ATTRIBUTE: expiry(socket.begun),
        }
    )
