"""Directories and blocks that one request has read: one state of each, all with the same recent changes laid over."""

from collections.abc import Iterable

from gridview.chains.blocks import Block, Entry
from gridview.chains.directory import Directory, Range, range_of
from gridview.view.block_reader import BlockReader
from gridview.view.block_reads import Want
from gridview.view.overlay import Overlay
from gridview.view.reads import ReadDirectories


class IndexSnapshot:
    """A reader's directories and blocks under one overlay. The steps of plans use it as their `Snapshot`."""

    def __init__(self, reader: BlockReader, overlay: Overlay) -> None:
        self._overlay = overlay
        self._reader = reader
        self._counted: set[str] = set()
        self._directories: dict[str, Directory] = {}
        self._listed: dict[tuple[str, Entry], Entry | None] = {}
        self._blocks: dict[tuple[str, Entry], Block] = {}

    # Reading

    def unsettled(self, read: ReadDirectories) -> tuple[Want, ...]:
        """The blocks that must also be read, so that the sizes in directories that have been read are exact."""
        self._counted.update(read.counted)
        return tuple(
            want
            for family in read.counted
            for entry in self._overlay.unsettled(self._reader.directory(family))
            if not self._reader.has(want := Want(family, entry))
        )

    def has(self, want: Want) -> bool:
        """Whether the wanted blocks are at hand."""
        listed = self._as_listed(want)
        return listed is None or self._reader.has(listed)

    def read(self, wants: Iterable[Want]) -> None:
        """Read blocks: one round, as `BlockReader.read`."""
        listed = map(self._as_listed, wants)
        self._reader.read([want for want in listed if want is not None])

    def _as_listed(self, want: Want) -> Want | None:
        """The wanted parts, by the entry that the index has; None for a block that the index does not have yet."""
        entry = self._listed.get((want.family, want.entry), want.entry)
        return None if entry is None else want._replace(entry=entry)

    # Results

    def directory(self, family: str) -> Directory:
        """A directory that was asked for."""
        if family not in self._directories:
            listed = self._reader.directory(family)
            entries = self._overlay.unsettled(listed) if family in self._counted else ()
            settled = {entry: self._reader.block(family, entry) for entry in entries}
            overlaid = self._overlay.directory(listed, settled)
            if overlaid is not listed:
                before = {entry.id: entry for entry in listed.entries}
                changed = [one for one in overlaid.entries if before.get(one.id) != one]
                self._listed |= {(family, one): before.get(one.id) for one in changed}
            self._directories[family] = overlaid
        return self._directories[family]

    def block(self, family: str, entry: Entry) -> Block:
        """A block that was asked for, with exactly the fences and the form (detailed or plain) of its entry."""
        place = family, entry
        if place not in self._blocks:
            listed = self._listed.get(place, entry)
            block = Block.head(family) if listed is None else self._reader.block(family, listed)
            self._blocks[place] = self._overlay.family(family).block(block)
        return self._blocks[place]

    def keys(self, family: str, entry: Entry, range: Range) -> list[str]:  # noqa: A002  (what it is)
        """The sort strings of a block's members in a range that was asked for, in order."""
        listed = self._listed.get((family, entry), entry)
        found = [] if listed is None else self._reader.keys(family, listed, range)
        return self._overlay.family(family).keys(found, range_of(entry).overlap(range))
