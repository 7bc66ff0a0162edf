"""The differences that count as faults of an issue's derived data, and other differences."""

import re
from dataclasses import replace
from typing import Any

import pytest

from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands import attributes, composite_indexes, deleted_attributes
from gridview.derive.families import has_entries
from gridview.derive.sort_entries import SPECS, UnknownSpec
from gridview.dynamodb.expressions import Item
from gridview.encoding import derived_keys, keys, sort_strings
from gridview.fsck.issue_diff import DifferenceKind, differences
from gridview.journal.log import Log
from gridview.maintenance.job_worker import Worker
from gridview.maintenance.stream_consumer import consume
from gridview.schema.fields import BUILTINS
from gridview.schema.generations import Index, Indexes, IndexState
from gridview.schema.store import Catalogs
from tests.support import damage
from tests.support.damage import ADMIN, PLANTED, PROJECT, TENANT, Planted, catalog_of, collection, key_of
from tests.support.folds import fold_all

KEY = key_of(1)
COMPOSITE = "c1.1"


@pytest.fixture(scope="module")
def pristine() -> MemoryTable:
    table = MemoryTable()
    damage.make_project(table)
    damage.add_issues(table, 3)
    return table


@pytest.fixture
def table(pristine: MemoryTable) -> MemoryTable:
    return pristine.copy()


def found(table: MemoryTable, key: str = KEY) -> set[tuple[DifferenceKind, str]]:
    head = Log(table, TENANT, PROJECT).head()
    wrong = differences(key, collection(table, key), catalog_of(table), head=head)
    assert all(one.key == key for one in wrong)
    assert len({(one.kind, one.place, one.found) for one in wrong}) == len(wrong)
    return {(one.kind, one.place) for one in wrong}


def take_in(table: MemoryTable, before: Item | None, after: Item | None) -> None:
    """Let the consumer and the fold process a change."""
    assert consume(table, Catalogs(), [record(1, before, after)], print) is None
    assert found(table, key_of((after or before or {})["num"])), "the head does not have it as committed yet"
    fold_all(table, TENANT, PROJECT)


def change_attribute(table: MemoryTable, attribute: str, **body: Any) -> None:
    attributes.update_attribute(table, Catalogs(), ADMIN, PROJECT, attribute, body, None, settling=0)


def put_entry(table: MemoryTable, order_id: str, sort: str, key: str = KEY) -> None:
    """Put an entry, with its string in the ledger."""
    entry = {keys.SORT: sort, "version": 1, "revision": 1}
    damage.change(table, key, damage.order_key(order_id), entry, keys.TTL_ATTRIBUTE)
    damage.claim(table, key, {**damage.applied(table, key), order_id: sort})


def test_kinds_of_differences_have_names_that_can_be_typed() -> None:
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)?", kind) for kind in DifferenceKind)


def test_nothing_is_wrong_with_what_bulk_loads_and_consumers_derive(table: MemoryTable) -> None:
    assert [found(table, key_of(num)) for num in (1, 2, 3)] == [set()] * 3
    before = table.get(KEY, keys.project(TENANT, PROJECT))
    assert before is not None
    after = {**before, "version": 2, "fields": {"a3": 7, "a4": "not indexed"}}
    table.put(after)
    assert found(table)
    take_in(table, before, after)
    assert found(table) == set()


@pytest.mark.parametrize("planted", PLANTED, ids=lambda one: one.name)
def test_each_damage_is_found_for_what_it_is(table: MemoryTable, planted: Planted) -> None:
    planted.inflict(table, KEY)
    assert found(table) == planted.found
    assert found(table, key_of(2)) == set()


def test_a_difference_has_the_found_and_the_expected_value(table: MemoryTable) -> None:
    damage.change(table, KEY, damage.order_key("a1.1"), {keys.SORT: "zz"})
    wrong, ledger = differences(KEY, collection(table, KEY), catalog_of(table))
    expected = f"2024-03-02{sort_strings.SEPARATOR}00000001"
    assert (wrong.found, wrong.expected) == ("zz", expected)
    assert (ledger.found, ledger.expected) == (expected, "zz")
    removed = {"removed": True, keys.TTL_ATTRIBUTE: 9}
    damage.change(table, key_of(2), derived_keys.LEDGER, removed)
    (wrong,) = differences(key_of(2), collection(table, key_of(2)), catalog_of(table))
    assert (wrong.place, wrong.found) == (derived_keys.LEDGER, "removed")


def test_a_ledger_may_be_older_than_an_edit_that_changed_nothing_indexed(table: MemoryTable) -> None:
    damage.change(table, KEY, keys.project(TENANT, PROJECT), {"version": 5})
    assert found(table) == set()


def test_an_issue_without_values_needs_a_ledger_that_says_that_it_is_there(table: MemoryTable) -> None:
    for builtin in BUILTINS:
        change_attribute(table, builtin, indexed=False)
    Worker(table, Catalogs(), lambda: 60.0, print, settling=0).work()
    made = damage.document(table, 8)
    table.put(made)
    assert found(table, key_of(8)) == {(DifferenceKind.LEDGER, "num")}
    take_in(table, None, made)
    assert found(table, key_of(8)) == set()


def test_a_removed_issue_has_a_ledger_that_expires_or_none(table: MemoryTable) -> None:
    before = table.get(KEY, keys.project(TENANT, PROJECT))
    table.delete(KEY, keys.project(TENANT, PROJECT))
    take_in(table, before, None)
    assert found(table) == set()
    tombstones = collection(table, KEY)
    damage.change(table, KEY, derived_keys.LEDGER, {}, keys.TTL_ATTRIBUTE)
    assert found(table) == {(DifferenceKind.EXPIRY, derived_keys.LEDGER)}
    table.delete(KEY, derived_keys.LEDGER)
    assert found(table) == set()
    assert len(tombstones) == 6


def test_an_index_that_is_being_built_may_lack_entries_but_not_have_wrong_ones(table: MemoryTable) -> None:
    change_attribute(table, "note", indexed=True)
    assert found(table) == set()
    put_entry(table, "a4.1", "n\x0100000001")
    assert found(table) == set()
    put_entry(table, "a4.1", "zz")
    assert found(table) == {(DifferenceKind.WRONG, "a4.1")}
    Worker(table, Catalogs(), lambda: 60.0, print, settling=0).work()
    assert found(table) == set()
    table.delete(KEY, damage.order_key("a4.1"))
    assert found(table) == {(DifferenceKind.MISSING, "a4.1"), (DifferenceKind.LEDGER, "a4.1")}


def test_entries_of_an_index_that_is_leaving_may_be_there_until_it_is_gone(table: MemoryTable) -> None:
    change_attribute(table, "size", indexed=False)
    assert found(table) == set()
    left = table.get(KEY, damage.order_key("a3.1"))
    assert left is not None
    Worker(table, Catalogs(), lambda: 60.0, print, settling=0).work()
    assert found(table) == set()
    put_entry(table, "a3.1", left[keys.SORT])
    assert found(table) == {(DifferenceKind.EXTRA, "a3.1")}


def test_entries_of_an_attribute_that_is_being_deleted_may_be_there_until_it_is_gone(
    table: MemoryTable,
) -> None:
    attributes.delete_attribute(table, Catalogs(), ADMIN, PROJECT, "size", None)
    assert found(table) == set()
    deleted_attributes.purge_attribute(table, Catalogs(), ADMIN, PROJECT, "size", None, settling=0)
    assert found(table) == set()
    Worker(table, Catalogs(), lambda: 60.0, print, settling=0).work()
    assert found(table) == set()
    put_entry(table, "a3.1", "x")
    assert found(table) == {(DifferenceKind.EXTRA, "a3.1")}


def test_while_options_are_being_moved_an_issue_may_have_either_rank() -> None:
    table = MemoryTable()
    damage.make_project(table)
    sort = [{"field": "kind"}, {"field": "size"}]
    composite_indexes.create_composite(table, Catalogs(), ADMIN, PROJECT, {"sort": sort}, settling=0)
    Worker(table, Catalogs(), lambda: 60.0, print, settling=0).work()
    damage.add_issues(table, 3)
    issues = [key_of(num) for num in (1, 2, 3)]
    before = {key: damage.applied(table, key)[COMPOSITE] for key in issues}
    change_attribute(table, "kind", options=[{"value": "c"}, {"value": "a"}, {"value": "b"}])
    assert [found(table, key) for key in issues] == [set()] * 3
    put_entry(table, COMPOSITE, before[KEY] + "z")
    assert found(table) == {(DifferenceKind.WRONG, COMPOSITE)}
    put_entry(table, COMPOSITE, before[KEY])
    done = table.copy()
    Worker(done, Catalogs(), lambda: 60.0, print, settling=0).work()
    after = {key: damage.applied(done, key)[COMPOSITE] for key in issues}
    moved = [key for key in issues if after[key] != before[key]]
    assert moved
    for key in moved:
        put_entry(table, COMPOSITE, after[key], key)
        assert found(table, key) == set()
        assert found(done, key) == set()
        put_entry(done, COMPOSITE, before[key], key)
        assert found(done, key) == {(DifferenceKind.WRONG, COMPOSITE)}


def claim(table: MemoryTable, family: str, derived: str, key: str = KEY) -> None:
    """Let the ledger claim that the issue has this string."""
    damage.claim(table, key, {**damage.applied(table, key), family: derived})


def test_while_options_are_being_moved_a_ledger_may_name_either_rank_of_an_order_without_entries(
    table: MemoryTable,
) -> None:
    issues = [key_of(num) for num in (1, 2, 3)]
    before = {key: damage.applied(table, key)[damage.KIND] for key in issues}
    change_attribute(table, "kind", options=[{"value": "c"}, {"value": "a"}, {"value": "b"}])
    assert [found(table, key) for key in issues] == [set()] * 3
    claim(table, damage.KIND, before[KEY] + "z")
    assert found(table) == {(DifferenceKind.LEDGER, damage.KIND)}
    claim(table, damage.KIND, before[KEY])
    done = table.copy()
    Worker(done, Catalogs(), lambda: 60.0, print, settling=0).work()
    after = {key: damage.applied(done, key)[damage.KIND] for key in issues}
    moved = [key for key in issues if after[key] != before[key]]
    assert moved
    for key in moved:
        claim(table, damage.KIND, after[key], key)
        assert found(table, key) == set()
        assert found(done, key) == set()
        claim(done, damage.KIND, before[key], key)
        assert found(done, key) == {(DifferenceKind.LEDGER, damage.KIND)}


def test_an_index_without_entries_may_be_missing_in_ledgers_while_it_is_built_or_leaving(
    table: MemoryTable,
) -> None:
    before = damage.applied(table, KEY)[damage.KIND]
    attributes.rebuild(table, Catalogs(), TENANT, PROJECT, ["kind"], rate=0, settling=0)
    assert found(table) == set()
    claim(table, "a2.2b", before)
    assert found(table) == set()
    claim(table, "a2.2b", "x")
    assert found(table) == {(DifferenceKind.LEDGER, "a2.2b")}
    claim(table, "a2.2b", before)
    change_attribute(table, "kind", indexed=False)
    assert found(table) == set()
    Worker(table, Catalogs(), lambda: 60.0, print, settling=0).work()
    assert found(table) == set()
    claim(table, damage.KIND, before)
    assert found(table) == {(DifferenceKind.LEDGER, damage.KIND)}


def test_nothing_derived_of_a_deleted_project_may_be_there_unless_it_is_just_being_removed(
    table: MemoryTable,
) -> None:
    items = collection(table, KEY)
    assert differences(KEY, items, None, removing=True) == []
    kinds = {(one.kind, one.place) for one in differences(KEY, items, None)}
    claimed = set(damage.applied(table, KEY))
    live = {family for family in claimed if has_entries(family)}
    found_now = {
        *((DifferenceKind.EXTRA, order_id) for order_id in live),
        *((DifferenceKind.LEDGER, one) for one in claimed - live),
    }
    assert kinds == {(DifferenceKind.ORPHAN, "document"), *found_now}
    no_document = [item for item in items if item[keys.SK] != keys.project(TENANT, PROJECT)]
    kinds = {(one.kind, one.place) for one in differences(KEY, no_document, None)}
    assert kinds == {(DifferenceKind.LEDGER, derived_keys.LEDGER), *found_now}


@pytest.mark.parametrize(
    "spoiled", [{"fields": {"a2": "o99"}}, {"num": 2}, {"version": "x"}, {"fields": {"a1": 7}}]
)
def test_a_document_that_nothing_can_be_derived_from_is_reported_as_underivable(
    table: MemoryTable, spoiled: dict[str, Any]
) -> None:
    damage.change(table, KEY, keys.project(TENANT, PROJECT), spoiled)
    assert found(table) == {(DifferenceKind.UNDERIVABLE, "document")}


def test_an_index_of_a_later_version_of_this_code_is_not_judged(table: MemoryTable) -> None:
    catalog = catalog_of(table)
    start, *others = catalog.attributes
    later = Index(1, IndexState.READY, 0, spec=max(SPECS) + 1)
    newer = replace(catalog, attributes=(replace(start, indexes=Indexes((later,), 2)), *others))
    with pytest.raises(UnknownSpec):
        differences(KEY, collection(table, KEY), newer)


def test_a_key_that_is_none_of_an_issue_is_unknown(table: MemoryTable) -> None:
    (wrong,) = differences("issue-x", [], catalog_of(table))
    assert (wrong.kind, wrong.place) == (DifferenceKind.UNKNOWN, keys.PK)
