"""A page read along one index.

by number            Query (documents)                                                     1 round
by a field           Query (sort entries), BatchGetItem (documents)                        2 rounds
into the issues      the same, with the directories beside the documents; then the         4 rounds
without a value      blocks of the order and the documents of the rest (`readblocks`)
"""

from gridview.dynamodb.expressions import Bound, Item, Key
from gridview.dynamodb.side_by_side import side_by_side
from gridview.dynamodb.table import Fetched, Table
from gridview.encoding import keys, sort_strings
from gridview.encoding.attribute_values import item_size
from gridview.index.block_cache import BlockCache
from gridview.index.block_reader import BlockReader
from gridview.index.keyspaces import NUMBERS
from gridview.query.bitmap_scan import BlocksReader
from gridview.query.explain import Steps
from gridview.query.grid_request import GridQuery, in_words
from gridview.query.page import MAX_PAGE_BYTES, Reading, Row, belongs, fetch, fills_a_page, page_paths
from gridview.query.sort_order import Place, Spot
from gridview.query.walk import Gap, Stretch, Walk
from gridview.schema.catalog import Catalog


class WalkReader:
    """Reads along the order of the query's only key, from a place among the issues with a value on."""

    def __init__(self, table: Table, catalog: Catalog, query: GridQuery, cache: BlockCache) -> None:
        self.steps = Steps(table.meter)
        self._table = table
        self._catalog = catalog
        self._query = query
        self._cache = cache
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
        self._tail: BlocksReader | None = None

    def read(self, spot: Spot | None, *, backward: bool) -> Reading:
        """The rows of a page and one row more if there is one, with their counts if they were asked for. Unprocessable."""
        self._walk = self._walk._replace(backward=backward)
        if not self._query.count:
            return self._read(spot)
        reading, directories = side_by_side(
            self._table,
            lambda: self._read(spot),
            lambda own: BlockReader(own, self._catalog, self._cache).directories([NUMBERS]),
        )
        total = directories[NUMBERS].total
        reading.counts = {"total": total, "matched": total}
        return reading

    def plan(self) -> list[str]:
        """What was done, for people."""
        order = in_words(self._query.sort)
        if self._order is None:
            plan = [f"Read the issues in number order, {order}: the index holds the documents."]
        else:
            plan = [
                f"Read the sort entries of {self._order.id} from the page's place on, which stand in the order {order}.",
                "Fetch the page's documents, and leave out a row whose document no longer gives the entry's sort string.",
            ]
        if self._query.count:
            plan.append("Count the issues by the sizes of the blocks that hold their numbers.")
        if self._tail is not None:
            plan.append(
                "The entries ended on this page. The issues without a value come next, in number order: all that are in no "
                "block of the index."
            )
        return plan

    def _read(self, spot: Spot | None) -> Reading:
        reading = Reading(behind=spot)
        bound = next(
            bound for stretch, bound in self._walk.ranges_from(self._gap(spot)) if stretch is Stretch.VALUES
        )
        if self._order is None:
            self._read_documents(reading, bound)
        else:
            self._read_entries(reading, bound)
        return reading

    def _gap(self, spot: Spot | None) -> Gap:
        if spot is None:
            return self._walk.beginning
        (body,), num = spot.place
        if self._order is None or body is None:
            return Gap(Stretch.VALUES, sort_strings.issue_number(num), spot.after)
        return Gap(Stretch.VALUES, sort_strings.sort_string(body, num), spot.after)

    def _read_entries(self, reading: Reading, bound: Bound | None) -> None:
        wanted = self._limit + 1
        entries: list[Item] = []
        with self.steps.titled("sort entries of the index, in its order"):
            while True:
                page = self._table.query(
                    self._partition,
                    index=True,
                    bound=bound,
                    forward=self._walk.ascending_keys,
                    limit=wanted - len(entries),
                    paths=(),
                )
                entries += page.items
                if page.last is None or len(entries) == wanted:
                    break
                bound = self._onward(page.last)
        strings = [entry[keys.SORT] for entry in entries]
        places = [Place((sort_strings.body_of(sort),), sort_strings.number_of(sort)) for sort in strings]
        shown = places[: self._limit]
        if len(entries) < wanted and self._goes_on_without_value:
            self._tail = BlocksReader(
                self._table, self._catalog, self._query, BlockReader(self._table, self._catalog, self._cache)
            )
        asked, fetched = self._documents(shown)
        for place, key in zip(shown, asked, strict=True):
            if key in fetched.left:
                reading.stopped_at = self._beyond(reading)
                return
            document = fetched.items.get(key)
            reading.rows.append(Row(place, document, belongs(self._query.keys, None, document, place)))
        reading.rows += [Row(place, None) for place in places[len(shown) :]]
        if self._tail is not None:
            if fills_a_page(asked, fetched.items):
                reading.stopped_at = self._beyond(reading)  # no need to read on behind the values
            else:
                self._tail.add_rest(reading, self.steps, backward=self._walk.backward)

    @property
    def _goes_on_without_value(self) -> bool:
        """Whether the issues without a value lie behind the others in the direction of travel."""
        return self._walk.nullable and self._walk.nulls_first == self._walk.backward

    def _documents(self, places: list[Place]) -> tuple[list[Key], Fetched]:
        """The documents at these places, and the directories at the same time where the page goes on behind them."""

        def documents(table: Table) -> tuple[list[Key], Fetched]:
            return fetch(table, self._catalog, (place.num for place in places), self._paths)

        tail = self._tail
        if tail is None:
            with self.steps.titled("documents of the page"):
                return documents(self._table)
        with self.steps.titled("documents of the page; directories: how many issues have no value"):
            _, found = side_by_side(self._table, tail.read_directories, documents)
        return found

    def _read_documents(self, reading: Reading, bound: Bound | None) -> None:
        """Documents in number order."""
        size = 0
        with self.steps.titled("documents of the issues, in number order"):
            while True:
                missing = self._limit + 1 - len(reading.rows)
                page = self._table.query(
                    self._project,
                    index=True,
                    bound=bound,
                    forward=self._walk.ascending_keys,
                    limit=missing,
                    paths=self._paths,
                )
                for item in page.items:
                    number = item[keys.SORT]
                    reading.rows.append(Row(Place((number,), int(number)), item))
                if page.last is None or len(page.items) >= missing:
                    return
                size += sum(map(item_size, page.items))
                if size > MAX_PAGE_BYTES:
                    reading.stopped_at = Spot(
                        Place((page.last,), int(page.last)), after=not self._walk.backward
                    )
                    return
                bound = self._onward(page.last)

    def _beyond(self, reading: Reading) -> Spot:
        return Spot(reading.rows[-1].place, after=not self._walk.backward)

    def _onward(self, last: str) -> Bound:
        return Bound(">" if self._walk.ascending_keys else "<", last)
