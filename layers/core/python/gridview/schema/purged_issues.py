"""The purged issues of a project whose values remembered answers may still contain. Pure.

    request-T.P    job    the numbers of the issues, and the progress of the pass over the answers

The stream consumer adds issues. Upkeep takes their values out of the answers, in one pass for all of them. Issues that
are added during a pass wait for the next one. The item is deleted when no issue is left.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from pyroaring import BitMap

from gridview.dynamodb.expressions import ABSENT, Condition, revision_is
from gridview.encoding import keys, number_sets


@dataclass(frozen=True, slots=True)
class PurgedIssues:
    """The issues of the pass, the issues of the next one, and the place in the answers that the pass has reached.

    `due`: when a worker is needed; while one holds it, the end of the lease; empty: no item exists.
    """

    numbers: frozenset[int] = frozenset()
    waiting: frozenset[int] = frozenset()
    reached: str = ""
    due: str = ""
    revision: int = 0

    def adding(self, numbers: Iterable[int], due: str) -> Self:
        """Return the same with issues for the next pass."""
        return replace(self, waiting=self.waiting.union(numbers), due=self.due or due)

    def taken(self, due: str) -> Self:
        """Return the same for a worker whose lease ends at `due`. The next pass begins if none is in progress."""
        if self.numbers:
            return replace(self, due=due)
        return replace(self, numbers=self.waiting, waiting=frozenset(), reached="", due=due)

    def released(self, reached: str | None, due: str) -> Self:
        """Return the same after a turn, whose pass has reached this place; None: it has ended."""
        if reached is not None:
            return replace(self, reached=reached, due=due)
        return replace(self, numbers=frozenset(), due=due if self.waiting else "")

    @property
    def unchanged(self) -> Condition:
        """The condition that the item is unchanged since it was read."""
        return revision_is(self.revision) if self.revision else ABSENT

    def to_item(self, partition: str) -> dict[str, Any]:
        """Encode as the stored item, one revision later."""
        return {
            keys.PK: partition,
            keys.SK: keys.JOB,
            keys.SORT: self.due,
            "numbers": number_sets.packed(BitMap(self.numbers)),
            "waiting": number_sets.packed(BitMap(self.waiting)),
            "reached": self.reached,
            "revision": self.revision + 1,
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any] | None) -> Self:
        """Decode the stored item; None: there is none."""
        if item is None:
            return cls()
        return cls(
            frozenset(number_sets.unpacked(item["numbers"])),
            frozenset(number_sets.unpacked(item["waiting"])),
            item["reached"],
            item[keys.SORT],
            item["revision"],
        )
