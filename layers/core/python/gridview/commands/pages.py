"""Pages of a collection: as many of its things as the caller wants and an answer can hold. Pure."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from gridview.encoding.json_codec import dumps, size_in_response

MAX_PAGE_BYTES = 4_000_000
"""Bytes of a page, as Lambda counts them."""

Thing = TypeVar("Thing")


def first_of(
    found: Iterable[Thing],
    limit: int,
    to_json: Callable[[Thing], dict[str, Any]],
    place: Callable[[Thing], object],
) -> tuple[list[dict[str, Any]], Any]:
    """Return the first of these as the API returns them, at least one, and the place of the last one; None if
    no more follow.

    Reads one more than it returns, and no further one.
    """
    items: list[dict[str, Any]] = []
    size = 0
    last: object = None
    for thing in found:
        one = to_json(thing)
        size += size_in_response(dumps(one))
        if len(items) == limit or (items and size > MAX_PAGE_BYTES):
            return items, last
        items.append(one)
        last = place(thing)
    return items, None
