"""The nodes of a plan: what is done to answer a query, as a tree with estimated read units. Made by `planner`; pure data.

A node is itself and no other: two that look alike are two. Facts that come out while a node is carried out are told beside it
(`steps.tell`), never written into it.
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


@dataclass(frozen=True, slots=True)
class Estimate:
    """Read units that a node should take. `informed`: whether the directories had been read when it was made."""

    units: float
    informed: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Node:
    """A node. `estimate` None: nobody can tell before."""

    estimate: Estimate | None = None

    @property
    def children(self) -> tuple["Node", ...]:
        """The nodes whose results it takes: those among its fields."""
        found = (getattr(self, one.name) for one in fields(self))
        return tuple(one for one in found if isinstance(one, Node))


class Said(Node):
    """A node that puts itself into words."""

    @abstractmethod
    def said(self, facts: Mapping[str, Any]) -> str:
        """What was done, in a sentence, by what came out of it."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Choice(Node):
    """One of several ways, which a rule of `planner` chooses by what the children have read.

    The node that was chosen is told as the fact `chosen`; it may be a choice again.
    """

    question: str = ""


# Of several kinds of answers


@dataclass(frozen=True, eq=False, kw_only=True)
class DirectoryScan(Node):
    """Which blocks the families have, and how many issues stand in each. `counted`: of which families that has to be exact."""

    families: tuple[str, ...]
    counted: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class EpochRead(Node):
    """The project's epoch, which tells whether the definitions are the current ones."""


@dataclass(frozen=True, eq=False, kw_only=True)
class OverlayRead(Node):
    """The documents and ledgers of the issues that the request's tokens name, which the answer is to hold, and the
    journal's last items.
    """

    issues: int


@dataclass(frozen=True, eq=False, kw_only=True)
class UnheardRead(Node):
    """The new issues that the index has not heard of."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Freshness(Node):
    """How far the index is behind."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BitmapScan(Node):
    """The sets of issues that a filter takes, joined: which match for sure, and which may."""

    selection: Selection


@dataclass(frozen=True, eq=False, kw_only=True)
class Recheck(Node):
    """The documents of the issues that the sets leave undecided. `issues`: which these are."""

    only: Filter
    issues: BitMap


@dataclass(frozen=True, eq=False, kw_only=True)
class TopN(Node):
    """The documents of all issues that may match, sorted in memory. `sure`: these match by the sets."""

    candidates: BitMap
    sure: BitMap


@dataclass(frozen=True, eq=False, kw_only=True)
class FullScan(Node):
    """Fields of all issues in question, read by ranges of numbers. `among` None: all issues of the project.

    `reason`: what takes it, for people; `project`: how many issues the project has, where that decided.
    """

    fields: tuple[Field, ...]
    among: BitMap | None
    reason: str
    project: int | None = None


# Of pages


@dataclass(frozen=True, eq=False, kw_only=True)
class GridPage(Node):
    """A page of rows, from `spot` on (None: from the beginning, or the offset asked for).

    It reads their documents, but for those that its source has read.
    """

    source: Node

    query: GridQuery
    selection: Selection | None
    spot: Spot | None
    backward: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class PlainPage(Choice):
    """All issues in the order of one index: an IndexScan, or by blocks, where the directories at hand tell the page for less."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PageByBlocks(Choice):
    """Any page, by the directories that it reads first."""

    directories: DirectoryScan


@dataclass(frozen=True, eq=False, kw_only=True)
class Matching(Choice):
    """What matches is sorted by the way that costs least. `first`: buckets of the order that are read with the filter's sets."""

    bitmaps: BitmapScan
    first: Sequence[Bucket]


@dataclass(frozen=True, eq=False, kw_only=True)
class Total(Node):
    """How many issues there are, by the sizes of the blocks that hold their numbers."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NumberScan(Node):
    """Documents in number order, of which the index has all."""

    query: GridQuery
    total: Total | None


@dataclass(frozen=True, eq=False, kw_only=True)
class IndexScan(Node):
    """Sort entries of one index, in its order. Where they end on the page, what comes next is told as `chosen`."""

    query: GridQuery
    total: Total | None


@dataclass(frozen=True, eq=False, kw_only=True)
class RestScan(Node):
    """Documents in number order, of which those without a value are passed on. `examined`: how many are read."""

    query: GridQuery
    without: int
    examined: int


@dataclass(frozen=True, eq=False, kw_only=True)
class BucketScan(Node):
    """The blocks of an order, as far as the rows take them. `first`: the buckets that are read beside the recheck.

    It may go on behind what a RestScan finds, and reads directories where it goes on behind an IndexScan.
    """

    query: GridQuery
    directories: DirectoryScan | None = None
    rest: RestScan | None = None
    recheck: Recheck | None = None
    first: Sequence[Bucket] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class SetOrder(Node):
    """A set of issues, which is in number order already."""

    query: GridQuery
    recheck: Recheck | None


# Of row numbers


@dataclass(frozen=True, eq=False, kw_only=True)
class RowNumber(Choice):
    """How many rows come before an issue. It reads the issue itself, and its ledger, which tells where the index has it."""

    num: int
    keys: Keys
    only: Filter | None
    selection: Selection | None
    directories: DirectoryScan


@dataclass(frozen=True, eq=False, kw_only=True)
class BucketCount(Node):
    """How many issues stand in the buckets before a place, and in its own bucket before it."""

    keys: Keys
    recheck: Recheck | None = None
