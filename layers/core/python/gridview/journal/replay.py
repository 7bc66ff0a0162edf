"""The fold's use of journal items: how far it may go, the new content of blocks, and their content as of a
position. Pure.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from typing import Any

from gridview.chains.blocks import Block, KeyChange
from gridview.derive.families import is_key, keys_of
from gridview.derive.issue_changes import FamilyChange
from gridview.derive.ledger import NUMBER, finished_in
from gridview.encoding import derived_keys, keys
from gridview.encoding.sort_strings import body_of, number_value
from gridview.journal.items import PATIENCE, Head, JournalItem


class Next(Enum):
    """The step for a number before the fold may pass it."""

    PASS = "pass"  # noqa: S105  (no password)
    WAIT = "wait"
    CLOSE = "close"
    """Put an empty item: the writer that took the number has had the time to put one."""
    COMPLETE = "complete"
    """Put the missing sort entries of its item, and the mark."""


def next_step(
    number: int, head: Head, records: Mapping[int, JournalItem], marked: Collection[int], now: float
) -> Next:
    """Return the step for a number that was given out.

    `records` and `marked` were read after the watermark. A number without an item was taken before later
    items were put, and before the fold saw the numbers that the head remembers.
    """
    record = records.get(number)
    if record is not None:
        if number in marked or not record.entries:
            return Next.PASS
        if not record.needs_mark:
            return Next.COMPLETE
        return Next.WAIT if now - record.made < PATIENCE else Next.COMPLETE
    taken = [later.made for later in records.values() if later.number > number]
    if number <= head.seen:
        taken.append(head.seen_at)
    return Next.WAIT if now - min(taken, default=now) < PATIENCE else Next.CLOSE


def last_words(
    partition: str, records: Iterable[JournalItem], families: Collection[str]
) -> dict[str, list[KeyChange]]:
    """Return family -> the last that these items, in order, say of each key. Other families are left out:
    nobody writes them any more.
    """
    words: dict[tuple[str, str], KeyChange] = {}
    tenant, project = derived_keys.parse_journal(partition)
    for record in records:
        for change in record.changes:
            issue = keys.issue(tenant, project, change.num)
            for family, move in change.moves.items():
                if family in families:
                    words |= {
                        (family, key): KeyChange(issue, family, key, present, record.number)
                        for key, present in _keys_moved(family, move, change.num)
                    }
    by_family: dict[str, list[KeyChange]] = {}
    for word in words.values():
        by_family.setdefault(word.family, []).append(word)
    return by_family


def _keys_moved(family: str, move: FamilyChange, num: int) -> Iterator[tuple[str, bool]]:
    """Return the keys that a move takes (True) and leaves (False). Tokens that stay are not among them, if it
    is not thorough.
    """
    taken = _keys(family, () if move.to is None else (move.to,), num)
    left = _keys(family, move.left, num)
    yield from ((key, True) for key in (taken if move.thorough else taken - left))
    yield from ((key, False) for key in left - taken)


def _keys(family: str, derived: Iterable[str], num: int) -> frozenset[str]:
    """Return the keys of an issue. A string that someone edited into its ledger may be no key, and then is in
    no block.
    """
    return frozenset(key for one in derived if is_key(one, num) for key in keys_of(family, one))


def keys_at(
    block: Block, ledgers: Mapping[int, Mapping[str, Any]], records: Sequence[JournalItem], head: Head
) -> Iterator[str]:
    """Return the keys of a plain block's members as of the block's position.

    `ledgers` are the stored ledgers of its members, by issue number, and `records` all items after the
    watermark, in order, read after them. If an item after the position moves an issue, the issue had the keys
    that it leaves there. Otherwise its ledger decides, by what it last finished.
    """
    for strings in strings_at(block.family, block.position, block.members, ledgers, records, head).values():
        key = next(filter(block.covers, strings), None)
        if key is not None:
            yield key


def strings_at(
    family: str,
    position: int,
    nums: Iterable[int],
    ledgers: Mapping[int, Mapping[str, Any]],
    records: Sequence[JournalItem],
    head: Head,
) -> dict[int, tuple[str, ...]]:
    """Return the derived strings that issues may have had in a family as of a position, by issue.

    `ledgers` and `records` are as for `keys_at`. There is more than one string only if a change was uncertain.
    """
    left: dict[int, tuple[str, ...]] = {}
    for record in records:
        if record.number > position:
            for change in record.changes:
                if family in change.moves:
                    left.setdefault(change.num, change.moves[family].left)
    there = {record.number for record in records if record.changes}
    found: dict[int, tuple[str, ...]] = {}
    for num in nums:
        strings = left.get(num)
        if strings is None:
            finished = _finished(ledgers.get(num), family, there, head)
            strings = () if finished is None else (finished,)
        found[num] = strings
    return found


def last_numbers(records: Iterable[JournalItem], family: str) -> dict[int, Decimal | None]:
    """Return the number that each issue has in an order of a number field after these items, in order.

    Issues that no item moves there are left out. None: the issue has no number.
    """
    return {
        change.num: number_in(change.moves[family].to, change.num)
        for record in records
        for change in record.changes
        if family in change.moves
    }


def number_in(derived: str | None, num: int) -> Decimal | None:
    """Return the number in a derived string of an order of a number field.

    None without one: also for a string that someone edited into a ledger, and that is in no block either.
    """
    if derived is None or not is_key(derived, num):
        return None
    try:
        return number_value(body_of(derived))
    except (ValueError, IndexError, ArithmeticError):
        return None


def _finished(
    stored: Mapping[str, Any] | None, family: str, there: Collection[int], head: Head
) -> str | None:
    """Return the string that an issue has in a family by a stored ledger. One that names no number is
    finished: a bulk load wrote it.
    """
    if stored is None:
        return None
    number = stored.get(NUMBER, 0)
    known = head.committed(number)
    return finished_in(stored, family, committed=number in there if known is None else known)
