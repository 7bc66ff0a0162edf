"""The days, months and years by which dates and instants are grouped: the period of a value, and the values of one. Pure.

A period has the calendar's form: `2023`, `2023-05`, `2023-05-01`. A period of instants belongs to a zone's local calendar.
"""

from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

PeriodUnit = Literal["day", "month", "year"]

_PARTS: dict[PeriodUnit, int] = {"day": 3, "month": 2, "year": 1}
"""The number of parts of a date in a unit."""

_GREGORIAN_CYCLE = 400
"""Years after which the calendar repeats itself to the day."""
_FIRST_YEAR, _LAST_YEAR = 1, 9999

DAY = timedelta(days=1)
"""More than any zone's clock differs from UTC."""
STEP = timedelta(hours=12)
"""Time between two looks at a zone's offset from UTC. No zone changes it twice within this time (a test checks it)."""
_SECOND = timedelta(seconds=1)
_LEAST = timedelta(microseconds=1)

_ZONES = 1_024
"""Time zones that a process keeps: all of them. `ZoneInfo` keeps eight, and reads the others again."""
_zone = lru_cache(maxsize=_ZONES)(ZoneInfo)

_REMEMBERED = 16_384
"""Periods in time zones that a process keeps with their instants: the days of 40 filters with 400 operands each."""


def zone_named(name: str) -> tzinfo | None:
    """Return the time zone with an IANA name; None: there is none."""
    try:
        return _zone(name)
    except (LookupError, ValueError, OSError):  # no such zone; not even a name; a folder of zones
        return None


def of_date(unit: PeriodUnit) -> Callable[[str], str]:
    """Return a function from a stored date to its period."""
    return lambda value: _period(unit, *map(int, value.split("-")))


def of_instant(unit: PeriodUnit, zone: tzinfo) -> Callable[[str], str]:
    """Return a function from a stored instant to its period in the local calendar of a zone."""

    def period(value: str) -> str:
        year = int(value[:4])
        shift = _shift(year)
        instant = datetime.fromisoformat(f"{year + shift:04d}{value[4:]}")
        local = instant + _offset(zone, instant)
        return _period(unit, local.year - shift, local.month, local.day)

    return period


def dates_in(period: str) -> tuple[str, str]:
    """Return the first and the last date of a period."""
    year, month, day = _begin(period)
    parts = period.count("-") + 1
    last = month if parts > 1 else 12
    last_day = day if parts > 2 else monthrange(year, last)[1]
    return f"{year:04d}-{month:02d}-{day:02d}", f"{year:04d}-{last:02d}-{last_day:02d}"


class Run(NamedTuple):
    """Instants without a gap: the first and the last."""

    first: str
    last: str


@lru_cache(maxsize=_REMEMBERED)
def instants_in(period: str, zone: tzinfo) -> Sequence[Run]:
    """Return the instants of a period of a zone's local calendar that can be stored.

    There are several runs if clocks are put back across the border of the period.
    """
    year, month, day = _begin(period)
    if _FIRST_YEAR < year < _LAST_YEAR:
        begin = datetime(year, month, day, tzinfo=UTC)
        first, after = _once(zone, begin), _once(zone, _next(begin, period.count("-") + 1))
        if first is not None and after is not None:
            return (Run(_stored(first, 0), _stored(after - _LEAST, 0)),)
    return _searched(period, zone)


def _once(zone: tzinfo, local: datetime) -> datetime | None:
    """Return the instant at which a zone's clocks show a time; None: they skip it, or show it twice."""
    shown = local.replace(tzinfo=zone)
    offset = shown.utcoffset()
    return None if offset is None or offset != shown.replace(fold=1).utcoffset() else local - offset


def _searched(period: str, zone: tzinfo) -> Sequence[Run]:
    """Return the same, also if clocks are changed at the border of the period or it is at an end of the calendar."""
    year, month, day = _begin(period)
    shift = _shift(year)
    begin = datetime(year + shift, month, day, tzinfo=UTC)
    end = _next(begin, period.count("-") + 1)
    found: list[tuple[datetime, datetime]] = []
    for since, until, offset in _offsets_about(zone, begin, end):
        least, most = max(since, begin - offset), min(until, end - offset)
        if least >= most:
            continue
        if found and found[-1][1] == least:
            least, _ = found.pop()
        found.append((least, most))
    earliest = datetime(_FIRST_YEAR + max(shift, 0), 1, 1, tzinfo=UTC)
    latest = datetime(_LAST_YEAR + min(shift, 0), 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    return tuple(
        Run(_stored(max(least, earliest), shift), _stored(min(most - _LEAST, latest), shift))
        for least, most in found
    )


def earliest_in(period: str) -> str:
    """Return a bound before all instants of a period and of later periods, in every zone."""
    year, month, day = _begin(period)
    if year <= _FIRST_YEAR:
        return ""
    shift = _shift(year)
    return _stored(datetime(year + shift, month, day, tzinfo=UTC) - DAY, shift)


def constant(zone: tzinfo, begin: datetime, end: datetime) -> bool:
    """Whether a zone has the same offset from UTC all the time."""
    return len({_offset(zone, at) for at in _looks(begin, end)}) == 1


def _begin(period: str) -> tuple[int, int, int]:
    year, month, day = (*map(int, period.split("-")), 1, 1)[:3]
    return year, month, day


def _next(begin: datetime, parts: int) -> datetime:
    """Return when the next period begins."""
    if parts == 3:
        return begin + DAY
    if parts == 2 and begin.month < 12:
        return begin.replace(month=begin.month + 1)
    return begin.replace(year=begin.year + 1, month=1)


def _period(unit: PeriodUnit, year: int, month: int, day: int) -> str:
    return "-".join((f"{year:04d}", f"{month:02d}", f"{day:02d}")[: _PARTS[unit]])


def _shift(year: int) -> int:
    """Years to a year with the same calendar, inside the range of `datetime`; 0 if the year is not at an end of it."""
    if year <= _FIRST_YEAR:
        return _GREGORIAN_CYCLE
    return -_GREGORIAN_CYCLE if year >= _LAST_YEAR else 0


def _stored(instant: datetime, shift: int) -> str:
    at = instant.replace(tzinfo=None).isoformat(timespec="microseconds")
    return f"{instant.year - shift:04d}{at[4:]}Z"


def _offset(zone: tzinfo, at: datetime) -> timedelta:
    return at.astimezone(zone).utcoffset() or timedelta()


def _looks(begin: datetime, end: datetime) -> Iterator[datetime]:
    for step in range(int((end - begin) / STEP) + 1):
        yield begin + step * STEP
    yield end


_Constant = tuple[datetime, datetime, timedelta]
"""A time range (the end is exclusive) and a zone's offset from UTC in it."""


def _offsets_about(zone: tzinfo, begin: datetime, end: datetime) -> Iterator[_Constant]:
    """A zone's offsets if they may matter for instants between two local times; far from both, any value is correct."""
    if end - begin <= 2 * DAY:
        yield from _offsets(zone, begin - DAY, end + DAY)
        return
    yield from _offsets(zone, begin - DAY, begin + DAY)
    yield begin + DAY, end - DAY, timedelta()
    yield from _offsets(zone, end - DAY, end + DAY)


def _offsets(zone: tzinfo, begin: datetime, end: datetime) -> Iterator[_Constant]:
    for since, until in pairwise(_looks(begin, end)):
        before, after = _offset(zone, since), _offset(zone, until)
        if before == after:
            yield since, until, before
        else:
            change = _change(zone, since, until)
            yield since, change, before
            yield change, until, after


def _change(zone: tzinfo, since: datetime, until: datetime) -> datetime:
    """The moment between two moments at which a zone changes its offset: at a whole second, like all changes."""
    before = _offset(zone, since)
    same, other = 0, int((until - since) / _SECOND)
    while other - same > 1:
        middle = (same + other) // 2
        if _offset(zone, since + middle * _SECOND) == before:
            same = middle
        else:
            other = middle
    return since + other * _SECOND
