"""The lease on an item: who gets it, the writes of its holder, and how another worker finds it."""

from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.dynamodb.leases import (
    LEASE,
    ItemChanged,
    LeaseLost,
    lease_end,
    new_holder,
    release,
    save,
    take,
    update_held,
)
from gridview.encoding import keys
from gridview.support import clock

PLACE = ("job", "job")
FREE: dict[str, Any] = {
    keys.PK: "job",
    keys.SK: "job",
    keys.SORT: clock.after(-1),
    keys.HOLDER: "",
    "revision": 3,
    "at": 10,
}


@pytest.fixture
def table() -> MemoryTable:
    """A table with an item that is due."""
    table = MemoryTable()
    table.put(FREE)
    return table


def stored(table: MemoryTable) -> dict[str, Any]:
    item = table.get(*PLACE)
    assert item is not None
    return item


def taken(table: MemoryTable, holder: str = "one") -> dict[str, Any]:
    item = take(table, *PLACE, stored(table).get(keys.SORT, ""), holder)
    assert item is not None
    return item


def test_one_of_two_workers_gets_the_item_until_the_end_of_the_lease(table: MemoryTable) -> None:
    item = take(table, *PLACE, FREE[keys.SORT], "one")
    assert item == stored(table)
    assert (item[keys.HOLDER], item["revision"], item["at"]) == ("one", 4, 10)
    assert clock.until(item[keys.SORT]) == pytest.approx(LEASE, abs=5)
    assert take(table, *PLACE, FREE[keys.SORT], "two") is None
    assert stored(table) == item


def test_a_claim_that_is_repeated_succeeds(table: MemoryTable) -> None:
    """The SDK repeats a write whose answer was lost."""
    item = taken(table)
    assert take(table, *PLACE, FREE[keys.SORT], "one") == item
    assert take(MemoryTable(), *PLACE, FREE[keys.SORT], "one") is None


def test_an_item_that_is_not_due_is_taken_only_as_not_due(table: MemoryTable) -> None:
    table.put({name: value for name, value in FREE.items() if name != keys.SORT})
    assert take(table, *PLACE, FREE[keys.SORT], "one") is None
    assert take(table, *PLACE, "", "one") is not None
    assert take(table, *PLACE, "", "two") is None


def test_attributes_are_removed_when_an_item_is_taken(table: MemoryTable) -> None:
    item = take(table, *PLACE, FREE[keys.SORT], "one", drop=["at"])
    assert item is not None
    assert "at" not in item


def test_the_whole_item_is_saved_once_and_by_its_holder(table: MemoryTable) -> None:
    item = taken(table)
    after = {**item, "revision": 5, "at": 20, keys.SORT: lease_end()}
    save(table, after, 4, "one")
    save(table, after, 4, "one")  # the SDK repeats a write whose answer was lost
    assert stored(table) == after
    assert taken(table, "two")["revision"] == 6
    with pytest.raises(LeaseLost) as lost:
        save(table, {**after, "revision": 6, "at": 30}, 5, "one")
    assert lost.value.item == stored(table)
    assert stored(table)["at"] == 20
    table.delete(*PLACE)
    with pytest.raises(LeaseLost):
        save(table, after, 6, "two")


def test_a_concurrent_change_of_other_attributes_is_no_lost_lease(table: MemoryTable) -> None:
    item = taken(table)
    changed = {**item, "revision": 5, "rate": 7}
    table.put(changed)
    with pytest.raises(ItemChanged) as found:
        save(table, {**item, "revision": 5}, 4, "one")
    assert (type(found.value), found.value.item) == (ItemChanged, changed)


def test_attributes_are_changed_by_the_holder_and_beside_others(table: MemoryTable) -> None:
    taken(table)
    table.put({**stored(table), "called": True})
    update_held(table, *PLACE, "one", assign={"at": 20})
    assert (stored(table)["at"], stored(table)["called"]) == (20, True)
    update_held(table, *PLACE, "one", drop=["called"])
    assert "called" not in stored(table)
    taken(table, "two")
    with pytest.raises(LeaseLost):
        update_held(table, *PLACE, "one", assign={"at": 30})
    assert stored(table)["at"] == 20


@pytest.mark.parametrize("due", [None, "2026-11-24T23:00:00.000000Z"])
def test_a_released_item_has_no_holder_and_is_due_again_or_not(table: MemoryTable, due: str | None) -> None:
    taken(table)
    for _ in range(2):  # the SDK repeats a write whose answer was lost
        release(table, *PLACE, "one", due, assign={"at": 20}, drop=["called"])
    assert (stored(table)[keys.HOLDER], stored(table).get(keys.SORT), stored(table)["at"]) == ("", due, 20)
    assert (keys.SORT in stored(table)) == (due is not None)


def test_an_item_is_released_by_its_holder_unless_it_is_called(table: MemoryTable) -> None:
    item = taken(table)
    table.put({**item, "called": True})
    with pytest.raises(ItemChanged) as found:
        release(table, *PLACE, "one", None, unless="called")
    assert not isinstance(found.value, LeaseLost)
    assert stored(table)[keys.HOLDER] == "one"
    with pytest.raises(LeaseLost):
        release(table, *PLACE, "two", None)
    release(table, *PLACE, "one", None)
    table.delete(*PLACE)
    with pytest.raises(LeaseLost):
        release(table, *PLACE, "one", None)


def test_no_two_holders_have_the_same_name() -> None:
    assert new_holder() != new_holder()
