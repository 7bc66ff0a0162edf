"""Groups read with as few calls as they take.

sizes       one field, no filter: the sizes of its blocks, and the bodies in those that hold several      2 rounds
sets        the sets of the fields' blocks, intersected with each other and with the filter's             2 rounds
documents   the issues that match, fetched (or read in ranges, where they lie close) and grouped in       3 rounds
            memory: aggregates, and fields without an index, of up to 10,000 issues

A further round for what a plan lacks in the end: the documents of candidates or the sort entries of plain blocks, and one more for
the documents that tell how the values of the groups shown are spelled.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple, NoReturn

from pyroaring import BitMap

from gridview.dynamodb.expressions import Item
from gridview.dynamodb.side_by_side import side_by_side
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.sort_strings import body_of, number_of
from gridview.index.block_cache import BlockCache
from gridview.index.block_reader import BlockReader
from gridview.index.block_reads import Want
from gridview.index.blocks import Entry
from gridview.index.directory import Directory, range_of
from gridview.index.keyspaces import NUMBERS
from gridview.query import group_request
from gridview.query.bitmap_filter import Judged, Selection
from gridview.query.explain import Steps
from gridview.query.full_scan import read_whole
from gridview.query.group_blocks import (
    NONE,
    Combined,
    Divided,
    Division,
    Gathered,
    Label,
    TooMuchWork,
    combined,
    first_of,
)
from gridview.query.group_request import Group, GroupsQuery, Member, Order
from gridview.query.page import projection
from gridview.query.planner import CANDIDATES, MAX_BLOCKS
from gridview.schema.catalog import Catalog
from gridview.schema.documents import value_json
from gridview.schema.generations import IndexNotReady
from gridview.support.errors import Unprocessable

MAX_DOCUMENTS = 10_000
"""Issues that are fetched at most for one answer: 5,000 read units."""

MAX_QUERIES = 64
"""Plain blocks whose sort entries are read at most for one answer."""

MAX_WORK = 200_000
"""Intersections of sets for one answer: about half a second."""

_ITEM_UNITS = 0.5
_ENTRY_UNITS = 0.02
"""Of a sort entry, of which a Query reads some thirty for half a unit."""

_WHOLE_UNITS = 0.125
"""Of an issue of 1 KB among all of a project, which Query calls read."""

_SPELLINGS = 8
"""Issues of a group that are asked how its value is spelled, when the first one has another value by now."""


class Found(NamedTuple):
    """The first groups in order, and whether there are more than these."""

    groups: list[Group]
    more: bool


class _TooMuch(Exception):
    """A plan over sets would take more than its budget; the text says what."""


@dataclass(slots=True)
class _Sets:
    """What a plan over sets has come to: the groups of each field among the issues that match, and whether the first has more."""

    divided: list[Divided]
    matched: BitMap
    more: bool


class GroupsReader:
    """Answers one request for groups; `plan` tells afterwards how, for people."""

    def __init__(self, table: Table, catalog: Catalog, query: GroupsQuery, cache: BlockCache) -> None:
        self.plan: list[str] = []
        self.steps = Steps(table.meter)
        self._table = table
        self._catalog = catalog
        self._query = query
        self._reader = BlockReader(table, catalog, cache)
        self._selection = Selection(query.filter, catalog)
        self._divisions: list[Division] = []
        self._directories: Mapping[str, Directory] = {}
        self._judged: Judged | None = None
        self._fetched: dict[int, Item] = {}

    def read(self) -> Found:
        """The first groups; Unprocessable where that would take more than its budget, IndexNotReady."""
        query = self._query
        indexed = all(map(Division.possible, query.by))
        self._divisions = [Division(one) for one in query.by] if indexed else []
        families = (family for one in self._divisions for family in (one.family, one.valued))
        with self.steps.titled("the directories of blocks"):
            self._directories = self._reader.directories({NUMBERS, *self._selection.families(), *families})
        if not indexed or query.measures:
            return self._by_documents()
        try:
            if query.filter is None and len(query.by) == 1 and not self._divisions[0].numbered:
                return self._by_sizes(self._divisions[0])
            if self._fetching_is_cheaper():
                return self._by_documents()
            return self._by_sets()
        except _TooMuch as error:
            return self._by_documents(str(error))
        except TooMuchWork:
            return self._by_documents(
                f"grouping by {self._by} would take more than {MAX_WORK:,} intersections of sets"
            )

    @property
    def _by(self) -> str:
        return ", then ".join(one.field.id for one in self._query.by)

    @property
    def issues(self) -> int:
        """How many there are in the project, as of the index."""
        return self._directories[NUMBERS].total

    def _entries(self, division: Division) -> list[Entry]:
        return (
            []
            if division.numbered
            else [one for one in self._directories[division.family].entries if one.size]
        )

    # By the documents

    def _fetching_is_cheaper(self) -> bool:
        blocks = sum(len(self._entries(one)) for one in self._divisions)
        return self._query.filter is not None and self._estimate() < blocks

    def _estimate(self) -> int:
        return self.issues if self._query.filter is None else self._selection.estimate(self._directories)

    def _by_documents(self, reason: str = "") -> Found:
        filtered = self._query.filter is not None
        if not filtered and self.issues > MAX_DOCUMENTS:
            self._refuse(self.issues, reason)
        maybe = self._judge().maybe
        if len(maybe) > MAX_DOCUMENTS:
            self._refuse(len(maybe), reason)
        there = (
            f"the {len(maybe):,} issues that {'may match, keep those that do' if filtered else 'there are'}"
        )
        if len(maybe) * _ITEM_UNITS > _between(maybe) * _WHOLE_UNITS:
            with self.steps.titled("the documents of the issues, by ranges of numbers"):
                documents: Iterable[Item] = read_whole(
                    self._table,
                    self._catalog,
                    self._query.fields(),
                    maybe,
                    f"groups of {len(maybe):,} issues",
                )
            how = "in ranges of numbers side by side"
        else:
            self._fetch(maybe, "the documents of the issues")
            documents = (self._fetched[num] for num in maybe if num in self._fetched)
            how = "by number"
        self.plan.append(f"Fetch {there}, {how}; group them by {self._by} in memory.")
        return self._grouped(documents)

    def _grouped(self, documents: Iterable[Item]) -> Found:
        return Found(group_request.grouped(self._query, documents), more=False)

    def _judge(self) -> Judged:
        """Which issues match, as far as sets tell: one round for the sets, if they have not been read."""
        if self._judged is None:
            with self.steps.titled(
                "the sets of the filter" if self._query.filter else "the set of all issues"
            ):
                self._reader.read(self._selection.wants(self._directories))
            self._judged = self._selection.evaluate(self._directories, self._reader)
        return self._judged

    def _refuse(self, matching: int, reason: str) -> NoReturn:
        """Say why the documents would have to be read, and what would help."""
        said = [f"{matching:,} issues would have to be read for this, and at most {MAX_DOCUMENTS:,} are"]
        for field in dict.fromkeys(one.field for one in self._query.by if not Division.possible(one)):
            if field.indexed:
                raise IndexNotReady(field.id)
            said.append(
                f"{field.id} is not indexed; an administrator can switch its index on: PATCH "
                f'/v1/projects/{self._catalog.project}/attributes/{field.id} {{"indexed": true}}'
            )
        if self._query.measures:
            said.append("aggregates are exact, so each issue that matches has to be read for them")
        if reason:
            said.append(reason)
        if self._judged is not None and len(self._judged.undecided) > CANDIDATES:
            said += self._selection.undecidable()
        raise Unprocessable(f"{'; '.join(said)}. A filter that fewer issues match would do, too.")

    def _fetch(self, numbers: BitMap, title: str) -> None:
        """Fetch documents: 0.5 read units each, in one round."""
        with self.steps.titled(title):
            self._take(self._documents(self._table, numbers))

    def _documents(self, table: Table, numbers: BitMap) -> Iterable[Item]:
        tenant, project = self._catalog.tenant, self._catalog.project
        partition = keys.project(tenant, project)
        wanted = [
            (keys.issue(tenant, project, num), partition) for num in numbers if num not in self._fetched
        ]
        return table.batch_get(wanted, paths=projection(self._query.fields())).items.values()

    def _take(self, documents: Iterable[Item]) -> None:
        self._fetched.update((document["num"], document) for document in documents)

    # By the sizes of blocks

    def _by_sizes(self, division: Division) -> Found:
        limit = self._query.limit
        entries = self._entries(division)
        sizes = [one.size for one in entries]
        found = Gathered()
        upto = read = 0
        for goal in (limit + 1, math.inf):
            begin, upto = upto, division.far_enough(entries, sizes, goal)
            read += self._count(division, entries[begin:upto], found)
            fence = entries[upto].lower if upto < len(entries) else None
            ready = [one for one in found.groups() if division.complete(one.labels[0], fence)]
            if upto == len(entries) or len(ready) > limit:
                break
        self.plan.append(
            f"Group by {division.field_id}: its index has {len(entries):,} blocks. The first {upto:,} tell the groups asked for: "
            f"{upto - read:,} of them hold one group each, or a part of one, and count by their size; {read:,} are read."
        )
        if upto == len(entries):
            without = self.issues - self._directories[division.valued].total
            if division.nullable and without > 0:
                ready.append(Combined((NONE,), without, BitMap()))
                self.plan.append("What is missing from them to all issues of the project has no value.")
        return self._spelled(*first_of(ready, limit), more=upto < len(entries))

    def _count(self, division: Division, entries: Sequence[Entry], found: Gathered) -> int:
        """Add the groups of these blocks; how many of them had to be read. One round, and one for moved options."""
        wants: list[Want] = []
        last = None
        for entry in entries:
            label = division.label_of(entry)
            if label is None:
                wants.append(_bodies_of(division, entry))
            elif not label.spelled and (label.several or label != last):
                wants.append(Want(division.family, entry))  # its first issue spells it
            else:
                found.count(label, entry.size)
            last = label
        self._check_queries(sum(one.keys is not None for one in wants))
        with self.steps.titled("blocks of several values, or sort entries that tell these"):
            self._reader.read(wants)
        for want in wants:
            for label, members in self._groups_of(division, want.entry):
                found.add(label, members)
        self._settle(division, found)
        return len(wants)

    def _check_queries(self, queries: int) -> None:
        if queries > MAX_QUERIES:
            raise _TooMuch(
                f"the sort entries of more than {MAX_QUERIES} blocks would have to be read to group by {self._by}"
            )

    def _groups_of(self, division: Division, entry: Entry) -> Iterator[tuple[Label | None, BitMap]]:
        """The groups of a block that has been read with what tells them."""
        label = division.label_of(entry)
        if label is not None or entry.body is not None:
            yield label, self._reader.block(division.family, entry).members
            return
        if entry.detailed:
            sets: Mapping[str, BitMap] = self._reader.block(division.family, entry).sets or {}
        else:
            sort_strings = self._reader.keys(division.family, entry, range_of(entry))
            sets = {body: BitMap(map(number_of, run)) for body, run in groupby(sort_strings, key=body_of)}
        for body, members in sets.items():
            yield division.label(body), members

    def _settle(self, division: Division, found: Gathered) -> None:
        """Put the unsettled issues into the groups that their documents tell: a round for those that have not been fetched."""
        if len(found.unsettled) > MAX_DOCUMENTS:
            raise _TooMuch(
                f"{len(found.unsettled):,} issues would have to be read to tell their values of {division.field_id}, among them "
                "those of options that are being moved"
            )
        if found.unsettled:
            self._fetch(found.unsettled, f"documents that tell values of {division.field_id}")
        by_label: dict[Label, BitMap] = {}
        for num in found.unsettled:
            if num in self._fetched:
                value = division.dimension.field.value_in(self._fetched[num])
                label = NONE if value is None else division.label_of_value(value)
                by_label.setdefault(label, BitMap()).add(num)
        for label, members in by_label.items():
            found.add(label, members)
        found.unsettled = BitMap()

    # By sets

    def _by_sets(self) -> Found:
        limit = self._query.limit
        first, *others = self._divisions
        entries = self._entries(first)
        # Without a filter the first groups are in the first blocks; with one nobody knows yet in which.
        sizes = [one.size for one in entries]
        upto = len(entries) if self._query.filter else first.far_enough(entries, sizes, limit + 1)
        wants = [Want(one.family, entry) for one in others for entry in self._entries(one)]
        wants += [Want(first.family, entry) for entry in entries[:upto]]
        wants += self._selection.wants(self._directories)
        self._check_blocks(len({(one.family, one.entry) for one in wants}))
        with self.steps.titled("the sets of the filter and of the fields"):
            self._reader.read(wants)
        judged = self._judge()
        candidates = judged.undecided
        if len(candidates) > CANDIDATES:
            return self._by_documents()
        found: list[Combined] = []
        for goal in (limit + 1, math.inf):
            if goal == math.inf:
                upto = len(entries)
                self._check_blocks(len(wants) + upto)
                with self.steps.titled(f"the other sets of {first.field_id}"):
                    self._reader.read(self._everything_of(first, entries))
            sets = self._sets(judged, entries[:upto], goal, all_read=upto == len(entries))
            found, all_ = first_of(combined(sets.divided, sets.matched, MAX_WORK), limit)
            if not sets.more or not all_:
                break
        self._explain_sets(candidates, sets.matched)
        return self._spelled(found, all_, more=sets.more)

    def _everything_of(self, division: Division, entries: Sequence[Entry]) -> Iterator[Want]:
        """The sets of all blocks, and the bodies in as many as may be read."""
        yield from (Want(division.family, entry) for entry in entries)
        if self._query.filter is None:
            untold = [one for one in entries if division.label_of(one) is None and _needs_keys(one)]
            yield from (_bodies_of(division, entry) for entry in untold[:MAX_QUERIES])

    def _check_blocks(self, blocks: int) -> None:
        if blocks > MAX_BLOCKS:
            raise _TooMuch(f"more than {MAX_BLOCKS:,} blocks would have to be read")

    def _explain_sets(self, candidates: BitMap, matched: BitMap) -> None:
        if self._query.filter is not None:
            judge = f", after the documents of {len(candidates):,} were read" if candidates else ""
            self.plan.append(
                f"The sets of the filter ({self._query.filter}) give {len(matched):,} issues{judge}."
            )
        blocks = sum(len(self._entries(one)) for one in self._divisions)
        self.plan.append(
            f"Intersect them with the sets of {self._by}, which have {blocks:,} blocks, group by group."
            if self._query.filter is not None
            else f"Intersect the sets of {self._by}, which have {blocks:,} blocks, group by group."
        )

    def _sets(self, judged: Judged, entries: Sequence[Entry], goal: float, *, all_read: bool) -> _Sets:
        """The groups of all fields, of the first one those of as many blocks as should have this many: one round."""
        first = self._divisions[0]
        hits = [self._reader.block(first.family, entry).members & judged.maybe for entry in entries]
        upto = first.far_enough(entries, list(map(len, hits)), goal)
        more = upto < len(entries) or not all_read
        fence = None if not more else entries[upto].lower if upto < len(entries) else entries[-1].upper
        within = BitMap.union(BitMap(), *hits[:upto]) if more else judged.maybe
        gathered = [Gathered() for _ in self._divisions]
        plain: list[tuple[int, Entry, BitMap]] = []
        for place, division in enumerate(self._divisions):
            for entry in entries[:upto] if place == 0 else self._entries(division):
                members = self._reader.block(division.family, entry).members & within
                if not members:
                    continue
                if division.label_of(entry) is None and _needs_keys(entry):
                    plain.append((place, entry, members))
                    continue
                for label, some in self._groups_of(division, entry):
                    gathered[place].add(label, some & members)
        by_entries = [one for one in plain if len(one[2]) * _ITEM_UNITS > one[1].size * _ENTRY_UNITS]
        by_entries = sorted(by_entries, key=lambda one: len(one[2]), reverse=True)[:MAX_QUERIES]
        entered = {(place, entry) for place, entry, _ in by_entries}
        for place, entry, members in plain:
            if (place, entry) not in entered:
                gathered[place].add(None, members)
        matched = self._settle_sets(judged, gathered, by_entries)
        divided = []
        for division, found in zip(self._divisions, gathered, strict=True):
            self._settle(division, found)
            behind = fence if division is first else None
            if division.nullable and behind is None and not division.numbered:
                blocks = (self._reader.block(division.family, one) for one in self._entries(division))
                found.add(NONE, matched - BitMap.union(BitMap(), *(one.members for one in blocks)))
            found.keep(matched, partial(division.complete, fence=behind))
            divided.append(Divided(division, found))
        return _Sets(divided, matched, more)

    def _settle_sets(
        self, judged: Judged, gathered: Sequence[Gathered], by_entries: Sequence[tuple[int, Entry, BitMap]]
    ) -> BitMap:
        """Read what sets do not tell, side by side in one round: sort entries and documents. Which issues match after all."""
        candidates = judged.undecided
        documents = BitMap.union(candidates, *(one.unsettled for one in gathered))
        if len(documents) > MAX_DOCUMENTS:
            raise _TooMuch(f"the groups of {len(documents):,} issues are told by their documents alone")
        wants = [_bodies_of(self._divisions[place], entry) for place, entry, _ in by_entries]
        with self.steps.titled("candidates' documents" if documents else "sort entries that tell values"):
            if documents:
                read = partial(self._reader.read, wants)
                _, fetched = side_by_side(self._table, read, lambda table: self._documents(table, documents))
                self._take(fetched)
            else:
                self._reader.read(wants)
        for place, entry, members in by_entries:
            for label, some in self._groups_of(self._divisions[place], entry):
                gathered[place].add(label, some & members)
        only = self._query.filter
        if only is None:
            return judged.sure
        passing = (num for num in candidates if num in self._fetched and only.matches(self._fetched[num]))
        return judged.sure | BitMap(passing)

    # What is shown

    def _spelled(self, found: Sequence[Combined], all_: bool, *, more: bool) -> Found:
        """The groups as they are shown: one round for the documents that spell their values, if it takes any."""
        told = [one for one in found if one.several]
        asked = [one for one in found[: self._query.limit] if not one.several and not one.spelled]
        numbers = BitMap.union(BitMap(), *(one.members for one in told))
        if len(numbers) > MAX_DOCUMENTS:
            raise Unprocessable(
                f"{len(numbers):,} issues have texts that begin alike for 240 characters, and at most {MAX_DOCUMENTS:,} are "
                "read to tell them apart. A filter that fewer issues match would do."
            )
        numbers |= BitMap(one.members.min() for one in asked if one.members)
        if numbers:
            self._fetch(numbers, "documents that tell how values are spelled")
            self.plan.append(f"Fetch {len(numbers):,} documents, which tell how the values are spelled.")
        again = BitMap.union(
            BitMap(),
            *(one.members[:_SPELLINGS] for one in asked if self._speller(one) is None),
        )
        if again - BitMap(self._fetched):
            self._fetch(again, "others in the place of those that have changed")
        groups_: dict[tuple[Order, ...], Group] = {}
        for one in found:
            if one.several:
                self._tell_apart(one, groups_)
            else:
                order = tuple(label.order for label in one.labels)
                groups_[order] = Group(self._shown(one), [], one.size)
        return Found([groups_[order] for order in sorted(groups_)], more or not all_)

    def _speller(self, group: Combined) -> Item | None:
        """The first of the group's issues that still has its values, of those that were fetched."""
        fetched = (self._fetched.get(num) for num in group.members[:_SPELLINGS])
        return next((one for one in fetched if one is not None and self._belongs(one, group)), None)

    def _belongs(self, document: Item, group: Combined) -> bool:
        """Whether a document still has the values of a group that it spells."""
        for division, label in zip(self._divisions, group.labels, strict=True):
            if not label.spelled:
                value = division.dimension.field.value_in(document)
                if value is None or division.label_of_value(value).order != label.order:
                    return False
        return True

    def _shown(self, group: Combined) -> list[Any]:
        speller = None if group.spelled else self._speller(group)
        return [
            label.shown
            if label.spelled
            else label.order[2]  # as it is compared: nobody spells it otherwise any more
            if speller is None
            else value_json(division.dimension.field, division.dimension.field.value_in(speller))
            for division, label in zip(self._divisions, group.labels, strict=True)
        ]

    def _tell_apart(self, group: Combined, found: dict[tuple[Order, ...], Group]) -> None:
        """Put the issues of a group into the groups of their whole texts."""
        for num in group.members:
            document = self._fetched.get(num)
            if document is None or not self._belongs(document, group):
                continue
            members = [
                Member(label.order, label.shown)
                if label.spelled
                else next(iter(division.dimension.of(document)))
                for division, label in zip(self._divisions, group.labels, strict=True)
            ]
            order = tuple(one.order for one in members)
            found.setdefault(order, Group([one.shown for one in members], [])).count += 1


def _between(numbers: BitMap) -> int:
    """How many issue numbers there are from the first to the last of these."""
    return numbers.max() - numbers.min() + 1 if numbers else 0


def _needs_keys(entry: Entry) -> bool:
    """Whether only sort entries tell the bodies of a block."""
    return not entry.detailed and entry.body is None


def _bodies_of(division: Division, entry: Entry) -> Want:
    """What tells the bodies of a block."""
    if _needs_keys(entry):
        return Want(division.family, entry, range_of(entry), members=False)
    return Want(division.family, entry)
