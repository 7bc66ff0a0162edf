"""Turns of work on the user jobs of a tenant: the line's lease, and the checkpoints of the job that has its
turn.

The kind of a job decides its work (`JobWork`). A worker that is killed leaves the line to the next one once
the lease has run out, and the job at its last checkpoint. A checkpoint fails if another worker has written
the job since, so a worker that has lost the line writes nothing more of it. Only cancelling a job writes it
without the line, and the checkpoint takes that over.

Each turn first looks at the rights of the job's user (`job_rights`). A job whose user lost them fails; its
writes stay.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from gridview.dynamodb.errors import ItemTooLarge
from gridview.dynamodb.leases import LEASE, RETRY, ItemChanged, LeaseLost, new_holder, save, take
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.maintenance.job_parts import JobParts
from gridview.maintenance.job_rights import RoleOf, needed_role, require_role, unknown_roles
from gridview.schema.jobs import Hint, Turn
from gridview.schema.user_jobs import JobKind, JobLine, JobState, OpenJob, UserJob
from gridview.support import clock
from gridview.support.errors import INTERNAL, Forbidden, Overloaded, RequestError, problem, problem_document

MOST_FAILURES = 5
"""Turns in succession that may end in an internal error before a job is given up."""

_BROKEN = LEASE
"""Seconds until a job that failed by our fault gets its next turn."""

_ATTEMPTS = 8
_PROBLEM_BYTES = 4_000


class HeldJob:
    """A job that has its turn. `job` is its state, which may be ahead of the last checkpoint."""

    def __init__(self, table: Table, tenant: str, project: str, job: UserJob) -> None:
        self.tenant, self.project = tenant, project
        self.job = job
        self.issues = 0
        self._table = table
        self._saved = job

    @property
    def saved(self) -> UserJob:
        """Return the job as of the last checkpoint."""
        return self._saved

    def note(self, job: UserJob) -> None:
        """Take over a state that the next checkpoint saves. To lose it must be no worse than to do the work
        again.
        """
        self.job = job

    def save(self, job: UserJob) -> None:
        """Save a checkpoint: a write unit for each KB. If the job has been cancelled meanwhile, it is saved
        as cancelled.

        LeaseLost if another worker has written it, which then has the line, or if it is gone.
        """
        for _ in range(2):
            written = replace(job, revision=self._saved.revision + 1)
            try:
                save(self._table, written.to_item(self.tenant, self.project), self._saved.revision)
            except LeaseLost:
                raise
            except ItemChanged as error:
                now = UserJob.from_item(error.item)
                if not self._is_only_cancelled(now):
                    raise LeaseLost(error.item) from error
                job = replace(job, state=now.state, ended=now.ended)
                self._saved = now
                continue
            self.job = self._saved = written
            return
        raise LeaseLost

    def _is_only_cancelled(self, now: UserJob) -> bool:
        """Return whether nothing else has happened to the job since it was saved."""
        cancelled = now.state is JobState.CANCELLED and not self._saved.state.final
        return cancelled and now.revision == self._saved.revision + 1

    def end_turn(self) -> None:
        """Save everything that has not been saved yet."""
        if self.job != self._saved:
            self.save(self.job)


JobWork = Callable[[HeldJob, Callable[[], float]], float]
"""Works on a job of one kind until the job is over, or the seconds that its second argument returns. Returns
the seconds until the next turn.

Also called for a job that was cancelled before its turn, to end the work that was begun. A RequestError fails
the job; Overloaded has it wait.
"""


Works = Mapping[JobKind, JobWork]


class LineWorker:
    """Works on lines. `role_of` looks up the roles of users."""

    def __init__(self, table: Table, works: Works, role_of: RoleOf = unknown_roles) -> None:
        self._table = table
        self._works = works
        self._role_of = role_of

    def take_turn(self, hint: Hint, left: Callable[[], float]) -> Turn | None:
        """Work for a turn on the next job of the line in a hint; None if it is not due, or the hint is
        outdated.

        An internal error of the job is raised; after five of these in succession the job is given up.
        """
        tenant = keys.parse_job_line(hint.partition)
        stored, now = self._stored_line(tenant), clock.now()
        if stored is None or stored.due != hint.due or stored.due > now or left() <= 0:
            return None
        # A line whose worker was killed is due at the end of the lease, and its jobs are due already.
        entry = stored.next_at(now)
        if entry is None:
            return None
        item = take(self._table, hint.partition, keys.LINE, hint.due, new_holder())
        if item is None:
            return None
        line = JobLine.from_item(item)
        held = self._held(tenant, entry)
        if held is None:  # it expired, or its project was removed
            return self._end_turn(tenant, line, entry, 0.0, None, over=True)
        try:
            wait = self._work(held, left)
        except LeaseLost:
            return Turn(held.issues)
        except Overloaded:
            # A job that is over in memory only, or whose begun work is not counted yet, needs another turn.
            return self._end_turn(tenant, line, entry, RETRY, held, over=False, refused=True)
        except Exception:
            with suppress(Overloaded, LeaseLost):
                try:
                    self._note_failure(held)
                finally:  # even if it is not noted: the other jobs of the line get their turns
                    given_up = held.job.failures >= MOST_FAILURES
                    self._end_turn(tenant, line, entry, _BROKEN, held, over=given_up)
            raise
        return self._end_turn(tenant, line, entry, wait, held, over=held.job.state.final)

    def _work(self, held: HeldJob, left: Callable[[], float]) -> float:
        try:
            self._require_rights(held)
            wait = self._works[held.job.kind](held, left)
            if held.job.failures:
                held.note(replace(held.job, failures=0))
            held.end_turn()
        except Overloaded:
            raise
        except RequestError as error:
            failure = problem(error, _PROBLEM_BYTES)
            held.save(held.job.is_over(JobState.FAILED, clock.now(), failure))
            return 0.0
        return wait

    def _note_failure(self, held: HeldJob) -> None:
        """Count a failure. The state of a job that has grown too large for its item is lost: it is as of the last
        checkpoint.
        """
        try:
            held.save(self._failed(held.job))
        except ItemTooLarge:
            held.save(self._failed(held.saved))

    def _failed(self, job: UserJob) -> UserJob:
        job = replace(job, failures=job.failures + 1)
        if job.failures >= MOST_FAILURES:
            failure = problem_document(
                INTERNAL,
                "The job failed because of an error in the service. Its changes so far stay. Start another job for "
                "the rest.",
            )
            job = job.is_over(JobState.FAILED, clock.now(), failure)
        return job

    def _require_rights(self, held: HeldJob) -> None:
        """Fail a job whose user lost the right to it. Its kind still counts the work that it had begun."""
        if held.job.state.final:
            return
        try:
            asked: Mapping[str, Any] = {}
            if held.job.kind is JobKind.UNDO:
                parts = keys.job_parts(held.tenant, held.project, held.job.id)
                asked = JobParts(self._table, parts).asked()
            require_role(self._role_of, held.tenant, held.job.user, needed_role(held.job, asked))
        except Forbidden as error:
            held.note(held.job.is_over(JobState.FAILED, clock.now(), problem(error, _PROBLEM_BYTES)))

    def _held(self, tenant: str, entry: OpenJob) -> HeldJob | None:
        item = self._table.get(keys.jobs(tenant, entry.project), entry.id, consistent=True)
        if item is None:
            return None
        return HeldJob(self._table, tenant, entry.project, UserJob.from_item(item))

    def _end_turn(
        self,
        tenant: str,
        line: JobLine,
        entry: OpenJob,
        wait: float,
        held: HeldJob | None,
        *,
        over: bool,
        refused: bool = False,
    ) -> Turn:
        """Give the line back, without the job if that is `over`. Jobs may have joined it meanwhile."""
        issues = 0 if held is None else held.issues
        for _ in range(_ATTEMPTS):
            due = clock.after(0.0 if over else wait)
            try:
                after = self._save_line(tenant, line, line.after_turn(entry, due, over=over, refused=refused))
            except LeaseLost:
                return Turn(issues)
            except ItemChanged as error:
                line = JobLine.from_item(error.item)
            else:
                hints = (Hint(keys.job_line(tenant), after.due),) if after.open else ()
                return Turn(issues, after.refusals, hints)
        return Turn(issues)

    def _stored_line(self, tenant: str) -> JobLine | None:
        item = self._table.get(keys.job_line(tenant), keys.LINE, consistent=True)
        return None if item is None else JobLine.from_item(item)

    def _save_line(self, tenant: str, before: JobLine, after: JobLine) -> JobLine:
        saved = replace(after, revision=before.revision + 1)
        save(self._table, saved.to_item(tenant), before.revision, before.holder)
        return saved
