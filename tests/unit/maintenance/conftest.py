"""The fixtures of the tests of background work."""

import pytest

from tests.support.passing import Passing


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Passing:
    """Time that a test can let pass while a job rests, or waits for a dead worker's lease."""
    return Passing(monkeypatch)
