"""Takes permanently deleted values out of remembered answers, so that a repeated request does not return
them.

The stream consumer only notes purged issues: a day's answers may take minutes, and all tenants share its shards.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby

from gridview.commands.idempotency import stored_items
from gridview.dynamodb.errors import ConditionFailed, TransactionFailed
from gridview.dynamodb.expressions import Bound, Condition, Item, Write, delete, put
from gridview.dynamodb.leases import lease_end
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.answer_contents import Redaction, without_issues
from gridview.schema.jobs import Hint, Turn
from gridview.schema.purged_issues import PurgedIssues
from gridview.schema.remembered import Record, answered
from gridview.support import backoff, clock
from gridview.support.errors import Overloaded, RequestInProgress


def note_purged(table: Table, tenant: str, project: str, numbers: Iterable[int]) -> None:
    """Have upkeep take purged issues out of a project's remembered answers.

    Doing it again does no harm. Costs a strongly consistent read and a put of the item. Overloaded.
    """
    partition = keys.request(tenant, project)
    for _ in backoff.attempts():
        state = _read(table, partition)
        try:
            _save(table, partition, state, state.adding(numbers, clock.now()))
        except ConditionFailed:
            continue
        return
    raise Overloaded("The list of purged issues is busy; try again.")


def take_turn(table: Table, hint: Hint, left: Callable[[], float]) -> Turn | None:
    """Take noted issues out of answers until the seconds in `left` are over. None if the hint is outdated or not due.

    Costs as `redact_answers`, for what a turn reads. After a crash or a refusal by the table, the next turn
    begins where this one began, when its lease has ended.
    """
    state = _read(table, hint.partition)
    if left() <= 0 or state.due != hint.due or state.due > clock.now():
        return None
    held = state.taken(lease_end())
    redact = partial(without_issues, numbers=held.numbers)
    try:
        _save(table, hint.partition, state, held)
        reached = redact_answers(table, *keys.parse_request(hint.partition), redact, left, held.reached)
        return Turn(hints=_end_turn(table, hint.partition, held, reached))
    except ConditionFailed:
        return None  # the next hint names the instant that the other writer has set
    except Overloaded:
        return Turn(refusals=1)


def _end_turn(table: Table, partition: str, held: PurgedIssues, reached: str | None) -> tuple[Hint, ...]:
    """Save the progress. Returns a hint to continue with, if issues are left."""
    for _ in backoff.attempts():
        state = _read(table, partition)
        if state.due != held.due:
            break  # the lease ended before this turn, and another worker has it
        after = state.released(reached, clock.now())
        try:
            _save(table, partition, state, after)
        except ConditionFailed:
            continue
        return (Hint(partition, after.due),) if after.due else ()
    return ()


def _read(table: Table, partition: str) -> PurgedIssues:
    return PurgedIssues.from_item(table.get(partition, keys.JOB, consistent=True))


def _save(table: Table, partition: str, before: PurgedIssues, after: PurgedIssues) -> None:
    """Write the next state, or delete the item if no issue is left. ConditionFailed."""
    if after.due:
        table.put(after.to_item(partition), before.unchanged)
    else:
        table.delete(partition, keys.JOB, before.unchanged)


def redact_answers(
    table: Table, tenant: str, project: str, redact: Redaction, left: Callable[[], float], after: str = ""
) -> str | None:
    """Rewrite the remembered answers of a project's requests, from the place `after` on. Returns the place that was
    reached when the seconds in `left` ran out; None if no answer is left.

    Doing it again does no harm. Costs a strongly consistent read of the records of a day's requests with a
    key, and a transaction for each answer that changes. After a lost race, also a read of the answer. Overloaded.
    """
    partition = keys.request(tenant, project)
    found = table.query_all(partition, consistent=True, bound=Bound(">", after) if after else None)
    for digest, items in groupby(found, key=lambda item: keys.parse_remembered(item[keys.SK])):
        if left() <= 0:
            return after
        _redact_answer(table, digest, list(items), redact)
        after = digest
    return None


def _redact_answer(table: Table, digest: str, items: list[Item], redact: Redaction) -> None:
    """Rewrite an answer until it contains no deleted value. Overloaded: others keep changing it.

    Another pass may have taken other values out of it, or a new request may have replaced an expired record.
    """
    partition = items[0][keys.PK]
    for _ in backoff.attempts():
        writes = list(redaction(digest, items, redact))
        if not writes:
            return
        try:
            table.transact(writes)
        except TransactionFailed:
            items = list(stored_items(table, partition, digest))
        else:
            return
    raise Overloaded("Other requests keep changing a remembered answer. Try again.")


def redaction(digest: str, items: list[Item], redact: Redaction) -> Iterator[Write]:
    """Return the writes that replace a record's answer; none if it contains no deleted value, or is just
    being written.
    """
    record = Record(digest, items)
    try:
        answer = record.kept_answer
    except RequestInProgress:
        return
    changed = None if answer is None else redact(answer)
    if changed is None or record.stored is None:
        return
    state, *parts = answered(record.stored, changed)
    seen = {item[keys.SK]: _answer_is(item["answer"]) for item in items if "answer" in item}
    yield from (put(item, seen.get(item[keys.SK])) for item in (state, *parts))
    kept = {item[keys.SK] for item in (state, *parts)}
    yield from (delete(item[keys.PK], item[keys.SK]) for item in items if item[keys.SK] not in kept)


def _answer_is(answer: bytes) -> Condition:
    return Condition("answer = :answer", values={":answer": answer})
