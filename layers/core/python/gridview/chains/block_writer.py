"""Writes the chains of blocks: for the fold, which replays the journal, and for repairs.

Blocks are read strongly consistent. Each write has the write id that was read as its condition.

- The fold writes with a `Replay`: a block gets the journal's changes above its position. A fold that loses a block to
  another writer reads it again and continues.
- A repair writes without a replay and reports the blocks that it lost: their right content may have changed with their
  position.

All issues with keys in one block share one write of it. Splits and merges follow and change no membership. If one is
lost, the next writer of the block makes it. A plain block is split by the keys that ledgers and the journal give for its
position.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from gridview.chains import blocks
from gridview.chains.blocks import HEAD, Block, BlockChange, KeyChange, Unreadable
from gridview.chains.fence_cache import Fences
from gridview.dynamodb.errors import ConditionFailed, TransactionFailed
from gridview.dynamodb.expressions import ABSENT, Bound, Condition, Item, delete, put
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.support import backoff
from gridview.support.concurrency import chunked, in_threads
from gridview.support.errors import Overloaded

_HOPS = 2
"""Links to follow before asking the directory."""

_MAX_HOPS = 50

_REMOVED_AT_ONCE = 50
"""Blocks to delete between two looks at the clock."""

BlockAddress = tuple[str, str]
"""A family and a block id."""


class Impassable(Overloaded):
    """No block covers a key: other writers keep changing the chain, or it is broken."""


class Replay(NamedTuple):
    """The context of a fold's changes, which are all that the journal changes up to `position` in one family.

    `keys_at` returns the keys of a plain block's members as of the block's position.
    """

    position: int
    keys_at: Callable[[Block], Iterable[str]]


class Written(NamedTuple):
    """The outcome of a write: issues that lost a block to another writer, and failed issues with their errors."""

    lost: frozenset[str]
    failed: dict[str, Exception]


class BlockWriter:
    """The chains of one project, for one batch: `read`, then `write`, possibly several times."""

    def __init__(
        self,
        table: Table,
        tenant: str,
        project: str,
        fences: Fences,
        replay: Replay | None = None,
        *,
        begins_at: int = 0,
        keys_at: Callable[[Block], Iterable[str]] | None = None,
    ) -> None:
        """`begins_at`: the position of the first block of a new chain that a repair fills from what is already folded.

        `keys_at`: returns the keys of a plain block's members as of its position, for a split; None: use the replay's.
        """
        self._table = table
        self._tenant = tenant
        self._project = project
        self._fences = fences
        self._replay = replay
        self._begins_at = begins_at
        self._keys_at = keys_at if replay is None else replay.keys_at
        self._sorted: Sequence[KeyChange] = ()
        """The changes of a replay, in the order of their keys."""
        self._blocks: dict[BlockAddress, Block] = {}
        self._located: dict[tuple[str, str], BlockAddress] = {}
        """The block that covers a key, by family and key."""
        self._unreadable: dict[BlockAddress, Unreadable] = {}

    def read(self, places: Iterable[KeyChange]) -> dict[str, Exception]:
        """Read the blocks that cover these keys: a strongly consistent read of 4 KB each, and 0.5 units to find an unknown one.

        Every block is read again. Returns the issues with a block that is Unreadable or Impassable: only those cannot be
        written.
        """
        chosen = list(places)
        trouble = self._find({(place.family, place.key) for place in chosen})
        return {
            place.issue: trouble[place.family, place.key]
            for place in chosen
            if (place.family, place.key) in trouble
        }

    def _find(self, wanted: set[tuple[str, str]]) -> dict[tuple[str, str], Exception]:
        """Read the blocks that cover keys of families; returns the keys without such a block, with the error."""
        self._blocks, self._unreadable = {}, {}
        self._read_directories({family for family, _ in wanted})
        self._located = {(family, key): (family, self._guess(family, key)) for family, key in wanted}
        asked: set[tuple[str, str]] = set()
        for hop in range(_MAX_HOPS):
            self._fetch(self._unfetched())
            onward = {
                place: following
                for place, block_key in self._located.items()
                if (following := self._following(place, block_key)) is not None
            }
            stuck = {place for place, at in self._located.items() if at in self._unreadable} - asked
            if not onward and not stuck:
                return self._not_read()
            # An unreadable block does not name the next one, so the directory is asked.
            look_up = stuck | (onward.keys() if hop % _HOPS == _HOPS - 1 else set())
            if look_up:
                self._look_up(look_up)
                asked |= stuck
                onward |= {(family, key): (family, self._guess(family, key)) for family, key in look_up}
            self._located.update(onward)
        self._fetch(self._unfetched())
        error = Impassable("Other writers keep splitting and merging the same blocks. Try again.")
        return self._not_read() | {
            (family, key): error
            for (family, key), at in self._located.items()
            if at not in self._unreadable and not (at in self._blocks and self._blocks[at].covers(key))
        }

    def _unfetched(self) -> set[BlockAddress]:
        return set(self._located.values()) - self._blocks.keys() - self._unreadable.keys()

    def _not_read(self) -> dict[tuple[str, str], Exception]:
        return {place: self._unreadable[at] for place, at in self._located.items() if at in self._unreadable}

    def unreadable(self, places: Iterable[KeyChange]) -> dict[BlockAddress, list[KeyChange]]:
        """The keys whose blocks cannot be read, by block. `places`: keys that `read` was given."""
        found: dict[BlockAddress, list[KeyChange]] = defaultdict(list)
        for place in places:
            at = self._located[place.family, place.key]
            if at in self._unreadable:
                found[at].append(place)
        return found

    def write(self, places: Sequence[KeyChange]) -> Written:
        """Write the keys into the blocks that were read.

        With a replay, blocks that another writer has changed are read and written again. Without one, their issues are
        `lost`. An issue fails if one of its blocks is unreadable or other writers keep changing it.

        A block costs a write unit for each KB and one in GSI1, however many keys it gets. A split costs two such writes and
        the reads of `Replay.keys_at`.
        """
        failed: dict[str, Exception] = {}
        written: dict[BlockAddress, Block] = {}
        remaining = list(places)
        self._sorted = sorted(places, key=_key) if self._replay is not None else ()
        for attempt in range(backoff.ATTEMPTS):
            done = self._put(remaining)
            written |= done
            remaining = [place for place in remaining if self._located[place.family, place.key] not in done]
            if not remaining or self._replay is None:
                break
            backoff.pause(attempt)
            failed |= self.read(remaining)
            remaining = [place for place in remaining if place.issue not in failed]
        lost = frozenset(place.issue for place in remaining) if self._replay is None else frozenset[str]()
        busy = Overloaded("Other writers keep changing the same blocks. Try again.")
        failed |= {place.issue: busy for place in remaining if place.issue not in lost}
        self.tidy(written.values())
        return Written(lost, failed)

    def covering(self, family: str, key: str) -> Block:
        """The block that covers a key, as it was read."""
        return self._blocks[self._located[family, key]]

    # Finding

    def _directory(self, family: str) -> str:
        return derived_keys.directory(self._tenant, self._project, family)

    def _guess(self, family: str, key: str) -> str:
        return self._fences.guess(self._directory(family), key)

    def _read_directories(self, families: Iterable[str]) -> None:
        """Read the directories of families whose fences this container has not cached."""

        def list_fences(directory: str) -> None:
            found = list(self._table.query_all(directory, index=True, paths=()))
            self._fences.learn(directory, map(fence_of, found))

        in_threads(
            list_fences,
            sorted(one for one in map(self._directory, families) if not self._fences.knows(one)),
        )

    def _look_up(self, wanted: Iterable[tuple[str, str]]) -> None:
        """Read from the directory the blocks that cover keys, where links have not led to them."""

        def find(place: tuple[str, str]) -> None:
            family, key = place
            directory = self._directory(family)
            page = self._table.query(
                directory, index=True, bound=Bound("<=", key), forward=False, limit=1, paths=()
            )
            self._fences.learn(directory, map(fence_of, page.items))

        in_threads(find, sorted(wanted))

    def _fetch(self, wanted: Iterable[BlockAddress]) -> None:
        by_key = {
            (derived_keys.block(self._tenant, self._project, *one), self._directory(one[0])): one
            for one in sorted(wanted)
        }
        found = self._table.batch_get(list(by_key), consistent=True).items
        for key, (family, block_id) in by_key.items():
            if key in found:
                try:
                    self._blocks[family, block_id] = Block.from_item(found[key])
                except Unreadable as error:
                    self._unreadable[family, block_id] = error
            elif block_id == HEAD:
                self._blocks[family, block_id] = Block.head(family)

    def _following(self, place: tuple[str, str], block_key: BlockAddress) -> BlockAddress | None:
        """The next block to try for a key; None if this one covers it or is unreadable."""
        if block_key in self._unreadable:
            return None
        family, key = place
        directory = self._directory(family)
        block = self._blocks.get(block_key)
        if block is None:
            # It was merged into a block before it. If that one has been read, it was read too early.
            self._fences.forget(directory, block_key[1])
            instead = family, self._guess(family, key)
            self._blocks.pop(instead, None)
            return instead
        if block.covers(key) or block.upper is None or block.next is None:
            return None
        self._fences.learn(directory, [(block.upper, block.next)])
        return family, block.next

    # Writing

    def _put(self, places: Iterable[KeyChange]) -> dict[BlockAddress, Block]:
        """Write the blocks of these keys; returns the new state of the blocks that were unchanged since they were read."""
        wanted: dict[BlockAddress, list[KeyChange]] = defaultdict(list)
        for place in places:
            wanted[self._located[place.family, place.key]].append(place)

        def bring(block_key: BlockAddress) -> Block | None:
            here, read = wanted[block_key], self._blocks[block_key]
            position = 0 if read.write_id else self._begins_at
            if self._replay is not None:
                # Takes every waiting change between its fences, so that its new position leaves none out.
                here, position = self._waiting(read), self._replay.position
                if not here:
                    return read  # another fold has been here
            change = BlockChange(
                frozenset(place.key for place in here if place.present),
                frozenset(place.key for place in here if not place.present),
            )
            after = blocks.changed(read, change, position)
            item = after.to_item(self._tenant, self._project)
            try:
                self._table.put(item, unchanged(read))
            except ConditionFailed as error:
                if not error.is_repeat_of(item):
                    return None
            return after

        chosen = sorted(wanted)
        written = zip(chosen, in_threads(bring, chosen), strict=True)
        return {block_key: after for block_key, after in written if after is not None}

    def tidy(self, written: Iterable[Block]) -> None:
        """Split too large blocks and merge too small ones, unless another writer is faster."""

        def tidy(block: Block) -> None:
            try:
                if blocks.wants_split(block):
                    self._split(block)
                elif blocks.wants_merge(block):
                    self._merge(block)
            except (Overloaded, TransactionFailed):
                return  # the next writer of the block will do it

        in_threads(tidy, [one for one in written if blocks.wants_split(one) or blocks.wants_merge(one)])

    def _split(self, block: Block) -> None:
        keys_of_members: Iterable[str] = ()
        if blocks.needs_keys(block):
            if self._keys_at is None:
                return  # ledgers may be ahead of the block: the fold splits it
            keys_of_members = self._keys_at(block)
        first, *others = blocks.split(block, keys_of_members)
        if not others:
            return
        self._table.transact(
            [
                put(first.to_item(self._tenant, self._project), unchanged(block)),
                *(put(other.to_item(self._tenant, self._project), ABSENT) for other in others),
            ]
        )
        self._fences.learn(self._directory(block.family), [(other.lower, other.id) for other in others])

    def _merge(self, block: Block) -> None:
        if block.next is None:
            return
        self._fetch([(block.family, block.next)])
        following = self._blocks.get((block.family, block.next))
        if following is None or not self._alike(block, following):
            return
        whole = blocks.merged(block, following)
        if whole is None:
            return
        directory = self._directory(block.family)
        gone = derived_keys.block(self._tenant, self._project, block.family, following.id)
        self._table.transact(
            [
                put(whole.to_item(self._tenant, self._project), unchanged(block)),
                delete(gone, directory, unchanged(following)),
            ]
        )
        self._fences.forget(directory, following.id)

    def _alike(self, block: Block, following: Block) -> bool:
        """Whether two blocks hold all changes up to the higher of their positions, so that one can replace both."""
        if block.position == following.position:
            return True
        if self._replay is None or max(block.position, following.position) > self._replay.position:
            return False
        return not self._waiting(block) and not self._waiting(following)

    def _waiting(self, block: Block) -> list[KeyChange]:
        """The changes of a replay between a block's fences that are not folded into it."""
        begin = bisect_left(self._sorted, block.lower, key=_key)
        end = None if block.upper is None else bisect_left(self._sorted, block.upper, key=_key)
        return [place for place in self._sorted[begin:end] if place.number > block.position]


def _key(place: KeyChange) -> str:
    return place.key


def remove_family(
    table: Table, tenant: str, project: str, family: str, remaining: Callable[[], float] = lambda: 1.0
) -> bool:
    """Delete the blocks of a family that has no writers left; False if the seconds in `remaining` ran out.

    Another call continues. A block in the index remains findable until it is deleted. Blocks that the index does not list
    yet can be found only by links. They are therefore deleted first, and no block before the one that it links to.

    Costs a strongly consistent read of each block, and a write unit for each KB.
    """
    if remaining() <= 0:
        return False
    directory = derived_keys.directory(tenant, project, family)
    listed = [fence_of(item)[1] for item in table.query_all(directory, index=True, paths=())]

    def delete_block(block_id: str) -> None:
        table.delete(derived_keys.block(tenant, project, family, block_id), directory)

    for block_id in reversed(_linked_alone(table, tenant, project, family, listed)):
        delete_block(block_id)
    for some in chunked(reversed(listed), _REMOVED_AT_ONCE):
        in_threads(delete_block, some)
        if remaining() <= 0:
            return False
    return True


def _linked_alone(table: Table, tenant: str, project: str, family: str, listed: Sequence[str]) -> list[str]:
    """The blocks that the index does not list, each after the blocks that link to it."""
    directory = derived_keys.directory(tenant, project, family)
    known = set(listed)
    found: list[str] = []
    wanted = list(dict.fromkeys([HEAD, *listed]))
    while wanted:
        by_key = {(derived_keys.block(tenant, project, family, one), directory): one for one in wanted}
        stored = table.batch_get(list(by_key), consistent=True, paths=[("next",)]).items
        found += [one for key, one in by_key.items() if key in stored and one not in known]
        known |= set(wanted)
        links = dict.fromkeys(item.get("next") for item in stored.values())
        wanted = [one for one in links if isinstance(one, str) and one not in known]
    return found


def fence_of(item: Item) -> tuple[str, str]:
    """Return the lower fence and the id of a block in a directory."""
    return item[keys.SORT], derived_keys.parse_block_id(item[keys.PK])


def unchanged(block: Block) -> Condition:
    """Return the condition that a block is as it was read; a block without a write id did not exist."""
    if not block.write_id:
        return ABSENT
    return Condition("write_id = :write_id", values={":write_id": block.write_id})
