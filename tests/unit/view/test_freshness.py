"""The lag of the index: the stream consumer's record of it, and the report to users."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.commands.actor import Actor, Role
from gridview.commands.projects import create_project
from gridview.encoding import keys
from gridview.encoding.attribute_values import item_to_wire
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.errors import Overloaded
from gridview.view import freshness
from gridview.view.beats import Heart
from gridview.view.block_cache import BlockCache
from gridview.view.freshness import Lag, Note, Notes

ADMIN = Actor("acme", "ada", Role.ADMIN)
NOTE = (keys.lag("acme", "bridge"), keys.LAG)


@pytest.fixture
def table() -> MemoryTable:
    table = MemoryTable()
    create_project(table, ADMIN, {"id": "bridge", "name": "Bridge"})
    return table


def record(num: int, made: float | None, project: str = "bridge") -> dict[str, Any]:
    stream: dict[str, Any] = {"Keys": {"PK": {"S": keys.issue("acme", project, num)}}}
    return {"dynamodb": stream if made is None else {**stream, "ApproximateCreationDateTime": made}}


def catalog(table: MemoryTable) -> Catalog:
    return Catalogs().get(table, "acme", "bridge")


def test_a_note_contains_when_the_newest_change_of_a_batch_was_processed(table: MemoryTable) -> None:
    now = time.time()
    Notes().note(table, [record(1, now - 900), record(2, now - 4), record(3, now - 600)])
    found = freshness.read(table, catalog(table), BlockCache()).note
    assert found is not None
    assert found.taken_in == pytest.approx(now, abs=5)
    assert found.lag == pytest.approx(4, abs=5)
    assert found.lag >= 4
    assert keys.TTL_ATTRIBUTE in table.items[NOTE], "what a deleted project leaves has to expire"
    assert keys.SORT not in table.items[NOTE]


def test_each_project_is_noted_at_most_once_in_a_while(table: MemoryTable) -> None:
    notes = Notes(seconds_between=1_000)
    notes.note(table, [record(1, 1_000.0), record(1, 1_000.0, "tower")])
    before = table.items
    assert (keys.lag("acme", "tower"), keys.LAG) in before
    notes.note(table, [record(2, time.time())])
    assert table.items == before
    Notes().note(table, [record(2, time.time())])
    assert table.items != before


def test_a_project_that_is_on_time_is_noted_once_an_hour(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = Notes()

    def noted(at: float, late: float) -> bool:
        monkeypatch.setattr(clock, "seconds", lambda: at)
        before = table.items.get(NOTE)
        notes.note(table, [record(1, at - late)])
        return table.items[NOTE] != before

    assert noted(1_000.0, 2.0)
    assert not noted(1_060.0, 2.0)
    assert noted(1_120.0, 2.1), "it is late"
    assert noted(1_122.0, 30.0)
    assert noted(1_124.0, 1.0), "it is on time again"
    assert not noted(4_723.0, 1.0)
    assert noted(4_725.0, 1.0)
    assert noted(4_724.5, 1.0), "the clock was set back"


def test_each_heartbeat_is_noted(table: MemoryTable, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = Notes()
    for at in (1_000.0, 1_060.0):
        monkeypatch.setattr(clock, "seconds", lambda at=at: at)
        beat = {
            "Keys": {keys.PK: {"S": keys.BEAT}},
            "NewImage": {"at": {"N": f"{at * 1_000:.0f}"}},
        }
        notes.note(table, [{"dynamodb": beat}])
        assert table.items[keys.LAG_OF_BEAT, keys.LAG]["taken_in"] == at * 1_000


def test_records_without_an_issue_or_a_time_are_not_noted(table: MemoryTable) -> None:
    before = table.items
    other = {"dynamodb": {"Keys": {"PK": {"S": "block-acme.bridge.num.0"}}, "ApproximateCreationDateTime": 1}}
    Notes().note(table, [other, record(1, None)])
    assert table.items == before


def test_a_note_that_the_table_refuses_is_left_out(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise Overloaded("busy")

    monkeypatch.setattr(table, "put", refuse)
    Notes().note(table, [record(1, time.time())])


def test_a_container_does_not_remember_every_project_forever(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freshness, "_KEPT", 2)
    notes = Notes(seconds_between=1_000)
    for project in ("aa", "bb", "cc"):
        notes.note(table, [record(1, 1.0, project)])
    assert len(notes._written) == 1


def test_the_catalog_is_read_past_the_note(table: MemoryTable) -> None:
    Notes().note(table, [record(1, time.time())])
    assert Catalogs().get(table, "acme", "bridge").project == "bridge"


@pytest.mark.parametrize(
    ("lag", "seconds"),
    [
        (Lag(100, None, None), None),  # nothing has come through yet
        (Lag(100, Note(99, 0.5), None), 0.5),
        (Lag(100, None, Note(81, 1)), 1),  # idle
        (Lag(1_000, Note(100, 400), Note(981, 1)), 1),  # a lag of an hour ago
        (Lag(1_000, Note(999, 400), Note(981, 1)), 400),  # an import that is being processed
        (Lag(1_000, Note(999, 2), Note(981, 30)), 2),  # late at the last heartbeat
        (Lag(1_000, Note(860, 2), Note(851, 1)), 60),  # two heartbeats that have not come
    ],
)
def test_the_lag_of_the_index(lag: Lag, seconds: float | None) -> None:
    assert lag.seconds == seconds
    assert lag.milliseconds == (None if seconds is None else seconds * 1_000)


def test_the_age_of_a_change_comes_from_its_document(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "seconds", lambda: 1_000.9)
    for image, late in (
        ({"updated": {"S": "1970-01-01T00:16:40.650000Z"}}, 250),
        ({"updated": {"S": "1969-01-01T00:00:00.000000Z"}}, 900),
        ({"updated": {"S": "yesterday"}}, 900),
        ({}, 900),
    ):
        one = record(1, 1_000.0)
        one["dynamodb"]["NewImage"] = image
        Notes().note(table, [one])
        assert table.items[NOTE]["lag"] == late


def test_the_heartbeat_is_noted_like_a_project(table: MemoryTable) -> None:
    Heart().beat(table)
    beat = table.items[keys.BEAT, keys.BEAT]
    wire = {"Keys": {"PK": {"S": keys.BEAT}}, "NewImage": item_to_wire(beat)}
    wire["NewImage"]["at"]["N"] = str(beat["at"] - 2_000)
    Notes().note(table, [{"dynamodb": wire}])
    lag = freshness.read(table, catalog(table), BlockCache())
    assert lag.note is None
    assert lag.beat is not None
    assert lag.beat.lag == pytest.approx(2, abs=1)
    assert lag.beat.taken_in == pytest.approx(time.time(), abs=5)


def test_a_container_reads_the_heartbeat_seldom(table: MemoryTable) -> None:
    now, asked = [0.0], list[int]()

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        asked.append(len(attempted.keys))
        return perform()

    cache, known = BlockCache(clock=lambda: now[0]), catalog(table)
    for now[0] in (0.0, 1.0, 29.0, 31.0):
        freshness.read(table.seen_through(around), known, cache)
    assert asked == [2, 1, 1, 2]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Lag(0.0, None, None), "The index has processed no change of this project for a week."),
        (
            Lag(0.0, None, Note(-9.0, 0.3)),
            "The index has processed no change of this project for a week; its lag is 0.3 s.",
        ),
        (
            Lag(0.0, Note(-12.0, 0.84), None),
            "The index processed changes of this project 12 s ago, the newest of them 0.8 s after it was made; its "
            "lag is 0.8 s.",
        ),
        (
            Lag(0.0, Note(-1_234.0, 61.0), Note(-1_300.0, 1.0)),
            "The index processed changes of this project 1,234 s ago, the newest of them 61 s after it was made; its "
            "lag is 1,211 s.",
        ),
    ],
)
def test_the_sentence(found: Lag, said: str) -> None:
    assert found.sentence() == said
