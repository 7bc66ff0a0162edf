"""The feed of a project: its changes from a position on, in commit order for each issue, each exactly once.

The feed is the journal (`journal`). Its items name the versions that they tell, and the history has what these changed. An
item comes after the history of what it tells, and never changes; so copies of the table that are late make a reader late, and
nothing else. A reader stops at the first number without an item: whoever has taken that may still put one.

    number    57                   58     59                60
    item      1.2  1.3  4.1        empty  missing           9.2
             position (57, 1)         readers wait here
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from gridview.dynamodb.table import Table
from gridview.journal.feed_positions import FeedPosition, tellings_from
from gridview.journal.gaps import first_missing, overdue
from gridview.journal.history import read_changes as read_history
from gridview.journal.items import Head, JournalItem
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog
from gridview.schema.history import FEED_DAYS, Change
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.errors import FeedExpired

_SECONDS = FEED_DAYS * 86_400

_RETURNS = 5.0
"""Seconds between two looks of one who follows without a break. No table is restored in them and written to again."""

_FIRST_ROWS = 8
"""Items and marks that the first call reads. Each further one reads twice as many: an item may tell one change or hundreds."""


@dataclass(frozen=True, slots=True)
class FeedPage:
    """The changes behind a position, and the position behind them; `behind`: the position behind each.

    `reset`: before these changes is one that nobody can tell; followers read everything again. `catalog`: definitions
    that are no older than the changes, to express them by. `ended`: there is nothing more to read now. `overdue`: numbers at
    which the feed waits and which have been missing for some seconds; whoever may write empties them (`Log.close`). `held`: it
    waits at a number, and has more behind that.
    """

    events: tuple[Change, ...]
    position: FeedPosition
    reset: bool
    catalog: Catalog
    behind: tuple[FeedPosition, ...]
    ended: bool
    overdue: tuple[int, ...] = ()
    held: bool = False


def end_of(log: Log) -> FeedPosition:
    """The present end of a feed: all that was committed before is in front of it.

    1 read unit for the head, and half a unit for each 4 KB of what is not folded and of the item before it.
    Overloaded: the project is just being removed.
    """
    now = clock.seconds()
    folded = log.head().folded
    found = {item.number: item for item in log.all_behind(max(folded - 1, 0), consistent=False)}
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
    """Up to `limit` changes behind a position. `consistent`: all that was committed by now, for twice the units of its items.

    A position that is none of this journal is a reset, and goes on at the end: the table was restored to an earlier moment.

    Where nothing is new: half a read unit. Else half a unit for each 4 KB of journal items (1 if `consistent`), half a unit for
    4 KB of the one before them, half a unit for each change, and 1 unit for the definitions' epoch.

    FeedExpired for a position of more than 7 days ago; NotFound and DefinitionsMissing
    as for `Catalogs.current`.
    """
    now = clock.seconds()
    if position.since < now - _SECONDS:
        raise FeedExpired("What happened after this cursor is not remembered any more.")
    log = Log(table, catalog.tenant, catalog.project)
    items, beyond, head = _items(log, position, limit, consistent)
    if _is_of_another_past(log, position, items, head):
        return FeedPage((), end_of(log), reset=True, catalog=catalog, behind=(), ended=True)
    tellings = list(islice(tellings_from(items, position), limit))
    changes = _changes(
        table, catalog, [(one.num, one.version) for one in tellings if one.version is not None]
    )
    events: list[Change] = []
    behind: list[FeedPosition] = []
    taken, reset = 0, False
    for one in tellings:
        change = None if one.version is None else changes.get((one.num, one.version))
        if one.after:
            if change is not None and change.kind == "delete":
                taken += 1
                continue
            change = None  # somebody has taken the issue out of the table by hand
        if change is None and events:
            break  # the next page begins with it
        taken += 1
        if change is None:
            reset = True
        else:
            events.append(change)
            behind.append(one.behind)
    waits = taken == len(tellings) < limit
    held = waits and bool(beyond)
    reached = position._replace(since=now)
    if not waits:
        reached = tellings[taken - 1].behind
    elif items:
        reached = FeedPosition(items[-1].number + 1, 0, now, items[-1].id)
    return FeedPage(
        tuple(events),
        reached,
        reset,
        catalogs.current(table, catalog.tenant, catalog.project) if events else catalog,
        tuple(behind),
        waits,
        tuple(overdue(reached.number - 1, beyond, now)) if held else (),
        held,
    )


def _is_of_another_past(
    log: Log, position: FeedPosition, items: Sequence[JournalItem], head: Head | None
) -> bool:
    """Whether a position is none of this journal, because the table was restored to an earlier moment: what it has reached is not
    there, or was put again. `items` follow it. A head that comes with them may be late, so the head is asked itself: a read unit.
    Where there are items, or the last look was some seconds ago: half a unit for each 4 KB of the one before them.
    """
    reached = position.reached
    if head is not None and head.last < reached:
        return log.head().last < reached
    if not reached or not (items or clock.seconds() - position.since > _RETURNS):
        return False
    # A late copy may lack the item, and in the end the table removes it.
    found = (
        items[0]
        if items and position.place
        else log.standing(reached, consistent=False) or log.standing(reached)
    )
    return found is not None and not position.is_after(found)


def _items(
    log: Log, position: FeedPosition, limit: int, consistent: bool
) -> tuple[list[JournalItem], list[JournalItem], Head | None]:
    """The items of a page that follow each other without a gap, and not many more; and some of those behind the gap.

    And the head, if all that follows the position was read.
    """
    items: list[JournalItem] = []
    number, rows = position.number, _FIRST_ROWS
    while True:
        listed = log.behind(number - 1, consistent=consistent, rows=rows, with_head=True)
        found = {item.number: item for item in listed.records}
        while number in found:
            items.append(found.pop(number))
            number += 1
        if found or not listed.more or any(islice(tellings_from(items, position), limit - 1, None)):
            return items, list(found.values()), listed.head
        rows *= 2


def _changes(
    table: Table, catalog: Catalog, wanted: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], Change]:
    """What these versions changed. They were remembered before they were told, so what a late copy lacks is read once more."""
    project = catalog.tenant, catalog.project
    found = _of_versions(read_history(table, *project, wanted)) if wanted else {}
    missing = [one for one in wanted if one not in found]
    return found | _of_versions(read_history(table, *project, missing, consistent=True)) if missing else found


def _of_versions(found: Mapping[tuple[int, int], Change]) -> dict[tuple[int, int], Change]:
    """Without removals by hand: a late copy, or a late write of a dead consumer, shows one where the issue was put back since."""
    return {key: change for key, change in found.items() if not change.by_hand}
