"""A user's open sockets and the rows that they follow, as the limits of one user count them. Pure.

Each open socket has a seat, an item of its own, so that two sockets of a user never write the same item:

    seats-0807   ann/L0SM9cOFvHcCIhw=   {"project": "35e9", "begun": 1700000000000, "=rows": "fPz1k3Qm", "=all": ""}
    seats-0807   ann/                   {"spent": 1700000000000}   the user's bucket of starts
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Self

from gridview.encoding import keys, live_keys
from gridview.encoding.json_codec import dumps
from gridview.live.sockets import MAX_SECONDS, Socket, Subscription, expiry, milliseconds
from gridview.live.token_buckets import TokenBucket

MAX_USER_SOCKETS: Final = 20
"""Open sockets of a user. One more ends the oldest: a connection that broke stays here for minutes."""

MAX_SUBSCRIPTIONS: Final = 10
"""Subscriptions of a socket."""

MAX_USER_ROWS: Final = 40
"""Different rows that all sockets of a user follow together. The same rows in several tabs count once."""

STARTS: Final = 100
"""Sockets and subscriptions that a user can begin at once: a bucket, which fills again by
`STARTS_PER_SECOND`. Each costs many times as much as a message.
"""

STARTS_PER_SECOND: Final = 2

START_BUCKET: Final = TokenBucket(STARTS, STARTS_PER_SECOND)

WAITS: Final = 20
"""Looks of a user that can wait to send presence at once. Each holds an invocation for up to a second and takes a
start. The bucket of starts, seen as one of this size, limits them.
"""

WAIT_BUCKET: Final = TokenBucket(WAITS, STARTS_PER_SECOND)

_MARK: Final = "="
"""The attributes of a seat that begin so are its subscriptions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """An open socket of a user. `rows`: subscription id -> which rows it follows, as `rows_print` has it."""

    tenant: str
    user: str
    connection: str
    project: str
    begun: float
    rows: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, socket: Socket) -> Self:
        """Return the seat of a socket that has no subscriptions yet."""
        return cls(
            tenant=socket.tenant,
            user=socket.user,
            connection=socket.connection,
            project=socket.project,
            begun=socket.begun,
        )

    def is_over(self, now: float) -> bool:
        """Return whether its socket has ended at an instant by its age, if nobody has removed it."""
        return now >= self.begun + MAX_SECONDS

    def to_item(self) -> dict[str, Any]:
        """Encode as the stored item."""
        return {
            keys.PK: live_keys.seats(self.tenant),
            keys.SK: live_keys.seat(self.user, self.connection),
            "project": self.project,
            "begun": milliseconds(self.begun),
            keys.TTL_ATTRIBUTE: expiry(self.begun),
            **{attribute_of(one): rows for one, rows in self.rows.items()},
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the stored item."""
        user, connection = live_keys.parse_seat(item[keys.SK])
        return cls(
            tenant=live_keys.parse_seats(item[keys.PK]),
            user=user,
            connection=connection,
            project=item["project"],
            begun=item["begun"] / 1_000,
            rows={name.removeprefix(_MARK): rows for name, rows in item.items() if name.startswith(_MARK)},
        )


class UserSeats(NamedTuple):
    """A user's seats, and when the user's bucket of starts is full again, in milliseconds."""

    seats: list[Seat]
    spent: int

    @classmethod
    def from_items(cls, items: Iterable[Mapping[str, Any]]) -> Self:
        """Decode the stored items of one user."""
        seats, spent = [], 0
        for item in items:
            if is_bucket(item):
                spent = int(item["spent"])
            else:
                seats.append(Seat.from_item(item))
        return cls(seats, spent)


def is_bucket(item: Mapping[str, Any]) -> bool:
    """Return whether an item among the seats is a user's bucket."""
    return not live_keys.parse_seat(item[keys.SK])[1]


def attribute_of(subscription: str) -> str:
    """Return the attribute of a seat that names the rows of a subscription."""
    return _MARK + subscription


def rows_print(subscription: Subscription) -> str:
    """Return the same for the same view, or the same filter and sort, of one project: 12 characters. Empty
    for all changes.
    """
    if not subscription.rows:
        return ""
    # Decimals become plain numbers here: requests differ by their text, with its properties in one order.
    asked = json.dumps(json.loads(dumps(subscription.rows)), sort_keys=True)
    return hashlib.blake2b(dumps([subscription.project, asked]), digest_size=6).hexdigest()


def replaced(seats: Iterable[Seat]) -> list[Seat]:
    """Return the oldest of a user's open sockets, beyond as many as a user can have."""
    newest_first = sorted(seats, key=lambda one: (one.begun, one.connection), reverse=True)
    return newest_first[MAX_USER_SOCKETS:]


def refusal(seats: Sequence[Seat], subscription: Subscription) -> str | None:
    """Why a user's socket cannot have one more subscription, or another in the place of one; None: it can."""
    wanted = rows_print(subscription)
    own = next((one.rows for one in seats if one.connection == subscription.connection), {})
    if len({*own, subscription.id}) > MAX_SUBSCRIPTIONS:
        return f"A socket can have {MAX_SUBSCRIPTIONS} subscriptions. End one of them first."
    others = {
        rows
        for one in seats
        for name, rows in one.rows.items()
        if rows and (one.connection, name) != (subscription.connection, subscription.id)
    }
    if wanted and len({*others, wanted}) > MAX_USER_ROWS:
        return (
            f"Your sockets follow {MAX_USER_ROWS} different filters, sorts and views, the most allowed for a user. "
            "End one of these subscriptions first."
        )
    return None
