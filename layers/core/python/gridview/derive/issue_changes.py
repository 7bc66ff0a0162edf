"""The change of one issue as it is committed: its new version, and its moves by family. Pure."""

from collections.abc import Mapping
from typing import NamedTuple


class FamilyChange(NamedTuple):
    """The move of an issue in one family: the derived strings that it leaves, and the one that it takes
    (None: it takes none).

    `thorough`: another writer may have put others of these strings into blocks, so all are written, changed
    or not.
    """

    left: tuple[str, ...]
    to: str | None
    thorough: bool = False


class IssueChange(NamedTuple):
    """A new version of an issue, and its moves by family. `revision` is its ledger's.

    It reports to the feed the versions after `before` up to `version`: none if they are the same. If `before`
    is beyond it, the stream has not brought yet that the issue is gone; that is reported when it has. None:
    the last reported version is unknown, because the issue's ledger was lost.
    """

    num: int
    version: int
    removed: bool
    revision: int
    moves: Mapping[str, FamilyChange]
    before: int | None = None

    @property
    def size(self) -> int:
        """About the bytes that it takes in an item before compression."""
        return 40 + sum(
            len(family) + 20 + sum(len(one.encode()) for one in (*move.left, move.to or ""))
            for family, move in self.moves.items()
        )
