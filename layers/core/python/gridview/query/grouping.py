"""Carries out the plans of groups, with as few calls as they need. Pure.

- GroupsBySizes: one field, no filter. The sizes of its blocks, and the bodies in blocks that have several: 2 rounds.
- GroupsBySets: the sets of the fields' blocks, intersected with each other and with the filter's: 2 rounds.
- GroupsByDocuments: the issues that match, fetched (or read in ranges, if they are close together) and grouped in memory.
  For fields without an index, of up to 10,000 issues: 3 rounds.

Aggregates are those of columns, for the sets of the groups, or of documents. Each takes work only when it is shown.

A plan may need a further round for documents of candidates or sort entries of plain blocks. Another (Spelling) reads the
documents with the spelling of the shown values.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from pyroaring import BitMap

from gridview.chains.blocks import Entry
from gridview.chains.directory import Directory, range_of
from gridview.derive.families import NUMBERS
from gridview.dynamodb.expressions import Item
from gridview.encoding.sort_strings import body_of, number_of
from gridview.query.bitmap_filter import Judged
from gridview.query.column_scan import Columns, columns_of, kept_columns, units_of_a_column
from gridview.query.document_scan import in_ranges, one_by_one
from gridview.query.group_blocks import (
    NONE,
    Combined,
    Divided,
    Division,
    Gathered,
    Label,
    first_combined,
    first_of,
    is_plain,
    keys_of,
)
from gridview.query.group_plan import (
    Beyond,
    Found,
    GroupChoices,
    Grouping,
    GroupsByDocuments,
    GroupsBySets,
    GroupsBySizes,
    Plain,
    Spelling,
    entries_of,
)
from gridview.query.group_request import (
    Group,
    GroupPlace,
    GroupsQuery,
    Member,
    Rank,
    Ranking,
    grouped,
    place_of,
)
from gridview.query.number_functions import IssueNumbers, SomeNumbers
from gridview.query.page import projection
from gridview.query.plan import Node
from gridview.query.planner import filter_reads
from gridview.query.steps import Ask, Steps, ask, ask_all, ask_directories, record, side_by_side
from gridview.schema.fields import NUM
from gridview.schema.formats import value_json
from gridview.view.block_reads import Want
from gridview.view.reads import ReadBlocks, ReadDocuments, Snapshot

_SPELLINGS = 8
"""Issues of a group that are read for the spelling of its value, if the first one has another value by now."""

_SPELLED_AT_ONCE = 1_000
"""Groups that are spelled before they are ordered, if texts that begin alike must be distinguished anyway."""


@dataclass(slots=True)
class _Known:
    """The reads so far for the groups of a plan. `documents`: by number. `columns`: of the fields that are measured."""

    plan: Grouping
    snapshot: Snapshot
    documents: dict[int, Item] = attribute(default_factory=dict)
    columns: Columns = attribute(default_factory=dict)

    @property
    def query(self) -> GroupsQuery:
        return self.plan.query

    @property
    def rule(self) -> GroupChoices:
        return self.plan.rule

    @property
    def place(self) -> GroupPlace | None:
        """The place where the result page before ends. A page of ranked groups needs all of them."""
        reached = self.plan.reached if self.query.ranking is None else None
        return reached.place if reached is not None else None

    @property
    def limit(self) -> int:
        """The number of groups of a page, or that may be ranked."""
        return self.query.limit if self.query.ranking is None else self.rule.ranked

    @property
    def goal(self) -> int:
        """The number of groups that a page needs: its own, one more to know that there is one, and the last one before."""
        return self.limit + (1 if self.place is None else 2)

    def ahead(self, groups: Iterable[Combined]) -> int:
        """The number of these groups after the result page before."""
        return sum(self.place is None or one.place > self.place for one in groups)

    @property
    def issues(self) -> int:
        """The number of issues in the project, as of the index."""
        return self.snapshot.directory(NUMBERS).total

    @property
    def directories(self) -> dict[str, Directory]:
        return {family: self.snapshot.directory(family) for family in self.plan.directories.families}

    def entries(self, division: Division) -> list[Entry]:
        """The blocks that show the groups of a field."""
        return entries_of(division, self.directories)

    def numbers(self, members: BitMap) -> dict[str, SomeNumbers]:
        """The numbers of a group's issues in the fields that are measured, by field id."""
        return {
            field.id: IssueNumbers(members) if field.id == NUM else self.columns[field.id].among(members)
            for field in self.query.measured
        }

    def fetch(self, node: Node, numbers: BitMap) -> Steps[None]:
        """Fetch documents that are not at hand: 0.5 read units each, in one round."""
        missing = [num for num in numbers if num not in self.documents]
        self.documents |= yield from one_by_one(node, self.query.fields(), missing)


def run(plan: Grouping) -> Steps[Found]:
    """Return the first groups; the rule refuses a request beyond all budgets."""
    snapshot = yield from ask_directories(plan.directories)
    known = _Known(plan, snapshot)
    kept = yield from kept_columns(plan, plan.columns)
    unread = (len(plan.columns) - len(kept)) * units_of_a_column(known.issues)
    way = plan.rule.way(known.directories, unread)
    yield from record(plan, chosen=way)
    match way:
        case GroupsBySizes():
            found = yield from _by_sizes(way, known)
        case GroupsBySets():
            found = yield from _by_sets(way, known)
        case GroupsByDocuments():
            found = yield from _by_documents(way, known)
    if isinstance(found, Beyond):
        further = plan.rule.instead(found)
        yield from record(way, chosen=further)
        found = yield from _by_documents(further, known)
    groups: Found = found
    return groups._replace(issues=known.issues)


# By the documents


def _by_documents(node: GroupsByDocuments, known: _Known) -> Steps[Found]:
    if known.query.filter is None:
        known.rule.check(known.issues, None, node.reason)
    judged = yield from _judge(node, known)
    known.rule.check(len(judged.maybe), judged, node.reason)
    ranges = known.rule.in_ranges(judged.maybe)
    yield from record(node, issues=len(judged.maybe), in_ranges=ranges)
    if ranges:
        documents: Iterable[Item] = yield from in_ranges(
            node, known.query.fields(), judged.maybe, f"groups of {len(judged.maybe):,} issues"
        )
    else:
        yield from known.fetch(node, judged.maybe)
        documents = (known.documents[num] for num in judged.maybe if num in known.documents)
    groups = grouped(known.query, documents)
    known.rule.check_ranked(more=known.query.ranking is not None and len(groups) > known.limit)
    return Found(groups, more=False)


def _judge(node: Node, known: _Known) -> Steps[Judged]:
    """Return which issues match, as far as sets show it: one round for the sets, if they have not been read."""
    selection, wants = filter_reads(known.plan.selection, known.directories)
    yield from ask(node, ReadBlocks(wants))
    return selection.evaluate(known.directories, known.snapshot)


# By the sizes of blocks


def _by_sizes(node: GroupsBySizes, known: _Known) -> Steps[Found | Beyond]:
    limit, division = known.limit, node.division
    every = known.entries(division)
    entries = every[division.begin(every, known.place) :]
    sizes = [one.size for one in entries]
    found = Gathered()
    upto = read = 0
    ready: list[Combined] = []
    facts = {"blocks": len(every), "begin": len(every) - len(entries)}
    for goal in (known.goal, math.inf):
        begin, upto = upto, division.far_enough(entries, sizes, goal)
        wants = list(_wants_to_count(division, entries[begin:upto], found))
        beyond = known.rule.beyond_entries(sum(one.keys is not None for one in wants))
        beyond = beyond or (yield from _count(node, known, wants, found))
        if beyond is not None:
            yield from record(node, **facts, upto=upto, read=read)
            return beyond
        read += len(wants)
        fence = entries[upto].lower if upto < len(entries) else None
        ready = [one for one in found.groups() if division.complete(one.labels[0], fence)]
        if upto == len(entries) or known.ahead(ready) > limit:
            break
    without = known.issues - known.snapshot.directory(division.valued).total
    has_rest = upto == len(entries) and division.nullable and without > 0
    if has_rest:
        ready.append(Combined((NONE,), without, BitMap()))
    yield from record(node, **facts, upto=upto, read=read, without=has_rest)
    shown, all_ = first_of(ready, limit, known.place)
    return (yield from _answered(node, known, shown, more=upto < len(entries) or not all_))


def _wants_to_count(division: Division, entries: Sequence[Entry], found: Gathered) -> Iterator[Want]:
    """The reads that these blocks need; other blocks are counted."""
    last = None
    for entry in entries:
        label = division.label_of(entry)
        if label is None:
            yield _bodies_of(division, entry)
        elif not label.spelled and (label.several or label != last):
            yield Want(division.family, entry)  # its first issue spells it
        else:
            found.count(label, entry.size)
        last = label


def _count(
    node: GroupsBySizes, known: _Known, wants: Sequence[Want], found: Gathered
) -> Steps[Beyond | None]:
    """Add the groups of blocks that have to be read: one round, and one for moved options."""
    yield from ask(node, ReadBlocks(tuple(wants)))
    for want in wants:
        for label, members in _groups_of(node.division, want.entry, known.snapshot):
            found.add(label, members)
    return (yield from _settle(node, known, node.division, found))


def _groups_of(division: Division, entry: Entry, snapshot: Snapshot) -> Iterator[tuple[Label | None, BitMap]]:
    """The groups of a block that has been read."""
    label = division.label_of(entry)
    if label is not None or entry.body is not None:
        yield label, snapshot.block(division.family, entry).members
        return
    if entry.detailed:
        sets: Mapping[str, BitMap] = snapshot.block(division.family, entry).sets or {}
    else:
        sort_strings = snapshot.keys(division.family, entry, range_of(entry))
        sets = {body: BitMap(map(number_of, run_)) for body, run_ in groupby(sort_strings, key=body_of)}
    for body, members in sets.items():
        yield division.label(body), members


def _settle(node: Node, known: _Known, division: Division, found: Gathered) -> Steps[Beyond | None]:
    """Put the unsettled issues into the groups in their documents: a round for documents that were not fetched yet."""
    beyond = known.rule.beyond_documents(len(found.unsettled), division.field_id)
    if beyond is not None:
        return beyond
    yield from known.fetch(node, found.unsettled)
    by_label: dict[Label, BitMap] = {}
    for num in found.unsettled:
        if num in known.documents:
            value = division.dimension.field.value_in(known.documents[num])
            label = NONE if value is None else division.label_of_value(value)
            by_label.setdefault(label, BitMap()).add(num)
    found.settle(by_label)
    return None


# By sets


class _Sets(NamedTuple):
    """The result of a plan over sets: each field's groups of the matching issues, and whether the first field has more."""

    divided: list[Divided]
    matched: BitMap
    more: bool


def _by_sets(node: GroupsBySets, known: _Known) -> Steps[Found | Beyond]:
    rule = known.rule
    first, *others = known.plan.divisions
    entries = known.entries(first)
    begin = first.begin(entries, known.place)
    upto = len(entries)
    if not known.query.filter:
        # Then the first groups are in the first blocks; under a filter their blocks are not known yet.
        sizes = [one.size for one in entries[begin:]]
        upto = begin + first.far_enough(entries[begin:], sizes, known.goal)
    # The issues without a value, whose group is the last, are those in no block.
    read = entries[begin:upto] if upto < len(entries) else entries
    wants = [Want(one.family, entry) for one in others for entry in known.entries(one)]
    wants += [Want(first.family, entry) for entry in read]
    wants += _bodies_ahead(first, entries[begin:upto], known)
    wants += filter_reads(known.plan.selection, known.directories)[1]
    if (beyond := rule.beyond_blocks(len(set(wants)))) is not None:
        return beyond
    _, known.columns = yield from side_by_side(ask(node, ReadBlocks(tuple(wants))), _columns(node, known))
    judged = yield from _judge(node, known)
    if (beyond := rule.beyond_candidates(judged)) is not None:
        return beyond
    found = yield from _first_by_sets(
        node, known, judged, entries[begin:upto], known.goal, all_read=upto == len(entries)
    )
    if isinstance(found, _First) and not found.enough:
        if (beyond := rule.beyond_blocks(len(wants) + len(entries))) is not None:
            return beyond
        yield from ask(node, ReadBlocks(tuple(_everything_of(first, entries, begin, known))))
        found = yield from _first_by_sets(node, known, judged, entries[begin:], math.inf, all_read=True)
    if isinstance(found, Beyond):
        return found
    yield from record(node, matched=len(found.matched), candidates=len(judged.undecided))
    return (yield from _answered(node, known, found.groups, more=found.more))


def _columns(node: GroupsBySets, known: _Known) -> Steps[Columns]:
    """The columns of the fields that are measured."""
    return {} if node.columns is None else (yield from columns_of(node.columns, known.issues))


class _First(NamedTuple):
    """The first groups, whether there are more, and which issues match.

    `enough`: no further blocks are needed. If they are, only these show whether there are more.
    """

    groups: list[Combined]
    more: bool
    enough: bool
    matched: BitMap


def _first_by_sets(
    node: GroupsBySets,
    known: _Known,
    judged: Judged,
    entries: Sequence[Entry],
    goal: float,
    *,
    all_read: bool,
) -> Steps[_First | Beyond]:
    """Return the first groups among as many of these blocks of the first field as should have them."""
    sets = yield from _sets(node, known, judged, entries, goal, all_read=all_read)
    if isinstance(sets, Beyond):
        return sets
    found = first_combined(sets.divided, sets.matched, known.limit, known.place, known.rule.work)
    if found is None:
        return known.rule.beyond_work()
    groups, all_ = found
    return _First(groups, not all_, not (sets.more and all_), sets.matched)


def _everything_of(division: Division, entries: Sequence[Entry], begin: int, known: _Known) -> Iterator[Want]:
    """The sets of all blocks, and the bodies in as many blocks from `begin` on as may be read."""
    yield from (Want(division.family, entry) for entry in entries)
    yield from _bodies_ahead(division, entries[begin:], known)


def _bodies_ahead(division: Division, entries: Sequence[Entry], known: _Known) -> list[Want]:
    """The bodies in as many blocks as may be read, where a filter does not make them unnecessary."""
    if known.query.filter is not None:
        return []
    unknown = [one for one in entries if division.label_of(one) is None and is_plain(one)]
    return [_bodies_of(division, entry) for entry in known.rule.unknown(unknown)]


def _sets(
    node: GroupsBySets,
    known: _Known,
    judged: Judged,
    entries: Sequence[Entry],
    goal: float,
    *,
    all_read: bool,
) -> Steps[_Sets | Beyond]:
    """Return the groups of all fields, in one round; of the first, only from blocks that should have `goal` groups."""
    first = known.plan.divisions[0]
    hits = [known.snapshot.block(first.family, entry).members & judged.maybe for entry in entries]
    upto = first.far_enough(entries, list(map(len, hits)), goal)
    more = upto < len(entries) or not all_read
    fence = None if not more else entries[upto].lower if upto < len(entries) else entries[-1].upper
    within = BitMap.union(BitMap(), *hits[:upto]) if more else judged.maybe
    gathered = [Gathered() for _ in known.plan.divisions]
    plain: list[Plain] = []
    for place, division in enumerate(known.plan.divisions):
        of_the_field = entries[:upto] if place == 0 else known.entries(division)
        plain += _gather(place, division, of_the_field, within, known.snapshot, gathered[place])
    matched = yield from _settle_sets(node, known, judged, gathered, plain)
    if isinstance(matched, Beyond):
        return matched
    divided = []
    for division, found in zip(known.plan.divisions, gathered, strict=True):
        beyond = yield from _settle(node, known, division, found)
        if beyond is not None:
            return beyond
        end = fence if division is first else None
        if division.nullable and end is None and not division.numbered:
            blocks = (known.snapshot.block(division.family, one) for one in known.entries(division))
            found.add(NONE, matched - BitMap.union(BitMap(), *(one.members for one in blocks)))
        found.keep(matched, partial(division.complete, fence=end))
        divided.append(Divided(division, found))
    return _Sets(divided, matched, more)


def _gather(
    place: int,
    division: Division,
    entries: Sequence[Entry],
    within: BitMap,
    snapshot: Snapshot,
    found: Gathered,
) -> Iterator[Plain]:
    """Add the groups that the sets of these blocks show; yields the plain blocks, whose sets do not show them."""
    for entry in entries:
        members = snapshot.block(division.family, entry).members & within
        if members and division.label_of(entry) is None and is_plain(entry):
            yield Plain(place, entry, members)
        elif members:
            for label, some in _groups_of(division, entry, snapshot):
                found.add(label, some & members)


def _settle_sets(
    node: GroupsBySets, known: _Known, judged: Judged, gathered: Sequence[Gathered], plain: Sequence[Plain]
) -> Steps[BitMap | Beyond]:
    """Read sort entries and documents for what sets do not show, in one round; returns which issues match."""
    candidates = judged.undecided
    by_entries = known.rule.by_entries(plain)
    for one in plain:
        if one not in by_entries:
            gathered[one.place].add(None, one.members)
    documents = BitMap.union(candidates, *(one.unsettled for one in gathered))
    if (beyond := known.rule.beyond_documents(len(documents), None)) is not None:
        return beyond
    asked = []
    if by_entries:
        wants = (_bodies_of(known.plan.divisions[one.place], one.entry) for one in by_entries)
        asked.append(Ask(node, ReadBlocks(tuple(wants))))
    missing = tuple(num for num in documents if num not in known.documents)
    if missing:
        asked.append(Ask(node, ReadDocuments(missing, projection(known.query.fields()))))
    answers = yield from ask_all(asked)
    if missing:
        known.documents |= answers[-1].found
    for place, entry, members in by_entries:
        for label, some in _groups_of(known.plan.divisions[place], entry, known.snapshot):
            gathered[place].add(label, some & members)
    only = known.query.filter
    if only is None:
        return judged.sure
    there = (num for num in candidates if num in known.documents)
    return judged.sure | BitMap(num for num in there if only.matches(known.documents[num]))


def _bodies_of(division: Division, entry: Entry) -> Want:
    """The read that returns the bodies of a block."""
    return keys_of(division.family, entry) if is_plain(entry) else Want(division.family, entry)


# The shown groups


def _answered(way: Node, known: _Known, found: Sequence[Combined], *, more: bool) -> Steps[Found]:
    """Return the groups that a page needs, in order."""
    if known.query.ranking is None:
        shown = found[: known.query.limit + len(found) - known.ahead(found)]
        groups = yield from _spelled(way, known, found, shown)
        return Found([groups[place] for place in sorted(groups)], more)
    known.rule.check_ranked(more=more or len(found) > known.limit)
    return (yield from _ranked(way, known, found, known.query.ranking))


def _ranked(way: Node, known: _Known, found: Sequence[Combined], ranking: Ranking) -> Steps[Found]:
    """Return the groups of a page by their ranks. Only these are spelled; texts that begin alike are distinguished before."""
    query, reached = known.query, known.plan.reached
    alike = [one for one in found if one.several]
    # If documents are needed before, the documents that spell the others come in the same round.
    early = found if alike and len(found) <= _SPELLED_AT_ONCE else alike
    groups = yield from _spelled(way, known, early, early)
    ranks: dict[GroupPlace, tuple[Rank, GroupPlace]] = {
        place: (query.rank_of(group), place_of(group)) for place, group in groups.items()
    }
    combined = {one.place: one for one in found if not one.several and one.place not in groups}
    for place, one in combined.items():
        value = ranking.value_of(one.size, known.numbers(one.members))
        ranks[place] = ranking.rank_of(value), place
    ahead = sorted((rank, place) for place, rank in ranks.items())
    shown_before = 0
    if reached is not None:
        ahead = [(rank, place) for rank, place in ahead if rank >= (reached.rank, reached.place)]
        shown_before = reached.shown
    page = [place for _, place in ahead[: query.limit + shown_before + 1]]
    shown = [combined[place] for place in page if place in combined]
    groups |= yield from _spelled(way, known, shown, shown)
    return Found([groups[place] for place in page], more=len(ahead) > len(page))


def _spelled(
    way: Node, known: _Known, found: Sequence[Combined], shown: Sequence[Combined]
) -> Steps[dict[GroupPlace, Group]]:
    """Return the groups, and spell the values of the shown ones.

    One round for the documents that spell their values, and that distinguish texts which begin alike, if needed.
    """
    ambiguous = [one for one in found if one.several]
    asked = [one for one in shown if not one.several and not one.spelled]
    numbers = BitMap.union(BitMap(), *(one.members for one in ambiguous))
    known.rule.check_alike(len(numbers))
    numbers |= BitMap(one.members.min() for one in asked if one.members)
    node = Spelling(issues=numbers)
    if numbers:
        yield from record(way, chosen=node)
        yield from known.fetch(node, numbers)
    speller = partial(_speller, known.plan.divisions, known.documents)
    again = BitMap.union(BitMap(), *(one.members[:_SPELLINGS] for one in asked if speller(one) is None))
    if again - BitMap(known.documents):
        yield from known.fetch(node, again)
    groups: dict[GroupPlace, Group] = {}
    for one in found:
        if one.several:
            for group, members in _separated(known.plan.divisions, known.documents, one):
                groups[group.place] = group
                group.numbers = known.numbers(members)
        else:
            values = _shown(known.plan.divisions, None if one.spelled else speller(one), one)
            groups[one.place] = Group(one.place, values, one.size, known.numbers(one.members))
    return groups


def _speller(divisions: Sequence[Division], documents: Mapping[int, Item], group: Combined) -> Item | None:
    """The first fetched issue of the group that still has its values; None if there is none."""
    fetched = (documents.get(num) for num in group.members[:_SPELLINGS])
    return next((one for one in fetched if one is not None and _belongs(divisions, one, group)), None)


def _belongs(divisions: Sequence[Division], document: Item, group: Combined) -> bool:
    """Whether a document still has the values of a group that it spells."""
    for division, label in zip(divisions, group.labels, strict=True):
        if not label.spelled:
            value = division.dimension.field.value_in(document)
            if value is None or division.label_of_value(value).order != label.order:
                return False
    return True


def _shown(divisions: Sequence[Division], speller: Item | None, group: Combined) -> list[Any]:
    return [
        label.shown
        if label.spelled
        else label.order[2] or label.order[1]  # as compared: no issue spells it otherwise
        if speller is None
        else value_json(division.dimension.field, division.dimension.field.value_in(speller))
        for division, label in zip(divisions, group.labels, strict=True)
    ]


def _separated(
    divisions: Sequence[Division], documents: Mapping[int, Item], group: Combined
) -> Iterable[tuple[Group, BitMap]]:
    """Return the groups of the whole texts of a group's issues, each with its issues."""
    found: dict[GroupPlace, tuple[Group, BitMap]] = {}
    for num in group.members:
        document = documents.get(num)
        if document is None or not _belongs(divisions, document, group):
            continue
        members = [
            Member(label.order, label.shown) if label.spelled else next(iter(division.dimension.of(document)))
            for division, label in zip(divisions, group.labels, strict=True)
        ]
        place = tuple(one.order for one in members)
        separate, issues = found.setdefault(place, (Group(place, [one.shown for one in members]), BitMap()))
        separate.count += 1
        issues.add(num)
    return found.values()
