"""Freezes the numbers of the issues of a background job: all that match a filter, or a range of rows of an order.

No document is read if sets decide, so a million issues take about a thousand blocks, half a read unit each. One snapshot
of the index answers everything, with the writes that a caller's tokens name laid over.
"""

from dataclasses import dataclass
from functools import partial

from pyroaring import BitMap

from gridview.derive.families import NUMBERS
from gridview.dynamodb.table import Table
from gridview.encoding.consistency import Recent
from gridview.query import planner
from gridview.query.answer import carried_out
from gridview.query.bitmap_filter import Judged, Selection
from gridview.query.bitmap_scan import bitmap_scan, recheck
from gridview.query.bucket_walk import Ahead, KnownBuckets, Portion
from gridview.query.buckets import Bucket
from gridview.query.full_scan import full_scan, matching_places
from gridview.query.order_walk import TooManyTies, Walked, places_in, read_buckets, step
from gridview.query.page import judged as judged_fields
from gridview.query.page import projection
from gridview.query.plan import DirectoryScan, FullScan, Node
from gridview.query.predicates import Filter
from gridview.query.sort_order import Keys, OrderKey, RowRange
from gridview.query.steps import Steps, ask, ask_directories
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck
from gridview.support.errors import RequestError
from gridview.view.block_reads import Want
from gridview.view.context import ReadContext
from gridview.view.reads import Documents, ReadBlocks, ReadDocuments, Snapshot

BUCKETS_AT_ONCE = 256
"""Buckets of an order whose sets are read in one round, until the last row is reached."""

_BY_NUMBER: Keys = (OrderKey(None),)


@dataclass(frozen=True, eq=False, kw_only=True)
class NumbersRead(Node):
    """The numbers of the issues that match a filter (None: of all), or of a range of the matching rows."""

    only: Filter | None
    rows: RowRange | None
    selection: Selection | None
    directories: DirectoryScan

    @property
    def keys(self) -> Keys:
        """The order in which rows are counted."""
        return self.rows.keys if self.rows else _BY_NUMBER


def frozen_numbers(
    table: Table,
    catalog: Catalog,
    only: Filter | None,
    rows: RowRange | None,
    epoch: EpochCheck,
    recent: Recent = (),
) -> Judged:
    """Return the numbers of the issues that match for sure, and of all that may; documents decide about the others.

    Rows are always sure. `epoch`: finds out whether the catalog is current. `recent`: writes that the answer must include.
    Raises StaleDefinitions, and QueryTooExpensive for rows whose order or filter takes too many documents.
    """
    selection = Selection(only, catalog) if only is not None else None
    keys = rows.keys if rows else _BY_NUMBER
    directories = planner.read_directories(keys, selection)
    plan = NumbersRead(only=only, rows=rows, selection=selection, directories=directories)
    context = ReadContext(table, catalog, epoch=epoch, recent=recent)
    return carried_out(context, plan, lambda: read_numbers(plan, catalog)).result


def read_numbers(plan: NumbersRead, catalog: Catalog) -> Steps[Judged]:
    """Return the steps: directories, the filter's sets, and for rows the blocks of the order."""
    snapshot = yield from ask_directories(plan.directories)
    if plan.selection is None:
        judged = None
    else:
        scan = planner.scan_bitmaps(plan.selection, snapshot)
        judged = yield from bitmap_scan(scan, snapshot)
    if plan.rows is None:
        if judged is not None:
            return judged
        every = yield from every_number(plan, snapshot)
        return Judged(every, every)
    found = yield from _rows(plan, plan.rows, catalog, snapshot, judged)
    return Judged(found, found)


def every_number(plan: Node, snapshot: Snapshot) -> Steps[BitMap]:
    """The numbers of all issues of the project."""
    entries = snapshot.directory(NUMBERS).entries
    yield from ask(plan, ReadBlocks(tuple(Want(NUMBERS, entry) for entry in entries)))
    return BitMap.union(BitMap(), *(snapshot.block(NUMBERS, entry).members for entry in entries))


def _rows(
    plan: NumbersRead, rows: RowRange, catalog: Catalog, snapshot: Snapshot, judged: Judged | None
) -> Steps[BitMap]:
    known = KnownBuckets(planner.bucket_order(rows.keys, snapshot), snapshot)
    if judged is not None:
        if len(judged.undecided) > planner.CANDIDATES:
            refusal = planner.too_wide(plan.selection, len(judged.undecided))
            return (yield from _of_whole(plan, rows, known, judged.maybe, refusal))
        passing = yield from recheck(planner.recheck_of(plan.only, judged.undecided))
        known = known.among(judged.sure | passing)
    if known.order.by_number:
        every = known.matching
        if every is None:
            every = yield from every_number(plan, snapshot)
        return _slice(every, rows, descending=rows.keys[0].descending)
    return (yield from _along(plan, rows, catalog, known))


def _slice(numbers: BitMap, rows: RowRange, *, descending: bool) -> BitMap:
    """The numbers of these rows, if the order is that of the numbers or its reverse."""
    if not descending:
        return numbers[rows.first : rows.last + 1]
    size = len(numbers)
    return numbers[max(size - rows.last - 1, 0) : max(size - rows.first, 0)]


def _of_whole(
    plan: NumbersRead, rows: RowRange, known: KnownBuckets, among: BitMap | None, refusal: RequestError
) -> Steps[BitMap]:
    """Find the rows by the documents of all issues in question, on small projects; larger ones are refused."""
    total = known.order.total
    if total > planner.WHOLE:
        raise refusal
    scan = FullScan(fields=judged_fields(rows.keys, plan.only), among=among, reason="rows", project=total)
    documents = yield from full_scan(scan, known.snapshot)
    places = matching_places(documents, rows.keys, plan.only)
    return BitMap(place.num for place in places[rows.first : rows.last + 1])


def _along(plan: NumbersRead, rows: RowRange, catalog: Catalog, known: KnownBuckets) -> Steps[BitMap]:
    """Go along the buckets of the order. Only in the first and last one, the order of the issues matters."""
    found = BitMap()
    at, missing = Walked(known, Ahead(known.order.buckets, rows.first)), rows.last + 1 - rows.first
    while missing > 0 and not at.ahead.over:
        walked = yield from step(at, missing, partial(_open, plan), ordered=False)
        if isinstance(walked, TooManyTies):
            refusal = planner.too_many_ties(catalog, rows.keys, walked.issues)
            return (yield from _of_whole(plan, rows, at.known, at.known.matching, refusal))
        at, portions = walked
        whole: list[BitMap] = []
        for portion in portions:
            if portion.is_whole(missing):
                whole.append(portion.group.numbers)
            else:
                found |= yield from _part(plan, rows, at.known, portion, missing)
            missing -= portion.rows
        found |= BitMap.union(BitMap(), *whole)
    return found


def _open(plan: NumbersRead, at: Walked, missing: int) -> Steps[Walked]:
    """Open the next buckets, up to the last row. Keys are read only for buckets that are partly in the range."""
    known, count = at.known, BUCKETS_AT_ONCE
    if known.matching is not None:
        known = yield from read_buckets(plan, known, at.ahead.buckets[:count])
    ahead = at.ahead.passing_over(known.known_hits)
    if known.matching is not None:
        count -= len(at.ahead.buckets) - len(ahead.buckets)
    chosen: list[tuple[Bucket, int]] = []
    whole: list[Bucket] = []
    partly: list[Bucket] = []
    begin = ahead.skip
    for bucket in ahead.buckets[:count]:
        if missing <= 0:
            break
        hits = known.hits(bucket)
        wanted = max(min(hits - begin, missing), 0)
        chosen.append((bucket, wanted))
        if wanted:
            (whole if wanted == hits else partly).append(bucket)
        missing -= wanted
        begin = 0
    known = yield from read_buckets(plan, known, whole, partly)
    groups = [(bucket, known.tie_groups(bucket) if wanted else []) for bucket, wanted in chosen]
    return Walked(known, ahead.opening(known.order, groups, backward=False))


def _part(
    plan: NumbersRead, rows: RowRange, known: KnownBuckets, portion: Portion, missing: int
) -> Steps[BitMap]:
    """Return as many issues of a portion as are missing, from a tie group with only some rows in the range."""
    if portion.end is not None:
        return BitMap(known.order.in_number_order(portion.group.numbers, portion.begin, portion.end))
    paths = projection(judged_fields(rows.keys, plan.only))
    documents: Documents = yield from ask(plan, ReadDocuments(list(portion.group.numbers), paths))
    return BitMap(place.num for place in places_in(known.order, portion, documents.found)[:missing])
