"""Pages of columns: their keys, what a change makes of them, and what is no page."""

from decimal import Decimal
from typing import Any

import pytest

from gridview.chains.column_pages import BITS, ColumnPage, by_page, page_of
from gridview.encoding import keys
from gridview.encoding.number_pages import UnreadablePage, sum_of, values_of

EMPTY = ColumnPage("a1.1", 1_025)
FIRST = 1_025 * 256


def test_a_page_comes_back_from_its_item() -> None:
    page = EMPTY.changed({FIRST: Decimal(5), FIRST + 255: Decimal("1.5")}, 7)
    item = page.to_item("0807", "35e9")
    assert (item[keys.PK], item[keys.SK]) == ("column-0807.35e9.a1.1", "001025")
    assert ColumnPage.from_item(item) == page
    assert values_of(page.slices) == {0: Decimal(5), 255: Decimal("1.5")}


def test_each_change_has_a_write_id_of_its_own_and_no_lower_position() -> None:
    once = EMPTY.changed({FIRST: Decimal(5)}, 7)
    again = once.changed({FIRST: Decimal(6)}, 3)
    back = again.changed({FIRST: Decimal(5)}, 9)
    assert len({EMPTY.write_id, once.write_id, again.write_id, back.write_id}) == 4
    assert [once.position, again.position, back.position] == [7, 7, 9]
    assert back.stored == once.stored
    assert sum_of(again.slices) == 6


def test_a_page_without_numbers_is_kept_with_its_position() -> None:
    page = EMPTY.changed({FIRST: Decimal(5)}, 7).changed({FIRST: None}, 8)
    assert (page.stored, page.position) == (b"", 8)
    assert ColumnPage.from_item(page.to_item("0807", "35e9")) == page


def test_issues_by_page() -> None:
    assert by_page({1: None, 255: None, 256: None}) == {0: {1: None, 255: None}, 1: {256: None}}
    assert page_of(99_999_999) == 390_624


ITEM = EMPTY.changed({FIRST: Decimal(5)}, 7).to_item("0807", "35e9")


@pytest.mark.parametrize(
    "change",
    [
        {keys.PK: "block-0807.35e9.a1.1.1"},
        {keys.PK: "column-0807.35e9"},
        {keys.SK: "first"},
        {"write_id": 5},
        {"write_id": ""},
        {"at": "x"},
        {"at": -1},
        {BITS: "text"},
        {BITS: None},
    ],
)
def test_what_is_no_page_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(UnreadablePage):
        ColumnPage.from_item(ITEM | change)


def test_an_item_that_lacks_something_is_no_page() -> None:
    for name in ("write_id", "at", BITS):
        with pytest.raises(UnreadablePage):
            ColumnPage.from_item({key: value for key, value in ITEM.items() if key != name})
