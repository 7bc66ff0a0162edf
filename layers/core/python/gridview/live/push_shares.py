"""A batch's time and threads, shared between the tenants in it, and a tenant's share between its projects.

No tenant waits for another's sockets, and no project for another's of its tenant. Sockets of one project
follow each other.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import Final, TypeVar

from gridview.live.sockets import Owner
from gridview.support import clock
from gridview.support.concurrency import in_threads

AT_ONCE: Final = 64
"""Threads, and so connections, of an invocation."""

BATCH_SECONDS: Final = 0.8
"""Seconds after which a batch of the stream begins nothing more: the records after it wait for it, whose they ever are.
"""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Share:
    """Threads and seconds from now on, up to an instant at most (seconds since 1970)."""

    at_once: int
    deadline: float
    seconds: float = inf

    def begun(self) -> "Share":
        """Return the same, whose seconds begin now."""
        return Share(self.at_once, min(self.deadline, clock.seconds() + self.seconds))

    def part(self, parts: int) -> "Share":
        """Return one of so many equal shares. If there are more of them than threads, they follow each other,
        and share the time too.
        """
        turns = ceil(parts / self.at_once)
        return Share(max(1, self.at_once // parts), self.deadline, self.seconds / turns)


def shared_out(
    owners: Sequence[Owner], whole: Share, work: Callable[[Owner, Share], Result]
) -> dict[Owner, Result]:
    """Return the result of `work` for each project, with its share, in parallel."""
    projects: defaultdict[str, list[Owner]] = defaultdict(list)
    for owner in owners:
        projects[owner.tenant].append(owner)
    of_tenant = whole.part(len(projects)) if projects else whole

    def worked(tenant: str) -> list[tuple[Owner, Result]]:
        share = of_tenant.part(len(projects[tenant]))
        return in_threads(
            lambda owner: (owner, work(owner, share.begun())), projects[tenant], of_tenant.at_once
        )

    return {owner: result for results in in_threads(worked, projects, AT_ONCE) for owner, result in results}
