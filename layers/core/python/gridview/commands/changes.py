"""X-Change-Id: the writes of one user under one id are one change, such as a paste of many cells. Pure.

Each issue's document keeps the id of the change that made its version. Nothing is looked up: the pair of user
and id is the change.
"""

import re
from uuid import UUID, uuid4

from gridview.support import clock
from gridview.support.errors import FieldError, InvalidRequest

CHANGE_ID = "X-Change-Id"
"""The header of requests and answers."""

PATTERN = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


_VERSION_7 = 7
_DRAWN_BITS = (0xFFF << 64) | ((1 << 64) - 1)
"""All but the instant and the version. The variant comes from the UUID that was drawn."""


def change_of(header: str | None) -> UUID:
    """Return the change that a header names; without one, a change of its own. InvalidRequest if it is no
    UUID.
    """
    if header is None:
        return _made_now()
    if not PATTERN.fullmatch(header):
        expectation = "must be a UUID such as 5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3, and be sent once"
        raise InvalidRequest(f"{CHANGE_ID} {expectation}.", [FieldError(CHANGE_ID, expectation)])
    return UUID(header)


def _made_now() -> UUID:
    """Return a UUID of version 7, which begins with its milliseconds (RFC 9562): immediate writes then need
    no list of their own.
    """
    milliseconds = int(clock.instant(clock.now()) * 1000)
    drawn = uuid4().int
    return UUID(int=milliseconds << 80 | _VERSION_7 << 76 | drawn & _DRAWN_BITS)
