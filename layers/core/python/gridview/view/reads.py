"""The reads that the steps of a plan ask of the executor: plain values, each with its answer. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from gridview.chains.blocks import Block, Entry
from gridview.chains.directory import Directory, Range
from gridview.dynamodb.expressions import Bound, Item
from gridview.view.block_reads import Want

Paths = Sequence[tuple[str, ...]] | None
"""The attributes of a document that are read; None: all."""


class Snapshot(Protocol):
    """The index as one request has read it: one state of each directory and of each block."""

    def directory(self, family: str) -> Directory:
        """A directory that was asked for."""

    def block(self, family: str, entry: Entry) -> Block:
        """A block that was asked for."""

    def keys(self, family: str, entry: Entry, range: Range) -> list[str]:  # noqa: A002  (what it is)
        """The sort strings of a block's members in a range that was asked for, in order."""


@dataclass(frozen=True, slots=True)
class ReadDirectories:
    """The directories of these families. The answer: the Snapshot.

    `counted`: families whose sizes must be exact, because the answer or a row's place depends on them. The sizes of others
    only help to choose.
    """

    families: tuple[str, ...]
    counted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadBlocks:
    """The wanted parts of these blocks. The answer: the Snapshot."""

    wants: Sequence[Want]


class Documents(NamedTuple):
    """The documents that exist, by issue number, and the numbers that were left out because `enough` had come."""

    found: dict[int, Item]
    left: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class ReadColumns:
    """The columns of these orders of number fields. The answer: a mapping from their families to ShownColumns.

    `issues`: about how many issues the project has. Pages for so many are read side by side.
    """

    families: tuple[str, ...]
    issues: int


@dataclass(frozen=True, slots=True)
class ReadTotals:
    """The count and sum of all numbers in these orders. The answer: a mapping from their families to Totals.

    None for a total that is unknown; the column has it.
    """

    families: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadDocuments:
    """The documents of these issues, eventually consistent unless the context says otherwise. The answer: Documents.

    `enough`: bytes of the documents at the head of the list, beyond which the others may be left out; None: all are needed.
    """

    numbers: Sequence[int]
    paths: Paths
    enough: int | None = None


class Listed(NamedTuple):
    """The result of one Query; `last`: the sort string up to which it read, if there may be more after it."""

    items: list[Item]
    last: str | None


SPARE = 50
"""Sort entries that a Query reads beyond the requested ones, if recent changes may take as many out.

They cost about half a read unit. If the changes take out more of them, another Query costs a round.
"""
MUCH_SPARE = 500
"""The same, once the changes took out so many that another Query was needed."""


@dataclass(frozen=True, slots=True)
class ReadRange:
    """One Query of GSI1: the sort entries of a family, or the documents in number order (`family` None). The answer: Listed.

    `lacking`: the path of a field; only documents without the field are passed on. `spare`: how many sort entries may be
    read beyond the limit, since recent changes take some out.
    """

    family: str | None
    bound: Bound | None
    forward: bool
    limit: int
    paths: Paths
    lacking: tuple[str, ...] | None = None
    spare: int = SPARE


def bound_after(last: str, *, forward: bool) -> Bound:
    """Return the bound from which a Query continues after the last sort string of the one before."""
    return Bound(">" if forward else "<", last)


def further(read: ReadRange, last: str) -> ReadRange:
    """Return the read that continues a read of sort entries of which too few were left."""
    return replace(read, bound=bound_after(last, forward=read.forward), spare=MUCH_SPARE)


@dataclass(frozen=True, slots=True)
class ReadRanges:
    """The documents in each of these ranges of numbers, one parallel Query each. The answer: a list of Listed."""

    bounds: tuple[Bound, ...]
    paths: Paths


@dataclass(frozen=True, slots=True)
class ReadIssue:
    """One document, strongly consistent. The answer: the Item. Raises NotFound."""

    num: int


@dataclass(frozen=True, slots=True)
class ReadLedger:
    """The ledger of an issue. The answer: a Ledger, the empty one if there is none."""

    num: int


@dataclass(frozen=True, slots=True)
class ReadRecent:
    """The documents and ledgers of the recently written issues, strongly consistent. The answer: the Overlay.

    From then on, all answers are as if the index held these documents, including answers of the same round.
    """


@dataclass(frozen=True, slots=True)
class ReadNewIssues:
    """The new issues that the index does not have yet, with numbers above `after`. The answer: a NewIssues.

    If there are any, they are laid over, and the plan is carried out again.
    """

    after: int
    last: int
    most: int


@dataclass(frozen=True, slots=True)
class ReadEpoch:
    """The project's epoch, strongly consistent. The answer: nothing. Raises StaleDefinitions."""


@dataclass(frozen=True, slots=True)
class ReadFreshness:
    """The lag of the index. The answer: a Lag."""


Read = (
    ReadDirectories
    | ReadBlocks
    | ReadColumns
    | ReadTotals
    | ReadDocuments
    | ReadRange
    | ReadRanges
    | ReadIssue
    | ReadLedger
    | ReadRecent
    | ReadNewIssues
    | ReadEpoch
    | ReadFreshness
)
