"""Removes whole partitions of the table, which nobody writes any more."""

from collections.abc import Callable

from gridview.dynamodb.expressions import Bound, Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.support.concurrency import in_threads

AT_ONCE = 100
"""Items that are read and deleted together."""


def remove_partition(
    table: Table,
    partition: str,
    left: Callable[[], float],
    bound: Bound | None = None,
    before: Callable[[Item], None] | None = None,
) -> bool:
    """Delete all items of a partition of the table, or of a range of it; False if the seconds in `left` ran
    out.

    Another call continues. `before` is called with each whole item before it is deleted. Costs a strongly
    consistent read of it, and a write unit for each KB.
    """
    paths = () if before is None else None

    def remove(item: Item) -> None:
        if before is not None:
            before(item)
        table.delete(item[keys.PK], item[keys.SK])

    while left() > 0:
        page = table.query(partition, bound=bound, consistent=True, limit=AT_ONCE, paths=paths)
        in_threads(remove, page.items)
        if page.last is None:
            return True
    return False
