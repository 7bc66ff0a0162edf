"""Fence keys: strings between keys. Only `encoding` knows that a key is a body, a separator and an issue
number. Pure.
"""

from gridview.encoding.sort_strings import ESCAPE, NUMBER_WIDTH, SEPARATOR


def before(body: str) -> str:
    """Return the fence before every key with this body, and after every key with a smaller body."""
    return body + SEPARATOR


def after(body: str) -> str:
    """Return the fence after every key with this body, and before every key with a greater body."""
    return body + ESCAPE


def body_in(fence: str) -> str:
    """Return the body at the beginning of a fence: all of it, or as much as the fence has."""
    return fence.partition(SEPARATOR)[0]


def body_between(lower: str, upper: str | None) -> str | None:
    """Return the one body that every key between two fences must have; None if there can be several."""
    body, separator, _ = lower.partition(SEPARATOR)
    if not separator or upper is None or not (upper == after(body) or upper.startswith(before(body))):
        return None
    return body


def first_number(body: str, fence: str) -> int | None:
    """Return the lowest issue number whose key with this body is at or after a fence: 0 if all are, None if
    none is.
    """
    if fence <= before(body):
        return 0
    if not fence.startswith(before(body)):
        return None
    return int(fence[len(before(body)) :])


def fence_at(body: str, num: int) -> str:
    """Return the fence before issue `num`'s key with this body. `num` may be one more than the highest issue
    number.
    """
    return f"{before(body)}{num:0{NUMBER_WIDTH}d}"


def right_after(key: str) -> str:
    """Return the fence right after one key and before the next: no key is a prefix of another."""
    return key + SEPARATOR
