"""The storage module's interface in memory: as strict as DynamoDB about conditions, and as late with reads as
DynamoDB may be.

A conformance suite (tests/unit/dynamodb/test_table.py) compares it call by call with moto and, in tests/engine, with
DynamoDB Local. Reads are metered with the read units that DynamoDB Local reports, writes with none.

Reads that do not ask for consistency are consistent too until `stale` says otherwise. GSI1 follows the table at once
until `lagging` is set. Then each change of an item waits until `catch_up` lets the index have it, in order for each
item.
"""

import threading
import zlib
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Context, Decimal
from functools import cached_property, lru_cache
from typing import Any

import orjson
from typing_extensions import override

from devtools.proof.faults.conditions import check_length, condition_of, holds, refused
from devtools.proof.faults.watched import Around, Watched, written_key
from gridview.dynamodb.errors import ConditionFailed, ItemTooLarge, TransactionFailed
from gridview.dynamodb.expressions import Bound, Condition, Item, Key, Span, Write, projected
from gridview.dynamodb.metering import Call, Meter
from gridview.dynamodb.table import BATCH_GET, Fetched, Page, Scanned, Table, Together
from gridview.encoding import derived_keys, keys
from gridview.encoding.attribute_values import Wire, item_from_wire, item_size, item_to_wire
from gridview.support.concurrency import chunked

QUERY_BYTES = 2**20
"""Bytes that one Query call reads at most."""
BATCH_GET_BYTES = 16 * 2**20
"""Bytes that one BatchGetItem answers at most."""
ITEM_BYTES = 400 * 1024
UNIT_BYTES = 4096
"""Bytes that half a read unit reads, or a whole one strongly consistent."""

LEVELS = 31
"""Levels of lists and maps in an attribute's value. DynamoDB counts one more, the attribute itself."""

_IN_INDEX = {keys.PK, keys.SK, keys.SORT, *keys.PROJECTED_ATTRIBUTES}
_REMEMBERED = 4
"""States before the present one that a stale read may give."""

_EXACT = Context(prec=38)
"""As many digits as a number may have."""

_CONTAINERS = (dict, list)

InWireForm = dict[str, Wire]


class Stored(InWireForm):
    """An item in wire form. Never changed once it is stored."""

    @cached_property
    def size(self) -> int:
        """Bytes, as DynamoDB counts them."""
        return sum(len(name.encode()) + wire_size(value) for name, value in self.items())

    def item(self) -> Item:
        """The item. It is the caller's, who may change it; it is copied because that costs less than decoding it again."""
        copied: Item = _copied(self.decoded)
        return copied

    @cached_property
    def decoded(self) -> Item:
        """The item, to look at only."""
        return item_from_wire(self)


class _Store:
    """The items of the table, the items that the index shows, and the changes that it has not received yet."""

    def __init__(self) -> None:
        self.partitions: dict[str, dict[str, Stored]] = {}
        self.index: dict[str, dict[str, Stored]] = {}
        self.in_order: dict[str, list[tuple[bytes, Stored]]] = {}
        """The items of a partition of the index in order, as long as none of them changes."""
        self.waiting: dict[Key, deque[Stored | None]] = {}
        self.past: dict[Key, deque[Stored | None]] = {}
        self.shown: dict[Key, deque[Stored | None]] = {}
        self.lagging = False
        self.listener: Callable[[Item | None, Item | None], None] | None = None
        self.stale: Callable[[Key, int], int] | None = None
        self.lock = threading.RLock()

    def copy(self) -> "_Store":
        other = _Store()
        other.partitions = {pk: dict(items) for pk, items in self.partitions.items()}
        other.index = {sk: dict(items) for sk, items in self.index.items()}
        return other

    def clear(self) -> None:
        for held in (self.partitions, self.index, self.in_order, self.waiting, self.past, self.shown):
            held.clear()

    def stored(self, key: Key) -> Stored | None:
        return self.partitions.get(key[0], {}).get(key[1])

    def decoded(self, key: Key) -> Item:
        """An item, to look at only; one without attributes when there is none."""
        found = self.stored(key)
        return {} if found is None else found.decoded

    def read(self, key: Key, consistent: bool) -> Stored | None:
        present = self.stored(key)
        if consistent or self.stale is None:
            return present
        past = self.past.get(key, ())
        back = self.stale(key, len(past))
        return past[-back] if back else present

    def write(self, key: Key, written: InWireForm | None) -> None:
        item = None if written is None else Stored(written)
        before = self.stored(key)
        if self.stale is not None:
            self.past.setdefault(key, deque(maxlen=_REMEMBERED)).append(before)
        if item is None:
            self.partitions.get(key[0], {}).pop(key[1], None)
        else:
            self.partitions.setdefault(key[0], {})[key[1]] = item
        if self.lagging:
            self.waiting.setdefault(key, deque()).append(item)
        else:
            self.show(key, item)
        if self.listener is not None and before != item:
            self.listener(*(None if one is None else one.item() for one in (before, item)))

    def show(self, key: Key, item: Stored | None) -> None:
        """Let the index have a state of an item."""
        if self.stale is not None and key[1].startswith(derived_keys.DIRECTORY_PREFIX):
            before = self.index.get(key[1], {}).get(key[0])
            self.shown.setdefault(key, deque(maxlen=_REMEMBERED)).append(before)
        self.in_order.pop(key[1], None)
        if item is not None and keys.SORT in item:
            shown = Stored({name: item[name] for name in item.keys() & _IN_INDEX})
            self.index.setdefault(key[1], {})[key[0]] = shown
        else:
            self.index.get(key[1], {}).pop(key[0], None)

    def listed(self, partition: str) -> list[tuple[bytes, Stored]]:
        """The items of a partition of the index, in order; of a directory some as they were listed a moment ago."""
        if self.stale is not None and partition.startswith(derived_keys.DIRECTORY_PREFIX):
            return _in_order(self._listed_before(partition))
        if partition not in self.in_order:
            self.in_order[partition] = _in_order(self.index.get(partition, {}))
        return self.in_order[partition]

    def _listed_before(self, partition: str) -> dict[str, Stored]:
        present = self.index.get(partition, {})
        found = {}
        for pk in sorted({*present, *(pk for pk, sk in self.shown if sk == partition)}):
            key = pk, partition
            past, waiting = self.shown.get(key, ()), len(self.waiting.get(key, ()))
            # States ago count from the table's present one: some of them are changes that the index has not received
            # yet.
            back = self.stale(key, len(past) + waiting) - waiting if past and self.stale is not None else 0
            item = past[-back] if back > 0 else present.get(pk)
            if item is not None:
                found[pk] = item
        return found


class MemoryTable(Table):
    """A table in memory. `metered` ones share its items."""

    def __init__(self, store: _Store | None = None, meter: Meter | None = None) -> None:
        self.name = "gridview"
        self.meter = meter or Meter()
        self._store = store or _Store()

    def seen_through(self, around: Around) -> Watched:
        """The same items, seen through an adversary that decides about the calls."""
        return Watched(self, around)

    @override
    def metered(self) -> "MemoryTable":
        return MemoryTable(self._store)

    def copy(self, meter: Meter | None = None) -> "MemoryTable":
        """Return another table with the same items, whose index has received the same changes as this one's."""
        return MemoryTable(self._store.copy(), meter)

    def restore(self, copy: "MemoryTable") -> None:
        """Take over the items of a copy, as after a restore to an earlier moment. No stream has these changes."""
        self._store.clear()
        earlier = copy._store.copy()
        self._store.partitions, self._store.index = earlier.partitions, earlier.index

    @property
    def items(self) -> dict[Key, Item]:
        """All that is stored."""
        return {
            (pk, sk): item.item()
            for pk, items in sorted(self._store.partitions.items())
            for sk, item in sorted(items.items())
        }

    def set_listener(self, listener: Callable[[Item | None, Item | None], None] | None) -> None:
        """From now on, call `listener` for each change of an item, as a stream has it: with the old and the new
        item.
        """
        self._store.listener = listener

    def clear(self) -> None:
        """Forget all items, and let the index follow at once."""
        self._store.clear()
        self._store.lagging = False

    # Permitted behavior of DynamoDB

    def stale(self, choose: Callable[[Key, int], int] | None) -> None:
        """From now on, ask `choose` for each item that is read without consistency how many states ago it is read.

        It gets the key and the number of older states that there are. None: all reads are of the present.

        In the index this holds only for directories of blocks: a page that misses an issue there misses it for
        people, who may ask again.
        """
        self._store.stale = choose

    def lag(self) -> None:
        """From now on, the index receives a change only when `catch_up` says so."""
        self._store.lagging = True

    @property
    def waiting(self) -> list[Key]:
        """The items whose last writes the index does not have yet."""
        return list(self._store.waiting)

    def catch_up(self, key: Key) -> None:
        """Let the index receive the oldest waiting change of an item."""
        with self._store.lock:
            states = self._store.waiting[key]
            self._store.show(key, states.popleft())
            if not states:
                del self._store.waiting[key]

    def catch_up_with_all(self) -> None:
        """Let the index receive everything."""
        for key in self.waiting:
            while key in self._store.waiting:
                self.catch_up(key)

    # The interface

    @override
    def get(self, pk: str, sk: str, *, consistent: bool = False) -> Item | None:
        with self._store.lock:
            _check_key((pk, sk))
            found = self._store.read((pk, sk), consistent)
            units = read_units(1 if found is None else found.size, consistent)
            self._count("get_item", "table", int(found is not None), units)
        return None if found is None else found.item()

    @override
    def batch_get(
        self,
        wanted: Sequence[Key],
        *,
        consistent: bool = False,
        paths: Sequence[Sequence[str]] | None = None,
        enough: Callable[[Mapping[Key, Item]], bool] = lambda _: False,
    ) -> Fetched:
        _check_projection(paths)
        found: dict[Key, Item] = {}
        left: list[Key] = list(dict.fromkeys(wanted))
        with self._store.lock:
            while left:
                self.meter.rounds += 1
                unprocessed: list[Key] = []
                for chunk in chunked(left, BATCH_GET):
                    unprocessed += self._batch(chunk, consistent, paths, found)
                left = unprocessed
                if enough(found):
                    break
        return Fetched(found, frozenset(left))

    def _batch(
        self,
        chunk: Sequence[Key],
        consistent: bool,
        paths: Sequence[Sequence[str]] | None,
        found: dict[Key, Item],
    ) -> Sequence[Key]:
        """One call: into `found` as much as an answer holds; the keys that it leaves out."""
        size, items, units = 0, 0, 0.0
        left: Sequence[Key] = ()
        for place, key in enumerate(chunk):
            _check_key(key)
            stored = self._store.read(key, consistent)
            if stored is None:
                continue
            size += stored.size
            if size > BATCH_GET_BYTES:
                left = chunk[place:]
                break
            items += 1
            units += read_units(stored.size, consistent)
            found[key] = _projected(stored, paths)
        self._record("batch_get_item", "table", items, units)
        return left

    @override
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
        self.meter.rounds += 1
        return self._query(partition, index, bound, forward, limit, consistent, only, paths)

    @override
    def query_ranges(
        self, partition: str, bounds: Sequence[Bound], *, paths: Sequence[Sequence[str]] | None = None
    ) -> list[Page]:
        self.meter.rounds += 1
        return [self._query(partition, True, bound, True, None, False, None, paths) for bound in bounds]

    @override
    def read_together(
        self, wanted: Sequence[Key], spans: Sequence[Span], *, paths: Sequence[Sequence[str]] | None = None
    ) -> Together:
        found: dict[Key, Item] = {}
        listed: list[dict[Key, Item]] = [{} for _ in spans]
        left: Sequence[Key] = list(dict.fromkeys(wanted))
        going = dict(enumerate(spans))
        while left or going:
            self.meter.rounds += 1
            left = [
                key for chunk in chunked(left, BATCH_GET) for key in self._batch(chunk, False, None, found)
            ]
            for place, span in list(going.items()):
                page = self._query(span.partition, span.in_index, span.bound, True, None, False, None, paths)
                listed[place].update(((item[keys.PK], item[keys.SK]), item) for item in page.items)
                if page.last is None:
                    del going[place]
                else:
                    going[place] = span.after(page.last)
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
        if index and consistent:
            raise refused("Consistent reads are not supported on global secondary indexes", "Query")
        _check_projection(paths)
        items: list[Item] = []
        examined, size, last = 0, 0, None
        with self._store.lock:
            for sort, stored in self._range(partition, index, bound, forward, consistent):
                examined += 1
                size += stored.size
                if only is None or holds(only, stored.decoded):
                    items.append(_projected(stored, paths))
                if examined == limit or size >= QUERY_BYTES:
                    last = sort
                    break
            self._record("query", keys.GSI1 if index else "table", examined, read_units(size, consistent))
        return Page(items, examined, last)

    def _range(
        self, partition: str, index: bool, bound: Bound | None, forward: bool, consistent: bool
    ) -> Iterator[tuple[str, Stored]]:
        if index:
            found = self._store.listed(partition)
        else:
            known = self._store.partitions.get(partition, {})
            read = (
                (sk.encode(), self._store.read((partition, sk), consistent))
                for sk in sorted(self._ever(partition, known), key=str.encode)
            )
            found = [(sk, item) for sk, item in read if item is not None]
        if bound is not None:
            found = _within(found, bound)
        for sort, item in found if forward else reversed(found):
            yield sort.decode(), item

    def _ever(self, partition: str, known: Mapping[str, Stored]) -> Iterable[str]:
        """The sort keys of a partition, with keys that were there a moment ago and may still be read."""
        if self._store.stale is None:
            return known
        return {*known, *(sk for pk, sk in self._store.past if pk == partition)}

    @override
    def scan(
        self,
        *,
        after: Key | None = None,
        segment: int = 0,
        segments: int = 1,
        only: Condition | None = None,
        limit: int | None = None,
    ) -> Scanned:
        items: list[Item] = []
        examined, size, last = 0, 0, None
        with self._store.lock:
            for key in sorted(
                key for key in self._keys() if zlib.crc32(key[0].encode()) % segments == segment
            ):
                if after is not None and key <= after:
                    continue
                stored = self._store.read(key, consistent=False)
                if stored is None:
                    continue
                examined += 1
                size += stored.size
                if only is None or holds(only, stored.decoded):
                    items.append(stored.item())
                if examined == limit or size >= QUERY_BYTES:
                    last = key
                    break
            self._count("scan", "table", examined, read_units(size, consistent=False))
        return Scanned(items, last)

    def _keys(self) -> set[Key]:
        """All keys, with keys that were there a moment ago and may still be read."""
        known = {(pk, sk) for pk, items in self._store.partitions.items() for sk in items}
        return known if self._store.stale is None else known | set(self._store.past)

    @override
    def put(self, item: Mapping[str, Any], condition: Condition | None = None) -> None:
        wire = item_to_wire(item)
        _check_item(item, wire)
        self._write((item[keys.PK], item[keys.SK]), wire, condition)

    @override
    def delete(self, pk: str, sk: str, condition: Condition | None = None) -> None:
        self._write((pk, sk), None, condition)

    @override
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
        with self._store.lock:
            found = self._stored((pk, sk)) or {keys.PK: pk, keys.SK: sk}
            total = int(found.get(attribute, 0)) + amount
            expiry = {} if expires is None else {keys.TTL_ATTRIBUTE: expires}
            changed = item_to_wire({**found, attribute: total, **expiry})
            self._write((pk, sk), changed, condition, "update_item")
        return total

    @override
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
        with self._store.lock:
            found = self._stored((pk, sk)) or {keys.PK: pk, keys.SK: sk}
            raised = {name: int(found.get(name, 0)) + amount for name, amount in (add or {}).items()}
            kept = {name: found[other] for name, other in (keep or {}).items()}
            changed = {**(default or {}), **kept, **found, **(assign or {}), **raised}
            left = {name: value for name, value in changed.items() if name not in drop}
            wire = item_to_wire(left)
            if holds(condition, self._store.decoded((pk, sk))):
                _check_item(left, wire)
            self._write((pk, sk), wire, condition, "update_item")
        return left

    @override
    def remove(self, pk: str, sk: str, paths: Sequence[Sequence[str]]) -> None:
        with self._store.lock:
            self._count("update_item", "table", 0)
            found = self._stored((pk, sk))
            if found is None:
                raise ConditionFailed(None)
            for path in paths:
                _remove(found, path)
            self._store.write((pk, sk), item_to_wire(found))

    @override
    def transact(self, writes: Sequence[Write]) -> None:
        written = [written_key(write) for write in writes]
        if len(set(written)) < len(written):
            raise refused("Transaction request cannot include multiple operations on one item", "Transact")
        with self._store.lock:
            self._count("transact_write_items", "table", 0)
            failed = tuple(
                place
                for place, (key, write) in enumerate(zip(written, writes, strict=True))
                if not holds(condition_of(write.request), self._store.decoded(key))
            )
            if failed:
                raise TransactionFailed(failed)
            results = [self._transacted(key, write) for key, write in zip(written, writes, strict=True)]
            for result in results:
                if result is not None:
                    _check_item(item_from_wire(result), result)
            for key, result in zip(written, results, strict=True):
                _check_key(key)
                self._store.write(key, result)

    def _transacted(self, key: Key, write: Write) -> InWireForm | None:
        """The item after one write of a transaction."""
        if write.kind == "Delete":
            return None
        if write.kind == "Put":
            put: InWireForm = write.request["Item"]
            return put
        if write.request["UpdateExpression"] != "SET #set = :set":
            raise NotImplementedError(write.request["UpdateExpression"])
        name = write.request["ExpressionAttributeNames"]["#set"]
        value = write.request["ExpressionAttributeValues"][":set"]
        bare = {keys.PK: {"S": key[0]}, keys.SK: {"S": key[1]}}
        return {**bare, **(self._store.stored(key) or {}), name: value}

    @override
    def batch_put(self, items: Iterable[Mapping[str, Any]]) -> None:
        made = [((item[keys.PK], item[keys.SK]), item, item_to_wire(item)) for item in items]
        if len({key for key, _, _ in made}) < len(made):
            raise refused("Provided list of item keys contains duplicates", "BatchWriteItem")
        for key, item, wire in made:
            _check_key(key)
            _check_item(item, wire)
        with self._store.lock:
            self._count("batch_write_item", "table", 0)
            for key, _, wire in made:
                self._store.write(key, wire)

    def _count(self, operation: str, target: str, items: int, units: float = 0.0) -> None:
        self.meter.rounds += 1
        self._record(operation, target, items, units)

    def _record(self, operation: str, target: str, items: int, units: float) -> None:
        self.meter.record(Call(operation, target, self.meter.rounds, items, units))

    def _stored(self, key: Key) -> Item | None:
        found = self._store.stored(key)
        return None if found is None else found.item()

    def _write(
        self, key: Key, wire: InWireForm | None, condition: Condition | None, operation: str | None = None
    ) -> None:
        _check_key(key)
        with self._store.lock:
            self._count(operation or ("put_item" if wire is not None else "delete_item"), "table", 0)
            if condition is not None and not holds(condition, self._store.decoded(key)):
                raise ConditionFailed(self._stored(key))
            self._store.write(key, wire)


def read_units(size: int, consistent: bool) -> float:
    """The read units of so many bytes: half of one for each 4 KB, twice that when strongly consistent."""
    return -(-size // UNIT_BYTES) * (1.0 if consistent else 0.5)


def wire_size(value: Wire) -> int:
    """The bytes that DynamoDB counts for a value."""
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content) if content.isascii() else len(content.encode())
        case "N":
            return _number_size(content)
        case "B":
            return len(content)
        case "M":
            return 3 + sum(1 + len(name.encode()) + wire_size(item) for name, item in content.items())
        case "L":
            return 3 + sum(1 + wire_size(item) for item in content)
    return 1


@lru_cache(maxsize=4096)
def _number_size(text: str) -> int:
    """A byte, one for a sign, and one for every two digits: pairs count from the point on, without the zeros at both ends."""
    number = Decimal(text).normalize(_EXACT)
    if not number:
        return 1
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)  # noqa: S101  (an item holds no infinity)
    return 1 + sign + (exponent + len(digits) + 1) // 2 - exponent // 2


def _in_order(shown: Mapping[str, Stored]) -> list[tuple[bytes, Stored]]:
    # DynamoDB compares bytes.
    places = sorted((item[keys.SORT]["S"].encode(), pk) for pk, item in shown.items())
    return [(sort, shown[pk]) for sort, pk in places]


def _check_key(key: Key) -> None:
    if not all(key):
        raise refused("The AttributeValue for a key attribute cannot contain an empty string value", "Key")


def nesting(value: Wire) -> int:
    """The levels of lists and maps in a value."""
    ((kind, content),) = value.items()
    if kind not in ("L", "M"):
        return 0
    return 1 + max(map(nesting, content.values() if kind == "M" else content), default=0)


def _check_item(item: Mapping[str, Any], wire: InWireForm) -> None:
    encoded = orjson.dumps(wire, default=lambda raw: raw.hex())
    # Few items have so many lists and maps at all, and counting these in JSON is faster.
    if (
        encoded.count(b'{"L":') + encoded.count(b'{"M":') > LEVELS
        and max(map(nesting, wire.values())) > LEVELS
    ):
        raise refused("Nesting Levels have exceeded supported limits", "PutItem")
    # The wire form as JSON is never shorter than what DynamoDB counts, and measured much faster.
    if (
        len(encoded) > ITEM_BYTES
        and sum(len(name.encode()) + item_size(value) for name, value in item.items()) > ITEM_BYTES
    ):
        raise ItemTooLarge("The item would be larger than 400 KB.")


def _within(found: list[tuple[bytes, Stored]], bound: Bound) -> list[tuple[bytes, Stored]]:
    value = bound.value.encode()
    match bound.operator:
        case "begins_with":
            return [(sort, item) for sort, item in found if sort.startswith(value)]
        case "<":
            return found[: bisect_left(found, value, key=_first)]
        case "<=":
            return found[: bisect_right(found, value, key=_first)]
        case ">":
            return found[bisect_right(found, value, key=_first) :]
        case ">=":
            return found[bisect_left(found, value, key=_first) :]
        case "between":
            upper = bound.upper.encode()
            return found[bisect_left(found, value, key=_first) : bisect_right(found, upper, key=_first)]


def _remove(item: Item, path: Sequence[str]) -> None:
    """Remove the value at a path. A missing value is no error, but a missing map that would hold it is one."""
    *way, last = path
    place: Any = item
    for part in way:
        if not isinstance(place, Mapping) or part not in place:
            raise refused("The document path provided in the update expression is invalid", "UpdateItem")
        place = place[part]
    place.pop(last, None)


def _first(pair: tuple[bytes, Stored]) -> bytes:
    return pair[0]


def _check_projection(paths: Sequence[Sequence[str]] | None) -> None:
    if paths:
        check_length(projected(paths)["ProjectionExpression"], "Query")


def _projected(stored: Stored, paths: Sequence[Sequence[str]] | None) -> Item:
    """The requested paths of an item."""
    if paths is None:
        return stored.item()
    found: Item = {}
    for path in ((keys.PK,), (keys.SK,), (keys.SORT,), *paths):
        source: Any = stored.decoded
        target: Any = found
        for part in path[:-1]:
            source = source.get(part)
            if not isinstance(source, dict):
                source = {}
            if source:
                target = target.setdefault(part, {})
        if path[-1] in source:
            target[path[-1]] = _copied(source[path[-1]])
    return found


def _copied(value: Any) -> Any:
    """A value of an item whose maps and lists are new."""
    if type(value) is dict:
        return {name: _copied(part) if type(part) in _CONTAINERS else part for name, part in value.items()}
    if type(value) is list:
        return [_copied(part) if type(part) in _CONTAINERS else part for part in value]
    return value
