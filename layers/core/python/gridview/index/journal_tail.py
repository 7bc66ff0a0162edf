"""The end of a journal, as a container keeps it: what blocks, sort entries and directories may not show yet.

    shown to everybody | kept: no number is missing          | behind a number that is missing | new
                     floor                                  last

A journal item never changes, so a container reads each once, and a query only what is new. Items behind a missing number are laid
over too, and are read again until that number is known: whoever has taken it may still put its item. The head only tells which
items nobody needs any more, so it is seldom read, and beside the items.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Self

from gridview.dynamodb.side_by_side import side_by_side
from gridview.index.block_cache import BlockCache
from gridview.index.journal import Head, JournalItem
from gridview.index.journal_log import Log
from gridview.index.moves import FamilyMoves, logged_moves
from gridview.support import clock

_HEAD_SECONDS = 10.0
"""After so long the head is read again if items are kept: some may be shown to everybody by now."""

_IDLE_SECONDS = 60.0
"""After so long it is read even if none are: a great many may have come, and been folded."""

_BYTES = 4
"""Bytes in memory for each byte of a change's strings."""


@dataclass(frozen=True, slots=True)
class JournalTail:
    """The items behind `floor` up to `last`, none missing, and the moves that they tell. The head was read at `looked_at`."""

    floor: int
    last: int
    looked_at: float
    items: Sequence[JournalItem] = ()
    moves: Mapping[int, FamilyMoves] = field(default_factory=dict)

    def wants_head(self, now: float) -> bool:
        """Whether it is time to ask the head."""
        return now - self.looked_at >= (_HEAD_SECONDS if self.items else _IDLE_SECONDS)

    def at_head(self, head: Head, now: float) -> Self:
        """Without the items that everybody is shown."""
        floor = max(self.floor, head.shown(now))
        items = [item for item in self.items if item.number > floor]
        moves = self.moves if len(items) == len(self.items) else logged_moves(items)
        return replace(self, floor=floor, last=max(self.last, floor), looked_at=now, items=items, moves=moves)

    def with_items(self, found: Iterable[JournalItem]) -> Self:
        """With those items that follow the last one without a gap."""
        by_number = {item.number: item for item in found}
        new: list[JournalItem] = []
        while (item := by_number.get(self.last + len(new) + 1)) is not None:
            new.append(item)
        if not new:
            return self
        moves = logged_moves(new, self.moves)
        return replace(self, last=new[-1].number, items=[*self.items, *new], moves=moves)

    def moves_with(self, found: Iterable[JournalItem]) -> Mapping[int, FamilyMoves]:
        """The moves that these items tell too, as far as they are behind the last one."""
        behind = sorted((item for item in found if item.number > self.last), key=lambda item: item.number)
        return logged_moves(behind, self.moves) if behind else self.moves

    @classmethod
    def behind(cls, head: Head, now: float) -> Self:
        """What is known from a head alone."""
        floor = head.shown(now)
        return cls(floor, floor, now)

    @property
    def size(self) -> int:
        """About its bytes in memory."""
        return _BYTES * sum(change.size for change in chain(*(item.changes for item in self.items)))


def recent_moves(log: Log, cache: BlockCache) -> Mapping[int, FamilyMoves]:
    """The moves of the issues that the index may not show everybody where they belong, by the journal as it is now.

    Half a read unit for each 4 KB that this container has not read; sometimes 1 unit for the head, in the same round. If it knows
    nothing of the journal, the head comes first, in a round of its own (`learn` does that earlier). Overloaded.
    """
    now = clock.seconds()
    tail: JournalTail = cache.journal(log.partition) or JournalTail.behind(log.head(), now)
    head: Head | None = None
    if tail.wants_head(now):
        listed, head = side_by_side(
            log.table,
            lambda: log.behind(tail.last, consistent=False),
            lambda own: replace(log, table=own).head(),
        )
    else:
        listed = log.behind(tail.last, consistent=False)
    found = list(listed.records)
    if listed.more:
        head = head or log.head()
        begin = max((head.shown(now), *(item.number for item in found)))
        found += log.all_behind(begin, consistent=False)
    if head is not None:
        tail = tail.at_head(head, now)
    tail = tail.with_items(found)
    if (
        head is not None and tail.last < head.folded
    ):  # no number up to there is missing, so a copy of the table was late
        found = log.all_behind(tail.last)
        tail = tail.with_items(found)
    cache.keep_journal(log.partition, tail, tail.size)
    return tail.moves_with(found)


def learn(log: Log, cache: BlockCache) -> None:
    """Have a container know where the end of a journal begins, if it does not and if there is a journal: half a read unit."""
    if cache.journal(log.partition) is None:
        head = log.known_head()
        if head is not None:
            cache.keep_journal(log.partition, JournalTail.behind(head, clock.seconds()), 0)


def moves_now(log: Log) -> Mapping[int, FamilyMoves]:
    """The moves of issues that the index may not show everybody where they belong, strongly consistent: for whoever keeps nothing.

    A read unit for the head, and one for each 4 KB. Overloaded.
    """
    return logged_moves(log.recent())
