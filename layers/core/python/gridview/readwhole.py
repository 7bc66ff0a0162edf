"""Small projects read whole: the fields that a query takes of all issues, judged and sorted in memory.

counter              GetItem                                            1 call
all issues           Query by ranges of numbers, side by side           1 round, more where a range has more than 1 MB
the page             BatchGetItem (documents)                           1 round
"""

from collections.abc import Iterable

from gridview import keys
from gridview.catalog import Catalog, Field
from gridview.errors import Unprocessable
from gridview.filters import Filter
from gridview.gridrequest import GridQuery
from gridview.ordering import Keys, Place, Spot, in_order, place_of, rows_before
from gridview.pagereading import Reading, Row, fetch, judged, page_paths, projection
from gridview.planner import WHOLE, Plan, check_budget, in_words
from gridview.sortstrings import issue_number
from gridview.storage import Bound, Item, Table

_RANGE = WHOLE // 16
"""Issue numbers of one range: as many ranges as calls run side by side, and few calls for a small project."""

_MAX_CALLS = 64
"""Query calls, of 1 MB at most, that one answer makes at most."""

_LAST_NUMBER = issue_number(99_999_999)


def read_whole(
    table: Table, catalog: Catalog, fields: Iterable[Field], reasons: tuple[str, ...]
) -> list[Item]:
    """These fields of all issues of a project, as of the index, in number order; Unprocessable when it is too large for that.

    0.5 read units for each 4 KB of whole documents, since that is what the index is read by.
    """
    partition = keys.project(catalog.tenant, catalog.project)
    counter = table.get(partition, keys.COUNTER) or {}
    numbers = counter.get("last", 0)
    check_budget(numbers, reasons)
    paths = projection(fields)
    starts = range(1, max(numbers, 1) + 1, _RANGE)
    # The last range is open: an issue may be in the index whose number this copy of the counter has not heard of.
    ranges = [
        Bound(
            "between",
            issue_number(start),
            issue_number(start + _RANGE - 1) if start != starts[-1] else _LAST_NUMBER,
        )
        for start in starts
    ]
    found: list[Item] = []
    calls = 0
    while ranges:
        calls += len(ranges)
        if calls > _MAX_CALLS:
            raise Unprocessable(
                f"The project's issues are too large for {in_words(reasons)}: more than {_MAX_CALLS} MB would be read for it. "
                "They can be sorted by one indexed field, without a filter, and walked by cursors."
            )
        pages = table.query_ranges(partition, ranges, paths=paths)
        found += (item for page in pages for item in page.items)
        ranges = [
            Bound("between", issue_number(int(page.last) + 1), bound.upper)
            for page, bound in zip(pages, ranges, strict=True)
            if page.last is not None and page.last < bound.upper
        ]
    return sorted(found, key=lambda document: document["num"])


def matching_places(documents: Iterable[Item], order: Keys, only: Filter | None) -> list[Place]:
    """Where those stand that pass the filter, in order."""
    return in_order(order, (place_of(order, one) for one in documents if only is None or only.matches(one)))


class WholeReader:
    """Answers from all of a project's issues."""

    def __init__(self, table: Table, catalog: Catalog, query: GridQuery, plan: Plan) -> None:
        self._table = table
        self._catalog = catalog
        self._query = query
        self._plan = plan

    def read(self, spot: Spot | None, *, backward: bool) -> Reading:
        """The rows of a page, and one more if there is one; with their counts, and the offset where there is no cursor."""
        query = self._query
        documents = read_whole(self._table, self._catalog, judged(query), self._plan.reasons)
        places = matching_places(documents, query.keys, query.filter)
        at = min(query.offset, len(places)) if spot is None else rows_before(query.keys, places, spot)
        reading = Reading(behind=spot, counts={"total": len(documents), "matched": len(places)})
        if spot is None and at > 0:
            reading.behind = Spot(places[at - 1], after=True)
        ahead = (
            places[max(0, at - query.limit - 1) : at][::-1] if backward else places[at : at + query.limit + 1]
        )
        shown = ahead[: query.limit]
        wanted, fetched = fetch(
            self._table, self._catalog, (place.num for place in shown), page_paths(self._catalog, query)
        )
        for place, key in zip(shown, wanted, strict=True):
            if key in fetched.left:
                reading.stopped_at = Spot(reading.rows[-1].place, after=not backward)
                return reading
            document = fetched.items.get(key)
            reading.rows.append(Row(place, document, self._belongs(document, place)))
        reading.rows += [Row(place, None) for place in ahead[len(shown) :]]
        return reading

    def _belongs(self, document: Item | None, place: Place) -> bool:
        """Whether the document still passes, and still gives the place at which it was found."""
        query = self._query
        return (
            document is not None
            and (query.filter is None or query.filter.matches(document))
            and place_of(query.keys, document) == place
        )

    def plan(self) -> list[str]:
        """What it does, for people."""
        query = self._query
        order = ", then ".join(
            f"{key.field_id} {'descending' if key.descending else 'ascending'}" for key in query.keys
        )
        judge = f"Keep those that match: {query.filter}. " if query.filter is not None else ""
        return [
            f"The request asks for {in_words(self._plan.reasons)}, and the project has given out at most {WHOLE:,} issue numbers: "
            "read all its issues, in ranges of numbers side by side.",
            f"{judge}Sort by {order}, in memory.",
            "Fetch the page's documents, and leave out a row whose document no longer passes or stands elsewhere by now.",
        ]
