"""The nightly check of the whole table. One item records its progress, so that it can continue over many invocations.

The item is among the jobs of GSI1 (`schema.jobs`) under its next due time. Whoever works on it holds a lease.
"""

import uuid
from collections.abc import Callable

from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import ABSENT, Item, revision_is
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.fsck.checker import Check
from gridview.fsck.progress import Finding, Tally
from gridview.fsck.walks import TableWalk
from gridview.schema.jobs import Hint, Turn
from gridview.schema.leases import LEASE, RETRY, checkpoint
from gridview.support import clock
from gridview.support.errors import Overloaded

PATIENCE = 900.0
"""Seconds for which a difference may be temporary: more than the stream lags on a bad day."""

_AT_MOST = 500
"""The limit of suspects."""

_PAGE = 1_000
"""Items that are read at a time. Even if each of them adds a suspect, the item stays below 400 KB."""


def begin(table: Table) -> bool:
    """Request a check of the table; False if one is in progress already. 1 write unit, and 1 in GSI1."""
    item = {
        keys.PK: keys.CHECK,
        keys.SK: keys.JOB,
        keys.SORT: clock.now(),
        "revision": 1,
        "holder": "",
        "began": clock.now(),
        "position": None,
        "tally": Tally().to_state(),
    }
    try:
        table.put(item, ABSENT)
    except ConditionFailed:
        return False
    return True


def go_on(
    table: Table,
    hint: Hint,
    remaining: Callable[[], float],
    found: Callable[[Finding], None],
    finished: Callable[[Tally], None],
) -> Turn | None:
    """Continue the check that a hint names while time is `remaining` (seconds); None if there is nothing to do, or not yet.

    `found` receives what is wrong, and receives it again if this invocation is killed before it has saved its progress. `finished`
    receives the whole tally, and receives it again if this invocation is killed before the item is deleted.
    """
    stored = table.get(keys.CHECK, keys.JOB, consistent=True)
    if stored is None or stored[keys.SORT] != hint.due or hint.due > clock.now() or remaining() <= 0:
        return None
    try:
        held = _save(table, stored, {keys.SORT: clock.after(LEASE), "holder": uuid.uuid4().hex})
        check = Check(
            table,
            TableWalk(table, position=held["position"], limit=_PAGE),
            found,
            patience=PATIENCE,
            at_most=_AT_MOST,
            tally=Tally.from_state(held["tally"]),
        )
        due = _work(check, remaining)
        if check.done:
            finished(check.tally)
            table.delete(keys.CHECK, keys.JOB, revision_is(held["revision"]))
            return Turn()
        state = {"position": check.walk.position, "tally": check.tally.to_state()}
        _save(table, held, {keys.SORT: due, "holder": "", **state})
    except (ConditionFailed, Overloaded):
        return None  # another invocation has taken it, or will when the lease runs out
    return Turn(hints=(Hint(keys.CHECK, due),))


def _work(check: Check, remaining: Callable[[], float]) -> str:
    """Do what can be done now; returns whether there is more."""
    while remaining() > 0 and not check.done:
        due = check.waits_until
        if due is not None:
            return due
        try:
            check.step()
        except Overloaded:
            return clock.after(RETRY)
    return clock.now()


def _save(table: Table, before: Item, changes: Item) -> Item:
    after = {**before, **changes, "revision": before["revision"] + 1}
    checkpoint(table, after, before["revision"])
    return after
