"""Pages of numbers come back digit for digit, in a short form, and other bytes are refused."""

from decimal import Decimal
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridview.encoding.number_pages import (
    EMPTY,
    SLICE_BYTES,
    SLOTS,
    UnreadablePage,
    changed,
    count_of,
    decoded,
    encoded,
    exact_sum,
    sum_of,
    values_of,
    whole_number,
)
from gridview.encoding.values import parse_number

HEADER = 4

_digits = st.integers(-(10**38) + 1, 10**38 - 1)
_nasty = st.builds(
    lambda m, exponent: parse_number(f"{m}e{exponent - len(str(abs(m))) + 1}"),
    _digits,
    st.integers(-130, 125),
)
_usual = st.one_of(
    st.integers(-3_000, 1_000_000).map(Decimal),
    st.integers(-1_000, 10**7).map(lambda cents: parse_number(f"{cents}e-2")),
    st.sampled_from(
        [Decimal(0), parse_number(1000), parse_number("-0"), parse_number("1e-130"), parse_number("-9e125")]
    ),
)
_pages = st.one_of(
    [
        st.dictionaries(st.integers(0, SLOTS - 1), one, max_size=size)
        for one, size in ((_usual, SLOTS), (_nasty, 40), (st.one_of(_usual, _nasty), 60))
    ]
)


@given(_pages)
def test_pages_come_back(values: dict[int, Decimal]) -> None:
    page = decoded(encoded(values))
    found = values_of(page)
    assert {slot: value.as_tuple() for slot, value in found.items()} == {
        slot: parse_number(value).as_tuple() for slot, value in values.items()
    }
    assert list(found) == sorted(values)
    assert count_of(page) == len(values)
    assert sum_of(page) == exact_sum(values.values())


@given(_pages, _pages, st.sets(st.integers(0, SLOTS - 1)))
def test_a_page_is_changed_in_some_slots(
    before: dict[int, Decimal], values: dict[int, Decimal], out: set[int]
) -> None:
    after = {slot: value for slot, value in (before | values).items() if slot not in out}
    page = decoded(changed(encoded(before), values | dict.fromkeys(out)))
    assert values_of(page) == after
    assert (page == EMPTY) == (not after)


def test_a_change_that_fits_keeps_the_form_and_a_page_gets_narrower_again() -> None:
    page = encoded(amounts(256, 24))
    wider = changed(page, {0: Decimal(2**30)})
    assert len(wider) <= len(page) + 20
    assert changed(wider, {0: Decimal(1)}) == changed(page, {0: Decimal(1)})
    assert changed(page, {0: None, 1: Decimal(5)}) == changed(changed(page, {0: None}), {1: Decimal(5)})
    assert len(changed(page, dict.fromkeys(range(256), Decimal(3)))) == HEADER + 3 * SLICE_BYTES


@given(_pages)
def test_equal_values_have_equal_bytes_in_any_order(values: dict[int, Decimal]) -> None:
    assert encoded(dict(sorted(values.items(), reverse=True))) == encoded(values)


def amounts(count: int, bits: int, exponent: int = 0) -> dict[int, Decimal]:
    """The same numbers each time, in so many slots."""
    drawn = Random(bits)  # noqa: S311  (the point is that it is no secret)
    return {
        slot: parse_number(f"{drawn.getrandbits(bits) | 1}e{exponent}")
        for slot in drawn.sample(range(SLOTS), count)
    }


@pytest.mark.parametrize(
    ("values", "most"),
    [
        pytest.param({}, 0, id="none"),
        pytest.param({7: parse_number("12.34")}, HEADER + SLICE_BYTES + 10, id="one is an exception"),
        pytest.param(amounts(256, 24), HEADER + 25 * SLICE_BYTES, id="24 bits"),
        pytest.param(amounts(256, 24, -2), HEADER + 25 * SLICE_BYTES, id="24 bits of cents"),
        pytest.param(amounts(256, 48), HEADER + 49 * SLICE_BYTES, id="48 bits"),
        pytest.param(
            {**amounts(256, 24), 3: parse_number("1e-130")}, HEADER + 25 * SLICE_BYTES + 10, id="one is fine"
        ),
        pytest.param(
            {**amounts(256, 24), 3: parse_number("9e125")}, HEADER + 25 * SLICE_BYTES + 10, id="one is vast"
        ),
        pytest.param(
            {**amounts(256, 24), 3: parse_number(-1)}, HEADER + 25 * SLICE_BYTES + 10, id="one is negative"
        ),
        pytest.param(
            dict.fromkeys(range(256), parse_number(5_000)), HEADER + 4 * SLICE_BYTES, id="thousands"
        ),
        pytest.param(
            {slot: parse_number(2**24 - 1 if slot % 2 else 1 - 2**24) for slot in range(100)},
            HEADER + 26 * SLICE_BYTES,
            id="half are negative",
        ),
    ],
)
def test_a_page_is_short(values: dict[int, Decimal], most: int) -> None:
    assert len(encoded(values)) <= most


def test_an_empty_page_has_no_bytes() -> None:
    assert decoded(b"") is EMPTY
    assert count_of(EMPTY) == sum_of(EMPTY) == len(values_of(EMPTY)) == 0


_PAGE = encoded({0: Decimal(1), 1: Decimal(2), 2: Decimal(3), 9: Decimal("1E-9"), 11: Decimal("1E-9")})


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param(_PAGE[:3], id="header"),
        pytest.param(b"\x02\x00\x00\x00" + bytes(2 * SLICE_BYTES), id="slices"),
        pytest.param(_PAGE[:-1], id="exception"),
        pytest.param(_PAGE + b"\x00", id="exception without length"),
        pytest.param(_PAGE + b"\xff\x03>5x", id="no number"),
        pytest.param(_PAGE + b"\xff\x02>5", id="no digits"),
        pytest.param(_PAGE + b"\xff\x06>50010", id="trailing zero"),
        pytest.param(_PAGE + b"\x02\x05>5001", id="out of order"),
        pytest.param(encoded({0: Decimal(1), 2: Decimal(3)}) + b"\x02\x05>5001", id="a slot twice"),
        pytest.param(_PAGE[:1] + b"\x02" + _PAGE[2:], id="flag"),
        pytest.param(
            _PAGE[: HEADER + SLICE_BYTES] + b"\xff" + _PAGE[HEADER + SLICE_BYTES + 1 :], id="absent slot"
        ),
    ],
)
def test_bytes_that_are_no_page_are_refused(stored: bytes) -> None:
    with pytest.raises(UnreadablePage):
        decoded(stored)


def test_a_number_that_cannot_be_stored_is_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        encoded({0: Decimal("NaN")})
    with pytest.raises(ValueError, match="out of range"):
        encoded({0: Decimal("1E+126")})


@pytest.mark.parametrize(
    ("value", "parts"),
    [("0", (0, 0)), ("-0.0", (0, 0)), ("1200", (12, 2)), ("-0.05", (-5, -2)), ("7", (7, 0))],
)
def test_whole_numbers(value: str, parts: tuple[int, int]) -> None:
    assert whole_number(Decimal(value)) == parts
