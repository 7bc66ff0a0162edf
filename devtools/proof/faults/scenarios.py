"""The scenarios: which seed is which, and how each is played.

Seeds below `RANDOM` are points that are enumerated. A point is a write at which the consumer or a background job is
killed. Or it is a call with an event before it (`races`, `journal_races`, `repair_races`). From `RANDOM` on
everything is drawn from the seed. From `TOGETHER` on people also undo changes, have jobs done and have webhooks. From
`FORMULAS` on projects have formulas, which change.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain
from random import Random
from typing import NamedTuple

from devtools.proof.faults import (
    chains_truth,
    columns_truth,
    journal_races,
    lambdas,
    races,
    repair_races,
    truth,
)
from devtools.proof.faults.drawn import FORMULA_WEATHERS, WEATHERS, Drawn, Weather
from devtools.proof.faults.points import JOB_POINTS, JobPoint, KillPoint, job_points, kill_points
from devtools.proof.faults.project import MEMORY, PROJECT, SMALL, Engine, folding, prepared
from devtools.proof.faults.together import COMPANIES, Together
from devtools.proof.faults.virtual import Clock, Constants, virtual
from devtools.proof.faults.world import Difference, World

RANDOM = 1_000_000
"""The first seed of a scenario that is drawn."""

TOGETHER = 5_000_000
"""The first seed of a scenario in which users undo changes, start jobs and define webhooks."""

TOGETHER_EVERY = 10
"""One scenario in so many is one of these."""

FORMULAS = 8_000_000
"""The first seed of a scenario in which administrators define, change and delete formulas."""

FORMULAS_EVERY = 10
"""One scenario in so many is one of these."""

NEIGHBOURS_EVERY = 3
"""One drawn scenario of each family in so many has several projects, and two tenants."""


_BOOKS = (races.BOOK, journal_races.BOOK, repair_races.BOOK)


class Played(NamedTuple):
    """The outcome of a scenario. `difference` is its first error; None: none."""

    seed: int
    family: str
    totals: Counter[str]
    difference: str | None
    log: list[str]


def play(seed: int, engine: Engine = MEMORY, *, verbose: bool = False) -> Played:
    """Play one scenario to its end and judge the result."""
    lambdas.load_all()
    prepared()
    random = Random(seed)  # noqa: S311 - the same seed is the same scenario
    clock = Clock()
    log: list[str] | None = [] if verbose else None
    world: World | None = None
    family = family_of(seed)
    difference = None
    with virtual(clock, seed, _constants_of(seed)):
        try:
            table, tenant = engine.table(seed)
            clock.seconds += 60
            world = World(random, clock, table, tenant, PROJECT, seed=seed, log=log)
            world.watch, world.watch_blocks = truth.watch, chains_truth.watch_blocks
            world.watch_page, world.watch_totals = columns_truth.watch_page, columns_truth.watch_totals
            family.play(world, seed)
        except Exception as error:
            difference = f"{type(error).__name__}: {error}"
            if not isinstance(error, Difference) and verbose:
                raise
        finally:
            if world is not None:
                _end(world)
    totals = world.totals if world is not None else Counter()
    totals["scenarios"] += 1
    return Played(seed, family.name, totals, difference, log or [])


def _constants_of(seed: int) -> Constants:
    """Constants that are smaller than in production."""
    return {"journal.fold.MOST": 1 + seed % 7, **_constants_of_kind(seed)}


def _constants_of_kind(seed: int) -> Constants:
    if seed >= FORMULAS:
        return _constants_of_kind(RANDOM + seed - FORMULAS)
    if seed >= TOGETHER:
        return {**_TINY[seed % len(_TINY)], **_constants_of_kind(RANDOM + seed - TOGETHER)}
    if seed >= RANDOM:
        return {
            "maintenance.job_worker.BATCH": 1 + seed % 3,
            "maintenance.job_worker.SLICE": 1 + seed // 3 % 4,
            **SMALL[seed // len(_FAMILIES) % len(SMALL)],
            **folding(seed),
        }
    if book := _book_of(seed):
        return races.constants_of(book.race_of(seed))
    return (JobPoint if seed >= JOB_POINTS else KillPoint).of(seed).constants


def _book_of(seed: int) -> races.Book | None:
    """The races to which the seed of a point below `RANDOM` belongs; None for a point of a kill."""
    return next((book for book in reversed(_BOOKS) if seed >= book.first), None)


def _end(world: World) -> None:
    """End everything: no invocation goes on after the scenario."""
    for run in list(world.runs):
        run.ended = lambda _: None
        run.invocation.kill()


# Families


class Family(NamedTuple):
    """Scenarios of one kind."""

    name: str
    play: Callable[[World, int], None]


def _drawn(weathers: Mapping[str, Weather]) -> tuple[Family, ...]:
    """A family for each weather."""

    def family(name: str) -> Family:
        def play(world: World, seed: int) -> None:
            with_neighbours = seed // len(weathers) % NEIGHBOURS_EVERY == NEIGHBOURS_EVERY - 1
            Drawn(world, replace(weathers[name], neighbours=with_neighbours), seed).play()

        return Family(name, play)

    return tuple(map(family, weathers))


_FAMILIES = _drawn(WEATHERS)
_WITH_FORMULAS = _drawn(FORMULA_WEATHERS)


def _together(name: str) -> Family:
    def play(world: World, seed: int) -> None:
        company = COMPANIES[name]
        with_neighbours = seed // len(COMPANIES) % NEIGHBOURS_EVERY == NEIGHBOURS_EVERY - 1
        weather = replace(company.weather, neighbours=with_neighbours)
        Together(world, replace(company, weather=weather), seed).play()

    return Family(f"together: {name}", play)


_TOGETHER = tuple(map(_together, COMPANIES))

_TINY: tuple[Constants, ...] = tuple(
    {
        "commands.undo.MAX_AT_ONCE": at_once,
        "commands.undo._GROUP": 2,
        "maintenance.numbered_turn.BATCH": batch,
        "maintenance.numbered_turn.CHUNK": chunk,
        # Ranks are long after three placements, and several transactions write them.
        "encoding.fractional_keys._CHOICES": 92,
        "commands.placing.LONG_KEY": 6,
        "commands.placing.TOGETHER": batch,
        "maintenance.rebalancing.TOGETHER": batch,
        "schema.placements.MOST": 6 + 6 * batch,
        "maintenance.rebalancing.SHORT": 6,
    }
    for at_once, batch, chunk in ((1, 1, 2), (2, 2, 3), (500, 3, 5), (500, 2, 2))
)
"""Batches of jobs, and changes that one request takes back, so small that a few issues make several."""


def family_of(seed: int) -> Family:
    """The family that a seed belongs to."""
    if seed >= FORMULAS:
        return _WITH_FORMULAS[seed % len(_WITH_FORMULAS)]
    if seed >= TOGETHER:
        return _TOGETHER[seed % len(_TOGETHER)]
    if seed >= RANDOM:
        return _FAMILIES[seed % len(_FAMILIES)]
    if book := _book_of(seed):
        return Family(book.race_of(seed).family, book.play)
    if seed >= JOB_POINTS:
        return Family("job kill points", lambda world, seed: JobPoint.of(seed).play(world))
    return Family("kill points", lambda world, seed: KillPoint.of(seed).play(world))


@cache
def points() -> tuple[int, ...]:
    """The seeds of every point that is enumerated."""
    return (*kill_points(), *job_points(), *chain.from_iterable(book.points for book in _BOOKS))


def seeds(count: int) -> Iterator[int]:
    """The seeds of so many scenarios. Every tenth is one of people who work together, every tenth one of formulas.

    Up to three quarters of the others are points, all of them or an even spread, and the rest is drawn.
    """
    together, formulas = count // TOGETHER_EVERY, count // FORMULAS_EVERY
    drawn = count - together - formulas
    most = drawn * 3 // 4
    some = points()[:: -(-len(points()) // most)] if most else ()
    yield from some
    yield from range(RANDOM, RANDOM + drawn - len(some))
    yield from range(TOGETHER, TOGETHER + together)
    yield from range(FORMULAS, FORMULAS + formulas)
