"""A process that dies at a call of the table."""

from collections.abc import Callable
from typing import Any

from devtools.proof.faults.watched import Attempted


class Killed(BaseException):
    """The process is gone."""


def killing(at: int, *, after: bool) -> Callable[[Attempted, Callable[[], Any]], Any]:
    """Kills just before, or after, the call of this number."""
    calls = iter(range(1, 10_000))

    def around(_: Attempted, perform: Callable[[], Any]) -> Any:
        call = next(calls)
        if call == at and not after:
            raise Killed
        result = perform()
        if call == at:
            raise Killed
        return result

    return around
