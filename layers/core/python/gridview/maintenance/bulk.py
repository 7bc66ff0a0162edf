"""Changes or deletes everything that a filter matches, as a user job: in batches, each issue at most once,
even after a crash.

- *freeze*: the numbers of the issues are stored in chunks. They come from an index that includes the caller's
  recent writes.
- *decide*: the documents of a batch are read, strongly consistent. Documents that do not match any more are
  refused.
- *checkpoint*: the job notes the versions that it is about to write over, and that these numbers are taken
  up.
- *write*: each document is put under the version noted, as part of the job's change.
- *outcome*: goes into the next batch's checkpoint; refused issues are an item of their own.

A worker that finds a batch begun, without an outcome, looks at each document (`BulkRule.fate`). The
version noted may not have been written over. The next version is the job's own if it is of the job's change
and user. If others have changed an issue further, its history decides. If the history does not, the issue is
refused, so that none is written twice.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from pyroaring import BitMap

from gridview.commands.actor import Actor, Role
from gridview.commands.context import WriteContext
from gridview.commands.issues import delete_issue
from gridview.commands.write_rate import WriteRate
from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import version_is
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys
from gridview.maintenance.bulk_decision import BulkRule, BulkVerdict, Fate, open_again, previewed, unsure
from gridview.maintenance.bulk_place import Again, Begun, BulkPlace
from gridview.maintenance.bulk_request import BulkOrder
from gridview.maintenance.job_line import HeldJob
from gridview.maintenance.numbered_turn import AT_ONCE, NumberedTurn, Outcome
from gridview.query.bitmap_filter import Judged
from gridview.query.frozen_numbers import frozen_numbers
from gridview.schema.catalog import Catalog
from gridview.schema.document_store import documents_by_number
from gridview.schema.documents import Document
from gridview.schema.epoch import EpochCheck
from gridview.schema.previews import EMPTY
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.concurrency import in_threads
from gridview.support.errors import Conflict, NotFound, Overloaded, RequestError, VersionMismatch


class BulkChanges:
    """The work of the kinds `update` and `delete` (`job_line.JobWork`). `rate`: the writes that the jobs of
    each tenant may make.
    """

    def __init__(self, table: Table, catalogs: Catalogs, rate: WriteRate) -> None:
        self._table = table
        self._catalogs = catalogs
        self._rate = rate

    def __call__(self, held: HeldJob, left: Callable[[], float]) -> float:
        """Work for a turn."""
        return _BulkTurn(self._table, self._catalogs, self._rate, held).work(left)


class _BulkTurn(NumberedTurn):
    """One turn of work on one job."""

    def __init__(self, table: Table, catalogs: Catalogs, rate: WriteRate, held: HeldJob) -> None:
        super().__init__(table, catalogs, rate, held)
        self._actor = Actor(held.tenant, held.job.user, Role.EDITOR)
        self._order = BulkOrder.from_stored(self._asked)

    # Numbers

    def _freeze(self) -> float:
        """Find out which issues these are, and store their numbers."""
        judged = self._catalogs.using(self._table, *self._project, self._numbers, numbered=True)
        self._store(judged.maybe, judged.undecided)
        return 0.0

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

    # Batches

    def _batch(self) -> float:
        """Take up the next batch, and write it. Returns the seconds to wait first, if the tenant's rate has
        no room for it.
        """
        taken = self._taken()
        if taken is None:
            return 0.0
        catalog = self._catalogs.current(self._table, *self._project)
        rule = self._rule(catalog, taken.chunk.undecided)
        verdicts = self._decided(rule, taken.issues)
        if self._order.dry_run:
            self._preview(catalog, taken.place, verdicts)
            return 0.0
        writes = [one for one in verdicts if one.writes]
        wait = self._refused_by_rate(len(writes))
        if wait or not self._begins(taken.place, (one.begun for one in verdicts)):
            return wait
        results = in_threads(lambda one: self._write(rule, one), writes, AT_ONCE)
        self._end_batch(
            _outcome(verdicts, dict(zip((one.issue.num for one in writes), results, strict=True)))
        )
        return 0.0

    def _preview(self, catalog: Catalog, place: BulkPlace, verdicts: Sequence[BulkVerdict]) -> None:
        """Count the issues of a batch that would change. Place and counts are saved together, so a killed worker's batch
        counts once.
        """
        held = self._held
        preview = held.job.preview or EMPTY
        for one in verdicts:
            if one.writes and one.found is not None and one.write is not None:
                preview = previewed(preview, catalog, one.found, one.write)
        held.note(replace(held.job, at=place.beginning(()).to_item(), preview=preview))
        self._end_batch(_outcome(verdicts, {}))

    def _rule(self, catalog: Catalog, undecided: BitMap) -> BulkRule:
        job, order = self._held.job, self._order
        return BulkRule(
            catalog,
            order.filter_in(catalog),
            order.edit_in(catalog),
            job.user,
            UUID(bytes=job.change),
            undecided,
            job.id,
        )

    def _decided(self, rule: BulkRule, taken: Iterable[Again]) -> list[BulkVerdict]:
        issues = list(taken)
        found = documents_by_number(self._table, *self._project, (one.num for one in issues))
        now = clock.now()
        return [rule.verdict(one, found.get(one.num), now) for one in issues]

    def _write(self, rule: BulkRule, verdict: BulkVerdict) -> Again | RequestError | None:
        """Write an issue: None. If another writer has changed it first: the issue, to be decided again; or
        why it is refused.
        """
        num, version = verdict.issue.num, verdict.begun.version
        try:
            if verdict.write is not None:
                self._table.put(verdict.write, version_is(version))
            else:
                expected = frozenset({version})
                delete_issue(
                    WriteContext(self._table, rule.catalog, self._actor, change=rule.change), num, expected
                )
        except Overloaded:
            raise
        except (ConditionFailed, VersionMismatch, NotFound, Conflict):
            # The SDK repeats a request whose answer was lost, and the request of a killed worker may have
            # been late.
            found = documents_by_number(self._table, *self._project, [num]).get(num)
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
        """Return the fate of an issue. If its document does not decide it, its history may: a read unit."""
        fate = rule.fate(begun, found)
        if fate is not Fate.UNSURE:
            return fate
        partition = derived_keys.history(*self._project, begun.num)
        change = self._table.get(partition, derived_keys.history_item(begun.version + 1), consistent=True)
        if change is None:  # not remembered yet, or not any more
            return fate
        return Fate.WRITTEN if rule.is_own_change(change) else Fate.OPEN

    def _settle(self) -> None:
        """Settle a batch whose worker was killed. For a job that is over, count only the written issues."""
        catalog = self._catalogs.current(self._table, *self._project)
        rule = replace(self._rule(catalog, BitMap()), only=None)
        found = documents_by_number(self._table, *self._project, [one.num for one in self._place.begun])
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
        self._end_batch(Outcome(done, () if over else refused, () if over else again), interrupted=True)
        self._held.save(self._held.job)


def _outcome(verdicts: Sequence[BulkVerdict], written: Mapping[int, Again | RequestError | None]) -> Outcome:
    """Return the outcome of a batch, from its verdicts and the results of its writes."""
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
    return Outcome(done, refused, again, not_meant)
