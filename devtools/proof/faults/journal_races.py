"""Races about the journal: folds that overlap or die, consumers under whom a number is closed, readers in between."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from random import Random

from devtools.proof.faults import points, races, truth
from devtools.proof.faults.lambdas import Used
from devtools.proof.faults.questions import Questioner
from devtools.proof.faults.races import Book, Race, Scene
from devtools.proof.faults.world import Difference, Run, World, is_block
from gridview.commands.actor import Role
from gridview.journal.items import PATIENCE
from gridview.schema.store import Catalogs

_QUESTIONS = 2
_SIZES = (0, 1, 2)

OVERLAP = "folds overlap"
SAME_BLOCKS = "folds write the same blocks"
UNDERWAY = "a consumer of a journal meets others"
BETWEEN = "all is read between two calls of a fold"
READER = "a fold runs between two calls of a reader"

_Steps = tuple[tuple[str, int], ...]
_FOUR: _Steps = (("create", 1), ("create", 2), ("create", 3), ("create", 4))
_WAITING: _Steps = (("change", 1), ("clear", 2), ("remove", 3), ("create", 5), ("back", 1))


def derived(world: World, steps: _Steps) -> None:
    """Changes that are made and taken in by a batch each."""
    for word, num in steps:
        points.do(world, word, num)
        world.drain(Catalogs())


def _fold(world: World) -> Scene:
    """A fold of several batches, over blocks that were folded before."""
    quiet = races.quiet_drawn(world)
    derived(world, _FOUR)
    world.fold_all()
    derived(world, _WAITING)
    return Scene(quiet, world.fold(Catalogs()))


def _fold_of(before: _Steps, given: _Steps, world: World) -> Scene:
    """A fold of some changes; what was before has been folded, each change by itself."""
    quiet = races.quiet_drawn(world)
    for step in before:
        derived(world, (step,))
        world.fold_all()
    derived(world, given)
    return Scene(quiet, world.fold(Catalogs()))


# Folds overlap


def _another(steps: _Steps, world: World, _: Run) -> None:
    """Others take in some changes, and another fold comes to its end."""
    derived(world, steps)
    world.fold_all()


def _another_dies(steps: _Steps, writes: int, world: World, _: Run) -> None:
    """Another fold takes in the changes since and dies; its last calls land in the end."""
    derived(world, steps)
    other = world.fold(Catalogs())
    points.to_write(world, other, writes)
    if not other.invocation.ended:
        world.kill(other, lands=True)


def _dies(lands: bool, world: World, run: Run) -> None:
    """This one dies, and another folds it all."""
    if not run.invocation.ended:
        world.kill(run, lands=lands)
    world.fold_all()


def _overlap() -> Iterator[Race]:
    manners: tuple[tuple[str, Callable[[World, Run], None]], ...] = (
        ("another is faster", partial(_another, ())),
        (
            "another is faster and goes further",
            partial(_another, (("change", 4), ("restore", 3), ("clear", 1))),
        ),
        ("another dies early", partial(_another_dies, (("change", 4),), 1)),
        ("another dies late", partial(_another_dies, (("change", 4),), 4)),
        ("it dies, and what it sent is lost", partial(_dies, False)),
        ("it dies, and what it sent lands", partial(_dies, True)),
    )
    for size in _SIZES:
        for name, happens in manners:
            yield Race(OVERLAP, f"{name}, blocks of size {size}", _fold, happens, _finish, size=size)


def _finish(world: World, scene: Scene) -> None:
    if not scene.run.invocation.ended:
        world.finish(scene.run)
    scene.quiet.quiet()


# Folds write the same blocks


_FOUR_DAYS: _Steps = (*_FOUR, ("change", 2), ("clear", 3))
_TWO_DAYS: _Steps = (("create", 1), ("change", 1), ("create", 2), ("create", 3))
_TWO_DAYS_AND_NONE: _Steps = (
    ("create", 1),
    ("clear", 1),
    ("create", 2),
    ("change", 2),
    ("create", 3),
    ("create", 4),
)
"""Folded one by one and with blocks of the second size, these make two blocks of `start`, one for each day."""


def _outrun(by_others: _Steps, before: _Steps, given: _Steps, world: World) -> Scene:
    """A fold that has read its blocks, when another writes them.

    From now on, reads without consistency are as old as the blocks that the fold is about to write. Directories are
    listed so.
    """
    scene = _fold_of(before, given, world)
    if world.memory is not None:
        world.memory.stale(lambda _, count: max(count - 1, 0))
    while (call := scene.run.invocation.call) is not None and not (call.writes and is_block(call.key)):
        world.step(scene.run)
    _another(by_others, world, scene.run)
    return scene


def _same_blocks() -> Iterator[Race]:
    one: _Steps = (("change", 1),)
    two: _Steps = (("change", 1), ("back", 2))
    manners: tuple[tuple[str, _Steps, Callable[[World, Run], None], int], ...] = (
        ("another issue comes beside it", one, partial(_another, (("change", 4),)), 0),
        ("another issue leaves", one, partial(_another, (("clear", 2),)), 0),
        ("all others leave", two, partial(_another, (("clear", 4), ("remove", 3), ("clear", 2))), 1),
        ("others come", one, partial(_another, (("change", 4), ("create", 5), ("back", 3))), 1),
        ("others come and leave", two, partial(_another, (("change", 4), ("back", 3), ("clear", 4))), 2),
        ("it is changed again", two, partial(_another, (("back", 1),)), 1),
        ("it is changed again, and the fold of that dies", one, partial(_another_dies, (("back", 1),), 3), 1),
    )
    for name, given, happens, size in manners:
        yield Race(SAME_BLOCKS, name, partial(_fold_of, _FOUR_DAYS, given), happens, _finish, size=size)
    yield Race(
        SAME_BLOCKS,
        "another has written first, and it is removed",
        partial(_outrun, (("change", 4),), _FOUR_DAYS, one),
        partial(_another, (("remove", 1),)),
        _finish,
    )
    yield Race(
        SAME_BLOCKS,
        "the block that it leaves becomes one with that to which it comes",
        partial(_fold_of, _TWO_DAYS, (("back", 1),)),
        partial(_another, (("clear", 2),)),
        _finish,
        size=1,
    )
    yield Race(
        SAME_BLOCKS,
        "an issue comes to the block that is merged into the one before it",
        partial(_fold_of, _TWO_DAYS_AND_NONE, (("clear", 3),)),
        partial(_another, (("change", 1),)),
        _finish,
        size=1,
    )


# A consumer meets others


def _consumer(world: World) -> Scene:
    """A consumer with changes of several issues."""
    scene = races.consumer_of(_FOUR, (("change", 1), ("clear", 2)), world)
    world.fold_all()
    return scene


def _closed(world: World, _: Run) -> None:
    """The fold has waited long enough: it closes the number that the consumer has taken, or completes its item."""
    world.clock.seconds += PATIENCE + 1
    world.fold_all()


def _beaten(steps: _Steps, world: World, _: Run) -> None:
    """Others change the same issues, and all that is folded."""
    races.others(steps, world)
    world.fold_all()


def _underway() -> Iterator[Race]:
    yield Race(UNDERWAY, "its number is closed", _consumer, _closed, _finish)
    yield Race(UNDERWAY, "its issue is changed again", _consumer, partial(_beaten, (("back", 1),)), _finish)
    yield Race(
        UNDERWAY, "its issue is removed", _consumer, partial(_beaten, (("remove", 2),)), _finish, size=1
    )
    for writes in (1, 2, 4):
        yield Race(
            UNDERWAY,
            f"its issue is changed again by one that dies after {writes} writes",
            _consumer,
            partial(races.other_dies, (("back", 1),), writes),
            _finish,
        )


# All is read between two calls of a fold


def _all_is_read(world: World, _: Run) -> None:
    """Each walk shows each issue once, and all answers are the oracle's: the journal has everything."""
    for field in ("start", "kind"):
        truth.assert_walk(world, field, descending=False, nulls_first=False, limit=2)
    questioner = Questioner(world, Catalogs(), Random(world.clock.seconds))  # noqa: S311
    questioner.ask_in_quiet(world.catalog(), _QUESTIONS)


def _between() -> Iterator[Race]:
    for size in _SIZES:
        yield Race(BETWEEN, f"blocks of size {size}", _fold, _all_is_read, _finish, size=size)


# A fold runs between two calls of a reader


def _groups(world: World) -> Scene:
    """A reader counts the issues of each kind; waiting changes are folded meanwhile."""
    quiet = races.quiet_drawn(world)
    derived(world, _FOUR)
    world.fold_all()
    derived(world, _WAITING)
    catalog, viewer = world.catalog(), (world.tenant, "eve", Role.VIEWER)
    used = Used(Catalogs(), catalog)
    asked = {"by": ["kind"], "limit": 500}
    run = world.start(
        "reader",
        lambda table: world.functions(table, used).request(viewer, "POST", f"{world.path}/groups", asked),
        world.check,
    )
    return Scene(quiet, run)


def _counted(world: World, scene: Scene) -> None:
    world.finish(scene.run)
    field = world.catalog().get("kind")
    if field is None:
        raise Difference("the field is gone")
    names = {option.id: option.value for option in field.options}
    expected = Counter(names.get(field.value_in(document)) for document in world.documents.values())
    counts = {one["values"][0]: one["count"] for one in scene.run.invocation.result.body["groups"]}
    if counts != expected:
        raise Difference(
            f"while a fold ran, the issues of each kind were {counts} instead of {dict(expected)}"
        )
    scene.quiet.quiet()


def _readers() -> Iterator[Race]:
    for size in _SIZES:
        yield Race(READER, f"blocks of size {size}", _groups, partial(_another, ()), _counted, size=size)


BOOK = Book(700_000, 100, lambda: chain(_overlap(), _same_blocks(), _underway(), _between(), _readers()))
