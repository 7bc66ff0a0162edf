"""Containers whose catalog is a few seconds old lose no value that another container has written meanwhile."""

from typing import Any

import pytest

from gridview import attributes, issues, projects
from gridview.catalog import Catalog
from gridview.catalogs import Catalogs
from gridview.identity import Actor
from gridview.routes import Role
from tests.fake_table import FakeTable

TENANT, PROJECT = "acme", "bridge"
ADMIN = Actor(TENANT, "ada", Role.ADMIN)


@pytest.fixture
def table() -> FakeTable:
    table = FakeTable()
    projects.create_project(table, ADMIN, {"name": "Bridge", "id": PROJECT})
    add(table, "first")
    return table


def add(table: FakeTable, attribute: str) -> None:
    attributes.create_attribute(
        table, Catalogs(), ADMIN, PROJECT, {"name": attribute, "id": attribute, "type": "text"}
    )


def now(table: FakeTable) -> Catalog:
    return Catalogs().get(table, TENANT, PROJECT)


def update(table: FakeTable, catalog: Catalog, **body: Any) -> dict[str, Any]:
    fields: dict[str, Any] = issues.update_issue(table, catalog, ADMIN, 1, body, None)["fields"]
    return fields


def test_an_edit_keeps_the_value_of_an_attribute_that_is_newer_than_its_catalog(table: FakeTable) -> None:
    stale = now(table)
    issues.create_issue(table, stale, ADMIN, {"name": "n", "fields": {"first": "x"}})
    add(table, "second")
    update(table, now(table), fields={"second": "y"})
    assert update(table, stale, name="renamed") == {"a1": "x", "a2": "y"}


def test_an_edit_drops_the_value_of_an_attribute_that_was_deleted(table: FakeTable) -> None:
    add(table, "second")
    issues.create_issue(table, now(table), ADMIN, {"name": "n", "fields": {"first": "x", "second": "y"}})
    attributes.delete_attribute(table, Catalogs(), ADMIN, PROJECT, "first", None)
    assert update(table, now(table), name="renamed") == {"a2": "y"}


def test_a_new_attribute_of_the_same_id_does_not_inherit_values(table: FakeTable) -> None:
    issues.create_issue(table, now(table), ADMIN, {"name": "n", "fields": {"first": "x"}})
    attributes.delete_attribute(table, Catalogs(), ADMIN, PROJECT, "first", None)
    add(table, "first")
    assert update(table, now(table), name="renamed") == {}
