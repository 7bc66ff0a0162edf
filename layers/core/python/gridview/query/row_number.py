"""The row number of an issue in an order.

the issue and its ledger, directories       1st round
the filter's sets                           2nd, under a filter
blocks of the order, undecided documents    3rd
documents, where several keys need them     4th at most
"""

from typing import Any

from pyroaring import BitMap

from gridview.dynamodb.expressions import Item
from gridview.dynamodb.side_by_side import side_by_side
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.sort_strings import body_of
from gridview.index.block_cache import BlockCache
from gridview.index.block_reader import BlockReader
from gridview.index.directory import Directory
from gridview.index.keyspaces import NUMBERS
from gridview.query import planner
from gridview.query.bitmap_filter import Selection
from gridview.query.buckets import Line, Station, Unit
from gridview.query.full_scan import all_numbers, matching_places, read_whole
from gridview.query.page import fetch_all, projection
from gridview.query.predicates import Filter
from gridview.query.sort_order import Keys, Spot, in_order, place_of, rows_before
from gridview.query.stations import Stations
from gridview.schema.catalog import Catalog
from gridview.schema.document_store import get_issue
from gridview.support.errors import RequestError


def position(
    table: Table,
    catalog: Catalog,
    num: int,
    order: Keys,
    only: Filter | None,
    cache: BlockCache | None = None,
) -> dict[str, Any]:
    """`position`: how many rows come before an issue in an order, null when it does not match the filter; NotFound.

    The issue itself is read strongly consistent, all others as of the index. Read units: half of one for the block in which the
    issue stands, and under a filter for all blocks before it (or behind it, where these are fewer) and the filter's sets.
    """
    return {"position": _Placing(table, catalog, num, order, only, cache or BlockCache(0.0)).find()}


class _Ties(Exception):
    """Too many issues have what the first key compares of the issue."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


class _Placing:
    """Where one issue stands."""

    def __init__(
        self, table: Table, catalog: Catalog, num: int, order: Keys, only: Filter | None, cache: BlockCache
    ) -> None:
        self._table = table
        self._catalog = catalog
        self._num = num
        self._order = order
        self._filter = only
        self._only = Selection(only, catalog) if only is not None else None
        self._blocks = BlockReader(table, catalog, cache)
        first = order[0].order
        self._family = NUMBERS if first is None else first.order_id
        judged = [field for key in order for field in key.fields]
        self._fields = [*judged, *(only.fields() if only is not None else ())]

    def find(self) -> int | None:
        """How many rows come before the issue."""
        families = [NUMBERS, self._family, *(self._only.families() if self._only is not None else ())]
        directories, (document, ledger) = side_by_side(
            self._table, lambda: self._blocks.directories(families), self._issue
        )
        if self._filter is not None and not self._filter.matches(document):
            return None
        spot = Spot(place_of(self._order, document), after=False)
        line = Line(self._order, directories[self._family], directories[NUMBERS].total)
        stations = Stations(line, self._blocks, directories[NUMBERS])
        try:
            if self._only is None:
                return self._among_all(line, stations, spot, ledger)
            return self._among_matching(self._only, directories, line, stations, spot)
        except _Ties as found:
            refusal = planner.too_many_ties(self._catalog, self._order, found.count)
            return self._whole(stations.matching, line.total, refusal, spot)

    def _issue(self, table: Table) -> tuple[Item, Item | None]:
        """The issue and its ledger, which tells where the index has it."""
        key = keys.issue(self._catalog.tenant, self._catalog.project, self._num)
        return side_by_side(
            table, lambda: get_issue(table, self._catalog, self._num), lambda own: own.get(key, keys.LEDGER)
        )

    def _among_all(self, line: Line, stations: Stations, spot: Spot, ledger: Item | None) -> int:
        at = line.at(spot)
        before = sum(station.size for station in line.stations[:at])
        here = line.stations[at : at + 1]
        self._check_ties(line, stations, here)
        self._blocks.read(stations.wants(here, keys=True))
        return before - self._counted_before(line, at, ledger) + self._inside(line, stations, here, spot)

    def _check_ties(self, line: Line, stations: Stations, here: list[Station]) -> None:
        """Refuse early what only documents can put in order, where they are known to be of one body, and too many."""
        if not line.simple and all(entry.body is not None for station in here for entry in station.entries):
            self._check_count(sum(stations.hits(station) for station in here))

    def _check_count(self, count: int) -> None:
        if count > planner.CANDIDATES:
            raise _Ties(count)

    def _counted_before(self, line: Line, at: int, ledger: Item | None) -> int:
        """1 if the index has the issue itself, as it was, at a station before; else 0."""
        applied = (ledger or {}).get("applied", {})
        if NUMBERS not in applied or line.by_number:
            return 0
        key = applied.get(self._family)
        if key is None and line.nulls_at is None:
            return 0
        former = line.place(None if key is None else body_of(key), self._num)
        return int(line.at(Spot(former, after=False)) < at)

    def _among_matching(
        self,
        only: Selection,
        directories: dict[str, Directory],
        line: Line,
        stations: Stations,
        spot: Spot,
    ) -> int:
        self._blocks.read(only.wants(directories))
        sure, maybe = only.evaluate(directories, self._blocks)
        itself = BitMap((self._num,))
        undecided = maybe - sure - itself
        candidates = maybe - itself
        total = directories[NUMBERS].total
        if len(undecided) > planner.CANDIDATES:
            return self._whole(candidates, total, planner.too_wide(only.undecidable(), len(undecided)), spot)
        if line.by_number:
            return line.rows_before(Unit((sure - itself) | self._passing(undecided, self._table), ""), spot)
        at = line.at(spot)
        before, here, behind = line.stations[:at], line.stations[at : at + 1], line.stations[at + 1 :]
        fewer = before if _blocks(before) <= _blocks(behind) else behind
        walk = planner.walking(line, [*fewer, *here], len(candidates), total)
        if planner.sorts_all(len(candidates), 0, len(undecided), walk):
            documents = fetch_all(self._table, self._catalog, candidates, projection(self._fields))
            return rows_before(
                self._order, matching_places(documents.values(), self._order, self._filter), spot
            )
        wants = [*stations.wants(fewer), *stations.wants(here, keys=True)]
        _, passing = side_by_side(
            self._table, lambda: self._blocks.read(wants), lambda table: self._passing(undecided, table)
        )
        matching = (sure - itself) | passing
        stations.among(matching)
        counted = sum(stations.hits(station) for station in fewer)
        if fewer is not before:
            counted = len(matching) - counted - sum(stations.hits(station) for station in here)
        return counted + self._inside(line, stations, here, spot)

    def _passing(self, undecided: BitMap, table: Table) -> BitMap:
        """Which of these issues match by their documents."""
        if not undecided or self._filter is None:
            return BitMap()
        documents = fetch_all(table, self._catalog, undecided, projection(self._filter.fields()))
        return BitMap(num for num, document in documents.items() if self._filter.matches(document))

    def _inside(self, line: Line, stations: Stations, here: list[Station], spot: Spot) -> int:
        """Rows at the issue's own station before it. The sets and sort entries must have been read."""
        counted = 0
        itself = BitMap((self._num,))
        for unit in (unit for station in here for unit in stations.units(station)):
            others = unit._replace(numbers=unit.numbers - itself)
            if line.simple or line.side(others, spot):
                counted += line.rows_before(others, spot)
            else:
                counted += self._tied(others.numbers, spot)
        return counted

    def _tied(self, numbers: BitMap, spot: Spot) -> int:
        """How many of the issues that share what the first key compares come before the issue, by their documents."""
        self._check_count(len(numbers))
        documents = fetch_all(self._table, self._catalog, numbers, projection(self._fields))
        places = in_order(self._order, (place_of(self._order, one) for one in documents.values()))
        return rows_before(self._order, places, spot)

    def _whole(self, among: BitMap | None, total: int, refusal: RequestError, spot: Spot) -> int:
        """By the documents of all issues in question (None: all of the project), where these are few enough."""
        if total > planner.WHOLE:
            raise refusal
        if among is None:
            among = all_numbers(self._blocks, self._blocks.directories([NUMBERS])[NUMBERS])
        others = among - BitMap((self._num,))
        documents = read_whole(self._table, self._catalog, self._fields, others, "a position")
        return rows_before(self._order, matching_places(documents, self._order, self._filter), spot)


def _blocks(stations: list[Station]) -> int:
    return sum(len(station.entries) for station in stations)
