"""What the steps of a plan ask the executor to read: plain values, each with what answers it. Pure."""

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
    """What one request has read of the index: it sees one state of each directory and of each block."""

    def directory(self, family: str) -> Directory:
        """A directory that was asked for."""

    def block(self, family: str, entry: Entry) -> Block:
        """A block that was asked for."""

    def keys(self, family: str, entry: Entry, range: Range) -> list[str]:  # noqa: A002  (what it is)
        """The sort strings of a block's members in a range that was asked for, in order."""


@dataclass(frozen=True, slots=True)
class ReadDirectories:
    """The directories of these families. The answer: the Snapshot.

    `counted`: those whose sizes are exact, since they are answered or tell where a row is. Those of others only help to choose.
    """

    families: tuple[str, ...]
    counted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadBlocks:
    """What is wanted of these blocks. The answer: the Snapshot."""

    wants: tuple[Want, ...]


class Documents(NamedTuple):
    """The documents that exist, by issue number, and the numbers that were left out because `enough` had come."""

    found: dict[int, Item]
    left: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class ReadDocuments:
    """The documents of these issues, eventually consistent. The answer: Documents.

    `enough`: bytes of the documents at the head of the list, beyond which the others may be left out; None: all are needed.
    """

    numbers: Sequence[int]
    paths: Paths
    enough: int | None = None


class Listed(NamedTuple):
    """What one Query gave; `last`: the sort string up to which it read, if there may be more behind it."""

    items: list[Item]
    last: str | None


SPARE = 50
"""Sort entries that a Query reads besides those asked for, where as many may be taken out: about half a read unit. If more of them
are, another Query is a round more.
"""
MUCH_SPARE = 500
"""The same, once so many were taken out that another Query was needed."""


@dataclass(frozen=True, slots=True)
class ReadRange:
    """One Query of GSI1: the sort entries of a family, or the documents in number order (`family` None). The answer: Listed.

    `lacking`: the path of a field that those documents lack that are passed on. `spare`: how many sort entries may be read besides
    those asked for, since recent changes take them out.
    """

    family: str | None
    bound: Bound | None
    forward: bool
    limit: int
    paths: Paths
    lacking: tuple[str, ...] | None = None
    spare: int = SPARE


def bound_behind(last: str, *, forward: bool) -> Bound:
    """What a Query goes on with behind the last sort string of the one before."""
    return Bound(">" if forward else "<", last)


def further(read: ReadRange, last: str) -> ReadRange:
    """What a read of sort entries goes on with, of which too few were left."""
    return replace(read, bound=bound_behind(last, forward=read.forward), spare=MUCH_SPARE)


@dataclass(frozen=True, slots=True)
class ReadRanges:
    """The documents in each of these ranges of numbers, a Query each, side by side. The answer: a list of Listed."""

    bounds: tuple[Bound, ...]
    paths: Paths


@dataclass(frozen=True, slots=True)
class ReadIssue:
    """One document, strongly consistent. The answer: the Item. It raises NotFound."""

    num: int


@dataclass(frozen=True, slots=True)
class ReadLedger:
    """The ledger of an issue. The answer: a Ledger, the empty one when there is none."""

    num: int


@dataclass(frozen=True, slots=True)
class ReadRecent:
    """The documents and ledgers of the issues that were just written, strongly consistent. The answer: the Overlay.

    From then on all answers are as if the index held these documents, those of the same round too.
    """


@dataclass(frozen=True, slots=True)
class ReadUnheard:
    """The new issues that the index has not heard of, with numbers above `after`. The answer: an Unheard.

    Where there are any, they are laid over, and the plan is carried out anew.
    """

    after: int
    last: int
    most: int


@dataclass(frozen=True, slots=True)
class ReadEpoch:
    """The project's epoch, strongly consistent. The answer: nothing. It raises StaleDefinitions."""


@dataclass(frozen=True, slots=True)
class ReadFreshness:
    """How far the index is behind. The answer: a Lag."""


Read = (
    ReadDirectories
    | ReadBlocks
    | ReadDocuments
    | ReadRange
    | ReadRanges
    | ReadIssue
    | ReadLedger
    | ReadRecent
    | ReadUnheard
    | ReadEpoch
    | ReadFreshness
)
