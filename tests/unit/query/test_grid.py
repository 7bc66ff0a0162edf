"""Pages of the grid over a table in memory: exact rows, omitted rows, the end of a page, and the number of reads."""

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

import pytest

from devtools.local.bulk import blocks_of
from devtools.local.derived_items import derived_items
from devtools.proof.faults import memory_table
from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands import attributes, projects, reads
from gridview.commands.actor import Actor, Role
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.metering import Call
from gridview.encoding import derived_keys, keys
from gridview.encoding.attribute_values import item_size
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps
from gridview.encoding.sort_strings import SPEC_VERSION
from gridview.maintenance.stream_consumer import consume
from gridview.query import index_scan
from gridview.query.grid import grid_page
from gridview.query.grid_request import resolve
from gridview.query.page import MAX_PAGE_BYTES
from gridview.schema import documents
from gridview.schema.documents import Changes
from gridview.schema.generations import Index, Indexes, IndexState
from gridview.schema.items import raise_epoch
from gridview.schema.store import Catalogs, read
from gridview.support.errors import CursorExpired, InvalidRequest
from gridview.view.block_cache import BlockCache
from gridview.view.context import ReadContext
from tests.support import reference
from tests.support.containers import new_container
from tests.support.folds import fold_all, no_poison

TENANT, PROJECT = "acme", "bridge"
ADMIN = Actor(TENANT, "ada", Role.ADMIN)
LAMBDA_RESPONSE_BYTES = 6 * 2**20

LONGEST_WALK = 200
"""Pages after which a walk counts as endless."""

DAYS: tuple[str | None, ...] = (
    *("2023-05-02", None, "2023-05-01", "2023-05-02", None, "2023-05-03", None),
    *("2023-05-01", "2023-05-02"),
)
"""Values of the issues 1, 2, ...: ties and nulls."""


def without_notes(calls: Sequence[Call]) -> list[tuple[str, int]]:
    """The calls with the number of items that each read, without the two of every answer.

    These read the lag of the index, which is not recorded here, and the new items of the journal.
    """
    (journal,) = (call for call in calls if call.operation == "query" and call.target == "table")
    made = [(call.operation, call.items) for call in calls if call is not journal]
    made.remove(("batch_get_item", 0))
    return made


class Grid:
    """A project with a date and a text, its issues, and its grid."""

    def __init__(self) -> None:
        self.table = MemoryTable()
        self.cursors = Cursors([b"a secret of the tests"], "grid")
        self.project = projects.create_project(self.table, ADMIN, {"name": "Bridge", "id": PROJECT})
        self.add_attribute(id="day", name="Day", type="date")
        self.add_attribute(id="note", name="Note", type="text")
        self.operations: list[tuple[str, int]] = []
        """The calls of the last page, and the number of items that each read."""

    def add_attribute(self, **body: Any) -> None:
        attributes.create_attribute(self.table, Catalogs(), ADMIN, PROJECT, body)
        self.project = reads.get_project(self.table, ADMIN, PROJECT)

    def document(self, num: int, version: int = 1, name: str = "n", **fields: Any) -> Item:
        catalog = Catalogs().get(self.table, TENANT, PROJECT)
        by_id = {field.id: field.key for field in catalog.attributes}
        changes = Changes(
            {"name": name}, {by_id[field]: value for field, value in fields.items() if value is not None}
        )
        now = "2024-01-01T00:00:00.000000Z"
        return documents.new_document(catalog, num, changes, user="ann", now=now) | {"version": version}

    def fill(self, made: Iterable[Item]) -> None:
        """Put issues with all of their derived data."""
        catalog = Catalogs().get(self.table, TENANT, PROJECT)
        for one in made:
            self.table.batch_put([one, *derived_items(catalog, one)])
        self.build_blocks()

    def build_blocks(self) -> None:
        """Build the blocks of all issues again."""
        catalog = Catalogs().get(self.table, TENANT, PROJECT)
        for pk, sk in list(self.table.items):
            if pk.startswith(derived_keys.BLOCK_PREFIX):
                self.table.delete(pk, sk)
        for chain in blocks_of(catalog, self.stored):
            self.table.batch_put(block.to_item(TENANT, PROJECT) for block in chain)

    def follow(self, num: int, new: Item | None) -> None:
        """Let the index follow an edit or a removal."""
        key = keys.issue(TENANT, PROJECT, num)
        old = self.document(num)
        assert key == old[keys.PK]
        assert consume(self.table, Catalogs(), [record(1, old, new)], no_poison) is None
        fold_all(self.table, TENANT, PROJECT)

    def container(self) -> BlockCache:
        """The memory of a container before its first request."""
        return new_container(self.table, Catalogs().get(self.table, TENANT, PROJECT))

    def remove(self, num: int) -> None:
        """Remove the document; the index lags."""
        self.table.delete(keys.issue(TENANT, PROJECT, num), keys.project(TENANT, PROJECT))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """All issues, as the API answers them."""
        catalog = Catalogs().get(self.table, TENANT, PROJECT)
        return [json.loads(dumps(documents.to_json(catalog, item))) for item in self.stored]

    @property
    def stored(self) -> list[Item]:
        """All documents."""
        project = keys.project(TENANT, PROJECT)
        return [
            item
            for (pk, sk), item in self.table.items.items()
            if sk == project and pk.startswith(keys.ISSUE_PREFIX)
        ]

    def page(self, cursor: str | None = None, **body: Any) -> Any:
        metered = self.table.metered()
        catalog = Catalogs().get(self.table, TENANT, PROJECT)
        query = resolve(catalog, body if cursor is None else {**body, "cursor": cursor})
        encoded = dumps(grid_page(ReadContext(metered, catalog, self.container()), query, self.cursors).body)
        response = json.dumps({"statusCode": 200, "body": encoded.decode()}, ensure_ascii=False)
        assert len(response.encode()) < LAMBDA_RESPONSE_BYTES
        self.operations = without_notes(metered.meter.calls)
        return json.loads(encoded)

    def walk(self, start: str | None = None, *, to: str = "next", **body: Any) -> list[list[int]]:
        """The pages from a cursor (or the first) to one end, each in the order of the grid."""
        found = self.page(start, **body)
        pages = [nums(found)]
        while found[to] is not None:
            found = self.page(found[to], **body)
            pages.append(nums(found))
            assert len(pages) < LONGEST_WALK
        return pages

    def walk_back(self, **body: Any) -> list[list[int]]:
        """The pages from the last to the first, in the order in which they are met."""
        found = self.page(**body)
        for _ in range(LONGEST_WALK):
            if found["next"] is None:
                break
            found = self.page(found["next"], **body)
        return [] if found["prev"] is None else self.walk(found["prev"], to="prev", **body)

    def read(self, operation: str) -> int:
        """Items that the last page's calls of this kind read."""
        return sum(items for name, items in self.operations if name == operation)


def nums(page: Any) -> list[int]:
    return [row["num"] for row in page["rows"]]


def flat(pages: Iterable[list[int]]) -> list[int]:
    return [num for page in pages for num in page]


def by_day(**options: str) -> dict[str, Any]:
    return {"sort": [{"field": "day", **options}]}


@pytest.fixture
def empty() -> Grid:
    return Grid()


def with_days(grid: Grid) -> Grid:
    """A grid with an issue for each of DAYS. In the order of day: 3 8 | 1 4 9 | 6 | 2 5 7."""
    grid.fill(grid.document(num, day=day) for num, day in enumerate(DAYS, start=1))
    return grid


@pytest.fixture
def few(empty: Grid) -> Grid:
    return with_days(empty)


# Orders


@pytest.mark.parametrize("field", ["num", "day", "note", "name", "state"])
@pytest.mark.parametrize(("direction", "nulls"), list(product(("asc", "desc"), ("last", "first"))))
def test_every_page_of_every_size_both_ways(few: Grid, field: str, direction: Any, nulls: Any) -> None:
    order = reference.ordered(few.rows, few.project, field, direction, nulls)
    assert sorted(order) == list(range(1, len(DAYS) + 1))
    for limit in range(1, len(DAYS) + 2):
        body: dict[str, Any] = {
            "sort": [{"field": field, "direction": direction, "nulls": nulls}],
            "limit": limit,
        }
        expected = [order[at : at + limit] for at in range(0, len(order), limit)]
        assert few.walk(**body) == expected
        assert few.walk_back(**body) == expected[:-1][::-1]


@pytest.mark.parametrize("sort", [by_day(), by_day(direction="desc", nulls="first"), {}])
def test_from_any_page_one_gets_back_to_it(few: Grid, sort: dict[str, Any]) -> None:
    """next then prev, and prev then next, return the same rows."""
    for limit in (1, 2, 4):
        here = few.page(**sort, limit=limit)
        while here["next"] is not None:
            there = few.page(here["next"], **sort, limit=limit)
            back = few.page(there["prev"], **sort, limit=limit)
            assert nums(back) == nums(here)
            assert nums(few.page(back["next"], **sort, limit=limit)) == nums(there)
            assert nums(there) != nums(here)
            here = there


def test_an_empty_project_has_one_empty_page(empty: Grid) -> None:
    for sort in ("num", "day", "name"):
        found = empty.page(sort=[{"field": sort}])
        assert (found["rows"], found["next"], found["prev"], found["offset"]) == ([], None, None, 0)


def test_only_the_first_page_without_a_cursor_has_an_offset(few: Grid) -> None:
    found = few.page(**by_day(), limit=4)
    assert found["offset"] == 0
    assert few.page(found["next"], **by_day(), limit=4)["offset"] is None


def test_columns_change_what_is_shown_and_nothing_else(few: Grid) -> None:
    whole = few.page(**by_day(), limit=7)
    narrow = few.page(**by_day(), limit=7, columns=["state"])
    assert nums(narrow) == nums(whole)
    assert narrow["rows"][0] == {"num": 3, "version": 1, "state": "open", "fields": {}}
    assert narrow["next"] == whole["next"]


# Lag


def test_a_row_with_another_sort_string_in_its_document_is_left_out(few: Grid) -> None:
    """In the order of day: 3 8 | 1 4 9 | 6 | 2 5 7."""
    few.table.put(few.document(4, 2, day="2023-05-09"))
    few.table.put(few.document(8, 2))
    for limit, expected in {
        3: [[3, 1], [9, 6], [2, 5, 7]],
        2: [[3], [1], [9, 6], [2, 5], [7]],
        1: [[3], [], [1], [], [9], [6], [2], [5], [7]],
        9: [[3, 1, 9, 6, 2, 5, 7]],
    }.items():
        walked = few.walk(**by_day(), limit=limit)
        # 8 has no value now: it is among those without one if these are read, or else after the index has
        # followed.
        assert [num for num in flat(walked) if num != 8] == [3, 1, 9, 6, 2, 5, 7]
        assert walked[: len(expected) - 1] == expected[:-1]
        assert flat(few.walk_back(**by_day(), limit=limit)[::-1]) == flat(walked[:-1])


def test_a_page_of_nothing_but_stale_rows_leads_on_in_both_directions(few: Grid) -> None:
    for num in (1, 4, 9):
        few.table.put(few.document(num, 2, day="2023-05-09"))
    first = few.page(**by_day(), limit=2)
    assert nums(first) == [3, 8]
    stale = few.page(first["next"], **by_day(), limit=2)
    assert nums(stale) == []
    assert nums(few.page(stale["prev"], **by_day(), limit=2)) == [3, 8]
    assert nums(few.page(stale["next"], **by_day(), limit=2)) == [6]


def test_a_deleted_document_is_left_out_while_its_entry_remains(few: Grid) -> None:
    for num in (3, 1, 7):
        few.remove(num)
    assert few.walk(**by_day(), limit=3)[0] == [8]
    assert flat(few.walk(**by_day(), limit=3)) == [8, 4, 9, 6, 2, 5]
    assert flat(few.walk_back(**by_day(), limit=3)[::-1] + few.walk(**by_day(), limit=3)[-1:]) == [
        8,
        4,
        9,
        6,
        2,
        5,
    ]


def test_when_the_index_has_followed_the_row_is_in_its_new_place(few: Grid) -> None:
    edited = few.document(3, 2, day="2023-05-09")
    few.table.put(edited)
    few.follow(3, edited)
    few.remove(8)
    few.follow(8, None)
    assert few.walk(**by_day(), limit=4) == [[1, 4, 9, 6], [3, 2, 5, 7]]


def test_a_walk_goes_on_where_the_row_of_its_cursor_was(few: Grid) -> None:
    """The last row of a page, the first of the next, and their index entries are gone when the next
    page is requested.
    """
    first = few.page(**by_day(), limit=3)
    assert nums(first) == [3, 8, 1]
    for num in (1, 4):
        few.remove(num)
        few.follow(num, None)
    second = few.page(first["next"], **by_day(), limit=3)
    assert nums(second) == [9, 6, 2]
    assert nums(few.page(second["prev"], **by_day(), limit=3)) == [3, 8]


def test_a_page_at_a_cursor_without_later_rows_is_empty_and_leads_back(few: Grid) -> None:
    first = few.page(**by_day(), limit=3)
    for num in (4, 9, 6, 2, 5, 7):
        few.remove(num)
        few.follow(num, None)
    nothing = few.page(first["next"], **by_day(), limit=3)
    assert (nums(nothing), nothing["next"]) == ([], None)
    back = few.page(nothing["prev"], **by_day(), limit=3)
    assert nums(back) == [3, 8, 1]
    assert nums(few.page(back["next"], **by_day(), limit=3)) == []


# Cursors


def test_a_cursor_is_bound_to_its_order(few: Grid) -> None:
    cursor = few.page(**by_day(), limit=1)["next"]
    for other in (
        by_day(direction="desc"),
        by_day(nulls="first"),
        {"sort": [{"field": "note"}]},
        {"sort": [{"field": "num"}]},
    ):
        with pytest.raises(InvalidRequest):
            few.page(cursor, **other, limit=1)
    assert nums(few.page(cursor, **by_day(), limit=5, columns=[])) == [8, 1, 4, 9, 6]


def test_a_cursor_of_another_generation_of_the_index_has_expired(few: Grid) -> None:
    cursor = few.page(**by_day(), limit=1)["next"]
    by_number = few.page(limit=1)["next"]
    items = read(few.table, TENANT, PROJECT)
    few.table.transact([raise_epoch(items)])
    rebuilt = next(item for item in items.attributes if item["id"] == "day")
    second = Indexes((Index(2, IndexState.READY, 2, SPEC_VERSION),), 3)
    few.table.put({**rebuilt, **second.to_items()})
    with pytest.raises(CursorExpired):
        few.page(cursor, **by_day(), limit=1)
    assert nums(few.page(by_number, limit=1)) == [2]


# Sizes


def large(num: int, grid: Grid, character: str = "x", size: int = 150_000) -> Item:
    return grid.document(num, day="2023-05-01", note=character * size)


@pytest.mark.parametrize("sort", ["num", "day"])
@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_a_page_ends_at_5_megabytes_and_the_next_goes_on_without_loss(
    empty: Grid, sort: str, direction: str
) -> None:
    empty.fill(large(num, empty) for num in range(1, 81))
    body: dict[str, Any] = {"sort": [{"field": sort, "direction": direction}], "limit": 100}
    pages = empty.walk(**body)
    assert flat(pages) == sorted(range(1, 81), reverse=direction == "desc")
    assert [len(page) for page in pages[:-1]] == [MAX_PAGE_BYTES // 150_200] * (len(pages) - 1)
    empty.page(**body)
    assert len(empty.operations) <= 6
    assert flat(page[::-1] for page in empty.walk_back(**body)) == flat(pages[:-1])[::-1]


def test_a_page_by_number_is_read_on_until_it_exceeds_its_size(
    few: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_table, "QUERY_BYTES", 1)  # one issue for each Query call
    monkeypatch.setattr(index_scan, "MAX_PAGE_BYTES", sum(map(item_size, few.stored[:2])))
    assert nums(few.page(limit=9)) == [1, 2, 3]


def test_a_page_ends_before_lambda_would_refuse_its_response(empty: Grid) -> None:
    """A quote takes two bytes in the JSON of a page, and four in the response; `page` asserts the size."""
    empty.fill(large(num, empty, '"', 100_000) for num in range(1, 41))
    pages = empty.walk(**by_day(), limit=100)
    assert flat(pages) == list(range(1, 41))
    assert len(pages[0]) == 14


def test_a_single_issue_is_shown_however_large(empty: Grid) -> None:
    empty.fill([large(1, empty, "\x01", 390_000), large(2, empty)])
    pages = empty.walk(**by_day(), limit=2)
    assert flat(pages) == [1, 2]


def test_documents_that_do_not_fit_a_page_are_not_waited_for(empty: Grid) -> None:
    """BatchGetItem answers 16 MB at a time, which is three pages of these."""
    empty.fill(large(num, empty, size=390_000) for num in range(1, 91))
    found = empty.page(**by_day(), limit=90)
    assert nums(found) == list(range(1, 13))
    entries, *others = [name for name, _ in empty.operations]
    assert (entries, sorted(others)) == (
        "query",
        ["batch_get_item", "query", "query"],
    )  # with two directories
    assert flat(empty.walk(**by_day(), limit=90)) == list(range(1, 91))


def test_a_page_that_its_documents_fill_reads_none_without_a_value(empty: Grid) -> None:
    """One of the documents has gone, which does not matter."""
    empty.fill([*(large(num, empty) for num in range(1, 41)), empty.document(41)])
    empty.remove(1)
    found = empty.page(**by_day(), limit=50)
    assert nums(found) == list(range(2, 35))
    assert sorted(name for name, _ in empty.operations) == ["batch_get_item", "query", "query", "query"]


def test_rows_without_their_documents_are_on_the_next_page(empty: Grid) -> None:
    """Hidden fields make the documents large, so the page ends by the size of its reads, not of its rows."""
    empty.fill(large(num, empty, size=390_000) for num in range(1, 91))
    attributes.delete_attribute(empty.table, Catalogs(), ADMIN, PROJECT, "note", None)
    pages = empty.walk(**by_day(), limit=90)
    assert flat(pages) == list(range(1, 91))
    assert len(pages[0]) < 90
    assert flat(page[::-1] for page in empty.walk_back(**by_day(), limit=90)) == flat(pages[:-1])[::-1]


def test_rows_that_are_small_in_the_columns_asked_for_fill_the_page(empty: Grid) -> None:
    empty.fill(large(num, empty) for num in range(1, 81))
    for sort in ("num", "day"):
        found = empty.page(sort=[{"field": sort}], limit=70, columns=["day"])
        assert nums(found) == list(range(1, 71))


# The number of reads


def test_a_page_reads_one_document_for_each_row(few: Grid) -> None:
    for limit in (1, 3, 5):
        few.page(**by_day(), limit=limit)
        assert few.operations == [("query", limit + 1), ("batch_get_item", limit)]


def test_issues_without_a_value_are_not_looked_for_in_built_in_fields(few: Grid) -> None:
    for field in ("name", "created", "updated"):
        few.page(sort=[{"field": field}], limit=20)
        assert few.operations == [("query", len(DAYS)), ("batch_get_item", len(DAYS))]
    # An order without sort entries: the directories of the numbers and of the states, a block, the documents.
    few.page(sort=[{"field": "state"}], limit=20)
    assert few.operations == [*[("query", 1)] * 2, ("batch_get_item", 1), ("batch_get_item", len(DAYS))]


def test_by_number_one_query_of_a_row_more_than_the_page_has(few: Grid) -> None:
    found = few.page(limit=4)
    assert few.operations == [("query", 5)]
    few.page(found["next"], limit=4)
    assert few.operations == [("query", 5)]


def numbers_without_a_day(every: int, count: int) -> list[int]:
    return list(range(every, count + 1, every))


def fill_sparsely(grid: Grid, every: int, count: int) -> list[int]:
    """Let every n-th issue have no day. Returns their numbers."""
    without = numbers_without_a_day(every, count)
    grid.fill(grid.document(num, day=None if num in without else "2023-05-01") for num in range(1, count + 1))
    return without


@pytest.mark.parametrize("every", [1, 2, 10, 40])
@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_pages_of_issues_without_a_value_are_full_and_little_more_is_read_than_it_takes(
    empty: Grid, every: int, direction: str
) -> None:
    """The n-th issue without a value has the number n times `every`; the page looks for one more than it shows."""
    without = fill_sparsely(empty, every, 800)
    limit = 5
    body = {**by_day(nulls="first", direction=direction), "limit": limit}
    found = empty.page(**body)
    shown = nums(found)
    for _ in range(2):
        assert len(nums(found)) == limit
        assert empty.read("query") <= 2 * every * (limit + 1) + limit
        found = empty.page(found["next"], **body)
        shown += nums(found)
    assert shown == sorted(without, reverse=direction == "desc")[: 3 * limit]


def test_the_number_of_calls_for_a_sparse_tail_grows_slowly(empty: Grid) -> None:
    fill_sparsely(empty, 200, 800)
    assert nums(empty.page(**by_day(nulls="first"), limit=4)) == [200, 400, 600, 800]
    assert len(empty.operations) <= 8


@pytest.mark.parametrize(("nulls", "direction"), [("last", "asc"), ("first", "desc")])
@pytest.mark.parametrize("every", [1, 2, 40])
def test_pages_into_and_of_the_tail_take_at_most_four_rounds(
    empty: Grid, every: int, nulls: str, direction: str
) -> None:
    """Whether they find its issues among all documents, or as the ones that are in no block."""
    without = fill_sparsely(empty, every, 400)
    order = sorted(without, reverse=direction == "desc")
    valued = sorted(set(range(1, 401)) - set(without), reverse=direction == "desc")
    body = {**by_day(nulls=nulls, direction=direction), "limit": 30, "explain": True}
    found = empty.page(**body)
    shown = nums(found)
    while True:
        assert found["explain"]["sequential_calls"] <= 4
        if found["next"] is None:
            break
        found = empty.page(found["next"], **body)
        shown += nums(found)
    assert shown == (order + valued if nulls == "first" else valued + order)


def test_issues_without_a_value_and_far_apart_are_found_in_the_blocks(
    empty: Grid,
) -> None:
    """According to the sizes, they should have come with the first call, but all have high numbers."""
    empty.fill(
        empty.document(num, day=None if num > 350 else f"2023-{num % 12 + 1:02d}-{num % 28 + 1:02d}")
        for num in range(1, 401)
    )
    last_valued = empty.page(**by_day(), offset=349, limit=1)
    found = empty.page(last_valued["next"], **by_day(), limit=10, explain=True)
    assert nums(found) == list(range(351, 361))
    assert found["explain"]["sequential_calls"] <= 4


def test_the_fake_refuses_what_the_index_does_not_project(few: Grid) -> None:
    """The grid shows documents from the index: every attribute of theirs must be projected."""
    one = few.table.query(keys.project(TENANT, PROJECT), index=True, limit=1).items[0]
    assert one == few.document(1, day=DAYS[0])


def test_an_issue_that_loses_its_value_between_two_reads_of_a_page_is_in_it_once(few: Grid) -> None:
    """Its document was read before the fold, and the blocks after it: the document is read again beside the journal."""
    changed = few.document(3, 2)

    def around(attempted: Any, perform: Callable[[], Any]) -> Any:
        if attempted.key[0].startswith(derived_keys.BLOCK_PREFIX) and 3 not in without:
            few.table.put(changed)
            few.follow(3, changed)
            without.append(3)
        return perform()

    without: list[int] = []
    catalog = Catalogs().get(few.table, TENANT, PROJECT)
    query, table = resolve(catalog, by_day()), few.table.seen_through(around)
    found = grid_page(ReadContext(table, catalog, few.container()), query, few.cursors).body
    assert without == [3]
    assert nums(json.loads(dumps(found))) == [8, 1, 4, 9, 6, 2, 3, 5, 7]


def test_nothing_is_read_strongly_consistent_and_nothing_written(few: Grid) -> None:
    seen: list[Any] = []

    def around(attempted: Any, perform: Callable[[], Any]) -> Any:
        seen.append(attempted)
        return perform()

    catalog = Catalogs().get(few.table, TENANT, PROJECT)
    query, table = resolve(catalog, by_day()), few.table.seen_through(around)
    grid_page(ReadContext(table, catalog, few.container()), query, few.cursors)
    assert seen
    assert not any(attempted.consistent or attempted.writes for attempted in seen)
