"""The check of blocks: it finds all faults and no transient state, and its repair fixes them."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.commands import attributes
from gridview.derive.families import families_of
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.metering import Meter
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.fsck import block_ranges, chain_check, chain_visits, checker
from gridview.fsck.block_membership import BlockMembership, SuspectKey
from gridview.fsck.chain_visits import Visits
from gridview.fsck.checker import Check
from gridview.fsck.definitions import Definitions
from gridview.fsck.issue_diff import DifferenceKind
from gridview.fsck.progress import RESTLESS, Finding, Tally, Visit
from gridview.fsck.repairs import Repairs
from gridview.fsck.walks import IssueWalk
from gridview.maintenance.job_worker import Worker
from gridview.schema.items import to_item
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.errors import Overloaded
from tests.support import block_damage, damage
from tests.support.block_damage import PLANTED_IN_BLOCKS, PlantedInBlocks
from tests.support.block_truth import assert_chains
from tests.support.damage import PROJECT, TENANT, catalog_of, key_of
from tests.support.depth import one_of
from tests.unit.fsck.conftest import Time
from tests.unit.fsck.test_checker import PATIENCE, People, never, repairs_on, the_project, the_table

pytestmark = pytest.mark.usefixtures("time", "no_pauses")

ISSUES = 36
WALKS = pytest.mark.parametrize("walk", [the_project, the_table])


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    block_damage.small_blocks(monkeypatch)
    monkeypatch.setattr(chain_check, "PIECE", 3)
    monkeypatch.setattr(chain_check, "SLICE", 25)
    monkeypatch.setattr(chain_visits, "_WINDOW", 30)
    monkeypatch.setattr(block_ranges, "BLOCKS", 10)


@pytest.fixture(scope="module")
def pristine() -> Iterator[MemoryTable]:
    with pytest.MonkeyPatch.context() as patch:
        block_damage.small_blocks(patch)
        table = MemoryTable()
        damage.make_project(table)
        damage.add_issues(table, ISSUES)
        yield table


@pytest.fixture
def table(pristine: MemoryTable) -> MemoryTable:
    return pristine.copy()


def documents(table: MemoryTable) -> list[Item]:
    partition = keys.project(TENANT, PROJECT)
    return [
        item for (pk, sk), item in table.items.items() if pk.startswith(keys.ISSUE_PREFIX) and sk == partition
    ]


def assert_right(table: MemoryTable) -> None:
    assert_chains(table, catalog_of(table), documents(table))


def kinds(found: dict[str, list[Finding]]) -> set[DifferenceKind]:
    return {one.kind for findings in found.values() for finding in findings for one in finding.differences}


def checked(
    table: Table, walk: IssueWalk, time: Time, *, repair: Repairs | None = None, at_most: int = 100
) -> tuple[dict[str, list[Finding]], Tally]:
    """The findings, by issue and block; a block may be reported again for another slice of its numbers."""
    found: dict[str, list[Finding]] = defaultdict(list)
    check = Check(
        table,
        walk,
        lambda finding: found[finding.key].append(finding),
        patience=PATIENCE,
        at_most=at_most,
        repair=repair,
    )
    steps = 0
    while not check.done:
        if (instant := check.waits_until) is not None:
            time.wait_until(instant)
        with suppress(Overloaded):
            check.step()
        steps += 1
        assert steps < 10_000
    return found, check.tally


@WALKS
def test_sound_blocks_have_no_differences(
    table: MemoryTable, walk: Callable[[Table], IssueWalk], time: Time
) -> None:
    assert_right(table)
    found, tally = checked(table, walk(table), time)
    assert found == {}
    assert (tally.issues, tally.visits) == (ISSUES, [])
    assert time.seconds == 0


@pytest.mark.parametrize("planted", PLANTED_IN_BLOCKS[:: one_of(6)], ids=lambda one: one.name)
def test_all_that_is_wrong_with_blocks_is_found_and_repaired_in_one_run(
    table: MemoryTable, planted: PlantedInBlocks, time: Time
) -> None:
    planted.inflict(table)
    by_number = PLANTED_IN_BLOCKS.index(planted) % 2 and planted.found is not DifferenceKind.DEAD
    walk = the_project if by_number else the_table
    before = table.items
    found, tally = checked(table, walk(table), time)
    assert planted.found in kinds(found)
    assert tally.wrong == sum(map(len, found.values()))
    assert table.items == before
    repaired, tally = checked(table, walk(table), time, repair=repairs_on(table))
    assert planted.found in kinds(repaired)
    assert tally.wrong == 0
    assert all(finding.repaired for findings in repaired.values() for finding in findings)
    assert_right(table)
    found, _ = checked(table, walk(table), time)
    assert found == {}


def inflict_apart(random: Random, table: MemoryTable, planted: Sequence[PlantedInBlocks], count: int) -> None:
    """Inflict so many kinds of damage, each to another family, so that none removes the target of another."""
    sound, taken = table.copy(Meter(recording=False)), set[str]()
    for one in random.sample(planted, len(planted)):
        copy = sound.copy(Meter(recording=False))
        one.inflict(copy)
        before, after = sound.items, copy.items
        families = {key[1] for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
        if not families & taken:
            one.inflict(table)
            taken |= families
            count -= 1
        if not count:
            return
    raise AssertionError("there is no more damage of other families")


@pytest.mark.parametrize("seed", range(5))
def test_any_damage_to_issues_and_blocks_together_is_repaired(
    table: MemoryTable, seed: int, time: Time
) -> None:
    random = Random(seed)  # noqa: S311
    inflict_apart(random, table, PLANTED_IN_BLOCKS, 3)
    for num in random.sample(range(1, ISSUES + 1), 6):
        damage.inflict_at_random(random, table, key_of(num))
    checked(table, the_table(table), time, repair=repairs_on(table))
    found, _ = checked(table, the_table(table), time)
    assert found == {}
    assert_right(table)


@pytest.mark.parametrize("seed", range(one_of(1, thorough=2)))
def test_nothing_is_found_in_blocks_that_is_only_on_its_way(
    table: MemoryTable, seed: int, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "CONCURRENCY", 1)
    people = People(table, Random(seed), time, lag=PATIENCE / 2, at_once=1)  # noqa: S311
    table.lag()
    watched = table.seen_through(people.around)
    found, _ = checked(watched, the_table(watched), time, at_most=8)
    assert found == {}
    assert people.edits > 50
    table.catch_up_with_all()


@pytest.mark.parametrize("seed", range(one_of(1, thorough=4)))
def test_a_repair_loses_nothing_of_what_consumers_do_meanwhile(
    table: MemoryTable, seed: int, time: Time
) -> None:
    random = Random(seed)  # noqa: S311
    readable = [one for one in PLANTED_IN_BLOCKS if one.found is not DifferenceKind.UNREADABLE]
    inflict_apart(random, table, readable, 2)
    people = People(table, random, time, lag=PATIENCE / 2)
    watched = table.seen_through(people.around)
    checked(watched, the_table(watched), time, repair=Repairs(watched, Catalogs()))
    while people.stream:
        people.deliver()
    people.fold()
    assert people.edits > 50
    checked(table, the_table(table), time, repair=repairs_on(table))
    assert_right(table)


def lose_blocks(table: MemoryTable) -> None:
    """Delete all blocks, and the strings of two families in the ledgers."""
    for pk, sk in table.items:
        if pk.startswith(derived_keys.BLOCK_PREFIX):
            table.delete(pk, sk)
        elif sk == derived_keys.LEDGER:
            claims = {
                name: one
                for name, one in damage.applied(table, pk).items()
                if name not in ("num", "name.1.has")
            }
            damage.change(table, pk, sk, {"applied": claims})


@WALKS
def test_a_project_that_lost_its_blocks_gets_them_by_a_repair(
    table: MemoryTable, walk: Callable[[Table], IssueWalk], time: Time
) -> None:
    lose_blocks(table)
    found, tally = checked(table, walk(table), time, repair=repairs_on(table))
    assert {key_of(num) for num in range(1, ISSUES + 1)} <= set(found)
    assert tally.wrong == 0
    assert_right(table)


def reindexed(table: MemoryTable) -> None:
    attributes.rebuild(table, Catalogs(), TENANT, PROJECT, None, rate=0, settling=0)
    Worker(table, Catalogs(), lambda: 1e9, never, settling=0).work()


def test_a_project_that_lost_its_blocks_gets_them_by_a_reindex(table: MemoryTable, time: Time) -> None:
    lose_blocks(table)
    reindexed(table)
    assert_right(table)
    found, _ = checked(table, the_table(table), time)
    assert found == {}


@pytest.mark.parametrize(
    "planted",
    [
        one
        for one in PLANTED_IN_BLOCKS
        if one.name.startswith(("all", "an issue", "issue 99999", "a number", "second"))
    ][:: one_of(3)],
    ids=lambda one: one.name,
)
def test_a_reindex_of_everything_brings_blocks_right(
    table: MemoryTable, planted: PlantedInBlocks, time: Time
) -> None:
    planted.inflict(table)
    reindexed(table)
    assert_right(table)


def test_a_block_that_its_writer_splits_at_once_is_not_reported(
    table: MemoryTable, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = next(one for one in PLANTED_IN_BLOCKS if one.found is DifferenceKind.OVERSIZE)
    planted.inflict(table)
    assert kinds(checked(table, the_table(table), time)[0]) == {DifferenceKind.OVERSIZE}
    monkeypatch.setattr(
        clock, "sleep", lambda _: repairs_on(table).straighten(TENANT, PROJECT, block_damage.PLAIN)
    )
    assert checked(table, the_table(table), time)[0] == {}


def test_a_failed_repair_is_reported_with_its_reason(table: MemoryTable, time: Time) -> None:
    class Idle(Repairs):
        def amend(self, membership: BlockMembership, doubts: Sequence[SuspectKey]) -> None:
            """Do nothing, as if others undid it."""

    next(one for one in PLANTED_IN_BLOCKS if one.found is DifferenceKind.STRAY).inflict(table)
    found, _ = checked(table, the_table(table), time, repair=Idle(table, Catalogs()))
    assert found
    assert {(one.repaired, one.reason) for findings in found.values() for one in findings} == {
        (False, RESTLESS)
    }


def test_blocks_are_looked_for_under_every_generation_that_has_been(table: MemoryTable) -> None:
    catalog = catalog_of(table)
    field = catalog.attributes[0]
    again = replace(field, indexes=field.indexes.off(2).after_pass(2, 3).on(4))
    rebuilt = replace(catalog, attributes=(again, *catalog.attributes[1:]))
    first = f"{field.key}.1"
    assert first in families_of(catalog)
    assert first not in families_of(rebuilt)
    assert {first, f"{first}.has"} <= {*chain_check.former_families(rebuilt)}
    assert f"{field.key}.2" not in chain_check.former_families(rebuilt)


def test_blocks_are_looked_for_under_every_generation(table: MemoryTable) -> None:
    assert {"a2.1b", "state.1b"} <= {*families_of(catalog_of(table))}
    assert {"a2.1b", "state.1b"}.isdisjoint(chain_check.former_families(catalog_of(table)))
    attributes.rebuild(table, Catalogs(), TENANT, PROJECT, ["kind"], rate=0, settling=0)
    Worker(table, Catalogs(), lambda: 60.0, print, settling=0).work()
    assert "a2.2b" in families_of(catalog_of(table))
    former = {one for one in chain_check.former_families(catalog_of(table)) if one.startswith("a2.")}
    assert former == {"a2.1b", "a2.1b.has", "a2.2b.has"}


def test_blocks_that_are_a_familys_by_now_are_not_dead(table: MemoryTable) -> None:
    catalog = catalog_of(table)
    field = catalog.attributes[0]
    place = keys.project(TENANT, PROJECT), keys.attribute(TENANT, PROJECT, field.id)
    present, before = table.items[place], replace(field, indexes=field.indexes.off(2).after_pass(2, 3))
    visit = Visit(TENANT, PROJECT, f"{field.key}.1")

    def visited(switched_on_meanwhile: bool) -> Sequence[Finding]:
        table.put(to_item(TENANT, PROJECT, before))

        def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
            if switched_on_meanwhile and attempted.key[0].startswith(derived_keys.BLOCK_PREFIX):
                table.put(present)
            return perform()

        seen = table.seen_through(around)
        visits = Visits(seen, Definitions(seen), None, meets_blocks=True)
        with ThreadPoolExecutor(1) as pool:
            return visits.carry_out([visit], pool)[0].findings

    assert [one.differences[0].kind for one in visited(False)] == [DifferenceKind.DEAD]
    assert visited(True) == []
