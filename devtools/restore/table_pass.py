"""Carries out a restore's changes (`raising`): one pass over all items of the restored table.

No other process may write to the table meanwhile. The pass can be killed at any point and made again: changed items
stay as they are.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from devtools.failure import Failure
from devtools.restore.raising import Change, Delete, Put, Raise, Source, note
from gridview.dynamodb.expressions import Item, Key
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.support import clock
from gridview.support.concurrency import in_threads

_SEGMENTS: Final = 4
_PAGE: Final = 1_000
"""Items of one Scan. Without a limit DynamoDB Local looks at the whole rest of the table for each page."""
_AT_ONCE: Final = 8
"""Items of a page that are changed at once, in each segment."""

Say = Callable[[int], None]
"""Gets the number of items read, after each page."""


def begun(table: Table, name: str, lost_writes: int | None) -> Raise | None:
    """The restore of this name, which begins now unless it has begun before; None: all of it has been done.

    A read unit, and a write unit for a new one.
    """
    found = table.get(keys.RESTORE, keys.RESTORE, consistent=True)
    now = clock.seconds()
    if found is not None and found["name"] == name:
        return None if found["done"] else Raise(found["version"], now, lost_writes)
    restore = Raise(round(now * 1_000), now, lost_writes)
    table.put(note(restore, name, done=False))
    return restore


def raise_all(table: Table, lost: Table | None, restore: Raise, name: str, say: Say = lambda _: None) -> int:
    """Make the restore's changes, and note that all are made; returns how many.

    Costs half a read unit for each 4 KB of the table, and for each issue a read unit for its ledger. The writes cost
    the units of both, and of the document also in GSI1. Failure: a project has not enough numbers left.
    """

    def passed(segment: int) -> int:
        count, after = 0, None
        while True:
            page = table.scan(after=after, segment=segment, segments=_SEGMENTS, limit=_PAGE)
            count += _change(table, lost, restore, page.items)
            say(len(page.items))
            after = page.last
            if after is None:
                return count

    try:
        count = sum(in_threads(passed, range(_SEGMENTS), _SEGMENTS))
    except ValueError as error:
        raise Failure(f"The restore cannot continue: {error}.") from error
    table.put(note(restore, name, done=True))
    return count


def _change(table: Table, lost: Table | None, restore: Raise, items: Iterable[Item]) -> int:
    asked = [(item, restore.asks(item)) for item in items]
    others = {
        source: _read(
            source, table, lost, [one[1] for _, one in asked if one is not None and one[0] == source]
        )
        for source in ("restored", "lost")
    }

    def changed(pair: tuple[Item, tuple[Source, Key] | None]) -> int:
        item, ask = pair
        changes = restore.changes_to(item, None if ask is None else others[ask[0]].get(ask[1]))
        for change in changes:
            _make(table, change)
        return len(changes)

    return sum(in_threads(changed, asked, _AT_ONCE))


def _read(source: str, table: Table, lost: Table | None, wanted: list[Key]) -> Mapping[Key, Item]:
    asked = table if source == "restored" else lost
    return {} if asked is None else asked.batch_get(wanted, consistent=True).items


def _make(table: Table, change: Change) -> None:
    match change:
        case Put(item):
            table.put(item)
        case Delete(pk, sk):
            table.delete(pk, sk)
