"""Which indexes have no sort entries."""

from typing import Any

import pytest

from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands import attributes, projects
from gridview.derive.families import has_entries
from gridview.encoding import derived_keys
from gridview.maintenance.job_worker import Worker
from gridview.maintenance.stream_consumer import consume
from gridview.schema.catalog import Catalog
from gridview.schema.fields import WRITERS
from gridview.schema.store import Catalogs
from tests.support import damage
from tests.support.damage import ADMIN, PROJECT, TENANT, catalog_of, key_of

FEW = {"state", "bool", "enum", *WRITERS}
TYPES = ("text", "number", "date", "datetime", "bool", "enum", "multi_enum", "user")


def made() -> MemoryTable:
    """A project with an attribute of each type."""
    table = MemoryTable()
    projects.create_project(table, ADMIN, {"name": "Bridge", "id": PROJECT})
    for kind in TYPES:
        options = {"options": ["a", "b"]} if kind.endswith("enum") else {}
        attributes.create_attribute(
            table, Catalogs(), ADMIN, PROJECT, {"id": kind, "name": kind, "type": kind, **options}
        )
    return table


def without_entries(catalog: Catalog) -> set[str]:
    """The fields whose index has no sort entries."""
    return {order.id for order in catalog.orders if not has_entries(order.order_id)}


def test_indexes_of_few_values_have_no_entries_nor_do_those_that_follow_them() -> None:
    table = made()
    assert without_entries(catalog_of(table)) == FEW
    attributes.rebuild(table, Catalogs(), TENANT, PROJECT, None, rate=0, settling=0)
    assert without_entries(catalog_of(table)) == FEW
    Worker(table, Catalogs(), lambda: 60.0, print, settling=0).work()
    after = {order.id: order.order_id for order in catalog_of(table).orders}
    assert (after["state"], after["created_by"]) == ("state.2b", "created_by.2b")
    assert after["name"] == "name.2"


@pytest.mark.parametrize("field", ["state", "bool", "enum", *WRITERS])
def test_an_index_that_is_switched_off_and_on_has_none_either(field: str) -> None:
    table = made()
    for indexed in (False, True):
        attributes.update_attribute(
            table, Catalogs(), ADMIN, PROJECT, field, {"indexed": indexed}, None, settling=0
        )
    assert without_entries(catalog_of(table)) == FEW


@pytest.mark.parametrize(("field", "value", "entries"), [("enum", "o1", 0), ("number", "7", 1)])
def test_an_edit_writes_an_entry_of_an_index_that_has_them(field: str, value: str, entries: int) -> None:
    table = made()
    found = catalog_of(table).get(field)
    assert found is not None
    assert found.served is not None
    values: dict[str, Any] = {field: value}
    first = damage.document(table, 1, **values)
    table.put(first)
    assert consume(table, Catalogs(), [record(1, None, first)], print) is None
    entry = table.get(key_of(1), derived_keys.order(TENANT, PROJECT, found.served.order_id))
    assert (entry is not None) == bool(entries)
