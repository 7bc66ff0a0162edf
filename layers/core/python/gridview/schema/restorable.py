"""For how long deleted attributes and projects can be restored. (Deleted issues: `trash`.) Pure."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from gridview.encoding import keys
from gridview.support import clock

KEPT_DAYS = 7.0

_SECONDS = KEPT_DAYS * 86_400


def expires(deleted: str) -> str:
    """Until when something can be restored that was deleted at a stored instant."""
    return clock.stored(clock.instant(deleted) + _SECONDS)


def is_over(deleted: str) -> bool:
    """Return whether that time is over now, so that it is to be permanently removed."""
    return expires(deleted) <= clock.now()


DELETION = "deletion"
"""The attribute of a project's own item that says that the project is deleted and can be restored."""


class ProjectDeletion(NamedTuple):
    """By whom and when (a stored instant) a project was deleted that can be restored."""

    by: str
    at: str


def deletion_of(own: Mapping[str, Any]) -> ProjectDeletion | None:
    """Return the deletion of a project, by its own item; None if it is not deleted, or permanently."""
    return ProjectDeletion(*own[DELETION]) if DELETION in own else None


def is_living(own: Mapping[str, Any]) -> bool:
    """Return whether a project is neither deleted nor removed, by its own item."""
    return bool(own.get(keys.SORT, "") > keys.LIVING_PROJECTS)
