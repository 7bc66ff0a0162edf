"""What the tests of background work share."""

import pytest

from tests.support.passing import Passing


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Passing:
    """Time that can be made to pass while a job rests, or waits for a dead worker's lease."""
    return Passing(monkeypatch)
