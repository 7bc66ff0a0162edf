"""Groups by the blocks of a field: which group a key belongs to, and the sets of issues in each group. Pure.

A block of one body, or with keys of only one period, is a group (or a part of one) without being read. In other blocks the
bodies of the keys show the groups. Some facts are only in documents:

- how a text or a user is spelled
- which of several texts that begin alike for 240 case-folded characters it is
- which option an issue has while options are being moved
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

from pyroaring import BitMap

from gridview.chains.blocks import FIRST, Entry
from gridview.chains.directory import range_of
from gridview.derive.families import NUMBERS, index_token_family
from gridview.encoding import sort_strings
from gridview.encoding.fences import before
from gridview.encoding.sort_strings import ESCAPE, SEPARATOR, SPEC_VERSION, TEXT_WIDTH
from gridview.query import periods
from gridview.query.group_request import WITHOUT, Dimension, GroupOrder, GroupPlace, of_period, of_range
from gridview.query.operators import body as body_of_value
from gridview.schema.fields import NUM, Field, FieldType, Option
from gridview.support import clock
from gridview.view.block_reads import Want

_SECOND_YEAR, _LAST_YEAR = "0002", "9999"
"""Between these years an instant has a place in every zone's calendar, as far as Python supports it."""

_HIGHEST = "99999999"

_SOME_BODIES, _MANY_BODIES = 4, 16
"""The assumed bodies of a detailed and of a plain block until they are read, if they have as many keys."""


class Label(NamedTuple):
    """A group of one field. `spelled` is false if only a document has the value as it is shown.

    `several`: texts that begin alike, which only documents distinguish.
    """

    order: GroupOrder
    shown: Any
    spelled: bool = True
    several: bool = False


NONE = Label(*WITHOUT)
"""The group of the issues without a value."""


def is_indexed(field: Field) -> bool:
    """Whether a field has an index that is complete, in the form that this code knows."""
    return field.id == NUM or (field.served is not None and field.served.index.spec == SPEC_VERSION)


def valued_family(field: Field) -> str:
    """The family in which each issue with a value has one key."""
    return NUMBERS if field.id == NUM else field.served.order_id if field.served else ""


def index_token_family_of(field: Field) -> str | None:
    """The family with a key for each option of a multi_enum; None for any other field."""
    return index_token_family(field.served) if field.served and field.type is FieldType.MULTI_ENUM else None


def is_plain(entry: Entry) -> bool:
    """Whether only sort entries have the bodies of a block."""
    return not entry.detailed and entry.body is None


def keys_of(family: str, entry: Entry) -> Want:
    """The sort entries of a plain block."""
    return Want(family, entry, range_of(entry), members=False)


def stored_value(field: Field, body: str) -> Any:
    """The stored value with this body; None if there is not exactly one. Not for texts, users and lists."""
    match field.type:
        case FieldType.NUMBER:
            return sort_strings.number_value(body)
        case FieldType.BOOL:
            return body == "1"
        case FieldType.ENUM:
            options = options_by_rank(field).get(body, ())
            return options[0].id if len(options) == 1 else None
    return body


def options_by_rank(field: Field) -> Mapping[str, Sequence[Option]]:
    """Rank -> the options whose issues may be under it."""
    found: dict[str, list[Option]] = {}
    for option in field.options:
        for rank in option.ranks:
            found.setdefault(rank, []).append(option)
    return found


class Division:
    """The division of a field's issues into the groups of a dimension, by its blocks."""

    def __init__(self, dimension: Dimension) -> None:
        self.dimension = dimension
        self._field = dimension.field
        self.numbered = self._field.id == NUM
        self.valued = valued_family(self._field)
        """The family in which each issue with a value has one key."""
        self.family = index_token_family_of(self._field) or self.valued
        """The family whose bodies show the groups."""
        self._labels: dict[str, Label | None] = {}

    @property
    def field_id(self) -> str:
        """The name of the field in the API."""
        return self._field.id

    @property
    def nullable(self) -> bool:
        """Whether issues may lack a value."""
        return not self._field.builtin

    @property
    def ordered(self) -> bool:
        """Whether the groups are in the order of the keys, so that the first groups take only the first blocks."""
        return not self.numbered and not self._field.type.has_options

    def label(self, body: str) -> Label | None:
        """The group of a body; None if only documents show it."""
        # Many blocks in a row have the same few bodies.
        if body not in self._labels:
            self._labels[body] = self._label(body)
        return self._labels[body]

    def _label(self, body: str) -> Label | None:
        match self._field.type:
            case FieldType.TEXT:
                case_folded = sort_strings.case_folded_text(body)
                several = len(case_folded) >= TEXT_WIDTH
                return Label(
                    (False, body, "" if several else case_folded), None, spelled=False, several=several
                )
            case FieldType.USER:
                return Label((False, body, ""), None, spelled=False)
        value = self._value(body)
        return None if value is None else next(Label(*one) for one in self.dimension.members(value))

    def label_of_value(self, value: Any) -> Label:
        """The group of a stored value that is not a list."""
        if self._field.type in (FieldType.TEXT, FieldType.USER):
            label = self.label(body_of_value(self._field, value))
            if label is not None:
                return label
        return next(Label(*one) for one in self.dimension.members(value))

    def _value(self, body: str) -> Any:
        """The stored value with this body, or a list of its one option; None if there is not exactly one."""
        if self._field.type is FieldType.MULTI_ENUM:
            return [body]
        if self._field.type is FieldType.ENUM:
            options = self._options.get(body, ())
            return options[0].id if len(options) == 1 else None
        return stored_value(self._field, body)

    @cached_property
    def _options(self) -> Mapping[str, Sequence[Option]]:
        """Rank -> the options whose issues may be under it."""
        return options_by_rank(self._field)

    def label_of(self, entry: Entry) -> Label | None:
        """The group of all keys between the fences of a block; None if it is unknown before the block is read."""
        if (body := entry.body) is not None:
            return self.label(body)
        if self.dimension.ranges is not None:
            inside = self.dimension.ranges.between(entry.lower, entry.upper)
            return None if inside is None else Label(*of_range(inside))
        if self.dimension.unit is None or entry.upper is None or entry.lower == FIRST:
            return None
        lower, upper = _value_of_fence(entry.lower), _value_of_fence(entry.upper)
        least, most = self.label(lower), self.label(upper)
        if least is None or most is None or least.order != most.order:
            return None
        return least if self._steady(lower, upper) else None

    def _steady(self, lower: str, upper: str) -> bool:
        """Whether every value between two values of one period is of that period too, however its clocks change."""
        if self.dimension.zone is UTC:
            return True
        if lower < _SECOND_YEAR or upper >= _LAST_YEAR:
            return False
        begin, end = datetime.fromisoformat(lower), datetime.fromisoformat(upper)
        # A clock is less than a day from UTC: two days after a moment of the period nothing is of an earlier one.
        margin, zone = 2 * periods.DAY, self.dimension.zone
        if end - begin <= 2 * margin:
            return periods.constant(zone, begin, end)
        return periods.constant(zone, begin, begin + margin) and periods.constant(zone, end - margin, end)

    def complete(self, label: Label, fence: str | None) -> bool:
        """Whether all keys of a group come before a fence (None: the end). Only for `ordered` groups."""
        if fence is None or label == NONE:
            return fence is None
        if self.dimension.ranges is not None:
            end = label.shown.end
            return end is not None and sort_strings.number_beyond(end) <= fence
        if self.dimension.unit is None:
            return before(label.order[1]) + _HIGHEST < fence
        value = _value_of_fence(fence)
        if self.dimension.zone is not UTC:
            if value < _SECOND_YEAR:
                return False
            # A value after the fence is less than a day earlier by its own clock than by that of UTC.
            value = clock.in_stored_form(datetime.fromisoformat(value) - periods.DAY)
            return label.order < of_period(periods.of_instant(self.dimension.unit, UTC)(value)).order
        return all(label.order < bound.order for bound in self.dimension.members(value))

    def begin(self, entries: Sequence[Entry], place: GroupPlace | None) -> int:
        """The number of entries, in order, before the groups from a place on; 0 if the groups are not `ordered`."""
        if place is None or not self.ordered:
            return 0
        without, body, _ = place[0]
        if without:
            return len(entries)
        fence = before(self._least(body))
        ahead = (at for at, one in enumerate(entries) if one.upper is None or one.upper > fence)
        return next(ahead, len(entries))

    def _least(self, body: str) -> str:
        """A body before all bodies of the groups from one on."""
        if self.dimension.unit is None:
            return body
        return periods.dates_in(body)[0] if self._field.type is FieldType.DATE else periods.earliest_in(body)

    def far_enough(self, entries: Sequence[Entry], sizes: Sequence[int], goal: float) -> int:
        """The number of entries, in order, that should have at least `goal` groups and the whole last one.

        `sizes`: how many keys of each entry count. All entries, if the groups are not `ordered`.
        """
        if not self.ordered:
            return len(entries)
        groups, last = 0, None
        for at, (entry, size) in enumerate(zip(entries, sizes, strict=True)):
            if not size:
                continue
            label = self.label_of(entry)
            if groups > goal and (label is None or label != last):
                return at
            if label is None:
                groups += min(size, self._bodies_in(entry))
            elif label != last:
                groups += 1
            last = label
        return len(entries)

    def _bodies_in(self, entry: Entry) -> int:
        """The assumed number of groups in a block of several bodies, of which none began before it."""
        if self.dimension.unit is not None or self.dimension.ranges is not None:
            return 1  # the fences show the group of a block of one period or range
        return _SOME_BODIES if entry.detailed else _MANY_BODIES


def _value_of_fence(fence: str) -> str:
    """The stored date or instant at the beginning of a fence in the index of such a field."""
    return fence.partition(SEPARATOR)[0].partition(ESCAPE)[0]


@dataclass(slots=True)
class Gathered:
    """Groups of one field, as far as they have been found. `unsettled`: issues whose groups only documents show."""

    labels: dict[GroupOrder, Label] = attribute(default_factory=dict)
    members: dict[GroupOrder, BitMap] = attribute(default_factory=dict)
    sizes: dict[GroupOrder, int] = attribute(default_factory=dict)
    unsettled: BitMap = attribute(default_factory=BitMap)

    def add(self, label: Label | None, members: BitMap) -> None:
        """Add issues to a group; None: each to the group that its document shows."""
        if label is None:
            self.unsettled |= members
        elif members:
            self.labels[label.order] = label
            self.members[label.order] = self.members.get(label.order, BitMap()) | members

    def count(self, label: Label, size: int) -> None:
        """Count other issues of a group, whose numbers are not needed."""
        self.labels[label.order] = label
        self.sizes[label.order] = self.sizes.get(label.order, 0) + size

    def settle(self, groups: Mapping[Label, BitMap]) -> None:
        """Put the unsettled issues into these groups."""
        for label, members in groups.items():
            self.add(label, members)
        self.unsettled = BitMap()

    def keep(self, matching: BitMap, complete: Callable[[Label], bool]) -> None:
        """Keep only the complete groups, and of their issues the ones that match."""
        kept = {order: one & matching for order, one in self.members.items() if complete(self.labels[order])}
        self.members = {order: one for order, one in kept.items() if one}

    def groups(self) -> Iterator["Combined"]:
        """The groups, in order."""
        for order in sorted(self.labels):
            members = self.members.get(order, BitMap())
            yield Combined((self.labels[order],), self.sizes.get(order, 0) + len(members), members)


class Combined(NamedTuple):
    """The issues that have the values of all these groups: their number, and the needed ones of their numbers."""

    labels: tuple[Label, ...]
    size: int
    members: BitMap

    @property
    def several(self) -> bool:
        """Whether documents must divide it into several groups."""
        return any(label.several for label in self.labels)

    @property
    def spelled(self) -> bool:
        """Whether all its shown values are known."""
        return all(label.spelled for label in self.labels)

    @property
    def whole(self) -> tuple[Label, ...]:
        """The part that it shares with all groups whose parts may belong between its own."""
        first = next((at for at, label in enumerate(self.labels) if label.several), len(self.labels))
        return self.labels[: first + 1]

    @property
    def place(self) -> GroupPlace:
        """The place of its groups, as in cursors."""
        return tuple(label.order for label in self.whole)


class _TooMuchWork(Exception):
    """Groups of several fields would take too many intersections of sets."""


class Divided:
    """The groups of one field, in order, with the issues in each; `numbered`: each issue is one."""

    def __init__(self, division: Division, gathered: Gathered) -> None:
        self._division = division
        self._groups = [
            (gathered.labels[order], gathered.members[order]) for order in sorted(gathered.members)
        ]

    def split(self, among: BitMap, least: GroupOrder | None) -> Iterator[tuple[Label, BitMap]]:
        """The groups of some issues, each with its issues; also empty ones, so that the work is counted.

        `least`: the first group to return, if not all are needed.
        """
        ranges = self._division.dimension.ranges
        if self._division.numbered:
            among = _numbers_from(among, least)
        if self._division.numbered and ranges is not None:
            for one, members in ranges.divided(among):
                label = Label(*of_range(one))
                if least is None or label.order >= least:
                    yield label, members
        elif self._division.numbered:
            for num in among:
                label = self._division.label_of_value(num)
                if least is None or label.order >= least:
                    yield label, BitMap((num,))
        for label, members in self._groups:
            if least is None or label.order >= least:
                yield label, members & among


def _numbers_from(numbers: BitMap, least: GroupOrder | None) -> BitMap:
    """Return the issue numbers in the groups from one on, or in ranges of them, and at most some of the range before."""
    body = "" if least is None else least[1]
    return numbers - BitMap(range(int(sort_strings.number_value(body)))) if body else numbers


def first_of(
    groups: Iterable[Combined], limit: int, place: GroupPlace | None = None
) -> tuple[list[Combined], bool]:
    """Return the first groups, more than `limit` after a place if there are, and whether they are all.

    Includes all groups whose parts may belong between theirs.
    """
    found: list[Combined] = []
    ahead = 0
    for group in groups:
        if ahead > limit and group.labels[: len(found[-1].whole)] != found[-1].whole:
            return found, False
        if place is not None and (group.place < place or (group.place == place and not group.several)):
            continue  # shown on a page before
        found.append(group)
        ahead += place is None or group.place > place
    return found, True


def first_combined(
    divided: Sequence[Divided], among: BitMap, limit: int, place: GroupPlace | None, work: int
) -> tuple[list[Combined], bool] | None:
    """Return the first combinations of groups with issues, as `first_of`; None beyond `work` intersections."""
    try:
        return first_of(_combined(divided, among, place, work), limit, place)
    except _TooMuchWork:
        return None


def _combined(
    divided: Sequence[Divided], among: BitMap, place: GroupPlace | None, work: int
) -> Iterator[Combined]:
    done = 0

    def combine(
        at: int, labels: tuple[Label, ...], members: BitMap, place: GroupPlace | None
    ) -> Iterator[Combined]:
        nonlocal done
        least = place[0] if place else None
        for label, part in divided[at].split(members, least):
            done += 1
            if done > work:
                raise _TooMuchWork
            if not part:
                continue
            if at + 1 == len(divided):
                yield Combined((*labels, label), len(part), part)
            else:
                further = place[1:] if place and label.order == least else None
                yield from combine(at + 1, (*labels, label), part, further)

    return combine(0, (), among, place)
