"""The feed of a project: its changes from a position on, in commit order for each issue, each exactly once.

The feed is the journal (`journal`). Its items name versions, and the history has the changes of these
versions. An item comes after the history of its versions, and never changes, so late copies of the table can
only delay a reader. A reader stops at the first number without an item, since the writer that took it may
still put one.

    number    57                   58     59                60
    item      1.2  1.3  4.1        empty  missing           9.2
             position (57, 1)         readers wait here
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from gridview.dynamodb.table import Table
from gridview.journal.feed_positions import FeedPosition, versions_from
from gridview.journal.gaps import first_missing, overdue
from gridview.journal.history import read_changes as read_history
from gridview.journal.items import Head, JournalItem
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog
from gridview.schema.history import FEED_DAYS, Change
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.errors import CursorExpired

_SECONDS = FEED_DAYS * 86_400

_RETURNS = 5.0
"""Seconds between two looks of one who follows without a break. No table is restored in them and written to again."""

_FIRST_ROWS = 8
"""Items and marks that the first call reads. Each further call reads twice as many: an item may have one
change or hundreds.
"""


@dataclass(frozen=True, slots=True)
class FeedPage:
    """The changes after a position, and the position after them. `ends`: the position after each.

    - `reset`: before these changes is one that nothing can describe any more; followers read everything
      again.
    - `catalog`: definitions that are no older than the changes, to express them by.
    - `ended`: there is nothing more to read now.
    - `overdue`: numbers that have been missing for some seconds and at which the feed waits. A caller that
      may write empties them (`Log.close`).
    - `held`: the feed waits at a number, and has more after it.
    """

    events: tuple[Change, ...]
    position: FeedPosition
    reset: bool
    catalog: Catalog
    ends: tuple[FeedPosition, ...]
    ended: bool
    overdue: tuple[int, ...] = ()
    held: bool = False


def end_of(log: Log) -> FeedPosition:
    """Return the present end of a feed, after all that was committed before.

    1 read unit for the head. Half a unit for each 4 KB of the items that are not folded and of the item
    before them. Overloaded: the project is just being removed.
    """
    now = clock.seconds()
    folded = log.head().folded
    found = {item.number: item for item in log.all_after(max(folded - 1, 0), consistent=False)}
    number = first_missing(folded, found.values())
    return FeedPosition(number, 0, now, found[number - 1].id if number - 1 in found else "")


def read_changes(
    table: Table,
    catalogs: Catalogs,
    catalog: Catalog,
    position: FeedPosition,
    limit: int,
    *,
    consistent: bool = False,
) -> FeedPage:
    """Return up to `limit` changes after a position.

    `consistent`: include all that was committed before the call, for twice the units of its items.

    A position that is not in this journal gives a reset, and the feed continues at its end. The table was
    restored to an earlier moment.

    Half a read unit if nothing is new. If there are changes:

    - half a unit for each 4 KB of journal items (1 if `consistent`);
    - half a unit for 4 KB of the item before them;
    - half a unit for each change;
    - 1 unit for the definitions' epoch.

    CursorExpired for a position of more than 7 days ago. NotFound and DefinitionsMissing as for
    `Catalogs.current`.
    """
    now = clock.seconds()
    if position.since < now - _SECONDS:
        raise CursorExpired(
            "The changes after this cursor have expired. Ask for changes without `since`, then read again what you "
            "show."
        )
    log = Log(table, catalog.tenant, catalog.project)
    items, beyond, head = _items(log, position, limit, consistent)
    if _is_of_another_past(log, position, items, head):
        return FeedPage((), end_of(log), reset=True, catalog=catalog, ends=(), ended=True)
    versions = list(islice(versions_from(items, position), limit))
    changes = _changes(
        table, catalog, [(one.num, one.version) for one in versions if one.version is not None]
    )
    events: list[Change] = []
    ends: list[FeedPosition] = []
    taken, reset = 0, False
    for one in versions:
        change = None if one.version is None else changes.get((one.num, one.version))
        if one.after:
            if change is not None and change.kind == "delete":
                taken += 1
                continue
            change = None  # someone deleted the issue from the table by hand
        if change is None and events:
            break  # the next page begins with it
        taken += 1
        if change is None:
            reset = True
        else:
            events.append(change)
            ends.append(one.end)
    waits = taken == len(versions) < limit
    held = waits and bool(beyond)
    reached = position._replace(since=now)
    if not waits:
        reached = versions[taken - 1].end
    elif items:
        reached = FeedPosition(items[-1].number + 1, 0, now, items[-1].id)
    return FeedPage(
        tuple(events),
        reached,
        reset,
        catalogs.current(table, catalog.tenant, catalog.project) if events else catalog,
        tuple(ends),
        waits,
        tuple(overdue(reached.number - 1, beyond, now)) if held else (),
        held,
    )


def _is_of_another_past(
    log: Log, position: FeedPosition, items: Sequence[JournalItem], head: Head | None
) -> bool:
    """Return whether a position is not in this journal, because the table was restored to an earlier moment.

    The item that the position has reached is then missing, or was put again. `items` follow the position. A
    head that comes with them may be late, so the head itself is read: a read unit. If there are items, or the
    last look was some seconds ago: half a unit for each 4 KB of the one before them.
    """
    reached = position.reached
    if head is not None and head.last < reached:
        return log.head().last < reached
    if not reached or not (items or clock.seconds() - position.since > _RETURNS):
        return False
    # A late copy may lack the item, and in the end the table removes it.
    found = items[0] if items and position.place else log.item(reached, consistent=False) or log.item(reached)
    return found is not None and not position.is_after(found)


def _items(
    log: Log, position: FeedPosition, limit: int, consistent: bool
) -> tuple[list[JournalItem], list[JournalItem], Head | None]:
    """Return the items of a page without a gap, and not many more; some items after the gap; and the head.

    The head is None unless everything after the position was read.
    """
    items: list[JournalItem] = []
    number, rows = position.number, _FIRST_ROWS
    while True:
        listed = log.after(number - 1, consistent=consistent, rows=rows, with_head=True)
        found = {item.number: item for item in listed.records}
        while number in found:
            items.append(found.pop(number))
            number += 1
        if found or not listed.more or any(islice(versions_from(items, position), limit - 1, None)):
            return items, list(found.values()), listed.head
        rows *= 2


def _changes(
    table: Table, catalog: Catalog, wanted: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], Change]:
    """Return the changes of these versions. They were recorded before the journal named them, so versions
    that a late copy lacks are read once more.
    """
    project = catalog.tenant, catalog.project
    found = _of_versions(read_history(table, *project, wanted)) if wanted else {}
    missing = [one for one in wanted if one not in found]
    return found | _of_versions(read_history(table, *project, missing, consistent=True)) if missing else found


def _of_versions(found: Mapping[tuple[int, int], Change]) -> dict[tuple[int, int], Change]:
    """Without removals by hand: a late copy, or a late write of a dead consumer, shows one where the issue
    was put back since.
    """
    return {key: change for key, change in found.items() if not change.by_hand}
