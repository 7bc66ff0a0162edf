"""The values of a walk along ordered buckets (`order_walk`): which buckets have been read, and which rows are ahead. Pure.

    opened: portions of buckets that have been read | buckets | the issues without a value, a bucket without blocks

The rows ahead are those in the direction of travel.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pyroaring import BitMap

from gridview.chains.blocks import Block, Entry
from gridview.chains.directory import Directory, range_of
from gridview.derive.families import NUMBERS
from gridview.derive.sort_entries import present_sort_strings
from gridview.dynamodb.expressions import Item
from gridview.encoding.sort_strings import sort_string
from gridview.query.buckets import Bucket, BucketOrder, TieGroup
from gridview.query.sort_order import Spot
from gridview.view.block_reads import Want
from gridview.view.reads import Snapshot


@dataclass(frozen=True)
class KnownBuckets:
    """The buckets of an order as far as they were read. `sets`, `keys`: the blocks whose sets and sort entries were read.

    `matching`: the issues in question; None: all of the project.
    """

    order: BucketOrder
    snapshot: Snapshot
    matching: BitMap | None = None
    sets: frozenset[Entry] = frozenset()
    keys: frozenset[Entry] = frozenset()
    _counted: dict[Bucket, int] = field(default_factory=dict, repr=False)

    def reading(self, buckets: Iterable[Bucket], *, by_keys: Iterable[Bucket] = ()) -> "Reading":
        """Return the reads that these buckets need.

        `by_keys`: buckets whose sort entries are also read, for blocks that do not have their bodies. The issues without a
        value need all blocks, because they are the rest.
        """
        found: dict[Entry, Want] = {}
        of_numbers: dict[Entry, Want] = {}
        for with_keys, bucket in [*((False, one) for one in buckets), *((True, one) for one in by_keys)]:
            for entry in bucket.entries or self.order.directory.entries:
                keyed = with_keys and bool(bucket.entries) and has_unknown_bodies(entry)
                if keyed and entry not in self.keys:
                    found[entry] = Want(self._family, entry, range_of(entry))
                elif entry not in self.sets:
                    found.setdefault(entry, Want(self._family, entry))
            if not bucket.entries and self.matching is None:
                of_numbers |= {one: Want(self.numbers.family, one) for one in self.numbers.entries}
        keyed_now = frozenset(entry for entry, want in found.items() if want.keys is not None)
        known = replace(self, sets=self.sets | found.keys(), keys=self.keys | keyed_now)
        return Reading((*found.values(), *of_numbers.values()), known, len(known.sets) + len(of_numbers))

    def among(self, matching: BitMap) -> "KnownBuckets":
        """The same with only these issues in question."""
        return replace(self, matching=matching, _counted={})

    @property
    def numbers(self) -> Directory:
        """The directory of the issue numbers."""
        return self.snapshot.directory(NUMBERS)

    def counts(self, bucket: Bucket) -> bool:
        """Whether the number of matching issues in a bucket is known."""
        return self.matching is None or self.sets.issuperset(bucket.entries or self.order.directory.entries)

    def hits(self, bucket: Bucket) -> int:
        """The number of matching issues in a bucket, by the sets that have been read."""
        if bucket not in self._counted:
            if self.matching is None:
                self._counted[bucket] = bucket.size
            elif bucket.entries:
                self._counted[bucket] = sum(
                    self.matching.intersection_cardinality(block.members)
                    for block in self._blocks(bucket.entries)
                )
            else:
                self._counted[bucket] = len(self._without_value())
        return self._counted[bucket]

    def known_hits(self, bucket: Bucket) -> int | None:
        """The number of matching issues in a bucket; None if unknown."""
        return self.hits(bucket) if self.counts(bucket) else None

    def tie_groups(self, bucket: Bucket) -> list[TieGroup]:
        """The tie groups of a bucket that has been read, in the order of the rows."""
        if not bucket.entries:
            without = self._without_value()
            return [TieGroup(without)] if without else []
        keys = None
        if all(entry in self.keys for entry in bucket.entries if has_unknown_bodies(entry)):
            keys = [
                key
                for entry in bucket.entries
                if has_unknown_bodies(entry)
                for key in self.snapshot.keys(self._family, entry, range_of(entry))
            ]
        return self.order.tie_groups(self._blocks(bucket.entries), keys, self.matching)

    @property
    def _family(self) -> str:
        return self.order.directory.family

    def _without_value(self) -> BitMap:
        if self.matching is not None:
            every = self.matching
        else:
            blocks = (self.snapshot.block(self.numbers.family, one) for one in self.numbers.entries)
            every = BitMap.union(BitMap(), *(block.members for block in blocks))
        valued = [block.members for block in self._blocks(self.order.directory.entries)]
        return every - BitMap.union(BitMap(), *valued)

    def _blocks(self, entries: Sequence[Entry]) -> list[Block]:
        return [self.snapshot.block(self._family, entry) for entry in entries]


class Reading(NamedTuple):
    """The parts of blocks to read, the state once they are read, and the number of blocks read by then."""

    wants: tuple[Want, ...]
    known: KnownBuckets
    blocks: int


def has_unknown_bodies(entry: Entry) -> bool:
    """Whether a block does not have the bodies of its keys."""
    return not entry.detailed and entry.body is None


class Portion(NamedTuple):
    """Some rows of a tie group: from `begin` up to `end`, in the order of the rows, if body and number decide the order.

    If only documents decide it (`end` None): all rows after `spot`, except the first `begin`.
    """

    bucket: Bucket
    group: TieGroup
    begin: int
    end: int | None
    spot: Spot | None = None

    @property
    def rows(self) -> int:
        """Rows that are certainly in it."""
        if self.end is not None:
            return self.end - self.begin
        return 0 if self.spot is not None else len(self.group.numbers) - self.begin

    def is_whole(self, missing: int) -> bool:
        """Whether it is its whole group, and has no more rows than are missing."""
        size = len(self.group.numbers)
        return self.spot is None and self.begin == 0 and self.end in (None, size) and size <= missing

    def split(self, count: int, *, from_end: bool) -> tuple["Portion", "Portion"]:
        """Return the next `count` rows, and the rest, if body and number decide the order."""
        begin, end = self.begin, self.end or 0
        if from_end:
            return self._replace(begin=end - count), self._replace(end=end - count)
        return self._replace(end=begin + count), self._replace(begin=begin + count)

    def holds(self, order: BucketOrder, document: Item) -> bool:
        """Whether the issue of this document may belong in its group."""
        indexed = order.keys[0].order
        if indexed is None:
            return True
        if self.group.body_known:
            body = self.group.body
            found = None if body is None else sort_string(body, document["num"])
            return found in present_sort_strings(indexed, document)
        body = order.keys[0].part(document)
        if body is None:
            return False
        key = sort_string(body, document["num"])
        return any(range_of(entry).covers(key) for entry in self.bucket.entries)


@dataclass(frozen=True, slots=True)
class Ahead:
    """Portions that have been opened, and then buckets.

    `skip`: rows of these that are passed over. `spot`: where reading begins in the first of them.
    """

    buckets: Sequence[Bucket] = ()
    skip: int = 0
    spot: Spot | None = None
    opened: tuple[Portion, ...] = ()

    @property
    def over(self) -> bool:
        """Whether there are no rows ahead."""
        return not self.opened and not self.buckets

    @property
    def rest_next(self) -> bool:
        """Whether the issues without a value come next, all of them or those beyond a spot."""
        return not self.opened and not self.skip and bool(self.buckets) and not self.buckets[0].entries

    @property
    def only_rest(self) -> bool:
        """Whether only issues without a value are left, all of them or those beyond a spot."""
        return self.rest_next and len(self.buckets) == 1

    def passing_over(self, rows_in: Callable[[Bucket], int | None]) -> "Ahead":
        """Without the buckets that are wholly before the offset. `rows_in` returns their number of rows; None: unknown."""
        skip, passed = self.skip, 0
        while skip and passed < len(self.buckets):
            rows = rows_in(self.buckets[passed])
            if rows is None or rows > skip:
                break
            skip -= rows
            passed += 1
        return replace(self, skip=skip, buckets=self.buckets[passed:]) if passed else self

    def opening(
        self, order: BucketOrder, groups: Sequence[tuple[Bucket, Iterable[TieGroup]]], *, backward: bool
    ) -> "Ahead":
        """With the next buckets opened, which have these tie groups; the spot is then passed."""
        opened = list(self.opened)
        skip, spot = self.skip, self.spot
        for bucket, found in groups:
            if skip or spot is not None:
                portions = []
                for group in found:
                    portion, skip = _portion(order, bucket, group, skip, spot, backward=backward)
                    if portion is not None:
                        portions.append(portion)
            else:
                portions = [_whole(order, bucket, group) for group in found]
            opened += portions[::-1] if backward else portions
            spot = None
        return Ahead(self.buckets[len(groups) :], skip, spot, tuple(opened))

    def opening_set(self, order: BucketOrder, numbers: BitMap, *, backward: bool) -> "Ahead":
        """With the issues of a set that are ahead, in number order, after the opened portions, and no others."""
        bucket = Bucket((), len(numbers))
        groups = [TieGroup(numbers, "")] if numbers else []
        return replace(self, buckets=(bucket,)).opening(order, [(bucket, groups)], backward=backward)


def _whole(order: BucketOrder, bucket: Bucket, group: TieGroup) -> Portion:
    """All rows of a tie group."""
    return Portion(bucket, group, 0, len(group.numbers) if order.simple and group.body_known else None)


def _portion(
    order: BucketOrder, bucket: Bucket, group: TieGroup, skip: int, spot: Spot | None, *, backward: bool
) -> tuple[Portion | None, int]:
    """The rows of a tie group that are ahead, and how many rows after it must still be passed over."""
    size = len(group.numbers)
    if not order.simple or not group.body_known:
        side = 0 if spot is None or not group.body_known else order.side(group, spot)
        if side and (side < 0) != backward:
            return None, skip
        passed = min(skip, size)
        portion = Portion(bucket, group, passed, None, None if side else spot)
        return (portion if passed < size else None), skip - passed
    begin, end = 0, size
    if spot is not None:
        before = order.rows_before(group, spot)
        begin, end = (0, before) if backward else (before, size)
    passed = min(skip, end - begin)
    begin += passed
    return (Portion(bucket, group, begin, end) if begin < end else None), skip - passed
