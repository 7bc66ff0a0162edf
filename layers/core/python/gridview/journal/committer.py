"""Commits the changes of a batch: writes ledgers, then the journal item that makes them count, then sort
entries.

The order makes this correct:

1. a number is reserved after the ledgers were read, so the numbers of an issue's changes rise as its
   revisions do;
2. the ledgers are written, each on condition that it is as it was read, and name the number;
3. the journal item is put if there is none, with exactly the issues whose ledgers were written. This commits
   them;
4. their sort entries are put, and if these are many, then the mark that they are there.

An invocation that is killed leaves a number to close, or an item to complete. The next writer of the issue
does it (`settled`), or the fold. If the fate of a ledger is not known, the item must not be put: it would
leave out an issue whose ledger names it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from gridview.derive.families import has_entries
from gridview.derive.issue_changes import IssueChange
from gridview.derive.ledger import Ledger
from gridview.derive.sort_entries import ENTRY_TOMBSTONE_DAYS, not_overtaken, sort_entry, tombstone
from gridview.derive.work import Pending, Superseded
from gridview.dynamodb.errors import ConditionFailed, ItemTooLarge
from gridview.dynamodb.expressions import Item, Key
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.journal.items import JournalItem, cut, encoded_size, weight
from gridview.journal.log import Log
from gridview.support import clock
from gridview.support.concurrency import in_threads
from gridview.support.errors import Overloaded

MAX_ITEM_BYTES = 390_000
"""A single issue whose compressed changes are larger does not fit an item."""

LEDGER_TOMBSTONE_DAYS = 60
"""Days for which a removed issue's ledger is kept. Longer than the stream's records (1 day), the dead letters
(14 days) and the trash (30 days, and the table's delay in removing items). A restored issue continues with
its versions and revisions.
"""


def ledger_item(key: str, ledger: Ledger) -> Item:
    """Return a ledger as the item to store. It expires if the issue is removed."""
    return ledger.to_item(key, expires=clock.expiry(LEDGER_TOMBSTONE_DAYS) if ledger.removed else None)


def commit(log: Log, pending: Sequence[Pending]) -> dict[str, Exception]:
    """Commit changes of issues, none of them twice; return the errors that prevented it, by issue.

    Superseded: another invocation has written meanwhile. Overloaded and ItemTooLarge: from the table.

    For n issues with m sort entries: n writes of ledgers, m of entries (1 write unit each, and 1 in GSI1 for
    an entry). For all together 1 for the number, 1 for a mark, and 1 for each KB of the item.
    """
    failed: dict[str, Exception] = {}
    by_num = {one.change.num: one for one in pending}
    for group in cut(one.change for one in pending):
        chosen = [by_num[change.num] for change in group]
        if len(chosen) == 1 and encoded_size(group) > MAX_ITEM_BYTES:
            failed[chosen[0].key] = ItemTooLarge("The journal's item would be larger than 400 KB.")
            continue
        try:
            failed |= _commit_item(log, chosen)
        except Overloaded as error:
            failed |= {one.key: error for one in chosen}
    return failed


def _commit_item(log: Log, chosen: Sequence[Pending]) -> dict[str, Exception]:
    """Commit the changes of one item. Overloaded: its fate is not known."""
    number = log.reserve(weight(one.change for one in chosen))
    failed = _write_ledgers(log.table, number, chosen)
    written = [one for one in chosen if one.key not in failed]
    unknown = any(isinstance(error, Overloaded) for error in failed.values())
    if unknown or not written:
        log.close(number)
        busy = Overloaded("The table is busy; try again.")
        return {**{one.key: busy for one in written}, **failed}
    record = _put(log, number, [one.change for one in written])
    if record is None:
        return {**{one.key: Superseded() for one in written}, **failed}
    complete(log, record)
    return failed


def _put(log: Log, number: int, changes: Sequence[IssueChange]) -> JournalItem | None:
    """Put the item; None if another writer has put an empty one before.

    Overloaded if the table refuses it; then the number is emptied, if the table allows even that. Followers
    of the journal stop at a number without an item.
    """
    try:
        return log.put(number, changes)
    except Overloaded:
        record = log.close(number)
        if not record.changes:
            raise
        return record  # it arrived, but the answer was lost


def _write_ledgers(table: Table, number: int, chosen: Iterable[Pending]) -> dict[str, Exception]:
    """Write the ledgers that name the number; returns the errors by issue. Overloaded: whether it was written
    is not known.
    """
    failed: dict[str, Exception] = {}

    def write(one: Pending) -> None:
        item = ledger_item(one.key, replace(one.ledger, number=number))
        try:
            table.put(item, one.unchanged)
        except ConditionFailed as error:
            if not error.is_repeat_of(item):
                failed[one.key] = Superseded()
        except (Overloaded, ItemTooLarge) as error:
            failed[one.key] = error

    in_threads(write, chosen)
    return failed


def complete(log: Log, record: JournalItem) -> None:
    """Put the sort entries of a journal item, and the mark if it needs one. Doing it again does no harm."""
    in_threads(lambda entry: put_entry(log.table, entry), _entries(log, record))
    if record.needs_mark:
        log.mark(record.number)


def make_whole(log: Log, records: Sequence[JournalItem]) -> None:
    """Put the missing sort entries of journal items, and the marks: half a read unit for each entry, and the
    writes.

    A copy of the table that is late may lack an entry, which is then put again.
    """
    entries = [entry for record in records for entry in _entries(log, record)]
    there = log.table.batch_get([_key(entry) for entry in entries], paths=(("revision",),)).items
    missing = [one for one in entries if there.get(_key(one), {}).get("revision", -1) < one["revision"]]
    in_threads(lambda entry: put_entry(log.table, entry), missing)
    for record in records:
        if record.needs_mark:
            log.mark(record.number)


def _key(entry: Item) -> Key:
    return entry[keys.PK], entry[keys.SK]


def _entries(log: Log, record: JournalItem) -> list[Item]:
    """Return the sort entries of the moves of issues, and tombstones of the entries that the issues have no
    more.
    """
    return [entry for change in record.changes for entry in _entries_of(log, change)]


def _entries_of(log: Log, change: IssueChange) -> Iterator[Item]:
    key = keys.issue(log.tenant, log.project, change.num)
    stamp = {"version": change.version, "revision": change.revision}
    for family, move in change.moves.items():
        if not has_entries(family):
            continue
        if move.to is not None:
            yield sort_entry(key, family, move.to, **stamp)
        else:
            yield tombstone(key, family, **stamp, expires=clock.expiry(ENTRY_TOMBSTONE_DAYS))


def put_entry(table: Table, entry: Item) -> None:
    """Put a sort entry or a tombstone, unless one of a higher revision is there."""
    try:
        table.put(entry, not_overtaken(entry["revision"]))
    except ConditionFailed:
        return


def settled(log: Log, numbers: Iterable[int]) -> Mapping[int, bool]:
    """Return, by number, whether its item is there and not empty, permanently: a number without an item gets
    an empty one.

    The ledgers that name the numbers have been read before. The sort entries of the items are there
    afterwards. Costs a read unit for the head, one for each number after the watermark, and the completion of
    items without a mark. Overloaded.
    """
    wanted = sorted(set(numbers))
    if not wanted:
        return {}
    head = log.head()
    known = {number: head.committed(number) for number in wanted}
    outcomes = {number: committed for number, committed in known.items() if committed is not None}
    unknown = [number for number in wanted if number not in outcomes]
    marked = log.marked(unknown) if unknown else frozenset[int]()
    outcomes |= dict.fromkeys(marked, True)
    records = [log.item(number) or log.close(number) for number in unknown if number not in marked]
    make_whole(log, records)
    return outcomes | {record.number: bool(record.changes) for record in records}
