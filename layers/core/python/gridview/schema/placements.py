"""The last placements of rows in a project's manual orders. Pure.

    placed-T.P    job    the placements that the index may lack, and the ranks that are too long

A placement reads this item and finds the neighbors of the place. The transaction that writes the documents writes the item
too, on condition that it is unchanged. So the placements of a project take effect one after the other, and each one
knows all earlier ones, however late the index is. While ranks are too long, the item has a due time, and upkeep rebalances
the range around them.
"""

import json
import zlib
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from gridview.dynamodb.expressions import ABSENT, Condition, Write, put, revision_is
from gridview.encoding import keys
from gridview.encoding.consistency import MAX_ISSUES, Recent, RecentWrites
from gridview.encoding.json_codec import dumps

_KEPT_SECONDS = 120
"""Seconds for which a placement is kept at least. Then it is dropped as soon as the index has it."""
MOST = 2 * MAX_ISSUES
"""The most placements that are kept. No other is made until the index has these."""
_MOST_LONG = 20
"""Ranges that wait to be rebalanced. The next placement in any other one adds it again."""


class Full(Exception):
    """Neither the index nor the journal has so many placements that no other can be kept."""


class RankedRow(NamedTuple):
    """An issue and its rank in a manual order."""

    num: int
    rank: str


class Neighbors(NamedTuple):
    """Rows of an order beside a place. `pending`: the issues whose placements neither the index nor the journal has yet."""

    rows: list[RankedRow]
    pending: frozenset[int]


class Placement(NamedTuple):
    """The version in which an issue was placed, and when (seconds since 1970)."""

    num: int
    version: int
    at: int


class LongRank(NamedTuple):
    """A rank that is too long, and the internal id of its manual order."""

    order: str
    rank: str


@dataclass(frozen=True, slots=True)
class Placements:
    """The placements that the index may lack, oldest first; the ranks that are too long; and when these are due (empty: not
    at all).
    """

    recent: tuple[Placement, ...] = ()
    long: tuple[LongRank, ...] = ()
    due: str = ""
    revision: int = 0

    def adding(self, versions: Mapping[int, int], now: float, *, pending: Container[int]) -> Self:
        """Return the same with placements made now, by issue number, and without old ones that are not `pending`.

        Full if too many are pending.
        """
        added = tuple(Placement(num, version, int(now)) for num, version in versions.items())
        others = [one for one in self.recent if one.num not in versions]
        since = now - _KEPT_SECONDS if len(others) + len(added) <= MOST else now
        kept = tuple(one for one in others if one.num in pending or one.at > since)
        if len(kept) + len(added) > MOST:
            raise Full
        return replace(self, recent=(*kept, *added))

    def to_shorten(self, rank: LongRank, due: str) -> Self:
        """Return the same with another rank that is too long."""
        listed = tuple(one for one in self.long if one != rank)[: _MOST_LONG - 1]
        return replace(self, long=(*listed, rank), due=self.due or due)

    def shortened(self, rank: LongRank) -> Self:
        """Return the same without a rank. There is nothing to do when none is left."""
        left = tuple(one for one in self.long if one != rank)
        return replace(self, long=left, due=self.due if left else "")

    def writes_known(self, project: str, now: float) -> Recent:
        """Return the placements as writes that a read of the index has to include."""
        versions = {one.num: one.version for one in self.recent}
        return (RecentWrites(project, int(now) + _KEPT_SECONDS, versions),) if versions else ()

    def saved_as(self, after: "Placements", tenant: str, project: str) -> Write:
        """Return the write that replaces these by others, on condition that they are unchanged."""
        return put(replace(after, revision=self.revision + 1).to_item(tenant, project), self.unchanged)

    @property
    def unchanged(self) -> Condition:
        """The condition that they are unchanged since they were read."""
        return revision_is(self.revision) if self.revision else ABSENT

    def to_item(self, tenant: str, project: str) -> dict[str, Any]:
        """Encode as the stored item."""
        return {
            keys.PK: keys.placements(tenant, project),
            keys.SK: keys.JOB,
            **({keys.SORT: self.due} if self.due else {}),
            "recent": zlib.compress(dumps([list(one) for one in self.recent])),
            "long": [list(one) for one in self.long],
            "revision": self.revision,
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any] | None) -> Self:
        """Decode the stored item. A project without placements has none."""
        if item is None:
            return cls()
        return cls(
            tuple(Placement(*one) for one in json.loads(zlib.decompress(item["recent"]))),
            tuple(LongRank(*one) for one in item["long"]),
            item.get(keys.SORT, ""),
            item["revision"],
        )
