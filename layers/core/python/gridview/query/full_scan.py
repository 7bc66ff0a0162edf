"""Small projects read whole: the fields that a query takes of all issues in question, judged and sorted in memory.

which there are      the blocks of the issue numbers                    1 round, where they are not at hand
all of them          Query by ranges of numbers, side by side           1 round, more where a range has more than 1 MB
the page             BatchGetItem (documents)                           1 round
"""

from collections.abc import Iterable, Iterator

from pyroaring import BitMap

from gridview.dynamodb.expressions import Bound, Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.sort_strings import issue_number
from gridview.index.block_reader import BlockReader
from gridview.index.block_reads import Want
from gridview.index.directory import Directory
from gridview.query.explain import Steps
from gridview.query.grid_request import GridQuery, in_words
from gridview.query.page import Reading, Row, belongs, cut, fetch, judged, page_paths, projection
from gridview.query.planner import WHOLE
from gridview.query.predicates import Filter
from gridview.query.sort_order import Keys, Place, Spot, in_order, place_of
from gridview.schema.catalog import Catalog, Field
from gridview.support.errors import Unprocessable

_RANGES = 16
"""Ranges of issue numbers: as many as calls run side by side."""
_LEAST = 250
"""Issues of one range at least, so that a small project takes few calls."""

_MAX_CALLS = 64
"""Query calls, of 1 MB at most, that one answer makes at most."""


def all_numbers(blocks: BlockReader, numbers: Directory) -> BitMap:
    """All issues of a project, by the blocks of the issue numbers: 0.5 read units for each, in one round."""
    blocks.read(Want(numbers.family, entry) for entry in numbers.entries)
    return BitMap.union(BitMap(), *(blocks.block(numbers.family, entry).members for entry in numbers.entries))


def read_whole(
    table: Table, catalog: Catalog, fields: Iterable[Field], among: BitMap, reason: str
) -> list[Item]:
    """These fields of these issues of a project, as of the index, in number order; Unprocessable when they are too large for that.

    0.5 read units for each 4 KB of whole documents, and of those between them, since that is what the index is read by.
    """
    partition = keys.project(catalog.tenant, catalog.project)
    paths = projection(fields)
    ranges = list(_ranges(among))
    found: list[Item] = []
    calls = 0
    while ranges:
        calls += len(ranges)
        if calls > _MAX_CALLS:
            raise Unprocessable(
                f"The project's issues are too large for {reason}: more than {_MAX_CALLS} MB would be read for it. "
                "They can be sorted by one indexed field, without a filter, and walked by cursors."
            )
        pages = table.query_ranges(partition, ranges, paths=paths)
        found += (item for page in pages for item in page.items if item["num"] in among)
        ranges = [
            Bound("between", issue_number(int(page.last) + 1), bound.upper)
            for page, bound in zip(pages, ranges, strict=True)
            if page.last is not None and page.last < bound.upper
        ]
    return sorted(found, key=lambda document: document["num"])


def _ranges(among: BitMap) -> Iterator[Bound]:
    """Ranges of numbers with about as many of these issues each."""
    size = max(-(-len(among) // _RANGES), _LEAST)
    for begin in range(0, len(among), size):
        last = min(begin + size, len(among)) - 1
        yield Bound("between", issue_number(among[begin]), issue_number(among[last]))


def matching_places(documents: Iterable[Item], order: Keys, only: Filter | None) -> list[Place]:
    """Where those stand that pass the filter, in order."""
    return in_order(order, (place_of(order, one) for one in documents if only is None or only.matches(one)))


class WholeReader:
    """Answers from the documents of all issues in question. `among`: which these are, where that is known; None: all.

    `reason`: what takes it; `steps`: those that showed that nothing less will do.
    """

    def __init__(
        self,
        table: Table,
        catalog: Catalog,
        query: GridQuery,
        blocks: BlockReader,
        numbers: Directory,
        *,
        among: BitMap | None,
        reason: str,
        steps: Steps,
    ) -> None:
        self.steps = steps
        self._table = table
        self._catalog = catalog
        self._query = query
        self._blocks = blocks
        self._numbers = numbers
        self._among = among
        self._reason = reason

    def read(self, spot: Spot | None, *, backward: bool) -> Reading:
        """The rows of a page, and one more if there is one; with their counts. Unprocessable when the issues are too large."""
        query = self._query
        if self._among is None:
            with self.steps.titled("the set of all issue numbers"):
                self._among = all_numbers(self._blocks, self._numbers)
        with self.steps.titled("all issues that may match, by ranges of numbers"):
            documents = read_whole(self._table, self._catalog, judged(query), self._among, self._reason)
        places = matching_places(documents, query.keys, query.filter)
        ahead, behind = cut(query.keys, places, spot, query.offset, query.limit, backward=backward)
        reading = Reading(behind=behind, counts={"total": self._numbers.total, "matched": len(places)})
        shown = ahead[: query.limit]
        with self.steps.titled("documents of the page"):
            wanted, fetched = fetch(
                self._table, self._catalog, (place.num for place in shown), page_paths(self._catalog, query)
            )
        for place, key in zip(shown, wanted, strict=True):
            if key in fetched.left:
                reading.stopped_at = Spot(reading.rows[-1].place, after=not backward)
                return reading
            document = fetched.items.get(key)
            reading.rows.append(Row(place, document, belongs(query.keys, query.filter, document, place)))
        reading.rows += [Row(place, None) for place in ahead[len(shown) :]]
        return reading

    def plan(self) -> list[str]:
        """What was done, for people."""
        query = self._query
        judge = f"Keep those that match: {query.filter}. " if query.filter is not None else ""
        return [
            f"The request asks for {self._reason}, and the project has {self._numbers.total:,} issues, {WHOLE:,} at most: "
            "read all that may match, in ranges of numbers side by side.",
            f"{judge}Sort by {in_words(query.sort)}, in memory.",
            "Fetch the page's documents, and leave out a row whose document no longer passes or stands elsewhere by now.",
        ]
