"""An order over the blocks of its first key: the buckets along it, and the issues that stand together in each. Pure.

    closed | open 1..900 | open 901..1700 | waiting, done ... | without a value
    one bucket for each block, or for each run of blocks that one body spans where the issues of a body are sorted together

A *tie group* is a set of issues in one bucket whose order is known: those of one body stand in number order, unless there are
further keys to sort by. Those of a block that does not tell its bodies apart are a tie group whose order only their documents tell.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from pyroaring import BitMap

from gridview.chains.blocks import Block, Entry
from gridview.chains.directory import Directory
from gridview.encoding.sort_strings import (
    NUMBER_WIDTH,
    SEPARATOR,
    body_of,
    issue_number,
    number_of,
    sort_string,
)
from gridview.query.sort_order import Keys, Place, Spot

_INSIDE_A_BODY = re.compile(rf"{SEPARATOR}[0-9]{{{NUMBER_WIDTH}}}\Z")
"""What a fence ends with that has keys of one body on both sides."""


class Bucket(NamedTuple):
    """Neighbouring blocks whose issues are sorted together; without blocks: the issues that have no value. `size`: how many."""

    entries: tuple[Entry, ...]
    size: int


class TieGroup(NamedTuple):
    """Issues that stand together. `body`: what the first key compares of all of them; None where they have no value.

    `told`: whether that is known. If not, they are issues of several bodies, and only their documents tell which.
    """

    numbers: BitMap
    body: str | None = None
    told: bool = True


class BucketOrder:
    """An order over the blocks of its first key, in the order of its rows.

    `directory`: of the first key's order, or of the issue numbers; `total`: all issues of the project.
    """

    def __init__(self, keys: Keys, directory: Directory, total: int) -> None:
        self.keys = keys
        self.directory = directory
        self.total = total
        first = keys[0]
        self.by_number = first.order is None
        self.simple = all(key.order is None for key in keys[1:])
        """Whether issues of one body stand in number order."""
        self.straight = len(keys) == 1
        """Whether the order is that of the keys in the blocks, or its reverse."""
        self.moving = first.order is not None and first.order.moving
        """Whether options are being moved: an issue's document does not tell then at which of its places the index has it."""
        valued = [
            Bucket(tuple(run), sum(entry.size for entry in run))
            for run in (([entry] for entry in directory.entries) if self.straight else _runs(directory))
        ]
        self._lowers = [bucket.entries[0].lower for bucket in valued]
        if first.descending:
            valued.reverse()
        without = [Bucket((), max(total - directory.total, 0))] if first.nullable else []
        self.buckets = [*without, *valued] if first.nulls_first else [*valued, *without]
        self.nulls_at = (0 if first.nulls_first else len(valued)) if without else None
        """The place of the bucket of the issues without a value, where there may be such."""

    def at(self, spot: Spot) -> int:
        """The place of the bucket that a spot lies in or beside."""
        body, num = spot.place.parts[0], spot.place.num
        if body is None:
            return self.nulls_at or 0
        key = sort_string("" if self.by_number else body, max(num, 1))
        place = max(bisect_right(self._lowers, key) - 1, 0)
        if self.keys[0].descending:
            place = max(len(self._lowers) - 1 - place, 0)
        return place + (1 if self.nulls_at == 0 else 0)

    def tie_groups(
        self, blocks: Sequence[Block], keys: Iterable[str] | None, matching: BitMap | None
    ) -> list[TieGroup]:
        """The tie groups of a bucket's blocks in the order of the rows, of those issues that match (None: all do).

        `keys`: the sort strings of the members of those blocks that do not tell them, where they are known.
        """
        told: dict[str, BitMap] = {}
        untold = BitMap()
        for block in blocks:
            for body, numbers in _told(block):
                told[body] = told[body] | numbers if body in told else numbers
            if block.sets is None and _one_body(block) is None:
                untold |= block.members
        if untold and keys is not None:
            for body, run in groupby(sorted(keys), key=body_of):
                numbers = BitMap(map(number_of, run)) & untold
                told[body] = told[body] | numbers if body in told else numbers
            untold = BitMap()
        if untold:
            members = BitMap.union(untold, *told.values())
            return _nonempty([TieGroup(members, None, told=False)], matching)
        found = [TieGroup(told[body], body) for body in sorted(told, reverse=self.keys[0].descending)]
        return _nonempty(found, matching)

    def places(self, group: TieGroup, begin: int, end: int) -> list[Place]:
        """The places of a group's rows from one on and up to another, where issues of one body stand in number order."""
        return [self.place(group.body, num) for num in self.in_number_order(group.numbers, begin, end)]

    def in_number_order(self, numbers: BitMap, begin: int = 0, end: int | None = None) -> list[int]:
        """Issues of one body from one row on and up to another, where they are in number order: in that of the last key."""
        descending = self.keys[-1].descending
        if begin or end is not None:
            size = len(numbers)
            end = size if end is None else end
            numbers = numbers[max(size - end, 0) : max(size - begin, 0)] if descending else numbers[begin:end]
        return list(numbers)[::-1] if descending else list(numbers)

    def place(self, body: str | None, num: int) -> Place:
        """Where an issue of this body stands, as far as body and number tell."""
        parts = (issue_number(num) if key.order is None else body for key in self.keys)
        return Place(tuple(parts), num)

    def side(self, group: TieGroup, spot: Spot) -> int:
        """-1 where all of a group comes before a spot in its bucket, 1 where all comes after it, 0 where they share a body."""
        body = spot.place.parts[0]
        if self.by_number or group.body is None or body is None or group.body == body:
            return 0
        return -1 if (group.body < body) != self.keys[0].descending else 1

    def rows_before(self, group: TieGroup, spot: Spot) -> int:
        """How many of a group's rows come before a spot in the same bucket, where issues of one body stand in number order."""
        num, size = spot.place.num, len(group.numbers)
        side = self.side(group, spot)
        if side:
            return size if side < 0 else 0
        if self.keys[-1].descending:
            return size - group.numbers.rank(num - 1 if spot.after else num)
        return int(group.numbers.rank(num if spot.after else num - 1))


def _runs(directory: Directory) -> list[list[Entry]]:
    """The blocks, those together between which a body is cut."""
    runs: list[list[Entry]] = []
    for entry in directory.entries:
        if runs and _INSIDE_A_BODY.search(entry.lower):
            runs[-1].append(entry)
        else:
            runs.append([entry])
    return runs


def _told(block: Block) -> list[tuple[str, BitMap]]:
    if block.sets is not None:
        return list(block.sets.items())
    body = _one_body(block)
    return [] if body is None else [(body, block.members)]


def _one_body(block: Block) -> str | None:
    return Entry(block.id, block.lower, block.upper, block.next, block.write_id, block.size).body


def _nonempty(groups: Iterable[TieGroup], matching: BitMap | None) -> list[TieGroup]:
    if matching is not None:
        groups = (group._replace(numbers=group.numbers & matching) for group in groups)
    return [group for group in groups if group.numbers]
