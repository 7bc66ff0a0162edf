"""Writes the pages of columns, for a fold.

A page is written with the *states* of its issues, not with steps. The number of an issue is that of the last journal item
about it, up to the fold's position. So folds may overlap and repeat: writing a state again changes nothing. A
page at position p has the states of position p. A fold that finds one at its own position or above leaves it.

Pages are read strongly consistent. The condition of each write is the write id that was read. Every page that a journal
item names is written, even if its numbers stay the same. Otherwise a page could keep its write id from a to b
and back to a, and a paused write of b would still land.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from decimal import Decimal
from typing import NamedTuple

from gridview.chains.column_pages import ColumnPage, by_page
from gridview.chains.column_totals import ColumnTotal, total_of
from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import ABSENT, Condition, Item, Key
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.number_pages import SLOTS, UnreadablePage
from gridview.support import backoff
from gridview.support.concurrency import chunked, in_threads
from gridview.support.errors import Overloaded

_REMOVED_AT_ONCE = 50
"""Pages to delete between two looks at the clock."""

NumberChanges = Mapping[int, Decimal | None]
"""The number of each issue; None: it has no number."""


class Fold(NamedTuple):
    """A fold of the journal from its watermark to a position.

    `numbers_at` returns the numbers in a family that issues have at that position, by their ledgers and the journal.
    """

    watermark: int
    position: int
    numbers_at: Callable[[str, Iterable[int]], Mapping[int, Decimal]]


class _Written(NamedTuple):
    """A written page: the change of its total; None if the total at the watermark is unknown."""

    change: ColumnTotal | None


class ColumnWriter:
    """The columns of one project, for one fold."""

    def __init__(self, table: Table, tenant: str, project: str, fold: Fold) -> None:
        self._table = table
        self._tenant = tenant
        self._project = project
        self._fold = fold

    def write(self, family: str, values: NumberChanges, remade: Collection[int] = ()) -> ColumnTotal | None:
        """Write the states of issues into their pages, and make the pages of `remade` again.

        Returns the change of the column's total since the watermark. None if that is unknown: another fold wrote a page
        after the watermark, or a page was made again. A page that cannot be read is made again too.

        Costs a read unit for each page, and a write unit for each KB: one for 256 numbers of 28 bits. A page that is
        made again costs a read unit for each of its ledgers. Overloaded if other writers keep changing a page.
        """
        named = by_page(values)
        left = sorted({*named, *remade})
        changes: list[ColumnTotal | None] = []
        for _ in backoff.attempts():
            written = self._write(family, {page: named.get(page, {}) for page in left}, remade)
            changes += [one.change for one in written.values() if one is not None]
            left = [page for page in left if written[page] is None]
            if not left:
                return _together(changes)
        raise Overloaded("Other writers keep changing the same pages of columns. Try again.")

    def _write(
        self, family: str, wanted: Mapping[int, NumberChanges], remade: Collection[int]
    ) -> dict[int, _Written | None]:
        """Read and write pages, in parallel. None for a page of which another writer was faster."""
        found = self._read(family, wanted)

        def bring(page: int) -> _Written | None:
            return self._bring(family, page, wanted[page], found.get(page), page in remade)

        return dict(zip(wanted, in_threads(bring, wanted), strict=True))

    def _read(self, family: str, pages: Iterable[int]) -> dict[int, Item]:
        by_key = {self._key(family, page): page for page in pages}
        found = self._table.batch_get(list(by_key), consistent=True).items
        return {by_key[key]: item for key, item in found.items()}

    def _bring(
        self, family: str, number: int, values: NumberChanges, item: Item | None, is_remade: bool
    ) -> _Written | None:
        """Write one page as of the fold's position; None if another writer was faster."""
        fold = self._fold
        try:
            page = ColumnPage(family, number) if item is None else ColumnPage.from_item(item)
            before = page.slices
        except UnreadablePage:
            page, is_remade = ColumnPage(family, number), True
        else:
            if page.position >= fold.position:
                return _Written(None)  # another fold has been here
        if is_remade:
            after = ColumnPage(family, number).changed(
                fold.numbers_at(family, range(max(number * SLOTS, 1), (number + 1) * SLOTS)), fold.position
            )
        else:
            after = page.changed(values, fold.position)
        stored = after.to_item(self._tenant, self._project)
        try:
            self._table.put(stored, _unchanged(item))
        except ConditionFailed as error:
            if not error.is_repeat_of(stored):
                return None
        if is_remade or page.position > fold.watermark:
            return _Written(None)
        return _Written(total_of((after.slices,)).minus(total_of((before,))))

    def _key(self, family: str, page: int) -> Key:
        return ColumnPage(family, page).key(self._tenant, self._project)


def _together(changes: Iterable[ColumnTotal | None]) -> ColumnTotal | None:
    """Return the sum of changes of a total; None if one of them is unknown."""
    found = ColumnTotal()
    for one in changes:
        if one is None:
            return None
        found = found.plus(one)
    return found


def _unchanged(item: Item | None) -> Condition:
    """Return the condition that a page is as it was read."""
    if item is None:
        return ABSENT
    if "write_id" not in item:
        return Condition("attribute_exists(PK) AND attribute_not_exists(write_id)")
    return Condition("write_id = :write_id", values={":write_id": item["write_id"]})


def remove_column(
    table: Table,
    tenant: str,
    project: str,
    family: str,
    remaining: Callable[[], float] = lambda: 1.0,
) -> bool:
    """Delete the pages of a column that has no writers left; False if the seconds in `remaining` ran out.

    Another call continues. Costs half a read unit for each 4 KB, and a write unit for each KB.
    """
    pages = table.query_all(derived_keys.column(tenant, project, family), paths=())
    for some in chunked(pages, _REMOVED_AT_ONCE):
        if remaining() <= 0:
            return False
        in_threads(lambda item: table.delete(item[keys.PK], item[keys.SK]), some)
    return remaining() > 0
