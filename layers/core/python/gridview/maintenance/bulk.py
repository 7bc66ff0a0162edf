"""Changes or deletes everything that a filter matches, as a user job: in batches, each issue at most once, whatever dies.

    freeze      the numbers of the issues, from an index that holds what the caller has just written, are stored in chunks
    decide      the documents of a batch are read, strongly consistent: what does not match any more is refused
    checkpoint  the job notes the versions that it is about to write over, and that these numbers are taken up
    write       each document is put under the version noted, as part of the job's change
    outcome     goes into the next batch's checkpoint; what was refused is an item of its own

Who finds a batch begun, and no outcome, looks at each document (`BulkRule.fate`): the version noted has not been written over, and
the one after it is the job's own if it is of the job's change and user. If others have changed an issue further, its history tells;
where it does not, the issue is refused, so that none is written twice.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

from pyroaring import BitMap

from gridview.commands.actor import Actor, Role
from gridview.commands.issues import delete_issue
from gridview.commands.jobs import refusals_item
from gridview.commands.write_rate import WriteRate
from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import version_is
from gridview.dynamodb.table import BATCH_GET, Table
from gridview.encoding import keys
from gridview.index import freshness
from gridview.index.block_cache import BlockCache
from gridview.maintenance.bulk_decision import BulkRule, BulkVerdict, Fate, open_again, unsure
from gridview.maintenance.bulk_place import Again, Begun, BulkPlace, Chunk, chunks_of
from gridview.maintenance.bulk_request import BulkOrder
from gridview.maintenance.job_line import HeldJob
from gridview.query.bitmap_filter import Judged
from gridview.query.frozen_numbers import frozen_numbers
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Document
from gridview.schema.epoch import EpochCheck
from gridview.schema.leases import RETRY
from gridview.schema.store import Catalogs
from gridview.schema.user_jobs import JobState
from gridview.support import clock
from gridview.support.concurrency import in_threads
from gridview.support.errors import (
    Conflict,
    NotFound,
    Overloaded,
    RequestError,
    TooManyWrites,
    VersionMismatch,
    problem,
)

BATCH = BATCH_GET
"""Issues between two checkpoints: one BatchGetItem."""

CHUNK = 100_000
"""Numbers in one item: 225 KB where they lie as far apart as they can."""

BEHIND = 10.0
"""Seconds that the index may be behind before a job waits: what people write goes through the same stream."""

_AT_ONCE = 16
_PROBLEM_BYTES = 2_000
"""Of one refused issue: an item holds those of a batch."""


class _Outcome(NamedTuple):
    """What came of a batch: how many issues are done, which were refused and are to be decided anew, how many were never meant."""

    done: int
    refused: Sequence[tuple[int, RequestError]]
    again: Sequence[Again]
    not_meant: int = 0


class BulkChanges:
    """The work of the kinds `update` and `delete` (`job_line.JobWork`). `rate`: what the jobs of each tenant may write."""

    def __init__(self, table: Table, catalogs: Catalogs, rate: WriteRate) -> None:
        self._table = table
        self._catalogs = catalogs
        self._rate = rate

    def __call__(self, held: HeldJob, left: Callable[[], float]) -> float:
        """Work for a turn."""
        return _BulkTurn(self._table, self._catalogs, self._rate, held).work(left)


class _BulkTurn:
    """One turn of work on one job."""

    def __init__(self, table: Table, catalogs: Catalogs, rate: WriteRate, held: HeldJob) -> None:
        self._table = table
        self._catalogs = catalogs
        self._rate = rate
        self._held = held
        self._project = held.tenant, held.project
        self._parts = keys.job_parts(*self._project, held.job.id)
        asked = table.get(self._parts, keys.ASKED, consistent=True)
        if asked is None:
            raise NotFound("Job not found.")
        self._actor = Actor(held.tenant, held.job.user, Role.EDITOR)
        self._order = BulkOrder.from_stored(asked["asked"])
        self._cache = BlockCache(0.0)
        self._chunk: tuple[int, Chunk] | None = None

    def work(self, left: Callable[[], float]) -> float:
        held = self._held
        if self._place.begun:
            self._settle()
        while left() > 0 and not held.job.state.final:
            if self._is_behind():
                return RETRY
            if held.job.of is None:
                self._freeze()
                continue
            wait = self._batch()
            if wait:
                return wait
        return 0.0

    @property
    def _place(self) -> BulkPlace:
        return BulkPlace.from_item(self._held.job.at)

    def _is_behind(self) -> bool:
        """Whether the index has to catch up first: half a read unit."""
        catalog = self._catalogs.get(self._table, *self._project)
        lag = freshness.read(self._table, catalog, self._cache).seconds
        return lag is not None and lag > BEHIND

    # Numbers

    def _freeze(self) -> None:
        """Find out which issues these are, and store their numbers under keys of this attempt."""
        judged = self._catalogs.using(self._table, *self._project, self._numbers, numbered=True)
        job = self._held.job
        chunks = list(chunks_of(judged.maybe, judged.undecided, CHUNK))
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
        self._held.save(replace(job, state=JobState.RUNNING, of=len(judged.maybe), at=at.to_item()))

    def _numbers(self, catalog: Catalog, epoch: EpochCheck) -> Judged:
        order = self._order
        return frozen_numbers(
            self._table.metered(),
            catalog,
            order.filter_in(catalog),
            order.rows_in(catalog),
            epoch,
            order.recent_writes(),
        )

    def _chunk_of(self, place: BulkPlace) -> Chunk:
        """The present chunk: a read unit for each 4 KB, once a turn."""
        if self._chunk is None or self._chunk[0] != place.chunk:
            item = self._table.get(
                self._parts, keys.frozen_numbers(place.frozen, place.chunk), consistent=True
            )
            if item is None:
                raise NotFound("Job not found.")
            self._chunk = place.chunk, Chunk.from_item(item)
        return self._chunk[1]

    # Batches

    def _batch(self) -> float:
        """Take up the next batch, and write it. Returns the seconds to wait first, if the tenant's rate has no room for it."""
        held = self._held
        if not self._place.chunks:
            held.save(held.job.is_over(JobState.DONE, clock.now()))
            return 0.0
        chunk = self._chunk_of(self._place)
        taken, place = self._place.taking(chunk, min(BATCH, self._rate.most or BATCH))
        if not taken:
            following = self._place.in_next_chunk()
            if following is None:
                held.save(held.job.is_over(JobState.DONE, clock.now()))
            else:
                held.note(replace(held.job, at=following.to_item()))
            return 0.0
        catalog = self._catalogs.current(self._table, *self._project)
        rule = self._rule(catalog, chunk.undecided)
        verdicts = self._decided(rule, taken)
        writes = [one for one in verdicts if one.writes]
        try:
            if writes:
                self._rate.admission(held.tenant, len(writes)).require(self._table)
        except TooManyWrites as error:
            return float(error.headers["Retry-After"])
        begun = place.beginning(one.begun for one in verdicts)
        held.save(replace(held.job, at=begun.to_item()))
        if held.job.state.final:  # it was cancelled, and nothing of this batch is written
            held.note(replace(held.job, at=begun.ended(()).to_item()))
            return 0.0
        results = in_threads(lambda one: self._write(rule, one), writes, _AT_ONCE)
        self._end_batch(
            _outcome(verdicts, dict(zip((one.issue.num for one in writes), results, strict=True)))
        )
        return 0.0

    def _rule(self, catalog: Catalog, undecided: BitMap) -> BulkRule:
        job, order = self._held.job, self._order
        return BulkRule(
            catalog,
            order.filter_in(catalog),
            order.changes_in(catalog),
            job.user,
            UUID(bytes=job.change),
            undecided,
        )

    def _decided(self, rule: BulkRule, taken: Iterable[Again]) -> list[BulkVerdict]:
        issues = list(taken)
        found = self._documents(one.num for one in issues)
        now = clock.now()
        return [rule.verdict(one, found.get(one.num), now) for one in issues]

    def _documents(self, numbers: Iterable[int]) -> dict[int, Document]:
        sort_key = keys.project(*self._project)
        wanted = [(keys.issue(*self._project, num), sort_key) for num in numbers]
        return {one["num"]: one for one in self._table.batch_get(wanted, consistent=True).items.values()}

    def _write(self, rule: BulkRule, verdict: BulkVerdict) -> Again | RequestError | None:
        """Write an issue: None. If somebody else has changed it first: the issue, to be decided anew; or why it is refused."""
        num, version = verdict.issue.num, verdict.begun.version
        try:
            if verdict.write is not None:
                self._table.put(verdict.write, version_is(version))
            else:
                expected = frozenset({version})
                delete_issue(self._table, rule.catalog, self._actor, num, expected, change=rule.change)
        except Overloaded:
            raise
        except (ConditionFailed, VersionMismatch, NotFound, Conflict):
            # The SDK repeats a request whose answer was lost, and that of a worker that died may have been late.
            found = self._documents([num]).get(num)
            match self._fate(rule, verdict.begun, found):
                case Fate.WRITTEN:
                    return None
                case Fate.UNSURE:
                    return unsure()
            return open_again(verdict.begun, found, verdict.issue.tries + 1)
        except RequestError as error:
            return error
        return None

    def _fate(self, rule: BulkRule, begun: Begun, found: Document | None) -> Fate:
        """What has become of an issue. Where its document does not tell, its history may: a read unit."""
        fate = rule.fate(begun, found)
        if fate is not Fate.UNSURE:
            return fate
        partition = keys.history(*self._project, begun.num)
        change = self._table.get(partition, keys.history_item(begun.version + 1), consistent=True)
        if change is None:  # not remembered yet, or not any more
            return fate
        return Fate.WRITTEN if rule.is_own_change(change) else Fate.OPEN

    def _end_batch(self, outcome: _Outcome, *, interrupted: bool = False) -> None:
        """Note what came of a batch. An item of those refused may be there from before, if it was `interrupted`."""
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
                of=None if job.of is None else job.of - outcome.not_meant,
                done=job.done + outcome.done,
                refused=job.refused + len(outcome.refused),
                at=place.ended(outcome.again).to_item(),
            )
        )

    def _settle(self) -> None:
        """Find out what has become of a batch whose worker died. Of a job that is over, only what was written is counted."""
        catalog = self._catalogs.current(self._table, *self._project)
        rule = replace(self._rule(catalog, BitMap()), only=None)
        found = self._documents(one.num for one in self._place.begun)
        done, refused, again = 0, list[tuple[int, RequestError]](), list[Again]()
        for begun in self._place.begun:
            document = found.get(begun.num)
            match self._fate(rule, begun, document) if begun.version else Fate.OPEN:
                case Fate.WRITTEN:
                    done += 1
                case Fate.OPEN:
                    again.append(open_again(begun, document, begun.tries))
                case Fate.GONE:
                    refused.append((begun.num, NotFound("Issue not found.")))
                case Fate.UNSURE:
                    refused.append((begun.num, unsure()))
        over = self._held.job.state.final
        self._end_batch(_Outcome(done, () if over else refused, () if over else again), interrupted=True)
        self._held.save(self._held.job)


def _outcome(verdicts: Sequence[BulkVerdict], written: Mapping[int, Again | RequestError | None]) -> _Outcome:
    """What came of a batch, by what was decided and what came of the writes."""
    done = not_meant = 0
    refused: list[tuple[int, RequestError]] = []
    again: list[Again] = []
    for one in verdicts:
        result = written.get(one.issue.num, one.refused)
        if not one.meant:
            not_meant += 1
        elif result is None:
            done += 1
        elif isinstance(result, Again):
            again.append(result)
        else:
            refused.append((one.issue.num, result))
    return _Outcome(done, refused, again, not_meant)
