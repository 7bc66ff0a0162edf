"""A page read along one index.

by number            Query (documents)                                  1 call
by a field           Query (sort entries), BatchGetItem (documents)     2 calls
its rows without     Query (documents, filtered)                        as many as it takes until blocks exist
a value
"""

import math

from gridview import keys, sortstrings
from gridview.catalog import Catalog
from gridview.gridrequest import GridQuery
from gridview.indexing import present_sort_strings
from gridview.ordering import Place, Spot
from gridview.pagereading import MAX_PAGE_BYTES, Reading, Row, fetch, fills_a_page, page_paths
from gridview.storage import Bound, Condition, Item, Table
from gridview.walk import Gap, Stretch, Walk
from gridview.wire import item_size

_MAX_READ_CALLS = 64
"""Query calls, of 1 MB at most, that one page makes at most; then it is short, and its cursor goes on from there."""


class WalkReader:
    """Reads along the order of the query's only key."""

    def __init__(self, table: Table, catalog: Catalog, query: GridQuery) -> None:
        self._table = table
        self._catalog = catalog
        self._project = keys.project(catalog.tenant, catalog.project)
        (self._key,) = query.keys
        self._order = self._key.order
        self._partition = (
            keys.order(catalog.tenant, catalog.project, self._order.order_id)
            if self._order is not None
            else self._project
        )
        self._limit = query.limit
        self._walk = Walk(self._key.descending, self._key.nulls_first, self._key.nullable)
        self._paths = page_paths(catalog, query)
        self._calls_left = _MAX_READ_CALLS

    def read(self, spot: Spot | None, *, backward: bool) -> Reading:
        """The rows of a page, one stretch after the other, and one row more if there is one."""
        self._walk = self._walk._replace(backward=backward)
        reading = Reading(behind=spot)
        for stretch, bound in self._walk.ranges_from(self._gap(spot)):
            missing = self._limit + 1 - len(reading.rows)
            if missing <= 0 or reading.stopped_at is not None:
                break
            if stretch is Stretch.VALUES and self._order is not None:
                self._read_entries(reading, bound, missing)
            else:
                self._read_documents(reading, stretch, bound, missing)
        return reading

    def plan(self) -> list[str]:
        """What it does, for people."""
        direction = "descending" if self._key.descending else "ascending"
        if self._order is None:
            return [f"Read the issues in number order, {direction}: the index holds the documents."]
        plan = [
            f"Read the sort entries of {self._order.field.id} in its order, {direction}.",
            "Fetch the page's documents, and leave out a row whose document no longer gives the entry's sort string.",
        ]
        if self._walk.nullable:
            place = "before" if self._key.nulls_first else "after"
            plan.append(
                f"The issues without a value come {place} them, in number order: read the issues that lack it."
            )
        return plan

    def _gap(self, spot: Spot | None) -> Gap:
        if spot is None:
            return self._walk.beginning
        (body,), num = spot.place
        if self._order is None:
            return Gap(Stretch.VALUES, sortstrings.issue_number(num), spot.after)
        if body is None:
            return Gap(Stretch.NULLS, sortstrings.issue_number(num), spot.after)
        return Gap(Stretch.VALUES, sortstrings.sort_string(body, num), spot.after)

    def _read_entries(self, reading: Reading, bound: Bound | None, missing: int) -> None:
        entries: list[Item] = []
        while True:
            page = self._table.query(
                self._partition,
                index=True,
                bound=bound,
                forward=self._walk.ascending_keys,
                limit=missing - len(entries),
                paths=(),
            )
            entries += page.items
            if page.last is None or len(entries) == missing:
                break
            bound = self._onward(page.last)
        strings = [entry[keys.SORT] for entry in entries]
        places = [Place((sortstrings.body_of(sort),), sortstrings.number_of(sort)) for sort in strings]
        shown = places[: self._limit - len(reading.rows)]
        wanted, fetched = fetch(self._table, self._catalog, (place.num for place in shown), self._paths)
        for place, sort, key in zip(shown, strings, wanted, strict=False):
            if key in fetched.left:
                reading.stopped_at = self._beyond(reading)
                return
            document = fetched.items.get(key)
            reading.rows.append(Row(place, document, self._belongs(document, sort)))
        if len(entries) < missing and fills_a_page(wanted, fetched.items):
            reading.stopped_at = self._beyond(reading)  # no need to read on behind the values
        reading.rows += [Row(place, None) for place in places[len(shown) :]]

    def _belongs(self, document: Item | None, sort: str) -> bool:
        """Whether the document gives the sort string that the row was found under."""
        return (
            document is not None
            and self._order is not None
            and sort in present_sort_strings(self._order, document)
        )

    def _read_documents(self, reading: Reading, stretch: Stretch, bound: Bound | None, missing: int) -> None:
        """Documents in number order: all, or those without a value, of which DynamoDB reads all and passes on the few."""
        only = self._without_value() if stretch is Stretch.NULLS else None
        limit, examined, found, size = missing, 0, 0, 0
        while True:
            page = self._table.query(
                self._project,
                index=True,
                bound=bound,
                forward=self._walk.ascending_keys,
                limit=limit,
                only=only,
                paths=self._paths,
            )
            reading.rows += [Row(self._place(stretch, item[keys.SORT]), item) for item in page.items]
            examined += page.examined
            found += len(page.items)
            self._calls_left -= 1
            if page.last is None or found >= missing:
                return
            size += sum(map(item_size, page.items))
            if self._calls_left == 0 or size > MAX_PAGE_BYTES:
                reading.stopped_at = Spot(self._place(stretch, page.last), after=not self._walk.backward)
                return
            bound = self._onward(page.last)
            # Read on for as many as it should take to find what is missing, as often as they have been found so far.
            limit = math.ceil((missing - found) * examined / max(found, 1))

    def _place(self, stretch: Stretch, number: str) -> Place:
        return Place((None if stretch is Stretch.NULLS else number,), int(number))

    def _beyond(self, reading: Reading) -> Spot:
        return Spot(reading.rows[-1].place, after=not self._walk.backward)

    def _onward(self, last: str) -> Bound:
        return Bound(">" if self._walk.ascending_keys else "<", last)

    def _without_value(self) -> Condition:
        path = self._order.field.path if self._order else ()
        names = {f"#n{place}": name for place, name in enumerate(path)}
        return Condition(f"attribute_not_exists({'.'.join(names)})", names)
