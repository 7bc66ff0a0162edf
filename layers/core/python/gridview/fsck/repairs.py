"""Repairs the issues and blocks that a check found wrong, in an order in which each repair can succeed."""

from collections.abc import Sequence
from contextlib import suppress

from gridview.chains.family_removal import remove_all
from gridview.chains.fence_cache import Fences
from gridview.derive.images import Poison
from gridview.dynamodb.table import Table
from gridview.fsck.block_membership import BlockMembership, SuspectKey
from gridview.fsck.chain_repair import Chain, straighten
from gridview.fsck.repair import repair_issues
from gridview.journal.fold import fold
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs, current_catalog
from gridview.support import clock
from gridview.support.errors import Overloaded

TOGETHER = 100
"""Issues that are best repaired together: they share an item of the journal."""


class Repairs:
    """Repairs one table, beside any other writer."""

    def __init__(self, table: Table, catalogs: Catalogs) -> None:
        self._table = table
        self._catalogs = catalogs
        self._fences = Fences()

    def issues(self, partition_keys: Sequence[str]) -> dict[str, bool | Exception]:
        """`repair_issues`."""
        return repair_issues(self._table, self._catalogs, dict.fromkeys(partition_keys, 0))

    def straighten(self, tenant: str, project: str, family: str) -> None:
        """Make a chain passable."""
        straighten(Chain(self._table, tenant, project, family), self._fences)

    def amend(self, membership: BlockMembership, doubts: Sequence[SuspectKey]) -> None:
        """Add issues to the blocks from which they are missing, and remove them from blocks in which they are
        stray.

        Overloaded: it may succeed later.
        """
        membership.amend(doubts)

    def fold(self, log: Log) -> None:
        """Fold the items that wait in a journal, close its holes and complete its items, once their writers
        have had their time.
        """

        def current() -> Catalog | None:
            return current_catalog(self._table, self._catalogs, log.tenant, log.project)

        with suppress(Overloaded):  # the remaining faults are reported
            while fold(log, self._fences, current, _ignore_poison):
                pass
            log.release(clock.now())

    def remake(self, log: Log, family: str, pages: Sequence[int]) -> None:
        """Have pages of a column made again from the ledgers of their issues, by the fold. Overloaded."""
        log.ask_remakes(family, pages)
        self.fold(log)

    def discard(self, partition_key: str, sort_key: str) -> None:
        """Delete an item that no code writes or reads: a write unit for each KB."""
        self._table.delete(partition_key, sort_key)

    def remove(self, tenant: str, project: str, family: str) -> None:
        """Remove a family that nobody writes."""
        remove_all(self._table, tenant, project, family)


def _ignore_poison(_: Poison) -> None:
    """Ignore a block that cannot be read: the check of its chain reports and repairs it."""
