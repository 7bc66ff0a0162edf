"""Works on the jobs of projects, and completes what their passes have prepared.

A job (`schema.jobs`) says which pass over a project's issues is wanted, and its progress. A worker holds a lease. If it is killed,
at any point, the next worker continues from the last checkpoint; repeating a part of a pass does no harm. A pass begins only when
nobody can still be using the old definitions, and the stream consumer derives what people write meanwhile.
"""

import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from gridview.dynamodb.errors import ConditionFailed, TransactionFailed
from gridview.dynamodb.expressions import Bound, Write, delete, put, version_is
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.index.block_writer import remove_family
from gridview.index.blocks import Unreadable
from gridview.index.families import NUMBERS, TOKENS_SUFFIX
from gridview.index.fence_cache import Fences
from gridview.index.images import Poison
from gridview.maintenance.rebuild_pass import pass_over
from gridview.schema.catalog import Catalog, Field
from gridview.schema.items import ProjectItems, orders_in, raise_epoch, sort_key, to_catalog, to_item
from gridview.schema.jobs import Hint, Job, Turn, save, unchanged
from gridview.schema.leases import LEASE, RETRY, checkpoint
from gridview.schema.store import Catalogs, read, require_deleted
from gridview.support import clock
from gridview.support.concurrency import chunked, in_threads
from gridview.support.errors import NotFound, Overloaded

BATCH = 50
"""Issues between two checkpoints: with their ledgers one BatchGetItem."""

PROJECT_TOMBSTONE_DAYS = 60
"""A deleted project's id stays taken until its issues' ledgers are gone, which outlive a dead letter of 14 days by 30."""

_TURN = 10.0
"""Seconds of work on one job before others get theirs."""

_BROKEN = LEASE
"""Seconds until a job that failed by its own fault is retried: not in the same invocation."""

_AT_ONCE = 50
"""The most definitions that one transaction changes."""


_FAMILIES_AT_ONCE = 4
"""Families whose blocks are removed in parallel."""


_DEFINITIONS_AT_ONCE = 10
"""Definitions that are removed together, with their blocks."""


class _Lost(Exception):
    """The job has changed since it was read: definitions changed, or another worker took it when the lease ran out."""


class Worked(NamedTuple):
    """How many jobs were worked on, and how many issues passed over."""

    jobs: int
    issues: int


class Worker:
    """Works on jobs, a turn at a time.

    `remaining` returns the seconds left. `settling` is the time in seconds after which every function knows a change of
    definitions. `send_poison` receives the issues from which nothing can be derived. `check` continues the check of the table
    (`nightly`) after a hint; its second argument returns the seconds left, and it returns None if it has nothing to do.
    """

    def __init__(
        self,
        table: Table,
        catalogs: Catalogs,
        remaining: Callable[[], float],
        send_poison: Callable[[Poison], None],
        *,
        settling: float,
        fences: Fences | None = None,
        check: Callable[[Hint, Callable[[], float]], Turn | None] | None = None,
    ) -> None:
        self._table = table
        self._catalogs = catalogs
        self._remaining = remaining
        self._send_poison = send_poison
        self._settling = settling
        self._fences = fences or Fences()
        self._check = check
        self._issues = 0

    def work(self) -> Worked:
        """Work on the due jobs, a turn each, until none is left or the time is up. One Query if none is due.

        This is for programs that have no queue. A failed job does not delay the others: its error is raised at the end.
        """
        turns: dict[str, Turn] = {}
        broken: dict[str, Exception] = {}
        idle = False
        while not idle and self._remaining() > 0:
            idle = True
            for hint in due_jobs(self._table):
                partition = hint.partition
                if partition in broken:
                    continue
                try:
                    turn = self.take_turn(hint)
                except Exception as error:
                    broken[partition] = error
                    continue
                if turn is not None:
                    idle = False
                    earlier = turns.get(partition, Turn())
                    turns[partition] = turn._replace(issues=earlier.issues + turn.issues)
        if len(broken) > 1:
            raise ExceptionGroup("The jobs of several projects failed.", list(broken.values()))
        for only in broken.values():
            raise only
        return Worked(len(turns), sum(turn.issues for turn in turns.values()))

    def take_turn(self, hint: Hint) -> Turn | None:
        """Work for a turn on the job that a hint names; None if it is not due, if the hint is outdated, or if the time is up.

        A job that fails by its own fault is postponed, and its error is raised.
        """
        partition = hint.partition
        end_of_turn = max(self._remaining() - _TURN, 0.0)

        def left() -> float:
            return self._remaining() - end_of_turn

        if partition == keys.CHECK:
            return None if self._check is None else self._check(hint, left)
        stored = _stored(self._table, partition)
        if stored is None or stored.due != hint.due or stored.due > clock.now() or self._remaining() <= 0:
            return None
        holder = uuid.uuid4().hex
        job: Job | None = stored
        already = self._issues
        try:
            job = self._save(partition, stored, replace(stored, holder=holder, due=clock.after(LEASE)))
            while job is not None and left() > 0:
                job = self._step(partition, job, left)
            if job is not None:
                job = self._save(partition, job, replace(job, holder="", due=clock.now()))
        except _Lost:
            job = None
        except Overloaded:
            job = self._postpone(partition, holder, RETRY)
        except Exception:
            self._postpone(partition, holder, _BROKEN)
            raise
        issues = self._issues - already
        return Turn(issues) if job is None else Turn(issues, job.refusals, Hint(partition, job.due))

    def _step(self, partition: str, job: Job, left: Callable[[], float]) -> Job | None:
        """One step of a job: its next state, or None if there is nothing more to do for now. `left`: seconds of the turn."""
        try:
            if job.last is None:
                counter = self._table.get(partition, keys.COUNTER, consistent=True) or {}
                return self._save(partition, job, replace(job, last=int(counter["last"]), refusals=0))
            if job.next <= job.last:
                return self._go_on(partition, job, job.last)
            return self._finish(partition, job, left)
        except (_Lost, TransactionFailed) as error:
            current = _stored(self._table, partition)
            if current is None or current.holder != job.holder:
                raise _Lost from error
            return current  # definitions changed; the lease still holds
        except Unreadable:
            if job.next == 1:
                raise
            # A block of the family of issue numbers is unreadable; a pass repairs that family from its beginning on.
            return self._save(partition, job, replace(job, next=1, due=clock.after(LEASE)))

    def _go_on(self, partition: str, job: Job, last: int) -> Job:
        """Pass over the next issues, and then save the progress: a checkpoint is never ahead of the work."""
        began = time.monotonic()
        numbers = range(job.next, min(job.next + min(BATCH, job.rate or BATCH), last + 1))
        self._issues += self._pass_over(partition, numbers)
        done = replace(job, next=numbers.stop, due=clock.after(LEASE), refusals=0)
        after = self._save(partition, job, done)
        if job.rate:
            clock.sleep(max(0.0, len(numbers) / job.rate - (time.monotonic() - began)))
        return after

    def _pass_over(self, partition: str, numbers: range) -> int:
        tenant, project = keys.parse_project(partition)
        return pass_over(
            self._table, self._catalogs, self._fences, tenant, project, numbers, self._send_poison
        )

    def _finish(self, partition: str, job: Job, left: Callable[[], float]) -> Job | None:
        """After the last issue: update the definitions to what is true now, and start another pass if changes are still pending."""
        tenant, project = keys.parse_project(partition)
        try:
            items = read(self._table, tenant, project)
        except NotFound:
            return self._finish_removal(partition, job, left)
        catalog = to_catalog(tenant, project, items)
        leaving = [order_id for order_id, since in catalog.leaving.items() if since <= job.epoch]
        if not self._remove_blocks(tenant, project, _families(leaving), left):
            return self._keep_lease(partition, job)
        passed = list(_after_pass(items, catalog, job.epoch))[:_AT_ONCE]
        if passed:
            after = replace(job, revision=job.revision + 1)
            self._table.transact([*passed, raise_epoch(items), save(partition, job, job)])
            return after
        if any(catalog.pending()):
            due = clock.after(self._settling)
            self._save(partition, job, job.restarted(catalog.epoch, due))
        else:
            self._table.transact([delete(partition, keys.JOB, unchanged(job))])
        return None

    def _finish_removal(self, partition: str, job: Job, left: Callable[[], float]) -> Job | None:
        """After the last issue of a deleted project: remove its definitions, and keep its id taken for a while."""
        tenant, project = keys.parse_project(partition)
        require_deleted(self._table, tenant, project)
        own, counter = keys.tenant(tenant), keys.COUNTER
        kept = {own, counter, keys.JOB}
        items = list(self._table.query_all(partition, consistent=True))
        builtin = orders_in(())
        definitions = [
            item for item in items if keys.is_attribute(item[keys.SK]) or keys.is_composite(item[keys.SK])
        ]
        for group in chunked(definitions, _DEFINITIONS_AT_ONCE):
            # A definition is removed along with its blocks, so the next invocation does not look for them again.
            if not self._remove_blocks(tenant, project, _families(orders_in(group) - builtin), left):
                return self._keep_lease(partition, job)
            self._table.transact([delete(partition, item[keys.SK]) for item in group])
        if not self._remove_blocks(tenant, project, [*_families(builtin), NUMBERS], left):
            return self._keep_lease(partition, job)
        kept |= {item[keys.SK] for item in definitions}
        removed = [delete(partition, item[keys.SK]) for item in items if item[keys.SK] not in kept]
        for some in chunked(removed, _AT_ONCE):
            self._table.transact(some)
        expires = {keys.TTL_ATTRIBUTE: clock.expiry(PROJECT_TOMBSTONE_DAYS)}
        self._table.transact(
            [
                put({keys.PK: partition, keys.SK: own, "deleted": True, **expires}),
                put({keys.PK: partition, keys.SK: counter, "last": job.last, "closed": True, **expires}),
                delete(partition, keys.JOB, unchanged(job)),
            ]
        )
        return None

    def _remove_blocks(
        self, tenant: str, project: str, families: Iterable[str], left: Callable[[], float]
    ) -> bool:
        """Remove the blocks of families that nobody writes any more; False if the turn ended first."""
        done = in_threads(
            lambda family: remove_family(self._table, tenant, project, family, left),
            families,
            _FAMILIES_AT_ONCE,
        )
        return all(done)

    def _keep_lease(self, partition: str, job: Job) -> Job:
        """Renew the lease of a job whose end takes longer than a turn."""
        return self._save(partition, job, replace(job, due=clock.after(LEASE), refusals=0))

    def _save(self, partition: str, before: Job, after: Job) -> Job:
        saved = replace(after, revision=before.revision + 1)
        try:
            checkpoint(self._table, saved.to_item(partition), before.revision)
        except ConditionFailed as error:
            raise _Lost from error
        return saved

    def _postpone(self, partition: str, holder: str, seconds: float) -> Job | None:
        """Postpone a job that cannot continue, and return it. If the table refuses that too, its lease runs out."""
        try:
            job = _stored(self._table, partition)
            if job is not None and job.holder == holder:
                return self._save(partition, job, job.postponed(clock.after(seconds)))
        except (Overloaded, _Lost):
            pass
        return None


def due_jobs(table: Table) -> Iterator[Hint]:
    """A hint at each due job, as of the index, ordered by due time. One Query."""
    page = table.query(keys.JOB, index=True, bound=Bound("<=", clock.now()), paths=((keys.SORT,),))
    return (Hint(item[keys.PK], item[keys.SORT]) for item in page.items)


def _families(order_ids: Iterable[str]) -> list[str]:
    """The families in which orders may have blocks."""
    return [family for order_id in sorted(order_ids) for family in (order_id, order_id + TOKENS_SUFFIX)]


def _stored(table: Table, partition: str) -> Job | None:
    item = table.get(partition, keys.JOB, consistent=True)
    return None if item is None else Job.from_item(item)


def _after_pass(items: ProjectItems, catalog: Catalog, done: int) -> Iterator[Write]:
    """The writes that update the definitions after a pass under those of epoch `done`."""
    for one in catalog.pending():
        if 0 < one.deleted <= done:
            key = sort_key(catalog.tenant, catalog.project, one)
            yield delete(items.project[keys.PK], key, version_is(one.version))
            continue
        after = one.after_pass(done, items.next_epoch)
        builtin = isinstance(one, Field) and one.builtin  # its options are in the project's item
        if after.indexes != one.indexes or (after != one and not builtin):
            yield put(to_item(catalog.tenant, catalog.project, after), version_is(one.version))
        if builtin and isinstance(after, Field) and isinstance(one, Field) and after.options != one.options:
            states = [option.to_item() for option in after.options]
            yield put({**items.project, "states": states}, version_is(items.project["version"]))
