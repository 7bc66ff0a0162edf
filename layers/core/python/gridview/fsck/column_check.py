"""Compares columns with issues: their pages by slices of issue numbers, and their totals with the sums of all pages.

Documents that the index shows only raise a suspicion. Ledgers and the journal settle it, with strongly consistent reads:
they have the numbers of the page's issues as of its position.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from pyroaring import BitMap

from gridview.chains.column_pages import ColumnPage, page_of
from gridview.dynamodb.expressions import Bound, Item, Span
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.number_pages import SLOTS, UnreadablePage, values_of
from gridview.fsck.chain_check import ABOVE_ALL_NUMBERS
from gridview.fsck.issue_diff import Difference, DifferenceKind, differences
from gridview.journal.column_fold import count, numbers_of_ledgers
from gridview.journal.items import Head
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog

_AFTER_ALL_PAGES = "~"


class JudgedTotal(NamedTuple):
    """The fault of a total, if any; `settled`: whether it could be judged. An unknown total is no fault."""

    fault: Difference | None = None
    settled: bool = True
    unknown: bool = False


def suspect_pages(
    table: Table,
    catalog: Catalog,
    family: str,
    expected: Mapping[int, Decimal],
    among: range,
    unknown: BitMap,
) -> list[int]:
    """Return the pages that disagree with the numbers of documents for the issues `among`, but for `unknown` ones.

    Half a read unit for each 4 KB of these pages.
    """
    last = (
        derived_keys.column_page(page_of(among[-1])) if among.stop < ABOVE_ALL_NUMBERS else _AFTER_ALL_PAGES
    )
    bound = Bound("between", derived_keys.column_page(page_of(among[0])), last)
    partition = derived_keys.column(catalog.tenant, catalog.project, family)
    (items,) = table.read_together((), [Span(partition, bound, in_index=False)]).spans
    held: dict[int, Decimal] = {}
    found: set[int] = set()
    for item in items:
        try:
            page = ColumnPage.from_item(item)
            numbers = values_of(page.slices)
        except UnreadablePage:
            found |= _number_in(item)
        else:
            held |= {
                num: value for slot, value in numbers.items() if (num := page.number * SLOTS + slot) in among
            }
    for num in expected.keys() | held.keys():
        if num not in unknown and held.get(num) != expected.get(num):
            found.add(page_of(num))
    return sorted(found)


def stray_items(log: Log, family: str) -> list[Difference]:
    """Return the items among the pages of a column whose keys no page has: half a read unit for each 4 KB of the column.

    No code writes or reads them.
    """
    partition = derived_keys.column(log.tenant, log.project, family)
    found = (item[keys.SK] for item in log.table.query_all(partition, paths=()))
    return [
        Difference(partition, DifferenceKind.NO_PAGE, sort_key)
        for sort_key in found
        if not derived_keys.is_column_page(sort_key)
    ]


def judge_pages(log: Log, catalog: Catalog, family: str, pages: Sequence[int]) -> dict[int, Difference]:
    """Return the faults of pages, by their numbers: a read unit for each page and for each ledger of its issues.

    A page has the state of its position, and of all later ones up to the watermark. It may differ in issues that are wrong
    themselves, which the check of issues reports.
    """
    head = log.head()
    by_key = {ColumnPage(family, page).key(log.tenant, log.project): page for page in pages}
    stored = log.table.batch_get(list(by_key), consistent=True).items
    faults: dict[int, Difference] = {}
    for key, page in by_key.items():
        try:
            decoded = ColumnPage(family, page) if key not in stored else ColumnPage.from_item(stored[key])
            numbers = {page * SLOTS + slot: number for slot, number in values_of(decoded.slices).items()}
        except UnreadablePage:
            faults[page] = Difference(key[0], DifferenceKind.UNREADABLE, key[1])
            continue
        nums = range(max(page * SLOTS, 1), (page + 1) * SLOTS)
        position = max(decoded.position, head.folded)
        expected = numbers_of_ledgers(log, head, (), family, nums, position)
        wrong = _differing(numbers, expected)
        sound = next((num for num in wrong if _is_sound(log, catalog, head, num)), None)
        if sound is not None:
            held = f"{len(wrong)} issues differ, among them {sound}: {numbers.get(sound)}"
            faults[page] = Difference(key[0], DifferenceKind.NUMBERS, key[1], held, f"{expected.get(sound)}")
    return faults


def _is_sound(log: Log, catalog: Catalog, head: Head, num: int) -> bool:
    """Whether an issue agrees with the data derived from it: a read unit for each 4 KB of its items."""
    key = keys.issue(log.tenant, log.project, num)
    return not differences(key, log.table.query_all(key, consistent=True), catalog, head=head)


def judge_total(log: Log, family: str) -> JudgedTotal:
    """Compare a stored total with the pages: a read unit for each 4 KB of them."""
    head, totals = log.head(), log.totals()
    known = totals.of(family)
    if known is None or totals.position != head.folded:
        return JudgedTotal(unknown=True)
    counted = count(log, head, family)
    # The check of a page reports that it is unreadable.
    if counted is None or counted.unreadable or _moved(head, log.head()):
        return JudgedTotal(settled=False)
    summed = counted.total
    if summed == known:
        return JudgedTotal()
    return JudgedTotal(
        Difference(log.partition, DifferenceKind.TOTAL, family, f"{known.count}", f"{summed.count}")
    )


def _moved(before: Head, after: Head) -> bool:
    return (before.folded, before.rechained) != (after.folded, after.rechained)


def _number_in(item: Item) -> set[int]:
    try:
        return {derived_keys.parse_column_page(item[keys.SK])}
    except ValueError:
        return set()


def _differing(found: Mapping[int, Decimal], expected: Mapping[int, Decimal]) -> list[int]:
    every: Iterable[int] = sorted(found.keys() | expected.keys())
    return [num for num in every if found.get(num) != expected.get(num)]
