"""Keys lie strictly between their neighbors, differ, stay short, and keep the order of the issues' numbers."""

import random
import re
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gridview.encoding import fractional_keys
from gridview.encoding.fractional_keys import (
    KEY_PATTERN,
    LONG_KEY,
    MAX_KEY,
    NoRoom,
    between,
    default_key,
    default_key_above,
    default_key_up_to,
)
from tests.support.depth import one_of

property_test = settings(max_examples=one_of(100, thorough=500))

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
KEYS = st.from_regex(re.compile(r"\A[0-9A-Za-z]{0,20}[1-9A-Za-z]\Z"))
NUMBERS = st.integers(1, 99_999_999)
SEEDS = st.integers(0, 2**32)


def fraction(key: str) -> Fraction:
    """The value of a key, written without the module under test."""
    return sum((Fraction(DIGITS.index(digit), 62**place) for place, digit in enumerate(key, 1)), Fraction(0))


def draw(seed: int = 0) -> fractional_keys.Draw:
    return random.Random(seed).random  # noqa: S311 - not a secret


def assert_sound(found: Sequence[str]) -> None:
    assert all(KEY_PATTERN.fullmatch(one) for one in found)
    assert list(found) == sorted(set(found))


@property_test
@given(KEYS, KEYS)
def test_keys_compare_like_fractions(one: str, other: str) -> None:
    assert (one < other) == (fraction(one) < fraction(other))


@property_test
@given(KEYS, KEYS, st.integers(1, 40), SEEDS)
def test_keys_are_between_their_neighbors(one: str, other: str, count: int, seed: int) -> None:
    assume(one != other)
    low, high = sorted((one, other))
    found = between(low, high, draw(seed), count)
    assert len(found) == count
    assert_sound([low, *found, high])


@property_test
@given(KEYS, st.integers(1, 500), SEEDS, st.booleans(), st.booleans())
def test_keys_at_the_ends(key: str, count: int, seed: int, first: bool, leans: bool) -> None:
    if first:
        found = between(None, key, draw(seed), count, lean="high" if leans else None)
        assert_sound([*found, key])
    else:
        found = between(key, None, draw(seed), count, lean="low" if leans else None)
        assert_sound([key, *found])


def test_a_first_key() -> None:
    assert_sound(between(None, None, draw(), 500))


def test_the_extremes_of_a_draw_stay_between() -> None:
    for value in (0.0, 0.999_999_999):
        found = between("V", "V1", lambda value=value: value, 500)  # type: ignore[misc]
        assert_sound(["V", *found, "V1"])


@property_test
@given(NUMBERS, NUMBERS)
def test_default_keys_have_the_order_of_the_numbers(one: int, other: int) -> None:
    assert (default_key(one) < default_key(other)) == (one < other)
    assert KEY_PATTERN.fullmatch(default_key(one))


@property_test
@given(NUMBERS, SEEDS)
def test_the_default_key_above(num: int, seed: int) -> None:
    key = default_key(num)
    after = None if num == 99_999_999 else default_key(num + 1)
    assert default_key_above(key) == after
    (placed,) = between(key, after, draw(seed))
    assert default_key_above(placed) == after


def test_the_default_keys_of_numbers_that_no_issue_has() -> None:
    for num in (0, 100_000_000):
        with pytest.raises(ValueError, match="out of range"):
            default_key(num)


def test_two_people_between_the_same_neighbors_get_other_keys() -> None:
    low, high = default_key(7), default_key(8)
    found = {between(low, high, draw(seed))[0] for seed in range(200)}
    assert len(found) > 190


def test_rows_that_were_never_placed_have_room_for_short_keys() -> None:
    (one,) = between(default_key(7), default_key(8), draw())
    assert len(one) <= 8
    assert max(map(len, between(default_key(7), default_key(8), draw(), 500))) <= 9


@pytest.mark.parametrize(("high", "digits"), [("2001", 3), ("2", 4)])
def test_a_key_is_as_short_as_the_gap_allows(high: str, digits: int) -> None:
    """Between 0 and 0.2001 there are 2 * 62 ** 2 numbers of three digits, and one less between 0 and 0.2."""
    random_ = draw()
    assert max(len(between(None, high, random_)[0]) for _ in range(20)) == digits


def drops(until: int, *, lean: bool) -> int:
    """How many rows one after another fit next to a row before a key is longer than `until`."""
    low, high, random_ = default_key(1), default_key(2), draw()
    for count in range(10_000):
        if len(high) > until or len(low) > until:
            return count
        if lean:
            (low,) = between(low, high, random_, lean="low")
        else:
            (high,) = between(low, high, random_)
    raise AssertionError("keys do not grow")


def test_how_fast_keys_grow() -> None:
    assert drops(LONG_KEY, lean=False) >= 80
    assert drops(LONG_KEY, lean=True) >= 1_000


def test_there_is_no_room_between_keys_of_full_length() -> None:
    low, high = "V", "V" + "0" * (MAX_KEY - 2) + "1"
    with pytest.raises(NoRoom):
        between(low, high, draw())


def test_neighbors_that_are_not_in_order() -> None:
    for low, high in (("V", "V"), ("W", "V")):
        with pytest.raises(ValueError, match="not in order"):
            between(low, high, draw())


def test_the_default_keys_around_a_key() -> None:
    for num in (1, 2, 77, 99_999_999):
        key = default_key(num)
        assert default_key_up_to(key) == default_key_up_to(f"{key}1") == key
        assert default_key_above(key) == (default_key(num + 1) if num < 99_999_999 else None)
    assert default_key_up_to("00001") is None
    assert default_key_up_to("z") == default_key(99_999_999)
