"""Leases on the items of background work: how long they last, and how whoever holds one saves how far the work has come."""

from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import Item, revision_is
from gridview.dynamodb.table import Table

LEASE = 120.0
"""Seconds after which another invocation may continue work that nobody has saved: more than an invocation can last."""

RETRY = 5.0
"""Seconds after which work that the table refused is tried again."""


def checkpoint(table: Table, item: Item, revision: int) -> None:
    """Save the next state of an item that was read at `revision`. ConditionFailed if another invocation has written it since.

    The SDK may repeat a write whose answer was lost: that is no lost race.
    """
    try:
        table.put(item, revision_is(revision))
    except ConditionFailed as error:
        if not error.is_repeat_of(item):
            raise
