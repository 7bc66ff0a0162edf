"""Time that goes on while nobody waits for it."""

import pytest

from gridview.support import clock


class Passing:
    """Time that can be made to pass: `over` seconds beyond that of the machine."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.over = 0.0
        after, seconds = clock.after, clock.seconds
        monkeypatch.setattr(clock, "after", lambda more: after(more + self.over))
        monkeypatch.setattr(clock, "seconds", lambda: seconds() + self.over)
