"""Columns of numbers come to what plain arithmetic over all values gives, whatever the numbers and the issues."""

from decimal import Context, Decimal
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

from gridview.chains import distinct_multiples, number_columns, number_layers, unpacked_layers
from gridview.chains.number_columns import NumberColumn, column_of, mean
from gridview.encoding.number_pages import SLOTS, UnreadablePage, decoded, encoded, exact_sum
from gridview.encoding.values import parse_number
from tests.support.depth import one_of

ROUNDED = Context(prec=38)
EXACT = Context(prec=600)
LAST = 70_000

_numbers = st.one_of(
    st.integers(-50, 2_000).map(Decimal),
    st.integers(-1_000, 10**7).map(lambda cents: parse_number(f"{cents}e-2")),
    st.builds(
        lambda m, exponent: parse_number(f"{m}e{exponent - len(str(abs(m))) + 1}"),
        st.integers(-(10**38) + 1, 10**38 - 1),
        st.integers(-130, 125),
    ),
)
_issues = st.one_of(st.integers(1, 600), st.integers(LAST - 600, LAST))
_values = st.dictionaries(_issues, _numbers, max_size=80)
_sets = st.one_of(st.just(range(LAST + 1)), st.sets(_issues, max_size=60)).map(BitMap)


def column(values: dict[int, Decimal]) -> NumberColumn:
    """The column of these numbers, through the bytes of its pages."""
    pages: dict[int, dict[int, Decimal]] = {}
    for num, value in values.items():
        pages.setdefault(num // SLOTS, {})[num % SLOTS] = value
    return column_of({page: decoded(encoded(some)) for page, some in pages.items()})


def check(found: NumberColumn, values: dict[int, Decimal], within: BitMap, added: list[Decimal]) -> None:
    """Compare with arithmetic over the values."""
    assert found.members == BitMap(values)
    assert {num: found.value_of(num) for num in values} == values
    chosen = sorted([*(value for num, value in values.items() if num in within), *added])
    numbers = found.among(within, added)
    assert numbers.count == len(chosen)
    for listed in (0, 500):  # by the other issues, or by these
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(number_layers, "_LISTED", listed)
            assert found.among(within, added).sum == exact_sum(chosen)
    shared = found.unpack()
    # Issues are looked up one by one, or a chunk at a time; different magnitudes are bits, or numbers.
    for few, sparse in ((0, 60), (2_000, 0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(number_layers, "FEW", few)
            patch.setattr(unpacked_layers, "FEW", few)
            patch.setattr(distinct_multiples, "_SPARSE", sparse)
            patch.setattr(distinct_multiples, "_NARROW", 10)  # so that sets are small
            assert found.among(within, added).distinct == len(set(chosen))
            assert found.among(within, added, shared).distinct == len(set(chosen))
    assert [numbers.at(rank) for rank in range(len(chosen))] == chosen
    average = mean(numbers.sum, numbers.count)
    if not chosen:
        assert [average, numbers.median, numbers.least, numbers.greatest] == [None] * 4
        return
    assert (numbers.least, numbers.greatest) == (chosen[0], chosen[-1])
    assert average == ROUNDED.divide(exact_sum(chosen), Decimal(len(chosen)))
    middle = chosen[(len(chosen) - 1) // 2], chosen[len(chosen) // 2]
    halved = middle[0] if len(chosen) % 2 else ROUNDED.divide(EXACT.add(*middle), Decimal(2))
    assert numbers.median == halved


@given(_values, _sets, st.lists(_numbers, max_size=3))
def test_a_column_of_pages(values: dict[int, Decimal], within: BitMap, added: list[Decimal]) -> None:
    check(column(values), values, within, added)


@given(_values, _values, st.sets(_issues), _sets)
def test_a_column_with_other_values(
    before: dict[int, Decimal], changes: dict[int, Decimal], out: set[int], within: BitMap
) -> None:
    after = {num: value for num, value in (before | changes).items() if num not in out}
    check(column(before).with_values(changes | dict.fromkeys(out)), after, within, [])


@settings(max_examples=one_of(30, thorough=100))
@given(st.dictionaries(_issues, _numbers, min_size=5, max_size=30))
def test_many_numbers_that_suit_no_layer_get_layers(values: dict[int, Decimal]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(number_columns, "_LOOSE", 2)
        found = column(values)
    assert len(found.loose) <= 2
    check(found, values, BitMap(values), [])


def test_amounts_in_cents_share_a_layer_though_some_pages_have_none() -> None:
    values = {num: parse_number(f"{num}e{-2 if num < 300 else 0}") for num in range(1, 900)}
    found = column(values)
    assert [(layer.exponent, len(layer.present)) for layer in found.layers] == [(-2, 899)]
    assert not found.loose


def test_one_number_of_another_kind_widens_no_layer() -> None:
    values = {num: Decimal(num) for num in range(1, 900)} | {5: Decimal("1E-130"), 6: Decimal("9E+125")}
    found = column(values)
    assert [layer.width for layer in found.layers] == [10]
    assert found.loose == {5: Decimal("1E-130"), 6: Decimal("9E+125")}


def test_a_rank_beyond_the_numbers_is_refused() -> None:
    numbers = column({1: Decimal(1)}).among(BitMap([1]))
    for rank in (-1, 1):
        with pytest.raises(IndexError):
            numbers.at(rank)


def test_different_numbers_of_many_issues_are_counted() -> None:
    drawn = Random(7)  # noqa: S311 - the same each time
    values = {num: Decimal(drawn.randrange(-9_000, 40_000)) for num in range(1, 140_000)}
    found = column(values)
    for step in (1, 2, 40):  # of more issues than are looked up one by one
        within = BitMap(range(1, 150_000, step))
        assert found.among(within).distinct == len({values[num] for num in within if num in values})


def test_a_page_with_a_digit_of_an_issue_without_a_number_is_unreadable() -> None:
    good = decoded(encoded({slot: Decimal(slot) for slot in range(1, 256)}))
    assert column_of({0: good, 300: good}).members.min() == 1
    digit = bytearray(good.bits)
    digit[-32] |= 1
    with pytest.raises(UnreadablePage, match="absent"):
        column_of({0: good, 300: good._replace(bits=bytes(digit))})
