"""Virtual time for concurrent work: threads of the core are strands, and the clock jumps to the next one that wakes.

So a test measures durations in a world where only injected delays take time, however busy the machine is.
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
    """A clock that only `sleep` moves. Each piece of work begins when the one before has ended."""

    def __init__(self, begins: float) -> None:
        self.now = begins
        self._sleeping: list[tuple[float, int, strands.Strand]] = []
        self._slept = 0

    def seconds(self) -> float:
        """This instant."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Wait in the calling strand; outside of any, time simply passes."""
        strand = strands.current()
        if strand is None:
            self.now += max(seconds, 0.0)
            return
        self._slept += 1
        self._sleeping.append((self.now + max(seconds, 0.0), self._slept, strand))
        strand.stop()

    def run(self, work: Callable[[], Result]) -> Result:
        """Run work with all its concurrent parts; time passes by their sleeps."""
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
    """Make the core's clock, its pauses and its threads virtual.

    It begins with the next whole minute: cursors of changes name the minute in which they were made.
    """
    virtual = VirtualTime((time.time() // 60 + 1) * 60)
    with monkeypatch.context() as patch:
        patch.setattr(clock, "seconds", virtual.seconds)
        patch.setattr(clock, "sleep", virtual.sleep)
        patch.setattr(concurrency, "ThreadPoolExecutor", strands.Pool)
        yield virtual


class TimedWire:
    """A wire whose messages take time: `seconds` each, and for `stuck` connections as long as the real wire waits."""

    def __init__(self, wire: Any, virtual: VirtualTime, *, seconds: float, patience: float) -> None:
        self._wire = wire
        self._virtual = virtual
        self.seconds = seconds
        self._patience = patience
        self.stuck: set[str] = set()
        self.posted: dict[str, list[float]] = {}
        """The times at which each connection received its messages."""
        self.attempts: dict[str, int] = {}

    def post(self, connection: str, frame: bytes) -> None:
        """Send a message. Raises Gone or Slow."""
        self.attempts[connection] = self.attempts.get(connection, 0) + 1
        if connection in self.stuck:
            self._virtual.sleep(self._patience)
            self._wire.slow.add(connection)
        else:
            self._virtual.sleep(self.seconds)
        self._wire.post(connection, frame)
        self.posted.setdefault(connection, []).append(self._virtual.now)

    def end(self, connection: str) -> None:
        """Close a connection, if it is open."""
        self._virtual.sleep(self.seconds)
        self._wire.end(connection)
