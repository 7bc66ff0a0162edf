"""Fifteen scenarios of the fault simulator over DynamoDB Local: what the table in memory has shown, the engine shows too."""

import os
from collections import Counter

from devtools.local.engine import Engine
from devtools.proof.faults import local
from devtools.proof.faults.command import replay, results
from devtools.proof.faults.points import job_points, kill_points
from devtools.proof.faults.races import race_points
from devtools.proof.faults.scenarios import RANDOM

SCENARIOS = 15
POINTS = 3
"""Kill points of the consumer, as many of background jobs, and as many of races; the rest is drawn."""


def sample(seeds: tuple[int, ...]) -> list[int]:
    return list(seeds[:: -(-len(seeds) // POINTS)])


def test_scenarios_end_without_a_difference(engine: Engine) -> None:
    points = sample(kill_points()) + sample(job_points()) + sample(race_points())
    seeds = [*points, *range(RANDOM, RANDOM + SCENARIOS - len(points))]
    assert len(set(seeds)) == SCENARIOS
    totals: Counter[str] = Counter()
    told = []
    for played in results(seeds, local.on(engine), os.cpu_count() or 1):
        totals.update(played.totals)
        if played.difference is not None:
            told.append(f"{played.family}: {played.difference}\n  {replay(played, 'local')}")
    assert not told, "\n".join(told)
    assert totals["scenarios"] == SCENARIOS
    assert totals["kills"] > SCENARIOS
