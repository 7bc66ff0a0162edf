"""Canonical values: from the JSON of a request to the form in a document, and back.

Each field type has one parser. It takes JSON-decoded input (a JSON number arrives as ``int`` or ``Decimal``,
never as ``float``) and returns the value in its one stored form. Any bad input, including a wrong JSON type,
is a ``ValueError``. Its message is a short clause for people ("must be a string") and never repeats the
input. Formatters turn stored values into values of an answer.

``null``, ``""`` and ``[]`` mean "no value"; the caller handles them before it chooses a parser.
"""

import re
from datetime import date, datetime, timedelta
from decimal import Decimal

TEXT_LIMIT = 1024
"""Characters (code points) of a text."""

USER_LIMIT = 256
"""Characters (code points) of a user id."""

NUMBER_DIGITS = 38
"""Significant digits of a number, as in DynamoDB."""

MAX_NUMBER_CHARACTERS = 1_000
"""The longest literal of a number that is read."""

NUMBER_MIN_EXPONENT = -130
NUMBER_MAX_EXPONENT = 125
"""Adjusted exponents (of the first digit) of the smallest and the largest magnitude that DynamoDB stores."""

_JSON_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?)([0-9]+))?")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_DATETIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)

_EXPONENT_LIMIT = 99_999_999
"""Larger exponents are read as this one. No request has enough digits to offset it, and Decimal can hold it easily."""

_GREGORIAN_CYCLE = 400
"""Years after which the calendar repeats itself to the day."""


def parse_text(value: object, *, limit: int = TEXT_LIMIT) -> str:
    """Return the text unchanged; ``limit`` is in characters (code points)."""
    text = _string(value)
    if len(text) > limit:
        raise ValueError(f"must be at most {limit} characters long")
    return text


def parse_user(value: object) -> str:
    """Return the user id unchanged."""
    return parse_text(value, limit=USER_LIMIT)


def parse_bool(value: object) -> bool:
    """Return the boolean; 0, 1 and strings are not booleans."""
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def parse_number(value: object) -> Decimal:
    """Return the exact number, without trailing zeros (100 is ``1E+2``, 1.00 is ``1``, -0 is ``0``).

    A string is accepted if it is a JSON number. Nothing is ever rounded: a number that DynamoDB cannot store
    digit for digit is refused.
    """
    if isinstance(value, str):
        number = json_number(value)
    elif isinstance(value, int | Decimal) and not isinstance(value, bool):
        number = Decimal(value)
    else:
        raise ValueError("must be a number")
    negative, digits, exponent = number_parts(number)
    if not digits:
        return Decimal(0)
    if len(digits) > NUMBER_DIGITS:
        raise ValueError(f"must have at most {NUMBER_DIGITS} significant digits")
    if exponent > NUMBER_MAX_EXPONENT:
        raise ValueError(f"must be smaller in magnitude than 1E+{NUMBER_MAX_EXPONENT + 1}")
    if exponent < NUMBER_MIN_EXPONENT:
        raise ValueError(f"must be zero or at least 1E{NUMBER_MIN_EXPONENT} in magnitude")
    return Decimal((negative, tuple(map(int, digits)), exponent - len(digits) + 1))


def json_number(literal: str) -> Decimal:
    """Read a JSON number exactly; ``json.loads(..., parse_float=json_number)`` uses it too.

    ``Decimal(literal)`` would raise an ``ArithmeticError`` on ``1e99999999999999999999``, which is valid
    JSON. Such an exponent is clamped to one that is still out of every range, so that ``parse_number``, whose
    caller knows the field's name, reports it.
    """
    if len(literal) > MAX_NUMBER_CHARACTERS:
        raise ValueError(f"must be a number of at most {MAX_NUMBER_CHARACTERS:,} characters")
    match = _JSON_NUMBER.fullmatch(literal)
    if match is None:
        raise ValueError("must be a number")
    minus, whole, fraction, exponent_sign, exponent_digits = match.groups(default="")
    # Check the length before int(), which refuses digit strings beyond an interpreter-wide limit.
    magnitude = exponent_digits.lstrip("0") or "0"
    exponent = int(magnitude) if len(magnitude) <= len(str(_EXPONENT_LIMIT)) else _EXPONENT_LIMIT
    if exponent_sign == "-":
        exponent = -exponent
    return Decimal(f"{minus}{whole}{'.' if fraction else ''}{fraction}E{exponent}")


def number_json(number: Decimal) -> str:
    """Return the JSON literal of a number: all significant digits, no redundant zeros.

    Plain notation in JavaScript's range (the first digit between 10^-7 and 10^20), else ``1.5E+125``.
    """
    negative, digits, exponent = number_parts(number)
    if not digits:
        return "0"
    suffix = ""
    if not -7 <= exponent <= 20:
        exponent, suffix = 0, f"E{exponent:+d}"
    if exponent < 0:
        whole, fraction = "0", "0" * (-exponent - 1) + digits
    else:
        whole, fraction = digits[: exponent + 1].ljust(exponent + 1, "0"), digits[exponent + 1 :]
    return f"{'-' if negative else ''}{whole}{'.' if fraction else ''}{fraction}{suffix}"


def number_parts(number: Decimal) -> tuple[bool, str, int]:
    """Return the parts of a finite number: whether it is negative, its significant digits, its exponent.

    The digits have no leading or trailing zeros, and are empty for zero. The exponent is that of the first
    digit: -1230 is ``(True, "123", 3)``. Unlike ``Decimal.normalize``, this never rounds to the current
    context.
    """
    sign, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int):
        raise ValueError("must be a finite number")
    from_first = "".join(map(str, digits)).lstrip("0")
    if not from_first:
        return False, "", 0
    return sign == 1, from_first.rstrip("0"), exponent + len(from_first) - 1


def parse_date(value: object) -> str:
    """Return the date as ``YYYY-MM-DD``, years 0001 to 9999; no other form is accepted."""
    text = _string(value)
    match = _DATE.fullmatch(text)
    if match is None:
        raise ValueError("must be a date of the form YYYY-MM-DD")
    year, month, day = map(int, match.groups())
    try:
        date(year, month, day)
    except ValueError:
        raise ValueError("must be a calendar date, years 0001 to 9999") from None
    return text


def parse_datetime(value: object) -> str:
    """Return the instant in UTC with exactly six fraction digits, ``2023-05-01T12:34:56.000000Z``.

    The input is RFC 3339 with seconds and an offset. Input that could not be kept exactly is refused: a leap
    second, and digits beyond microseconds.
    """
    match = _DATETIME.fullmatch(_string(value))
    if match is None:
        raise ValueError("must be an RFC 3339 date and time with an offset, like 2023-05-01T12:34:56Z")
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    fraction, offset_sign, offset_hours, offset_minutes = match.groups(default="")[6:]
    if second == 60:
        raise ValueError("must not be a leap second (:60)")
    if len(fraction) > 6:
        raise ValueError("must have at most 6 fraction digits")
    offset = timedelta(hours=int(offset_hours or 0), minutes=int(offset_minutes or 0))
    if int(offset_hours or 0) > 23 or int(offset_minutes or 0) > 59:
        raise ValueError("must have an offset between -23:59 and +23:59")
    # The last hours of year 0000 can fall in year 0001 in UTC, but datetime has no year 0: compute one cycle later.
    shift = _GREGORIAN_CYCLE if year == 0 else 0
    try:
        local = datetime(year + shift, month, day, hour, minute, second, int(fraction.ljust(6, "0")))
    except ValueError:
        raise ValueError("must be a valid time on a calendar date") from None
    try:
        instant = local + offset if offset_sign == "-" else local - offset
        stored = instant.replace(year=instant.year - shift)
    except (OverflowError, ValueError):
        raise ValueError("must be within the years 0001 to 9999 in UTC") from None
    return stored.isoformat(timespec="microseconds") + "Z"


def datetime_json(stored: str) -> str:
    """Return the shortest form of a stored instant: no trailing zeros in the fraction, no empty fraction."""
    return stored.removesuffix("Z").rstrip("0").removesuffix(".") + "Z" if "." in stored else stored


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        # JSON can express half of a surrogate pair; UTF-8, and so DynamoDB, cannot.
        raise ValueError("must not contain a lone surrogate") from None
    return value
