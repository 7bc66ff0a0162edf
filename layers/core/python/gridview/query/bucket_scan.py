"""Rows of a page, along the blocks of an order: further blocks, sort entries and documents, as far as the page takes them."""

from collections.abc import Sequence
from typing import Literal

from gridview.dynamodb.expressions import Bound, Condition, Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.sort_strings import issue_number
from gridview.index.block_reader import BlockReader
from gridview.query import plan_texts, planner
from gridview.query.ahead import Ahead, Portion
from gridview.query.buckets import Station
from gridview.query.explain import Steps
from gridview.query.grid_request import MAX_LIMIT, GridQuery
from gridview.query.page import PageRows, Reading, Row, fetch_all, judged, projection
from gridview.query.sort_order import Place, Spot, in_order, rows_before
from gridview.query.stations import Stations
from gridview.schema.catalog import Catalog, Field


class AlongReader:
    """Reads along a line, in one direction. `ends`: after how many rounds of calls in all the answer should be there."""

    def __init__(
        self,
        table: Table,
        catalog: Catalog,
        query: GridQuery,
        blocks: BlockReader,
        stations: Stations,
        rows: PageRows,
        steps: Steps,
        *,
        ends: int,
        backward: bool,
    ) -> None:
        self.said: list[str] = []
        """What was done besides going along the blocks, for people."""
        self._table = table
        self._catalog = catalog
        self._query = query
        self._blocks = blocks
        self._line = stations.line
        self._stations = stations
        self._rows = rows
        self._steps = steps
        self._ends = ends
        self._backward = backward

    def add(self, ahead: Ahead, reading: Reading, limit: int) -> None:
        """Add rows up to one more than the limit, or to the end of the order. Undecided."""
        while len(reading.rows) <= limit and reading.stopped_at is None:
            full = 0 < limit == len(reading.rows)
            if full and self._all and ahead.only_rest and not ahead.spot and ahead.stations[0].size:
                # To know that there are issues without a value does not take reading which. That there are none does: an issue
                # that is just being moved is counted at both of its places.
                reading.rows.append(Row(Place((None,) * len(self._line.keys), 0), None))
                return
            portions = self._gather(ahead, limit + 1 - len(reading.rows))
            if not portions:
                return
            places = self._places(portions, limit - len(reading.rows))
            self._rows.add(places, reading, limit, self._steps, backward=self._backward)

    def add_rest(self, ahead: Ahead, reading: Reading) -> None:
        """Add rows without a value, where these come next and a Query of all documents is the cheapest way to find enough of them.

        0.5 read units for each 4 KB of documents, shown or not. `ahead` is beyond what was read then.
        """
        missing = self._query.limit + 1 - len(reading.rows)
        if missing > 1 and self._all and self._line.straight and ahead.rest_next:
            without, total = ahead.stations[0].size, self._line.total
            blocks = len(self._line.directory.entries) + self._stations.of_numbers
            if planner.queries_rest(missing, without, total, blocks):
                self._query_rest(ahead, reading, planner.documents_to_find(missing, without, total))

    def reach(self, ahead: Ahead, missing: int) -> Sequence[Station]:
        """The next stations that have as many rows as are missing by what is known of them, or else all."""
        needed = ahead.skip + missing
        for count, station in enumerate(ahead.stations, 1):
            if not self._stations.counted(station):
                return ahead.stations
            # How much of the first one lies ahead of the spot is not known.
            needed -= 0 if count == 1 and ahead.spot is not None else self._stations.hits(station)
            if needed <= 0:
                return ahead.stations[:count]
        return ahead.stations

    @property
    def _all(self) -> bool:
        """Whether the query is about all issues."""
        return self._query.filter is None

    # Issues without a value, found among all documents

    def _query_rest(self, ahead: Ahead, reading: Reading, examined: int) -> None:
        key = self._line.keys[0]
        ascending = key.descending == self._backward
        bound = None
        if ahead.spot is not None:
            include = ahead.spot.after == self._backward
            operator: Literal["<", "<=", ">", ">="] = (
                (">=" if include else ">") if ascending else ("<=" if include else "<")
            )
            bound = Bound(operator, issue_number(ahead.spot.place.num))
        self.said.append(plan_texts.rest_among_documents(key.field_id, ahead.stations[0].size, examined))
        with self._steps.titled("documents in number order, of which those without a value are passed on"):
            page = self._table.query(
                keys.project(self._catalog.tenant, self._catalog.project),
                index=True,
                bound=bound,
                forward=ascending,
                limit=examined,
                only=_lacking(key.fields[0]),
                paths=self._rows.paths,
            )
        reading.rows += [Row(self._line.place(None, item["num"]), item) for item in page.items]
        if page.last is None:
            ahead.stations, ahead.spot = ahead.stations[1:], None
        else:
            ahead.spot = Spot(self._line.place(None, int(page.last)), after=not self._backward)

    # Station by station

    def _gather(self, ahead: Ahead, missing: int) -> list[Portion]:
        """The next portions, of as many rows as are missing if there are so many."""
        taken: list[Portion] = []
        while missing > 0:
            if not ahead.opened:
                if not ahead.stations or (taken and missing == 1 and self._all and ahead.only_rest):
                    break
                self._open(ahead, missing)
                continue
            portion = ahead.opened.pop(0)
            if portion.end is None and portion.unit.told:
                self._check_ties(len(portion.unit.numbers))
            if portion.end is not None and portion.rows > missing:
                portion, rest = portion.split(missing, from_behind=self._backward)
                ahead.opened.insert(0, rest)
            taken.append(portion)
            missing -= portion.rows
        return taken

    def _open(self, ahead: Ahead, missing: int) -> None:
        """Open the next stations, as many as should have the missing rows; read what they take."""
        stations = self._stations
        ahead.pass_over(stations.known_hits)
        reach = self.reach(ahead, missing)
        if self._all and len(reach) > 1 and not reach[-1].entries and ahead.spot is None:
            before = sum(station.size for station in reach[:-1]) - ahead.skip
            reach = reach[:-1] if before >= missing - 1 else reach
        unread = stations.wants(reach)
        if unread and not self._all:
            with self._steps.titled("all further blocks of the order"):
                self._blocks.read(unread)
            ahead.pass_over(stations.known_hits)
            reach = self.reach(ahead, missing)
        self._check_stations(reach)
        by_entries = [one for one in reach if self._reads_entries(one, missing)]
        with self._steps.titled(
            "blocks of the order, and sort entries where blocks do not tell the order inside them"
        ):
            self._blocks.read([*stations.wants(by_entries, keys=True), *(unread if self._all else ())])
        for station in reach:
            # That none match is known from the sets; without a filter, sizes tell it, and these may be of two moments.
            none_match = not self._all and stations.hits(station) == 0
            units = () if none_match else stations.units(station)
            ahead.open(self._line, station, units, backward=self._backward)
        ahead.stations = ahead.stations[len(reach) :]

    def _reads_entries(self, station: Station, shown: int) -> bool:
        """Whether to have the sort entries tell the order inside a station's blocks, and not the documents of its issues."""
        if self._line.moving:
            return planner.entries_units(station) > 0
        rounds_left = self._ends - self._table.meter.rounds
        return rounds_left > 1 and planner.reads_entries(
            station, self._stations.hits(station), shown if self._line.simple else 0
        )

    def _check_stations(self, reach: Sequence[Station]) -> None:
        """Refuse early what only documents can put in order, where they are too many at one place: Undecided."""
        if self._line.simple:
            return
        for station in reach:
            alone = not station.entries or len({entry.body for entry in station.entries} - {None}) == 1
            if alone and all(entry.body is not None for entry in station.entries):
                self._check_ties(self._stations.hits(station))

    def _check_ties(self, count: int) -> None:
        """Undecided where too many issues would have to be sorted together."""
        if count > planner.CANDIDATES:
            raise planner.undecided_ties(self._catalog, self._query.keys, count, self._stations.matching)

    # What only documents tell

    def _places(self, portions: Sequence[Portion], room: int) -> list[Place]:
        """The places of the rows of portions. Documents are fetched where only they tell."""
        by_documents = [num for one in portions if one.end is None for num in one.unit.numbers]
        documents = self._fetch_to_order(portions, by_documents, room) if by_documents else {}
        places: list[Place] = []
        for portion in portions:
            if portion.end is not None:
                found = self._line.places(portion.unit, portion.begin, portion.end)
                places += found[::-1] if self._backward else found
            else:
                places += self._sorted(portion, documents)
        return places

    def _fetch_to_order(self, portions: Sequence[Portion], numbers: list[int], room: int) -> dict[int, Item]:
        """The documents of these issues; with those of the other rows that will be shown, if this is the last round."""
        narrow = len(numbers) > MAX_LIMIT and self._ends - self._table.meter.rounds > 1
        if not narrow:
            for portion in portions:
                if portion.end is not None and room > 0:
                    shown, _ = portion.split(min(room, portion.rows), from_behind=self._backward)
                    numbers += [one.num for one in self._line.places(shown.unit, shown.begin, shown.end or 0)]
                room -= portion.rows
        paths = projection(judged(self._query)) if narrow else self._rows.paths
        with self._steps.titled("documents of the issues whose order only they tell"):
            documents = fetch_all(self._table, self._catalog, numbers, paths)
        if not narrow:
            self._rows.keep(numbers, documents)
        return documents

    def _sorted(self, portion: Portion, documents: dict[int, Item]) -> list[Place]:
        """The places of those issues of a portion that still belong there, by their documents."""
        order, only = self._query.keys, self._query.filter
        found = []
        for num in portion.unit.numbers:
            document = documents.get(num)
            if document is None or (only is not None and not only.matches(document)):
                continue
            if portion.holds(self._line, document):
                body = portion.unit.body if portion.unit.told else order[0].part(document)
                found.append(Place((body, *(key.part(document) for key in order[1:])), num))
        places = in_order(order, found)
        at = 0 if portion.spot is None else rows_before(order, places, portion.spot)
        if self._backward:
            return places[: at if portion.spot is not None else len(places)][::-1]
        return places[at + portion.begin :]


def _lacking(field: Field) -> Condition:
    names = {f"#n{place}": name for place, name in enumerate(field.path)}
    return Condition(f"attribute_not_exists({'.'.join(names)})", names)
