"""How far the index is behind: what the stream consumer notes of it, and what people are told."""

import time
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands.actor import Actor, Role
from gridview.commands.projects import create_project
from gridview.encoding import keys
from gridview.index import freshness
from gridview.index.freshness import Lag, Notes
from gridview.schema.store import Catalogs
from gridview.support.errors import Overloaded

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


def test_a_note_tells_when_the_newest_change_of_a_batch_was_taken_in(table: MemoryTable) -> None:
    now = time.time()
    Notes().note(table, [record(1, now - 900), record(2, now - 4), record(3, now - 600)])
    found = freshness.read(table, Catalogs().get(table, "acme", "bridge"))
    assert found.taken_in == pytest.approx(now, abs=5)
    assert found.behind == pytest.approx(4, abs=5)
    assert (found.behind or 0) >= 4
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


def test_what_is_no_issue_or_of_no_known_time_is_not_noted(table: MemoryTable) -> None:
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
    ("found", "issues", "said"),
    [
        (Lag(None, None, 3), None, "The index has processed no change of this project for a week."),
        (
            Lag(-12.0, 0.84, 3),
            3,
            "The index last processed changes of this project 12 s ago, the newest of them 0.8 s after it was made; "
            "it has all 3 assigned issue numbers.",
        ),
        (
            Lag(-1_234.0, 61.0, 1_200),
            1_000,
            "The index last processed changes of this project 1,234 s ago, the newest of them 61 s after it was made; "
            "200 of 1,200 assigned issue numbers are not in it: deleted, or still to come.",
        ),
    ],
)
def test_the_sentence(monkeypatch: pytest.MonkeyPatch, found: Lag, issues: int | None, said: str) -> None:
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert found.sentence(issues) == said
