"""The planner: chooses the nodes that answer a query, by the request, the directories and the reads so far. Pure.

- NumberScan, IndexScan: along one index (or the issue numbers), from the requested place on. The cost does not depend on
  the project's size.
- SetOrder: in number order under a filter. The set of the matching issues already has that order.
- TopN: fetches all issues that match and sorts them in memory, if they are few.
- BucketScan, RestScan: along the blocks of the first key's order, as far as the page needs, skipping blocks without
  matching issues.
- FullScan: reads the needed fields of all issues, filters and sorts them in memory. For small projects, if sets cannot
  decide.

The cost is counted in read units: half a unit for a document or a block of up to 4 KB.
"""

import math
from collections.abc import Mapping, Sequence

from pyroaring import BitMap

from gridview.chains.directory import Directory, Range
from gridview.derive.families import NUMBERS, has_entries
from gridview.query import prices
from gridview.query.bitmap_filter import Judged, Selection
from gridview.query.bucket_walk import Ahead, KnownBuckets
from gridview.query.buckets import Bucket, BucketOrder
from gridview.query.grid_request import GridQuery, RowNumberQuery, parts_of
from gridview.query.page import judged as judged_fields
from gridview.query.plan import (
    BitmapScan,
    BucketCount,
    BucketScan,
    DirectoryScan,
    EpochRead,
    Estimate,
    Freshness,
    FullScan,
    GridPage,
    IndexScan,
    Matching,
    NewIssuesRead,
    Node,
    NumberScan,
    OverlayRead,
    PageByBlocks,
    PlainPage,
    Recheck,
    RestScan,
    RowNumber,
    SetOrder,
    TopN,
    Total,
)
from gridview.query.predicates import Filter
from gridview.query.remedies import define_index, refused
from gridview.query.sort_order import Keys, Spot
from gridview.schema.catalog import Catalog
from gridview.schema.generations import IndexNotReady
from gridview.support.errors import QueryTooExpensive, RequestError
from gridview.view.block_reads import Want
from gridview.view.reads import Snapshot

WHOLE = 10_000
"""The most issues of a project that is read whole."""

CANDIDATES = 2_000
"""The most documents that are fetched to check them, or to sort them in memory."""

MAX_BLOCKS = 3_000
"""The most blocks that are read for one answer: 1,500 read units."""

ROUNDS = 4
"""The most sequential rounds of calls for an answer, unless the index changes meanwhile."""

_GENEROUS = 1.25

_MARGIN = 3
"""How many times as far along an order is read at once as the page should need."""
_AT_LEAST = 16
"""The least blocks of an order that are read at once: matching issues may be unevenly distributed."""


# Rules for pages, in the order in which they apply


def plan_page(catalog: Catalog, query: GridQuery, spot: Spot | None, *, backward: bool) -> GridPage:
    """Return the plan of a page, from only the request."""
    selection = Selection(query.filter, catalog) if query.filter is not None else None
    source: Node
    if not walks(query, spot):
        source = page_by_blocks(query.keys, selection)
    elif query.keys[0].order is None:
        source = _plain_scan(query)
    else:
        source = PlainPage(
            question="Read the result page by blocks, if their directories are cached and show that this costs less than "
            "sort entries"
        )
    return GridPage(
        query=query,
        selection=selection,
        spot=spot,
        backward=backward,
        source=source,
        estimate=Estimate(0.0 if isinstance(source, NumberScan) else query.limit * prices.ITEM),
    )


def page_by_blocks(keys: Keys, selection: Selection | None) -> PageByBlocks:
    """Return the way to any page."""
    return PageByBlocks(
        question="Choose the way to the rows by the sizes in the directories",
        directories=read_directories(keys, selection),
    )


def read_directories(keys: Keys, selection: Selection | None = None) -> DirectoryScan:
    """Return the directories for an order and a filter. Under a filter, sizes only count all issues; sets find rows."""
    families = sorted(selection.families()) if selection is not None else ()
    of_order = tuple(dict.fromkeys((NUMBERS, family_of(keys))))
    wanted = tuple(dict.fromkeys((*of_order, *families)))
    counted = of_order if selection is None else (NUMBERS,)
    return DirectoryScan(families=wanted, counted=counted, estimate=Estimate(len(wanted) * prices.ITEM))


def plain_page(page: GridPage, snapshot: Snapshot | None) -> IndexScan | NumberScan | PageByBlocks:
    """Choose how to read a page that one index answers. `snapshot`: None if the directories are not at hand."""
    if snapshot is not None:
        ahead = all_ahead(page, bucket_order(page.query.keys, snapshot))
        if blocks_suffice(ahead.buckets, page.query.limit + 1, begun=ahead.spot is not None):
            return page_by_blocks(page.query.keys, None)
    return _plain_scan(page.query)


def without_filter(page: GridPage, known: KnownBuckets, ahead: Ahead) -> BucketScan:
    """Choose how to continue from a place in the order of all issues; the reads of the scan's children come first."""
    order, missing = known.order, page.query.limit + 1
    reached = ahead.passing_over(known.known_hits)
    estimate = walking(order, reach(known, reached, missing), order.total, order.total)
    rest: RestScan | None = None
    if missing > 1 and order.straight and order.stored and ahead.rest_next:
        without = ahead.buckets[0].size
        if queries_rest(
            missing, without, order.total, len(order.directory.entries) + len(known.numbers.entries)
        ):
            examined = documents_to_find(missing, without, order.total)
            units = Estimate(examined * prices.LISTED, informed=True)
            rest = RestScan(query=page.query, without=without, examined=examined, estimate=units)
            estimate = 0.0
    return BucketScan(query=page.query, rest=rest, estimate=Estimate(estimate, informed=True))


def with_filter(page: GridPage, selection: Selection, known: KnownBuckets, ahead: Ahead) -> Matching:
    """Return the reads that find the matching issues: the filter's sets, and the first blocks of the order."""
    directories = directories_of(selection, known.snapshot)
    order, rows = known.order, page.query.offset + page.query.limit + 1
    matching = selection.estimate(directories)
    first = 0 if order.by_number else first_buckets(order, ahead.buckets, rows, matching, order.total)
    scan = scan_bitmaps(selection, known.snapshot)
    blocks = sum(len(one.entries) for one in ahead.buckets[:first])
    if blocks + len(scan.wants) > MAX_BLOCKS:
        first = blocks = 0  # the sets will show which of them have rows
    return Matching(
        question="Choose how to sort the matching issues by their number, and by the blocks of the order that should "
        "contain them",
        first=ahead.buckets[:first],
        bitmaps=scan,
        estimate=Estimate(blocks * prices.ITEM, informed=True),
    )


def scan_bitmaps(selection: Selection, snapshot: Snapshot) -> BitmapScan:
    """Return the scan of a filter's sets. Raises QueryTooExpensive."""
    selection, wants = filter_reads(selection, directories_of(selection, snapshot))
    units = Estimate(len(wants) * prices.ITEM, informed=True)
    return BitmapScan(selection=selection, wants=wants, estimate=units)


def filter_reads(
    selection: Selection, directories: Mapping[str, Directory]
) -> tuple[Selection, Sequence[Want]]:
    """Return how to evaluate a filter, with the parts of blocks that this takes.

    Beyond the budget of blocks, the documents decide about all issues; raises QueryTooExpensive on large projects.
    """
    wants = selection.wants(directories)
    if len(wants) <= MAX_BLOCKS:
        return selection, wants
    if directories[NUMBERS].total > WHOLE:
        raise refused(
            f"The filter would read {len(wants):,} parts of blocks of the index, and at most {MAX_BLOCKS:,} are read. "
            "Use fewer conditions, or fewer values in them."
        )
    selection = selection.left_open()
    return selection, selection.wants(directories)


def with_sets(
    page: GridPage, catalog: Catalog, known: KnownBuckets, ahead: Ahead, judged: Judged
) -> SetOrder | TopN | BucketScan | FullScan:
    """Choose how to sort the matching issues, once the sets have been read. `known`: only issues that match for sure."""
    query, order, undecided = page.query, known.order, judged.undecided
    if len(undecided) > CANDIDATES:
        refusal = too_wide(page.selection, len(undecided))
        return full_scan(page, order.total, refusal, _OPEN, judged.maybe)
    recheck = recheck_of(query.filter, undecided)
    if order.by_number:
        return SetOrder(query=query, recheck=recheck, estimate=Estimate(0.0, informed=True))
    further = reach(known, ahead, query.limit + 1)
    walk = walking(order, further, len(judged.maybe), order.total)
    if sorts_all(len(judged.maybe), query.offset + query.limit + 1, len(undecided), walk):
        return top_n(judged)
    if not order.simple and order.total <= WHOLE and len(judged.maybe) > CANDIDATES:
        # Going along the order would only show later whether too many issues share a place.
        return instead_of_ties(page, catalog, order.total, len(judged.maybe), judged.maybe)
    return BucketScan(query=query, first=further, recheck=recheck, estimate=Estimate(walk, informed=True))


def recheck_of(only: Filter | None, undecided: BitMap) -> Recheck | None:
    """Return the read of the documents that decide; None if there are none."""
    if only is None or not undecided:
        return None
    return Recheck(
        only=only, issues=undecided, estimate=Estimate(len(undecided) * prices.ITEM, informed=True)
    )


def top_n(judged: Judged) -> TopN:
    """Return the node that fetches and sorts all issues that may match."""
    units = len(judged.maybe) * prices.ITEM
    return TopN(candidates=judged.maybe, sure=judged.sure, estimate=Estimate(units, informed=True))


def instead_of_ties(
    page: GridPage, catalog: Catalog, total: int, count: int, among: BitMap | None
) -> FullScan:
    """Return the node for too many issues to sort together; raises the refusal on large projects."""
    return full_scan(page, total, too_many_ties(catalog, page.query.keys, count), _TIES, among)


def full_scan(
    page: GridPage, total: int, refusal: RequestError, reason: str, among: BitMap | None
) -> FullScan:
    """Return the read of the whole project; raises the refusal if it is too large."""
    if total > WHOLE:
        raise refusal
    count = total if among is None else len(among)
    return FullScan(
        fields=judged_fields(page.query.keys, page.query.filter),
        among=among,
        reason=reason,
        project=total,
        estimate=Estimate(count * prices.LISTED, informed=True),
    )


def rest_directories(page: GridPage) -> DirectoryScan:
    """Return the read in parallel to a page's documents if the order continues with the issues without a value."""
    return read_directories(page.query.keys)


def rest_after(page: GridPage, directories: DirectoryScan, order: BucketOrder) -> BucketScan:
    """Return the scan of the issues without a value, after the last of the others."""
    units = len(order.directory.entries) * prices.ITEM
    return BucketScan(query=page.query, directories=directories, estimate=Estimate(units, informed=True))


def epoch_read() -> EpochRead:
    """Return the read of the project's epoch, in parallel to any other."""
    return EpochRead(estimate=Estimate(1.0))


def overlay_read(issues: int) -> OverlayRead:
    """Return the read of named issues' documents and ledgers and the journal's last items, in parallel to any other."""
    return OverlayRead(issues=issues, estimate=Estimate(issues * 2.0 + prices.ITEM))


def new_issues_read() -> NewIssuesRead:
    """Return the read of the new issues that the index does not have yet, if there may be any."""
    return NewIssuesRead()


def most_overlaid(last: int) -> int:
    """The most new issues that are laid over the index: all, for a project that may be read whole."""
    return WHOLE if last <= WHOLE else CANDIDATES


def freshness() -> Freshness:
    """Return the read of the index's lag, in parallel to any other."""
    return Freshness(estimate=Estimate(prices.ITEM))


_OPEN = "a filter that the index leaves open for many issues"
_TIES = "several sort keys, of which the first leaves many ties"


def _plain_scan(query: GridQuery) -> IndexScan | NumberScan:
    total = Total(estimate=Estimate(prices.ITEM)) if query.count else None
    if query.keys[0].order is None:
        units = max(query.limit * prices.LISTED, prices.ITEM)
        return NumberScan(query=query, total=total, estimate=Estimate(units))
    units = max(query.limit * prices.ENTRY, prices.ITEM)
    return IndexScan(query=query, total=total, estimate=Estimate(units))


# Rows ahead


def family_of(keys: Keys) -> str:
    """The family along which an order is read."""
    return NUMBERS if keys[0].order is None else keys[0].order.order_id


def bucket_order(keys: Keys, snapshot: Snapshot) -> BucketOrder:
    """Return the order over the blocks of its first key. Takes time in proportion to the directory."""
    return BucketOrder(keys, snapshot.directory(family_of(keys)), snapshot.directory(NUMBERS).total)


def directories_of(selection: Selection, snapshot: Snapshot) -> dict[str, Directory]:
    """The directories that a filter needs."""
    return {family: snapshot.directory(family) for family in {NUMBERS, *selection.families()}}


def all_ahead(page: GridPage, order: BucketOrder) -> Ahead:
    """The buckets ahead of a page's spot."""
    if page.spot is None:
        return Ahead(_confined(page, order, order.buckets), page.query.offset)
    at = order.at(page.spot)
    ahead = order.buckets[at::-1] if page.backward else order.buckets[at:]
    confined = _confined(page, order, ahead)
    return Ahead(confined, spot=page.spot if confined[:1] == ahead[:1] else None)


def from_the_end(page: GridPage, order: BucketOrder) -> Ahead:
    """All rows, from the last one back."""
    return Ahead(_confined(page, order, order.buckets[::-1]))


def reach(known: KnownBuckets, ahead: Ahead, missing: int) -> Sequence[Bucket]:
    """The next buckets that have as many rows as are missing, as far as that is known, or else all."""
    needed = ahead.skip + missing
    for count, bucket in enumerate(ahead.buckets, 1):
        if not known.counts(bucket):
            return ahead.buckets
        # The number of rows ahead of the spot in the first bucket is unknown.
        needed -= 0 if count == 1 and ahead.spot is not None else known.hits(bucket)
        if needed <= 0:
            return ahead.buckets[:count]
    return ahead.buckets


def takes_entries(known: KnownBuckets, bucket: Bucket, shown: int, rounds_left: int) -> bool:
    """Whether sort entries, and not the documents of issues, give the order inside a bucket's blocks."""
    if known.order.moving:
        return entries_units(bucket) > 0
    return rounds_left > 1 and reads_entries(bucket, known.hits(bucket), shown if known.order.simple else 0)


def _confined(page: GridPage, order: BucketOrder, buckets: Sequence[Bucket]) -> Sequence[Bucket]:
    """The buckets in which an issue may match, by the filter's conditions on the sort field."""
    family = order.directory.family
    ranges = page.selection.confined(family) if page.selection is not None else None
    if ranges is None:
        return buckets
    return [
        bucket
        for bucket in buckets
        if bucket.entries
        and any(
            not Range(bucket.entries[0].lower, bucket.entries[-1].upper).overlap(one).empty for one in ranges
        )
    ]


# Costs


def walks(query: GridQuery, spot: Spot | None) -> bool:
    """Whether one index answers a query.

    That is: all issues, in the order of one key with sort entries, from a place among the issues with a value on.
    """
    if query.filter is not None or query.offset or len(query.keys) > 1:
        return False
    key = query.keys[0]
    if key.order is not None and not has_entries(key.order.order_id):
        return False
    if spot is None:
        return not (key.nullable and key.nulls_first)
    return spot.place.parts[0] is not None


def blocks_suffice(buckets: Sequence[Bucket], rows: int, *, begun: bool) -> bool:
    """Whether the buckets ahead give this many rows, or all to the end, for less than the sort entries of these rows cost.

    `begun`: the number of rows left in the first one is unknown.
    """
    found, blocks = 0, 0
    for place, bucket in enumerate(buckets):
        if not bucket.entries or entries_units(bucket):
            return False
        blocks += len(bucket.entries)
        found += 0 if begun and place == 0 else bucket.size
        if found >= rows:
            break
    return 0 < blocks * prices.ITEM <= max(rows * prices.ENTRY, prices.ITEM)


def documents_to_find(rows: int, without: int, total: int) -> int:
    """The number of documents in number order to read for this many without a value."""
    return math.ceil(rows * total / max(without, 1) * _GENEROUS)


def queries_rest(rows: int, without: int, total: int, blocks: int) -> bool:
    """Whether to find rows without a value among all documents: if it costs less than reading which issues have one."""
    among = documents_to_find(rows, without, total) * prices.LISTED
    return without >= rows and among <= (blocks + rows) * prices.ITEM


def blocks_ahead(buckets: Sequence[Bucket], rows: int, matching: float, total: int, *, nulls: bool) -> int:
    """The number of buckets ahead that should have this many rows, if the matching issues are evenly distributed.

    `nulls`: the rows are among the issues without a value, so that all buckets are needed.
    """
    if nulls or not total:
        return len(buckets)
    share = max(matching / total, 1e-9)
    found = 0.0
    for count, bucket in enumerate(buckets, 1):
        found += bucket.size * share
        if found >= rows:
            return count
    return len(buckets)


def first_buckets(order: BucketOrder, ahead: Sequence[Bucket], rows: int, matching: int, total: int) -> int:
    """The number of buckets of the order to read with the sets of the filter, before anything is known of them.

    0 if it will be cheaper to fetch all matching issues, provided that the estimate is right.
    """
    needed = blocks_ahead(ahead, rows, matching, total, nulls=_begins_without_value(order, ahead))
    if matching <= CANDIDATES and fetching_all(matching, rows) <= walking(
        order, ahead[:needed], matching, total
    ):
        return 0
    return min(needed * _MARGIN + _AT_LEAST, len(ahead))


def _begins_without_value(order: BucketOrder, ahead: Sequence[Bucket]) -> bool:
    return bool(ahead) and not ahead[0].entries and bool(order.directory.entries)


def fetching_all(matching: int, rows: int) -> float:
    """Read units of fetching all matching issues, beyond those of the page."""
    return max(matching - rows, 0) * prices.ITEM


def walking(order: BucketOrder, buckets: Sequence[Bucket], matching: int, total: int) -> float:
    """Read units of reading these buckets' blocks and finding the order in the last, beyond the page's documents."""
    blocks = sum(len(one.entries) for one in buckets)
    if any(not one.entries for one in buckets):
        blocks = max(blocks, len(order.directory.entries))
    share = matching / max(total, 1)
    settled = max((settling(order, one, math.ceil(one.size * share)) for one in buckets[-1:]), default=0.0)
    return blocks * prices.ITEM + settled


def settling(order: BucketOrder, bucket: Bucket, hits: int) -> float:
    """Read units of finding the order of this many issues in a bucket, beyond its blocks."""
    if not order.simple:
        return hits * prices.ITEM
    if all(one.detailed or one.body is not None for one in bucket.entries):
        return 0.0
    return min(hits * prices.ITEM, entries_units(bucket))


def entries_units(bucket: Bucket) -> float:
    """Read units of the sort entries of a bucket's blocks that do not have their bodies."""
    return sum(one.size for one in bucket.entries if not one.detailed and one.body is None) * prices.ENTRY


def reads_entries(bucket: Bucket, hits: int, shown: int) -> bool:
    """Whether sort entries give the order in a bucket for less than the documents of its matching issues.

    `shown`: how many of these documents the page needs anyway.
    """
    units = entries_units(bucket)
    return 0 < units < max(hits - shown, 0) * prices.ITEM


def sorts_all(candidates: int, rows: int, undecided: int, walk: float) -> bool:
    """Whether to fetch and sort all issues that may match. `walk`: the cost of continuing along the blocks."""
    return candidates <= CANDIDATES and fetching_all(candidates, rows) <= walk + undecided * prices.ITEM


def check_blocks(count: int) -> None:
    """Raise QueryTooExpensive if an answer would read more blocks than allowed."""
    if count > MAX_BLOCKS:
        raise refused(
            f"The query would read {count:,} blocks of the index, half a read unit each, and at most {MAX_BLOCKS:,} "
            "are read. Use a more selective filter, or sort by the field of the filter."
        )


def too_wide(selection: Selection | None, undecided: int) -> QueryTooExpensive:
    """Return the refusal if the index leaves too many issues undecided."""
    conditions = selection.undecidable() if selection is not None else ()
    return refused(
        f"The index leaves open whether {undecided:,} issues match, and at most {CANDIDATES:,} are checked one by "
        f"one. {' '.join(conditions)}",
        selection.remedies() if selection is not None else (),
    )


def too_many_ties(catalog: Catalog, order: Keys, count: int) -> RequestError:
    """Return the refusal if the first key leaves too many issues to further keys, whose order only documents show."""
    building = catalog.composite_being_built(parts_of(order))
    if building is not None:
        return IndexNotReady(building.id, building.id)
    said = f"{count:,} issues have the same {order[0].field_id}, and at most {CANDIDATES:,} are sorted by further keys."
    remedy = define_index(catalog, parts_of(order))
    if remedy is None:
        return refused(f"{said} Use a more selective filter.")
    return refused(f"{said} An administrator can create an index in this order: {remedy}.", [remedy])


# Rules for row numbers


def plan_row_number(catalog: Catalog, num: int, query: RowNumberQuery) -> RowNumber:
    """Return the plan of a row number, from only the request."""
    selection = Selection(query.filter, catalog) if query.filter is not None else None
    return RowNumber(
        question="Choose how to count the rows before the issue by the blocks of the order and of the filter",
        num=num,
        keys=query.keys,
        only=query.filter,
        selection=selection,
        directories=read_directories(query.keys, selection),
        estimate=Estimate(prices.ITEM * 3),
    )


def count_buckets(
    known: KnownBuckets, buckets: Sequence[Bucket], recheck: Recheck | None = None
) -> BucketCount:
    """Return the count of the issues in these buckets that come before the issue."""
    blocks = sum(len(one.entries or known.order.directory.entries) for one in buckets)
    units = Estimate(blocks * prices.ITEM, informed=True)
    return BucketCount(keys=known.order.keys, recheck=recheck, estimate=units)


def count_matching(selection: Selection, snapshot: Snapshot) -> Matching:
    """Return the read that finds the matching issues: the filter's sets."""
    return Matching(
        question="Choose how to count the matching issues by their number, and by the blocks of the order before and after "
        "the issue",
        bitmaps=scan_bitmaps(selection, snapshot),
        first=(),
    )


def row_number_with_sets(
    plan: RowNumber, known: KnownBuckets, buckets: Sequence[Bucket], judged: Judged
) -> BucketCount | TopN | FullScan:
    """Choose how to count the matching issues before one. `buckets`: those to read for it; `judged`: the other issues."""
    undecided = judged.undecided
    if len(undecided) > CANDIDATES:
        refusal = too_wide(plan.selection, len(undecided))
        return count_whole(plan, known, refusal, judged.maybe)
    if not known.order.by_number:
        walk = walking(known.order, buckets, len(judged.maybe), known.order.total)
        if sorts_all(len(judged.maybe), 0, len(undecided), walk):
            return top_n(judged)
    return count_buckets(known, () if known.order.by_number else buckets, recheck_of(plan.only, undecided))


def count_whole(
    plan: RowNumber, known: KnownBuckets, refusal: RequestError, among: BitMap | None
) -> FullScan:
    """Return the count among the documents of all issues; raises the refusal if the project is too large."""
    if known.order.total > WHOLE:
        raise refusal
    count = known.order.total if among is None else len(among)
    return FullScan(
        fields=judged_fields(plan.keys, plan.only),
        among=among,
        reason="a row number",
        estimate=Estimate(count * prices.LISTED, informed=True),
    )
