"""Small projects read whole: the fields that a query takes of all issues in question, in memory. Pure.

which there are      the blocks of the issue numbers                    1 round, where they are not at hand
all of them          documents by ranges of numbers, side by side       1 round, more where a range has more than 1 MB
"""

from collections.abc import Iterable, Iterator
from typing import Any

from pyroaring import BitMap

from gridview.dynamodb.expressions import Bound, Item
from gridview.encoding.sort_strings import issue_number
from gridview.index.block_reads import Want
from gridview.index.keyspaces import NUMBERS
from gridview.query.page import projection
from gridview.query.plan import FullScan
from gridview.query.predicates import Filter
from gridview.query.reads import Listed, ReadBlocks, ReadRanges, Snapshot
from gridview.query.sort_order import Keys, Place, in_order, place_of
from gridview.query.steps import Steps, ask, tell
from gridview.support.errors import Unprocessable

_RANGES = 16
"""Ranges of issue numbers: as many as calls run side by side."""
_LEAST = 250
"""Issues of one range at least, so that a small project takes few calls."""

_MAX_CALLS = 64
"""Query calls, of 1 MB at most, that one answer makes at most."""


def full_scan(scan: FullScan, snapshot: Snapshot) -> Steps[list[Item]]:
    """The documents of all issues in question, as of the index, in number order; Unprocessable when they are too large for that.

    0.5 read units for each 4 KB of whole documents, and of those between them, since that is what the index is read by.
    """
    among = scan.among
    if among is None:
        numbers = snapshot.directory(NUMBERS)
        yield from ask(scan, ReadBlocks(tuple(Want(NUMBERS, entry) for entry in numbers.entries)))
        among = BitMap.union(BitMap(), *(snapshot.block(NUMBERS, entry).members for entry in numbers.entries))
    found: list[Item] = []
    ranges, calls = list(_ranges(among)), 0
    while ranges:
        calls += len(ranges)
        if calls > _MAX_CALLS:
            raise Unprocessable(
                f"The project's issues are too large for {scan.reason}: more than {_MAX_CALLS} MB would be read for it. "
                "They can be sorted by one indexed field, without a filter, and walked by cursors."
            )
        pages: list[Listed] = yield from ask(scan, ReadRanges(tuple(ranges), projection(scan.fields)))
        found += (item for page in pages for item in page.items if item["num"] in among)
        ranges = [
            Bound("between", issue_number(int(page.last) + 1), bound.upper)
            for page, bound in zip(pages, ranges, strict=True)
            if page.last is not None and page.last < bound.upper
        ]
    yield from tell(scan, issues=len(found))
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


def read_whole(table: Any, catalog: Any, fields: Any, among: BitMap, reason: str) -> list[Item]:
    """For groups, until their plan has nodes."""
    from gridview.index.block_cache import BlockCache
    from gridview.query.executor import Executor

    running = Executor(table, catalog, BlockCache(0.0))
    scan = FullScan(fields=tuple(fields), among=among, reason=reason)
    nothing: Any = None
    return running.run(full_scan(scan, nothing))
