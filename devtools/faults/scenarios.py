"""The scenarios: which seed is which, and how each is played.

Seeds below `RANDOM` are kill points, enumerated: a script, a write of the consumer, and what becomes of the consumer at that write.
From `RANDOM` on everything is drawn from the seed.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import NamedTuple

from devtools.faults import administrators, people, truth
from devtools.faults.adversary import Verdict
from devtools.faults.memory_table import MemoryTable
from devtools.faults.people import Reader, is_spoilt
from devtools.faults.stream import Shard
from devtools.faults.virtual import Clock, virtual
from devtools.faults.world import Difference, Run, World
from gridview import attributes, issues, keys, projects
from gridview.catalog import Catalog
from gridview.catalogs import Catalogs
from gridview.errors import NotFound
from gridview.identity import Actor
from gridview.routes import Role
from gridview.storage import Key, Meter, Table

RANDOM = 1_000_000
"""The first seed of a scenario that is drawn."""

PROJECT = "bridge"

ATTRIBUTES = (
    {"id": "start", "name": "Start", "type": "date"},
    {"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b", "c"]},
    {"id": "cost", "name": "Cost", "type": "number"},
    {"id": "tags", "name": "Tags", "type": "multi_enum", "options": ["x", "y", "z"]},
    {"id": "note", "name": "Note", "type": "text", "indexed": False},
)


class Engine(NamedTuple):
    """What a scenario is played on: makes a table and names a tenant that is nobody else's in it."""

    name: str
    table: Callable[[int], tuple[Table, str]]


class Played(NamedTuple):
    """How a scenario went. `difference` is what was not as it has to be; None: nothing."""

    seed: int
    family: str
    totals: Counter[str]
    difference: str | None
    log: list[str]


def in_memory(_: int) -> tuple[Table, str]:
    """A table of its own for each scenario."""
    return _prepared().copy(Meter(recording=False)), "acme"


@cache
def _prepared() -> MemoryTable:
    table = MemoryTable()
    with virtual(Clock(), 0):
        prepare(table, "acme")
    return table


def prepare(table: Table, tenant: str) -> None:
    """The project of every scenario."""
    admin = Actor(tenant, "ada", Role.ADMIN)
    projects.create_project(table, admin, {"name": "Bridge", "id": PROJECT})
    for attribute in ATTRIBUTES:
        attributes.create_attribute(table, Catalogs(), admin, PROJECT, attribute)


MEMORY = Engine("memory", in_memory)


def play(seed: int, engine: Engine = MEMORY, *, verbose: bool = False) -> Played:
    """Play one scenario to its end and look at what it left behind."""
    random = Random(seed)  # noqa: S311 - the same seed is the same scenario
    clock = Clock()
    log: list[str] | None = [] if verbose else None
    world: World | None = None
    family = family_of(seed)
    difference = None
    with virtual(clock, seed, BATCH=1 + seed % 3):
        try:
            table, tenant = engine.table(seed)
            clock.seconds += 60
            world = World(random, clock, table, tenant, PROJECT, shards=1, log=log)
            world.watch = truth.watch_entries
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


def _end(world: World) -> None:
    """No thread stays behind."""
    for run in list(world.runs):
        run.ended = lambda _: None
        run.invocation.kill()


# Families


class Family(NamedTuple):
    """Scenarios of one kind."""

    name: str
    play: Callable[[World, int], None]


@dataclass(frozen=True)
class Weather:
    """How many people there are in a drawn scenario, and how bad a day it is."""

    actions: int = 110
    issues: int = 3
    edits: float = 1.0
    crowd: int = 3
    shards: int = 2
    faults: float = 0.15
    lag: bool = True
    stale: bool = True
    splitting: float = 0.1
    reordering: float = 0.2
    poison: bool = False
    readers: int = 1
    containers: int = 2
    definitions: bool = False
    project_goes: bool = False


class Drawn:
    """Everything happens in an order that is drawn: what people do, what is delivered, what becomes of each call."""

    def __init__(self, world: World, weather: Weather) -> None:
        self.world = world
        self.weather = weather
        self.random = world.random
        world.stream.__init__(world.random, weather.shards)  # type: ignore[misc]
        world.reordering, world.splitting = weather.reordering, weather.splitting
        if world.memory is not None and weather.lag:
            world.memory.lag()
        if world.memory is not None and weather.stale:
            world.memory.stale(self._states_ago)
        self.command_containers = [Catalogs() for _ in range(weather.containers)]
        self.consumer_containers = [Catalogs() for _ in range(weather.containers)]
        self.upkeep_containers = [Catalogs() for _ in range(weather.containers)]
        self.reader_catalogs = Catalogs()
        self.readers = [Reader(world, self.reader_catalogs) for _ in range(weather.readers)]
        self.official: dict[Shard, Run] = {}
        self.scribbled: list[str] = []

    def _states_ago(self, _: Key, count: int) -> int:
        return self.random.randint(0, count) if count and self.world.chance(0.3) else 0

    def play(self) -> None:
        world = self.world
        for _ in range(self.weather.issues):
            world.finish(people.create(world, self.random.choice(self.command_containers)))
        actions, weights = zip(*self.actions(), strict=True)
        for _ in range(self.weather.actions):
            self.random.choices(actions, weights)[0]()
            world.clock.seconds += self.random.random() * 0.2
        self.quiet()

    def actions(self) -> Iterator[tuple[Callable[[], None], float]]:
        """What may happen next, and how often it does."""
        yield self.write, 14 * self.weather.edits
        yield self.deliver, 14
        yield self.go_on, 40
        yield self.kill, 5
        yield self.land, 4
        yield self.deliver_again, 4
        yield self.abandon, 2
        yield self.split, 1
        yield self.wait, 1
        yield self.table_itself, 2
        if self.weather.lag:
            yield self.catch_up, 25
        if self.weather.readers:
            yield self.read, 8
        if self.weather.poison:
            yield self.spoil, 3
        if self.weather.definitions:
            yield self.define, 4
            yield self.upkeep, 6
            yield self.wait_long, 2
        if self.weather.project_goes:
            yield self.delete_project, 0.7
            yield self.upkeep, 4
            yield self.wait_long, 1

    # What people do

    def _nums(self) -> list[int]:
        return [document["num"] for document in self.world.documents.values() if "num" in document]

    def write(self) -> None:
        world = self.world
        if sum(run.kind == "command" for run in world.runs) >= self.weather.crowd:
            return
        catalogs = self.random.choice(self.command_containers)
        nums = self._nums()
        if not nums or (len(nums) < self.weather.issues and world.chance(0.3)):
            people.create(world, catalogs)
        elif world.chance(0.12):
            people.delete(world, catalogs, self.random.choice(nums))
        else:
            people.update(world, catalogs, self.random.choice(nums))

    def table_itself(self) -> None:
        world = self.world
        gone = [key for key, order in world.orders.items() if order.removed and key not in self.scribbled]
        if gone and world.chance(0.6):
            people.restore(world, self.random.choice(gone))
        elif world.documents:
            people.remove(world, self.random.choice(sorted(world.documents)))

    def spoil(self) -> None:
        world = self.world
        good = sorted(key for key in world.documents if key not in self.scribbled)
        bad = [key for key in good if is_spoilt(world.documents[key])]
        if len(self.scribbled) < 2 and world.chance(0.3):
            self.scribbled.append(people.scribble(world))
        elif bad and world.chance(0.4):
            people.mend_document(world, self.random.choice(bad))
        elif good and world.chance(0.7):
            people.spoil(world, self.random.choice(good))
        elif good:
            people.enlarge(world, self.random.choice(good))

    def read(self) -> None:
        if self.weather.readers > sum(run.kind == "reader" for run in self.world.runs):
            self.random.choice(self.readers).page()

    # What Lambda and DynamoDB do

    def deliver(self) -> None:
        ready = [shard for shard in self.world.stream.shards if shard.open_to_deliver]
        if ready:
            shard = self.random.choice(ready)
            self.official[shard], _ = self.world.deliver(
                shard,
                self.random.randint(1, 8),
                self.random.choice(self.consumer_containers),
                bisects=self.world.chance(0.7),
            )

    def deliver_again(self) -> None:
        shards = [shard for shard in self.world.stream.shards if shard.delivered]
        if shards and sum(run.kind == "consumer" for run in self.world.runs) < 5:
            shard = self.random.choice(shards)
            at = self.random.randrange(shard.delivered)
            end = min(at + self.random.randint(1, 5), shard.delivered)
            self.world.deliver_beside(shard.records[at:end], self.random.choice(self.consumer_containers))

    def abandon(self) -> None:
        at_work = [
            (shard, run) for shard, run in self.official.items() if shard.busy and run in self.world.runs
        ]
        if at_work:
            shard, run = self.random.choice(at_work)
            self.world.abandon(run, shard)

    def split(self) -> None:
        shards = list(self.world.stream.open)
        if len(shards) < 4:
            self.world.totals["shard splits"] += 1
            shard = self.random.choice(shards)
            self.world.note("shard {} splits", shard.name)
            self.world.stream.split(shard)

    def go_on(self) -> None:
        if not self.world.runs:
            return
        run = self.random.choice(self.world.runs)
        if not self.world.chance(self.weather.faults):
            self.world.step(run, then=self.random.choice([0, 1, 2, 5, 20]))
            return
        verdict = self.random.choice(
            [Verdict.TWICE, Verdict.REFUSED, Verdict.LOST, Verdict.REFUSED, Verdict.DENIED, None]
        )
        if verdict is None:
            self.world.echo(run)
        else:
            self.world.step(run, verdict)

    def kill(self) -> None:
        if self.world.runs:
            self.world.kill(self.random.choice(self.world.runs), lands=self.world.chance(0.6))

    def land(self) -> None:
        if self.world.late:
            self.world.land(self.random.choice(self.world.late))

    def catch_up(self) -> None:
        memory = self.world.memory
        if memory is not None:
            for _ in range(self.random.randint(1, 4)):
                if waiting := memory.waiting:
                    memory.catch_up(self.random.choice(waiting))

    def wait(self) -> None:
        self.world.pass_time(self.random.choice([1.0, 3.0, 6.0, 30.0]))

    # Definitions

    def define(self) -> None:
        if sum(run.kind == "command" for run in self.world.runs) < self.weather.crowd:
            administrators.define(self.world, self.random.choice(self.command_containers))

    def delete_project(self) -> None:
        administrators.delete_project(self.world, self.random.choice(self.command_containers))

    def upkeep(self) -> None:
        if sum(run.kind == "upkeep" for run in self.world.runs) < 2:
            administrators.upkeep(self.world, self.random.choice(self.upkeep_containers))

    def wait_long(self) -> None:
        """Until a job is due, or the lease of a killed one runs out."""
        self.world.pass_time(self.random.choice([20.0, administrators.SETTLING, 130.0]))

    def work_off(self) -> None:
        """Let the background work come to its end: each invocation undisturbed, when all that went before is over."""
        world = self.world
        for _ in range(12):
            self.catch_up_with_all()
            if not administrators.job_is_left(world):
                return
            self.walk()
            world.pass_time(130.0)
            world.drain(self.random.choice(self.consumer_containers))
            self.catch_up_with_all()
            before = self.catalog()
            world.finish(administrators.upkeep(world, self.random.choice(self.upkeep_containers)))
            self.catch_up_with_all()
            # What was served a moment ago is there as long as somebody may not have heard of anything else.
            self.walk(before)
            world.drain(self.random.choice(self.consumer_containers))
        raise Difference("the background work does not come to an end")

    # The end

    def quiet(self) -> None:
        """Everything ends; then everything derived has to be right, now and after what is spoilt has been put right."""
        world = self.world
        world.note("-- it becomes quiet")
        self.settle()
        self.work_off()
        if self.catalog() is None:
            truth.assert_removed(world)
            return
        self.judge()
        if self.weather.poison:
            world.note("-- what is spoilt is put right")
            world.too_large.clear()  # a larger item fits now
            for key in sorted(world.documents):
                if key in self.scribbled:
                    people.remove(world, key)
                else:
                    people.mend_document(world, key)
            self.settle()
            self.judge()
        self.walk()

    def settle(self) -> None:
        world = self.world
        world.over()
        world.splitting = 0.0
        world.drain(self.random.choice(self.consumer_containers))
        if world.memory is not None:
            world.memory.stale(None)
        self.catch_up_with_all()

    def catch_up_with_all(self) -> None:
        """The index has heard of everything."""
        if self.world.memory is not None:
            self.world.memory.catch_up_with_all()

    def judge(self) -> None:
        """What is derived, and what is in the dead letters."""
        world = self.world
        underivable = set()
        for key, document in world.documents.items():
            version = document.get("version")
            if key in self.scribbled:
                underivable.add((key, 0))
            elif is_spoilt(document) or (key, version) in world.too_large:
                underivable.add((key, version))
        sent = {(letter.key, letter.version) for letter in world.letters}
        if missing := underivable - sent:
            raise Difference(f"not in the dead letters: {sorted(missing)}")
        for letter in world.letters:
            had = world.history.get(letter.key, {}).get(letter.version, [])
            if not (
                (letter.version == 0 and letter.key in self.scribbled)
                or (letter.key, letter.version) in world.were_too_large
                or any(map(is_spoilt, had))
            ):
                raise Difference(f"in the dead letters though nothing is wrong with it: {letter}")
        truth.assert_derived(world, but_for=frozenset(key for key, _ in underivable))
        truth.assert_no_work_left(world)

    def catalog(self) -> Catalog | None:
        """The definitions as they are now; None when the project is deleted."""
        try:
            return Catalogs().reload(self.world.engine, self.world.tenant, self.world.project)
        except NotFound:
            return None

    def _moved_since(self, catalog: Catalog, name: str) -> bool:
        """Whether options were moved since: an older catalog finds issues under ranks that it does not know, and leaves them out."""
        now = self.catalog()
        before, after = catalog.get(name), now.get(name) if now else None
        return before is not None and after is not None and before.options != after.options

    def walk(self, catalog: Catalog | None = None) -> None:
        """Walk by some orders that are served, under the present definitions or older ones."""
        catalog = catalog or self.catalog()
        if catalog is None or any(key in self.scribbled or is_spoilt(one) for key, one in self.world.documents.items()):
            return
        names = [name for name in truth.sortable(catalog) if not self._moved_since(catalog, name)]
        for name in self.random.sample(names, min(3, len(names))):
            truth.assert_walk(
                self.world,
                name,
                descending=self.world.chance(0.5),
                nulls_first=self.world.chance(0.5),
                limit=self.random.randint(1, 4),
                catalog=catalog,
            )


_FAIR = Weather()
_WEATHERS = {
    "stream": _FAIR,
    "poison": replace(_FAIR, poison=True, readers=0, actions=90),
    "crowd": replace(_FAIR, issues=2, crowd=20, edits=2.5, actions=90, shards=1, readers=0, faults=0.1),
    "storm": replace(_FAIR, faults=0.4, splitting=0.4, reordering=0.5, issues=4, readers=0, actions=90),
    "readers": replace(_FAIR, readers=3, faults=0.05, actions=120, issues=5),
    "definitions": replace(_FAIR, definitions=True, readers=1, edits=0.7, actions=110, shards=1),
    "definitions, rough": replace(_FAIR, definitions=True, readers=0, faults=0.35, actions=110, shards=1),
    "definitions and poison": replace(_FAIR, definitions=True, poison=True, readers=0, shards=1),
    "a project goes": replace(_FAIR, project_goes=True, edits=0.7, actions=70, readers=0, shards=1),
}


def _drawn(name: str) -> Family:
    return Family(name, lambda world, _: Drawn(world, _WEATHERS[name]).play())


_FAMILIES = tuple(map(_drawn, _WEATHERS))


def family_of(seed: int) -> Family:
    """The family that a seed belongs to."""
    if seed >= RANDOM:
        return _FAMILIES[seed % len(_FAMILIES)]
    return Family("kill points", lambda world, seed: KillPoint.of(seed).play(world))


# Kill points


class Script(NamedTuple):
    """What happens to some issues, one word each, and how the records are delivered.

    Records before `known` are settled undisturbed; the invocation that is killed has those before `first`, the one that is
    given them again has those before `second`, and the rest follows.
    """

    name: str
    steps: tuple[tuple[str, int], ...]
    known: int
    first: int
    second: int


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
        (("create", 1), ("remove", 1), ("restore", 1), ("change", 1)), 1, 2, 3,
    ),  # fmt: skip
    Script("restored", (("create", 1), ("remove", 1), ("restore", 1)), 2, 3, 3),
    Script(
        "two issues",
        (("create", 1), ("create", 2), ("change", 1), ("clear", 2), ("change", 2)), 2, 4, 5,
    ),  # fmt: skip
    Script(
        "other borders",
        (("create", 1), ("create", 2), ("change", 1), ("change", 2), ("back", 1), ("clear", 2)), 2, 6, 3,
    ),  # fmt: skip
)


class Fate(NamedTuple):
    """What becomes of the consumer at a write."""

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
    """A script, the number of a write of the invocation that is killed, and what becomes of it there."""

    script: int
    write: int
    fate: int

    @property
    def seed(self) -> int:
        return (self.script * _POINTS + self.write) * len(_FATES) + self.fate

    @classmethod
    def of(cls, seed: int) -> "KillPoint":
        place, fate = divmod(seed, len(_FATES))
        return cls(*divmod(place, _POINTS), fate)

    def play(self, world: World) -> None:
        script, fate = _SCRIPTS[self.script], _FATES[self.fate]
        world.note("-- {}; at write {}: {}", script.name, self.write, fate.name)
        shard = _written(world, script)
        first = _killed_over(world, shard, script)
        reached = _to_write(world, first, self.write)
        if reached and fate.after:
            world.step(first)
        if not first.invocation.ended:
            world.kill(first, lands=fate.lands)
        _deliver(world, shard, script.second)
        if not fate.at_the_end:
            for late in list(world.late):
                world.land(late)
        world.drain(Catalogs())
        truth.assert_derived(world)
        truth.assert_walk(world, "start", descending=False, nulls_first=False, limit=1)


def _written(world: World, script: Script) -> Shard:
    """The shard when everything has been written, and the first records are settled."""
    for word, num in script.steps:
        _do(world, word, num)
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


def _to_write(world: World, run: Run, write: int) -> bool:
    """Let an invocation go on to its write of this number (from 0); False when it has none."""
    run.invocation.to_next_write()
    for _ in range(write):
        world.step(run)
        run.invocation.to_next_write()
    world.settle_ended(run)
    return not run.invocation.ended


_FIRST = {"start": "2023-05-01", "kind": "a", "tags": ["x"]}
_SECOND = {"start": "2023-05-02", "kind": "b", "cost": 5}


def _do(world: World, word: str, num: int) -> None:
    table, actor = world.table, people.writer(world, "ann")
    catalog = Catalogs().reload(world.engine, world.tenant, world.project)
    key = keys.issue(world.tenant, world.project, num)
    world.clock.seconds += 1
    match word:
        case "create":
            issues.create_issue(table, catalog, actor, {"name": "n", "fields": _FIRST})
        case "change":
            issues.update_issue(table, catalog, actor, num, {"fields": _SECOND}, None)
        case "back":
            back = {**_FIRST, "cost": None}
            issues.update_issue(table, catalog, actor, num, {"fields": back}, None)
        case "clear":
            cleared = {"start": None, "kind": None, "tags": None}
            issues.update_issue(table, catalog, actor, num, {"fields": cleared}, None)
        case "remove":
            issues.delete_issue(table, catalog, num, None)
        case "restore":
            people.restore(world, key)
        case _:
            raise ValueError(word)


@cache
def kill_points() -> tuple[int, ...]:
    """The seeds of every kill point there is: each write of each script's invocation, with each fate."""
    found = []
    for place, script in enumerate(_SCRIPTS):
        clock = Clock()
        with virtual(clock, 0):
            table, tenant = in_memory(0)
            world = World(Random(0), clock, table, tenant, PROJECT)  # noqa: S311
            shard = _written(world, script)
            run = _killed_over(world, shard, script)
            writes = 0
            run.invocation.to_next_write()
            while not run.invocation.ended:
                writes += 1
                world.step(run)
                run.invocation.to_next_write()
            found += [
                KillPoint(place, write, fate).seed for write in range(writes) for fate in range(len(_FATES))
            ]
    return tuple(found)


def seeds(count: int) -> Iterator[int]:
    """The seeds of so many scenarios: every kill point, and drawn ones as many as are left."""
    points = kill_points()[:count]
    yield from points
    yield from range(RANDOM, RANDOM + count - len(points))

