"""Back-off: the number of attempts, and the length of the pauses between them."""

import pytest

from gridview.support import backoff, clock


def test_each_pause_is_drawn_from_twice_the_range_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    ranges: list[tuple[float, float]] = []

    def uniform(low: float, high: float) -> float:
        ranges.append((low, high))
        return high / 2

    monkeypatch.setattr("random.uniform", uniform)
    monkeypatch.setattr(clock, "sleep", slept.append)
    assert [*backoff.attempts()] == [0, 1, 2, 3, 4, 5]
    assert ranges == [(0, 0.05), (0, 0.1), (0, 0.2), (0, 0.4), (0, 0.8), (0, 1.6)]
    assert slept == [high / 2 for _, high in ranges]


def test_an_attempt_that_succeeds_is_followed_by_no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(clock, "sleep", slept.append)
    for attempt in backoff.attempts():
        if attempt == 1:
            break
    assert len(slept) == 1
