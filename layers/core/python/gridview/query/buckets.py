"""An order over the blocks of its first key: the buckets along it, and the issues that are together in each. Pure.

```
    closed | open 1..900 | open 901..1700 | waiting, done ... | without a value
```

There is one bucket for each block. If the issues of a body are sorted together, there is one for each run of blocks that a
body spans.

A *tie group* is a set of issues in one bucket. Issues of one body are in number order, unless there are further sort keys.
Issues of a block that does not have their bodies are a tie group whose order only their documents show.
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
"""The end of a fence that has keys of one body on both sides."""


class Bucket(NamedTuple):
    """Neighbouring blocks whose issues are sorted together; without blocks: the issues without a value. `size`: issues."""

    entries: tuple[Entry, ...]
    size: int


class TieGroup(NamedTuple):
    """Issues that are together. `body`: the first key's body that all of them have; None if they have no value.

    `body_known`: whether that is known. If not, they are issues of several bodies, which only their documents show.
    """

    numbers: BitMap
    body: str | None = None
    body_known: bool = True


class BucketOrder:
    """An order over the blocks of its first key, in the order of its rows.

    `directory`: that of the first key's order, or of the issue numbers; `total`: all issues of the project.
    """

    def __init__(self, keys: Keys, directory: Directory, total: int) -> None:
        self.keys = keys
        self.directory = directory
        self.total = total
        first = keys[0]
        self.by_number = first.order is None
        self.simple = all(key.order is None for key in keys[1:])
        """Whether issues of one body are in number order."""
        self.straight = len(keys) == 1
        """Whether the order is that of the keys in the blocks, or its reverse."""
        self.stored = not any(field.computed for field in first.fields)
        """Whether a document shows by its attributes that it has no value of the first key."""
        self.moving = first.order is not None and first.order.moving
        """Whether options are being moved. A document then does not show which of its places the index has."""
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
        """The place of the bucket of the issues without a value, if there may be such."""

    def at(self, spot: Spot) -> int:
        """The place of the bucket that contains a spot, or is next to it."""
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

        `keys`: the sort strings in those blocks that do not have the bodies of their members; None if they were not read.
        """
        by_body: dict[str, BitMap] = {}
        unknown = BitMap()
        for block in blocks:
            for body, numbers in _by_body(block):
                by_body[body] = by_body[body] | numbers if body in by_body else numbers
            if block.sets is None and _one_body(block) is None:
                unknown |= block.members
        if unknown and keys is not None:
            for body, run in groupby(sorted(keys), key=body_of):
                numbers = BitMap(map(number_of, run)) & unknown
                by_body[body] = by_body[body] | numbers if body in by_body else numbers
            unknown = BitMap()
        if unknown:
            members = BitMap.union(unknown, *by_body.values())
            return _nonempty([TieGroup(members, None, body_known=False)], matching)
        found = [TieGroup(by_body[body], body) for body in sorted(by_body, reverse=self.keys[0].descending)]
        return _nonempty(found, matching)

    def places(self, group: TieGroup, begin: int, end: int) -> list[Place]:
        """The places of a group's rows from `begin` up to `end`, if issues of one body are in number order."""
        return [self.place(group.body, num) for num in self.in_number_order(group.numbers, begin, end)]

    def in_number_order(self, numbers: BitMap, begin: int = 0, end: int | None = None) -> list[int]:
        """Issues of one body from row `begin` up to `end`, in number order, in the direction of the last key."""
        descending = self.keys[-1].descending
        if begin or end is not None:
            size = len(numbers)
            end = size if end is None else end
            numbers = numbers[max(size - end, 0) : max(size - begin, 0)] if descending else numbers[begin:end]
        return list(numbers)[::-1] if descending else list(numbers)

    def place(self, body: str | None, num: int) -> Place:
        """The place of an issue of this body, as far as body and number decide it."""
        parts = (issue_number(num) if key.order is None else body for key in self.keys)
        return Place(tuple(parts), num)

    def side(self, group: TieGroup, spot: Spot) -> int:
        """-1 if all of a group comes before a spot in its bucket, 1 if all comes after it, 0 if they share a body."""
        body = spot.place.parts[0]
        if self.by_number or group.body is None or body is None or group.body == body:
            return 0
        return -1 if (group.body < body) != self.keys[0].descending else 1

    def rows_before(self, group: TieGroup, spot: Spot) -> int:
        """The number of a group's rows before a spot in the same bucket, if issues of one body are in number order."""
        num, size = spot.place.num, len(group.numbers)
        side = self.side(group, spot)
        if side:
            return size if side < 0 else 0
        if self.keys[-1].descending:
            return size - group.numbers.rank(num - 1 if spot.after else num)
        return int(group.numbers.rank(num if spot.after else num - 1))


def _runs(directory: Directory) -> list[list[Entry]]:
    """The blocks, grouped where a body is cut between them."""
    runs: list[list[Entry]] = []
    for entry in directory.entries:
        if runs and _INSIDE_A_BODY.search(entry.lower):
            runs[-1].append(entry)
        else:
            runs.append([entry])
    return runs


def _by_body(block: Block) -> list[tuple[str, BitMap]]:
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
