"""Idempotency-Key: a repeated request gets the answer of the first one and has no further effect.

A record is kept for a day, under a hash of tenant, user, call and key. It holds the answer. Before there is an answer, it holds
what makes it safe to repeat the work of a killed function: the issue numbers reserved for the request, and a mark that its writes
leave on the documents. Why this is not Powertools' idempotency: docs/decisions/0003-idempotency.md.
"""

import hashlib
import time
import zlib
from collections.abc import Callable
from typing import Any

from gridview.commands.requests import MAX_KEY_LENGTH
from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import ABSENT, Condition
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.support import clock
from gridview.support.errors import Conflict, FieldError, InProgress, InvalidRequest

KEPT_DAYS = 1.0

_STATE = "state"
_PART_BYTES = 350_000
"""Bytes of an answer in one item: DynamoDB stores at most 400 KB."""


class Attempt:
    """One attempt at the work of a request with a key."""

    def __init__(self, table: Table, record: dict[str, Any]) -> None:
        self._table = table
        self._record = record
        self._open = False

    @property
    def again(self) -> bool:
        """Whether an earlier attempt at this request died, so that some of its work may be done."""
        return bool(self._record.get("again"))

    def mark(self, operation: int) -> str:
        """The mark that the request's n-th operation leaves on a document."""
        return f"{self._record[keys.PK][-24:]}.{operation}"

    def numbers(self, reserve: Callable[[], range]) -> range:
        """The issue numbers reserved for this request, by an earlier attempt or now."""
        if "first" not in self._record:
            reserved = reserve()
            self._save({"first": reserved.start, "count": len(reserved)})
        return range(self._record["first"], self._record["first"] + self._record["count"])

    def leave_open(self) -> None:
        """Do not keep the answer, because some of the work may succeed in another attempt."""
        self._open = True

    def end(self, answer: bytes) -> None:
        """Keep the answer (a write unit for each KB of it, compressed), or let the next attempt start at once."""
        if self._open:
            self._save({"lease": 0, "again": True})
        else:
            self._remember(answer)

    def _remember(self, answer: bytes) -> None:
        packed = zlib.compress(answer)
        parts = [packed[at : at + _PART_BYTES] for at in range(0, len(packed), _PART_BYTES)]
        for place, part in enumerate(parts):
            self._table.put({**self._base(_part(self._record, place)), "answer": part})
        self._save({"parts": len(parts)})

    def _base(self, sort_key: str) -> dict[str, Any]:
        return {
            keys.PK: self._record[keys.PK],
            keys.SK: sort_key,
            keys.TTL_ATTRIBUTE: self._record[keys.TTL_ATTRIBUTE],
        }

    def _save(self, changes: dict[str, Any]) -> None:
        changed = {**self._record, **changes}
        try:
            self._table.put(changed, _held(self._record))
        except ConditionFailed as error:
            raise InProgress("Another attempt at this request has taken over.") from error
        self._record = changed


def once(
    table: Table,
    scope: tuple[str, ...],
    key: str,
    body: bytes,
    deadline: float,
    work: Callable[[Attempt], bytes],
) -> bytes:
    """The result of `work`, or the answer of the first use of this key in this scope within a day.

    `deadline` (seconds since 1970) is when this invocation is certainly dead. Conflict if the key was used with another body;
    InProgress while an earlier attempt may still be alive. Costs 3 write units and those of the answer.
    """
    if not 1 <= len(key) <= MAX_KEY_LENGTH:
        raise InvalidRequest(
            f"An Idempotency-Key has 1 to {MAX_KEY_LENGTH} characters.",
            [FieldError("Idempotency-Key", f"must have 1 to {MAX_KEY_LENGTH} characters")],
        )
    digest = hashlib.sha256("\0".join((*scope, key)).encode(errors="surrogatepass")).hexdigest()
    record = _begin(table, digest, hashlib.sha256(body).hexdigest(), deadline)
    if "parts" in record:
        return _answer(table, record)
    attempt = Attempt(table, record)
    answer = work(attempt)
    attempt.end(answer)
    return answer


def _begin(table: Table, digest: str, body: str, deadline: float) -> dict[str, Any]:
    """Start the request, or find its recorded answer."""
    now = time.time()
    record: dict[str, Any] = {
        keys.PK: keys.request(digest),
        keys.SK: _STATE,
        "body": body,
        "lease": int(deadline * 1000),
        keys.TTL_ATTRIBUTE: clock.expiry(KEPT_DAYS),
    }
    condition = ABSENT
    for _ in range(2):
        try:
            table.put(record, condition)
        except ConditionFailed as error:
            found = error.item or {}
        else:
            return record
        if found.get(keys.TTL_ATTRIBUTE, 0) >= now:
            if found["body"] != body:
                raise Conflict("The Idempotency-Key was used for another request.")
            if "parts" in found:
                return found
            if found["lease"] >= now * 1000:
                raise InProgress("The same request is in progress.")
            record = {**found, "lease": record["lease"], "again": True}
        condition = _held(found) if found else ABSENT
    raise InProgress("The same request is in progress.")


def _held(record: dict[str, Any]) -> Condition:
    return Condition("lease = :lease", values={":lease": record["lease"]})


def _answer(table: Table, record: dict[str, Any]) -> bytes:
    pk = record[keys.PK]
    names = [_part(record, place) for place in range(record["parts"])]
    found = table.batch_get([(pk, name) for name in names], consistent=True).items
    return zlib.decompress(b"".join(found[pk, name]["answer"] for name in names))


def _part(record: dict[str, Any], place: int) -> str:
    # Each attempt has its own parts, so that a superseded attempt cannot spoil the other's answer.
    return f"part-{record['lease']}-{place:04d}"
