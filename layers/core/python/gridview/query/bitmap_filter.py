"""A filter, evaluated over sets of issue numbers that have been read. Pure.

Every part of a filter gives two sets: the issues that match for *sure*, and all that *may*.

- `and` and `or` combine the sure sets with each other, and the possible ones with each other.
- `not` subtracts the possible issues from all to get the sure ones, and the other way round.
- Documents decide about the issues that may match, but not for sure.
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from functools import reduce
from typing import NamedTuple, Self

from pyroaring import BitMap

from gridview.chains.blocks import Entry
from gridview.chains.directory import Directory, Range, members_in
from gridview.derive.families import NUMBERS
from gridview.encoding.fences import body_between
from gridview.encoding.sort_strings import NUMBER_WIDTH
from gridview.query import key_ranges
from gridview.query.key_ranges import EVERYTHING, OPEN, Access, Both, Doubt, Either, Within, Without
from gridview.query.predicates import Every, Filter, Not, Predicate, Some
from gridview.query.remedies import Remedy, decide, index_field
from gridview.schema.catalog import Catalog
from gridview.view.block_reads import Want
from gridview.view.reads import Snapshot

Directories = Mapping[str, Directory]


class Judged(NamedTuple):
    """The issues that match for sure, and all that may: a superset of them. Shared: not to be changed."""

    sure: BitMap
    maybe: BitMap

    @property
    def undecided(self) -> BitMap:
        """The issues whose documents must be read to decide."""
        return self.maybe - self.sure


class Selection:
    """A filter over the sets; without a filter, all issues."""

    def __init__(self, only: Filter | None, catalog: Catalog) -> None:
        self.only = only
        self._catalog = catalog
        self._conditions = [] if only is None else list(_conditions(only))
        self._access = EVERYTHING if only is None else _access(only)
        self._leaves = list(dict.fromkeys(key_ranges.leaves(self._access)))

    def left_open(self) -> Self:
        """Return the same filter, with the decision about every issue left to its document."""
        found = copy(self)
        found._access, found._leaves = OPEN, [OPEN]
        return found

    def families(self) -> set[str]:
        """The families whose directories it needs."""
        found = {leaf.family for leaf in self._leaves}
        return found | {NUMBERS} if _complements(self._access) else found

    def wants(self, directories: Directories) -> list[Want]:
        """The parts of blocks that `evaluate` needs: sets of blocks inside its ranges, and keys at their borders."""
        found: dict[Want, None] = {}
        leaves = [*self._leaves, EVERYTHING] if _complements(self._access) else self._leaves
        for leaf in leaves:
            directory = directories[leaf.family]
            for between, entry in _covering(leaf, directory):
                by_keys = not entry.detailed and not directory.whole(between, entry)
                found[
                    Want(leaf.family, entry, between, members=False) if by_keys else Want(leaf.family, entry)
                ] = None
        return list(found)

    def evaluate(self, directories: Directories, reader: Snapshot) -> Judged:
        """Return the issues that match, after `reader` has read the wanted parts."""
        return _Evaluation(directories, reader).judged(self._access)

    def confined(self, family: str) -> tuple[Range, ...] | None:
        """The ranges of a family outside of which no issue matches; None if they are unknown."""
        return _confined(self._access, family)

    def estimate(self, directories: Directories) -> int:
        """The approximate number of issues that may match."""
        return _estimate(self._access, directories)

    def most(self, directories: Directories) -> int:
        """The number of issues that may match if all issues of the blocks at the borders of its ranges do."""
        return _bounds(self._access, directories)[1]

    def undecidable(self) -> list[str]:
        """The conditions that sets do not decide, each with a remedy."""
        found: dict[str, None] = {}
        for condition in self._conditions:
            found |= dict.fromkeys(self._explained(condition, doubt) for doubt in _doubts(condition))
        return list(found)

    def remedies(self) -> list[Remedy]:
        """The calls after which sets decide all of them; [] if there are none."""
        return decide(self._catalog, [one for one in self._conditions if _doubts(one)])

    def _explained(self, condition: Predicate, doubt: Doubt) -> str:
        field = condition.field
        order = field.served
        match doubt:
            case Doubt.UNINDEXED:
                (call,) = decide(self._catalog, [condition]) or [index_field(self._catalog, field)]
                help_ = f"{call} builds one."
            case Doubt.UNSEARCHED:
                help_ = f"{index_field(self._catalog, field, words=True)} indexes them."
            case Doubt.PART if order is not None and order.searched:
                help_ = (
                    "more whole words between two others leave fewer open, and has_words and starts_with need no "
                    "documents."
                )
            case Doubt.PART:
                call = index_field(self._catalog, field, words=True)
                help_ = f"starts_with needs no documents; {call} indexes words, for has_words."
            case Doubt.LONG:
                help_ = "a shorter value needs no documents."
            case Doubt.BUILDING | Doubt.MOVING:
                help_ = "try again later."
        return f"{condition}: {doubt.value}; {help_}"


def _doubts(condition: Predicate) -> list[Doubt]:
    """The reasons why sets do not decide a condition."""
    return list(dict.fromkeys(one.doubt for one in key_ranges.leaves(_access(condition)) if one.doubt))


def _confined(part: Access, family: str) -> tuple[Range, ...] | None:
    match part:
        case Within() if part.family == family:
            return part.ranges
        case Both(parts):
            found = (_confined(one, family) for one in parts)
            return next((one for one in found if one is not None), None)
    return None


def _conditions(only: Filter) -> Iterator[Predicate]:
    match only:
        case Predicate():
            yield only
        case Not(part):
            yield from _conditions(part)
        case Every(parts) | Some(parts):
            for part in parts:
                yield from _conditions(part)


def _access(only: Filter) -> Access:
    match only:
        case Predicate(field, operator, operand):
            return operator.accessed(field, operand)
        case Every(parts):
            return Both(tuple(map(_access, parts))) if len(parts) > 1 else _access(parts[0])
        case Some(parts):
            return Either(tuple(map(_access, parts))) if len(parts) > 1 else _access(parts[0])
        case Not(part):
            return key_ranges.without(_access(part))


def _complements(found: Access) -> bool:
    """Whether a part is subtracted from all issues."""
    match found:
        case Without():
            return True
        case Both(parts) | Either(parts):
            return any(map(_complements, parts))
    return False


def _covering(leaf: Within, directory: Directory) -> Iterator[tuple[Range, Entry]]:
    """The blocks that have keys in its ranges."""
    for between in leaf.ranges:
        for entry in directory.overlapping(between):
            yield between, entry


class _Evaluation:
    """One evaluation; a part that occurs twice in a filter is evaluated once."""

    def __init__(self, directories: Directories, reader: Snapshot) -> None:
        self._directories = directories
        self._reader = reader
        self._found: dict[Within, BitMap] = {}

    def judged(self, found: Access) -> Judged:
        """The issues of a part."""
        match found:
            case Within():
                numbers = self._numbers(found)
                return Judged(BitMap() if found.doubt else numbers, numbers)
            case Both(parts):
                judged = [self.judged(part) for part in parts]
                return Judged(
                    _intersection(one.sure for one in judged), _intersection(one.maybe for one in judged)
                )
            case Either(parts):
                judged = [self.judged(part) for part in parts]
                return Judged(_union(one.sure for one in judged), _union(one.maybe for one in judged))
            case Without(part):
                every, judged_part = self._numbers(EVERYTHING), self.judged(part)
                return Judged(every - judged_part.maybe, every - judged_part.sure)

    def _numbers(self, leaf: Within) -> BitMap:
        if leaf not in self._found:
            self._found[leaf] = _union(self._pieces(leaf))
        return self._found[leaf]

    def _pieces(self, leaf: Within) -> Iterator[BitMap]:
        directory = self._directories[leaf.family]
        for between, entry in _covering(leaf, directory):
            if directory.whole(between, entry):
                yield self._reader.block(leaf.family, entry).members
            elif entry.detailed:
                sets = self._reader.block(leaf.family, entry).sets or {}
                yield from (numbers for _, numbers in members_in(sets, between))
            else:
                found = self._reader.keys(leaf.family, entry, between)
                yield BitMap([int(key[-NUMBER_WIDTH:]) for key in found])


def _union(sets: Iterable[BitMap]) -> BitMap:
    return BitMap.union(BitMap(), *sets)


def _intersection(sets: Iterable[BitMap]) -> BitMap:
    # The smallest first: intersections do not grow.
    return reduce(lambda one, other: one & other, sorted(sets, key=len))


def _bounds(found: Access, directories: Directories) -> tuple[int, int]:
    """The number of issues without those of the blocks at borders, and with all of them."""
    match found:
        case Within(family):
            directory = directories[family]
            covering = list(_covering(found, directory))
            whole = sum(entry.size for between, entry in covering if directory.whole(between, entry))
            return whole, sum(entry.size for _, entry in covering)
        case Both(parts):
            return 0, min(_bounds(part, directories)[1] for part in parts)
        case Either(parts):
            bounds = [_bounds(part, directories) for part in parts]
            return max(least for least, _ in bounds), sum(most for _, most in bounds)
        case Without(part):
            total, (least, most) = directories[NUMBERS].total, _bounds(part, directories)
            return max(total - most, 0), max(total - least, 0)


_BODIES = 32
"""The number of bodies that a block of many is assumed to have."""


def _estimate(found: Access, directories: Directories) -> int:
    match found:
        case Within(family):
            directory = directories[family]
            return sum(
                entry.size
                if directory.whole(between, entry)
                else max(entry.size // (2 if body_between(*between) is None else _BODIES), 1)
                for between, entry in _covering(found, directory)
            )
        case Both(parts):
            return min(_estimate(part, directories) for part in parts)
        case Either(parts):
            return sum(_estimate(part, directories) for part in parts)
        case Without(part):
            return max(directories[NUMBERS].total - _estimate(part, directories), 0)
