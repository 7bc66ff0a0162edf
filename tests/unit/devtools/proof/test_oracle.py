"""The differential test: random queries, answered by the grid over a table in memory and by SQLite."""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyroaring import BitMap

from devtools.cli import main
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.oracle import compare, limits, refusals, world
from devtools.proof.oracle.command import Tally, tallies
from devtools.proof.oracle.compare import Asked, Player
from devtools.proof.oracle.loading import Difference
from devtools.proof.oracle.plans import PLANS
from devtools.proof.oracle.sql import Oracle
from devtools.proof.oracle.world import Question
from gridview.chains.directory import Directory, Range
from gridview.query import (
    aggregate_planner,
    bitmap_filter,
    bucket_walk,
    page_steps,
    planner,
    predicates,
    sort_order,
)
from gridview.query.buckets import BucketOrder, TieGroup
from gridview.query.key_ranges import Without
from gridview.query.operators import OPERATORS
from gridview.query.plan import Recheck
from gridview.query.sort_order import Place
from gridview.query.steps import Ask, Steps, ask_all
from gridview.support.errors import QueryTooExpensive
from tests.support import needs

QUERIES = 720
"""Questions to generated projects; `./dev prove` asks 48,000."""

TRACKER_QUERIES = compare.QUESTIONS_A_PROJECT // 8
"""Questions to a real tracker; `./dev prove` asks 1,000."""


@pytest.fixture(scope="module")
def tally() -> Tally:
    found = Tally()
    for some in tallies(range(QUERIES), MemoryTable, "generated", tuple(limits.LIMITS), 1):
        found.update(some)
    return found


def test_the_grid_answers_as_sqlite_does(tally: Tally) -> None:
    assert tally.differences == []
    assert tally.questions == QUERIES
    assert tally.kinds.keys() == {"walk", "offset", "groups", "row_number", "summary"}
    assert tally.rows["walk"] > 15 * tally.kinds["walk"]


def test_every_plan_is_taken_and_none_is_unknown(tally: Tally) -> None:
    assert tally.plans.keys() == PLANS


def test_few_questions_are_refused_and_each_for_a_reason(tally: Tally) -> None:
    assert 0 < sum(tally.refused.values()) < QUERIES / 10
    assert "more is left undecided than may be read" in tally.refused
    assert "more ties than may be read" in tally.refused


def test_no_answer_takes_more_than_four_calls_in_sequence(tally: Tally) -> None:
    assert {plan: rounds for plan, rounds in tally.rounds.items() if rounds > planner.ROUNDS} == {}


@needs.data
def test_a_real_tracker_is_answered_as_by_sqlite() -> None:
    tally = Tally()
    for some in tallies(range(TRACKER_QUERIES), MemoryTable, "titanium", tuple(limits.LIMITS), 1):
        tally.update(some)
    assert tally.differences == []
    assert tally.questions == TRACKER_QUERIES


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


def summary_of(asked: Asked) -> tuple[Question, int, str | None]:
    return asked.question, asked.rows, asked.refused


def test_the_same_number_is_the_same_question() -> None:
    player, again = Player(MemoryTable), Player(MemoryTable)
    assert [summary_of(player.play(seed)) for seed in (3, 57)] == [
        summary_of(again.play(seed)) for seed in (3, 57)
    ]


# Every fault of the reading side is detected


def play_all(player: Player, seeds: Iterable[int]) -> None:
    for seed in seeds:
        player.play(seed)


def everything_without_a_value_passes(self: predicates.Predicate, document: Any) -> bool:
    value = self.field.value_in(document)
    return value is None or self._test(value)


def not_is_ignored(self: predicates.Not, document: Any) -> bool:
    return self.part.matches(document)


def by_number_alone(_: Any, one: Place, other: Place) -> int:
    return one.num - other.num


def in_number_order(_: Any, places: Iterable[Place]) -> list[Place]:
    return sorted(places, key=lambda place: place.num)


def without_the_last_block(self: Directory, between: Range) -> Any:
    found = OVERLAPPING(self, between)
    return found[:-1] if len(found) > 1 else found


def borders_count_as_whole(self: Directory, between: Range, entry: Any) -> bool:
    return True


def an_intersection_for_a_union(sets: Iterable[BitMap]) -> BitMap:
    found = list(sets)
    return bitmap_filter._intersection(found) if found else BitMap()


def no_complement(self: Any, found: Any) -> Any:
    judged = JUDGED(self, found)
    return self.judged(found.part) if isinstance(found, Without) else judged


def the_undecided_match(node: Recheck | None, *, beside: Ask | None = None) -> Steps[BitMap]:
    yield from ask_all([] if beside is None else [beside])
    return BitMap() if node is None else node.issues


def the_undecided_do_not_match(node: Recheck | None, *, beside: Ask | None = None) -> Steps[BitMap]:
    yield from ask_all([] if beside is None else [beside])
    return BitMap()


def ties_ascend(self: BucketOrder, group: TieGroup, begin: int, end: int) -> list[Place]:
    return [self.place(group.body, num) for num in list(group.numbers)[begin:end]]


def a_row_too_far(self: BucketOrder, group: TieGroup, spot: Any) -> int:
    return min(ROWS_BEFORE(self, group, spot) + 1, len(group.numbers))


def those_with_a_value_too(self: bucket_walk.KnownBuckets) -> BitMap:
    return self.matching if self.matching is not None else WITHOUT_VALUE(self)


OVERLAPPING = Directory.overlapping
JUDGED = bitmap_filter._Evaluation.judged
ROWS_BEFORE = BucketOrder.rows_before
WITHOUT_VALUE = bucket_walk.KnownBuckets._without_value

SPOILT: dict[str, tuple[int, Any, str, Any]] = {
    "no value passes": (10, predicates.Predicate, "matches", everything_without_a_value_passes),
    "or is and": (49, predicates.Some, "matches", predicates.Every.matches),
    "not is ignored": (71, predicates.Not, "matches", not_is_ignored),
    "cursors look only at numbers": (41, sort_order, "_compare", by_number_alone),
    "no order": (17, page_steps, "in_order", in_number_order),
    "a range ends a block early": (16, Directory, "overlapping", without_the_last_block),
    "blocks at borders count as whole": (0, Directory, "whole", borders_count_as_whole),
    "sets of a union are intersected": (49, bitmap_filter, "_union", an_intersection_for_a_union),
    "complements are forgotten": (6, bitmap_filter._Evaluation, "judged", no_complement),
    "what is undecided matches": (26, page_steps, "recheck", the_undecided_match),
    "what is undecided does not match": (18, page_steps, "recheck", the_undecided_do_not_match),
    "ties ascend whatever the direction": (1, BucketOrder, "places", ties_ascend),
    "a cursor goes a row too far": (9, BucketOrder, "rows_before", a_row_too_far),
    "those with a value have none, too": (
        56,
        bucket_walk.KnownBuckets,
        "_without_value",
        those_with_a_value_too,
    ),
}
"""Each with the question that detected it last time. It is asked first, only to save the search."""


@pytest.mark.parametrize("spoilt", SPOILT)
def test_spoilt_code_is_found_out(spoilt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, owner, name, replacement = SPOILT[spoilt]
    monkeypatch.setattr(owner, name, replacement)
    with pytest.raises(Difference):
        play_all(Player(MemoryTable), (first, *range(QUERIES)))


def test_a_refusal_without_a_reason_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise QueryTooExpensive("That is too much.")

    monkeypatch.setattr(planner, "all_ahead", refuse)
    with pytest.raises(Difference, match="refused without a reason"):
        play_all(Player(MemoryTable, limits=("real",)), range(40))


def test_a_failing_query_is_printed_with_the_command_that_replays_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["oracle", "--data", "generated", "--jobs", "1"]
    assert main([*arguments, "--queries", "3", "--seed", "40"]) == 0
    assert "no difference" in capsys.readouterr().out
    monkeypatch.setattr(bitmap_filter._Evaluation, "judged", no_complement)
    assert main([*arguments, "--queries", "60", "--seed", "40"]) == 1
    said = capsys.readouterr().out
    (command, *_) = [line.strip() for line in said.splitlines() if "./dev oracle" in line]
    assert main(command.split()[1:]) == 1
    assert command in capsys.readouterr().out


# The oracle itself


def test_the_oracle_counts_undecided_issues() -> None:
    project = world.make(Random(4), sizes=(60,))  # noqa: S311
    oracle = Oracle(project)
    unknown = {"field": "name", "op": "contains", "value": "r"}
    never = {"field": "num", "op": "lt", "value": 0}

    def undecided(filter_: dict[str, Any]) -> int:
        return oracle.undecided({"filter": filter_}, lambda one: one["op"] == "contains")

    assert undecided(never) == 0
    assert undecided(unknown) == undecided({"not": unknown}) == undecided({"not": {"not": unknown}}) == 60
    assert undecided({"and": [unknown, never]}) == 0
    assert undecided({"or": [unknown, {"not": never}]}) == 0
    assert oracle.possible({"filter": {"and": [unknown, {"not": never}]}}, lambda one: one is unknown) == 60
    assert oracle.ties({}, "num", lambda _: False) == 1


def test_a_composite_index_answers_both_directions() -> None:
    key = {"field": "name", "direction": "asc", "nulls": "last"}
    other = {"field": "state", "direction": "desc", "nulls": "first"}
    project = world.Project(["open"], [], {}, composites=[[key, other]])
    assert refusals.has_composite(project, [key, other])
    assert refusals.has_composite(project, world.reversed_sort([key, other]))
    assert not refusals.has_composite(project, [key])
    assert not refusals.has_composite(project, [other, key])


@pytest.mark.parametrize("name", limits.LIMITS)
def test_limits_are_held_everywhere_and_given_back(name: str) -> None:
    def held() -> list[Any]:
        return [vars(module)["CANDIDATES"] for module in (planner, aggregate_planner)]

    before = held()
    with limits.held_to(name):
        assert held() == [limits.budgets(name)["query.planner.CANDIDATES"]] * 2
    assert held() == before


def test_the_oracle_shares_no_code_with_the_grid() -> None:
    """Its modules can be imported without the core."""
    root = Path(__file__).parents[4]
    code = "import devtools.proof.oracle.sql, sys; sys.exit(any(name.startswith('gridview') for name in sys.modules))"
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], cwd=root, env={"PYTHONPATH": str(root)}, check=False
    )
    assert done.returncode == 0
