"""When a fold is worth its writes: the waiting changes have a certain weight, or have waited for a certain
time.

A process has one pace. `use` sets it at start, from the stack's settings.
"""

from typing import Final, NamedTuple


class Pace(NamedTuple):
    """The fold waits until changes of this `weight` wait, or until the oldest of them has waited for so many
    `seconds`.
    """

    weight: int = 256
    seconds: int = 900


LONGEST: Final = Pace().seconds
"""The most seconds of a pace: the check of journals, and the journals kept by containers, rely on it."""

HEAVIEST: Final = 1_000
"""The largest weight of a pace. At this weight a consumer wakes the fold without waiting for the next minute."""

_used = Pace()


def pace() -> Pace:
    """Return the pace of this process."""
    return _used


def use(wanted: Pace) -> None:
    """Set the pace of this process. ValueError if it is out of range."""
    global _used
    if not (1 <= wanted.weight <= HEAVIEST and 1 <= wanted.seconds <= LONGEST):
        raise ValueError(f"a weight of 1 to {HEAVIEST:,}, and 1 to {LONGEST} seconds")
    _used = wanted
