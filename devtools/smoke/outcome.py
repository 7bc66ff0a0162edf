"""How a step of the smoke test ends, apart from well."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

PATIENCE = 240.0
"""Seconds that a step waits for something: a small account works on jobs and webhooks once a minute."""

_PAUSE = 0.5


class NotShown(Exception):
    """This stack or this caller cannot show it; the message has the reason and a way that would."""


class Wrong(Exception):
    """The stack does not do it; the message has its actual behavior."""


def require(holds: object, otherwise: str) -> None:
    """Go on if it holds. Wrong."""
    if not holds:
        raise Wrong(otherwise)


def wait_for(look: Callable[[], Found | None], otherwise: str) -> Found:
    """Return the finding of a look within `PATIENCE`. Wrong."""
    end = time.monotonic() + PATIENCE
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > end:
            raise Wrong(f"{otherwise} within {PATIENCE:.0f} s")
        time.sleep(_PAUSE)
