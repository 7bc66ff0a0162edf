"""How groups and summaries are answered: choices by the directories and what has been read so far, and their budgets. Pure."""

from collections.abc import Iterable, Sequence
from typing import NoReturn

from pyroaring import BitMap

from gridview.query.bitmap_filter import Selection
from gridview.query.document_scan import span
from gridview.query.group_blocks import is_indexed
from gridview.query.plan import Estimate
from gridview.query.planner import CANDIDATES, MAX_BLOCKS
from gridview.query.summary import FromBlocks, FromDocuments, Known, Summarize, Way
from gridview.query.summary_columns import OF_VALUES, Column, Piece
from gridview.query.summary_request import FieldSummary, SummaryQuery
from gridview.schema.catalog import Catalog, FieldType
from gridview.schema.generations import IndexNotReady
from gridview.support.errors import Unprocessable

MAX_DOCUMENTS = 10_000
"""Issues that are fetched at most for one answer: 5,000 read units."""

MAX_QUERIES = 64
"""Plain blocks whose sort entries are read at most for one answer."""

_ITEM_UNITS = 0.5
_ENTRY_UNITS = 0.02
"""Of a sort entry, of which a Query reads some thirty for half a unit."""

_WHOLE_UNITS = 0.125
"""Of an issue of 1 KB among all of a project, which Query calls read."""


def reads_ranges(numbers: BitMap) -> bool:
    """Whether the documents of these issues lie so close that ranges of them cost less than one after the other."""
    return len(numbers) * _ITEM_UNITS > span(numbers) * _WHOLE_UNITS


def summary(catalog: Catalog, query: SummaryQuery) -> Summarize:
    """The plan of a summary."""
    selection = Selection(query.filter, catalog)
    rule = SummaryRule(catalog, query, selection)
    return Summarize(
        question="do the blocks of the fields tell the functions, or the documents?",
        query=query,
        selection=selection,
        rule=rule,
    )


class SummaryRule:
    """The choices of a summary."""

    def __init__(self, catalog: Catalog, query: SummaryQuery, selection: Selection) -> None:
        self._catalog = catalog
        self._query = query
        self._selection = selection

    def way(self, known: Known) -> Way:
        """By documents what no index tells or has a price above theirs, of up to 10,000 issues; else by blocks."""
        if not self._takes_documents(known):
            return FromBlocks(
                fields=tuple(one.field.id for one in self._query.summaries),
                estimate=Estimate(known.blocks * _ITEM_UNITS, informed=True),
            )
        counted = known.maybe is not None or self._query.filter is None
        if counted and known.matching > MAX_DOCUMENTS:
            self._refuse(known)
        if known.maybe is not None and reads_ranges(known.maybe):
            return FromDocuments(
                in_ranges=True, estimate=Estimate(span(known.maybe) * _WHOLE_UNITS, informed=True)
            )
        return FromDocuments(estimate=Estimate(known.matching * _ITEM_UNITS, informed=True))

    def _takes_documents(self, known: Known) -> bool:
        if known.without or known.undecided > CANDIDATES or known.blocks > MAX_BLOCKS:
            return True
        if self._query.filter is None:
            return known.plain > MAX_QUERIES
        if known.by_documents and known.matching <= MAX_DOCUMENTS:
            return True  # more of them than was thought, but the sets of the fields would take another round
        # What sets tell is told by them, however few match.
        return known.plain > 0 and known.matching < known.blocks

    def by_entries(self, pieces: Sequence[Piece], candidates: BitMap) -> list[Piece]:
        """The pieces whose sort entries cost less than their documents, those of most issues first."""
        dear = [one for one in pieces if len(one.members) * _ITEM_UNITS > one.entry.size * _ENTRY_UNITS]
        chosen = sorted(dear, key=lambda one: len(one.members), reverse=True)[:MAX_QUERIES]
        fetched = [one for one in pieces if one not in chosen]
        numbers = BitMap.union(candidates, *(one.members for one in fetched))
        if len(numbers) > MAX_DOCUMENTS:
            functions = {one.gathered.column.asked: one.functions for one in fetched}
            raise Unprocessable(
                f"{_named((asked, functions[asked]) for asked in functions)} would take the documents of {len(numbers):,} issues, "
                f"and at most {MAX_DOCUMENTS:,} are read, besides the sort entries of {MAX_QUERIES} blocks. {_HELP}"
            )
        return chosen

    def tell_apart(self, numbers: BitMap, columns: Sequence[Column]) -> None:
        """Refuse to read too many documents of texts that begin alike."""
        if len(numbers) > MAX_DOCUMENTS:
            texts = [one.asked for one in columns if one.field.type is FieldType.TEXT]
            named = _named((one, frozenset(one.functions) & OF_VALUES) for one in texts)
            raise Unprocessable(
                f"{named}: {len(numbers):,} issues have texts that begin alike for 240 characters, and at most {MAX_DOCUMENTS:,} "
                f"are read to tell them apart. {_HELP}"
            )

    def _refuse(self, known: Known) -> NoReturn:
        """Say which functions take the documents, why, and what would help."""
        asked = known.without or self._query.summaries
        takes_sets = bool(known.without) or known.undecided > CANDIDATES
        functions = (
            (one, frozenset(one.functions) if takes_sets else frozenset(one.functions) & OF_VALUES)
            for one in asked
        )
        said = [
            f"{_named(functions)} would take the documents of {known.matching:,} issues, and at most {MAX_DOCUMENTS:,} are read"
        ]
        for field in dict.fromkeys(one.field for one in known.without):
            if is_indexed(field):
                said.append(
                    f"the options of {field.id} are still being moved to their new places; ask again when that is done"
                )
            elif field.indexed:
                raise IndexNotReady(field.id)
            else:
                said.append(
                    f"{field.id} is not indexed; an administrator can switch its index on: PATCH "
                    f'/v1/projects/{self._catalog.project}/attributes/{field.id} {{"indexed": true}}'
                )
        if known.undecided > CANDIDATES:
            said += self._selection.undecidable()
        elif known.blocks > MAX_BLOCKS:
            said.append(
                f"the index would take {known.blocks:,} blocks, of which at most {MAX_BLOCKS:,} are read"
            )
        elif not known.without:
            said.append(
                f"the index would take the sort entries of {known.plain:,} blocks, of which at most {MAX_QUERIES} are read"
            )
        raise Unprocessable(f"{'; '.join(said)}. {_HELP}")


_HELP = "A filter that fewer issues match would do."


def _named(functions: Iterable[tuple[FieldSummary, frozenset[str]]]) -> str:
    """`sum and avg of cost, min of name`."""
    named = []
    for asked, some in functions:
        names = [one for one in asked.functions if one in some]
        if names:
            named.append(f"{', '.join(names)} of {asked.field.id}")
    return "; ".join(named)
