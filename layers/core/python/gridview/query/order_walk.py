"""The walk along the buckets of an order: for the rows of a page, a row number, and the rows of jobs and exports. Pure.

- Open: the next buckets are read, and their tie groups become portions. Each reader chooses the buckets and the reads.
- Take: portions of as many rows as are missing, in the direction of travel.
- Order: the places of a portion's rows, by body and number, or by their documents.

*The rule of ties.* Body and number order the issues of a tie group if there are no further keys. Otherwise their documents
do. A walk that needs the documents of more than `CANDIDATES` issues of one body stops there (`TooManyTies`). It needs none
if it wants all rows of a group, but not their order, as jobs do.

The first key's body comes from the index. Documents add only the values of further keys. So an issue is where the index
has it, even if it has just been moved.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from gridview.dynamodb.expressions import Item
from gridview.query import planner
from gridview.query.bucket_walk import Ahead, KnownBuckets, Portion
from gridview.query.buckets import Bucket, BucketOrder
from gridview.query.plan import Node
from gridview.query.sort_order import Place, in_order, rows_before
from gridview.query.steps import Steps, ask
from gridview.view.reads import ReadBlocks

ALL = sys.maxsize
"""As many rows as there are."""


class TooManyTies(NamedTuple):
    """The number of issues with the same first key, if they are too many to order by their documents."""

    issues: int


class Walked(NamedTuple):
    """The progress of a walk: the buckets as far as they were read, and the rows ahead."""

    known: KnownBuckets
    ahead: Ahead


Opener = Callable[[Walked, int], Steps[Walked | TooManyTies]]
"""Opens the next buckets, for so many missing rows: after its reads their portions are ahead, if they have any."""


def step(
    at: Walked, missing: int, open_next: Opener, *, backward: bool = False, ordered: bool = True
) -> Steps[tuple[Walked, list[Portion]] | TooManyTies]:
    """Return the next portions, with as many rows as are missing if the open ones have so many.

    Opens buckets if none is open. `ordered`: whether the order of the rows is needed, or only which they are.
    """
    if not at.ahead.opened:
        opened = yield from open_next(at, missing)
        if isinstance(opened, TooManyTies):
            return opened
        at = opened
    return _taken(at, missing, backward=backward, ordered=ordered)


def _taken(
    at: Walked, missing: int, *, backward: bool, ordered: bool
) -> tuple[Walked, list[Portion]] | TooManyTies:
    opened = at.ahead.opened
    taken: list[Portion] = []
    rest: tuple[Portion, ...] = ()
    # An order of unique values has a portion for each row, so the time for each matters here.
    for portion in opened:
        if missing <= 0:
            break
        if portion.end is None:
            size = len(portion.group.numbers)
            by_documents = ordered or not portion.is_whole(missing)
            if by_documents and portion.group.body_known and size > planner.CANDIDATES:
                return TooManyTies(size)
            rows = portion.rows
        elif (rows := portion.end - portion.begin) > missing:
            portion, left = portion.split(missing, from_end=backward)
            rest = (left,)
        taken.append(portion)
        missing -= rows
    ahead = replace(at.ahead, opened=(*rest, *opened[len(taken) :]))
    return Walked(at.known, ahead), taken


def early_ties(known: KnownBuckets, buckets: Sequence[Bucket]) -> TooManyTies | None:
    """Return the ties if only documents can order too many issues of one body, as far as fences and counts show it."""
    if known.order.simple:
        return None
    for bucket in buckets:
        bodies = {entry.body for entry in bucket.entries}
        if len(bodies) < 2 and None not in bodies:
            count = known.hits(bucket)
            if count > planner.CANDIDATES:
                return TooManyTies(count)
    return None


def read_buckets(
    node: Node, known: KnownBuckets, buckets: Sequence[Bucket], by_keys: Sequence[Bucket] = ()
) -> Steps[KnownBuckets]:
    """Return the state after these buckets have been read; for those in `by_keys`, also the key of each issue.

    Half a read unit for 4 KB of each block that is not known yet. Raises QueryTooExpensive if the answer would take too many.
    """
    reading = known.reading(buckets, by_keys=by_keys)
    planner.check_blocks(reading.blocks)
    yield from ask(node, ReadBlocks(reading.wants))
    return reading.known


def places_in(
    order: BucketOrder,
    portion: Portion,
    documents: Mapping[int, Item],
    *,
    backward: bool = False,
    belongs: Callable[[Item], bool] | None = None,
) -> list[Place]:
    """Return the places of a portion's rows, in the direction of travel.

    If body and number do not decide their order, only rows with a document here. `belongs`: whether the issue of a
    document still counts.
    """
    if portion.end is not None:
        places = order.places(portion.group, portion.begin, portion.end)
        return places[::-1] if backward else places
    found = []
    for num in portion.group.numbers:
        document = documents.get(num)
        if document is None or (belongs is not None and not belongs(document)):
            continue
        body = portion.group.body if portion.group.body_known else order.keys[0].part(document)
        found.append(Place((body, *(key.part(document) for key in order.keys[1:])), num))
    places = in_order(order.keys, found)
    at = None if portion.spot is None else rows_before(order.keys, places, portion.spot)
    if backward:
        return places[:at][::-1]
    return places[(at or 0) + portion.begin :]
