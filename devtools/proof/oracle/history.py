"""The versions of issues, and which issues had no change on its way."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from devtools.proof.oracle.world import Json, Project, Stamps


@dataclass(slots=True)
class Version:
    """An issue as it was from the moment `since` up to `until`."""

    number: int
    body: Json
    stamps: Stamps
    since: float = -math.inf
    until: float = math.inf


@dataclass
class History:
    """All versions of a project's issues. Moments are numbers that grow."""

    origin: Project
    versions: dict[int, list[Version]] = field(default_factory=lambda: defaultdict(list))
    last_unsettled: dict[int, int] = field(default_factory=dict)
    """When an issue was last known to have changes that were still on their way into the index."""

    def __post_init__(self) -> None:
        for num, body in self.origin.issues.items():
            self.versions[num].append(Version(1, body, self.origin.stamps[num]))

    @property
    def living(self) -> list[int]:
        """The issues that there are now."""
        return [num for num, versions in self.versions.items() if versions[-1].until == math.inf]

    def latest(self, num: int) -> Version:
        """An issue as it is, or was last."""
        return self.versions[num][-1]

    def changed(self, num: int, now: int, version: Version | None) -> None:
        """An issue has become this now; None: it was deleted."""
        if self.versions[num] and self.versions[num][-1].until == math.inf:
            self.versions[num][-1].until = now  # a restored issue was deleted before
        if version is not None:
            self.versions[num].append(replace(version, since=now))
        self.unsettled([num], now)

    def unsettled(self, nums: Iterable[int], now: int) -> None:
        """Changes of these issues are on their way."""
        self.last_unsettled.update(dict.fromkeys(nums, now))

    def moved(self, since: float) -> set[int]:
        """The issues of which a change was on its way then or after."""
        return {num for num, last in self.last_unsettled.items() if last >= since}

    def still(self, since: float) -> Project:
        """The project of those issues that nothing was on its way of, then or after."""
        moved = self.moved(since)
        return self.project({num: self.latest(num) for num in self.living if num not in moved})

    def present(self) -> Project:
        """The project as it is."""
        return self.project({num: self.latest(num) for num in self.living})

    def as_shown(self, rows: Iterable[tuple[int, int]], since: float) -> Project | None:
        """The project of issues in the versions in which they were shown; None when one was not so, then or after."""
        found: dict[int, Version] = {}
        for num, number in rows:
            version = next(
                (one for one in self.versions.get(num, ()) if one.number == number and one.until >= since),
                None,
            )
            if version is None:
                return None
            found[num] = version
        return self.project(found)

    def slack(self, moved: Collection[int]) -> int:
        """How often these issues may be counted in all: each once for everything that it has been."""
        return sum(1 + len(self.versions[num]) for num in moved)

    def project(self, versions: dict[int, Version]) -> Project:
        """The project of issues in these versions."""
        return replace(
            self.origin,
            issues={num: one.body for num, one in sorted(versions.items())},
            stamps={num: one.stamps for num, one in versions.items()},
        )
