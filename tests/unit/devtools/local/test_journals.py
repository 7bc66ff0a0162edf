"""Every project of the local stack has a journal: those of new data, and once those of data that were there before."""

from pathlib import Path

import pytest

from devtools import files
from devtools.local import journals
from devtools.local.folder import Folder
from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands import projects
from gridview.commands.actor import Actor, Role
from gridview.schema.store import Catalogs


@pytest.fixture
def table() -> MemoryTable:
    table = MemoryTable()
    for tenant, project in (("acme", "bridge"), ("acme", "tower"), ("other", "bridge")):
        projects.create_project(table, Actor(tenant, "ann", Role.ADMIN), {"name": "n", "id": project})
    return table


def journalled(table: MemoryTable) -> list[bool]:
    return [
        Catalogs().get(table, *project).journalled
        for project in (("acme", "bridge"), ("acme", "tower"), ("other", "bridge"))
    ]


def test_every_project_of_every_tenant_is_journalled(table: MemoryTable) -> None:
    assert journals.begin_all(table) == 3
    assert journalled(table) == [True] * 3
    assert journals.begin_all(table) == 0


def test_data_from_before_are_looked_through_once(table: MemoryTable, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.make()
    files.write_json(folder.seed, {"demo": True})
    journals.begin_once(folder, table)
    assert journalled(table) == [True] * 3
    assert files.read_json(folder.seed) == {"demo": True, "journals": True}
    own = table.metered()
    journals.begin_once(folder, own)
    assert own.meter.calls == []
