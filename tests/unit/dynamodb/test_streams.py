"""The streams of the two tables for tests: moto's, as `MotoTable` reads it, has the records of the one in memory."""

from typing import Any

import pytest
from moto import mock_aws

from devtools.proof.faults.memory_table import MemoryTable
from gridview.dynamodb import expressions
from gridview.dynamodb.errors import ConditionFailed, TransactionFailed
from gridview.dynamodb.expressions import ABSENT, PRESENT, Condition
from gridview.dynamodb.table import Table
from gridview.encoding.attribute_values import item_from_wire
from tests.support.cloud import MemoryStream, Stream
from tests.support.moto_table import MotoTable, Record, adapted

ALWAYS = Condition("attribute_not_exists(#none)", {"#none": "none"})


def item(pk: str, **attributes: Any) -> dict[str, Any]:
    return {"PK": pk, "SK": "s", **attributes}


def written(table: Table, stream: Stream) -> list[Record]:
    """The records of writes of every kind, of which some change nothing or are refused."""
    table.put(item("a", number=1, raw=b"\x00\xff", fields={"x": ["y", None, True]}))
    table.put(item("a", number=1, raw=b"\x00\xff", fields={"x": ["y", None, True]}))
    with pytest.raises(ConditionFailed):
        table.put(item("a"), ABSENT)
    taken = stream.take()
    table.add("counter", "s", "n", 2, ALWAYS)
    table.update("made", "s", ALWAYS, assign={"name": "x"})
    table.update("made", "s", PRESENT, assign={"name": "y"}, drop=["other"])
    table.remove("a", "s", [["fields", "x"]])
    table.batch_put([item("c", name="c")])
    with pytest.raises(TransactionFailed):
        table.transact([expressions.put(item("d")), expressions.put(item("a"), ABSENT)])
    taken += stream.take()
    table.transact([expressions.set_attribute("a", "s", "name", "z"), expressions.delete("c", "s")])
    table.delete("made", "s")
    table.delete("none", "s")
    return taken + stream.take()


def test_both_streams_have_the_same_records() -> None:
    memory = MemoryTable()
    expected = written(memory, MemoryStream(memory, everything=True))
    with mock_aws(), adapted():
        moto = MotoTable("streams", "us-east-1")
        moto.create()
        records = written(moto, moto)
        assert moto.items == memory.items
    assert [_essence(one) for one in records] == [_essence(one) for one in expected]
    assert [one["eventName"] for one in records] == [
        *("INSERT", "INSERT", "INSERT", "MODIFY", "MODIFY", "INSERT"),
        *("MODIFY", "REMOVE", "REMOVE"),
    ]
    numbers = [int(one["dynamodb"]["SequenceNumber"]) for one in records]
    assert numbers == sorted(set(numbers))


def _essence(record: Record) -> Any:
    """The parts of a record that a consumer reads."""
    stream = record["dynamodb"]
    # The record in memory has bytes where Lambda, and moto, have base64 text.
    images = [item_from_wire(stream.get(name, {})) for name in ("Keys", "OldImage", "NewImage")]
    return record["eventName"], record["eventSource"], stream["StreamViewType"], images


def test_a_copy_is_put_back_without_a_record() -> None:
    with mock_aws(), adapted():
        table = MotoTable("streams", "us-east-1")
        table.create()
        table.put(item("a", fields={"x": 1}))
        copy, before = table.copy(), table.items
        table.update("a", "s", PRESENT, assign={"fields": {"x": 2}})
        table.put(item("b"))
        for _ in range(2):
            table.take()
            table.restore(copy)
            assert (table.items, table.take()) == (before, [])
            table.update("a", "s", PRESENT, assign={"fields": {"x": 3}})
        table.clear()
        assert (table.items, table.take()) == ({}, [])
