"""The nodes of a plan: the work to answer a query, as a tree with estimated read units. Made by `planner`; pure data.

Nodes compare by identity: two nodes with equal fields are different. Facts about a node that is carried out are kept
beside it (`steps.record`), never in it.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from pyroaring import BitMap

from gridview.query.bitmap_filter import Selection
from gridview.query.buckets import Bucket
from gridview.query.grid_request import GridQuery
from gridview.query.predicates import Filter
from gridview.query.sort_order import Keys, Spot
from gridview.schema.fields import Field
from gridview.view.block_reads import Want


@dataclass(frozen=True, slots=True)
class Estimate:
    """Read units that a node should take. `informed`: whether the directories had been read when it was made."""

    units: float
    informed: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Node:
    """A node. `estimate` None: unknown in advance."""

    estimate: Estimate | None = None

    @property
    def children(self) -> tuple["Node", ...]:
        """The nodes whose results it uses: those among its fields."""
        found = (getattr(self, one.name) for one in fields(self))
        return tuple(one for one in found if isinstance(one, Node))


class Said(Node):
    """A node that describes itself in words."""

    @abstractmethod
    def said(self, facts: Mapping[str, Any]) -> str:
        """Return a sentence about the work that was done, with its facts."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Choice(Node):
    """One of several ways. A rule of `planner` chooses by the reads of the children.

    The chosen node is the fact `chosen`; it may be a choice again.
    """

    question: str = ""


# For several kinds of answers


@dataclass(frozen=True, eq=False, kw_only=True)
class DirectoryScan(Node):
    """The blocks of the families, and their numbers of issues. `counted`: families whose numbers must be exact."""

    families: tuple[str, ...]
    counted: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class EpochRead(Node):
    """The project's epoch, which shows whether the definitions are current."""


@dataclass(frozen=True, eq=False, kw_only=True)
class OverlayRead(Node):
    """The documents and ledgers of issues that the request's tokens name and the answer must include.

    Also the journal's last items.
    """

    issues: int


@dataclass(frozen=True, eq=False, kw_only=True)
class NewIssuesRead(Node):
    """The new issues that the index does not have yet."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Freshness(Node):
    """The lag of the index."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BitmapScan(Node):
    """The combined sets of a filter: which issues match for sure, and which may. `wants`: the parts of blocks to read."""

    selection: Selection
    wants: Sequence[Want]


@dataclass(frozen=True, eq=False, kw_only=True)
class Recheck(Node):
    """The documents of the issues that the sets leave undecided. `issues`: their numbers."""

    only: Filter
    issues: BitMap


@dataclass(frozen=True, eq=False, kw_only=True)
class TopN(Node):
    """The documents of all issues that may match, sorted in memory. `sure`: the issues that match by the sets."""

    candidates: BitMap
    sure: BitMap


@dataclass(frozen=True, eq=False, kw_only=True)
class FullScan(Node):
    """Fields of all issues in question, read by ranges of numbers. `among` None: all issues of the project.

    `reason`: why it is needed, for people; `project`: the project's number of issues, if that decided.
    """

    fields: tuple[Field, ...]
    among: BitMap | None
    reason: str
    project: int | None = None


# For result pages


@dataclass(frozen=True, eq=False, kw_only=True)
class GridPage(Node):
    """A page of rows, from `spot` on (None: from the beginning, or the requested offset).

    It reads their documents, except the ones that its source has read.
    """

    source: Node

    query: GridQuery
    selection: Selection | None
    spot: Spot | None
    backward: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class PlainPage(Choice):
    """All issues in the order of one index: an IndexScan, or by blocks, if cached directories give the page for less."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PageByBlocks(Choice):
    """Any page, by the directories that it reads first."""

    directories: DirectoryScan


@dataclass(frozen=True, eq=False, kw_only=True)
class Matching(Choice):
    """The cheapest way to sort the matching issues. `first`: buckets of the order that are read with the filter's sets."""

    bitmaps: BitmapScan
    first: Sequence[Bucket]


@dataclass(frozen=True, eq=False, kw_only=True)
class Total(Node):
    """The number of issues, by the sizes of the blocks that hold their numbers."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NumberScan(Node):
    """Documents in number order; the index has all of them."""

    query: GridQuery
    total: Total | None


@dataclass(frozen=True, eq=False, kw_only=True)
class IndexScan(Node):
    """Sort entries of one index, in its order. If they end on the page, the fact `chosen` is what comes next."""

    query: GridQuery
    total: Total | None


@dataclass(frozen=True, eq=False, kw_only=True)
class RestScan(Node):
    """Documents in number order, filtered to those without a value. `examined`: how many are read."""

    query: GridQuery
    without: int
    examined: int


@dataclass(frozen=True, eq=False, kw_only=True)
class BucketScan(Node):
    """The blocks of an order, as far as the rows need them. `first`: the buckets that are read together with the recheck.

    It may continue after a RestScan. It reads directories if it continues after an IndexScan.
    """

    query: GridQuery
    directories: DirectoryScan | None = None
    rest: RestScan | None = None
    recheck: Recheck | None = None
    first: Sequence[Bucket] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class SetOrder(Node):
    """A set of issues, which is already in number order."""

    query: GridQuery
    recheck: Recheck | None


# For row numbers


@dataclass(frozen=True, eq=False, kw_only=True)
class RowNumber(Choice):
    """The number of rows before an issue. It reads the issue, and its ledger, which shows where the index has it."""

    num: int
    keys: Keys
    only: Filter | None
    selection: Selection | None
    directories: DirectoryScan


@dataclass(frozen=True, eq=False, kw_only=True)
class BucketCount(Node):
    """The number of issues in the buckets before a place, and before the place in its own bucket."""

    keys: Keys
    recheck: Recheck | None = None
