"""Virtual time for what runs side by side: threads of the core are strands, and the clock jumps to whoever wakes next.

So a test measures how long something takes in a world where only what it injects takes time, on however busy a machine.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest

from devtools.proof.faults import strands
from gridview.support import clock, concurrency

Result = TypeVar("Result")


class VirtualTime:
    """A clock that only `sleep` moves. Each piece of work begins at the instant at which the one before it ended."""

    def __init__(self, begins: float) -> None:
        self.now = begins
        self._sleeping: list[tuple[float, int, strands.Strand]] = []
        self._slept = 0

    def seconds(self) -> float:
        """This instant."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Wait in the strand that calls; outside of any, time simply passes."""
        strand = strands.current()
        if strand is None:
            self.now += max(seconds, 0.0)
            return
        self._slept += 1
        self._sleeping.append((self.now + max(seconds, 0.0), self._slept, strand))
        strand.stop()

    def run(self, work: Callable[[], Result]) -> Result:
        """Do this and everything that it does side by side; time has passed by what that slept."""
        results: list[Result] = []
        together = strands.Strands()
        together.begin(lambda: results.append(work()))
        together.go_on()
        while self._sleeping:
            first = min(self._sleeping, key=lambda one: one[:2])
            self._sleeping.remove(first)
            self.now = max(self.now, first[0])
            together.go_on(first[2])
        (result,) = results
        return result


@contextmanager
def virtual_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[VirtualTime]:
    """Let the core's clock, its pauses and its threads be virtual within.

    It begins with the next whole minute: cursors of changes name the minute in which they were made.
    """
    virtual = VirtualTime((time.time() // 60 + 1) * 60)
    with monkeypatch.context() as patch:
        patch.setattr(clock, "seconds", virtual.seconds)
        patch.setattr(clock, "sleep", virtual.sleep)
        patch.setattr(concurrency, "ThreadPoolExecutor", strands.Pool)
        yield virtual


class TimedWire:
    """A wire whose messages take time: `seconds` each, and those of `stuck` connections as long as the real wire waits
    for them.
    """

    def __init__(self, wire: Any, virtual: VirtualTime, *, seconds: float, patience: float) -> None:
        self._wire = wire
        self._virtual = virtual
        self.seconds = seconds
        self._patience = patience
        self.stuck: set[str] = set()
        self.posted: dict[str, list[float]] = {}
        """When each connection took its messages."""
        self.attempts: dict[str, int] = {}

    def post(self, connection: str, frame: bytes) -> None:
        """Send a message. Gone, Slow."""
        self.attempts[connection] = self.attempts.get(connection, 0) + 1
        if connection in self.stuck:
            self._virtual.sleep(self._patience)
            self._wire.slow.add(connection)
        else:
            self._virtual.sleep(self.seconds)
        self._wire.post(connection, frame)
        self.posted.setdefault(connection, []).append(self._virtual.now)

    def end(self, connection: str) -> None:
        """Close a connection, if there still is one."""
        self._virtual.sleep(self.seconds)
        self._wire.end(connection)
