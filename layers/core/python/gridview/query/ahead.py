"""What lies ahead along an order while a page of it is read: rows that are known, and then stations to be opened. Pure.

    opened: portions of stations that have been read | stations | the issues without a value, a station without blocks

Everything is in the direction of travel.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pyroaring import BitMap

from gridview.dynamodb.expressions import Item
from gridview.encoding.sort_strings import sort_string
from gridview.index.directory import range_of
from gridview.index.sort_entries import present_sort_strings
from gridview.query.buckets import Line, Station, Unit
from gridview.query.sort_order import Spot


class Portion(NamedTuple):
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

    def split(self, count: int, *, from_behind: bool) -> tuple["Portion", "Portion"]:
        """The next rows, so many, and the rest, where body and number tell the order."""
        begin, end = self.begin, self.end or 0
        if from_behind:
            return self._replace(begin=end - count), self._replace(end=end - count)
        return self._replace(end=begin + count), self._replace(begin=begin + count)

    def holds(self, line: Line, document: Item) -> bool:
        """Whether the issue whose document this is may rightly stand in its unit."""
        order = line.keys[0].order
        if order is None:
            return True
        if self.unit.told:
            body = self.unit.body
            found = None if body is None else sort_string(body, document["num"])
            return found in present_sort_strings(order, document)
        body = line.keys[0].part(document)
        if body is None:
            return False
        key = sort_string(body, document["num"])
        return any(range_of(entry).covers(key) for entry in self.station.entries)


@dataclass(slots=True)
class Ahead:
    """Portions that have been opened, and then stations. `skip`: rows of these to be passed over; `spot`: where in the first of
    them reading begins.
    """

    stations: Sequence[Station]
    skip: int = 0
    spot: Spot | None = None
    opened: list[Portion] = field(default_factory=list)

    @property
    def rest_next(self) -> bool:
        """Whether the issues without a value come next, all of them or those beyond a spot."""
        return not self.opened and not self.skip and bool(self.stations) and not self.stations[0].entries

    @property
    def only_rest(self) -> bool:
        """Whether nothing but issues without a value is left, and all of these or those beyond a spot."""
        return self.rest_next and len(self.stations) == 1

    def pass_over(self, rows_at: Callable[[Station], int | None]) -> None:
        """Pass over the stations all of whose rows lie before the offset; `rows_at` tells how many these are, None: not known."""
        while self.skip and self.stations:
            rows = rows_at(self.stations[0])
            if rows is None or rows > self.skip:
                return
            self.skip -= rows
            self.stations = self.stations[1:]

    def open(self, line: Line, station: Station, units: Iterable[Unit], *, backward: bool) -> None:
        """Put the rows of the next station that lie ahead behind those that have been opened; the spot is behind then."""
        spot, self.spot = self.spot, None
        found = []
        for unit in units:
            size = len(unit.numbers)
            if not line.simple or not unit.told:
                side = 0 if spot is None or not unit.told else line.side(unit, spot)
                if side and (side < 0) != backward:
                    continue
                passed = self._skipped(size)
                if passed < size:
                    found.append(Portion(station, unit, passed, None, None if side else spot))
                continue
            begin, end = 0, size
            if spot is not None:
                before = line.rows_before(unit, spot)
                begin, end = (0, before) if backward else (before, size)
            begin += self._skipped(end - begin)
            if begin < end:
                found.append(Portion(station, unit, begin, end))
        self.opened += found[::-1] if backward else found

    def open_set(self, line: Line, numbers: BitMap, *, backward: bool) -> None:
        """Put the issues of a set that lie ahead, in number order, behind those that have been opened, and nothing else."""
        self.open(line, Station((), len(numbers)), [Unit(numbers, "")] if numbers else [], backward=backward)
        self.stations = []

    def _skipped(self, rows: int) -> int:
        """How many of so many rows are passed over."""
        passed = min(self.skip, rows)
        self.skip -= passed
        return passed
