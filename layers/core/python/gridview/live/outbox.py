"""The outbox of a webhook: its progress in its project's feed, the state of its receiver, and its deliveries.
Pure.

The outbox of each webhook is a partition of its own:

```
outbox-T.P.<webhook>  outbox                            the outbox itself, due when a worker has to visit it
                      delivery.000000000057.000001      a delivery, by the place of its change in the feed
                      retry.<due>.000000000057.000001   says that this delivery is due for another attempt
```

A delivery exists from its first attempt on; no change after the outbox's position was tried. After a failed
attempt the delivery waits for another one, and the position advances. While the receiver is down the whole
outbox rests, and the feed is the queue.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple, Self

from gridview.dynamodb.expressions import Item
from gridview.encoding import keys, live_keys
from gridview.encoding.values import datetime_json
from gridview.journal.feed_positions import FeedPosition
from gridview.live.retries import next_delay, rest
from gridview.schema.history import FEED_DAYS
from gridview.support import clock

DELIVERY_DAYS: Final = FEED_DAYS
"""So long a delivery is kept from when it was first tried, or replayed."""

RESET: Final = "reset"
"""The event after which a receiver reads its copy again: changes were not sent, or nothing can describe them
any more.
"""

SLOW: Final = 3.0
"""Seconds of an attempt after which a receiver counts as slow."""

GONE: Final = 410
"""The status by which a receiver asks for no more messages, permanently."""

Status = Literal["pending", "delivered", "failed"]


class Reply(NamedTuple):
    """The outcome of an attempt. `code` is the receiver's status, None if it gave none; `answer` is the
    beginning of its answer.

    `problem` says in words why the attempt failed; empty: it did not. `asked`: seconds for which the receiver
    wants no messages.
    """

    code: int | None = None
    answer: str = ""
    problem: str = ""
    asked: float = 0.0

    @property
    def succeeded(self) -> bool:
        """Whether the receiver has taken the message."""
        return not self.problem


@dataclass(frozen=True, slots=True)
class Outbox:
    """The progress of a webhook. Instants are stored ones; empty: never.

    - `due`: when a worker has to look at it. While a `holder` works on it, the end of the holder's lease.
    - `called`: more has come while it was held.
    - `rests`: nothing is tried until then.
    - `failures`: failed attempts in succession, the first of them at `failing`.
    - `missed`: there were changes before its position that were not sent.
    - `rows`: the fingerprint of the rows of a view that were followed up to the position.
    - `slow`: the last attempt that succeeded took longer than `SLOW`.
    - `begun`: the version of the webhook with which it began; 0: it is the webhook's first.
    """

    position: FeedPosition
    due: str
    holder: str = ""
    called: bool = False
    rests: str = ""
    failures: int = 0
    failing: str = ""
    missed: bool = False
    rows: str = ""
    slow: bool = False
    begun: int = 0

    @property
    def delays_others(self) -> bool:
        """Whether its receiver fails or answers slowly, so that its messages go through the slow queue."""
        return bool(self.failures) or self.slow

    def is_held(self, now: str) -> bool:
        """Return whether a worker holds it."""
        return bool(self.holder) and self.due > now

    def is_free(self, now: str) -> bool:
        """Return whether a turn may begin: no other is at work on it, and it does not rest."""
        return not self.is_held(now) and self.rests <= now

    def tried(self, reply: Reply, began: str, draw: float, seconds: float = 0.0) -> Self:
        """Return the same after an attempt that `began` at an instant and took some `seconds`. `draw`: a
        random number from 0 to 1.
        """
        if reply.succeeded:
            return replace(self, failures=0, failing="", rests="", slow=seconds > SLOW)
        failures = self.failures + 1
        pause = rest(failures, reply.asked, draw)
        return replace(
            self,
            failures=failures,
            failing=self.failing or began,
            rests=clock.after(pause) if pause else "",
        )

    @property
    def progress(self) -> dict[str, Any]:
        """Return the attributes that the holder changes."""
        number, place, since, item = self.position
        return {
            "position": [number, place, round(since * 1_000), item],
            "rests": self.rests,
            "failures": self.failures,
            "failing": self.failing,
            "missed": self.missed,
            "rows": self.rows,
            "slow": self.slow,
        }

    def to_item(self, partition: str) -> Item:
        """Encode as a stored item that is due for a worker."""
        return {
            keys.PK: partition,
            keys.SK: live_keys.OUTBOX,
            keys.SORT: self.due,
            keys.HOLDER: self.holder,
            "state": lane_of(slow=self.delays_others),
            "begun": self.begun,
            **self.progress,
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the stored item."""
        number, place, since, after = item["position"]
        return cls(
            FeedPosition(number, place, since / 1_000, after),
            item.get(keys.SORT, ""),
            item[keys.HOLDER],
            item.get("called", False),
            item["rests"],
            item["failures"],
            item["failing"],
            item["missed"],
            item["rows"],
            item["slow"],
            item["begun"],
        )


def lane_of(*, slow: bool) -> str:
    """Return the state of an outbox in GSI1: the queue for its messages."""
    return "slow" if slow else "quick"


def new_outbox(position: FeedPosition, *, replaced_at: int = 0) -> Outbox:
    """Return the outbox of a webhook that receives the changes after a position, due at once.

    `replaced_at`: the version of the webhook with which it replaces a former outbox. It then begins with a reset.
    """
    return Outbox(position, clock.now(), missed=bool(replaced_at), begun=replaced_at)


class RowKeys(NamedTuple):
    """The effect of a change on a row of a view: its key after the change and before it."""

    key: str | None
    before: str | None


@dataclass(frozen=True, slots=True)
class Delivery:
    """The delivery of a change, or of a reset (which is of no issue), to a webhook.

    Its place in the feed is after its version. `choice` is the webhook's choice of rows by which it was
    judged. Instants are stored ones; empty: never. `at` is when the change was made, `first` when it was
    first tried, or replayed; the next attempt is `due`.

    Resets may follow each other at one place. `outbox` distinguishes those of two outboxes of the webhook, by `begun`.
    `day` is the fingerprint of the rows if they depend on the day.
    """

    number: int
    place: int
    event: str
    at: str
    num: int | None = None
    version: int | None = None
    row: RowKeys | None = None
    choice: int = 0
    status: Status = "pending"
    attempts: int = 0
    first: str = ""
    last: str = ""
    due: str = ""
    reply: Reply = field(default_factory=Reply)
    day: str = ""
    outbox: int = 0

    @property
    def id(self) -> str:
        """By which the API names it."""
        return f"{self.number}_{self.place}{self._mark}"

    @property
    def sort_key(self) -> str:
        """The sort key of its item."""
        return live_keys.delivery(self.number, self.place, self._mark)

    @property
    def _mark(self) -> str:
        return f"r{'_'.join(self._cause)}" if self.event == RESET else ""

    @property
    def _cause(self) -> list[str]:
        """The parts of its ids that distinguish a reset from others at its place."""
        return [str(one) for one in (self.outbox, self.day) if one]

    def message_id(self, webhook: str) -> str:
        """Return the id of its message, the same at each attempt."""
        if self.num is not None:
            return f"{webhook}_{self.num}_{self.version}"
        return "_".join((webhook, RESET, str(self.number), str(self.place), *self._cause))

    def tried(self, reply: Reply, began: str, draw: float) -> Self:
        """Return the same after an attempt that `began` at an instant. `draw`: a random number from 0 to 1."""
        first = self.first or began
        attempts = self.attempts + 1
        done = replace(self, attempts=attempts, first=first, last=began, due="", reply=reply)
        if reply.succeeded:
            return replace(done, status="delivered")
        age = clock.seconds() - clock.instant(first)
        delay = None if reply.code == GONE else next_delay(attempts, age, reply.asked, draw)
        if delay is None:
            return replace(done, status="failed")
        return replace(done, status="pending", due=clock.after(delay))

    def given_up(self, problem: str) -> Self:
        """Return the same, when there is nothing to try any more."""
        return replace(self, status="failed", due="", reply=Reply(problem=problem))

    def replayed(self, now: str) -> Self:
        """Return the same, to be tried at once, as if it were for the first time."""
        return replace(self, status="pending", attempts=0, first=now, due=now)

    def to_item(self, partition: str) -> Item:
        """Encode as the stored item."""
        return {
            keys.PK: partition,
            keys.SK: self.sort_key,
            "number": self.number,
            "place": self.place,
            "event": self.event,
            "at": self.at,
            "num": self.num,
            "version": self.version,
            "row": None if self.row is None else [*self.row],
            "day": self.day,
            "outbox": self.outbox,
            "choice": self.choice,
            "status": self.status,
            "attempts": self.attempts,
            "first": self.first,
            "last": self.last,
            "due": self.due,
            "response_status": self.reply.code,
            "response_body": self.reply.answer,
            "failure": self.reply.problem,
            keys.TTL_ATTRIBUTE: _expiry(self),
        }

    def retry_item(self, partition: str) -> Item:
        """Return the item that says that it is due for another attempt."""
        return {
            keys.PK: partition,
            keys.SK: live_keys.retry(self.due, self.sort_key),
            keys.TTL_ATTRIBUTE: _expiry(self),
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the stored item."""
        return cls(
            item["number"],
            item["place"],
            item["event"],
            item["at"],
            item["num"],
            item["version"],
            None if item["row"] is None else RowKeys(*item["row"]),
            item["choice"],
            item["status"],
            item["attempts"],
            item["first"],
            item["last"],
            item["due"],
            Reply(item["response_status"], item["response_body"], item["failure"]),
            item["day"],
            item["outbox"],
        )

    def to_json(self, webhook: str) -> dict[str, Any]:
        """As the API answers it."""
        return {
            "id": self.id,
            "message_id": self.message_id(webhook),
            "event": self.event,
            "issue": None if self.num is None else {"num": self.num, "version": self.version},
            "at": datetime_json(self.at),
            "status": self.status,
            "attempts": self.attempts,
            "last_attempt": datetime_json(self.last) if self.last else None,
            "next_attempt": datetime_json(self.due) if self.due else None,
            "response_status": self.reply.code,
            "response_body": self.reply.answer,
            "failure": self.reply.problem or None,
        }


def _expiry(delivery: Delivery) -> int:
    began = clock.instant(delivery.first) if delivery.first else clock.seconds()
    return int(began) + DELIVERY_DAYS * 86_400


def sort_key_of(delivery_id: str) -> str:
    """Return the sort key of the delivery that the API names so."""
    number, _, place = delivery_id.partition("_")
    digits, mark, cause = place.partition("r")
    return live_keys.delivery(int(number), int(digits), mark + cause)
