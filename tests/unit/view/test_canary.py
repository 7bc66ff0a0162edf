"""The canary: put by upkeep, looked up in GSI1, and recorded for readers."""

from collections.abc import Callable
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.encoding import keys
from gridview.support import clock
from gridview.support.errors import Overloaded
from gridview.view import freshness
from gridview.view.beats import Canary, Heart
from gridview.view.block_cache import BlockCache
from gridview.view.freshness import Notes
from gridview.view.index_clock import Sighting

pytestmark = pytest.mark.usefixtures("no_pauses")

ITEM = (keys.CANARY, keys.CANARY)
NOTE = (keys.LAG_OF_BEAT, keys.LAG)


@pytest.fixture
def table() -> MemoryTable:
    return MemoryTable()


def sighting(table: MemoryTable) -> Sighting | None:
    """The knowledge of a reader that has read the note."""
    cache = BlockCache()
    freshness.keep_beat(cache, table.items.get(NOTE))
    return cache.sighting


def test_the_canary_is_in_the_index_and_measures_its_age(table: MemoryTable) -> None:
    age = Canary().look(table)
    assert age is not None
    assert age < 5
    (shown,) = table.query(keys.CANARY, index=True).items
    assert shown["updated"] == table.items[ITEM]["updated"]
    seen = sighting(table)
    assert seen is not None
    assert seen.seen - seen.put == pytest.approx(age, abs=0.01)


def test_a_canary_that_the_index_lacks_makes_the_one_before_older(
    table: MemoryTable, later: Callable[[float], None]
) -> None:
    canary = Canary()
    canary.look(table)
    before = sighting(table)
    assert before is not None
    table.lag()
    for minute in (1, 2):
        later(60)
        age = canary.look(table)
        assert age == pytest.approx(minute * 60, abs=5)
        now = sighting(table)
        assert now is not None
        assert now.put == before.put
        assert now.seen > before.seen
    table.catch_up_with_all()
    later(60)
    assert canary.look(table) == pytest.approx(60, abs=5), "of the last minute's"


def test_an_index_without_a_canary_has_no_age(table: MemoryTable) -> None:
    table.lag()
    assert Canary().look(table) is None
    assert NOTE not in table.items


def test_it_looks_more_than_once_for_what_takes_a_moment(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    paused: list[float] = []

    def pause(seconds: float) -> None:
        paused.append(seconds)
        if len(paused) == 2:
            table.catch_up_with_all()

    monkeypatch.setattr(clock, "sleep", pause)
    table.lag()
    age = Canary().look(table)
    assert age is not None
    assert len(paused) == 2


def test_its_looks_take_less_than_a_second(table: MemoryTable, monkeypatch: pytest.MonkeyPatch) -> None:
    paused: list[float] = []
    monkeypatch.setattr(clock, "sleep", paused.append)
    table.lag()
    Canary().look(table)
    assert len(paused) == 4
    assert min(paused) > 0
    assert sum(paused) < 1


def test_a_container_puts_it_no_more_often_than_it_should(
    table: MemoryTable, later: Callable[[float], None]
) -> None:
    canary = Canary()
    assert canary.look(table) is not None
    later(40)
    assert canary.look(table) is None
    later(10)
    assert canary.look(table) is not None


def test_a_busy_table_gets_no_canary(table: MemoryTable, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise Overloaded("busy")

    monkeypatch.setattr(table, "put", refuse)
    assert Canary().look(table) is None


def test_a_note_that_is_older_changes_nothing(table: MemoryTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "seconds", lambda: 2_000.0)
    Canary().look(table)
    before = table.items[NOTE]
    monkeypatch.setattr(clock, "seconds", lambda: 1_990.0)
    Canary().look(table)
    assert table.items[NOTE] == before


def test_the_consumer_and_upkeep_write_one_note_and_neither_undoes_the_other(table: MemoryTable) -> None:
    Canary().look(table)
    Heart().beat(table)
    beat = {
        "Keys": {"PK": {"S": keys.BEAT}},
        "NewImage": {"at": {"N": str(table.items[keys.BEAT, keys.BEAT]["at"])}},
    }
    Notes().note(table, [{"dynamodb": beat}])
    seen = sighting(table)
    assert seen is not None
    assert {"taken_in", "lag", "canary", "seen", keys.TTL_ATTRIBUTE} <= table.items[NOTE].keys()
    Canary().look(table)
    assert "taken_in" in table.items[NOTE]
