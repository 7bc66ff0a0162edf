"""Whether the definitions that a request uses are the current ones: one read of the project's epoch tells, beside other work."""

from collections.abc import Callable
from typing import TypeVar

from gridview.dynamodb.side_by_side import side_by_side
from gridview.dynamodb.table import Table
from gridview.schema.numbering import Numbering

Result = TypeVar("Result")


class StaleDefinitions(Exception):
    """The definitions in use are not the current ones. The request is carried out again, under those."""


class EpochCheck:
    """Reads the epoch of the definitions that one request uses, once at most and after the request began."""

    def __init__(
        self, is_current: Callable[[Table], bool] | None = None, numbering: Numbering | None = None
    ) -> None:
        """`is_current` reads the epoch and compares it. None: the definitions themselves were read for this request."""
        self.numbering = numbering
        """Which issue numbers had been given out then, where that is known."""
        self._read = is_current
        self._current: bool | None = True if is_current is None else None

    @property
    def due(self) -> bool:
        """Whether the epoch has not been read yet."""
        return self._current is None

    def holds(self, table: Table) -> bool:
        """Whether the definitions were current when the epoch was read: 1 read unit, unless it has been read."""
        if self._current is None:
            self._current = self._read is None or self._read(table)
        return self._current

    def confirm(self, table: Table) -> None:
        """StaleDefinitions unless the definitions were current: 1 read unit, unless the epoch has been read."""
        if not self.holds(table):
            raise StaleDefinitions

    def beside(self, table: Table, work: Callable[[], Result]) -> Result:
        """The result of `work`; the epoch is read in the first of its rounds. StaleDefinitions goes before what `work` raises."""
        if not self.due:
            self.confirm(table)
            return work()
        result, _ = side_by_side(table, work, self.confirm)
        return result


CONFIRMED = EpochCheck()
"""The check of definitions that are known to be current."""
