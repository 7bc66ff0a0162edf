"""The nightly check of the whole table, in segments that are checked in parallel, over many invocations.

An item for each segment records its progress. An item for the whole waits for them; then it sums their
tallies, checks the families that are no more, and reports the result. All are among the jobs of GSI1
(`schema.jobs`) under their next due time, and a worker holds a lease on its item. A finished segment is due
no more. The last one makes the whole due. If its invocation is killed before that, the whole looks when its
lease is over.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress

from gridview.dynamodb.errors import TransactionFailed
from gridview.dynamodb.expressions import ABSENT, Condition, Item, Write, delete, put, revision_is
from gridview.dynamodb.leases import RETRY, ItemChanged, lease_end, new_holder, released, save, take
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.fsck.checker import Check
from gridview.fsck.progress import Finding, Tally
from gridview.fsck.walks import TableWalk
from gridview.schema.jobs import PARTS, Hint, Turn
from gridview.support import clock
from gridview.support.errors import Overloaded

PATIENCE = 900.0
"""Seconds for which a difference may be temporary: more than the stream lags on a bad day."""

_AT_MOST = 500
"""The limit of suspects."""

_PAGE = 1_000
"""Items that are read at a time. Even if each of them adds a suspect, the item stays below 400 KB."""


def begin(table: Table) -> bool:
    """Request a check of the table; False if one is in progress already. A transaction of an item for each
    segment and one more.
    """
    try:
        table.transact(list(_begun(ABSENT, 1)))
    except TransactionFailed:
        return False
    return True


def go_on(
    table: Table,
    hint: Hint,
    remaining: Callable[[], float],
    found: Callable[[Finding], None],
    finished: Callable[[Tally], None],
) -> Turn | None:
    """Continue the part of a check that a hint names, while time is `remaining` (seconds). None if there is
    nothing to do, or not yet.

    `found` receives the wrong items, and receives them again if this invocation is killed before it has saved
    its progress. `finished` receives the whole tally, and receives it again if this invocation is killed
    before the items are deleted.
    """
    stored = table.get(keys.CHECK, keys.job(hint.part), consistent=True)
    if stored is None or stored.get(keys.SORT) != hint.due or hint.due > clock.now() or remaining() <= 0:
        return None
    try:
        held = take(table, keys.CHECK, keys.job(hint.part), hint.due, new_holder())
        if held is None:
            return None
        if hint.part:
            return _go_on_with_segment(table, hint.part, held, remaining, found)
        return _go_on_with_whole(table, held, remaining, found, finished)
    except (ItemChanged, TransactionFailed, Overloaded):
        return None  # another invocation has taken it, or will when the lease runs out


def _go_on_with_segment(
    table: Table, part: int, held: Item, remaining: Callable[[], float], found: Callable[[Finding], None]
) -> Turn:
    walk = TableWalk(table, len(PARTS), held["progress"], only=part - PARTS.start, limit=_PAGE)
    check = _check(table, walk, found, Tally.from_state(held["tally"]))
    due = _work(check, remaining, lambda: check.settled)
    state = {"progress": walk.progress, "tally": check.tally.to_state()}
    if not check.settled:
        _release(table, held, due, state)
        return Turn(hints=(Hint(keys.CHECK, due, part),))
    _release(table, held, None, state)
    if not all(map(_ended, _segments(table))):
        return Turn()
    whole = table.get(keys.CHECK, keys.JOB, consistent=True)
    with suppress(ItemChanged):  # another invocation is at work on it, and sees that all segments have ended
        if whole is not None:
            due = clock.now()
            _save(table, whole, {keys.SORT: due})
            return Turn(hints=(Hint(keys.CHECK, due),))
    return Turn()


def _go_on_with_whole(
    table: Table,
    held: Item,
    remaining: Callable[[], float],
    found: Callable[[Finding], None],
    finished: Callable[[Tally], None],
) -> Turn:
    segments = _segments(table)
    if len(segments) < len(PARTS):  # someone deleted an item
        table.transact(list(_begun(revision_is(held["revision"]), held["revision"] + 1)))
        return Turn()
    if not all(map(_ended, segments)):
        _release(table, held, lease_end(), {})
        return Turn()
    tallies = [Tally.from_state(segment["tally"]) for segment in segments]
    tally = Tally.from_state(held["tally"]) if held["tally"] else Tally.together(tallies)
    check = _check(table, TableWalk(table, segments=0), found, tally)
    due = _work(check, remaining, lambda: check.done)
    if not check.done:
        _release(table, held, due, {"tally": tally.to_state()})
        return Turn(hints=(Hint(keys.CHECK, due),))
    finished(tally)
    over = [delete(keys.CHECK, keys.job(part)) for part in PARTS]
    table.transact([delete(keys.CHECK, keys.JOB, revision_is(held["revision"])), *over])
    return Turn()


def _begun(condition: Condition, revision: int) -> Iterable[Write]:
    """Return the items of a check that begins: its segments are due at once, and it waits for them."""
    common = {keys.PK: keys.CHECK, keys.HOLDER: "", "began": clock.now()}
    due = lease_end()
    yield put({**common, keys.SK: keys.JOB, keys.SORT: due, "revision": revision, "tally": None}, condition)
    for part in PARTS:
        state = {"revision": 1, "progress": None, "tally": Tally().to_state()}
        yield put({**common, keys.SK: keys.job(part), keys.SORT: clock.now(), **state})


def _segments(table: Table) -> list[Item]:
    wanted = [(keys.CHECK, keys.job(part)) for part in PARTS]
    found = table.batch_get(wanted, consistent=True).items
    return [found[key] for key in wanted if key in found]


def _ended(segment: Item) -> bool:
    return keys.SORT not in segment


def _check(table: Table, walk: TableWalk, found: Callable[[Finding], None], tally: Tally) -> Check:
    return Check(table, walk, found, patience=PATIENCE, at_most=_AT_MOST, tally=tally)


def _work(check: Check, remaining: Callable[[], float], ended: Callable[[], bool]) -> str:
    """Do everything that can be done now; return when to continue."""
    while remaining() > 0 and not ended():
        due = check.waits_until
        if due is not None:
            return due
        try:
            check.step()
        except Overloaded:
            return clock.after(RETRY)
    return clock.now()


def _release(table: Table, held: Item, due: str | None, state: Item) -> None:
    """Save the state of an item that is held, and release it, due at an instant; None: it is due no more."""
    free = released(due)
    _save(
        table,
        {name: value for name, value in held.items() if name not in free.drop},
        {**state, **free.assign},
    )


def _save(table: Table, before: Item, changes: Item) -> None:
    after = {**before, **changes, "revision": before["revision"] + 1}
    save(table, after, before["revision"], before[keys.HOLDER])
