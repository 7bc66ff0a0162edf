"""The oracle's questions in manual orders, and the placements before them; `devtools.proof.oracle.orders` has the rules."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.oracle import orders, sql, tokens, world
from devtools.proof.oracle.compare import QUESTIONS_A_PROJECT, Player
from devtools.proof.oracle.history import History, Version
from devtools.proof.oracle.loading import Difference
from devtools.proof.oracle.sql import Oracle
from gridview.commands import placing
from gridview.encoding.fractional_keys import between, default_key
from gridview.maintenance import rebalancing
from gridview.query import row_keys
from gridview.schema.manual_orders import ManualOrder
from gridview.schema.placements import Placements

PROJECTS = 16

STAMPS = world.Stamps("2023-05-01T00:00:00Z", "2023-05-01T00:00:00Z", "ann", "ann")


def by(order: str) -> dict[str, Any]:
    return {"sort": [{"manual": order}]}


def play_projects(count: int = PROJECTS) -> Counter[str]:
    """Place rows in some projects, and put two questions to each."""
    player = Player(MemoryTable)
    for place in range(count):
        for at in range(2):
            player.play(place * QUESTIONS_A_PROJECT + at)
    return player.happened


# The questions


def test_one_question_of_ten_is_in_a_manual_order() -> None:
    asked: Counter[str] = Counter()
    for seed in range(4_000):
        project = world.make(Random(f"project {seed // QUESTIONS_A_PROJECT}"), sizes=(3,))  # noqa: S311
        question = world.question(Random(f"question {seed}"), project)  # noqa: S311
        asked[question.kind if "manual" in str(question.body.get("sort")) else "otherwise"] += 1
    assert asked.keys() == {"walk", "offset", "row_number", "otherwise"}
    assert 0.07 < 1 - asked["otherwise"] / asked.total() < 0.13


def test_rows_are_placed_before_the_questions() -> None:
    happened = play_projects()
    assert happened["rows placed"] > 2 * happened["placements"] > 2 * PROJECTS
    for what in ("rebalances", "keys rebalanced", "issues deleted", "issues restored"):
        assert happened[what] > 0


def test_rows_are_placed_while_the_index_is_late() -> None:
    happened: Counter[str] = Counter()
    for seed in range(6):
        happened += tokens.play(seed)[1]
    for what in ("rows placed", "rebalances", "keys rebalanced", "issues restored"):
        assert happened[what] > 0


# The oracle itself


@pytest.mark.parametrize("num", [1, 6, 7, 61, 62, 63, 427, 65_536, 900_062, 99_999_999])
def test_the_key_of_a_row_that_was_never_placed(num: int) -> None:
    assert sql.never_placed(num) == f"1{default_key(num)}\x01{num:08d}"


def test_sqlite_sorts_by_the_keys_that_were_answered() -> None:
    bodies: dict[int, Any] = {num: {"name": str(num), "fields": {}} for num in (1, 2, 3)}
    bodies[3]["placed"] = {"v1": "1V\x0100000003"}
    bodies[1]["placed"] = {"v1": "1k\x0100000001"}
    project = world.Project(["open"], [], bodies, dict.fromkeys(bodies, STAMPS), orders=["v1", "v2"])
    oracle = Oracle(project)
    assert oracle.rows(by("v1")) == [2, 3, 1]
    assert oracle.rows(by("v2")) == [1, 2, 3]
    assert oracle.keys("v1")[3] == "1V\x0100000003"
    assert oracle.rows({**by("v1"), "filter": {"field": "num", "op": "ne", "value": 3}}) == [2, 1]


@pytest.mark.parametrize(
    ("anchor", "after", "expected"),
    [
        (3, True, [1, 3, 5, 2, 4]),
        (3, False, [1, 5, 2, 3, 4]),
        (None, True, [5, 2, 1, 3, 4]),
        (None, False, [1, 3, 4, 5, 2]),
    ],
)
def test_the_list_in_which_rows_are_moved(anchor: int | None, after: bool, expected: list[int]) -> None:
    assert orders.moved_to([1, 2, 3, 4, 5], [5, 2], anchor, after=after) == expected


def test_a_restored_issue_does_not_prolong_the_version_before_its_deletion() -> None:
    history = History(world.Project(["open"], [], {1: {"name": "a", "fields": {}}}, {1: STAMPS}))
    history.changed(1, 10, None)
    history.changed(1, 20, Version(3, {"name": "a", "fields": {}}, STAMPS))
    assert history.living == [1]
    assert history.as_shown([(1, 1)], since=11) is None


# Planted faults

real_key = row_keys.row_key


def another_key(*given: Any) -> str:
    return real_key(*given).replace("\x01", "0\x01")


def the_end_of_the_order(low: str | None, _: str | None) -> placing.Gap:
    return placing.Gap(low, None)


def backwards(*given: Any, **more: Any) -> list[str]:
    return between(*given, **more)[::-1]


def as_never_placed(_: ManualOrder, document: Any) -> str:
    return default_key(document["num"])


SPOILT: dict[str, tuple[Any, str, Any]] = {
    "a placement answers another key": (row_keys, "row_key", another_key),
    "rows are placed at the end": (placing, "gap_between", the_end_of_the_order),
    "the rows of a request are placed backwards": (placing, "between", backwards),
    "every row counts as being in place": (placing.Placing, "_fits", lambda *_: True),
    "places are forgotten": (ManualOrder, "value_in", as_never_placed),
    "a rebalance turns the rows around": (rebalancing, "between", backwards),
    "SQLite has other keys for rows that were never placed": (sql, "never_placed", lambda num: f"1{num}"),
    "SQLite forgets the keys that were answered": (world.Project, "placed", lambda *_: None),
}


@pytest.mark.parametrize("what", SPOILT)
def test_a_wrong_key_or_order_is_found_out(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    owner, name, replacement = SPOILT[what]
    monkeypatch.setattr(owner, name, replacement)
    with pytest.raises(Difference):
        play_projects(10 * PROJECTS)


def test_a_placement_that_does_not_know_earlier_ones_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Placements, "writes_known", lambda *_: ())

    def play_late() -> None:
        for seed in range(60):
            tokens.play(seed)

    with pytest.raises(Difference):
        play_late()
