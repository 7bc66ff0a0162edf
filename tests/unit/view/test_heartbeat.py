"""The heartbeat: upkeep puts it so that something comes through the stream of a table without changes."""

from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.encoding import keys
from gridview.support import clock
from gridview.support.errors import Overloaded
from gridview.view.beats import Heart, beaten


def beats(table: MemoryTable, at: list[float], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The times in milliseconds at which a container of upkeep that is invoked at these seconds put the item."""
    heart, found = Heart(), []
    for now in at:
        monkeypatch.setattr(clock, "seconds", lambda now=now: now)
        heart.beat(table)
        found.append(table.items[keys.BEAT, keys.BEAT]["at"])
    return found


def test_a_container_beats_no_more_often_than_it_should(monkeypatch: pytest.MonkeyPatch) -> None:
    instants = beats(MemoryTable(), [0.0, 2.0, 44.0, 58.0, 61.0, 118.0], monkeypatch)
    assert instants == [0, 0, 0, 58_000, 58_000, 118_000]


def test_a_busy_table_gets_its_beat_from_the_next_invocation(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise Overloaded("busy")

    table, heart = MemoryTable(), Heart()
    with monkeypatch.context() as patched:
        patched.setattr(table, "put", refuse)
        heart.beat(table)
    assert not table.items
    heart.beat(table)
    assert table.items.keys() == {(keys.BEAT, keys.BEAT)}


def test_the_heartbeat_is_in_no_index() -> None:
    table = MemoryTable()
    Heart().beat(table)
    assert keys.SORT not in table.items[keys.BEAT, keys.BEAT]


def test_the_newest_beat_of_a_batch_counts() -> None:
    def record(pk: str, **image: str) -> dict[str, Any]:
        made = {name: {"N": value} for name, value in image.items()}
        return {"dynamodb": {"Keys": {"PK": {"S": pk}}, "NewImage": made}}

    issue = record(keys.issue("acme", "bridge", 1), at="9000")
    assert beaten([record(keys.BEAT, at="1500"), record(keys.BEAT, at="500"), issue]) == 1.5
    assert beaten([issue, record(keys.BEAT), {"dynamodb": {"Keys": {"PK": {"S": keys.BEAT}}}}]) is None
