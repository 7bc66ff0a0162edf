"""Back-off: how often a lost race is tried again, and how long to wait before."""

import random
from collections.abc import Iterator

from gridview.support import clock

ATTEMPTS = 6
"""How often a writer plans an issue or reads a block again after another invocation came first."""

_PAUSE = 0.05
"""Seconds, at most, before the second attempt. The limit doubles with each further attempt."""


def attempts() -> Iterator[int]:
    """Return the attempts of a writer, from 0 on, with a pause after each that it does not end with."""
    for attempt in range(ATTEMPTS):
        yield attempt
        pause(attempt)


def pause(attempt: int) -> None:
    """Wait at random, longer after each attempt, so that two writers do not overtake each other forever."""
    clock.sleep(random.uniform(0, _PAUSE * 2**attempt))  # noqa: S311  (not a secret)
