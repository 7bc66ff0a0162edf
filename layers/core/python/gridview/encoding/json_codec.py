"""The API's JSON: decimals are exact both ways, and no input is lost silently."""

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

import orjson

from gridview.encoding.values import MAX_NUMBER_CHARACTERS, json_number, number_json
from gridview.support.errors import MAX_ERRORS, FieldError, InvalidRequest

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_INT_CHARACTERS = 40

_ENCODABLE_BITS = 63
"""Bits of the whole numbers that orjson encodes whatever their sign."""

MAX_NESTING = 100
"""Levels of objects and arrays in a document. `dumps` encodes 254, so an answer has room around what a client sent."""


class _Flaw(NamedTuple):
    """Represents a part that JSON does not allow in a parsed document, until its place is known."""

    message: str


def loads(text: str | bytes) -> Any:
    """Parse a request body. Whole numbers become int, others and very large ones Decimal, never float.

    InvalidRequest on malformed JSON, and beyond `MAX_NESTING`. With its place, also on:

    - NaN and Infinity,
    - a repeated property,
    - a number of more than 1,000 characters,
    - a lone surrogate (which a UTF-8 answer could not repeat).
    """
    parts = _Parts()
    try:
        source = text.decode() if isinstance(text, bytes) else text
        document = json.loads(
            source,
            parse_int=parts.integer,
            parse_float=parts.number,
            parse_constant=parts.constant,
            object_pairs_hook=parts.object,
        )
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise _invalid(f"The JSON is not valid: {error}.", f"is not valid JSON: {error}") from None
    if source.count("[") + source.count("{") > MAX_NESTING and _is_too_deep(document):
        raise _too_deep()
    if parts.flawed or _SURROGATE_ESCAPE.search(source):
        _refuse_flaws(document)
    return document


def _invalid(detail: str, message: str) -> InvalidRequest:
    return InvalidRequest(detail, [FieldError("body", message)])


def _too_deep() -> InvalidRequest:
    return _invalid(
        f"The JSON is nested too deeply: it can have {MAX_NESTING} levels.", "is nested too deeply"
    )


def _is_too_deep(document: Any) -> bool:
    level = [document]
    for _ in range(MAX_NESTING):
        level = [part for around in level for _, part in _members(around) if isinstance(part, dict | list)]
        if not level:
            return False
    return True


def dumps(document: Any) -> bytes:
    """Encode as JSON in UTF-8; a Decimal, or an int of any size, becomes a number with all its digits.

    TypeError for other types, and beyond 254 levels, which no document of `loads` has.
    """
    try:
        return orjson.dumps(document, default=_default)
    except orjson.JSONEncodeError:
        # orjson refuses an int beyond 64 bits. It is rare, so only then does each value get a look.
        return orjson.dumps(_in_encodable_numbers(document), default=_default)


def _in_encodable_numbers(part: Any) -> Any:
    match part:
        case dict():
            return {name: _in_encodable_numbers(one) for name, one in part.items()}
        case list() | tuple() | frozenset():
            return [_in_encodable_numbers(one) for one in part]
        case int() if part.bit_length() > _ENCODABLE_BITS:
            return Decimal(part)
    return part


def size_in_response(encoded: bytes) -> int:
    """Bytes that JSON takes as a string in a function's response: Lambda counts quotes and backslashes in
    escaped form.
    """
    return len(encoded) + encoded.count(b'"') + encoded.count(b"\\")


def _default(value: object) -> object:
    if isinstance(value, Decimal):
        return orjson.Fragment(number_json(value).encode())
    if isinstance(value, tuple | frozenset):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


class _Parts:
    """Reads the parts of one document. `flawed`: some are not allowed, and a `_Flaw` replaces each of them."""

    def __init__(self) -> None:
        self.flawed = False

    def integer(self, literal: str) -> int | Decimal | _Flaw:
        """Return a number without point and exponent. int() refuses thousands of digits, and its error would
        not name the field.
        """
        return int(literal) if len(literal) <= _INT_CHARACTERS else self.number(literal)

    def number(self, literal: str) -> int | Decimal | _Flaw:
        """Any other number: an int, too, if it is whole, as JSON Schema counts 2.0 among the integers."""
        if len(literal) > MAX_NUMBER_CHARACTERS:
            return self._flaw(f"must be a number of at most {MAX_NUMBER_CHARACTERS:,} characters")
        number = json_number(literal)
        short = number.adjusted() < _INT_CHARACTERS
        return int(number) if short and number == number.to_integral_value() else number

    def constant(self, name: str) -> _Flaw:
        """NaN, Infinity or -Infinity."""
        return self._flaw(f"{name} is not JSON")

    def object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Flaw:
        """Return an object."""
        found = dict(pairs)
        return found if len(found) == len(pairs) else self._flaw("repeats a property")

    def _flaw(self, message: str) -> _Flaw:
        self.flawed = True
        return _Flaw(message)


def _refuse_flaws(document: Any) -> None:
    """Raise InvalidRequest if the document has flaws: the places of the first ones, and how many more there are."""
    errors: list[FieldError] = []
    more = 0
    for trail, name, message in _flaws(document):
        if len(errors) < MAX_ERRORS:
            place = ".".join((*trail, name)[1:]) or "body"
            errors.append(FieldError(_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", place), message))
        else:
            more += 1
    if errors:
        first = errors[0]
        raise InvalidRequest(f"The JSON is not valid: {first.field} {first.message}.", errors, more=more)


def _flaws(document: Any) -> Iterator[tuple[list[str], str, str]]:
    """Return each flaw: the names of the values around it (the first means the document), its own name, and a
    message.

    The trail is the same list each time. Walked without recursion and without copies, since a document may be
    deep and wide.
    """
    trail: list[str] = []
    walks = [iter([("", document)])]
    while walks:
        for name, value in walks[-1]:
            if _SURROGATE.search(name) or (isinstance(value, str) and _SURROGATE.search(value)):
                yield trail, name, "contains a lone surrogate"
            elif isinstance(value, _Flaw):
                yield trail, name, value.message
            elif isinstance(value, dict | list):
                trail.append(name)
                walks.append(iter(_members(value)))
                break
        else:
            walks.pop()
            if trail:
                trail.pop()


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    else:
        yield from ((str(place), one) for place, one in enumerate(value))
