"""Idempotency-Key: a repeated request gets the answer of the first one and has no further effect.

A record (`schema.remembered`) is kept for a day, under tenant and project and a hash of the key and its
scope. It holds the answer. `created_once` writes it in one transaction with the resource that the request
creates: both exist or neither, even if the function is killed. A batch makes more writes than a transaction
holds: `attempts`. Why not Powertools' idempotency: docs/decisions/0003-idempotency.md.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gridview.dynamodb.errors import TransactionFailed
from gridview.dynamodb.expressions import ABSENT, Bound, Condition, Item, Write, put
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.remembered import Answer, Record, Use, answered, new_state
from gridview.support.errors import Conflict, FieldError, InvalidRequest, RequestError, RequestInProgress

KEY = re.compile(r"[!-+\--~](?:[ -+\--~]{0,253}[!-+\--~])?")
"""Up to 255 visible ASCII characters, with spaces inside. No comma: API Gateway joins several headers of one
name with it.
"""


class Scope(NamedTuple):
    """The scope of a key: one user, in one call, on the resources that the path names. `project` is empty in
    calls of the tenant.
    """

    tenant: str
    user: str
    operation: str
    project: str
    further: tuple[str, ...] = ()


def use_of(scope: Scope, key: str, body: bytes) -> Use:
    """Return the use of a key in a scope. InvalidRequest if it cannot be a key."""
    if not KEY.fullmatch(key):
        expectation = "must be 1 to 255 visible ASCII characters without a comma, and be sent once"
        raise InvalidRequest(f"Idempotency-Key {expectation}.", [FieldError("Idempotency-Key", expectation)])
    parts = scope.tenant, scope.user, scope.operation, scope.project, *scope.further, key
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return Use(scope.tenant, scope.project, digest, hashlib.sha256(body).hexdigest())


def recall(table: Table, use: Use) -> Record:
    """Return the record of a key: one Query, a read unit for each 4 KB. Conflict if the key was used with
    another body.
    """
    record = Record(use.digest, stored_items(table, use.partition, use.digest))
    if record.state is not None and record.state["body"] != use.body:
        raise Conflict("The Idempotency-Key was used for another request. Send a new key.")
    return record


def stored_items(table: Table, partition: str, digest: str) -> Iterator[Item]:
    """Return the items of a record, page after page of 1 MB, strongly consistent."""
    bound = Bound("begins_with", digest)
    while True:
        page = table.query(partition, bound=bound, consistent=True)
        yield from page.items
        if page.last is None:
            return
        bound = Bound("between", f"{page.last}.", f"{digest}/")


Transact = Callable[[Table, Sequence[Write], Mapping[str, Any]], None]
"""Carries out the writes that create a resource, all or none; it is given the resource as the API answers it.

TransactionFailed when a condition does not hold.
"""


def at_once(table: Table, writes: Sequence[Write], _: Mapping[str, Any]) -> None:
    """Carry out the writes, and remember nothing."""
    table.transact(writes)


def created_once(
    table: Table,
    use: Use,
    create: Callable[[Transact], object],
    answer: Callable[[Mapping[str, Any]], Answer],
) -> Answer:
    """Return the answer of the first creation under this key within a day, which may be this one.

    `create` makes its writes by the `Transact` that it is given. A refusal is not remembered. If two run at
    once, one creates, and both answer the same. Costs a read unit, and two write units for each KB of the
    compressed answer.
    """
    record = recall(table, use)
    if record.answer is not None:
        return record.answer
    given: list[Answer] = []

    def transact(table: Table, writes: Sequence[Write], resource: Mapping[str, Any]) -> None:
        made = answer(resource)
        state, *parts = answered(new_state(use), made)
        try:
            table.transact([*writes, put(state, _as_seen(record)), *map(put, parts)])
        except TransactionFailed as error:
            if len(writes) in error.failed:
                raise RequestInProgress(
                    "The same request is in progress. Send it again to get its answer."
                ) from error
            raise
        given.append(made)

    try:
        create(transact)
    except RequestError:
        # The reason may be that another attempt at this request has been faster, or that this one's answer was lost.
        known = recall(table, use).answer
        if known is None:
            raise
        return known
    return given[-1]


def _as_seen(record: Record) -> Condition:
    """Return the condition that the record is as it was read: there was none, or it had expired."""
    if record.stored is None:
        return ABSENT
    name, seen = keys.TTL_ATTRIBUTE, record.stored[keys.TTL_ATTRIBUTE]
    return Condition("#expiry = :expiry", {"#expiry": name}, {":expiry": seen})
