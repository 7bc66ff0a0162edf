"""Grouped counts: a request checked against the project's fields, and issues put into groups with exact aggregates. Pure.

An issue counts in one group. For a multi_enum, it counts in the group of each of its options.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from datetime import UTC, tzinfo
from decimal import Decimal
from itertools import product
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, WithJsonSchema
from pydantic import Field as ModelField

from gridview.dynamodb.expressions import Item
from gridview.encoding.json_codec import dumps
from gridview.encoding.sort_strings import TEXT_WIDTH
from gridview.encoding.values import parse_number
from gridview.query import periods
from gridview.query.grid_request import FieldId, cursor_of
from gridview.query.number_functions import Function, SomeNumbers, listed, value_of
from gridview.query.number_ranges import NumberRange, NumberRanges, ascend
from gridview.query.operators import body, identity
from gridview.query.periods import PeriodUnit, zone_named
from gridview.query.predicates import NUMBER, Filter
from gridview.query.references import Reference
from gridview.query.relative_operands import FIXED, MAX_TIMEZONE_LENGTH, RelativeOperands
from gridview.query.remedies import refused
from gridview.query.request_filters import FilterDocument, parse_with_filter
from gridview.query.timed_cursors import referred_to
from gridview.schema.catalog import Catalog
from gridview.schema.fields import NUM, Field, FieldType
from gridview.schema.formats import value_json
from gridview.support.errors import FieldError, InvalidRequest
from gridview.support.validation import RequestModel

MAX_FIELDS = 3
MAX_GROUPS = 500
MAX_AGGREGATES = 20
MAX_BINS = 100
_MAX_MEMBERSHIPS = 1_000_000
"""The most times that issues may be counted: three multi_enums could put one issue into eight million groups."""

GroupOrder = tuple[bool, str, str]
"""The order and identity of a group among those of its field: without a value; body; text or option id.

The last part distinguishes texts and options with the same body.
"""
GroupPlace = tuple[GroupOrder, ...]
"""The place of a group: an order for each field."""
Rank = tuple[bool, Decimal]
"""The rank of a group: without a value; its count or aggregate, negative if they descend."""

NEVER_RANKED = frozenset[Function](("median", "distinct"))
"""The functions that are calculated only for the groups of the answered page."""


ExactNumber = Annotated[Decimal, BeforeValidator(parse_number), WithJsonSchema({"type": "number"})]
"""A number of a request, digit for digit."""


class GroupBy(RequestModel):
    """A field to group by. `unit` is for dates and datetimes, `timezone` (IANA, default UTC) for the unit of a datetime.

    Number fields can be grouped by ranges: between ascending `bins`, or of a `width`.
    """

    field: FieldId
    unit: PeriodUnit | None = None
    timezone: str | None = ModelField(default=None, max_length=MAX_TIMEZONE_LENGTH)
    bins: list[ExactNumber] | None = ModelField(default=None, min_length=1, max_length=MAX_BINS)
    width: ExactNumber | None = None


class Aggregate(RequestModel):
    """An aggregate of a number field in each group."""

    field: FieldId
    function: Function


def _ordered_by(one: Any) -> Any:
    if one == "count" or (isinstance(one, int) and not isinstance(one, bool) and one >= 0):
        return one
    raise ValueError("must be count, or the place of an aggregate in aggregates, from 0")


OrderedBy = Annotated[
    Any,
    BeforeValidator(_ordered_by),
    WithJsonSchema(
        {"anyOf": [{"const": "count"}, {"type": "integer", "minimum": 0, "maximum": MAX_AGGREGATES - 1}]}
    ),
]
"""What groups are ordered by."""


class GroupOrdering(RequestModel):
    """The order of groups: by their counts, or by an aggregate, by its place in `aggregates`. Groups without come last.

    Groups with the same are in the order of the fields.
    """

    by: OrderedBy
    direction: Literal["asc", "desc"] = "asc"


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
    order: GroupOrdering | None = None
    explain: bool = False


class Member(NamedTuple):
    """A group that an issue is in by one field: the group's order and identity, and its shown value."""

    order: GroupOrder
    shown: Any


WITHOUT = Member((True, "", ""), None)
"""Groups of issues without a value come last."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One field to group by, or the periods of a `unit`, or `ranges` of numbers.

    `members` returns the groups of a stored value. `zone`: whose calendar the periods of a datetime field belong to; UTC for
    other fields.
    """

    field: Field
    members: Callable[[Any], Iterable[Member]]
    unit: PeriodUnit | None = None
    zone: tzinfo = UTC
    ranges: NumberRanges | None = None

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
class Ranking:
    """The order of groups by their counts (`measure` None), or by an aggregate."""

    measure: Measure | None
    descending: bool

    def value_of(self, count: int, numbers: Mapping[str, SomeNumbers]) -> Decimal | int | None:
        """What a group is ordered by."""
        if self.measure is None:
            return count
        return value_of(self.measure.function, numbers[self.measure.field.id], count)

    def rank_of(self, value: Decimal | int | None) -> Rank:
        """The rank of a value: ranks ascend, without a value last."""
        if value is None:
            return True, Decimal(0)
        exact = Decimal(value)
        return False, exact.copy_negate() if self.descending else exact


@dataclass(frozen=True, slots=True)
class GroupsQuery:
    """A checked request for groups. `ranking`: None for the order of the fields.

    `sent`: its filter as the client wrote it, with the values of its relative operands (`operands`). `cursor`: without its
    instant, which is `at`.
    """

    by: tuple[Dimension, ...]
    filter: Filter | None
    sent: Any
    limit: int
    cursor: str | None
    measures: tuple[Measure, ...]
    explain: bool
    ranking: Ranking | None = None
    operands: RelativeOperands = FIXED
    at: str = ""

    def fields(self) -> list[Field]:
        """The fields that it reads."""
        judged = self.filter.fields() if self.filter is not None else ()
        return [*(one.field for one in self.by), *judged, *(one.field for one in self.measures)]

    @property
    def measured(self) -> list[Field]:
        """The fields of its aggregates, each once."""
        return list({one.field.id: one.field for one in self.measures}.values())

    def binding(self, tenant: str, project: str) -> bytes:
        """The data that a cursor of this query is bound to: tenant, project, the fields to group by, filter and its instant."""
        return dumps(
            {
                "tenant": tenant,
                "project": project,
                "by": [
                    [one.field.key, one.unit, str(one.zone), one.ranges and one.ranges.canonical()]
                    for one in self.by
                ],
                "filter": self.filter.canonical() if self.filter is not None else None,
                "at": self.at,
                "order": None
                if self.ranking is None
                else [
                    self.ranking.descending,
                    self.ranking.measure and [self.ranking.measure.field.key, self.ranking.measure.function],
                ],
            }
        )

    def rank_of(self, group: "Group") -> Rank:
        """The rank of a group; the same for all if they are in the order of the fields."""
        if self.ranking is None:
            return False, Decimal(0)
        return self.ranking.rank_of(self.ranking.value_of(group.count, group.numbers))

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

    `shown`: how many groups with this place have been shown. `rank`: that of the last group.
    """

    place: GroupPlace
    shown: int
    rank: Rank = (False, Decimal(0))


def place_of(group: Group) -> GroupPlace:
    """Return the place of a group for cursors: see `Reached`. Groups in order have places in order."""
    for at, (without, body_, text) in enumerate(group.place):
        if len(text) >= TEXT_WIDTH:
            return (*group.place[:at], (without, body_, ""))
    return group.place


def groups_after(query: GroupsQuery, groups: Sequence[Group], reached: Reached | None) -> list[Group]:
    """Return the groups that come after a page, from groups in order."""
    if reached is None:
        return list(groups)
    end = reached.rank, reached.place
    ahead = [(key, one) for one in groups if (key := (query.rank_of(one), place_of(one))) >= end]
    alike = sum(key == end for key, _ in ahead)
    return [one for _, one in ahead[min(alike, reached.shown) :]]


def reached_by(query: GroupsQuery, page: Sequence[Group], before: Reached | None) -> Reached | None:
    """Return the end of a page of groups that comes after another one."""
    if not page:
        return before
    end = Reached(place_of(page[-1]), 0, query.rank_of(page[-1]))
    keys = [(query.rank_of(one), place_of(one)) for one in page]
    shown = keys.count((end.rank, end.place))
    if before is not None and before._replace(shown=0) == end:
        shown += before.shown
    return end._replace(shown=shown)


def resolve(catalog: Catalog, body: Any, reference: Reference | None = None) -> GroupsQuery:
    """Return the query over the project's fields, resolved for a reference or for the instant of its cursor.

    Raises InvalidRequest with all its errors.
    """
    request, found = parse_with_filter(GroupsRequest, catalog, body, referred_to(body, reference))
    cursor, at = cursor_of(request.cursor, found.operands)
    errors: list[FieldError] = []
    by = [dimension(catalog, one, f"by.{at}", errors) for at, one in enumerate(request.by)]
    measures = [Measure(_field(catalog, one.field), one.function) for one in request.aggregates]
    errors += (
        FieldError(f"aggregates.{at}.field", "is not a number field")
        for at, one in enumerate(measures)
        if one.field.type is not FieldType.NUMBER
    )
    ranking = _ranking(request.order, measures, errors)
    if errors:
        raise InvalidRequest("The request is not valid. Fix what `errors` lists.", errors)
    return GroupsQuery(
        by=tuple(by),
        filter=found.only,
        sent=found.document,
        limit=request.limit,
        cursor=cursor,
        measures=tuple(measures),
        explain=request.explain,
        ranking=ranking,
        operands=found.operands,
        at=at,
    )


def _ranking(
    order: GroupOrdering | None, measures: Sequence[Measure], errors: list[FieldError]
) -> Ranking | None:
    """Return the order that a request asks for; adds errors to `errors`."""
    if order is None:
        return None
    descending = order.direction == "desc"
    if order.by == "count":
        return Ranking(None, descending)
    if order.by >= len(measures):
        errors.append(FieldError("order.by", "is not the place of an aggregate"))
        return None
    measure = measures[order.by]
    if measure.function in NEVER_RANKED:
        errors.append(FieldError("order.by", f"{measure.function} cannot order groups"))
    return Ranking(measure, descending)


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
    return sorted(groups.values(), key=lambda one: (query.rank_of(one), one.place))


def _values_in(field: Field, documents: Iterable[Item]) -> Iterator[Any]:
    values = (field.value_in(document) for document in documents)
    return (value for value in values if value is not None)


def group_json(query: GroupsQuery, group: Group) -> dict[str, Any]:
    """Return a group as the API answers it, without its filter."""
    values = [one.json if isinstance(one, NumberRange) else one for one in group.shown]
    found: dict[str, Any] = {"values": values, "count": group.count}
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
    zone = UTC if by.timezone is None else zone_named(by.timezone)
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
    ranges = _ranges(field, by, place, errors)
    if ranges is not None:
        return Dimension(field, lambda value: (of_range(ranges.of(value)),), ranges=ranges)
    if field.type is FieldType.MULTI_ENUM:
        return Dimension(field, _options(field))
    return Dimension(field, _values(field))


def _ranges(field: Field, by: GroupBy, place: str, errors: list[FieldError]) -> NumberRanges | None:
    """Return the ranges of numbers that a request groups by, if it does; adds errors to `errors`."""
    given = [name for name in ("bins", "width") if getattr(by, name) is not None]
    if given and field.type is not FieldType.NUMBER:
        errors += (FieldError(f"{place}.{name}", "can be used only with number fields") for name in given)
    elif len(given) > 1:
        errors.append(FieldError(f"{place}.width", "cannot be used together with bins"))
    elif by.width is not None and by.width <= 0:
        errors.append(FieldError(f"{place}.width", "must be greater than 0"))
    elif by.bins is not None and not ascend(by.bins):
        errors.append(FieldError(f"{place}.bins", "must ascend"))
    elif given:
        return NumberRanges(tuple(by.bins or ()), by.width)
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


def of_range(numbers: NumberRange) -> Member:
    """The group of the issues with a number in a range."""
    return Member((False, numbers.body, ""), numbers)


def _periods(period_of: Callable[[str], str]) -> Callable[[Any], Iterable[Member]]:
    return lambda value: (of_period(period_of(value)),)
