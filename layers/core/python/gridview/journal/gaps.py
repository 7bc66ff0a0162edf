"""Numbers of a journal that a writer has taken and left without an item. Followers of the journal wait at
them.

A consumer that loses a number empties it at once. A consumer that was killed leaves it; then the next reader
empties it once it has been missing for some seconds. If its writer is still alive after all, its item fails,
and it plans again (`committer`).
"""

from collections.abc import Iterable

from gridview.journal.items import Head, JournalItem
from gridview.journal.log import Log
from gridview.support import clock

MISSING_SECONDS = 3.0
"""A number that has been missing for so long is emptied."""

_KEPT = 1_000
"""Journals of which a container remembers how far it has looked."""


def first_missing(after: int, records: Iterable[JournalItem]) -> int:
    """Return the first number after `after` that none of these items has."""
    there = {record.number for record in records}
    number = after + 1
    while number in there:
        number += 1
    return number


def overdue(after: int, records: Iterable[JournalItem], now: float) -> list[int]:
    """Return the numbers after `after` that have been missing for some seconds.

    `records` are items that were read after it, none left out in between: a later one was put by the taker of
    a later number.
    """
    found = {record.number: record.made for record in records if record.number > after}
    return [
        number
        for number in range(after + 1, max(found, default=after))
        if number not in found
        and now - min(made for later, made in found.items() if later > number) >= MISSING_SECONDS
    ]


class Gaps:
    """The journals that one container writes to, each with the number up to which none is missing."""

    def __init__(self) -> None:
        self._whole: dict[str, int] = {}

    def close(self, log: Log, head: Head) -> None:
        """Empty the numbers that have been missing for some seconds.

        Half a read unit for each 4 KB of the items put since the last look, and 1 write unit for each such
        number. `head` may be late.
        """
        known = self._whole.get(log.partition, 0)
        whole = max(known if known <= head.last else 0, head.folded)  # a project may have been made again
        if whole < head.last:
            records = log.after(whole, consistent=False).records
            for number in overdue(whole, records, clock.seconds()):
                log.close(number)
            whole = first_missing(whole, records) - 1
        if len(self._whole) >= _KEPT:
            self._whole.clear()
        self._whole[log.partition] = whole
