"""Cursors whose filter depends on the time: the instant of the first result page precedes the seal. Pure.

```
64a3c1d5f8e40.AAECAwQ…        64a3c1d5f8e40: microseconds since 1970
```

A request with the cursor resolves its relative operands for that instant, so all result pages are of the same day. The
seal is bound to the instant and to the values, so a client cannot change it.
"""

import re
from typing import Any, NamedTuple

from gridview.query.references import Reference
from gridview.support import clock

_TIMED = re.compile(r"([1-9a-f][0-9a-f]{0,13})\.(.+)", re.DOTALL)
"""No instant after the year 4200 or so has 14 digits, so every zone has a local time then."""
_MICROSECONDS = 1_000_000


class TimedCursor(NamedTuple):
    """A cursor, and the instant that its values are of (stored form; empty: they do not depend on the time)."""

    sealed: str
    at: str = ""

    @classmethod
    def of(cls, text: str) -> "TimedCursor":
        """Return the parts of a client's cursor; nothing is checked yet."""
        found = _TIMED.fullmatch(text)
        if found is None:
            return cls(text)
        microseconds = int(found[1], 16)
        return cls(found[2], _stored(microseconds))

    def __str__(self) -> str:
        return f"{_microseconds(self.at):x}.{self.sealed}" if self.at else self.sealed


def referred_to(body: Any, reference: Reference | None) -> Reference | None:
    """Return the reference of a request: if its cursor has an instant, that one."""
    cursor = body.get("cursor") if isinstance(body, dict) else None
    if reference is None or not isinstance(cursor, str):
        return reference
    at = TimedCursor.of(cursor).at
    return reference._replace(at=at) if at else reference


def _stored(microseconds: int) -> str:
    whole = clock.stored(microseconds // _MICROSECONDS)
    return f"{whole[:20]}{microseconds % _MICROSECONDS:06d}Z"


def _microseconds(stored: str) -> int:
    return int(clock.instant(f"{stored[:20]}000000Z")) * _MICROSECONDS + int(stored[20:26])
