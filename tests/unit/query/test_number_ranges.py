"""The range of numbers that has all numbers between two fences of an index."""

from decimal import Decimal

import pytest

from gridview.chains.blocks import FIRST
from gridview.encoding import fences
from gridview.encoding.sort_strings import number_beyond
from gridview.query.number_ranges import NumberRange, NumberRanges

FIVE, TEN = Decimal(5), Decimal(10)
BINS = NumberRanges((FIVE, TEN))


def before(number: int) -> str:
    return fences.before(number_beyond(Decimal(number)))


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (FIRST, before(3), NumberRange(None, FIVE)),
        (FIRST, number_beyond(FIVE), NumberRange(None, FIVE)),
        (FIRST, before(6), None),
        (FIRST, None, None),
        (before(4), before(6), None),
        (before(5), before(7), NumberRange(FIVE, TEN)),
        (before(10), None, NumberRange(TEN, None)),
    ],
)
def test_a_bin_that_has_all_numbers_between_two_fences(
    lower: str, upper: str | None, expected: NumberRange | None
) -> None:
    assert BINS.between(lower, upper) == expected


def test_ranges_of_a_width_have_no_first_one() -> None:
    every_ten = NumberRanges(width=TEN)
    assert every_ten.between(FIRST, before(3)) is None
    assert every_ten.between(before(2), before(3)) == NumberRange(Decimal(0), TEN)
