"""The shared inputs of the steps of one write: the table, the definitions, the author, and the checks to make
first.
"""

from dataclasses import dataclass
from uuid import UUID

from gridview.commands.actor import Actor
from gridview.commands.write_rate import ADMITTED, Admission
from gridview.dynamodb.table import Table
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import CONFIRMED, EpochCheck


@dataclass(frozen=True, slots=True)
class WriteContext:
    """The context in which a caller writes.

    `change`: the id of the change that the write is part of. `epoch`: finds out whether the catalog is
    current. `admission`: counts the request against its project's limit of writes.
    """

    table: Table
    catalog: Catalog
    actor: Actor
    change: UUID | None = None
    epoch: EpochCheck = CONFIRMED
    admission: Admission = ADMITTED
