"""Whether the definitions that a request uses are the current ones: one read of the project's epoch, beside
other work.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from gridview.dynamodb.side_by_side import side_by_side
from gridview.dynamodb.table import Table
from gridview.schema.numbering import Numbering

Result = TypeVar("Result")


class StaleDefinitions(Exception):
    """The definitions in use are not the current ones. The request is carried out again, under those."""


class FoundEpoch(NamedTuple):
    """Whether the definitions were current, and which issue numbers had been given out then, where that was
    read too.
    """

    current: bool
    numbering: Numbering | None = None


class EpochCheck:
    """Reads the epoch of the definitions that one request uses, once at most and after the request began."""

    def __init__(
        self, read: Callable[[Table], FoundEpoch] | None = None, numbering: Numbering | None = None
    ) -> None:
        """`read` reads the epoch and compares it. None: the definitions themselves were read for this request."""
        self._read = read
        self._found = FoundEpoch(True, numbering) if read is None else None

    @property
    def due(self) -> bool:
        """Whether the epoch has not been read yet."""
        return self._found is None

    @property
    def numbering(self) -> Numbering | None:
        """Return the issue numbers given out when the epoch was read; None if it was not read, or without the
        counter.
        """
        return None if self._found is None else self._found.numbering

    def holds(self, table: Table) -> bool:
        """Return whether the definitions were current when the epoch was read: 1 read unit, unless it has
        been read.
        """
        if self._found is None:
            self._found = FoundEpoch(True) if self._read is None else self._read(table)
        return self._found.current

    def confirm(self, table: Table) -> Numbering | None:
        """StaleDefinitions unless the definitions were current: 1 read unit, unless the epoch has been read.

        Gives the issue numbers that had been given out then, where that was read too.
        """
        if not self.holds(table):
            raise StaleDefinitions
        return self.numbering

    def beside(self, table: Table, work: Callable[[], Result]) -> Result:
        """Return the result of `work`; the epoch is read in the first of its rounds. StaleDefinitions takes
        precedence over errors of `work`.
        """
        if not self.due:
            self.confirm(table)
            return work()
        result, _ = side_by_side(table, work, self.confirm)
        return result


CONFIRMED = EpochCheck()
"""The check of definitions that are known to be current."""
