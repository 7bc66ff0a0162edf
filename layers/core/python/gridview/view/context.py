"""What the reads of one request share: the table, the definitions, what the container keeps, and what the answer is to hold."""

from dataclasses import dataclass, field, replace

from gridview.dynamodb.table import Table
from gridview.encoding.consistency import Recent, with_those_of_a_cursor
from gridview.encoding.cursors import Cursors
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import CONFIRMED, EpochCheck
from gridview.support import clock
from gridview.view.block_cache import BlockCache


@dataclass(frozen=True, slots=True)
class ReadContext:
    """One request reads with this. `table.meter` is charged with every call.

    `cache`: what the container keeps. `epoch`: finds out whether the catalog is current. `recent`: writes that the answer is to
    hold. `feed`: seals the cursor of the changes; None: the answer has none. `consistent`: the answer holds every change that the
    journal had when the request began, so the journal is read strongly consistent.
    """

    table: Table
    catalog: Catalog
    cache: BlockCache = field(default_factory=BlockCache)
    epoch: EpochCheck = CONFIRMED
    recent: Recent = ()
    feed: Cursors | None = None
    consistent: bool = False

    @property
    def log(self) -> Log:
        """The project's journal."""
        return Log(self.table, self.catalog.tenant, self.catalog.project)

    def holding(self, before: Recent) -> "ReadContext":
        """The same for an answer that also holds what the page before held."""
        recent = with_those_of_a_cursor(self.recent, before, self.catalog.project, clock.seconds())
        return replace(self, recent=recent)
