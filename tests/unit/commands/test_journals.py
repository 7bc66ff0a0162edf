"""A project comes to be journalled in one step, and only once."""

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands import projects
from gridview.commands.journals import begin_journal
from gridview.support.errors import NotFound
from tests.support.journalled import ADMIN, PROJECT, TENANT, catalog_of, log_of, new_table


def test_a_project_is_journalled_from_its_next_epoch_on() -> None:
    table = new_table(journal=False)
    before = catalog_of(table)
    assert begin_journal(table, TENANT, PROJECT)
    after = catalog_of(table)
    assert (before.journalled, after.journalled) == (False, True)
    assert after.epoch == before.epoch + 1
    assert log_of(table).head().last == 0


def test_a_project_may_be_journalled_from_its_beginning() -> None:
    table = MemoryTable()
    projects.create_project(table, ADMIN, {"name": "Bridge", "id": PROJECT}, journalled=True)
    assert catalog_of(table).journalled
    assert log_of(table).head().last == 0
    assert not begin_journal(table, TENANT, PROJECT)


def test_what_is_journalled_stays_as_it_is() -> None:
    table = new_table()
    log_of(table).reserve(1)
    stored = table.items
    assert not begin_journal(table, TENANT, PROJECT)
    assert table.items == stored


def test_a_project_that_is_not_there_is_not_found() -> None:
    with pytest.raises(NotFound):
        begin_journal(MemoryTable(), TENANT, PROJECT)
