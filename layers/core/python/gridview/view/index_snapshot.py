"""What one request has read of the index: one state of each directory and of each block, with recent changes laid over."""

from collections.abc import Iterable

from gridview.chains.blocks import Block, Entry
from gridview.chains.directory import Directory, Range, range_of
from gridview.view.block_reader import BlockReader
from gridview.view.block_reads import Reads, Want
from gridview.view.overlay import NOTHING, Overlay
from gridview.view.reads import ReadDirectories


class IndexSnapshot:
    """Reads the index for one request. The executor reads by it, and the steps of plans see it as their `Snapshot`."""

    def __init__(self, reader: BlockReader) -> None:
        self.overlay: Overlay = NOTHING
        """To be laid before anything is looked at."""
        self._reader = reader
        self._counted: set[str] = set()
        self._directories: dict[str, Directory] = {}
        self._listed: dict[tuple[str, Entry], Entry | None] = {}
        self._blocks: dict[tuple[str, Entry], Block] = {}

    def lay(self, overlay: Overlay) -> None:
        """Lay another overlay: what is looked at from now on is laid over anew."""
        self.overlay = overlay
        self._counted.clear()
        self._directories.clear()
        self._listed.clear()
        self._blocks.clear()

    @property
    def reads(self) -> Reads:
        """What has been read of blocks."""
        return self._reader.reads

    @property
    def age(self) -> float:
        """Seconds since the oldest directory in use was read; 0.0 if none came from the cache."""
        return self._reader.age

    @property
    def position(self) -> int:
        """The highest number of the journal that what was read anew tells of."""
        return self._reader.position

    def renew(self, since: float) -> bool:
        """Forget what may have been read of GSI1 before an instant; whether there was any."""
        return self._reader.renew(since)

    # Reading

    def has_directory(self, family: str) -> bool:
        """Whether a directory is at hand."""
        return self._reader.has_directory(family)

    def directories(self, families: Iterable[str]) -> None:
        """Read directories: one round, as `BlockReader.directories`."""
        self._reader.directories(families)

    def unsettled(self, read: ReadDirectories) -> tuple[Want, ...]:
        """The blocks that have to be read too, so that the sizes in directories that have been read are exact."""
        self._counted.update(read.counted)
        return tuple(
            want
            for family in read.counted
            for entry in self.overlay.unsettled(self._reader.directory(family))
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
        """What is wanted, by the entry that the index has; None of a block that the index does not have yet."""
        entry = self._listed.get((want.family, want.entry), want.entry)
        return None if entry is None else want._replace(entry=entry)

    # What was read

    def directory(self, family: str) -> Directory:
        """A directory that was asked for."""
        if family not in self._directories:
            listed = self._reader.directory(family)
            entries = self.overlay.unsettled(listed) if family in self._counted else ()
            settled = {entry: self._reader.block(family, entry) for entry in entries}
            laid = self.overlay.directory(listed, settled)
            if laid is not listed:
                before = {entry.id: entry for entry in listed.entries}
                changed = [one for one in laid.entries if before.get(one.id) != one]
                self._listed |= {(family, one): before.get(one.id) for one in changed}
            self._directories[family] = laid
        return self._directories[family]

    def block(self, family: str, entry: Entry) -> Block:
        """A block that was asked for, with exactly the fences and the form (detailed or plain) of its entry."""
        place = family, entry
        if place not in self._blocks:
            listed = self._listed.get(place, entry)
            block = Block.head(family) if listed is None else self._reader.block(family, listed)
            self._blocks[place] = self.overlay.family(family).block(block)
        return self._blocks[place]

    def keys(self, family: str, entry: Entry, range: Range) -> list[str]:  # noqa: A002  (what it is)
        """The sort strings of a block's members in a range that was asked for, in order."""
        listed = self._listed.get((family, entry), entry)
        found = [] if listed is None else self._reader.keys(family, listed, range)
        return self.overlay.family(family).keys(found, range_of(entry).overlap(range))
