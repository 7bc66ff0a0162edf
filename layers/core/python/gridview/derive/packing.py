"""The strings of a ledger as its stored item has them: plain, or of a wide issue compressed. Pure.

    plain       applied  {"a1.1": "x"}      intent  {"a1.1": {"to": "y"}}      left  {"a1.1": ["x"]}
    compressed  packed   {"a1.1": ["x", {"to": "y"}, ["x"]]}                   intent  {}

Compressed, a string and its repetitions are side by side, and a text is beside its words: they take the room of one.
"""

import zlib
from collections.abc import Mapping
from typing import Any

import orjson

PACKED = "packed"
"""The attribute of a stored ledger that holds compressed strings."""

_PACKED_FROM = 16_000
"""Bytes from which strings are compressed. A hundred short values have fewer, and take no time for it."""

_MAX_BYTES = 395_000
"""Limit of compressed strings: DynamoDB stores at most 400 KB in an item."""

_PARTS = ("applied", "intent", "left")


def stored(strings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the attributes of a stored ledger for its strings: for each part, what it has by family.

    A compressed ledger with an intent also has that attribute, because conditions of writes look for it.
    """
    if len(orjson.dumps(strings)) < _PACKED_FROM:
        return dict(strings)
    whole = packed(strings)
    if len(whole) > _MAX_BYTES and "left" in strings:
        # As long as former strings matter to readers, the journal lists them too.
        whole = packed({**strings, "left": {family: [] for family in strings["left"]}})
    return {PACKED: whole, **({"intent": {}} if "intent" in strings else {})}


def strings_in(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the strings of a stored ledger, by part; the item itself if they are plain. ValueError if they cannot
    be unpacked.
    """
    if PACKED not in item:
        return item
    try:
        rows = orjson.loads(zlib.decompress(item[PACKED])).items()
        found = {
            part: {family: row[place] for family, row in rows if row[place] is not None}
            for place, part in enumerate(_PARTS)
        }
    except (AttributeError, IndexError, TypeError, zlib.error) as error:
        raise ValueError("strings that cannot be unpacked") from error
    has_intent = bool(found["intent"]) or "intent" in item
    return found if has_intent else {part: found[part] for part in _PARTS if part != "intent"}


def packed(strings: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Return strings in compressed form."""
    families = sorted({family for part in strings.values() for family in part})
    parts = [strings.get(part, {}) for part in _PARTS]
    return zlib.compress(orjson.dumps({family: [part.get(family) for part in parts] for family in families}))
