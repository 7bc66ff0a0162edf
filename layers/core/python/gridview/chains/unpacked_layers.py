"""The magnitudes of a layer's numbers one after the other, from its slices. Pure."""

import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import compress, groupby

from pyroaring import BitMap

from gridview.chains.distinct_multiples import Magnitudes
from gridview.encoding.bit_chunks import CHUNK, CHUNK_BYTES, chunks_of

FEW = 2_000
"""Up to so many issues of a set are looked up one by one."""

_PLANE = 8
"""Slices of a plane: it has a byte for each number."""


def _in_each_word(pattern: int) -> int:
    return int.from_bytes(pattern.to_bytes(8, "little") * (CHUNK // 8), "little")


_SWAPS = (
    (7, _in_each_word(0x00AA00AA00AA00AA)),
    (14, _in_each_word(0x0000CCCC0000CCCC)),
    (28, _in_each_word(0x00000000F0F0F0F0)),
)
"""Shifts and masks that swap rows and columns of 8 × 8 bits, in each word of 64 bits at once.

Source: H. S. Warren, Hacker's Delight, 7-3, transpose8.
"""


class UnpackedLayer:
    """Twice the magnitudes of a layer, for as many chunks of issues as were asked for. Twice, as `Magnitudes` keeps them.

    1 to 8 bytes for each issue number of a chunk, and some 2 ms.
    """

    def __init__(self, slices: Sequence[BitMap]) -> None:
        """`slices`: of the layer, the lowest binary digit first."""
        self._width = len(slices)
        self._slices = slices
        self._chunks: dict[int, Sequence[int]] = {}

    @cached_property
    def _bits(self) -> list[Mapping[int, int]]:
        return [{}, *map(chunks_of, self._slices)]

    def magnitudes(self, within: BitMap) -> Magnitudes:
        """Return the magnitudes of issues of the layer."""
        found = Magnitudes(self._width, len(within))
        if len(within) <= FEW:
            for key, nums in groupby(within, key=lambda num: num // CHUNK):
                chunk = self._chunk(key)
                found.add(chunk[num % CHUNK] for num in nums)
        else:
            for key, bits in chunks_of(within).items():
                found.add(compress(self._chunk(key), _plane((bits,))))
        return found

    def _chunk(self, key: int) -> Sequence[int]:
        if key not in self._chunks:
            digits = [one.get(key, 0) for one in self._bits]
            planes = [_plane(digits[begin : begin + _PLANE]) for begin in range(0, len(digits), _PLANE)]
            self._chunks[key] = _joined(planes)
        return self._chunks[key]


def _plane(slices: Sequence[int]) -> bytes:
    """Return a byte for each number of a chunk, with up to eight slices as its bits, the first as the lowest."""
    rows = bytearray(CHUNK)
    for place, bits in enumerate(slices):
        rows[place::_PLANE] = bits.to_bytes(CHUNK_BYTES, "little")
    found = int.from_bytes(rows, "little")
    for shift, mask in _SWAPS:
        swapped = (found ^ found >> shift) & mask
        found ^= swapped ^ swapped << shift
    return found.to_bytes(CHUNK, "little")


def _joined(planes: Sequence[bytes]) -> Sequence[int]:
    """Return the numbers of a chunk, from the planes of their bytes, the lowest first."""
    size = next((size for size in (1, 2, 4, 8) if size >= len(planes)), None)
    if size is None:
        return [int.from_bytes(bytes(one), "little") for one in zip(*planes, strict=True)]
    mixed = bytearray(size * CHUNK)
    for place, plane in enumerate(planes):
        mixed[place if sys.byteorder == "little" else size - 1 - place :: size] = plane
    whole = memoryview(mixed)
    match size:
        case 1:
            return whole
        case 2:
            return whole.cast("H")
        case 4:
            return whole.cast("I")
    return whole.cast("Q")
