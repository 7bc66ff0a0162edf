"""The columns that a container keeps between requests, and how they follow the journal. Pure.

A kept column has all numbers up to the floor of the container's journal tail; the tail's items are laid over it. When the
tail drops items, the column takes them in first. Its numbers may then be older than those of its pages, but only for issues
that the rest of the tail still names.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from gridview.chains.number_columns import NumberColumn
from gridview.encoding import derived_keys
from gridview.journal.items import JournalItem
from gridview.journal.replay import last_numbers
from gridview.view.block_cache import BlockCache

_KEPT_SECONDS = 3_600.0
"""The most seconds for which a column is kept."""


@dataclass(frozen=True, slots=True)
class KeptColumn:
    """A column of which everything is as it was at the instant `since`, or later.

    `position`: the highest position of its pages. `until`: the end of its time, by the cache's clock.
    """

    column: NumberColumn
    position: int
    since: float
    until: float


def kept_column(cache: BlockCache, partition: str, since: float) -> KeptColumn | None:
    """Return the column that was read from an instant on; None if there is none.

    `since`: seconds since 1970. The journal items at hand include every change since that instant.
    """
    found: KeptColumn | None = cache.column(partition)
    return None if found is None or found.since < since else found


def keep(cache: BlockCache, partition: str, column: NumberColumn, position: int, at: float) -> None:
    """Keep a column whose pages were read at the instant `at`, in seconds since 1970."""
    kept = KeptColumn(column, position, at, cache.clock() + _KEPT_SECONDS)
    cache.keep_column(partition, kept, column.size, kept.until)


def take_in(
    cache: BlockCache, tenant: str, project: str, items: Iterable[JournalItem], instants: tuple[float, float]
) -> None:
    """Take the items that a tail drops into the columns of its project.

    `instants`: that of the tail before, from which the kept columns have everything that it does not, and that of the tail
    afterwards. A column from before the first lacks items, and goes. So does one of which pages are made again.
    """
    before, since = instants
    dropped = list(items)
    remade = {item.remake.family for item in dropped if item.remake is not None}
    for partition in cache.columns(derived_keys.column(tenant, project, "")):
        kept: KeptColumn | None = cache.column(partition)
        family = derived_keys.parse_column(partition).family
        if kept is None or kept.since >= since:
            continue
        if kept.since < before or family in remade:
            cache.forget_column(partition)
            continue
        numbers = last_numbers(dropped, family)
        column = kept.column.with_values(numbers) if numbers else kept.column
        cache.keep_column(partition, replace(kept, column=column, since=since), column.size, kept.until)


def forget(cache: BlockCache, tenant: str, project: str) -> None:
    """Forget the columns of a project."""
    for partition in cache.columns(derived_keys.column(tenant, project, "")):
        cache.forget_column(partition)
