"""The same work on many things: in chunks, or in parallel threads, since most of it is waiting for the table."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import islice
from typing import ParamSpec, TypeVar

_AT_ONCE = 8

Thing = TypeVar("Thing")
Result = TypeVar("Result")
Given = ParamSpec("Given")


def in_context(work: Callable[Given, Result]) -> Callable[Given, Result]:
    """Return the same work, with the context variables of here and now in whichever thread it is done."""
    context = copy_context()

    def done(*given: Given.args, **named: Given.kwargs) -> Result:
        # A copy each time: two threads cannot be in one context at once.
        return context.copy().run(work, *given, **named)

    return done


def in_threads(
    work: Callable[[Thing], Result], things: Iterable[Thing], at_once: int = _AT_ONCE
) -> list[Result]:
    """Return the result of `work` for each of these, in their order; a single one is worked on here, without
    a thread.
    """
    chosen = list(things)
    if len(chosen) <= 1:
        return [work(thing) for thing in chosen]
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(in_context(work), chosen))


def chunked(things: Iterable[Thing], size: int) -> Iterator[list[Thing]]:
    """Return these things in their order, `size` at a time, and at last the rest. They are asked for as they
    are needed.
    """
    remaining = iter(things)
    while chunk := list(islice(remaining, size)):
        yield chunk
