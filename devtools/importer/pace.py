"""The pace of an import: at most so many rows a second, over all workers."""

import threading
import time
from collections.abc import Callable

from infra.limits import IMPORTED_PER_SECOND


def rows_per_second(asked: int | None, api: str | None) -> int | None:
    """The rate of an import to `api` (None: the local stack, whose engine throttles no key); None: as fast as it goes."""
    return asked if asked is not None or api is None else IMPORTED_PER_SECOND


class Pace:
    """Spaces batches out. Safe to use from several threads."""

    def __init__(
        self,
        rows_per_second: int,
        wait: Callable[[float], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`wait` waits for some seconds. It may raise, to end the import."""
        self._rate = rows_per_second
        self._wait = wait
        self._clock = clock
        self._free = clock()
        self._lock = threading.Lock()

    def take(self, rows: int) -> None:
        """Wait until so many rows may be sent. A batch goes at once if the one before it has had its time."""
        with self._lock:
            now = self._clock()
            begin = max(self._free, now)
            self._free = begin + rows / self._rate
        if begin > now:
            self._wait(begin - now)
