"""The differential test over DynamoDB Local: generated projects, and a real tracker's issues."""

from pathlib import Path
from random import Random

import pytest

from devtools import bulk
from devtools.engine import Engine
from devtools.oracle import compare, world
from devtools.oracle.compare import Player
from devtools.oracle.real import from_file
from gridview.storage import Table

TITANIUM = Path(__file__).parents[3] / "shared" / "data" / "titanium_issues.csv"
COLUMNS = (
    "title",
    "type",
    "status",
    "priority",
    "labels",
    "assignee",
    "created",
    "comment_count",
    "sprint_end",
)
GENERATED = 270
ISSUES = 700
REAL = 30


@pytest.fixture(scope="module")
def table(engine: Engine, table_name: str) -> Table:
    return bulk.table_at(engine.endpoint, table_name)


def test_generated_projects_are_answered_as_by_sqlite(table: Table) -> None:
    player = Player(lambda: table)
    assert sum(player.play(5_000 + seed)[1] for seed in range(GENERATED)) > GENERATED


@pytest.mark.skipif(not TITANIUM.exists(), reason="the shared data are not here")
def test_a_real_tracker_is_answered_as_by_sqlite(table: Table, tenant: str) -> None:
    project = from_file(TITANIUM, COLUMNS, ISSUES)
    loaded = compare.load(table, project, tenant, "titanium")
    rows = 0
    for seed in range(REAL):
        question = world.question(Random(f"titanium {seed}"), project)  # noqa: S311
        if "limit" in question.body:
            question.body["limit"] = min(500, 10 * question.body["limit"])
        rows += compare.ask(loaded, question)
    assert rows > REAL
