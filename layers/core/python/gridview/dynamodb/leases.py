"""The lease on an item: one worker at a time, and another one if that worker is killed.

- `sort`: when the item is due for a worker; while it is held, the end of the lease.
- `holder`: the worker on it; empty: none.
- `revision`: raised with each claim, and with each write of the whole item.

*Claim* (`take`): on condition that the item is still due at the instant that the worker has read. The item is
then due at the end of the lease, so one of several workers gets it. The worker has looked before whether that
instant has come.
*Renewal*: the holder makes the item due at the end of another lease (`lease_end`).
*Release* (`release`): the holder makes the item due when it next needs a worker, or not at all, and is its
holder no longer.
*Lost* (`LeaseLost`): the item has another holder, or is gone. The holder finds out with its next write, which
fails.

A holder writes the whole item (`save`) if others write it whole too, or some of its attributes
(`update_held`) if others write other ones. The SDK may repeat a write whose answer was lost: that is no lost
race.

A fold may overlap with others (`maintenance.folding`), so it only claims and releases.
"""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import Condition, Item, revision_is
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.support import clock

LEASE = 120.0
"""Seconds after which another worker may take an item whose holder has not renewed the lease: more than an
invocation can last.
"""

RETRY = 5.0
"""Seconds after which work that the table refused is tried again."""


class ItemChanged(Exception):
    """Another has written the item since it was read. `item` is as it is now; empty: it is gone."""

    def __init__(self, item: Item | None = None) -> None:
        super().__init__("the item has been changed")
        self.item = item or {}


class LeaseLost(ItemChanged):
    """Another worker has taken the item, or it is gone."""


def new_holder() -> str:
    """Return a name for one who takes items."""
    return uuid.uuid4().hex


def lease_end() -> str:
    """Return the end of a lease that begins, or is renewed, now."""
    return clock.after(LEASE)


def due_at(due: str) -> Condition:
    """Return the condition that an item is due at an instant; empty: that it is not due."""
    if not due:
        return Condition("attribute_not_exists(#due)", {"#due": keys.SORT})
    return Condition("#due = :due", {"#due": keys.SORT}, {":due": due})


def held_by(holder: str) -> Condition:
    """Return the condition that an item has this holder; empty: that it has none."""
    return Condition("#holder = :holder", {"#holder": keys.HOLDER}, {":holder": holder})


def take(table: Table, pk: str, sk: str, due: str, holder: str, *, drop: Sequence[str] = ()) -> Item | None:
    """Take the item that was read to be due at an instant, and return it; None if another was faster. Removes
    attributes (`drop`).

    A write unit for each KB, and 2 in GSI1.
    """
    taken = {keys.SORT: lease_end(), keys.HOLDER: holder}
    try:
        return table.update(pk, sk, due_at(due), assign=taken, add={"revision": 1}, drop=drop)
    except ConditionFailed as error:
        if error.item is not None and error.item[keys.HOLDER] == holder:
            return error.item
    return None


def save(table: Table, item: Item, revision: int, holder: str = "") -> None:
    """Write the next state of a whole item that was read at `revision` with this holder. ItemChanged;
    LeaseLost.

    The new state itself renews the lease or releases the item. A write unit for each KB.
    """
    try:
        table.put(item, revision_is(revision))
    except ConditionFailed as error:
        if not error.is_repeat_of(item):
            raise _changed(error, holder) from error


def update_held(
    table: Table,
    pk: str,
    sk: str,
    holder: str,
    *,
    assign: Mapping[str, Any] | None = None,
    drop: Sequence[str] = (),
) -> None:
    """Set attributes of an item that is held, and remove some (`drop`): a write unit for each KB. LeaseLost."""
    try:
        table.update(pk, sk, held_by(holder), assign=assign, drop=drop)
    except ConditionFailed as error:
        raise _changed(error, holder) from error


class Released(NamedTuple):
    """The attributes that an update sets and removes to release an item."""

    assign: dict[str, Any]
    drop: tuple[str, ...] = ()


def released(due: str | None) -> Released:
    """Return the update that releases an item, due at an instant; None: not until another write makes it due."""
    if due is None:
        return Released({keys.HOLDER: ""}, (keys.SORT,))
    return Released({keys.HOLDER: "", keys.SORT: due})


def release(
    table: Table,
    pk: str,
    sk: str,
    holder: str,
    due: str | None,
    *,
    unless: str = "",
    assign: Mapping[str, Any] | None = None,
    drop: Sequence[str] = (),
) -> None:
    """Release an item, due at an instant (None: not until another write makes it due), unless it has the
    attribute `unless`.

    Also sets attributes, and removes some (`drop`). A write unit for each KB, and 2 in GSI1. LeaseLost;
    ItemChanged if it has that attribute: then it is still held.
    """
    condition, free = held_by(holder), released(due)
    if unless:
        condition = condition.also(Condition("attribute_not_exists(#unless)", {"#unless": unless}))
    try:
        table.update(pk, sk, condition, assign={**(assign or {}), **free.assign}, drop=[*drop, *free.drop])
    except ConditionFailed as error:
        if error.item is None or error.item[keys.HOLDER]:
            raise _changed(error, holder) from error
        # Only the holder releases an item: this very write, repeated.


def _changed(error: ConditionFailed, holder: str) -> ItemChanged:
    lost = error.item is None or error.item.get(keys.HOLDER, "") != holder
    return (LeaseLost if lost else ItemChanged)(error.item)
