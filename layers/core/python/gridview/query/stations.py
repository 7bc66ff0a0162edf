"""The blocks along an order, as they are read for one request: how many issues match at each station, and in which units."""

from collections.abc import Iterable, Sequence

from pyroaring import BitMap

from gridview.index.block_reader import BlockReader
from gridview.index.block_reads import Want
from gridview.index.blocks import Block, Entry
from gridview.index.directory import Directory, range_of
from gridview.query.buckets import Line, Station, Unit
from gridview.query.planner import check_blocks


class Stations:
    """The stations of a line, and what has been read of them."""

    def __init__(self, line: Line, blocks: BlockReader, numbers: Directory) -> None:
        self.matching: BitMap | None = None
        """The issues in question; None: all of the project."""
        self.line = line
        self._blocks = blocks
        self._numbers = numbers
        self._family = line.directory.family
        self._sets: set[Entry] = set()
        self._entries: set[Entry] = set()
        self._counted: dict[Station, int] = {}

    def wants(self, stations: Iterable[Station], *, keys: bool = False) -> list[Want]:
        """What has to be read of these stations; with `keys`, of blocks that do not tell their bodies, the sort entries too.

        All blocks for the issues without a value, since these are the rest. Unprocessable when they are too many.
        """
        found: dict[tuple[str, Entry], Want] = {}
        numbers = False
        for station in stations:
            for entry in station.entries or self.line.directory.entries:
                by_keys = keys and bool(station.entries) and _untold(entry)
                if entry not in self._sets or (by_keys and entry not in self._entries):
                    found[self._family, entry] = Want(
                        self._family, entry, range_of(entry) if by_keys else None
                    )
                self._sets.add(entry)
                if by_keys:
                    self._entries.add(entry)
            if not station.entries and self.matching is None:
                numbers = True
                found |= {
                    (self._numbers.family, one): Want(self._numbers.family, one)
                    for one in self._numbers.entries
                }
        check_blocks(len(self._sets) + (len(self._numbers.entries) if numbers else 0))
        return list(found.values())

    @property
    def read(self) -> int:
        """How many blocks of the order have been wanted."""
        return len(self._sets)

    @property
    def of_numbers(self) -> int:
        """How many blocks hold the issue numbers."""
        return len(self._numbers.entries)

    def among(self, matching: BitMap) -> None:
        """From now on, count only these issues."""
        self.matching = matching
        self._counted.clear()

    def counted(self, station: Station) -> bool:
        """Whether it can be told how many issues match at a station."""
        return self.matching is None or self._sets.issuperset(station.entries or self.line.directory.entries)

    def hits(self, station: Station) -> int:
        """How many issues match there, by the sets that have been read."""
        if station not in self._counted:
            if self.matching is None:
                self._counted[station] = station.size
            elif station.entries:
                found = (
                    self.matching.intersection_cardinality(block.members)
                    for block in self._read(station.entries)
                )
                self._counted[station] = sum(found)
            else:
                self._counted[station] = len(self._without_value())
        return self._counted[station]

    def known_hits(self, station: Station) -> int | None:
        """How many issues match there, where that can be told."""
        return self.hits(station) if self.counted(station) else None

    def units(self, station: Station) -> list[Unit]:
        """The units of a station that has been read, in the order of the rows."""
        if not station.entries:
            without = self._without_value()
            return [Unit(without)] if without else []
        keys = None
        if all(entry in self._entries for entry in station.entries if _untold(entry)):
            keys = [
                key
                for entry in station.entries
                if _untold(entry)
                for key in self._blocks.keys(self._family, entry, range_of(entry))
            ]
        return self.line.units(self._read(station.entries), keys, self.matching)

    def _without_value(self) -> BitMap:
        if self.matching is not None:
            every = self.matching
        else:
            numbers = (self._blocks.block(self._numbers.family, one).members for one in self._numbers.entries)
            every = BitMap.union(BitMap(), *numbers)
        valued = [block.members for block in self._read(self.line.directory.entries)]
        return every - BitMap.union(BitMap(), *valued)

    def _read(self, entries: Sequence[Entry]) -> list[Block]:
        return [self._blocks.block(self._family, entry) for entry in entries]


def _untold(entry: Entry) -> bool:
    """Whether a block does not tell the bodies of its keys."""
    return not entry.detailed and entry.body is None
