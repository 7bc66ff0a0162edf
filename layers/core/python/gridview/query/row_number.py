"""Answers requests for the row number of an issue in an order.

| reads | round |
|---|---|
| the issue and its ledger, directories | 1st |
| the filter's sets | 2nd, under a filter |
| blocks of the order, undecided documents | 3rd |
| documents, if several keys need them | at most the 4th |
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from pyroaring import BitMap

from gridview.chains.directory import Range
from gridview.derive.families import NUMBERS
from gridview.derive.ledger import Ledger
from gridview.dynamodb.expressions import Item
from gridview.encoding.sort_strings import body_of, sort_string
from gridview.query import planner
from gridview.query.answer import carried_out
from gridview.query.bitmap_filter import Judged, Selection
from gridview.query.bitmap_scan import bitmap_scan, recheck
from gridview.query.bucket_walk import Ahead, KnownBuckets
from gridview.query.buckets import Bucket, BucketOrder, TieGroup
from gridview.query.full_scan import full_scan, matching_places
from gridview.query.grid_request import RowNumberQuery
from gridview.query.order_walk import ALL, TooManyTies, Walked, early_ties, places_in, read_buckets, step
from gridview.query.page import judged as judged_fields
from gridview.query.page import projection
from gridview.query.plan import BucketCount, FullScan, Node, RowNumber, TopN
from gridview.query.sort_order import Spot, place_of, rows_before
from gridview.query.steps import Ask, Steps, ask, ask_directories, record, side_by_side
from gridview.schema.catalog import Catalog
from gridview.view.context import ReadContext
from gridview.view.reads import (
    Documents,
    ReadBlocks,
    ReadDocuments,
    ReadIssue,
    ReadLedger,
    Snapshot,
)
from gridview.view.shown_versions import Answered


def row_number_of(context: ReadContext, num: int, query: RowNumberQuery) -> Answered:
    """Return `before`: how many rows precede an issue in an order, whether it matches the filter or not.

    `row_number` is the same, and null if the issue does not match. The issue itself is read strongly consistent, all
    others as of the index. `explain` on request.

    Read units: half of one for the issue's block. Under a filter, also for the filter's sets and all blocks before the
    issue's, or after it if these are fewer. Raises NotFound, and the errors of `carried_out`.
    """
    catalog = context.catalog
    plan = planner.plan_row_number(catalog, num, query)
    found, members, shown = carried_out(
        context, plan, lambda: count_rows(plan, catalog), explain=query.explain, operands=query.operands
    )
    return Answered({"row_number": found.row_number, "before": found.before, **members}, shown)


class RowPlace(NamedTuple):
    """How many matching rows precede an issue, and whether the issue matches too."""

    before: int
    matches: bool

    @property
    def row_number(self) -> int | None:
        """The number of its row; None: it has none."""
        return self.before if self.matches else None


@dataclass(frozen=True)
class _Issue:
    """The issue, and the state of its order."""

    plan: RowNumber
    catalog: Catalog
    known: KnownBuckets
    spot: Spot

    @property
    def order(self) -> BucketOrder:
        """The order."""
        return self.known.order

    @property
    def at(self) -> int:
        """The place of its bucket."""
        return self.order.at(self.spot)

    @property
    def here(self) -> Sequence[Bucket]:
        """Its bucket, if there is one."""
        return self.order.buckets[self.at : self.at + 1]

    @property
    def itself(self) -> BitMap:
        """The issue as a set."""
        return BitMap((self.plan.num,))

    def taken_out_of(self, group: TieGroup) -> TieGroup:
        """A tie group without the issue."""
        return (
            group._replace(numbers=group.numbers - self.itself) if self.plan.num in group.numbers else group
        )


def count_rows(plan: RowNumber, catalog: Catalog) -> Steps[RowPlace]:
    """Return how many rows precede the issue."""
    snapshot: Snapshot
    document: Item
    ledger: Ledger
    snapshot, document, ledger = yield from side_by_side(
        ask_directories(plan.directories),
        ask(plan, ReadIssue(plan.num)),
        ask(plan, ReadLedger(plan.num)),
    )
    matches = plan.only is None or plan.only.matches(document)
    known = KnownBuckets(planner.bucket_order(plan.keys, snapshot), snapshot)
    issue = _Issue(plan, catalog, known, Spot(place_of(plan.keys, document), after=False))
    if plan.selection is None:
        before = yield from _among_all(issue, ledger)
    else:
        before = yield from _among_matching(issue, plan.selection)
    return RowPlace(before, matches)


def _among_all(issue: _Issue, ledger: Ledger) -> Steps[int]:
    here, known = issue.here, issue.known
    scan = planner.count_buckets(known, here)
    yield from record(issue.plan, chosen=scan)
    ties = early_ties(known, here)
    if ties is not None:
        return (yield from _whole(issue, scan, known, ties))
    inside = yield from _inside(issue, scan, (yield from read_buckets(scan, known, (), here)))
    if isinstance(inside, TooManyTies):
        return (yield from _whole(issue, scan, known, inside))
    before = sum(bucket.size for bucket in known.order.buckets[: issue.at])
    return before - _counted_before(issue, ledger) + inside


def _counted_before(issue: _Issue, ledger: Ledger) -> int:
    """1 if the index has the issue itself, at its former place, in a bucket before; else 0."""
    order = issue.order
    indexed = _indexed(issue, ledger)
    if NUMBERS not in indexed or order.by_number:
        return 0
    key = indexed.get(order.directory.family)
    if key is None and order.nulls_at is None:
        return 0
    former = order.place(None if key is None else body_of(key), issue.plan.num)
    return int(order.at(Spot(former, after=False)) < issue.at)


def _indexed(issue: _Issue, ledger: Ledger) -> Mapping[str, str]:
    """The strings under which blocks have an issue: its ledger's intended ones, once its number is folded into them."""
    if not ledger.number:
        return ledger.applied
    order, new = issue.order.directory, ledger.committed().applied
    key = new.get(order.family) or ledger.applied.get(order.family)
    if key is not None and order.family in (ledger.intent or {}):
        directory = order
    else:
        directory, key = issue.known.snapshot.directory(NUMBERS), sort_string("", issue.plan.num)
    position = max((entry.position for entry in directory.overlapping(Range(key, None))[:1]), default=0)
    return new if position >= ledger.number else ledger.applied


def _among_matching(issue: _Issue, selection: Selection) -> Steps[int]:
    plan, known, order = issue.plan, issue.known, issue.order
    matching = planner.count_matching(selection, known.snapshot)
    yield from record(plan, chosen=matching)
    sets = yield from bitmap_scan(matching.bitmaps, known.snapshot)
    others = Judged(sets.sure - issue.itself, sets.maybe - issue.itself)
    before, following = order.buckets[: issue.at], order.buckets[issue.at + 1 :]
    fewer = before if _blocks(before) <= _blocks(following) else following
    way = planner.row_number_with_sets(plan, known, [*fewer, *issue.here], others)
    yield from record(matching, chosen=way)
    match way:
        case FullScan():
            return (yield from _count_whole(issue, way))
        case TopN():
            return (yield from _count_documents(issue, way, list(way.candidates)))
        case BucketCount():
            return (yield from _count_buckets(issue, way, others, fewer, from_end=fewer is not before))


def _count_buckets(
    issue: _Issue, scan: BucketCount, others: Judged, fewer: Sequence[Bucket], *, from_end: bool
) -> Steps[int]:
    """Count the matching issues in the buckets before the issue's, or after it if these are fewer; and in its own."""
    order, here = issue.order, issue.here
    if order.by_number:
        passing = yield from recheck(scan.recheck)
        return order.rows_before(TieGroup(others.sure | passing, ""), issue.spot)
    to_read = issue.known.reading(fewer, by_keys=here)
    planner.check_blocks(to_read.blocks)
    passing = yield from recheck(scan.recheck, beside=Ask(scan, ReadBlocks(to_read.wants)))
    matching = others.sure | passing
    known = to_read.known.among(matching)
    counted = sum(known.hits(bucket) for bucket in fewer)
    if from_end:
        counted = len(matching) - counted - sum(known.hits(bucket) for bucket in here)
    inside = yield from _inside(issue, scan, known)
    if isinstance(inside, TooManyTies):
        return (yield from _whole(issue, scan, known, inside))
    return counted + inside


def _inside(issue: _Issue, scan: Node, known: KnownBuckets) -> Steps[int | TooManyTies]:
    """Count the rows before the issue in its own bucket, backwards. The sets and sort entries must have been read."""
    order, counted = known.order, 0
    walked = yield from step(
        Walked(known, Ahead(issue.here, spot=issue.spot)),
        ALL,
        partial(_open, issue),
        backward=True,
        ordered=False,
    )
    if isinstance(walked, TooManyTies):
        return walked
    for portion in walked[1]:
        counted += portion.rows
        if portion.spot is not None:
            documents: Documents = yield from ask(scan, _fields_of(issue, list(portion.group.numbers)))
            counted += len(places_in(order, portion, documents.found, backward=True))
    return counted


def _open(issue: _Issue, at: Walked, _: int) -> Steps[Walked]:
    """Open the issue's own bucket, without the issue: it has been read."""
    yield from ()  # no reads
    known, here = at
    groups = [
        (bucket, [issue.taken_out_of(group) for group in known.tie_groups(bucket)]) for bucket in here.buckets
    ]
    return Walked(known, here.opening(known.order, groups, backward=True))


def _whole(issue: _Issue, scan: Node, known: KnownBuckets, ties: TooManyTies) -> Steps[int]:
    """Count by the documents of all issues in question."""
    refusal = planner.too_many_ties(issue.catalog, issue.plan.keys, ties.issues)
    whole = planner.count_whole(issue.plan, known, refusal, known.matching)
    yield from record(scan, chosen=whole)
    return (yield from _count_whole(issue, whole))


def _count_whole(issue: _Issue, scan: FullScan) -> Steps[int]:
    documents = yield from full_scan(scan, issue.known.snapshot)
    others = (one for one in documents if one["num"] != issue.plan.num)
    return rows_before(issue.plan.keys, matching_places(others, issue.plan.keys, issue.plan.only), issue.spot)


def _count_documents(issue: _Issue, scan: Node, numbers: Sequence[int]) -> Steps[int]:
    """Count by the documents of all issues that may match."""
    plan = issue.plan
    documents: Documents = yield from ask(scan, _fields_of(issue, numbers))
    return rows_before(plan.keys, matching_places(documents.found.values(), plan.keys, plan.only), issue.spot)


def _fields_of(issue: _Issue, numbers: Sequence[int]) -> ReadDocuments:
    return ReadDocuments(numbers, projection(judged_fields(issue.plan.keys, issue.plan.only)))


def _blocks(buckets: Sequence[Bucket]) -> int:
    return sum(len(bucket.entries) for bucket in buckets)
