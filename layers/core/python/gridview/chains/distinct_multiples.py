"""The different multiples that issues of a layer (`number_layers`) have. Exact, and pure."""

from array import array
from collections.abc import Iterable, Iterator
from functools import lru_cache

from pyroaring import BitMap

_NARROW = 24
"""Magnitudes of up to so many binary digits can be bits of a set: 4 MB."""

_SPARSE = 9
"""A set takes longer than Python's own with fewer magnitudes than one for 2^9 of its bits."""


class Magnitudes:
    """Different whole numbers from 0 on, each kept as the even number 2m.

    Many narrow ones are bits of a set that has all odd numbers from the start. So none of its containers ever is a list,
    into which it takes ten times as long to add numbers without order.
    """

    def __init__(self, width: int, count: int) -> None:
        """`width`: the binary digits of the largest. `count`: about how many come, equal ones included."""
        self._width = width
        self._bits = _odd(width).copy() if width <= _NARROW and count << _SPARSE >= 1 << width else None
        self._own = 0 if self._bits is None else len(self._bits)
        self._others: set[int] = set()

    def add(self, doubled: Iterable[int]) -> None:
        """Add numbers, given as 2m."""
        if self._bits is None:
            self._others.update(doubled)
        else:
            self._bits.update(array("I", doubled))

    def __len__(self) -> int:
        """Return how many different ones there are."""
        return len(self._others) if self._bits is None else len(self._bits) - self._own

    def __contains__(self, m: int) -> bool:
        """Whether there is a number."""
        return m.bit_length() <= self._width and 2 * m in (self._others if self._bits is None else self._bits)

    def __iter__(self) -> Iterator[int]:
        """Return the different ones."""
        return (two // 2 for two in (self._others if self._bits is None else self._bits) if not two & 1)


class Multiples:
    """Different multiples: those from 0 on, and the magnitudes of the negative ones."""

    def __init__(self, positive: Magnitudes, negative: Magnitudes) -> None:
        self._positive, self._negative = positive, negative

    def __len__(self) -> int:
        """Return how many different ones there are."""
        return len(self._positive) + len(self._negative)

    def __contains__(self, m: int) -> bool:
        """Whether there is a multiple."""
        return abs(m) in (self._negative if m < 0 else self._positive)

    def __iter__(self) -> Iterator[int]:
        """Return the different ones."""
        yield from self._positive
        yield from (-m for m in self._negative)


@lru_cache(maxsize=2)
def _odd(width: int) -> BitMap:
    return BitMap(range(1, 2 << width, 2))
