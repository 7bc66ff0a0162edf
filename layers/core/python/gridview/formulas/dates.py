"""Dates and instants of formulas, in stored form: `2023-05-01`, `2023-05-01T12:34:56.000000Z`. Pure.

A date is its midnight in UTC. Functions that take either take both.
"""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import TypeVar

from gridview.encoding.values import parse_date
from gridview.formulas.numbers import NoValue, Number, Unavailable

Moment = TypeVar("Moment", date, datetime)

_MIDNIGHT = "T00:00:00.000000Z"
_DATE_LENGTH = len("2023-05-01")
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_FIRST_MONTH = 12
_MONTHS_END = 12 * 10_000
"""Months since the year 0: those of the years 0001 to 9999."""
_FIXED = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_MOST_UNITS = 10_000 * 366 * 86_400
"""More than the seconds between any two instants."""


def midnight(day: str) -> str:
    """Return the instant at which a date begins in UTC."""
    return day + _MIDNIGHT


def day_of(moment: str) -> str:
    """Return the date of a date or an instant in UTC."""
    return moment[:_DATE_LENGTH]


def day_at(offset: str) -> Callable[[str], str]:
    """Return a function that returns the date of an instant in an offset from UTC such as `-05:30`.

    NoValue outside the years 0001 to 9999.
    """
    east = timedelta(hours=int(offset[1:3]), minutes=int(offset[4:6])) * (-1 if offset[0] == "-" else 1)

    def day(moment: str) -> str:
        try:
            return (_instant(moment) + east).isoformat()[:_DATE_LENGTH]
        except OverflowError:
            raise NoValue(Unavailable.OUT_OF_RANGE) from None

    return day


def year_of(day: str) -> int:
    """Return the year of a date or an instant."""
    return int(day[:4])


def month_of(day: str) -> int:
    """Return the month of a date or an instant, from 1."""
    return int(day[5:7])


def day_in_month(day: str) -> int:
    """Return the day of a date or an instant in its month, from 1."""
    return int(day[8:10])


def weekday_of(day: str) -> int:
    """Return the day of the week of a date or an instant: 0 is Monday."""
    return date.fromisoformat(day[:_DATE_LENGTH]).weekday()


def date_of(year: Number, month: Number, day: Number) -> str:
    """Return a date by its numbers, without their fractions. NoValue if the calendar has none."""
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except (OverflowError, ValueError):
        raise NoValue(Unavailable.NOT_A_DATE) from None


def date_in(text: str) -> str:
    """Return the date that a text is, of the form YYYY-MM-DD. NoValue."""
    try:
        return parse_date(text)
    except ValueError:
        raise NoValue(Unavailable.NOT_A_DATE) from None


def adding(unit: str) -> Callable[[str, Number], str]:
    """Return a function that returns an instant or a date so many whole units later, in the form of the given one.

    A date takes no unit below a day. A day that its month does not have becomes the month's last. NoValue outside the
    years 0001 to 9999.
    """
    step, months = _FIXED.get(unit), _MONTHS.get(unit, 0)

    def later(moment: str, count: Number) -> str:
        whole, is_date = int(count), len(moment) == _DATE_LENGTH
        if not -_MOST_UNITS <= whole <= _MOST_UNITS:
            raise NoValue(Unavailable.OUT_OF_RANGE)
        try:
            if is_date:
                return moved(date.fromisoformat(moment), whole).isoformat()
            return moved(_instant(moment), whole).isoformat(timespec="microseconds") + "Z"
        except OverflowError:
            raise NoValue(Unavailable.OUT_OF_RANGE) from None

    def moved(moment: Moment, count: int) -> Moment:
        return _months_later(moment, count * months) if step is None else moment + count * step

    return later


def between(unit: str) -> Callable[[str, str], int]:
    """Return a function that returns how many whole units lead from its second instant to its first.

    They are negative if the second is the later one.
    """
    step, months = _FIXED.get(unit), _MONTHS.get(unit, 0)

    def whole_units(early: datetime, late: datetime) -> int:
        return (late - early) // step if step else _whole_months(early, late) // months

    def difference(moment: str, since: str) -> int:
        early, late = _instant(since), _instant(moment)
        return -whole_units(late, early) if late < early else whole_units(early, late)

    return difference


def _whole_months(early: datetime, late: datetime) -> int:
    months = (late.year - early.year) * 12 + late.month - early.month
    return months - 1 if _months_later(early, months) > late else months


def _months_later(instant: Moment, count: int) -> Moment:
    months = instant.year * 12 + instant.month - 1 + count
    if not _FIRST_MONTH <= months < _MONTHS_END:
        raise NoValue(Unavailable.OUT_OF_RANGE)
    year, month = months // 12, months % 12 + 1
    days = 29 if month == 2 and _is_leap(year) else _MONTH_DAYS[month - 1]
    return instant.replace(year=year, month=month, day=min(instant.day, days))


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _instant(moment: str) -> datetime:
    return datetime.fromisoformat(moment.removesuffix("Z"))
