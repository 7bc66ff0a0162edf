"""The fold's part in columns: writes the pages that journal items name, and the totals as of the last item.

A total is exact, or unknown: after folds that overlapped, and after pages were made again. `recount` finds it again.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from gridview.chains.column_pages import ColumnPage
from gridview.chains.column_totals import ColumnTotal, total_of
from gridview.chains.column_writer import ColumnWriter, Fold
from gridview.derive.ledger import NUMBER, paths_of
from gridview.dynamodb.expressions import Item
from gridview.encoding import derived_keys, keys
from gridview.encoding.number_pages import UnreadablePage
from gridview.journal.items import Head, JournalItem, Totals
from gridview.journal.log import Log
from gridview.journal.replay import last_numbers, number_in, strings_at


class CountedPages(NamedTuple):
    """The total of the pages of a column that can be read, and the numbers of the others."""

    total: ColumnTotal
    unreadable: Sequence[int]


def fold_columns(log: Log, head: Head, passed: Sequence[JournalItem], families: Collection[str]) -> None:
    """Write the pages of all columns for the items after the watermark, and the totals as of the last one.

    Costs a read unit for each page and for the totals, and a write unit for each KB: see `ColumnWriter.write`. Nothing if
    there is no column. Overloaded.
    """
    if not families:
        return

    def numbers_at(family: str, nums: Iterable[int]) -> Mapping[int, Decimal]:
        return numbers_of_ledgers(log, head, passed, family, nums)

    known = log.totals()
    writer = ColumnWriter(
        log.table, log.tenant, log.project, Fold(head.folded, passed[-1].number, numbers_at)
    )
    remakes = [record.remake for record in passed if record.remake is not None]
    totals: dict[str, ColumnTotal | None] = {}
    for family in families:
        asked = [one for one in remakes if one.family == family]
        numbers, remade = last_numbers(passed, family), {page for one in asked for page in one.pages}
        change = writer.write(family, numbers, remade) if numbers or remade else ColumnTotal()
        before = None if asked or known.position != head.folded else known.of(family)
        totals[family] = None if before is None or change is None else before.plus(change)
    if passed[-1].number > known.position:
        log.put_totals(Totals(passed[-1].number, totals), known)


def numbers_of_ledgers(
    log: Log,
    head: Head,
    passed: Sequence[JournalItem],
    family: str,
    nums: Iterable[int],
    position: int | None = None,
) -> dict[int, Decimal]:
    """Return the numbers that issues have in a family as of the last of `passed`, the first items after the watermark.

    `position`: another number from the watermark on. Costs a read unit for each ledger, and the journal after `passed`.
    """
    wanted = list(nums)
    ledgers = stored_ledgers(log, family, wanted)
    if position is None:
        position = passed[-1].number if passed else head.folded
    strings = strings_at(family, position, wanted, ledgers, log.all_from(head, passed), head)
    found = {num: [number_in(one, num) for one in some] for num, some in strings.items()}
    return {num: value for num, some in found.items() if (value := next(iter(some), None)) is not None}


def stored_ledgers(log: Log, family: str, nums: Iterable[int]) -> dict[int, Item]:
    """Return what the ledgers of issues have of a family, by issue: a read unit each, strongly consistent."""
    wanted = {(keys.issue(log.tenant, log.project, num), derived_keys.LEDGER): num for num in nums}
    stored = log.table.batch_get(list(wanted), consistent=True, paths=(*paths_of(family), (NUMBER,))).items
    return {wanted[key]: ledger for key, ledger in stored.items()}


def recount(log: Log, family: str) -> bool:
    """Count the unknown total of a column at the watermark, and store it; False if that has to be tried again.

    A page that cannot be read is asked to be made again. Pages beyond the watermark are those of a fold that goes on,
    or that died: the next one passes them.

    Costs a read unit for each 4 KB of the column, and a write unit.
    """
    head, known = log.head(), log.totals()
    if known.position != head.folded:
        return False
    counted = count(log, head, family)
    if counted is None:
        return False
    if counted.unreadable:
        log.ask_remakes(family, counted.unreadable)
        return False
    return log.put_totals(known._replace(by_family={**known.by_family, family: counted.total}), known)


def count(log: Log, head: Head, family: str) -> CountedPages | None:
    """Count the numbers of a column at the watermark; None if a page is beyond it.

    An item whose key is not that of a page has no numbers of issues: a check removes it.

    Costs a read unit for each 4 KB of the column.
    """
    total = ColumnTotal()
    unreadable: list[int] = []
    for item in log.table.query_all(derived_keys.column(log.tenant, log.project, family), consistent=True):
        if not derived_keys.is_column_page(item[keys.SK]):
            continue
        try:
            page = ColumnPage.from_item(item)
            numbers = page.slices
        except UnreadablePage:
            unreadable.append(derived_keys.parse_column_page(item[keys.SK]))
            continue
        if page.position > head.folded:
            return None
        total = total.plus(total_of((numbers,)))
    return CountedPages(total, unreadable)
