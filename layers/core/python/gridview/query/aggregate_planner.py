"""Plans groups and summaries: choices by the directories and the reads so far, and their budgets. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NoReturn, Protocol, TypeVar

from pyroaring import BitMap

from gridview.chains.blocks import Entry
from gridview.chains.directory import Directory
from gridview.derive.families import NUMBERS
from gridview.query import prices
from gridview.query.bitmap_filter import Judged, Selection
from gridview.query.column_scan import ColumnScan, TotalScan, has_column
from gridview.query.document_scan import span
from gridview.query.group_blocks import Division, index_token_family_of, is_indexed, valued_family
from gridview.query.group_plan import (
    Beyond,
    Grouping,
    GroupsByDocuments,
    GroupsBySets,
    GroupsBySizes,
    GroupsWay,
    Plain,
    entries_of,
    in_words,
)
from gridview.query.group_request import GroupsQuery, Reached
from gridview.query.plan import DirectoryScan, Estimate
from gridview.query.planner import CANDIDATES, MAX_BLOCKS
from gridview.query.remedies import Remedy, index_field, joined, refused
from gridview.query.summary import FromDocuments, FromIndex, Statistics, Summarize, SummaryWay
from gridview.query.summary_columns import OF_VALUES, Column, PlainPiece, is_answered_by_blocks
from gridview.query.summary_request import FieldSummary, SummaryQuery
from gridview.schema.catalog import Catalog
from gridview.schema.fields import NUM, Field, FieldType
from gridview.schema.generations import IndexNotReady

MAX_DOCUMENTS = 10_000
"""The most issues that are fetched for one answer: 5,000 read units."""

MAX_RANKED = 10_000
"""The most groups that are ordered by their counts or by an aggregate."""

MAX_QUERIES = 64
"""The most plain blocks whose sort entries are read for one answer."""

MAX_WORK = 200_000
"""Intersections of sets for one answer: about half a second."""


def reads_ranges(numbers: BitMap) -> bool:
    """Whether these issues' numbers are so close together that reading ranges costs less than reading each document."""
    return len(numbers) * prices.ITEM > span(numbers) * prices.LISTED


def groups(catalog: Catalog, query: GroupsQuery, reached: Reached | None = None) -> Grouping:
    """Return the plan of groups, from where the result page before ends."""
    selection = Selection(query.filter, catalog)
    indexed = all(is_indexed(one.field) for one in query.by)
    divisions = tuple(map(Division, query.by)) if indexed else ()
    families = {NUMBERS, *selection.families()}
    families |= {family for one in divisions for family in (one.family, one.valued)}
    directories = _directories(families, counted=query.filter is None and len(divisions) == 1)
    return Grouping(
        question=f"Group by {in_words(query)} in the cheapest way: by the sizes of blocks, their sets, or documents",
        query=query,
        reached=reached,
        selection=selection,
        directories=directories,
        divisions=divisions,
        columns=tuple(filter(has_column, query.measured)),
        rule=GroupsRule(catalog, query, selection, divisions),
    )


def _directories(families: Iterable[str], *, counted: bool) -> DirectoryScan:
    wanted = tuple(sorted(families))
    units = Estimate(len(wanted) * prices.ITEM)
    return DirectoryScan(families=wanted, counted=wanted if counted else (), estimate=units)


class GroupsRule:
    """The choices of groups."""

    def __init__(
        self, catalog: Catalog, query: GroupsQuery, selection: Selection, divisions: Sequence[Division]
    ) -> None:
        self._catalog = catalog
        self._query = query
        self._selection = selection
        self._divisions = divisions

    @property
    def work(self) -> int:
        """Intersections of sets for one answer."""
        return MAX_WORK

    def way(self, directories: Mapping[str, Directory], columns: float) -> GroupsWay:
        """Choose documents, sizes or sets.

        Documents, if no index has the values or they cost less than the index. Sizes for one field without a filter and
        aggregates. Otherwise sets, and columns for aggregates.
        """
        query = self._query
        estimate = self._selection.estimate(directories)
        documents = GroupsByDocuments(query=query, estimate=Estimate(estimate * prices.ITEM, informed=True))
        if not self._divisions or self._unmeasurable:
            return documents
        counts = query.filter is None and not query.measures
        if counts and len(query.by) == 1 and not self._divisions[0].numbered:
            return GroupsBySizes(division=self._divisions[0])
        blocks = sum(len(entries_of(one, directories)) for one in self._divisions)
        # The estimate may be far too low: so many documents as would be refused are no cheaper way.
        few = query.filter is not None and self._selection.most(directories) <= MAX_DOCUMENTS
        if few and estimate * prices.ITEM < blocks * prices.ITEM + columns:
            return documents
        measured = tuple(filter(has_column, query.measured))
        scan = ColumnScan(fields=measured, estimate=Estimate(columns, informed=True)) if measured else None
        units = Estimate(blocks * prices.ITEM, informed=True)
        return GroupsBySets(query=query, blocks=blocks, columns=scan, estimate=units)

    @property
    def _unmeasurable(self) -> list[Field]:
        """The fields of aggregates that no index has."""
        return [field for field in self._query.measured if field.id != NUM and not has_column(field)]

    def instead(self, beyond: Beyond) -> GroupsByDocuments:
        """The documents, of up to 10,000 issues."""
        return GroupsByDocuments(query=self._query, reason=beyond.reason)

    def beyond_blocks(self, blocks: int) -> Beyond | None:
        """Up to 3,000 blocks are read."""
        if blocks <= MAX_BLOCKS:
            return None
        return Beyond(f"the groups would need more than {MAX_BLOCKS:,} blocks")

    def beyond_entries(self, blocks: int) -> Beyond | None:
        """Sort entries of up to 64 blocks are read."""
        if blocks <= MAX_QUERIES:
            return None
        return Beyond(
            f"grouping by {in_words(self._query)} would need the sort entries of more than {MAX_QUERIES} blocks"
        )

    def beyond_documents(self, issues: int, field_id: str | None) -> Beyond | None:
        """Documents of up to 10,000 issues are read for their groups."""
        if issues <= MAX_DOCUMENTS:
            return None
        if field_id is None:
            return Beyond(f"the groups of {issues:,} issues would need their documents")
        return Beyond(
            f"{issues:,} issues would have to be read for their values of {field_id}, also because options are "
            "being moved"
        )

    def beyond_candidates(self, judged: Judged) -> Beyond | None:
        """Up to 2,000 candidates are checked by their documents."""
        return Beyond("") if len(judged.undecided) > CANDIDATES else None

    def beyond_work(self) -> Beyond:
        """Up to 200,000 intersections are made."""
        return Beyond(
            f"grouping by {in_words(self._query)} would take more than {MAX_WORK:,} intersections of sets"
        )

    def by_entries(self, plain: Sequence[Plain]) -> list[Plain]:
        """The blocks whose sort entries cost less than their documents, those with most issues first."""
        return _by_entries(plain)

    def unknown(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """Up to 64 plain blocks are read ahead."""
        return entries[:MAX_QUERIES]

    def in_ranges(self, numbers: BitMap) -> bool:
        """Whether ranges of these issues cost less than one after the other."""
        return reads_ranges(numbers)

    @property
    def ranked(self) -> int:
        """Up to 10,000 groups are ordered by their counts or by an aggregate."""
        return MAX_RANKED

    def check_ranked(self, *, more: bool) -> None:
        """Raise QueryTooExpensive if there are more groups than may be ordered."""
        if more:
            raise refused(
                f"There are more than {MAX_RANKED:,} groups, and an order by counts or by an aggregate needs all of "
                "them. Omit the order, group by fewer fields, or use a more selective filter."
            )

    def check_alike(self, issues: int) -> None:
        """Raise QueryTooExpensive for more than 10,000 issues whose texts must be distinguished."""
        if issues > MAX_DOCUMENTS:
            raise refused(
                f"{issues:,} issues have texts with the same first 240 characters, and at most {MAX_DOCUMENTS:,} "
                "are read to distinguish them. Use a more selective filter."
            )

    def check(self, issues: int, judged: Judged | None, reason: str) -> None:
        """Raise QueryTooExpensive, with the reasons and remedies, if more than 10,000 documents would have to be read."""
        if issues <= MAX_DOCUMENTS:
            return
        said = [f"{issues:,} issues would have to be read, and at most {MAX_DOCUMENTS:,} are"]
        unindexed = [one.field for one in self._query.by if not is_indexed(one.field)] + self._unmeasurable
        remedies = _switched_on(self._catalog, unindexed)
        said += _not_indexed(unindexed, remedies)
        possible = not reason
        if reason:
            said.append(reason)
        if judged is not None and len(judged.undecided) > CANDIDATES:
            said += self._selection.undecidable()
            deciding = self._selection.remedies()
            possible &= bool(deciding)
            remedies = joined([*remedies, *deciding])
        raise refused(
            f"{'; '.join(said)}. A more selective filter also helps.",
            remedies if possible else (),
        )


class _Members(Protocol):
    """Issues in a plain block."""

    @property
    def entry(self) -> Entry: ...

    @property
    def members(self) -> BitMap: ...


_Some = TypeVar("_Some", bound=_Members)


def _by_entries(plain: Sequence[_Some]) -> list[_Some]:
    """The blocks whose sort entries cost less than their documents, those with most issues first."""
    dear = [one for one in plain if len(one.members) * prices.ITEM > one.entry.size * prices.ENTRY]
    return sorted(dear, key=lambda one: len(one.members), reverse=True)[:MAX_QUERIES]


def _switched_on(catalog: Catalog, fields: Iterable[Field]) -> list[Remedy]:
    """The calls that index fields without an index. Raises IndexNotReady if an index is being built."""
    found: list[Remedy] = []
    for field in dict.fromkeys(fields):
        if field.indexed:
            raise IndexNotReady(field.id)
        found.append(index_field(catalog, field))
    return found


def _not_indexed(fields: Iterable[Field], remedies: Iterable[Remedy]) -> Iterator[str]:
    for field, remedy in zip(dict.fromkeys(fields), remedies, strict=True):
        yield f"{field.id} is not indexed; an administrator can turn its index on: {remedy}"


def summary(catalog: Catalog, query: SummaryQuery) -> Summarize:
    """The plan of a summary."""
    selection = Selection(query.filter, catalog)
    families = {NUMBERS, *selection.families()}
    columns = tuple(one.field for one in query.summaries if has_column(one.field))
    for one in query.summaries:
        if is_answered_by_blocks(one) and not has_column(one.field):
            families |= {valued_family(one.field), index_token_family_of(one.field) or NUMBERS}
    whole = query.filter is None and all(map(is_answered_by_blocks, query.summaries))
    asked = tuple((one.field, frozenset(one.functions)) for one in query.summaries if has_column(one.field))
    return Summarize(
        question="Calculate the functions by the index, or from documents where these cost less",
        query=query,
        selection=selection,
        directories=_directories(families, counted=query.filter is None),
        totals=TotalScan(asked=asked) if whole and asked else None,
        columns=columns,
        rule=SummaryRule(catalog, query, selection),
    )


class SummaryRule:
    """The choices of a summary."""

    def __init__(self, catalog: Catalog, query: SummaryQuery, selection: Selection) -> None:
        self._catalog = catalog
        self._query = query
        self._selection = selection

    def way(self, known: Statistics) -> SummaryWay:
        """Choose documents, of up to 10,000 issues, if no index has the values or they cost less; otherwise blocks."""
        if not self._takes_documents(known):
            return FromIndex(
                fields=tuple(one.field.id for one in self._query.summaries if not has_column(one.field)),
                estimate=Estimate(known.blocks * prices.ITEM, informed=True),
            )
        counted = known.maybe is not None or self._query.filter is None
        if counted and known.matching > MAX_DOCUMENTS:
            self._refuse(known)
        if known.maybe is not None and reads_ranges(known.maybe):
            return FromDocuments(
                in_ranges=True, estimate=Estimate(span(known.maybe) * prices.LISTED, informed=True)
            )
        return FromDocuments(estimate=Estimate(known.matching * prices.ITEM, informed=True))

    def _takes_documents(self, known: Statistics) -> bool:
        if known.without or known.undecided > CANDIDATES or known.blocks > MAX_BLOCKS:
            return True
        if self._query.filter is None:
            return known.plain > MAX_QUERIES
        if known.by_documents and known.matching <= MAX_DOCUMENTS and (known.blocks or not known.columns):
            return True  # more than estimated, but the sets of the fields would take another round
        # If sets have the values, they supply them, however few issues match.
        by_index = known.columns + (known.blocks * prices.ITEM if known.plain else 0)
        return known.matching * prices.ITEM < by_index

    def by_entries(self, pieces: Sequence[PlainPiece], candidates: BitMap) -> list[PlainPiece]:
        """The pieces whose sort entries cost less than their documents, those with most issues first."""
        chosen = _by_entries(pieces)
        fetched = [one for one in pieces if one not in chosen]
        numbers = BitMap.union(candidates, *(one.members for one in fetched))
        if len(numbers) > MAX_DOCUMENTS:
            functions = {one.of.column.asked: one.functions for one in fetched}
            raise refused(
                f"{_named((asked, functions[asked]) for asked in functions)} would need the documents of "
                f"{len(numbers):,} issues, and at most {MAX_DOCUMENTS:,} are read, with the sort entries of "
                f"{MAX_QUERIES} blocks. {_HELP}"
            )
        return chosen

    def check_alike_texts(self, numbers: BitMap, columns: Sequence[Column]) -> None:
        """Refuse to read too many documents of texts that begin alike."""
        if len(numbers) > MAX_DOCUMENTS:
            texts = [one.asked for one in columns if one.field.type is FieldType.TEXT]
            named = _named((one, frozenset(one.functions) & OF_VALUES) for one in texts)
            raise refused(
                f"{named}: {len(numbers):,} issues have texts with the same first 240 characters, and at most "
                f"{MAX_DOCUMENTS:,} are read to distinguish them. {_HELP}"
            )

    def _refuse(self, known: Statistics) -> NoReturn:
        """Raise QueryTooExpensive with the functions that need the documents, the reasons and the remedies."""
        asked = known.without or self._query.summaries
        takes_sets = bool(known.without) or known.undecided > CANDIDATES
        functions = (
            (one, frozenset(one.functions) if takes_sets else frozenset(one.functions) & OF_VALUES)
            for one in asked
        )
        said = [
            f"{_named(functions)} would need the documents of {known.matching:,} issues, and at most "
            f"{MAX_DOCUMENTS:,} are read"
        ]
        moving = [one.field.id for one in known.without if is_indexed(one.field)]
        if moving:
            said.append(
                f"the options of {', '.join(moving)} are being moved to their new places; try again later"
            )
        unindexed = [one.field for one in known.without if not is_indexed(one.field)]
        remedies = _switched_on(self._catalog, unindexed)
        said += _not_indexed(unindexed, remedies)
        possible = not moving
        if known.undecided > CANDIDATES:
            said += self._selection.undecidable()
            deciding = self._selection.remedies()
            possible &= bool(deciding)
            remedies = joined([*remedies, *deciding])
        elif known.blocks > MAX_BLOCKS:
            possible = False
            said.append(f"the index would need {known.blocks:,} blocks, and at most {MAX_BLOCKS:,} are read")
        elif not known.without:
            said.append(
                f"the index would need the sort entries of {known.plain:,} blocks, and those of at most "
                f"{MAX_QUERIES} are read"
            )
        raise refused(f"{'; '.join(said)}. {_HELP}", remedies if possible else ())


_HELP = "Use a more selective filter."


def _named(functions: Iterable[tuple[FieldSummary, frozenset[str]]]) -> str:
    """`sum and avg of cost, min of name`."""
    named = []
    for asked, some in functions:
        names = [one for one in asked.functions if one in some]
        if names:
            named.append(f"{', '.join(names)} of {asked.field.id}")
    return "; ".join(named)
