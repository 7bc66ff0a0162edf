"""The differential test with relative operands; `devtools.proof.oracle.relative` has the rules."""

from collections import Counter, deque
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from devtools.cli import main
from devtools.proof.oracle import relative
from devtools.proof.oracle.loading import Difference
from gridview.query import grid_request, group_request, relative_operands

QUESTIONS = 40
"""`./dev prove` asks 4,000."""

MOST = 300
"""Questions that a planted fault may pass."""


def test_the_grid_answers_as_with_the_values_that_are_meant() -> None:
    happened: Counter[str] = Counter()
    for seed in range(QUESTIONS):
        asked, some = relative.play(seed)
        happened += some
        happened["rows"] += asked.rows
    for what in ("operands: today", "operands: now", "operands: me", "requests after midnight"):
        assert happened[what] > 0
    assert happened["rows"] > QUESTIONS


def test_the_command_asks_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["oracle", "--relative", "--queries", "1", "--jobs", "1"]) == 0
    assert "no difference" in capsys.readouterr().out


def test_its_calendar_is_that_of_the_standard_library() -> None:
    epoch = date(1970, 1, 1).toordinal()
    for ordinal in range(1, date(9999, 12, 31).toordinal(), 997):
        day = date.fromordinal(ordinal)
        assert relative.day_number(day.year, day.month, day.day) == ordinal - epoch
        assert relative.date_of(ordinal - epoch) == (day.year, day.month, day.day)


def _shifted(days: int) -> Any:
    real = relative_operands.TodayOperand.day
    return lambda self, at: real(self, at) + timedelta(days=days)


SPOILT: dict[str, tuple[int, Any, str, Any]] = {
    "today is tomorrow": (0, relative_operands.TodayOperand, "day", _shifted(1)),
    "a day begins at midnight in UTC": (
        9,
        relative_operands,
        "first_instant",
        lambda day, _: f"{day.isoformat()}T00:00:00.000000Z",
    ),
    "months have 28 days": (
        16,
        relative_operands,
        "_moved",
        lambda day, count, unit: day + timedelta(days=count * {"day": 1, "week": 7}.get(unit, 28)),
    ),
    "a walk over midnight is of several days": (
        3,
        grid_request,
        "referred_to",
        lambda _, reference: reference,
    ),
    "groups over midnight are of several days": (
        100,
        group_request,
        "referred_to",
        lambda _, reference: reference,
    ),
}
"""Mutations, each with the question that detected it last time. It is tried first, only to save the search."""


@pytest.mark.parametrize("what", SPOILT)
def test_every_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    first, owner, name, spoilt = SPOILT[what]
    monkeypatch.setattr(owner, name, spoilt)
    with pytest.raises(Difference):
        deque(map(relative.play, (first, *range(MOST))), maxlen=0)


def test_a_day_that_a_zone_left_out_begins_with_the_next() -> None:
    day = relative.day_number(2011, 12, 30)
    assert relative.first_minute(day, "Pacific/Apia") == datetime(2011, 12, 30, 10, tzinfo=UTC)
