"""Time that passes without waiting."""

import pytest

from gridview.support import clock


class Passing:
    """Time that a test can let pass: `over` seconds beyond the machine's."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.over = 0.0
        after, seconds = clock.after, clock.seconds
        monkeypatch.setattr(clock, "after", lambda more: after(more + self.over))
        monkeypatch.setattr(clock, "seconds", lambda: seconds() + self.over)
