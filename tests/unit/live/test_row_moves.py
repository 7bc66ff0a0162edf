"""The effect of changes on rows, if the document is ahead of them, gone, or unreliable; and its cost."""

from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.dynamodb.expressions import Item
from gridview.encoding import keys
from gridview.live.change_requests import rows_of
from gridview.live.followed_rows import FollowedRows, RowMove
from gridview.live.row_moves import Unjudged, moves_of
from gridview.schema.catalog import Catalog
from gridview.schema.history import Change, Values, to_items
from gridview.support import clock
from tests.support.derived_project import PROJECT, TENANT, catalog_of, new_table

NOW = 1_780_000_000.0
JUST_NOW, LONG_AGO = "2026-05-28T20:26:30.000000Z", "2026-05-01T00:00:00.000000Z"
KIND_A = {"filter": {"field": "kind", "op": "eq", "value": "a"}}


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> MemoryTable:
    monkeypatch.setattr(clock, "seconds", lambda: NOW)
    return new_table()


@pytest.fixture
def catalog(table: MemoryTable) -> Catalog:
    return catalog_of(table)


def key_of(catalog: Catalog, field_id: str) -> str:
    field = catalog.get(field_id)
    assert field is not None
    return field.key


def document(catalog: Catalog, version: int, updated: str = LONG_AGO, **more: Any) -> Item:
    return {
        keys.PK: keys.issue(TENANT, PROJECT, 7),
        keys.SK: keys.project(TENANT, PROJECT),
        "num": 7,
        "name": "n",
        "state": "o1",
        "fields": {key_of(catalog, "kind"): "o1"},
        "created": LONG_AGO,
        "updated": updated,
        "version": version,
        "changed": {"name": version},
        **more,
    }


def renamed(version: int, **more: Any) -> Change:
    return Change(7, version, "update", "ann", LONG_AGO, None, {"name": Values("m", "n")}, LONG_AGO, **more)


def remembered(table: MemoryTable, *changes: Change) -> None:
    for change in changes:
        for item in to_items(TENANT, PROJECT, change, int(NOW) + 1_000):
            table.put(item)


def judged(table: MemoryTable, catalog: Catalog, rows: FollowedRows, *changes: Change) -> list[Any]:
    return [
        verdict.move if isinstance(verdict, RowMove) else verdict
        for verdict in moves_of(table, catalog, rows, changes)
    ]


def test_changes_with_all_values_need_no_reads(table: MemoryTable, catalog: Catalog) -> None:
    kind = key_of(catalog, "kind")
    created = Change(
        7, 1, "create", "ann", LONG_AGO, None, {"name": Values(None, "n"), kind: Values(None, "o1")}
    )
    deleted = Change(
        7, 3, "delete", "bob", JUST_NOW, None, {"name": Values("n", None), kind: Values("o1", None)}, LONG_AGO
    )
    own = table.metered()
    rows = rows_of(catalog, {**KIND_A, "sort": [{"field": "start"}, {"field": "updated"}]})
    assert judged(own, catalog, rows, created, renamed(2), deleted) == [
        "enter",
        "update",
        "leave",
    ]
    assert own.meter.calls == []


def test_fields_that_a_creation_omits_are_empty(table: MemoryTable, catalog: Catalog) -> None:
    fields = {"name": Values(None, "n"), key_of(catalog, "kind"): Values(None, "o1")}
    created = Change(7, 1, "create", "ann", LONG_AGO, None, fields)
    own = table.metered()
    rows = rows_of(catalog, {**KIND_A, "sort": [{"field": "start"}]})
    assert judged(own, catalog, rows, created) == ["enter"]
    assert own.meter.calls == []


def test_a_document_of_this_version_is_one_read(table: MemoryTable, catalog: Catalog) -> None:
    table.put(document(catalog, 2))
    own = table.metered()
    assert judged(own, catalog, rows_of(catalog, KIND_A), renamed(2)) == ["update"]
    assert own.meter.capacity == 1


@pytest.mark.parametrize(("updated", "expected"), [(JUST_NOW, Unjudged.YET), (LONG_AGO, Unjudged.FOREVER)])
def test_a_field_that_changed_later_comes_from_that_change_or_is_waited_for(
    table: MemoryTable, catalog: Catalog, updated: str, expected: Unjudged
) -> None:
    kind, rows = key_of(catalog, "kind"), rows_of(catalog, KIND_A)
    table.put(document(catalog, 4, updated, fields={}, changed={kind: 4}))
    assert judged(table, catalog, rows, renamed(2)) == [expected]
    later = Change(7, 4, "update", "ann", updated, None, {kind: Values("o1", None)}, LONG_AGO)
    remembered(table, later)
    assert judged(table, catalog, rows, renamed(2)) == [expected]  # 3 may have changed it too
    remembered(table, renamed(3))
    assert judged(table, catalog, rows, renamed(2)) == ["update"]


def test_the_first_later_change_of_a_field_has_its_value(table: MemoryTable, catalog: Catalog) -> None:
    kind = key_of(catalog, "kind")
    table.put(document(catalog, 4, fields={kind: "o1"}, changed={kind: 4}))
    edits = (("o2", None), (None, "o1"))
    remembered(
        table,
        *(
            Change(7, version, "update", "ann", LONG_AGO, None, {kind: Values(*edit)}, LONG_AGO)
            for version, edit in zip((3, 4), edits, strict=True)
        ),
    )
    assert judged(table, catalog, rows_of(catalog, KIND_A), renamed(2)) == [None]  # it was o2 then


def test_a_document_older_than_the_change_gives_no_value(table: MemoryTable, catalog: Catalog) -> None:
    table.put(document(catalog, 1))
    assert judged(table, catalog, rows_of(catalog, KIND_A), renamed(2)) == [Unjudged.FOREVER]


@pytest.mark.parametrize("remember", [True, False])
def test_the_deletion_of_an_issue_without_a_document_has_its_values(
    table: MemoryTable, catalog: Catalog, remember: bool
) -> None:
    kind = key_of(catalog, "kind")
    rows = rows_of(catalog, {**KIND_A, "sort": [{"field": "created"}, {"field": "start"}]})
    gone = Change(7, 3, "delete", "", LONG_AGO, None, {kind: Values("o1", None)}, LONG_AGO, created=LONG_AGO)
    if remember:
        remembered(table, gone)
    assert judged(table, catalog, rows, renamed(2)) == ["update" if remember else Unjudged.FOREVER]


def test_an_option_that_no_longer_exists_is_not_judged(table: MemoryTable, catalog: Catalog) -> None:
    table.put(document(catalog, 2, fields={key_of(catalog, "kind"): "o99"}))
    rows = rows_of(catalog, {"sort": [{"field": "kind"}]})
    assert judged(table, catalog, rows, renamed(2)) == [Unjudged.FOREVER]


def test_a_value_that_is_none_of_its_field_is_not_judged(table: MemoryTable, catalog: Catalog) -> None:
    table.put(document(catalog, 2, fields={key_of(catalog, "start"): "1 May 2023"}))
    rows = rows_of(catalog, {"sort": [{"field": "start"}]})
    assert judged(table, catalog, rows, renamed(2)) == [Unjudged.FOREVER]


def test_when_the_version_before_was_made_is_not_guessed(table: MemoryTable, catalog: Catalog) -> None:
    """The former document was written past the API: it had no instant."""
    table.put(document(catalog, 2))
    plain = Change(7, 2, "update", "ann", LONG_AGO, None, {"name": Values("m", "n")})
    by_update = rows_of(catalog, {"sort": [{"field": "updated"}]})
    assert judged(table, catalog, by_update, plain) == [Unjudged.FOREVER]
    assert judged(table, catalog, by_update, renamed(2)) == ["update"]
    assert judged(table, catalog, rows_of(catalog, KIND_A), plain) == ["update"]


def test_who_made_the_version_before_is_not_guessed(table: MemoryTable, catalog: Catalog) -> None:
    table.put(document(catalog, 2, created_by="ann"))
    by_writer = rows_of(catalog, {"filter": {"field": "updated_by", "op": "eq", "value": "ann"}})
    assert judged(table, catalog, by_writer, renamed(2)) == [Unjudged.FOREVER]
    assert judged(table, catalog, by_writer, renamed(2, was_by="bob")) == ["enter"]
    assert judged(table, catalog, by_writer, renamed(2, was_by="ann")) == ["update"]
    by_creator = rows_of(catalog, {"filter": {"field": "created_by", "op": "eq", "value": "ann"}})
    assert judged(table, catalog, by_creator, renamed(2)) == ["update"]


def test_issues_are_judged_each_by_itself(table: MemoryTable, catalog: Catalog) -> None:
    table.put(document(catalog, 2))
    other = Change(8, 5, "update", "ann", LONG_AGO, None, {"name": Values("m", "n")}, LONG_AGO)
    rows = rows_of(catalog, KIND_A)
    assert judged(table, catalog, rows, other, renamed(2), other) == [
        Unjudged.FOREVER,
        "update",
        Unjudged.FOREVER,
    ]


def test_the_fingerprints_of_rows_differ_by_filter_order_and_form(catalog: Catalog) -> None:
    queries: list[dict[str, Any]] = [
        {},
        KIND_A,
        {"filter": {"field": "kind", "op": "eq", "value": "b"}},
        {"sort": [{"field": "kind"}]},
        {"sort": [{"field": "kind", "direction": "desc"}]},
        {"sort": [{"field": "kind", "nulls": "first"}]},
        {"sort": [{"field": "kind"}, {"field": "start"}]},
        {**KIND_A, "sort": [{"field": "kind"}]},
    ]
    fingerprints = [rows_of(catalog, query).fingerprint for query in queries]
    assert len(set(fingerprints)) == len(queries)
    assert fingerprints == [rows_of(catalog, query).fingerprint for query in queries]
