"""Grouped counts: a request checked against the project's fields, and issues put into groups with exact aggregates. Pure.

An issue counts in one group. For a multi_enum, it counts in the group of each of its options.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from datetime import UTC, tzinfo
from itertools import product
from typing import Annotated, Any, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator
from pydantic import Field as ModelField

from gridview.dynamodb.expressions import Item
from gridview.encoding.json_codec import dumps
from gridview.encoding.sort_strings import TEXT_WIDTH
from gridview.query import periods
from gridview.query.grid_request import FieldId, FilterDocument, parse_with_filter
from gridview.query.number_functions import Function, SomeNumbers, listed, value_of
from gridview.query.operators import body, identity
from gridview.query.periods import PeriodUnit
from gridview.query.predicates import NUMBER, Filter
from gridview.query.remedies import refused
from gridview.schema.catalog import Catalog
from gridview.schema.fields import NUM, Field, FieldType
from gridview.schema.formats import value_json
from gridview.support.errors import FieldError, InvalidRequest
from gridview.support.validation import RequestModel

MAX_FIELDS = 3
MAX_GROUPS = 500
MAX_AGGREGATES = 20
_MAX_MEMBERSHIPS = 1_000_000
"""The most times that issues may be counted: three multi_enums could put one issue into eight million groups."""

GroupOrder = tuple[bool, str, str]
"""The order and identity of a group among those of its field: without a value; body; text or option id.

The last part distinguishes texts and options with the same body.
"""
GroupPlace = tuple[GroupOrder, ...]
"""The place of a group: an order for each field."""


class GroupBy(RequestModel):
    """A field to group by. `unit` is for dates and datetimes, `timezone` (IANA, default UTC) for the unit of a datetime."""

    field: FieldId
    unit: PeriodUnit | None = None
    timezone: str | None = ModelField(default=None, max_length=64)


class Aggregate(RequestModel):
    """An aggregate of a number field in each group."""

    field: FieldId
    function: Function


def _spelled_out(one: Any) -> Any:
    return {"field": one} if isinstance(one, str) else one


GroupInput = Annotated[GroupBy, BeforeValidator(_spelled_out, json_schema_input_type=FieldId | GroupBy)]
"""A field to group by; its id suffices."""


class GroupsRequest(RequestModel):
    """POST /v1/projects/{project}/groups."""

    by: list[GroupInput] = ModelField(min_length=1, max_length=MAX_FIELDS)
    filter: FilterDocument = None
    limit: int = ModelField(default=100, ge=1, le=MAX_GROUPS)
    cursor: str | None = None
    aggregates: list[Aggregate] = ModelField(default_factory=list, max_length=MAX_AGGREGATES)
    explain: bool = False


class Member(NamedTuple):
    """A group that an issue is in by one field: the group's order and identity, and its shown value."""

    order: GroupOrder
    shown: Any


WITHOUT = Member((True, "", ""), None)
"""Groups of issues without a value come last."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One field to group by, or the periods of a `unit` in a `zone`. `members` returns the groups of a stored value."""

    field: Field
    members: Callable[[Any], Iterable[Member]]
    unit: PeriodUnit | None = None
    zone: tzinfo = UTC

    def of(self, document: Mapping[str, Any]) -> Iterable[Member]:
        """The groups of an issue."""
        value = self.field.value_in(document)
        return (WITHOUT,) if value is None else self.members(value)


@dataclass(frozen=True, slots=True)
class Measure:
    """One aggregate of a number field."""

    field: Field
    function: Function


@dataclass(frozen=True, slots=True)
class GroupsQuery:
    """A checked request for groups. `sent`: its filter as the client wrote it."""

    by: tuple[Dimension, ...]
    filter: Filter | None
    sent: Any
    limit: int
    cursor: str | None
    measures: tuple[Measure, ...]
    explain: bool

    def fields(self) -> list[Field]:
        """The fields that it reads."""
        judged = self.filter.fields() if self.filter is not None else ()
        return [*(one.field for one in self.by), *judged, *(one.field for one in self.measures)]

    @property
    def measured(self) -> list[Field]:
        """The fields of its aggregates, each once."""
        return list({one.field.id: one.field for one in self.measures}.values())

    def binding(self, tenant: str, project: str) -> bytes:
        """The data that a cursor of this query is bound to: tenant, project, the fields to group by, and filter."""
        return dumps(
            {
                "tenant": tenant,
                "project": project,
                "by": [[one.field.key, one.unit, str(one.zone)] for one in self.by],
                "filter": self.filter.canonical() if self.filter is not None else None,
            }
        )

    @property
    def arrangements(self) -> list[list[int | bool]]:
        """Values that change whenever an index that it groups by was rebuilt, or its options were reordered."""
        return [list((one.field.served or one.field).arrangement) for one in self.by]


@dataclass(slots=True)
class Group:
    """The issues that have the same values. `numbers`: those of each field that is measured, by its id."""

    place: GroupPlace
    shown: list[Any]
    count: int = 0
    numbers: Mapping[str, SomeNumbers] = attribute(default_factory=dict)


class Reached(NamedTuple):
    """The end of a page of groups: the place of its last group, up to the first text that exceeds what the order compares.

    `shown`: how many groups with this place have been shown.
    """

    place: GroupPlace
    shown: int


def place_of(group: Group) -> GroupPlace:
    """Return the place of a group for cursors: see `Reached`. Groups in order have places in order."""
    for at, (without, body_, text) in enumerate(group.place):
        if len(text) >= TEXT_WIDTH:
            return (*group.place[:at], (without, body_, ""))
    return group.place


def groups_after(groups: Sequence[Group], reached: Reached | None) -> list[Group]:
    """Return the groups that come after a page, from groups in order."""
    if reached is None:
        return list(groups)
    ahead = [one for one in groups if place_of(one) >= reached.place]
    alike = sum(place_of(one) == reached.place for one in ahead)
    return ahead[min(alike, reached.shown) :]


def reached_by(page: Sequence[Group], before: Reached | None) -> Reached | None:
    """Return the end of a page of groups that comes after another one."""
    if not page:
        return before
    place = place_of(page[-1])
    shown = sum(place_of(one) == place for one in page)
    return Reached(place, shown + (before.shown if before is not None and before.place == place else 0))


def resolve(catalog: Catalog, body: Any) -> GroupsQuery:
    """Return the query over the project's fields. Raises InvalidRequest with all its errors."""
    request, found = parse_with_filter(GroupsRequest, catalog, body)
    errors: list[FieldError] = []
    by = [dimension(catalog, one, f"by.{at}", errors) for at, one in enumerate(request.by)]
    measures = [Measure(_field(catalog, one.field), one.function) for one in request.aggregates]
    errors += (
        FieldError(f"aggregates.{at}.field", "is not a number field")
        for at, one in enumerate(measures)
        if one.field.type is not FieldType.NUMBER
    )
    if errors:
        raise InvalidRequest("The request is not valid. Fix what `errors` lists.", errors)
    return GroupsQuery(
        by=tuple(by),
        filter=found,
        sent=request.filter,
        limit=request.limit,
        cursor=request.cursor,
        measures=tuple(measures),
        explain=request.explain,
    )


def grouped(query: GroupsQuery, documents: Iterable[Item]) -> list[Group]:
    """Return all groups of the documents that match, in the order of the fields.

    Raises QueryTooExpensive if issues count in too many groups.
    """
    groups: dict[GroupPlace, Group] = {}
    values: dict[GroupPlace, list[Item]] = {}
    measured = query.measured
    memberships = 0
    for document in documents:
        if query.filter is not None and not query.filter.matches(document):
            continue
        members = [list(one.of(document)) for one in query.by]
        memberships += _product(map(len, members))
        if memberships > _MAX_MEMBERSHIPS:
            raise refused(
                "Each issue counts once for each of its options, so the issues would be counted more than "
                f"{_MAX_MEMBERSHIPS:,} times. Group by fewer fields, or use a more selective filter."
            )
        for chosen in product(*members):
            place = tuple(one.order for one in chosen)
            group = groups.get(place)
            if group is None:
                group = groups[place] = Group(place, [one.shown for one in chosen])
            group.count += 1
            if measured:
                values.setdefault(place, []).append(document)
    for place, some in values.items():
        groups[place].numbers = {one.id: listed(_values_in(one, some)) for one in measured}
    return [groups[place] for place in sorted(groups)]


def _values_in(field: Field, documents: Iterable[Item]) -> Iterator[Any]:
    values = (field.value_in(document) for document in documents)
    return (value for value in values if value is not None)


def group_json(query: GroupsQuery, group: Group) -> dict[str, Any]:
    """Return a group as the API answers it, without its filter."""
    found: dict[str, Any] = {"values": group.shown, "count": group.count}
    if query.measures:
        found["aggregates"] = [
            {
                "field": measure.field.id,
                "function": measure.function,
                "value": value_of(measure.function, group.numbers[measure.field.id], group.count),
            }
            for measure in query.measures
        ]
    return found


def _product(counts: Iterable[int]) -> int:
    total = 1
    for count in counts:
        total *= count
    return total


def _field(catalog: Catalog, name: str) -> Field:
    field = NUMBER if name == NUM else catalog.get(name)
    if field is None:
        raise InvalidRequest(f"The project has no field {name!r}.")  # validation has looked
    return field


def dimension(catalog: Catalog, by: GroupBy, place: str, errors: list[FieldError]) -> Dimension:
    """Return the dimension that a request groups by; adds errors to `errors`, with their place."""
    field = _field(catalog, by.field)
    zone = UTC if by.timezone is None else _zone(by.timezone)
    if zone is None:
        errors.append(
            FieldError(f"{place}.timezone", "must be the name of a time zone, such as Europe/London")
        )
    elif by.timezone is not None and (field.type is not FieldType.DATETIME or by.unit is None):
        errors.append(FieldError(f"{place}.timezone", "can be used only with the unit of a datetime field"))
    if by.unit is not None:
        if field.type is FieldType.DATE:
            return Dimension(field, _periods(periods.of_date(by.unit)), by.unit)
        if field.type is FieldType.DATETIME:
            period_of = periods.of_instant(by.unit, zone or UTC)
            return Dimension(field, _periods(period_of), by.unit, zone or UTC)
        errors.append(FieldError(f"{place}.unit", "can be used only with date and datetime fields"))
    if field.type is FieldType.MULTI_ENUM:
        return Dimension(field, _options(field))
    return Dimension(field, _values(field))


def _zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # no such zone; not even a name; a folder of zones
        return None


def _values(field: Field) -> Callable[[Any], Iterable[Member]]:
    def members(value: Any) -> Iterable[Member]:
        # Texts that differ beyond what the order compares are separate groups.
        apart = str(identity(field, value)) if field.type in _SHARE_BODIES else ""
        return (Member((False, body(field, value), apart), value_json(field, value)),)

    return members


_SHARE_BODIES = (FieldType.TEXT, FieldType.ENUM)
"""The types in which several values may have the same body."""


def _options(field: Field) -> Callable[[Any], Iterable[Member]]:
    def members(value: Any) -> Iterable[Member]:
        options = (field.option(one) for one in value)
        return (Member((False, option.rank, option.id), option.value) for option in options)

    return members


def of_period(period: str) -> Member:
    """The group of the issues of a period."""
    # A zone can put the last hours of 9999 into the year 10000.
    return Member((False, period.rjust(11, "0"), ""), period)


def _periods(period_of: Callable[[str], str]) -> Callable[[Any], Iterable[Member]]:
    return lambda value: (of_period(period_of(value)),)
