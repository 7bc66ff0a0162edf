"""A page read by the help of blocks: by a filter's sets, from any row on, by several keys.

the directories                                     1st round
the filter's sets, first blocks of the order        2nd
further blocks, sort entries, undecided documents   3rd, where it takes them
documents                                           the last, the 4th at most
"""

from collections.abc import Iterable, Sequence
from functools import cached_property

from pyroaring import BitMap

from gridview.dynamodb.expressions import Item
from gridview.dynamodb.side_by_side import side_by_side
from gridview.dynamodb.table import Table
from gridview.index.block_reader import BlockReader
from gridview.index.directory import Directory, Range
from gridview.index.keyspaces import NUMBERS
from gridview.query import plan_texts, planner
from gridview.query.ahead import Ahead
from gridview.query.bitmap_filter import Selection
from gridview.query.bucket_scan import AlongReader
from gridview.query.buckets import Line, Station
from gridview.query.explain import Steps
from gridview.query.grid_request import MAX_LIMIT, GridQuery
from gridview.query.page import PageRows, Reading, Row, cut, fetch_all, judged, projection
from gridview.query.planner import Undecided
from gridview.query.sort_order import Spot, in_order, place_of
from gridview.query.stations import Stations
from gridview.schema.catalog import Catalog


class BlocksReader:
    """Answers from the directories and the sets of blocks."""

    def __init__(self, table: Table, catalog: Catalog, query: GridQuery, blocks: BlockReader) -> None:
        self.steps = Steps(table.meter)
        self.numbers = Directory(NUMBERS, ())
        self._matched = 0
        self._table = table
        self._catalog = catalog
        self._query = query
        self._blocks = blocks
        self._only = Selection(query.filter, catalog) if query.filter is not None else None
        self._rows = PageRows(table, catalog, query)
        self._ends = table.meter.rounds + planner.ROUNDS
        self._said: list[str] = []
        self._backward = False

    def is_near(self, spot: Spot | None, *, backward: bool) -> bool:
        """Whether a page that a walk can read is had for less by blocks, since the directories are at hand.

        Never in number order: a walk reads the documents themselves there, many in half a unit.
        """
        if self._family == NUMBERS or not self._blocks.has_directories([NUMBERS, self._family]):
            return False
        self._backward = backward
        ahead = self._ahead(self._line, spot)
        return planner.tell_a_page(ahead.stations, self._query.limit + 1, begun=ahead.spot is not None)

    def read(self, spot: Spot | None, *, backward: bool) -> Reading:
        """The rows of a page, and one more if there is one; with their counts. Undecided; Unprocessable for what takes too much."""
        query = self._query
        self._backward = backward
        with self.steps.titled(
            "directories: which blocks the indexes have, and how many issues stand in each"
        ):
            directories = self.read_directories()
        line = self._line
        stations = Stations(line, self._blocks, self.numbers)
        along = self._along(stations, backward=backward)
        ahead = self._ahead(line, spot)
        self._matched = self.total
        if self._only is not None:
            few = self._judge(self._only, directories, along, stations, ahead)
            if few is not None:
                return self._from_memory(few, spot)
            self._matched = len(stations.matching or ())
        reading = Reading(behind=spot, counts=self._counts)
        along.add_rest(ahead, reading)
        along.add(ahead, reading, query.limit)
        if spot is None and query.offset:
            reading.behind = self._before(stations, reading.rows)
        self._said += [*along.said, *plan_texts.along(query, line, stations.read)]
        self._said += plan_texts.recheck(self._blocks.reads, self._blocks.age)
        return reading

    def read_directories(self) -> dict[str, Directory]:
        """The directories that the query takes: one round, or none where they are young enough in the cache."""
        families = self._only.families() if self._only is not None else ()
        directories = self._blocks.directories([NUMBERS, self._family, *families])
        self.numbers = directories[NUMBERS]
        return directories

    def add_rest(self, reading: Reading, steps: Steps, *, backward: bool) -> None:
        """Go on with the issues without a value, behind the last of those that have one. The directories must have been read."""
        self.steps = steps
        line = self._line
        ahead = Ahead([station for station in line.stations if not station.entries])
        # Not looked for among all documents: two rounds are left, and if too few were found there, it would take three.
        along = self._along(Stations(line, self._blocks, self.numbers), backward=backward)
        along.add(ahead, reading, self._query.limit)

    def plan(self) -> list[str]:
        """What was done, for people."""
        return self._said

    @property
    def _family(self) -> str:
        """The family of the order that is gone along."""
        order = self._query.keys[0].order
        return NUMBERS if order is None else order.order_id

    @cached_property
    def _line(self) -> Line:
        """The order that is gone along. It takes as long as the directory is, so it is made once."""
        directory = self.read_directories()[self._family]
        return Line(self._query.keys, directory, self.total)

    @property
    def total(self) -> int:
        """How many issues the project has."""
        return self.numbers.total

    @property
    def _counts(self) -> dict[str, int]:
        return {"total": self.total, "matched": self._matched}

    def _ahead(self, line: Line, spot: Spot | None) -> Ahead:
        """All that lies ahead of a spot (None: the beginning)."""
        if spot is None:
            return Ahead(self._confined(line.stations), self._query.offset)
        at = line.at(spot)
        ahead = line.stations[at::-1] if self._backward else line.stations[at:]
        confined = self._confined(ahead)
        return Ahead(confined, spot=spot if confined[:1] == ahead[:1] else None)

    def _confined(self, stations: Sequence[Station]) -> Sequence[Station]:
        """The stations at which an issue may match, by what the filter says of the field that is sorted by."""
        ranges = self._only.confined(self._family) if self._only is not None else None
        if ranges is None:
            return stations
        return [
            station
            for station in stations
            if station.entries
            and any(
                not Range(station.entries[0].lower, station.entries[-1].upper).overlap(one).empty
                for one in ranges
            )
        ]

    # What matches

    def _judge(
        self,
        only: Selection,
        directories: dict[str, Directory],
        along: AlongReader,
        stations: Stations,
        ahead: Ahead,
    ) -> Iterable[Item] | None:
        """Find out which issues match. Their documents, when they are so few that they had better be sorted in memory."""
        line, rows = stations.line, self._query.offset + self._query.limit + 1
        estimate = only.estimate(directories)
        first = (
            0 if line.by_number else planner.first_stations(line, ahead.stations, rows, estimate, self.total)
        )
        with self.steps.titled(
            "sets of issues: those that the filter takes, and the first blocks of the order"
        ):
            self._blocks.read([*only.wants(directories), *stations.wants(ahead.stations[:first])])
        sure, maybe = only.evaluate(directories, self._blocks)
        undecided = maybe - sure
        if len(undecided) > planner.CANDIDATES:
            refusal = planner.too_wide(only.undecidable(), len(undecided))
            raise Undecided(refusal, "a filter that the index leaves open for many issues", maybe)
        self._said.append(plan_texts.matches(str(self._query.filter), len(sure), len(undecided), self.total))
        if line.by_number:
            with self.steps.titled("documents of the issues that the sets leave open"):
                matching = sure | self._passing(undecided, self._table)
            stations.among(matching)
            ahead.open_set(line, matching, backward=self._backward)
            return None
        stations.among(sure)
        further = along.reach(ahead, self._query.limit + 1)
        walk = planner.walking(line, further, len(maybe), self.total)
        if planner.sorts_all(len(maybe), rows, len(undecided), walk):
            return self._all_matching(sure, undecided)
        if not line.simple and self.total <= planner.WHOLE and len(maybe) > planner.CANDIDATES:
            # Walking on would only find out later whether too many stand at one place.
            raise planner.undecided_ties(self._catalog, self._query.keys, len(maybe), maybe)
        wants = stations.wants(further)
        with self.steps.titled(
            "more blocks of the order, and documents of the issues that the sets leave open"
        ):
            if undecided:
                _, passing = side_by_side(
                    self._table,
                    lambda: self._blocks.read(wants),
                    lambda table: self._passing(undecided, table),
                )
                stations.among(sure | passing)
            else:
                self._blocks.read(wants)
        return None

    def _passing(self, undecided: BitMap, table: Table) -> BitMap:
        """Which of these issues match by their documents."""
        only = self._query.filter
        if not undecided or only is None:
            return BitMap()
        documents = fetch_all(table, self._catalog, undecided, projection(only.fields()))
        return BitMap(num for num, document in documents.items() if only.matches(document))

    def _all_matching(self, sure: BitMap, undecided: BitMap) -> Iterable[Item]:
        """The documents of all issues that match."""
        candidates = sure | undecided
        whole = len(candidates) <= MAX_LIMIT
        paths = self._rows.paths if whole else projection(judged(self._query))
        with self.steps.titled("documents of all issues that may match"):
            documents = fetch_all(self._table, self._catalog, candidates, paths)
        if whole:
            self._rows.keep(candidates, documents)
        only = self._query.filter
        passing = [one for one in documents.values() if only is None or only.matches(one)]
        self._matched = len(sure | BitMap(one["num"] for one in passing))
        self._said.append(plan_texts.all_sorted(len(candidates), self._query.sort))
        return passing

    def _from_memory(self, documents: Iterable[Item], spot: Spot | None) -> Reading:
        query = self._query
        places = in_order(query.keys, (place_of(query.keys, one) for one in documents))
        ahead, behind = cut(query.keys, places, spot, query.offset, query.limit, backward=self._backward)
        reading = Reading(behind=behind, counts=self._counts)
        self._rows.add(ahead, reading, query.limit, self.steps, backward=self._backward)
        self._said += plan_texts.recheck(self._blocks.reads, self._blocks.age)
        return reading

    # Along the order

    def _along(self, stations: Stations, *, backward: bool) -> AlongReader:
        return AlongReader(
            self._table,
            self._catalog,
            self._query,
            self._blocks,
            stations,
            self._rows,
            self.steps,
            ends=self._ends,
            backward=backward,
        )

    def _before(self, stations: Stations, rows: Sequence[Row]) -> Spot | None:
        """A spot behind the page of an offset: before its first row, or, when it lies behind the end, after the last of all."""
        if rows:
            return Spot(rows[0].place, after=False)
        line, last = stations.line, Reading()
        ahead = Ahead(self._confined(line.stations[::-1]))
        if line.by_number and stations.matching is not None:
            ahead.open_set(line, stations.matching, backward=True)
        self._along(stations, backward=True).add(ahead, last, 0)
        return Spot(last.rows[0].place, after=True) if last.rows else None
