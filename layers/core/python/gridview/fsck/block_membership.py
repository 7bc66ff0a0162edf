"""Checks that each issue is in exactly the blocks that its ledger names, and repairs those where it is not.

A ledger that is finished before and after the read of a block determines the block's content. An issue that another writer is
working on is left to that writer; in a journalled project, one whose last change is behind the watermark is left to the fold. The
repair follows the protocol of every block writer (`block_writer`): read the blocks, then the ledgers, then write the blocks under
the write ids that were read.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.sort_strings import body_of
from gridview.fsck.issue_diff import Collection, compared
from gridview.index.block_writer import BlockWriter, still_at
from gridview.index.blocks import Block, KeyChange
from gridview.index.families import is_key, keys_of
from gridview.index.fence_cache import Fences
from gridview.index.journal import Head
from gridview.index.journal_log import Log
from gridview.index.ledger import Ledger
from gridview.schema.catalog import Catalog
from gridview.support.concurrency import chunked, in_threads

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


@dataclass(frozen=True, slots=True)
class BlockMembership:
    """The blocks of one project, compared with its issues' ledgers."""

    table: Table
    fences: Fences
    tenant: str
    project: str
    journalled: bool

    def misplaced(self, doubts: Iterable[SuspectKey], catalog: Catalog) -> Iterator[Misplaced]:
        """The doubts that are true, limited to issues that nobody is working on and with which nothing else is wrong.

        Strongly consistent reads of each block and ledger, and of all items of misplaced issues. Overloaded, Unreadable.
        """
        for some in chunked(dict.fromkeys(doubts), _AT_ONCE):
            chains, wrong, ledgers = self._examine(some)
            if wrong:
                # Check once more, between two reads of the ledgers that find them unchanged.
                told = [one.suspect for one in wrong]
                self._read(chains, told)
                wrong = list(_wrong(chains, told, ledgers))
                sound = self._sound({one.num for one in wrong}, ledgers, catalog)
                yield from (one for one in wrong if one.num in sound)

    def doubtful(self, expected: Mapping[SuspectKey, bool]) -> list[SuspectKey]:
        """The keys on which the blocks disagree with the expectation: a strongly consistent read of each block."""
        chains = BlockWriter(self.table, self.tenant, self.project, self.fences)
        self._read(chains, expected)
        return [
            one
            for one, present in expected.items()
            if _holds(chains.covering(one.family, one.key), one) is not present
        ]

    def amend(self, doubts: Iterable[SuspectKey]) -> None:
        """Correct the blocks by the ledgers where these doubts are true.

        A strongly consistent read of each block and ledger, and a write of each block in which something is wrong. Overloaded,
        Unreadable.
        """
        for some in chunked(dict.fromkeys(doubts), _AT_ONCE):
            chains, wrong, ledgers = self._examine(some)
            told = {one.suspect for one in wrong}
            if not told <= set(some):  # a block is read by the keys that are then written to it
                chains, wrong, ledgers = self._examine(list(told))
                wrong = [one for one in wrong if one.suspect in told]
            places = [
                KeyChange(self._issue(one.num), one.family, one.key, present=one.missing) for one in wrong
            ]
            if places:
                revisions = {self._issue(num): ledger.revision for num, ledger in ledgers.items()}
                _raise_first(chains.write(places, still_at(self.table, revisions, intent=False)).failed)

    def _examine(
        self, doubts: Sequence[SuspectKey]
    ) -> tuple[BlockWriter, list[Misplaced], Mapping[int, Ledger]]:
        head = self._head()  # before the blocks: what is folded by now is in them
        chains = BlockWriter(self.table, self.tenant, self.project, self.fences)
        self._read(chains, doubts)
        ledgers = self._finished({one.num for one in doubts}, head)
        return chains, list(_wrong(chains, doubts, ledgers)), ledgers

    def _read(self, chains: BlockWriter, doubts: Iterable[SuspectKey]) -> None:
        places = (KeyChange(self._issue(one.num), one.family, one.key, present=True) for one in doubts)
        _raise_first(chains.read(places))

    def _head(self) -> Head | None:
        return Log(self.table, self.tenant, self.project).head() if self.journalled else None

    def _finished(self, numbers: Iterable[int], head: Head | None) -> dict[int, Ledger]:
        """The intact, finished ledgers; the empty ledger for an issue that has none."""
        wanted = {num: (self._issue(num), keys.LEDGER) for num in sorted(numbers)}
        found = self.table.batch_get(list(wanted.values()), consistent=True).items
        read = {
            num: self._collection(key[0], [found[key]] if key in found else [], head).read_ledger()
            for num, key in wanted.items()
        }
        return {num: ledger for num, ledger in read.items() if ledger is not None and ledger.intent is None}

    def _sound(self, numbers: Iterable[int], ledgers: Mapping[int, Ledger], catalog: Catalog) -> set[int]:
        """The issues whose own items are right, and whose ledgers are unchanged."""

        head = self._head()

        def judge(num: int) -> bool:
            key = self._issue(num)
            collection = self._collection(key, self.table.query_all(key, consistent=True), head)
            return collection.read_ledger() == ledgers[num] and not compared(collection, catalog)

        chosen = sorted(numbers)
        return {num for num, sound in zip(chosen, in_threads(judge, chosen), strict=True) if sound}

    def _collection(self, key: str, items: Iterable[Item], head: Head | None) -> Collection:
        collection = Collection.of(key, items)
        collection.look_up(head)
        return collection

    def _issue(self, num: int) -> str:
        return keys.issue(self.tenant, self.project, num)


def _raise_first(failed: Mapping[str, Exception]) -> None:
    for error in failed.values():
        raise error


def _wrong(
    chains: BlockWriter, doubts: Iterable[SuspectKey], ledgers: Mapping[int, Ledger]
) -> Iterator[Misplaced]:
    for one in doubts:
        if one.num in ledgers:
            block = chains.covering(one.family, one.key)
            wanted = _key_of(block, one, ledgers[one.num])
            if (wanted is not None) is not _holds(block, one):
                key = one.key if wanted is None else wanted
                yield Misplaced(one.num, one.family, key, block.id, wanted is not None)


def _key_of(block: Block, doubt: SuspectKey, ledger: Ledger) -> str | None:
    """The key that an issue should have in a block: any if the block does not tell keys apart, else the doubtful one."""
    derived = ledger.applied.get(doubt.family)
    if derived is None or not is_key(derived, doubt.num):
        return None
    wanted = keys_of(doubt.family, derived)
    if block.detailed:
        return doubt.key if doubt.key in wanted else None
    return min(filter(block.covers, wanted), default=None)


def _holds(block: Block, doubt: SuspectKey) -> bool:
    return doubt.num in (block.members if block.sets is None else block.sets.get(body_of(doubt.key), ()))
