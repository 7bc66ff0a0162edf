"""How an import is spaced out."""

from devtools.importer.pace import Pace


class Time:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.waits: list[float] = []

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def test_batches_are_spaced_out_to_the_rate() -> None:
    time = Time()
    pace = Pace(250, time.wait, lambda: time.now)
    for _ in range(5):
        pace.take(500)
    assert time.waits == [2.0] * 4, "the first goes at once"
    assert time.now == 108.0


def test_time_that_was_not_used_is_not_made_up_for() -> None:
    time = Time()
    pace = Pace(100, time.wait, lambda: time.now)
    pace.take(100)
    time.now += 60
    pace.take(100)
    assert time.waits == []
    pace.take(50)
    assert time.waits == [1.0]


def test_workers_share_the_rate() -> None:
    """Each waits for all that were before it, though none of them has come back yet."""
    waits: list[float] = []
    pace = Pace(10, waits.append, lambda: 0.0)
    for _ in range(4):
        pace.take(10)
    assert waits == [1.0, 2.0, 3.0]
