"""The table on moto, and its use in tests: list all items, restore a copy of them, read the stream.

moto is not made for threads, and the functions read in parallel, so `adapted` lets it carry out one call at a time.

moto's stream differs from DynamoDB's in three ways, of which `take` hides the first two:

- A write that changes nothing has a record. DynamoDB's stream has none.
- An update that makes an item has two records: the key, then the whole item, both as INSERT. DynamoDB's stream has one.
  (So `take` leaves out records of items with only a key; the functions put none.)
- A transaction copies the table with its stream, and puts the copy back if it is refused. Each record adds to the cost,
  so `take` leaves none in the stream.

moto stores items of any nesting. `adapted` lets it refuse a put of an item that DynamoDB refuses.
"""

import copy
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.core.serialize import ResponseSerializer
from moto.dynamodb.exceptions import MockValidationException
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import Item as StoredItem
from moto.dynamodb.models.table import Table as StoredTable
from moto.dynamodb.models.utilities import dynamo_json_dump
from moto.dynamodb.responses import DynamoHandler

from devtools.local.table import create_table_input
from devtools.proof.faults.memory_table import LEVELS, nesting
from gridview.dynamodb.expressions import Item, Key
from gridview.dynamodb.table import Table
from gridview.encoding.attribute_values import item_from_wire

Record = dict[str, Any]
"""A record of the stream, as Lambda delivers it."""


class MotoTable(Table):
    """A table in moto's account of a region, which is the environment's. The object outlives the account."""

    def __init__(self, name: str, region: str) -> None:
        super().__init__(name)
        self._region = region

    def create(self) -> None:
        """Create it in the present account: empty, with its index and its stream."""
        self._client.create_table(**create_table_input(self.name))

    @property
    def items(self) -> Mapping[Key, Item]:
        """All of its items."""
        found = [item_from_wire(item.to_json()["Attributes"]) for item in self._stored.all_items()]
        return {(item["PK"], item["SK"]): item for item in found}

    def copy(self) -> Any:
        """A copy for `restore`."""
        return copy.deepcopy(self._stored.items)

    def restore(self, copied: Any) -> None:
        """Replace all items by those of a copy. The stream has no record of it."""
        self._stored.items = copy.deepcopy(copied)

    def clear(self) -> None:
        """Remove all items and all records of the stream."""
        self._stored.items.clear()
        self.take()

    def take(self) -> list[Record]:
        """The records since the last call, in their order. They leave the stream, as they do on AWS after a day."""
        shard = self._stored.stream_shard
        assert shard is not None
        records, shard.items = shard.items, []
        shard.starting_sequence_number += len(records)
        delivered = [_as_json(record) for record in records]
        return [one for one in delivered if _is_delivered(**one["dynamodb"])]

    @property
    def _stored(self) -> StoredTable:
        """moto's table. A refused transaction replaces it by another."""
        return dynamodb_backends[DEFAULT_ACCOUNT_ID][self._region].get_table(self.name)


@contextmanager
def adapted() -> Iterator[None]:
    """Let moto's DynamoDB carry out one call at a time, which takes half the time, and refuse nested items."""
    call, lock, value_of = DynamoHandler.call_action, threading.Lock(), ResponseSerializer.get_value
    put_item = StoredTable.put_item

    def locked(handler: DynamoHandler) -> Any:
        with lock:
            return call(handler)

    def quick(serializer: ResponseSerializer, value: Any, key: str, shape: Any) -> Any:
        # moto looks up each of the ten types of a value under several spellings. It stores them under DynamoDB's own.
        if isinstance(value, dict) and shape.parent.name == "AttributeValue":
            return value.get(key)
        return value_of(serializer, value, key, shape)

    def in_order(table: StoredTable) -> list[StoredItem]:
        # moto compares keys as objects, and sorts the whole table for each query. Here all keys are strings.
        items = [item for partition in table.items.values() for item in partition.values()]
        return sorted(items, key=lambda item: (item.hash_key.value, item.range_key.value))

    def put_flat(table: StoredTable, item: dict[str, Any], *args: Any, **options: Any) -> StoredItem:
        if max(map(nesting, item.values())) > LEVELS:
            raise MockValidationException("Nesting Levels have exceeded supported limits")
        return put_item(table, item, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DynamoHandler, "call_action", locked)
        patch.setattr(StoredTable, "all_items", in_order)
        patch.setattr(StoredTable, "put_item", put_flat)
        patch.setattr(ResponseSerializer, "get_value", quick)
        yield


def _is_delivered(Keys: Any, NewImage: Any = None, OldImage: Any = None, **_: Any) -> bool:  # noqa: N803
    """Whether DynamoDB's stream would also have this record."""
    return bool(OldImage != NewImage != Keys)


def _as_json(value: Any) -> Any:
    return json.loads(dynamo_json_dump(value))
