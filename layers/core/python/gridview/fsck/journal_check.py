"""Finds the faults of a journal: a missing head, missing numbers and marks, items that no fold took. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from gridview.fsck.issue_diff import Difference, DifferenceKind
from gridview.journal.items import EXPIRES_DAYS, Head, JournalItem, Listing

LATE = 1_800.0
"""Seconds after which the writer of a number, and the fold that waits for the longest pace, have had their
time: twice as long.
"""

LOOKED_BACK = 1_000
"""Numbers up to the watermark that are looked at."""

_SURE_DAYS = EXPIRES_DAYS - 2
"""An item that is younger than this has not expired, however its neighbours were deleted."""


def faults(
    partition: str, head: Head | None, folded: Sequence[JournalItem], unfolded: Listing, now: float
) -> list[Difference]:
    """Return the faults of a journal at an instant, in the order of its numbers.

    `head` was read before the items: `folded`, the last ones up to its watermark, and `unfolded`, the items
    after it.
    """
    if head is None:
        return [Difference(partition, DifferenceKind.HEADLESS, "head")]
    return [
        *(Difference(partition, DifferenceKind.LOST, str(number)) for number in _lost(head, folded, now)),
        *(Difference(partition, kind, str(number)) for number, kind in _waiting(head, unfolded, now)),
    ]


def _lost(head: Head, folded: Sequence[JournalItem], now: float) -> Iterator[int]:
    """Return the numbers up to the watermark without an item, after one that is too young to have expired."""
    known = {item.number for item in folded}
    young = (item.number for item in folded if now - item.made < _SURE_DAYS * 86_400)
    first = min(young, default=head.folded + 1)
    yield from (number for number in range(first, head.folded + 1) if number not in known)


def _waiting(head: Head, unfolded: Listing, now: float) -> Iterator[tuple[int, DifferenceKind]]:
    """Return numbers after the watermark that should have been folded by now, and the faults of the first
    few.
    """
    records = {item.number: item for item in unfolded.records}
    end = max(records, default=head.folded) if unfolded.more else head.last
    for number in range(head.folded + 1, end + 1):
        if now - _begun(number, head, records, now) < LATE:
            return
        kind = _fault(number, records, unfolded.marked)
        yield number, kind
        if kind is DifferenceKind.UNFOLDED:
            return  # the numbers after it wait for it


def _fault(number: int, records: Mapping[int, JournalItem], marked: Collection[int]) -> DifferenceKind:
    record = records.get(number)
    if record is None:
        return DifferenceKind.HOLE
    if record.needs_mark and number not in marked:
        return DifferenceKind.UNMARKED
    return DifferenceKind.UNFOLDED


def _begun(number: int, head: Head, records: Mapping[int, JournalItem], now: float) -> float:
    """When a number was taken at the latest, as far as that is known."""
    taken = [item.made for item in records.values() if item.number >= number]
    if number <= head.seen:
        taken.append(head.seen_at)
    return min(taken, default=now)
