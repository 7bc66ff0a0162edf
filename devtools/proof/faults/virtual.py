"""Virtual time: clocks, sleep, chance and threads as the core sees them while a scenario is played."""

import importlib
import secrets
import sys
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from random import Random
from typing import Any, TypeVar
from uuid import UUID, uuid4

import random as chance  # isort: skip

from devtools.proof.faults import strands

Thing = TypeVar("Thing")
Constants = Mapping[str, Any]
"""Constants of the core that are others in a scenario, by module and name: `upkeep.BATCH`."""

BEGINNING = 1_700_000_000.0


class Clock:
    """The time of a scenario, in seconds since 1970. It passes only if the scenario moves it."""

    def __init__(self) -> None:
        self.seconds = BEGINNING

    @property
    def passed(self) -> float:
        """Seconds since the scenario began."""
        return self.seconds - BEGINNING

    def sleep(self, _: float) -> None:
        """Return at once: the caller's next call is where it waits."""


class _Time:
    """The module `time` of a scenario."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def time(self) -> float:
        return self._clock.seconds

    def monotonic(self) -> float:
        return self._clock.seconds

    def perf_counter(self) -> float:
        return self._clock.seconds

    def sleep(self, seconds: float) -> None:
        self._clock.sleep(seconds)


class _Secrets:
    """The module `secrets` of a scenario: as random as its seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 - meant to be the same every time

    def token_hex(self, count: int) -> str:
        return self._random.randbytes(count).hex()

    def token_urlsafe(self, count: int) -> str:
        return urlsafe_b64encode(self._random.randbytes(count)).rstrip(b"=").decode()

    def token_bytes(self, count: int) -> bytes:
        return self._random.randbytes(count)

    def randbits(self, count: int) -> int:
        return self._random.getrandbits(count)

    def choice(self, things: Sequence[Thing]) -> Thing:
        return self._random.choice(things)


class _UUIDs:
    """The module `uuid` of a scenario, as far as the core uses it to name itself."""

    def __init__(self, seed: int) -> None:
        self.uuid4 = _uuids(seed)


def _uuids(seed: int) -> Callable[[], UUID]:
    random = Random(seed)  # noqa: S311 - meant to be the same every time
    return lambda: UUID(bytes=random.randbytes(16), version=4)


def _datetime(clock: Clock) -> type[datetime]:
    class Virtual(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:
            # No two instants are the same, as on a machine with a clock of microseconds.
            clock.seconds += 1e-6
            return datetime.fromtimestamp(clock.seconds, tz or UTC)

    return Virtual


@contextmanager
def virtual(clock: Clock, seed: int, constants: Constants | None = None) -> Iterator[None]:
    """Let every module of the core see this clock, a chance that is seeded, and strands for threads.

    `constants`: so small that a few issues are enough. A pass over three has checkpoints only if they come sooner, and blocks
    are split and merged only if they hold hardly anything.
    """
    instead: list[tuple[Any, Any]] = [
        (time, _Time(clock)),
        (chance, Random(seed)),  # noqa: S311 - meant to be the same every time
        (secrets, _Secrets(seed)),
        (datetime, _datetime(clock)),
        (uuid, _UUIDs(seed)),
        (uuid4, _uuids(seed)),
        (futures.ThreadPoolExecutor, strands.Pool),
        (futures.wait, strands.wait),
    ]
    substitutes = {id(real): substitute for real, substitute in instead}
    replaced: list[tuple[Any, str, Any]] = []
    for name, module in list(sys.modules.items()):
        # `values` parses instants, and `client` has one permanent pool.
        if not name.startswith("gridview.") or name == "gridview.encoding.values":
            continue
        found = [(attribute, value) for attribute, value in vars(module).items() if id(value) in substitutes]
        for attribute, real in found:
            substitute = substitutes[id(real)]
            if not (name == "gridview.dynamodb.client" and substitute is strands.Pool):
                replaced.append((module, attribute, real))
                setattr(module, attribute, substitute)
    for place, value in (constants or {}).items():
        name, _, attribute = place.rpartition(".")
        module = importlib.import_module(f"gridview.{name}")
        replaced.append((module, attribute, getattr(module, attribute)))
        setattr(module, attribute, value)
    try:
        yield
    finally:
        for module, attribute, real in replaced:
            setattr(module, attribute, real)
