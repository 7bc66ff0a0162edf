"""Attempts at a batch or an undo with an Idempotency-Key: each continues where a killed one stopped, and the last
one's answer is kept.

Before there is an answer, the record (`idempotency`) makes it safe to repeat the work of an attempt. It holds the
issue numbers reserved for the request, a lease, and the results of the operations that are finished. An attempt
that is killed records no results: the next one knows its writes by the marks on the documents (`marks`). A job that
an attempt starts is written in one transaction with the answer.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from gridview.commands.idempotency import Transact, recall
from gridview.commands.marks import Mark
from gridview.commands.write_rate import ADMITTED, Admission
from gridview.dynamodb.errors import ConditionFailed, TransactionFailed
from gridview.dynamodb.expressions import ABSENT, Condition, Item, Write, put
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.remembered import Answer, Use, answered, finished_in, new_state, with_finished
from gridview.support.errors import RequestError, RequestInProgress


class Attempt:
    """One attempt at the work of a request with a key."""

    def __init__(self, table: Table, state: Item) -> None:
        self._table = table
        self._state = state
        self._open = False
        self._kept = False
        self._finished = finished_in(state)

    @property
    def again(self) -> bool:
        """Return whether an earlier attempt at this request was killed or left open, so that some of its
        work may be done.
        """
        return bool(self._state.get("again"))

    @property
    def change(self) -> UUID:
        """The change that the request is: that of its first attempt."""
        return UUID(bytes=self._state["change"])

    @property
    def finished(self) -> Mapping[int, Mapping[str, Any]]:
        """The results of the operations that are finished, by operation. They are not done again."""
        return self._finished

    def finish(self, operation: int, result: Mapping[str, Any]) -> None:
        """Note the result of an operation. It is stored if this attempt ends without an answer to keep."""
        self._finished[operation] = result

    def mark(self, operation: int) -> Mark:
        """Return the mark that the request's n-th operation leaves on a document."""
        return Mark(self._state[keys.SK][-24:], operation, self._finished)

    def numbers(self, reserve: Callable[[], range]) -> range:
        """Return the issue numbers reserved for this request, by an earlier attempt or now."""
        if "first" not in self._state:
            reserved = reserve()
            self._save({**self._state, "first": reserved.start, "count": len(reserved)})
        return range(self._state["first"], self._state["first"] + self._state["count"])

    def leave_open(self) -> None:
        """Do not keep the answer, because some of the work may succeed in another attempt."""
        self._open = True

    def keeping(self, answer: Callable[[Mapping[str, Any]], Answer]) -> Transact:
        """Return how to carry out the writes that create a resource, in one transaction with the answer about it."""

        def transact(table: Table, writes: Sequence[Write], resource: Mapping[str, Any]) -> None:
            state, *parts = answered(self._state, answer(resource))
            try:
                table.transact([*writes, put(state, _unanswered(self._state)), *map(put, parts)])
            except TransactionFailed as error:
                if len(writes) in error.failed:
                    raise _overtaken() from error
                raise
            self._kept = True

        return transact

    def end(self, answer: Answer) -> None:
        """Keep the answer (a write unit for each KB of it, compressed), or let the next attempt start at once."""
        if self._kept:
            return
        if self._open:
            self.release()
            return
        state, *parts = answered(self._state, answer)
        for part in parts:
            self._table.put(part)
        self._save(state)

    def release(self) -> None:
        """Let the next attempt start at once."""
        self._save({**with_finished(self._state, self._finished), "lease": 0, "again": True})

    def _save(self, changed: Item) -> None:
        try:
            self._table.put(changed, _unanswered(self._state))
        except ConditionFailed as error:
            raise _overtaken() from error
        self._state = changed


def once(
    table: Table,
    use: Use,
    change: UUID,
    deadline: float,
    work: Callable[[Attempt], Answer],
    admission: Admission = ADMITTED,
) -> Answer:
    """Return the result of `work`, or the answer of the first use of this key within a day.

    `change`: the change that the request is part of, if this is its first attempt. `deadline` (seconds since
    1970): when this invocation has certainly ended. Conflict if the key was used with another body;
    RequestInProgress while an earlier attempt may still run.

    Costs 2 read units, 2 write units and the write units of the answer. An attempt is counted before it
    begins, and a repeated answer is not counted: TooManyWrites.
    """
    begun = _begin(table, use, change, deadline, admission)
    if isinstance(begun, Answer):
        return begun
    attempt = Attempt(table, begun)
    try:
        answer = work(attempt)
    except RequestError:
        attempt.release()
        raise
    attempt.end(answer)
    return answer


def _begin(table: Table, use: Use, change: UUID, deadline: float, admission: Admission) -> Item | Answer:
    """Start the request, or find its recorded answer."""
    lease = int(deadline * 1000)
    for _ in range(2):
        record = recall(table, use)
        if record.answer is not None:
            return record.answer
        state = {**new_state(use), "change": change.bytes, "lease": lease}
        if record.state is not None:
            if record.state["lease"] >= time.time() * 1000:
                raise RequestInProgress("The same request is in progress. Send it again to get its answer.")
            state = {**record.state, "again": True, "lease": lease}
        admission.require(table)
        try:
            table.put(state, ABSENT if record.stored is None else _held(record.stored))
        except ConditionFailed:
            continue
        return state
    raise RequestInProgress("The same request is in progress. Send it again to get its answer.")


def _overtaken() -> RequestInProgress:
    return RequestInProgress(
        "Another attempt at this request has taken over. Send the request again to get its answer."
    )


def _unanswered(state: Item) -> Condition:
    """Return the condition that the attempt holds the record, and that it has no answer yet. A transaction that kept
    one may have looked as if it had failed.
    """
    return _held(state).also(Condition("attribute_not_exists(#parts)", {"#parts": "parts"}))


def _held(state: Item) -> Condition:
    return Condition("lease = :lease", values={":lease": state["lease"]})
