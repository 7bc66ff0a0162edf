"""How an event source mapping of Lambda delivers the records of a stream's shard to a function.

Pure but for the callables it is given: no engine, no clock and no file, so that faults can be played through it.

What it follows, from Lambda's documentation: records that the filter does not want are dropped; a batch has at most so many
records and 6 MB; records of a shard are delivered in order, one invocation at a time; a batch that fails as a whole is split in
two (which is no retry) until one record is left, then retried; a partial batch response settles all before the first failed
record and retries the rest; a batch that has used up its retries, and a record that is too old, go to the on-failure
destination and the shard moves on. A rest that starts later than its batch did has its retries anew, since something came of it.
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
    """Why records go to the on-failure destination, as Lambda's invocation record calls it (`condition`)."""

    RETRIES = "RetryAttemptsExhausted"
    AGE = "RecordAgeExceeded"


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings of an event source mapping."""

    batch_size: int = 100
    retries: int = 5
    """Invocations after the first, for one and the same batch."""
    bisect: bool = True
    max_age: float | None = None
    """Seconds since a record was written; None: as long as the stream keeps it."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Delivers records by a policy. Construct it once for each shard or for all: it has no state of its own."""

    policy: Policy
    invoke: Callable[[list[Record]], Any]
    """Calls the function with a batch and returns its response; raises FunctionError when the invocation failed."""
    discard: Callable[[list[Record], Reason, int], None]
    """The on-failure destination: records, why, and after how many invocations."""
    wanted: Callable[[Record], bool]
    """The filter."""
    now: Callable[[], float]
    """Seconds since 1970."""
    pause: Callable[[int], None]
    """Waits before retry 1, 2, ... of a batch."""

    def deliver(self, records: Sequence[Record]) -> Iterator[str]:
        """Deliver some consecutive records of a shard; yields, as it goes, the sequence number up to which all is settled.

        Stopped between two yields and started again from the last of them, it delivers at least once.
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
    """Cut records into batches of at most `size`, and at most `max_bytes` as an event where records are small enough for it."""
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
    """How many records from the front a response of `ReportBatchItemFailures` settles.

    FunctionError when it is one that Lambda takes for a failure of the whole batch: no or a foreign sequence number.
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
