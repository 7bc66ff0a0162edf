"""Sets of numbers come back from the shortest form, whichever it is, and other values are refused."""

import zlib
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from gridview.encoding.number_sets import bitmap, packed, unpacked

HIGHEST = 2**32 - 1

_near = st.lists(st.integers(1, 600), max_size=200).map(
    lambda gaps: BitMap(sum(gaps[: at + 1]) for at in range(len(gaps)))
)
_far = st.sets(st.integers(0, HIGHEST), max_size=20).map(BitMap)


@given(st.one_of(_near, _far), st.integers(0, HIGHEST))
def test_sets_come_back(numbers: BitMap, moved: int) -> None:
    shifted = BitMap(number for number in (one + moved for one in numbers) if number <= HIGHEST)
    for one in (numbers, shifted):
        assert unpacked(packed(one)) == one == unpacked(bitmap(one))
        assert len(packed(one)) <= len(bitmap(one))


def sample(count: int, of: int) -> BitMap:
    """So many numbers below `of`; the same each time."""
    return BitMap(Random(1).sample(range(of), count))  # noqa: S311  (the point is that it is no secret)


@pytest.mark.parametrize(
    ("numbers", "first", "most"),
    [
        pytest.param(BitMap(), 0x3A, 8, id="none"),
        pytest.param(BitMap([7]), 1, 5, id="one"),
        pytest.param(BitMap(range(5, 5_000)), 0x3B, 15, id="each"),
        pytest.param(sample(1_600, 9_600), 2, 950, id="every sixth"),
        pytest.param(sample(1_600, 100_000), 1, 1_700, id="of an order of 100,000"),
        pytest.param(sample(1_600, 1_000_000), 0x3A, 3_400, id="of an order of a million"),
        pytest.param(BitMap([0, HIGHEST]), 0x3A, 28, id="far apart"),
    ],
)
def test_the_shortest_form_is_taken(numbers: BitMap, first: int, most: int) -> None:
    stored = packed(numbers)
    assert (stored[0], len(stored) <= most) == (first, True)
    assert unpacked(stored) == numbers


def test_gaps_are_written_as_documented() -> None:
    """Other programs may read them: this form must never change."""
    assert packed(BitMap([3, 258, 259, 770])) == b"\1\0\0\0\3" + b"\xff" + b"\1" + b"\0\0\1"
    dense = sample(1_000, 3_000)
    stored, ordered = packed(dense), list(dense)
    gaps = [after - before for before, after in pairwise(ordered)]
    assert stored[:5] == b"\2" + ordered[0].to_bytes(4, "big")
    assert zlib.decompress(stored[5:], -15) == bytes(gaps)


@pytest.mark.parametrize(
    ("stored", "why"),
    [
        (b"", "not a set"),
        (b"\0", "not a set"),
        (b"\3\0\0\0\1\1", "not a set"),
        (b"\1\0\0\0", "not a set"),
        (b"\1\0\0\0\1\0", "without an end"),
        (b"\1\xff\xff\xff\xff\1", "beyond 32 bits"),
        (b"\2\0\0\0\1", "cannot be inflated"),
        (b"\2\0\0\0\1garbage", "cannot be inflated"),
        (b":0", "Could not deserialize"),
    ],
)
def test_bytes_that_are_no_set_are_refused(stored: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        unpacked(stored)
