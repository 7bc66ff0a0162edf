"""Begins the journal of a project."""

from gridview.dynamodb.expressions import ABSENT, put
from gridview.dynamodb.table import Table
from gridview.index.journal import new_head
from gridview.schema.items import JOURNAL_MARK, raise_epoch
from gridview.schema.store import read_kept, retry_lost_races


def begin_journal(table: Table, tenant: str, project: str) -> bool:
    """Let a project be journalled from its next epoch on: one transaction of two items. False if it is: nothing changes.

    A deleted project that can be restored is begun too. NotFound, DefinitionsMissing; Conflict after too many lost races.

    Every function must know both forms by then: one that knows only the old form would write blocks that have lost their positions.
    """

    def change() -> bool:
        items = read_kept(table, tenant, project)
        if items.catalog.get(JOURNAL_MARK):
            return False
        table.transact([put(new_head(tenant, project), ABSENT), raise_epoch(items, journalled=True)])
        return True

    return retry_lost_races(change)
