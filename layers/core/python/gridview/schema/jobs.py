"""The background work of a project, as one item in its partition: a pass over its issues that makes changed definitions true.

Every change of definitions that concerns issues nobody edits writes this item in its own transaction, so none is forgotten. The
item is in GSI1 under its sort key with the time when it is due as `sort`: all jobs of all projects are one Query, in due order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from gridview.dynamodb.expressions import ABSENT, Condition, Write, put
from gridview.encoding import keys


class Progress(NamedTuple):
    """How far a pass has come: numbers of issues that it is done with, of how many."""

    done: int
    of: int


@dataclass(frozen=True, slots=True)
class Job:
    """A pass over the issues of a project, from number `next` to `last` (None: not begun), under the definitions of `epoch`.

    `due` (a stored instant) is when somebody is to work on it next: while it waits, the earliest moment at which it may begin;
    while a `holder` works on it, the end of the lease. `rate`: issues a second at most, 0 for as many as it can.
    `revision` is raised by every write.
    """

    epoch: int
    due: str
    next: int = 1
    last: int | None = None
    rate: int = 0
    holder: str = ""
    revision: int = 0

    def wanted(self, epoch: int, due: str, rate: int) -> Self:
        """With the definitions of `epoch` to be made true too, by a pass that begins at `due` at the earliest.

        When this one has begun another follows it: at its end the definitions tell what is pending (`upkeep`).
        """
        if self.last is not None:
            return replace(self, rate=rate or self.rate)
        return replace(self, epoch=epoch, due=max(due, self.due), rate=rate or self.rate)

    def restarted(self, epoch: int, due: str) -> Self:
        """From the beginning, whatever was under way."""
        return replace(self, epoch=epoch, due=due, next=1, last=None, holder="")

    def progress_of(self, since: int, issues: int) -> Progress:
        """How far the change of epoch `since` has come; `issues`: how many there are, should its pass not have begun."""
        if self.last is None or since > self.epoch:
            return Progress(0, issues)
        return Progress(min(self.next - 1, self.last), self.last)

    def to_item(self, partition_key: str) -> dict[str, Any]:
        """The stored item."""
        return {
            keys.PK: partition_key,
            keys.SK: keys.JOB,
            keys.SORT: self.due,
            "epoch": self.epoch,
            "next_number": self.next,
            "last_number": self.last,
            "rate": self.rate,
            "holder": self.holder,
            "revision": self.revision,
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """From the stored item."""
        return cls(
            epoch=item["epoch"],
            due=item[keys.SORT],
            next=item["next_number"],
            last=item["last_number"],
            rate=item["rate"],
            holder=item["holder"],
            revision=item["revision"],
        )


def save(partition_key: str, before: Job | None, after: Job) -> Write:
    """The write of a changed job, on condition that it is still as it was read."""
    written = replace(after, revision=(before.revision if before else 0) + 1)
    return put(written.to_item(partition_key), unchanged(before))


def unchanged(job: Job | None) -> Condition:
    """The job stands as it was read (None: there is none)."""
    return ABSENT if job is None else Condition("revision = :revision", values={":revision": job.revision})
