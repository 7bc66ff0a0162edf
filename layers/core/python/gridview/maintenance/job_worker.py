"""Works on the jobs of projects, and completes what their passes have prepared.

A job (`schema.jobs`) says which pass over a project's issues is wanted, and its progress. A worker holds a
lease. If it is killed, at any point, the next worker continues from the last checkpoint; repeating a part of
a pass does no harm. A pass begins only when nobody can still be using the old definitions, and the stream
consumer derives what people write meanwhile.

Slices of a pass are worked on like jobs. The job continues when no slice is left: the worker that ends the
last one makes the job due. If that worker is killed first, the job detects it itself.
"""

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from gridview.chains.blocks import Unreadable
from gridview.chains.family_removal import remove_all
from gridview.chains.fence_cache import Fences
from gridview.derive.families import INDEX_TOKENS_SUFFIX, NUMBERS
from gridview.derive.images import Poison
from gridview.dynamodb.errors import ConditionFailed, TransactionFailed
from gridview.dynamodb.expressions import ABSENT, Bound, Write, delete, put, version_is
from gridview.dynamodb.leases import LEASE, RETRY, ItemChanged, LeaseLost, lease_end, new_holder, take
from gridview.dynamodb.leases import save as save_item
from gridview.dynamodb.partitions import remove_partition
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys, live_keys
from gridview.maintenance.folding import Folder
from gridview.maintenance.forgotten_answers import redact_answers
from gridview.maintenance.forgotten_answers import take_turn as forget_purged
from gridview.maintenance.rebuild_pass import pass_over
from gridview.maintenance.removal import remove_activity, remove_jobs, remove_outboxes
from gridview.schema import restorable
from gridview.schema.answer_contents import without_fields
from gridview.schema.catalog import Catalog, Definition
from gridview.schema.computed_fields import needed_formulas
from gridview.schema.deleted_projects import removal
from gridview.schema.fields import Field
from gridview.schema.items import (
    ProjectItems,
    orders_in,
    raise_epoch,
    sort_key,
    to_catalog,
    to_item,
)
from gridview.schema.jobs import PARTS, Hint, Job, Turn, save, unchanged
from gridview.schema.manual_orders import is_rank
from gridview.schema.store import Catalogs, read_kept, require_deleted
from gridview.support import clock
from gridview.support.concurrency import chunked, in_threads
from gridview.support.errors import NotFound, Overloaded

BATCH = 50
"""Issues between two checkpoints: with their ledgers one BatchGetItem."""

SLICE = 1_000
"""The fewest numbers of a slice, some seconds of work."""

PROJECT_TOMBSTONE_DAYS = 90
"""A deleted project's id stays taken until its issues' ledgers are gone, which live 60 days from when their
issues are removed.
"""

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


class Worked(NamedTuple):
    """The numbers of jobs worked on, and of issues passed over."""

    jobs: int
    issues: int


class Worker:
    """Works on jobs, a turn at a time.

    - `remaining` returns the seconds left.
    - `settling`: the time in seconds after which every function knows a change of definitions.
    - `send_poison` receives the issues from which nothing can be derived.
    - `check` continues the check of the table (`nightly`) after a hint. Its second argument returns the
      seconds left; it returns None if it has nothing to do.
    - `lines` takes turns at user jobs (`job_line`) in the same way.
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
        lines: Callable[[Hint, Callable[[], float]], Turn | None] | None = None,
    ) -> None:
        self._table = table
        self._catalogs = catalogs
        self._remaining = remaining
        self._send_poison = send_poison
        self._settling = settling
        self._fences = fences or Fences()
        self._check = check
        self._lines = lines
        self._issues = 0
        self._hints: list[Hint] = []

    def work(self, report: Callable[[Hint, Turn], None] | None = None) -> Worked:
        """Work on the due jobs, a turn each, until none is left or the time is up. Seven Query calls if none is due.

        This is for programs that have no queue. A failed job does not delay the others: its error is raised at the end.
        `report` receives each turn.
        """
        issues: dict[str, int] = defaultdict(int)
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
                    if report is not None:
                        report(hint, turn)
                    idle = False
                    issues[partition] += turn.issues
        if len(broken) > 1:
            raise ExceptionGroup("The jobs of several projects failed.", list(broken.values()))
        for only in broken.values():
            raise only
        return Worked(len(issues), sum(issues.values()))

    def take_turn(self, hint: Hint) -> Turn | None:
        """Work for a turn on the job or slice that a hint names. None if it is not due, the hint is outdated,
        or the time is up.

        A job that fails by its own fault is postponed, and its error is raised.
        """
        partition = hint.partition
        end_of_turn = max(self._remaining() - _TURN, 0.0)

        def left() -> float:
            return self._remaining() - end_of_turn

        if derived_keys.is_journal(partition):
            return self._folder(partition).take_turn(hint.due, left)
        if partition == keys.CHECK:
            return None if self._check is None else self._check(hint, left)
        if keys.is_job_line(partition):
            return None if self._lines is None else self._lines(hint, left)
        if keys.is_placements(partition):
            return self._rebalance(hint, left)
        if keys.is_request(partition):
            return forget_purged(self._table, hint, left)
        return self._take_turn(hint, left)

    def _rebalance(self, hint: Hint, left: Callable[[], float]) -> Turn | None:
        # Only long ranks need the modules of queries, and most containers see none.
        from gridview.maintenance.rebalancing import Rebalancing

        owner = keys.parse_placements(hint.partition)
        return Rebalancing(self._table, self._catalogs, *owner).take_turn(hint, left)

    def _take_turn(self, hint: Hint, left: Callable[[], float]) -> Turn | None:
        partition = hint.partition
        stored = _stored(self._table, partition, hint.part)
        if stored is None or stored.due != hint.due or stored.due > clock.now() or self._remaining() <= 0:
            return None
        holder = new_holder()
        already, self._hints = self._issues, []
        try:
            job = self._take(hint, holder)
            while job is not None and left() > 0:
                job = self._step(partition, job, left)
            if job is not None:
                job = self._save(partition, job, job.released(clock.now()))
        except (
            ItemChanged
        ):  # another has taken it, or its definitions changed; then it is due again at the end of the lease
            job = None
        except Overloaded:
            job = self._postpone(hint, holder, RETRY)
        except Exception:
            self._postpone(hint, holder, _BROKEN)
            raise
        if job is not None:
            self._hints.append(_hint(partition, job))
        return Turn(self._issues - already, 0 if job is None else job.refusals, tuple(self._hints))

    def _take(self, hint: Hint, holder: str) -> Job | None:
        item = take(self._table, hint.partition, keys.job(hint.part), hint.due, holder)
        return None if item is None else Job.from_item(item)

    def _folder(self, partition: str) -> Folder:
        project = derived_keys.parse_journal(partition)
        return Folder(self._table, self._catalogs, self._fences, *project, self._send_poison)

    def _step(self, partition: str, job: Job, left: Callable[[], float]) -> Job | None:
        """One step of a job: its next state, or None if there is nothing more to do for now. `left`: seconds
        of the turn.
        """
        try:
            if job.part:
                return self._step_of_slice(partition, job)
            if job.rests:
                self._end_rest(partition, job)
                return None
            if job.slices:
                return self._wait_for_slices(partition, job)
            if job.last is None:
                counter = self._table.get(partition, keys.COUNTER, consistent=True) or {}
                return self._save(partition, job, replace(job, last=int(counter["last"]), refusals=0))
            if job.next > 1 and (slices := job.cut(SLICE)):
                self._slice(partition, job, slices)
                return None
            return self._go_on(partition, job, job.last) if job.left else self._finish(partition, job, left)
        except (ItemChanged, TransactionFailed) as error:
            current = _stored(self._table, partition, job.part)
            if current is None or current.holder != job.holder:
                raise LeaseLost from error
            return current  # definitions changed; the lease still holds
        except Unreadable:
            if job.next == 1:
                raise
            # A block of the family of issue numbers is unreadable; a pass repairs that family from its beginning on.
            return self._save(partition, job, replace(job, next=1, due=lease_end()))

    def _step_of_slice(self, partition: str, job: Job) -> Job | None:
        """One step of a slice. It has nothing to do if its job does not wait for it any more: the project was
        deleted, say.
        """
        whole = _stored(self._table, partition)
        if whole is not None and whole.waits and job.last is not None and job.left:
            try:
                return self._go_on(
                    partition, replace(job, rate=math.ceil(whole.rate / whole.slices)), job.last
                )
            except Unreadable:
                # As for the job. Once all slices have ended, it begins at the first issue.
                self._save(partition, whole, replace(whole, next=1))
        self._end_slice(partition, job)
        return None

    def _slice(self, partition: str, job: Job, slices: Sequence[Job]) -> None:
        """Cut the rest of a pass into slices, which are due at once. The job waits: if nobody wakes it, for
        the end of a lease.
        """
        now = clock.now()
        due = [replace(one, due=now, revision=1) for one in slices]
        waiting = replace(job.released(lease_end()), next=job.next + job.left, slices=len(due))
        created = [put(one.to_item(partition), ABSENT) for one in due]
        self._table.transact([save(partition, job, waiting), *created])
        self._hints += [_hint(partition, one) for one in due]

    def _wait_for_slices(self, partition: str, job: Job) -> Job | None:
        """Continue if no slice is left. Nothing else happens to a job before."""
        if _any_slice(self._table, partition):
            self._save(partition, job, job.released(lease_end()))
            return None
        return self._save(partition, job, replace(job, slices=0))

    def _end_slice(self, partition: str, job: Job) -> None:
        """Delete a slice that is done or not needed. The last one makes the job due."""
        try:
            self._table.delete(partition, keys.job(job.part), unchanged(job))
        except ConditionFailed as error:
            raise LeaseLost from error
        if _any_slice(self._table, partition):
            return
        whole = _stored(self._table, partition)
        if whole is not None and whole.slices and whole.last is not None:
            with suppress(ItemChanged):  # another worker has it, and sees that no slice is left
                awake = self._save(partition, whole, replace(whole, due=clock.now()))
                self._hints.append(_hint(partition, awake))

    def _go_on(self, partition: str, job: Job, last: int) -> Job:
        """Pass over the next issues, and then save the progress: a checkpoint is never ahead of the work."""
        began = time.monotonic()
        numbers = range(job.next, min(job.next + min(BATCH, job.rate or BATCH), last + 1))
        self._issues += self._pass_over(partition, numbers)
        done = replace(job, next=numbers.stop, due=lease_end(), refusals=0)
        after = self._save(partition, job, done)
        if job.rate:
            clock.sleep(max(0.0, len(numbers) / job.rate - (time.monotonic() - began)))
        return after

    def _pass_over(self, partition: str, numbers: range) -> int:
        tenant, project = keys.parse_project(partition)
        folder = self._folder(derived_keys.journal(tenant, project))
        return pass_over(
            self._table,
            self._catalogs,
            self._fences,
            tenant,
            project,
            numbers,
            self._send_poison,
            lambda: folder.relieve(self._remaining),
        )

    def _finish(self, partition: str, job: Job, left: Callable[[], float]) -> Job | None:
        """After the last issue: update the definitions to the present state, and start another pass if
        changes are still pending.
        """
        tenant, project = keys.parse_project(partition)
        try:
            items = read_kept(self._table, tenant, project)
        except NotFound:
            return self._finish_removal(partition, job, left)
        catalog = to_catalog(tenant, project, items)
        if not self._folder(derived_keys.journal(tenant, project)).fold_all(left):
            self._wait_for_fold(partition, job)
            return None
        leaving = [order_id for order_id, since in catalog.leaving.items() if since <= job.epoch]
        if not self._remove_families(tenant, project, _families(leaving), left):
            return self._keep_lease(partition, job)
        removed = {
            field.id for field in catalog.deleting if field.deleted <= job.epoch and not is_rank(field.key)
        }
        if removed:
            redact = partial(without_fields, fields=removed)
            reached = redact_answers(self._table, tenant, project, redact, left, job.answers)
            if reached is not None:
                return self._keep_lease(partition, replace(job, answers=reached))
        passed = list(_after_pass(items, catalog, job.epoch))[:_AT_ONCE]
        if passed:
            after = replace(job, revision=job.revision + 1)
            self._table.transact([*passed, raise_epoch(items), save(partition, job, job)])
            return after
        if any(catalog.pending()):
            due = clock.after(self._settling)
            self._save(partition, job, job.restarted(catalog.epoch, due))
        else:
            self._rest(partition, job, items, catalog)
        return None

    def _rest(self, partition: str, job: Job, items: ProjectItems, catalog: Catalog) -> None:
        """Rest until the first deletion can be restored no longer, or remove the job if there is none."""
        deletions = [field.deletion.at for field in catalog.hidden if field.deletion]
        if items.deletion is not None:
            deletions.append(items.deletion.at)
        if deletions:
            self._save(partition, job, job.resting(restorable.expires(min(deletions))))
        else:
            self._table.transact([delete(partition, keys.JOB, unchanged(job))])

    def _end_rest(self, partition: str, job: Job) -> None:
        """Permanently delete what can no longer be restored. A pass removes it, or its values, once every
        container knows.
        """
        items = read_kept(self._table, *keys.parse_project(partition))
        if items.deletion is not None and restorable.is_over(items.deletion.at):
            self._table.transact(removal(items, job, clock.after(self._settling)))
            return
        catalog = to_catalog(*keys.parse_project(partition), items)
        now = clock.now()
        over = [
            field
            for field in catalog.hidden
            if field.deletion is not None and restorable.is_over(field.deletion.at)
        ][:_AT_ONCE]
        if not over:
            self._rest(partition, job, items, catalog)
            return
        gone = [
            put(
                to_item(catalog.tenant, catalog.project, one.removed_from(items.next_epoch, now)),
                version_is(one.version),
            )
            for one in over
        ]
        wanted = job.wanted(items.next_epoch, clock.after(self._settling), 0)
        self._table.transact([*gone, raise_epoch(items), save(partition, job, wanted)])

    def _wait_for_fold(self, partition: str, job: Job) -> None:
        """Continue later: another worker is writing what the pass, or an edit before its end, has put into
        the journal.
        """
        waiting = self._save(partition, job, job.released(clock.after(RETRY)))
        self._hints.append(_hint(partition, waiting))

    def _finish_removal(self, partition: str, job: Job, left: Callable[[], float]) -> Job | None:
        """After the last issue of a permanently deleted project: remove its definitions, and keep its id
        taken for a while.
        """
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
            # A definition is removed along with its families, so the next invocation does not look for them again.
            families = _families(orders_in(group) - builtin)
            if not self._remove_families(tenant, project, families, left):
                return self._keep_lease(partition, job)
            self._table.transact([delete(partition, item[keys.SK]) for item in group])
        if not self._remove_families(tenant, project, [*_families(builtin), NUMBERS], left):
            return self._keep_lease(partition, job)
        for remove in (remove_activity, remove_jobs, remove_outboxes):
            if not remove(self._table, tenant, project, left):
                return self._keep_lease(partition, job)
        for partition_of in (
            keys.views,
            keys.placements,
            keys.comments,
            live_keys.webhooks,
            keys.trash,
            keys.request,
        ):
            if not remove_partition(self._table, partition_of(tenant, project), left):
                return self._keep_lease(partition, job)
        for left_item in (derived_keys.TOTALS, derived_keys.FOLD):  # the journal's items expire
            self._table.delete(derived_keys.journal(tenant, project), left_item)
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

    def _remove_families(
        self, tenant: str, project: str, families: Iterable[str], left: Callable[[], float]
    ) -> bool:
        """Remove families that nobody writes any more; False if the turn ended first."""
        done = in_threads(
            lambda family: remove_all(self._table, tenant, project, family, left),
            families,
            _FAMILIES_AT_ONCE,
        )
        return all(done)

    def _keep_lease(self, partition: str, job: Job) -> Job:
        """Renew the lease of a job whose end takes longer than a turn."""
        return self._save(partition, job, replace(job, due=lease_end(), refusals=0))

    def _save(self, partition: str, before: Job, after: Job) -> Job:
        """Save a job, and return it. ItemChanged if its definitions changed; LeaseLost."""
        saved = replace(after, revision=before.revision + 1)
        save_item(self._table, saved.to_item(partition), before.revision, before.holder)
        return saved

    def _postpone(self, hint: Hint, holder: str, seconds: float) -> Job | None:
        """Postpone a job that cannot continue, and return it. If the table refuses that too, its lease runs out."""
        try:
            job = _stored(self._table, hint.partition, hint.part)
            if job is not None and job.holder == holder:
                return self._save(hint.partition, job, job.postponed(clock.after(seconds)))
        except (Overloaded, ItemChanged):
            pass
        return None


def due_jobs(table: Table) -> list[Hint]:
    """Return a hint at each due job, slice, line and fold, as of the index, by due time: seven Query calls."""
    by_now = Bound("<=", clock.now())

    def due(listing: str, part: int = 0) -> list[Hint]:
        page = table.query(listing, index=True, bound=by_now, paths=((keys.SORT,),))
        return [Hint(item[keys.PK], item[keys.SORT], part) for item in page.items]

    parts = (0, *PARTS)
    found = in_threads(
        lambda one: due(*one),
        [(derived_keys.FOLD, 0), (keys.LINE, 0), *((keys.job(part), part) for part in parts)],
    )
    return sorted((hint for some in found for hint in some), key=lambda hint: hint.due)


def fold_overdue(hints: Iterable[Hint]) -> float:
    """For how many seconds the fold has been due that was due first; 0.0 if none is."""
    due = (clock.instant(hint.due) for hint in hints if derived_keys.is_journal(hint.partition))
    return max((clock.seconds() - one for one in due), default=0.0)


def _families(order_ids: Iterable[str]) -> list[str]:
    """Return the families in which orders may have blocks."""
    return [family for order_id in sorted(order_ids) for family in (order_id, order_id + INDEX_TOKENS_SUFFIX)]


def _stored(table: Table, partition: str, part: int = 0) -> Job | None:
    item = table.get(partition, keys.job(part), consistent=True)
    return None if item is None else Job.from_item(item)


def _hint(partition: str, job: Job) -> Hint:
    return Hint(partition, job.due, job.part)


def _any_slice(table: Table, partition: str) -> bool:
    """Return whether a slice is left. A read unit for each that there may be."""
    wanted = [(partition, keys.job(part)) for part in PARTS]
    return bool(table.batch_get(wanted, consistent=True, paths=((keys.SK,),)).items)


def _after_pass(items: ProjectItems, catalog: Catalog, done: int) -> Iterator[Write]:
    """Return the writes that update the definitions after a pass under the definitions of epoch `done`."""
    former = [one for one in (*catalog.attributes, *catalog.hidden) if len(one.formulas) > 1]
    for one in {one.key: one for one in (*catalog.pending(), *former)}.values():
        if 0 < one.deleted <= done:
            key = sort_key(catalog.tenant, catalog.project, one)
            yield delete(items.project[keys.PK], key, version_is(one.version))
            continue
        after = _without_former_formulas(catalog, one.after_pass(done, items.next_epoch))
        builtin = isinstance(one, Field) and one.builtin  # its options are in the project's item
        if after.indexes != one.indexes or (after != one and not builtin):
            yield put(to_item(catalog.tenant, catalog.project, after), version_is(one.version))
        if builtin and isinstance(after, Field) and isinstance(one, Field) and after.options != one.options:
            states = [option.to_item() for option in after.options]
            yield put({**items.project, "states": states}, version_is(items.project["version"]))


def _without_former_formulas(catalog: Catalog, definition: Definition) -> Definition:
    """Return a definition without the versions of its formula that no index needs any more."""
    if not isinstance(definition, Field) or not definition.formulas:
        return definition
    return replace(definition, formulas=needed_formulas(catalog, definition, definition.formulas))
