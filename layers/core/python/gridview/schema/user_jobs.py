"""Jobs that people start: changes of everything that a filter matches, undos of large changes, and exports.

Each is one item, and a project has one line of them.

The *line* is what the queue's hints name (`jobs`): it lists the project's open jobs. Whoever holds its lease works on the first one
for a turn, after which that goes to the end. So the jobs of a project take turns, one at a time, and the lines of projects do too.
The items of jobs are in the line's partition, and what a job needs besides is in one of its own (`keys.job_parts`). Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Self

from gridview.dynamodb.expressions import ABSENT, Condition, Write, put, revision_is
from gridview.encoding import keys

MAX_OPEN = 20
"""Jobs of a project that are open at once."""

KEPT_DAYS = 30.0
"""How long a job can be looked at after it was made, with what it could not do. None is at work for so long."""


class JobKind(StrEnum):
    """What a job does."""

    UPDATE = "update"
    DELETE = "delete"
    UNDO = "undo"
    EXPORT = "export"


class JobState(StrEnum):
    """How far a job is. The last three are final."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        """Whether nothing will be done for it any more, but to count what had been begun."""
        return self in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


@dataclass(frozen=True, slots=True)
class UserJob:
    """A job of the user `user`, as part of the change `change`.

    `of` is how many issues it is about, None until it has counted them; `done` and `refused` are how many of these are done with.
    `at` is how far the work has come, as its kind notes it. `problem` is the problem document of a job that failed. `failures`
    counts the turns in succession that ended in an error of ours. Every write raises `revision`.
    """

    id: str
    kind: JobKind
    user: str
    change: bytes
    created: str
    expires: int
    state: JobState = JobState.WAITING
    of: int | None = None
    done: int = 0
    refused: int = 0
    at: Mapping[str, Any] = field(default_factory=dict)
    ended: str = ""
    problem: Mapping[str, Any] | None = None
    failures: int = 0
    revision: int = 0

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
            "of": self.of,
            "done": self.done,
            "refused": self.refused,
            "at": dict(self.at),
            "ended": self.ended,
            "problem": None if self.problem is None else dict(self.problem),
            "failures": self.failures,
            "revision": self.revision,
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
            of=item["of"],
            done=item["done"],
            refused=item["refused"],
            at=item["at"],
            ended=item["ended"],
            problem=item["problem"],
            failures=item["failures"],
            revision=item["revision"],
        )

    def is_over(self, state: JobState, now: str, problem: Mapping[str, Any] | None = None) -> Self:
        """The job in a final state; one that it is in already stays."""
        if self.state.final:
            return self
        return replace(self, state=state, ended=now, problem=problem)


@dataclass(frozen=True, slots=True)
class JobLine:
    """The open jobs of a project in the order of their turns.

    `due` (a stored instant) is when the first one is to have its turn, or the end of the lease while a `holder` works on it.
    `refusals` counts the turns in succession that could not go on.
    """

    open: tuple[str, ...] = ()
    due: str = ""
    holder: str = ""
    refusals: int = 0
    revision: int = 0

    def joined(self, job_id: str, now: str) -> Self:
        """With one more job, due at once unless others are waiting."""
        return replace(self, open=(*self.open, job_id), due=self.due if self.open else now)

    def after_turn(self, due: str, *, over: bool, refused: bool) -> Self:
        """After a turn of the first job: it goes to the end, or leaves if it is `over`."""
        first, others = self.open[:1], self.open[1:]
        following = others if over else (*others, *first)
        return replace(self, open=following, due=due, holder="", refusals=self.refusals + 1 if refused else 0)

    def to_item(self, partition: str) -> dict[str, Any]:
        """Encode as the stored item; it is in the index as long as a job is open."""
        return {
            keys.PK: partition,
            keys.SK: keys.LINE,
            **({keys.SORT: self.due} if self.open else {}),
            "open": list(self.open),
            "holder": self.holder,
            "refusals": self.refusals,
            "revision": self.revision,
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the stored item."""
        return cls(
            open=tuple(item["open"]),
            due=item.get(keys.SORT, ""),
            holder=item["holder"],
            refusals=item["refusals"],
            revision=item["revision"],
        )


def save_line(partition: str, before: JobLine | None, after: JobLine) -> Write:
    """The write of a changed line, on condition that it is unchanged since it was read (None: that there was none)."""
    unchanged: Condition = ABSENT if before is None else revision_is(before.revision)
    written = replace(after, revision=(before.revision if before else 0) + 1)
    return put(written.to_item(partition), unchanged)


def new_job(job: UserJob, tenant: str, project: str, asked: Mapping[str, Any]) -> list[Write]:
    """The writes of a new job, and of what it is `asked` to do (stored form), which no checkpoint has to write again."""
    about = {
        keys.PK: keys.job_parts(tenant, project, job.id),
        keys.SK: keys.ASKED,
        "asked": dict(asked),
        keys.TTL_ATTRIBUTE: job.expires,
    }
    return [put(job.to_item(tenant, project), ABSENT), put(about, ABSENT)]
