"""Ranks: the short strings by which enum options sort.

A rank is four characters in base 36 (``0-9a-z``), so ranks compare alike as strings and as numbers. An option
keeps its rank for as long as an order allows, because a new rank means reindexing every issue that has the
option. Pure.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

RANK_WIDTH = 4
RANK_PATTERN = re.compile(rf"[0-9a-z]{{{RANK_WIDTH}}}")

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_CAPACITY = len(_DIGITS) ** RANK_WIDTH

_END_STEP = 2048
"""Largest step beyond the first or last rank. Options are mostly appended one at a time. Halving the
remaining room would use it up in twenty steps.
"""


def reorder(ranks: Sequence[str | None], taken: Collection[str] = ()) -> list[str]:
    """Return strictly ascending ranks for options in a new order, changing as few existing ones as possible.

    ``ranks`` holds, in the new order, each option's present rank, or None for a new option. No other solution
    keeps more ranks. New ranks are spaced evenly between the kept ranks around them. None of them is in
    ``taken``, the ranks of options outside the order.

    Raises ``ValueError`` for a malformed rank, or for more options than there are ranks (1,679,616).
    """
    free = _FreeRanks(set(taken).difference(ranks))
    count = len(ranks)
    if count > free.count:
        raise ValueError("more options than ranks")
    # Taken ranks are left out of the numbers, so every number between two others is room.
    # Slack is number minus position. Two options can both keep their numbers exactly when the options between
    # them have room there: slack does not fall from one to the other. Sentinels just outside the ranks, at
    # positions 0 and count + 1, close the gaps at both ends.
    floor, ceiling = -1, free.count - count - 1
    slack = {0: floor}
    for position, rank in enumerate(ranks, start=1):
        if rank is not None and floor <= free.number_of(rank) - position <= ceiling:
            slack[position] = free.number_of(rank) - position
    slack[count + 1] = ceiling
    kept = _longest_rising(slack)
    fresh: list[int] = []
    for left, right in pairwise(kept):
        low, high = left + slack[left], right + slack[right]
        fresh += _spread(low, high, right - left - 1, first=left == 0, last=right == count + 1)
        fresh.append(high)
    return [free.rank_of(number) for number in fresh[:-1]]


class _FreeRanks:
    """The ranks that are not taken, numbered from 0 without gaps."""

    def __init__(self, taken: Collection[str]) -> None:
        self._taken = sorted(map(_parse, taken))
        self._free_before = [number - place for place, number in enumerate(self._taken)]
        self.count = _CAPACITY - len(self._taken)

    def number_of(self, rank: str) -> int:
        """Return the number of a free rank."""
        return _parse(rank) - bisect_left(self._taken, _parse(rank))

    def rank_of(self, number: int) -> str:
        """Return the free rank with a number."""
        return _format(number + bisect_right(self._free_before, number))


def _longest_rising(values: Mapping[int, int]) -> list[int]:
    """Return the keys of a longest non-decreasing subsequence (patience sorting, n log n).

    If the last value is the largest, as here, the subsequence ends with the last key; likewise for the first.
    """
    tails: list[int] = []  # tails[k]: the smallest value that can end a subsequence of k + 1
    tail_keys: list[int] = []
    previous: dict[int, int | None] = {}
    for key, value in values.items():
        length = bisect_right(tails, value)
        previous[key] = tail_keys[length - 1] if length else None
        tails[length : length + 1] = [value]
        tail_keys[length : length + 1] = [key]
    chosen: list[int] = []
    key_or_end: int | None = tail_keys[-1]
    while key_or_end is not None:
        chosen.append(key_or_end)
        key_or_end = previous[key_or_end]
    return chosen[::-1]


def _spread(low: int, high: int, count: int, *, first: bool, last: bool) -> list[int]:
    """Return ``count`` ascending numbers strictly between ``low`` and ``high``; the caller ensures that they fit."""
    if first is not last:
        reach = min(high - low, _END_STEP * (count + 1))
        low, high = (high - reach, high) if first else (low, low + reach)
    return [low + (high - low) * (i + 1) // (count + 1) for i in range(count)]


def _parse(rank: str) -> int:
    if RANK_PATTERN.fullmatch(rank) is None:
        raise ValueError("malformed rank")
    return int(rank, 36)


def _format(number: int) -> str:
    digits = ""
    for _ in range(RANK_WIDTH):
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits
