"""Reads and writes the journal of a project."""

import secrets
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pyroaring import BitMap

from gridview.derive.issue_changes import IssueChange
from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import ABSENT, PRESENT, Bound, Condition, Write, set_attribute
from gridview.dynamodb.leases import due_at, new_holder, released, take
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.journal.items import (
    EXPIRES_DAYS,
    PATIENCE,
    RECHAINED,
    Head,
    JournalItem,
    Listing,
    Remake,
    Totals,
)
from gridview.support import clock
from gridview.support.concurrency import chunked
from gridview.support.errors import Overloaded
from gridview.support.fold_pace import pace

REMADE_AT_ONCE = 16
"""Pages that one item asks for at most: 4,096 ledgers."""

_LAST = derived_keys.journal_mark(derived_keys.MAX_JOURNAL_NUMBER)
"""The last sort key that an item or a mark can have."""


@dataclass(frozen=True, slots=True)
class Log:
    """The journal of one project."""

    table: Table
    tenant: str
    project: str

    @property
    def partition(self) -> str:
        """Its partition key."""
        return derived_keys.journal(self.tenant, self.project)

    def head(self) -> Head:
        """Return the head now: 1 read unit. Overloaded if there is none: the project is just being removed."""
        head = self.known_head(consistent=True)
        if head is None:
            raise Overloaded(f"{self.partition} has no head; try again.")
        return head

    def known_head(self, *, consistent: bool = False) -> Head | None:
        """Return the head, None if there is none: half a read unit, 1 if strongly consistent."""
        item = self.table.get(self.partition, derived_keys.FOLD, consistent=consistent)
        return None if item is None else Head.from_item(item)

    # Writing

    def reserve(self, weight: int) -> int:
        """Take a number for an item with changes of about this weight. Overloaded as for `head`.

        1 write unit, and 1 in GSI1 if nothing waited: the fold is then due after the seconds of the pace. The
        number with which the weight of the pace is reached makes it due now: 3 write units more.
        """
        try:
            item = self.table.update(
                self.partition,
                derived_keys.FOLD,
                PRESENT,
                add={"last": 1, "waiting": weight},
                default={keys.SORT: clock.after(pace().seconds)},
            )
        except ConditionFailed as error:
            raise Overloaded(f"{self.partition} has no head; try again.") from error
        head = Head.from_item(item)
        if head.waiting >= pace().weight and not head.holder:
            self._hasten(head)
        return head.last

    def _hasten(self, head: Head) -> None:
        """Make the fold due now, unless it is or someone has taken it. If the table refuses, the next number
        tries again.
        """
        now = clock.now()
        if head.due is not None and head.due > now:
            with suppress(ConditionFailed, Overloaded):
                self.table.update(
                    self.partition, derived_keys.FOLD, due_at(head.due), assign={keys.SORT: now}
                )

    def put(self, number: int, changes: Iterable[IssueChange]) -> JournalItem | None:
        """Put the item of a number: a write unit for each KB. None if another writer has put an empty one
        before.
        """
        record = JournalItem(number, clock.seconds(), tuple(changes))
        item = record.to_item(self.tenant, self.project)
        try:
            self.table.put(item, ABSENT)
        except ConditionFailed as error:
            if not error.is_repeat_of(item):
                return None
        return record

    def put_remake(self, remake: Remake) -> None:
        """Ask the fold for pages of a column: 1 write unit for the number, 1 for the item. Overloaded.

        The number makes the fold due as its weight says.
        """
        while True:
            number = self.reserve(remake.weight)
            item = JournalItem(number, clock.seconds(), remake=remake).to_item(self.tenant, self.project)
            try:
                self.table.put(item, ABSENT)
            except ConditionFailed as error:
                if not error.is_repeat_of(item):
                    continue  # it was closed before: another number
            return

    def ask_remakes(self, family: str, pages: Sequence[int]) -> None:
        """Ask the fold for pages of a column, in items of some pages: 2 write units each. Overloaded."""
        for some in chunked(pages, REMADE_AT_ONCE):
            self.put_remake(Remake(family, tuple(some)))

    def close(self, number: int) -> JournalItem:
        """Put an empty item, unless one is there; returns the item that decides the number. 1 write unit."""
        record = JournalItem(number, clock.seconds())
        try:
            self.table.put(record.to_item(self.tenant, self.project), ABSENT)
        except ConditionFailed:
            return self.item(number) or record
        return record

    def mark(self, number: int) -> None:
        """Say that the sort entries of an item are there: 1 write unit."""
        expires = {keys.TTL_ATTRIBUTE: clock.expiry(EXPIRES_DAYS)}
        self.table.put({keys.PK: self.partition, keys.SK: derived_keys.journal_mark(number), **expires})

    # Reading

    def item(self, number: int, *, consistent: bool = True) -> JournalItem | None:
        """Return the item of a number; None if there is none: a read unit for each 4 KB, half of it if not
        strongly consistent.
        """
        item = self.table.get(self.partition, derived_keys.journal_item(number), consistent=consistent)
        return None if item is None else JournalItem.from_item(item)

    def marked(self, numbers: Iterable[int]) -> frozenset[int]:
        """Return the numbers whose sort entries are there: a read unit each."""
        wanted = {(self.partition, derived_keys.journal_mark(number)): number for number in numbers}
        found = self.table.batch_get(list(wanted), consistent=True, paths=()).items
        return frozenset(wanted[key] for key in found)

    def after(
        self, number: int, *, consistent: bool = True, rows: int | None = None, with_head: bool = False
    ) -> Listing:
        """Return the first MB of items and marks after a number, or up to `rows` of them; `with_head`: then
        the head.

        A read unit for each 4 KB, half of it if not strongly consistent.
        """
        bound = Bound(
            "between", derived_keys.journal_item(number + 1), derived_keys.FOLD if with_head else _LAST
        )
        page = self.table.query(self.partition, bound=bound, limit=rows, consistent=consistent)
        items = {item[keys.SK]: item for item in page.items}
        head = items.pop(derived_keys.FOLD, None)
        marks = [sort_key for sort_key in items if derived_keys.is_journal_mark(sort_key)]
        records = [item for sort_key, item in items.items() if not derived_keys.is_journal_mark(sort_key)]
        return Listing(
            tuple(map(JournalItem.from_item, records)),
            frozenset(map(derived_keys.parse_journal_number, marks)),
            page.last is not None,
            None if head is None else Head.from_item(head),
        )

    def all_after(self, number: int, *, consistent: bool = True) -> list[JournalItem]:
        """Return all items after a number, page after page."""
        records: list[JournalItem] = []
        while True:
            listed = self.after(number, consistent=consistent)
            records += listed.records
            if not listed.more:
                return records
            number = max((record.number for record in listed.records), default=number)

    def all_from(self, head: Head, passed: Sequence[JournalItem]) -> list[JournalItem]:
        """Return all items after the watermark of a head. `passed`: the first of them, which are not read again."""
        return [*passed, *self.all_after(passed[-1].number if passed else head.folded)]

    def up_to(self, number: int, count: int) -> list[JournalItem]:
        """Return the items of so many numbers up to this one, newest first: 1 MB, strongly consistent, a read
        unit for each 4 KB.
        """
        bound = Bound(
            "between",
            derived_keys.journal_item(max(number - count + 1, 1)),
            derived_keys.journal_mark(number),
        )
        page = self.table.query(self.partition, bound=bound, forward=False, consistent=True)
        return [
            JournalItem.from_item(item)
            for item in page.items
            if not derived_keys.is_journal_mark(item[keys.SK])
        ]

    # Folding

    def claim(self, due: str) -> Head | None:
        """Take the fold that is due at an instant for the time of a lease, and return the head; None if
        another was faster.

        1 write unit, and 2 in GSI1.
        """
        item = take(self.table, self.partition, derived_keys.FOLD, due, new_holder())
        return None if item is None else Head.from_item(item)

    def advance(
        self,
        head: Head,
        passed: Sequence[JournalItem],
        since: float,
    ) -> Head | None:
        """Move the watermark from where it was read over these items, and rest in the same write, unless much
        is left.

        If nothing is left, nothing is due any more. Numbers beyond these items have waited since the fold
        began at the earliest: the instant `since` (seconds since 1970). If they weigh little, the fold is due
        after the seconds of the pace from then on. If they weigh more, its due time stays.

        1 write unit. In GSI1 1 if nothing is left and 2 if little is; 1 more if a number was taken meanwhile.

        None if another fold has moved it, or if a repair has changed a chain since, whose blocks may then
        lack these items.
        """
        number = passed[-1].number
        emptied = head.emptied | BitMap(record.number for record in passed if record.is_empty)
        folded = sum(record.weight for record in passed)
        moved: dict[str, Any] = {
            "folded": number,
            "emptied": emptied.serialize(),
            "trail": head.trail_to(number, clock.seconds()),
        }
        unmoved = Condition("folded = :folded", values={":folded": head.folded}).also(_rechained_at(head))
        waiting = head.waiting
        if number == head.last:
            is_last = Condition("#last = :last", {"#last": "last"}, {":last": number})
            nothing_due = released(None)
            try:
                item = self.table.update(
                    self.partition,
                    derived_keys.FOLD,
                    unmoved.also(is_last),
                    assign={**moved, "waiting": 0, **nothing_due.assign},
                    drop=nothing_due.drop,
                )
            except ConditionFailed as error:
                if error.item is None or error.item["folded"] != head.folded:
                    return None
                waiting = error.item["waiting"]
            else:
                return Head.from_item(item)
        elif since - head.seen_at >= PATIENCE:
            moved |= {"seen": head.last, "seen_at": round(since * 1_000)}
        if waiting - folded < pace().weight:
            moved |= released(clock.stored(since + pace().seconds)).assign
        try:
            item = self.table.update(
                self.partition,
                derived_keys.FOLD,
                unmoved,
                assign=moved,
                add={"waiting": -folded},
            )
        except ConditionFailed:
            return None
        return Head.from_item(item)

    def totals(self, *, consistent: bool = True) -> Totals:
        """Return the totals of the columns: 1 read unit, half of it if not strongly consistent."""
        stored = self.table.get(self.partition, derived_keys.TOTALS, consistent=consistent)
        return Totals.from_item(stored)

    def put_totals(self, totals: Totals, before: Totals) -> bool:
        """Store the totals, unless others were stored since `before` was read: 1 write unit for each KB."""
        item = totals.to_item(self.tenant, self.project)
        there = Condition("#position = :position", {"#position": "position"}, {":position": before.position})
        try:
            self.table.put(item, ABSENT if before == Totals() else there)
        except ConditionFailed as error:
            return error.is_repeat_of(item)
        return True

    def rechaining(self, head: Head) -> Write:
        """Return the write of a transaction that repairs a chain: no fold that has begun before can move the
        watermark any more.

        Its condition is that the watermark is where it was read.
        """
        unmoved = Condition("folded = :folded", values={":folded": head.folded})
        return set_attribute(self.partition, derived_keys.FOLD, RECHAINED, secrets.token_hex(4), unmoved)

    def rechain(self) -> None:
        """No fold that has begun before can move the watermark any more: 1 write unit. Overloaded if there is
        no head.
        """
        try:
            self.table.update(
                self.partition, derived_keys.FOLD, PRESENT, assign={RECHAINED: secrets.token_hex(4)}
            )
        except ConditionFailed as error:
            raise Overloaded(f"{self.partition} has no head; try again.") from error

    def release(self, due: str) -> str | None:
        """Say that nothing waits, or else that the fold is due again at an instant, and return that: 1 write
        unit, and 2 in GSI1.

        The fold has no holder afterwards: folds may overlap, and the latest look counts.

        Remembers the last number for `PATIENCE` seconds. A number up to it that is missing then has had its time.
        """
        head, now = self.head(), clock.seconds()
        all_folded = Condition("#last = :last AND folded = :last", {"#last": "last"}, {":last": head.folded})
        nothing_due = released(None)
        try:
            self.table.update(
                self.partition,
                derived_keys.FOLD,
                all_folded,
                assign={"waiting": 0, **nothing_due.assign},
                drop=nothing_due.drop,
            )
        except ConditionFailed:
            again = released(due).assign
            if now - head.seen_at >= PATIENCE:
                again |= {"seen": head.last, "seen_at": round(now * 1_000)}
            self.table.update(self.partition, derived_keys.FOLD, PRESENT, assign=again)
            return due
        return None


def _rechained_at(head: Head) -> Condition:
    """Return the condition that no repair has changed a chain since the head was read."""
    if not head.rechained:
        return Condition(f"attribute_not_exists({RECHAINED})")
    return Condition(f"{RECHAINED} = :rechained", values={":rechained": head.rechained})
