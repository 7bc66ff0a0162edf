"""Takes permanently deleted values out of remembered answers, so that a repeated request does not return
them.
"""

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from gridview.dynamodb.errors import TransactionFailed
from gridview.dynamodb.expressions import Condition, Item, Write, delete, put
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.answer_contents import Redaction
from gridview.schema.remembered import Record, answered
from gridview.support.errors import RequestInProgress


def redact_answers(
    table: Table, tenant: str, project: str, redact: Redaction, left: Callable[[], float] = lambda: 1.0
) -> bool:
    """Rewrite the remembered answers of a project's requests; False if the seconds in `left` ran out.

    Another call starts again and does no harm. Costs a strongly consistent read of the records of a day's
    requests with a key, and a transaction for each answer that changes. Overloaded.
    """
    partition = keys.request(tenant, project)
    found = table.query_all(partition, consistent=True)
    for digest, items in groupby(found, key=lambda item: keys.parse_remembered(item[keys.SK])):
        if left() <= 0:
            return False
        writes = list(redaction(digest, list(items), redact))
        if writes:
            try:
                table.transact(writes)
            except TransactionFailed:
                continue  # an expired record was replaced by that of a new request, which no longer contains it
    return True


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
    unchanged: dict[str, Any] = {":answer": record.stored["answer"]}
    yield put(state, Condition("answer = :answer", values=unchanged))
    yield from map(put, parts)
    kept = {item[keys.SK] for item in (state, *parts)}
    yield from (delete(item[keys.PK], item[keys.SK]) for item in items if item[keys.SK] not in kept)
