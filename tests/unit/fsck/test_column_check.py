"""A check compares pages of columns with their issues, and totals with pages; a repair has them made again."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.chains.column_pages import BITS, ColumnPage
from gridview.chains.column_totals import ColumnTotal
from gridview.derive.issue_changes import FamilyChange, IssueChange
from gridview.derive.ledger import NUMBER
from gridview.encoding import derived_keys, keys
from gridview.encoding.number_pages import values_of
from gridview.encoding.sort_strings import number as number_body
from gridview.encoding.sort_strings import sort_string
from gridview.fsck.column_visits import ColumnVisit
from gridview.fsck.issue_diff import DifferenceKind
from gridview.journal.items import Totals
from gridview.journal.log import Log
from tests.support import damage
from tests.support.damage import PROJECT, TENANT
from tests.unit.fsck.conftest import Time
from tests.unit.fsck.test_chain_check import WALKS, checked, kinds
from tests.unit.fsck.test_checker import repairs_on, the_project, the_table

pytestmark = pytest.mark.usefixtures("time", "no_pauses")

COST = "a3.1"
ISSUES = 300
PARTITION = derived_keys.column(TENANT, PROJECT, COST)


@pytest.fixture(scope="module")
def pristine() -> MemoryTable:
    table = MemoryTable()
    damage.make_project(table)
    damage.add_issues(table, ISSUES)
    return table


@pytest.fixture
def table(pristine: MemoryTable) -> MemoryTable:
    return pristine.copy()


def page(table: MemoryTable, number: int = 0) -> ColumnPage:
    return ColumnPage.from_item(table.items[PARTITION, derived_keys.column_page(number)])


def put(table: MemoryTable, changed: ColumnPage) -> None:
    table.put(changed.to_item(TENANT, PROJECT))


def total(table: MemoryTable) -> ColumnTotal | None:
    return Log(table, TENANT, PROJECT).totals().by_family[COST]


def numbers(table: MemoryTable) -> dict[int, Decimal]:
    pages = (ColumnPage.from_item(item) for item in table.query_all(PARTITION))
    return {one.number * 256 + slot: value for one in pages for slot, value in values_of(one.slices).items()}


def other_number(table: MemoryTable) -> None:
    put(table, page(table).changed({5: Decimal("9.5")}, 0))


def no_number(table: MemoryTable) -> None:
    put(table, page(table, 1).changed({257: None}, 0))


def number_of_no_issue(table: MemoryTable) -> None:
    put(table, page(table, 1).changed({ISSUES + 7: Decimal(1)}, 0))


def page_beyond_all_issues(table: MemoryTable) -> None:
    put(table, ColumnPage("a3.1", 77).changed({77 * 256: Decimal(1)}, 0))


def no_page(table: MemoryTable) -> None:
    table.delete(PARTITION, derived_keys.column_page(0))


def unreadable_page(table: MemoryTable) -> None:
    table.put({**table.items[PARTITION, derived_keys.column_page(1)], BITS: b"\xff\x00"})


def strays(table: MemoryTable) -> None:
    for sort_key in ("!", "000000x", "1", "junk"):
        table.put({**table.items[PARTITION, derived_keys.column_page(0)], keys.SK: sort_key})


def other_total(table: MemoryTable) -> None:
    log = Log(table, TENANT, PROJECT)
    log.put_totals(Totals(0, {COST: ColumnTotal(1, Decimal(1))}), log.totals())


DAMAGE: dict[Callable[[MemoryTable], None], DifferenceKind] = {
    other_number: DifferenceKind.NUMBERS,
    no_number: DifferenceKind.NUMBERS,
    number_of_no_issue: DifferenceKind.NUMBERS,
    page_beyond_all_issues: DifferenceKind.NUMBERS,
    no_page: DifferenceKind.NUMBERS,
    unreadable_page: DifferenceKind.UNREADABLE,
    strays: DifferenceKind.NO_PAGE,
    other_total: DifferenceKind.TOTAL,
}


@WALKS
@pytest.mark.parametrize("harm", DAMAGE, ids=lambda one: one.__name__)
def test_damage_of_a_column_is_found_and_repaired(
    table: MemoryTable, walk: Callable[[MemoryTable], object], harm: Callable[[MemoryTable], None], time: Time
) -> None:
    sound, counted = numbers(table), total(table)
    harm(table)
    found, _ = checked(table, walk(table), time)  # type: ignore[arg-type]
    assert DAMAGE[harm] in kinds(found)
    assert kinds(found) <= {DAMAGE[harm], DifferenceKind.TOTAL}
    repaired, tally = checked(table, walk(table), time, repair=repairs_on(table))  # type: ignore[arg-type]
    assert all(one.repaired for some in repaired.values() for one in some)
    assert tally.wrong == 0
    assert (numbers(table), total(table)) == (sound, counted)
    pages = {derived_keys.column_page(number) for number in (0, 1, 77)}
    assert {key[1] for key in table.items if key[0] == PARTITION} <= pages
    assert checked(table, walk(table), time)[0] == {}  # type: ignore[arg-type]


def test_an_issue_that_is_wrong_itself_is_not_reported_of_its_page_too(
    table: MemoryTable, time: Time
) -> None:
    table.delete(damage.key_of(5), derived_keys.LEDGER)
    other_number(table)
    found, _ = checked(table, the_project(table), time)
    assert DifferenceKind.NUMBERS not in kinds(found)
    assert damage.key_of(5) in found


def test_an_unknown_total_is_no_fault_and_a_repair_counts_it(table: MemoryTable, time: Time) -> None:
    counted = total(table)
    log = Log(table, TENANT, PROJECT)
    log.put_totals(Totals(0, {COST: None}), log.totals())
    assert checked(table, the_project(table), time)[0] == {}
    assert total(table) is None
    assert checked(table, the_project(table), time, repair=repairs_on(table))[0] == {}
    assert total(table) == counted


def test_a_page_that_a_fold_has_just_written_is_judged_at_its_position(
    table: MemoryTable, time: Time
) -> None:
    log = Log(table, TENANT, PROJECT)
    number = log.reserve(1)
    key = sort_string(number_body(Decimal("9.5")), 5)
    ledger = table.items[damage.key_of(5), derived_keys.LEDGER]
    move = FamilyChange((ledger["applied"][COST],), key)
    table.put({**ledger, "applied": {**ledger["applied"], COST: key}, NUMBER: number})
    log.put(number, [IssueChange(5, 2, removed=False, revision=2, moves={COST: move})])
    put(table, page(table).changed({5: Decimal("9.5")}, number))
    found, _ = checked(table, the_project(table), time)
    assert DifferenceKind.NUMBERS not in kinds(found)


@pytest.mark.parametrize("part", ["a3.9", "a3.9 0"], ids=["total", "page"])
def test_a_column_that_is_no_more_when_its_turn_comes_is_not_judged(table: MemoryTable, part: str) -> None:
    put(table, ColumnPage("a3.9", 0).changed({1: Decimal(1)}, 0))
    visit = ColumnVisit(Log(table, TENANT, PROJECT), damage.catalog_of(table), None)
    visit.check(part)
    assert visit.findings == []


def test_a_column_of_a_family_that_is_no_more_is_removed(table: MemoryTable, time: Time) -> None:
    put(table, ColumnPage("a3.9", 0).changed({1: Decimal(1)}, 0))
    assert kinds(checked(table, the_table(table), time)[0]) == {DifferenceKind.DEAD}
    checked(table, the_table(table), time, repair=repairs_on(table))
    assert not [key for key in table.items if key[0] == derived_keys.column(TENANT, PROJECT, "a3.9")]
    assert keys.project(TENANT, PROJECT) in {key[0] for key in table.items}
