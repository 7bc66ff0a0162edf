"""A piece of work over many issues, and its cost."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, Protocol

from devtools.bench.capacity import Units

_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Work:
    """Work on so many `issues`: `seconds` and `cpu_seconds` (of all threads), and the calls and units of DynamoDB.

    `finished`: whether that was all of them, or as many as there was time for. `memory` is the growth of the process
    in bytes, at most; None if the process did other things before.
    """

    issues: int
    finished: bool
    seconds: float
    cpu_seconds: float
    calls: int
    read_units: float
    write_units: float
    memory: int | None = None

    @property
    def per_second(self) -> float:
        """Issues."""
        return self.issues / self.seconds

    @property
    def cpu_milliseconds(self) -> float:
        """For an issue."""
        return self.cpu_seconds * 1000 / self.issues

    @property
    def calls_each(self) -> float:
        """For an issue."""
        return self.calls / self.issues

    @property
    def read_units_each(self) -> float:
        """For an issue."""
        return self.read_units / self.issues

    @property
    def write_units_each(self) -> float:
        """For an issue."""
        return self.write_units / self.issues

    @property
    def megabytes(self) -> float | None:
        """The memory."""
        return None if self.memory is None else self.memory / _MEGABYTE

    def plus(self, other: "Work") -> "Work":
        """Return both together, as finished work without a memory of its own."""
        return Work(
            issues=self.issues + other.issues,
            finished=True,
            seconds=self.seconds + other.seconds,
            cpu_seconds=self.cpu_seconds + other.cpu_seconds,
            calls=self.calls + other.calls,
            read_units=self.read_units + other.read_units,
            write_units=self.write_units + other.write_units,
        )

    def to_json(self) -> dict[str, Any]:
        """All but the issues for an issue."""
        return {
            "issues": self.issues,
            "finished": self.finished,
            "per_second": self.per_second,
            "cpu_milliseconds": self.cpu_milliseconds,
            "calls": self.calls_each,
            "read_units": self.read_units_each,
            "write_units": self.write_units_each,
            "megabytes": self.megabytes,
        }


NOTHING: Final = Work(0, True, 0.0, 0.0, 0, 0.0, 0.0)
"""No work on no issue."""


class Metered(Protocol):
    """A counter of the units that calls inside a block use up."""

    def metered(self) -> AbstractContextManager[Units]:
        """The units of a block."""
        ...


def worked(functions: Metered, count: int, do: Callable[[], object]) -> Work:
    """Do something to so many issues, and return its cost."""
    with functions.metered() as units:
        began, cpu_began = time.perf_counter(), time.process_time()
        do()
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu_began
    return Work(count, True, seconds, cpu, units.calls, units.read, units.write)
