"""Reads directories and blocks for one request.

A directory may be slightly older than the blocks. If a block turns out to have other fences, it was split or merged since.
Consistent reads then find the blocks that now cover its place. So `block` always returns exactly the keys between the
directory's fences, in the directory's form: detailed or plain.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from pyroaring import BitMap

from gridview.chains.blocks import HEAD, MAX_BYTES, Block, Entry, Sets, entry_of
from gridview.chains.directory import Directory, Range, chained, keys_in, members_in, range_of
from gridview.dynamodb.expressions import Bound, Key, Span
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.sort_strings import body_of, number_of
from gridview.schema.catalog import Catalog
from gridview.support import clock
from gridview.support.errors import Overloaded
from gridview.view.block_cache import BlockCache
from gridview.view.block_reads import Reads, Want

_DIRECTORY_PATHS = (("size",), ("upper",), ("next",), ("write_id",))
_ATTEMPTS = 32
"""Consistent reads in a row after which a chain that keeps changing is given up."""
_LEFT_AT_ONCE = 16
"""How many blocks to the left of a missing one are read to find the block it was merged into."""


class BlockReader:
    """The reads of one request; the request sees one state of each directory and of each block.

    `since`: seconds since 1970. Reads from that instant on agree with the journal items at hand.
    """

    def __init__(self, table: Table, catalog: Catalog, cache: BlockCache, since: float) -> None:
        self.reads = Reads()
        self.position = 0
        """The highest position of a directory or block that was read from the table."""
        self._since = since
        self._table = table
        self._tenant, self._project = catalog.tenant, catalog.project
        self._cache = cache
        self._directories: dict[str, Directory] = {}
        self._blocks: dict[tuple[str, Entry], Block] = {}
        self._keys: dict[tuple[str, Entry], list[tuple[Range, list[str]]]] = {}

    @property
    def age(self) -> float:
        """Seconds since the oldest directory in use was read; 0.0 if none came from the cache."""
        return max((directory.age for directory in self._directories.values()), default=0.0)

    # Directories

    def has_directory(self, family: str) -> bool:
        """Whether a directory is at hand, so that `directories` does not read it. The request then keeps this copy."""
        if family not in self._directories:
            kept = self._cache.directory(self._partition(family), self._since)
            if kept is not None:
                self._directories[family] = kept
        return family in self._directories

    def renew(self, since: float) -> bool:
        """Forget everything that may have been read of GSI1 before an instant; returns whether there was anything."""
        before, self._since = self._since, since
        if before >= since or not self._directories:
            return False
        self._directories.clear()
        self._blocks.clear()
        self._keys.clear()
        return True

    def directory(self, family: str) -> Directory:
        """A directory that is at hand."""
        return self._directories[family]

    def directories(self, families: Iterable[str]) -> dict[str, Directory]:
        """Directories of families; () entries for a family without blocks. One round of parallel Query calls of GSI1.

        0.5 read units for each 4 KB, about 20 blocks. Nothing for a directory that is at hand in the cache.

        More rounds are needed only for a directory of more than 1 MB (some 4,000 blocks) or one with a gap. For a gap, the
        blocks beside it are read consistently.
        """
        wanted = list(dict.fromkeys(families))
        missing = [family for family in wanted if not self.has_directory(family)]
        if missing:
            at = clock.seconds()
            spans = [Span(self._partition(family)) for family in missing]
            listed = self._table.read_together((), spans, paths=_DIRECTORY_PATHS).spans
            listings = {
                family: [Entry.from_item(item) for item in items]
                for family, items in zip(missing, listed, strict=True)
            }
            self._directories.update(self._chained(listings))
            for family in missing:
                directory = self._directories[family]
                self._cache.keep_directory(self._partition(family), directory, at)
                self.position = max(self.position, *(entry.position for entry in directory.entries), 0)
        return {family: self._directories[family] for family in wanted}

    def _chained(self, listings: Mapping[str, Sequence[Entry]]) -> dict[str, Directory]:
        """Directories from listings, with their gaps filled."""
        done: dict[str, Directory] = {}
        reread: dict[str, dict[str, Entry | None]] = {family: {} for family in listings}
        for _ in range(_ATTEMPTS):
            gaps: list[tuple[str, str]] = []
            for family, listing in listings.items():
                if family not in done:
                    found = chained(family, listing, reread[family])
                    if isinstance(found, Directory):
                        done[family] = found
                    else:
                        gaps += [(family, block_id) for block_id in sorted(found)]
            if not gaps:
                return done
            for (family, block_id), block in self._consistent(gaps).items():
                reread[family][block_id] = None if block is None else entry_of(block)
        raise Overloaded("The index is changing too fast. Try again.")

    # Blocks

    def has(self, want: Want) -> bool:
        """Whether the wanted blocks are at hand, so that `read` does not read them."""
        by_entries = want.keys is not None and not want.entry.detailed
        in_sets = want.members or (want.keys is not None and want.entry.detailed)
        between = range_of(want.entry).overlap(want.keys) if by_entries and want.keys is not None else None
        return (not in_sets or self._has_block(want.family, want.entry)) and (
            between is None or between.empty or self._has_keys(want.family, want.entry, between)
        )

    def read(self, wants: Iterable[Want]) -> None:
        """Read the wanted blocks that are not at hand, in one round of parallel calls.

        BatchGetItem of blocks (0.5 read units each) and Query of the sort entries of plain blocks (0.5 for each 4 KB). More
        rounds are needed only for blocks that were split or merged meanwhile.
        """
        sets: dict[tuple[str, Entry], None] = {}
        ranges: dict[tuple[str, Entry, Range], None] = {}
        for want in wants:
            place = want.family, want.entry
            by_entries = want.keys is not None and not want.entry.detailed
            if want.members or (want.keys is not None and want.entry.detailed):
                sets[place] = None
            if by_entries and want.keys is not None:
                between = range_of(want.entry).overlap(want.keys)
                if not between.empty and not self._has_keys(*place, between):
                    ranges[*place, between] = None
        missing = [place for place in sets if not self._has_block(*place)]
        if not missing and not ranges:
            return
        at = clock.seconds()
        together = self._table.read_together(
            [self._key(family, entry.id) for family, entry in missing],
            [self._span(family, between) for family, _, between in ranges],
            paths=(),
        )
        self.reads.blocks += len(missing)
        self.reads.ranges += len(ranges)
        stale = []
        for family, entry in missing:
            item = together.items.get(self._key(family, entry.id))
            block = None if item is None else self._kept(item)
            if block is not None and _agrees(block, entry):
                self._blocks[family, entry] = block
            else:
                stale.append((family, entry))
        for (family, entry, between), items in zip(ranges, together.spans, strict=True):
            self._found_keys(family, entry, between, [item[keys.SORT] for item in items], at)
        if stale:
            self.reads.settled += len(stale)
            self._resolve(stale)

    def block(self, family: str, entry: Entry) -> Block:
        """A wanted block, with exactly the fences and the form (detailed or plain) of its entry."""
        return self._blocks[family, entry]

    def keys(self, family: str, entry: Entry, range: Range) -> list[str]:  # noqa: A002  (what it is)
        """The sort strings of a block's members in a wanted range, in order."""
        between = range_of(entry).overlap(range)
        if between.empty:
            return []
        if entry.detailed:
            return list(keys_in(self.block(family, entry).sets or {}, between))
        for covered, found in self._keys[family, entry]:
            if between.within(covered):
                end = len(found) if between.upper is None else bisect_left(found, between.upper)
                return found[bisect_left(found, between.lower) : end]
        raise KeyError((family, entry.id, between))

    def _has_block(self, family: str, entry: Entry) -> bool:
        if (family, entry) in self._blocks:
            return True
        kept = self._cache.block(self._key(family, entry.id)[0], entry.write_id)
        if kept is None or not _agrees(kept, entry):
            return False
        self.reads.cached += 1
        self._blocks[family, entry] = kept
        return True

    def _has_keys(self, family: str, entry: Entry, between: Range) -> bool:
        known = self._keys.setdefault((family, entry), [])
        for part in (range_of(entry), between):
            if any(between.within(other) for other, _ in known):
                return True
            kept = self._cache.sort_strings(self._key(family, entry.id)[0], entry.write_id, part, self._since)
            if kept is not None:
                self.reads.cached += 1
                known.append((part, kept))
        return any(between.within(other) for other, _ in known)

    def _found_keys(self, family: str, entry: Entry, between: Range, found: list[str], at: float) -> None:
        # BETWEEN includes its upper end, a range does not.
        within = sorted(key for key in found if between.covers(key))
        self._keys.setdefault((family, entry), []).append((between, within))
        partition_key = self._key(family, entry.id)[0]
        self._cache.keep_sort_strings(partition_key, entry.write_id, between, within, at)

    # Blocks split or merged since the directory was read

    def _resolve(self, places: Sequence[tuple[str, Entry]]) -> None:
        """Assemble the keys between the fences of entries from the blocks that cover those places at present."""
        pieces = self._covering(places)
        by_keys = [place for place in places if not _enough(pieces[place], place[1])]
        found: dict[tuple[str, Entry], list[str]] = {}
        if by_keys:
            spans = [self._span(family, range_of(entry)) for family, entry in by_keys]
            listed = self._table.read_together((), spans, paths=()).spans
            for place, items in zip(by_keys, listed, strict=True):
                between = range_of(place[1])
                found[place] = sorted(item[keys.SORT] for item in items if between.covers(item[keys.SORT]))
        for family, entry in places:
            known = found.get((family, entry))
            if known is not None:
                sets: Sets = {body: BitMap(map(number_of, run)) for body, run in groupby(known, key=body_of)}
            else:
                sets = _together(pieces[family, entry], range_of(entry))
            self._blocks[family, entry] = _shaped(family, entry, sets)
            if known is not None:
                self._keys.setdefault((family, entry), []).append((range_of(entry), known))

    def _covering(self, places: Sequence[tuple[str, Entry]]) -> dict[tuple[str, Entry], list[Block]]:
        """Return, for each entry, the blocks whose fences cover its range, in order."""
        read = self._consistent(self._listed_now(places))
        covering: dict[tuple[str, Entry], list[Block]] = {}
        for _ in range(_ATTEMPTS):
            needed: dict[tuple[str, str], None] = {}
            for family, entry in places:
                if (family, entry) not in covering:
                    found, missing = self._follow(family, entry, read)
                    if missing:
                        needed |= dict.fromkeys((family, block_id) for block_id in missing)
                    else:
                        covering[family, entry] = found
            if not needed:
                return covering
            read |= self._consistent(list(needed))
        raise Overloaded("The index is changing too fast. Try again.")

    def _listed_now(self, places: Sequence[tuple[str, Entry]]) -> list[tuple[str, str]]:
        """The blocks of these entries, and the blocks that are now listed in their places.

        Links lead to the latter too, but one at a time.
        """
        families = list(dict.fromkeys(family for family, _ in places))
        spans = [Span(self._partition(family)) for family in families]
        listed = self._table.read_together((), spans, paths=_DIRECTORY_PATHS).spans
        present = {
            family: [Entry.from_item(item) for item in items]
            for family, items in zip(families, listed, strict=True)
        }
        return list(
            dict.fromkeys(
                (family, block_id)
                for family, entry in places
                for block_id in (
                    entry.id,
                    *(one.id for one in present[family] if not range_of(one).overlap(range_of(entry)).empty),
                )
            )
        )

    def _follow(
        self, family: str, entry: Entry, read: Mapping[tuple[str, str], Block | None]
    ) -> tuple[list[Block], list[str]]:
        """The chain over an entry's range, as far as it has been read, and the ids to read next."""
        if (family, entry.id) not in read:
            return [], [entry.id]
        block = read[family, entry.id]
        if block is None:
            # It was merged into a block on its left: the nearest that still exists. The head of the chain always exists.
            on_the_left = self._on_the_left(family, entry, read)
            unread = [block_id for block_id in on_the_left if (family, block_id) not in read]
            if unread:
                return [], unread
            alive = (read[family, block_id] for block_id in on_the_left)
            block = next((one for one in alive if one is not None), None)
            if block is None:
                # A chain without its head is gone: the index is being removed.
                return [], []
        found: list[Block] = []
        while True:
            if block.upper is None or block.upper > entry.lower:
                found.append(block)
            if block.upper is None or (entry.upper is not None and block.upper >= entry.upper):
                return found, []
            following = block.next or ""
            if (family, following) not in read:
                return [], [following]
            after = read[family, following]
            if after is None:
                # It was merged after the block before it was read.
                return [], [block.id, following]
            block = after

    def _on_the_left(
        self, family: str, entry: Entry, read: Mapping[tuple[str, str], Block | None]
    ) -> list[str]:
        """The ids of blocks that an entry may have been merged into.

        If a block that was already read reaches the entry, only that block. Otherwise those before it in the directory,
        nearest first, and the head of the chain last.
        """
        for (other, block_id), block in read.items():
            if other == family and block is not None and block.covers(entry.lower):
                return [block_id]
        directory = self._directories.get(family)
        before = [one for one in directory.entries if one.lower < entry.lower] if directory else []
        return list(dict.fromkeys([*(one.id for one in before[: -_LEFT_AT_ONCE - 1 : -1]), HEAD]))

    def _consistent(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Block | None]:
        """The present blocks, strongly consistent: a read unit each."""
        asked = [self._key(family, block_id) for family, block_id in wanted]
        found = self._table.batch_get(asked, consistent=True).items
        self.reads.blocks += len(asked)
        return {
            place: self._kept(found[key]) if key in found else None
            for place, key in zip(wanted, asked, strict=True)
        }

    def _kept(self, item: Mapping[str, Any]) -> Block:
        block = Block.from_item(item)
        self.position = max(self.position, block.position)
        # In memory, sets that are stored packed take two bytes for each number again.
        held = max(len(item["set"]), min(2 * block.size, MAX_BYTES))
        self._cache.keep_block(item[keys.PK], block, held)
        return block

    def _partition(self, family: str) -> str:
        return derived_keys.directory(self._tenant, self._project, family)

    def _key(self, family: str, block_id: str) -> Key:
        return derived_keys.block(self._tenant, self._project, family, block_id), self._partition(family)

    def _span(self, family: str, between: Range) -> Span:
        """The sort entries of a range."""
        bound = (
            Bound(">=", between.lower)
            if between.upper is None
            else Bound("between", between.lower, between.upper)
        )
        return Span(derived_keys.order(self._tenant, self._project, family), bound)


def _agrees(block: Block, entry: Entry) -> bool:
    return (block.lower, block.upper, block.detailed) == (entry.lower, entry.upper, entry.detailed)


def _enough(pieces: Sequence[Block], entry: Entry) -> bool:
    """Whether the bitmaps of these blocks suffice for an entry's range and form."""
    between = range_of(entry)
    return all(
        one.detailed or (not entry.detailed and Range(one.lower, one.upper).within(between)) for one in pieces
    )


_PLAIN = ""
"""Represents all bodies of a plain piece during assembly."""


def _together(pieces: Sequence[Block], between: Range) -> Sets:
    """The keys of detailed blocks in a range, and of plain ones inside it."""
    found: dict[str, BitMap] = {}
    for piece in pieces:
        sets = dict(members_in(piece.sets, between)) if piece.sets is not None else {_PLAIN: piece.members}
        for body, numbers in sets.items():
            found[body] = found.get(body, BitMap()) | numbers
    return found


def _shaped(family: str, entry: Entry, sets: Sets) -> Block:
    shape: tuple[Sets | None, BitMap | None] = (
        (sets, None) if entry.detailed else (None, BitMap.union(BitMap(), *sets.values()))
    )
    return Block(family, entry.id, entry.lower, entry.upper, entry.next, entry.write_id, shape[0], shape[1])
