"""Days, months and years: an instant is in its period, wherever clocks are changed."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import get_args
from zoneinfo import ZoneInfo

import pytest

from gridview.query import periods
from gridview.query.periods import PeriodUnit, Run, dates_in, instants_in, of_date, of_instant

ZONES = (
    "UTC",
    "Europe/London",
    "America/St_Johns",  # put its clocks back at one minute past midnight
    "America/Juneau",  # had a day twice
    "Asia/Manila",  # left a day out
    "Pacific/Apia",
    "Africa/Monrovia",  # was off by 44 minutes and 30 seconds
    "Antarctica/Troll",
)
CHANGES = (
    "1844-12-31T00:00:00",
    "1867-10-18T12:00:00",
    "1919-12-31T00:00:00",
    "1972-01-07T00:44:30",
    "2006-10-29T02:31:00",
    "2011-12-30T10:00:00",
    "2024-03-31T01:00:00",
    "2023-12-31T23:59:59",
)
FIRST, LAST = "0001-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.999999Z"
LEAST = timedelta(microseconds=1)


def stored(instant: datetime) -> str:
    return instant.isoformat(timespec="microseconds").replace("+00:00", "Z")


def moments(random: Random) -> list[str]:
    """Instants about changes of clocks, and at both ends of the calendar."""
    near = [datetime.fromisoformat(one).replace(tzinfo=UTC) for one in CHANGES]
    found = [stored(one + timedelta(seconds=random.randint(-200_000, 200_000))) for one in near * 12]
    return [*found, FIRST, LAST, "0001-01-02T03:00:00.000000Z", "9998-12-31T20:00:00.000000Z"]


@pytest.mark.parametrize("unit", get_args(PeriodUnit))
@pytest.mark.parametrize("zone", ZONES)
def test_the_runs_of_a_period_contain_exactly_its_instants(zone: str, unit: PeriodUnit) -> None:
    random = Random(f"{zone} {unit}")  # noqa: S311
    period_of = of_instant(unit, ZoneInfo(zone))
    found = moments(random)
    for period in {period_of(one) for one in found}:
        runs = instants_in(period, ZoneInfo(zone))
        assert list(runs) == sorted(runs)
        for one in found:
            inside = any(run.first <= one <= run.last for run in runs)
            assert inside == (period_of(one) == period), (period, one, runs)
        for first, last in runs:
            assert period_of(first) == period_of(last) == period
            if first != FIRST:
                assert period_of(stored(datetime.fromisoformat(first) - LEAST)) != period
            if last != LAST:
                assert period_of(stored(datetime.fromisoformat(last) + LEAST)) != period
        assert periods.earliest_in(period) < runs[0].first


def test_only_a_period_with_a_change_of_clocks_at_its_border_is_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A search looks at a zone's offset dozens of times. In St. John's, clocks changed at 00:01 until 2011."""
    searched: list[tuple[str, str]] = []
    search = periods._searched

    def seen(period: str, zone: ZoneInfo) -> Sequence[Run]:
        searched.append((period, zone.key))
        return search(period, zone)

    monkeypatch.setattr(periods, "_searched", seen)
    instants_in.cache_clear()
    first = date(2006, 1, 1)
    for zone in ("Europe/London", "America/St_Johns"):
        for day in range(365):
            period = (first + timedelta(days=day)).isoformat()
            assert list(instants_in(period, ZoneInfo(zone))) == list(search(period, ZoneInfo(zone)))
    assert searched == [("2006-10-28", "America/St_Johns"), ("2006-10-29", "America/St_Johns")]


def test_a_day_is_two_runs_if_clocks_are_put_back_across_its_border() -> None:
    """At 00:01 of the 29th it became 23:01 of the 28th."""
    zone = ZoneInfo("America/St_Johns")
    assert list(instants_in("2006-10-28", zone)) == [
        Run("2006-10-28T02:30:00.000000Z", "2006-10-29T02:29:59.999999Z"),
        Run("2006-10-29T02:31:00.000000Z", "2006-10-29T03:29:59.999999Z"),
    ]
    assert list(instants_in("2006-10", zone)) == [
        Run("2006-10-01T02:30:00.000000Z", "2006-11-01T03:29:59.999999Z")
    ]


def test_the_year_after_the_last_one_has_the_instants_that_a_zone_puts_there() -> None:
    assert list(instants_in("10000", ZoneInfo("Asia/Tokyo"))) == [Run("9999-12-31T15:00:00.000000Z", LAST)]
    assert list(instants_in("0000-12-31", ZoneInfo("America/New_York"))) == [
        Run(FIRST, "0001-01-01T04:56:01.999999Z")
    ]


def test_a_period_has_its_first_and_its_last_date() -> None:
    assert dates_in("2024-02") == ("2024-02-01", "2024-02-29")
    assert dates_in("1900-02") == ("1900-02-01", "1900-02-28")
    assert dates_in("0007") == ("0007-01-01", "0007-12-31")
    assert dates_in("9999-12-31") == ("9999-12-31", "9999-12-31")
    months = [dates_in(f"2023-{month:02d}") for month in range(1, 13)]
    for (_, last), (first, _) in pairwise(months):
        assert datetime.fromisoformat(last) + timedelta(days=1) == datetime.fromisoformat(first)
    for first, last in months:
        assert of_date("month")(first) == of_date("month")(last)
