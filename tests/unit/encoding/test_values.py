"""The JSON of a value, its stored form, and its answered form."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from decimal import Context, Decimal, Inexact, Overflow, Rounded, Subnormal, localcontext

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gridview.encoding import values
from tests.support.depth import one_of

property_test = settings(max_examples=one_of(100, thorough=300))

PARSERS: dict[str, Callable[[object], object]] = {
    "text": values.parse_text,
    "number": values.parse_number,
    "date": values.parse_date,
    "datetime": values.parse_datetime,
    "bool": values.parse_bool,
    "user": values.parse_user,
}

ACCEPTED_TYPES: dict[str, tuple[type, ...]] = {"number": (int, Decimal), "bool": (bool,)}


@pytest.mark.parametrize("kind", PARSERS)
@pytest.mark.parametrize("value", ["x", 1, Decimal("1.5"), True, None, [], {}, ["x"]], ids=repr)
def test_a_value_of_another_json_type_is_refused(kind: str, value: object) -> None:
    takes_strings = kind in ("text", "user")
    if type(value) in ACCEPTED_TYPES.get(kind, ()) or (takes_strings and isinstance(value, str)):
        assert PARSERS[kind](value) == value
    else:
        with pytest.raises(ValueError, match=r"^must be "):
            PARSERS[kind](value)


@pytest.mark.parametrize("kind", PARSERS)
@pytest.mark.parametrize("value", ["\ud800", "a\udfff", "\ude00\ud83d", "2023-05-01\ud800"], ids=ascii)
def test_a_lone_surrogate_is_refused(kind: str, value: str) -> None:
    with pytest.raises(ValueError, match=r"^must "):
        PARSERS[kind](value)


@property_test
@given(value=st.text(max_size=40) | st.from_regex(r"[0-9+\-.eE:TZ ]{0,40}", fullmatch=True))
def test_a_message_never_repeats_what_was_sent(value: str) -> None:
    for parse in PARSERS.values():
        try:
            parse(value)
        except ValueError as refused:
            message = str(refused)
        else:
            continue
        assert message.startswith("must ")
        assert len(message) < 100
        assert len(value) < 4 or value not in message


@pytest.mark.parametrize(
    "text", ["", " ", "a\x00b\x01", "é", "e\u0301", "😀", "\ud7ff\ue000", "x" * 1024, "😀" * 1024]
)
def test_a_text_is_kept_as_it_is(text: str) -> None:
    assert values.parse_text(text) == text


def test_the_length_of_a_text_is_counted_in_characters() -> None:
    for longest in ("x" * 1024, "\U0010ffff" * 1024):
        with pytest.raises(ValueError, match="at most 1024 characters"):
            values.parse_text(longest + "x")
    assert values.parse_text("😀" * 5, limit=5) == "😀" * 5
    with pytest.raises(ValueError, match="at most 5 characters"):
        values.parse_text("😀" * 6, limit=5)


def test_a_user_id_has_at_most_256_characters() -> None:
    assert values.parse_user("😀" * 256) == "😀" * 256
    with pytest.raises(ValueError, match="at most 256 characters"):
        values.parse_user("x" * 257)


@pytest.mark.parametrize(
    ("value", "stored", "answered"),
    [
        (0, "0", "0"),
        ("-0", "0", "0"),
        (Decimal("-0.00"), "0", "0"),
        ("0e99999999999999999999", "0", "0"),
        (1, "1", "1"),
        (Decimal("1.00"), "1", "1"),
        ("1.00", "1", "1"),
        (100, "1E+2", "100"),
        (-100, "-1E+2", "-100"),
        ("-1.5", "-1.5", "-1.5"),
        ("1e3", "1E+3", "1000"),
        ("1E+3", "1E+3", "1000"),
        ("12.5e-1", "1.25", "1.25"),
        ("0.1", "0.1", "0.1"),
        ("0.0000001", "1E-7", "0.0000001"),
        ("0.00000012", "1.2E-7", "0.00000012"),
        ("0.00000001", "1E-8", "1E-8"),
        ("-0.0000000123", "-1.23E-8", "-1.23E-8"),
        (10**20, "1E+20", "100000000000000000000"),
        (123 * 10**18, "1.23E+20", "123000000000000000000"),
        (10**21, "1E+21", "1E+21"),
        ("1e125", "1E+125", "1E+125"),
        ("-9.99e125", "-9.99E+125", "-9.99E+125"),
        ("1e-130", "1E-130", "1E-130"),
        ("0." + "0" * 129 + "1", "1E-130", "1E-130"),
        ("9" * 38, "9" * 38, "9." + "9" * 37 + "E+37"),
        ("9" * 38 + "e88", "9." + "9" * 37 + "E+125", "9." + "9" * 37 + "E+125"),
        (
            "1234567890.12345678901234567890",
            "1234567890.1234567890123456789",
            "1234567890.1234567890123456789",
        ),
        ("1" + "0" * 125, "1E+125", "1E+125"),
        ("0." + "1" * 38 + "0" * 50, "0." + "1" * 38, "0." + "1" * 38),
        (2**63, "9223372036854775808", "9223372036854775808"),
    ],
)
def test_numbers(value: object, stored: str, answered: str) -> None:
    number = values.parse_number(value)
    assert str(number) == stored
    assert values.number_json(number) == answered
    assert json.loads(answered, parse_float=Decimal, parse_int=Decimal) == number


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1e126", "smaller in magnitude than 1E+126"),
        (10**126, "smaller in magnitude"),
        (-(10**126), "smaller in magnitude"),
        ("1e99999999999999999999", "smaller in magnitude"),
        ("-1e" + "9" * 900, "smaller in magnitude"),
        ("-1e" + "9" * 998, "at most 1,000 characters"),
        ("9.9e-131", "zero or at least 1E-130"),
        ("1e-99999999999999999999", "zero or at least"),
        ("1" * 39, "at most 38 significant digits"),
        (int("1" * 39), "at most 38 significant digits"),
        ("0." + "1" * 39, "at most 38 significant digits"),
        ("1" + "0" * 37 + "1", "at most 38 significant digits"),
        (Decimal("NaN"), "finite"),
        (Decimal("-sNaN"), "finite"),
        (Decimal("Infinity"), "finite"),
    ],
)
def test_a_number_that_dynamodb_could_not_keep_is_refused(value: object, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        values.parse_number(value)


@pytest.mark.parametrize(
    "value",
    [
        *("+1", "01", "-01", "1.", ".5", "-", "-.5", "1e", "1e+", "1e1.5", "1 ", " 1", "1\n", "1_000", "1,5"),
        *("NaN", "Infinity", "-inf", "nan", "١", "１", "1e١", "½", "--1", "1-", "0b1", "0x1f"),
        *("1e 5", "true"),
    ],
)
def test_a_string_that_is_not_a_json_number_is_not_a_number(value: str) -> None:
    with pytest.raises(ValueError, match="must be a number"):
        values.parse_number(value)


digits = st.text("0123456789", min_size=1, max_size=38)
numbers = st.builds(
    lambda sign, digits, adjusted: Decimal(f"{sign}{digits[0]}.{digits[1:]}0E{adjusted}"),
    st.sampled_from(["", "-"]),
    digits.filter(lambda text: text[0] != "0"),
    st.integers(-130, 125) | st.integers(-9, 22),
)


@property_test
@given(numbers)
def test_a_number_comes_back_exactly_and_in_one_form(number: Decimal) -> None:
    stored = values.parse_number(number)
    assert stored == number
    for form in (str(number), f"{number:f}"):
        assert values.parse_number(form).as_tuple() == stored.as_tuple()
    literal = values.number_json(stored)
    assert json.loads(literal, parse_float=values.json_number, parse_int=Decimal) == number
    assert literal == values.number_json(number)
    assert not re.search(r"\.\d*0(E|$)", literal)


@property_test
@example(Decimal("9" * 38 + "E-167"))
@example(Decimal("-" + "9" * 38 + "E+88"))
@given(numbers)
def test_dynamodb_can_keep_every_number_that_is_accepted(number: Decimal) -> None:
    """DynamoDB's documented limits as a context that raises on the least change.

    boto3's own context is narrower: it takes 38 digits at 1E-130 for an underflow.
    """
    dynamodb = Context(prec=38, Emin=-130, Emax=125, traps=[Inexact, Rounded, Overflow, Subnormal])
    assert dynamodb.create_decimal(str(values.parse_number(number))) == number


@property_test
@given(numbers)
def test_the_current_decimal_context_changes_nothing(number: Decimal) -> None:
    expected = values.parse_number(number).as_tuple(), values.number_json(number)
    with localcontext(Context(prec=3, Emax=5, Emin=-5, traps=[Inexact, Rounded])):
        found = values.parse_number(number).as_tuple(), values.number_json(values.parse_number(str(number)))
    assert found == expected


@pytest.mark.parametrize("number", ["NaN", "Infinity"])
def test_there_is_no_json_of_a_number_that_is_none(number: str) -> None:
    with pytest.raises(ValueError, match="finite"):
        values.number_json(Decimal(number))


@pytest.mark.parametrize("text", ["0001-01-01", "2024-02-29", "2000-02-29", "2023-05-01", "9999-12-31"])
def test_a_date_is_kept_as_it_is(text: str) -> None:
    assert values.parse_date(text) == text


@pytest.mark.parametrize(
    "text", ["0000-01-01", "2023-02-29", "1900-02-29", "2023-13-01", "2023-00-10", "2023-04-31", "2023-04-00"]
)
def test_a_day_that_is_not_in_the_calendar_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="calendar date"):
        values.parse_date(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "2023-5-1", "20230501", "2023-W18-1", "2023-121", "23-05-01", "2023/05/01", "2023-05"),
        *("2023-05-01 ", "2023-05-01\n", "2023-05-01T00:00:00Z", "+2023-05-01", "-2023-05-01", "12023-05-01"),
        *("２０２３-05-01", "2023‐05‐01"),
    ],
)
def test_a_date_has_one_form(text: str) -> None:
    with pytest.raises(ValueError, match="YYYY-MM-DD"):
        values.parse_date(text)


@pytest.mark.parametrize(
    ("text", "stored", "answered"),
    [
        ("2023-05-01T12:34:56Z", "2023-05-01T12:34:56.000000Z", "2023-05-01T12:34:56Z"),
        ("2023-05-01t12:34:56z", "2023-05-01T12:34:56.000000Z", "2023-05-01T12:34:56Z"),
        ("2023-05-01T12:34:50.000Z", "2023-05-01T12:34:50.000000Z", "2023-05-01T12:34:50Z"),
        ("2023-05-01T12:34:56.1Z", "2023-05-01T12:34:56.100000Z", "2023-05-01T12:34:56.1Z"),
        ("2023-05-01T12:34:56.000001Z", "2023-05-01T12:34:56.000001Z", "2023-05-01T12:34:56.000001Z"),
        ("2023-05-01T12:34:56.120450+00:00", "2023-05-01T12:34:56.120450Z", "2023-05-01T12:34:56.12045Z"),
        ("2023-05-01T12:34:56-00:00", "2023-05-01T12:34:56.000000Z", "2023-05-01T12:34:56Z"),
        ("2023-05-01T00:34:56+02:00", "2023-04-30T22:34:56.000000Z", "2023-04-30T22:34:56Z"),
        ("2023-12-31T23:59:59.9-05:30", "2024-01-01T05:29:59.900000Z", "2024-01-01T05:29:59.9Z"),
        ("2024-02-29T12:00:00+23:59", "2024-02-28T12:01:00.000000Z", "2024-02-28T12:01:00Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z", "0001-01-01T00:00:00Z"),
        ("0001-01-02T00:00:00+23:59", "0001-01-01T00:01:00.000000Z", "0001-01-01T00:01:00Z"),
        ("0000-12-31T23:30:00-01:00", "0001-01-01T00:30:00.000000Z", "0001-01-01T00:30:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        ("9999-12-31T23:59:59+00:01", "9999-12-31T23:58:59.000000Z", "9999-12-31T23:58:59Z"),
    ],
)
def test_instants(text: str, stored: str, answered: str) -> None:
    assert values.parse_datetime(text) == stored
    assert values.datetime_json(stored) == answered
    assert values.parse_datetime(answered) == stored


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2016-12-31T23:59:60Z", "leap second"),
        ("2023-05-01T12:34:60+02:00", "leap second"),
        ("2023-05-01T12:34:56.0000000Z", "at most 6 fraction digits"),
        ("2023-05-01T12:34:56.1234567Z", "at most 6 fraction digits"),
        ("2023-05-01T12:34:56+24:00", "offset between"),
        ("2023-05-01T12:34:56-00:60", "offset between"),
        ("2023-05-01T24:00:00Z", "valid time"),
        ("2023-05-01T12:60:00Z", "valid time"),
        ("2023-05-01T12:34:61Z", "valid time"),
        ("2023-02-29T12:34:56Z", "calendar"),
        ("2023-13-01T12:34:56Z", "calendar"),
        ("0000-02-30T12:34:56Z", "calendar"),
        ("0000-12-31T23:59:59.999999Z", "within the years"),
        ("0000-01-01T00:00:00+23:59", "within the years"),
        ("0001-01-01T00:00:00+00:01", "within the years"),
        ("9999-12-31T23:59:59-00:01", "within the years"),
    ],
)
def test_an_instant_that_could_not_be_kept_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        values.parse_datetime(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "2023-05-01", "2023-05-01T12:34Z", "2023-05-01T12:34:56", "2023-05-01 12:34:56Z", "1682944496"),
        *("20230501T123456Z", "2023-05-01T12:34:56.Z", "2023-05-01T12:34:56,5Z", "2023-05-01T12:34:56+0200"),
        *("2023-05-01T12:34:56+02", "2023-05-01T12:34:56+2:00", "2023-05-01T12:34:56+02:00:00"),
        *(
            "2023-05-01T12:34:56Z ",
            "2023-05-01T12:34:56Z\n",
            "2023-05-01T12:34:56 Z",
            "2023-05-01T12:34:56ZZ",
        ),
        *("2023-05-01T12:34:56−02:00", "２０２３-05-01T12:34:56Z", "2023-5-1T1:2:3Z"),
        *("+2023-05-01T12:34:56Z", "12023-05-01T12:34:56Z"),
    ],
)
def test_an_instant_has_the_form_of_rfc_3339(text: str) -> None:
    with pytest.raises(ValueError, match="RFC 3339"):
        values.parse_datetime(text)


@property_test
@given(
    st.datetimes(
        datetime(1, 1, 2),
        datetime(9999, 12, 30, 23, 59, 59, 999999),
        timezones=st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes))),
    )
)
def test_every_instant_comes_back_as_the_same_instant(instant: datetime) -> None:
    stored = values.parse_datetime(instant.isoformat())
    assert len(stored) == len("2023-05-01T12:34:56.000000Z")
    assert datetime.fromisoformat(stored) == instant
    answered = values.datetime_json(stored)
    assert datetime.fromisoformat(answered) == instant.astimezone(UTC)
    assert not re.search(r"\.(\d*0)?Z$", answered)
