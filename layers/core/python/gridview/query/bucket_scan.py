"""Reads rows of a page along the buckets of an order: blocks, sort entries and documents, as the page needs them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from gridview.dynamodb.expressions import Item
from gridview.encoding.sort_strings import issue_number
from gridview.query import planner
from gridview.query.bucket_walk import Ahead, KnownBuckets, Portion
from gridview.query.buckets import BucketOrder
from gridview.query.grid_request import MAX_LIMIT
from gridview.query.order_walk import TooManyTies, Walked, early_ties, places_in, read_buckets, step
from gridview.query.page import Row, Rows, add_rows, judged, page_paths, projection
from gridview.query.plan import BucketScan, GridPage, Node, RestScan
from gridview.query.sort_order import Place, Spot, bound_at
from gridview.query.steps import Steps, ask, record, rounds_taken
from gridview.schema.catalog import Catalog
from gridview.view.reads import Documents, Listed, ReadDocuments, ReadRange

_AtHand = Mapping[int, Item | None]
"""Documents that have been read, by issue number; None: it has gone."""


def page_rows(
    scan: Node, page: GridPage, catalog: Catalog, known: KnownBuckets, ahead: Ahead, found: Rows
) -> Steps[Rows | TooManyTies]:
    """Return the rows of a page, one more if there is one, and the spot that they begin at."""
    reading = _Reading(scan, page, catalog)
    done = yield from _add(reading, Walked(known, ahead), found, page.query.limit)
    if isinstance(done, TooManyTies):
        return done
    found, known = done
    if page.spot is None and page.query.offset:
        before = yield from _before(reading, known, found)
        if isinstance(before, TooManyTies):
            return before
        found = replace(found, started_at=before)
    yield from record(scan, blocks=len(known.sets), of=len(known.order.directory.entries), order=known.order)
    return found


def rest_rows(
    scan: BucketScan, page: GridPage, catalog: Catalog, known: KnownBuckets, found: Rows
) -> Steps[Rows]:
    """Continue with the issues without a value, after the last issue that has one.

    They are not searched among all documents: two rounds are left, and if too few were found there, it would take three.
    """
    ahead = Ahead([bucket for bucket in known.order.buckets if not bucket.entries])
    done = yield from page_rows(scan, page, catalog, known, ahead, found)
    if isinstance(done, TooManyTies):
        raise planner.too_many_ties(catalog, page.query.keys, done.issues)
    return done


def rest_scan(
    scan: RestScan, page: GridPage, catalog: Catalog, order: BucketOrder, ahead: Ahead
) -> Steps[tuple[list[Row], Ahead]]:
    """Return the next rows without a value by one Query of all documents, and the buckets that then remain.

    0.5 read units for each 4 KB of documents, shown or not.
    """
    key = order.keys[0]
    ascending, bound = key.descending == page.backward, None
    if ahead.spot is not None:
        num = issue_number(ahead.spot.place.num)
        bound = bound_at(num, ahead.spot, ascending=ascending, backward=page.backward)
    read: Listed = yield from ask(
        scan,
        ReadRange(None, bound, ascending, scan.examined, page_paths(catalog, page.query), key.fields[0].path),
    )
    found = [Row(order.place(None, item["num"]), item) for item in read.items]
    if read.last is None:
        return found, Ahead(ahead.buckets[1:])
    return found, replace(ahead, spot=Spot(order.place(None, int(read.last)), after=not page.backward))


_ROUNDS_TO_THE_REST = 2
"""Rounds after the first blocks of a page, if the issues without a value follow: sets, then documents."""


class _Reading(NamedTuple):
    """The node, page and catalog of a scan."""

    scan: Node
    page: GridPage
    catalog: Catalog

    @property
    def all(self) -> bool:
        """Whether the query is about all issues."""
        return self.page.query.filter is None


def _add(
    reading: _Reading, at: Walked, found: Rows, limit: int
) -> Steps[tuple[Rows, KnownBuckets] | TooManyTies]:
    """Add rows up to one more than the limit, or to the end of the order."""
    page = reading.page
    at_hand: _AtHand = {}
    while len(found.rows) <= limit and found.stopped_at is None:
        full = 0 < limit == len(found.rows)
        ahead = at.ahead
        if full and reading.all and ahead.only_rest and not ahead.spot and ahead.buckets[0].size:
            # The size shows that there are issues without a value. It could not show that there are none: an issue that is
            # being moved is counted at both of its places.
            return found.adding([Row(Place((None,) * len(page.query.keys), 0), None)]), at.known
        gathered = yield from _gather(reading, at, limit + 1 - len(found.rows))
        if isinstance(gathered, TooManyTies):
            return gathered
        at, portions = gathered
        if not portions:
            break
        order, room = at.known.order, limit - len(found.rows)
        places, at_hand = yield from _places(reading, order, at_hand, portions, room)
        found = yield from add_rows(page, reading.catalog, found, places, at_hand, limit)
    return found, at.known


def _before(reading: _Reading, known: KnownBuckets, found: Rows) -> Steps[Spot | TooManyTies | None]:
    """Return a spot before the page of an offset: before its first row, or after the last row of all if it has none."""
    if found.rows:
        return Spot(found.rows[0].place, after=False)
    back = reading._replace(page=replace(reading.page, backward=True))
    ahead = planner.from_the_end(back.page, known.order)
    if known.order.by_number and known.matching is not None:
        ahead = ahead.opening_set(known.order, known.matching, backward=True)
    done = yield from _add(back, Walked(known, ahead), Rows(), 0)
    if isinstance(done, TooManyTies):
        return done
    last, _ = done
    return Spot(last.rows[0].place, after=True) if last.rows else None


# Bucket by bucket


def _gather(reading: _Reading, at: Walked, missing: int) -> Steps[tuple[Walked, list[Portion]] | TooManyTies]:
    """Return the next portions, with as many rows as are missing if there are so many."""
    taken: list[Portion] = []
    while missing > 0 and not at.ahead.over:
        if taken and missing == 1 and reading.all and at.ahead.only_rest:
            break
        walked = yield from step(at, missing, partial(_open, reading), backward=reading.page.backward)
        if isinstance(walked, TooManyTies):
            return walked
        at, portions = walked
        taken += portions
        missing -= sum(portion.rows for portion in portions)
    return at, taken


def _open(reading: _Reading, at: Walked, missing: int) -> Steps[Walked | TooManyTies]:
    """Open the next buckets, as many as should have the missing rows; read the blocks that they need."""
    scan, backward = reading.scan, reading.page.backward
    known, ahead = at.known, at.ahead.passing_over(at.known.known_hits)
    reach = planner.reach(known, ahead, missing)
    if reading.all and len(reach) > 1 and not reach[-1].entries:
        if ahead.spot is None:
            before = sum(bucket.size for bucket in reach[:-1]) - ahead.skip
            reach = reach[:-1] if before >= missing - 1 else reach
        elif known.order.straight and planner.ROUNDS - (yield from rounds_taken()) > _ROUNDS_TO_THE_REST:
            # The number of rows before those without a value is unknown, and these take all blocks.
            reach = reach[:-1]
    if not reading.all:
        known = yield from read_buckets(scan, known, reach)
        ahead = ahead.passing_over(known.known_hits)
        reach = planner.reach(known, ahead, missing)
    ties = early_ties(known, reach)
    if ties is not None:
        return ties
    rounds_left = planner.ROUNDS - (yield from rounds_taken())
    by_keys = [one for one in reach if planner.takes_entries(known, one, missing, rounds_left)]
    known = yield from read_buckets(scan, known, reach if reading.all else (), by_keys)
    # The sets show that none match. Without a filter only sizes could show it, and they may be of two moments.
    groups = [
        (bucket, [] if not reading.all and known.hits(bucket) == 0 else known.tie_groups(bucket))
        for bucket in reach
    ]
    return Walked(known, ahead.opening(known.order, groups, backward=backward))


# Documents


def _places(
    reading: _Reading, order: BucketOrder, at_hand: _AtHand, portions: Sequence[Portion], room: int
) -> Steps[tuple[list[Place], _AtHand]]:
    """Return the places of the rows of portions, and the documents at hand. Fetches documents if the order needs them."""
    by_documents = [num for one in portions if one.end is None for num in one.group.numbers]
    to_order: Mapping[int, Item] = {}
    if by_documents:
        fetched = yield from _fetch_to_order(reading, order, at_hand, portions, by_documents, room)
        to_order, at_hand = fetched
    places: list[Place] = []
    for portion in portions:
        belongs = partial(_belongs, reading, order, portion)
        places += places_in(order, portion, to_order, backward=reading.page.backward, belongs=belongs)
    return places, at_hand


def _belongs(reading: _Reading, order: BucketOrder, portion: Portion, document: Item) -> bool:
    """Whether the issue of this document still matches, and may belong in its portion."""
    only = reading.page.query.filter
    return (only is None or only.matches(document)) and portion.holds(order, document)


def _fetch_to_order(
    reading: _Reading,
    order: BucketOrder,
    at_hand: _AtHand,
    portions: Sequence[Portion],
    numbers: Sequence[int],
    room: int,
) -> Steps[tuple[Mapping[int, Item], _AtHand]]:
    """Fetch the documents of these issues; in the last round, also those of the other rows that will be shown."""
    page = reading.page
    rounds_left = planner.ROUNDS - (yield from rounds_taken())
    narrow = len(numbers) > MAX_LIMIT and rounds_left > 1
    wanted = list(numbers)
    if not narrow:
        for portion in portions:
            if portion.end is not None and room > 0:
                shown, _ = portion.split(min(room, portion.rows), from_end=page.backward)
                wanted += [one.num for one in places_in(order, shown, {})]
            room -= portion.rows
    paths = (
        projection(judged(page.query.keys, page.query.filter))
        if narrow
        else page_paths(reading.catalog, page.query)
    )
    read: Documents = yield from ask(reading.scan, ReadDocuments(wanted, paths))
    return read.found, at_hand if narrow else {**at_hand, **dict.fromkeys(wanted), **read.found}
