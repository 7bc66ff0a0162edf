"""Races of repairs: blocks and columns are damaged by hand, and `fsck --repair` meets folds, edits and other repairs.

A repair that reports nothing left over leaves nothing that a check finds. Once all is quiet, a second one repairs the rest.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from itertools import chain, product
from typing import NamedTuple

from devtools.proof.faults import chains_truth, columns_truth, races, truth
from devtools.proof.faults.drawn import Drawn
from devtools.proof.faults.journal_races import derived
from devtools.proof.faults.races import Book, Race, Scene
from devtools.proof.faults.world import Difference, Run, World
from gridview.chains import blocks
from gridview.chains.blocks import HEAD, Block, BlockChange
from gridview.chains.column_pages import BITS, ColumnPage
from gridview.chains.column_totals import ColumnTotal
from gridview.derive.families import NUMBERS
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.sort_strings import sort_string
from gridview.fsck.checker import Check
from gridview.fsck.progress import BY_NUMBER, COLUMN, JOURNAL, Finding, Tally, Visit
from gridview.fsck.repairs import Repairs
from gridview.fsck.walks import TableWalk
from gridview.journal.log import Log
from gridview.schema.store import Catalogs
from gridview.support.errors import Overloaded

_SIZES = (0, 1)

REPAIR = "a repair meets others"
REPAIRED = "a fold meets a repair"
REMADE = "a column is made again"

_Steps = tuple[tuple[str, int], ...]
_MADE: _Steps = (("create", 1), ("create", 2), ("create", 3), ("create", 4), ("change", 2), ("change", 3))
_ISSUE = 1
_WITH_COST = 2


class Report(NamedTuple):
    """The report of a check or a repair."""

    findings: list[Finding]
    tally: Tally

    @property
    def clean(self) -> bool:
        """Whether it left nothing over, as far as it says."""
        return not self.tally.wrong and not self.tally.unsettled


# Damage


def _items(world: World, family: str) -> list[Item]:
    """The blocks of a family, in the order of their fences."""
    return list(world.engine.query_all(derived_keys.directory(*world.home, family), index=True, paths=None))


def _family(world: World, field: str) -> str:
    if field == NUMBERS:
        return NUMBERS
    found = world.catalog().get(field)
    if found is None or found.served is None:
        raise Difference(f"{field} has no index")
    return found.served.order_id


def _blocks(world: World, family: str) -> list[Block]:
    directory = derived_keys.directory(*world.home, family)
    listed = [derived_keys.parse_block_id(item[keys.PK]) for item in _items(world, family)]
    stored = [
        world.engine.get(derived_keys.block(*world.home, family, one), directory, consistent=True)
        for one in listed
    ]
    return [Block.from_item(item) for item in stored if item is not None]


def _holding(world: World, family: str) -> Block:
    return next(block for block in _blocks(world, family) if _ISSUE in block.members)


def _key_in(world: World, block: Block) -> str:
    if block.sets is not None:
        return next(sort_string(body, _ISSUE) for body, held in block.sets.items() if _ISSUE in held)
    entry = world.engine.get(
        keys.issue(*world.home, _ISSUE), derived_keys.order(*world.home, block.family), consistent=True
    )
    return str((entry or {})[keys.SORT])


def _lacks(world: World, family: str) -> None:
    """A block has lost an issue."""
    block = _holding(world, family)
    key = _key_in(world, block)
    world.engine.put(blocks.changed(block, BlockChange(remove=frozenset({key}))).to_item(*world.home))


def _stray(world: World, family: str) -> None:
    """Each block that an issue is not in has it."""
    for block in _blocks(world, family):
        body = next(iter(block.sets), None) if block.sets is not None else None
        key = blocks.some_key(block, body, _ISSUE)
        if key is not None and _ISSUE not in block.members and block.size:
            world.engine.put(blocks.changed(block, BlockChange(add=frozenset({key}))).to_item(*world.home))


def _unreadable(world: World, family: str) -> None:
    """A block cannot be read."""
    block = _holding(world, family)
    world.engine.put({**block.to_item(*world.home), "set": b"\x07"})


def _gone(world: World, family: str) -> None:
    """A block is gone."""
    block = _holding(world, family)
    _delete(world, family, block.id)


def _first_gone(world: World, family: str) -> None:
    """The first block of a chain is gone."""
    _delete(world, family, HEAD)


def _delete(world: World, family: str, block_id: str) -> None:
    world.engine.delete(
        derived_keys.block(*world.home, family, block_id), derived_keys.directory(*world.home, family)
    )
    world.blocks[family].pop(block_id, None)


def _pages(world: World) -> tuple[str, list[Item]]:
    """The column of the costs: its family and its pages. From now on pages and totals may differ from the journal."""
    world.watch_page = lambda *_: None
    world.watch_totals = lambda *_: None
    family = _family(world, "cost")
    return family, list(world.engine.query_all(derived_keys.column(*world.home, family), consistent=True))


def _page_gone(world: World, _: str) -> None:
    """The page of a column is gone."""
    for item in _pages(world)[1]:
        world.engine.delete(item[keys.PK], item[keys.SK])


def _page_wrong(world: World, _: str) -> None:
    """A page has another number of an issue, and one of an issue that has none."""
    for item in _pages(world)[1]:
        page = ColumnPage.from_item(item)
        wrong = page.changed({_WITH_COST: Decimal(99), _ISSUE: Decimal(1)}, page.position)
        world.engine.put(wrong.to_item(*world.home))


def _page_unreadable(world: World, _: str) -> None:
    """A page cannot be read."""
    for item in _pages(world)[1]:
        world.engine.put({**item, BITS: b"\x07"})


def _page_stray(world: World, _: str) -> None:
    """Among the pages is an item whose key is none of a page."""
    for item in _pages(world)[1]:
        world.engine.put({**item, keys.SK: "stray"})


def _total_wrong(world: World, _: str) -> None:
    """The total is not the sum of the pages."""
    family = _pages(world)[0]
    log = Log(world.engine, *world.home)
    known = log.totals()
    log.put_totals(known._replace(by_family={**known.by_family, family: ColumnTotal(9, Decimal(9))}), known)


_DAMAGE_TO_COLUMNS: tuple[Callable[[World, str], None], ...] = (
    _page_gone,
    _page_wrong,
    _page_unreadable,
    _page_stray,
    _total_wrong,
)
_DAMAGE: tuple[Callable[[World, str], None], ...] = (_lacks, _stray, _unreadable, _gone, _first_gone)


# Repairs


def _checked(table: Table, world: World, family: str, *, repair: bool) -> Report:
    """A check of the journal and of one family, which may repair; it tries again where the table is busy."""
    findings: list[Finding] = []
    what = BY_NUMBER if family == NUMBERS else family
    visits = [Visit(*world.home, JOURNAL), Visit(*world.home, family), Visit(*world.home, what)]
    tally = Tally(visits=list(dict.fromkeys(visits[1:])))
    repairs = Repairs(table, Catalogs()) if repair else None
    if repairs is not None:
        tally.visits.insert(0, visits[0])
    check = Check(table, TableWalk(table, 0), findings.append, patience=0, repair=repairs, tally=tally)
    refusals = 0
    while not check.done:
        tally.visits[:] = [visit for visit in tally.visits if visit.what in (JOURNAL, family, what, COLUMN)]
        try:
            check.step()
        except Overloaded:
            refusals += 1
            if refusals == 20:
                raise
    return Report(findings, tally)


def _repair(world: World, family: str) -> Run:
    """`fsck --repair`, about to begin."""

    def ended(run: Run) -> None:
        if not isinstance(run.invocation.raised, Overloaded):
            world.check(run)

    return world.start("repair", lambda table: _checked(table, world, family, repair=True), ended)


def _damaged(field: str, damage: Callable[[World, str], None], world: World) -> Scene:
    """A repair of blocks that were folded and then damaged; some changes wait for the fold."""
    quiet = _scene(world, field, damage)
    return Scene(quiet, _repair(world, _family(world, field)))


def _scene(world: World, field: str, damage: Callable[[World, str], None]) -> Drawn:
    quiet = races.quiet_drawn(world)
    derived(world, _MADE)
    world.fold_all()
    world.watch_blocks = lambda *_: None  # damaged blocks differ from the journal
    damage(world, _family(world, field))
    derived(world, (("clear", 3),))
    return quiet


# Events meanwhile


def _edits(steps: _Steps, world: World, _: Run) -> None:
    derived(world, steps)


def _edits_and_folds(steps: _Steps, world: World, _: Run) -> None:
    derived(world, steps)
    _fold(world)


def _fold(world: World) -> None:
    """A fold, which may stop at a gap."""
    world.finish(world.fold(Catalogs()))


def _another(field: str, world: World, _: Run) -> None:
    world.finish(_repair(world, _family(world, field)))
    derived(world, (("change", 4),))
    _fold(world)


def _dies(lands: bool, field: str, world: World, run: Run) -> None:
    """It dies; others fold and repair; then its last calls arrive."""
    if not run.invocation.ended:
        world.kill(run, lands=lands)
    _another(field, world, run)
    for late in list(world.late):
        world.land(late)


def _begun_fold(calls: int, _: str, world: World, run: Run) -> None:
    """A fold begins and comes to a stop before one of its calls. The repair ends, and so does the fold."""
    fold = world.fold(Catalogs())
    for _call in range(calls):
        if not fold.invocation.ended:
            world.step(fold)
    if not run.invocation.ended:
        world.finish(run)
    if not fold.invocation.ended:
        world.finish(fold)


def _ends(field: str, world: World, scene: Scene) -> None:
    run = scene.run
    if not run.invocation.ended:
        world.finish(run)
    family = _family(world, field)
    report = run.invocation.result if run.kind == "repair" else None
    for late in list(world.late):
        world.land(late)
    world.drain(Catalogs())
    if isinstance(report, Report) and report.clean:
        world.fold_all()
        _assert_nothing_found(world, family, "after a repair that left nothing over, ")
    second = _repair(world, family)
    world.finish(second)
    if second.invocation.raised is not None or not second.invocation.result.clean:
        raise Difference(f"a repair in quiet reports {second.invocation.result or second.invocation.raised}")
    world.fold_all()
    _assert_nothing_found(world, family, "after a repair in quiet, ")
    world.watch_blocks = chains_truth.watch_blocks
    world.watch_page, world.watch_totals = columns_truth.watch_page, columns_truth.watch_totals
    truth.assert_derived(world)
    world.letters.clear()  # of blocks that could not be read
    scene.quiet.quiet()


def _assert_nothing_found(world: World, family: str, when: str) -> None:
    report = _checked(world.engine, world, family, repair=False)
    if report.findings or not report.clean:
        raise Difference(f"{when}a check reports {report}")


_MANNERS: tuple[tuple[str, Callable[[str, World, Run], None]], ...] = (
    ("its issue is edited", lambda _, world, run: _edits((("name", _ISSUE),), world, run)),
    ("its issue moves", lambda _, world, run: _edits((("change", _ISSUE),), world, run)),
    ("its issue moves, folded", lambda _, world, run: _edits_and_folds((("change", _ISSUE),), world, run)),
    ("others move, folded", lambda _, world, run: _edits_and_folds((("back", 2), ("change", 4)), world, run)),
    ("it goes and comes back", lambda _, w, run: _edits_and_folds((("remove", 1), ("restore", 1)), w, run)),
    ("another repair is faster", _another),
    ("it dies, and what it sent is lost", partial(_dies, False)),
    ("it dies, and what it sent lands", partial(_dies, True)),
    ("a fold begins and ends behind it", partial(_begun_fold, 8)),
)


def _meets() -> Iterator[Race]:
    for place, ((name, happens), damage) in enumerate(product(_MANNERS, _DAMAGE)):
        yield _race(REPAIR, "start", name, damage, partial(happens, "start"), (place + place // 5) % 2)
    for name, happens in _MANNERS[:5]:
        yield _race(REPAIR, NUMBERS, name, _lacks, partial(happens, NUMBERS), 0)


def _race(
    family: str,
    field: str,
    name: str,
    damage: Callable[[World, str], None],
    happens: Callable[[World, Run], None],
    size: int,
) -> Race:
    title = f"{damage.__name__.strip('_').replace('_', ' ')} in {field}, {name}, blocks of size {size}"
    begins = _damaged if family == REPAIR else _folding
    return Race(family, title, partial(begins, field, damage), happens, partial(_ends, field), size=size)


def _folding(field: str, damage: Callable[[World, str], None], world: World) -> Scene:
    """A fold of waiting changes, over damaged blocks."""
    quiet = _scene(world, field, damage)
    derived(world, (("change", _ISSUE), ("back", 2)))
    return Scene(quiet, world.fold(Catalogs()))


def _repaired(field: str, world: World, _: Run) -> None:
    world.finish(_repair(world, _family(world, field)))


def _folds() -> Iterator[Race]:
    for damage, size in product(_DAMAGE, _SIZES):
        yield _race(REPAIRED, "start", "a repair is faster", damage, partial(_repaired, "start"), size)


def _ends_of_a_column(world: World, scene: Scene) -> None:
    """As `_ends`. A repair that died may have taken a number of the journal: the fold first waits until it is empty."""
    if not scene.run.invocation.ended:
        world.finish(scene.run)
    for late in list(world.late):
        world.land(late)
    world.drain(Catalogs())
    world.fold_all()
    _ends(NUMBERS, world, scene)


def _remaking(damage: Callable[[World, str], None], world: World) -> Scene:
    """A fold of a request to make the pages of a column again, and of waiting changes."""
    quiet = _scene(world, NUMBERS, damage)
    Log(world.table, *world.home).ask_remakes(_family(world, "cost"), [0])
    derived(world, (("change", _ISSUE), ("back", 2)))
    return Scene(quiet, world.fold(Catalogs()))


def _remade() -> Iterator[Race]:
    """Repairs of columns, and folds that carry them out: killed at each call, and beside edits, folds and repairs."""
    manners = {name: happens for name, happens in _MANNERS if name in _MANNERS_OF_COLUMNS}
    for place, (damage, (name, happens)) in enumerate(product(_DAMAGE_TO_COLUMNS, manners.items())):
        title = f"{damage.__name__.strip('_').replace('_', ' ')}, {name}"
        meets, size = partial(happens, NUMBERS), place % 2
        for by, begins in (
            ("a repair", partial(_damaged, NUMBERS, damage)),
            ("a fold", partial(_remaking, damage)),
        ):
            yield Race(REMADE, f"{title}, {by}", begins, meets, _ends_of_a_column, at_writes=True, size=size)


_MANNERS_OF_COLUMNS = (
    "its issue moves, folded",
    "another repair is faster",
    "it dies, and what it sent is lost",
    "it dies, and what it sent lands",
)

BOOK = Book(800_000, 1_000, lambda: chain(_meets(), _folds(), _remade()))
