"""Fences: strings between keys. A key is a body, a separator and an issue number; only `encoding` knows that it is. Pure."""

from gridview.encoding.sort_strings import ESCAPE, NUMBER_WIDTH, SEPARATOR


def before(body: str) -> str:
    """The fence before every key of a body, and behind every key of a smaller one."""
    return body + SEPARATOR


def after(body: str) -> str:
    """The fence behind every key of a body, and before every key of a greater one."""
    return body + ESCAPE


def body_between(lower: str, upper: str | None) -> str | None:
    """The body of every key between two fences, when there can only be one; None otherwise."""
    body, separator, _ = lower.partition(SEPARATOR)
    if not separator or upper is None or not (upper == after(body) or upper.startswith(before(body))):
        return None
    return body


def first_number(body: str, fence: str) -> int | None:
    """The first number of an issue whose key with this body does not come before a fence: 0 when none does, None when all do."""
    if fence <= before(body):
        return 0
    if not fence.startswith(before(body)):
        return None
    return int(fence[len(before(body)) :])


def fence_at(body: str, num: int) -> str:
    """The fence before the key with this body of the issue `num`, which may be one more than the highest number there is."""
    return f"{before(body)}{num:0{NUMBER_WIDTH}d}"


def behind(key: str) -> str:
    """The fence behind one key, and before the next one: no key begins with another."""
    return key + SEPARATOR
