"""Reads a page along one index: documents in number order, or a field's sort entries and then their documents. Pure.

- By number: documents, in 1 round.
- By a field: sort entries, then documents, in 2 rounds.
- Into the issues without a value: the same, with the directories in parallel to the documents. Then the blocks of the
  order and the documents of the rest (`bucket_scan`), in 4 rounds.
"""

from collections.abc import Sequence
from dataclasses import replace

from gridview.encoding import keys
from gridview.encoding.attribute_values import item_size
from gridview.encoding.sort_strings import body_of, issue_number, number_of, sort_string
from gridview.query import bucket_scan, planner
from gridview.query.bucket_walk import KnownBuckets
from gridview.query.page import MAX_PAGE_BYTES, Row, Rows, fills_a_page, page_paths, rows_of
from gridview.query.plan import GridPage, IndexScan, NumberScan
from gridview.query.sort_order import Place, Spot, bound_at
from gridview.query.steps import Ask, Steps, ask, ask_all, record, to_read
from gridview.schema.catalog import Catalog
from gridview.view.reads import Documents, Listed, ReadDocuments, ReadRange, Snapshot, bound_after, further


def number_scan(scan: NumberScan, page: GridPage, catalog: Catalog) -> Steps[Rows]:
    """Return the rows of a page, and one more if there is one, in number order: the index holds the documents."""
    (key,) = page.query.keys
    ascending, bound = key.descending == page.backward, None
    if page.spot is not None:
        bound = bound_at(
            issue_number(page.spot.place.num), page.spot, ascending=ascending, backward=page.backward
        )
    found, size = Rows(started_at=page.spot), 0
    while True:
        missing = page.query.limit + 1 - len(found.rows)
        read: Listed = yield from ask(
            scan, ReadRange(None, bound, ascending, missing, page_paths(catalog, page.query))
        )
        found = found.adding(
            Row(Place((item[keys.SORT],), int(item[keys.SORT])), item) for item in read.items
        )
        if read.last is None or len(read.items) >= missing:
            return found
        size += sum(map(item_size, read.items))
        if size > MAX_PAGE_BYTES:
            return replace(
                found, stopped_at=Spot(Place((read.last,), int(read.last)), after=not page.backward)
            )
        bound = bound_after(read.last, forward=ascending)


def index_scan(scan: IndexScan, page: GridPage, catalog: Catalog) -> Steps[Rows]:
    """Return the rows of a page, and one more if there is one, along the sort entries of a field."""
    limit = page.query.limit
    places = yield from _entries(scan, page)
    shown = places[:limit]
    (key,) = page.query.keys
    goes_on = len(places) <= limit and key.nullable and key.nulls_first == page.backward
    asks = [
        Ask(page, ReadDocuments([one.num for one in shown], page_paths(catalog, page.query), MAX_PAGE_BYTES))
    ]
    rest = planner.rest_directories(page) if goes_on else None
    if rest is not None:
        asks.append(Ask(rest, to_read(rest)))
    answers = yield from ask_all(asks)
    documents: Documents = answers[0]
    found = rows_of(page, Rows(started_at=page.spot), places, documents.found, limit, documents.left)
    if rest is None or found.stopped_at is not None:
        return found
    if fills_a_page(documents.found.values()):
        return replace(found, stopped_at=Spot(found.rows[-1].place, after=not page.backward))
    snapshot: Snapshot = answers[1]
    order = planner.bucket_order(page.query.keys, snapshot)
    tail = planner.rest_after(page, rest, order)
    yield from record(scan, chosen=tail)
    return (yield from bucket_scan.rest_rows(tail, page, catalog, KnownBuckets(order, snapshot), found))


def _entries(scan: IndexScan, page: GridPage) -> Steps[Sequence[Place]]:
    (key,) = page.query.keys
    ascending, bound, wanted = key.descending == page.backward, None, page.query.limit + 1
    if page.spot is not None:
        body, num = page.spot.place.parts[0] or "", page.spot.place.num
        bound = bound_at(sort_string(body, num), page.spot, ascending=ascending, backward=page.backward)
    found: list[str] = []
    onward = ReadRange(planner.family_of(page.query.keys), bound, ascending, wanted, ())
    while True:
        read: Listed = yield from ask(scan, onward)
        found += [entry[keys.SORT] for entry in read.items]
        if read.last is None or len(found) == wanted:
            return [Place((body_of(sort),), number_of(sort)) for sort in found]
        onward = replace(further(onward, read.last), limit=wanted - len(found))
