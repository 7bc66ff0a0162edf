"""The end of a journal, as a container keeps it: changes that blocks, sort entries and directories may not show yet.

```
                  shown to everybody                 | not yet
    before: nothing | kept for the directories       | kept | after a missing number | new
                  floor                            shown   last
```

A journal item never changes, so a container reads each once, and a query only new ones. Items after a missing number are
laid over too. They are read again until that number is known: the writer that took it may still put its item. The head
only shows which items are no longer needed. So it is seldom read, and in parallel to the items.

Reads of GSI1 from the instant `since` on show everything up to `floor`. So with the items after the floor, a container can
keep using a directory that it read then, however much was folded meanwhile.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Self

from pyroaring import BitMap

from gridview.dynamodb.side_by_side import side_by_side
from gridview.encoding import derived_keys
from gridview.journal.items import Head, JournalItem
from gridview.journal.log import Log
from gridview.support import clock
from gridview.support.errors import Overloaded
from gridview.view import freshness, kept_columns
from gridview.view.block_cache import BlockCache
from gridview.view.index_clock import Sighting, index_time, shown_since
from gridview.view.moves import FamilyMoves, Logged, logged_moves

_HEAD_SECONDS = 30.0
"""Seconds after which the head is read again if an item is not shown to everybody.

A fold of few changes waits for minutes.
"""

_IDLE_SECONDS = 60.0
"""Seconds after which the head is read in any case: a great many items may have come, and been folded."""

_KEPT_CHANGES = 500
"""Beyond so many changes, those shown to everybody go: to lay them over costs more than to read the directories again."""

_KEPT_SECONDS = 1_800.0
"""Seconds after which they go too. They may wait for the fold during half of that time."""

_BYTES = 4
"""Bytes in memory for each byte in a change's strings."""


@dataclass(frozen=True, slots=True)
class JournalTail:
    """The items after `floor` up to `last`, none missing, and their moves.

    Everybody is shown the items up to `shown`, and was shown those up to `floor` from the instant `since` on. The head was
    read at `looked_at`.
    """

    floor: int
    since: float
    shown: int
    last: int
    looked_at: float
    items: Sequence[JournalItem] = ()
    moves: Mapping[int, FamilyMoves] = field(default_factory=dict)

    def wants_head(self, now: float) -> bool:
        """Whether it is time to read the head."""
        waits = bool(self.items) and self.items[-1].number > self.shown
        return now - self.looked_at >= (_HEAD_SECONDS if waits else _IDLE_SECONDS)

    def at_head(self, head: Head, now: float, sighting: Sighting | None = None) -> Self:
        """Return the tail after a read of the head, without items that are too old, or too many.

        Items that were not read are passed over.
        """
        shown = max(self.shown, head.shown(index_time(now, sighting)))
        changes = sum(len(item.changes) for item in self.items)
        aged = bool(self.items) and now - self.items[0].made > _KEPT_SECONDS
        if self.last >= shown and changes <= _KEPT_CHANGES and not aged:
            return replace(self, shown=shown, looked_at=now)
        items = [item for item in self.items if item.number > shown]
        moves = self.moves if len(items) == len(self.items) else logged_moves(items)
        return replace(
            self,
            floor=shown,
            since=max(self.since, shown_since(head.shown_since(shown), sighting)),
            shown=shown,
            last=max(self.last, shown),
            looked_at=now,
            items=items,
            moves=moves,
        )

    def with_items(self, found: Iterable[JournalItem]) -> Self:
        """Add the items that follow the last one without a gap."""
        by_number = {item.number: item for item in found}
        new: list[JournalItem] = []
        while (item := by_number.get(self.last + len(new) + 1)) is not None:
            new.append(item)
        if not new:
            return self
        moves = logged_moves(new, self.moves)
        return replace(self, last=new[-1].number, items=[*self.items, *new], moves=moves)

    def logged(self, found: Iterable[JournalItem]) -> Logged:
        """The changes of the tail, and those of these items that come after its last one."""
        newer = sorted((item for item in found if item.number > self.last), key=lambda item: item.number)
        recent = (item for item in (*self.items, *newer) if item.number > self.shown)
        return Logged(
            logged_moves(newer, self.moves) if newer else self.moves,
            BitMap(change.num for item in recent for change in item.changes),
            self.last,
            self.since,
            self.items,
            newer,
            self.floor,
        )

    @classmethod
    def after_head(cls, head: Head, now: float, sighting: Sighting | None = None) -> Self:
        """The tail that is known from only a head and the last sighting of the canary."""
        shown = head.shown(index_time(now, sighting))
        return cls(shown, shown_since(head.shown_since(shown), sighting), shown, shown, now)

    @property
    def size(self) -> int:
        """Approximate bytes in memory."""
        return _BYTES * sum(change.size for change in chain(*(item.changes for item in self.items)))


def tail_of(log: Log, cache: BlockCache) -> JournalTail | None:
    """The tail that a container keeps of a journal; None if there is none."""
    tail: JournalTail | None = cache.journal(log.partition)
    return tail


def recent_moves(
    log: Log, cache: BlockCache, tail: JournalTail | None, *, consistent: bool = False
) -> Logged:
    """The journal's present changes: new items are read, and kept with the container's tail.

    Half a read unit for each 4 KB that this container has not read, twice that if `consistent`. Sometimes 1 unit for the
    head, in the same round. If the container has no tail yet, the head comes first, in a round of its own (`learn` does
    that earlier). Overloaded.
    """
    now = clock.seconds()
    tail = tail or _first_tail(log, cache)
    head: Head | None = None
    if tail.wants_head(now):
        listed, head = side_by_side(
            log.table,
            lambda: log.after(tail.last, consistent=consistent),
            lambda own: replace(log, table=own).head(),
        )
    else:
        listed = log.after(tail.last, consistent=consistent)
    if head is not None and head.last < tail.last:  # the table was restored to an earlier moment
        kept_columns.forget(cache, log.tenant, log.project)
        return recent_moves(
            log, cache, JournalTail.after_head(head, now, cache.sighting), consistent=consistent
        )
    found = list(listed.records)
    if listed.more:
        head = head or log.head()
        begin = max((head.shown(index_time(now, cache.sighting)), *(item.number for item in found)))
        found += log.all_after(begin, consistent=consistent)
    used = kept = tail.with_items(found)
    if head is not None:
        kept = kept.at_head(head, now, cache.sighting).with_items(found)
        if kept.last < head.folded:  # no number up to there is missing, so a copy of the table was late
            found = log.all_after(kept.last)
            used, kept = used.with_items(found), kept.with_items(found)
    cache.keep_journal(log.partition, kept, kept.size)
    if kept.floor > tail.floor and used.last >= kept.floor:
        leaving = [item for item in used.items if item.number <= kept.floor]
        kept_columns.take_in(cache, log.tenant, log.project, leaving, (tail.since, kept.since))
    # Between the kept items and the waiting ones there may be items that were passed over.
    return (used if used.last >= kept.last else kept).logged(found)


def learn(log: Log, cache: BlockCache) -> None:
    """Let a container know where the end of a journal begins, if it does not know and there is a journal.

    Half a read unit. Half a unit more for the heartbeat's note if the container has not read it for a while; then
    `freshness.read` does not read it.
    """
    if cache.journal(log.partition) is None:
        head = _end(log, cache)
        if head is not None:
            cache.keep_journal(
                log.partition, JournalTail.after_head(head, clock.seconds(), cache.sighting), 0
            )


def _first_tail(log: Log, cache: BlockCache) -> JournalTail:
    """The first tail of a container without one: as `learn`, strongly consistent. Overloaded."""
    head = _end(log, cache, consistent=True)
    if head is None:
        raise Overloaded(f"{log.partition} has no head; try again.")
    return JournalTail.after_head(head, clock.seconds(), cache.sighting)


def _end(log: Log, cache: BlockCache, *, consistent: bool = False) -> Head | None:
    """The head of a journal. If the container lacks the heartbeat's note, with the lag of GSI1, both are read together."""
    if cache.beat() is not None:
        return log.known_head(consistent=consistent)
    own = (log.partition, derived_keys.FOLD)
    items = log.table.batch_get([own, freshness.OF_BEAT], consistent=consistent).items
    freshness.keep_beat(cache, items.get(freshness.OF_BEAT))
    return Head.from_item(items[own]) if own in items else None
