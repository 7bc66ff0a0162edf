"""A process that dies at a call of the table or of another service."""

from collections.abc import Callable
from typing import Any


class Killed(BaseException):
    """The process dies."""


def killing(at: int, *, after: bool) -> Callable[[Any, Callable[[], Any]], Any]:
    """Kills just before, or after, the call of this number, of all calls through it."""
    calls = iter(range(1, 10_000))

    def around(_: Any, perform: Callable[[], Any]) -> Any:
        call = next(calls)
        if call == at and not after:
            raise Killed
        result = perform()
        if call == at:
            raise Killed
        return result

    return around
