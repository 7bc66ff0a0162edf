"""Many things, some at a time."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Thing = TypeVar("Thing")


def chunked(things: Iterable[Thing], size: int) -> Iterator[list[Thing]]:
    """These things in their order, so many at a time, and at last what is left. They are asked for as they are needed."""
    remaining = iter(things)
    while chunk := list(islice(remaining, size)):
        yield chunk
