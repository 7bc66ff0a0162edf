"""The table, as the core sees it: every read and write of DynamoDB is a method here.

Items are plain dicts of Python values (`attribute_values`). Every call is metered with the capacity that
DynamoDB reports for it.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as NoConnectionError

from gridview.dynamodb.answers import is_busy
from gridview.dynamodb.client import POOL, Transport, connect
from gridview.dynamodb.errors import ConditionFailed, ItemTooLarge, TransactionFailed
from gridview.dynamodb.expressions import (
    PRESENT,
    Bound,
    Condition,
    Item,
    Key,
    Span,
    Write,
    conditions,
    key_from_wire,
    placed,
    projected,
    wire_key,
)
from gridview.dynamodb.metering import Call, Meter, capacity_in, items_in
from gridview.encoding import keys
from gridview.encoding.attribute_values import item_from_wire, item_to_wire
from gridview.support import aws
from gridview.support.concurrency import chunked
from gridview.support.errors import Overloaded

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


BATCH_GET = 100
"""Keys that one BatchGetItem takes."""
BATCH_WRITE = 25
"""Items that one BatchWriteItem takes."""
TRANSACTION = 100
"""Items that one TransactWriteItems takes."""

_REMOVED_AT_ONCE = 100
"""Paths in one expression, which may have 4 KB."""
_ATTEMPTS = 8
_TRANSIENT = frozenset(
    {
        "InternalServerError",
        "LimitExceededException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ServiceUnavailable",
        "ThrottlingException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)


class Page(NamedTuple):
    """The result of one Query call: its items, how many were read to find them, and whether the range
    continues after them.
    """

    items: list[Item]
    examined: int
    last: str | None


class Scanned(NamedTuple):
    """The result of one Scan call: its items, and the key of the last one that was read if there may be more
    after it.
    """

    items: list[Item]
    last: Key | None


class Fetched(NamedTuple):
    """The result of BatchGetItem: the items that exist, and the keys that were not asked for any more because
    enough had come.
    """

    items: dict[Key, Item]
    left: frozenset[Key]


class Together(NamedTuple):
    """The result of parallel reads: the items that exist, by key, and the items of each span, in order."""

    items: dict[Key, Item]
    spans: list[list[Item]]


class Table:
    """The one table. Reads and writes raise Overloaded when DynamoDB keeps refusing, ClientError for errors
    in gridview itself.
    """

    def __init__(
        self,
        name: str,
        client: "DynamoDBClient | None" = None,
        meter: Meter | None = None,
        *,
        session_role: str = "",
        transport: Transport | None = None,
    ) -> None:
        """`session_role`: the ARN of the role to assume for the tenant of each call (`sessions`). Empty: none is.

        `transport`: how calls reach the table; by default by the direct client.
        """
        self.name = name
        # A container keeps its table for hours: calls are recorded only in a meter that the caller passes.
        self.meter = meter or Meter(recording=False)
        self._made = client
        self._session_role = session_role
        self._transport = transport

    @property
    def services(self) -> tuple[str, ...]:
        """The AWS services that its calls need."""
        return ("dynamodb", "sts") if self._session_role else ("dynamodb",)

    def connect(self) -> None:
        """Make a new client, with new connections and no sessions yet; without this, the first call makes one."""
        self._made = connect(self._session_role, self._transport)

    @property
    def _client(self) -> "DynamoDBClient":
        if self._made is None:
            self.connect()
        assert self._made is not None  # noqa: S101  connect makes it
        return self._made

    def metered(self) -> "Table":
        """Return the same table with a meter of its own."""
        return Table(self.name, self._client, Meter())

    def get(self, pk: str, sk: str, *, consistent: bool = False) -> Item | None:
        """One item: 0.5 read units for each 4 KB, twice that when strongly consistent."""
        self.meter.rounds += 1
        answer = self._call("get_item", "table", Key=wire_key(pk, sk), ConsistentRead=consistent)
        found = answer.get("Item")
        return item_from_wire(found) if found is not None else None

    def batch_get(
        self,
        wanted: Sequence[Key],
        *,
        consistent: bool = False,
        paths: Sequence[Sequence[str]] | None = None,
        enough: Callable[[Mapping[Key, Item]], bool] = lambda _: False,
    ) -> Fetched:
        """Return items by key, if they exist; 0.5 read units each for 4 KB, twice that when strongly
        consistent.

        Calls of 100 keys run in parallel. DynamoDB may leave keys out: an answer ends at 16 MB, or it
        throttles. These are asked for again until `enough` accepts the items that have come.
        """
        projection = projected(paths)
        found: dict[Key, Item] = {}
        # DynamoDB refuses a key that occurs twice; a query of an index that is just being changed may give
        # one.
        left: list[Key] = list(dict.fromkeys(wanted))
        if not left:
            return Fetched(found, frozenset())
        for attempt in _attempts():
            self.meter.rounds += 1
            chunks = list(chunked(left, BATCH_GET))
            before, left = len(left), []
            for answer in self._side_by_side(
                lambda chunk: self._batch_get(chunk, consistent, projection), chunks
            ):
                _take(answer, self.name, found, left)
            if not left or enough(found):
                return Fetched(found, frozenset(left))
            if len(left) == before:
                attempt.wait()
        raise Overloaded("The table is busy; try again.")

    def _batch_get(self, chunk: Sequence[Key], consistent: bool, projection: dict[str, Any]) -> Any:
        request = {
            "Keys": [wire_key(pk, sk) for pk, sk in chunk],
            "ConsistentRead": consistent,
            **projection,
        }
        return self._call("batch_get_item", "table", RequestItems={self.name: request})

    def query(
        self,
        partition: str,
        *,
        index: bool = False,
        bound: Bound | None = None,
        forward: bool = True,
        limit: int | None = None,
        consistent: bool = False,
        only: Condition | None = None,
        paths: Sequence[Sequence[str]] | None = None,
    ) -> Page:
        """One Query call in a partition of the table or of GSI1: at most `limit` items or 1 MB are read, then
        `only` filters.

        0.5 read units for each 4 KB read (of the whole page, not per item), twice that when strongly
        consistent. A range in which nothing can be is not read.
        """
        self.meter.rounds += 1
        return self._query(partition, index, bound, forward, limit, consistent, only, paths)

    def query_ranges(
        self, partition: str, bounds: Sequence[Bound], *, paths: Sequence[Sequence[str]] | None = None
    ) -> list[Page]:
        """Make a Query call of GSI1 for each of these ranges of a partition, in parallel, in one round. A
        page has 1 MB at most.
        """
        self.meter.rounds += 1
        return self._side_by_side(
            lambda bound: self._query(partition, True, bound, True, None, False, None, paths), bounds
        )

    def read_together(
        self, wanted: Sequence[Key], spans: Sequence[Span], *, paths: Sequence[Sequence[str]] | None = None
    ) -> Together:
        """Read items by key and whole spans, in parallel in one round. Half a read unit for each 4 KB
        of an item or a page.

        A further round only for keys that an answer left out, and for a span of more than 1 MB. `paths` apply
        to the spans' items.
        """
        found: dict[Key, Item] = {}
        # Two items can have one place in an order, so a page begins where the one before it ended.
        listed: list[dict[Key, Item]] = [{} for _ in spans]
        left, going = list(dict.fromkeys(wanted)), dict(enumerate(spans))
        attempts = _attempts()
        while left or going:
            self.meter.rounds += 1
            chunks = list(chunked(left, BATCH_GET))
            reads: list[Callable[[], Any]] = [partial(self._batch_get, chunk, False, {}) for chunk in chunks]
            reads += [
                partial(
                    self._query, span.partition, span.in_index, span.bound, True, None, False, None, paths
                )
                for span in going.values()
            ]
            answers = self._side_by_side(lambda read: read(), reads)
            stuck, left = len(left), []
            for answer in answers[: len(chunks)]:
                _take(answer, self.name, found, left)
            pages: list[Page] = answers[len(chunks) :]
            for (place, span), page in zip(list(going.items()), pages, strict=True):
                stuck = 0
                listed[place].update(_by_key(page.items))
                if page.last is None:
                    del going[place]
                else:
                    going[place] = span.after(page.last)
            if left and len(left) == stuck:
                attempt = next(attempts, None)
                if attempt is None:
                    raise Overloaded("The table is busy; try again.")
                attempt.wait()
        return Together(found, [list(one.values()) for one in listed])

    def _query(
        self,
        partition: str,
        index: bool,
        bound: Bound | None,
        forward: bool,
        limit: int | None,
        consistent: bool,
        only: Condition | None,
        paths: Sequence[Sequence[str]] | None,
    ) -> Page:
        if bound is not None and bound.empty:
            return Page([], 0, None)
        partition_key, sort_key = (keys.SK, keys.SORT) if index else (keys.PK, keys.SK)
        names = {"#partition": partition_key}
        values: dict[str, Any] = {":partition": partition}
        condition = "#partition = :partition"
        if bound is not None:
            names["#sort"] = sort_key
            values[":bound"] = bound.value
            if bound.operator == "between":
                values[":upper"] = bound.upper
            condition += " AND " + bound.expression("#sort", ":bound", ":upper")
        request: dict[str, Any] = {
            "KeyConditionExpression": condition,
            "ScanIndexForward": forward,
            "ConsistentRead": consistent,
        }
        if index:
            request["IndexName"] = keys.GSI1
        if limit is not None:
            request["Limit"] = limit
        if only is not None:
            request["FilterExpression"] = only.expression
            names.update(only.names)
            values.update(only.values)
        projection = projected(paths)
        names.update(projection.pop("ExpressionAttributeNames", {}))
        answer = self._call(
            "query",
            keys.GSI1 if index else "table",
            ExpressionAttributeNames=names,
            ExpressionAttributeValues=item_to_wire(values),
            **request,
            **projection,
        )
        last = answer.get("LastEvaluatedKey")
        return Page(
            [item_from_wire(raw) for raw in answer["Items"]],
            answer["ScannedCount"],
            last[sort_key]["S"] if last else None,
        )

    def query_all(
        self,
        partition: str,
        *,
        index: bool = False,
        consistent: bool = False,
        paths: Sequence[Sequence[str]] | None = None,
        bound: Bound | None = None,
    ) -> Iterator[Item]:
        """Return every item of a partition of the table or of GSI1, page after page of 1 MB. `bound`: only items
        after a key, by `>`.

        In GSI1 sort strings should differ: a page begins after all items that have the last sort string of
        the page before.
        """
        while True:
            page = self.query(partition, index=index, bound=bound, consistent=consistent, paths=paths)
            yield from page.items
            if page.last is None:
                return
            bound = Bound(">", page.last)

    def scan(
        self,
        *,
        after: Key | None = None,
        segment: int = 0,
        segments: int = 1,
        only: Condition | None = None,
        limit: int | None = None,
    ) -> Scanned:
        """Make one Scan call of the table: read at most `limit` items or 1 MB after the key `after`, then
        filter with `only`.

        Eventually consistent: 0.5 read units for each 4 KB read. Items of one partition follow each other, in
        the order of their sort keys. Reads one of the `segments` that make up the table, which may be scanned
        in parallel. Never for a request.
        """
        request: dict[str, Any] = {}
        if after is not None:
            request["ExclusiveStartKey"] = wire_key(*after)
        if segments > 1:
            request |= {"Segment": segment, "TotalSegments": segments}
        if only is not None:
            request["FilterExpression"] = only.expression
            request["ExpressionAttributeValues"] = item_to_wire(only.values)
            if only.names:
                request["ExpressionAttributeNames"] = dict(only.names)
        if limit is not None:
            request["Limit"] = limit
        self.meter.rounds += 1
        answer = self._call("scan", "table", **request)
        last = answer.get("LastEvaluatedKey")
        return Scanned(
            [item_from_wire(raw) for raw in answer["Items"]],
            key_from_wire(last) if last else None,
        )

    def put(self, item: Mapping[str, Any], condition: Condition | None = None) -> None:
        """Write a whole item: a write unit for each KB, and as much in GSI1; ConditionFailed when the
        condition does not hold.
        """
        self._conditional("put_item", condition, Item=item_to_wire(item))

    def delete(self, pk: str, sk: str, condition: Condition | None = None) -> None:
        """Delete an item: a write unit for each KB of it, and as much in GSI1; ConditionFailed as for put."""
        self._conditional("delete_item", condition, Key=wire_key(pk, sk))

    def add(
        self,
        pk: str,
        sk: str,
        attribute: str,
        amount: int,
        condition: Condition,
        *,
        expires: int | None = None,
    ) -> int:
        """Raise a number of an item and return its new value: 1 write unit. The table deletes the item when
        it `expires`.
        """
        update = "ADD #added :added"
        names, values = {"#added": attribute}, {":added": amount}
        if expires is not None:
            update += " SET #expiry = :expiry"
            names["#expiry"], values[":expiry"] = keys.TTL_ATTRIBUTE, expires
        named = replace(condition, names={**condition.names, **names}, values={**condition.values, **values})
        answer = self._conditional(
            "update_item",
            named,
            Key=wire_key(pk, sk),
            UpdateExpression=update,
            ReturnValues="UPDATED_NEW",
        )
        return int(answer["Attributes"][attribute]["N"])

    def update(
        self,
        pk: str,
        sk: str,
        condition: Condition,
        *,
        add: Mapping[str, int] | None = None,
        assign: Mapping[str, Any] | None = None,
        default: Mapping[str, Any] | None = None,
        keep: Mapping[str, str] | None = None,
        drop: Sequence[str] = (),
    ) -> Item:
        """Change attributes of an item in place and return the changed item: a write unit for each KB of it.

        Numbers are raised (`add`), attributes set (`assign`) and removed (`drop`). Missing attributes are set
        by `default`, or by `keep` to the former value of another one. ConditionFailed when the condition does
        not hold.
        """
        names: dict[str, str] = {}
        values: dict[str, Any] = {}

        def operand(value: Any) -> str:
            values[f":v{len(values)}"] = value
            return f":v{len(values) - 1}"

        set_now = [f"{placed(names, (name,))} = {operand(value)}" for name, value in (assign or {}).items()]
        for name, value in (default or {}).items():
            path = placed(names, (name,))
            set_now.append(f"{path} = if_not_exists({path}, {operand(value)})")
        for name, other in (keep or {}).items():
            path = placed(names, (name,))
            set_now.append(f"{path} = if_not_exists({path}, {placed(names, (other,))})")
        added = [f"{placed(names, (name,))} {operand(amount)}" for name, amount in (add or {}).items()]
        clauses = {"SET": set_now, "ADD": added, "REMOVE": [placed(names, (name,)) for name in drop]}
        update = " ".join(f"{verb} {', '.join(parts)}" for verb, parts in clauses.items() if parts)
        named = replace(
            condition,
            names={**condition.names, **{placeholder: part for part, placeholder in names.items()}},
            values={**condition.values, **values},
        )
        answer = self._conditional(
            "update_item",
            named,
            Key=wire_key(pk, sk),
            UpdateExpression=update,
            ReturnValues="ALL_NEW",
        )
        return item_from_wire(answer["Attributes"])

    def remove(self, pk: str, sk: str, paths: Sequence[Sequence[str]]) -> None:
        """Remove attributes of an existing item, at paths of them, without touching the others, which other
        writers may change.

        The write units of the whole item for each 100 paths; ConditionFailed when there is no item.
        """
        for some in chunked(paths, _REMOVED_AT_ONCE):
            names: dict[str, str] = {}
            removed = [placed(names, path) for path in some]
            self._conditional(
                "update_item",
                Condition(PRESENT.expression, {placeholder: part for part, placeholder in names.items()}),
                Key=wire_key(pk, sk),
                UpdateExpression="REMOVE " + ", ".join(removed),
            )

    def transact(self, writes: Sequence[Write]) -> None:
        """Write up to 100 items, all or none, at twice the write units; TransactionFailed when a condition
        does not hold.
        """
        self.meter.rounds += 1
        request = [{write.kind: {"TableName": self.name, **write.request}} for write in writes]
        try:
            self._call("transact_write_items", "table", TransactItems=request)
        except ClientError as error:
            if error.response["Error"]["Code"] != "TransactionCanceledException":
                raise
            reasons = error.response.get("CancellationReasons", [])
            codes = [reason.get("Code") for reason in reasons]
            if any("Item size" in str(reason.get("Message")) for reason in reasons):
                raise ItemTooLarge("The item would be larger than 400 KB.") from error
            if "ValidationError" in codes:
                raise
            if not {"ConditionalCheckFailed", "TransactionConflict"} & set(codes):
                raise Overloaded("The table is busy; try again.") from error
            raise TransactionFailed(
                tuple(at for at, code in enumerate(codes) if code == "ConditionalCheckFailed")
            ) from error

    def batch_put(self, items: Iterable[Mapping[str, Any]]) -> None:
        """Write many items, unconditionally and in any order; a key may occur only once among them. For bulk
        loads.
        """
        requests = [{"PutRequest": {"Item": item_to_wire(item)}} for item in items]
        for attempt in _attempts():
            self.meter.rounds += 1
            left: set[Key] = set()
            for answer in self._side_by_side(
                lambda chunk: self._call("batch_write_item", "table", RequestItems={self.name: chunk}),
                list(chunked(requests, BATCH_WRITE)),
            ):
                # Only their keys are taken: the direct client's answer has binary values as base64 text.
                unprocessed = answer.get("UnprocessedItems", {}).get(self.name, [])
                left.update(map(_key_of_put, unprocessed))
            if not left:
                return
            requests = [one for one in requests if _key_of_put(one) in left]
            attempt.wait()
        raise Overloaded("The table is busy; try again.")

    def _side_by_side(self, call: Callable[[Any], Any], chunks: Sequence[Any]) -> list[Any]:
        return [call(chunks[0])] if len(chunks) == 1 else list(POOL.map(call, chunks))

    def _conditional(self, operation: str, condition: Condition | None, **request: Any) -> Any:
        self.meter.rounds += 1
        try:
            return self._call(operation, "table", **request, **conditions(condition))
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            found: Any = error.response.get("Item")
            raise ConditionFailed(item_from_wire(found) if found else None) from error

    def _call(self, operation: str, target: str, **request: Any) -> Any:
        if operation not in ("batch_get_item", "batch_write_item", "transact_write_items"):
            request["TableName"] = self.name
        try:
            answer = getattr(self._client, operation)(ReturnConsumedCapacity="TOTAL", **request)
        except ClientError as error:
            code, status = aws.refusal(error)
            if code in _TRANSIENT or is_busy(status):
                raise Overloaded("The table is busy; try again.") from error
            if code == "ValidationException" and "Item size" in error.response["Error"].get("Message", ""):
                raise ItemTooLarge("The item would be larger than 400 KB.") from error
            raise
        except (NoConnectionError, HTTPClientError) as error:
            raise Overloaded("The table cannot be reached; try again.") from error
        self.meter.record(
            Call(
                operation,
                target,
                self.meter.rounds,
                items_in(answer),
                capacity_in(answer.get("ConsumedCapacity")),
            )
        )
        return answer


def _take(answer: Mapping[str, Any], table: str, found: dict[Key, Item], left: list[Key]) -> None:
    """Add the items in an answer of BatchGetItem to `found`, and the keys that it left out to `left`."""
    found.update(_by_key(map(item_from_wire, answer.get("Responses", {}).get(table, []))))
    unprocessed = answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", [])
    left += map(key_from_wire, unprocessed)


def _by_key(items: Iterable[Item]) -> Iterator[tuple[Key, Item]]:
    return (((item[keys.PK], item[keys.SK]), item) for item in items)


def _key_of_put(request: Mapping[str, Any]) -> Key:
    return key_from_wire(request["PutRequest"]["Item"])


class _Attempt(NamedTuple):
    number: int

    def wait(self) -> None:
        """Exponential back-off with full jitter, at most 2 s."""
        time.sleep(random.uniform(0, min(2.0, 0.025 * 2**self.number)))  # noqa: S311  (not a secret)


def _attempts() -> Iterator[_Attempt]:
    return (_Attempt(number) for number in range(_ATTEMPTS))
