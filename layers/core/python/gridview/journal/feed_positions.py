"""Places in the feed of a project, and the versions in the items of its journal after one. Pure.

A table that is restored to an earlier moment gives out numbers again. So a position also names the item that
it comes after:

```
number     57       58       59                   57       58'      59'    60'
before   1.2      4.1      (59, 0, after 58)     after    4.2      7.1    8.1    58' is not the item that the
position names
```
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from gridview.journal.items import JournalItem

SAME_SECONDS = 60.0
"""Seconds to which `since` is rounded down if the item is not known, so that cursors of the same place are
the same.
"""

_CLOCKS_DIFFER = 5.0

_LONGEST = 1_000
"""Versions of one issue that an item can have. Only an issue whose ledger was lost can have so many more."""


class FeedPosition(NamedTuple):
    """A place in a feed: the journal number of the next item, and how many of that item's versions come
    before.

    Nothing after it was made before the instant `since` (seconds since 1970). `item`: the id of the item that
    it comes after, or is within. Empty: not known, but that item was put no later than a minute after
    `since`.
    """

    number: int
    place: int
    since: float
    item: str = ""

    @property
    def reached(self) -> int:
        """The number of the item that it comes after, or is within; 0: it is at the beginning."""
        return self.number if self.place else self.number - 1

    def is_after(self, item: JournalItem) -> bool:
        """Return whether the item of the number that it has reached is the one that it has come to."""
        return item.id == self.item if self.item else item.made <= self.since + SAME_SECONDS + _CLOCKS_DIFFER


class FeedVersion(NamedTuple):
    """One version in an item, or (None) a change that nothing can describe any more; and the position after
    it.

    `after`: this represents everything after the version, of which only the removal of the issue is known. If
    the version itself deleted the issue, nothing follows.
    """

    num: int
    version: int | None
    end: FeedPosition
    after: bool = False


def versions_from(items: Sequence[JournalItem], position: FeedPosition) -> Iterator[FeedVersion]:
    """Return the versions in these items after a position, in order."""
    for item in items:
        begin = position.place if item.number == position.number else 0
        yield from islice(_versions_of(item), begin, None)


def _versions_of(item: JournalItem) -> Iterator[FeedVersion]:
    place, item_id = 0, item.id
    for change in item.changes:
        before = change.before
        if before is not None and before > change.version:
            continue
        versions: Iterable[int | None] = [None]
        if before is not None and change.version - before <= _LONGEST:
            versions = range(before + 1, change.version + 1)
        for version in versions:
            place += 1
            yield FeedVersion(change.num, version, FeedPosition(item.number, place, item.made, item_id))
        if change.removed and versions != [None]:
            place += 1
            end = FeedPosition(item.number, place, item.made, item_id)
            yield FeedVersion(change.num, change.version, end, after=True)
