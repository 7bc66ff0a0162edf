"""The fields of a summary that have no column, over the blocks of their orders: needed blocks, and values. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from pyroaring import BitMap

from gridview.chains.blocks import Entry
from gridview.chains.directory import Directory, range_of
from gridview.dynamodb.expressions import Item
from gridview.encoding.option_ranks import RANK_WIDTH
from gridview.encoding.sort_strings import SEPARATOR, TEXT_WIDTH, body_of, case_folded_text, number_of
from gridview.query.bitmap_filter import Judged
from gridview.query.group_blocks import (
    index_token_family_of,
    is_indexed,
    is_plain,
    keys_of,
    stored_value,
    valued_family,
)
from gridview.query.number_functions import OF_NUMBERS, Function, IssueNumbers, value_of
from gridview.query.operators import body as body_of_value
from gridview.query.summary_request import (
    FieldAnswer,
    FieldSummary,
    end,
    parts,
)
from gridview.schema.fields import NUM, FieldType
from gridview.schema.formats import value_json
from gridview.view.block_reads import Want
from gridview.view.reads import Snapshot

_NEAR = 16
"""Blocks at each end of an order of dates whose sets are read first, for the least and the greatest."""

_SPELLINGS = 8
"""Issues that are read for the spelling of a value, if the first one has another value by now."""

ENDS = frozenset[Function](("min", "max"))
OF_VALUES = ENDS | OF_NUMBERS | frozenset[Function](("distinct",))
"""The functions that need more than the number of issues."""

Needed = dict[Entry, frozenset[Function]]
"""Blocks whose bodies are needed, each with the functions that need them."""


def is_answered_by_blocks(asked: FieldSummary) -> bool:
    """Whether blocks have the functions of a field: its index is complete, and its options are surely at their bodies."""
    moved = bool(asked.field.moving) and asked.field.type.has_options
    if moved and asked.field.type is FieldType.MULTI_ENUM:
        moved = bool(ENDS & {*asked.functions})
    elif moved:
        moved = bool(OF_VALUES & {*asked.functions})
    return is_indexed(asked.field) and not moved


class Column:
    """One field of a summary, over the blocks of its order."""

    def __init__(self, asked: FieldSummary, directories: Mapping[str, Directory]) -> None:
        self.asked = asked
        self.field = asked.field
        self.numbered = self.field.id == NUM
        self.family = valued_family(self.field)
        self.index_token_family = index_token_family_of(self.field)
        self.size = directories[self.family].total
        """The number of issues with a value."""
        self.entries = [one for one in directories[self.family].entries if one.size]
        listed = directories[self.index_token_family].entries if self.index_token_family is not None else ()
        self.index_token_entries = [one for one in listed if one.size]

    @property
    def nullable(self) -> bool:
        """Whether issues may lack a value."""
        return not self.field.builtin

    @property
    def takes_sets(self) -> bool:
        """Whether a filter must be intersected with the sets of its blocks."""
        return not self.numbered and (self.nullable or bool(OF_VALUES & {*self.asked.functions}))

    @property
    def needs_only_ends(self) -> bool:
        """Whether it suffices to know which issues match at the ends of the order."""
        of_times = self.field.type in (FieldType.DATE, FieldType.DATETIME)
        return of_times and self.takes_sets and ENDS.issuperset(self.asked.functions)

    @property
    def near_ends(self) -> list[Entry]:
        """The blocks whose sets are read first: all, or those near the needed ends."""
        if not self.needs_only_ends:
            return self.entries
        first = _NEAR if "min" in self.asked.functions else 0
        last = len(self.entries) - (_NEAR if "max" in self.asked.functions else 0)
        return self.entries[:first] + self.entries[max(first, last) :]

    def narrowed(self, snapshot: Snapshot, sure: BitMap) -> "Column | None":
        """The column without the blocks between those near its ends. None if these do not decide the ends.

        `sure`: the issues that match.
        """
        near = self.near_ends
        if near == self.entries:
            return self
        for function in self.asked.functions:
            at_end = self.entries[:_NEAR] if function == "min" else self.entries[-_NEAR:]
            if not any(snapshot.block(self.family, entry).members.intersect(sure) for entry in at_end):
                return None
        narrowed = copy(self)
        narrowed.entries = near
        return narrowed

    @property
    def takes_options(self) -> bool:
        """Whether the options of a multi_enum must be counted separately."""
        return self.index_token_family is not None and "distinct" in self.asked.functions

    def needed(self, sure: Sequence[bool], may: Sequence[bool]) -> Needed:
        """The blocks whose bodies are needed. `sure`, `may`: for each entry, whether an issue in it matches, or may."""
        found: Needed = {}
        for function in OF_VALUES & {*self.asked.functions}:
            if not (function == "distinct" and (self.takes_options or self.numbered)):
                for entry in self._needed_for(function, sure, may):
                    found[entry] = found.get(entry, frozenset()) | {function}
        return found

    def needed_of_all(self) -> Needed:
        """The blocks whose bodies are needed if all issues match."""
        every = [True] * len(self.entries)
        return self.needed(every, every)

    def _needed_for(self, function: Function, sure: Sequence[bool], may: Sequence[bool]) -> Iterator[Entry]:
        ends = [*zip(self.entries, sure, may, strict=True)]
        for at, (entry, one_does, one_may) in enumerate(ends[::-1] if function == "max" else ends, 1):
            if one_may:
                yield entry
            if one_does and function in ENDS:
                nearest = self.entries[at:][:1] if function == "min" else [entry]
                if not any(map(self._begins_inside, nearest)):
                    return

    def _begins_inside(self, entry: Entry) -> bool:
        """Whether a block begins between issues with the same body and possibly different values."""
        body, _, num = entry.lower.partition(SEPARATOR)
        return bool(num) and self.is_several(body)

    def wants_of_all(self) -> Iterator[Want]:
        """The reads of its blocks if all issues match."""
        for entry, functions in self.needed_of_all().items():
            if self.numbered or not is_plain(entry):
                if self.takes_block(entry, functions):
                    yield Want(self.family, entry)
            elif not self.ends_at_once(functions):
                yield keys_of(self.family, entry)
        if self.takes_options and self.index_token_family is not None:
            yield from (
                Want(self.index_token_family, one) for one in self.index_token_entries if one.body is None
            )

    def ends_of_all(self) -> Iterator[Function]:
        """The functions whose value is in the first or the last sort entry of all."""
        for entry, functions in self.needed_of_all().items():
            if not self.numbered and is_plain(entry) and self.ends_at_once(functions):
                yield from sorted(functions)

    def value_of(self, body: str) -> Any:
        """The stored value with this body; None if only documents have it."""
        match self.field.type:
            case FieldType.TEXT | FieldType.USER:
                return None
            case FieldType.MULTI_ENUM:
                # The live options come first: one of them takes precedence over a retired one of its rank.
                by_rank = {option.rank: option.id for option in reversed(self.field.options)}
                return [by_rank[body[at : at + RANK_WIDTH]] for at in range(0, len(body), RANK_WIDTH)]
        return stored_value(self.field, body)

    def is_several(self, body: str) -> bool:
        """Whether different values may have this body."""
        return self.field.type is FieldType.TEXT and len(case_folded_text(body)) >= TEXT_WIDTH

    def takes_block(self, entry: Entry, functions: frozenset[Function]) -> bool:
        """Whether a function needs the issues in a block, or their bodies, and not only their number."""
        if entry.body is None or self.numbered or self.is_several(entry.body):
            return True
        return bool(functions & ENDS) and self.value_of(entry.body) is None

    def ends_at_once(self, functions: frozenset[Function]) -> bool:
        """Whether the first and the last sort entry have the values of these functions."""
        return functions <= ENDS and self.field.type not in (FieldType.TEXT, FieldType.USER)


@dataclass
class Bodies:
    """The issues under each body, as far as needed: their number, and the issues themselves if that matters."""

    members: dict[str, BitMap] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    def add(self, body: str, members: BitMap) -> None:
        """Add these issues to a body."""
        if members:
            self.members[body] = self.members.get(body, BitMap()) | members

    def count(self, body: str, size: int) -> None:
        """Count other issues of a body."""
        self.sizes[body] = self.sizes.get(body, 0) + size

    def within(self, matched: BitMap) -> "Bodies":
        """Return only the issues that match."""
        kept = {body: members & matched for body, members in self.members.items()}
        return Bodies({body: members for body, members in kept.items() if members}, self.sizes)

    def __iter__(self) -> Iterator[str]:
        """All bodies, in order."""
        return iter(sorted(self.members.keys() | self.sizes.keys()))

    def size(self, body: str) -> int:
        """The number of issues with a body."""
        return self.sizes.get(body, 0) + len(self.members.get(body, ()))


@dataclass(eq=False)
class ColumnValues:
    """The state of a column: its bodies, those of its options, and the matching issues with a value.

    `count`: how many these are. `numbers`: the matching issues' numbers, if the field is the number.
    """

    column: Column
    bodies: Bodies = field(default_factory=Bodies)
    options: Bodies = field(default_factory=Bodies)
    count: int = 0
    numbers: BitMap = field(default_factory=BitMap)
    with_value: BitMap = field(default_factory=BitMap)

    def add_options(self, snapshot: Snapshot, within: BitMap | None) -> None:
        """Add the options that issues have, for a multi_enum whose options are needed."""
        if not self.column.takes_options or self.column.index_token_family is None:
            return
        for entry in self.column.index_token_entries:
            if within is None and entry.body is not None:
                self.options.count(entry.body, entry.size)
                continue
            for body, members in bodies_of(self.column.index_token_family, entry, snapshot):
                self.options.add(body, members if within is None else members & within)

    def add_all(self, snapshot: Snapshot) -> None:
        """Add the contents of the blocks if all issues match."""
        column = self.column
        for entry, functions in column.needed_of_all().items():
            if column.numbered:
                self.numbers |= snapshot.block(column.family, entry).members
            elif entry.body is not None and not column.takes_block(entry, functions):
                self.bodies.count(entry.body, entry.size)
            elif not (is_plain(entry) and column.ends_at_once(functions)):
                for body, members in bodies_of(column.family, entry, snapshot):
                    self.bodies.add(body, members)
        self.add_options(snapshot, None)

    def add_matches(self, snapshot: Snapshot, judged: Judged) -> Iterator["PlainPiece"]:
        """Add the contents of the blocks for issues that may match; yields the plain pieces, whose bodies they lack."""
        column = self.column
        self.add_options(snapshot, judged.maybe)
        if not column.takes_sets:
            return
        hits = [snapshot.block(column.family, one).members & judged.maybe for one in column.entries]
        self.with_value = BitMap.union(BitMap(), *hits)
        members_of = dict(zip(column.entries, hits, strict=True))
        sure = [bool(one & judged.sure) for one in hits]
        for entry, functions in column.needed(sure, list(map(bool, hits))).items():
            if is_plain(entry):
                yield PlainPiece(self, entry, members_of[entry], functions)
            else:
                for body, members in bodies_of(column.family, entry, snapshot):
                    self.bodies.add(body, members & judged.maybe)

    def add_entries(self, snapshot: Snapshot, piece: "PlainPiece") -> None:
        """Add the contents of a piece's sort entries."""
        for body, members in bodies_of(self.column.family, piece.entry, snapshot):
            self.bodies.add(body, members & piece.members)

    def add_documents(self, piece: "PlainPiece", documents: Mapping[int, Item]) -> None:
        """Add the values in the documents of a piece."""
        for num in piece.members:
            value = self.column.field.value_in(documents[num]) if num in documents else None
            if value is not None:
                self.bodies.add(body_of_value(self.column.field, value), BitMap((num,)))

    def keep(self, matched: BitMap) -> None:
        """Keep only the issues that match, once these are known."""
        self.bodies = self.bodies.within(matched)
        self.options = self.options.within(matched)
        self.numbers = matched
        self.count = len(self.with_value & matched) if self.column.nullable else len(matched)

    def unknown(self) -> BitMap:
        """The issues whose documents are needed: all that may differ, or the first with a body."""
        asked = self.column.asked.functions
        found = BitMap()
        every = list(self.bodies)
        if "distinct" in asked:
            found |= self._union(body for body in every if self.column.is_several(body))
        for function, body in self._ends(every).items():
            if self.column.is_several(body):
                found |= self._union((body,))
            elif self.column.value_of(body) is None:
                found |= self._at_end(function, body, 1)
        return found

    def misspelled(self, documents: Mapping[int, Item]) -> BitMap:
        """More issues to read for the spelling of the least or greatest value, if the first has another value by now."""
        return BitMap.union(
            BitMap(),
            *(
                self._at_end(function, body, _SPELLINGS)
                for function, body in self._ends(list(self.bodies)).items()
                if self.column.value_of(body) is None and not list(self._values(body, documents))
            ),
        )

    def _at_end(self, function: Function, body: str, count: int) -> BitMap:
        """The first issues with a body, or the last ones."""
        members = self.bodies.members.get(body, BitMap())
        return members[:count] if function == "min" else members[-count:]

    def answer(self, matched: int, documents: Mapping[int, Item]) -> FieldAnswer:
        """Return the values of the functions."""
        asked = self.column.asked
        return FieldAnswer(
            asked.field,
            {function: self._value_of(function, matched, documents) for function in asked.functions},
        )

    def _value_of(self, function: Function, matched: int, documents: Mapping[int, Item]) -> Any:
        if function == "count":
            return self.count
        if function == "empty":
            return matched - self.count
        if self.column.numbered:
            if function == "distinct":
                return self.count
            return value_of(function, IssueNumbers(self.numbers), matched)
        if function == "distinct":
            return len(list(self.options)) if self.column.takes_options else self._distinct(documents)
        every = list(self.bodies)
        return self._end(self._ends(every)[function], function, documents) if every else None

    def _ends(self, every: Sequence[str]) -> dict[Function, str]:
        ends: dict[Function, str] = {"min": every[0], "max": every[-1]} if every else {}
        return {function: body for function, body in ends.items() if function in self.column.asked.functions}

    def _union(self, bodies: Iterable[str]) -> BitMap:
        return BitMap.union(BitMap(), *(self.bodies.members[body] for body in bodies))

    def _values(self, body: str, documents: Mapping[int, Item]) -> Iterator[Any]:
        """The values of the fetched issues that still have this body."""
        for num in self.bodies.members.get(body, ()):
            value = self.column.field.value_in(documents[num]) if num in documents else None
            if value is not None and body_of_value(self.column.field, value) == body:
                yield value

    def _distinct(self, documents: Mapping[int, Item]) -> int:
        several = [body for body in self.bodies if self.column.is_several(body)]
        apart = {
            one
            for body in several
            for value in self._values(body, documents)
            for one in parts(self.column.field, value)
        }
        return len(list(self.bodies)) - len(several) + len(apart)

    def _end(self, body: str, function: Function, documents: Mapping[int, Item]) -> Any:
        value = self.column.value_of(body)
        if value is None:
            values = list(self._values(body, documents))
            if not values:
                return case_folded_text(body)  # as compared: no issue spells it otherwise
            value = end(self.column.field, function, values)
        return value_json(self.column.field, value)


class PlainPiece(NamedTuple):
    """Issues that may match, in a plain block whose bodies are needed for `functions`."""

    of: ColumnValues
    entry: Entry
    members: BitMap
    functions: frozenset[Function]


def bodies_of(family: str, entry: Entry, snapshot: Snapshot) -> Iterator[tuple[str, BitMap]]:
    """Return the bodies of a block, each with its issues."""
    if entry.body is not None:
        yield entry.body, snapshot.block(family, entry).members
    elif entry.detailed:
        yield from (snapshot.block(family, entry).sets or {}).items()
    else:
        for body, run_ in groupby(snapshot.keys(family, entry, range_of(entry)), key=body_of):
            yield body, BitMap(map(number_of, run_))
