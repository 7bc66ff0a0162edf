"""The stream of a scenario: shards that split, and what of them is settled."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any
from zlib import crc32

from devtools.local.delivery import Record, sequence_number
from devtools.proof.faults.adversary import record
from gridview.dynamodb.expressions import Item
from gridview.encoding import keys

_RANGE = 2**32


@dataclass(eq=False)
class Shard:
    """The records of a range of partition keys, in order for each key; those before `settled` are not delivered again."""

    name: str
    low: int
    high: int
    parent: "Shard | None" = None
    closed: bool = False
    records: list[Record] = field(default_factory=list)
    settled: int = 0
    delivered: int = 0
    """Up to where any invocation has been given records."""
    most: int | None = None
    """How many records the next batch may have, after one that failed as a whole was split."""
    busy: bool = False
    """Whether an invocation is at work on it for which the mapping waits."""

    @property
    def open_to_deliver(self) -> bool:
        """Whether its turn has come and there is something to deliver."""
        return (
            not self.busy
            and self.settled < len(self.records)
            and (self.parent is None or self.parent.exhausted)
        )

    @property
    def exhausted(self) -> bool:
        """Whether its children may be delivered."""
        return (
            self.closed
            and self.settled == len(self.records)
            and (self.parent is None or self.parent.exhausted)
        )

    def batch(self, size: int) -> list[Record]:
        """The next records that the mapping delivers."""
        end = min(self.settled + min(size, self.most or size), len(self.records))
        self.delivered = max(self.delivered, end)
        return self.records[self.settled : end]

    def settle(self, batch: Sequence[Record], first_failed: str | None) -> None:
        """The answer to a batch: all before the record that it names is done."""
        done = len(batch) if first_failed is None else [*map(sequence_number, batch)].index(first_failed)
        self.settled += done
        self.most = None


class Stream:
    """Every change of a document becomes a record of the shard that its key belongs to."""

    def __init__(self, random: Random, shards: int) -> None:
        step = _RANGE // shards
        self.shards = [
            Shard(str(place), place * step, _RANGE if place == shards - 1 else (place + 1) * step)
            for place in range(shards)
        ]
        self._random = random
        self._next = 1

    def append(
        self, old: Item | None, new: Item | None, *, reorder: bool = False, expired: bool = False
    ) -> Record:
        """Append a change.

        With `reorder` it may come before changes of other issues, never before one of the same issue.
        """
        made = record(self._next, old, new)
        self._next += 1
        if expired:
            made["userIdentity"] = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
        key = key_of(made)
        place = crc32(key.encode())
        shard = next(one for one in self.shards if not one.closed and one.low <= place < one.high)
        earliest = shard.delivered
        for at in range(len(shard.records) - 1, earliest - 1, -1):
            if key_of(shard.records[at]) == key:
                earliest = at + 1
                break
        at = self._random.randint(earliest, len(shard.records)) if reorder else len(shard.records)
        shard.records.insert(at, made)
        return made

    def split(self, shard: Shard) -> tuple[Shard, Shard]:
        """A shard takes no more; two others take what it would have taken, and are delivered after it."""
        shard.closed = True
        middle = (shard.low + shard.high) // 2
        children = (
            Shard(f"{shard.name}a", shard.low, middle, shard),
            Shard(f"{shard.name}b", middle, shard.high, shard),
        )
        self.shards += children
        return children

    @property
    def open(self) -> Iterator[Shard]:
        """The shards that take records."""
        return (shard for shard in self.shards if not shard.closed)

    @property
    def settled(self) -> bool:
        """Whether everything has been delivered and done."""
        return all(shard.settled == len(shard.records) for shard in self.shards)


def key_of(made: Record) -> str:
    """The partition key that a record is about."""
    key: str = made["dynamodb"]["Keys"][keys.PK]["S"]
    return key


def summary(batch: Sequence[Record]) -> str:
    """A batch, for a person."""

    def one(made: dict[str, Any]) -> str:
        stream = made["dynamodb"]
        image = stream.get("NewImage") or stream["OldImage"]
        version = image.get("version", {}).get("N", "?")
        removed = " removed" if made["eventName"] == "REMOVE" else ""
        return f"{int(stream['SequenceNumber'])}: {key_of(made)[-3:]} v{version}{removed}"

    return ", ".join(map(one, batch))
