"""The key of a row: a text whose order is that of the rows, so that a client can place another row among its own. Pure.

    sort by start descending, kind        row 7: 2023-05-01, no kind
    1 <complement of 2023-05-01>~ 2 00000007

Each key of the order gives a digit, which places an issue without a value, and then the body of its sort string. If the
order descends, the bytes are complemented. Each byte is the character with its number. So the order is the same by bytes,
by characters and by UTF-16 units, as JavaScript compares.
"""

from gridview.encoding.sort_strings import issue_number
from gridview.query.sort_order import Keys, Place

_FIRST, _VALUE, _LAST = "0", "1", "2"
_END = "\x01"
"""Below every byte of a body."""
_END_DESCENDING = "\xff"
"""Above the complement of every byte of a body."""

_HIGHEST = 10**8 - 1


def row_key(keys: Keys, place: Place) -> str:
    """Return the key of a place in an order."""
    parts = []
    for key, body in zip(keys, place.parts, strict=True):
        if body is None:
            parts.append(_FIRST if key.nulls_first else _LAST)
        elif key.descending:
            parts.append(_VALUE + _complement(body) + _END_DESCENDING)
        else:
            parts.append(_VALUE + body.encode().decode("latin-1") + _END)
    num = _HIGHEST - place.num if keys[-1].descending else place.num
    return "".join(parts) + issue_number(num)


def _complement(body: str) -> str:
    return "".join(chr(0xFF - byte) for byte in body.encode())
