"""Jobs that people start: changes of everything that a filter matches, undos of large changes, and exports.

Each is one item, and a tenant has one line of them.

The queue's hints (`jobs`) name a *line*, which lists the tenant's open jobs. The worker that holds its lease
works on one job for a turn, after which that goes to the end. So tenants take turns, in a tenant its
projects, and in a project its users, one at a time. The items of a project's jobs are in one partition, and
further items of a job in a partition of its own (`keys.job_parts`). Pure.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple, Self

from gridview.dynamodb.expressions import ABSENT, Condition, Write, put, revision_is
from gridview.encoding import keys
from gridview.schema.previews import Preview

MOST_OF_USER = 10
"""Open jobs of a user, in all projects together."""

MOST_EXPORTS_OF_USER = 3
"""Open exports of a user, in all projects together."""

MOST_OF_PROJECT = 50
"""Open jobs of a project."""

MOST_EXPORTS_OF_PROJECT = 30
"""Open exports of a project: every viewer may export, and editors keep room for changes."""

MOST_OF_TENANT = 200
"""Open jobs of a tenant: its line is one item, and each turn writes it twice."""

KEPT_DAYS = 30.0
"""Days for which a job can be read after it was made, with its refusals. None is at work for so long."""


class JobKind(StrEnum):
    """The kinds of jobs."""

    UPDATE = "update"
    DELETE = "delete"
    UNDO = "undo"
    EXPORT = "export"


class JobState(StrEnum):
    """The states of a job. The last three are final."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        """Whether nothing will be done for it any more, other than to count the work that had been begun."""
        return self in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


@dataclass(frozen=True, slots=True)
class UserJob:
    """A job of the user `user`, as part of the change `change`.

    - `total`: how many issues it is about, None until it has counted them. `done` and `refused`: how many of
      these are finished.
    - `at`: the progress of the work, as its kind notes it.
    - `problem`: the problem document of a job that failed.
    - `failures`: how many turns in succession ended in an internal error.
    - `preview`: what a job that writes nothing has found; None: it writes.

    Every write raises `revision`.
    """

    id: str
    kind: JobKind
    user: str
    change: bytes
    created: str
    expires: int
    state: JobState = JobState.WAITING
    total: int | None = None
    done: int = 0
    refused: int = 0
    at: Mapping[str, Any] = field(default_factory=dict)
    ended: str = ""
    problem: Mapping[str, Any] | None = None
    failures: int = 0
    revision: int = 0
    preview: Preview | None = None

    def to_item(self, tenant: str, project: str) -> dict[str, Any]:
        """Encode as the stored item."""
        return {
            keys.PK: keys.jobs(tenant, project),
            keys.SK: self.id,
            "kind": self.kind.value,
            "user": self.user,
            "change": self.change,
            "created": self.created,
            "job_state": self.state.value,
            "total": self.total,
            "done": self.done,
            "refused": self.refused,
            "at": dict(self.at),
            "ended": self.ended,
            "problem": None if self.problem is None else dict(self.problem),
            "failures": self.failures,
            "revision": self.revision,
            "preview": self.preview and self.preview.to_item(),
            keys.TTL_ATTRIBUTE: self.expires,
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the stored item."""
        return cls(
            id=item[keys.SK],
            kind=JobKind(item["kind"]),
            user=item["user"],
            change=item["change"],
            created=item["created"],
            expires=item[keys.TTL_ATTRIBUTE],
            state=JobState(item["job_state"]),
            total=item["total"],
            done=item["done"],
            refused=item["refused"],
            at=item["at"],
            ended=item["ended"],
            problem=item["problem"],
            failures=item["failures"],
            revision=item["revision"],
            preview=item["preview"] and Preview.from_item(item["preview"]),
        )

    def is_over(self, state: JobState, now: str, problem: Mapping[str, Any] | None = None) -> Self:
        """Return the job in a final state; one that it is in already stays."""
        if self.state.final:
            return self
        return replace(self, state=state, ended=now, problem=problem)


class OpenJob(NamedTuple):
    """An open job in the line. `due` (a stored instant): it gets no turn before."""

    project: str
    id: str
    user: str
    kind: JobKind
    due: str


@dataclass(frozen=True, slots=True)
class JobLine:
    """The open jobs of a tenant in the order of their turns.

    Turns go round the projects, then round the users of a project, then round a user's jobs. `due` (a stored
    instant) is when the next turn may begin, or the end of the lease while a `holder` works on a job.
    `refusals` counts the turns in succession that could not continue.
    """

    open: tuple[OpenJob, ...] = ()
    due: str = ""
    holder: str = ""
    refusals: int = 0
    revision: int = 0

    def joined(self, job: OpenJob) -> Self:
        """With one more job."""
        jobs = (*self.open, job)
        return replace(self, open=jobs, due=self.due if self.holder else _first_due(jobs))

    def next_at(self, now: str) -> OpenJob | None:
        """Return the job whose turn it is at a stored instant; None if none is due."""
        return next((job for job in self.open if job.due <= now), None)

    def after_turn(self, worked: OpenJob, due: str, *, over: bool, refused: bool) -> Self:
        """After a turn of a job: it goes to the end, or leaves if it is `over`. Others of its project and user follow
        later, too.
        """

        def is_later(job: OpenJob) -> tuple[bool, bool]:
            same_project = job.project == worked.project
            return same_project, same_project and job.user == worked.user

        jobs = sorted((job for job in self.open if job.id != worked.id), key=is_later)
        if not over:
            jobs.append(worked._replace(due=due))
        refusals = self.refusals + 1 if refused else 0
        return replace(self, open=tuple(jobs), due=_first_due(jobs), holder="", refusals=refusals)

    def to_item(self, tenant: str) -> dict[str, Any]:
        """Encode as the stored item; it is in the index as long as a job is open."""
        return {
            keys.PK: keys.job_line(tenant),
            keys.SK: keys.LINE,
            **({keys.SORT: self.due} if self.open else {}),
            "open": [list(job) for job in self.open],
            keys.HOLDER: self.holder,
            "refusals": self.refusals,
            "revision": self.revision,
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the stored item."""
        return cls(
            open=tuple(
                OpenJob(project, job, user, JobKind(kind), due)
                for project, job, user, kind, due in item["open"]
            ),
            due=item.get(keys.SORT, ""),
            holder=item[keys.HOLDER],
            refusals=item["refusals"],
            revision=item["revision"],
        )


def _first_due(jobs: Iterable[OpenJob]) -> str:
    return min((job.due for job in jobs), default="")


def save_line(tenant: str, before: JobLine | None, after: JobLine) -> Write:
    """Return the write of a changed line, on condition that it is unchanged since it was read (None: that
    there was none).
    """
    unchanged: Condition = ABSENT if before is None else revision_is(before.revision)
    written = replace(after, revision=(before.revision if before else 0) + 1)
    return put(written.to_item(tenant), unchanged)


def new_job(job: UserJob, tenant: str, project: str, asked: Mapping[str, Any]) -> list[Write]:
    """Return the writes of a new job, and of its order `asked` (stored form), which no checkpoint has to
    write again.
    """
    about = {
        keys.PK: keys.job_parts(tenant, project, job.id),
        keys.SK: keys.ASKED,
        "asked": dict(asked),
        keys.TTL_ATTRIBUTE: job.expires,
    }
    return [put(job.to_item(tenant, project), ABSENT), put(about, ABSENT)]
