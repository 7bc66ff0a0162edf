"""Folds of columns: pages hold the last states, and totals in the head are exact, or unknown until they are counted again."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.chains.column_pages import BITS, ColumnPage
from gridview.chains.column_totals import ColumnTotal
from gridview.commands import attributes
from gridview.derive.families import column_families
from gridview.derive.issue_changes import FamilyChange, IssueChange
from gridview.derive.ledger import Ledger
from gridview.encoding import derived_keys, keys
from gridview.encoding.number_pages import values_of
from gridview.encoding.sort_strings import number, sort_string
from gridview.journal.column_fold import numbers_of_ledgers, recount
from gridview.journal.committer import ledger_item
from gridview.journal.items import Remake
from gridview.schema.store import Catalogs
from tests.support.derived_project import (
    ADMIN,
    PROJECT,
    TENANT,
    before,
    catalog_of,
    fold,
    log_of,
    new_table,
    puts,
)

pytestmark = pytest.mark.usefixtures("no_pauses")

COST = "a3.1"


@pytest.fixture
def table() -> MemoryTable:
    table = new_table()
    body = {"name": "Cost", "id": "cost", "type": "number"}
    attributes.create_attribute(table, Catalogs(), ADMIN, PROJECT, body)
    assert column_families(catalog_of(table)) == [COST]
    return table


def key(num: int, value: str | None) -> str | None:
    return None if value is None else sort_string(number(Decimal(value)), num)


def moved(num: int, left: str | None, to: str | None) -> IssueChange:
    strings = tuple(one for one in (key(num, left),) if one is not None)
    return IssueChange(num, 1, removed=False, revision=1, moves={COST: FamilyChange(strings, key(num, to))})


def log(table: MemoryTable, *changes: IssueChange) -> int:
    """Commit a batch with these changes: its ledgers and its item. Its sort entries are confirmed."""
    own = log_of(table)
    item_number = own.reserve(len(changes))
    for change in changes:
        to = change.moves[COST].to
        ledger = Ledger(applied={} if to is None else {COST: to}, number=item_number)
        table.put(ledger_item(keys.issue(TENANT, PROJECT, change.num), ledger))
    assert own.put(item_number, changes) is not None
    own.mark(item_number)
    return item_number


def numbers(table: MemoryTable) -> dict[int, Decimal]:
    pages = [
        ColumnPage.from_item(item) for key, item in table.items.items() if derived_keys.is_column(key[0])
    ]
    return {one.number * 256 + slot: value for one in pages for slot, value in values_of(one.slices).items()}


def total(table: MemoryTable) -> ColumnTotal | None:
    return log_of(table).totals().by_family[COST]


def page_key(page: int) -> tuple[str, str]:
    return derived_keys.column(TENANT, PROJECT, COST), derived_keys.column_page(page)


def writes_page(attempted: Attempted) -> bool:
    return attempted.writes and derived_keys.is_column(attempted.key[0])


def advances(attempted: Attempted) -> bool:
    return attempted.operation == "update" and attempted.key[1] == derived_keys.FOLD


def test_many_changes_make_one_write_of_a_page_and_move_the_total(table: MemoryTable) -> None:
    written: list[Attempted] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if writes_page(attempted):
            written.append(attempted)
        return perform()

    for num in range(1, 11):
        log(table, moved(num, None, "1"))
        log(table, moved(num, "1", f"{num}.5"))
    assert fold(table.seen_through(around)) == 20
    assert len(written) == 1
    assert numbers(table) == {num: Decimal(f"{num}.5") for num in range(1, 11)}
    assert total(table) == ColumnTotal(10, Decimal(60))
    log(table, moved(1, "1.5", None), moved(300, None, "-7"))
    fold(table)
    assert total(table) == ColumnTotal(10, Decimal("51.5"))


def test_totals_have_more_digits_than_a_stored_number(table: MemoryTable) -> None:
    log(table, moved(1, None, "9E+125"), moved(2, None, "1E-130"))
    fold(table)
    found = total(table)
    assert found is not None
    assert len(found.sum.as_tuple().digits) == 256


def died(table: MemoryTable, operation: Callable[[Attempted], bool]) -> None:
    """A fold that is killed before its first such call."""

    class Killed(BaseException):
        pass

    def kill() -> None:
        raise Killed

    with pytest.raises(Killed):
        fold(table.seen_through(before(operation, kill)))


@pytest.mark.parametrize("operation", [advances, puts(derived_keys.TOTALS)])
def test_after_a_fold_that_died_before_the_watermark_moved_the_total_is_unknown_until_it_is_counted(
    table: MemoryTable, operation: Callable[[Attempted], bool]
) -> None:
    log(table, moved(1, None, "5"))
    died(table, operation)
    assert numbers(table) == {1: Decimal(5)}
    log(table, moved(1, "5", "6"), moved(2, None, "1"))
    assert fold(table) == 2
    assert (numbers(table), total(table)) == ({1: Decimal(6), 2: Decimal(1)}, None)
    assert recount(log_of(table), COST)
    assert total(table) == ColumnTotal(2, Decimal(7))


def test_two_folds_at_once_leave_an_exact_total_or_none(table: MemoryTable) -> None:
    log(table, moved(1, None, "5"))

    def further() -> None:
        log(table, moved(1, "5", "6"))
        assert fold(table) == 2

    assert fold(table.seen_through(before(writes_page, further))) == 1
    assert (numbers(table), total(table)) == ({1: Decimal(6)}, ColumnTotal(1, Decimal(6)))


@pytest.mark.parametrize("operation", [advances, puts(derived_keys.TOTALS)])
def test_a_recount_waits_for_a_fold_that_has_begun(
    table: MemoryTable, operation: Callable[[Attempted], bool]
) -> None:
    log(table, moved(1, None, "5"))
    died(table, operation)
    assert not recount(log_of(table), COST)
    fold(table)
    assert recount(log_of(table), COST)
    assert total(table) == ColumnTotal(1, Decimal(5))


def test_a_recount_leaves_totals_that_no_fold_has_brought_to_the_watermark(table: MemoryTable) -> None:
    log(table, moved(1, None, "5"))
    fold(table)
    before_ = log_of(table).totals()
    log(table, moved(1, "5", "6"))
    fold(table)
    table.put(before_._replace(by_family={COST: None}).to_item(TENANT, PROJECT))
    assert not recount(log_of(table), COST)


def test_a_recount_stores_no_total_of_an_earlier_watermark(table: MemoryTable) -> None:
    log(table, moved(1, None, "5"))
    fold(table)

    def further() -> None:
        log(table, moved(1, "5", "6"))
        fold(table)

    assert not recount(log_of(table.seen_through(before(puts(derived_keys.TOTALS), further))), COST)
    assert total(table) == ColumnTotal(1, Decimal(6))


def spoil(table: MemoryTable, page: int) -> None:
    table.put({**table.items[page_key(page)], BITS: b"\x07"})


def test_a_recount_has_unreadable_pages_made_again(table: MemoryTable) -> None:
    log(table, *(moved(num, None, "1") for num in (1, 300, 600)))
    fold(table)
    spoil(table, 0)
    spoil(table, 2)
    own = log_of(table)
    assert not recount(own, COST)
    asked = own.item(own.head().last)
    assert asked is not None
    assert asked.remake == Remake(COST, (0, 2))
    assert own.head().waiting == 512
    assert fold(table) == 1
    assert (numbers(table), total(table)) == (dict.fromkeys((1, 300, 600), Decimal(1)), None)
    assert recount(own, COST)
    assert total(table) == ColumnTotal(3, Decimal(3))
    assert own.head().waiting == 0
    assert not own.head().emptied


@pytest.mark.parametrize("sort_key", ["junk", "1", "00000x", "0000001", "\u0661" * 6])
def test_a_recount_skips_an_item_that_is_no_page(table: MemoryTable, sort_key: str) -> None:
    log(table, moved(1, None, "5"))
    fold(table)
    table.put({**table.items[page_key(0)], keys.SK: sort_key})
    known = log_of(table).totals()
    log_of(table).put_totals(known._replace(by_family={COST: None}), known)
    own = log_of(table)
    assert recount(own, COST)
    assert total(table) == ColumnTotal(1, Decimal(5))
    assert own.head().last == 1


def test_many_pages_are_asked_for_in_several_items(table: MemoryTable) -> None:
    own = log_of(table)
    own.ask_remakes(COST, range(20))
    assert [one.remake and len(one.remake.pages) for one in own.after(0).records] == [16, 4]


def test_a_remake_without_pages_has_the_total_counted_again(table: MemoryTable) -> None:
    log(table, moved(1, None, "5"))
    fold(table)
    log_of(table).put_remake(Remake(COST))
    fold(table)
    assert (numbers(table), total(table)) == ({1: Decimal(5)}, None)


def test_a_remake_takes_another_number_if_its_own_was_closed(table: MemoryTable) -> None:
    own = log_of(table)

    def close() -> None:
        own.close(own.head().last)

    def puts_remake(attempted: Attempted) -> bool:
        return attempted.operation == "put" and "remake" in (attempted.item or {})

    log_of(table.seen_through(before(puts_remake, close))).put_remake(Remake(COST, (3,)))
    assert [one.remake for one in own.after(0).records] == [None, Remake(COST, (3,))]


def test_a_page_that_is_made_again_has_the_states_of_the_folds_position(table: MemoryTable) -> None:
    """Ledgers are ahead of the fold: issue 2 has moved on, and issue 3 is new. The journal has what they left."""
    log(table, moved(1, None, "1"), moved(2, None, "2"))
    fold(table)
    log_of(table).put_remake(Remake(COST, (0,)))
    head = log_of(table).head()
    passed = log_of(table).after(head.folded).records
    log(table, moved(2, "2", "22"), moved(3, None, "3"))
    found = numbers_of_ledgers(log_of(table), head, passed, COST, range(1, 256))
    assert found == {1: Decimal(1), 2: Decimal(2)}


def test_an_unreadable_page_is_made_again_by_the_fold_that_meets_it(table: MemoryTable) -> None:
    log(table, moved(1, None, "1"), moved(2, None, "2"))
    fold(table)
    spoil(table, 0)
    log(table, moved(2, "2", "5"))
    fold(table)
    assert (numbers(table), total(table)) == ({1: Decimal(1), 2: Decimal(5)}, None)


def test_a_string_that_is_no_number_of_the_issue_has_none(table: MemoryTable) -> None:
    log(table, moved(1, None, "1"))
    wrong = [sort_string("oops", 2), sort_string(number(Decimal(5)), 4), "x"]
    changes = [
        IssueChange(num, 1, removed=False, revision=1, moves={COST: FamilyChange((), one)})
        for num, one in zip((2, 3, 5), wrong, strict=True)
    ]
    own = log_of(table)
    item_number = own.reserve(3)
    own.put(item_number, changes)
    own.mark(item_number)
    fold(table)
    assert (numbers(table), total(table)) == ({1: Decimal(1)}, ColumnTotal(1, Decimal(1)))


def test_totals_leave_with_their_index(table: MemoryTable) -> None:
    body = {"name": "Size", "id": "size", "type": "number"}
    attributes.create_attribute(table, Catalogs(), ADMIN, PROJECT, body)
    log(table, moved(1, None, "1"))
    fold(table)
    assert log_of(table).totals().by_family.keys() == {COST, "a4.1"}
    indexed = {"indexed": False}
    attributes.update_attribute(table, Catalogs(), ADMIN, PROJECT, "cost", indexed, None, settling=0.0)
    log(table, moved(1, "1", None))
    fold(table)
    assert log_of(table).totals().by_family.keys() == {"a4.1"}
