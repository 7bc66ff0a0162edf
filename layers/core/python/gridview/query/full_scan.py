"""Reads small projects whole: the fields that a query needs of all issues in question, in memory. Pure.

- The numbers in question: the blocks of the issue numbers. One round, if they are not at hand.
- The issues: documents by parallel ranges of numbers. One round, more if a range has more than 1 MB.
"""

from collections.abc import Iterable

from pyroaring import BitMap

from gridview.derive.families import NUMBERS
from gridview.dynamodb.expressions import Item
from gridview.query.document_scan import in_ranges
from gridview.query.plan import FullScan
from gridview.query.predicates import Filter
from gridview.query.sort_order import Keys, Place, in_order, place_of
from gridview.query.steps import Steps, ask, record
from gridview.view.block_reads import Want
from gridview.view.reads import ReadBlocks, Snapshot


def full_scan(scan: FullScan, snapshot: Snapshot) -> Steps[list[Item]]:
    """Return the documents of all issues in question, as of the index, in number order. Raises QueryTooExpensive if too large.

    0.5 read units for each 4 KB of whole documents, including the documents between them in the index.
    """
    among = scan.among
    if among is None:
        numbers = snapshot.directory(NUMBERS)
        yield from ask(scan, ReadBlocks(tuple(Want(NUMBERS, entry) for entry in numbers.entries)))
        among = BitMap.union(BitMap(), *(snapshot.block(NUMBERS, entry).members for entry in numbers.entries))
    found = yield from in_ranges(scan, scan.fields, among, scan.reason)
    yield from record(scan, issues=len(found))
    return found


def matching_places(documents: Iterable[Item], order: Keys, only: Filter | None) -> list[Place]:
    """The places of the documents that pass the filter, in order."""
    return in_order(order, (place_of(order, one) for one in documents if only is None or only.matches(one)))
