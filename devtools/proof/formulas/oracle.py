"""The values of drawn expressions, computed without the language: fractions, `datetime`, and SQLite where it means the same."""

import calendar
import math
import re
import sqlite3
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any, Final

from devtools.proof.formulas.drawing import UNITS, Drawn, DrawnField, shared, singular

Value = Any

_DIGITS: Final = 38
_LOWEST, _HIGHEST = Fraction(1, 10**130), Fraction(10**126)
_SPACES: Final = "".join(
    map(
        chr,
        (
            9,
            10,
            11,
            12,
            13,
            32,
            0x85,
            0xA0,
            0x1680,
            *range(0x2000, 0x200B),
            0x2028,
            0x2029,
            0x202F,
            0x205F,
            0x3000,
        ),
    )
)
_SECONDS: Final = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
_DATABASE: Final = sqlite3.connect(":memory:")


class Refusal(Exception):
    """There is no value; the message is the reason."""


def value_of(
    drawn: Drawn, kind: str, fields: Mapping[str, DrawnField], document: Mapping[str, Any]
) -> tuple[Value, str | None]:
    """Return the value that a field of a type would have, in stored form but for numbers, and why it has none."""
    try:
        value = _Oracle(fields, document).result(drawn, kind)
    except Refusal as refusal:
        return None, str(refusal)
    return (None if value == "" else value), None


class _Oracle:
    def __init__(self, fields: Mapping[str, DrawnField], document: Mapping[str, Any]) -> None:
        self._fields = fields
        self._document = document
        self._read = 0

    def result(self, drawn: Drawn, kind: str) -> Value:
        value = self.value(drawn, kind)
        if kind == "text" and len(value) > 1_024:
            raise Refusal("too-long")
        return value

    def value(self, drawn: Drawn, kind: str) -> Value:
        """Return the value as one of a type: "" for a text that is none, otherwise None."""
        value = self._of(drawn)
        if kind == "text":
            return value or ""
        if kind == "datetime" and value is not None and "T" not in value:
            return value + "T00:00:00.000000Z"
        return value

    def _of(self, drawn: Drawn) -> Value:
        match drawn.kind:
            case "blank":
                return None
            case "option":
                return drawn.value[1]
            case "user":
                return drawn.value
            case "literal":
                return Fraction(drawn.value) if drawn.type == "number" else drawn.value
            case "field":
                return self._field(self._fields[drawn.value])
        return _FUNCTIONS[drawn.kind](self, drawn)

    def _field(self, field: DrawnField) -> Value:
        if field.expression is not None:
            return self.result(field.expression, field.type)
        held = self._document if field.builtin else self._document["fields"]
        value = held.get(field.key)
        if value is None:
            return "" if field.type == "text" else None
        return Fraction(value) if field.type == "number" else value

    def reads(self, count: int) -> None:
        """Count characters."""
        self._read += count
        if self._read > 16_384:
            raise Refusal("too-long")

    def texts(self, drawn: Drawn) -> list[str]:
        """Return all parts as texts."""
        return [self.value(one, "text") for one in drawn.parts]

    def numbers(self, drawn: Drawn) -> list[Fraction | None]:
        """Return all parts as numbers."""
        return [self.value(one, "number") for one in drawn.parts]

    # Conditions

    def if_(self, drawn: Drawn) -> Value:
        condition, then, *others = drawn.parts
        if self.value(condition, "bool"):
            return self.value(then, drawn.type)
        return self.value(others[0], drawn.type) if others else None

    def switch(self, drawn: Drawn) -> Value:
        subject, *rest = drawn.parts
        pairs = list(zip(rest[::2], rest[1::2], strict=False))
        kind = shared([subject, *(pattern for pattern, _ in pairs)])
        given = self.comparable(subject, kind)
        for pattern, branch in pairs:
            if self.comparable(pattern, kind) == given:
                return self.value(branch, drawn.type)
        return self.value(rest[-1], drawn.type) if len(rest) % 2 else None

    def coalesce(self, drawn: Drawn) -> Value:
        for one in drawn.parts:
            value = self.value(one, drawn.type)
            if value not in (None, ""):
                return value
        return None

    def comparable(self, drawn: Drawn, kind: str, *, beginning: bool = False) -> Value:
        """Return a value so that equal ones are equal."""
        value = self.value(drawn, kind)
        if kind == "text":
            self.reads(len(value))
            return folded(value)[: 240 if beginning else None]
        return value.casefold() if kind == "user" and value is not None else value

    def equal(self, drawn: Drawn) -> bool:
        kind = shared(drawn.parts)
        one, other = (self.comparable(part, kind) for part in drawn.parts)
        return (one == other) is (drawn.kind == "=")

    def ordered(self, drawn: Drawn) -> bool:
        kind = shared(drawn.parts)
        one, other = (self.comparable(part, kind, beginning=True) for part in drawn.parts)
        if one is None or other is None:
            return False
        place = (one > other) - (one < other)
        return bool({"<": place < 0, "<=": place <= 0, ">": place > 0, ">=": place >= 0}[drawn.kind])

    def all_(self, drawn: Drawn) -> bool:
        return all(self.value(one, "bool") is True for one in drawn.parts)

    def any_(self, drawn: Drawn) -> bool:
        return any(self.value(one, "bool") is True for one in drawn.parts)

    def not_(self, drawn: Drawn) -> bool:
        return self.value(drawn.parts[0], "bool") is not True

    def blank(self, drawn: Drawn) -> bool:
        return self._of(drawn.parts[0]) in (None, "")

    def contains(self, drawn: Drawn) -> bool:
        text, part = self.texts(drawn)
        self.searches(text, part)
        self.reads(len(part))
        whole, wanted = folded(text), folded(part)
        return bool(_sql("instr(?, ?)", whole, wanted, otherwise=lambda: _place(whole, wanted)))

    def searches(self, text: str, part: str) -> None:
        self.reads(len(text) * (1 + len(part) // 64))

    def has(self, drawn: Drawn) -> bool:
        return drawn.parts[1].value[1] in (self._of(drawn.parts[0]) or [])

    def count(self, drawn: Drawn) -> Fraction:
        return Fraction(len(self._of(drawn.parts[0]) or []))

    # Numbers

    def arithmetic(self, drawn: Drawn) -> Fraction | None:
        one, other = self.numbers(drawn)
        if one is None or other is None:
            return None
        if drawn.kind == "/":
            return rounded(_divided(one, other))
        return rounded({"+": one + other, "-": one - other, "*": one * other}[drawn.kind])

    def numeric(self, drawn: Drawn) -> Fraction | None:
        numbers = self.numbers(drawn)
        if None in numbers:
            return None
        return rounded(_NUMERIC[drawn.kind](*numbers))

    def aggregate(self, drawn: Drawn) -> Value:
        kind = "number" if drawn.kind in ("SUM", "AVERAGE") else drawn.type
        values = [value for one in drawn.parts if (value := self.value(one, kind)) is not None]
        if not values:
            return None
        if drawn.kind in ("MIN", "MAX"):
            return sorted(values)[0 if drawn.kind == "MIN" else -1]
        total = values[0]
        for one in values[1:]:
            total = rounded(total + one)
        return rounded(total / len(values)) if drawn.kind == "AVERAGE" else total

    # Texts

    def joined(self, drawn: Drawn) -> str:
        return bounded("".join([_shown(self._of(one)) for one in drawn.parts]))

    def text(self, drawn: Drawn) -> str:
        return _shown(self._of(drawn.parts[0]))

    def length(self, drawn: Drawn) -> Fraction:
        (text,) = self.texts(drawn)
        return Fraction(_sql("length(?)", text, otherwise=lambda: len(list(text))))

    def case(self, drawn: Drawn) -> str:
        (text,) = self.texts(drawn)
        self.reads(len(text))
        return bounded(text.lower() if drawn.kind == "LOWER" else text.upper())

    def trimmed(self, drawn: Drawn) -> str:
        (text,) = self.texts(drawn)
        self.reads(len(text))
        return _trimmed(text)

    def cut(self, drawn: Drawn) -> str:
        text = self.value(drawn.parts[0], "text")
        numbers = [self.value(one, "number") for one in drawn.parts[1:]]
        if None in numbers:
            return ""
        places = [max(0, min(10_000, math.trunc(one))) for one in numbers]
        if drawn.kind == "MID":
            start = max(1, places[0])
            return str(
                _sql(
                    "substr(?, ?, ?)",
                    text,
                    start,
                    places[1],
                    otherwise=lambda: text[start - 1 :][: places[1]],
                )
            )
        (count,) = places
        if drawn.kind == "LEFT":
            return str(_sql("substr(?, 1, ?)", text, count, otherwise=lambda: text[:count]))
        start = max(0, len(text) - count)
        return str(_sql("substr(?, ?)", text, start + 1, otherwise=lambda: text[start:]))

    def substituted(self, drawn: Drawn) -> str:
        text, part, new = self.texts(drawn)
        if not part:
            return text
        self.searches(text, part)
        return bounded(
            _sql("replace(?, ?, ?)", text, part, new, otherwise=lambda: new.join(text.split(part)))
        )

    def found(self, drawn: Drawn) -> Fraction | None:
        part, text = (self.value(one, "text") for one in drawn.parts[:2])
        start = self.value(drawn.parts[2], "number") if len(drawn.parts) > 2 else 1
        if start is None:
            return None
        self.searches(text, part)
        skipped = max(0, min(10_000, math.trunc(start)) - 1)
        if skipped > len(text):
            return Fraction(0)
        rest = text[skipped:]
        place = _sql("instr(?, ?)", rest, part, otherwise=lambda: _place(rest, part))
        return Fraction(place + skipped if place else 0)

    def number_in(self, drawn: Drawn) -> Fraction | None:
        (text,) = self.texts(drawn)
        self.reads(len(text))
        digits = _trimmed(text)
        if not digits:
            return None
        form = re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE]([+-]?\d+))?", digits, re.ASCII)
        if form is None or len(digits) > 1_000:
            raise Refusal("not-a-number")
        mantissa = Fraction(re.split("[eE]", digits)[0])
        exponent = int(form[1] or 0)
        if not mantissa:
            return Fraction(0)
        if abs(exponent) > 10_000:
            raise Refusal("out-of-range")
        return rounded(mantissa * Fraction(10) ** exponent)

    # Dates

    def part_of_date(self, drawn: Drawn) -> Fraction | None:
        day = self.day(drawn)
        if day is None:
            return None
        if drawn.kind == "WEEKDAY":
            return Fraction((_sql("CAST(strftime('%w', ?) AS INTEGER)", day) + 6) % 7)
        form = {"YEAR": "%Y", "MONTH": "%m", "DAY": "%d"}[drawn.kind]
        return Fraction(_sql(f"CAST(strftime('{form}', ?) AS INTEGER)", day))

    def day(self, drawn: Drawn) -> str | None:
        """Return the date of the first part, in the offset of the second."""
        moment = self._of(drawn.parts[0])
        if moment is None:
            return None
        if len(drawn.parts) == 1:
            return str(moment)[:10]
        sign, hours, minutes = re.fullmatch(r"([+-])(\d\d):(\d\d)", drawn.parts[1].value).groups()  # type: ignore[union-attr]
        shift = f"{sign}{int(hours) * 60 + int(minutes)} minutes"
        day = _sql("date(?, ?)", f"{moment}T00:00:00"[:19], shift)
        if day is None or not "0001" <= day[:4] <= "9999" or day.startswith("-"):
            raise Refusal("out-of-range")
        return str(day)

    def date(self, drawn: Drawn) -> str | None:
        if len(drawn.parts) < 3 and drawn.parts[0].type in ("date", "datetime"):
            return self.day(drawn)
        if len(drawn.parts) == 3:
            numbers = self.numbers(drawn)
            if None in numbers:
                return None
            year, month, day = (math.trunc(one) for one in numbers if one is not None)
            if not (
                1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]
            ):
                raise Refusal("not-a-date")
            return f"{year:04}-{month:02}-{day:02}"
        (text,) = self.texts(drawn)
        self.reads(len(text))
        given = _trimmed(text)
        if not given:
            return None
        form = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", given, re.ASCII)
        # SQLite knows the calendar, but takes 2023-02-29 for a day of March.
        if (
            form is None
            or given < "0001"
            or _sql("date(?)", given) is None
            or _sql("date(?, '+0 days')", given) != given
        ):
            raise Refusal("not-a-date")
        return given

    def later(self, drawn: Drawn) -> str | None:
        moment, count = self._of(drawn.parts[0]), self.value(drawn.parts[1], "number")
        if moment is None or count is None:
            return None
        unit, whole = singular(drawn.parts[2].value), math.trunc(count)
        is_date = len(moment) == 10 and unit not in UNITS[:3]
        try:
            found = _later(_instant(moment), whole, unit)
        except OverflowError:
            raise Refusal("out-of-range") from None
        return found.date().isoformat() if is_date else _stored(found)

    def difference(self, drawn: Drawn) -> Fraction | None:
        one, other = (self._of(part) for part in drawn.parts[:2])
        if one is None or other is None:
            return None
        return Fraction(_difference(_instant(one), _instant(other), singular(drawn.parts[2].value)))


def rounded(number: Fraction) -> Fraction:
    """Return a number with 38 digits, in the range of fields. Refusal."""
    if not number:
        return number
    size = abs(number)
    if size < _LOWEST:
        raise Refusal("out-of-range")
    exponent = math.floor(math.log10(size.numerator) - math.log10(size.denominator))
    while size < Fraction(10) ** exponent:
        exponent -= 1
    while size >= Fraction(10) ** (exponent + 1):
        exponent += 1
    unit = Fraction(10) ** (exponent - _DIGITS + 1)
    near = round(number / unit) * unit
    if abs(near) >= _HIGHEST:
        raise Refusal("out-of-range")
    return near


def folded(text: str) -> str:
    """Return a text as it is compared."""
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold()


def bounded(text: str) -> str:
    """Return a text. Refusal if it is too long."""
    if len(text) > 4_096:
        raise Refusal("too-long")
    return text


def plain(number: Fraction) -> str:
    """Return the digits of a number."""
    whole = number * 10**170
    digits = str(abs(whole.numerator)).rjust(171, "0")
    fraction = digits[-170:].rstrip("0")
    return f"{'-' if number < 0 else ''}{digits[:-170]}{'.' if fraction else ''}{fraction}"


def _shown(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Fraction):
        return plain(value)
    instant = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{6})Z", value)
    return value if instant is None else f"{instant[1]}.{instant[2].rstrip('0')}".rstrip(".") + "Z"


def _divided(one: Fraction, other: Fraction) -> Fraction:
    if other == 0:
        raise Refusal("division-by-zero")
    return one / other


def _to_places(number: Fraction, digits: Fraction, near: Callable[[Fraction], int]) -> Fraction:
    """Return a positive or negative number at so many places after the point, rounded by its magnitude."""
    places = max(-200, min(200, math.trunc(digits)))
    unit = Fraction(10) ** -places
    size = near(abs(number) / unit) * unit
    return -size if number < 0 else size


def _half_up(size: Fraction) -> int:
    return math.floor(size + Fraction(1, 2))


def _remainder(number: Fraction, divisor: Fraction) -> Fraction:
    return number - divisor * math.trunc(_divided(number, divisor))


def _power(number: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        raise Refusal("not-a-number")
    if number == 0:
        if exponent < 0:
            raise Refusal("division-by-zero")
        return Fraction(exponent == 0)
    if abs(number) == 1:
        return Fraction(-1 if number < 0 and exponent % 2 else 1)
    if abs(exponent) > 10_000:
        raise Refusal("out-of-range")
    magnitude = (math.log10(abs(number.numerator)) - math.log10(number.denominator)) * int(exponent)
    if abs(magnitude) > 200:
        raise Refusal("out-of-range")
    return number ** int(exponent)


def _root(number: Fraction) -> Fraction:
    if number < 0:
        raise Refusal("not-a-number")
    scale = 10**150
    scaled = number * scale * scale
    whole = math.isqrt(math.floor(scaled))
    # A root that is not exact is a little more than its digits: that decides a half.
    return Fraction(whole, scale) if whole * whole == scaled else Fraction(2 * whole + 1, 2 * scale)


_NUMERIC: Final[Mapping[str, Callable[..., Fraction]]] = {
    "NEG": lambda number: -number,
    "ABS": abs,
    "INT": lambda number: Fraction(math.floor(number)),
    "SQRT": _root,
    "ROUND": lambda number, digits=Fraction(0): _to_places(number, digits, _half_up),
    "ROUNDUP": lambda number, digits=Fraction(0): _to_places(number, digits, math.ceil),
    "ROUNDDOWN": lambda number, digits=Fraction(0): _to_places(number, digits, math.floor),
    "MOD": _remainder,
    "POWER": _power,
}


def _trimmed(text: str) -> str:
    return str(_sql("trim(?, ?)", text, _SPACES, otherwise=lambda: text.strip(_SPACES)))


def _place(text: str, part: str) -> int:
    return next((at + 1 for at in range(len(text) + 1) if text.startswith(part, at)), 0)


def _sql(expression: str, *values: Any, otherwise: Callable[[], Any] | None = None) -> Any:
    """Return an expression of SQLite; for texts with NUL, at which SQLite ends a text, the other value."""
    if otherwise is not None and any(isinstance(one, str) and "\x00" in one for one in values):
        return otherwise()
    return _DATABASE.execute(f"SELECT {expression}", values).fetchone()[0]


def _instant(moment: str) -> datetime:
    if len(moment) == 10:
        return datetime.combine(date.fromisoformat(moment), datetime.min.time())
    return datetime.strptime(moment, "%Y-%m-%dT%H:%M:%S.%fZ")


def _stored(instant: datetime) -> str:
    return f"{instant.isoformat(timespec='microseconds')}Z"


def _later(instant: datetime, count: int, unit: str) -> datetime:
    if abs(count) > 10**12:
        raise OverflowError
    if unit in _SECONDS:
        return instant + timedelta(seconds=count * _SECONDS[unit])
    years, month = divmod(instant.month - 1 + count * _MONTHS[unit], 12)
    year = instant.year + years
    if not 1 <= year <= 9999:
        raise OverflowError
    return instant.replace(
        year=year, month=month + 1, day=min(instant.day, calendar.monthrange(year, month + 1)[1])
    )


def _difference(one: datetime, other: datetime, unit: str) -> int:
    if one < other:
        return -_difference(other, one, unit)
    if unit in _SECONDS:
        microseconds = (one - other) // timedelta(microseconds=1)
        return microseconds // (_SECONDS[unit] * 10**6)
    low, high = 0, 12 * 10_000
    while low < high:  # the most units that lead no further than the first instant
        middle = (low + high + 1) // 2
        try:
            fits = _later(other, middle, unit) <= one
        except OverflowError:
            fits = False
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


_FUNCTIONS: Final[Mapping[str, Callable[[_Oracle, Drawn], Value]]] = {
    "IF": _Oracle.if_,
    "SWITCH": _Oracle.switch,
    "COALESCE": _Oracle.coalesce,
    "AND": _Oracle.all_,
    "OR": _Oracle.any_,
    "NOT": _Oracle.not_,
    "ISBLANK": _Oracle.blank,
    "CONTAINS": _Oracle.contains,
    "HAS": _Oracle.has,
    "COUNT": _Oracle.count,
    **dict.fromkeys(("=", "!="), _Oracle.equal),
    **dict.fromkeys(("<", "<=", ">", ">="), _Oracle.ordered),
    **dict.fromkeys("+-*/", _Oracle.arithmetic),
    **dict.fromkeys(_NUMERIC, _Oracle.numeric),
    **dict.fromkeys(("SUM", "AVERAGE", "MIN", "MAX"), _Oracle.aggregate),
    "VALUE": _Oracle.number_in,
    "LEN": _Oracle.length,
    **dict.fromkeys(("&", "CONCAT"), _Oracle.joined),
    **dict.fromkeys(("LOWER", "UPPER"), _Oracle.case),
    "TRIM": _Oracle.trimmed,
    **dict.fromkeys(("LEFT", "RIGHT", "MID"), _Oracle.cut),
    "SUBSTITUTE": _Oracle.substituted,
    "FIND": _Oracle.found,
    "TEXT": _Oracle.text,
    **dict.fromkeys(("YEAR", "MONTH", "DAY", "WEEKDAY"), _Oracle.part_of_date),
    "DATE": _Oracle.date,
    "DATEADD": _Oracle.later,
    "DATETIME_DIFF": _Oracle.difference,
}


def functions() -> Sequence[str]:
    """Return the functions and operators that it computes."""
    return list(_FUNCTIONS)
