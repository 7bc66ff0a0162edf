"""Idempotency-Key: a repeated request gets the answer of the first one and has no further effect.

A record is kept for a day, under the tenant and a hash of user, call, project and key. It holds the answer. `created_once`
writes it in one transaction with what the request creates: either both exist or neither, wherever a function is killed. A
batch makes more writes than a transaction holds: `attempts`. Why not Powertools' idempotency: docs/decisions/0003-idempotency.md.
"""

import hashlib
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gridview.commands.requests import IDEMPOTENCY_KEY
from gridview.dynamodb.errors import TransactionFailed
from gridview.dynamodb.expressions import ABSENT, Condition, Item, Write, put
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.support import clock
from gridview.support.errors import Conflict, FieldError, InProgress, InvalidRequest, RequestError

KEPT_DAYS = 1.0

_STATE = "state"
_PART_BYTES = 350_000
"""Bytes of an answer in one item: DynamoDB stores at most 400 KB."""


class Answer(NamedTuple):
    """The answer to a request, as it is given again."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Use(NamedTuple):
    """A use of a key: the tenant, a hash of the key and of all that it is good for, and a hash of the body that came with it."""

    tenant: str
    digest: str
    body: str

    @property
    def partition(self) -> str:
        """The partition of its record."""
        return keys.request(self.tenant, self.digest)


def use_of(scope: Sequence[str], key: str, body: bytes) -> Use:
    """The use of a key in a scope, whose first part is the tenant. InvalidRequest if it cannot be a key."""
    if not IDEMPOTENCY_KEY.fullmatch(key):
        expectation = "must be 1 to 255 visible ASCII characters without a comma, and be sent once"
        raise InvalidRequest(f"Idempotency-Key {expectation}.", [FieldError("Idempotency-Key", expectation)])
    digest = hashlib.sha256("\0".join((*scope, key)).encode()).hexdigest()
    return Use(scope[0], digest, hashlib.sha256(body).hexdigest())


class Record:
    """What the table holds under a key: the item with the state, if it has not expired, and further parts of an answer."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = {item[keys.SK]: item for item in items}
        self.stored: Item | None = self._items.get(_STATE)
        """The item with the state, even if it has expired: the table may hold it for days after that."""

    @property
    def state(self) -> Item | None:
        """The item with the state; None if there is none, or if it has expired."""
        if self.stored is None or self.stored[keys.TTL_ATTRIBUTE] < time.time():
            return None
        return self.stored

    @property
    def answer(self) -> Answer | None:
        """The answer that it holds."""
        state = self.state
        if state is None or "parts" not in state:
            return None
        names = [_part(state, place) for place in range(state["parts"])]
        if any(name not in self._items for name in names):
            raise InProgress("The answer to the same request is just being written.")
        packed = [state["answer"], *(self._items[name]["answer"] for name in names)]
        return Answer(state["status"], state["headers"], zlib.decompress(b"".join(packed)))


def recall(table: Table, use: Use) -> Record:
    """What is known of a key: one Query, a read unit for each 4 KB. Conflict if the key was used with another body."""
    record = Record(table.query_all(use.partition, consistent=True))
    if record.state is not None and record.state["body"] != use.body:
        raise Conflict("The Idempotency-Key was used for another request.")
    return record


def new_state(use: Use) -> Item:
    """The state of a record that begins now."""
    return {
        keys.PK: use.partition,
        keys.SK: _STATE,
        "body": use.body,
        keys.TTL_ATTRIBUTE: clock.expiry(KEPT_DAYS),
    }


def answered(state: Item, answer: Answer) -> list[Item]:
    """The items of a record with its answer: the state with as much as fits an item, and behind it the other parts."""
    packed = zlib.compress(answer.body)
    first, *rest = [packed[at : at + _PART_BYTES] for at in range(0, len(packed), _PART_BYTES)]
    told = {"status": answer.status, "headers": dict(answer.headers), "answer": first, "parts": len(rest)}
    base = {name: state[name] for name in (keys.PK, keys.TTL_ATTRIBUTE)}
    parts = [{**base, keys.SK: _part(state, place), "answer": part} for place, part in enumerate(rest)]
    return [{**state, **told}, *parts]


def _part(state: Item, place: int) -> str:
    # Each attempt at a batch has its own parts, so that a superseded attempt cannot spoil the other's answer.
    return f"part-{state.get('lease', 0)}-{place:04d}"


Commit = Callable[[Table, Sequence[Write], Mapping[str, Any]], None]
"""Carries out the writes that create a resource, all or none; it is given the resource as the API answers it.

TransactionFailed when a condition does not hold.
"""


def at_once(table: Table, writes: Sequence[Write], _: Mapping[str, Any]) -> None:
    """Carry out the writes, and remember nothing."""
    table.transact(writes)


def created_once(
    table: Table,
    use: Use,
    create: Callable[[Commit], object],
    answer: Callable[[Mapping[str, Any]], Answer],
) -> Answer:
    """The answer of the first creation under this key within a day, which may be this one.

    `create` makes its writes by the `Commit` that it is given. A refusal is not remembered. Of two that are at work at once one
    creates, and both answer the same. Costs a read unit, and two write units for each KB of the compressed answer.
    """
    record = recall(table, use)
    if record.answer is not None:
        return record.answer
    given: list[Answer] = []

    def commit(table: Table, writes: Sequence[Write], resource: Mapping[str, Any]) -> None:
        made = answer(resource)
        state, *parts = answered(new_state(use), made)
        try:
            table.transact([*writes, put(state, _as_seen(record)), *map(put, parts)])
        except TransactionFailed as error:
            if len(writes) in error.failed:
                raise InProgress("The same request is in progress.") from error
            raise
        given.append(made)

    try:
        create(commit)
    except RequestError:
        # The reason may be that another attempt at this request has been faster, or that this one's answer was lost.
        known = recall(table, use).answer
        if known is None:
            raise
        return known
    return given[-1]


def _as_seen(record: Record) -> Condition:
    """The record is as it was read: there was none, or it had expired."""
    if record.stored is None:
        return ABSENT
    name, seen = keys.TTL_ATTRIBUTE, record.stored[keys.TTL_ATTRIBUTE]
    return Condition("#expiry = :expiry", {"#expiry": name}, {":expiry": seen})
