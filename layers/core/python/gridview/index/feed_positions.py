"""Places in the feed of a project, and what the items of its journal tell from one on. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from gridview.index.journal import IssueChange, JournalItem

_LONGEST = 1_000
"""Versions of one issue that an item can tell. So many more are told only of an issue whose ledger was lost."""


class FeedPosition(NamedTuple):
    """A place in a feed: the journal number of the next item, and how many of the versions that it tells come before.

    Nothing behind it was made before the instant `since` (seconds since 1970).
    """

    number: int
    place: int
    since: float


class ToldVersion(NamedTuple):
    """One version that an item tells, or (None) a change that nobody can tell; and the position behind it.

    `after`: this is what came after the version, of which is only known that the issue is gone. If it was deleted by the version
    itself, nothing.
    """

    num: int
    version: int | None
    behind: FeedPosition
    after: bool = False


def tellings_from(items: Sequence[JournalItem], position: FeedPosition) -> Iterator[ToldVersion]:
    """What these items tell behind a position, in order."""
    for item in items:
        begin = position.place if item.number == position.number else 0
        yield from islice(_told_by(item), begin, None)


def _told_by(item: JournalItem) -> Iterator[ToldVersion]:
    place = 0
    for change in item.changes:
        before = change.before
        if before is not None and before > change.version:
            continue
        versions: Iterable[int | None] = [None]
        if before is not None and change.version - before <= _LONGEST and not _vanished(change):
            versions = range(before + 1, change.version + 1)
        for version in versions:
            place += 1
            yield ToldVersion(change.num, version, FeedPosition(item.number, place, item.made))
        if change.removed and versions != [None]:
            place += 1
            behind = FeedPosition(item.number, place, item.made)
            yield ToldVersion(change.num, change.version, behind, after=True)


def _vanished(change: IssueChange) -> bool:
    """Whether somebody has taken the issue out of the table by hand: no version was made then."""
    return change.removed and change.before == change.version
