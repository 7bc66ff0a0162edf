"""The fold: writes a project's blocks by its journal, in the journal's order, many batches at a time.

It passes no number without an item, and no item whose sort entries are missing. It waits for the writer, then
closes the number or completes the item. It reads no ledger to find the content of a block. Nothing up to a
block's position is applied to the block again, so folds may overlap, repeat and be killed at any point. The
watermark follows when every block is written.

A block that cannot be read is passed over and reported. Nothing in it can be read any more, and a repair
builds it again from the ledgers. Nothing else waits for that.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from gridview.chains.block_writer import BlockWriter, Replay
from gridview.chains.blocks import Block, KeyChange, Unreadable
from gridview.chains.fence_cache import Fences
from gridview.derive.families import column_families, families_of
from gridview.derive.images import Poison
from gridview.journal.column_fold import fold_columns, stored_ledgers
from gridview.journal.committer import make_whole
from gridview.journal.items import Head, JournalItem
from gridview.journal.log import Log
from gridview.journal.replay import Next, keys_at, last_words, next_step
from gridview.schema.catalog import Catalog
from gridview.support import clock

MOST = 4_000
"""Changes of issues that are folded together at most: of a million issues they touch most blocks, so more
would save little.
"""


def fold(
    log: Log,
    fences: Fences,
    current_catalog: Callable[[], Catalog | None],
    send_poison: Callable[[Poison], None],
) -> int:
    """Fold the items after the watermark, as far as possible; return how many numbers were passed.

    `current_catalog` reads the present definitions, None if the project is deleted. Costs a strongly
    consistent read of the journal after the watermark and of each block that changes, a write of each such
    block, and `Log.advance`. `send_poison` receives an issue of each unreadable block. Overloaded: the
    watermark stays, and blocks that were written are not written again.
    """
    since, head = clock.seconds(), log.head()
    passed = _passable(log, head)
    if not passed:
        return 0
    # Read after the items: their writers knew no younger definitions.
    catalog = current_catalog()
    if catalog is not None:
        replay = Replay(passed[-1].number, partial(keys_of_members, log, head, passed))
        for changes in last_words(log.partition, passed, frozenset(families_of(catalog))).values():
            _write(log, fences, replay, changes, send_poison)
        fold_columns(log, head, passed, column_families(catalog))
    log.advance(head, passed, since)
    return len(passed)


def _passable(log: Log, head: Head) -> list[JournalItem]:
    """Return the items after the watermark, in order, up to the first that has to be waited for."""
    listed = log.after(head.folded)
    records = {record.number: record for record in listed.records}
    end = max(records, default=head.folded) if listed.more else head.last
    passed: list[JournalItem] = []
    unsure: list[JournalItem] = []
    changes = 0
    for number in range(head.folded + 1, end + 1):
        step = next_step(number, head, records, listed.marked, clock.seconds())
        if step is Next.WAIT or changes >= MOST:
            break
        if step is Next.CLOSE:
            records[number] = log.close(number)
        if step is not Next.PASS:
            unsure.append(records[number])
        passed.append(records[number])
        changes += len(records[number].changes) or records[number].weight
    make_whole(log, unsure)
    return passed


def _write(
    log: Log,
    fences: Fences,
    replay: Replay,
    places: Sequence[KeyChange],
    send_poison: Callable[[Poison], None],
) -> None:
    """Write the blocks of one family, except unreadable ones."""
    chains = BlockWriter(log.table, log.tenant, log.project, fences, replay)
    for error in chains.read(places).values():
        if not isinstance(error, Unreadable):
            raise error
    passed_over = chains.unreadable(places)
    for (family, block_id), some in passed_over.items():
        reason = f"The block {block_id} of {family} cannot be read. Run `./dev fsck --repair` to rebuild it."
        send_poison(Poison(some[0].issue, 0, reason))
    out = {id(place) for some in passed_over.values() for place in some}
    writable = [place for place in places if id(place) not in out]
    for error in chains.write(writable).failed.values():
        raise error


def keys_of_members(log: Log, head: Head, passed: Sequence[JournalItem], block: Block) -> Iterable[str]:
    """Return the keys of a plain block's members as of its position.

    Costs a read unit for each ledger, and the journal after `passed`, the first items after the watermark.
    """
    ledgers = stored_ledgers(log, block.family, block.members)
    return keys_at(block, ledgers, log.all_from(head, passed), head)
