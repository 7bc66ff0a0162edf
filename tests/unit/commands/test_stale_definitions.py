"""Containers whose catalog is a few seconds old lose no value that another container has written meanwhile."""

from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands import attributes, deleted_attributes, issues, projects
from gridview.commands.actor import Actor, Role
from gridview.commands.context import WriteContext
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs

TENANT, PROJECT = "acme", "bridge"
ADMIN = Actor(TENANT, "ada", Role.ADMIN)


@pytest.fixture
def table() -> MemoryTable:
    table = MemoryTable()
    projects.create_project(table, ADMIN, {"name": "Bridge", "id": PROJECT})
    add(table, "first")
    return table


def add(table: MemoryTable, attribute: str) -> None:
    attributes.create_attribute(
        table, Catalogs(), ADMIN, PROJECT, {"name": attribute, "id": attribute, "type": "text"}
    )


def now(table: MemoryTable) -> Catalog:
    return Catalogs().get(table, TENANT, PROJECT)


def update(table: MemoryTable, catalog: Catalog, **body: Any) -> dict[str, Any]:
    fields: dict[str, Any] = issues.update_issue(WriteContext(table, catalog, ADMIN), 1, body, None).document[
        "fields"
    ]
    return fields


def test_an_edit_keeps_the_value_of_an_attribute_that_is_newer_than_its_catalog(table: MemoryTable) -> None:
    stale = now(table)
    issues.create_issue(WriteContext(table, stale, ADMIN), {"name": "n", "fields": {"first": "x"}})
    add(table, "second")
    update(table, now(table), fields={"second": "y"})
    assert update(table, stale, name="renamed") == {"a1": "x", "a2": "y"}


def delete(table: MemoryTable) -> None:
    attributes.delete_attribute(table, Catalogs(), ADMIN, PROJECT, "first", None)


def purge(table: MemoryTable) -> None:
    deleted_attributes.purge_attribute(table, Catalogs(), ADMIN, PROJECT, "first", None, settling=0)


def test_an_edit_drops_the_value_of_a_purged_attribute(table: MemoryTable) -> None:
    add(table, "second")
    issues.create_issue(
        WriteContext(table, now(table), ADMIN), {"name": "n", "fields": {"first": "x", "second": "y"}}
    )
    delete(table)
    assert update(table, now(table), name="renamed") == {"a1": "x", "a2": "y"}, "it can be restored"
    purge(table)
    assert update(table, now(table), name="again") == {"a2": "y"}


def test_a_value_written_under_a_deleted_attribute_goes_with_the_next_edit(table: MemoryTable) -> None:
    stale = now(table)
    issues.create_issue(WriteContext(table, stale, ADMIN), {"name": "n"})
    delete(table)
    purge(table)
    assert update(table, stale, fields={"first": "x"}) == {"a1": "x"}
    assert update(table, now(table), name="renamed") == {}


def test_the_container_that_purges_an_attribute_knows_of_it(table: MemoryTable) -> None:
    catalogs = Catalogs()
    delete(table)
    assert not catalogs.get(table, TENANT, PROJECT).removed("a1")
    deleted_attributes.purge_attribute(table, catalogs, ADMIN, PROJECT, "first", None, settling=0)
    assert catalogs.get(table, TENANT, PROJECT).removed("a1")
