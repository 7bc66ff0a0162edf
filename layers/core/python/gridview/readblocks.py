"""A page read by the help of blocks: by a filter's sets, from any row on, by several keys.

the directories                                     1st round
the filter's sets, first blocks of the order        2nd
further blocks, sort entries, undecided documents   3rd, where it takes them
documents                                           the last, the 4th at most
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import Literal, NamedTuple

from pyroaring import BitMap

from gridview import keys, planner
from gridview.beside import side_by_side
from gridview.catalog import Catalog, Field
from gridview.directory import Directory, Range, range_of
from gridview.errors import RequestError
from gridview.explaining import Steps
from gridview.families import NUMBERS
from gridview.gridrequest import MAX_LIMIT, GridQuery, in_words
from gridview.indexing import present_sort_strings
from gridview.lines import Line, Station, Unit
from gridview.ordering import Place, Spot, in_order, place_of, rows_before
from gridview.pagereading import Reading, Row, belongs, cut, fetch, fetch_all, judged, page_paths, projection
from gridview.planner import Method
from gridview.selection import Selection
from gridview.setreading import BlockReader
from gridview.sortstrings import issue_number, sort_string
from gridview.stations import Stations
from gridview.storage import Bound, Condition, Item, Table


class Undecided(Exception):
    """Only reading the whole project can tell: the sets leave too many issues open, or too many stand at one place of the order.

    `refusal`: what is said where the project is too large for that; `reason`: what takes it, for people; `among`: the issues that
    may match, where that is known.
    """

    def __init__(self, refusal: RequestError, reason: str, among: BitMap | None = None) -> None:
        super().__init__(reason)
        self.refusal = refusal
        self.reason = reason
        self.among = among


class _Portion(NamedTuple):
    """Some rows of a unit. From `begin` up to `end`, in the order of the rows, where body and number tell the order; where only
    documents tell it (`end` None), all rows that lie ahead of `spot`, but for the first `begin`.
    """

    station: Station
    unit: Unit
    begin: int
    end: int | None
    spot: Spot | None = None

    @property
    def rows(self) -> int:
        """Rows that are surely in it."""
        if self.end is not None:
            return self.end - self.begin
        return 0 if self.spot is not None else len(self.unit.numbers) - self.begin


@dataclass(slots=True)
class _Ahead:
    """What lies ahead: portions that have been opened, and then stations. `skip`: rows of these to be passed over; `spot`: where in
    the first of them reading begins.
    """

    stations: Sequence[Station]
    skip: int = 0
    spot: Spot | None = None
    opened: list[_Portion] = attribute(default_factory=list)


class BlocksReader:
    """Answers from the directories and the sets of blocks. `method` tells how, once it has been read."""

    def __init__(self, table: Table, catalog: Catalog, query: GridQuery, blocks: BlockReader) -> None:
        self.steps = Steps(table.meter)
        self.method = Method.BLOCKS
        self.numbers = Directory(NUMBERS, ())
        self._matched = 0
        self._table = table
        self._catalog = catalog
        self._query = query
        self._blocks = blocks
        self._only = Selection(query.filter, catalog) if query.filter is not None else None
        self._paths = page_paths(catalog, query)
        self._ends = table.meter.rounds + planner.ROUNDS
        self._said: list[str] = []
        self._backward = False
        self._documents: dict[int, Item | None] = {}

    def is_near(self, spot: Spot | None, *, backward: bool) -> bool:
        """Whether a page that a walk can read is had for less by blocks, since the directories are at hand."""
        if not self._blocks.has_directories([NUMBERS, self._family]):
            return False
        self._backward = backward
        line = Line(self._query.keys, self.read_directories()[self._family], self.total)
        ahead = self._ahead(line, spot)
        return planner.tell_a_page(ahead.stations, self._query.limit + 1, begun=ahead.spot is not None)

    def read(self, spot: Spot | None, *, backward: bool) -> Reading:
        """The rows of a page, and one more if there is one; with their counts. Undecided; Unprocessable for what takes too much."""
        query = self._query
        self._backward = backward
        with self.steps.titled(
            "directories: which blocks the indexes have, and how many issues stand in each"
        ):
            directories = self.read_directories()
        line = Line(query.keys, directories[self._family], self.total)
        stations = Stations(line, self._blocks, self.numbers)
        ahead = self._ahead(line, spot)
        self._matched = self.total
        if self._only is not None:
            few = self._judge(self._only, directories, line, stations, ahead)
            if few is not None:
                return self._from_memory(few, spot)
            self._matched = len(stations.matching or ())
        reading = Reading(behind=spot, counts=self._counts)
        if self._only is None and _rest_next(ahead) and self._queries_rest(line, ahead):
            self._query_rest(line, ahead, reading)
        self._walk(line, stations, ahead, reading, query.limit)
        if spot is None and query.offset:
            reading.behind = self._behind(line, stations, reading.rows)
        self._say_walk(line, stations)
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
        self._backward = backward
        line = Line(self._query.keys, self.read_directories()[self._family], self.total)
        ahead = _Ahead([station for station in line.stations if not station.entries])
        self._walk(line, Stations(line, self._blocks, self.numbers), ahead, reading, self._query.limit)

    def plan(self) -> list[str]:
        """What was done, for people."""
        return self._said

    @property
    def _family(self) -> str:
        """The family of the order that is gone along."""
        order = self._query.keys[0].order
        return NUMBERS if order is None else order.order_id

    @property
    def total(self) -> int:
        """How many issues the project has."""
        return self.numbers.total

    @property
    def _counts(self) -> dict[str, int]:
        return {"total": self.total, "matched": self._matched}

    def _ahead(self, line: Line, spot: Spot | None) -> _Ahead:
        """All that lies ahead of a spot (None: the beginning)."""
        if spot is None:
            return _Ahead(self._confined(line.stations), self._query.offset)
        at = line.at(spot)
        ahead = line.stations[at::-1] if self._backward else line.stations[at:]
        confined = self._confined(ahead)
        return _Ahead(confined, spot=spot if confined[:1] == ahead[:1] else None)

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
        line: Line,
        stations: Stations,
        ahead: _Ahead,
    ) -> Iterable[Item] | None:
        """Find out which issues match. Their documents, when they are so few that they had better be sorted in memory."""
        rows = self._query.offset + self._query.limit + 1
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
        self._say_matches(len(sure), len(undecided))
        if line.by_number:
            self.method = Method.NUMBER
            with self.steps.titled("documents of the issues that the sets leave open"):
                matching = sure | self._passing(undecided, self._table)
            stations.among(matching)
            ahead.stations = [Station((), len(matching))]
            ahead.opened = self._portions(
                line, ahead, ahead.stations[0], [Unit(matching, "")] if matching else []
            )
            ahead.stations = []
            return None
        stations.among(sure)
        further = self._reach(stations, ahead, self._query.limit + 1)
        walk = planner.walking(line, further, len(maybe), self.total)
        if planner.sorts_all(len(maybe), rows, len(undecided), walk):
            return self._all_matching(sure, undecided)
        if not line.simple and self.total <= planner.WHOLE and len(maybe) > planner.CANDIDATES:
            # Walking on would only find out later whether too many stand at one place.
            raise self._too_many_ties(len(maybe), maybe)
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
        self.method = Method.ALL
        candidates = sure | undecided
        whole = len(candidates) <= MAX_LIMIT
        paths = self._paths if whole else projection(judged(self._query))
        with self.steps.titled("documents of all issues that may match"):
            documents = fetch_all(self._table, self._catalog, candidates, paths)
        if whole:
            self._documents = dict.fromkeys(candidates) | documents
        only = self._query.filter
        passing = [one for one in documents.values() if only is None or only.matches(one)]
        self._matched = len(sure | BitMap(one["num"] for one in passing))
        self._said.append(
            f"They are few enough: fetch the documents of all {len(candidates):,} that may match, and sort them by "
            f"{in_words(self._query.sort)} in memory."
        )
        return passing

    def _from_memory(self, documents: Iterable[Item], spot: Spot | None) -> Reading:
        query = self._query
        places = in_order(query.keys, (place_of(query.keys, one) for one in documents))
        ahead, behind = cut(query.keys, places, spot, query.offset, query.limit, backward=self._backward)
        reading = Reading(behind=behind, counts=self._counts)
        self._show(ahead, reading, query.limit)
        self._say_recheck()
        return reading

    # Along the order

    def _walk(self, line: Line, stations: Stations, ahead: _Ahead, reading: Reading, limit: int) -> None:
        """Rows up to one more than the limit, or to the end of the order."""
        while len(reading.rows) <= limit and reading.stopped_at is None:
            full = 0 < limit == len(reading.rows)
            if (
                full
                and self._only is None
                and _only_rest(ahead)
                and not ahead.spot
                and ahead.stations[0].size
            ):
                # To know that there are issues without a value does not take reading which. That there are none does: an issue
                # that is just being moved is counted at both of its places.
                reading.rows.append(Row(Place((None,) * len(line.keys), 0), None))
                return
            portions = self._gather(line, stations, ahead, limit + 1 - len(reading.rows))
            if not portions:
                return
            self._show(self._places(line, portions, limit - len(reading.rows)), reading, limit)

    def _queries_rest(self, line: Line, ahead: _Ahead) -> bool:
        """Whether the issues without a value are read from all documents, of which DynamoDB passes on the few."""
        blocks = len(line.directory.entries) + len(self.numbers.entries)
        without = ahead.stations[0].size
        return line.straight and planner.queries_rest(self._query.limit + 1, without, self.total, blocks)

    def _query_rest(self, line: Line, ahead: _Ahead, reading: Reading) -> None:
        """One call for rows without a value; `ahead` is beyond what it has read then."""
        key, limit = self._query.keys[0], self._query.limit
        ascending = key.descending == self._backward
        bound = None
        if ahead.spot is not None:
            include = ahead.spot.after == self._backward
            operator: Literal["<", "<=", ">", ">="] = (
                (">=" if include else ">") if ascending else ("<=" if include else "<")
            )
            bound = Bound(operator, issue_number(ahead.spot.place.num))
        examined = planner.documents_to_find(limit + 1, ahead.stations[0].size, self.total)
        self._said.append(
            f"{_issues(ahead.stations[0].size)} without a value of {key.field_id}: among the next {examined:,} documents in number "
            "order should be enough of them. Read these, of which DynamoDB passes on those without one."
        )
        with self.steps.titled("documents in number order, of which those without a value are passed on"):
            page = self._table.query(
                keys.project(self._catalog.tenant, self._catalog.project),
                index=True,
                bound=bound,
                forward=ascending,
                limit=examined,
                only=_lacking(key.fields[0]),
                paths=self._paths,
            )
        reading.rows += [Row(line.place(None, item["num"]), item) for item in page.items]
        if page.last is None:
            ahead.stations, ahead.spot = ahead.stations[1:], None
        else:
            ahead.spot = Spot(line.place(None, int(page.last)), after=not self._backward)

    def _gather(self, line: Line, stations: Stations, ahead: _Ahead, missing: int) -> list[_Portion]:
        """The next portions, of as many rows as are missing if there are so many, in the direction of travel."""
        taken: list[_Portion] = []
        while missing > 0:
            if not ahead.opened:
                if not ahead.stations or (
                    taken and missing == 1 and self._only is None and _only_rest(ahead)
                ):
                    break
                self._open(line, stations, ahead, missing)
                continue
            portion = ahead.opened.pop(0)
            if portion.end is None and portion.unit.told and len(portion.unit.numbers) > planner.CANDIDATES:
                raise self._too_many_ties(len(portion.unit.numbers), stations.matching)
            if portion.end is not None and portion.rows > missing:
                portion, rest = _split(portion, missing, from_behind=self._backward)
                ahead.opened.insert(0, rest)
            taken.append(portion)
            missing -= portion.rows
        return taken

    def _open(self, line: Line, stations: Stations, ahead: _Ahead, missing: int) -> None:
        """Open the next stations, as many as should have the missing rows; read what they take."""
        _pass_over(stations, ahead)
        reach = self._reach(stations, ahead, missing)
        if self._only is None and len(reach) > 1 and not reach[-1].entries and ahead.spot is None:
            before = sum(station.size for station in reach[:-1]) - ahead.skip
            reach = reach[:-1] if before >= missing - 1 else reach
        unread = stations.wants(reach)
        if unread and self._only is not None:
            with self.steps.titled("all further blocks of the order"):
                self._blocks.read(unread)
            _pass_over(stations, ahead)
            reach = self._reach(stations, ahead, missing)
        self._check_ties(line, stations, reach)
        by_entries = [one for one in reach if self._reads_entries(line, stations, one, missing)]
        with self.steps.titled(
            "blocks of the order, and sort entries where blocks do not tell the order inside them"
        ):
            self._blocks.read(
                [*stations.wants(by_entries, keys=True), *(unread if self._only is None else ())]
            )
        for station in reach:
            ahead.opened += self._portions(line, ahead, station, stations.units(station))
        ahead.stations = ahead.stations[len(reach) :]

    def _reach(self, stations: Stations, ahead: _Ahead, missing: int) -> Sequence[Station]:
        """The next stations that have as many rows as are missing by what is known of them, or else all."""
        needed = ahead.skip + missing
        for count, station in enumerate(ahead.stations, 1):
            if not stations.counted(station):
                return ahead.stations
            # How much of the first one lies ahead of the spot is not known.
            needed -= 0 if count == 1 and ahead.spot is not None else stations.hits(station)
            if needed <= 0:
                return ahead.stations[:count]
        return ahead.stations

    def _reads_entries(self, line: Line, stations: Stations, station: Station, shown: int) -> bool:
        """Whether to have the sort entries tell the order inside a station's blocks, and not the documents of its issues."""
        if line.moving:
            return planner.entries_units(station) > 0
        rounds_left = self._ends - self._table.meter.rounds
        return rounds_left > 1 and planner.reads_entries(
            station, stations.hits(station), shown if line.simple else 0
        )

    def _check_ties(self, line: Line, stations: Stations, reach: Sequence[Station]) -> None:
        """Refuse early what only documents can put in order, where they are too many at one place: Undecided."""
        if line.simple:
            return
        for station in reach:
            alone = not station.entries or len({entry.body for entry in station.entries} - {None}) == 1
            if alone and all(entry.body is not None for entry in station.entries):
                hits = stations.hits(station)
                if hits > planner.CANDIDATES:
                    raise self._too_many_ties(hits, stations.matching)

    def _portions(self, line: Line, ahead: _Ahead, station: Station, units: Iterable[Unit]) -> list[_Portion]:
        """The rows of the next station that lie ahead, in the direction of travel; `ahead` is past the station then."""
        spot, ahead.spot = ahead.spot, None
        found = []
        for unit in units:
            size = len(unit.numbers)
            if not line.simple or not unit.told:
                side = 0 if spot is None or not unit.told else line.side(unit, spot)
                if side and (side < 0) != self._backward:
                    continue
                passed = min(ahead.skip, size)
                ahead.skip -= passed
                if passed < size:
                    found.append(_Portion(station, unit, passed, None, None if side else spot))
                continue
            begin, end = 0, size
            if spot is not None:
                before = line.rows_before(unit, spot)
                begin, end = (0, before) if self._backward else (before, size)
            passed = min(ahead.skip, end - begin)
            ahead.skip -= passed
            if begin + passed < end:
                found.append(_Portion(station, unit, begin + passed, end))
        return found[::-1] if self._backward else found

    def _places(self, line: Line, portions: Sequence[_Portion], room: int) -> list[Place]:
        """The places of the rows of portions, in the direction of travel. Documents are fetched where only they tell."""
        by_documents = [num for one in portions if one.end is None for num in one.unit.numbers]
        documents: dict[int, Item] = {}
        if by_documents:
            documents = self._fetch_to_order(line, portions, by_documents, room)
        places: list[Place] = []
        for portion in portions:
            if portion.end is not None:
                found = line.places(portion.unit, portion.begin, portion.end)
                places += found[::-1] if self._backward else found
            else:
                places += self._sorted(line, portion, documents)
        return places

    def _fetch_to_order(
        self, line: Line, portions: Sequence[_Portion], numbers: list[int], room: int
    ) -> dict[int, Item]:
        """The documents of these issues; with those of the other rows that will be shown, if this is the last round."""
        narrow = len(numbers) > MAX_LIMIT and self._ends - self._table.meter.rounds > 1
        if not narrow:
            for portion in portions:
                if portion.end is not None and room > 0:
                    shown, _ = _split(portion, min(room, portion.rows), from_behind=self._backward)
                    numbers += [one.num for one in line.places(shown.unit, shown.begin, shown.end or 0)]
                room -= portion.rows
        paths = projection(judged(self._query)) if narrow else self._paths
        with self.steps.titled("documents of the issues whose order only they tell"):
            documents = fetch_all(self._table, self._catalog, numbers, paths)
        if not narrow:
            self._documents |= dict.fromkeys(numbers) | documents
        return documents

    def _sorted(self, line: Line, portion: _Portion, documents: dict[int, Item]) -> list[Place]:
        """The places of those issues of a portion that still belong there, by their documents, in the direction of travel."""
        query = self._query
        found = []
        for num in portion.unit.numbers:
            document = documents.get(num)
            if document is None or (query.filter is not None and not query.filter.matches(document)):
                continue
            if _stands_in(line, portion, document):
                body = portion.unit.body if portion.unit.told else line.keys[0].part(document)
                found.append(Place((body, *(key.part(document) for key in query.keys[1:])), num))
        places = in_order(query.keys, found)
        at = 0 if portion.spot is None else rows_before(query.keys, places, portion.spot)
        if self._backward:
            return places[: at if portion.spot is not None else len(places)][::-1]
        return places[at + portion.begin :]

    def _show(self, places: Sequence[Place], reading: Reading, limit: int) -> None:
        """Add the rows at these places, with the documents of those that the page shows."""
        room = max(limit - len(reading.rows), 0)
        missing = [place.num for place in places[:room] if place.num not in self._documents]
        left: set[int] = set()
        if missing:
            with self.steps.titled("documents of the page"):
                wanted, fetched = fetch(self._table, self._catalog, missing, self._paths)
            for num, key in zip(missing, wanted, strict=True):
                self._documents[num] = fetched.items.get(key)
                if key in fetched.left:
                    left.add(num)
        for place in places[:room]:
            if place.num in left:
                reading.stopped_at = Spot(reading.rows[-1].place, after=not self._backward)
                return
            document = self._documents[place.num]
            reading.rows.append(
                Row(place, document, belongs(self._query.keys, self._query.filter, document, place))
            )
        reading.rows += [Row(place, None) for place in places[room:]]

    def _behind(self, line: Line, stations: Stations, rows: Sequence[Row]) -> Spot | None:
        """A spot behind the page of an offset: before its first row, or, when it lies behind the end, after the last of all."""
        if rows:
            return Spot(rows[0].place, after=False)
        self._backward = True
        last = Reading()
        ahead = _Ahead(self._confined(line.stations[::-1]))
        if self.method is Method.NUMBER:
            matching = stations.matching or BitMap()
            ahead = _Ahead([])
            ahead.opened = self._portions(
                line, ahead, Station((), 0), [Unit(matching, "")] if matching else []
            )
        self._walk(line, stations, ahead, last, 0)
        self._backward = False
        return Spot(last.rows[0].place, after=True) if last.rows else None

    def _too_many_ties(self, count: int, among: BitMap | None) -> Undecided:
        """What is raised where too many issues would have to be sorted together."""
        refusal = planner.too_many_ties(self._catalog, self._query.keys, count)
        return Undecided(refusal, "several sort keys, of which the first leaves many ties", among)

    # For people

    def _say_matches(self, sure: int, undecided: int) -> None:
        said = f"Keep what matches: {self._query.filter}. By the sets of the index {_issues(sure)} of {self.total:,} "
        said += "does" if sure == 1 else "do"
        if undecided:
            said += f", and {undecided:,} may: their documents tell"
        self._said.append(said + ".")

    def _say_walk(self, line: Line, stations: Stations) -> None:
        query = self._query
        first = query.keys[0]
        way = "descending" if first.descending else "ascending"
        read, in_all = stations.read, len(line.directory.entries)
        if self.method is Method.NUMBER:
            self._said.append(f"Sort by num, {way}: a set of issues is in that order already.")
        else:
            looked = f"{read:,} of {in_all:,} blocks were looked into"
            self._said.append(
                f"Go along the blocks of {first.field_id}, {way}, to the rows of the page: {looked}."
            )
        if query.offset:
            told = (
                "how many of them match" if self._only is not None else "how many issues stand in each block"
            )
            self._said.append(f"Row {query.offset:,} is found by adding up {told}.")
        if not line.simple:
            self._said.append(
                f"Sort those of one {first.field_id} by {in_words(query.keys[1:])}, by their documents."
            )
        self._say_recheck()

    def _say_recheck(self) -> None:
        reads, age = self._blocks.reads, self._blocks.age
        listed = f", and the directories are of {age:,.1f} s ago" if age else ""
        self._said.append(
            f"Of the blocks, {reads.blocks:,} were read from the table and {reads.cached:,} were at hand from earlier requests"
            f"{listed}."
        )
        self._said.append(
            "Fetch the page's documents, and leave out a row whose document no longer passes or stands elsewhere by now."
        )


def _pass_over(stations: Stations, ahead: _Ahead) -> None:
    """Pass over the stations all of whose rows lie before the offset, as far as is known of them."""
    while ahead.skip and ahead.stations and stations.counted(ahead.stations[0]):
        hits = stations.hits(ahead.stations[0])
        if hits > ahead.skip:
            break
        ahead.skip -= hits
        ahead.stations = ahead.stations[1:]


def _only_rest(ahead: _Ahead) -> bool:
    """Whether nothing but issues without a value is left, and all of these or those beyond a spot."""
    return _rest_next(ahead) and len(ahead.stations) == 1


def _rest_next(ahead: _Ahead) -> bool:
    """Whether the issues without a value come next, all of them or those beyond a spot."""
    return not ahead.opened and not ahead.skip and bool(ahead.stations) and not ahead.stations[0].entries


def _split(portion: _Portion, count: int, *, from_behind: bool) -> tuple[_Portion, _Portion]:
    """The next rows of a portion, and the rest."""
    begin, end = portion.begin, portion.end or 0
    if from_behind:
        return portion._replace(begin=end - count), portion._replace(end=end - count)
    return portion._replace(end=begin + count), portion._replace(begin=begin + count)


def _stands_in(line: Line, portion: _Portion, document: Item) -> bool:
    """Whether the issue whose document this is may rightly stand in the portion's unit."""
    order = line.keys[0].order
    if order is None:
        return True
    if portion.unit.told:
        body = portion.unit.body
        found = None if body is None else sort_string(body, document["num"])
        return found in present_sort_strings(order, document)
    body = line.keys[0].part(document)
    if body is None:
        return False
    key = sort_string(body, document["num"])
    return any(range_of(entry).covers(key) for entry in portion.station.entries)


def _lacking(field: Field) -> Condition:
    names = {f"#n{place}": name for place, name in enumerate(field.path)}
    return Condition(f"attribute_not_exists({'.'.join(names)})", names)


def _issues(count: int) -> str:
    return "1 issue" if count == 1 else f"{count:,} issues"
