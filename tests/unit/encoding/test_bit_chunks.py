"""Sets of numbers become plain bits and come back, whatever form roaring chose for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from gridview.encoding.bit_chunks import CHUNK, bitmap_of, chunks_of

FULL = (1 << CHUNK) - 1

_ranges = st.lists(
    st.tuples(st.integers(0, 4 * CHUNK), st.integers(0, 10_000), st.sampled_from([1, 2, 3, 7])), max_size=6
)


@given(_ranges, st.booleans())
def test_sets_come_back(ranges: list[tuple[int, int, int]], optimized: bool) -> None:
    numbers = BitMap.union(
        BitMap(), *(BitMap(range(begin, begin + size, step)) for begin, size, step in ranges)
    )
    if optimized:
        numbers.run_optimize()
    chunks = chunks_of(numbers)
    assert bitmap_of(chunks) == numbers
    assert list(chunks) == sorted({number // CHUNK for number in numbers})
    for key, bits in chunks.items():
        assert bits.bit_count() == numbers.range_cardinality(key * CHUNK, (key + 1) * CHUNK)


@pytest.mark.parametrize(
    ("chunks", "numbers"),
    [
        pytest.param({}, BitMap(), id="none"),
        pytest.param({3: 0}, BitMap(), id="no bits"),
        pytest.param({0: 1, 2: 0b101}, BitMap([0, 2 * CHUNK, 2 * CHUNK + 2]), id="few"),
        pytest.param({1: FULL}, BitMap(range(CHUNK, 2 * CHUNK)), id="all"),
        pytest.param({1: FULL, 0: 2}, BitMap([1, *range(CHUNK, 2 * CHUNK)]), id="few and all"),
        pytest.param({1_525: 1 << (CHUNK - 1)}, BitMap([1_526 * CHUNK - 1]), id="the last issue numbers"),
    ],
)
def test_bits_are_the_numbers_of_their_places(chunks: dict[int, int], numbers: BitMap) -> None:
    assert bitmap_of(chunks) == numbers
    assert chunks_of(numbers) == {key: bits for key, bits in sorted(chunks.items()) if bits}
