"""Carries out a summary of fields, by the blocks of their orders or by documents. Pure.

- FromBlocks: the sizes of blocks, or their sets intersected with the filter's. Functions of values use the bodies in as
  many blocks as needed: by sets, by sort entries, or by documents if these cost less.
- FromDocuments: the documents of all issues that may match. For fields without an index, and if few match.

Finally, documents give the spelling of the least and the greatest of texts, and distinguish texts that begin alike.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from pyroaring import BitMap

from gridview.chains.directory import Directory
from gridview.derive.families import NUMBERS
from gridview.dynamodb.expressions import Item
from gridview.encoding import keys
from gridview.encoding.sort_strings import body_of
from gridview.query.bitmap_filter import Judged, Selection
from gridview.query.document_scan import in_ranges, one_by_one
from gridview.query.group_blocks import is_plain, keys_of
from gridview.query.page import projection
from gridview.query.plan import Choice, DirectoryScan, Said
from gridview.query.steps import Ask, Steps, ask, ask_all, ask_directories, record
from gridview.query.summary_columns import (
    Column,
    ColumnValues,
    PlainPiece,
    is_answered_by_blocks,
)
from gridview.query.summary_request import (
    FieldAnswer,
    FieldSummary,
    SummaryQuery,
    of_values,
)
from gridview.view.block_reads import Want
from gridview.view.reads import Listed, ReadBlocks, ReadDocuments, ReadRange, Snapshot, further


@dataclass(frozen=True, eq=False, kw_only=True)
class FromBlocks(Said):
    """A summary from the blocks of the orders of `fields`."""

    fields: tuple[str, ...]

    def said(self, facts: Mapping[str, Any]) -> str:
        """Return a sentence about the work that was done."""
        took = [
            *([f"the sort entries of {facts['entries']:,} of them"] if facts["entries"] else []),
            *([f"{facts['documents']:,} documents"] if facts["documents"] else []),
        ]
        also = f", with {' and '.join(took)} for values that the blocks do not have" if took else ""
        return f"Calculate the functions of {', '.join(self.fields)} from the blocks of their orders{also}."


@dataclass(frozen=True, eq=False, kw_only=True)
class FromDocuments(Said):
    """A summary by the documents of all issues that may match. `in_ranges`: whether ranges of numbers are read."""

    in_ranges: bool = False

    def said(self, facts: Mapping[str, Any]) -> str:
        """Return a sentence about the work that was done."""
        how = "in parallel ranges of numbers" if self.in_ranges else "one by one"
        return (
            f"Fetch the documents of the {facts['issues']:,} issues that may match, {how}, and calculate the functions "
            "in memory."
        )


SummaryWay = FromBlocks | FromDocuments


class Statistics(NamedTuple):
    """The numbers by which a way is chosen.

    - `matching`: how many issues may match, by an estimate until sets show which (`maybe`).
    - `blocks`: how many blocks are read of the fields.
    - `plain`: how many of these have their values only in sort entries.
    - `without`: the fields that no index has.
    - `undecided`: how many issues only documents can decide.
    - `by_documents`: whether documents were chosen before the issues were counted.
    """

    directories: Mapping[str, Directory]
    matching: int
    blocks: int
    plain: int
    without: tuple[FieldSummary, ...]
    undecided: int = 0
    maybe: BitMap | None = None
    by_documents: bool = False


class SummaryChoices(Protocol):
    """The choices of a summary: a rule of `aggregate_planner`, which refuses a request beyond its budgets."""

    def way(self, known: Statistics) -> SummaryWay:
        """Return the way to the summary."""

    def by_entries(self, pieces: Sequence[PlainPiece], candidates: BitMap) -> list[PlainPiece]:
        """The pieces whose sort entries are read; of the others, the documents are."""

    def check_alike_texts(self, numbers: BitMap, columns: Sequence[Column]) -> None:
        """Raise QueryTooExpensive if too many documents would be read to distinguish texts."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Summarize(Choice):
    """A summary of fields over the issues that match a filter."""

    query: SummaryQuery
    selection: Selection
    directories: DirectoryScan
    rule: SummaryChoices


class Summary(NamedTuple):
    """The number of issues that match, and each field's answer; `issues`: the project's number of issues."""

    matched: int
    answers: list[FieldAnswer]
    issues: int


# Steps


def run(plan: Summarize) -> Steps[Summary]:
    """Return the summary; the rule refuses a request beyond its budgets."""
    query = plan.query
    indexed = [one for one in query.summaries if is_answered_by_blocks(one)]
    snapshot = yield from ask_directories(plan.directories)
    directories = {family: snapshot.directory(family) for family in plan.directories.families}
    columns = [Column(one, directories) for one in indexed]
    known = _known(plan, directories, columns)
    way = plan.rule.way(known)
    judged = None
    if query.filter is not None or isinstance(way, FromDocuments):
        way, judged = yield from _judge(plan, way, known, snapshot, columns)
    yield from record(plan, chosen=way)
    if isinstance(way, FromDocuments):
        maybe = BitMap() if judged is None else judged.maybe
        matched, answers = yield from _from_documents(query, way, maybe)
    elif judged is None:
        matched, answers = yield from _from_all(plan, way, snapshot, columns, directories[NUMBERS].total)
    else:
        matched, answers = yield from _from_matches(plan, way, snapshot, columns, judged)
    return Summary(matched, answers, directories[NUMBERS].total)


def _judge(
    plan: Summarize, way: SummaryWay, known: Statistics, snapshot: Snapshot, columns: Sequence[Column]
) -> Steps[tuple[SummaryWay, Judged]]:
    """Return how to continue, and which issues match by sets. The sets of the fields are read with those of the filter."""
    wants = plan.selection.wants(known.directories)
    if isinstance(way, FromBlocks):
        wants += _sets_of(columns)
    yield from ask(way, ReadBlocks(tuple(wants)))
    judged = plan.selection.evaluate(known.directories, snapshot)
    further = plan.rule.way(
        known._replace(
            matching=len(judged.maybe),
            maybe=judged.maybe,
            undecided=len(judged.undecided),
            by_documents=isinstance(way, FromDocuments),
        )
    )
    if isinstance(further, FromBlocks) and isinstance(way, FromDocuments):
        yield from ask(further, ReadBlocks(tuple(_sets_of(columns))))
    return (way if type(further) is FromBlocks and isinstance(way, FromBlocks) else further), judged


def _known(plan: Summarize, directories: Mapping[str, Directory], columns: Sequence[Column]) -> Statistics:
    total_ = directories[NUMBERS].total
    filtered = plan.query.filter is not None
    needed = [(column, column.needed_of_all()) for column in columns if not column.numbered]
    plain = sum(is_plain(entry) for _, entries in needed for entry in entries)
    if filtered:
        blocks = len({(one.family, one.entry) for one in _sets_of(columns)})
    else:
        blocks = sum(entry.body is None for _, entries in needed for entry in entries)
    return Statistics(
        directories=directories,
        matching=plan.selection.estimate(directories) if filtered else total_,
        blocks=blocks,
        plain=plain,
        without=tuple(one for one in plan.query.summaries if not is_answered_by_blocks(one)),
    )


def _sets_of(columns: Iterable[Column]) -> list[Want]:
    """The blocks whose sets are intersected with the filter's."""
    wants = []
    for column in columns:
        if column.takes_sets:
            wants += [Want(column.family, entry) for entry in column.entries]
        if column.takes_options and column.index_token_family is not None:
            wants += [Want(column.index_token_family, entry) for entry in column.index_token_entries]
    return wants


_Answer = Steps[tuple[int, list[FieldAnswer]]]
"""The number of issues that match, and each field's answer."""


def _from_documents(query: SummaryQuery, node: FromDocuments, maybe: BitMap) -> _Answer:
    if node.in_ranges:
        documents = yield from in_ranges(node, query.fields(), maybe, f"a summary of {len(maybe):,} issues")
    else:
        fetched = yield from one_by_one(node, query.fields(), maybe)
        documents = [fetched[num] for num in sorted(fetched)]
    yield from record(node, issues=len(maybe))
    if query.filter is not None:
        documents = [one for one in documents if query.filter.matches(one)]
    answers = []
    for one in query.summaries:
        values = (one.field.value_in(document) for document in documents)
        answers.append(of_values(one, [value for value in values if value is not None], len(documents)))
    return len(documents), answers


def _from_all(
    plan: Summarize, node: FromBlocks, snapshot: Snapshot, columns: Sequence[Column], issues: int
) -> _Answer:
    """Answer without a filter: the sizes of blocks count, and only the needed bodies are read."""
    wants = [want for column in columns for want in column.wants_of_all()]
    ends = [(column, end) for column in columns for end in column.ends_of_all()]
    first = [ReadRange(column.family, None, end == "min", 1, ()) for column, end in ends]
    asked = [Ask(node, read) for read in first]
    if wants:
        asked.append(Ask(node, ReadBlocks(tuple(wants))))
    answers = yield from ask_all(asked)
    pages = yield from _not_empty(node, first, answers)
    yield from record(node, entries=len(ends) + sum(one.keys is not None for one in wants))
    answered = []
    for column in columns:
        found = ColumnValues(column, count=min(column.size, issues))
        found.add_all(snapshot)
        for (of, _), page in zip(ends, pages, strict=True):
            if of is column:
                for item in page.items:
                    found.bodies.count(body_of(item[keys.SORT]), 1)
        answered.append(found)
    return (yield from _answers(plan, node, answered, {}, issues))


def _not_empty(
    node: FromBlocks, reads: Sequence[ReadRange], pages: Sequence[Listed]
) -> Steps[Sequence[Listed]]:
    """Return the first sort entries of each end: reads more if recent changes have taken out all that were read."""
    reads, pages = list(reads), list(pages[: len(reads)])
    while True:
        onward = {
            at: further(read, page.last)
            for at, (read, page) in enumerate(zip(reads, pages, strict=True))
            if not page.items and page.last is not None
        }
        if not onward:
            return pages
        answers = yield from ask_all([Ask(node, read) for read in onward.values()])
        for (at, read), page in zip(onward.items(), answers, strict=True):
            reads[at], pages[at] = read, page


def _from_matches(
    plan: Summarize,
    node: FromBlocks,
    snapshot: Snapshot,
    columns: Sequence[Column],
    judged: Judged,
) -> _Answer:
    """Answer with a filter: the matching issues are intersected with the sets of the fields."""
    answered = [ColumnValues(column) for column in columns]
    pieces = [piece for one in answered for piece in one.add_matches(snapshot, judged)]
    by_entries = plan.rule.by_entries(pieces, judged.undecided)
    fetched = [one for one in pieces if one not in by_entries]
    numbers = BitMap.union(judged.undecided, *(one.members for one in fetched))
    asked = []
    if by_entries:
        asked.append(
            Ask(node, ReadBlocks(tuple(keys_of(one.of.column.family, one.entry) for one in by_entries)))
        )
    if numbers:
        asked.append(Ask(node, ReadDocuments(tuple(numbers), projection(plan.query.fields()))))
    answers = yield from ask_all(asked)
    yield from record(node, entries=len(by_entries))
    documents: dict[int, Item] = answers[-1].found if numbers else {}
    for one in by_entries:
        one.of.add_entries(snapshot, one)
    for one in fetched:
        one.of.add_documents(one, documents)
    matched = judged.sure | _passing(plan.query, judged.undecided, documents)
    for found in answered:
        found.keep(matched)
    return (yield from _answers(plan, node, answered, documents, len(matched)))


def _passing(query: SummaryQuery, undecided: BitMap, documents: Mapping[int, Item]) -> BitMap:
    """The issues whose documents match."""
    only = query.filter
    there = (num for num in undecided if num in documents)
    return BitMap(num for num in there if only is None or only.matches(documents[num]))


def _answers(
    plan: Summarize,
    node: FromBlocks,
    answered: Sequence[ColumnValues],
    documents: Mapping[int, Item],
    matched: int,
) -> _Answer:
    """Return each field's answer, after the documents that have what bodies do not: one round, if any are needed."""
    unknown = BitMap.union(BitMap(), *(one.unknown() for one in answered))
    plan.rule.check_alike_texts(unknown, [one.column for one in answered])
    known = {**documents}
    known |= yield from one_by_one(node, plan.query.fields(), unknown - BitMap(known))
    others = BitMap.union(BitMap(), *(one.misspelled(known) for one in answered)) - unknown
    known |= yield from one_by_one(node, plan.query.fields(), others - BitMap(known))
    yield from record(node, documents=len(known))
    return matched, [one.answer(matched, known) for one in answered]
