"""When a project's issue numbers were given out, from its counter. Pure.

- `last`: the last number.
- `at`: when it was given out.
- `m7`: the last number before the first that was given out in a minute whose place in the ring is 7.

A write of the counter marks its minute unless that is marked, and drops the marks of the older half of the
ring. It reads nothing. So a mark may be of an earlier turn of the ring; it is true even so, for it covers
fewer numbers.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

_RING = 32
_MINUTE = 60
_SKEW = 2
"""Minutes by which the clock of a marking writer may be ahead."""


class Marking(NamedTuple):
    """A write of the counter: the attributes to set, those to copy from another attribute if they are
    missing, and those to drop.
    """

    assign: Mapping[str, int]
    keep: Mapping[str, str]
    drop: tuple[str, ...]


def marking(now: float) -> Marking:
    """Return the write for numbers given out `now` (seconds since 1970)."""
    minute = int(now // _MINUTE)
    older = tuple(_mark(minute - before) for before in range(_RING // 2, _RING))
    return Marking({"at": round(now * 1_000)}, {_mark(minute): "last"}, older)


class Numbering(NamedTuple):
    """A counter: the last number, when it was given out (None: nobody knows any more), and the marks by their
    places.
    """

    last: int
    at: float | None
    marks: Mapping[int, int]

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the stored item."""
        marks = {place: item[name] for place in range(_RING) if (name := f"m{place}") in item}
        return cls(item["last"], item["at"] / 1_000 if "at" in item else None, marks)

    def given_by(self, instant: float, now: float) -> int:
        """Return a number up to which all had surely been given out by an instant (both in seconds since
        1970).
        """
        if self.at is None or self.at <= instant:
            return self.last
        newest = int(now // _MINUTE) + _SKEW
        minutes = {newest - (newest - place) % _RING: number for place, number in self.marks.items()}
        return max(
            (number for minute, number in minutes.items() if (minute + 1) * _MINUTE <= instant), default=0
        )


def _mark(minute: int) -> str:
    return f"m{minute % _RING}"
