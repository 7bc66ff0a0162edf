"""Relative operands: the day, the instant and the user that they mean, and everything that is refused."""

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import pytest

from gridview.query import periods
from gridview.query.periods import zone_named
from gridview.query.predicates import LIMITS, MAX_CONDITIONS, parse_filter
from gridview.query.references import Reference
from gridview.query.relative_operands import (
    MAX_SECONDS,
    MAX_UNITS,
    ResolvedFilter,
    Validity,
    first_instant,
    resolve,
    unresolved,
)
from gridview.schema.catalog import Catalog
from gridview.schema.fields import Field, FieldType
from tests.unit.test_docs import table_in

KINDS = {
    "day": FieldType.DATE,
    "at": FieldType.DATETIME,
    "owner": FieldType.USER,
    "label": FieldType.TEXT,
    "size": FieldType.NUMBER,
}
FIELDS = tuple(Field(name, f"a{at}", name, kind) for at, (name, kind) in enumerate(KINDS.items(), start=1))
CATALOG = Catalog("0807", "35e9", 1, (), FIELDS, len(FIELDS) + 1)
AT = "2024-01-31T23:30:00.250000Z"
"""A Wednesday in UTC, and a Thursday in February further east."""


def condition(field: str, value: Any, op: str = "eq") -> dict[str, Any]:
    return {"field": field, "op": op, "value": value}


def resolved(document: Any, at: str = AT) -> ResolvedFilter:
    return resolve(CATALOG, document, Reference(at, "ann"), LIMITS)


def value(field: str, operand: dict[str, Any], at: str = AT) -> Any:
    found = resolved(condition(field, operand), at)
    assert found.errors == ()
    parse_filter(CATALOG, found.document)
    return found.document["value"]


def test_the_same_operands_are_searched_once_a_day() -> None:
    """A push resolves each followed filter again. Reading a zone and finding its midnights cost 160 µs an operand."""
    zones = sorted(zone for zone in available_timezones() if zone_named(zone) is not None)
    operands = [{"today": count % 7, "timezone": zone} for count, zone in enumerate(zones)]
    document = {"or": [condition("at", operands[at : at + 200], "in") for at in range(0, len(zones), 200)]}

    def kept() -> list[int]:
        return [one.cache_info().misses for one in (periods.instants_in, periods._zone)]

    def values(at: str) -> tuple[set[str], Validity | None]:
        found = resolved(document, at).operands
        return {one.value for one in found.found}, found.validity()

    noon, next_noon = (
        "2024-04-25T12:00:00.000000Z",
        "2024-04-26T12:00:00.000000Z",
    )  # Cairo has no midnight then
    first = values(noon)
    misses = kept()
    assert values("2024-04-25T12:30:00.000000Z") == first
    assert kept() == misses
    assert values(next_noon) != first, "another day"
    assert values(noon) == first


@pytest.mark.parametrize(
    ("operand", "expected"),
    [
        ({"today": 0}, "2024-01-31"),
        ({"today": -1}, "2024-01-30"),
        ({"today": 1, "unit": "week"}, "2024-02-07"),
        ({"today": 1, "unit": "month"}, "2024-02-29"),
        ({"today": 13, "unit": "month"}, "2025-02-28"),
        ({"today": -2, "unit": "month"}, "2023-11-30"),
        ({"today": 1, "unit": "quarter"}, "2024-04-30"),
        ({"today": -1, "unit": "quarter"}, "2023-10-31"),
        ({"today": 1, "unit": "year"}, "2025-01-31"),
        ({"today": 3, "start": True}, "2024-02-03"),
        ({"today": 0, "unit": "week", "start": True}, "2024-01-29"),
        ({"today": 1, "unit": "week", "start": True}, "2024-02-05"),
        ({"today": 1, "unit": "month", "start": True}, "2024-02-01"),
        ({"today": 1, "unit": "month", "start": False}, "2024-02-29"),
        ({"today": 0, "unit": "quarter", "start": True}, "2024-01-01"),
        ({"today": -1, "unit": "quarter", "start": True}, "2023-10-01"),
        ({"today": -1, "unit": "year", "start": True}, "2023-01-01"),
        ({"today": 0, "unit": "quarter", "start": True, "timezone": "Asia/Tokyo"}, "2024-01-01"),
        ({"today": 4, "unit": "month", "start": True}, "2024-05-01"),
        ({"today": 0, "timezone": "Europe/Berlin"}, "2024-02-01"),
        ({"today": 0, "timezone": "America/New_York"}, "2024-01-31"),
        ({"today": 1, "unit": "month", "timezone": "Asia/Tokyo"}, "2024-03-01"),
        ({"today": -MAX_UNITS}, "1996-09-14"),
        ({"today": MAX_UNITS}, "2051-06-18"),
    ],
)
def test_the_day_of_today(operand: dict[str, Any], expected: str) -> None:
    assert value("day", operand) == expected


@pytest.mark.parametrize("hour", ["00:00:00.000000", "23:59:59.999999"])
def test_a_leap_day_and_a_sunday(hour: str) -> None:
    at = f"2024-02-29T{hour}Z"
    assert value("day", {"today": 1, "unit": "year"}, at) == "2025-02-28"
    assert value("day", {"today": 4, "unit": "year"}, at) == "2028-02-29"
    sunday = f"2024-03-03T{hour}Z"
    assert value("day", {"today": 0, "unit": "week", "start": True}, sunday) == "2024-02-26"


@pytest.mark.parametrize(
    ("zone", "day", "expected"),
    [
        ("UTC", "2024-03-10", "2024-03-10T00:00:00.000000Z"),
        ("Europe/London", "2024-07-01", "2024-06-30T23:00:00.000000Z"),
        ("America/Havana", "2024-03-10", "2024-03-10T05:00:00.000000Z"),  # has no midnight: begins at 01:00
        ("Asia/Beirut", "2024-03-31", "2024-03-30T22:00:00.000000Z"),  # neither
        ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00.000000Z"),
        ("America/Havana", "2024-11-03", "2024-11-03T04:00:00.000000Z"),  # its clocks go back at 01:00
        ("America/Sao_Paulo", "2018-02-18", "2018-02-18T03:00:00.000000Z"),  # the day before has 23:00 twice
        ("America/St_Johns", "2006-10-29", "2006-10-29T02:30:00.000000Z"),  # begins twice
        ("Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00.000000Z"),  # was skipped
        ("Asia/Kathmandu", "2024-01-01", "2023-12-31T18:15:00.000000Z"),
        ("America/New_York", "0001-01-01", "0001-01-01T04:56:02.000000Z"),
        ("Pacific/Niue", "9999-12-31", "9999-12-31T11:00:00.000000Z"),
    ],
)
def test_the_first_instant_of_a_day(zone: str, day: str, expected: str) -> None:
    assert first_instant(date.fromisoformat(day), ZoneInfo(zone)) == expected


@pytest.mark.parametrize("zone", ["Europe/London", "America/Havana", "Asia/Beirut", "Australia/Lord_Howe"])
def test_a_datetime_is_the_first_second_with_the_date(zone: str) -> None:
    """Compared with a search second by second, which knows no rules of clocks."""
    own = ZoneInfo(zone)
    for day in (date(2024, 3, 10), date(2024, 3, 31), date(2024, 4, 7), date(2024, 10, 6), date(2024, 11, 3)):
        noon = datetime(day.year, day.month, day.day, tzinfo=UTC)
        seconds = (noon + timedelta(seconds=60 * one) for one in range(-24 * 60, 24 * 60))
        first = next(one for one in seconds if one.astimezone(own).date() == day)
        at = f"{day.isoformat()}T12:00:00.000000Z"
        assert value("at", {"today": 0, "timezone": zone}, at) == first.isoformat(
            timespec="microseconds"
        ).replace("+00:00", "Z")


def test_now_is_counted_in_seconds() -> None:
    assert value("at", {"now": 0}) == AT
    assert value("at", {"now": -3600}) == "2024-01-31T22:30:00.250000Z"
    assert value("at", {"now": MAX_SECONDS}) == "2051-06-18T23:30:00.250000Z"


def test_me_is_the_user() -> None:
    assert value("owner", {"me": True}) == "ann"


def test_operands_in_lists_and_nested_filters() -> None:
    document = {
        "and": [
            condition("owner", ["bob", {"me": True}], "in"),
            {"not": {"or": [condition("day", [{"today": -7}, "2024-02-02"], "between")]}},
            condition("label", "today"),
        ]
    }
    found = resolved(document)
    assert found.errors == ()
    assert found.document == {
        "and": [
            condition("owner", ["bob", "ann"], "in"),
            {"not": {"or": [condition("day", ["2024-01-24", "2024-02-02"], "between")]}},
            condition("label", "today"),
        ]
    }
    operands = found.operands
    assert [(one.field, one.value) for one in operands.found] == [("owner", "ann"), ("day", "2024-01-24")]
    assert (operands.personal, operands.timed, operands.momentary) == (True, True, False)
    canonical = parse_filter(CATALOG, found.document).canonical()
    stored = unresolved(canonical, document)
    key = {field.id: field.key for field in CATALOG.attributes}
    assert stored == [
        "and",
        [key["owner"], "in", ["bob", {"me": True}]],
        ["not", ["or", [key["day"], "between", [{"today": -7}, "2024-02-02"]]]],
        [key["label"], "eq", "today"],
    ]


@pytest.mark.parametrize(
    ("field", "operand", "place", "message"),
    [
        ("label", {"today": 0}, "filter.value", "can be used only with date and datetime fields"),
        ("owner", {"today": 0}, "filter.value", "can be used only with date and datetime fields"),
        ("size", {"now": 0}, "filter.value", "can be used only with datetime fields"),
        ("day", {"now": 0}, "filter.value", "can be used only with datetime fields"),
        ("day", {"me": True}, "filter.value", "can be used only with user fields"),
        ("label", {"me": True}, "filter.value", "can be used only with user fields"),
        ("day", {"today": True}, "filter.value.today", "valid integer"),
        ("day", {"today": 1.0}, "filter.value.today", "valid integer"),
        ("day", {"today": "1"}, "filter.value.today", "valid integer"),
        ("day", {"today": None}, "filter.value.today", "valid integer"),
        ("day", {"today": MAX_UNITS + 1}, "filter.value.today", "less than or equal to 10000"),
        ("day", {"today": -MAX_UNITS - 1}, "filter.value.today", "greater than or equal to -10000"),
        ("day", {"today": 10**30}, "filter.value.today", "less than or equal to 10000"),
        ("day", {"today": 0, "unit": "hour"}, "filter.value.unit", "'day', 'week'"),
        ("day", {"today": 0, "unit": ["day"]}, "filter.value.unit", "'day', 'week'"),
        ("day", {"today": 0, "start": 1}, "filter.value.start", "valid boolean"),
        ("day", {"today": 0, "timezone": "Mars"}, "filter.value.timezone", "such as Europe/London"),
        ("day", {"today": 0, "timezone": "../x"}, "filter.value.timezone", "such as Europe/London"),
        ("day", {"today": 0, "timezone": 1}, "filter.value.timezone", "valid string"),
        ("day", {"today": 0, "days": 1}, "filter.value.days", "is not a known property"),
        ("day", {"today": 0, "me": True}, "filter.value.me", "is not a known property"),
        ("at", {"now": 0, "timezone": "UTC"}, "filter.value.timezone", "is not a known property"),
        ("at", {"now": MAX_SECONDS + 1}, "filter.value.now", "less than or equal to 864000000"),
        ("at", {"now": False}, "filter.value.now", "valid integer"),
        ("owner", {"me": False}, "filter.value.me", "must be true"),
        ("owner", {"me": 1}, "filter.value.me", "valid boolean"),
        ("owner", {"me": "ann"}, "filter.value.me", "valid boolean"),
        ("day", {"today": 9000, "unit": "year"}, "filter.value", "outside the years 0001 to 9999"),
        ("day", {"today": -10000, "unit": "year"}, "filter.value", "outside the years 0001 to 9999"),
        ("at", {"today": -10000, "unit": "month", "start": True}, None, ""),
    ],
)
def test_what_is_refused(field: str, operand: dict[str, Any], place: str | None, message: str) -> None:
    found = resolved(condition(field, operand))
    if place is None:
        assert found.errors == ()
        return
    assert [one.field for one in found.errors] == [place]
    assert message in found.errors[0].message
    assert found.document == condition(field, operand)


def test_the_first_day_of_the_calendar_east_of_greenwich_is_no_instant() -> None:
    years = {"today": -2023, "unit": "year", "start": True}
    at = "2024-01-31T12:00:00.000000Z"
    assert value("day", {**years, "timezone": "Asia/Tokyo"}, at) == "0001-01-01"
    assert value("at", years, at) == "0001-01-01T00:00:00.000000Z"
    found = resolved(condition("at", {**years, "timezone": "Asia/Tokyo"}), at)
    assert [one.field for one in found.errors] == ["filter.value"]


def test_the_name_of_a_time_zone_has_at_most_64_characters() -> None:
    longest = max(filter(zone_named, available_timezones()), key=len)
    assert value("day", {"today": 0, "timezone": longest})
    found = resolved(condition("day", {"today": 0, "timezone": "a" * 65}))
    assert [one.field for one in found.errors] == ["filter.value.timezone"]
    assert "at most 64" in found.errors[0].message


def test_without_a_reference_only_fixed_values_are_accepted() -> None:
    found = resolve(CATALOG, condition("day", {"today": 0}), None, LIMITS)
    assert [(one.field, one.message) for one in found.errors] == [
        ("filter.value", "day: must be a fixed value here")
    ]


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"value": {"today": 0}},
        {"field": ["day"], "op": "eq", "value": {"today": 0}},
        {"field": "nothing", "op": "eq", "value": {"me": True}},
        {"field": "day", "op": "eq", "value": {"tomorrow": 0}},
        {"and": {"today": 0}},
        {"and": [], "or": []},
    ],
)
def test_what_is_no_operand_of_a_field_stays(document: Any) -> None:
    found = resolved(document)
    assert (found.document, found.errors) == (document, ())


def test_filters_that_are_too_deep_are_left_to_the_check() -> None:
    deep: Any = condition("day", {"today": 0})
    for _ in range(5_000):
        deep = {"not": deep}
    assert resolved(deep).errors == ()


def test_no_more_conditions_are_resolved_than_a_filter_may_have() -> None:
    many = {"or": [condition("day", {"today": at}) for at in range(MAX_CONDITIONS + 1)]}
    assert len(resolved(many).operands.found) == MAX_CONDITIONS
    nested = {"or": [{"and": [condition("day", {"today": "x"})] * 100}] * 100}
    assert len(resolved(nested).errors) == MAX_CONDITIONS


def test_the_time_in_which_operands_keep_their_values() -> None:
    """Up to the next midnight of any zone, from the last one; the hour that St. John's has twice at midnight counts."""

    def spans(*zones: str, at: str = AT) -> tuple[str, str] | None:
        parts = [condition("day", {"today": 0, "timezone": zone}) for zone in zones]
        found = resolved({"and": [condition("owner", {"me": True}), *parts]}, at).operands.validity()
        if found is None:
            return None
        begin, end = (datetime.fromtimestamp(one, UTC).isoformat() for one in found)
        return begin[:19], end[:19]

    assert spans() is None
    assert spans("UTC") == ("2024-01-31T00:00:00", "2024-02-01T00:00:00")
    assert spans("UTC", "Asia/Kathmandu") == ("2024-01-31T18:15:00", "2024-02-01T00:00:00")
    assert spans("Asia/Tokyo", "Asia/Kathmandu") == ("2024-01-31T18:15:00", "2024-02-01T15:00:00")
    back = "2006-10-29T02:30:30.000000Z"
    assert spans("America/St_Johns", at=back) == ("2006-10-29T02:30:00", "2006-10-29T02:31:00")
    again = "2006-10-29T04:00:00.000000Z"
    assert spans("America/St_Johns", at=again) == ("2006-10-29T03:30:00", "2006-10-30T03:30:00")


def test_the_words_name_each_operand_once() -> None:
    part = condition("day", {"today": 0})
    said = list(resolved({"or": [part, part, condition("owner", {"me": True})]}).operands.sentences())
    assert said == [
        'The operand {"today":0} of day is 2024-01-31.',
        'The operand {"me":true} of owner is ann.',
    ]
    many = list(resolved(condition("day", [{"today": at} for at in range(150)], "in")).operands.sentences())
    assert len(many) == 101
    assert many[-1] == "50 more operands have values too."


def test_the_operands_of_the_documentation_are_accepted_by_the_types_that_it_names() -> None:
    table = table_in("docs/querying.md", "### Relative operands")
    assert len(table) == 9
    for operand, kinds, _ in table:
        named = {name for name in KINDS if KINDS[name] in kinds.split(", ")}
        accepted = {
            name for name in KINDS if not resolved(condition(name, json.loads(operand.strip("`")))).errors
        }
        assert accepted == named, operand
