"""The definitions that a check keeps in memory."""

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.fsck.definitions import Definitions
from tests.support import damage
from tests.support.damage import TENANT

PROJECTS = ("bridge", "tower", "tunnel")


@pytest.mark.parametrize(("fields", "read"), [(20_000, 6), (1, 12)])
def test_the_number_of_cached_fields_is_limited(fields: int, read: int) -> None:
    """A project's definitions take one call, and the head of the journal another."""
    table = MemoryTable()
    for project in PROJECTS:
        damage.make_project(table, project)
    metered: MemoryTable = table.metered()
    definitions = Definitions(metered, fields)
    for _ in range(2):
        for project in PROJECTS:
            catalog = definitions.of(TENANT, project).catalog
            assert catalog is not None
            assert catalog.project == project
    assert len(metered.meter.calls) == read
