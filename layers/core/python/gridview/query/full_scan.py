"""Small projects read whole: the fields that a query takes of all issues in question, in memory. Pure.

which there are      the blocks of the issue numbers                    1 round, where they are not at hand
all of them          documents by ranges of numbers, side by side       1 round, more where a range has more than 1 MB
"""

from collections.abc import Iterable

from pyroaring import BitMap

from gridview.derive.families import NUMBERS
from gridview.dynamodb.expressions import Item
from gridview.query.document_scan import in_ranges
from gridview.query.plan import FullScan
from gridview.query.predicates import Filter
from gridview.query.sort_order import Keys, Place, in_order, place_of
from gridview.query.steps import Steps, ask, tell
from gridview.view.block_reads import Want
from gridview.view.reads import ReadBlocks, Snapshot


def full_scan(scan: FullScan, snapshot: Snapshot) -> Steps[list[Item]]:
    """The documents of all issues in question, as of the index, in number order; Unprocessable when they are too large for that.

    0.5 read units for each 4 KB of whole documents, and of those between them, since that is what the index is read by.
    """
    among = scan.among
    if among is None:
        numbers = snapshot.directory(NUMBERS)
        yield from ask(scan, ReadBlocks(tuple(Want(NUMBERS, entry) for entry in numbers.entries)))
        among = BitMap.union(BitMap(), *(snapshot.block(NUMBERS, entry).members for entry in numbers.entries))
    found = yield from in_ranges(scan, scan.fields, among, scan.reason)
    yield from tell(scan, issues=len(found))
    return found


def matching_places(documents: Iterable[Item], order: Keys, only: Filter | None) -> list[Place]:
    """Where those stand that pass the filter, in order."""
    return in_order(order, (place_of(order, one) for one in documents if only is None or only.matches(one)))
