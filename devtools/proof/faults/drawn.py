"""Scenarios in which everything happens in an order that is drawn."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from random import Random

from devtools.proof.faults import administrators, people, truth
from devtools.proof.faults.adversary import Verdict
from devtools.proof.faults.followers import (
    COMPUTED_ROWS,
    STORED_ROWS,
    FollowedRows,
    Follower,
    assert_histories,
)
from devtools.proof.faults.isolation import homes_in
from devtools.proof.faults.people import Reader, is_spoilt
from devtools.proof.faults.project import neighbours
from devtools.proof.faults.questions import Questioner
from devtools.proof.faults.stream import Shard
from devtools.proof.faults.world import SETTLING, Difference, Run, World, is_block
from gridview.derive.images import Poison
from gridview.dynamodb.expressions import Key
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs
from gridview.support.errors import NotFound

_QUESTIONS = 0.4
"""The share of readers' questions that are more than a page of one order."""

_RESTORED = 0.4
"""The share of deleted projects that are restored; the others are permanently deleted."""


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
    formulas: bool = False
    """Whether the definitions that change are mostly formulas, and rows are followed by what these compute."""
    project_goes: bool = False
    neighbours: bool = False
    """Whether others work in projects of their own, of this tenant and of another."""


class Drawn:
    """Everything happens in a drawn order: people's requests, deliveries, the outcome of each call."""

    def __init__(self, world: World, weather: Weather, seed: int = 0) -> None:
        self.world = world
        self.weather = weather
        self.random = world.random
        world.stream.__init__(world.random, weather.shards)  # type: ignore[misc]
        world.reordering = weather.reordering
        if world.memory is not None and weather.lag:
            world.memory.lag()
        self._stalest = world.chance(0.3)
        self.worlds = [world, *(neighbours(world) if weather.neighbours else ())]
        self.grow_bad()
        self.command_containers = [Catalogs() for _ in range(weather.containers)]
        self.consumer_containers = [Catalogs() for _ in range(weather.containers)]
        self.upkeep_containers = [Catalogs() for _ in range(weather.containers)]
        self.reader_catalogs = Catalogs()
        self.readers = [
            Reader(here, self.reader_catalogs) for here in self.worlds for _ in range(weather.readers)
        ]
        self.aside = Random(f"questions {seed}")  # noqa: S311 - the same seed is the same scenario
        self.questioners = {
            here.home: Questioner(here, self.reader_catalogs, self.aside) for here in self.worlds
        }
        self.followers = {
            here.home: [Follower(here, self.reader_catalogs, rows) for rows in (None, self._followed)]
            for here in self.worlds
        }
        self.official: dict[Shard, Run] = {}
        self.scribbled: list[str] = []

    @property
    def _followed(self) -> FollowedRows:
        return COMPUTED_ROWS if self.weather.formulas else STORED_ROWS

    def _states_ago(self, key: Key, count: int) -> int:
        some = count and not self._stalest
        back = (self.random.randint(0, count) if self.world.chance(0.3) else 0) if some else count
        self.world.totals["older listings"] += back > 0 and is_block(key)
        return back

    def play(self) -> None:
        """Make some issues, let so much happen, and judge the result when it becomes quiet."""
        world = self.world
        if self.weather.formulas:
            for here in self.worlds:
                administrators.begin_with_formulas(here)
            self.settle()
            self.work_off()
            self.grow_bad()
        for follower in chain.from_iterable(self.followers.values()):
            if (run := follower.look()) is not None:
                world.finish(run)
        for here in self.worlds:
            for _ in range(max(1, self.weather.issues // len(self.worlds))):
                world.finish(people.create(here, self.random.choice(self.command_containers)))
        if not self.weather.definitions:
            self.act(self.weather.actions)
        else:
            # Between two spells of work all that the first one has led to is carried out; containers remember what they knew.
            self.act(self.weather.actions * 2 // 3)
            world.note("-- a pause")
            self.settle()
            self.work_off()
            self.grow_bad()
            self.act(self.weather.actions // 3)
        self.quiet()

    def act(self, count: int) -> None:
        """Let so much happen."""
        actions, weights = zip(*self.actions(), strict=True)
        for _ in range(count):
            self.random.choices(actions, weights)[0]()
            self.world.clock.seconds += self.random.random() * 0.2

    def grow_bad(self) -> None:
        """The weather, after it was calm."""
        for here in self.worlds:
            here.splitting = self.weather.splitting
        if self.world.memory is not None and self.weather.stale:
            self.world.memory.stale(self._states_ago)

    def actions(self) -> Iterator[tuple[Callable[[], None], float]]:
        """The possible events, and how often each happens."""
        yield self.write, 14 * self.weather.edits
        yield self.deliver, 14
        yield self.go_on, 40
        yield self.kill, 5
        yield self.land, 4
        yield self.deliver_again, 4
        yield self.abandon, 2
        yield self.split, 1
        yield self.wait, 1
        yield self.wait_long, 1
        yield self.table_itself, 2
        yield self.repair, 1
        yield self.fold, 6
        yield self.follow, 6
        yield self.upkeep, 4
        if self.weather.lag:
            yield self.catch_up, 25
        if self.weather.readers:
            yield self.read, 8
        if self.weather.poison:
            yield self.spoil, 3
        if self.weather.definitions:
            yield self.define, 10 if self.weather.formulas else 4
            yield self.upkeep, 6
            yield self.wait_long, 2
        if self.weather.project_goes:
            yield self.delete_project, 0.7
            yield self.upkeep, 4
            yield self.wait_long, 1

    # Events of people

    def _somewhere(self) -> World:
        """One of the projects."""
        return self.world if len(self.worlds) == 1 else self.random.choice(self.worlds)

    def write(self) -> None:
        """A user begins to make, change or delete an issue."""
        world = self._somewhere()
        if sum(run.kind == "command" for run in world.runs) >= self.weather.crowd:
            return
        catalogs = self.random.choice(self.command_containers)
        nums = [document["num"] for document in world.documents.values() if "num" in document]
        if not nums or (len(nums) < self.weather.issues and world.chance(0.3)):
            people.create(world, catalogs)
        elif world.chance(0.12):
            people.delete(world, catalogs, self.random.choice(nums))
        else:
            people.update(world, catalogs, self.random.choice(nums))

    def table_itself(self) -> None:
        """A document is expired, deleted or restored without any command."""
        world = self._somewhere()
        gone = [key for key, order in world.orders.items() if order.removed and key not in self.scribbled]
        if gone and world.chance(0.6) and self.catalog(world) is not None:
            key = self.random.choice(gone)
            if key in world.trashed:
                self.in_the_trash(world, key)
            else:
                people.restore(world, key)
        elif world.documents:
            people.remove(world, self.random.choice(sorted(world.documents)))

    def in_the_trash(self, world: World, key: str) -> None:
        """A deleted issue is restored, purged, or removed by the table."""
        num, catalogs = world.trashed[key]["num"], self.aside.choice(self.command_containers)
        drawn = self.aside.random()
        if drawn < 0.7:
            people.bring_back(world, catalogs, num)
        elif drawn < 0.85:
            people.purge(world, catalogs, num)
        else:
            people.remove(world, key)

    def spoil(self) -> None:
        """A document becomes one from which nothing can be derived, or is put right."""
        world = self._somewhere()
        good = sorted(key for key in world.documents if key not in self.scribbled)
        bad = [key for key in good if is_spoilt(world.documents[key])]
        if len(self.scribbled) < 2 and world.chance(0.3):
            self.scribbled.append(people.scribble(world))
        elif bad and world.chance(0.4):
            people.repair_document(world, self.random.choice(bad))
        elif good and world.chance(0.7):
            people.spoil(world, self.random.choice(good))
        elif good:
            people.enlarge(world, self.random.choice(good))

    def repair(self) -> None:
        """An operator has an issue repaired that may well be right."""
        world = self._somewhere()
        if world.orders:
            key = self.random.choice(sorted(world.orders))
            people.repair(world, key, self.random.choice(self.upkeep_containers))

    def read(self) -> None:
        """A reader asks for a page, or something else of the grid."""
        if self.weather.readers <= sum(run.kind == "reader" for run in self.world.runs):
            return
        first, *others = self.questioners.values()
        questioner = self.aside.choice([first, *others]) if others else first
        if self.aside.random() >= _QUESTIONS or questioner.ask() is None:
            self.random.choice(self.readers).page()

    def follow(self) -> None:
        """A follower asks for the changes since its last answer."""
        self.random.choice([*chain.from_iterable(self.followers.values())]).look()

    # Events of Lambda and DynamoDB

    def deliver(self) -> None:
        """The mapping gives the consumer the next records of a shard."""
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
        """The consumer is given records that were delivered before."""
        shards = [shard for shard in self.world.stream.shards if shard.delivered]
        if shards and sum(run.kind == "consumer" for run in self.world.runs) < 5:
            shard = self.random.choice(shards)
            at = self.random.randrange(shard.delivered)
            end = min(at + self.random.randint(1, 5), shard.delivered)
            self.world.deliver_beside(shard.records[at:end], self.random.choice(self.consumer_containers))

    def abandon(self) -> None:
        """Lambda takes an invocation for dead that goes on."""
        at_work = [
            (shard, run) for shard, run in self.official.items() if shard.busy and run in self.world.runs
        ]
        if at_work:
            shard, run = self.random.choice(at_work)
            self.world.abandon(run, shard)

    def split(self) -> None:
        """A shard splits."""
        shards = list(self.world.stream.open)
        if len(shards) < 4:
            self.world.totals["shard splits"] += 1
            shard = self.random.choice(shards)
            self.world.note("shard {} splits", shard.name)
            self.world.stream.split(shard)

    def go_on(self) -> None:
        """An invocation does its next calls, and one of them may meet a fault."""
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
        """An invocation ends where it is."""
        if self.world.runs:
            self.world.kill(self.random.choice(self.world.runs), lands=self.world.chance(0.6))

    def land(self) -> None:
        """A call of a killed invocation arrives."""
        if self.world.late:
            self.world.land(self.random.choice(self.world.late))

    def catch_up(self) -> None:
        """The index receives some changes."""
        memory = self.world.memory
        if memory is not None:
            for _ in range(self.random.randint(1, 4)):
                if waiting := memory.waiting:
                    memory.catch_up(self.random.choice(waiting))

    def wait(self) -> None:
        """Nothing happens for a while."""
        self.world.pass_time(self.random.choice([1.0, 3.0, 6.0, 30.0]))

    # Definitions

    def define(self) -> None:
        """An administrator begins to change a definition."""
        if sum(run.kind == "command" for run in self.world.runs) < self.weather.crowd:
            catalogs = self.random.choice(self.command_containers)
            administrators.define(self._somewhere(), catalogs, formulas=self.weather.formulas)

    def delete_project(self) -> None:
        """An administrator begins to delete a project; or to restore or permanently delete it, if it is deleted."""
        world, catalogs = self._somewhere(), self.random.choice(self.command_containers)
        if not administrators.is_closed(world):
            administrators.delete_project(world, catalogs)
        elif self.aside.random() < _RESTORED:
            administrators.restore_project(world, catalogs)
        else:
            administrators.purge_project(world, catalogs)

    def upkeep(self) -> None:
        """The schedule invokes the upkeep function."""
        self.redrive()
        if sum(run.kind == "upkeep" for run in self.world.runs) < 2:
            administrators.upkeep(self.world, self.random.choice(self.upkeep_containers))

    def redrive(self) -> None:
        """Upkeep derives again what the table has refused; another may be at it."""
        world = self.world
        if world.batches.contents and sum(run.kind == "redrive" for run in world.runs) < 2:
            world.redrive(self.aside.choice(self.upkeep_containers))

    def fold(self) -> None:
        """A worker folds, with a lease or without."""
        world = self._somewhere()
        if sum(run.kind == "fold" for run in self.world.runs) < 3:
            world.fold(self.random.choice(self.upkeep_containers))

    def wait_long(self) -> None:
        """Until a job is due, or the lease of a killed one runs out."""
        self.world.pass_time(self.random.choice([20.0, SETTLING, 130.0]))

    def work_off(self) -> None:
        """Let the background work come to its end: each invocation undisturbed, when all that went before is over."""
        world = self.world
        for _ in range(12):
            self.catch_up_with_all()
            if not any(map(administrators.work_is_left, self.worlds)):
                return
            self.walk()
            world.pass_time(130.0)
            world.drain(self.random.choice(self.consumer_containers))
            self.catch_up_with_all()
            before = [self.catalog(here) for here in self.worlds]
            world.finish(administrators.upkeep(world, self.random.choice(self.upkeep_containers)))
            self.catch_up_with_all()
            # Orders that were served a moment ago exist as long as a container may not know the new definitions.
            for here, catalog in zip(self.worlds, before, strict=True):
                self._walk(here, catalog)
            world.drain(self.random.choice(self.consumer_containers))
        raise Difference("the background work does not come to an end")

    # The end

    def quiet(self) -> None:
        """Everything ends.

        Then everything derived has to be right, now and again after spoilt documents are repaired.
        """
        world = self.world
        world.note("-- all becomes quiet")
        self.settle()
        self._decide_of_deleted_projects()
        self._ask_before_the_fold()
        self.work_off()
        self.judge()
        if self.weather.poison:
            world.note("-- what is spoilt is put right")
            world.too_large.clear()  # a larger item fits now
            for here in self.worlds:
                self._put_right(here)
            self.settle()
            for here in self.worlds:
                for key, version, _ in self._letters(here):
                    world.finish(people.repair(here, key, Catalogs(), version))
                here.fold_all()
            self.catch_up_with_all()
            self.judge()
        self.walk()
        for here in self.worlds:
            self._ask(here)
        for here in self.worlds:
            if here.orders and self.catalog(here) is not None and world.chance(0.3):
                truth.assert_found_and_repaired(here)
                self.catch_up_with_all()
                self.judge()

    def _decide_of_deleted_projects(self) -> None:
        """Deleted projects are restored or permanently deleted."""
        for here in filter(administrators.is_closed, self.worlds):
            is_restored = self.aside.random() < _RESTORED
            decide = administrators.restore_project if is_restored else administrators.purge_project
            here.finish(decide(here, Catalogs()))
            self.settle()

    def _put_right(self, world: World) -> None:
        for key in sorted(world.documents):
            if key in self.scribbled:
                people.remove(world, key)
            elif is_spoilt(world.documents[key]):
                people.repair_document(world, key)

    def _letters(self, world: World) -> list[Poison]:
        """The dead letters about issues of a project."""
        return sorted({one for one in world.letters if homes_in([(one.key, "")]) == {world.home}})

    def settle(self) -> None:
        """Every invocation ends, everything is delivered, and the index receives everything."""
        world = self.world
        world.over()
        for here in self.worlds:
            here.splitting = 0.0
        world.drain(self.random.choice(self.consumer_containers))
        if world.memory is not None:
            world.memory.stale(None)
        self.catch_up_with_all()

    def catch_up_with_all(self) -> None:
        """The index receives everything."""
        if self.world.memory is not None:
            self.world.memory.catch_up_with_all()

    def judge(self) -> None:
        """Judge the derived data of each project, and the dead letters."""
        for world in self.worlds:
            if self.catalog(world) is None:
                truth.assert_removed(world)
            else:
                self._judge(world)

    def _judge(self, world: World) -> None:
        underivable = set(self._stuck(world))
        letters = self._letters(world)
        sent = {(letter.key, letter.version) for letter in letters}
        if missing := underivable - sent:
            raise Difference(f"not in the dead letters: {sorted(missing)}")
        for letter in letters:
            had = world.history.get(letter.key, {}).get(letter.version, [])
            if not (
                (letter.version == 0 and letter.key in self.scribbled)
                or (letter.key, letter.version) in world.were_too_large
                or any(map(is_spoilt, had))
            ):
                raise Difference(f"in the dead letters though nothing is wrong with it: {letter}")
        but_for = frozenset(key for key, _ in underivable)
        truth.assert_derived(world, but_for=but_for)
        if (catalog := self.catalog(world)) is not None and not self.scribbled:
            assert_histories(world, catalog)
        for follower in self.followers[world.home]:
            follower.catch_up()
            # The next change of an issue delivers what a repair derived.
            follower.assert_all_delivered(but_for | {letter.key for letter in letters})
        truth.assert_no_work_left(world)

    def _stuck(self, world: World) -> Iterator[tuple[str, int]]:
        """The issues from which nothing can be derived as things are, with the version in their dead letters."""
        catalog = self.catalog(world)
        # An issue that was refused, without a letter, has to be derived in the end: the reason of its write was gone.
        too_large = world.too_large & world.refused & {one[:2] for one in world.letters}
        for key, document in world.documents.items():
            if key in self.scribbled:
                yield key, 0
            elif (key, document["version"]) in too_large or not (
                catalog is None or truth.derivable(catalog, document)
            ):
                yield key, document["version"]

    def catalog(self, world: World | None = None) -> Catalog | None:
        """The definitions of a project as they are now; None when it is deleted."""
        try:
            return (world or self.world).catalog()
        except NotFound:
            return None

    def _moved_since(self, world: World, catalog: Catalog, name: str) -> bool:
        """Whether options were moved since: an older catalog leaves out issues under ranks that it does not know."""
        now = self.catalog(world)
        before, after = catalog.get(name), now.get(name) if now else None
        return before is not None and after is not None and before.options != after.options

    def walk(self) -> None:
        """Walk by some orders that are served."""
        for world in self.worlds:
            self._walk(world)

    def _walk(self, world: World, catalog: Catalog | None = None) -> None:
        """Walk under the present definitions or older ones."""
        catalog = catalog or self.catalog(world)
        if catalog is None or not self._is_shown(world):
            return
        names = [name for name in truth.sortable(catalog) if not self._moved_since(world, catalog, name)]
        for name in self.random.sample(names, min(3, len(names))):
            truth.assert_walk(
                world,
                name,
                descending=world.chance(0.5),
                nulls_first=world.chance(0.5),
                limit=self.random.randint(1, 4),
                catalog=catalog,
            )

    def _is_shown(self, world: World) -> bool:
        """Whether the grid can show all pages: no document has a value that cannot be shown."""
        return not any(self._stuck(world)) and not any(map(is_spoilt, world.documents.values()))

    def _ask_before_the_fold(self) -> None:
        """Changes that wait in journals are in every answer, before blocks have them."""
        weather = self.weather
        if weather.definitions or weather.poison or weather.project_goes:
            return  # the right answers are known only to judges who know that all is done
        for here in self.worlds:
            if here.fold_is_due:
                self.world.totals["asked before the fold"] += 1
                self._walk(here)
                self._ask(here)

    def _ask(self, world: World) -> None:
        """Ask the readers' questions, now that there is one right answer."""
        catalog = self.catalog(world)
        if catalog is not None and self._is_shown(world):
            self.questioners[world.home].ask_in_quiet(catalog, 3)


_FAIR = Weather()
WEATHERS = {
    "stream": _FAIR,
    "poison": replace(_FAIR, poison=True, readers=0, actions=90),
    "crowd": replace(_FAIR, issues=2, crowd=20, edits=2.5, actions=90, shards=1, readers=0, faults=0.1),
    "storm": replace(_FAIR, faults=0.4, splitting=0.4, reordering=0.5, issues=4, readers=0, actions=90),
    "blocks": replace(_FAIR, issues=8, crowd=6, edits=1.5, faults=0.1, readers=0, actions=130),
    "readers": replace(_FAIR, readers=3, faults=0.05, actions=120, issues=5),
    "definitions": replace(_FAIR, definitions=True, readers=1, edits=0.7, actions=110, shards=1),
    "definitions, rough": replace(_FAIR, definitions=True, readers=0, faults=0.35, actions=110, shards=1),
    "definitions and poison": replace(_FAIR, definitions=True, poison=True, readers=0, shards=1),
    "a project goes": replace(_FAIR, project_goes=True, edits=0.7, actions=70, readers=0, shards=1),
}

_FORMULAS = replace(_FAIR, definitions=True, formulas=True, readers=1, actions=110, shards=1)
FORMULA_WEATHERS = {
    "formulas": _FORMULAS,
    "formulas, rough": replace(_FORMULAS, readers=0, faults=0.35),
    "formulas and edits": replace(_FORMULAS, definitions=False, edits=1.5, issues=6),
    "formulas and poison": replace(_FORMULAS, poison=True, readers=0),
}
