"""Makes a chain of blocks passable from the first block to the last, link by link, after any damage.

This repairs only gaps and links between blocks. Missing and stray keys in blocks are repaired by the ledgers
(`block_membership`).

A gap gets a block of its own, which counts as folded up to the watermark. Repairs fill it with folded
changes, and folds with the rest. A neighbour that took the gap over could be folded further, and would never
be given the keys in it.

A fold may have read a chain before it is repaired, and passed over unreadable blocks. So each repair is a
transaction with the journal's head. It holds at the watermark that was read, and no fold that has begun
before can move the watermark any more.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from gridview.chains import blocks
from gridview.chains.block_writer import BlockWriter, Replay, fence_of, unchanged
from gridview.chains.blocks import FIRST, HEAD, Block, Unreadable
from gridview.chains.fence_cache import Fences
from gridview.dynamodb.errors import ConditionFailed, TransactionFailed
from gridview.dynamodb.expressions import ABSENT, Bound, Condition, Item, Write, delete, put
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys
from gridview.journal.fold import keys_of_members
from gridview.journal.items import Head
from gridview.journal.log import Log
from gridview.support import backoff
from gridview.support.errors import Overloaded


@dataclass(frozen=True, slots=True)
class Chain:
    """The blocks of one family, as stored."""

    table: Table
    tenant: str
    project: str
    family: str

    @property
    def directory(self) -> str:
        """The sort key of its blocks."""
        return derived_keys.directory(self.tenant, self.project, self.family)

    def key(self, block_id: str) -> str:
        """Return the partition key of a block."""
        return derived_keys.block(self.tenant, self.project, self.family, block_id)

    def get(self, block_id: str) -> Item | None:
        """Return a block, strongly consistent."""
        return self.table.get(self.key(block_id), self.directory, consistent=True)

    def read(self, block_ids: list[str]) -> dict[str, Item]:
        """Return the existing blocks with these ids, strongly consistent."""
        wanted = {(self.key(one), self.directory): one for one in block_ids}
        found = self.table.batch_get(list(wanted), consistent=True).items
        return {block_id: found[key] for key, block_id in wanted.items() if key in found}

    def listed(self, at: str = "", limit: int | None = None) -> Iterator[tuple[str, str]]:
        """Return the lower fences from `at` on and the ids of the blocks there, as of the index."""
        bound = Bound(">=", at) if at else None
        while True:
            page = self.table.query(self.directory, index=True, bound=bound, limit=limit, paths=())
            yield from map(fence_of, page.items)
            if page.last is None:
                return
            bound = Bound(">", page.last)

    def all(self) -> dict[str, Item]:
        """Return all blocks by id, strongly consistent: the blocks in the index, and the blocks that links
        lead to.
        """
        found: dict[str, Item] = {}
        asked: set[str] = set()
        wanted = {HEAD, *(block_id for _, block_id in self.listed())}
        while wanted:
            asked |= wanted
            read = self.read(sorted(wanted))
            found |= read
            links = {item.get("next") for item in read.values()}
            wanted = {one for one in links if isinstance(one, str)} - asked
        return found


def straighten(chain: Chain, fences: Fences) -> None:
    """Repair the fences, links and sizes of a chain's blocks. Remove unreadable blocks; split oversize ones.

    Readers may miss issues until `block_membership` has corrected the content. Overloaded if other writers
    keep changing the chain. A strongly consistent read of each block, and two writes for each fault.
    """
    log = Log(chain.table, chain.tenant, chain.project)
    for attempt in range(backoff.ATTEMPTS):
        head = log.head()
        try:
            found = _straightened(chain, head)
            break
        except (ConditionFailed, TransactionFailed):
            backoff.pause(attempt)
    else:
        raise Overloaded("Other writers keep changing the same blocks. Try again.")
    large = [block for block in found if blocks.oversize(block)]
    if large:
        # Ledgers may be ahead of the blocks, so a split has to ask the journal too.
        replay = Replay(head.folded, partial(keys_of_members, log, head, ()))
        BlockWriter(chain.table, chain.tenant, chain.project, fences, replay).tidy(large)


def _straightened(chain: Chain, head: Head) -> list[Block]:
    stored = chain.all()
    found = sorted(_readable(chain, head, stored), key=lambda block: (block.lower, block.id != HEAD))
    if not found:
        return []
    straight = _linked(chain, found, head)
    for place, block in enumerate(straight):
        item = stored.get(block.id)
        as_stored = item is not None and item["write_id"] == block.write_id
        if item is not None and as_stored and blocks.misfit(block, item.get("size")):
            straight[place] = _put(chain, block, blocks.fitted(block, block.upper, block.next))
    return straight


def _readable(chain: Chain, head: Head, stored: Mapping[str, Item]) -> Iterator[Block]:
    """Return the readable blocks; the others are removed."""
    for block_id, item in stored.items():
        try:
            yield Block.from_item(item)
        except Unreadable:
            _repair(chain, head, delete(chain.key(block_id), chain.directory, _as_read(item)))


def _repair(chain: Chain, head: Head, *writes: Write) -> None:
    """Add, remove or resize blocks, together with the head of the journal."""
    log = Log(chain.table, chain.tenant, chain.project)
    chain.table.transact([*writes, log.rechaining(head)])


def _linked(chain: Chain, found: Sequence[Block], journal: Head) -> list[Block]:
    """Return the blocks linked from the first fence to the last, without a gap. `journal`: its head."""
    head = next((block for block in found if block.id == HEAD), Block.head(chain.family))
    straight = [head if head.lower == FIRST else _moved_to_the_front(chain, journal, head)]
    for block in found:
        before = straight[-1]
        if block.id == HEAD:
            continue
        if block.lower <= before.lower:
            _repair(chain, journal, delete(chain.key(block.id), chain.directory, unchanged(block)))
        elif (before.upper, before.next) == (block.lower, block.id):
            straight.append(block)
        else:
            straight[-1:] = _joined(chain, before, block, journal)
    last = straight[-1]
    if last.upper is not None:
        straight[-1:] = _filled(chain, last, None, journal)
    elif last.write_id and last.next is not None:
        straight[-1] = _put(chain, last, blocks.fitted(last, None, None))
    return straight


def _filled(chain: Chain, before: Block, block: Block | None, journal: Head) -> tuple[Block, ...]:
    """Put a block into the gap between two others, or after the last one."""
    upper, following = (None, None) if block is None else (block.lower, block.id)
    gap = blocks.empty(chain.family, before.upper or FIRST, upper, following, journal.folded)
    first = blocks.fitted(before, gap.lower, gap.id)
    second = () if block is None else (blocks.touched(block),)
    _repair(
        chain,
        journal,
        put(first.to_item(chain.tenant, chain.project), unchanged(before)),
        put(gap.to_item(chain.tenant, chain.project), ABSENT),
        *(put(one.to_item(chain.tenant, chain.project), unchanged(block or one)) for one in second),
    )
    return first, gap, *second


def _joined(chain: Chain, before: Block, block: Block, journal: Head) -> tuple[Block, ...]:
    """Link two neighbours. The second is written too, as proof that it has not been merged away meanwhile."""
    if before.upper is not None and before.upper < block.lower:
        return _filled(chain, before, block, journal)
    first, second = blocks.fitted(before, block.lower, block.id), blocks.touched(block)
    if not before.write_id:  # the first block was missing
        empty = blocks.empty(chain.family, FIRST, block.lower, block.id, journal.folded)
        first = replace(empty, id=HEAD)
    _repair(
        chain,
        journal,
        put(first.to_item(chain.tenant, chain.project), unchanged(before)),
        put(second.to_item(chain.tenant, chain.project), unchanged(block)),
    )
    return first, second


def _put(chain: Chain, before: Block, after: Block) -> Block:
    chain.table.put(after.to_item(chain.tenant, chain.project), unchanged(before))
    return after


def _moved_to_the_front(chain: Chain, journal: Head, head: Block) -> Block:
    """Return the chain with a head that begins at the first fence."""
    front = Block(chain.family, HEAD, FIRST, head.upper, head.next, head.write_id, head.sets, head.rest)
    after = blocks.fitted(front, head.upper, head.next)
    _repair(chain, journal, put(after.to_item(chain.tenant, chain.project), unchanged(head)))
    return after


def _as_read(item: Item) -> Condition:
    """Return the condition that an item which is not a block is as it was read, as far as that can be
    expressed.
    """
    given = {name: item[name] for name in ("write_id", "set") if name in item}
    missing = [name for name in ("write_id", "set") if name not in item]
    return Condition(
        " AND ".join(
            [
                *(f"#{name} = :{name}" for name in given),
                *(f"attribute_not_exists(#{name})" for name in missing),
            ]
        ),
        names={f"#{name}": name for name in (*given, *missing)},
        values={f":{name}": value for name, value in given.items()},
    )
