"""How an event source mapping of Lambda delivers the records of a stream's shard to a function.

Pure except for the callables it gets: no engine, no clock and no file, so faults can be played through it.

It follows Lambda's documentation. The filter drops records. A batch has a maximum number of records and at most 6 MB.
Records of a shard are delivered in order, one invocation at a time. A batch that fails as a whole is split in two
until one record is left; a split is no retry. The last record is then retried. A partial batch response finishes
everything before the first failed record and retries the rest. A batch that has used up its retries goes to the
on-failure destination, and so does a record that is too old. Then the shard moves on. A rest that starts later than
its batch did gets new retries, since there was progress.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from devtools.failure import FunctionError

Record = dict[str, Any]
"""One record of an event as Lambda delivers it."""

MAX_PAYLOAD_BYTES = 6 * 1024 * 1024
_ENVELOPE_BYTES = len('{"Records": []}')
_SEPARATOR_BYTES = len(", ")


class Reason(StrEnum):
    """Why records go to the on-failure destination: the `condition` of Lambda's invocation record."""

    RETRIES = "RetryAttemptsExhausted"
    AGE = "RecordAgeExceeded"


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings of an event source mapping."""

    batch_size: int = 100
    retries: int = 5
    """Invocations after the first for the same batch."""
    bisect: bool = True
    max_age: float | None = None
    """Maximum age of a record in seconds; None: as long as the stream keeps it."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Delivers records by a policy. It has no state, so one will do for all shards."""

    policy: Policy
    invoke: Callable[[list[Record]], Any]
    """Calls the function with a batch and returns its response. Raises FunctionError when the invocation fails."""
    discard: Callable[[list[Record], Reason, int], None]
    """The on-failure destination. It gets the records, the reason and the number of invocations."""
    wanted: Callable[[Record], bool]
    """The filter."""
    now: Callable[[], float]
    """Seconds since 1970."""
    pause: Callable[[int], None]
    """Waits before retry 1, 2, ... of a batch."""

    def deliver(self, records: Sequence[Record]) -> Iterator[str]:
        """Deliver consecutive records of a shard; yield, after each step, the sequence number up to which all is
        finished.

        A caller that stops between two yields and starts again from the last one gets delivery at least once.
        """
        settled = None
        for batch in batches(filter(self.wanted, records), self.policy.batch_size):
            for settled in self._settle(batch):
                yield settled
        if records and settled != sequence_number(records[-1]):
            yield sequence_number(records[-1])

    def _settle(self, batch: list[Record]) -> Iterator[str]:
        pieces = [(batch, 0)]  # leftmost last; each with the number of times that it was invoked in vain
        while pieces:
            piece, failures = pieces.pop()
            if expired := self._expired(piece):
                self.discard(piece[:expired], Reason.AGE, failures)
                yield sequence_number(piece[expired - 1])
                if rest := piece[expired:]:
                    pieces.append((rest, failures))
                continue
            if failures:
                self.pause(failures)
            try:
                done = settled_by(self.invoke(piece), piece)
            except FunctionError:
                if self.policy.bisect and len(piece) > 1:
                    middle = len(piece) // 2
                    pieces += [(piece[middle:], failures), (piece[:middle], failures)]
                    continue
                done = 0
            if done:
                yield sequence_number(piece[done - 1])
                if done < len(piece):
                    pieces.append((piece[done:], 1))
            elif failures < self.policy.retries:
                pieces.append((piece, failures + 1))
            else:
                self.discard(piece, Reason.RETRIES, failures + 1)
                yield sequence_number(piece[-1])

    def _expired(self, piece: list[Record]) -> int:
        """How many records at the front are too old."""
        if self.policy.max_age is None:
            return 0
        oldest = self.now() - self.policy.max_age
        return next(
            (
                index
                for index, record in enumerate(piece)
                if record["dynamodb"]["ApproximateCreationDateTime"] >= oldest
            ),
            len(piece),
        )


def sequence_number(record: Record) -> str:
    """A record's place in its shard."""
    number: str = record["dynamodb"]["SequenceNumber"]
    return number


def batches(
    records: Iterable[Record], size: int, max_bytes: int = MAX_PAYLOAD_BYTES
) -> Iterator[list[Record]]:
    """Cut records into batches of at most `size` records and `max_bytes` bytes; a larger record is a batch of its own."""
    batch: list[Record] = []
    total = _ENVELOPE_BYTES
    for record in records:
        length = len(json.dumps(record)) + _SEPARATOR_BYTES
        if batch and (len(batch) == size or total + length > max_bytes):
            yield batch
            batch, total = [], _ENVELOPE_BYTES
        batch.append(record)
        total += length
    if batch:
        yield batch


def settled_by(response: Any, batch: Sequence[Record]) -> int:
    """How many records from the front a response of `ReportBatchItemFailures` finishes.

    FunctionError when Lambda takes the response for a failure of the whole batch: its sequence number is missing or foreign.
    """
    if response is None:
        return len(batch)
    if not isinstance(response, dict):
        raise FunctionError("the response is not an object")
    failures = response.get("batchItemFailures") or []
    numbers = [sequence_number(record) for record in batch]
    try:
        return min((numbers.index(failure["itemIdentifier"]) for failure in failures), default=len(batch))
    except (KeyError, TypeError, ValueError) as error:
        raise FunctionError("the response names a record that is not in the batch") from error
