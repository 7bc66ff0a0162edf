"""Properties of a journal: each block equals the journal up to its position at any time, and in the end nothing
waits.
"""

from collections.abc import Mapping

from devtools.proof.faults.world import Difference, World
from gridview.chains.blocks import Block
from gridview.derive.families import is_key, keys_of
from gridview.derive.ledger import Ledger
from gridview.encoding.sort_strings import body_of


def assert_replayed(world: World, block: Block) -> None:
    """A block holds each issue as the last journal item up to its position has it, in which the issue moves in the block's family.

    It holds no others.
    """
    said = _said(world, block.family, block.position)
    for num, keys_ in said.items():
        there = _bodies(block, num)
        wanted = {body_of(key) if block.detailed else None for key in keys_ if block.covers(key)}
        if there != wanted:
            raise Difference(
                f"block {block.id} of {block.family} at {block.position} has {num} under {sorted(there, key=repr)}, "
                f"the journal says {sorted(wanted, key=repr)}"
            )
    if strange := set(block.members) - said.keys():
        raise Difference(
            f"block {block.id} of {block.family} has {sorted(strange)}, which are not in the journal"
        )


def _said(world: World, family: str, position: int) -> Mapping[int, frozenset[str]]:
    """Issue number -> its keys in a family, by the items up to a position."""
    said: dict[int, frozenset[str]] = {}
    for number in sorted(number for number in world.journal if number <= position):
        for change in world.journal[number].changes:
            if family in change.moves:
                to = change.moves[family].to
                said[change.num] = (
                    keys_of(family, to) if to is not None and is_key(to, change.num) else frozenset()
                )
    return said


def _bodies(block: Block, num: int) -> set[str | None]:
    if block.sets is None:
        return {None} if num in block.members else set()
    return {body for body, numbers in block.sets.items() if num in numbers}


def finished(world: World, ledger: Ledger) -> Ledger:
    """A ledger, with its intent committed if the journal has it."""
    record = world.journal.get(ledger.number)
    return ledger.committed() if record is not None and record.changes else ledger


def assert_folded(world: World) -> None:
    """Once all is quiet, nothing waits: every number up to the last is decided, and the watermark is there."""
    head = world.head
    if head.folded != head.last or head.due is not None:
        raise Difference(f"the fold has left something: {head}")
    missing = [number for number in range(1, head.last + 1) if number not in world.journal]
    emptied = {number for number, record in world.journal.items() if record.is_empty}
    if missing or emptied != set(head.emptied):
        raise Difference(
            f"the head says {sorted(head.emptied)} of the empty {sorted(emptied)}; missing: {missing}"
        )
