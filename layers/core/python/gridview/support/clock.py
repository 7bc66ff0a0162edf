"""The time, as documents hold it and as expiries count it."""

import time
from datetime import UTC, datetime, timedelta


def now() -> str:
    """Return this instant in stored form: `2023-05-01T12:34:56.000000Z`."""
    return after(0)


def after(seconds: float) -> str:
    """Return the instant `seconds` from now in stored form."""
    return in_stored_form(datetime.now(UTC) + timedelta(seconds=seconds))


def until(instant: str) -> float:
    """Seconds from now until an instant in stored form; negative once it is over."""
    return (datetime.fromisoformat(instant) - datetime.fromisoformat(now())).total_seconds()


def seconds() -> float:
    """Return this instant in seconds since 1970."""
    return time.time()


def instant(stored: str) -> float:
    """Return an instant in stored form, in seconds since 1970. ValueError for anything else."""
    return datetime.fromisoformat(stored).timestamp()


def stored(instant: float) -> str:
    """Return an instant, given in seconds since 1970, in stored form."""
    return in_stored_form(datetime.fromtimestamp(instant, UTC))


def in_stored_form(instant: datetime) -> str:
    """Return an instant in UTC in stored form."""
    return instant.isoformat(timespec="microseconds").replace("+00:00", "Z")


def sleep(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)


def expiry(days: float) -> int:
    """Return the value of a TTL attribute: seconds since 1970, `days` from now."""
    return int(time.time() + days * 86_400)
