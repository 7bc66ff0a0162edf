"""What relative operands of filters refer to. Pure, but for the clock; apart from them because it imports little."""

from datetime import datetime
from typing import NamedTuple

from gridview.support import clock


class Reference(NamedTuple):
    """What the relative operands of a request refer to: an instant (stored form) and a user."""

    at: str
    user: str

    @classmethod
    def of(cls, user: str) -> "Reference":
        """Return the present instant and this user."""
        return cls(clock.stored(clock.seconds()), user)

    @property
    def instant(self) -> datetime:
        """The instant."""
        return datetime.fromisoformat(self.at)
