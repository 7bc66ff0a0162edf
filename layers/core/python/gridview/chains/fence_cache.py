"""Lower fences of blocks as far as a container knows them. A wrong guess costs one call and does no harm."""

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock

from gridview.chains.blocks import HEAD

FAMILIES = 2_000
"""Families whose fences are cached."""

Fence = tuple[str, str]
"""A lower fence, and the id of the block that begins there. The pair never changes, but blocks come and go."""


class Fences:
    """Fences of families, by the partitions of their directories."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, list[Fence]] = OrderedDict()
        self._lock = Lock()

    def knows(self, directory: str) -> bool:
        """Whether fences of a family are known."""
        return directory in self._known

    def guess(self, directory: str, key: str) -> str:
        """The id of the block that probably covers a key."""
        with self._lock:
            known = self._known.get(directory, [])
            at = bisect_right(known, key, key=lambda fence: fence[0])
            return known[at - 1][1] if at else HEAD

    def learn(self, directory: str, found: Iterable[Fence]) -> None:
        """Remember existing blocks."""
        with self._lock:
            known = self._known.setdefault(directory, [])
            self._known.move_to_end(directory)
            for fence in found:
                at = bisect_left(known, fence)
                if at == len(known) or known[at] != fence:
                    known.insert(at, fence)
            while len(self._known) > FAMILIES:
                self._known.popitem(last=False)

    def forget(self, directory: str, block_id: str) -> None:
        """Forget a block that no longer exists."""
        with self._lock:
            known = self._known.get(directory, [])
            known[:] = [fence for fence in known if fence[1] != block_id]
