"""The removal of a deleted project's own partitions, page after page, without items of other partitions."""

from collections import Counter

from devtools.proof.faults.memory_table import MemoryTable
from gridview.dynamodb.partitions import remove_partition
from gridview.encoding import keys
from gridview.maintenance.removal import remove_activity, remove_histories
from gridview.schema.catalog import HISTORY
from gridview.schema.change_entries import list_items
from gridview.schema.history import Change
from tests.support.recorded_changes import items_of


def filled(count: int) -> MemoryTable:
    table = MemoryTable()
    for partition in ("view-0807.35e9", "view-0807.35e", "view-0807.35e91"):
        table.batch_put({keys.PK: partition, keys.SK: f"shared/{num:08}"} for num in range(count))
    return table


def left_in(table: MemoryTable) -> dict[str, int]:
    found: dict[str, int] = {}
    for partition, _ in table.items:
        found[partition] = found.get(partition, 0) + 1
    return found


def test_all_pages_of_it_go_and_nothing_else() -> None:
    table = filled(250)
    assert remove_partition(table, "view-0807.35e9", lambda: 1.0)
    assert left_in(table) == {"view-0807.35e": 250, "view-0807.35e91": 250}
    assert remove_partition(table, "view-0807.35e9", lambda: 1.0), "of nothing there is nothing left"


def test_when_the_time_is_up_another_call_continues() -> None:
    table = filled(250)
    seconds = iter([2.0, 1.0, 0.0])
    assert not remove_partition(table, "view-0807.35e9", lambda: next(seconds))
    assert left_in(table)["view-0807.35e9"] == 50
    assert not remove_partition(table, "view-0807.35e9", lambda: 0.0)
    assert left_in(table)["view-0807.35e9"] == 50
    assert remove_partition(table, "view-0807.35e9", lambda: 1.0)
    assert "view-0807.35e9" not in left_in(table)


def remembered(count: int) -> MemoryTable:
    """So many changes of two projects, one issue each, in batches of three."""
    table = MemoryTable()
    for project in ("35e9", "other"):
        for num in range(1, count + 1):
            at = f"2026-11-21T08:00:00.{num:06}Z"
            change = Change(num, 1, "create", "ann", at, (num // 3).to_bytes(16), {})
            table.batch_put(items_of("0807", project, HISTORY, change))
    return table


def of_project(table: MemoryTable, project: str) -> Counter[str]:
    return Counter(pk.partition("-")[0] for pk, _ in table.items if project in pk.split("."))


def test_a_projects_history_goes_and_no_other_projects() -> None:
    table = remembered(250)
    remove_histories(table, "0807", "35e9", range(1, 251))
    assert remove_activity(table, "0807", "35e9", lambda: 1.0)
    assert of_project(table, "35e9") == {}
    assert of_project(table, "other") == {"history": 250, "activity": 250, "change": 250}


def test_the_activity_contains_changes_until_their_parts_are_gone() -> None:
    table = remembered(250)
    for stops in range(1, 12):
        seconds = iter([1.0] * stops)
        remove_activity(table, "0807", "35e9", lambda seconds=seconds: next(seconds, 0.0))  # type: ignore[misc]
        left = of_project(table, "35e9")
        assert left["change"] <= left["activity"]
    assert remove_activity(table, "0807", "35e9", lambda: 1.0)
    assert of_project(table, "35e9") == {"history": 250}


def test_each_turn_makes_progress_however_many_changes_a_page_names() -> None:
    table = MemoryTable()
    for second in range(20):
        at = f"2026-11-21T08:00:{second:02}.000000Z"
        changes = [
            Change(num, 1, "create", "ann", at, (50 * second + num).to_bytes(16), {}) for num in range(1, 51)
        ]
        table.batch_put(list_items("0807", "35e9", HISTORY, changes))
    turns = 0
    while True:
        calls = iter(range(300))  # a turn has time for so many; the page names 1,000 changes
        turns += 1
        if remove_activity(table, "0807", "35e9", lambda calls=calls: float(next(calls, None) is not None)):  # type: ignore[misc]
            break
        assert turns < 10
    assert of_project(table, "35e9") == {}
