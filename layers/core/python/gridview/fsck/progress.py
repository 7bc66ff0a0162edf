"""A check's findings, its remaining work and its progress: plain values.

A tally fits in an item, so that another process can resume the check.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gridview.fsck.issue_diff import Difference

BY_HAND = "An operator must restore it from point-in-time recovery."
"""The reported reason of an item that cannot be made again from anything else."""

RESTLESS = "It keeps changing."
"""The reason reported if a repair was done and something is still wrong."""

STUCK = "The fold cannot pass it. Repair again."
"""The reported reason of journal items that wait after the blocks were repaired."""


class Suspect(NamedTuple):
    """An issue that looked wrong. It is checked again at `due` (a stored instant)."""

    key: str
    fingerprint: str
    due: str
    moves: int = 0
    repairs: int = 0


class Visit(NamedTuple):
    """The part of a project's blocks still to check.

    A family from the fence `at` on, `BY_NUMBER` from that place on (`block_ranges`), or the `COLUMN` that `at`
    names. Or else its `JOURNAL`, or all of the project (""). `at` is AFTER_REPAIR for a journal that is
    checked again after the blocks.
    """

    tenant: str
    project: str
    what: str = ""
    at: str = ""


JOURNAL = "@"
"""The journal of a project, which is checked before its blocks."""

AFTER_REPAIR = "again"
"""The journal of a project is checked once more, since its fold may have waited for the repair of a block."""

BY_NUMBER = "#"
"""The part of a project that is checked by issue number."""

COLUMN = "+"
"""Some pages of a column, or what concerns all of it (`column_visits`)."""


class Finding(NamedTuple):
    """An issue or block that is or was wrong. `reason` is why a repair, if tried, was not possible."""

    key: str
    differences: Sequence[Difference]
    repaired: bool = False
    reason: str = ""


@dataclass(slots=True)
class Tally:
    """Progress of a check: the counts so far, the suspects, ordered by due time, and the blocks still to
    check.

    The counts are of issues checked, found wrong and in how many places, and repaired. Also of those left for
    the next run because they kept changing (issues, and places in blocks). `dead` are blocks found in
    families that are no more. They are checked last, since a family's blocks are met at many places.
    """

    issues: int = 0
    wrong: int = 0
    differences: int = 0
    repaired: int = 0
    unsettled: int = 0
    suspects: dict[str, Suspect] = field(default_factory=dict)
    visits: list[Visit] = field(default_factory=list)
    dead: list[Visit] = field(default_factory=list)

    def to_state(self) -> dict[str, Any]:
        """Encode for an item."""
        return {
            **self.counts,
            "suspects": [list(suspect) for suspect in self.suspects.values()],
            "visits": [list(visit) for visit in self.visits],
            "dead": [list(visit) for visit in self.dead],
        }

    @property
    def counts(self) -> dict[str, int]:
        """The counts by name."""
        return {
            name: getattr(self, name) for name in ("issues", "wrong", "differences", "repaired", "unsettled")
        }

    @classmethod
    def together(cls, parts: "Sequence[Tally]") -> "Tally":
        """Return the tally of a check whose parts have settled: their counts, and each dead family once."""
        dead = list(dict.fromkeys(visit for part in parts for visit in part.dead))
        counts: dict[str, Any] = {name: sum(part.counts[name] for part in parts) for name in cls().counts}
        return cls(**counts, dead=dead)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Tally":
        """Decode from an item."""
        suspects = [Suspect(*one) for one in state["suspects"]]
        counts = {name: state[name] for name in cls().counts}
        return cls(
            **counts,
            suspects={suspect.key: suspect for suspect in suspects},
            visits=[Visit(*one) for one in state["visits"]],
            dead=[Visit(*one) for one in state["dead"]],
        )
