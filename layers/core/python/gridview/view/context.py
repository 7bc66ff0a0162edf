"""The context of one request's reads: the table, the definitions, the container's cache and the writes to include."""

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
    """The context of one request's reads. `table.meter` is charged with every call.

    - `cache`: the container's cache.
    - `epoch`: finds out whether the catalog is current.
    - `recent`: writes that the answer must include.
    - `feed`: seals the cursor of the changes; None: the answer has none.
    - `consistent`: the answer includes every change that the journal had when the request began, and no document is an
      earlier one. So the journal and documents are read strongly consistent, at twice the units.
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
        """The same for an answer that also includes the writes that the result page before included."""
        recent = with_those_of_a_cursor(self.recent, before, self.catalog.project, clock.seconds())
        return replace(self, recent=recent)
