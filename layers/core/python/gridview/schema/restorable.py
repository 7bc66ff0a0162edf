"""For how long deleted attributes and projects can be restored. (Deleted issues: `trash`.) Pure."""

from gridview.support import clock

KEPT_DAYS = 7.0

_SECONDS = KEPT_DAYS * 86_400


def expires(deleted: str) -> str:
    """Until when something can be restored that was deleted at a stored instant."""
    return clock.stored(clock.instant(deleted) + _SECONDS)


def is_over(deleted: str) -> bool:
    """Whether that time is over now, so that it is to be removed for good."""
    return expires(deleted) <= clock.now()
