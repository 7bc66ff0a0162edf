"""A container's cache between requests: bitmaps, sort strings, directories, columns, journals. In memory, and limited in size."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from gridview.chains.blocks import Block
from gridview.chains.directory import Directory, Range
from gridview.view.index_clock import Sighting

_ENTRY_BYTES = 400
"""Approximate memory of a directory entry, in bytes."""
_DATED_SECONDS = 900.0
"""The most seconds for which a listing of GSI1 is kept."""

_BEAT_SECONDS = 30.0


class _Kept(NamedTuple):
    value: Any
    size: int
    until: float | None


class _Dated(NamedTuple):
    """A listing of GSI1: when it was kept, by the cache's clock, and the instant at which it was read."""

    value: Any
    kept: float
    read: float


class BlockCache:
    """Blocks and the sort strings of plain ones, by partition key and write id; directories; columns; the ends of journals.

    All keys name tenant and project. Beyond about `size` bytes, the least recently used entries go first. A listing of
    GSI1 is used as long as the journal's changes since then are at hand. `sighting`: the last one of a canary in GSI1.
    """

    def __init__(self, size: int = 64 * 2**20, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.used = 0
        self.sighting: Sighting | None = None
        self._size = size
        self._kept: OrderedDict[tuple[str, ...], _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def block(self, partition_key: str, write_id: str) -> Block | None:
        """The block as written under this write id, if it is cached."""
        found: Block | None = self._get(("block", partition_key, write_id))
        return found

    def keep_block(self, partition_key: str, block: Block, size: int) -> None:
        """Cache a block whose bitmaps have `size` bytes."""
        self._put(("block", partition_key, block.write_id), block, 2 * size + _ENTRY_BYTES)

    def sort_strings(self, partition_key: str, write_id: str, part: Range, since: float) -> list[str] | None:
        """All sort strings in a part of a plain block, in order; None if not cached. `since`: as for `directory`."""
        found = self._dated(("keys", partition_key, write_id, *_fences(part)), since)
        return None if found is None else list(found.value)

    def keep_sort_strings(
        self, partition_key: str, write_id: str, part: Range, found: list[str], at: float
    ) -> None:
        """Cache the sort strings in a part of a plain block. `at`: as for `keep_directory`."""
        # A Python string takes about 50 bytes beyond its characters.
        size = _ENTRY_BYTES + sum(50 + len(one) for one in found)
        self._keep_dated(("keys", partition_key, write_id, *_fences(part)), found, size, at)

    def directory(self, partition: str, since: float) -> Directory | None:
        """A directory that was read from an instant on, with its age in seconds; None if there is none.

        `since`: seconds since 1970. The journal items at hand include every change since that instant.
        """
        found = self._dated(("directory", partition), since)
        return None if found is None else replace(found.value, age=self.clock() - found.kept)

    def keep_directory(self, partition: str, directory: Directory, at: float) -> None:
        """Cache a directory that was read at the instant `at`, in seconds since 1970."""
        self._keep_dated(("directory", partition), directory, _ENTRY_BYTES * (1 + len(directory.entries)), at)

    def column(self, partition: str) -> Any:
        """The column that `keep_column` has kept; None if there is none."""
        return self._get(("column", partition))

    def keep_column(self, partition: str, column: Any, size: int, until: float) -> None:
        """Keep a column, of about `size` bytes in memory, until an instant of the cache's clock."""
        self._put(("column", partition), column, _ENTRY_BYTES + size, until)

    def columns(self, prefix: str) -> list[str]:
        """The partition keys of the columns under a prefix."""
        with self._lock:
            return [key[1] for key in self._kept if key[0] == "column" and key[1].startswith(prefix)]

    def forget_column(self, partition: str) -> None:
        """Forget a column, if it is kept."""
        with self._lock:
            if ("column", partition) in self._kept:
                self._drop(("column", partition))

    def _dated(self, key: tuple[str, ...], since: float) -> _Dated | None:
        found: _Dated | None = self._get(key)
        return None if found is None or found.read < since else found

    def _keep_dated(self, key: tuple[str, ...], value: Any, size: int, at: float) -> None:
        now = self.clock()
        self._put(key, _Dated(value, now, at), size, now + _DATED_SECONDS)

    def journal(self, partition: str) -> Any:
        """The journal that `keep_journal` has kept; None if there is none."""
        return self._get(("journal", partition))

    def keep_journal(self, partition: str, journal: Any, size: int) -> None:
        """Keep a part of a journal, of about `size` bytes in memory. Its items never change, so they do not age."""
        self._put(("journal", partition), journal, _ENTRY_BYTES + size)

    def beat(self) -> Any:
        """The value that `keep_beat` has kept; None if there is none, or it has aged."""
        return self._get(("beat",))

    def keep_beat(self, beat: Any) -> None:
        """Keep the heartbeat's note, for half of the time between two beats."""
        self._put(("beat",), beat, _ENTRY_BYTES, self.clock() + _BEAT_SECONDS)

    def _get(self, key: tuple[str, ...]) -> Any:
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            if kept.until is not None and self.clock() >= kept.until:
                self._drop(key)
                return None
            self._kept.move_to_end(key)
            return kept.value

    def _put(self, key: tuple[str, ...], value: Any, size: int, until: float | None = None) -> None:
        with self._lock:
            if key in self._kept:
                self._drop(key)
            self._kept[key] = _Kept(value, size, until)
            self.used += size
            while self.used > self._size:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: tuple[str, ...]) -> None:
        self.used -= self._kept.pop(key).size


def _fences(part: Range) -> tuple[str, ...]:
    """The part of a cache key that names a part of a block."""
    return part.lower, *(() if part.upper is None else (part.upper,))
