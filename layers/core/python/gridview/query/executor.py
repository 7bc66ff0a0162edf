"""The executor carries out the steps of any plan, round by round. It knows rounds, batches and the meter, and not what is asked.

It is the only module of `query` that reads. What steps ask for together is one round: the directories of all askers in one batch,
the blocks of all in another, everything else side by side with them.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, NamedTuple, TypeVar

from gridview.derive.ledger import Ledger
from gridview.dynamodb.expressions import Condition, Item, Key
from gridview.dynamodb.side_by_side import side_by_side
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.attribute_values import item_size
from gridview.journal.log import Log
from gridview.query.counted import Counted, Decides, Seen, always
from gridview.query.plan import Node
from gridview.query.steps import Ask, AtHand, Steps, Tell
from gridview.query.trace import Trace, Usage
from gridview.schema.catalog import Catalog
from gridview.schema.document_store import get_issue
from gridview.schema.epoch import CONFIRMED, EpochCheck
from gridview.schema.trash import DELETED_BY, is_trashed, living
from gridview.support import clock
from gridview.support.concurrency import in_context
from gridview.support.errors import Overloaded
from gridview.view import freshness
from gridview.view.block_cache import BlockCache
from gridview.view.block_reader import BlockReader
from gridview.view.index_snapshot import IndexSnapshot
from gridview.view.journal_tail import recent_moves, tail_of
from gridview.view.moves import Logged, Move, move_of
from gridview.view.overlay import NOTHING, Overlay
from gridview.view.reads import (
    Documents,
    Listed,
    Paths,
    ReadBlocks,
    ReadDirectories,
    ReadDocuments,
    ReadEpoch,
    ReadFreshness,
    ReadIssue,
    ReadLedger,
    ReadRange,
    ReadRanges,
    ReadRecent,
    ReadUnheard,
)
from gridview.view.shown_versions import Shown, ShownVersion
from gridview.view.unheard import unheard

Result = TypeVar("Result")

_OUTRUN = 3
"""How often at most a journal is read again, because what was read of the index is ahead of it."""

_STATE = ReadRecent | ReadUnheard | ReadEpoch | ReadFreshness
"""Reads of which one answer is good for the whole request."""


class LaidAnew(Exception):
    """Other changes are to be laid over than those that the steps have been shown: the plan is to be carried out anew.

    What has been read by then is at hand.
    """


class _ReadBatch(NamedTuple):
    """Reads that are made together. `places`: where their answers belong; `shares`: how much of what is read is for which node."""

    table: Table
    places: Sequence[int]
    shares: Mapping[Node, int]
    read: Callable[[], Sequence[Any]]


class Executor:
    """Carries out the plans of one request over one catalog. `table.meter` is charged with every call.

    `epoch`: what ReadEpoch finds out about the catalog. `recent`: the issues that ReadRecent reads besides the journal. It is in
    the first round: with issues to read, or where nothing is known of the journal, nothing that is at hand will do until it has
    come. Otherwise steps are shown what is known of the journal. If that turns out to be less than there is, all is done anew.
    `decides`: of which nodes documents decide what is counted. `number`: up to where the journal is to be laid over at least.
    """

    def __init__(
        self,
        table: Table,
        catalog: Catalog,
        cache: BlockCache,
        epoch: EpochCheck = CONFIRMED,
        recent: frozenset[int] = frozenset(),
        decides: Decides = always,
        number: int = 0,
    ) -> None:
        self._number = number
        self._seen = Seen(decides)
        self._deleted: dict[int, int] = {}
        self._table = table
        self._catalog = catalog
        self._epoch = epoch
        self._recent = recent
        self._cache = cache
        self._project = keys.project(catalog.tenant, catalog.project)
        self._of_the_index = table.metered()
        self._logged: Logged | None = None
        self._overlay: Overlay | None = None
        self._tail = tail_of(Log(table, catalog.tenant, catalog.project), cache)
        since = clock.seconds() if self._tail is None else self._tail.since
        self._index = IndexSnapshot(BlockReader(self._of_the_index, catalog, cache, since))
        if self._tail is not None and not recent:
            self._logged = self._tail.logged(())
            self._overlay = self._index.overlay = Overlay(_logged_alone(self._logged))
        self._shown = False
        self._outrun = 0
        self._unheard: Sequence[Move] = ()
        self._state: dict[type, Any] = {}
        self._fetched: dict[tuple[tuple[str, ...], ...] | None, dict[int, Item]] = {}
        self._begun = table.meter.rounds
        self._usage: dict[Node, Usage] = {}
        self._facts: dict[Node, dict[str, Any]] = {}

    def counted(self, late: float | None) -> Counted | None:
        """Up to which place of the feed what was read counts; None where nobody can tell. `late`: as for `Seen.counted`."""
        logged, overlay = self._logged, self._overlay
        if logged is None or overlay is None or self._index.position > logged.last:
            return None
        laid = {
            num: self._deleted.get(num) if document is None else document["version"]
            for num, document in overlay.documents.items()
        }
        return self._seen.counted(self._catalog, logged, laid, late)

    def show(self, shown: Shown, documents: Iterable[Item] | None) -> None:
        """Tell what the index may lack of what was read. `documents`: as for `Seen.show`."""
        moves = (self._overlay or NOTHING).of(self._recent)
        laid = [
            ShownVersion(move.num, self._deleted.get(move.num, 0), removed=True)
            if move.document is None
            else ShownVersion(move.num, move.document["version"])
            for move in moves
            if move.families
        ]
        self._seen.show(shown, self._logged, laid, documents)

    @property
    def trace(self) -> Trace:
        """What has been done so far."""
        return Trace(self._usage, self._facts, self._index.reads, self._index.age)

    def run(self, steps: Steps[Result]) -> Result:
        """What the steps return; what they raise refuses the request."""
        answer: Any = None
        while True:
            try:
                asked = steps.send(answer)
            except StopIteration as ended:
                result: Result = ended.value
                return result
            answer = None
            if isinstance(asked, list):
                answer = self._round(asked)
                self._shown = True
            elif isinstance(asked, AtHand):
                answer = self._round(asked.asks) if all(map(self._at_hand, asked.asks)) else None
                self._shown = self._shown or answer is not None
            elif isinstance(asked, Tell):
                self._facts.setdefault(asked.node, {}).update(asked.facts)
                self._seen.miss(asked.node, asked.facts.get("absent", 0))
            else:
                answer = self._table.meter.rounds - self._begun

    def _at_hand(self, asked: Ask) -> bool:
        """Whether a read takes no call."""
        if self._overlay is None:
            return False
        match asked.read:
            case ReadDirectories(families) as read:
                return all(map(self._index.has_directory, families)) and not self._index.unsettled(read)
            case ReadBlocks(wants):
                return all(map(self._index.has, wants))
            case ReadDocuments(numbers):
                return not numbers
        return False

    def _round(self, asked: Sequence[Ask]) -> list[Any]:
        """The answers to reads that are made side by side. Every call is charged, also when one of them is refused."""
        batches = self._batches(asked)
        for batch in batches:
            batch.table.meter.calls, batch.table.meter.rounds = [], self._table.meter.rounds
        try:
            found = _side_by_side([batch.read for batch in batches])
        finally:
            self._charge(batches)
        answers = [self._state.get(type(one.read)) for one in asked]
        for batch, given in zip(batches, found, strict=True):
            for place, answer in zip(batch.places, given, strict=True):
                answers[place] = answer
                if isinstance(asked[place].read, _STATE):
                    self._state[type(asked[place].read)] = answer
        return self._laid_over(asked, answers)

    def _laid_over(self, asked: Sequence[Ask], answers: list[Any]) -> list[Any]:
        """The answers as if the index held the recent writes: a round more where sizes in directories have to be settled.

        LaidAnew if these writes are others than those that were known before.
        """
        for place, (one, answer) in enumerate(zip(asked, answers, strict=True)):
            if isinstance(one.read, ReadRecent):
                self._lay(answer)
                answers[place], _ = answer
            elif isinstance(one.read, ReadUnheard) and answer.moves and not self._unheard:
                self._unheard = answer.moves
                self._overlay = (self._overlay or NOTHING).with_new(answer.moves)
                self._index.lay(self._overlay)
                self._facts.setdefault(one.node, {})["unheard"] = answer
                raise LaidAnew
        if self._is_outrun:
            self._outrun += 1
            self._tail = tail_of(Log(self._table, self._catalog.tenant, self._catalog.project), self._cache)
            del self._state[ReadRecent]
            raise LaidAnew
        overlay = self._overlay
        if overlay is None:
            return answers
        unsettled = [
            Ask(node, ReadBlocks(wants))
            for node, read in asked
            if isinstance(read, ReadDirectories) and (wants := self._index.unsettled(read))
        ]
        if unsettled:
            self._round(unsettled)
        laid = [overlay.over(one.read, answer) for one, answer in zip(asked, answers, strict=True)]
        for one, answer in zip(asked, laid, strict=True):
            self._seen.look(one, answer, overlay)
        return laid

    @property
    def _is_outrun(self) -> bool:
        """Whether a fold has written what the journal did not tell yet when it was read."""
        if self._logged is None or ReadRecent not in self._state or self._outrun == _OUTRUN:
            return False
        return self._index.position > self._logged.last

    def _lay(self, found: tuple[Overlay, Logged]) -> None:
        """Lay over what the index may lack, as it was read. LaidAnew if steps were shown something else, or too old directories."""
        overlay, logged = found
        before, self._logged = self._logged, logged
        if before is not None:
            if logged.tells_no_more_than(before):
                return
            # A document that was read before its change would stand where the index has it no more.
            for num in logged.changed_since(before):
                for fetched in self._fetched.values():
                    fetched.pop(num, None)
        self._overlay = overlay.with_new(self._unheard)
        self._index.lay(self._overlay)
        if self._index.renew(logged.since) or self._shown:
            raise LaidAnew

    def _charge(self, batches: Sequence[_ReadBatch]) -> None:
        meter = self._table.meter
        made = [call for batch in batches for call in batch.table.meter.calls]
        for call in sorted(made, key=lambda call: call.round):
            meter.record(call)
        meter.rounds = max((batch.table.meter.rounds for batch in batches), default=meter.rounds)
        for batch in batches:
            calls, in_all = batch.table.meter.calls, sum(batch.shares.values())
            for node, share in batch.shares.items():
                if calls and share:
                    usage = self._usage.setdefault(node, Usage())
                    usage.units += sum(call.capacity for call in calls) * share / in_all
                    usage.rounds.update(call.round - self._begun for call in calls)

    def _batches(self, asked: Sequence[Ask]) -> list[_ReadBatch]:
        """The reads of a round by how they are made: those of the index together, any other alone."""
        of_the_index = [
            at for at, one in enumerate(asked) if isinstance(one.read, ReadDirectories | ReadBlocks)
        ]
        batches = [self._of_index(asked, of_the_index)] if of_the_index else []
        return batches + [
            self._alone(at, one)
            for at, one in enumerate(asked)
            if not isinstance(one.read, ReadDirectories | ReadBlocks) and type(one.read) not in self._state
        ]

    def _of_index(self, asked: Sequence[Ask], places: Sequence[int]) -> _ReadBatch:
        """Directories and blocks. What several nodes ask for counts for the first of them, and what is at hand for none."""
        index = self._index
        families: dict[str, Node] = {}
        wants: dict[Any, Node] = {}
        for node, read in (asked[at] for at in places):
            if isinstance(read, ReadDirectories):
                for family in read.families:
                    families.setdefault(family, node)
            elif isinstance(read, ReadBlocks):
                for want in read.wants:
                    wants.setdefault(want, node)
                    if want.keys is not None and not index.has(want):
                        self._seen.look_at_entries(node, want.entry)
        shares: dict[Node, int] = {}
        missing = [node for family, node in families.items() if not index.has_directory(family)]
        missing += [node for want, node in wants.items() if not index.has(want)]
        for node in missing:
            shares[node] = shares.get(node, 0) + 1

        def read_index() -> list[Any]:
            if families:
                index.directories(families)
            index.read(wants)
            return [index] * len(places)

        return _ReadBatch(self._of_the_index, places, shares, read_index)

    def _alone(self, place: int, asked: Ask) -> _ReadBatch:
        own = self._table.metered()
        return _ReadBatch(own, (place,), {asked.node: 1}, lambda: (self._answer(own, asked.read),))

    def _answer(self, table: Table, read: Any) -> Any:
        tenant, project = self._catalog.tenant, self._catalog.project
        match read:
            case ReadDocuments():
                return self._documents(table, read)
            case ReadRange(family, bound, forward, limit, paths, lacking, spare):
                partition = self._project
                if family is not None:
                    # As many entries more as may be taken out: a second Query for these would be a round.
                    more = self._overlay.leaving(family) if self._overlay else len(self._recent)
                    partition, limit = keys.order(tenant, project, family), limit + min(more, spare)
                only = None if lacking is None else _lacks(lacking)
                page = table.query(
                    partition, index=True, bound=bound, forward=forward, limit=limit, only=only, paths=paths
                )
                return Listed(page.items, page.last)
            case ReadRanges(bounds, paths):
                pages = table.query_ranges(self._project, bounds, paths=paths)
                return [Listed(page.items, page.last) for page in pages]
            case ReadIssue(num):
                return get_issue(table, self._catalog, num)
            case ReadLedger(num):
                return Ledger.from_item(table.get(keys.issue(tenant, project, num), keys.LEDGER))
        return self._of_the_state(table, read)

    def _of_the_state(self, table: Table, read: Any) -> Any:
        """The answer to a read of what the definitions and the index are now."""
        match read:
            case ReadRecent():
                return self._overlay_of(table)
            case ReadUnheard(after, last, most):
                known = (self._overlay or NOTHING).issues
                since = clock.seconds() if self._logged is None else self._logged.since
                reader = BlockReader(table, self._catalog, self._cache, since)
                return unheard(table, self._catalog, reader, after, last, known, most)
            case ReadEpoch():
                return self._epoch.confirm(table)
            case ReadFreshness():
                return freshness.read(table, self._catalog, self._cache)
        raise TypeError(read)

    def _overlay_of(self, table: Table) -> tuple[Overlay, Logged]:
        """The moves of the issues that were just written: two strongly consistent reads for each, in one round. Those of the
        journal's last items too (`recent_moves`), and what the journal tells.
        """
        tenant, project = self._catalog.tenant, self._catalog.project
        partitions = {num: keys.issue(tenant, project, num) for num in sorted(self._recent)}
        wanted = [(one, sort) for one in partitions.values() for sort in (self._project, keys.LEDGER)]
        if not wanted:
            logged = self._journal(Log(table, tenant, project))
            return Overlay(_logged_alone(logged)), logged
        found, logged = side_by_side(
            table,
            lambda: table.batch_get(wanted, consistent=True).items,
            lambda own: self._journal(Log(own, tenant, project)),
        )
        now = int(clock.seconds())
        read = (
            move_of(
                self._catalog,
                num,
                living(found.get((one, self._project))),
                Ledger.from_item(found.get((one, keys.LEDGER))),
                now,
                logged.moves.get(num),
            )
            for num, one in partitions.items()
        )
        moves = {move.num: move for move in read if move is not None}
        documents = (item for (_, sort), item in found.items() if sort == self._project)
        self._deleted |= {item["num"]: item["version"] for item in documents if is_trashed(item)}
        # An issue from which nothing can be derived stays where the journal has it.
        return Overlay([*moves.values(), *_logged_alone(logged, moves)]), logged

    def _journal(self, log: Log) -> Logged:
        """What the journal tells. Where that is less than what the answer is to hold, it is read once more, strongly consistent.

        Overloaded: it is less even so, and the number was given out. A number that was not is of another past, before the table was
        restored to an earlier moment: there is nothing of it to be held.
        """
        logged = recent_moves(log, self._cache, self._tail, consistent=self._outrun > 0)
        if logged.last < self._number:
            logged = recent_moves(log, self._cache, tail_of(log, self._cache), consistent=True)
        if logged.last < self._number <= log.head().last:
            raise Overloaded("The journal does not tell all yet that the answer is to hold; try again.")
        return logged

    def _documents(self, table: Table, read: ReadDocuments) -> Documents:
        tenant, project = self._catalog.tenant, self._catalog.project
        at_hand = self._overlay.documents if self._overlay else {}
        fetched_before = self._fetched.setdefault(_hashable(read.paths), {})
        wanted: dict[Key, int] = {
            (keys.issue(tenant, project, num), self._project): num
            for num in read.numbers
            if num not in at_hand and num not in fetched_before
        }

        def is_enough(found: Mapping[Key, Item]) -> bool:
            return read.enough is not None and _size_at_the_head(wanted, found) > read.enough

        paths = None if read.paths is None else (*read.paths, (DELETED_BY,))
        fetched = table.batch_get(list(wanted), paths=paths, enough=is_enough)
        present = (item for item in fetched.items.values() if not is_trashed(item))
        fetched_before |= {item["num"]: item for item in present}
        return Documents(
            {num: fetched_before[num] for num in read.numbers if num in fetched_before},
            frozenset(wanted[key] for key in fetched.left),
        )


def _logged_alone(logged: Logged, others: Container[int] = ()) -> list[Move]:
    """The moves that the journal tells, but for those of other issues, of which more is known."""
    return [
        Move(num, families, None, known=False, pending=num in logged.pending)
        for num, families in logged.moves.items()
        if num not in others
    ]


def _hashable(paths: Paths) -> tuple[tuple[str, ...], ...] | None:
    return None if paths is None else tuple(paths)


def _lacks(path: Sequence[str]) -> Condition:
    names = {f"#n{place}": name for place, name in enumerate(path)}
    return Condition(f"attribute_not_exists({'.'.join(names)})", names)


def _size_at_the_head(wanted: Iterable[Key], found: Mapping[Key, Item]) -> int:
    """Bytes of the documents that have come without one missing before them."""
    size = 0
    for key in wanted:
        if key not in found:
            break
        size += item_size(found[key])
    return size


def _side_by_side(reads: Sequence[Callable[[], Sequence[Any]]]) -> list[Sequence[Any]]:
    """What each gives. All have ended when this does, also when one is refused."""
    if not reads:
        return []
    first, *others = reads
    if not others:
        return [first()]
    with ThreadPoolExecutor(len(others)) as pool:
        beside = [pool.submit(in_context(read)) for read in others]
        try:
            found = [first()]
        finally:
            wait(beside)
    return found + [one.result() for one in beside]
