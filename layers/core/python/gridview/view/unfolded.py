"""What a journal says of a family that blocks and sort entries may not show yet: for readers who plan nothing.

By state: take the issues out of whatever was read, and put in their keys, however much of it is folded already. Pure.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pyroaring import BitMap

from gridview.chains.blocks import Block, Entry
from gridview.chains.directory import range_of
from gridview.derive.families import keys_of
from gridview.encoding.sort_strings import body_of, number_of
from gridview.view.moves import FamilyMoves


class Unfolded(NamedTuple):
    """The issues that a journal moves in a family, the keys that they are to have, and all that they may have."""

    issues: BitMap
    keys: frozenset[str]
    may_have: frozenset[str]

    @classmethod
    def of(cls, family: str, moves: Mapping[int, FamilyMoves]) -> "Unfolded":
        """What these moves say of a family."""
        here = {num: found[family] for num, found in moves.items() if family in found}
        takes = [one.takes for one in here.values() if one.takes is not None]
        leaves = [one for move in here.values() for one in move.leaves]
        held = _keys(family, takes)
        return cls(BitMap(here), held, held | _keys(family, leaves))

    def bodies(self) -> frozenset[str]:
        """The bodies of the keys that the issues are to have."""
        return frozenset(map(body_of, self.keys))

    def touches(self, entry: Entry) -> bool:
        """Whether a block may hold one of the issues, or is to."""
        between = range_of(entry)
        return any(between.covers(key) for key in self.may_have)

    def members(self, block: Block) -> BitMap:
        """The members that a block is to have."""
        return (block.members - self.issues) | BitMap(
            number_of(key) for key in self.keys if block.covers(key)
        )


def _keys(family: str, derived: Iterable[str]) -> frozenset[str]:
    return frozenset(key for one in derived for key in keys_of(family, one))
