"""The derived strings that issues have in a block, by their ledgers and the journal. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from gridview.chains.blocks import Block
from gridview.derive.issue_changes import FamilyChange
from gridview.derive.ledger import Ledger
from gridview.dynamodb.expressions import Item
from gridview.journal.items import JournalItem


class Derivations:
    """The derived strings of some issues, read after the blocks that are compared with them.

    A ledger may be ahead of a block, which lags by the journal items after its position. The first of these
    items in which the issue moves then has the strings that the issue had before.
    """

    def __init__(
        self, ledgers: Mapping[int, Ledger], stored: Mapping[int, Item], waiting: Iterable[JournalItem]
    ) -> None:
        """`ledgers` are the finished ones, by issue number, and `stored` the items of all.

        `waiting`: the journal after the watermark, in order, read after the ledgers.
        """
        self._ledgers = ledgers
        self._stored = stored
        self._moves: dict[int, list[tuple[int, Mapping[str, FamilyChange]]]] = defaultdict(list)
        for item in waiting:
            for change in item.changes:
                self._moves[change.num].append((item.number, change.moves))

    def unchanged(self, num: int, stored: Item | None) -> bool:
        """Return whether the ledger of an issue is as it was read."""
        return self._stored.get(num) == stored

    def strings(self, num: int, block: Block) -> tuple[str, ...] | None:
        """Return the derived string that an issue has in a block's family as of the block; empty if it has
        none.

        None if that is unknown: its ledger is unfinished, or the fold is about to write every key that the
        issue may have.
        """
        ledger = self._ledgers.get(num)
        if ledger is None:
            return None
        for number, moves in self._moves.get(num, ()):
            if number > block.position and block.family in moves:
                move = moves[block.family]
                return None if move.thorough else move.left
        applied = ledger.applied.get(block.family)
        return () if applied is None else (applied,)
