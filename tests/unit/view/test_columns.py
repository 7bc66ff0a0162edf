"""Columns and totals as one request sees them: with recent changes over them, kept by a container that follows the journal."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pytest
from pyroaring import BitMap

from devtools.proof.faults.memory_table import MemoryTable
from gridview.chains.column_pages import BITS, ColumnPage
from gridview.chains.column_totals import ColumnTotal
from gridview.derive.ledger import SHOWN_SECONDS
from gridview.encoding import derived_keys, keys
from gridview.encoding.sort_strings import number, sort_string
from gridview.journal.items import Remake, Totals
from gridview.support.errors import Overloaded
from gridview.view import column_reader, journal_tail
from gridview.view.block_cache import BlockCache
from gridview.view.column_reader import ColumnReader
from gridview.view.context import ReadContext
from gridview.view.index_view import IndexView
from gridview.view.moves import FamilyMove, JournalStep, Logged, Move
from gridview.view.overlay import Overlay
from gridview.view.reads import ReadColumns, ReadRecent, ReadTotals
from gridview.view.shown_columns import ShownColumn, shown_total
from tests.support.derived_project import PROJECT, TENANT, catalog_of, fold, log_of
from tests.unit.journal.test_column_fold import COST, log, moved, table

__all__ = ["table"]

pytestmark = pytest.mark.usefixtures("no_pauses")


class Container:
    """A container that answers requests, and the pages that it reads."""

    def __init__(self, table: MemoryTable) -> None:
        self.table = table
        self.cache = BlockCache()
        self.pages = 0
        self.meanwhile: list[Callable[[], object]] = []
        """What happens between the read of the journal and that of a column, once each."""

    def ask(self, *reads: Any) -> Sequence[Any]:
        """The answers to reads of one request, which also reads the journal."""
        own, pages = self.table.metered(), self.table.metered()
        view = IndexView(ReadContext(own, catalog_of(self.table), self.cache), own)

        def work() -> Sequence[Any]:
            answers: list[tuple[Any, Any]] = []
            for one in (ReadRecent(), *reads):
                if isinstance(one, ReadColumns):
                    while self.meanwhile:
                        self.meanwhile.pop()()
                if not view.knows(one):
                    answers.append((one, view.read(pages if isinstance(one, ReadColumns) else own, one)))
            view.take(answers)
            return [view.shown(read, dict(answers).get(read)) for read in reads]

        found = view.consistently(work)
        self.pages = sum(call.items for call in pages.meter.calls)
        return found

    def numbers(self) -> dict[int, Decimal]:
        (columns,) = self.ask(ReadColumns((COST,), 1))
        column: ShownColumn = columns[COST]
        found = {num: column.among(BitMap((num,))).sum for num in column.members}
        assert column.all.count == len(found)
        return found

    def total(self) -> ColumnTotal | None:
        (totals,) = self.ask(ReadTotals((COST,)))
        found: ColumnTotal | None = totals[COST]
        return found


@pytest.fixture
def container(table: MemoryTable) -> Container:
    return Container(table)


def test_a_column_and_a_total_have_the_changes_that_wait_for_the_fold(
    table: MemoryTable, container: Container
) -> None:
    log(table, moved(1, None, "5"), moved(2, None, "7"))
    fold(table)
    log(table, moved(1, "5", "6.5"), moved(3, None, "-1"))
    log(table, moved(2, "7", None))
    assert container.numbers() == {1: Decimal("6.5"), 3: Decimal(-1)}
    assert container.total() == ColumnTotal(2, Decimal("5.5"))
    fold(table)
    assert container.numbers() == {1: Decimal("6.5"), 3: Decimal(-1)}
    assert container.total() == ColumnTotal(2, Decimal("5.5"))


def test_a_container_reads_a_column_once_and_follows_the_journal(
    table: MemoryTable, container: Container, later: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_tail, "_KEPT_CHANGES", 0)
    expected: dict[int, Decimal] = {}
    for num in range(1, 30):
        if num > 3:
            log(table, moved(num - 3, str(num - 3), None))
            expected.pop(num - 3)
        log(table, moved(num, None, str(num)))
        expected[num] = Decimal(num)
        if num % 2:
            fold(table)
        later(SHOWN_SECONDS + 1)
        assert container.numbers() == expected
        assert (container.pages > 0) == (num == 1)


def test_a_column_that_lacks_items_is_read_again(
    table: MemoryTable, container: Container, later: Any
) -> None:
    log(table, moved(1, None, "5"))
    fold(table)
    assert container.numbers() == {1: Decimal(5)}
    for num in range(2, 7):
        log(table, moved(num, None, "1"))
        fold(table)
    container.cache._kept.pop(("journal", log_of(table).partition))  # as if there had been no room
    later(SHOWN_SECONDS + 1)
    assert container.numbers() == {1: Decimal(5), **dict.fromkeys(range(2, 7), Decimal(1))}
    assert container.pages == 1


def test_a_remade_column_is_read_again(
    table: MemoryTable, container: Container, later: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_tail, "_KEPT_CHANGES", 0)
    log(table, moved(1, None, "5"))
    fold(table)
    later(SHOWN_SECONDS + 1)
    table.put(ColumnPage(COST, 0).changed({1: Decimal(9)}, 1).to_item(TENANT, PROJECT))
    container.numbers()
    assert container.numbers() == {1: Decimal(9)}, "damage by hand"
    log_of(table).put_remake(Remake(COST, (0,)))
    fold(table)
    log(table, moved(2, None, "1"))
    fold(table)
    later(SHOWN_SECONDS + 1)
    container.numbers()
    assert container.numbers() == {1: Decimal(5), 2: Decimal(1)}


def test_pages_ahead_of_the_journal_have_it_read_again(table: MemoryTable, container: Container) -> None:
    log(table, moved(1, None, "5"))
    container.meanwhile = [
        lambda: fold(table),
        lambda: log(table, moved(1, "5", "6"), moved(2, None, "1")),
        lambda: log(table, moved(3, None, "1")),
    ]
    assert container.numbers() == {1: Decimal(6), 2: Decimal(1), 3: Decimal(1)}


def test_a_request_keeps_the_column_that_it_has_read(table: MemoryTable) -> None:
    cache = BlockCache()
    log(table, moved(1, None, "5"))
    fold(table)
    reader, other = (ColumnReader(catalog_of(table), cache, since=0.0) for _ in range(2))
    reader.read(table, [COST], 1)
    cache.forget_column(derived_keys.column(TENANT, PROJECT, COST))
    log(table, moved(1, "5", "6"))
    fold(table)
    other.read(table, [COST], 1)
    assert reader.has(COST)
    assert [one.column(COST).value_of(1) for one in (reader, other)] == [Decimal(5), Decimal(6)]


def test_a_long_column_is_read_in_ranges_side_by_side(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_reader, "PAGES_AT_ONCE", 2)
    values = {num: Decimal(num) for num in (1, 300, 600, 800, 1_100, 5_000)}
    log(table, *(moved(num, None, str(value)) for num, value in values.items()))
    fold(table)
    reader, own = ColumnReader(catalog_of(table), BlockCache(), since=0.0), table.metered()
    reader.read(own, [COST], issues=1_100)
    assert {num: reader.column(COST).value_of(num) for num in reader.column(COST).members} == values
    assert (len(own.meter.calls), own.meter.rounds) == (3, 1)


def test_an_unreadable_page_is_answered_by_503_and_never_by_a_part(
    table: MemoryTable, container: Container
) -> None:
    log(table, moved(1, None, "5"), moved(300, None, "5"))
    fold(table)
    key = derived_keys.column(TENANT, PROJECT, COST), derived_keys.column_page(1)
    table.put({**table.items[key], BITS: b"\xff\x00"})
    with pytest.raises(Overloaded):
        container.numbers()
    assert container.total() == ColumnTotal(2, Decimal(10))


def test_an_item_that_is_no_page_is_not_read(table: MemoryTable, container: Container) -> None:
    log(table, moved(1, None, "5"))
    fold(table)
    partition = derived_keys.column(TENANT, PROJECT, COST)
    stored = table.items[partition, derived_keys.column_page(0)]
    table.put({**stored, keys.SK: "junk", BITS: b"\xff\x00"})
    table.put({**stored, keys.SK: "1"})
    assert container.numbers() == {1: Decimal(5)}


def key(num: int, value: str | None) -> str | None:
    return None if value is None else sort_string(number(Decimal(value)), num)


def overlay(num: int, steps: Sequence[tuple[int, str | None, str | None]], *leaves: str) -> Overlay:
    made = tuple(JournalStep(at, key(num, had), key(num, takes)) for at, had, takes in steps)
    left = tuple(one for one in (key(num, leaf) for leaf in leaves) if one is not None)
    return Overlay([Move(num, {COST: FamilyMove(left, made[-1].takes if made else None, made)}, None)])


TOTALS = Totals(5, {COST: ColumnTotal(3, Decimal(10))})
LOGGED = Logged(last=9, floor=4)


@pytest.mark.parametrize(
    ("over", "logged", "totals", "expected"),
    [
        (Overlay(), LOGGED, TOTALS, ColumnTotal(3, Decimal(10))),
        (overlay(1, [(6, "2", "5")], "2"), LOGGED, TOTALS, ColumnTotal(3, Decimal(13))),
        (overlay(1, [(5, "2", "5")], "2"), LOGGED, TOTALS, ColumnTotal(3, Decimal(10))),
        (overlay(1, [(5, None, "2"), (7, "2", None)], "2"), LOGGED, TOTALS, ColumnTotal(2, Decimal(8))),
        (overlay(1, [(6, None, "1E-130")]), LOGGED, TOTALS, ColumnTotal(4, Decimal("1E-130") + 10)),
        (
            overlay(1, [], "2"),
            LOGGED,
            TOTALS,
            None,
        ),  # a token's issue, whose former number may be folded or not
        (overlay(1, []), LOGGED, TOTALS, ColumnTotal(3, Decimal(10))),  # never had one
        # The journal has it, and not what it had before (a redrive): the total may have it already.
        (overlay(1, []), LOGGED._replace(moves={1: {}}), TOTALS, None),
        (Overlay(), LOGGED._replace(floor=6), TOTALS, None),  # an old copy
        (Overlay(), LOGGED._replace(last=4, floor=0), TOTALS, None),  # a journal that lacks folded items
        (Overlay(), LOGGED, Totals(5, {COST: None}), None),
        (Overlay(), LOGGED, Totals(5), ColumnTotal()),
    ],
)
def test_a_total_is_corrected_where_it_is_certain_what_was_folded(
    over: Overlay, logged: Logged, totals: Totals, expected: ColumnTotal | None
) -> None:
    found = shown_total(over, logged, COST, totals)
    if expected is not None and expected.count == 4:
        assert found is not None
        assert str(found.sum) == f"10.{'0' * 129}1"
    else:
        assert found == expected
