"""A clock shortly before a midnight, which a test moves over it."""

from datetime import UTC, datetime, timedelta

import pytest

from gridview.support import clock


class Midnight:
    """The clock, a minute before midnight in UTC of a day to come. `day`: the day that ends."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        seconds, after = clock.seconds, clock.after
        now = datetime.now(UTC)
        end = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=2)
        self.day = (end - timedelta(days=1)).date()
        self._over = (end - now).total_seconds() - 60
        patch.setattr(clock, "seconds", lambda: seconds() + self._over)
        patch.setattr(clock, "after", lambda more: after(more + self._over))

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self._over += seconds

    def pass_by(self) -> None:
        """Let it become midnight, and two minutes more."""
        self.wait(180.0)

    def date(self, days: int = 0) -> str:
        """The date so many days after the one that ends."""
        return (self.day + timedelta(days=days)).isoformat()
