"""Sets of issue numbers as bytes: roaring bitmaps, or the gaps between the numbers if these are shorter.
Pure.

- `3a` or `3b ...`: a roaring bitmap in its portable format: two bytes a number, or four a run.
- `01 first gaps`: the first number (4 bytes, big-endian), and the gaps to the next ones: from 1 to 255, or 0
  and 255 less.
- `02 first deflated`: the same, with the gaps deflated (RFC 1951).

1,587 numbers of an order's block take 3.2 KB as a bitmap. As gaps they take 1.6 KB among 100,000 issues (a
gap of 63 in the mean). Deflated they take 0.9 KB if every sixth issue is among them, as in a block of a word.
At a million issues the gaps of an order are longer than the bitmap, which is kept then. Gaps of such a set
take 70 us to read and a bitmap 2, but a write costs a unit a KB.
"""

import zlib
from array import array
from itertools import accumulate, compress
from operator import sub
from struct import Struct

from pyroaring import BitMap

_ROARING = (b"\x3a", b"\x3b")
"""The first bytes of roaring bitmaps without and with runs."""
_GAPS, _DEFLATED = 1, 2

_HEAD = Struct(">BI")

_WIDEST = 255
"""The widest gap that takes one byte."""
_NARROW = [bytes((gap,)) for gap in range(_WIDEST + 1)]

_DENSE = 32
"""Up to this mean gap, deflating gaps saves a fifth or more of their bytes."""
_MANY = 100
"""Fewer numbers are not worth the cost of deflating, which is some 50 us for any number of them."""


def bitmap(numbers: BitMap) -> bytes:
    """Return a set as a roaring bitmap."""
    numbers.run_optimize()
    return numbers.serialize()


def packed(numbers: BitMap) -> bytes:
    """Return a set in its shortest form."""
    plain = bitmap(numbers)
    # A bitmap is shortest if numbers follow one another, and if they are far apart.
    if 2 * len(plain) <= len(numbers) or not numbers:
        return plain
    first, span = numbers.min(), numbers.max() - numbers.min()
    if span // _WIDEST > len(plain):
        return plain
    gaps = _gaps(numbers)
    forms = [plain, _HEAD.pack(_GAPS, first) + gaps]
    if len(numbers) >= _MANY and span < _DENSE * len(numbers):
        forms.append(_HEAD.pack(_DEFLATED, first) + _deflated(gaps))
    return min(forms, key=len)


def unpacked(stored: bytes) -> BitMap:
    """Return a set from any of its forms. ValueError if it is none."""
    if stored.startswith(_ROARING):
        return BitMap.deserialize(stored)
    form, first = _HEAD.unpack_from(stored) if len(stored) >= _HEAD.size else (None, 0)
    if form not in (_GAPS, _DEFLATED):
        raise ValueError("not a set of numbers")
    gaps = stored[_HEAD.size :]
    if form == _DEFLATED:
        try:
            gaps = zlib.decompress(gaps, -zlib.MAX_WBITS)
        except zlib.error as error:
            raise ValueError("gaps that cannot be inflated") from error
    if gaps.endswith(b"\0"):
        raise ValueError("a gap without an end")
    try:
        return BitMap(array("I", _numbers(first, gaps)))
    except OverflowError as error:
        raise ValueError("a number beyond 32 bits") from error


def _gaps(numbers: BitMap) -> bytes:
    ordered = numbers.to_array()
    found = list(map(sub, ordered[1:], ordered))
    if max(found, default=0) <= _WIDEST:
        return bytes(found)
    return b"".join([_NARROW[gap] if gap <= _WIDEST else _wide(gap) for gap in found])


def _wide(gap: int) -> bytes:
    wide, rest = divmod(gap - 1, _WIDEST)
    return bytes(wide) + _NARROW[rest + 1]


def _numbers(first: int, gaps: bytes) -> "accumulate[int] | compress[int]":
    if 0 not in gaps:
        return accumulate(gaps, initial=first)
    sums = accumulate(gaps.replace(b"\0", bytes((_WIDEST,))), initial=first)
    return compress(sums, b"\1" + gaps)


def _deflated(gaps: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(gaps) + compressor.flush()
