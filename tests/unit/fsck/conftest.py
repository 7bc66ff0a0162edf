"""The clock of checks: a test steps it, so that pauses take no time."""

import pytest

from gridview.support import clock

_BEGINNING = clock.instant("2024-01-01T00:00:00Z")


class Time:
    """The clock of a test, in seconds."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def rules(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Replace every clock by this one."""
        monkeypatch.setattr(clock, "after", self.after)
        monkeypatch.setattr(clock, "seconds", self.now)
        monkeypatch.setattr(clock, "sleep", self.sleep)

    def after(self, seconds: float) -> str:
        return clock.stored(_BEGINNING + self.seconds + seconds)

    def now(self) -> float:
        return _BEGINNING + self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds

    def wait_until(self, instant: str) -> None:
        self.seconds = max(self.seconds, clock.instant(instant) - _BEGINNING + 1e-6)


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    """The clock that rules the test."""
    made = Time()
    made.rules(monkeypatch)
    return made
