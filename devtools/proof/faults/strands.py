"""The threads of an invocation in a scenario: each stops before its calls, and one at a time goes on.

In production they are threads of the operating system, in an order of chance. A strand runs until it stops by itself,
and the scenario decides which is next. So the same seed is the same order. Between two calls a strand is never
interrupted.
"""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent import futures
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from typing import Any

from greenlet import getcurrent, greenlet
from typing_extensions import override


class Killed(BaseException):
    """The invocation is over: timed out, out of memory, or its machine is gone."""


class Strand(greenlet):
    """A thread of an invocation."""

    def __init__(self, strands: "Strands", work: Callable[[], None]) -> None:
        def run() -> None:
            with suppress(Killed):
                work()

        super().__init__(run, strands.outside)
        self.strands = strands
        self.until: Callable[[], bool] | None = None
        """The condition that it waits for, if it waits for others."""

    def stop(self) -> None:
        """Stop until it is let go on. Only its own code calls this."""
        if not self.strands.over:
            self.strands.outside.switch()
        if self.strands.over:
            raise Killed


class Strands:
    """The threads of one invocation. Code outside of them lets them go on."""

    def __init__(self) -> None:
        self.outside = getcurrent()
        self.over = False
        self.alive: list[Strand] = []
        self._ready: deque[Strand] = deque()

    def begin(self, work: Callable[[], None]) -> Strand:
        """Return another strand, which begins when the running ones have stopped."""
        strand = Strand(self, work)
        self.alive.append(strand)
        self._ready.append(strand)
        return strand

    def go_on(self, strand: Strand | None = None) -> None:
        """Let this strand go on, and others with it, until all of them have stopped."""
        if strand is not None:
            self._ready.append(strand)
        while self._ready:
            while self._ready:
                self._ready.popleft().switch()
            self.alive = [one for one in self.alive if not one.dead]
            for one in self.alive:
                if one.until is not None and one.until():
                    one.until = None
                    self._ready.append(one)

    def kill(self) -> None:
        """End all of them at the calls where they wait."""
        self.over = True
        for strand in self.alive:
            strand.throw(Killed)
        self.alive.clear()


def current() -> Strand | None:
    """The strand that is at work; None outside of any invocation."""
    strand = getcurrent()
    return strand if isinstance(strand, Strand) else None


def _wait(until: Callable[[], bool]) -> None:
    """Let others go on until they have brought something about."""
    strand = current()
    if strand is not None and not until():
        strand.until = until
        strand.stop()


class _Promised(Future[Any]):
    @override
    def result(self, timeout: float | None = None) -> Any:
        _wait(self.done)
        return super().result(timeout)


class Pool(Executor):
    """Replaces a thread pool of the core. Outside of an invocation it does its work at once."""

    def __init__(self, max_workers: int = 1, *_: object, **__: object) -> None:
        strand = current()
        self._strands = strand.strands if strand is not None else None
        self._most = max_workers
        self._workers: list[Strand] = []
        self._given: deque[tuple[Future[Any], Callable[[], Any]]] = deque()

    @override
    def submit(self, work: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        promised = _Promised()
        self._given.append((promised, partial(work, *given, **named)))
        if self._strands is None:
            self._work()
        elif len(self._workers) < self._most:
            self._workers.append(self._strands.begin(self._work))
        return promised

    @override
    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if wait:
            _wait(lambda: all(worker.dead for worker in self._workers))

    def _work(self) -> None:
        while self._given:
            promised, work = self._given.popleft()
            if not promised.set_running_or_notify_cancel():
                continue
            try:
                promised.set_result(work())
            except Exception as error:
                promised.set_exception(error)


def wait(promised: Iterable[Future[Any]]) -> tuple[set[Future[Any]], set[Future[Any]]]:
    """Replaces the function of this name in `concurrent.futures`."""
    awaited = list(promised)
    _wait(lambda: all(one.done() for one in awaited))
    return futures.wait(awaited)
