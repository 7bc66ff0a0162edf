"""The check of the whole table in the cloud: one item that says how far it has come, so that it goes on over many invocations.

It is among the jobs of GSI1 (`jobs`) under the time when there is something to do next, and whoever works on it holds a lease.
"""

import uuid
from collections.abc import Callable

from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import ABSENT, Condition, Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.fsck.checker import Check
from gridview.fsck.progress import Finding, Tally
from gridview.fsck.walks import TableWalk
from gridview.support import clock
from gridview.support.errors import Overloaded

PATIENCE = 900.0
"""Seconds for which what looks wrong may be on its way: more than the stream lags on a bad day."""

LEASE = 120.0
"""Seconds after which another may go on with it: more than an invocation can last."""

_AT_MOST = 500
"""Suspects."""

_PAGE = 1_000
"""Items that are read at a time. If each of them makes one suspect more, the item stays below 400 KB even so."""

_RETRY = 5.0
"""Seconds after which it goes on when the table has refused a call."""


def begin(table: Table) -> bool:
    """Have the table checked; False when a check is under way already. 1 write unit, and 1 in GSI1."""
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
    remaining: Callable[[], float],
    found: Callable[[Finding], None],
    finished: Callable[[Tally], None],
) -> bool:
    """Go on with the check while time is `remaining` (seconds); False when there is none, or nothing to do yet.

    `found` is told of what is wrong, again when this is killed before it has saved how far it came; `finished` of the whole, again
    when this is killed before it is forgotten.
    """
    stored = table.get(keys.CHECK, keys.JOB, consistent=True)
    if stored is None or stored[keys.SORT] > clock.now() or remaining() <= 0:
        return False
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
            table.delete(keys.CHECK, keys.JOB, _unchanged(held))
        else:
            state = {"position": check.walk.position, "tally": check.tally.to_state()}
            _save(table, held, {keys.SORT: due, "holder": "", **state})
    except (ConditionFailed, Overloaded):
        return False  # another has taken it, or will when the lease runs out
    return True


def _work(check: Check, remaining: Callable[[], float]) -> str:
    """Do what can be done now; tells when there is more."""
    while remaining() > 0 and not check.done:
        due = check.waits_until
        if due is not None:
            return due
        try:
            check.step()
        except Overloaded:
            return clock.after(_RETRY)
    return clock.now()


def _save(table: Table, before: Item, changes: Item) -> Item:
    after = {**before, **changes, "revision": before["revision"] + 1}
    try:
        table.put(after, _unchanged(before))
    except ConditionFailed as error:
        if not error.is_repeat_of(after):
            raise
    return after


def _unchanged(item: Item) -> Condition:
    return Condition("revision = :revision", values={":revision": item["revision"]})
