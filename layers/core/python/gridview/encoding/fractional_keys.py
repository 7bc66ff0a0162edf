"""Fractional keys: the ranks of rows in a manual order. Pure.

A key is a fraction between 0 and 1 in base 62, without the zeros at its end. So the order of the strings is that of the
fractions, and there is always a key between two others.

    "V"     31/62
    "V8"    31/62 + 8/3844

An issue that was never placed has a key made from its number (`default_key`). Keys between the same two neighbors differ:
each is drawn at random from the middle of its share of the gap.
"""

import re
from collections.abc import Callable
from typing import Literal

MAX_KEY = 32
"""The most characters of a key."""

LONG_KEY = 24
"""Characters of a key beyond which the range around it is rebalanced."""

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""The digits in the order of their bytes."""

KEY_PATTERN = re.compile(rf"[0-9A-Za-z]{{0,{MAX_KEY - 1}}}[1-9A-Za-z]")

_BASE = len(DIGITS)
_VALUES = {digit: value for value, digit in enumerate(DIGITS)}
_DEFAULT_DIGITS = 5
_STEP = 9
"""The distance of two default keys in units of their last digit: 9 x 99,999,999 < 62 ** 5."""
_HIGHEST = 99_999_999
"""The highest issue number."""
_CHOICES = _BASE**2
"""The least number of fractions from which a key is drawn, times 2."""
_LEANING = 15
"""A key beside an end of the order takes a sixteenth of the gap, so that many fit in one after another."""

Draw = Callable[[], float]
"""Returns a random number from 0 to 1, without 1."""


class NoRoom(Exception):
    """Keys between these neighbors would be longer than `MAX_KEY`. Rebalance the range."""


def default_key(num: int) -> str:
    """Return the key of an issue that was never placed. The order of these keys is that of the numbers."""
    if not 1 <= num <= _HIGHEST:
        raise ValueError("issue number out of range")
    return _text(num * _STEP, _DEFAULT_DIGITS)


def default_key_up_to(key: str) -> str | None:
    """Return the highest default key that is no higher than a key; None: there is none."""
    num = min(_scaled(key, _DEFAULT_DIGITS) // _STEP, _HIGHEST)
    return default_key(num) if num else None


def default_key_above(key: str) -> str | None:
    """Return the lowest default key above a key; None: there is none."""
    num = _scaled(key, _DEFAULT_DIGITS) // _STEP + 1
    return default_key(num) if num <= _HIGHEST else None


def between(
    low: str | None,
    high: str | None,
    draw: Draw,
    count: int = 1,
    *,
    lean: Literal["low", "high"] | None = None,
) -> list[str]:
    """Return `count` ascending keys between two others (None: below all keys, above all keys).

    `lean`: stay near this neighbor, because nothing is at the other one yet. The keys are as short as the gap allows, and
    `count` of them share it evenly. NoRoom; ValueError if the neighbors are not in order.
    """
    if low is not None and high is not None and low >= high:
        raise ValueError("the keys are not in order")
    for digits in range(1, MAX_KEY + 1):
        first = 0 if low is None else _scaled(low, digits)
        last = _BASE**digits if high is None else _scaled(high, digits, up=True)
        if last - first - 1 >= (count + 1) * _CHOICES:
            return [_text(one, digits) for one in _spread(first, last, draw, count, lean)]
    raise NoRoom


def _spread(first: int, last: int, draw: Draw, count: int, lean: Literal["low", "high"] | None) -> list[int]:
    """Return ascending numbers between two others, one from the middle half of each share."""
    if lean is not None:
        reach = max((last - first) * count // (count + _LEANING), count * _CHOICES // 2)
        first, last = (first, first + reach) if lean == "low" else (last - reach, last)
    width = last - first
    return [first + (width * (4 * at + 1) + int(draw() * 2 * width)) // (4 * count) for at in range(count)]


def _scaled(key: str, digits: int, *, up: bool = False) -> int:
    """Return a key in units of a digit's place, rounded down or up."""
    number = 0
    for digit in key[:digits].ljust(digits, DIGITS[0]):
        number = number * _BASE + _VALUES[digit]
    return number + 1 if up and len(key) > digits else number


def _text(number: int, digits: int) -> str:
    text = ""
    for _ in range(digits):
        number, digit = divmod(number, _BASE)
        text = DIGITS[digit] + text
    return text.rstrip(DIGITS[0])
