"""Cursors: a place in a result, sealed so that a client can only hand it back unchanged and to the same query."""

from collections.abc import Sequence

import orjson

from gridview.encoding.seals import Seals
from gridview.support.errors import FieldError, InvalidRequest

_MAX_LENGTH = 24_576
"""Characters of a cursor: up to three values of at most 1,024 bytes, which JSON and base64 expand, and 500
recent writes.
"""


class Cursors:
    """Seals and opens cursors of one purpose. `secrets`: the current one first, then the older ones still accepted."""

    def __init__(self, secrets: Sequence[bytes], purpose: str) -> None:
        self._seals = Seals(secrets, purpose)

    def seal(self, payload: object, bound_to: bytes) -> str:
        """Return a cursor that holds `payload` (any JSON value) and opens only with the same `bound_to`."""
        return self._seals.seal(orjson.dumps(payload), bound_to)

    def open(self, cursor: str, bound_to: bytes) -> object:
        """Return the payload. InvalidRequest unless it was sealed for this purpose and `bound_to`, and is
        unchanged to the letter.
        """
        try:
            if len(cursor) > _MAX_LENGTH:
                raise ValueError
            return orjson.loads(self._seals.open(cursor, bound_to))
        except ValueError:
            raise InvalidRequest(
                "The cursor does not belong to this query. Send it with the query that returned it, or start "
                "without it.",
                [FieldError("cursor", "does not belong to this query")],
            ) from None
