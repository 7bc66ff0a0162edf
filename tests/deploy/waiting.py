"""Polls for the results of background work."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 300.0
"""Seconds after which nothing more is expected to happen. No test depends on the speed within them."""


def until(look: Callable[[], T], good: Callable[[T], bool]) -> T:
    """The result of `look` as soon as it is `good`; else its last result."""
    deadline = time.monotonic() + PATIENCE
    while True:
        seen = look()
        if good(seen) or time.monotonic() > deadline:
            return seen
        time.sleep(0.2)
