"""Reads columns of numbers for one request: from the container's cache, or page by page from the table."""

from collections.abc import Iterable

from gridview.chains.column_pages import ColumnPage
from gridview.chains.number_columns import NumberColumn, column_of
from gridview.dynamodb.expressions import Bound, Item, Span
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.number_pages import SLOTS, UnreadablePage, parsed
from gridview.schema.catalog import Catalog
from gridview.support import clock
from gridview.support.errors import Overloaded
from gridview.view.block_cache import BlockCache
from gridview.view.kept_columns import keep, kept_column

PAGES_AT_ONCE = 1_024
"""Pages that one Query reads: less than 1 MB of numbers of 24 bits."""


class ColumnReader:
    """The columns that one request reads; it sees one state of each.

    `since`: seconds since 1970. Reads from that instant on agree with the journal items at hand.
    """

    def __init__(self, catalog: Catalog, cache: BlockCache, since: float) -> None:
        self.position = 0
        """The highest position of the pages in use."""
        self._tenant, self._project = catalog.tenant, catalog.project
        self._cache = cache
        self._since = since
        self._columns: dict[str, NumberColumn] = {}

    def has(self, family: str) -> bool:
        """Whether a column is at hand. The request then keeps this copy."""
        if family not in self._columns:
            kept = kept_column(self._cache, self._partition(family), self._since)
            if kept is not None:
                self._columns[family] = kept.column
                self.position = max(self.position, kept.position)
        return family in self._columns

    def column(self, family: str) -> NumberColumn:
        """A column that is at hand."""
        return self._columns[family]

    def renew(self, since: float) -> bool:
        """Forget the columns that may have been read before an instant; returns whether there were any."""
        before, self._since = self._since, since
        if before >= since or not self._columns:
            return False
        self._columns.clear()
        return True

    def read(self, table: Table, families: Iterable[str], issues: int) -> None:
        """Read the columns that are not at hand, in one round of parallel Query calls.

        Half a read unit for each 4 KB: for a million numbers of 24 bits some 400. `issues`: about how many the project has.
        A column with more pages than these need takes another round for each MB. Overloaded if a page cannot be read.
        """
        missing = [family for family in dict.fromkeys(families) if not self.has(family)]
        if not missing:
            return
        at = clock.seconds()
        bounds = _bounds(issues)
        spans = [
            Span(self._partition(family), bound, in_index=False) for family in missing for bound in bounds
        ]
        listed = table.read_together((), spans).spans
        for place, family in enumerate(missing):
            parts = listed[place * len(bounds) : (place + 1) * len(bounds)]
            column, position = _column(item for part in parts for item in part)
            self._columns[family] = column
            self.position = max(self.position, position)
            keep(self._cache, self._partition(family), column, position, at)

    def _partition(self, family: str) -> str:
        return derived_keys.column(self._tenant, self._project, family)


def _column(items: Iterable[Item]) -> tuple[NumberColumn, int]:
    """Return the column of stored pages, and their highest position.

    Overloaded if a page cannot be read: no answer is made of a part. An item whose key is not that of a page has no
    numbers of issues: a check removes it.
    """
    try:
        pages = [ColumnPage.from_item(item) for item in items if derived_keys.is_column_page(item[keys.SK])]
        column = column_of({page.number: parsed(page.stored) for page in pages})
    except UnreadablePage as error:
        raise Overloaded(
            "Some numbers of the index cannot be read until a check repairs them. Try again later."
        ) from error
    return column, max((page.position for page in pages), default=0)


def _bounds(issues: int) -> list[Bound]:
    """Return ranges of pages that are read side by side. The last is open, so that every page is in one."""
    starts = range(0, issues // SLOTS + 1, PAGES_AT_ONCE)
    page = derived_keys.column_page
    return [
        *(Bound("between", page(start), page(start + PAGES_AT_ONCE - 1)) for start in starts[:-1]),
        Bound(">=", page(starts[-1])),
    ]
