"""Numbers of a journal that somebody has taken and left without an item. Whoever follows the journal waits at them.

A consumer that loses a number empties it at once. One that died has left it as it was; then whoever comes by empties it once it has
been missing for some seconds. Should its writer be alive after all, his item fails, and he plans anew (`committer`).
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
    """The first number behind `after` that none of these items has."""
    there = {record.number for record in records}
    number = after + 1
    while number in there:
        number += 1
    return number


def overdue(after: int, records: Iterable[JournalItem], now: float) -> list[int]:
    """The numbers behind `after` that have been missing for some seconds.

    `records` are items that were read behind it, none left out in between: a later one was put by somebody who took a later number.
    """
    found = {record.number: record.made for record in records if record.number > after}
    return [
        number
        for number in range(after + 1, max(found, default=after))
        if number not in found
        and now - min(made for later, made in found.items() if later > number) >= MISSING_SECONDS
    ]


class Gaps:
    """What one container knows of the journals that it writes to: up to which number none is missing."""

    def __init__(self) -> None:
        self._whole: dict[str, int] = {}

    def close(self, log: Log, head: Head) -> None:
        """Empty the numbers that have been missing for some seconds.

        Half a read unit for each 4 KB of what was put since the last look, and 1 write unit for each such number. `head` may be
        late.
        """
        known = self._whole.get(log.partition, 0)
        whole = max(known if known <= head.last else 0, head.folded)  # a project may have been made anew
        if whole < head.last:
            records = log.behind(whole, consistent=False).records
            for number in overdue(whole, records, clock.seconds()):
                log.close(number)
            whole = first_missing(whole, records) - 1
        if len(self._whole) >= _KEPT:
            self._whole.clear()
        self._whole[log.partition] = whole
