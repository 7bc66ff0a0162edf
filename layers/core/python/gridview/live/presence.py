"""The users who look at rows of a project, by their open sockets. Earlier rows are not stored. Pure."""

from collections.abc import Iterable
from typing import Any, Final

from gridview.live.sockets import Socket

MAX_PEOPLE: Final = 50
"""People who are shown to each other: the last who said where they look."""

_MAX_NAME: Final = 64
"""Characters of a name that others see."""

LOOK_SECONDS: Final = 1.0
"""Seconds between two messages of one socket about its user's row, and between two messages that show people
to each other.
"""

_CLOCKS_DIFFER: Final = 0.05
"""Seconds by which the clocks of two containers may differ."""


def looking(sockets: Iterable[Socket], now: float) -> list[Socket]:
    """Return the sockets of the people who are shown to each other, the last who spoke first. Several of one
    person count once.
    """
    spoken = sorted(
        (one for one in sockets if one.looked and one.why_ended(now) is None), key=lambda one: -one.looked
    )
    people = list(dict.fromkeys(one.user for one in spoken))[:MAX_PEOPLE]
    return [one for one in spoken if one.user in people]


def people_json(sockets: Iterable[Socket]) -> list[dict[str, Any]]:
    """Return the people of `looking`, each once, by name: where they said last that they look."""
    last: dict[str, Socket] = {}
    for one in sockets:
        last.setdefault(one.user, one)
    people = sorted(last.values(), key=lambda one: (one.name.casefold(), one.user))
    return [{"user": one.user, "name": one.name[:_MAX_NAME], "num": one.num} for one in people]


def next_announcement(last: float, now: float) -> float | None:
    """Return when to show people to each other next. None: a call already waits to do it at `last`, which is
    yet to come.
    """
    if _CLOCKS_DIFFER < last - now <= LOOK_SECONDS + _CLOCKS_DIFFER:
        return None
    return min(max(now, last + LOOK_SECONDS), now + LOOK_SECONDS)


def is_too_soon(socket: Socket, now: float) -> bool:
    """Return whether a socket has said where it looks within the last second."""
    return 0 <= now - socket.looked < LOOK_SECONDS
