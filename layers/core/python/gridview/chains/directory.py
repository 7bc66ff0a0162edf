"""Directories: the blocks of a family, from a listing that may be stale or mix several moments. Pure.

GSI1 lists the blocks of a family in key order, each with its fences, size and the next one's id. A listing without gaps
is used as it is. A block inside the range of the blocks before it is left out: the listing mixes moments before and after
a split or merge. If there is a gap, the blocks beside it are read again, consistently.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from pyroaring import BitMap

from gridview.chains.blocks import FIRST, HEAD, Entry, Sets
from gridview.encoding.fences import first_number
from gridview.encoding.sort_strings import sort_string


class Range(NamedTuple):
    """The keys with lower <= key < upper; None: to the end."""

    lower: str
    upper: str | None

    @property
    def empty(self) -> bool:
        """Whether no key can be in it."""
        return self.upper is not None and self.upper <= self.lower

    def covers(self, key: str) -> bool:
        """Whether a key is in it."""
        return self.lower <= key and (self.upper is None or key < self.upper)

    def within(self, other: "Range") -> bool:
        """Whether it is wholly inside another range."""
        return other.lower <= self.lower and (
            other.upper is None or (self.upper is not None and self.upper <= other.upper)
        )

    def overlap(self, other: "Range") -> "Range":
        """The keys that are in both ranges."""
        uppers = [upper for upper in (self.upper, other.upper) if upper is not None]
        return Range(max(self.lower, other.lower), min(uppers, default=None))


WHOLE = Range(FIRST, None)
"""All keys of a family."""


def range_of(entry: Entry) -> Range:
    """The range between the fences of a block."""
    return Range(entry.lower, entry.upper)


@dataclass(frozen=True)
class Directory:
    """The blocks of a family. `entries` cover all keys without a gap, in order; () if there are none yet.

    `age`: seconds since the directory was read.
    """

    family: str
    entries: tuple[Entry, ...]
    age: float = 0.0

    @property
    def total(self) -> int:
        """The number of keys."""
        return self.starts[-1]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The number of keys before each entry, and finally of all keys."""
        return tuple(accumulate((entry.size for entry in self.entries), initial=0))

    @cached_property
    def _lowers(self) -> list[str]:
        return [entry.lower for entry in self.entries]

    def index_of(self, key: str) -> int:
        """The position of the entry that covers a key; 0 if there is no entry."""
        return max(bisect_right(self._lowers, key) - 1, 0)

    def overlapping(self, range: Range) -> Sequence[Entry]:  # noqa: A002  (what it is)
        """The entries whose ranges overlap a range, in order."""
        if range.empty or not self.entries:
            return ()
        begin = self.index_of(range.lower)
        if range.upper is None:
            return self.entries[begin:]
        end = self.index_of(range.upper)
        return self.entries[begin : end if self._lowers[end] == range.upper else end + 1]

    def whole(self, range: Range, entry: Entry) -> bool:  # noqa: A002  (what it is)
        """Whether an entry is wholly inside a range."""
        return range_of(entry).within(range)


def chained(
    family: str, listing: Iterable[Entry], reread: Mapping[str, Entry | None] | None = None
) -> Directory | frozenset[str]:
    """The directory in a listing, or the ids of the blocks to read again because of gaps in it.

    `reread`: the blocks that were read again, by id; None for one that no longer exists.
    """
    read = reread or {}
    known = {entry.id: entry for entry in listing} | {one: entry for one, entry in read.items() if entry}
    gone = {one for one, entry in read.items() if entry is None}
    by_lower: dict[str, list[Entry]] = {}
    for entry in known.values():
        if entry.id not in gone:
            by_lower.setdefault(entry.lower, []).append(entry)
    if not by_lower or HEAD in gone:
        return Directory(family, ())  # the first block is never merged away, so there is no chain without it
    entries: list[Entry] = []
    missing: set[str] = set()
    for lower, candidates in sorted(by_lower.items()):
        last = entries[-1] if entries else None
        # Of two blocks that begin at one place, one was merged away.
        entry = next((one for one in candidates if last and one.id == last.next), candidates[0])
        cover = last.upper if last else FIRST
        if cover is None or (lower < cover and entry.upper is not None and entry.upper <= cover):
            continue
        if lower > cover:
            missing |= _beside_gap(last)
        elif lower < cover:
            missing |= _beside_gap(last) | {entry.id}  # two moments of one place; which is the later one?
        entries.append(entry)
    if entries[-1].upper is not None:
        missing |= _beside_gap(entries[-1])
    return frozenset(missing) if missing else Directory(family, tuple(entries))


def _beside_gap(last: Entry | None) -> set[str]:
    """The block that should begin at the gap, and the one before it, which is outdated if the first is gone."""
    return {HEAD} if last is None else {last.id} | ({last.next} if last.next else set())


def members_in(sets: Sets, between: Range) -> Iterator[tuple[str, BitMap]]:
    """The bodies of a detailed block in order, each with the numbers whose keys are in a range."""
    for body, numbers in sorted(sets.items()):
        begin, end = first_number(body, between.lower), None
        if between.upper is not None:
            end = first_number(body, between.upper)
        if begin is None or (end is not None and end <= begin):
            continue
        if begin == 0 and end is None:
            yield body, numbers
            continue
        part = BitMap(numbers)
        part.remove_range(0, begin)
        if end is not None:
            part.remove_range(end, _ABOVE_ALL_NUMBERS)
        if part:
            yield body, part


def keys_in(sets: Sets, between: Range) -> Iterator[str]:
    """The keys of a detailed block in a range, in order."""
    for body, numbers in members_in(sets, between):
        yield from (sort_string(body, num) for num in numbers)


_ABOVE_ALL_NUMBERS = 2**32
"""Greater than any issue number."""
