"""Checks that each issue is in exactly the blocks in which its ledger and the journal place it, and repairs
misplaced issues.

A ledger that is finished before and after the read of a block determines the block's content. The journal
items that are not folded into the block come on top (`derivations`). An issue that another writer is working
on cannot be judged until that writer is done.

A repair reads the blocks, then the ledgers, then the journal, and writes the blocks under the write ids that
were read. A repair that loses a block to another writer examines the issue again. The right content of a
block may have changed with its position.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import NamedTuple

from gridview.chains.block_writer import BlockWriter
from gridview.chains.blocks import Block, KeyChange
from gridview.chains.fence_cache import Fences
from gridview.derive.families import is_key, keys_of
from gridview.derive.ledger import NUMBER
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.sort_strings import body_of
from gridview.fsck.derivations import Derivations
from gridview.fsck.issue_diff import Collection, compared
from gridview.journal.fold import keys_of_members
from gridview.journal.items import Head
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog
from gridview.support import backoff
from gridview.support.concurrency import chunked, in_threads
from gridview.support.errors import Overloaded

_AT_ONCE = 500
"""Doubts that are examined together."""


class SuspectKey(NamedTuple):
    """An issue, and a key in the block where it seems missing or stray: one of its own keys or any other there."""

    num: int
    family: str
    key: str


class Misplaced(NamedTuple):
    """An issue that is `missing` from a block, or is in a block where it does not belong."""

    num: int
    family: str
    key: str
    block_id: str
    missing: bool

    @property
    def suspect(self) -> SuspectKey:
        """The doubt that is true, by the key that is missing or too much."""
        return SuspectKey(self.num, self.family, self.key)


class JudgedDoubts(NamedTuple):
    """The outcome of doubts: true ones, and ones that cannot be judged before a writer or the fold is done."""

    misplaced: Sequence[Misplaced]
    unsettled: Sequence[SuspectKey]


class _IssueState(Enum):
    """The state of an issue at the second read."""

    SOUND = "sound"
    WRONG = "wrong itself, which the check of the issue reports"
    CHANGED = "its ledger has changed"


@dataclass(frozen=True, slots=True)
class BlockMembership:
    """The blocks of one project, compared with its issues' ledgers."""

    table: Table
    fences: Fences
    tenant: str
    project: str

    def judge(self, doubts: Iterable[SuspectKey], catalog: Catalog) -> JudgedDoubts:
        """Return the true doubts about issues with no other fault, and the doubts that cannot be judged yet.

        Strongly consistent reads of each block and ledger, and of all items of misplaced issues. Overloaded,
        Unreadable.
        """
        misplaced: list[Misplaced] = []
        unsettled: list[SuspectKey] = []
        for some in chunked(dict.fromkeys(doubts), _AT_ONCE):
            chains, derivations = self._examine(some)
            wrong, unknown = _compared(chains, some, derivations)
            unsettled += unknown
            if wrong:
                # Check once more, between two reads of the ledgers that find them unchanged.
                suspects = [one.suspect for one in wrong]
                self._read(chains, suspects)
                wrong, unknown = _compared(chains, suspects, derivations)
                states = self._states({one.num for one in wrong}, derivations, catalog)
                misplaced += (one for one in wrong if states[one.num] is _IssueState.SOUND)
                unsettled += (
                    *unknown,
                    *(one.suspect for one in wrong if states[one.num] is _IssueState.CHANGED),
                )
        return JudgedDoubts(misplaced, unsettled)

    def doubtful(self, expected: Mapping[SuspectKey, bool]) -> list[SuspectKey]:
        """Return the keys on which the blocks disagree with the expectation: a strongly consistent read of
        each block.
        """
        chains = BlockWriter(self.table, self.tenant, self.project, self.fences)
        self._read(chains, expected)
        return [
            one
            for one, present in expected.items()
            if _holds(chains.covering(one.family, one.key), one) is not present
        ]

    def amend(self, doubts: Iterable[SuspectKey]) -> None:
        """Correct the blocks by the ledgers and the journal where these doubts are true and can be judged.

        A strongly consistent read of each block and ledger, and a write of each block in which something is
        wrong. Overloaded, also if other writers keep changing the same blocks; Unreadable.
        """
        for some in chunked(dict.fromkeys(doubts), _AT_ONCE):
            self._amend(some)

    def _amend(self, doubts: Sequence[SuspectKey]) -> None:
        rechained = False
        for attempt in range(backoff.ATTEMPTS):
            chains, wrong = self._wrong(doubts)
            if not wrong:
                return
            if not rechained and _begins_a_chain(chains, wrong):
                # A fold that has read the former blocks must not count its writes to them.
                self._log.rechain()
                rechained = True
                continue
            places = [
                KeyChange(self._issue(one.num), one.family, one.key, present=one.missing) for one in wrong
            ]
            written = chains.write(places)
            _raise_first(written.failed)
            if not written.lost:
                return
            backoff.pause(attempt)
            doubts = [one for one in doubts if self._issue(one.num) in written.lost]
        raise Overloaded("Other writers keep changing the same blocks. Try again.")

    def _wrong(self, doubts: Sequence[SuspectKey]) -> tuple[BlockWriter, list[Misplaced]]:
        """Return the misplaced keys, and the blocks that were read for them, by the keys that are then
        written to them.
        """
        chains, derivations = self._examine(doubts)
        wrong, _ = _compared(chains, doubts, derivations)
        suspects = {one.suspect for one in wrong}
        if not suspects <= set(doubts):
            chains, derivations = self._examine(list(suspects))
            wrong = [
                one for one in _compared(chains, list(suspects), derivations)[0] if one.suspect in suspects
            ]
        return chains, wrong

    def _examine(self, doubts: Sequence[SuspectKey]) -> tuple[BlockWriter, Derivations]:
        head = self._log.head()  # before the blocks: everything folded by now is in them
        chains = BlockWriter(
            *(self.table, self.tenant, self.project, self.fences),
            begins_at=head.folded,
            keys_at=partial(keys_of_members, self._log, head, ()),
        )
        self._read(chains, doubts)
        return chains, self._derivations({one.num for one in doubts}, head)

    def _read(self, chains: BlockWriter, doubts: Iterable[SuspectKey]) -> None:
        places = (KeyChange(self._issue(one.num), one.family, one.key, present=True) for one in doubts)
        _raise_first(chains.read(places))

    @property
    def _log(self) -> Log:
        return Log(self.table, self.tenant, self.project)

    def _derivations(self, numbers: Iterable[int], head: Head) -> Derivations:
        """Read the ledgers of these issues, and the journal if one is ahead: a read unit for each ledger, and
        the journal's.
        """
        wanted = {(self._issue(num), derived_keys.LEDGER): num for num in sorted(numbers)}
        found = self.table.batch_get(list(wanted), consistent=True).items
        stored = {wanted[key]: item for key, item in found.items()}
        ahead = any(item.get(NUMBER, 0) > head.folded for item in stored.values())
        waiting = self._log.all_after(head.folded) if ahead else []
        committed = {item.number: item for item in waiting}
        ledgers = {}
        for key, num in wanted.items():
            collection = Collection.of(key[0], [stored[num]] if num in stored else [])
            collection.look_up(head)
            collection.look_in_journal(committed.get)
            ledger = collection.read_ledger()
            if ledger is not None and ledger.intent is None:
                ledgers[num] = ledger
        return Derivations(ledgers, stored, waiting)

    def _states(
        self, numbers: Iterable[int], derivations: Derivations, catalog: Catalog
    ) -> Mapping[int, "_IssueState"]:
        """Return whether issues still have the ledgers that were read, and are right themselves."""
        head = self._log.head()

        def state(num: int) -> _IssueState:
            key = self._issue(num)
            collection = Collection.of(key, self.table.query_all(key, consistent=True))
            if not derivations.unchanged(num, collection.ledger):
                return _IssueState.CHANGED
            collection.look_up(head)
            collection.look_in_journal(self._log.item)
            return _IssueState.WRONG if compared(collection, catalog) else _IssueState.SOUND

        chosen = sorted(numbers)
        return dict(zip(chosen, in_threads(state, chosen), strict=True))

    def _issue(self, num: int) -> str:
        return keys.issue(self.tenant, self.project, num)


def _raise_first(failed: Mapping[str, Exception]) -> None:
    for error in failed.values():
        raise error


def _begins_a_chain(chains: BlockWriter, wrong: Iterable[Misplaced]) -> bool:
    """Return whether a block to write is the first one of a chain of which no block is there."""
    return any(not chains.covering(one.family, one.key).write_id for one in wrong)


def _compared(
    chains: BlockWriter, doubts: Iterable[SuspectKey], derivations: Derivations
) -> tuple[list[Misplaced], list[SuspectKey]]:
    """Return the doubts that are true as of the blocks that were read, and the doubts that cannot be judged."""
    wrong: list[Misplaced] = []
    unknown: list[SuspectKey] = []
    for one in doubts:
        block = chains.covering(one.family, one.key)
        strings = derivations.strings(one.num, block)
        if strings is None:
            unknown.append(one)
            continue
        wanted = _key_of(block, one, strings)
        if (wanted is not None) is not _holds(block, one):
            key = one.key if wanted is None else wanted
            wrong.append(Misplaced(one.num, one.family, key, block.id, wanted is not None))
    return wrong, unknown


def _key_of(block: Block, doubt: SuspectKey, strings: Iterable[str]) -> str | None:
    """Return the key that an issue should have in a block: any in a plain block, else the doubtful one."""
    wanted = {key for string in strings if is_key(string, doubt.num) for key in keys_of(doubt.family, string)}
    if block.detailed:
        return doubt.key if doubt.key in wanted else None
    return min(filter(block.covers, wanted), default=None)


def _holds(block: Block, doubt: SuspectKey) -> bool:
    return doubt.num in (block.members if block.sets is None else block.sets.get(body_of(doubt.key), ()))
