"""A turn of work on a user job that goes through frozen numbers of issues in batches, for all kinds of such
jobs.

- *freeze*: the numbers of the issues are stored in chunks, under keys of this attempt.
- *begin*: a checkpoint notes which issues are taken up; if the job was cancelled, none of them is written.
- *outcome*: the outcome of a batch goes into the next one's checkpoint; refused issues are an item of their
  own.
- *settle*: a batch that was begun, and has no outcome, is brought to its end first.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from pyroaring import BitMap

from gridview.commands.jobs import refusals_item
from gridview.commands.write_rate import WriteRate
from gridview.dynamodb.leases import RETRY
from gridview.dynamodb.table import BATCH_GET, Table
from gridview.encoding import keys
from gridview.maintenance.bulk_place import Again, Begun, BulkPlace, Chunk, chunks_of
from gridview.maintenance.job_line import HeldJob
from gridview.maintenance.job_parts import FrozenChunks, JobParts
from gridview.schema.store import Catalogs
from gridview.schema.user_jobs import JobState
from gridview.support import clock
from gridview.support.errors import RequestError, TooManyWrites, problem
from gridview.view import freshness
from gridview.view.block_cache import BlockCache

BATCH = BATCH_GET
"""Issues between two checkpoints: one BatchGetItem."""

CHUNK = 100_000
"""Numbers in one item: 225 KB where they lie as far apart as they can."""

TOLERATED_LAG = 10.0
"""Seconds that the index may lag before a job waits: users' writes go through the same stream."""

AT_ONCE = 16
_PROBLEM_BYTES = 2_000
"""Bytes of the problem of one refused issue: an item holds all of a batch."""


class Outcome(NamedTuple):
    """The outcome of a batch: how many issues are done, which are refused or to be decided again, how many
    were never meant.
    """

    done: int
    refused: Sequence[tuple[int, RequestError]]
    again: Sequence[Again] = ()
    not_meant: int = 0


class Taken(NamedTuple):
    """The next batch: its issues, the place after them, and their chunk."""

    issues: Sequence[Again]
    place: BulkPlace
    chunk: Chunk


class NumberedTurn(ABC):
    """One turn of work on one job."""

    def __init__(self, table: Table, catalogs: Catalogs, rate: WriteRate, held: HeldJob) -> None:
        self._table = table
        self._catalogs = catalogs
        self._rate = rate
        self._held = held
        self._project = held.tenant, held.project
        self._parts = keys.job_parts(*self._project, held.job.id)
        self._cache = BlockCache()
        stored = JobParts(table, self._parts)
        self._asked = stored.asked()
        self._chunks = FrozenChunks(stored, Chunk.from_item)

    def work(self, left: Callable[[], float]) -> float:
        """Work until the job is over, or the seconds that `left` returns. Returns the seconds until the next
        turn.
        """
        held = self._held
        if self._place.begun:
            self._settle()
        while left() > 0 and not held.job.state.final:
            if self._is_lagging():
                return RETRY
            wait = self._freeze() if held.job.total is None else self._batch()
            if wait:
                return wait
        return 0.0

    @abstractmethod
    def _freeze(self) -> float:
        """Find out which issues these are, and store them (`_store`). Returns the seconds to wait first."""

    @abstractmethod
    def _batch(self) -> float:
        """Work on the next batch (`_taken`). Returns the seconds to wait first."""

    @abstractmethod
    def _settle(self) -> None:
        """Settle a batch whose worker was killed. For a job that is over, count only the written issues."""

    @property
    def _place(self) -> BulkPlace:
        return BulkPlace.from_item(self._held.job.at)

    def _is_lagging(self) -> bool:
        """Return whether the index has to catch up first: half a read unit."""
        catalog = self._catalogs.get(self._table, *self._project)
        lag = freshness.read(self._table, catalog, self._cache).seconds
        return lag is not None and lag > TOLERATED_LAG

    def _store(self, numbers: BitMap, undecided: BitMap) -> None:
        """Freeze the numbers. Only documents decide whether the `undecided` among them are meant."""
        job = self._held.job
        chunks = list(chunks_of(numbers, undecided, CHUNK))
        for place, chunk in enumerate(chunks):
            self._table.put(
                {
                    keys.PK: self._parts,
                    keys.SK: keys.frozen_numbers(job.revision, place),
                    **chunk.to_item(),
                    keys.TTL_ATTRIBUTE: job.expires,
                }
            )
        at = BulkPlace(frozen=job.revision, chunks=len(chunks))
        self._held.save(replace(job, state=JobState.RUNNING, total=len(numbers), at=at.to_item()))

    def _taken(self) -> Taken | None:
        """Return the next batch. None if there is none in this chunk: then the job is in the next one, or
        done.
        """
        held = self._held
        if not self._place.chunks:
            held.save(held.job.is_over(JobState.DONE, clock.now()))
            return None
        chunk = self._chunks.at(self._place.frozen, self._place.chunk)
        taken, place = self._place.taking(chunk, min(BATCH, self._rate.most or BATCH))
        if taken:
            return Taken(taken, place, chunk)
        following = self._place.in_next_chunk()
        if following is None:
            held.save(held.job.is_over(JobState.DONE, clock.now()))
        else:
            held.note(replace(held.job, at=following.to_item()))
        return None

    def _refused_by_rate(self, writes: int) -> float:
        """Count so many writes. Returns the seconds to wait, if the tenant's rate has no room for them."""
        try:
            if writes:
                self._rate.admission(self._held.tenant, writes).require(self._table)
        except TooManyWrites as error:
            return float(error.headers["Retry-After"])
        return 0.0

    def _begins(self, place: BulkPlace, begun: Iterable[Begun]) -> bool:
        """Save that these issues are taken up, whose writes follow. False: the job was cancelled, and none may."""
        held, at = self._held, place.beginning(begun)
        held.save(replace(held.job, at=at.to_item()))
        if held.job.state.final:
            held.note(replace(held.job, at=at.ended(()).to_item()))
            return False
        return True

    def _end_batch(self, outcome: Outcome, *, interrupted: bool = False) -> None:
        """Note the outcome of a batch. If it was `interrupted`, an item of its refused issues may exist
        already.
        """
        held, place = self._held, self._place
        job = held.job
        item = refusals_item(
            *self._project,
            job,
            place.batch,
            ((num, problem(error, _PROBLEM_BYTES)) for num, error in outcome.refused),
        )
        if outcome.refused:
            self._table.put(item)
        elif interrupted:
            self._table.delete(item[keys.PK], item[keys.SK])
        held.issues += outcome.done + len(outcome.refused) + outcome.not_meant
        held.note(
            replace(
                job,
                total=None if job.total is None else job.total - outcome.not_meant,
                done=job.done + outcome.done,
                refused=job.refused + len(outcome.refused),
                at=place.ended(outcome.again).to_item(),
            )
        )
