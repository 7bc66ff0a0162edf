"""The numbers of all issues in one field, and what they come to for any set of issues. Exact, and pure.

A column is made of pages (`encoding.number_pages`). Numbers whose exponents are near each other share a layer
(`number_layers`), so a column of amounts in cents has one layer. A few numbers that no layer suits are *loose*.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from functools import cached_property, reduce
from operator import or_

from pyroaring import BitMap

from gridview.chains.number_layers import Layer
from gridview.chains.unpacked_layers import UnpackedLayer
from gridview.encoding.bit_chunks import CHUNK, CHUNK_BYTES, bitmap_of
from gridview.encoding.number_pages import (
    ABSENT,
    NO_BITS,
    SLICE_BYTES,
    SLOTS,
    Slices,
    UnreadablePage,
    exact_sum,
    whole_number,
)
from gridview.encoding.values import NUMBER_DIGITS

_NEAR = 9
"""Exponents that differ by at most this much share a layer: the coarser numbers take up to 30 slices more."""

_ROOM = 64
"""Slices that a number may need in a layer which others made narrower."""

_LOOSE = 256
"""Beyond so many loose numbers, those of near exponents get layers of their own."""

_PAGES_OF_A_CHUNK = CHUNK // SLOTS
_WORD = 8
"""Bytes that are copied at once."""

_WORDS = SLICE_BYTES // _WORD
ROUNDED = Context(prec=NUMBER_DIGITS)
"""An average has as many digits as a number may have."""


@dataclass(frozen=True)
class NumberColumn:
    """The numbers of issues. Never changed once made: `with_values` returns another column."""

    layers: tuple[Layer, ...] = ()
    loose: Mapping[int, Decimal] = field(default_factory=dict)

    @cached_property
    def members(self) -> BitMap:
        """The issues that have a number."""
        return BitMap.union(BitMap(self.loose), *(one.present for one in self.layers))

    @property
    def size(self) -> int:
        """About the bytes in memory."""
        sets = sum(one.width + 2 for one in self.layers)
        return sum(len(one.present) for one in self.layers) * sets // 8 + 200 * len(self.loose) + 1_000

    def value_of(self, num: int) -> Decimal | None:
        """Return the number of an issue; None if it has none."""
        for layer in self.layers:
            m = layer.number_of(num)
            if m is not None:
                return _shown(layer, m)
        return self.loose.get(num)

    def with_values(self, values: Mapping[int, Decimal | None]) -> "NumberColumn":
        """Return the column with other numbers of some issues (None: no number)."""
        out = BitMap(values)
        kept = {num: value for num, value in self.loose.items() if num not in values}
        layers = list(self.layers)
        chosen, loose = _distributed(
            layers, {num: value for num, value in values.items() if value is not None}
        )
        for place, layer in enumerate(layers):
            if chosen[place] or not layer.present.isdisjoint(out):
                layers[place] = layer.with_numbers(chosen[place], out)
        return _settled([one for one in layers if one.present], kept | loose)

    def among(
        self,
        within: BitMap,
        added: Sequence[Decimal] = (),
        unpacked: Sequence[UnpackedLayer] | None = None,
    ) -> "Numbers":
        """Return the numbers of a set of issues, and other numbers with them. `unpacked`: as of `unpack`."""
        return Numbers(self, within, added, unpacked)

    def unpack(self) -> tuple[UnpackedLayer, ...]:
        """Return what many sets of issues share to find their distinct numbers. It takes work only when it is used."""
        return tuple(UnpackedLayer(one.slices) for one in self.layers)


@dataclass(frozen=True)
class Numbers:
    """The numbers of some issues of a column, and others `added`. Each property takes intersections of slices."""

    column: NumberColumn
    within: BitMap
    added: Sequence[Decimal] = ()
    unpacked: Sequence[UnpackedLayer] | None = None

    @cached_property
    def _layers(self) -> list[tuple[Layer, BitMap]]:
        parts = ((layer, layer.present & self.within) for layer in self.column.layers)
        return [(layer, part) for layer, part in parts if part]

    @cached_property
    def _others(self) -> list[Decimal]:
        """The numbers that no layer has, in order."""
        loose = self.column.loose
        return sorted([*self.added, *(value for num, value in loose.items() if num in self.within)])

    @cached_property
    def count(self) -> int:
        """How many numbers there are."""
        return len(self._others) + sum(len(part) for _, part in self._layers)

    @cached_property
    def sum(self) -> Decimal:
        """Their sum, digit for digit; 0 for none."""
        return exact_sum((*self._others, *(layer.value(layer.sum(part)) for layer, part in self._layers)))

    @property
    def least(self) -> Decimal | None:
        """The least number; None for none."""
        return self.at(0) if self.count else None

    @property
    def greatest(self) -> Decimal | None:
        """The greatest number; None for none."""
        return self.at(self.count - 1) if self.count else None

    @property
    def median(self) -> Decimal | None:
        """The number in the middle, or the mean of the two, to 38 digits; None for none."""
        if not self.count:
            return None
        high = self.at(self.count // 2)
        if self.count % 2:
            return high
        return ROUNDED.divide(exact_sum((self.at(self.count // 2 - 1), high)), Decimal(2))

    def at(self, rank: int) -> Decimal:
        """Return the number of a rank, ascending from 0. IndexError beyond them."""
        if not 0 <= rank < self.count:
            raise IndexError(rank)
        parts, others = self._layers, self._others
        while True:
            parts = [(layer, part) for layer, part in parts if part]
            if not parts:
                return others[rank]
            layer, most = max(parts, key=lambda one: len(one[1]))
            if len(parts) == 1 and not others:
                return _shown(layer, layer.at(rank, most))
            pivot = _shown(layer, layer.at(len(most) // 2, most))
            splits = [(one, part, *one.split(pivot, part)) for one, part in parts]
            less = [one for one in others if one < pivot]
            lower = len(less) + sum(len(below) for _, _, below, _ in splits)
            equal = others.count(pivot) + sum(len(there) for *_, there in splits)
            if rank < lower:
                parts, others = [(one, below) for one, _, below, _ in splits], less
            elif rank < lower + equal:
                return pivot
            else:
                rank -= lower + equal
                parts = [(one, part - below - there) for one, part, below, there in splits]
                others = [one for one in others if one > pivot]

    @cached_property
    def distinct(self) -> int:
        """How many different numbers there are."""
        if not self._layers:
            return len(set(self._others))
        (first, most), *further = sorted(self._layers, key=lambda one: len(one[1]), reverse=True)
        found = first.distinct(most, self._unpacked(first))
        strange: set[Decimal] = set()
        others = [
            *self._others,
            *(
                _shown(layer, m)
                for layer, part in further
                for m in layer.distinct(part, self._unpacked(layer))
            ),
        ]
        for value in others:
            m = first.whole(value)
            if m is None or m not in found:
                strange.add(value)
        return len(found) + len(strange)

    def _unpacked(self, layer: Layer) -> UnpackedLayer | None:
        places = (place for place, one in enumerate(self.column.layers) if one is layer)
        return None if self.unpacked is None else self.unpacked[next(places)]


def column_of(pages: Mapping[int, Slices]) -> NumberColumn:
    """Return the column of pages, by the number of the page: issue num is in slot num % 256 of page num // 256.

    The pages may be only parsed. Raises UnreadablePage.
    """
    layers = [
        _layer(near, pages) for near in _near({one.exponent for one in pages.values() if _is_sliced(one)})
    ]
    exceptions = {
        page * SLOTS + slot: value for page, one in pages.items() for slot, value in one.exceptions.items()
    }
    chosen, loose = _distributed(layers, exceptions)
    with_exceptions = [
        layer.with_numbers(numbers, BitMap(numbers)) if numbers else layer
        for layer, numbers in zip(layers, chosen, strict=True)
    ]
    return _settled(with_exceptions, loose)


def mean(total: Decimal, count: int) -> Decimal | None:
    """Return the mean of numbers, to 38 digits; None for none."""
    return ROUNDED.divide(total, Decimal(count)) if count else None


def _shown(layer: Layer, m: int) -> Decimal:
    return layer.value(m).normalize(ROUNDED) if m else Decimal(0)


def _is_sliced(page: Slices) -> bool:
    return page.present != NO_BITS


def _near(exponents: Iterable[int]) -> list[list[int]]:
    """Return the exponents in groups that share a layer, ascending."""
    groups: list[list[int]] = []
    for exponent in sorted(exponents):
        if groups and exponent - groups[-1][0] <= _NEAR:
            groups[-1].append(exponent)
        else:
            groups.append([exponent])
    return groups


def _layer(exponents: Sequence[int], pages: Mapping[int, Slices]) -> Layer:
    """Return the layer of the sliced numbers of pages with these exponents. Raises UnreadablePage."""
    lowest = exponents[0]
    chunks: dict[tuple[int, int], list[bytes]] = {}
    for page, one in pages.items():
        if one.exponent in exponents and _is_sliced(one):
            key, place = divmod(page, _PAGES_OF_A_CHUNK)
            chunks.setdefault((key, one.exponent), [b""] * _PAGES_OF_A_CHUNK)[place] = one.bits
    present: dict[int, int] = {}
    negative: dict[int, int] = {}
    slices: list[dict[int, int]] = []
    for (key, exponent), some in chunks.items():
        there, below, *bits = _side_by_side(some)
        if reduce(or_, bits, below) & ~there:
            raise UnreadablePage(ABSENT)
        for _ in range(exponent - lowest):
            bits = _tenfold(bits)
        present[key] = present.get(key, 0) | there
        negative[key] = negative.get(key, 0) | below
        slices += [{} for _ in range(len(slices), len(bits))]
        for place, of_a_chunk in enumerate(bits):
            slices[place][key] = slices[place].get(key, 0) | of_a_chunk
    return Layer(lowest, bitmap_of(present), bitmap_of(negative), tuple(map(bitmap_of, slices)))


def _side_by_side(pages: Sequence[bytes]) -> Iterator[int]:
    """Return slice after slice the bits of a chunk, from the slices of its pages."""
    longest = max(map(len, pages))
    words = memoryview(b"".join(one.ljust(longest, b"\0") for one in pages)).cast("Q")
    for begin in range(0, longest // _WORD, _WORDS):
        chunk = bytearray(CHUNK_BYTES)
        found = memoryview(chunk).cast("Q")
        for word in range(_WORDS):
            found[word::_WORDS] = words[begin + word :: longest // _WORD]
        yield int.from_bytes(chunk, "little")


def _tenfold(bits: Sequence[int]) -> list[int]:
    """Return ten times the numbers in slices: twice each and eight times each, added digit by digit."""
    twice, eightfold = [0, *bits, 0, 0, 0], [0, 0, 0, *bits, 0]
    found, carry = [], 0
    for one, other in zip(twice, eightfold, strict=True):
        found.append(one ^ other ^ carry)
        carry = one & other | carry & (one ^ other)
    while found and not found[-1]:
        found.pop()
    return found


def _distributed(
    layers: Sequence[Layer], values: Mapping[int, Decimal]
) -> tuple[list[dict[int, int]], dict[int, Decimal]]:
    """Return the multiples that each layer takes, by issue, and the numbers that are left over."""
    chosen: list[dict[int, int]] = [{} for _ in layers]
    left: dict[int, Decimal] = {}
    for num, value in values.items():
        for place in range(len(layers) - 1, -1, -1):
            m = layers[place].whole(value)
            if m is not None and m.bit_length() <= max(layers[place].width, _ROOM):
                chosen[place][num] = m
                break
        else:
            left[num] = value
    return chosen, left


def _settled(layers: Sequence[Layer], loose: Mapping[int, Decimal]) -> NumberColumn:
    """Return the column, with layers for loose numbers if there are many."""
    if len(loose) <= _LOOSE:
        return NumberColumn(tuple(layers), dict(loose))
    parts = {num: whole_number(value) for num, value in loose.items()}
    made = []
    for near in _near({exponent for _, exponent in parts.values()}):
        numbers = {
            num: m * 10 ** (exponent - near[0]) for num, (m, exponent) in parts.items() if exponent in near
        }
        made.append(Layer(near[0], BitMap(), BitMap(), ()).with_numbers(numbers, BitMap()))
    ordered = sorted((*layers, *made), key=lambda layer: layer.exponent)
    return NumberColumn(tuple(ordered))
