"""The scenarios themselves: one of every few points that are enumerated, and some that are drawn, end without a difference.

The seeds are fixed, so a run is the same every time. `./dev prove` plays every point, and 20,000 scenarios in all.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

import pytest

from devtools.proof.faults import points, races, scenarios
from devtools.proof.faults.command import replay
from devtools.proof.faults.project import SMALL
from devtools.proof.faults.scenarios import RANDOM, TOGETHER, Played, play
from devtools.proof.faults.virtual import Constants
from gridview.index import blocks

EVERY = 120
"""Of so many points that are enumerated, one is played: neighbours are much alike."""

DRAWN = range(RANDOM, RANDOM + 60)

PEOPLE = range(TOGETHER, TOGETHER + 12)
"""People who work together, of each family and with each size of batches."""


@cache
def played(seeds: tuple[int, ...]) -> list[Played]:
    return [play(seed) for seed in seeds]


def assert_no_difference(seeds: Sequence[int]) -> None:
    differing = [one for one in played(tuple(seeds)) if one.difference is not None]
    told = [f"{one.family}: {one.difference}\n  {replay(one, 'memory')}" for one in differing]
    assert not told, "\n".join(told)


@pytest.mark.parametrize(
    "every_point",
    [points.kill_points, points.job_points, races.race_points],
    ids=[
        "a consumer killed at a write",
        "a background job killed at a write",
        "something happens before a call",
    ],
)
def test_points_end_without_a_difference(every_point: Callable[[], Sequence[int]]) -> None:
    assert_no_difference(every_point()[::EVERY])


def test_what_is_drawn_ends_without_a_difference() -> None:
    assert_no_difference(DRAWN)


@pytest.mark.parametrize("size", SMALL, ids=lambda size: f"up to {size['index.blocks.MAX_BYTES']} bytes")
def test_small_blocks_are_small_as_the_large_ones_are_large(size: Constants) -> None:
    """Constants of the core, in the relations that they have to each other."""
    assert {f"index.blocks.{name}" for name in vars(blocks)} >= {*size}
    assert size["index.blocks.UNPOPULAR"] < size["index.blocks.POPULAR"]
    assert size["index.blocks.ROOMY"] <= size["index.blocks.MAX_BYTES"]


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
    ):
        assert totals[fault] > 0, fault
    assert totals["kills"] > 500


def test_the_same_seed_is_the_same_scenario() -> None:
    enumerated = (points.kill_points()[50], points.job_points()[50], *races.race_points()[::300])
    for seed in (*range(RANDOM, RANDOM + 3), TOGETHER + 4, *enumerated):
        first, second = play(seed, verbose=True), play(seed, verbose=True)
        assert first == second
        assert len(first.log) > 20
        assert play(seed).totals == first.totals


def test_people_take_back_have_jobs_done_and_are_told_while_everything_else_goes_on() -> None:
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
    ):
        assert totals[what] > 0, what
    assert totals["messages of resets"] == 0


def test_seeds_are_every_point_and_then_what_is_drawn_and_a_third_has_journals() -> None:
    enumerated = len(points.kill_points()) + len(points.job_points()) + len(races.race_points())
    others = (enumerated + 10) * 3 // 2
    count = others * 10 // 9
    found = list(scenarios.seeds(count))
    plain = [seed for seed in found if seed < scenarios.JOURNALLED]
    together = [seed for seed in found if seed >= scenarios.TOGETHER]
    assert len(set(found)) == len(found) == count
    assert len(together) == count // 10
    assert count - len(plain) - len(together) == others // 3
    assert plain[enumerated : enumerated + 10] == list(range(RANDOM, RANDOM + 10))
    assert len(list(scenarios.seeds(10))) == 10


def test_scenarios_with_journals_commit_and_close_numbers_and_fold_side_by_side() -> None:
    first = scenarios.JOURNALLED + RANDOM
    seeds = (
        *range(first, first + 10),
        *map(scenarios.JOURNALLED.__add__, points.job_points(journal=True)[::160]),
    )
    assert_no_difference(seeds)
    totals = sum((one.totals for one in played(seeds)), Counter())
    for what in ("journal items", "empty journal items", "folds", "block splits", "block merges", "kills"):
        assert totals[what] > 0, what


def test_kill_points_are_every_write_with_every_fate() -> None:
    for place, script in enumerate(points._SCRIPTS):
        found = [one for one in map(points.KillPoint.of, points.kill_points()) if one.script == place]
        writes = {one.write for one in found}
        assert writes == set(range(len(writes))), script.name
        assert len(found) == len(writes) * len(points._FATES)
        # Where nothing that is indexed differs, in the end, the ledger alone is written.
        alone = script.bare or script.name in ("removed and restored at once", "lost and put back at once")
        assert len(writes) >= (1 if alone else 3), script.name


def test_the_points_of_a_race_are_the_calls_of_its_invocation() -> None:
    by_race: dict[str, list[int]] = {}
    for seed in races.race_points():
        race = races.race_of(seed)
        by_race.setdefault(f"{race.family}: {race.name}", []).append(seed)
    assert len(by_race) == 48
    for name, seeds in by_race.items():
        assert seeds == list(range(seeds[0], seeds[0] + len(seeds))), name
        race = races.race_of(seeds[0])
        assert race.once == (len(seeds) == 1), name
        # A pass over an issue or two, of several steps; a request that writes an issue has two calls.
        assert race.once or len(seeds) >= (10 if "pass" in race.family else 2), name
