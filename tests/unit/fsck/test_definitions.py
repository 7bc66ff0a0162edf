"""The definitions that a check keeps in memory."""

from collections.abc import Callable
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
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


def test_definitions_are_never_those_of_a_late_copy() -> None:
    read: list[bool] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        read.append(attempted.consistent)
        return perform()

    table = MemoryTable()
    damage.make_project(table, "bridge")
    definitions = Definitions(table.seen_through(around))
    for project in ("bridge", "removed"):
        definitions.of(TENANT, project)
    assert read == [True] * 4
