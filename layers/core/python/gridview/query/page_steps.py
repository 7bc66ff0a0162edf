"""Carries out the plan of a page: from its source to its rows. Pure.

| reads | round |
|---|---|
| the directories | 1st |
| the filter's sets, first blocks of the order | 2nd |
| further blocks, sort entries, undecided documents | 3rd, if needed |
| documents | the last, at most the 4th |
"""

from dataclasses import replace

from pyroaring import BitMap

from gridview.derive.families import NUMBERS
from gridview.query import planner
from gridview.query.bitmap_filter import Selection
from gridview.query.bitmap_scan import bitmap_scan, recheck
from gridview.query.bucket_scan import page_rows, rest_scan
from gridview.query.bucket_walk import Ahead, KnownBuckets
from gridview.query.full_scan import full_scan, matching_places
from gridview.query.grid_request import MAX_LIMIT
from gridview.query.index_scan import index_scan, number_scan
from gridview.query.order_walk import TooManyTies
from gridview.query.page import Rows, add_rows, cut, judged, page_paths, projection
from gridview.query.plan import (
    BucketScan,
    FullScan,
    GridPage,
    IndexScan,
    Node,
    NumberScan,
    PageByBlocks,
    PlainPage,
    SetOrder,
    TopN,
    Total,
)
from gridview.query.sort_order import in_order, place_of
from gridview.query.steps import (
    Ask,
    AtHand,
    Steps,
    ask,
    ask_directories,
    record,
    side_by_side,
    to_read,
)
from gridview.schema.catalog import Catalog
from gridview.view.reads import Documents, ReadBlocks, ReadDirectories, ReadDocuments, Snapshot


def read_page(page: GridPage, catalog: Catalog) -> Steps[Rows]:
    """Return the rows of a page, and one more if there is one. Raises QueryTooExpensive if it would take too much."""
    source = page.source
    if isinstance(source, PlainPage):
        at_hand = yield AtHand([Ask(source, to_read(planner.read_directories(page.query.keys)))])
        choice, source = source, planner.plain_page(page, at_hand[0] if at_hand else None)
        yield from record(choice, chosen=source)
    if isinstance(source, PageByBlocks):
        return (yield from _by_blocks(source, page, catalog))
    if isinstance(source, NumberScan | IndexScan):
        return (yield from _plain(source, page, catalog))
    raise TypeError(source)


def _plain(source: NumberScan | IndexScan, page: GridPage, catalog: Catalog) -> Steps[Rows]:
    """Read along one index, with the total in parallel if it is asked for."""
    rows = (
        number_scan(source, page, catalog)
        if isinstance(source, NumberScan)
        else index_scan(source, page, catalog)
    )
    if source.total is None:
        return (yield from rows)
    found: Rows
    found, total = yield from side_by_side(rows, _total(source.total))
    return replace(found, total=total, matched=total)


def _total(node: Total) -> Steps[int]:
    snapshot: Snapshot = yield from ask(node, ReadDirectories((NUMBERS,), counted=(NUMBERS,)))
    return snapshot.directory(NUMBERS).total


def _by_blocks(choice: PageByBlocks, page: GridPage, catalog: Catalog) -> Steps[Rows]:
    """Read by the directories first."""
    snapshot = yield from ask_directories(choice.directories)
    known = KnownBuckets(planner.bucket_order(page.query.keys, snapshot), snapshot)
    ahead = planner.all_ahead(page, known.order)
    if page.selection is None:
        return (yield from _all_issues(choice, page, catalog, known, ahead))
    return (yield from _matching(choice, page, page.selection, catalog, known, ahead))


def _all_issues(
    choice: PageByBlocks, page: GridPage, catalog: Catalog, known: KnownBuckets, ahead: Ahead
) -> Steps[Rows]:
    total = known.order.total
    scan = planner.without_filter(page, known, ahead)
    yield from record(choice, chosen=scan)
    found = Rows(started_at=page.spot, total=total, matched=total)
    if scan.rest is not None:
        rows, ahead = yield from rest_scan(scan.rest, page, catalog, known.order, ahead)
        found = found.adding(rows)
    return (yield from _along(scan, page, catalog, known, ahead, found))


def _matching(
    choice: PageByBlocks,
    page: GridPage,
    selection: Selection,
    catalog: Catalog,
    known: KnownBuckets,
    ahead: Ahead,
) -> Steps[Rows]:
    """Read the matching issues, sorted in the cheapest way."""
    matching = planner.with_filter(page, selection, known, ahead)
    yield from record(choice, chosen=matching)
    first = known.reading(matching.first)
    planner.check_blocks(first.blocks)
    judged_sets = yield from bitmap_scan(
        matching.bitmaps, known.snapshot, beside=Ask(matching, ReadBlocks(first.wants))
    )
    known = first.known.among(judged_sets.sure)
    way = planner.with_sets(page, catalog, known, ahead, judged_sets)
    yield from record(matching, chosen=way)
    match way:
        case FullScan():
            return (yield from _whole(way, page, catalog, known))
        case TopN():
            return (yield from _top(way, page, catalog, known))
        case SetOrder():
            passing = yield from recheck(way.recheck)
            known = known.among(judged_sets.sure | passing)
            ahead = ahead.opening_set(known.order, known.matching or BitMap(), backward=page.backward)
            scan: Node = way
        case BucketScan():
            further = known.reading(way.first)
            planner.check_blocks(further.blocks)
            passing = yield from recheck(way.recheck, beside=Ask(way, ReadBlocks(further.wants)))
            known = further.known.among(judged_sets.sure | passing)
            scan = way
    found = Rows(started_at=page.spot, total=known.order.total, matched=len(known.matching or ()))
    return (yield from _along(scan, page, catalog, known, ahead, found))


def _along(
    scan: Node, page: GridPage, catalog: Catalog, known: KnownBuckets, ahead: Ahead, found: Rows
) -> Steps[Rows]:
    """Read along the order, or the whole project if too many issues share a place."""
    done = yield from page_rows(scan, page, catalog, known, ahead, found)
    if not isinstance(done, TooManyTies):
        return done
    total = known.order.total
    whole = planner.instead_of_ties(page, catalog, total, done.issues, known.matching)
    yield from record(scan, chosen=whole)
    return (yield from _whole(whole, page, catalog, known))


def _top(scan: TopN, page: GridPage, catalog: Catalog, known: KnownBuckets) -> Steps[Rows]:
    """Fetch all issues that may match, and sort them in memory."""
    query = page.query
    shown = (
        len(scan.candidates) <= MAX_LIMIT
    )  # in one batch, so that the page's rows need not be fetched again
    paths = page_paths(catalog, query) if shown else projection(judged(query.keys, query.filter))
    documents: Documents = yield from ask(scan, ReadDocuments(list(scan.candidates), paths))
    passing = [one for one in documents.found.values() if query.filter is None or query.filter.matches(one)]
    places, start = cut(page, in_order(query.keys, (place_of(query.keys, one) for one in passing)))
    matched = len(scan.sure | BitMap(one["num"] for one in passing))
    found = Rows(started_at=start, total=known.order.total, matched=matched)
    at_hand = {**dict.fromkeys(scan.candidates), **documents.found} if shown else {}
    return (yield from add_rows(page, catalog, found, places, at_hand, query.limit))


def _whole(scan: FullScan, page: GridPage, catalog: Catalog, known: KnownBuckets) -> Steps[Rows]:
    """Read all issues in question; filter and sort them in memory."""
    query = page.query
    documents = yield from full_scan(scan, known.snapshot)
    in_all = matching_places(documents, query.keys, query.filter)
    places, start = cut(page, in_all)
    found = Rows(started_at=start, total=known.order.total, matched=len(in_all))
    return (yield from add_rows(page, catalog, found, places, {}, query.limit))
