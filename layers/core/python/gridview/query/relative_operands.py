"""Relative operands of filters: a day, an instant or a user that the request determines. Pure.

```
{"today": -1}                                    yesterday in UTC
{"today": 0, "unit": "week", "start": true}      Monday of this week
{"now": -3600}                                   an hour ago
{"me": true}                                     the caller
```

A request replaces them by fixed values before it looks at the filter (`resolve`), so nothing after it knows them.
"""

import calendar
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import chain, islice
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, ValidationError, WithJsonSchema, field_validator
from pydantic import Field as ModelField

from gridview.encoding.json_codec import dumps
from gridview.query import periods
from gridview.query.operators import MAX_VALUES
from gridview.query.periods import zone_named
from gridview.query.references import Reference
from gridview.schema.catalog import Catalog
from gridview.schema.fields import Field, FieldType
from gridview.support import clock
from gridview.support.errors import FieldError
from gridview.support.validation import RequestModel, field_errors

MAX_UNITS = 10_000
"""The most units from today, in either direction."""
MAX_TIMEZONE_LENGTH = 64
"""Characters of the name of a time zone."""
MAX_SECONDS = 10_000 * 86_400
"""The most seconds from now, in either direction: 10,000 days."""

_MOST_SAID = 100
"""Operands whose values an explanation names."""

_MOST_PARTS = MAX_VALUES
"""Parts of a filter or values of a condition that are looked at: no filter may have more."""


class TodayOperand(RequestModel):
    """A day, counted from today in a time zone (UTC by default). For a datetime field, the first instant of that day.

    A month without that day has its last day instead. Weeks begin on Monday.
    """

    today: int = ModelField(
        ge=-MAX_UNITS, le=MAX_UNITS, description="How many units from today; negative: before."
    )
    unit: Literal["day", "week", "month", "quarter", "year"] = "day"
    start: bool = ModelField(
        default=False, description="Whether it is the first day of that week, month, quarter or year."
    )
    timezone: str = ModelField(
        default="UTC", max_length=MAX_TIMEZONE_LENGTH, description="The IANA name of a time zone."
    )

    @field_validator("timezone")
    @classmethod
    def _a_zone(cls, name: str) -> str:
        if zone_named(name) is None:
            raise ValueError("must be the name of a time zone, such as Europe/London")
        return name

    @property
    def zone(self) -> tzinfo:
        """The time zone."""
        return zone_named(self.timezone) or UTC

    def day(self, at: datetime) -> date:
        """Return the day as of an instant. ValueError outside the years 1 to 9999."""
        try:
            moved = _moved(at.astimezone(self.zone).date(), self.today, self.unit)
            return _STARTS[self.unit](moved) if self.start else moved
        except (OverflowError, ValueError):
            raise ValueError("is a day outside the years 0001 to 9999") from None


class NowOperand(RequestModel):
    """An instant, counted from now. For datetime fields."""

    now: int = ModelField(
        ge=-MAX_SECONDS, le=MAX_SECONDS, description="How many seconds from now; negative: before."
    )


def _true(given: bool) -> bool:
    if not given:
        raise ValueError("must be true")
    return given


class MeOperand(RequestModel):
    """The user who makes the request. For user fields."""

    me: Annotated[bool, AfterValidator(_true), WithJsonSchema({"type": "boolean", "const": True})]


RelativeOperand = TodayOperand | NowOperand | MeOperand

OPERANDS: tuple[type[RelativeOperand], ...] = (TodayOperand, NowOperand, MeOperand)
_FORMS: Mapping[str, type[RelativeOperand]] = dict(zip(("today", "now", "me"), OPERANDS, strict=True))
_TYPES: Mapping[str, tuple[FieldType, ...]] = {
    "today": (FieldType.DATE, FieldType.DATETIME),
    "now": (FieldType.DATETIME,),
    "me": (FieldType.USER,),
}


def _moved(day: date, count: int, unit: str) -> date:
    """Return the day so many units later. A day that its month does not have becomes the month's last."""
    if unit in _DAYS:
        return day + timedelta(days=count * _DAYS[unit])
    month = day.year * 12 + day.month - 1 + count * _MONTHS[unit]
    year, month = month // 12, month % 12 + 1
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_STARTS: Mapping[str, Callable[[date], date]] = {
    "day": lambda day: day,
    "week": lambda day: day - timedelta(days=day.weekday()),
    "month": lambda day: day.replace(day=1),
    "quarter": lambda day: day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1),
    "year": lambda day: day.replace(month=1, day=1),
}


class Validity(NamedTuple):
    """The time in which operands keep their values, in seconds since 1970; the end is exclusive."""

    begin: float
    end: float


class Resolved(NamedTuple):
    """A relative operand of a field, and its fixed value as in a request."""

    field: str
    operand: Mapping[str, Any]
    value: str


@dataclass(frozen=True, slots=True)
class RelativeOperands:
    """The relative operands of one filter, with the instant that they were resolved for."""

    at: str = ""
    found: tuple[Resolved, ...] = ()

    @property
    def timed(self) -> bool:
        """Whether the values depend on the instant."""
        return any("me" not in one.operand for one in self.found)

    @property
    def personal(self) -> bool:
        """Whether the values depend on the user."""
        return any("me" in one.operand for one in self.found)

    @property
    def momentary(self) -> bool:
        """Whether the values change all the time."""
        return any("now" in one.operand for one in self.found)

    def validity(self) -> Validity | None:
        """Return the time around the instant in which it is the same day in every zone; None: no operand counts from today."""
        zones = {one.operand.get("timezone", "UTC") for one in self.found if "today" in one.operand}
        if not zones:
            return None
        at = datetime.fromisoformat(self.at)
        spans = [_span_of_the_day(at, zone_named(name) or UTC) for name in zones]
        return Validity(max(begin for begin, _ in spans), min(end for _, end in spans))

    def outlived(self, seconds: float) -> bool:
        """Whether it is another day at an instant (seconds since 1970), so that operands have other values."""
        validity = self.validity()
        return validity is not None and not validity.begin <= seconds < validity.end

    def sentences(self) -> Iterator[str]:
        """The first operands with their values, in words, each once."""
        said = dict.fromkeys(
            f"The operand {dumps(one.operand).decode()} of {one.field} is {one.value}." for one in self.found
        )
        yield from islice(said, _MOST_SAID)
        if len(said) > _MOST_SAID:
            yield f"{len(said) - _MOST_SAID:,} more operands have values too."


FIXED = RelativeOperands()
"""No relative operands: all values are fixed."""


def _span_of_the_day(at: datetime, zone: tzinfo) -> tuple[float, float]:
    """Return the seconds around an instant in which a zone has the same date."""
    for run in periods.instants_in(at.astimezone(zone).date().isoformat(), zone):
        first, last = datetime.fromisoformat(run.first), datetime.fromisoformat(run.last)
        if first <= at <= last:
            return first.timestamp(), (last + timedelta(microseconds=1)).timestamp()
    raise AssertionError("an instant is in its own day")


class ResolvedFilter(NamedTuple):
    """A filter of a request with fixed values only. `errors` have the places of operands that are refused, which remain."""

    document: Any
    operands: RelativeOperands
    errors: tuple[FieldError, ...] = ()

    def further(self, errors: Sequence[FieldError]) -> list[FieldError]:
        """Return all errors: those of this, and those of the check afterwards at other places."""
        refused = tuple(one.field for one in self.errors)
        others = (
            one
            for one in errors
            if not any(at == one.field or at.startswith(f"{one.field}.") for at in refused)
        )
        return [*self.errors, *others]


class FilterLimits(NamedTuple):
    """How much of a filter is looked at: levels of `and`, `or` and `not`, and conditions. No valid filter has more."""

    depth: int
    conditions: int


def resolve(
    catalog: Catalog, document: Any, reference: Reference | None, limits: FilterLimits
) -> ResolvedFilter:
    """Return the filter of a request with fixed values in place of relative operands; nothing else is checked.

    `reference`: None refuses them.
    """
    resolving = _Resolving(catalog, reference, limits.conditions)
    fixed = resolving.node(document, "filter", limits.depth)
    at = "" if reference is None else reference.at
    return ResolvedFilter(fixed, RelativeOperands(at, tuple(resolving.found)), tuple(resolving.errors))


class _Resolving:
    """One filter whose operands are being replaced, in so many `conditions` at most."""

    def __init__(self, catalog: Catalog, reference: Reference | None, conditions: int) -> None:
        self.found: list[Resolved] = []
        self.errors: list[FieldError] = []
        self._catalog = catalog
        self._reference = reference
        self._conditions = conditions

    def node(self, document: Any, place: str, depth: int) -> Any:
        if not isinstance(document, dict) or self._conditions <= 0:
            return document
        if "value" in document:
            self._conditions -= 1
            name = document.get("field")
            field = self._catalog.get(name) if isinstance(name, str) else None
            return {**document, "value": self._operand(field, document["value"], f"{place}.value")}
        if depth == 0 or len(document) != 1:
            return document
        ((kind, inner),) = document.items()
        if kind == "not":
            return {kind: self.node(inner, f"{place}.{kind}", depth - 1)}
        if kind in ("and", "or") and isinstance(inner, list) and len(inner) <= _MOST_PARTS:
            return {kind: [self.node(one, f"{place}.{kind}.{at}", depth - 1) for at, one in enumerate(inner)]}
        return document

    def _operand(self, field: Field | None, given: Any, place: str) -> Any:
        if isinstance(given, list) and len(given) <= _MOST_PARTS:
            return [self._value(field, one, f"{place}.{at}") for at, one in enumerate(given)]
        return self._value(field, given, place)

    def _value(self, field: Field | None, given: Any, place: str) -> Any:
        if field is None or not isinstance(given, dict):
            return given
        kind = next((one for one in _FORMS if one in given), None)
        if kind is None:
            return given
        if field.type not in _TYPES[kind]:
            allowed = " and ".join(_TYPES[kind])
            self.errors.append(
                FieldError(place, f"{field.id}: {kind} can be used only with {allowed} fields")
            )
            return given
        try:
            operand = _FORMS[kind].model_validate(given)
        except ValidationError as error:
            self.errors += (
                FieldError(place if one.field == "body" else f"{place}.{one.field}", one.message)
                for one in field_errors(error)
            )
            return given
        if self._reference is None:
            self.errors.append(FieldError(place, f"{field.id}: must be a fixed value here"))
            return given
        try:
            value = value_of(operand, field.type, self._reference)
        except ValueError as error:
            self.errors.append(FieldError(place, f"{field.id}: {error}"))
            return given
        self.found.append(Resolved(field.id, given, value))
        return value


def value_of(operand: RelativeOperand, kind: FieldType, reference: Reference) -> str:
    """Return the value of an operand for a field of a type, as in a request. ValueError outside the years 1 to 9999."""
    match operand:
        case MeOperand():
            return reference.user
        case NowOperand(now=seconds):
            return clock.in_stored_form(reference.instant + timedelta(seconds=seconds))
        case TodayOperand():
            day = operand.day(reference.instant)
            return day.isoformat() if kind is FieldType.DATE else first_instant(day, operand.zone)


def first_instant(day: date, zone: tzinfo) -> str:
    """Return the first instant of a local day in stored form. ValueError outside the years 1 to 9999.

    A day that a zone skipped begins with the day after it.
    """
    # No zone changed its offset before the year 1800.
    if day == date.min and (zone.utcoffset(datetime(401, 1, 1)) or timedelta()) > timedelta():
        raise ValueError("is an instant outside the years 0001 to 9999")
    days = chain((day,), (day + timedelta(days=1),) if day < date.max else ())
    return next(run.first for one in days for run in periods.instants_in(one.isoformat(), zone))


# Filters that stay as they are: those of saved views


def unresolved(canonical: Sequence[Any], document: Any) -> list[Any]:
    """Return a filter in canonical form, with the relative operands of the request that it was resolved from.

    `document`: the request's filter, which is known to be valid.
    """
    kind, *parts = canonical
    if kind == "not" and "not" in document:
        return [kind, unresolved(parts[0], document["not"])]
    if kind in ("and", "or") and kind in document:
        return [kind, *(unresolved(part, one) for part, one in zip(parts, document[kind], strict=True))]
    operator, operand = parts
    return [kind, operator, _unresolved(operand, document.get("value"))]


def _unresolved(fixed: Any, given: Any) -> Any:
    if isinstance(given, dict):
        return given
    if isinstance(given, list) and any(isinstance(one, dict) for one in given):
        return [_unresolved(one, sent) for one, sent in zip(fixed, given, strict=True)]
    return fixed


def resolve_stored(
    catalog: Catalog, stored: Sequence[Any], reference: Reference
) -> tuple[list[Any], RelativeOperands]:
    """Return a filter in canonical form with fixed values, and its relative operands. ValueError outside the years 1 to 9999.

    Conditions of deleted fields stay as they are.
    """
    found: list[Resolved] = []
    fixed = _fixed(catalog, stored, reference, found)
    return fixed, RelativeOperands(reference.at, tuple(found))


def _fixed(catalog: Catalog, stored: Sequence[Any], reference: Reference, found: list[Resolved]) -> list[Any]:
    kind, *parts = stored
    if kind in ("and", "or", "not"):
        return [kind, *(_fixed(catalog, part, reference, found) for part in parts)]
    operator, operand = parts
    field = catalog.living(kind)

    def fixed(one: Any) -> Any:
        if field is None or not isinstance(one, Mapping):
            return one
        form = _FORMS[next(name for name in _FORMS if name in one)]
        value = value_of(form.model_validate(dict(one)), field.type, reference)
        found.append(Resolved(field.id, one, value))
        return value

    return [kind, operator, [fixed(one) for one in operand] if isinstance(operand, list) else fixed(operand)]
