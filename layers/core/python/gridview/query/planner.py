"""How a query is answered: choices made from the request, the directories and what has been read so far, and their budgets. Pure.

walk      along one index (or the issue numbers), from the place asked for on: its price does not depend on the project's size
number    in number order under a filter: the set of the issues that match is in that order already
all       everything that matches is fetched and sorted in memory: where little does
blocks    along the blocks of the first key's order, as far as the page takes, skipping what the filter's set misses
whole     the fields that it takes of all issues, judged and sorted in memory: small projects, for what sets cannot decide

The price is counted in read units: half a unit for a document or a block of up to 4 KB.
"""

import math
from collections.abc import Sequence

from pyroaring import BitMap

from gridview.encoding.json_codec import dumps
from gridview.query.buckets import Line, Station
from gridview.query.grid_request import GridQuery, parts_of
from gridview.query.sort_order import Keys, Spot
from gridview.schema.catalog import Catalog
from gridview.schema.generations import IndexNotReady
from gridview.support.errors import RequestError, Unprocessable

WHOLE = 10_000
"""Issues that a project may have to be read whole."""

CANDIDATES = 2_000
"""Documents that are fetched at most to judge them, or to sort them in memory."""

MAX_BLOCKS = 3_000
"""Blocks that are read at most for one answer: 1,500 read units."""

ROUNDS = 4
"""Sequential rounds of calls that an answer takes at most, unless the index changes under it."""

_ITEM_UNITS = 0.5
_ENTRY_UNITS = 0.02
"""Of a sort entry, of which a Query reads some thirty for half a unit."""
_LISTED_UNITS = 0.125
"""Of a document of about 1 KB that a Query reads among others."""
_GENEROUS = 1.25

_MARGIN = 3
"""How much further along an order is read at once than the page should take."""
_AT_LEAST = 16
"""Blocks of an order that are read at once at least: of what lies unevenly, more has to be known before its order is asked for."""


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


def walks(query: GridQuery, spot: Spot | None) -> bool:
    """Whether one index answers a query: all issues, in the order of one key, from a place among those with a value on."""
    if query.filter is not None or query.offset or len(query.keys) > 1:
        return False
    key = query.keys[0]
    if spot is None:
        return not (key.nullable and key.nulls_first)
    return spot.place.parts[0] is not None


def tell_a_page(stations: Sequence[Station], rows: int, *, begun: bool) -> bool:
    """Whether the stations ahead tell this many rows, or all to the end, for less than the sort entries of these rows take.

    `begun`: how many rows of the first one are left is not known.
    """
    found, blocks = 0, 0
    for place, station in enumerate(stations):
        if not station.entries or entries_units(station):
            return False
        blocks += len(station.entries)
        found += 0 if begun and place == 0 else station.size
        if found >= rows:
            break
    return 0 < blocks * _ITEM_UNITS <= max(rows * _ENTRY_UNITS, _ITEM_UNITS)


def documents_to_find(rows: int, without: int, total: int) -> int:
    """How many documents in number order to read to find this many of those without a value."""
    return math.ceil(rows * total / max(without, 1) * _GENEROUS)


def queries_rest(rows: int, without: int, total: int, blocks: int) -> bool:
    """Whether to find rows without a value among all documents, where that costs less than reading which issues have one."""
    among = documents_to_find(rows, without, total) * _LISTED_UNITS
    return without >= rows and among <= (blocks + rows) * _ITEM_UNITS


def blocks_ahead(stations: Sequence[Station], rows: int, matching: float, total: int, *, nulls: bool) -> int:
    """How many of the stations ahead should have this many rows, if the matching issues lie evenly among all.

    `nulls`: the rows lie among those without a value, so that it takes all.
    """
    if nulls or not total:
        return len(stations)
    share = max(matching / total, 1e-9)
    found = 0.0
    for count, station in enumerate(stations, 1):
        found += station.size * share
        if found >= rows:
            return count
    return len(stations)


def first_stations(line: Line, ahead: Sequence[Station], rows: int, matching: int, total: int) -> int:
    """How many stations of the order to read with the sets of the filter, before anything is known of them.

    None where it will be cheaper to fetch everything that matches, if the estimate is right.
    """
    needed = blocks_ahead(ahead, rows, matching, total, nulls=_begins_without_value(line, ahead))
    if matching <= CANDIDATES and fetching_all(matching, rows) <= walking(
        line, ahead[:needed], matching, total
    ):
        return 0
    return min(needed * _MARGIN + _AT_LEAST, len(ahead))


def _begins_without_value(line: Line, ahead: Sequence[Station]) -> bool:
    return bool(ahead) and not ahead[0].entries and bool(line.directory.entries)


def fetching_all(matching: int, rows: int) -> float:
    """Read units of fetching all issues that match, besides those of the page."""
    return max(matching - rows, 0) * _ITEM_UNITS


def walking(line: Line, stations: Sequence[Station], matching: int, total: int) -> float:
    """Read units of reading these stations' blocks and settling the order at the last, besides the page's documents."""
    blocks = len(line.directory.entries) if any(not one.entries for one in stations) else 0
    blocks = max(blocks, sum(len(one.entries) for one in stations))
    share = matching / max(total, 1)
    settled = max((settling(line, one, math.ceil(one.size * share)) for one in stations[-1:]), default=0.0)
    return blocks * _ITEM_UNITS + settled


def settling(line: Line, station: Station, hits: int) -> float:
    """Read units of finding out the order of this many issues at a station, besides its blocks."""
    if not line.simple:
        return hits * _ITEM_UNITS
    if all(one.detailed or one.body is not None for one in station.entries):
        return 0.0
    return min(hits * _ITEM_UNITS, entries_units(station))


def entries_units(station: Station) -> float:
    """Read units of the sort entries of those blocks of a station that do not tell their bodies."""
    return sum(one.size for one in station.entries if not one.detailed and one.body is None) * _ENTRY_UNITS


def reads_entries(station: Station, hits: int, shown: int) -> bool:
    """Whether the order at a station is told more cheaply by its sort entries than by the documents of the issues that match there.

    `shown`: how many of these documents the page takes anyway.
    """
    units = entries_units(station)
    return 0 < units < max(hits - shown, 0) * _ITEM_UNITS


def sorts_all(candidates: int, rows: int, undecided: int, walk: float) -> bool:
    """Whether everything that may match is fetched and sorted, where `walk` is what going on along the blocks takes."""
    return candidates <= CANDIDATES and fetching_all(candidates, rows) <= walk + undecided * _ITEM_UNITS


def check_blocks(count: int) -> None:
    """Refuse to read this many blocks for one answer."""
    if count > MAX_BLOCKS:
        raise Unprocessable(
            f"Answering this would take {count:,} blocks of the index, half a read unit each, and {MAX_BLOCKS:,} are read at most. "
            "A narrower filter, or a sort by the field that is filtered by, takes fewer."
        )


def too_wide(conditions: Sequence[str], undecided: int) -> Unprocessable:
    """What is said where the index leaves too many issues undecided."""
    return Unprocessable(
        f"The index leaves open for {undecided:,} issues whether they match, and at most {CANDIDATES:,} are looked at one by one. "
        f"{' '.join(conditions)}"
    )


def too_many_ties(catalog: Catalog, order: Keys, count: int) -> RequestError:
    """What is said where the first key leaves the order of too many issues to further keys, which only their documents tell."""
    building = catalog.composite_being_built(parts_of(order))
    if building is not None:
        return IndexNotReady(building.id, building.id)
    sort = [
        {
            "field": key.field_id,
            "direction": "desc" if key.descending else "asc",
            "nulls": "first" if key.nulls_first else "last",
        }
        for key in order
    ]
    return Unprocessable(
        f"{count:,} issues have the same {order[0].field_id}, and at most {CANDIDATES:,} are put in order by further keys. "
        "An administrator can define an index that keeps them in this order: "
        f"POST /v1/projects/{catalog.project}/indexes {dumps({'sort': sort}).decode()}."
    )


def undecided_ties(catalog: Catalog, order: Keys, count: int, among: BitMap | None) -> Undecided:
    """What is raised where too many issues would have to be sorted together."""
    refusal = too_many_ties(catalog, order, count)
    return Undecided(refusal, "several sort keys, of which the first leaves many ties", among)
