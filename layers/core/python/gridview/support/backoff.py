"""How often something is tried again that others got in the way of, and how long to wait before."""

import random

from gridview.support import clock

ATTEMPTS = 6
"""How often an issue is planned anew, or a block read anew, because another invocation was at work on it."""

_PAUSE = 0.05
"""Seconds, at most, before the second attempt; twice as many each time after that."""


def pause(attempt: int) -> None:
    """Wait a little, longer each time: two that overtake each other at every step would go on so; let one of them finish."""
    clock.sleep(random.uniform(0, _PAUSE * 2**attempt))  # noqa: S311  (not a secret)
