"""Numbers in sentences and tables of the pages, each followed by the name of its value in a comment. Pure.

`at most 500<!--=batch.operations--> operations` shows 500. The number is right before the comment: digits with commas and a point,
or a word such as `Seven`. A value of 0.14 that the page shows as `0.14` keeps the page's sense: markers never round.
"""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final, NamedTuple

Value = int | Decimal | str
"""A number, or its text if the page shows it in a form of its own, such as `1E-130`."""

_BEGIN: Final = "<!--="
_MARK: Final = re.compile(r"([A-Za-z]+|\d(?:[\d,.]*\d)?)<!--=([a-z0-9.-]+)-->")
_CODE: Final = re.compile(r"^ *```.*?^ *```$|``.+?``|`[^`]*`", re.MULTILINE | re.DOTALL)

_WORDS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
"""Numbers as words, as far as the pages spell them."""


class WrongMark(ValueError):
    """A comment that looks like a marker and is none, or that names no value."""


class Mark(NamedTuple):
    """One number of a page, and the name of its value."""

    shown: str
    name: str


def marks(page: str) -> list[Mark]:
    """The markers of a page in their order.

    Raises:
        WrongMark: one is in code, where a comment is shown, or it has no number before it.
    """
    found = [Mark(*one.groups()) for one in _MARK.finditer(page)]
    if any(_BEGIN in code for code in _CODE.findall(page)):
        raise WrongMark(f"A page shows a comment in code as it is. Move {_BEGIN} out of the code.")
    if len(found) != page.count(_BEGIN):
        raise WrongMark(f"Write a number right before {_BEGIN}, then the name of its value: 500<!--=name-->.")
    return found


def filled(page: str, values: Mapping[str, Value]) -> str:
    """The page with each marked number as its value has it.

    Raises:
        WrongMark: a marker is not well formed, or `values` does not have its name.
    """
    unknown = {mark.name for mark in marks(page)} - values.keys()
    if unknown:
        raise WrongMark(f"devtools/docs/values.py has no value {', '.join(sorted(unknown))}.")
    return _MARK.sub(lambda one: f"{_like(one[1], values[one[2]])}<!--={one[2]}-->", page)


def unused(pages: Iterable[str], values: Mapping[str, Value]) -> set[str]:
    """The names of values that no page shows."""
    return set(values) - {mark.name for page in pages for mark in marks(page)}


def _like(shown: str, value: Value) -> str:
    """A value in the form that the page has: as a word, or in digits."""
    if shown.isalpha() and isinstance(value, int) and value < len(_WORDS):
        word = _WORDS[value]
        return word.capitalize() if shown[0].isupper() else word
    return value if isinstance(value, str) else f"{value:,}"
