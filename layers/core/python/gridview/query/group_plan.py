"""The nodes of the plans of groups, and the choices that are made while a plan is carried out. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from pyroaring import BitMap

from gridview.chains.blocks import Entry
from gridview.chains.directory import Directory
from gridview.query.bitmap_filter import Judged, Selection
from gridview.query.column_scan import ColumnScan
from gridview.query.group_blocks import Division
from gridview.query.group_request import Group, GroupsQuery, Reached
from gridview.query.plan import Choice, DirectoryScan, Said
from gridview.schema.fields import Field


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupsBySizes(Said):
    """The groups of one field by the sizes of its blocks."""

    division: Division

    def said(self, facts: Mapping[str, Any]) -> str:
        """Return a sentence about the work that was done."""
        upto, read = facts["upto"], facts["read"]
        scope = f"The first {upto:,}"
        if facts["begin"]:
            scope = f"From the cursor on {upto:,}"
        said = (
            f"Group by {self.division.field_id}, whose index has {facts['blocks']:,} blocks. {scope} contain these "
            f"groups: {upto - read:,} with one group or a part of one count by their size, and {read:,} are read."
        )
        rest = " All other issues of the project have no value."
        return said + rest if facts.get("without") else said


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupsBySets(Said):
    """The groups of fields by the sets of their blocks. `columns`: of the fields of aggregates, if there are any."""

    query: GroupsQuery
    blocks: int
    columns: ColumnScan | None = None

    def said(self, facts: Mapping[str, Any]) -> str:
        """Return a sentence about the work that was done."""
        by = f"the sets of {in_words(self.query)}, which have {self.blocks:,} blocks, group by group."
        if self.query.filter is None or "matched" not in facts:
            return f"Intersect {by}"
        candidates = facts["candidates"]
        judge = f", after the documents of {candidates:,} were read" if candidates else ""
        return (
            f"The sets of the filter ({self.query.filter}) contain {facts['matched']:,} issues{judge}. Intersect them "
            f"with {by}"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupsByDocuments(Said):
    """The groups by the documents of all issues that may match. `reason`: why blocks, the first choice, do not suffice."""

    query: GroupsQuery
    reason: str = ""

    def said(self, facts: Mapping[str, Any]) -> str:
        """Return a sentence about the work that was done."""
        there = "may match" if self.query.filter is not None else "exist"
        how = "in parallel ranges of numbers" if facts["in_ranges"] else "one by one"
        return f"Fetch the {facts['issues']:,} issues that {there}, {how}; group them by {in_words(self.query)} in memory."


@dataclass(frozen=True, eq=False, kw_only=True)
class Spelling(Said):
    """The documents of some issues of groups whose values blocks do not spell."""

    issues: BitMap

    def said(self, _: Mapping[str, Any]) -> str:
        """Return a sentence about the work that was done."""
        return f"Fetch {len(self.issues):,} documents for the spelling of the values."


class Beyond(NamedTuple):
    """A way by blocks would exceed its budget; `reason` says which."""

    reason: str


class Plain(NamedTuple):
    """Issues that may match in a plain block of the field at `place`, whose bodies only sort entries or documents have."""

    place: int
    entry: Entry
    members: BitMap


GroupsWay = GroupsBySizes | GroupsBySets | GroupsByDocuments


class GroupChoices(Protocol):
    """The choices of groups: a rule of `aggregate_planner`, which refuses a request beyond all budgets."""

    @property
    def work(self) -> int:
        """Intersections of sets for one answer."""

    def way(self, directories: Mapping[str, Directory], columns: float) -> GroupsWay:
        """Return the first way. `columns`: the read units of the columns that are not kept from earlier requests."""

    def instead(self, beyond: Beyond) -> GroupsByDocuments:
        """Return the way to continue if blocks would take too much."""

    def beyond_blocks(self, blocks: int) -> Beyond | None:
        """Whether these are too many to read."""

    def beyond_entries(self, blocks: int) -> Beyond | None:
        """Whether the sort entries of these are too many to read."""

    def beyond_documents(self, issues: int, field_id: str | None) -> Beyond | None:
        """Whether these are too many to read for their groups, of one field or of all."""

    def beyond_candidates(self, judged: Judged) -> Beyond | None:
        """Whether the filter's sets leave too many issues undecided."""

    def beyond_work(self) -> Beyond:
        """Return the reason for too many intersections."""

    def by_entries(self, plain: Sequence[Plain]) -> list[Plain]:
        """The blocks whose sort entries are read; of the others, the documents are."""

    def unknown(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """As many of these plain blocks as may be read ahead."""

    def check(self, issues: int, judged: Judged | None, reason: str) -> None:
        """Raise QueryTooExpensive if the documents of too many issues would be read."""

    def in_ranges(self, numbers: BitMap) -> bool:
        """Whether reading ranges of these issues costs less than reading each."""

    @property
    def ranked(self) -> int:
        """The most groups that are ordered by their counts or by an aggregate."""

    def check_ranked(self, *, more: bool) -> None:
        """Raise QueryTooExpensive if there are more groups than may be ordered by their counts or by an aggregate."""

    def check_alike(self, issues: int) -> None:
        """Raise QueryTooExpensive if the texts of too many issues must be distinguished."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Grouping(Choice):
    """Groups. `divisions`: of the fields; () if one has no complete index. `reached`: where the page before ends.

    `columns`: the fields of aggregates that have one.
    """

    query: GroupsQuery
    reached: Reached | None
    selection: Selection
    directories: DirectoryScan
    divisions: tuple[Division, ...]
    columns: tuple[Field, ...]
    rule: GroupChoices


class Found(NamedTuple):
    """Groups in order, including those of a page; whether there are more; `issues`: the project's number of issues."""

    groups: list[Group]
    more: bool
    issues: int = 0


def in_words(query: GroupsQuery) -> str:
    """`state, then created`."""
    return ", then ".join(one.field.id for one in query.by)


def entries_of(division: Division, directories: Mapping[str, Directory]) -> list[Entry]:
    """The blocks that show the groups of a field; none for issue numbers."""
    return [] if division.numbered else [one for one in directories[division.family].entries if one.size]
