"""The seats of users in the table: who has which sockets open, and which rows they follow."""

from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import PRESENT, Bound
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.live.seats import Seat, attribute_of, refusal, rows_print
from gridview.live.sockets import Socket, Subscription
from gridview.support.errors import Unprocessable


def count(table: Table, tenant: str, now: float) -> int:
    """How many sockets a tenant has open: half a read unit for each 4 KB of their seats (50 to 700 bytes each)."""
    open_now = (Seat.from_item(item) for item in table.query_all(keys.seats(tenant)))
    return sum(1 for seat in open_now if not seat.is_over(now))


def of_user(table: Table, tenant: str, user: str) -> list[Seat]:
    """The seats of a user: a read unit for each 4 KB, strongly consistent."""
    # One page holds them all: a seat has 1 KB at most.
    page = table.query(keys.seats(tenant), bound=Bound("begins_with", keys.seat(user)), consistent=True)
    return [Seat.from_item(item) for item in page.items]


def take(table: Table, socket: Socket) -> list[Seat]:
    """Give a socket a seat; all seats of its user then: 1 write unit, and what `of_user` costs."""
    table.put(Seat.of(socket).to_item())
    return of_user(table, socket.tenant, socket.user)


def leave(table: Table, seat: Seat) -> None:
    """Free a seat, if it is taken: 1 write unit."""
    table.delete(keys.seats(seat.tenant), keys.seat(seat.user, seat.connection))


def require_room(table: Table, socket: Socket, subscription: Subscription) -> None:
    """Unprocessable if its socket or its user has too many subscriptions for this one: what `of_user` costs."""
    refused = refusal(of_user(table, socket.tenant, socket.user), subscription)
    if refused is not None:
        raise Unprocessable(refused)


def note(table: Table, socket: Socket, subscription: Subscription) -> None:
    """Count a subscription for its user: 1 write unit. ConditionFailed: the socket was closed."""
    table.update(
        keys.seats(socket.tenant),
        keys.seat(socket.user, socket.connection),
        PRESENT,
        assign={attribute_of(subscription.id): rows_print(subscription)},
    )


def forget(table: Table, socket: Socket, subscription: str) -> None:
    """Count a subscription no more: 1 write unit."""
    place = keys.seats(socket.tenant), keys.seat(socket.user, socket.connection)
    try:
        table.update(*place, PRESENT, drop=[attribute_of(subscription)])
    except ConditionFailed:
        return  # the socket was closed, and its seat with it
