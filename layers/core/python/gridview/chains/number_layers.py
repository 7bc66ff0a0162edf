"""Numbers of many issues in bit slices: sums, ends, ranks and distinct values of any set of issues. Exact, and pure.

A *layer* holds the numbers ±m·10^e of one exponent e. Its slice p is the set of the issues whose m has the binary digit
2^p. The sum of a set of issues is the sum of 2^p times the sizes of intersections, whatever the size of the set:

```
issue         1     2     3          negative  {3}
number        5     6    -3          slice 0   {1, 3}        sum = 1·(1 - 1) + 2·(1 - 1) + 4·(2 - 0) = 8
m           101   110    11          slice 1   {2, 3}
                                     slice 2   {1, 2}
```

A million numbers of 24 bits take 3.3 MB. A sum takes 26 intersections, some 0.1 ms.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from pyroaring import BitMap

from gridview.chains.distinct_multiples import Magnitudes, Multiples
from gridview.chains.unpacked_layers import FEW, UnpackedLayer
from gridview.encoding.bit_chunks import CHUNK
from gridview.encoding.number_pages import scaled, whole_number

_LISTED = 500
"""Fewer issues of a chunk are looked up faster than the others are counted."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The numbers of some issues as multiples of 10^exponent. `slices` begin with the lowest binary digit.

    Never changed once made: `with_numbers` returns another one.
    """

    exponent: int
    present: BitMap
    negative: BitMap
    slices: tuple[BitMap, ...]

    @property
    def width(self) -> int:
        """The binary digits of the largest magnitude."""
        return len(self.slices)

    def whole(self, value: Decimal) -> int | None:
        """Return a number as a multiple of the layer's power of ten; None if it is none."""
        m, exponent = whole_number(value)
        if not m:
            return 0
        return None if exponent < self.exponent else m * 10 ** (exponent - self.exponent)

    def with_numbers(self, numbers: Mapping[int, int], out: BitMap) -> "Layer":
        """Return the layer without the issues of `out`, and with these multiples, by issue."""
        width = max((m.bit_length() for m in numbers.values()), default=0)
        slices = [one - out for one in self.slices]
        slices += [BitMap() for _ in range(len(slices), width)]
        for place, one in enumerate(slices):
            one |= BitMap(num for num, m in numbers.items() if abs(m) >> place & 1)
        while slices and not slices[-1]:
            slices.pop()
        present = (self.present - out) | BitMap(numbers)
        negative = (self.negative - out) | BitMap(num for num, m in numbers.items() if m < 0)
        return replace(self, present=present, negative=negative, slices=tuple(slices))

    def value(self, m: int) -> Decimal:
        """Return m times the layer's power of ten, digit for digit."""
        return scaled(m, self.exponent)

    def number_of(self, num: int) -> int | None:
        """Return the multiple of an issue; None if it has no number here."""
        if num not in self.present:
            return None
        m = self._magnitude_of(num)
        return -m if num in self.negative else m

    def _magnitude_of(self, num: int) -> int:
        return sum(1 << place for place, one in enumerate(self.slices) if num in one)

    def sum(self, within: BitMap) -> int:
        """Return the sum of the multiples of a set of issues."""
        negative = self.negative & within
        counts = self._counts(within)
        if negative:
            of_negative = self._counts(negative)
            counts = [every - 2 * below for every, below in zip(counts, of_negative, strict=True)]
        return sum(count << place for place, count in enumerate(counts))

    def _counts(self, within: BitMap) -> list[int]:
        """Return how many of some issues of the layer are in each slice.

        Roaring keeps up to 4,096 issues of a chunk as a list, and looks each of them up. The others of the chunk are bits,
        which are counted word by word. From some hundred issues on, that takes a fifth to a half of the time.
        """
        chunks = 1 + self.present.max() // CHUNK if self.present else 0
        if len(within) < _LISTED * chunks:
            return [one.intersection_cardinality(within) for one in self.slices]
        others = self.present - within
        return [len(one) - one.intersection_cardinality(others) for one in self.slices]

    def at(self, rank: int, within: BitMap) -> int:
        """Return the multiple of a rank, ascending from 0, among issues of this layer. The rank is one of theirs."""
        left = within & self.negative
        if rank < len(left):
            return -self._magnitude_at(len(left) - 1 - rank, left)
        return self._magnitude_at(rank - len(left), within - self.negative)

    def _magnitude_at(self, rank: int, within: BitMap) -> int:
        found = 0
        for place in range(self.width - 1, -1, -1):
            without = len(within) - self.slices[place].intersection_cardinality(within)
            if rank < without:
                within = within - self.slices[place]
            else:
                rank -= without
                within = within & self.slices[place]
                found |= 1 << place
        return found

    def split(self, pivot: Decimal, within: BitMap) -> tuple[BitMap, BitMap]:
        """Return the issues whose number is less than a pivot, and those whose number is equal to it."""
        m, exponent = whole_number(pivot)
        if exponent >= self.exponent:
            return self._split(m * 10 ** (exponent - self.exponent), within)
        floor, rest = divmod(m, 10 ** (self.exponent - exponent))
        less, equal = self._split(floor, within)
        return (less | equal, BitMap()) if rest else (less, equal)

    def _split(self, m: int, within: BitMap) -> tuple[BitMap, BitMap]:
        negative = within & self.negative
        if m < 0:
            lower, equal = self._split_magnitudes(-m, negative)
            return negative - lower - equal, equal
        lower, equal = self._split_magnitudes(m, within - self.negative)
        return negative | lower, equal

    def _split_magnitudes(self, m: int, within: BitMap) -> tuple[BitMap, BitMap]:
        if m.bit_length() > self.width:
            return within, BitMap()
        less, equal = BitMap(), within
        for place in range(self.width - 1, -1, -1):
            if m >> place & 1:
                less |= equal - self.slices[place]
                equal = equal & self.slices[place]
            else:
                equal = equal - self.slices[place]
        return less, equal

    def distinct(self, within: BitMap, unpacked: UnpackedLayer | None = None) -> Multiples:
        """Return the different multiples that issues of this layer have: some 100 ms for half a million.

        `unpacked`: of this layer; for many sets of issues it saves most of the time.
        """
        negative = within & self.negative
        sides = (within - negative, negative)
        if unpacked is None and len(within) <= FEW:
            return Multiples(*map(self._few_magnitudes, sides))
        known = unpacked or UnpackedLayer(self.slices)
        return Multiples(*map(known.magnitudes, sides))

    def _few_magnitudes(self, within: BitMap) -> Magnitudes:
        found = Magnitudes(self.width, len(within))
        found.add(2 * self._magnitude_of(num) for num in within)
        return found
