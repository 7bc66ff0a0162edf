"""The data of the first start: the worked example as it is documented, and the demo project."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest

from devtools.failure import Failure
from devtools.local import bulk, demo
from devtools.proof.faults.memory_table import MemoryTable
from gridview.chains.blocks import FIRST, HEAD, Block
from gridview.commands import issues
from gridview.derive.families import derived_strings, families_of, has_entries, keys_of
from gridview.derive.sort_entries import sort_strings_of
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps
from gridview.encoding.sort_strings import number_of
from gridview.query import view_answers
from gridview.query.grid import grid_page
from gridview.query.grid_request import resolve
from gridview.query.references import Reference
from gridview.schema.catalog import Catalog
from gridview.schema.documents import to_json
from gridview.schema.fields import FieldType
from gridview.schema.items import to_catalog
from gridview.schema.store import read
from gridview.schema.views import View
from gridview.view.context import ReadContext
from tests.unit.test_docs import section_of

FEW = 450
"""Issues of a demo that is loaded three times: more than two chunks of the bulk path."""


@pytest.fixture(scope="module")
def loaded() -> MemoryTable:
    """A table with the demo in it."""
    table = MemoryTable()
    demo.load(table)
    return table


def test_loads_that_were_killed_are_made_whole_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kill is among the documents, or among the blocks."""
    monkeypatch.setattr(demo, "ISSUES", FEW)
    table = MemoryTable()
    document = keys.issue("0807", demo.PROJECT, FEW // 2)
    directory = derived_keys.directory("0807", demo.PROJECT, "name.1")
    for deadly in (
        lambda item: item[keys.PK] == document,
        lambda item: item[keys.SK] == directory and item[keys.SORT] == FIRST,
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bulk, "in_transactions", _dying(bulk.in_transactions, deadly))
            with pytest.raises(KeyboardInterrupt):
                demo.load(table)
        assert 0 < len(_all(table, "0807", demo.PROJECT)) < FEW
    families = families_of(_catalog(table, "0807", demo.PROJECT))
    directories = [derived_keys.directory("0807", demo.PROJECT, family) for family in families]
    assert any(_partition(table, one) for one in directories)
    assert not all(_partition(table, one) for one in directories)
    demo.load(table)
    assert [one["num"] for one in _all(table, "0807", demo.PROJECT)] == list(range(1, FEW + 1))
    _assert_indexed(table)
    _assert_blocks(table)


def _dying(write: bulk.Write, deadly: Callable[[Item], bool]) -> bulk.Write:
    def dying(stored: Table, items: Sequence[Item]) -> None:
        if any(map(deadly, items)):
            raise KeyboardInterrupt
        write(stored, items)

    return dying


def _catalog(stored: Table, tenant: str, project: str) -> Catalog:
    return to_catalog(tenant, project, read(stored, tenant, project))


def _all(stored: Table, tenant: str, project: str) -> list[Item]:
    """The documents of a project in number order."""
    return _partition(stored, keys.project(tenant, project))


def _partition(stored: Table, partition: str) -> list[Item]:
    return list(stored.query_all(partition, index=True))


def _order(stored: Table, field: str, direction: str) -> list[int]:
    catalog = _catalog(stored, "0807", "35e9")
    query = resolve(catalog, {"sort": [{"field": field, "direction": direction}]})
    page = grid_page(ReadContext(stored.metered(), catalog), query, Cursors((b"secret",), "grid")).body
    return [row["num"] for row in json.loads(dumps(page["rows"]))]


def test_the_query_of_the_readme_has_the_answer_that_is_shown(loaded: Table) -> None:
    section = section_of("README.md", "## One query and its answer")
    asked, shown = (
        re.search(r"-d '(.*?)'", section, re.DOTALL),
        re.search(r"```json\n(.*?)```", section, re.DOTALL),
    )
    assert asked is not None
    assert shown is not None
    catalog = _catalog(loaded, "0807", demo.PROJECT)
    query = resolve(catalog, json.loads(asked[1]))
    page = grid_page(ReadContext(loaded.metered(), catalog), query, Cursors((b"secret",), "grid")).body
    answer, got = json.loads(shown[1]), json.loads(dumps(page))
    assert {name: answer[name] for name in ("rows", "prev", "offset", "total", "matched")} == {
        name: got[name] for name in ("rows", "prev", "offset", "total", "matched")
    }
    assert got["next"]


def test_the_worked_example_is_the_one_that_is_written_down(loaded: Table) -> None:
    catalog = _catalog(loaded, "0807", "35e9")
    assert [(field.id, field.name, field.type.value) for field in catalog.attributes] == [
        ("3812", "Start", "date"),
        ("882a", "End", "date"),
        ("3fe6", "Num Items", "number"),
        ("47e5", "Sign Off", "text"),
    ]
    assert [state.value for state in catalog.states] == ["open", "closed"]
    bridge = [(one["num"], one["name"]) for one in _all(loaded, "0807", "35e9")]
    assert bridge == [(1, "Needs Painting"), (2, "Check for rust"), (3, "Girder needs replacing")]
    news = [(one["num"], one["name"]) for one in _all(loaded, "3cc8", "7b7e")]
    assert news == [(1, "Launch new newspaper!"), (2, "Hire reporter for showbiz desk")]
    assert not _catalog(loaded, "3cc8", "7b7e").attributes
    for tenant, name in (("0807", "ACME Engineering"), ("3cc8", "Big Media")):
        item = loaded.get(keys.tenant(tenant), keys.TENANT_SELF)
        assert item is not None
        assert item["name"] == name


@pytest.mark.parametrize(
    ("field", "direction", "numbers"),
    [
        ("3812", "asc", [1, 2, 3]),
        ("3812", "desc", [2, 1, 3]),
        ("3fe6", "asc", [3, 1, 2]),
        ("47e5", "desc", [3, 2, 1]),
    ],
)
def test_the_worked_example_sorts_as_it_says(
    loaded: Table, field: str, direction: str, numbers: list[int]
) -> None:
    assert _order(loaded, field, direction) == numbers


def test_the_demo_has_issues_with_every_type_gaps_and_ties(loaded: Table) -> None:
    catalog = _catalog(loaded, "0807", demo.PROJECT)
    documents = _all(loaded, "0807", demo.PROJECT)
    assert [document["num"] for document in documents] == list(range(1, demo.ISSUES + 1))
    assert len(catalog.attributes) >= 15
    assert {field.type for field in catalog.attributes} == set(FieldType)
    assert _type_of(catalog, demo.DATE_ATTRIBUTE) is FieldType.DATE
    for field in catalog.attributes:
        values = Counter(_hashable(field.value_in(document)) for document in documents)
        nulls = values.pop(None, 0)
        assert nulls > 0 or field.id == "discipline", field.id
        assert values, field.id
        assert max(values.values()) > 1, field.id
    assert {document["version"] for document in documents} == {1, 2}


def test_the_demo_is_indexed_as_its_documents_say(loaded: Table) -> None:
    _assert_indexed(loaded)


def _assert_indexed(loaded: Table) -> None:
    catalog = _catalog(loaded, "0807", demo.PROJECT)
    documents = _all(loaded, "0807", demo.PROJECT)
    derived = [(sort_strings_of(catalog, document), document[keys.PK]) for document in documents]
    for order in catalog.orders:
        entries = _partition(loaded, derived_keys.order("0807", demo.PROJECT, order.order_id))
        expected = {strings[order.order_id]: pk for strings, pk in derived if order.order_id in strings}
        if not has_entries(order.order_id):
            assert expected
            expected = {}
        assert {entry[keys.SORT]: entry[keys.PK] for entry in entries} == expected, order.order_id


def test_the_blocks_hold_what_the_documents_say(loaded: Table) -> None:
    _assert_blocks(loaded)


def _assert_blocks(loaded: Table) -> None:
    catalog = _catalog(loaded, "0807", demo.PROJECT)
    derived = [derived_strings(catalog, document) for document in _all(loaded, "0807", demo.PROJECT)]
    for family in families_of(catalog):
        entries = _partition(loaded, derived_keys.directory("0807", demo.PROJECT, family))
        chain = [_block(loaded, entry) for entry in entries]
        assert (chain[0].id, chain[0].lower) == (HEAD, FIRST)
        for block, following in pairwise(chain):
            assert (block.next, block.upper) == (following.id, following.lower)
        assert (chain[-1].next, chain[-1].upper) == (None, None)
        places = {key for one in derived if family in one for key in keys_of(family, one[family])}
        assert sum(block.size for block in chain) == len(places), family
        for key in places:
            (covering,) = (block for block in chain if block.covers(key))
            assert number_of(key) in covering.members, family


def _block(stored: Table, entry: Item) -> Block:
    item = stored.get(entry[keys.PK], entry[keys.SK])
    assert item is not None
    return Block.from_item(item)


def test_a_project_that_has_given_out_numbers_is_not_loaded_over(loaded: Table) -> None:
    catalog = _catalog(loaded, "0807", "35e9")
    with pytest.raises(Failure, match="issues already"):
        bulk.take_numbers(loaded, catalog, 100)


def test_the_next_issue_gets_the_next_number(loaded: Table) -> None:
    assert issues.reserve_numbers(loaded, _catalog(loaded, "0807", demo.PROJECT), 1) == range(2001, 2002)


def test_the_demo_is_the_same_on_every_machine(loaded: Table) -> None:
    """To change the demo, note the new digest here."""
    catalog = _catalog(loaded, "0807", demo.PROJECT)
    content = dumps([to_json(catalog, document) for document in _all(loaded, "0807", demo.PROJECT)])
    assert (
        hashlib.sha256(content).hexdigest()
        == "0be3819334ce281a1fcd1a68f61c4774b22134c2f8d080e8c4a3937d5d4e3672"
    )


def test_the_demo_has_a_view_of_what_is_overdue_for_its_reader(loaded: MemoryTable) -> None:
    catalog = _catalog(loaded, "0807", demo.PROJECT)
    views = _stored_views(loaded)
    assert [one["name"] for one in views] == [demo.VIEW["name"], demo.BOARD["name"]]
    query = {**views[0]["query"], "limit": 500}
    assert query["filter"] == demo.VIEW["query"]["filter"]
    for user in ("a.macleod", "b.okafor"):
        resolved = resolve(catalog, query, Reference("2024-06-01T12:00:00.000000Z", user))
        page = grid_page(ReadContext(loaded.metered(), catalog), resolved, Cursors((b"secret",), "grid")).body
        rows = json.loads(dumps(page["rows"]))
        issues = json.loads(
            dumps([to_json(catalog, document) for document in _all(loaded, "0807", demo.PROJECT)])
        )
        expected = {
            issue["num"]
            for issue in issues
            if issue["fields"].get("due", "9999") < "2024-06-01"
            and issue["fields"].get("assignee") == user
            and issue["state"] not in ("done", "rejected")
        }
        assert {row["num"] for row in rows} == expected
        assert len(expected) > 20
        due = [row["fields"]["due"] for row in rows]
        assert due == sorted(due)


def test_the_demo_has_a_board_with_more_work_in_progress_than_its_limit(loaded: MemoryTable) -> None:
    view = _stored_views(loaded)[1]
    assert view["kind"] == "board"
    board = view["board"]
    assert (board["by"], board["card"], board["aggregate"]) == (
        "state",
        demo.BOARD["board"]["card"],
        demo.BOARD["board"]["aggregate"],
    )
    assert [column["value"] for column in board["columns"]] == list(demo.STATES)
    catalog = _catalog(loaded, "0807", demo.PROJECT)
    documents = (to_json(catalog, document) for document in _all(loaded, "0807", demo.PROJECT))
    cards = Counter(issue["state"] for issue in documents)
    passed = [one["value"] for one in board["columns"] if one["limit"] and cards[one["value"]] > one["limit"]]
    assert passed == ["in progress"]


def _stored_views(loaded: Table) -> list[Any]:
    catalog = _catalog(loaded, "0807", demo.PROJECT)
    partition = keys.views("0807", demo.PROJECT)
    items = [one for one in loaded.query_all(partition) if one[keys.SK].startswith("shared/")]
    return [json.loads(dumps(view_answers.view_json(catalog, View.from_item(item)))) for item in items]


def test_loading_again_leaves_what_people_have_edited(loaded: Table) -> None:
    key = (keys.issue("0807", demo.PROJECT, 7), keys.project("0807", demo.PROJECT))
    document = loaded.get(*key)
    assert document is not None
    loaded.put({**document, "name": "edited"})
    demo.load(loaded)
    edited = loaded.get(*key)
    assert edited is not None
    assert edited["name"] == "edited"
    assert len(_stored_views(loaded)) == 2


def _type_of(catalog: Catalog, field_id: str) -> FieldType:
    field = catalog.get(field_id)
    assert field is not None
    return field.type


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
