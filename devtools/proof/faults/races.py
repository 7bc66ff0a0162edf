"""Scenarios with an event in the middle of an invocation, at a point that is enumerated: before each of its calls.

A race is an invocation, and an event. Its points are the calls that the invocation makes without the event.

Consumers and passes write no blocks, so none of them meets others over a block. Those races are against a fold
(`journal_races`): another issue comes beside the consumer's, others leave or come, or blocks become one under it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, product
from random import Random
from typing import Any, NamedTuple

from devtools.proof.faults import administrators, people, points, truth
from devtools.proof.faults.administrators import Change
from devtools.proof.faults.drawn import Drawn, Weather
from devtools.proof.faults.lambdas import Used
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.project import PROJECT, SMALL, folding, in_memory
from devtools.proof.faults.virtual import Clock, Constants, virtual
from devtools.proof.faults.world import SETTLING, Difference, Run, World, is_block
from gridview.commands import attributes, issues
from gridview.commands.context import WriteContext
from gridview.derive import sort_entries
from gridview.dynamodb.table import Table
from gridview.encoding import keys, sort_strings
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck
from gridview.schema.jobs import Job
from gridview.schema.store import Catalogs
from gridview.support import backoff
from gridview.support.errors import Conflict, IndexBuilding, InvalidRequest

BATCH = 1
"""Issues between two checkpoints of a pass in a race: so a pass over two issues is several steps."""

TWICE_DEFINED = "definitions change during a pass"
OLD_DEFINITIONS = "an invocation began under older definitions"
EDITED = "an issue is edited during a pass"
READ = "a page is read during a pass"
FIRST_VALUE = "an issue gets a value while a page is read"
UNLISTED_BLOCKS = "a pass finds blocks that the index does not list yet"


class Scene(NamedTuple):
    """The world before an invocation makes its first call, who settles it in the end, and that invocation."""

    quiet: Drawn
    run: Run


@dataclass(frozen=True)
class Race:
    """An invocation, and an event before one of its calls.

    `ends` brings the invocation to its end and judges everything.

    `once`: the event is only before the first call, and decides by itself at which call the invocation is stopped.
    `at_writes`: it is only before calls that write.
    """

    family: str
    name: str
    """Also a seed of the race's constants (`project.folding`): a new name is another scenario."""
    begins: Callable[[World], Scene]
    happens: Callable[[World, Run], None]
    ends: Callable[[World, Scene], None]
    once: bool = False
    at_writes: bool = False
    around: Callable[[], AbstractContextManager[None]] = nullcontext
    size: int = 0
    """Which of the sizes of blocks (`project.SMALL`)."""


@dataclass(frozen=True)
class Book:
    """Races, and a seed for each of their points. Those of a race begin at `first` and `most` for each race before it."""

    first: int
    most: int
    found: Callable[[], Iterator[Race]]

    @cached_property
    def races(self) -> tuple[Race, ...]:
        """All of them, in their order."""
        return tuple(self.found())

    @cached_property
    def points(self) -> tuple[int, ...]:
        """The seeds of every point of every race: the calls that its invocation makes when nothing happens meanwhile."""
        return tuple(
            self.first + place * self.most + call
            for place, race in enumerate(self.races)
            for call in (range(1) if race.once else _calls_of(race))
        )

    def race_of(self, seed: int) -> Race:
        """The race that a seed plays a point of."""
        return self.races[(seed - self.first) // self.most]

    def play(self, world: World, seed: int) -> None:
        """Play one point, and judge the result."""
        race, call = self.race_of(seed), (seed - self.first) % self.most
        world.note("-- {}; before call {}", race.name, call)
        with race.around():
            scene = race.begins(world)
            for _ in range(call):
                world.step(scene.run)
            race.happens(world, scene.run)
            race.ends(world, scene)


def constants_of(race: Race) -> Constants:
    """Constants that are smaller in it than in production."""
    return {"maintenance.job_worker.BATCH": BATCH, **folding(race.name), **SMALL[race.size]}


def _calls_of(race: Race) -> list[int]:
    """The places of the calls that the invocation of a race makes, or only of its writes."""
    clock, place = Clock(), 0
    calls: list[int] = []
    with virtual(clock, 0, constants_of(race)), race.around():
        table, tenant = in_memory(0)
        world = World(Random(0), clock, table, tenant, PROJECT)  # noqa: S311
        run = race.begins(world).run
        while (call := run.invocation.call) is not None:
            calls += [place] if call.writes or not race.at_writes else []
            place += 1
            world.step(run)
    return calls


# The parts of a race

_ONE_ISSUE = (("create", 1),)
_TWO_ISSUES = (("create", 1), ("create", 2), ("change", 2))
_THREE_ISSUES = (("create", 1), ("create", 2), ("create", 3), ("change", 2), ("clear", 3))


def quiet_drawn(world: World) -> Drawn:
    """A scenario in which nothing happens by itself."""
    return Drawn(world, Weather(shards=1, lag=False, stale=False, splitting=0, reordering=0, readers=0))


def _written(world: World, *steps: tuple[str, int]) -> Drawn:
    """The world when these issues have been written and derived."""
    quiet = quiet_drawn(world)
    for word, num in steps:
        points.do(world, word, num)
    world.drain(Catalogs())
    return quiet


def _change(world: World, change: Change) -> None:
    world.clock.seconds += 1
    change(world, world.table)


def _pass(world: World, *changes: Change, steps: tuple[tuple[str, int], ...] = _TWO_ISSUES) -> Scene:
    """The pass that makes some changes of definitions true, about to begin."""
    quiet = _written(world, *steps)
    for change in changes:
        _change(world, change)
    world.pass_time(SETTLING)
    return Scene(quiet, administrators.upkeep(world, Catalogs()))


def _finish(world: World, scene: Scene) -> None:
    world.finish(scene.run)
    scene.quiet.quiet()


_on_note = points.patched("note", indexed=True)
_off_start = points.patched("start", indexed=False)
_on_start = points.patched("start", indexed=True)
_move_kind = points.patched("kind", options=["c", "b", "a"])
_move_kind_again = points.patched("kind", options=["b", "c", "a"])
_delete_kind = points.deleted("kind")


def _create_kind(world: World, table: Table) -> None:
    """An attribute with the id of one that was deleted: its id may be taken yet."""
    body = {"name": "Kind", "id": "kind", "type": "text"}
    with suppress(Conflict, IndexBuilding):
        attributes.create_attribute(table, Catalogs(), world.admin, world.project, body)


def _delete_and_create_kind(world: World, table: Table) -> None:
    _delete_kind(world, table)
    _create_kind(world, table)


# Definitions change during a pass


def _twice(name: str, first: Change, second: Change) -> Race:
    def happens(world: World, _: Run) -> None:
        _change(world, second)

    return Race(TWICE_DEFINED, name, lambda world: _pass(world, first), happens, _finish, size=2)


def _edited_too(change: Change, world: World, _: Run) -> None:
    """Definitions change, an issue is edited and derived by them, and edited once more."""
    _change(world, change)
    points.do(world, "change", 1)
    world.drain(Catalogs())
    points.do(world, "back", 1)


def _created_again(world: World, scene: Scene) -> None:
    """In the end the id is free, and nothing of the attribute that had it is found under it."""
    _finish(world, scene)
    _create_kind(world, world.table)
    scene.quiet.judge()
    truth.assert_walk(world, "kind", descending=False, nulls_first=False, limit=2)


def _twice_defined() -> Iterator[Race]:
    yield _twice("off, then another on", _off_start, _on_note)
    yield _twice("off and on", _off_start, _on_start)
    yield _twice("moved and moved again", _move_kind, _move_kind_again)
    yield _twice("rebuilt and rebuilt again", points.rebuilt, points.rebuilt)
    yield _twice("deleted, and the project too", _delete_kind, points.project_deleted)
    yield Race(
        TWICE_DEFINED,
        "off, then another on, and an issue is edited twice",
        lambda world: _pass(world, _off_start),
        partial(_edited_too, _on_note),
        _finish,
    )
    yield Race(
        TWICE_DEFINED,
        "deleted, and created with the same id",
        lambda world: _pass(world, _delete_kind),
        lambda world, _: _change(world, _create_kind),
        _created_again,
    )
    yield Race(
        TWICE_DEFINED,
        "on, and another is deleted and created with the same id",
        lambda world: _pass(world, _on_note),
        lambda world, _: _change(world, _delete_and_create_kind),
        _created_again,
    )


# An invocation began under older definitions


def _old_consumer(world: World) -> Scene:
    """A consumer that is given the change of an issue; what it was before has been derived."""
    quiet = _written(world, *_TWO_ISSUES)
    points.do(world, "change", 1)
    (shard,) = world.stream.shards
    run, _ = world.deliver(shard, 10, Catalogs(), bisects=False)
    return Scene(quiet, run)


def _old_command(world: World, container: Catalogs, *, new: bool) -> Scene:
    """A request to a container whose catalog is nearly as old as it may be when the request begins."""
    quiet = _written(world, *_TWO_ISSUES)
    container.reload(world.engine, world.tenant, world.project)
    world.clock.seconds += 4.9
    fields = {"start": "2023-06-01", "kind": "c", "tags": ["y"], "note": "n"}

    method, path, name = ("POST", "/issues", {"name": "late"}) if new else ("PATCH", "/issues/1", {})
    asked = {**name, "fields": fields}
    return Scene(quiet, people.ask(world, container, "write by what was known", "bob", method, path, asked))


def _changed_meanwhile(change: Change, world: World, _run: Run) -> None:
    """Definitions change, others learn of it at once, and the work that is due in the next seconds is done."""
    change(world, world.table)
    (shard,) = world.stream.shards
    for record in shard.records[: shard.settled]:
        world.finish(world.deliver_beside([record], Catalogs()))
    for _ in range(3):
        world.finish(administrators.upkeep(world, Catalogs()))
        world.clock.seconds += 10


def _old_definitions() -> Iterator[Race]:
    changes = {
        "on": _on_note,
        "off": _off_start,
        "moved": _move_kind,
        "deleted": _delete_kind,
        "rebuilt": points.rebuilt,
    }
    for name, change in changes.items():
        happens = partial(_changed_meanwhile, change)
        yield Race(OLD_DEFINITIONS, f"a consumer, {name}", _old_consumer, happens, _finish)
    for (name, change), new in product(changes.items(), (True, False)):
        yield _by_a_command(name, change, new=new)


def _by_a_command(name: str, change: Change, *, new: bool) -> Race:
    container = Catalogs()

    def begins(world: World) -> Scene:
        container.forget(world.tenant, world.project)
        return _old_command(world, container, new=new)

    def ends(world: World, scene: Scene) -> None:
        world.finish(scene.run)
        scene.quiet.settle()
        scene.quiet.work_off()
        # The same container, long after: all that it remembers is too old.
        fields = {"start": "2023-07-01", "kind": "b"}

        def written(catalog: Catalog, epoch: EpochCheck) -> Any:
            return issues.update_issue(
                WriteContext(world.table, catalog, people.writer(world, "bob"), epoch=epoch),
                2,
                {"fields": fields},
                None,
            )

        with suppress(InvalidRequest):
            container.using(world.table, world.tenant, world.project, written)
        scene.quiet.quiet()

    what = "create" if new else "update"
    return Race(
        OLD_DEFINITIONS, f"a command ({what}), {name}", begins, partial(_changed_meanwhile, change), ends
    )


# An issue is edited during a pass


_EDITS: dict[str, dict[str, Any] | None] = {
    "changed": {"start": "2023-05-02", "kind": "b"},
    "cleared": {"start": None, "kind": None},
    "removed": None,
}


def _edit(word: str, world: World, _: Run | None = None) -> None:
    """A user who knows the present definitions changes or removes issue 1."""
    catalog = world.catalog()
    fields = _EDITS[word]
    if fields is None:
        issues.delete_issue(WriteContext(world.table, catalog, people.writer(world, "bob")), 1, None)
    else:
        issues.update_issue(
            WriteContext(world.table, catalog, people.writer(world, "bob")), 1, {"fields": fields}, None
        )


def _derived_at_once(word: str, world: World, _: Run) -> None:
    _edit(word, world)
    world.drain(Catalogs())


def _folded_at_once(word: str, world: World, run: Run) -> None:
    _derived_at_once(word, world, run)
    world.fold_all()


def _derived_halfway(word: str, world: World, _run: Run) -> None:
    """The consumer has a number and has written its intent; it goes on when the pass is over."""
    _edit(word, world)
    (shard,) = world.stream.shards
    run, _ = world.deliver(shard, 10, Catalogs(), bisects=False)
    run.invocation.to_next_write()
    for _ in range(3):
        world.step(run)
    world.settle_ended(run)


def _gets_on(world: World, scene: Scene) -> None:
    """One edit does not hold up a pass: it comes to its end in the same invocation."""
    world.finish(scene.run)
    stored = world.engine.get(keys.project(world.tenant, world.project), keys.JOB, consistent=True)
    if stored is not None and Job.from_item(stored).last is not None:
        raise Difference(f"one edit has stopped a pass at {Job.from_item(stored)}")
    scene.quiet.quiet()


def _repairs_die(world: World, run: Run) -> None:
    """At each attempt of the pass at an issue a repair is faster, and dies over it. Nothing repeats the repair."""
    key = keys.issue(world.tenant, world.project, 1)
    for _ in range(backoff.ATTEMPTS):
        while run.invocation.call is not None and "intent" not in (run.invocation.call.item or {}):
            world.step(run)
        repair = people.repair(world, key, Catalogs())
        repair.invocation.to_next_write()
        world.step(repair)
        world.kill(repair, lands=False)
        world.step(run)


def _much(world: World) -> Scene:
    return _pass(world, points.deleted("tags"), _on_note, _move_kind, steps=_ONE_ISSUE)


def _edited() -> Iterator[Race]:
    for word, name, manner in (
        ("changed", "derived at once", _derived_at_once),
        ("changed", "derived halfway", _derived_halfway),
        ("changed", "derived later", _edit),
        ("changed", "folded at once", _folded_at_once),
        ("cleared", "derived at once", _derived_at_once),
        ("removed", "derived at once", _derived_at_once),
        ("removed", "derived halfway", _derived_halfway),
    ):
        yield Race(EDITED, f"{word}, {name}", _much, partial(manner, word), _gets_on, size=1)
    one_off = partial(_pass, steps=_ONE_ISSUE)
    yield Race(
        EDITED, "repairs die", lambda world: one_off(world, _off_start), _repairs_die, _finish, once=True
    )


# Consumers, for the races about the journal


_Steps = tuple[tuple[str, int], ...]


def consumer_of(before: _Steps, given: _Steps, world: World) -> Scene:
    """A consumer that is given some changes; what was before has been derived."""
    quiet = quiet_drawn(world)
    for word, num in before:
        points.do(world, word, num)
        world.drain(Catalogs())
    for word, num in given:
        points.do(world, word, num)
    (shard,) = world.stream.shards
    run, _ = world.deliver(shard, 10, Catalogs(), bisects=False)
    return Scene(quiet, run)


def others(steps: _Steps, world: World, _: Run | None = None) -> None:
    """Other changes are made and derived, each by itself."""
    for word, num in steps:
        points.do(world, word, num)
        (shard,) = world.stream.shards
        world.finish(world.deliver_beside(shard.records[-1:], Catalogs()))


def other_dies(steps: _Steps, writes: int, world: World, _: Run) -> None:
    """Another consumer derives a change and dies after some writes; its last calls land in the end."""
    for word, num in steps:
        points.do(world, word, num)
    (shard,) = world.stream.shards
    run = world.deliver_beside(shard.records[-1:], Catalogs())
    points.to_write(world, run, writes)
    if not run.invocation.ended:
        world.kill(run, lands=True)


# A page is read during a pass


def _read(field: str, world: World, run: Run) -> None:
    """A page is begun, the pass comes to its end, all is folded, and the page is shown: it has each issue once."""
    for descending, limit in product((False, True), (10, 1)):
        truth.assert_walk(world, field, descending=descending, nulls_first=descending, limit=limit)
    descending = world.chance(0.5)
    direction, nulls = ("desc", "first") if descending else ("asc", "last")
    asked = {"limit": 10, "sort": [{"field": field, "direction": direction, "nulls": nulls}]}
    catalog = world.catalog()

    page = _reader(world, catalog, asked)
    world.step(page)
    world.finish(run)
    world.fold_all()
    world.finish(page)
    shown = page.invocation.result.body
    truth.assert_page(world, catalog, asked, shown)
    found = sorted(row["num"] for row in shown["rows"])
    if found != sorted(document["num"] for document in world.documents.values()):
        raise Difference(f"a page that was read during a pass shows {found}: {asked}")


def _page(name: str, field: str, change: Change, size: int = 0) -> Race:
    begins = partial(_pass, steps=_THREE_ISSUES)
    return Race(READ, name, lambda world: begins(world, change), partial(_read, field), _finish, size=size)


_NULLS_FIRST = {"limit": 10, "sort": [{"field": "start", "direction": "asc", "nulls": "first"}]}


def _page_with_nulls_first(world: World) -> Scene:
    """A page that shows the issues without a value, and then those with one."""
    quiet = _written(world, *_THREE_ISSUES)
    catalog = world.catalog()
    return Scene(quiet, _reader(world, catalog, _NULLS_FIRST))


def _reader(world: World, catalog: Catalog, asked: Mapping[str, Any]) -> Run:
    """A request of a page, to a container with these definitions."""
    used = Used(Catalogs(), catalog)
    return world.start(
        "reader",
        lambda table: world.functions(table, used).grid(world.tenant, world.path, asked),
        world.check,
    )


def _first_value(world: World, page: Run) -> None:
    """An issue gets its first value.

    It may be missing from a page that is being read just then; the page has all others.
    """
    edited = 3
    being_read = page.invocation.done > 0
    points.do(world, "back", edited)
    world.drain(Catalogs())
    world.finish(page)
    shown = page.invocation.result.body
    truth.assert_page(world, world.catalog(), _NULLS_FIRST, shown)
    found = sorted(row["num"] for row in shown["rows"])
    if found != [1, 2, edited] and not (being_read and found == [1, 2]):
        raise Difference(f"a page that was read while an issue got a value shows {found}")


@contextmanager
def _another_spec() -> Iterator[None]:
    """Sort strings may be written otherwise from some moment on: the next version of the core is deployed."""
    before, known = sort_strings.SPEC_VERSION, sort_entries.SPECS
    otherwise = {kind: _otherwise(body) for kind, body in known[before].items()}
    vars(sort_entries)["SPECS"] = {**known, before + 1: otherwise}
    try:
        yield
    finally:
        vars(sort_entries)["SPECS"] = known
        vars(sort_strings)["SPEC_VERSION"] = before


def _otherwise(body: sort_entries.Body) -> sort_entries.Body:
    return lambda field, value: "~" + body(field, value)


def _rebuilt_by_the_next_version(world: World) -> Scene:
    """The second rebuild of an index; in between the specification has changed."""
    quiet = _written(world, *_THREE_ISSUES)
    _change(world, points.rebuilt)
    quiet.work_off()
    vars(sort_strings)["SPEC_VERSION"] += 1
    _change(world, points.rebuilt)
    world.pass_time(SETTLING)
    return Scene(quiet, administrators.upkeep(world, Catalogs()))


def _pages() -> Iterator[Race]:
    yield _page("options are moved", "kind", _move_kind)
    yield _page("an index is rebuilt", "start", points.rebuilt)
    yield Race(
        READ,
        "an index is rebuilt by the next version",
        _rebuilt_by_the_next_version,
        partial(_read, "start"),
        _finish,
        around=_another_spec,
    )
    yield Race(FIRST_VALUE, "nulls first", _page_with_nulls_first, _first_value, _finish)


def _pages_of_several_blocks() -> Iterator[Race]:
    """An issue that is moved goes from one block to another, and for a moment it is in both."""
    for size in (1, 2, 3):
        yield _page(f"options are moved, size {size}", "kind", _move_kind, size)


# The index lags a pass


def _split_unlisted(world: World) -> Scene:
    """The pass that removes an order, whose blocks the index does not list yet."""
    quiet = quiet_drawn(world)
    for word, num in _THREE_ISSUES:
        points.do(world, word, num)
    if world.memory is not None:
        world.memory.lag()
    world.drain(Catalogs())
    world.fold_all()
    _change(world, _off_start)
    world.pass_time(SETTLING)
    if world.memory is not None:
        _index_all_but_blocks(world.memory)
    return Scene(quiet, administrators.upkeep(world, Catalogs()))


def _index_all_but_blocks(memory: MemoryTable) -> None:
    for key in memory.waiting:
        while key in memory.waiting and not is_block(key):
            memory.catch_up(key)


def _lagging() -> Iterator[Race]:
    yield Race(
        UNLISTED_BLOCKS,
        "an order is removed",
        _split_unlisted,
        lambda world, run: world.finish(run),
        _finish,
        once=True,
    )


BOOK = Book(
    600_000,
    1_000,
    lambda: chain(
        _twice_defined(), _old_definitions(), _edited(), _pages(), _pages_of_several_blocks(), _lagging()
    ),
)
