"""The differential test: random queries, answered by the grid over a table in memory and by SQLite over the same issues."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from devtools.cli import main
from devtools.faults.memory_table import MemoryTable
from devtools.oracle import compare, world
from devtools.oracle.compare import Difference, Player
from gridview import filters, groups, ordering, readwhole
from gridview.operators import OPERATORS
from gridview.ordering import Place

QUERIES = 1_000
CHUNK = 200


@pytest.mark.parametrize("first", range(0, QUERIES, CHUNK))
def test_the_grid_answers_as_sqlite_does(first: int) -> None:
    player = Player(MemoryTable)
    compared: Counter[str] = Counter()
    for seed in range(first, first + CHUNK):
        question, rows = player.play(seed)
        compared[question.kind] += 1
        compared["rows"] += rows
    assert compared.keys() == {"walk", "offset", "groups", "position", "rows"}
    assert compared["rows"] > CHUNK


def conditions(node: Any) -> list[dict[str, Any]]:
    if "field" in node:
        return [node]
    (inner,) = node.values()
    return [found for part in (inner if isinstance(inner, list) else [inner]) for found in conditions(part)]


def test_the_questions_are_of_every_operator_and_type() -> None:
    asked = set()
    for seed in range(QUERIES):
        project = world.make(Random(f"project {seed // compare.QUESTIONS_A_PROJECT}"))  # noqa: S311
        body = world.question(Random(f"question {seed}"), project).body  # noqa: S311
        if "filter" in body:
            asked |= {(project.types[one["field"]], one["op"]) for one in conditions(body["filter"])}
    assert asked == {(kind, one.name) for one in OPERATORS.values() for kind in one.types}


def test_the_same_number_is_the_same_question() -> None:
    player, again = Player(MemoryTable), Player(MemoryTable)
    assert [player.play(seed) for seed in (3, 57)] == [again.play(seed) for seed in (3, 57)]


def everything_without_a_value_passes(self: filters.Condition, document: Any) -> bool:
    value = self.field.value_in(document)
    return value is None or self._test(value)


def not_is_ignored(self: filters.Not, document: Any) -> bool:
    return self.part.matches(document)


def by_number_alone(_: Any, one: Place, other: Place) -> int:
    return one.num - other.num


def in_number_order(_: Any, places: Iterable[Place]) -> list[Place]:
    return sorted(places, key=lambda place: place.num)


SPOILT: dict[str, tuple[Any, str, Any]] = {
    "no value passes": (filters.Condition, "matches", everything_without_a_value_passes),
    "or is and": (filters.Some, "matches", filters.Every.matches),
    "not is ignored": (filters.Not, "matches", not_is_ignored),
    "cursors look at numbers alone": (ordering, "_compare", by_number_alone),
    "no order": (readwhole, "in_order", in_number_order),
    "lists of options are one group": (groups, "_options", groups._values),
}


@pytest.mark.parametrize("spoilt", SPOILT)
def test_spoilt_code_is_found_out(spoilt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, replacement = SPOILT[spoilt]
    monkeypatch.setattr(owner, name, replacement)
    player = Player(MemoryTable)

    def play_all() -> None:
        for seed in range(QUERIES):
            player.play(seed)

    with pytest.raises(Difference):
        play_all()


def test_a_failing_query_is_told_with_the_command_that_replays_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["oracle", "--queries", "3", "--seed", "40"]) == 0
    assert "no difference" in capsys.readouterr().out
    monkeypatch.setattr(filters.Not, "matches", not_is_ignored)
    assert main(["oracle", "--queries", "60", "--seed", "40"]) == 1
    told = capsys.readouterr().out
    (seed, *_) = [line.rpartition(" ")[2] for line in told.splitlines() if "./dev oracle" in line]
    assert main(["oracle", "--queries", "1", "--seed", seed]) == 1
    assert f"./dev oracle --queries 1 --seed {seed}" in capsys.readouterr().out


def test_the_oracle_shares_no_code_with_the_grid() -> None:
    """What it is made of is importable without the core."""
    root = Path(__file__).parents[2]
    code = (
        "import devtools.oracle.sql, sys; sys.exit(any(name.startswith('gridview') for name in sys.modules))"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], cwd=root, env={"PYTHONPATH": str(root)}, check=False
    )
    assert done.returncode == 0
