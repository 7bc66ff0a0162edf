"""What a check (`fsck`) finds, what it still has to look at, and how far it has come: plain values.

A tally is what an item can hold, so that a check goes on elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gridview.fsck.issue_diff import Difference

RESTLESS = "It is being changed all the time."
"""The reason told where a repair was done, and something is wrong even so."""


class Suspect(NamedTuple):
    """An issue that looked wrong. It is looked at again at `due` (a stored instant)."""

    key: str
    fingerprint: str
    due: str
    moves: int = 0
    repairs: int = 0


class Visit(NamedTuple):
    """What of a project's blocks is still to be looked at: a family from the fence `at` on, `BY_NUMBER` from that issue number on,
    or all of the project ("").
    """

    tenant: str
    project: str
    what: str = ""
    at: str = ""


BY_NUMBER = "#"
"""What is looked at of a project by the numbers of its issues."""


class Finding(NamedTuple):
    """An issue or a block that is wrong, or was until it was repaired; `reason` is why it could not be, if that was tried."""

    key: str
    differences: Sequence[Difference]
    repaired: bool = False
    reason: str = ""


@dataclass(slots=True)
class Tally:
    """How far a check has come: issues looked at, those found wrong and in how many places, repaired, and left for the next run
    because they were written all the time; the suspects, ordered by due time; and which blocks are still to be looked at."""

    issues: int = 0
    wrong: int = 0
    differences: int = 0
    repaired: int = 0
    unsettled: int = 0
    suspects: dict[str, Suspect] = field(default_factory=dict)
    visits: list[Visit] = field(default_factory=list)

    def to_state(self) -> dict[str, Any]:
        """As an item can hold it."""
        counts = {
            name: getattr(self, name) for name in ("issues", "wrong", "differences", "repaired", "unsettled")
        }
        suspects = [list(suspect) for suspect in self.suspects.values()]
        return {**counts, "suspects": suspects, "visits": [list(visit) for visit in self.visits]}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Tally":
        """From what an item held."""
        suspects = [Suspect(*one) for one in state["suspects"]]
        visits = [Visit(*one) for one in state.get("visits", ())]
        counts = {name: count for name, count in state.items() if name not in ("suspects", "visits")}
        return cls(**counts, suspects={suspect.key: suspect for suspect in suspects}, visits=visits)
