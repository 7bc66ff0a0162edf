"""The journal of a project: numbered items, each with the changes of one batch in the index. Blocks replay
them in order. Pure.

```
number    57                                                 58              59
item      issue 1: a1.1 leaves "2023-05-01" for "2023-05-03"  empty           issue 7: gone
          issue 4: new
mark      its sort entries are there                          it needs none   not yet
```

An item of few sort entries has no mark: the fold looks whether they are there. The item of a number is put
once and never changes. It is *empty* if the batch came to nothing: then none of the ledgers that name the
number counts. `Head` has the number up to which all is known and folded, with all sort entries.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import blake2b
from itertools import pairwise
from typing import Any, NamedTuple, Self

import orjson
from pyroaring import BitMap

from gridview.chains.column_totals import ColumnTotal
from gridview.derive.families import has_entries
from gridview.derive.issue_changes import FamilyChange, IssueChange
from gridview.derive.ledger import HELD_SECONDS, SHOWN_SECONDS
from gridview.encoding import derived_keys, keys
from gridview.encoding.number_pages import SLOTS

EXPIRES_DAYS = 30
"""Days for which an item is kept. It outlives its readers: the ledgers that name it are known to be finished
once it is folded.
"""

MAX_BYTES = 200_000
"""Limit of an item's changes before compression. A single issue may have more, as long as the item has room for it."""


_WEIGHED = 1_024
"""Bytes of changes, before compression, that weigh as much as one change."""

FEW_ENTRIES = 8
"""An item with up to so many sort entries has no mark. A look for one takes half a read unit, which costs a
tenth of a mark.
"""

TRAIL_SECONDS = 15.0
"""Seconds between two older watermarks that a head names."""

PATIENCE = 5.0
"""Seconds for which the fold waits for a writer that has taken a number, or has put an item and is writing
its sort entries.
"""


class Remake(NamedTuple):
    """Pages of a column that the fold makes again from ledgers; without pages, it only counts the total again."""

    family: str
    pages: tuple[int, ...] = ()

    @property
    def weight(self) -> int:
        """The weight for readers and folds: each page takes the ledgers of its issues."""
        return SLOTS * max(len(self.pages), 1)


@dataclass(frozen=True, slots=True)
class JournalItem:
    """The journal item of a number, put at the instant `made` (seconds since 1970).

    It has changes of issues, or asks for a remake. With neither it is empty.
    `known_as`: its id, if sort strings in it were replaced since it was put.
    """

    number: int
    made: float
    changes: tuple[IssueChange, ...] = ()
    known_as: str = ""
    remake: Remake | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it comes to nothing."""
        return not self.changes and self.remake is None

    @property
    def weight(self) -> int:
        """Return its cost for readers until it is folded."""
        return weight(self.changes) + (0 if self.remake is None else self.remake.weight)

    @property
    def id(self) -> str:
        """Return the id that separates it from an item of the same number in another past of the table
        (`feed_positions`).
        """
        if self.known_as:
            return self.known_as
        identity = [round(self.made * 1_000), [change.before for change in self.changes]]
        return blake2b(_plain(self.changes) + orjson.dumps(identity), digest_size=6).hexdigest()

    @property
    def entries(self) -> int:
        """Return how many sort entries it has."""
        return sum(has_entries(family) for change in self.changes for family in change.moves)

    @property
    def needs_mark(self) -> bool:
        """Whether it has so many sort entries that a mark says when they are there."""
        return self.entries > FEW_ENTRIES

    def to_item(self, tenant: str, project: str) -> dict[str, Any]:
        """Encode as the stored item."""
        item: dict[str, Any] = {
            keys.PK: derived_keys.journal(tenant, project),
            keys.SK: derived_keys.journal_item(self.number),
            "made": round(self.made * 1_000),
            keys.TTL_ATTRIBUTE: int(self.made) + EXPIRES_DAYS * 86_400,
        }
        if self.remake is not None:
            return {**item, "remake": self.remake.family, "pages": list(self.remake.pages)}
        if not self.changes:
            return item
        before = orjson.dumps([change.before for change in self.changes])
        known = {"known_as": self.known_as} if self.known_as else {}
        return {**item, "changes": _encoded(self.changes), "before": before, **known}

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the stored item."""
        changes: tuple[IssueChange, ...] = ()
        if "changes" in item:
            both = zip(_decoded(item["changes"]), orjson.loads(item["before"]), strict=True)
            changes = tuple(change._replace(before=before) for change, before in both)
        remake = Remake(item["remake"], tuple(map(int, item["pages"]))) if "remake" in item else None
        return cls(int(item[keys.SK]), item["made"] / 1_000, changes, item.get("known_as", ""), remake)


class Listing(NamedTuple):
    """A part of a journal: items in order, the numbers that have a mark, and whether the journal may continue
    after them.

    `head`: as the same call found it after the last item, if it was asked for.
    """

    records: tuple[JournalItem, ...] = ()
    marked: frozenset[int] = frozenset()
    more: bool = False
    head: "Head | None" = None


def _encoded(changes: Iterable[IssueChange]) -> bytes:
    """Compressed JSON. Strings of one family are much alike, so it takes a quarter of the room, and of the
    write units. By family, a text is beside its words.
    """
    return zlib.compress(_plain(changes))


def _plain(changes: Iterable[IssueChange]) -> bytes:
    rows = [[*change[:4], {family: [*move] for family, move in change.moves.items()}] for change in changes]
    return orjson.dumps(rows, option=orjson.OPT_SORT_KEYS)


def _decoded(stored: bytes) -> Iterator[IssueChange]:
    for num, version, removed, revision, moves in orjson.loads(zlib.decompress(stored)):
        moved = {
            family: FamilyChange(tuple(left), to, thorough) for family, (left, to, thorough) in moves.items()
        }
        yield IssueChange(num, version, removed, revision, moved)


def encoded_size(changes: Iterable[IssueChange]) -> int:
    """Return the bytes that changes take in an item."""
    return len(_encoded(changes))


def weight(changes: Iterable[IssueChange]) -> int:
    """Return the cost of changes for readers until they are folded: one each, and more if they are long."""
    sizes = [change.size for change in changes]
    return max(len(sizes), sum(sizes) // _WEIGHED)


def cut(changes: Iterable[IssueChange], limit: int = MAX_BYTES) -> Iterator[list[IssueChange]]:
    """Return the changes in groups for an item each. The cut comes before any ledger names an item."""
    group: list[IssueChange] = []
    size = 0
    for change in changes:
        if group and size + change.size > limit:
            yield group
            group, size = [], 0
        group.append(change)
        size += change.size
    if group:
        yield group


RECHAINED = "rechained"
"""The attribute of a stored head that changes with each repair of a chain."""


@dataclass(frozen=True)
class Head:
    """The state of a whole journal: the `last` number given out, and the watermark `folded`.

    No number up to the watermark is missing; each is folded, and its sort entries are there.

    - `emptied`: the empty numbers among them.
    - `waiting`: about the weight of the items that are not folded yet.
    - `due` (a stored instant): when the fold is to look next, or the end of the lease while a `holder` folds;
      None if nothing waits.
    - `seen`: the last number when it looked before, at `seen_at` (seconds since 1970).
    - `rechained` changes with each repair of a chain of blocks.
    """

    last: int = 0
    folded: int = 0
    waiting: int = 0
    emptied: BitMap = field(default_factory=BitMap)
    due: str | None = None
    seen: int = 0
    seen_at: float = 0.0
    trail: tuple[tuple[int, float], ...] = ()
    rechained: str = ""
    holder: str = ""

    def committed(self, number: int) -> bool | None:
        """Return whether the item of a number is there and not empty; None after the watermark, where only
        the items show it.
        """
        return number not in self.emptied if number <= self.folded else None

    def shown(self, now: float) -> int:
        """Return the watermark that everybody is shown: GSI1 and directories that are kept may not know of a
        later one yet.

        `now`: as GSI1 counts it (`view.index_clock.index_time`).
        """
        return max((number for number, at in self.trail if at <= now - SHOWN_SECONDS), default=0)

    def shown_since(self, number: int) -> float:
        """Return the instant from which on everybody is shown a watermark of the trail, in seconds since
        1970; 0.0 for the beginning.

        For readers that know that GSI1 was late it is later (`view.index_clock.shown_since`).
        """
        return next((at + SHOWN_SECONDS for one, at in self.trail if one == number), 0.0)

    def trail_to(self, number: int, now: float) -> list[list[int]]:
        """Return the stored trail when the watermark comes to a number: as much of it as `shown` needs from
        now on.

        `shown` may count by instants up to HELD_SECONDS ago, so the trail goes back that far, by steps of
        TRAIL_SECONDS.
        """
        first = self.shown(now - HELD_SECONDS)
        kept: list[tuple[int, float]] = []
        for (one, at), (_, following) in pairwise((*self.trail, (number, now))):
            if one >= first and (not kept or following - kept[-1][1] >= TRAIL_SECONDS):
                kept.append((one, at))
        return [[one, round(at * 1_000)] for one, at in (*kept, (number, now))]

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the stored item."""
        return cls(
            item["last"],
            item["folded"],
            item["waiting"],
            BitMap.deserialize(item["emptied"]),
            item.get(keys.SORT),
            item.get("seen", 0),
            item.get("seen_at", 0) / 1_000,
            tuple((number, at / 1_000) for number, at in item.get("trail", ())),
            item.get(RECHAINED, ""),
            item[keys.HOLDER],
        )


class Totals(NamedTuple):
    """The totals of a project's columns as of a journal number, by family; None: unknown.

    A family that is not there had no number yet: its total is 0.
    """

    position: int = 0
    by_family: Mapping[str, ColumnTotal | None] = {}

    def of(self, family: str) -> ColumnTotal | None:
        """Return the total of a family."""
        return self.by_family.get(family, ColumnTotal())

    def to_item(self, tenant: str, project: str) -> dict[str, Any]:
        """Encode as the stored item. A number of DynamoDB has too few digits for a sum."""
        return {
            keys.PK: derived_keys.journal(tenant, project),
            keys.SK: derived_keys.TOTALS,
            "position": self.position,
            "totals": {
                family: "" if one is None else f"{one.count} {one.sum}"
                for family, one in self.by_family.items()
            },
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any] | None) -> Self:
        """Decode the stored item; without one, there was no number at the beginning of the journal."""
        if item is None:
            return cls()
        return cls(item["position"], {family: _total(stored) for family, stored in item["totals"].items()})


def _total(stored: str) -> ColumnTotal | None:
    count, _, sum_ = stored.partition(" ")
    return ColumnTotal(int(count), Decimal(sum_)) if stored else None


def new_head(tenant: str, project: str) -> dict[str, Any]:
    """Return the stored head of an empty journal."""
    return {
        keys.PK: derived_keys.journal(tenant, project),
        keys.SK: derived_keys.FOLD,
        keys.HOLDER: "",
        "last": 0,
        "folded": 0,
        "waiting": 0,
        "emptied": BitMap().serialize(),
    }
