"""The journal as its readers see it."""

from tests.support.derived_project import log_of, new_table


def test_the_last_items_are_not_those_of_a_late_copy() -> None:
    table = new_table()
    table.stale(lambda _, states: states)
    log = log_of(table)
    for _ in range(3):
        log.close(log.reserve(1))
    assert [item.number for item in log.up_to(3, 2)] == [3, 2]
