"""Derives again, after a back-off, what the stream consumer could not: upkeep's pass over waiting batches.

The table throttles writes to one key range, and a shard that waited for it would hold up every tenant. So the
consumer hands over the records of the issues that the table refuses, and its shard continues. Batches that
Lambda gave up wait here too.

A newer record of an issue may be processed before an older one that waits. The ledger of the issue decides:
an image older than the ledger changes nothing (`derive.ledger.plan`). The history of a record is written
before the record is handed over. So the feed finds the changes of all versions in an item of the journal.

Two passes at once do no harm, nor does a crash: deriving again changes nothing. A batch is removed only after
it was put under its next name.
"""

from collections.abc import Callable
from typing import NamedTuple

from gridview.derive.images import Poison
from gridview.maintenance.batch_bucket import Batches
from gridview.maintenance.waiting import BY_LAMBDA, Batch, Records, Waiting
from gridview.support import clock
from gridview.support.errors import Overloaded

THROTTLED = "Throttled"
"""Why a batch waits that the consumer handed over."""


Derive = Callable[[Batch], Batch]
"""Derives from a batch; returns the batch that is left of it. Overloaded if nothing is known to be done."""


class Redriven(NamedTuple):
    """A pass: batches that are done, batches that wait on, and issues that were left to a person."""

    done: int = 0
    waiting: int = 0
    given_up: int = 0


def hand_over(batches: Batches, records: Records) -> None:
    """Have upkeep derive these records, whose history is written: one request. Overloaded."""
    batches.put(Waiting.new().name, Batch(records, recorded=True, reason=THROTTLED).encoded())


def redrive(
    batches: Batches,
    derive: Derive,
    send_poison: Callable[[Poison], None],
    remaining: Callable[[], float],
    report: Callable[[Exception], None],
) -> Redriven:
    """Derive the batches that are due, the longest due first, while time remains.

    Costs a request for the list, five for each batch, and the cost of `derive`. `report` gets each error that
    an attempt raised; its batch waits. Overloaded: from the bucket.
    """
    now = clock.seconds()
    total = Redriven()
    for name in batches.names():
        if remaining() <= 0:
            break
        waiting = _take_over(batches, name) if name.startswith(BY_LAMBDA) else Waiting.named(name)
        if waiting is not None and waiting.due <= now:
            outcome = _attempt(batches, waiting, derive, send_poison, report)
            total = Redriven(*map(sum, zip(total, outcome, strict=True)))
    return total


def _take_over(batches: Batches, name: str) -> Waiting | None:
    """Rename a batch of Lambda's. None if it is gone; or if it cannot be read, which is left to a person."""
    content = batches.read(name)
    if content is None:
        return None
    try:
        Batch.of(content)
    except ValueError:
        return None
    waiting = Waiting.taken_over(name)
    batches.put(waiting.name, content)
    batches.remove(name)
    return waiting


def _attempt(
    batches: Batches,
    waiting: Waiting,
    derive: Derive,
    send_poison: Callable[[Poison], None],
    report: Callable[[Exception], None],
) -> Redriven:
    content = batches.read(waiting.name)
    if content is None:
        return Redriven()
    batch = Batch.of(content)
    if waiting.is_given_up:
        return _give_up(batches, waiting, batch, send_poison)
    if waiting.begun and len(batch.keys) > 1:
        for half, some in zip(waiting.halves(), batch.halves(), strict=True):
            batches.put(half.name, some.encoded())
        batches.remove(waiting.name)
        return Redriven(waiting=2)
    # The next attempt is on record before this one begins: a batch that kills its invocation also waits.
    begun = waiting.attempted()
    batches.put(begun.name, content)
    batches.remove(waiting.name)
    try:
        left = derive(batch)
    except Overloaded:
        left = batch
    except Exception as error:
        report(error)
        return Redriven(waiting=1)
    if left.records:
        batches.put(begun.refused().name, left.encoded())
    batches.remove(begun.name)
    return Redriven(waiting=1) if left.records else Redriven(done=1)


def _give_up(
    batches: Batches, waiting: Waiting, batch: Batch, send_poison: Callable[[Poison], None]
) -> Redriven:
    """Make a dead letter of each issue: the alarm goes off, and `./dev dlq redrive` derives it from its document."""
    error = "Each attempt crashed" if waiting.begun else "The table refused each attempt"
    for key in batch.keys:
        send_poison(Poison(key, 0, f"{error} for a day ({batch.reason})."))
    batches.remove(waiting.name)
    return Redriven(given_up=len(batch.keys))
