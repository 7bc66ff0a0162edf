"""Whether issues use an option, according to indexes and documents."""

from dataclasses import replace
from typing import Any

import pytest

from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from gridview.chains import blocks
from gridview.commands import attributes
from gridview.commands.option_usage import TOLERATED_LAG, options_in_use
from gridview.dynamodb.expressions import Item
from gridview.maintenance.stream_consumer import consume
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Changes
from gridview.schema.fields import MAX_OPTIONS, Field
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.errors import Conflict, LimitExceeded
from gridview.view import freshness
from tests.support.derived_project import ADMIN, PROJECT, catalog_of, fold, new_table
from tests.unit.query.test_grouping import Loaded

OPTIONS = [f"v{place}" for place in range(12)]
KINDS = ("enum", "multi_enum")


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("kind", ["enum", "multi_enum"])
@pytest.mark.parametrize("popular", [500, 5])
def test_an_option_is_in_use_when_an_issue_has_it(
    monkeypatch: pytest.MonkeyPatch, kind: str, indexed: bool, popular: int
) -> None:
    monkeypatch.setattr(blocks, "POPULAR", popular)
    attribute: dict[str, Any] = {"id": "kind", "name": "Kind", "type": kind, "options": OPTIONS}
    loaded = Loaded([{**attribute, "indexed": indexed}])
    used = {2: 1, 5: 8, 7: 3}

    def value(place: int) -> Any:
        return OPTIONS[place] if kind == "enum" else [OPTIONS[place]]

    places = [place for place, count in used.items() for _ in range(count)]
    loaded.fill(loaded.issue(num, fields={"kind": value(place)}) for num, place in enumerate(places, 1))
    catalog = loaded.catalog
    field = catalog.get("kind")
    assert field is not None
    found = [options_in_use(loaded.table, catalog, field, [option.id]) for option in field.options]
    assert found == [place in used for place in range(len(OPTIONS))]
    assert not options_in_use(loaded.table, catalog, field, [])
    unused = [option.id for place, option in enumerate(field.options) if place not in used]
    assert not options_in_use(loaded.table, catalog, field, unused)
    assert options_in_use(loaded.table, catalog, field, [*unused, field.options[7].id])


def test_an_indexed_list_of_options_takes_no_documents() -> None:
    loaded = Loaded([{"id": "kind", "name": "Kind", "type": "multi_enum", "options": OPTIONS}])
    loaded.fill(loaded.issue(num, fields={"kind": ["v1", "v3"]}) for num in range(1, 9))
    table: MemoryTable = loaded.table.metered()
    field = loaded.catalog.get("kind")
    assert field is not None
    assert not options_in_use(table, loaded.catalog, field, [field.options[2].id])
    made = sorted((call.round, call.operation) for call in table.meter.calls)
    lag, *directory_and_head = [(1, "batch_get_item"), (2, "batch_get_item"), (2, "query")]
    journal, blocks = (3, "query"), (4, "batch_get_item")
    assert made == [lag, *directory_and_head, journal, blocks]


def test_an_option_with_its_own_block_reads_no_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "POPULAR", 5)
    loaded = Loaded([{"id": "kind", "name": "Kind", "type": "enum", "options": OPTIONS}])
    loaded.fill(loaded.issue(num, fields={"kind": "v5"}) for num in range(1, 9))
    table: MemoryTable = loaded.table.metered()
    field = loaded.catalog.get("kind")
    assert field is not None
    assert options_in_use(table, loaded.catalog, field, [field.options[5].id])
    assert sorted(call.operation for call in table.meter.calls) == [
        *["batch_get_item"] * 2,  # the lag, and the head of the journal
        *["query"] * 2,
    ]


def test_two_hundred_options_of_an_attribute_without_an_index_are_asked_about_at_once() -> None:
    options = [f"v{place}" for place in range(MAX_OPTIONS)]
    loaded = Loaded(
        [{"id": kind, "name": kind, "type": kind, "options": options, "indexed": False} for kind in KINDS]
    )
    loaded.fill([loaded.issue(1, fields={"enum": "v7", "multi_enum": ["v1", "v199"]}), loaded.issue(2)])
    catalog = loaded.catalog
    for kind, used in zip(KINDS, ({"v7"}, {"v1", "v199"}), strict=True):
        field = catalog.get(kind)
        assert field is not None
        assert options_in_use(loaded.table, catalog, field, [one.id for one in field.options])
        unused = [one.id for one in field.options if one.value not in used]
        assert len(unused) >= 198
        assert not options_in_use(loaded.table, catalog, field, unused)


def test_a_moving_option_is_also_looked_for_under_its_former_rank() -> None:
    loaded = Loaded([{"id": "kind", "name": "Kind", "type": "enum", "options": OPTIONS}])
    loaded.fill([loaded.issue(1, fields={"kind": "v3"})])
    field = loaded.catalog.get("kind")
    assert field is not None
    moved = replace(field, options=tuple(one.moved_to(f"zzz{one.id}", epoch=9) for one in field.options))
    assert options_in_use(loaded.table, loaded.catalog, moved, [moved.options[3].id])
    assert not options_in_use(loaded.table, loaded.catalog, moved, [moved.options[4].id])


def test_the_issues_of_an_attribute_without_an_index_are_read_up_to_a_limit() -> None:
    loaded = Loaded([{"id": "kind", "name": "Kind", "type": "enum", "options": OPTIONS, "indexed": False}])
    field = loaded.catalog.get("kind")
    assert field is not None

    def issue(num: int, option: str, **values: str) -> Item:
        made = loaded.issue(num, fields={"kind": option})
        return {**made, "fields": {**made["fields"], **values}}

    unused, used = ([field.options[place].id] for place in (2, 3))
    for count in (5, 60):
        large = (issue(num, "v1", a9="x" * 380_000) for num in range(1, count + 1))
        loaded.fill([*large, issue(100, "v3")])
        if count == 5:
            assert options_in_use(loaded.table, loaded.catalog, field, used), "after a page of a megabyte"
            assert not options_in_use(loaded.table, loaded.catalog, field, unused)
    with pytest.raises(LimitExceeded, match="too large to check"):
        options_in_use(loaded.table, loaded.catalog, field, used)


@pytest.mark.parametrize("kind", KINDS)
def test_an_index_that_lags_does_not_show_that_no_issue_uses_an_option(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    loaded = Loaded([{"id": "kind", "name": "Kind", "type": kind, "options": OPTIONS}])
    loaded.fill([loaded.issue(1, fields={"kind": "v3" if kind == "enum" else ["v3"]})])
    field = loaded.catalog.get("kind")
    assert field is not None
    used, unused = ([field.options[place].id] for place in (3, 4))

    def lagging(seconds: float) -> None:
        note = freshness.Note(clock.seconds(), seconds)
        monkeypatch.setattr(freshness, "read", lambda *_: freshness.Lag(clock.seconds(), note, None))

    lagging(TOLERATED_LAG)
    assert not options_in_use(loaded.table, loaded.catalog, field, unused)
    lagging(TOLERATED_LAG + 0.5)
    assert options_in_use(loaded.table, loaded.catalog, field, used)
    with pytest.raises(Conflict, match="lags by 11 seconds") as refused:
        options_in_use(loaded.table, loaded.catalog, field, unused)
    assert refused.value.headers == {"Retry-After": "10"}


class Project:
    """A project with two fields of options, and the images for its consumer."""

    def __init__(self) -> None:
        self.table = new_table()
        for name, kind in (("kind", "enum"), ("kinds", "multi_enum")):
            body = {"name": name.title(), "id": f"{name}2", "type": kind, "options": ["v0", "v1", "v2"]}
            attributes.create_attribute(self.table, Catalogs(), ADMIN, PROJECT, body)

    @property
    def catalog(self) -> Catalog:
        return catalog_of(self.table)

    def field(self, name: str) -> Field:
        found = self.catalog.get(f"{name}2")
        assert found is not None
        return found

    def document(self, num: int, option: str, version: int = 1) -> Item:
        one, many = self.field("kind"), self.field("kinds")
        (chosen,) = [at for at, known in enumerate(one.options) if known.value == option]
        values = {one.key: one.options[chosen].id, many.key: [many.options[chosen].id]}
        made = documents.new_document(
            self.catalog, num, Changes({"name": "n"}, values), user="ann", now="2024-01-01T00:00:00.000000Z"
        )
        return made | {"version": version, "updated": f"2024-01-01T00:00:00.{version:06d}Z"}

    def consume(self, *made: Item) -> None:
        records = [record(at, None if one["version"] == 1 else one, one) for at, one in enumerate(made, 1)]
        assert consume(self.table, Catalogs(), records, lambda _: None) is None

    def fold(self) -> None:
        assert fold(self.table) > 0

    def used(self, name: str) -> list[str]:
        field = self.field(name)
        return [
            one.value for one in field.options if options_in_use(self.table, self.catalog, field, [one.id])
        ]


@pytest.fixture(params=[500, 5])
def project(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with ten issues of kind `v0` that are folded, all in one block or in a block of their own."""
    monkeypatch.setattr(blocks, "POPULAR", request.param)
    made = Project()
    made.consume(*(made.document(num, "v0") for num in range(1, 11)))
    made.fold()
    return made


@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize("field", ["kind", "kinds"])
def test_unfolded_changes_of_the_journal_count_as_uses_of_an_option(
    project: Project, field: str, folded: bool
) -> None:
    assert project.used(field) == ["v0"]
    project.consume(project.document(3, "v1", version=2))
    if folded:
        project.fold()
    assert project.used(field) == ["v0", "v1"]
    project.consume(*(project.document(num, "v2", version=3) for num in range(1, 11)))
    if folded:
        project.fold()
    assert project.used(field) == ["v2"]
