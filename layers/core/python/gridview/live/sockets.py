"""Open sockets and their subscriptions, as the table stores them; and when a socket ends. Pure.

Four items belong to a socket:

```
sockets-0807             35e9.L0SM9cOFvHcCIhw=        its user, the row that they look at, its bucket of
messages
sockets-0807             35e9.L0SM9cOFvHcCIhw=.rows   a subscription, and its cursor
seats-0807               ann/L0SM9cOFvHcCIhw=         what counts for its user's limits (`seats`)
socket-L0SM9cOFvHcCIhw=  socket                       its tenant and project, and when it ends
```
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Self

from gridview.commands.actor import Actor, Role
from gridview.encoding import keys, live_keys
from gridview.encoding.json_codec import dumps, loads
from gridview.live.token_buckets import TokenBucket

MAX_SECONDS: Final = 2 * 3600 - 180.0
"""Seconds after which a socket ends. API Gateway ends it after two hours, and says nothing."""

IDLE_SECONDS: Final = 480.0
"""Seconds of the client's silence after which a socket ends. Due sockets are ended once a minute, and API
Gateway itself ends an idle connection after ten minutes.
"""

MAX_SOCKETS: Final = 500
"""Open sockets of a tenant."""

MESSAGES: Final = 20
"""Messages that a socket can send at once: its bucket, which fills again by `MESSAGES_PER_SECOND`."""

MESSAGES_PER_SECOND: Final = 5

MESSAGE_BUCKET: Final = TokenBucket(MESSAGES, MESSAGES_PER_SECOND)

_KEPT_SECONDS: Final = 3600
"""Seconds after the end of a socket after which the table removes its remaining items."""

Bye = Literal["expired", "idle", "age", "replaced", "project"]
"""Why a socket ends:

- its user's token has ended;
- the client was silent;
- it is two hours old;
- its user has opened too many newer ones;
- the project does not exist any more.
"""


class Owner(NamedTuple):
    """The owner of a socket."""

    tenant: str
    project: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Socket:
    """An open socket. Instants are seconds since 1970.

    `until`: the end of its user's token. `spoke`: when the client last spoke, as far as that is noted. `looked`: when
    it last said at which row it looks (`num`; None: at none); 0: it has not said so. `spent`: when its bucket of
    messages is full again.
    """

    tenant: str
    project: str
    connection: str
    user: str
    name: str
    role: Role
    until: float
    begun: float
    spoke: float
    looked: float = 0.0
    num: int | None = None
    spent: float = 0.0

    @property
    def actor(self) -> Actor:
        """Its user."""
        return Actor(self.tenant, self.user, self.role)

    @property
    def sort_key(self) -> str:
        """Its sort key in the tenant's partition."""
        return live_keys.socket(self.project, self.connection)

    @property
    def ends(self) -> float:
        """When it ends unless the client speaks."""
        return min(self.begun + MAX_SECONDS, self.spoke + IDLE_SECONDS)

    def why_ended(self, now: float) -> Bye | None:
        """Why it ends at an instant; None: it does not yet."""
        if now >= self.until:
            return "expired"
        if now >= self.begun + MAX_SECONDS:
            return "age"
        return "idle" if now >= self.spoke + IDLE_SECONDS else None

    def to_item(self) -> dict[str, Any]:
        """Encode as the stored item."""
        return {
            keys.PK: live_keys.sockets(self.tenant),
            keys.SK: self.sort_key,
            "user": self.user,
            "name": self.name,
            "role": self.role.value,
            "until": milliseconds(self.until),
            "begun": milliseconds(self.begun),
            "spoke": milliseconds(self.spoke),
            "looked": milliseconds(self.looked),
            "num": self.num,
            "spent": milliseconds(self.spent),
            keys.TTL_ATTRIBUTE: expiry(self.begun),
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the stored item."""
        project, connection, _ = live_keys.parse_socket(item[keys.SK])
        return cls(
            tenant=live_keys.parse_sockets(item[keys.PK]),
            project=project,
            connection=connection,
            user=item["user"],
            name=item["name"],
            role=Role(item["role"]),
            until=item["until"] / 1_000,
            begun=item["begun"] / 1_000,
            spoke=item["spoke"] / 1_000,
            looked=item["looked"] / 1_000,
            num=item["num"],
            spent=item["spent"] / 1_000,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A subscription of a socket, under an id of the client's choice.

    - `rows`: the request for rows as the client made it (`view`, or `sort` and `filter`); empty: all changes.
    - `received`: the last cursor that the client received, None before the first.
    - `at`: the cursor up to which the client received everything that concerns it.
    - `revision` rises with each write, the first of which notes that the client was sent a message.
    """

    tenant: str
    project: str
    connection: str
    id: str
    rows: Mapping[str, Any]
    received: str | None
    at: str
    begun: float
    revision: int = 1

    @property
    def sort_key(self) -> str:
        """Its sort key in the tenant's partition."""
        return live_keys.subscription(self.project, self.connection, self.id)

    @property
    def is_answered(self) -> bool:
        """Whether it is noted that the client was sent its first message, which it waits for."""
        return self.revision > 1

    def to_item(self) -> dict[str, Any]:
        """Encode as the stored item. The filter is kept as text: its numbers have all their digits there."""
        return {
            keys.PK: live_keys.sockets(self.tenant),
            keys.SK: self.sort_key,
            "rows": dumps(self.rows).decode(),
            "received": self.received,
            "at": self.at,
            "begun": milliseconds(self.begun),
            "revision": self.revision,
            keys.TTL_ATTRIBUTE: expiry(self.begun),
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the stored item."""
        project, connection, identity = live_keys.parse_socket(item[keys.SK])
        return cls(
            tenant=live_keys.parse_sockets(item[keys.PK]),
            project=project,
            connection=connection,
            id=identity,
            rows=loads(item["rows"]),
            received=item["received"],
            at=item["at"],
            begun=item["begun"] / 1_000,
            revision=item["revision"],
        )


def milliseconds(instant: float) -> int:
    """Return an instant as it is stored."""
    return round(instant * 1_000)


def expiry(begun: float) -> int:
    """Return when the table removes the items of a socket that began at an instant."""
    return int(begun + MAX_SECONDS) + _KEPT_SECONDS
