"""The scenarios themselves: one of every few enumerated points, and some drawn ones, end without a difference.

The seeds are fixed, so a run is the same every time. `./dev prove` plays every point, and 20,000 scenarios in all.
"""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

import pytest

from devtools import paths
from devtools.paths import PYTHONPATH
from devtools.proof.faults import journal_races, points, races, repair_races, scenarios
from devtools.proof.faults.command import replay
from devtools.proof.faults.project import SMALL
from devtools.proof.faults.scenarios import FORMULAS, RANDOM, TOGETHER, Played, play
from devtools.proof.faults.virtual import Constants
from gridview.chains import blocks

EVERY = 500
"""One of so many enumerated points is played: neighbours are much alike."""

DRAWN = (*range(RANDOM, RANDOM + 20), *(RANDOM + seed for seed in (26, 36, 50, 59)))
"""Scenarios of each family. The last ones have rare faults."""

PEOPLE = (*range(TOGETHER, TOGETHER + 8), *(TOGETHER + seed for seed in (25, 26, 37, 44)))
"""Scenarios with several users, of each family and with each size of batches. The last ones have rare events: issues
that a job cannot change, undo by a job, a rebalance of an order.
"""

COMPUTED = range(FORMULAS + 8, FORMULAS + 16)
"""Scenarios whose projects have formulas, two of each family."""


@cache
def played(seeds: tuple[int, ...]) -> list[Played]:
    return [play(seed) for seed in seeds]


def assert_no_difference(seeds: Sequence[int]) -> None:
    differing = [one for one in played(tuple(seeds)) if one.difference is not None]
    reports = [f"{one.family}: {one.difference}\n  {replay(one, 'memory')}" for one in differing]
    assert not reports, "\n".join(reports)


@pytest.mark.parametrize(
    "every_point",
    [
        points.kill_points,
        points.job_points,
        lambda: races.BOOK.points,
        lambda: journal_races.BOOK.points,
        lambda: repair_races.BOOK.points,
    ],
    ids=[
        "a consumer killed at a write",
        "a background job killed at a write",
        "something happens before a call",
        "something happens to a fold, a consumer or a reader",
        "something happens to a repair",
    ],
)
def test_points_end_without_a_difference(every_point: Callable[[], Sequence[int]]) -> None:
    assert_no_difference(every_point()[::EVERY])


def test_drawn_scenarios_end_without_a_difference() -> None:
    assert_no_difference(DRAWN)


@pytest.mark.parametrize("size", SMALL, ids=lambda size: f"up to {size['chains.blocks.MAX_BYTES']} bytes")
def test_small_blocks_are_small_as_the_large_ones_are_large(size: Constants) -> None:
    """The constants of the core have the same relations to each other."""
    assert {f"chains.blocks.{name}" for name in vars(blocks)} >= {*size}
    assert size["chains.blocks.UNPOPULAR"] < size["chains.blocks.POPULAR"]
    assert size["chains.blocks.ROOMY"] <= size["chains.blocks.MAX_BYTES"]


def test_every_fault_happens_among_those_that_are_drawn() -> None:
    totals: Counter[str] = Counter()
    for one in played(tuple(DRAWN)):
        totals.update(one.totals)
    for fault in (
        "kills",
        "kills amid several writes",
        "timeouts",
        "late writes",
        "echoes",
        "duplicates",
        "abandoned",
        "shard splits",
        "partial batches",
        "refused",
        "lost",
        "twice",
        "denied",
        "poison",
        "dead letters",
        "changes of definitions",
        "deleted projects",
        "pages",
        "questions",
        "questions in quiet",
        "repairs",
        "spoilt by hand",
        "block splits",
        "block merges",
        "plain blocks",
        "older listings",
        "batches of two tenants",
        "journal items",
        "empty journal items",
        "folds",
        "asked before the fold",
        "followed changes",
    ):
        assert totals[fault] > 0, fault
    assert totals["kills"] > 6 * len(DRAWN)


def test_the_same_seed_is_the_same_scenario() -> None:
    for seed in (*range(RANDOM, RANDOM + 3), TOGETHER + 4, *scenarios.points()[50::3000]):
        first, second = play(seed, verbose=True), play(seed, verbose=True)
        assert first == second
        assert len(first.log) > 20
        assert play(seed).totals == first.totals


def test_a_scenario_is_the_same_in_a_new_process_and_after_others() -> None:
    """Otherwise the seed of a difference would not show it again."""
    shown = f"json.dumps(play({RANDOM + 1}, verbose=True).log)"
    program = f"import json; from devtools.proof.faults.scenarios import play; print({shown})"
    fresh = subprocess.run(  # noqa: S603
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        capture_output=True,
        check=True,
    )
    play(RANDOM)
    assert play(RANDOM + 1, verbose=True).log == json.loads(fresh.stdout)


def test_undos_jobs_and_messages_occur_while_everything_else_goes_on() -> None:
    assert_no_difference(PEOPLE)
    totals = sum((one.totals for one in played(tuple(PEOPLE))), Counter())
    for what in (
        "undos answered",
        "undos by jobs",
        "undos of parts",
        "undos in quiet",
        "versions by undos",
        "jobs done",
        "jobs in quiet",
        "issues written by jobs",
        "issues refused by jobs",
        "messages",
        "couriers",
        "histories",
        "batches of two tenants",
        "placed rows",
        "rebalanced rows",
        "rows in order",
        "rows followed in order",
    ):
        assert totals[what] > 0, what
    assert totals["messages of resets"] == 0


def test_seeds_are_every_point_and_then_what_is_drawn() -> None:
    enumerated = scenarios.points()
    count = len(enumerated) * 10 * 3 // 9 // 2 + 10
    found = list(scenarios.seeds(count))
    assert len(set(found)) == len(found) == count
    assert tuple(found[: len(enumerated)]) == enumerated
    drawn = [seed for seed in found if RANDOM <= seed < TOGETHER]
    assert drawn == list(range(RANDOM, RANDOM + len(drawn)))
    tenth = count // 10
    others = [*range(TOGETHER, TOGETHER + tenth), *range(FORMULAS, FORMULAS + tenth)]
    assert found[len(enumerated) + len(drawn) :] == others


def test_formulas_are_defined_and_changed_while_people_write_without_a_difference() -> None:
    assert_no_difference(COMPUTED)
    totals = sum((one.totals for one in played(tuple(COMPUTED))), Counter())
    for event in (
        "changes of formulas",
        "followed changes",
        "rows followed to the end",
        "questions in quiet",
    ):
        assert totals[event] > 0, event


def test_a_few_seeds_are_points_of_every_kind_and_drawn_ones() -> None:
    for count in (1, 2, 10, 100):
        assert len(set(scenarios.seeds(count))) == len(list(scenarios.seeds(count))) == count
    families = {scenarios.family_of(seed).name for seed in scenarios.seeds(100)}
    assert {"kill points", "job kill points", journal_races.OVERLAP, repair_races.REPAIR} < families
    assert sum(seed >= RANDOM for seed in scenarios.seeds(100)) >= 40


def test_kill_points_are_every_write_with_every_fate() -> None:
    for place, script in enumerate(points._SCRIPTS):
        found = [one for one in map(points.KillPoint.of, points.kill_points()) if one.script == place]
        writes = {one.write for one in found}
        assert writes == set(range(len(writes))), script.name
        assert len(found) == len(writes) * len(points._FATES)
        # If no indexed value differs in the end, only the ledger is written.
        alone = script.bare or script.name in ("removed and restored at once", "lost and put back at once")
        assert len(writes) >= (1 if alone else 3), script.name


def test_the_points_of_a_race_are_the_calls_of_its_invocation() -> None:
    by_race: dict[str, list[int]] = {}
    for seed in races.BOOK.points:
        race = races.BOOK.race_of(seed)
        by_race.setdefault(f"{race.family}: {race.name}", []).append(seed)
    assert len(by_race) == 39
    for name, seeds in by_race.items():
        assert seeds == list(range(seeds[0], seeds[0] + len(seeds))), name
        race = races.BOOK.race_of(seeds[0])
        assert race.once == (len(seeds) == 1), name
        # A pass over an issue or two, of several steps; a request that writes an issue has two calls.
        assert race.once or len(seeds) >= (10 if "pass" in race.family else 2), name


def test_the_page_of_the_simulator_says_about_how_many_points_there_are() -> None:
    """Within a twentieth: each change of a write path adds or removes some."""
    page = (paths.ROOT / "docs/simulator.md").read_text("utf-8")
    section = page.split("\nAbout ", 1)[1].split("\n\n`./dev prove`")[0]
    shown = [int(one.replace(",", "")) for one in re.findall(r"(?:about|and|^) ?([\d,]+)", section)]
    actual = [
        len(scenarios.points()),
        len(points.kill_points()),
        len(points.job_points()),
        *(len(module.BOOK.points) for module in (races, journal_races, repair_races)),
    ]
    assert shown == [pytest.approx(count, rel=0.05) for count in actual]
