"""What the steps of one write share: the table, the definitions, who writes, and what has to be asked before."""

from dataclasses import dataclass
from uuid import UUID

from gridview.commands.actor import Actor
from gridview.commands.write_rate import ADMITTED, Admission
from gridview.dynamodb.table import Table
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import CONFIRMED, EpochCheck


@dataclass(frozen=True, slots=True)
class WriteContext:
    """A caller writes with this.

    `change`: the id of the change that the write is part of. `epoch`: finds out whether the catalog is current. `admission`: counts
    the request against what its project may write.
    """

    table: Table
    catalog: Catalog
    actor: Actor
    change: UUID | None = None
    epoch: EpochCheck = CONFIRMED
    admission: Admission = ADMITTED
