"""Reads the documents of a set of issues: one by one, or in ranges of their numbers if they are close together. Pure."""

from collections.abc import Iterable, Iterator

from pyroaring import BitMap

from gridview.dynamodb.expressions import Bound, Item
from gridview.encoding.sort_strings import issue_number
from gridview.query.page import projection
from gridview.query.plan import Node
from gridview.query.remedies import refused
from gridview.query.steps import Steps, ask, record
from gridview.schema.fields import Field
from gridview.view.reads import ReadDocuments, ReadRanges

_RANGES = 16
"""Ranges of issue numbers: as many as there are parallel calls."""
_LEAST = 250
"""The least issues of one range, so that a small project takes few calls."""

_MAX_CALLS = 64
"""The most Query calls, of 1 MB at most, for one answer."""


def one_by_one(node: Node, fields: Iterable[Field], numbers: Iterable[int]) -> Steps[dict[int, Item]]:
    """Return these fields of these issues, by number: 0.5 read units for each document of 4 KB, in one round."""
    asked = tuple(numbers)
    if not asked:
        return {}
    found = yield from ask(node, ReadDocuments(asked, projection(fields)))
    documents: dict[int, Item] = found.found
    return documents


def in_ranges(node: Node, fields: Iterable[Field], among: BitMap, reason: str) -> Steps[list[Item]]:
    """Return these fields of these issues, as of the index, in number order. Raises QueryTooExpensive if they are too large.

    0.5 read units for each 4 KB of whole documents, including the documents between them in the index.
    """
    paths = projection(fields)
    ranges = list(_ranges(among))
    found: list[Item] = []
    calls = 0
    while ranges:
        calls += len(ranges)
        if calls > _MAX_CALLS:
            raise refused(
                f"The project's issues are too large for {reason}: this would read more than {_MAX_CALLS} MB. Sort "
                "by one indexed field, without a filter, and follow the cursors."
            )
        pages = yield from ask(node, ReadRanges(tuple(ranges), paths))
        found += (item for page in pages for item in page.items if item["num"] in among)
        ranges = [
            Bound("between", issue_number(int(page.last) + 1), bound.upper)
            for page, bound in zip(pages, ranges, strict=True)
            if page.last is not None and page.last < bound.upper
        ]
    yield from record(node, absent=len(among) - len(found))
    return sorted(found, key=lambda document: document["num"])


def _ranges(among: BitMap) -> Iterator[Bound]:
    """Ranges of numbers with about the same number of these issues each."""
    size = max(-(-len(among) // _RANGES), _LEAST)
    for begin in range(0, len(among), size):
        last = min(begin + size, len(among)) - 1
        yield Bound("between", issue_number(among[begin]), issue_number(among[last]))


def span(numbers: BitMap) -> int:
    """The count of issue numbers from the first to the last of these."""
    return numbers.max() - numbers.min() + 1 if numbers else 0
