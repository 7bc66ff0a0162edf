"""The seats of users in the table: their open sockets, and the rows that these follow."""

from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import PRESENT, Bound
from gridview.dynamodb.table import Table
from gridview.encoding import live_keys
from gridview.live import bucket_store
from gridview.live.seats import (
    START_BUCKET,
    STARTS,
    STARTS_PER_SECOND,
    WAIT_BUCKET,
    Seat,
    UserSeats,
    attribute_of,
    is_bucket,
    refusal,
    rows_print,
)
from gridview.live.sockets import Socket, Subscription
from gridview.live.token_buckets import TokenBucket
from gridview.support import clock
from gridview.support.errors import LimitExceeded, TooManySubscriptions

_BUCKET_DAYS = 1 / 24
"""Seconds for which an unused bucket is kept: it is full long before."""


def count(table: Table, tenant: str, now: float) -> int:
    """Return how many sockets a tenant has open: half a read unit for each 4 KB of their seats (50 to 700
    bytes each).
    """
    items = table.query_all(live_keys.seats(tenant))
    open_now = (Seat.from_item(item) for item in items if not is_bucket(item))
    return sum(1 for seat in open_now if not seat.is_over(now))


def of_user(table: Table, tenant: str, user: str) -> UserSeats:
    """Return the seats and the bucket of a user: a read unit for each 4 KB, strongly consistent."""
    # One page holds them all: a seat has 1 KB at most.
    page = table.query(
        live_keys.seats(tenant), bound=Bound("begins_with", live_keys.seat(user)), consistent=True
    )
    return UserSeats.from_items(page.items)


def take(table: Table, socket: Socket) -> list[Seat]:
    """Give a socket a seat; return all seats of its user then. 1 write unit, and the cost of `of_user`."""
    table.put(Seat.of(socket).to_item())
    return of_user(table, socket.tenant, socket.user).seats


def leave(table: Table, seat: Seat) -> None:
    """Free a seat, if it is taken: 1 write unit."""
    table.delete(live_keys.seats(seat.tenant), live_keys.seat(seat.user, seat.connection))


def require_room(table: Table, socket: Socket, subscription: Subscription) -> UserSeats:
    """Return the user's seats, at the cost of `of_user`. LimitExceeded: socket or user have too many
    subscriptions for this one.
    """
    found = of_user(table, socket.tenant, socket.user)
    refused = refusal(found.seats, subscription)
    if refused is not None:
        raise LimitExceeded(refused)
    return found


def _spent(table: Table, tenant: str, user: str) -> int:
    item = table.get(live_keys.seats(tenant), live_keys.seat(user))
    return 0 if item is None else int(item["spent"])


def spent(table: Table, tenant: str, user: str) -> int:
    """When a user's bucket of starts is full again, in milliseconds: half a read unit. TooManySubscriptions: it is empty."""
    found = _spent(table, tenant, user)
    if not START_BUCKET.has_room(found, clock.seconds()):
        raise _too_many_starts()
    return found


def take_start(table: Table, tenant: str, user: str, spent: int) -> None:
    """Take a start out of a user's bucket, last seen as `spent`: 1 write unit, a second one where two come together.

    TooManySubscriptions: the bucket is empty, which usually takes no write.
    """
    try:
        _take(table, tenant, user, START_BUCKET, spent)
    except bucket_store.BucketEmpty:
        raise _too_many_starts() from None


def take_wait(table: Table, tenant: str, user: str) -> bool:
    """Take a start for a look that waits to send presence; False: too few are left. Half a read unit, and the cost of
    `take_start`.
    """
    try:
        _take(table, tenant, user, WAIT_BUCKET, _spent(table, tenant, user))
    except bucket_store.BucketEmpty:
        return False
    return True


def _take(table: Table, tenant: str, user: str, bucket: TokenBucket, spent: int) -> None:
    key = live_keys.seats(tenant), live_keys.seat(user)
    bucket_store.take(table, key, bucket, spent, expires=clock.expiry(_BUCKET_DAYS))


def _too_many_starts() -> TooManySubscriptions:
    return TooManySubscriptions(
        f"You can open {STARTS} sockets and subscriptions at once, and {STARTS_PER_SECOND} a second. "
        "Wait a second, then try again.",
        headers={"Retry-After": "1"},
    )


def note(table: Table, socket: Socket, subscription: Subscription) -> None:
    """Count a subscription for its user: 1 write unit. ConditionFailed: the socket was closed."""
    table.update(
        live_keys.seats(socket.tenant),
        live_keys.seat(socket.user, socket.connection),
        PRESENT,
        assign={attribute_of(subscription.id): rows_print(subscription)},
    )


def forget(table: Table, socket: Socket, subscription: str) -> None:
    """Count a subscription no more: 1 write unit."""
    place = live_keys.seats(socket.tenant), live_keys.seat(socket.user, socket.connection)
    try:
        table.update(*place, PRESENT, drop=[attribute_of(subscription)])
    except ConditionFailed:
        return  # the socket was closed, and its seat with it
