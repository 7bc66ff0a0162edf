"""Carries out a summary of fields, by the blocks of their orders or by documents. Pure.

- FromIndex: numbers from columns, or over all issues from totals and the ends of orders. Of other fields, the sizes of
  blocks, or their sets intersected with the filter's. Functions of values use the bodies in as many blocks as needed: by
  sets, by sort entries, or by documents if these cost less.
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
from gridview.query.column_scan import (
    Columns,
    ColumnScan,
    TotalScan,
    columns_of,
    kept_columns,
    of_all_issues,
    units_of_a_column,
)
from gridview.query.document_scan import in_ranges, one_by_one
from gridview.query.group_blocks import is_plain, keys_of
from gridview.query.number_functions import SomeNumbers
from gridview.query.order_ends import end_of, not_empty
from gridview.query.page import projection
from gridview.query.plan import Choice, DirectoryScan, Estimate, Said
from gridview.query.planner import filter_reads
from gridview.query.steps import Ask, Steps, ask, ask_all, ask_directories, record, side_by_side
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
    of_numbers,
    of_values,
)
from gridview.schema.fields import Field
from gridview.view.block_reads import Want
from gridview.view.reads import ReadBlocks, ReadDocuments, Snapshot


@dataclass(frozen=True, eq=False, kw_only=True)
class FromIndex(Said):
    """A summary by the index: number fields by their columns, and `fields`, the others, by the blocks of their orders."""

    fields: tuple[str, ...]

    def said(self, facts: Mapping[str, Any]) -> str:
        """Return a sentence about the work that was done."""
        if not self.fields:
            return "Count the issues by the index."
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


SummaryWay = FromIndex | FromDocuments


class Statistics(NamedTuple):
    """The numbers by which a way is chosen.

    - `matching`: how many issues may match, by an estimate until sets show which (`maybe`).
    - `blocks`: how many blocks are read of the fields.
    - `columns`: the read units of the columns that are not kept from earlier requests.
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
    columns: float = 0.0
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
    """A summary of fields over the issues that match a filter.

    `totals`: number fields without a filter, which may need no more. `columns`: the fields that have columns.
    """

    query: SummaryQuery
    selection: Selection
    directories: DirectoryScan
    totals: TotalScan | None
    columns: tuple[Field, ...]
    rule: SummaryChoices

    @property
    def by_blocks(self) -> list[FieldSummary]:
        """The fields that blocks answer."""
        numbers = {field.id for field in self.columns}
        asked = self.query.summaries
        return [one for one in asked if one.field.id not in numbers and is_answered_by_blocks(one)]

    def summary_of(self, field: Field) -> FieldSummary:
        """What is asked of a field."""
        return next(one for one in self.query.summaries if one.field.id == field.id)


class Summary(NamedTuple):
    """The number of issues that match, and each field's answer; `issues`: the project's number of issues."""

    matched: int
    answers: list[FieldAnswer]
    issues: int


# Steps


def run(plan: Summarize) -> Steps[Summary]:
    """Return the summary; the rule refuses a request beyond its budgets."""
    snapshot, numbers = yield from side_by_side(ask_directories(plan.directories), _totals(plan))
    directories = {family: snapshot.directory(family) for family in plan.directories.families}
    issues = directories[NUMBERS].total
    columns = [Column(one, directories) for one in plan.by_blocks]
    known = yield from _known(plan, directories, columns, numbers)
    way = plan.rule.way(known)
    judged = None
    if plan.query.filter is not None or isinstance(way, FromDocuments):
        way, judged = yield from _judge(plan, way, known, snapshot, columns)
    yield from record(plan, chosen=way)
    if isinstance(way, FromDocuments):
        matched, answers = yield from _from_documents(
            plan.query, way, BitMap() if judged is None else judged.maybe
        )
    elif judged is None:
        matched, answers = yield from _from_all(plan, way, snapshot, columns, issues)
        answers += yield from _numbers_of_all(plan, way, numbers, issues)
    else:
        matching, answers = yield from _from_matches(plan, way, snapshot, columns, judged)
        matched = len(matching)
        answers += yield from _numbers_of_matches(plan, way, matching, issues)
    by_field = {one.field.id: one for one in answers}
    return Summary(matched, [by_field[one.field.id] for one in plan.query.summaries], issues)


def _totals(plan: Summarize) -> Steps[dict[str, SomeNumbers]]:
    """The numbers of all issues in fields whose functions take no column that must be read."""
    if plan.totals is None:
        return {}
    return (yield from of_all_issues(plan.totals))


def _numbers_of_all(
    plan: Summarize, node: FromIndex, known: Mapping[str, SomeNumbers], issues: int
) -> Steps[list[FieldAnswer]]:
    """Answer the number fields without a filter; the fields that are not known by totals take their columns."""
    further = yield from _columns(node, [field for field in plan.columns if field.id not in known], issues)
    numbers = {**known, **{name: column.all for name, column in further.items()}}
    return [of_numbers(plan.summary_of(field), numbers[field.id], issues) for field in plan.columns]


def _numbers_of_matches(
    plan: Summarize, node: FromIndex, matching: BitMap, issues: int
) -> Steps[list[FieldAnswer]]:
    """Answer the number fields with a filter: the numbers of the matching issues in their columns."""
    columns = yield from _columns(node, plan.columns, issues)
    return [
        of_numbers(plan.summary_of(field), columns[field.id].among(matching), len(matching))
        for field in plan.columns
    ]


def _columns(node: FromIndex, fields: Sequence[Field], issues: int) -> Steps[Columns]:
    """The columns of fields: one round, if any must be read."""
    if not fields:
        return {}
    scan = ColumnScan(fields=tuple(fields), estimate=Estimate(len(fields) * units_of_a_column(issues)))
    yield from record(node, chosen=scan)
    return (yield from columns_of(scan, issues))


def _judge(
    plan: Summarize, way: SummaryWay, known: Statistics, snapshot: Snapshot, columns: Sequence[Column]
) -> Steps[tuple[SummaryWay, Judged]]:
    """Return how to continue, and which issues match by sets. The sets of the fields are read with those of the filter."""
    issues = known.directories[NUMBERS].total
    selection, sets = filter_reads(plan.selection, known.directories)
    if isinstance(way, FromIndex):
        yield from side_by_side(
            ask(way, ReadBlocks((*sets, *_sets_of(columns)))), _columns(way, plan.columns, issues)
        )
    else:
        yield from ask(way, ReadBlocks(tuple(sets)))
    judged = selection.evaluate(known.directories, snapshot)
    further = plan.rule.way(
        known._replace(
            matching=len(judged.maybe),
            maybe=judged.maybe,
            undecided=len(judged.undecided),
            columns=0.0 if isinstance(way, FromIndex) else known.columns,
            by_documents=isinstance(way, FromDocuments),
        )
    )
    if isinstance(further, FromIndex) and isinstance(way, FromDocuments):
        yield from side_by_side(
            ask(further, ReadBlocks(tuple(_sets_of(columns)))), _columns(further, plan.columns, issues)
        )
    return (way if type(further) is FromIndex and isinstance(way, FromIndex) else further), judged


def _known(
    plan: Summarize,
    directories: Mapping[str, Directory],
    columns: Sequence[Column],
    numbers: Mapping[str, SomeNumbers],
) -> Steps[Statistics]:
    issues = directories[NUMBERS].total
    filtered = plan.query.filter is not None
    needed = [(column, column.needed_of_all()) for column in columns if not column.numbered]
    plain = sum(is_plain(entry) for _, entries in needed for entry in entries)
    if filtered:
        blocks = len({(one.family, one.entry) for one in _sets_of(columns)})
    else:
        blocks = sum(entry.body is None for _, entries in needed for entry in entries)
    unknown = [field for field in plan.columns if field.id not in numbers]
    kept = yield from kept_columns(plan, unknown)
    return Statistics(
        directories=directories,
        matching=plan.selection.estimate(directories) if filtered else issues,
        blocks=blocks,
        plain=plain,
        without=tuple(one for one in plan.query.summaries if not is_answered_by_blocks(one)),
        columns=(len(unknown) - len(kept)) * units_of_a_column(issues),
    )


def _sets_of(columns: Iterable[Column]) -> list[Want]:
    """The blocks whose sets are intersected with the filter's."""
    wants = []
    for column in columns:
        if column.takes_sets:
            wants += [Want(column.family, entry) for entry in column.near_ends]
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
    plan: Summarize, node: FromIndex, snapshot: Snapshot, columns: Sequence[Column], issues: int
) -> _Answer:
    """Answer without a filter: the sizes of blocks count, and only the needed bodies are read."""
    wants = [want for column in columns for want in column.wants_of_all()]
    ends = [(column, end) for column in columns for end in column.ends_of_all()]
    first = [end_of(column.family, first=end == "min") for column, end in ends]
    asked = [Ask(node, read) for read in first]
    if wants:
        asked.append(Ask(node, ReadBlocks(tuple(wants))))
    answers = yield from ask_all(asked)
    pages = yield from not_empty(node, first, answers[: len(first)])
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


def _from_matches(
    plan: Summarize,
    node: FromIndex,
    snapshot: Snapshot,
    columns: Sequence[Column],
    judged: Judged,
) -> Steps[tuple[BitMap, list[FieldAnswer]]]:
    """Return which issues match, and the answers with a filter: the matching issues are intersected with the sets of the fields."""
    columns = yield from _as_far_as_needed(node, snapshot, columns, judged)
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
    _, answers = yield from _answers(plan, node, answered, documents, len(matched))
    return matched, answers


def _as_far_as_needed(
    node: FromIndex, snapshot: Snapshot, columns: Sequence[Column], judged: Judged
) -> Steps[list[Column]]:
    """The columns with the blocks that decide them; one round if blocks near the ends of an order do not."""
    narrowed = [(column, column.narrowed(snapshot, judged.sure)) for column in columns]
    wants = [
        Want(column.family, entry) for column, near in narrowed if near is None for entry in column.entries
    ]
    if wants:
        yield from ask(node, ReadBlocks(tuple(wants)))
    return [column if near is None else near for column, near in narrowed]


def _passing(query: SummaryQuery, undecided: BitMap, documents: Mapping[int, Item]) -> BitMap:
    """The issues whose documents match."""
    only = query.filter
    there = (num for num in undecided if num in documents)
    return BitMap(num for num in there if only is None or only.matches(documents[num]))


def _answers(
    plan: Summarize,
    node: FromIndex,
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
