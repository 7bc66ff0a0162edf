"""Folds write columns: whatever dies, waits or overlaps, pages end with the last states and totals are exact or unknown."""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.chains.column_pages import BITS, ColumnPage
from gridview.chains.column_totals import ColumnTotal
from gridview.chains.column_writer import ColumnWriter, Fold, NumberChanges, remove_column
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.number_pages import values_of
from gridview.support.errors import Overloaded

pytestmark = pytest.mark.usefixtures("no_pauses")

TENANT, PROJECT, FAMILY = "acme", "bridge", "a1.1"
LEDGERS = {2: Decimal(20), 300: Decimal(3000)}


def numbers_at(family: str, nums: Iterable[int]) -> Mapping[int, Decimal]:
    """What ledgers and the journal say of every position."""
    assert family == FAMILY
    return {num: LEDGERS[num] for num in nums if num in LEDGERS}


def fold(
    table: Table, watermark: int, position: int, values: NumberChanges, remade: frozenset[int] = frozenset()
) -> ColumnTotal | None:
    return ColumnWriter(table, TENANT, PROJECT, Fold(watermark, position, numbers_at)).write(
        FAMILY, values, remade
    )


def key_of(page: int) -> tuple[str, str]:
    return derived_keys.column(TENANT, PROJECT, FAMILY), derived_keys.column_page(page)


def page(table: MemoryTable, number: int) -> ColumnPage:
    return ColumnPage.from_item(table.items[key_of(number)])


def numbers(table: MemoryTable) -> dict[int, Decimal]:
    """The numbers of all issues, as the pages have them."""
    pages = map(ColumnPage.from_item, table.items.values())
    return {one.number * 256 + slot: value for one in pages for slot, value in values_of(one.slices).items()}


@pytest.fixture
def table() -> MemoryTable:
    """A column folded up to 5, which is the watermark."""
    table = MemoryTable()
    assert fold(table, 0, 5, {1: Decimal(10), 2: Decimal("0.5"), 300: Decimal(-3)}) == ColumnTotal(
        3, Decimal("7.5")
    )
    return table


def test_a_fold_writes_states_and_returns_the_change_of_the_total(table: MemoryTable) -> None:
    changes = {1: Decimal(11), 2: None, 3: Decimal(4), 600: None}
    assert fold(table, 5, 9, changes) == ColumnTotal(0, Decimal("4.5"))
    assert numbers(table) == {1: Decimal(11), 3: Decimal(4), 300: Decimal(-3)}
    assert [page(table, number).position for number in (0, 1, 2)] == [9, 5, 9]


def test_a_fold_costs_a_read_and_a_write_for_each_page(table: MemoryTable) -> None:
    table.meter.calls = []
    fold(table, 5, 9, {1: Decimal(11), 3: Decimal(4), 300: None})
    assert [call.operation for call in table.meter.calls] == ["batch_get_item", "put_item", "put_item"]
    assert table.meter.calls[0].capacity == 2


def test_a_fold_after_one_that_died_before_the_watermark_moved_does_not_know_the_total(
    table: MemoryTable,
) -> None:
    fold(table, 5, 7, {1: Decimal(11)})
    assert fold(table, 5, 9, {1: Decimal(12), 300: None}) is None
    assert numbers(table) == {1: Decimal(12), 2: Decimal("0.5")}


def test_a_fold_leaves_pages_that_another_one_has_folded_further(table: MemoryTable) -> None:
    fold(table, 5, 9, {1: Decimal(12)})
    assert fold(table, 5, 7, {1: Decimal(11)}) is None
    assert fold(table, 5, 9, {1: Decimal(12)}) is None
    assert numbers(table)[1] == 12


def test_a_page_that_a_journal_item_names_is_written_though_its_numbers_stay(table: MemoryTable) -> None:
    before = page(table, 0)
    assert fold(table, 5, 9, {1: Decimal(10), 7: None}) == ColumnTotal()
    after = page(table, 0)
    assert (after.stored, after.position) == (before.stored, 9)
    assert after.write_id != before.write_id


def test_pages_are_made_again_from_ledgers_and_the_journal(table: MemoryTable) -> None:
    assert fold(table, 5, 9, {1: Decimal(11)}, frozenset({0, 1})) is None
    assert numbers(table) == LEDGERS
    assert fold(table, 9, 11, {1: Decimal(11)}) == ColumnTotal(1, Decimal(11))


@pytest.mark.parametrize(
    "damage",
    [{BITS: b"\x07"}, {"write_id": 7}, {"write_id": None}, {"at": -1}],
    ids=["bits", "write id", "no write id", "position"],
)
def test_a_page_that_cannot_be_read_is_made_again(table: MemoryTable, damage: dict[str, Any]) -> None:
    item = table.items[key_of(0)] | damage
    table.put({name: value for name, value in item.items() if value is not None})
    assert fold(table, 5, 9, {1: Decimal(11), 300: None}) is None
    assert numbers(table) == {2: Decimal(20)}


def overtaken(table: MemoryTable, by: Callable[[], None], times: int = 99) -> Table:
    """The table, with an action just before each of so many writes."""
    left = [True] * times

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes and left:
            left.pop()
            by()
        return perform()

    return table.seen_through(around)


def test_a_paused_fold_writes_over_no_later_one_even_if_a_number_came_back(table: MemoryTable) -> None:
    def others() -> None:
        fold(table, 5, 8, {1: Decimal(99)})
        fold(table, 8, 9, {1: Decimal(10)})

    assert fold(overtaken(table, others, times=1), 5, 7, {1: Decimal(99)}) is None
    assert numbers(table)[1] == 10
    assert page(table, 0).position == 9


def test_a_fold_that_loses_a_page_reads_it_again(table: MemoryTable) -> None:
    def other() -> None:
        fold(table, 5, 7, {2: Decimal(77)})

    assert fold(overtaken(table, other, times=1), 5, 9, {1: Decimal(11), 2: Decimal(77)}) is None
    assert numbers(table) == {1: Decimal(11), 2: Decimal(77), 300: Decimal(-3)}


def test_a_fold_that_always_loses_is_overloaded(table: MemoryTable) -> None:
    ids = iter(range(100))

    def other() -> None:
        table.put(table.items[key_of(0)] | {"write_id": f"other{next(ids)}"})

    with pytest.raises(Overloaded):
        fold(overtaken(table, other), 5, 9, {1: Decimal(11)})


def test_a_write_is_recognized_after_its_answer_was_lost(table: MemoryTable) -> None:
    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "put":
            perform()
        return perform()

    assert fold(table.seen_through(around), 5, 9, {1: Decimal(11)}) == ColumnTotal(0, Decimal(1))
    assert numbers(table)[1] == 11


def test_totals_are_exact() -> None:
    vast = ColumnTotal(1, Decimal("9E+125")).plus(ColumnTotal(1, Decimal("1E-130")))
    assert vast.minus(ColumnTotal(1, Decimal("9E+125"))) == ColumnTotal(1, Decimal("1E-130"))
    assert ColumnTotal().minus(vast).plus(vast) == ColumnTotal()


def test_an_interrupted_removal_goes_on_and_leaves_other_columns(table: MemoryTable) -> None:
    fold(table, 5, 9, dict.fromkeys(range(1, 256 * 120, 256), Decimal(1)))
    fold(table, 5, 9, {300_000: Decimal(1)})
    other = ColumnPage("a1.2", 0).changed({1: Decimal(5)}, 9).to_item(TENANT, PROJECT)
    table.put(other)
    seconds = iter([1.0, 0.0])
    assert not remove_column(table, TENANT, PROJECT, FAMILY, lambda: next(seconds))
    left = len(table.items)
    assert 1 < left < 122
    assert remove_column(table, TENANT, PROJECT, FAMILY)
    assert list(table.items.values()) == [other]


def test_the_pages_of_another_tenants_column_are_apart() -> None:
    assert (
        ColumnPage("a1.1", 0).to_item("a", "b")[keys.PK] != ColumnPage("a1.1", 0).to_item("a", "c")[keys.PK]
    )
