"""The API's JSON: decimals are exact both ways, and no input is lost silently."""

import json
import re
from decimal import Decimal
from typing import Any

import orjson

from gridview.encoding.values import json_number, number_json
from gridview.support.errors import FieldError, InvalidRequest

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_INT_CHARACTERS = 40


def loads(text: str | bytes) -> Any:
    """Parse a request body. Numbers with a point, an exponent or very many digits become Decimal, never float.

    InvalidRequest on malformed JSON, NaN and Infinity, a repeated property, an excessive number or nesting depth, and a lone
    surrogate (which a UTF-8 answer could not repeat).
    """
    try:
        source = text.decode() if isinstance(text, bytes) else text
        document = json.loads(
            source,
            parse_int=_integer,
            parse_float=json_number,
            parse_constant=_refuse,
            object_pairs_hook=_object,
        )
        lone = list(_lone_surrogates(document, ())) if _SURROGATE_ESCAPE.search(source) else []
    except RecursionError:
        raise InvalidRequest("The JSON is nested too deeply.") from None
    except ValueError as error:
        raise InvalidRequest(f"The JSON is not valid: {error}.") from None
    if lone:
        raise InvalidRequest(
            "A text holds a lone surrogate.", [FieldError(path, "holds a lone surrogate") for path in lone]
        )
    return document


def dumps(document: Any) -> bytes:
    """Encode as JSON in UTF-8; a Decimal becomes a number with all its digits."""
    return orjson.dumps(document, default=_default)


def size_in_response(encoded: bytes) -> int:
    """Bytes that JSON takes as a string in a function's response: Lambda counts quotes and backslashes in escaped form."""
    return len(encoded) + encoded.count(b'"') + encoded.count(b"\\")


def _default(value: object) -> object:
    if isinstance(value, Decimal):
        return orjson.Fragment(number_json(value).encode())
    if isinstance(value, tuple | frozenset):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _integer(literal: str) -> int | Decimal:
    # int() refuses thousands of digits, and its error would not name the field.
    return int(literal) if len(literal) <= _INT_CHARACTERS else json_number(literal)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object repeats a property")
    return found


def _lone_surrogates(value: Any, path: tuple[str, ...]) -> list[str]:
    """The dotted paths of texts and property names (made printable) that hold a lone surrogate."""
    if isinstance(value, str):
        return [".".join(path) or "body"] if _SURROGATE.search(value) else []
    if isinstance(value, list):
        return [
            found for place, item in enumerate(value) for found in _lone_surrogates(item, (*path, str(place)))
        ]
    if isinstance(value, dict):
        found = []
        for name, item in value.items():
            inner = (*path, _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", name))
            found += [".".join(inner)] if _SURROGATE.search(name) else _lone_surrogates(item, inner)
        return found
    return []
