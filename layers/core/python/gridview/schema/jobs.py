"""A project's background work, as one item in its partition: a pass over its issues that makes changed
definitions true.

Every change of definitions that affects unedited issues writes this item in the same transaction, so no
change is forgotten. The item is in GSI1 under its sort key, with its due time as `sort`. One Query lists the
jobs of all projects, ordered by due time.

A pass over many issues is cut into *slices*, contiguous ranges of issue numbers that several workers pass
over in parallel. A slice is an item like the job, beside it, and is deleted when its range is done. While any
is left, the job waits.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, Self

from gridview.dynamodb.expressions import ABSENT, Condition, Write, put, revision_is
from gridview.encoding import keys

PARTS = range(1, 5)
"""The numbers of the parts that background work is divided into, to be worked on in parallel."""


class Progress(NamedTuple):
    """Progress of a pass: how many issue numbers are done, and out of how many."""

    done: int
    total: int


class Hint(NamedTuple):
    """A message to a worker: the job in this partition, or this part of it, is due, or will be at `due`.

    Every turn of work makes the job due at another instant. So a hint that comes late, or twice, names an
    instant that is no longer the job's, and is ignored. A hint may be lost too, since every due job is hinted
    at again (`job_queue`).
    """

    partition: str
    due: str
    part: int = 0


class Turn(NamedTuple):
    """The result of one turn of a worker.

    `issues`: how many it passed over. `refusals`: how often in succession the job could not continue.
    `hints`: hints to continue with, if there is more to do. `overdue`: seconds beyond the limit for which the
    changes that a fold left have waited.
    """

    issues: int = 0
    refusals: int = 0
    hints: tuple[Hint, ...] = ()
    overdue: float = 0.0


@dataclass(frozen=True, slots=True)
class Job:
    """A pass over the issues of a project, from number `next` to `last` (None: not begun), under the
    definitions of `epoch`.

    - `due` (a stored instant): when the job next needs a worker. While it waits, the earliest start; while a
      `holder` works on it, the end of the lease.
    - `rate`: the maximum of issues per second; 0 means no limit.
    - `refusals`: how often in succession it could not continue.
    - `slices`: how many slices the pass was cut into; as long as one is left, `next` is after `last`.
    - `part`: the number of a slice, from 1 on.
    - `answers`: at the end of the pass, the place in the remembered answers up to which they no longer contain
      deleted attributes.
    - `rests`: there is no pass to make; at `due` a worker checks for deletions that can no longer be
      restored.

    Every write raises `revision`.
    """

    epoch: int
    due: str
    next: int = 1
    last: int | None = None
    rate: int = 0
    holder: str = ""
    refusals: int = 0
    revision: int = 0
    slices: int = 0
    part: int = 0
    answers: str = ""
    rests: bool = False

    def wanted(self, epoch: int, due: str, rate: int) -> "Job":
        """Return this job, extended to the definitions of `epoch`, by a pass that begins at `due` at the
        earliest.

        If this pass has begun, another follows it: at its end the definitions show which changes are still
        pending (`job_worker`).
        """
        if self.rests:
            return Job(epoch, due, rate=rate, revision=self.revision)
        if self.last is not None:
            return replace(self, rate=rate or self.rate)
        return replace(self, epoch=epoch, due=max(due, self.due), rate=rate or self.rate)

    def restarted(self, epoch: int, due: str) -> Self:
        """Return this job started over, even if it was in progress."""
        return replace(
            self, epoch=epoch, due=due, next=1, last=None, holder="", refusals=0, answers="", rests=False
        )

    def resting(self, due: str) -> "Job":
        """Return this job after its pass, with nothing to do until `due`."""
        return Job(self.epoch, due, revision=self.revision, rests=True)

    def released(self, due: str) -> Self:
        """Return this job after its turn: no one holds it, and it is due at `due`."""
        return replace(self, due=due, holder="")

    def postponed(self, due: str) -> Self:
        """Return this job after it could not continue: no one holds it until `due`."""
        return replace(self.released(due), refusals=self.refusals + 1)

    @property
    def left(self) -> int:
        """Return how many issue numbers remain for this pass, once it has begun, or for this slice."""
        return 0 if self.last is None else max(self.last - self.next + 1, 0)

    def cut(self, least: int) -> "list[Job]":
        """Return slices of the rest of a pass that has begun, of at least so many numbers each. Returns none
        if the rest is too short for two.

        A pass with a rate is kept whole.
        """
        count = 0 if self.rate else min(len(PARTS), self.left // least)
        starts = [self.next + self.left * part // count for part in range(count + 1)] if count > 1 else []
        return [
            Job(self.epoch, self.due, first, after - 1, part=part)
            for part, (first, after) in enumerate(pairwise(starts), 1)
        ]

    @property
    def waits(self) -> bool:
        """Whether the pass has nothing left to do but to wait for its slices."""
        return self.slices > 0 and self.last is not None and not self.left

    def progress_of(self, since: int, issues: int, slices: "Iterable[Job]") -> Progress:
        """Progress of the change of epoch `since`. `issues` is the total to report if its pass has not begun."""
        if self.last is None or since > self.epoch:
            return Progress(0, issues)
        return Progress(self.last - left_of(self, slices), self.last)

    def to_item(self, partition_key: str) -> dict[str, Any]:
        """Encode as the stored item."""
        return {
            keys.PK: partition_key,
            keys.SK: keys.job(self.part),
            keys.SORT: self.due,
            "epoch": self.epoch,
            "next_number": self.next,
            "last_number": self.last,
            "rate": self.rate,
            keys.HOLDER: self.holder,
            "refusals": self.refusals,
            "revision": self.revision,
            "slices": self.slices,
            "part": self.part,
            **({"answers": self.answers} if self.answers else {}),
            **({"rests": True} if self.rests else {}),
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the stored item."""
        return cls(
            epoch=item["epoch"],
            due=item[keys.SORT],
            next=item["next_number"],
            last=item["last_number"],
            rate=item["rate"],
            holder=item[keys.HOLDER],
            refusals=item["refusals"],
            revision=item["revision"],
            slices=item["slices"],
            part=item["part"],
            answers=item.get("answers", ""),
            rests=item.get("rests", False),
        )


def left_of(job: Job, slices: Iterable[Job]) -> int:
    """Return how many issue numbers remain for a pass and its slices."""
    return sum(one.left for one in (job, *(slices if job.waits else ())))


def save(partition_key: str, before: Job | None, after: Job) -> Write:
    """Return the write of a changed job, on condition that it is unchanged since it was read."""
    written = replace(after, revision=(before.revision if before else 0) + 1)
    return put(written.to_item(partition_key), unchanged(before))


def unchanged(job: Job | None) -> Condition:
    """Return the condition that the job is as it was read (None: that there is none)."""
    return ABSENT if job is None else revision_is(job.revision)
