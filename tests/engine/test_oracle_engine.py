"""The differential test over DynamoDB Local: generated projects, and a real tracker's issues."""

from random import Random

import pytest

from devtools.local import bulk
from devtools.local.engine import Engine
from devtools.proof.oracle import compare, loading, world
from devtools.proof.oracle.compare import Player
from devtools.proof.oracle.real import titanium
from gridview.dynamodb.table import Table
from tests.support import needs

GENERATED = 60
"""`./dev prove` asks 2,000."""

REAL = 20


@pytest.fixture(scope="module")
def table(engine: Engine, table_name: str) -> Table:
    return bulk.table_at(engine.endpoint, table_name)


def test_generated_projects_are_answered_as_by_sqlite(table: Table) -> None:
    player = Player(lambda: table, limits=("real", "fine"))
    assert sum(player.play(5_000 + seed).rows for seed in range(GENERATED)) > GENERATED


@needs.data
@needs.time
def test_a_real_tracker_is_answered_as_by_sqlite(table: Table, tenant: str) -> None:
    """All its columns and rows, with blocks as large as when deployed."""
    project = titanium("real")
    assert len(project.issues) == 2_501
    loaded = loading.load(table, project, tenant, "titanium")
    questions = [world.question(Random(f"titanium {seed}"), project) for seed in range(REAL)]  # noqa: S311
    asked = [compare.put(loaded, question) for question in questions]
    walked = [one.rows for one in asked if one.question.kind == "walk"]
    assert sum(walked) > 10 * len(walked) > 0
