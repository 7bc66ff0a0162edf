"""Freezes the rows of a whole order: the numbers of the issues that match a filter, in the order of a grid.

One snapshot of the index answers everything, with the writes that a caller's tokens name laid over. If sets do not decide
the filter, issues that may match are rows too: the reader of their documents decides. Documents are read only if the order
depends on them, and for as many issues of one key as a grid would read.

- Blocks of the order, 256 at a time: their sets, and the sort entries of blocks that do not have the bodies of their keys.
- Issues that share the first key: their documents, some thousands in a round.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from pyroaring import BitMap

from gridview.dynamodb.table import Table
from gridview.encoding.consistency import Recent
from gridview.query import planner
from gridview.query.answer import carried_out
from gridview.query.bitmap_filter import Selection
from gridview.query.bitmap_scan import bitmap_scan
from gridview.query.bucket_walk import Ahead, KnownBuckets, Portion
from gridview.query.buckets import BucketOrder
from gridview.query.frozen_numbers import BUCKETS_AT_ONCE, every_number
from gridview.query.full_scan import full_scan, matching_places
from gridview.query.order_walk import ALL, TooManyTies, Walked, places_in, read_buckets, step
from gridview.query.page import judged as judged_fields
from gridview.query.page import projection
from gridview.query.plan import DirectoryScan, FullScan, Node
from gridview.query.predicates import Filter
from gridview.query.sort_order import Keys
from gridview.query.steps import Steps, ask, ask_directories
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck
from gridview.view.context import ReadContext
from gridview.view.reads import Documents, ReadDocuments

Numbers: TypeAlias = "array[int]"
"""Issue numbers in the order of rows, four bytes each."""

_DOCUMENTS_AT_ONCE = 4_000
"""Issues whose sort keys are read in one round, if only documents have them."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RowsRead(Node):
    """The rows of an order, of the issues that match a filter (None: of all)."""

    keys: Keys
    selection: Selection | None
    directories: DirectoryScan


def frozen_rows(
    table: Table,
    catalog: Catalog,
    only: Filter | None,
    keys: Keys,
    epoch: EpochCheck,
    recent: Recent = (),
) -> Numbers:
    """Return the numbers of all issues that may match, in this order. `epoch`, `recent`: as in `frozen_numbers`.

    Costs as `frozen_numbers`, and the blocks of the order. Sort entries of blocks with several values cost half a read
    unit for each 4 KB.
    Raises QueryTooExpensive if too many issues share a key and only documents show their order.
    """
    selection = Selection(only, catalog) if only is not None else None
    plan = RowsRead(keys=keys, selection=selection, directories=planner.read_directories(keys, selection))
    context = ReadContext(table, catalog, epoch=epoch, recent=recent)
    return carried_out(context, plan, lambda: read_rows(plan, catalog)).result


def read_rows(plan: RowsRead, catalog: Catalog) -> Steps[Numbers]:
    """Return the steps: directories, the filter's sets, and the blocks of the order."""
    snapshot = yield from ask_directories(plan.directories)
    matching = None
    if plan.selection is not None:
        judged = yield from bitmap_scan(planner.scan_bitmaps(plan.selection, snapshot), snapshot)
        matching = judged.maybe
    known = KnownBuckets(planner.bucket_order(plan.keys, snapshot), snapshot, matching)
    if known.order.by_number:
        every = matching
        if every is None:
            every = yield from every_number(plan, snapshot)
        return array("I", known.order.in_number_order(every))
    return (yield from _along(plan, catalog, known))


def _along(plan: RowsRead, catalog: Catalog, known: KnownBuckets) -> Steps[Numbers]:
    """Go along the buckets of the order. An issue that is being moved counts only at the first of its places."""
    found, seen = array("I"), BitMap()
    at = Walked(known, Ahead(known.order.buckets))
    while not at.ahead.over:
        walked = yield from step(at, ALL, partial(_open, plan))
        if isinstance(walked, TooManyTies):
            return (yield from _of_whole(plan, catalog, at.known, walked.issues))
        at, portions = walked
        for some, ties in _at_once(portions):
            numbers = yield from _ordered(plan, known.order, some, ties)
            found.extend(num for num in numbers if num not in seen)
            seen.update(numbers)
    return found


def _open(plan: RowsRead, at: Walked, _: int) -> Steps[Walked]:
    """Open the next buckets: their sets, and the key of each issue."""
    known, buckets = at.known, at.ahead.buckets[:BUCKETS_AT_ONCE]
    if known.matching is not None:
        known = yield from read_buckets(plan, known, buckets)
    # The number of issues without a value is a difference, which moves that wait for a fold can make too small.
    filled = [bucket for bucket in buckets if not bucket.entries or known.hits(bucket)]
    known = yield from read_buckets(plan, known, filled, filled)
    groups = [
        (bucket, known.tie_groups(bucket) if not bucket.entries or known.hits(bucket) else [])
        for bucket in buckets
    ]
    return Walked(known, at.ahead.opening(known.order, groups, backward=False))


def _takes_documents(portion: Portion) -> bool:
    """Whether only documents show the order of a portion's rows."""
    return portion.end is None and len(portion.group.numbers) > 1


def _at_once(portions: Iterable[Portion]) -> Iterator[tuple[Sequence[Portion], Sequence[int]]]:
    """The portions in order, some at a time, with the issues whose documents show their order: these fit in a round."""
    some: list[Portion] = []
    ties: list[int] = []
    for portion in portions:
        if _takes_documents(portion):
            numbers = list(portion.group.numbers)
            if some and len(ties) + len(numbers) > _DOCUMENTS_AT_ONCE:
                yield some, ties
                some, ties = [], []
            ties += numbers
        some.append(portion)
    if some:
        yield some, ties


def _ordered(
    plan: RowsRead, order: BucketOrder, portions: Sequence[Portion], ties: Sequence[int]
) -> Steps[list[int]]:
    """Return the numbers of the rows of these portions in order. `ties`: the issues whose documents show it."""
    documents = Documents({})
    if ties:
        documents = yield from ask(plan, ReadDocuments(ties, projection(judged_fields(plan.keys, None))))
    found: list[int] = []
    for portion in portions:
        if ties and _takes_documents(portion):
            found += (place.num for place in places_in(order, portion, documents.found))
        else:
            found += order.in_number_order(portion.group.numbers)
    return found


def _of_whole(plan: RowsRead, catalog: Catalog, known: KnownBuckets, ties: int) -> Steps[Numbers]:
    """Find the rows by the documents of all issues in question, on small projects; larger ones are refused."""
    total = known.order.total
    if total > planner.WHOLE:
        raise planner.too_many_ties(catalog, plan.keys, ties)
    scan = FullScan(fields=judged_fields(plan.keys, None), among=known.matching, reason="rows", project=total)
    documents = yield from full_scan(scan, known.snapshot)
    return array("I", (place.num for place in matching_places(documents, plan.keys, None)))
