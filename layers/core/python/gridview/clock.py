"""The time, as documents hold it and as expiries count it."""

import time
from datetime import UTC, datetime


def now() -> str:
    """This instant in stored form: `2023-05-01T12:34:56.000000Z`."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def expiry(days: float) -> int:
    """Seconds since 1970, `days` from now: what a TTL attribute holds."""
    return int(time.time() + days * 86_400)
