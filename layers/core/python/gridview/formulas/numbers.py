"""Arithmetic of formulas: decimals of 38 digits in the range that fields can have. Pure.

Results beyond 38 digits are rounded half even. `decimal` raises Overflow and Subnormal outside the range. Operators of
Python on decimals, and `abs`, would round to the digits of the thread's context: use the methods of a context.
"""

import decimal
from collections.abc import Callable, Sequence
from decimal import Decimal
from enum import StrEnum
from functools import cache, reduce

from gridview.encoding.values import (
    NUMBER_DIGITS,
    NUMBER_MAX_EXPONENT,
    NUMBER_MIN_EXPONENT,
    json_number,
)

Number = int | Decimal

MAX_EXPONENT = 10_000
"""The highest exponent of POWER, and the lowest with the opposite sign."""


class Unavailable(StrEnum):
    """The reasons why a formula has no value for an issue."""

    DIVISION_BY_ZERO = "division-by-zero"
    OUT_OF_RANGE = "out-of-range"
    NOT_A_NUMBER = "not-a-number"
    NOT_A_DATE = "not-a-date"
    TOO_LONG = "too-long"


class NoValue(Exception):
    """The value cannot be computed."""

    def __init__(self, reason: Unavailable) -> None:
        super().__init__(reason)
        self.reason = reason


BEYOND_RANGE = (decimal.Overflow, decimal.Subnormal)
"""The exceptions of `decimal` for results outside the range."""
BY_ZERO = (decimal.DivisionByZero, decimal.InvalidOperation)
"""The exceptions of a division by zero, of zero too."""

FIELD = decimal.Context(
    prec=NUMBER_DIGITS,
    rounding=decimal.ROUND_HALF_EVEN,
    Emax=NUMBER_MAX_EXPONENT,
    Emin=NUMBER_MIN_EXPONENT,
    traps=[*BEYOND_RANGE, decimal.InvalidOperation, decimal.DivisionByZero],
)
"""The numbers that fields can have. Zero divided by zero is its only InvalidOperation."""

_MOST_PLACES = NUMBER_DIGITS - NUMBER_MIN_EXPONENT
"""Digits after the point of the smallest number."""
_EXACT_DIGITS = NUMBER_MAX_EXPONENT + _MOST_PLACES + 2
"""Digits of a sum of the largest and the smallest number."""


@cache
def _exact(rounding: str = decimal.ROUND_HALF_EVEN) -> decimal.Context:
    return decimal.Context(prec=_EXACT_DIGITS, rounding=rounding, traps=[decimal.InvalidOperation])


_EXACT = _exact()
_GUARDED = decimal.Context(prec=3 * NUMBER_DIGITS, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
"""For powers, which are rounded a second time. Near short numbers, such as 1 or 2, they can end in what looks like exactly
a half. The digits that decide it come after some 38 zeros or nines.
"""

_ZERO, _ONE, _MINUS_ONE = Decimal(0), Decimal(1), Decimal(-1)


def canonical(number: Number) -> Decimal:
    """Return the number without trailing zeros, as fields have it."""
    return FIELD.normalize(number) if number else _ZERO


def plain(number: Number) -> str:
    """Return the digits of a number, without an exponent."""
    if isinstance(number, int):
        return str(number)
    return f"{FIELD.normalize(number):f}" if number else "0"


def remainder(number: Number, divisor: Number) -> Decimal:
    """Return what is left of a number after whole divisors, with the sign of the number. NoValue."""
    if not divisor:
        raise NoValue(Unavailable.DIVISION_BY_ZERO)
    return FIELD.plus(_EXACT.remainder(number, divisor))


def power(number: Number, exponent: Number) -> Decimal:
    """Return a number to a whole power. NoValue if the exponent is not whole, or beyond `MAX_EXPONENT`."""
    whole = int(exponent)
    if whole != exponent:
        raise NoValue(Unavailable.NOT_A_NUMBER)
    if not number:
        if whole < 0:
            raise NoValue(Unavailable.DIVISION_BY_ZERO)
        return _ZERO if whole else _ONE
    if number in (1, -1):
        return _ONE if number == 1 or whole % 2 == 0 else _MINUS_ONE
    if abs(whole) > MAX_EXPONENT:
        raise NoValue(Unavailable.OUT_OF_RANGE)
    return FIELD.plus(_GUARDED.power(number, whole))


def root(number: Number) -> Decimal:
    """Return the square root. NoValue of a negative number."""
    if number < 0:
        raise NoValue(Unavailable.NOT_A_NUMBER)
    return FIELD.sqrt(number)


def rounding_to(mode: str, digits: Number) -> Callable[[Number], Decimal]:
    """Return a function that rounds to so many digits after the point; a negative count is of those before it."""
    places = int(max(-_MOST_PLACES, min(digits, _MOST_PLACES)))
    unit, quantize, checked = Decimal((0, (1,), -places)), _exact(mode).quantize, FIELD.plus
    return lambda number: checked(quantize(number, unit))


def rounding(mode: str) -> Callable[[Number, Number], Decimal]:
    """Return a function of a number and the digits that it is rounded to."""
    return lambda number, digits: rounding_to(mode, digits)(number)


floor = rounding_to(decimal.ROUND_FLOOR, 0)
"""Returns the highest whole number that is not above a number."""


def total(numbers: Sequence[Number]) -> Number:
    """Return the sum of at least one number, added from the first to the last."""
    return reduce(FIELD.add, numbers)


def mean(numbers: Sequence[Number]) -> Decimal:
    """Return the mean of at least one number."""
    return FIELD.divide(total(numbers), Decimal(len(numbers)))


def number_of(text: str) -> Decimal:
    """Return the number that a text is, in the syntax of JSON. NoValue."""
    try:
        return FIELD.plus(json_number(text))
    except ValueError:
        raise NoValue(Unavailable.NOT_A_NUMBER) from None
