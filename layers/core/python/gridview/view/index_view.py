"""One request's view of the index: blocks, directories, columns, documents, each as if the index held all recent changes.

- At hand: the container's cache, and the reads of this request.
- Overlaid over: `RecentChanges`, which are the end of the journal, the issues that tokens name, and new issues.
- Outdated: other changes came to light than the request was shown. `consistently` repeats its work.

Each state of the index is read once for a request. Only the journal is read again, if a fold has written changes that it
lacked.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from gridview.chains.column_totals import ColumnTotal
from gridview.chains.directory import Directory
from gridview.derive.ledger import Ledger
from gridview.dynamodb.expressions import Condition, Item, Key
from gridview.dynamodb.side_by_side import side_by_side
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.attribute_values import item_size
from gridview.journal.items import Totals
from gridview.schema.document_store import get_issue
from gridview.schema.trash import DELETED_BY, is_trashed
from gridview.view import freshness
from gridview.view.block_reader import BlockReader
from gridview.view.block_reads import Reads, Want
from gridview.view.column_reader import ColumnReader
from gridview.view.context import ReadContext
from gridview.view.index_snapshot import IndexSnapshot
from gridview.view.overlay import NOTHING, Overlay
from gridview.view.reads import (
    Documents,
    Listed,
    Paths,
    Read,
    ReadBlocks,
    ReadColumns,
    ReadDirectories,
    ReadDocuments,
    ReadEpoch,
    ReadFreshness,
    ReadIssue,
    ReadLedger,
    ReadNewIssues,
    ReadRange,
    ReadRanges,
    ReadRecent,
    ReadTotals,
    Snapshot,
)
from gridview.view.recent_changes import RecentChanges
from gridview.view.shown_columns import shown_column, shown_total
from gridview.view.shown_versions import Overlaid

Result = TypeVar("Result")

_READS_AGAIN = 3
"""The most times that a journal is read again because the reads of the index are ahead of it."""

_OF_THE_STATE = ReadRecent | ReadNewIssues | ReadEpoch | ReadFreshness
"""Reads whose one answer is valid for the whole request."""


class Outdated(Exception):
    """Other changes must be laid over than the work has been shown. The reads up to then are at hand."""


class IndexView:
    """The index as one request sees it. Directories and blocks are read by `table`, all else by the table passed in."""

    def __init__(self, context: ReadContext, table: Table) -> None:
        self.table = table
        self._context = context
        self._project = keys.project(context.catalog.tenant, context.catalog.project)
        self._changes = RecentChanges(context)
        self._reader = BlockReader(self.table, context.catalog, context.cache, self._changes.since)
        self._snapshot = IndexSnapshot(self._reader, self._changes.overlay or NOTHING)
        self._columns = ColumnReader(context.catalog, context.cache, self._changes.since)
        self._total_position = 0
        self._state: dict[type, Any] = {}
        self._fetched: dict[tuple[tuple[str, ...], ...] | None, dict[int, Item]] = {}
        self._was_shown = False
        self._read_again = 0

    def consistently(self, work: Callable[[], Result]) -> Result:
        """Return the result of work that reads by this view. Outdated work is repeated."""
        while True:
            with suppress(Outdated):
                return work()

    @property
    def overlay(self) -> Overlay | None:
        """The changes laid over; None until they are known."""
        return self._changes.overlay

    @property
    def reads(self) -> Reads:
        """The counts of block reads."""
        return self._reader.reads

    @property
    def age(self) -> float:
        """Seconds since the oldest directory in use was read; 0.0 if none came from the cache."""
        return self._reader.age

    def overlaid(self) -> Overlaid:
        """The changes that were laid over, and whether the index was ahead of the journal (`outrun`)."""
        overlaid = self._changes.overlaid()
        return overlaid._replace(outrun=self._position > overlaid.logged.last)

    @property
    def _position(self) -> int:
        """The highest journal number that the reads of the index may contain."""
        return max(self._reader.position, self._columns.position, self._total_position)

    # Reads without a call

    def at_hand(self, read: Read) -> bool:
        """Whether a read takes no call."""
        if self.overlay is None:
            return False
        match read:
            case ReadDirectories(families):
                return all(map(self._reader.has_directory, families)) and not self._snapshot.unsettled(read)
            case ReadBlocks(wants):
                return all(map(self._snapshot.has, wants))
            case ReadColumns(families):
                return all(map(self._columns.has, families))
            case ReadDocuments(numbers):
                return not numbers
        return False

    def has_directory(self, family: str) -> bool:
        """Whether a directory is at hand."""
        return self._reader.has_directory(family)

    def has(self, want: Want) -> bool:
        """Whether the wanted blocks are at hand."""
        return self._snapshot.has(want)

    def knows(self, read: Read) -> bool:
        """Whether a read of the state of the index was made before."""
        return type(read) in self._state

    # Reads with calls

    def read_index(self, families: Iterable[str], wants: Iterable[Want]) -> None:
        """Read directories, then blocks: a round each, as `BlockReader`."""
        chosen = list(families)
        if chosen:
            self._reader.directories(chosen)
        self._snapshot.read(wants)

    def read(self, table: Table, read: Read) -> Any:
        """The answer of the table to any other read, before `take` and `shown`."""
        match read:
            case ReadColumns() | ReadTotals():
                return self._numbers(table, read)
            case ReadDocuments():
                return self._documents(table, read)
            case ReadRange():
                return self._range(table, read)
            case ReadRanges(bounds, paths):
                pages = table.query_ranges(self._project, bounds, paths=paths)
                return [Listed(page.items, page.last) for page in pages]
            case ReadIssue() | ReadLedger():
                return self._issue(table, read)
            case ReadRecent():
                return self._changes.read(table)
            case ReadNewIssues(after, last, most):
                return self._changes.read_new_issues(table, after, last, most)
            case ReadEpoch():
                return self._context.epoch.confirm(table)
            case ReadFreshness():
                return freshness.read(table, self._context.catalog, self._context.cache)
        raise TypeError(read)

    # Reads without a plan

    def counted(self, family: str) -> Directory:
        """The directory of a family with exact sizes, as if the index held all recent changes. Raises Outdated.

        The directory is read in parallel to `ReadRecent`; one more round reads blocks whose sizes must be settled.
        """
        directories, recent = ReadDirectories((family,), (family,)), ReadRecent()
        found = None
        if self.knows(recent):
            self._reader.directories((family,))
        else:
            _, found = side_by_side(
                self.table,
                lambda: self._reader.directories((family,)),
                lambda own: self.read(own, recent),
            )
        self.take([(recent, found)])
        self._snapshot.read(self.unsettled(directories))
        self.check()
        return self._snapshot.directory(family)

    def blocks(self, wants: Iterable[Want]) -> Snapshot:
        """The snapshot, with these blocks: one round. Raises Outdated."""
        self._snapshot.read(wants)
        self.check()
        return self._snapshot

    # The shown state

    def take(self, answers: Sequence[tuple[Read, Any]]) -> None:
        """Take in the answers of a round of reads. Raises Outdated."""
        for read, answer in answers:
            if isinstance(read, _OF_THE_STATE):
                self._state.setdefault(type(read), answer)
            elif isinstance(read, ReadTotals):
                self._total_position = max(self._total_position, answer.position)
        for read, _ in answers:
            if isinstance(read, ReadRecent):
                self._apply_overlay()
            elif isinstance(read, ReadNewIssues) and self._changes.take_new(self._state[ReadNewIssues]):
                self._refresh_snapshot()
                raise Outdated
        self.check()

    def check(self) -> None:
        """Raise Outdated if a fold has written changes that the journal lacked when it was read."""
        logged = self._changes.logged
        if logged is None or ReadRecent not in self._state or self._read_again == _READS_AGAIN:
            return
        if self._position > logged.last:
            self._read_again += 1
            self._changes.outrun()
            del self._state[ReadRecent]
            raise Outdated

    def unsettled(self, read: Read) -> tuple[Want, ...]:
        """The blocks that must also be read, so that the sizes in directories that have been read are exact."""
        return self._snapshot.unsettled(read) if isinstance(read, ReadDirectories) else ()

    def shown(self, read: Read, answer: Any) -> Any:
        """The answer to a read of a round that was taken in, as if the index held the recent changes."""
        self._was_shown = True
        if isinstance(read, ReadDirectories | ReadBlocks):
            return self._snapshot
        if isinstance(read, _OF_THE_STATE):
            known = self._state[type(read)]
            return known.overlay if isinstance(read, ReadRecent) else known
        if isinstance(read, ReadColumns):
            overlay = self.overlay or NOTHING
            return {one: shown_column(overlay, one, self._columns.column(one)) for one in read.families}
        if isinstance(read, ReadTotals):
            return {one: self._total(one, answer) for one in read.families}
        return answer if self.overlay is None else self.overlay.over(read, answer)

    def _total(self, family: str, totals: Totals) -> ColumnTotal | None:
        if self._changes.logged is None or self.overlay is None:
            return None
        return shown_total(self.overlay, self._changes.logged, family, totals)

    def _apply_overlay(self) -> None:
        """Lay over the recent changes that were read. Raises Outdated if work saw others or directories are too old."""
        changed = self._changes.take(self._state[ReadRecent])
        if changed is None:
            return
        # A document that was read before its change would appear where the index no longer has it.
        for num in changed:
            for fetched in self._fetched.values():
                fetched.pop(num, None)
        renewed = self._reader.renew(self._changes.since)
        renewed |= self._columns.renew(self._changes.since)
        self._refresh_snapshot()
        if renewed or self._was_shown:
            raise Outdated

    def _refresh_snapshot(self) -> None:
        self._snapshot = IndexSnapshot(self._reader, self.overlay or NOTHING)

    # Reads of numbers, documents and sort entries

    def _numbers(self, table: Table, read: ReadColumns | ReadTotals) -> Totals | None:
        """Read columns, which are then at hand, or totals."""
        if isinstance(read, ReadTotals):
            return replace(self._context.log, table=table).totals(consistent=False)
        self._columns.read(table, read.families, read.issues)
        return None

    def _issue(self, table: Table, read: ReadIssue | ReadLedger) -> Item | Ledger:
        catalog = self._context.catalog
        if isinstance(read, ReadIssue):
            return get_issue(table, catalog, read.num)
        stored = table.get(keys.issue(catalog.tenant, catalog.project, read.num), derived_keys.LEDGER)
        return Ledger.from_item(stored)

    def _range(self, table: Table, read: ReadRange) -> Listed:
        partition, limit = self._project, read.limit
        if read.family is not None:
            # As many entries more as may be taken out: a second Query for these would be a round.
            catalog = self._context.catalog
            partition = derived_keys.order(catalog.tenant, catalog.project, read.family)
            limit += min(self._changes.room(read.family), read.spare)
        page = table.query(
            partition,
            index=True,
            bound=read.bound,
            forward=read.forward,
            limit=limit,
            only=None if read.lacking is None else _lacks(read.lacking),
            paths=read.paths,
        )
        return Listed(page.items, page.last)

    def _documents(self, table: Table, read: ReadDocuments) -> Documents:
        catalog = self._context.catalog
        overlaid = {} if self.overlay is None else self.overlay.documents
        before = self._fetched.setdefault(_hashable(read.paths), {})
        wanted: dict[Key, int] = {
            (keys.issue(catalog.tenant, catalog.project, num), self._project): num
            for num in read.numbers
            if num not in overlaid and num not in before
        }

        def is_enough(found: Mapping[Key, Item]) -> bool:
            return read.enough is not None and _size_at_the_head(wanted, found) > read.enough

        paths = None if read.paths is None else (*read.paths, (DELETED_BY,))
        fetched = table.batch_get(
            list(wanted), consistent=self._context.consistent, paths=paths, enough=is_enough
        )
        before |= {item["num"]: item for item in fetched.items.values() if not is_trashed(item)}
        found = {num: before[num] for num in read.numbers if num in before}
        return Documents(found, frozenset(wanted[key] for key in fetched.left))


def _hashable(paths: Paths) -> tuple[tuple[str, ...], ...] | None:
    return None if paths is None else tuple(paths)


def _lacks(path: Sequence[str]) -> Condition:
    names = {f"#n{place}": name for place, name in enumerate(path)}
    return Condition(f"attribute_not_exists({'.'.join(names)})", names)


def _size_at_the_head(wanted: Iterable[Key], found: Mapping[Key, Item]) -> int:
    """Bytes of the documents at the head of the list, up to the first that is missing."""
    size = 0
    for key in wanted:
        if key not in found:
            break
        size += item_size(found[key])
    return size
