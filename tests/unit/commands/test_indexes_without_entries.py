"""Which indexes are begun without sort entries, and that this is so in every form that a stack may have to write."""

from typing import Any

import pytest

from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands import attributes, projects, reads
from gridview.dynamodb.expressions import Item
from gridview.encoding import keys
from gridview.index.families import has_entries
from gridview.index.stream_consumer import consume
from gridview.maintenance.job_worker import Worker
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs
from gridview.support import forms
from tests.support import damage
from tests.support.damage import ADMIN, PROJECT, TENANT, catalog_of, key_of

TYPES = ("text", "number", "date", "datetime", "bool", "enum", "multi_enum", "user")


def made(form: int) -> MemoryTable:
    """A project with an attribute of each type, begun in a form."""
    forms.write_up_to(form)
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


def test_indexes_of_few_values_have_no_entries() -> None:
    assert without_entries(catalog_of(made(forms.NEWEST))) == {"state", "bool", "enum"}


def test_all_have_entries_while_older_containers_are_at_work() -> None:
    table = made(forms.OLDEST)
    assert without_entries(catalog_of(table)) == set()
    assert not [item for item in table.items.values() if item[keys.SK].endswith(".state")]


def test_an_index_that_has_entries_keeps_them_until_it_is_rebuilt() -> None:
    table = made(forms.OLDEST)
    forms.write_up_to(forms.NEWEST)
    change = {"options": [{"value": "b"}, {"value": "a"}]}
    attributes.update_attribute(table, Catalogs(), ADMIN, PROJECT, "enum", change, None, settling=0)
    assert without_entries(catalog_of(table)) == set()
    before = {order.id: order.order_id for order in catalog_of(table).orders}
    attributes.rebuild(table, Catalogs(), TENANT, PROJECT, None, rate=0, settling=0)
    both = catalog_of(table)
    assert without_entries(both) == {"state", "bool", "enum"}
    served = {field.id: field.served.order_id for field in (*both.builtins, *both.attributes) if field.served}
    assert served == before
    Worker(table, Catalogs(), lambda: 60.0, print, settling=0).work()
    after = {order.id: order.order_id for order in catalog_of(table).orders}
    assert after["state"] == "state.2b"
    assert after["name"] == "name.2"


@pytest.mark.parametrize("field", ["state", "bool", "enum"])
def test_an_index_that_is_switched_off_and_on_begins_without(field: str) -> None:
    table = made(forms.OLDEST)
    forms.write_up_to(forms.NEWEST)
    for indexed in (False, True):
        attributes.update_attribute(
            table, Catalogs(), ADMIN, PROJECT, field, {"indexed": indexed}, None, settling=0
        )
    assert without_entries(catalog_of(table)) == {field}


def test_the_api_does_not_tell_the_difference() -> None:
    told = []
    for form in (forms.OLDEST, forms.NEWEST):
        project = reads.get_project(made(form), ADMIN, PROJECT)
        told.append(without_times(project))
    assert told[0] == told[1]


def without_times(value: Any) -> Any:
    """What an answer says besides instants and versions of definitions."""
    if isinstance(value, dict):
        kept = {name: one for name, one in value.items() if name not in {"created", "updated"}}
        return {name: without_times(one) for name, one in kept.items()}
    return [without_times(one) for one in value] if isinstance(value, list) else value


def test_an_edit_writes_an_entry_of_the_old_index_and_none_of_the_new() -> None:
    for form, entries in ((forms.OLDEST, 1), (forms.NEWEST, 0)):
        table = made(form)
        catalog = catalog_of(table)
        field = catalog.get("enum")
        assert field is not None
        first = damage.document(table, 1, enum="o1")
        second = {**first, "version": 2, "fields": {field.key: "o2"}}
        last = {**second, "version": 3, "fields": {}}
        served = field.served
        assert served is not None
        seen = []
        old: Item | None = None
        for place, document in enumerate((first, second, last), 1):
            table.put(document)
            assert consume(table, Catalogs(), [record(place, old, document)], print) is None
            seen.append(table.get(key_of(1), keys.order(TENANT, PROJECT, served.order_id)))
            old = document
        assert sum(one is not None for one in seen) == 3 * entries
