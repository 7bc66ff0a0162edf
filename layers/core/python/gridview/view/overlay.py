"""Recent changes of issues, laid over the reads of the index: answers are as if the index held them. Pure.

- A block, or sort entries: the issues are taken out, and put in where they belong.
- Sizes in a directory: the same, by the positions of the blocks and the journal's steps. If these do not show which issues
  a size counts, the blocks must be read (`unsettled`).
- Documents: those of the issues replace the ones that were read; a deleted one is gone.

All of this is by state: an issue is taken out and put in whether the index already has it there or not. So it does not
matter how much of a change the index shows, or from which moments its parts are. No issue is counted twice or lost.
"""

from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any

from pyroaring import BitMap

from gridview.chains.blocks import Block, Entry, entry_of, touched
from gridview.chains.directory import Directory, Range, range_of
from gridview.derive.families import keys_of
from gridview.derive.ledger import Ledger
from gridview.dynamodb.expressions import Bound, Item
from gridview.encoding import keys
from gridview.encoding.sort_strings import body_of, number_of
from gridview.view.moves import FamilyMove, Move
from gridview.view.reads import (
    Documents,
    Listed,
    Read,
    ReadDocuments,
    ReadLedger,
    ReadRange,
    ReadRanges,
)


class FamilyOverlay:
    """The recent changes in one family.

    `issues`: the changed issues. `puts`: their keys. `may_have`: the keys that they have or may be shown with.
    """

    def __init__(self, family: str, moves: Iterable[Move]) -> None:
        self._family = family
        self.issues = BitMap()
        puts: list[str] = []
        unsure: set[str] = set()
        self._sure: list[tuple[FamilyMove, frozenset[str]]] = []
        for move in moves:
            if family in move.families:
                one = move.families[family]
                taken = self._keys(one.takes)
                held = frozenset(chain(taken, *map(self._keys, one.leaves)))
                self.issues.add(move.num)
                puts += taken
                if one.steps:
                    self._sure.append((one, held))
                else:
                    unsure |= held
        self.puts = sorted(puts)
        self.unsure = frozenset(unsure)
        """Keys that the index may or may not count for their issues: only the blocks show it."""
        self.may_have = frozenset(chain(unsure, *(held for _, held in self._sure)))

    def _keys(self, derived: str | None) -> frozenset[str]:
        return frozenset() if derived is None else keys_of(self._family, derived)

    def differences(self, directory: Directory) -> dict[int, int]:
        """Place in the directory -> the difference of the size listed there, as far as steps and positions show it."""
        found: dict[int, int] = {}
        for move, held in self._sure:
            taken = self._keys(move.takes)
            for key in held:
                place = directory.index_of(key)
                counted = key in self._keys(move.had_at(directory.entries[place].position))
                found[place] = found.get(place, 0) + (key in taken) - counted
        return found

    def inside(self, between: Range) -> Sequence[str]:
        """The keys that belong in a range, in order."""
        end = len(self.puts) if between.upper is None else bisect_left(self.puts, between.upper)
        return self.puts[bisect_left(self.puts, between.lower) : end]

    def block(self, block: Block) -> Block:
        """The block, in its own form, with the issues where they belong."""
        puts = self.inside(Range(block.lower, block.upper))
        if not self.issues or (not puts and not self.issues.intersect(block.members)):
            return block
        if block.sets is None:
            return replace(block, rest=(block.rest or BitMap()) - self.issues | BitMap(map(number_of, puts)))
        sets = {body: numbers - self.issues for body, numbers in block.sets.items()}
        for key in puts:
            sets[body_of(key)] = sets.get(body_of(key), BitMap()) | BitMap((number_of(key),))
        return replace(block, sets={body: numbers for body, numbers in sorted(sets.items()) if numbers})

    def keys(self, found: Sequence[str], between: Range) -> list[str]:
        """The keys that were found in a range, with those of the issues where they belong."""
        if not self.issues:
            return list(found)
        kept = (key for key in found if number_of(key) not in self.issues)
        return sorted([*kept, *self.inside(between)])


class Overlay:
    """The recent changes that one request is to see."""

    def __init__(self, moves: Iterable[Move] = ()) -> None:
        self._moves = {move.num: move for move in moves}
        self._families: dict[str, FamilyOverlay] = {}

    @cached_property
    def documents(self) -> Mapping[int, Item | None]:
        """The documents of its issues, if they were read; None for a deleted one."""
        return {num: move.document for num, move in self._moves.items() if move.known}

    @property
    def displaced(self) -> int:
        """The number of its issues that the index may show elsewhere than they belong."""
        return sum(bool(move.families) for move in self._moves.values())

    @property
    def pending(self) -> int:
        """The number of its issues that the index itself may not have where they belong yet."""
        return sum(bool(move.families) and move.pending for move in self._moves.values())

    def family(self, family: str) -> FamilyOverlay:
        """The changes in a family."""
        if family not in self._families:
            self._families[family] = FamilyOverlay(family, self._moves.values())
        return self._families[family]

    def moves_in(self, family: str) -> Iterator[tuple[int, FamilyMove]]:
        """The moves in a family, each with its issue."""
        return ((move.num, move.families[family]) for move in self._moves.values() if family in move.families)

    def with_new(self, moves: Iterable[Move]) -> "Overlay":
        """Return an overlay that also has the moves of new issues, of which this one must have none."""
        return Overlay([*self._moves.values(), *moves])

    def leaving(self, family: str) -> int:
        """The number of its issues that a family's sort entries may show where they do not belong."""
        moved = (
            move.families[family]
            for move in self._moves.values()
            if family in move.families and (move.known or move.pending)
        )
        return sum(any(leaf != one.takes for leaf in one.leaves) for one in moved)

    def of(self, issues: Container[int]) -> list[Move]:
        """The moves of these issues, if their documents were read."""
        return [move for move in self._moves.values() if move.known and move.num in issues]

    @property
    def issues(self) -> BitMap:
        """Its issues."""
        return BitMap(self._moves)

    # Directories

    def unsettled(self, directory: Directory) -> Iterator[Entry]:
        """The blocks whose listed sizes are uncertain: only reading them shows which issues they count."""
        places = {directory.index_of(key) for key in self.family(directory.family).unsure}
        return (directory.entries[place] for place in sorted(places) if directory.entries)

    def directory(self, directory: Directory, settled: Mapping[Entry, Block]) -> Directory:
        """A directory, with the exact sizes of the blocks that were read to settle them.

        The sizes of other unsettled blocks are upper bounds. If there are no blocks and an issue belongs in the family,
        there is a first block.
        """
        over = self.family(directory.family)
        if not over.may_have:
            return directory
        if not directory.entries:
            first = entry_of(over.block(touched(Block.head(directory.family))))
            return replace(directory, entries=(first,) if first.size else ())
        entries = list(directory.entries)
        unsure = {directory.index_of(key) for key in over.unsure}
        for place, difference in (dict.fromkeys(unsure, 0) | over.differences(directory)).items():
            entry = entries[place]
            block = settled.get(entry)
            if block is not None:
                size = over.block(block).size
            elif place in unsure:
                size = entry.size + len(over.inside(range_of(entry)))
            else:
                size = entry.size + difference
            entries[place] = entry._replace(size=size)
        return replace(directory, entries=tuple(entries))

    # Documents and sort entries

    def over(self, read: Read, answer: Any) -> Any:
        """The answer to a read as if the index held the changes. The answer for directories and blocks already does."""
        match read:
            case ReadDocuments():
                return self.fetched(read, answer)
            case ReadRange():
                return self.listed(read, answer)
            case ReadRanges():
                return self.in_ranges(read, answer)
            case ReadLedger(num):
                return self.ledger(num, answer)
        return answer

    def fetched(self, read: ReadDocuments, answer: Documents) -> Documents:
        """Documents by number."""
        found = {num: document for num, document in answer.found.items() if num not in self.documents}
        recent = ((num, self.documents[num]) for num in read.numbers if num in self.documents)
        return answer._replace(found=found | {num: one for num, one in recent if one is not None})

    def listed(self, read: ReadRange, answer: Listed) -> Listed:
        """The result of one Query, of sort entries or documents: at most as many as were asked for."""
        if read.family is None:
            recent = [one for one in self._present if read.lacking is None or not _has(one, read.lacking)]
            found = self._with_documents(answer, recent, read.bound, forward=read.forward)
        else:
            over = self.family(read.family)
            kept = [one for one in answer.items if number_of(one[keys.SORT]) not in over.issues]
            puts = ({keys.SORT: key} for key in over.puts)
            found = _merged(answer, kept, puts, read.bound, forward=read.forward)
        if len(found.items) <= read.limit:
            return found
        items = found.items[: read.limit]
        return Listed(items, _sort(items[-1]))

    def in_ranges(self, read: ReadRanges, answer: Sequence[Listed]) -> list[Listed]:
        """The results of Queries of ranges, of documents."""
        return [
            self._with_documents(one, self._present, bound, forward=True)
            for bound, one in zip(read.bounds, answer, strict=True)
        ]

    def _with_documents(
        self, answer: Listed, recent: Iterable[Item], bound: Bound | None, *, forward: bool
    ) -> Listed:
        kept = [one for one in answer.items if one["num"] not in self.documents]
        return _merged(answer, kept, recent, bound, forward=forward)

    def ledger(self, num: int, ledger: Ledger) -> Ledger:
        """The ledger of an issue, as if the index held the changes."""
        move = self._moves.get(num)
        if move is None:
            return ledger
        applied = {**ledger.applied, **{family: one.takes for family, one in move.families.items()}}
        return Ledger(applied={family: sort for family, sort in applied.items() if sort is not None})

    @cached_property
    def _present(self) -> list[Item]:
        return [one for one in self.documents.values() if one is not None]


NOTHING = Overlay()


def _merged(
    answer: Listed, kept: list[Item], recent: Iterable[Item], bound: Bound | None, *, forward: bool
) -> Listed:
    """A part of an order, as far as it was read: the kept items, and the recent ones that belong there."""
    together = [*kept, *(one for one in recent if was_read(one[keys.SORT], answer, bound, forward=forward))]
    return answer._replace(items=sorted(together, key=_sort, reverse=not forward))


def was_read(sort: str, answer: Listed, bound: Bound | None, *, forward: bool) -> bool:
    """Whether a Query with this answer has passed a sort string."""
    if bound is not None and not bound.keeps(sort):
        return False
    return answer.last is None or (sort <= answer.last if forward else sort >= answer.last)


def _sort(item: Item) -> str:
    return str(item[keys.SORT])


def _has(document: Item, path: Sequence[str]) -> bool:
    found: object = document
    for name in path:
        if not isinstance(found, dict) or name not in found:
            return False
        found = found[name]
    return True
