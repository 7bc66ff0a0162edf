"""How an import is spaced out."""

import pytest

from devtools.importer.pace import Pace, rows_per_second
from infra.limits import IMPORTED_PER_SECOND, KEY_WRITE_UNITS, UNITS_OF_AN_EDIT, WRITES_OF_A_KEY
from infra.settings import Settings


class Time:
    """A clock that moves only by waiting."""

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
    """Each waits for all earlier ones, though none of these has returned yet."""
    waits: list[float] = []
    pace = Pace(10, waits.append, lambda: 0.0)
    for _ in range(4):
        pace.take(10)
    assert waits == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("asked", "api", "rate"),
    [
        (None, None, None),
        (9, None, 9),
        (None, "https://api.example.org", IMPORTED_PER_SECOND),
        (900, "https://api.example.org", 900),
    ],
)
def test_a_deployed_api_has_a_rate_by_default(asked: int | None, api: str | None, rate: int | None) -> None:
    assert rows_per_second(asked, api) == rate


def test_people_can_write_while_an_import_takes_its_default() -> None:
    """All writes of a tenant fit into one key even if all edit one project, and an import leaves half of them."""
    allowed = Settings().writes_per_second
    assert allowed == WRITES_OF_A_KEY
    assert allowed * UNITS_OF_AN_EDIT <= KEY_WRITE_UNITS == 1_000
    assert allowed == IMPORTED_PER_SECOND * 2
