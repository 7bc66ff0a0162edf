"""Buckets that limit how much comes at once and how much a second. A stored bucket is one number, `spent`: the instant
at which it is full again. Pure.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """A bucket that holds `size` and fills again by so many a second."""

    size: int
    per_second: int

    @property
    def step(self) -> int:
        """By how many milliseconds taking one delays the instant at which it is full again."""
        return 1_000 // self.per_second

    def fullest(self, now: float) -> int:
        """Return the latest `spent`, in milliseconds, with which something is left at an instant."""
        return round(now * 1_000) + (self.size - 1) * self.step

    def has_room(self, spent: int, now: float) -> bool:
        """Return whether something is left at an instant in a bucket that is full again at `spent`, in
        milliseconds.
        """
        return spent <= self.fullest(now)
