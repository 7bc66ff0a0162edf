"""Sort strings: one string per value and issue, whose order is the order of the values.

    >502123 01 00000042        the number 123 of issue 42 (01 is the one character U+0001)
    body    |  issue number
            separator

For every type, ``compare(a, b)`` and ``sort_string(a) < sort_string(b)`` agree, ties by number included. The
specification with its examples, limits and order claims is ``docs/sort-strings.md``; any change of their
results is a new ``SPEC_VERSION`` and a reindex. Pure functions of stored values (``values``).
"""

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

from gridview.encoding.fractional_keys import KEY_PATTERN
from gridview.encoding.option_ranks import RANK_PATTERN
from gridview.encoding.values import NUMBER_DIGITS, NUMBER_MAX_EXPONENT, NUMBER_MIN_EXPONENT, number_parts

SPEC_VERSION = 1
RANK = "rank"
"""The form of the ranks of a manual order, beside those of the field types."""
SEPARATOR = "\x01"
ESCAPE = "\x02"
NUMBER_WIDTH = 8
"""Digits of an issue number in a sort string."""

TEXT_WIDTH = 240
"""Characters of a case-folded text that count in the order."""

USER_BYTES = 1008
"""A character of a casefolded user id counts in the order if it begins within this many bytes."""

MAX_OPTIONS = 200
"""Options of one multi_enum value."""

COMPOSITE_BYTES = 1014
"""Bytes in the body of a composite key, over all its parts."""

_NULL_FIRST, _VALUED, _NULL_LAST = "012"
_END = ESCAPE + " "
"""Ends an ascending part: lower than any continuation, including an escaped control character."""
_END_INVERTED = "\N{LATIN SMALL LETTER Y WITH DIAERESIS}"
"""Ends a descending part: higher than any continuation."""
_ESCAPE_INVERTED = "\N{LATIN SMALL LETTER THORN}"
_LONGEST = 5
"""The most bytes that one character takes in a part, including an escaped control character."""
_FRAME = 3
"""Bytes of a part's tag and terminator."""
_CHARACTER = re.compile(f"{ESCAPE}.|.", re.DOTALL)

_MAX_NUMBER = 10**NUMBER_WIDTH - 1
"""The highest issue number."""
_EXPONENT_BIAS = 500
_ESCAPES = {control: ESCAPE + chr(0x40 + control) for control in range(0x20)}
_ESCAPED = re.compile(f"{ESCAPE}.", re.DOTALL)
_NINES_COMPLEMENT = str.maketrans("0123456789", "9876543210")
_ISSUE_NUMBER = re.compile(rf"{SEPARATOR}((?!0+\Z)[0-9]{{{NUMBER_WIDTH}}})\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATETIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")


def sort_string(body: str, num: int) -> str:
    """Return the sort string of a value of issue ``num``; ``body`` comes from one of the encoders below."""
    return body + SEPARATOR + issue_number(num)


def issue_number(num: int) -> str:
    """Return the issue number as eight digits; ``ValueError`` outside 1 to 99,999,999."""
    if not 1 <= num <= _MAX_NUMBER:
        raise ValueError("issue number out of range")
    return f"{num:0{NUMBER_WIDTH}d}"


def number_of(sort_string: str) -> int:
    """Return the issue number in a sort string; ``ValueError`` if it is not a sort string."""
    return int(_ending(sort_string)[1])


def body_of(sort_string: str) -> str:
    """Return the value part of a sort string; ``ValueError`` if it is not a sort string."""
    return sort_string[: _ending(sort_string).start()]


def joined(bodies: Iterable[str]) -> str:
    """Join several bodies into one, in order; `joined_in` splits them again."""
    return SEPARATOR.join(sorted(bodies))


def joined_in(body: str) -> list[str]:
    """Split the result of `joined` into its bodies."""
    return body.split(SEPARATOR)


def case_fold(text: str) -> str:
    """Return the text in the form that is compared: NFKD, without marks of a nonzero combining class, casefolded.

    Case-folds character by character, so ``case_fold(a + b) == case_fold(a) + case_fold(b)``: a prefix
    case-folds to a prefix.
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()


def text(value: str) -> str:
    """Return the body of a text: its first 240 case-folded characters; empty for a text of nothing but marks."""
    return _escape(case_fold(value)[:TEXT_WIDTH])


def user(value: str) -> str:
    """Return the body of a user id: its casefolded characters that begin within the first 1,008 bytes."""
    return _escape(_beginning(value.casefold(), USER_BYTES))


def number(value: Decimal) -> str:
    """Return the body of a number: sign, exponent, digits. Exact; ``ValueError`` for a number that cannot be stored.

    - `=`: zero
        - `>502123`: 123 = 1.23E+2: 500 + exponent, then the digits without trailing zeros
        - `<497876~`: -123: exponent and digits complemented, then a mark that sorts fewer digits after more
    """
    _, digits, exponent = number_parts(value)
    if digits and (len(digits) > NUMBER_DIGITS or not NUMBER_MIN_EXPONENT <= exponent <= NUMBER_MAX_EXPONENT):
        raise ValueError("number out of range")
    return number_beyond(value)


def number_beyond(value: Decimal) -> str:
    """Return the body that a number would have if it could be stored: it compares like the bodies of numbers that can.

    The exponent must be between -500 and 499.
    """
    negative, digits, exponent = number_parts(value)
    if not digits:
        return "="
    magnitude = f"{_EXPONENT_BIAS + exponent:03d}{digits}"
    return f"<{magnitude.translate(_NINES_COMPLEMENT)}~" if negative else f">{magnitude}"


def date(stored: str) -> str:
    """Return the body of a date: the stored string itself, ``2023-05-01``."""
    return _fixed(_DATE, stored)


def datetime(stored: str) -> str:
    """Return the body of an instant: the stored string itself, ``2023-05-01T12:34:56.000000Z``."""
    return _fixed(_DATETIME, stored)


def boolean(value: bool) -> str:
    """Return the body of a boolean: ``0`` for false, ``1`` for true."""
    return "1" if value else "0"


def enum(rank: str) -> str:
    """Return the body of an option: its rank."""
    return _fixed(RANK_PATTERN, rank)


def multi_enum(ranks: Iterable[str]) -> str:
    """Return the body of a set of options: their ranks, ascending.

    ``ValueError`` for an empty set: that is no value, so it has no sort string.
    """
    ordered = sorted(map(enum, ranks))
    if not 1 <= len(ordered) <= MAX_OPTIONS:
        raise ValueError("number of options out of range")
    return "".join(ordered)


def manual_rank(rank: str) -> str:
    """Return the body of a rank in a manual order: the rank itself."""
    return _fixed(KEY_PATTERN, rank)


class KeyPart(NamedTuple):
    """One part of a composite key: its body (None: no value), how it sorts, and its byte limit (None: no limit)."""

    body: str | None
    descending: bool = False
    nulls_first: bool = False
    size: int | None = None


def composite(parts: Iterable[KeyPart]) -> str:
    """Return the body of several key parts. The first part is compared first, then the second, and so on.

        1open 02 20 1>502123        "open" ascending, then the number 123 ascending (02 20 are the characters U+0002 and U+0020)
        tag  | end  tag

    Each part starts with a tag that says whether there is a value, and has a terminator before the next part.
    A descending part is inverted character by character. The last part must be ascending, because the
    ascending issue number follows it. A body too long for its `size` is truncated at a place that depends
    only on the characters before. Issues that agree up to there tie.
    """
    *leading, last = parts
    if last.descending:
        raise ValueError("the last key is not ascending")
    return "".join(_part(one) + _end(one) for one in leading) + _part(last)


def _part(part: KeyPart) -> str:
    if part.body is None:
        return _NULL_FIRST if part.nulls_first else _NULL_LAST
    characters = part.body.translate(_INVERSION) if part.descending else part.body
    if part.size is not None and len(characters.encode()) > part.size - _FRAME - _LONGEST:
        characters = _cut(part.body, part.size - _FRAME - _LONGEST, descending=part.descending)
    return _VALUED + characters


def _end(part: KeyPart) -> str:
    if part.body is None:
        return ""
    return _END_INVERTED if part.descending else _END


def _cut(body: str, limit: int, *, descending: bool) -> str:
    # As for a user id: a character of any kind is kept if it begins early enough. An escape stays with its
    # character.
    kept, begins = [], 0
    for character in _CHARACTER.findall(body):
        if begins > limit:
            break
        kept.append(character.translate(_INVERSION) if descending else character)
        begins += len(kept[-1].encode())
    return "".join(kept)


class _Inversion(dict[int, str]):
    """Replacements for characters that sort in reverse; none is a prefix of another.

    Most texts use the characters from space to z, which stay one byte each. For any other, a marker gives its
    UTF-8 length, and its place among the characters of that length follows, counted from the end.
    """

    def __missing__(self, code: int) -> str:
        if code == ord(ESCAPE):
            return _ESCAPE_INVERTED
        if code <= 0x7A:
            return chr(0x9E - code)
        if code <= 0x7FF:
            return "#" + chr(0x20 + 0x7FF - code)
        if code <= 0xFFFF:
            return '"' + _scalar(0x20 + _scalars_before(0xFFFF) - _scalars_before(code))
        return "!" + chr(0x10000 + 0x10FFFF - code)


_INVERSION = _Inversion()


def _scalar(place: int) -> str:
    """Return the character at a place among the characters that are not surrogates."""
    return chr(place if place < 0xD800 else place + 0x800)


def _scalars_before(code: int) -> int:
    return code if code < 0xD800 else code - 0x800


def case_folded_text(body: str) -> str:
    """Return the case-folded text that a text's body was made of, up to its first 240 characters."""
    return _ESCAPED.sub(lambda found: chr(ord(found[0][1]) - 0x40), body)


def number_value(body: str) -> Decimal:
    """Return the number that a number's body was made of."""
    if body == "=":
        return Decimal(0)
    negative = body[0] == "<"
    magnitude = body[1:-1].translate(_NINES_COMPLEMENT) if negative else body[1:]
    exponent, digits = int(magnitude[:3]) - _EXPONENT_BIAS, magnitude[3:]
    return Decimal((negative, tuple(map(int, digits)), exponent - len(digits) + 1))


def _beginning(text: str, size: int) -> str:
    # Whether a character is kept depends only on the ones before it, so ids that differ only in it are
    # truncated at the same place.
    if len(text) * 4 <= size:
        return text
    begins = 0
    for place, character in enumerate(text):
        if begins >= size:
            return text[:place]
        begins += len(_escape(character).encode())
    return text


def _escape(text: str) -> str:
    # Above the separator and below every printable character, so the order of the texts is kept.
    return text.translate(_ESCAPES)


def _fixed(pattern: re.Pattern[str], stored: str) -> str:
    # A document that holds anything else is poison: refusing one issue is better than an index out of order.
    if pattern.fullmatch(stored) is None:
        raise ValueError("value is not in its stored form")
    return stored


def _ending(sort_string: str) -> re.Match[str]:
    match = _ISSUE_NUMBER.search(sort_string)
    if match is None:
        raise ValueError("not a sort string")
    return match
