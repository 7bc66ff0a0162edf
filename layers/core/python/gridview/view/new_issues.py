"""Finds new issues that the index does not have: numbers that were given out and are not in the family of all numbers.

    given out long ago: in the index, or gone  | given out lately                             |
                                             after                                          last
                                               | held by the family of numbers | candidates  |

A candidate without a document is gone, or not written yet. One with a document belongs where the consumer will put it.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from pyroaring import BitMap

from gridview.chains.directory import Range
from gridview.derive.families import NUMBERS, families_of
from gridview.derive.ledger import Ledger
from gridview.dynamodb.expressions import Bound, Item
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.sort_strings import issue_number, sort_string
from gridview.schema.catalog import Catalog
from gridview.schema.document_store import documents_by_number
from gridview.schema.trash import is_trashed
from gridview.support import clock
from gridview.view.block_reader import BlockReader
from gridview.view.block_reads import Want
from gridview.view.moves import FamilyMove, Move, NewIssues, move_of

_RANGES = 16
_APART = 50
"""The largest gap between two candidates that are read in one range."""

SETTLED = 180.0
"""Seconds after which a number's issue is written or never will be, and a consumer that is on time has it."""


NO_NEW_ISSUES = NewIssues(())


def new_issues(
    table: Table, catalog: Catalog, reader: BlockReader, after: int, last: int, known: BitMap, most: int
) -> NewIssues:
    """The issues above `after`, up to `last`, that the index does not have, except the ones in `known`.

    `known`: issues whose moves are known from the journal and tokens. `reader`: agrees with that journal. Reads:

    - The directory and the last blocks of the numbers: two rounds, half a unit each, unless they are at hand.
    - If that leaves candidates, and no more than `most`: their documents by ranges of numbers, half a unit for each 4 KB.
    - Each document that GSI1 does not show: one strongly consistent read.
    - The ledger of each issue that was edited since its creation: one strongly consistent read.
    """
    entries = reader.directories((NUMBERS,))[NUMBERS].overlapping(Range(sort_string("", after + 1), None))
    reader.read(Want(NUMBERS, entry) for entry in entries)
    candidates = BitMap(range(after + 1, last + 1)) - known
    for entry in entries:
        candidates -= reader.block(NUMBERS, entry).members
    if not candidates:
        return NO_NEW_ISSUES
    if len(candidates) > most:
        return NewIssues((), len(candidates))
    documents = _documents(table, catalog, candidates)
    return NewIssues(tuple(_moves(table, catalog, documents)))


def _documents(table: Table, catalog: Catalog, candidates: BitMap) -> dict[int, Item]:
    project = keys.project(catalog.tenant, catalog.project)
    found: dict[int, Item] = {}
    bounds = list(_ranges(candidates))
    while bounds:
        pages = table.query_ranges(project, bounds)
        found |= {item["num"]: item for page in pages for item in page.items if item["num"] in candidates}
        bounds = [
            Bound("between", issue_number(int(page.last) + 1), bound.upper)
            for page, bound in zip(pages, bounds, strict=True)
            if page.last is not None and page.last < bound.upper
        ]
    return found | _written(table, catalog, [num for num in candidates if num not in found])


def _written(table: Table, catalog: Catalog, nums: Sequence[int]) -> dict[int, Item]:
    """The documents that GSI1 does not show yet."""
    found = documents_by_number(table, catalog.tenant, catalog.project, nums)
    return {num: document for num, document in found.items() if not is_trashed(document)}


def _ranges(candidates: BitMap) -> Iterator[Bound]:
    """At most `_RANGES` ranges of numbers that hold all candidates, with few others between them."""
    runs: list[list[int]] = []
    for num in candidates:
        if runs and num - runs[-1][1] <= _APART:
            runs[-1][1] = num
        else:
            runs.append([num, num])
    while len(runs) > _RANGES:
        gaps = [after[0] - before[1] for before, after in pairwise(runs)]
        at = gaps.index(min(gaps))
        runs[at : at + 2] = [[runs[at][0], runs[at + 1][1]]]
    return (Bound("between", issue_number(first), issue_number(end)) for first, end in runs)


def _moves(table: Table, catalog: Catalog, documents: dict[int, Item]) -> Iterator[Move]:
    """The moves of new issues. The consumer may have put them into some families, so they are taken out of all of them."""
    edited = {
        num: (keys.issue(catalog.tenant, catalog.project, num), derived_keys.LEDGER)
        for num, document in documents.items()
        if document["version"] != 1
    }
    ledgers = table.batch_get(list(edited.values()), consistent=True).items if edited else {}
    now, families = int(clock.seconds()), list(families_of(catalog))
    for num, document in sorted(documents.items()):
        ledger = Ledger.from_item(ledgers.get(edited[num])) if num in edited else Ledger()
        move = move_of(catalog, num, document, ledger, now)
        if move is not None:
            nowhere = {family: FamilyMove((), None) for family in families}
            yield move._replace(families={**nowhere, **move.families}, pending=True)
