"""Each step of a check is small, however large the project is, and a turn of one step makes progress."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from devtools.proof.faults import memory_table
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.commands import attributes
from gridview.derive.families import column_families, families_of, has_entries
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys
from gridview.fsck import block_ranges, chain_check, chain_visits, column_check, column_visits
from gridview.fsck.block_ranges import BlockRange, NumberPlace, range_from, sets_of
from gridview.fsck.checker import Check
from gridview.fsck.definitions import Definitions
from gridview.fsck.issue_diff import DifferenceKind
from gridview.fsck.progress import BY_NUMBER, COLUMN, Finding, Tally, Visit
from gridview.fsck.walks import TableWalk
from gridview.journal.log import Log
from gridview.schema.store import Catalogs
from tests.support import block_damage, damage
from tests.support.block_damage import PLANTED_IN_BLOCKS
from tests.support.damage import ADMIN, PROJECT, TENANT, catalog_of

pytestmark = pytest.mark.usefixtures("time", "no_pauses")

ISSUES = 36
NUMBER_FIELDS = 5
BLOCKS = 4
EVERYTHING = range(1, chain_check.ABOVE_ALL_NUMBERS)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    block_damage.small_blocks(monkeypatch)
    monkeypatch.setattr(chain_check, "PIECE", 3)
    monkeypatch.setattr(chain_check, "SLICE", 10)
    monkeypatch.setattr(chain_visits, "_WINDOW", 20)
    monkeypatch.setattr(chain_visits, "_SIDE_BY_SIDE", 1)
    monkeypatch.setattr(block_ranges, "BLOCKS", BLOCKS)


@pytest.fixture
def table() -> MemoryTable:
    table = MemoryTable()
    damage.make_project(table)
    for number in range(1, NUMBER_FIELDS):
        body = {"name": f"Number {number}", "type": "number"}
        attributes.create_attribute(table, Catalogs(), ADMIN, PROJECT, body)
    damage.add_issues(table, ISSUES)
    return table


class Turns:
    """A check of which each turn has the time for one step only."""

    def __init__(self, table: MemoryTable) -> None:
        self.found: list[Finding] = []
        self.visits: list[str] = []
        """The kind of visit with which each turn began."""
        self.blocks: list[int] = []
        """The blocks that each turn read."""
        self._table = table.seen_through(self._around)

    def _around(self, attempted: Attempted, perform: Callable[[], Any]) -> Any:
        read = [key for key, _ in attempted.keys if key.startswith(derived_keys.BLOCK_PREFIX)]
        if attempted.operation == "batch_get":
            self.blocks[-1] += len(read)
        return perform()

    def run(self, before: Callable[[], None] = lambda: None) -> Tally:
        """Each turn has its progress from an item, as the next invocation reads it."""
        saved = json.dumps([None, Tally().to_state()])
        while True:
            progress, state = json.loads(saved)
            tally = Tally.from_state(state)
            walk = TableWalk(self._table, 1, progress)
            check = Check(self._table, walk, self.found.append, patience=0, tally=tally)
            if check.done:
                return tally
            self.visits.append(tally.visits[0].what if tally.visits and walk.done else "")
            self.blocks.append(0)
            assert len(self.visits) < 1_000
            before()
            check.step()
            saved = json.dumps([walk.progress, tally.to_state()])


def test_a_step_reads_a_bounded_number_of_blocks_and_the_next_turn_goes_on(table: MemoryTable) -> None:
    entryless = [one for one in families_of(catalog_of(table)) if not has_entries(one)]
    count = sum(derived_keys.parse_block(key)[2] in entryless for key, _ in table.items if is_block(key))
    assert count > 5 * BLOCKS
    turns = Turns(table)
    turns.run()
    assert turns.found == []
    by_number = [read for what, read in zip(turns.visits, turns.blocks, strict=True) if what == BY_NUMBER]
    assert max(by_number) <= BLOCKS
    ranges, slices = -(-count // BLOCKS), -(-ISSUES // 10)
    assert len(by_number) == ranges * slices


def is_block(partition: str) -> bool:
    return partition.startswith(derived_keys.BLOCK_PREFIX)


def test_a_step_counts_one_column(table: MemoryTable, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[list[str]] = []

    def judged(log: Log, family: str) -> column_check.JudgedTotal:
        counted[-1].append(family)
        return column_check.judge_total(log, family)

    monkeypatch.setattr(column_visits, "judge_total", judged)
    turns = Turns(table)
    turns.run(lambda: counted.append([]))
    assert max(map(len, counted)) == 1
    assert sorted(family for some in counted for family in some) == sorted(column_families(catalog_of(table)))
    assert turns.visits.count(COLUMN) == NUMBER_FIELDS


@pytest.mark.parametrize(
    "planted",
    [one for one in PLANTED_IN_BLOCKS if one.found in (DifferenceKind.STRAY, DifferenceKind.UNLISTED)],
    ids=lambda one: one.name,
)
def test_what_differs_is_found_in_steps_as_small_as_these(
    table: MemoryTable, planted: block_damage.PlantedInBlocks
) -> None:
    planted.inflict(table)
    turns = Turns(table)
    turns.run()
    assert planted.found in {one.kind for finding in turns.found for one in finding.differences}


def test_ranges_have_every_key_once(table: MemoryTable) -> None:
    catalog = catalog_of(table)
    whole = sets_of(table, catalog, BlockRange(), EVERYTHING)
    pieces, at = [], range_from(table, catalog)
    while True:
        pieces.append(at)
        assert at.end is None or at.start < at.end
        if at.end is None:
            break
        at = range_from(table, catalog, at.end)
    assert len(pieces) > 5
    parts = [sets_of(table, catalog, piece, EVERYTHING) for piece in pieces]
    assert keys_in(whole) == sorted(key for part in parts for key in keys_in(part))
    assert {pieces[0].is_first, *(piece.is_first for piece in pieces[1:])} == {True, False}


def keys_in(sets: block_ranges.FamilySets) -> list[tuple[str, str, int]]:
    return sorted((family, body, num) for family, some in sets.items() for body in some for num in some[body])


def test_a_block_that_grew_beyond_its_range_counts_in_it_only(table: MemoryTable) -> None:
    catalog = catalog_of(table)
    blocks = range_from(table, catalog)
    held = sets_of(table, catalog, blocks, EVERYTHING)
    family, body = next(
        (family, body) for family, some in held.items() for body in some if len(some[body]) > 3
    )
    middle = sorted(held[family][body])[2]
    cut = blocks._replace(end=(family, f"{body}\x01{middle:08}"))
    assert sorted(sets_of(table, catalog, cut, EVERYTHING)[family][body]) == sorted(held[family][body])[:2]


def test_a_slice_ends_before_its_documents_are_too_large(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = catalog_of(table)
    monkeypatch.setattr(memory_table, "QUERY_BYTES", 1_500)
    monkeypatch.setattr(chain_check, "PAGES", 100)
    whole = chain_check.derived_slice(table, catalog, 1, chain_check.ABOVE_ALL_NUMBERS, BlockRange())
    assert whole.among == EVERYTHING
    monkeypatch.setattr(chain_check, "PAGES", 1)
    slices, first = [], 1
    while first < chain_check.ABOVE_ALL_NUMBERS:
        slices.append(
            chain_check.derived_slice(table, catalog, first, chain_check.ABOVE_ALL_NUMBERS, BlockRange())
        )
        assert slices[-1].among.start == first < slices[-1].among.stop
        first = slices[-1].among.stop
    assert len(slices) > 3
    for family, found in whole.keys.items():
        assert found == [key for one in slices for key in one.keys.get(family, ())]


def test_pages_of_a_column_are_judged_some_at_a_time(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_visits, "PAGES", 2)
    for page in range(5):
        damage_page(table, 100 + page)
    visits = Visits(table)
    place = NumberPlace(31, BlockRange())
    parts = [one.at for one in visits.further(BY_NUMBER, place.to_text()) if one.what == COLUMN]
    family = column_families(catalog_of(table))[0]
    assert [one for one in parts if " " in one] == [
        f"{family} 100 101",
        f"{family} 102 103",
        f"{family} 104",
    ]
    assert [one for one in parts if " " not in one] == column_families(catalog_of(table))


def damage_page(table: MemoryTable, page: int) -> None:
    partition = derived_keys.column(TENANT, PROJECT, column_families(catalog_of(table))[0])
    key = partition, derived_keys.column_page(0)
    table.put({**table.items[key], "SK": derived_keys.column_page(page)})


class Visits(chain_visits.Visits):
    """Visits to a table, one at a time."""

    def __init__(self, table: Table) -> None:
        super().__init__(table, Definitions(table), None, meets_blocks=True)

    def further(self, what: str, at: str) -> list[Visit]:
        with ThreadPoolExecutor(1) as pool:
            (visited,) = self.carry_out([Visit(TENANT, PROJECT, what, at)], pool)
        return list(visited.further)
