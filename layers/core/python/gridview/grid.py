"""A page of the grid: the plan of a query, carried out with as few sequential calls as it needs.

by number            Query (documents)                                  1 call
by a field           Query (sort entries), BatchGetItem (documents)     2 calls
its rows without     Query (documents, filtered)                        as many as it takes until blocks exist
a value
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import Any, NamedTuple

import orjson

from gridview import keys
from gridview.catalog import NUM, Catalog, FieldOrder
from gridview.cursors import Cursors
from gridview.documents import to_json
from gridview.errors import CursorExpired
from gridview.gridrequest import GridQuery
from gridview.indexing import present_sort_strings
from gridview.jsontext import dumps, size_in_response
from gridview.storage import Bound, Condition, Item, Key, Meter, Table
from gridview.walk import Gap, Stretch, Walk
from gridview.wire import item_size

MAX_PAGE_BYTES = 5_000_000
"""Of the rows of one answer."""

_MAX_RESPONSE_BYTES = 6_000_000
"""Of the same rows as Lambda counts them, which gives out at most 6 MiB."""

_MAX_READ_CALLS = 64
"""Query calls, of 1 MB at most, that one page makes at most; then it is short, and its cursor goes on from there."""

_MAX_PROJECTED = 100
"""Columns up to which DynamoDB is asked for these alone: an expression may have 4 KB."""

_CURSOR_VERSION = 1


class Row(NamedTuple):
    """One place in the order, and the document found there (None: it has gone)."""

    gap_key: str
    stretch: Stretch
    document: Item | None


@dataclass(slots=True)
class Reading:
    """Rows in the direction of travel. `stopped_at`: the gap at which reading was broken off before the order ended."""

    rows: list[Row] = attribute(default_factory=list)
    stopped_at: Gap | None = None


def grid_page(table: Table, catalog: Catalog, query: GridQuery, cursors: Cursors) -> dict[str, Any]:
    """One page: `rows`, `next`, `prev`, `offset` and, if asked for, `explain`. Read units: `explain` and README tell."""
    binding = query.binding(catalog.tenant, catalog.project)
    walk = Walk(
        query.descending,
        query.nulls_first,
        nullable=query.order is not None and not query.order.field.builtin,
    )
    gap: Gap = walk.beginning
    if query.cursor is not None:
        gap, backward = _opened(query, cursors, binding)
        walk = walk._replace(backward=backward)
    reading = _Reader(table, catalog, query, walk).read(gap)
    rows, taken = _encoded(catalog, query, reading.rows[: query.limit])
    if taken < len(reading.rows):
        end: Gap | None = _beyond(reading.rows[taken - 1], walk)
    else:
        end = reading.stopped_at
    start: Gap | None = _before(reading.rows[0], walk) if taken else gap
    ahead, behind = end, start if query.cursor is not None else None
    if walk.backward:
        rows.reverse()
        ahead, behind = start, end

    def sealed(place: Gap | None, *, backward: bool) -> str | None:
        if place is None:
            return None
        return cursors.seal([_CURSOR_VERSION, _arrangement(query), backward, *place], binding)

    page: dict[str, Any] = {
        "rows": rows,
        "next": sealed(ahead, backward=False),
        "prev": sealed(behind, backward=True),
        "offset": 0 if query.cursor is None else None,
    }
    if query.explain:
        page["explain"] = _explanation(query, walk, table.meter)
    return page


def _opened(query: GridQuery, cursors: Cursors, binding: bytes) -> tuple[Gap, bool]:
    """The gap and direction of the query's cursor."""
    payload: Any = cursors.open(query.cursor or "", binding)
    version, arrangement, *place = payload
    if version != _CURSOR_VERSION or arrangement != _arrangement(query):
        raise CursorExpired("The order was rebuilt since the cursor was given; start again without it.")
    backward, stretch, key, after = place
    return Gap(Stretch(stretch), key, after), backward


def _arrangement(query: GridQuery) -> list[int | bool]:
    return list(query.order.field.arrangement) if query.order else []


def _beyond(row: Row, walk: Walk) -> Gap:
    """The gap behind a row as one travels."""
    return Gap(row.stretch, row.gap_key, after=not walk.backward)


def _before(row: Row, walk: Walk) -> Gap:
    """The gap in front of a row as one travels."""
    return Gap(row.stretch, row.gap_key, after=walk.backward)


def _encoded(catalog: Catalog, query: GridQuery, rows: Sequence[Row]) -> tuple[list[orjson.Fragment], int]:
    """The rows that are shown, as JSON, and how many places of the order they stand for: all, or those that fit in an answer.

    A row whose document no longer gives the sort string it was found under is left out, and so is an issue that is there already:
    entries and documents are not of one moment, so one that just got its first value may stand among those without, too.
    """
    shown: list[orjson.Fragment] = []
    numbers: set[int] = set()
    size, size_in_all = 0, 0
    for taken, row in enumerate(rows):
        if row.document is None or not _belongs(query.order, row.stretch, row.gap_key, row.document):
            continue
        num = row.document["num"]
        if num in numbers:
            continue
        numbers.add(num)
        encoded = dumps(to_json(catalog, row.document, query.columns))
        size += len(encoded)
        size_in_all += size_in_response(encoded)
        if shown and (size > MAX_PAGE_BYTES or size_in_all > _MAX_RESPONSE_BYTES):
            return shown, taken
        shown.append(orjson.Fragment(encoded))
    return shown, len(rows)


def _belongs(order: FieldOrder | None, stretch: Stretch, gap_key: str, document: Item) -> bool:
    """Whether the document gives the sort string that the row was found under."""
    if order is None or stretch is Stretch.NULLS:
        return True
    return gap_key in present_sort_strings(order, document)


class _Reader:
    """Reads along one order of one project."""

    def __init__(self, table: Table, catalog: Catalog, query: GridQuery, walk: Walk) -> None:
        self._table = table
        self._project = keys.project(catalog.tenant, catalog.project)
        self._order = query.order
        self._partition = (
            keys.order(catalog.tenant, catalog.project, query.order.order_id)
            if query.order
            else self._project
        )
        self._limit = query.limit
        self._walk = walk
        self._paths = _paths(catalog, query)
        self._calls_left = _MAX_READ_CALLS

    def read(self, gap: Gap) -> Reading:
        """The rows of a page from a gap on, one stretch after the other, and one row more if there is one."""
        reading = Reading()
        for stretch, bound in self._walk.ranges_from(gap):
            missing = self._limit + 1 - len(reading.rows)
            if missing <= 0 or reading.stopped_at is not None:
                break
            if stretch is Stretch.VALUES and self._order is not None:
                self._read_entries(reading, bound, missing)
            else:
                self._read_documents(reading, stretch, bound, missing)
        return reading

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
        shown = entries[: self._limit - len(reading.rows)]
        wanted: list[Key] = [(entry[keys.PK], self._project) for entry in shown]
        fetched = self._table.batch_get(
            wanted, paths=self._paths, enough=lambda found: _fills_a_page(wanted, found)
        )
        for entry, key in zip(shown, wanted, strict=True):
            if key in fetched.left:
                reading.stopped_at = _beyond(reading.rows[-1], self._walk)
                return
            reading.rows.append(Row(entry[keys.SORT], Stretch.VALUES, fetched.items.get(key)))
        if len(entries) < missing and _fills_a_page(wanted, fetched.items):
            reading.stopped_at = _beyond(reading.rows[-1], self._walk)  # no need to read on behind the values
        reading.rows += [Row(entry[keys.SORT], Stretch.VALUES, None) for entry in entries[len(shown) :]]

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
            reading.rows += [Row(item[keys.SORT], stretch, item) for item in page.items]
            examined += page.examined
            found += len(page.items)
            self._calls_left -= 1
            if page.last is None or found >= missing:
                return
            size += sum(map(item_size, page.items))
            if self._calls_left == 0 or size > MAX_PAGE_BYTES:
                reading.stopped_at = Gap(stretch, page.last, after=not self._walk.backward)
                return
            bound = self._onward(page.last)
            # Read on for as many as it should take to find what is missing, as often as they have been found so far.
            limit = math.ceil((missing - found) * examined / max(found, 1))

    def _onward(self, last: str) -> Bound:
        return Bound(">" if self._walk.ascending_keys else "<", last)

    def _without_value(self) -> Condition:
        path = self._order.field.path if self._order else ()
        names = {f"#n{place}": name for place, name in enumerate(path)}
        return Condition(f"attribute_not_exists({'.'.join(names)})", names)


def _fills_a_page(wanted: Sequence[Key], found: Any) -> bool:
    """Whether the documents at the head of the list that have come already fill an answer."""
    size = 0
    for key in wanted:
        if key not in found:
            break
        size += item_size(found[key])
    return size > MAX_PAGE_BYTES


def _paths(catalog: Catalog, query: GridQuery) -> list[tuple[str, ...]] | None:
    """What of the documents is read: all of them, or what the columns and the check of the sort string take."""
    if query.columns is None or len(query.columns) > _MAX_PROJECTED:
        return None
    fields = [catalog.get(column) for column in sorted(query.columns - {NUM})]
    fields += [query.order.field] if query.order else []
    return [("num",), ("version",), *(field.path for field in fields if field is not None)]


def _explanation(query: GridQuery, walk: Walk, meter: Meter) -> dict[str, Any]:
    direction = "descending" if query.descending else "ascending"
    if query.order is None:
        plan = [f"Read the issues in number order, {direction}: the index holds the documents."]
    else:
        plan = [
            f"Read the sort entries of {query.order.field.id} in its order, {direction}.",
            "Fetch the page's documents, and leave out a row whose document no longer gives the entry's sort string.",
        ]
        if walk.nullable:
            place = "before" if query.nulls_first else "after"
            plan.append(
                f"The issues without a value come {place} them, in number order: read the issues that lack it."
            )
    return {
        "plan": plan,
        "calls": [
            {
                "operation": call.operation,
                "target": call.target,
                "round": call.round,
                "items_read": call.items,
                "read_units": call.capacity,
            }
            for call in meter.calls
        ],
        "sequential_calls": meter.rounds,
        "items_read": sum(call.items for call in meter.calls),
        "read_units": meter.capacity,
    }
