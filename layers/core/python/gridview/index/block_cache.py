"""A container's cache between requests: bitmaps, sort strings, directories, journals. In memory, with size and age limits."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from gridview.index.blocks import Block
from gridview.index.directory import Directory, Range

_ENTRY_BYTES = 400
"""Approximate memory of a directory entry, in bytes."""
_KEYS_SECONDS = 60
"""How long the sort strings of a plain block are kept. GSI1 may not have had all of them yet when they were read."""

_BEAT_SECONDS = 30.0


class _Kept(NamedTuple):
    value: Any
    size: int
    until: float | None


class BlockCache:
    """Blocks and the sort strings of plain ones, by partition key and write id; directories; and the ends of journals.

    All keys name tenant and project. Beyond about `size` bytes the least recently used entries go first. Directories are kept for
    `seconds`: a page may be as late, in addition to the lag of the index.
    """

    def __init__(
        self,
        seconds: float,
        size: int = 64 * 2**20,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.seconds = seconds
        self.clock = clock
        self.used = 0
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

    def sort_strings(self, partition_key: str, write_id: str, part: Range | None = None) -> list[str] | None:
        """All sort strings of a plain block or of a part of it, in order, if they are cached."""
        found: list[str] | None = self._get(("keys", partition_key, write_id, *_fences(part)))
        return found

    def keep_sort_strings(
        self, partition_key: str, write_id: str, found: list[str], part: Range | None = None
    ) -> None:
        """Cache the sort strings of a plain block read as a whole, or those of a part of it (for as long as directories)."""
        seconds = _KEYS_SECONDS if part is None else self.seconds
        if seconds > 0:
            # A Python string takes about 50 bytes besides its characters.
            size = _ENTRY_BYTES + sum(50 + len(one) for one in found)
            key = ("keys", partition_key, write_id, *_fences(part))
            self._put(key, found, size, self.clock() + seconds)

    def directory(self, partition: str) -> Directory | None:
        """A directory that is young enough, with its age in seconds."""
        found: tuple[Directory, float] | None = self._get(("directory", partition))
        return None if found is None else replace(found[0], age=self.clock() - found[1])

    def keep_directory(self, partition: str, directory: Directory) -> None:
        """Cache a directory that was just read."""
        if self.seconds > 0:
            now = self.clock()
            size = _ENTRY_BYTES * (1 + len(directory.entries))
            self._put(("directory", partition), (directory, now), size, now + self.seconds)

    def journal(self, partition: str) -> Any:
        """What `keep_journal` has kept of a journal; None if nothing is."""
        return self._get(("journal", partition))

    def keep_journal(self, partition: str, journal: Any, size: int) -> None:
        """Keep what is known of a journal: about `size` bytes in memory. Its items never change, so they do not age."""
        self._put(("journal", partition), journal, _ENTRY_BYTES + size)

    def beat(self) -> Any:
        """What `keep_beat` has kept; None if nothing is, or no more."""
        return self._get(("beat",))

    def keep_beat(self, beat: Any) -> None:
        """Keep what was read of the heartbeat, for half of the time between two."""
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


def _fences(part: Range | None) -> tuple[str, ...]:
    """The part of a key that names a part of a block; () for the whole block."""
    return () if part is None else (part.lower, *(() if part.upper is None else (part.upper,)))
