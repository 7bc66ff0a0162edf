"""Scenarios in which an invocation is killed at a point that is enumerated: at each write of each script, in each
way.

A point is a script, the number of a write in it, and the fate of the invocation at that write.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import NamedTuple

from devtools.proof.faults import administrators, people, truth
from devtools.proof.faults.drawn import Drawn, Weather
from devtools.proof.faults.project import FOLD_PACE, PROJECT, SMALL, folding, in_memory, neighbours
from devtools.proof.faults.stream import Shard
from devtools.proof.faults.virtual import Clock, Constants, virtual
from devtools.proof.faults.world import SETTLING, Difference, Run, World
from gridview.commands import attributes, deleted_attributes, deleted_projects, issues, projects, trash
from gridview.commands.actor import Actor
from gridview.commands.context import WriteContext
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs
from gridview.support.fold_pace import Pace

JOB_POINTS = 500_000
"""The first seed of a kill point of a background job."""

# The consumer


class Script(NamedTuple):
    """Steps of some issues, one word each, and how the records are delivered.

    Records before `known` are settled undisturbed. The killed invocation has those before `first`, the one that gets
    them again has those before `second`, and the rest follows.
    """

    name: str
    steps: tuple[tuple[str, int], ...]
    known: int
    first: int
    second: int
    bare: bool = False
    """The time of the last change is not indexed, so a change may change nothing that is."""
    size: int = 0
    """Which of the sizes of blocks (`project.SMALL`)."""
    neighbours: bool = False
    """Each step is taken in every project of two tenants, one after the other."""

    @property
    def constants(self) -> Constants:
        """Constants that are smaller than in production."""
        return {**folding(self.name), **SMALL[self.size]}


_SCRIPTS = (
    Script("made", (("create", 1),), 0, 1, 1),
    Script("made and changed at once", (("create", 1), ("change", 1)), 0, 1, 2),
    Script("changed", (("create", 1), ("change", 1)), 1, 2, 2),
    Script("changed twice", (("create", 1), ("change", 1), ("change", 1)), 1, 2, 3),
    Script("there and back", (("create", 1), ("change", 1), ("back", 1)), 1, 2, 3),
    Script("cleared", (("create", 1), ("clear", 1)), 1, 2, 2),
    Script("cleared and set", (("create", 1), ("clear", 1), ("back", 1)), 1, 2, 3),
    Script("cleared and set, one by one", (("create", 1), ("clear", 1), ("back", 1)), 1, 2, 2),
    Script("removed", (("create", 1), ("remove", 1)), 1, 2, 2),
    Script("removed after a change", (("create", 1), ("change", 1), ("remove", 1)), 1, 2, 3),
    Script("removed after the same version", (("create", 1), ("change", 1), ("remove", 1)), 1, 3, 3),
    Script(
        "removed and restored",
        (("create", 1), ("remove", 1), ("restore", 1), ("change", 1)),
        1,
        2,
        3,
    ),
    Script("removed and restored at once", (("create", 1), ("remove", 1), ("restore", 1)), 1, 3, 3),
    Script("there and back, and nothing differs", (("create", 1), ("change", 1), ("back", 1)), 1, 2, 3, True),
    Script(
        "cleared and set, and nothing differs",
        (("create", 1), ("clear", 1), ("back", 1), ("change", 1)),
        1,
        2,
        3,
        True,
    ),
    Script(
        "restored and changed back",
        (("create", 1), ("remove", 1), ("restore", 1), ("change", 1)),
        1,
        3,
        4,
        True,
    ),
    Script("restored", (("create", 1), ("remove", 1), ("restore", 1)), 2, 3, 3),
    Script(
        "two issues",
        (("create", 1), ("create", 2), ("change", 1), ("clear", 2), ("change", 2)),
        2,
        4,
        5,
    ),
    Script(
        "other borders",
        (("create", 1), ("create", 2), ("change", 1), ("change", 2), ("back", 1), ("clear", 2)),
        2,
        6,
        3,
    ),
    Script("a body comes to have a block of its own", (("create", 1), ("create", 2), ("create", 3)), 2, 3, 3),
    Script(
        "a body's own block goes",
        (("create", 1), ("create", 2), ("create", 3), ("clear", 3), ("remove", 2), ("clear", 1)),
        3,
        5,
        6,
    ),
    Script(
        "plain blocks are split",
        (
            ("create", 1),
            ("create", 2),
            ("change", 2),
            ("create", 3),
            ("clear", 3),
            ("create", 4),
            ("change", 4),
        ),
        3,
        6,
        7,
        size=1,
    ),
    Script(
        "plain blocks are merged",
        (
            ("create", 1),
            ("create", 2),
            ("create", 3),
            ("change", 2),
            ("clear", 2),
            ("remove", 1),
            ("change", 3),
        ),
        4,
        6,
        7,
        size=1,
    ),
    Script(
        "two bodies change places",
        (
            ("create", 1),
            ("create", 2),
            ("create", 3),
            ("change", 3),
            ("change", 1),
            ("back", 3),
            ("change", 2),
        ),
        4,
        6,
        7,
        size=2,
    ),
    Script("two tenants in one batch", (("create", 1), ("change", 1)), 3, 6, 6, neighbours=True),
    Script(
        "two tenants in one batch, plain blocks",
        (("create", 1), ("clear", 1)),
        2,
        4,
        6,
        size=1,
        neighbours=True,
    ),
    Script("lost by hand", (("create", 1), ("lose", 1)), 1, 2, 2),
    Script("lost and put back", (("create", 1), ("lose", 1), ("put back", 1), ("change", 1)), 1, 2, 3),
    Script("lost and put back at once", (("create", 1), ("lose", 1), ("put back", 1)), 1, 3, 3),
    Script(
        "lost, put back and changed back",
        (("create", 1), ("lose", 1), ("put back", 1), ("change", 1)),
        1,
        3,
        4,
        True,
    ),
    Script(
        "removed, restored, removed",
        (("create", 1), ("remove", 1), ("restore", 1), ("remove", 1)),
        2,
        4,
        3,
    ),
    Script("removed and purged", (("create", 1), ("remove", 1), ("purge", 1)), 1, 3, 2),
    Script("purged", (("create", 1), ("create", 2), ("remove", 1), ("remove", 2), ("purge", 1)), 4, 5, 5),
)


class Fate(NamedTuple):
    """The fate of the consumer at a write."""

    name: str
    after: bool = False
    lands: bool = False
    at_the_end: bool = False


_FATES = (
    Fate("killed before it"),
    Fate("killed after it", after=True),
    Fate("killed before it, and it lands when the retry has finished", lands=True),
    Fate("killed before it, and it lands when all is over", lands=True, at_the_end=True),
)

_POINTS = 100


@dataclass(frozen=True)
class KillPoint:
    """A script, the number of a write of the invocation that is killed, and its fate there."""

    script: int
    write: int
    fate: int

    @property
    def seed(self) -> int:
        """The seed that plays it."""
        return (self.script * _POINTS + self.write) * len(_FATES) + self.fate

    @classmethod
    def of(cls, seed: int) -> "KillPoint":
        """The point that a seed plays."""
        place, fate = divmod(seed, len(_FATES))
        return cls(*divmod(place, _POINTS), fate)

    @property
    def constants(self) -> Constants:
        """Constants that are smaller than in production."""
        return _SCRIPTS[self.script].constants

    def play(self, world: World) -> None:
        """Play it, and judge the result."""
        script, fate = _SCRIPTS[self.script], _FATES[self.fate]
        world.note("-- {}; at write {}: {}", script.name, self.write, fate.name)
        homes = _homes(world, script)
        shard = _written(homes, script)
        first = _killed_over(world, shard, script)
        reached = to_write(world, first, self.write)
        if reached and fate.after:
            world.step(first)
        if not first.invocation.ended:
            world.kill(first, lands=fate.lands)
        _deliver(world, shard, script.second)
        if not fate.at_the_end:
            for late in list(world.late):
                world.land(late)
        world.drain(Catalogs())
        for here in homes:
            truth.assert_walk(here, "start", descending=False, nulls_first=False, limit=1)
            here.fold_all()
            truth.assert_derived(here)
        # Lambda may deliver any record once more.
        for record in shard.records:
            world.finish(world.deliver_beside([record], Catalogs()))
            for here in homes:
                here.fold_all()
                truth.assert_derived(here)
        for here in homes:
            truth.assert_walk(here, "start", descending=False, nulls_first=False, limit=1)


def _homes(world: World, script: Script) -> Sequence[World]:
    """The world as it is seen from each of the projects of a script."""
    return [world, *(neighbours(world) if script.neighbours else ())]


def _written(homes: Sequence[World], script: Script) -> Shard:
    """The shard when everything has been written, and the first records are settled."""
    world = homes[0]
    if script.bare:
        patched("updated", indexed=False)(world, world.table)
        world.pass_time(SETTLING)
        world.finish(administrators.upkeep(world, Catalogs()))
        world.pass_time(SETTLING)
        world.finish(administrators.upkeep(world, Catalogs()))
    for word, num in script.steps:
        for here in homes:
            do(here, word, num)
    (shard,) = world.stream.shards
    if script.known:
        _deliver(world, shard, script.known)
    return shard


def _killed_over(world: World, shard: Shard, script: Script) -> Run:
    run, _ = world.deliver(shard, script.first - shard.settled, Catalogs(), bisects=False)
    return run


def _deliver(world: World, shard: Shard, end: int) -> None:
    while shard.settled < min(end, len(shard.records)):
        before = shard.settled
        run, _ = world.deliver(shard, end - shard.settled, Catalogs(), bisects=False)
        world.finish(run)
        if shard.settled == before:
            raise Difference("an undisturbed delivery does not get on")


def to_write(world: World, run: Run, write: int) -> bool:
    """Let an invocation go on to its write of this number (from 0); False when it has none."""
    run.invocation.to_next_write()
    for _ in range(write):
        world.step(run)
        run.invocation.to_next_write()
    world.settle_ended(run)
    return not run.invocation.ended


_FIRST = {"start": "2023-05-01", "kind": "a", "tags": ["x"]}
_SECOND = {"start": "2023-05-02", "kind": "b", "cost": 5}


def do(world: World, word: str, num: int) -> None:
    """Something happens to an issue, undisturbed."""
    table, actor = world.table, people.writer(world, "ann")
    catalog = world.catalog()
    key = keys.issue(world.tenant, world.project, num)
    world.clock.seconds += 1
    match word:
        case "create":
            issues.create_issue(WriteContext(table, catalog, actor), {"name": "n", "fields": _FIRST})
        case "change":
            issues.update_issue(WriteContext(table, catalog, actor), num, {"fields": _SECOND}, None)
        case "back":
            back = {**_FIRST, "cost": None}
            issues.update_issue(WriteContext(table, catalog, actor), num, {"fields": back}, None)
        case "name":
            issues.update_issue(
                WriteContext(table, catalog, actor), num, {"name": "other", "fields": {"cost": 7}}, None
            )
        case "clear":
            cleared = {"start": None, "kind": None, "tags": None}
            issues.update_issue(WriteContext(table, catalog, actor), num, {"fields": cleared}, None)
        case "lose":
            people.remove(world, key)
        case "put back":
            people.restore(world, key)
        case _:
            _do_with_the_trash(table, catalog, actor, word, num)


def _do_with_the_trash(table: Table, catalog: Catalog, actor: Actor, word: str, num: int) -> None:
    match word:
        case "remove":
            issues.delete_issue(WriteContext(table, catalog, actor), num, None)
        case "restore":
            trash.restore_issue(table, catalog, actor, num)
        case "purge":
            trash.purge_issue(table, catalog, num, None)
        case _:
            raise ValueError(word)


@cache
def kill_points() -> tuple[int, ...]:
    """The seeds of every kill point there is: each write of each script's invocation, with each fate."""
    found = []
    for place, script in enumerate(_SCRIPTS):
        clock = Clock()
        with virtual(clock, 0, script.constants):
            table, tenant = in_memory(0)
            world = World(Random(0), clock, table, tenant, PROJECT)  # noqa: S311
            shard = _written(_homes(world, script), script)
            run = _killed_over(world, shard, script)
            writes = _writes_of(world, run)
            found += [
                KillPoint(place, write, fate).seed for write in range(writes) for fate in range(len(_FATES))
            ]
    return tuple(found)


# Background jobs


class JobScript(NamedTuple):
    """Changes of the definitions, one after the other, before the job that follows is killed."""

    name: str
    changes: tuple[administrators.Change, ...]
    size: int = 0
    """Which of the sizes of blocks (`project.SMALL`)."""
    sliced: bool = False
    """The pass is cut into slices after its first issue."""

    @property
    def constants(self) -> Constants:
        """Constants that are smaller than in production."""
        slicing = {"maintenance.job_worker.SLICE": 1} if self.sliced else {}
        # The fold is due when the job is: with a lease, or without one because little waits.
        pace = {FOLD_PACE: Pace(weight=1 if self.size % 2 else 256, seconds=1)}
        batch = {"maintenance.job_worker.BATCH": 1 if self.sliced else 2}
        return {**folding(self.name), **batch, **slicing, **pace, **SMALL[self.size]}


def patched(attribute: str, **body: object) -> administrators.Change:
    """A change of an attribute or a built-in field."""

    def change(world: World, table: Table) -> None:
        attributes.update_attribute(
            table,
            Catalogs(),
            world.admin,
            world.project,
            attribute,
            body,
            None,
            settling=SETTLING,
        )

    return change


def deleted(attribute: str) -> administrators.Change:
    """An attribute is deleted, and then permanently."""

    def change(world: World, table: Table) -> None:
        named = table, Catalogs(), world.admin, world.project, attribute, None
        attributes.delete_attribute(*named)
        deleted_attributes.purge_attribute(*named, settling=SETTLING)

    return change


def rebuilt(world: World, table: Table) -> None:
    """Two indexes are rebuilt."""
    attributes.rebuild(
        table,
        Catalogs(),
        world.tenant,
        world.project,
        ["start", "name"],
        rate=0,
        settling=SETTLING,
    )


def project_deleted(world: World, table: Table) -> None:
    """The project is deleted, and then permanently."""
    named = table, Catalogs(), world.admin, world.project, None
    projects.delete_project(*named)
    deleted_projects.purge_project(*named, settling=SETTLING)


def states_moved(world: World, table: Table) -> None:
    """The states are put into the opposite order."""
    states = [one.value for one in Catalogs().get(table, world.tenant, world.project).state.live_options]
    projects.update_project(
        table,
        Catalogs(),
        world.admin,
        world.project,
        {"states": states[::-1]},
        None,
        settling=SETTLING,
    )


_JOB_SCRIPTS = (
    JobScript("an index is switched on", (patched("note", indexed=True),)),
    JobScript("an index is switched off", (patched("start", indexed=False),)),
    JobScript(
        "an index is switched off and on", (patched("start", indexed=False), patched("start", indexed=True))
    ),
    JobScript("an attribute is deleted", (deleted("kind"),)),
    JobScript("options are moved", (patched("kind", options=["c", "b", "a"]),)),
    JobScript("the states are moved", (states_moved,)),
    JobScript("indexes are rebuilt", (rebuilt,), size=1),
    JobScript(
        "much at once",
        (deleted("tags"), patched("note", indexed=True), patched("kind", options=["b", "a", "c"])),
        size=3,
    ),
    JobScript("the project is deleted", (project_deleted,), size=2),
    JobScript("an index is switched on, in slices", (patched("note", indexed=True),), sliced=True),
    JobScript("indexes are rebuilt, in slices", (rebuilt,), size=1, sliced=True),
    JobScript("the project is deleted, in slices", (project_deleted,), size=2, sliced=True),
    *(JobScript(f"only the fold is due, blocks of size {size}", (), size=size) for size in range(len(SMALL))),
)


@dataclass(frozen=True)
class JobPoint:
    """A script, the number of a write of the upkeep function, and its fate there."""

    script: int
    write: int
    fate: int

    @property
    def seed(self) -> int:
        """The seed that plays it."""
        return JOB_POINTS + (self.script * _POINTS + self.write) * len(_FATES) + self.fate

    @classmethod
    def of(cls, seed: int) -> "JobPoint":
        """The point that a seed plays."""
        place, fate = divmod(seed - JOB_POINTS, len(_FATES))
        return cls(*divmod(place, _POINTS), fate)

    @property
    def constants(self) -> Constants:
        """Constants that are smaller than in production."""
        return _JOB_SCRIPTS[self.script].constants

    def play(self, world: World) -> None:
        """Play it, and judge the result."""
        script, fate = _JOB_SCRIPTS[self.script], _FATES[self.fate]
        world.note("-- {}; at write {}: {}", script.name, self.write, fate.name)
        quiet = _defined(world, script)
        worker = administrators.upkeep(world, Catalogs())
        reached = to_write(world, worker, self.write)
        if reached and fate.after:
            world.step(worker)
        if not worker.invocation.ended:
            world.kill(worker, lands=fate.lands)
        if not fate.at_the_end:
            for late in list(world.late):
                world.land(late)
        if quiet.catalog() is not None:
            do(world, "name", 1)
            world.drain(Catalogs())
        quiet.quiet()


def _defined(world: World, script: JobScript) -> Drawn:
    """The world when issues have been written and derived, the definitions changed, and the job that follows is due."""
    quiet = Drawn(world, Weather(shards=1, lag=False, stale=False, splitting=0, reordering=0, readers=0))
    for word, num in (("create", 1), ("create", 2), ("create", 3), ("change", 2), ("clear", 3)):
        do(world, word, num)
    world.drain(Catalogs())
    for change in script.changes:
        world.clock.seconds += 1
        change(world, world.table)
    world.pass_time(SETTLING)
    return quiet


@cache
def job_points() -> tuple[int, ...]:
    """The seeds of every kill point of a job that there is."""
    found = []
    for place, script in enumerate(_JOB_SCRIPTS):
        clock = Clock()
        with virtual(clock, 0, script.constants):
            table, tenant = in_memory(0)
            world = World(Random(0), clock, table, tenant, PROJECT)  # noqa: S311
            _defined(world, script)
            writes = _writes_of(world, administrators.upkeep(world, Catalogs()))
            found += [
                JobPoint(place, write, fate).seed for write in range(writes) for fate in range(len(_FATES))
            ]
    return tuple(found)


def _writes_of(world: World, run: Run) -> int:
    """How many writes an undisturbed invocation makes."""
    writes = 0
    run.invocation.to_next_write()
    while not run.invocation.ended:
        writes += 1
        world.step(run)
        run.invocation.to_next_write()
    return writes
