"""The storage module's interface over a dict: as strict as DynamoDB about conditions, and open to an adversary.

Every call goes through `around`, which gets the call's name, its key and the function that does it: it may refuse before or after
doing it, keep it and do it later, or let another thread go first. Expressions are evaluated, not recognised, so a condition that
the core gets wrong is wrong here too; what the evaluator does not know it refuses with NotImplementedError.

All reads are consistent here, but a call says whether it asked for that. Not simulated: the size of an item, and an index that
lags (leave the stream unread, or delete and put items directly).
"""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from gridview import keys
from gridview.storage import (
    BATCH_GET,
    Bound,
    Call,
    Condition,
    ConditionFailed,
    Fetched,
    Item,
    Key,
    Meter,
    Page,
    Table,
    TransactionFailed,
    Write,
)
from gridview.wire import Wire, from_wire, item_from_wire, item_size, item_to_wire

QUERY_BYTES = 2**20
"""What one Query call reads at most."""
BATCH_GET_BYTES = 16 * 2**20
"""What one BatchGetItem answers at most."""

_IN_INDEX = {keys.PK, keys.SK, keys.SORT, *keys.PROJECTED_ATTRIBUTES}


class Attempted(NamedTuple):
    """A call that the core makes: the name of the method, and the key that it is about (of a query, the partition)."""

    operation: str
    key: Key
    consistent: bool = True

    @property
    def writes(self) -> bool:
        """Whether it may change something."""
        return self.operation in ("put", "delete", "add", "transact", "batch_put")


class _Shared(NamedTuple):
    items: dict[Key, dict[str, Wire]]
    lock: threading.RLock


Result = TypeVar("Result")
Around = Callable[[Attempted, Callable[[], Any]], Any]


def undisturbed(_: Attempted, perform: Callable[[], Any]) -> Any:
    """No adversary."""
    return perform()


class FakeTable(Table):
    """A table in memory. Tables made by `seen_through` share its items."""

    def __init__(self, shared: "_Shared | None" = None, around: Around = undisturbed) -> None:
        self.name = "fake"
        self.meter = Meter()
        self._shared = shared or _Shared({}, threading.RLock())
        self._items = self._shared.items
        self._around = around

    def seen_through(self, around: Around) -> "FakeTable":
        """The same items, as somebody sees them whose calls an adversary gets hold of."""
        return FakeTable(self._shared, around)

    def metered(self) -> "FakeTable":
        return FakeTable(self._shared, self._around)

    def copy(self) -> "FakeTable":
        """Another table with the same items."""
        return FakeTable(_Shared(dict(self._items), threading.RLock()))

    @property
    def items(self) -> dict[Key, Item]:
        """All that is stored."""
        return {key: item_from_wire(item) for key, item in sorted(self._items.items())}

    def get(self, pk: str, sk: str, *, consistent: bool = False) -> Item | None:
        def perform() -> Item | None:
            self._count("get_item", "table", 1)
            return self._stored((pk, sk))

        return self._do("get", (pk, sk), perform, consistent)

    def batch_get(
        self,
        wanted: Sequence[Key],
        *,
        consistent: bool = False,
        paths: Sequence[Sequence[str]] | None = None,
        enough: Callable[[Mapping[Key, Item]], bool] = lambda _: False,
    ) -> Fetched:
        def perform() -> Fetched:
            found: dict[Key, Item] = {}
            left = list(wanted)
            while left:
                self.meter.rounds += 1
                unprocessed: list[Key] = []
                for at in range(0, len(left), BATCH_GET):
                    unprocessed += self._batch(left[at : at + BATCH_GET], paths, found)
                left = unprocessed
                if enough(found):
                    break
            return Fetched(found, frozenset(left))

        return self._do("batch_get", wanted[0] if wanted else ("", ""), perform, consistent)

    def _batch(
        self, chunk: Sequence[Key], paths: Sequence[Sequence[str]] | None, found: dict[Key, Item]
    ) -> Sequence[Key]:
        """One call: into `found` as much as an answer holds; the keys that it leaves out."""
        if len(set(chunk)) < len(chunk):
            raise ValueError("Provided list of item keys contains duplicates")
        size = 0
        for place, key in enumerate(chunk):
            item = self._stored(key)
            if item is None:
                continue
            size += item_size(item)
            if size > BATCH_GET_BYTES:
                self._record("batch_get_item", "table", place)
                return chunk[place:]
            found[key] = _projected(item, paths)
        self._record("batch_get_item", "table", len(chunk))
        return ()

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
        def perform() -> Page:
            items: list[Item] = []
            examined, size, last = 0, 0, None
            for sort, item in self._range(partition, index, bound, forward):
                examined += 1
                size += item_size(item)
                if only is None or holds(only, item):
                    items.append(_projected(item, paths))
                if examined == limit or size >= QUERY_BYTES:
                    last = sort
                    break
            self._count("query", keys.GSI1 if index else "table", examined)
            return Page(items, examined, last)

        return self._do("query", (partition, ""), perform, consistent)

    def _range(
        self, partition: str, index: bool, bound: Bound | None, forward: bool
    ) -> Iterator[tuple[str, Item]]:
        partition_key, sort_key = (keys.SK, keys.SORT) if index else (keys.PK, keys.SK)
        found = []
        for stored in self._items.values():
            if stored[partition_key] == {"S": partition} and sort_key in stored:
                item = item_from_wire(stored)
                if bound is None or _within(item[sort_key], bound):
                    found.append(item)
        # DynamoDB compares bytes.
        found.sort(
            key=lambda item: (item[sort_key].encode(), item[keys.PK], item[keys.SK]), reverse=not forward
        )
        for item in found:
            yield (
                item[sort_key],
                {name: item[name] for name in item.keys() & _IN_INDEX} if index else item,
            )

    def put(self, item: Mapping[str, Any], condition: Condition | None = None) -> None:
        wire = item_to_wire(item)
        self._do("put", _key_of(wire), lambda: self._write(_key_of(wire), wire, condition))

    def delete(self, pk: str, sk: str, condition: Condition | None = None) -> None:
        self._do("delete", (pk, sk), lambda: self._write((pk, sk), None, condition))

    def add(self, pk: str, sk: str, attribute: str, amount: int, condition: Condition) -> int:
        def perform() -> int:
            found = self._stored((pk, sk)) or {keys.PK: pk, keys.SK: sk}
            total = int(found.get(attribute, 0)) + amount
            self._write((pk, sk), item_to_wire({**found, attribute: total}), condition)
            return total

        return self._do("add", (pk, sk), perform)

    def transact(self, writes: Sequence[Write]) -> None:
        def perform() -> None:
            self._count("transact_write_items", "table", 0)
            failed = tuple(
                place
                for place, write in enumerate(writes)
                if not holds(_condition_of(write.request), self._stored(_written_key(write)) or {})
            )
            if failed:
                raise TransactionFailed(failed)
            for write in writes:
                self._transacted(write)

        self._do("transact", ("", ""), perform)

    def batch_put(self, items: Iterable[Mapping[str, Any]]) -> None:
        wires = [item_to_wire(item) for item in items]
        if len({_key_of(wire) for wire in wires}) < len(wires):
            raise ValueError("Provided list of item keys contains duplicates")
        self._do("batch_put", ("", ""), lambda: self._items.update({_key_of(wire): wire for wire in wires}))

    def _do(self, operation: str, key: Key, perform: Callable[[], Result], consistent: bool = True) -> Result:
        def alone() -> Result:
            with self._shared.lock:
                return perform()

        result: Result = self._around(Attempted(operation, key, consistent), alone)
        return result

    def _count(self, operation: str, target: str, items: int) -> None:
        self.meter.rounds += 1
        self._record(operation, target, items)

    def _record(self, operation: str, target: str, items: int) -> None:
        self.meter.calls.append(Call(operation, target, self.meter.rounds, items, 0.0))

    def _stored(self, key: Key) -> Item | None:
        found = self._items.get(key)
        return None if found is None else item_from_wire(found)

    def _write(self, key: Key, wire: dict[str, Wire] | None, condition: Condition | None) -> None:
        self._count("put_item" if wire is not None else "delete_item", "table", 0)
        found = self._stored(key)
        if condition is not None and not holds(condition, found or {}):
            raise ConditionFailed(found)
        if wire is None:
            self._items.pop(key, None)
        else:
            self._items[key] = wire

    def _transacted(self, write: Write) -> None:
        key = _written_key(write)
        match write.kind:
            case "Put":
                self._items[key] = write.request["Item"]
            case "Delete":
                self._items.pop(key, None)
            case "Update":
                if write.request["UpdateExpression"] != "SET #set = :set":
                    raise NotImplementedError(write.request["UpdateExpression"])
                name = write.request["ExpressionAttributeNames"]["#set"]
                value = write.request["ExpressionAttributeValues"][":set"]
                self._items[key] = {
                    keys.PK: {"S": key[0]},
                    keys.SK: {"S": key[1]},
                    **self._items.get(key, {}),
                    name: value,
                }


def holds(condition: Condition | None, item: Mapping[str, Any]) -> bool:
    """Whether an item (an empty one: nothing stands there) satisfies a condition or filter."""
    return condition is None or _Evaluation(condition, item).result()


_TOKEN = re.compile(r"\s*(attribute_exists|attribute_not_exists|AND|OR|<=|>=|[<>=().]|[#:]?\w+)")
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: bool(a == b),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}


class _Evaluation:
    """Recursive descent: alternatives of conjunctions of comparisons and of tests for a path."""

    def __init__(self, condition: Condition, item: Mapping[str, Any]) -> None:
        self._condition = condition
        self._item = item
        self._tokens: list[str] = []
        rest = condition.expression
        while rest:
            token = _TOKEN.match(rest)
            if token is None:
                raise NotImplementedError(condition.expression)
            self._tokens.append(token[1])
            rest = rest[token.end() :]

    def result(self) -> bool:
        found = self._any()
        if self._tokens:
            raise NotImplementedError(self._condition.expression)
        return found

    def _any(self) -> bool:
        found = self._all()
        while self._taken("OR"):
            found = self._all() or found
        return found

    def _all(self) -> bool:
        found = self._one()
        while self._taken("AND"):
            found = self._one() and found
        return found

    def _one(self) -> bool:
        if self._taken("("):
            found = self._any()
            self._expect(")")
            return found
        for function, wanted in (("attribute_exists", True), ("attribute_not_exists", False)):
            if self._taken(function):
                self._expect("(")
                present = self._path()[0]
                self._expect(")")
                return present is wanted
        present, value = self._path()
        compare = _COMPARISONS.get(self._tokens.pop(0))
        if compare is None:
            raise NotImplementedError(self._condition.expression)
        operand = self._condition.values[self._tokens.pop(0)]
        return present and isinstance(value, str) is isinstance(operand, str) and compare(value, operand)

    def _path(self) -> tuple[bool, Any]:
        """Whether something stands at the path that comes next, and what."""
        value: Any = self._item
        present = True
        while True:
            token = self._tokens.pop(0)
            name = self._condition.names[token] if token.startswith("#") else token
            present = present and isinstance(value, Mapping) and name in value
            value = value[name] if present else None
            if not self._taken("."):
                return present, value

    def _taken(self, token: str) -> bool:
        if self._tokens[:1] != [token]:
            return False
        self._tokens.pop(0)
        return True

    def _expect(self, token: str) -> None:
        if not self._taken(token):
            raise NotImplementedError(self._condition.expression)


def _within(sort: str, bound: Bound) -> bool:
    if bound.operator == "begins_with":
        return sort.startswith(bound.value)
    return _COMPARISONS[bound.operator](sort.encode(), bound.value.encode())


def _projected(item: Item, paths: Sequence[Sequence[str]] | None) -> Item:
    if paths is None:
        return item
    found: Item = {}
    for path in ((keys.PK,), (keys.SK,), (keys.SORT,), *paths):
        source: Any = item
        target: Any = found
        for part in path[:-1]:
            source = source.get(part, {})
            if source:
                target = target.setdefault(part, {})
        if path[-1] in source:
            target[path[-1]] = source[path[-1]]
    return found


def _key_of(wire: Mapping[str, Wire]) -> Key:
    return wire[keys.PK]["S"], wire[keys.SK]["S"]


def _written_key(write: Write) -> Key:
    return _key_of(write.request["Item"] if write.kind == "Put" else write.request["Key"])


def _condition_of(request: Mapping[str, Any]) -> Condition | None:
    if "ConditionExpression" not in request:
        return None
    values = request.get("ExpressionAttributeValues", {})
    return Condition(
        request["ConditionExpression"],
        request.get("ExpressionAttributeNames", {}),
        {name: from_wire(value) for name, value in values.items()},
    )
