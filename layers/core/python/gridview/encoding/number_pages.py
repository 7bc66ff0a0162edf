"""The numbers of up to 256 slots as bytes: one bit slice for each binary digit. Exact, and pure.

A number is ±m·10^e. All *sliced* numbers of a page share the exponent e. Slice p has a bit for each slot whose m has
the binary digit 2^p. So 256 numbers of 24 bits take 26 slices of 32 bytes. Numbers that need a finer exponent or more
slices are *exceptions*, if that is shorter. An exception is a slot and the body of a sort string (`sort_strings`).

```
width  flags  exponent  present  [negative]  slice 0 ... slice width-1  [slot length body] ...
1      1      2         32       32          32                         1    1      length        bytes
```

A bit's place is its slot, the lowest first, so slices of consecutive pages can be concatenated. An empty page is b"".
"""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Context, Decimal
from functools import reduce
from math import ceil, log2
from operator import or_
from struct import Struct
from struct import error as StructError  # noqa: N812
from typing import Final, NamedTuple

from gridview.encoding.sort_strings import number, number_value
from gridview.encoding.values import NUMBER_DIGITS

SLOTS = 256
"""Slots of a page."""

SLICE_BYTES = SLOTS // 8

_HEADER = Struct("<BBh")
_NEGATIVE = 1
"""The flag of a page with a slice of signs."""

_MAX_WIDTH = 255
_EXPONENTS = 8
"""The most exponents that are tried: more would cost CPU time and save little."""

_BITS_OF_A_DIGIT = log2(10)
_EXACT = Context(prec=600)
"""Holds the sum of 100 million numbers digit for digit: from 1E+134 down to 1E-167."""


class UnreadablePage(ValueError):
    """Bytes that are no page of numbers."""


ABSENT: Final = "bits of absent slots"
"""The reason of an UnreadablePage whose slices have bits of slots without a number."""


class Slices(NamedTuple):
    """The content of a page.

    `bits`: slices of 32 bytes: which slots have a sliced number, which of them is negative, and the magnitudes, the lowest
    binary digit first.
    """

    exponent: int
    bits: bytes
    exceptions: Mapping[int, Decimal]

    @property
    def present(self) -> bytes:
        """The slots with a sliced number."""
        return self.bits[:SLICE_BYTES]

    @property
    def negative(self) -> bytes:
        """Those of them whose number is negative."""
        return self.bits[SLICE_BYTES : 2 * SLICE_BYTES]

    @property
    def magnitudes(self) -> list[bytes]:
        """The slices of the magnitudes, the lowest binary digit first."""
        return [
            self.bits[at : at + SLICE_BYTES] for at in range(2 * SLICE_BYTES, len(self.bits), SLICE_BYTES)
        ]


NO_BITS = bytes(SLICE_BYTES)
EMPTY = Slices(0, 2 * NO_BITS, {})


class _Alike(NamedTuple):
    """Numbers m·10^e of one sign and exponent whose m have as many bits."""

    exponent: int
    bits: int
    negative: bool

    @property
    def cost(self) -> int:
        """About the bytes of an exception: slot, length, sign, three digits of exponent, and the digits."""
        return 7 + int(self.bits / _BITS_OF_A_DIGIT)

    def bits_at(self, exponent: int) -> int:
        """Return at least the bits of m at this exponent, or more than a page has slices."""
        if not self.bits or self.exponent == exponent:
            return self.bits
        if self.exponent < exponent:
            return _MAX_WIDTH + 1
        return self.bits + ceil((self.exponent - exponent) * _BITS_OF_A_DIGIT)


def encoded(values: Mapping[int, Decimal]) -> bytes:
    """Return the numbers of slots (0 to 255) in a short form. ValueError for a number that cannot be stored."""
    if not values:
        return b""
    numbers = {slot: whole_number(value) for slot, value in values.items()}
    alike: dict[_Alike, list[int]] = {}
    for slot, (m, exponent) in numbers.items():
        alike.setdefault(_Alike(exponent, m.bit_length(), m < 0), []).append(slot)
    exponent, width, signed = _form({one: len(slots) for one, slots in alike.items()})
    exceptions: list[int] = []
    whole: dict[int, int] = {}
    for one, slots in alike.items():
        if one.bits_at(exponent) <= width and signed >= one.negative:
            scale = 10 ** (one.exponent - exponent) if one.bits else 0
            whole |= {slot: numbers[slot][0] * scale for slot in slots}
        else:
            exceptions += slots
    width = max((m.bit_length() for m in whole.values()), default=0)
    parts = [_HEADER.pack(width, _NEGATIVE if signed else 0, exponent), _bits(whole)]
    if signed:
        parts.append(_bits(slot for slot, m in whole.items() if m < 0))
    parts += _transposed(whole, width)
    for slot in sorted(exceptions):
        body = number(values[slot]).encode()
        parts.append(bytes((slot, len(body))) + body)
    return b"".join(parts)


def changed(stored: bytes, changes: Mapping[int, Decimal | None]) -> bytes:
    """Return a page with other numbers in some slots (None: no number). Raises as `decoded` and `encoded`.

    A page keeps its exponent and its slices if they hold all numbers, which takes a tenth of the CPU time.
    """
    page = decoded(stored)
    numbers = {slot: whole_number(value) for slot, value in changes.items() if value is not None}
    kept = _kept(page, numbers) if not page.exceptions else None
    if kept is None:
        values: dict[int, Decimal | None] = {**values_of(page), **changes}
        return encoded({slot: value for slot, value in values.items() if value is not None})
    out = ~_mask(changes)
    present = int.from_bytes(page.present, "little") & out | _mask(numbers)
    if not present:
        return b""
    negative = int.from_bytes(page.negative, "little") & out
    slices = [int.from_bytes(one, "little") & out for one in page.magnitudes]
    for slot, m in kept.items():
        bit = 1 << slot
        negative |= bit if m < 0 else 0
        for place, digit in enumerate(reversed(f"{abs(m):b}")):
            if digit == "1":
                slices[place] |= bit
    while slices and not slices[-1]:
        slices.pop()
    shown = [present, *([negative] if negative else ()), *slices]
    header = _HEADER.pack(len(slices), _NEGATIVE if negative else 0, page.exponent)
    return header + b"".join(one.to_bytes(SLICE_BYTES, "little") for one in shown)


def _kept(page: Slices, numbers: Mapping[int, tuple[int, int]]) -> dict[int, int] | None:
    """Return the numbers as multiples of a page's power of ten; None if its slices cannot hold them."""
    found: dict[int, int] = {}
    signed = page.negative != NO_BITS
    for slot, (m, exponent) in numbers.items():
        if m and (
            exponent < page.exponent or exponent > page.exponent + NUMBER_DIGITS or (m < 0 and not signed)
        ):
            return None
        whole = m * 10 ** (exponent - page.exponent) if m else 0
        if whole.bit_length() > len(page.magnitudes):
            return None
        found[slot] = whole
    return found


def _mask(slots: Iterable[int]) -> int:
    return sum(1 << slot for slot in slots)


def decoded(stored: bytes) -> Slices:
    """Return the content of a page. Raises UnreadablePage."""
    page = parsed(stored)
    present, *others = (int.from_bytes(one) for one in (page.present, page.negative, *page.magnitudes))
    if reduce(or_, others) & ~present:
        raise UnreadablePage(ABSENT)
    return page


def parsed(stored: bytes) -> Slices:
    """Return the content of a page as `decoded` does, but for one rule: slices may have bits of absent slots.

    Many pages together are checked for that in less time. Raises UnreadablePage.
    """
    if not stored:
        return EMPTY
    try:
        width, flags, exponent = _HEADER.unpack_from(stored)
    except StructError as error:
        raise UnreadablePage("no header") from error
    begin = _HEADER.size
    end = begin + (1 + (flags & _NEGATIVE) + width) * SLICE_BYTES
    if flags > _NEGATIVE or len(stored) < end:
        raise UnreadablePage("cut short")
    middle = begin + SLICE_BYTES
    bits = stored[begin:end] if flags else stored[begin:middle] + NO_BITS + stored[middle:end]
    exceptions = dict(_exceptions(stored[end:])) if len(stored) > end else {}
    if any(bits[slot >> 3] >> (slot & 7) & 1 for slot in exceptions):
        raise UnreadablePage("a slot has two numbers")
    return Slices(exponent, bits, exceptions)


def values_of(page: Slices) -> dict[int, Decimal]:
    """Return slot -> number, in the order of the slots."""
    found = dict(page.exceptions)
    if page.present != NO_BITS:
        columns = zip(*map(_characters, reversed(page.magnitudes)), strict=True) if page.magnitudes else ()
        magnitudes = ["".join(column) for column in columns] or ["0"] * SLOTS
        for slot, (present, negative) in enumerate(
            zip(_characters(page.present), _characters(page.negative), strict=True)
        ):
            if present == "1":
                m = int(magnitudes[slot], 2)
                found[slot] = _decimal(-m if negative == "1" else m, page.exponent)
    return dict(sorted(found.items()))


def count_of(page: Slices) -> int:
    """Return how many slots have a number."""
    return int.from_bytes(page.present).bit_count() + len(page.exceptions)


def sum_of(page: Slices) -> Decimal:
    """Return the exact sum of a page's numbers."""
    negative = int.from_bytes(page.negative)
    whole = 0
    for place, one in enumerate(page.magnitudes):
        bits = int.from_bytes(one)
        whole += (bits.bit_count() - 2 * (bits & negative).bit_count()) << place
    return exact_sum((scaled(whole, page.exponent), *page.exceptions.values()))


def exact_sum(numbers: Iterable[Decimal]) -> Decimal:
    """Return the sum of numbers, digit for digit."""
    total = Decimal(0)
    for one in numbers:
        total = _EXACT.add(total, one)
    return total


def scaled(whole: int, exponent: int) -> Decimal:
    """Return whole·10^exponent, digit for digit."""
    return _EXACT.scaleb(_EXACT.create_decimal(whole), exponent)


def whole_number(value: Decimal) -> tuple[int, int]:
    """Return a number as (m, e): the whole m with its sign, and the highest e with value = m·10^e. Zero is (0, 0).

    ValueError if it is not finite.
    """
    mantissa, _, exponent = str(value).partition("E")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    significant = digits.rstrip("0")
    if not significant.lstrip("-0"):
        return 0, 0
    return int(significant), int(exponent or 0) - len(fraction) + len(digits) - len(significant)


def _form(alike: Mapping[_Alike, int]) -> tuple[int, int, bool]:
    """Return the exponent, the width and whether there is a slice of signs, with about the fewest bytes."""
    negative = sum(one.cost * count for one, count in alike.items() if one.negative)
    signed = negative > SLICE_BYTES
    best = (negative + sum(one.cost * count for one, count in alike.items()), 0, 0)
    for exponent in _exponents({one.exponent for one in alike if one.bits}):
        costs: dict[int, int] = {}
        for one, count in alike.items():
            bits = one.bits_at(exponent) if signed >= one.negative else _MAX_WIDTH + 1
            costs[bits] = costs.get(bits, 0) + one.cost * count
        # Narrower at each step, with more exceptions: first the numbers that no slice can hold.
        exceptions = 0
        for bits in sorted(costs, reverse=True):
            if bits <= _MAX_WIDTH:
                best = min(best, (exceptions + (bits + signed) * SLICE_BYTES, exponent, bits))
            exceptions += costs[bits]
        best = min(best, (exceptions, exponent, 0))
    return best[1], best[2], signed


def _exponents(found: Iterable[int]) -> list[int]:
    """Return the exponents to try, spread evenly over the exponents that occur."""
    every = sorted(found)
    if len(every) <= _EXPONENTS:
        return every
    return [every[place * (len(every) - 1) // (_EXPONENTS - 1)] for place in range(_EXPONENTS)]


def _bits(slots: Iterable[int]) -> bytes:
    return _mask(slots).to_bytes(SLICE_BYTES, "little")


def _transposed(whole: Mapping[int, int], width: int) -> Iterator[bytes]:
    """Return the slices of magnitudes, the lowest binary digit first."""
    rows = ["0" * width] * SLOTS
    for slot, m in whole.items():
        if width:
            rows[SLOTS - 1 - slot] = f"{abs(m):0{width}b}"
    text = "".join(rows)
    for place in range(width):
        yield int(text[width - 1 - place :: width], 2).to_bytes(SLICE_BYTES, "little")


def _characters(bits: bytes) -> str:
    """Return a slice as 256 characters, the lowest slot first."""
    return f"{int.from_bytes(bits, 'little'):0{SLOTS}b}"[::-1]


def _exceptions(stored: bytes) -> Iterator[tuple[int, Decimal]]:
    at, last = 0, -1
    while at < len(stored):
        slot, length = stored[at], stored[at + 1] if at + 1 < len(stored) else 0
        body = stored[at + 2 : at + 2 + length]
        if slot <= last or len(body) != length or not length:
            raise UnreadablePage("an exception is cut short or out of order")
        try:
            value = number_value(body.decode("ascii"))
            whole = number(value)
        except (ValueError, IndexError, ArithmeticError) as error:
            raise UnreadablePage("an exception is no number") from error
        if whole.encode() != body:
            raise UnreadablePage("an exception is no number")
        yield slot, value
        at, last = at + 2 + length, slot


def _decimal(m: int, exponent: int) -> Decimal:
    """Return m·10^exponent in the form of stored numbers: without trailing zeros."""
    return scaled(m, exponent).normalize(_EXACT) if m else Decimal(0)
