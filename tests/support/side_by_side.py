"""Requests that wait in parallel in virtual time: one runs at a time, and each pauses where it sleeps."""

import heapq
from collections.abc import Callable
from itertools import count
from typing import Generic, TypeVar

import pytest
from greenlet import getcurrent, greenlet

from gridview.support import clock

Result = TypeVar("Result")


class Started(Generic[Result]):
    """A request that was started."""

    def __init__(self, work: Callable[[], Result]) -> None:
        self.thread = greenlet(self._run)
        self.is_over = False
        self._work = work
        self._result: Result | None = None

    def _run(self) -> None:
        self._result = self._work()
        self.is_over = True

    @property
    def result(self) -> Result:
        """The returned value."""
        assert self.is_over
        assert self._result is not None
        return self._result


class Scene:
    """Virtual time. It passes only in `pass_time`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._over = 0.0
        self._begun = clock.seconds()
        self._due: list[tuple[float, int, greenlet]] = []
        self._numbers = count()
        monkeypatch.setattr(clock, "seconds", lambda: self._begun + self._over)
        monkeypatch.setattr(clock, "after", lambda more: clock.stored(self._begun + self._over + more))
        monkeypatch.setattr(clock, "sleep", self._sleep)

    def start(self, work: Callable[[], Result]) -> Started[Result]:
        """Start a request: it runs when time passes, after the requests that were started before."""
        started = Started(work)
        self._put(0.0, started.thread)
        return started

    def pass_time(self, seconds: float) -> None:
        """Let so many seconds pass, with everything that happens in them."""
        end = self._over + seconds
        while self._due and self._due[0][0] <= end:
            self._over, _, thread = heapq.heappop(self._due)
            thread.switch()
        self._over = end

    def _sleep(self, seconds: float) -> None:
        thread = getcurrent()
        assert thread.parent is not None, "only a started request may sleep"
        self._put(seconds, thread)
        thread.parent.switch()

    def _put(self, seconds: float, thread: greenlet) -> None:
        heapq.heappush(self._due, (self._over + seconds, next(self._numbers), thread))
