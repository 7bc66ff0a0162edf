"""Processes that play many short scenarios, forked so that they share what was imported and prepared once."""

import gc
import multiprocessing
from collections.abc import Callable
from multiprocessing.pool import Pool

_COLLECTED_AFTER = 100_000
"""New objects after which Python looks for cycles. The default takes a tenth of a scenario's CPU time."""


def forked(jobs: int, start: Callable[[], object] = lambda: None) -> Pool:
    """A pool of so many processes, each of which calls `start` first. Nothing else may run in this process."""
    return multiprocessing.get_context("fork").Pool(jobs, _begin, (start,))


def _begin(start: Callable[[], object]) -> None:
    gc.freeze()
    gc.set_threshold(_COLLECTED_AFTER)
    start()
