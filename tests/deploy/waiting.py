"""Waiting for what happens behind the API."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 300.0
"""Seconds after which nothing more is expected to happen. No test passes or fails by being quick or slow within them."""


def until(look: Callable[[], T], good: Callable[[T], bool]) -> T:
    """What `look` gives as soon as it is `good`; else what it gave last."""
    deadline = time.monotonic() + PATIENCE
    while True:
        seen = look()
        if good(seen) or time.monotonic() > deadline:
            return seen
        time.sleep(0.2)
