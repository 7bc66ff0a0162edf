"""Roaring bitmaps from and to plain bits, 65,536 numbers at a time. Pure.

A chunk is an `int` of 65,536 bits; bit i of chunk k is the number 65,536·k + i. Roaring's portable format stores chunks
of more than 4,096 numbers as these bits, and others as lists, which take long to make. So sparse chunks are exchanged
XOR a pattern that has every other bit.

Source: https://github.com/RoaringBitmap/RoaringFormatSpec
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from struct import Struct, pack

from pyroaring import BitMap

CHUNK = 65_536
"""Numbers of a chunk."""

CHUNK_BYTES = CHUNK // 8

_LISTED = 4_096
"""The most numbers of a chunk that the format lists."""

_COOKIE = 12346
"""Begins a bitmap without runs."""
_HEADER_BYTES = 8
_CHUNK_HEADER_BYTES = 8
"""Bytes before the chunks for each of them: its key, its size less one, and its offset."""
_PAIR = Struct("<HH")
_PATTERN = int.from_bytes(b"\x55" * CHUNK_BYTES, "little")


def bitmap_of(chunks: Mapping[int, int]) -> BitMap:
    """Return the set of the numbers whose bits are set."""
    bits_of = {key: bits for key, bits in sorted(chunks.items()) if bits}
    sparse = tuple(key for key, bits in bits_of.items() if bits.bit_count() <= _LISTED)
    found = _deserialized({key: bits ^ _PATTERN if key in sparse else bits for key, bits in bits_of.items()})
    return found ^ _patterns(sparse) if sparse else found


def chunks_of(numbers: BitMap) -> dict[int, int]:
    """Return the chunks of a set that have numbers, in order."""
    keys = tuple(_keys(numbers))
    stored = (numbers ^ _patterns(keys)).serialize()
    begin = _HEADER_BYTES + _CHUNK_HEADER_BYTES * len(keys)
    places = zip(keys, range(begin, len(stored), CHUNK_BYTES), strict=True)
    return {key: int.from_bytes(stored[at : at + CHUNK_BYTES], "little") ^ _PATTERN for key, at in places}


def _keys(numbers: BitMap) -> Iterator[int]:
    at = numbers.min() if numbers else None
    last = numbers.max() // CHUNK if numbers else -1
    while at is not None:
        key = at // CHUNK
        yield key
        at = numbers.next_set_bit((key + 1) * CHUNK) if key < last else None


@lru_cache(maxsize=16)
def _patterns(keys: tuple[int, ...]) -> BitMap:
    return _deserialized(dict.fromkeys(keys, _PATTERN))


def _deserialized(chunks: Mapping[int, int]) -> BitMap:
    """Return the set of chunks that each have more numbers than the format lists."""
    count = len(chunks)
    pairs = (_PAIR.pack(key, bits.bit_count() - 1) for key, bits in chunks.items())
    begin = _HEADER_BYTES + _CHUNK_HEADER_BYTES * count
    offsets = pack(f"<{count}I", *range(begin, begin + count * CHUNK_BYTES, CHUNK_BYTES))
    content = (bits.to_bytes(CHUNK_BYTES, "little") for bits in chunks.values())
    return BitMap.deserialize(b"".join((pack("<II", _COOKIE, count), *pairs, offsets, *content)))
