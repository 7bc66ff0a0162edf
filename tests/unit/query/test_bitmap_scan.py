"""Pages from blocks, over a table in memory with small blocks: every row, count and position against all documents."""

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from devtools.local.bulk import blocks_of
from devtools.local.derived_items import derived_items
from devtools.proof.faults.memory_table import MemoryTable
from gridview.chains import blocks
from gridview.commands import attributes, projects
from gridview.commands.actor import Actor, Role
from gridview.commands.issues import parse_new
from gridview.dynamodb.expressions import Item, Key
from gridview.dynamodb.table import Fetched
from gridview.encoding import keys
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps
from gridview.query import planner, prices
from gridview.query.grid import grid_page
from gridview.query.grid_request import resolve, resolve_row_number
from gridview.query.row_number import row_number_of
from gridview.query.sort_order import OrderKey, in_order, place_of
from gridview.schema import documents
from gridview.schema.catalog import Catalog, Composite, Part
from gridview.schema.fields import NUM
from gridview.schema.generations import Indexes
from gridview.schema.store import Catalogs
from gridview.support.errors import QueryTooExpensive
from gridview.view.block_cache import BlockCache
from gridview.view.context import ReadContext
from tests.support.containers import new_container
from tests.support.depth import one_of
from tests.unit.query.test_grouping import MAX_ROUNDS

TENANT, PROJECT = "acme", "bridge"
ADMIN = Actor(TENANT, "ada", Role.ADMIN)
ATTRIBUTES: list[dict[str, Any]] = [
    {"id": "day", "name": "Day", "type": "date"},
    {"id": "cost", "name": "Cost", "type": "number"},
    {"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b", "c", "d", "e"]},
    {"id": "tags", "name": "Tags", "type": "multi_enum", "options": ["x", "y", "z"]},
    {"id": "note", "name": "Note", "type": "text"},
    {"id": "bare", "name": "Bare", "type": "number", "indexed": False},
]
SORTED_BY = ["num", "name", "state", "day", "cost", "kind", "tags", "note", "created"]


def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "MAX_BYTES": 200,
        "POPULAR": 12,
        "UNPOPULAR": 6,
        "MERGED": 50,
        "ROOMY": 120,
        "PLAIN_KEYS": 15,
        "DETAILED_BODIES": 4,
        "DETAILED_BYTES": 60,
    }.items():
        monkeypatch.setattr(blocks, name, value)


class Project:
    """A project in memory with all data derived from its issues."""

    def __init__(self, issues: int, seed: int = 1) -> None:
        self.table = MemoryTable()
        self.cursors = Cursors([b"a secret of the tests"], "grid")
        self.cache: BlockCache | None = None
        """The cache of the container; None: each request is the first of its container."""
        projects.create_project(self.table, ADMIN, {"name": "Bridge", "id": PROJECT})
        for body in ATTRIBUTES:
            attributes.create_attribute(self.table, Catalogs(), ADMIN, PROJECT, body)
        self.catalog: Catalog = Catalogs().get(self.table, TENANT, PROJECT)
        self.random = random.Random(seed)  # noqa: S311
        numbers = sorted(self.random.sample(range(1, 3 * issues + 1), issues))
        self.documents = {num: self.document(num, **self.drawn(num)) for num in numbers}
        self.store()

    def drawn(self, num: int) -> dict[str, Any]:
        """Values of an issue: some with many ties, some unique, some missing."""
        draw = self.random
        found: dict[str, Any] = {
            "name": f"issue {draw.randrange(12)}",
            "state": draw.choice(["open"] * 5 + ["closed"]),
            "day": f"2023-{draw.randrange(1, 13):02d}-{draw.randrange(1, 28):02d}",
            "cost": draw.choice([0, 1, 2, num, f"{num}.5"]),
            "kind": draw.choice("aaaaaaaabbcd"),
            "tags": draw.sample("xyz", draw.randrange(1, 4)),
            "note": draw.choice(["red", "blue car", "green"]) + f" {draw.randrange(num + 1)}",
            "bare": draw.randrange(10),
        }
        optional = ("day", "cost", "kind", "tags", "note", "bare")
        for name, share in zip(optional, (0.3, 0.05, 0.1, 0.5, 0.8, 0.2), strict=True):
            if draw.random() < share:
                del found[name]
        return found

    def document(self, num: int, version: int = 1, **values: Any) -> Item:
        body: dict[str, Any] = {"name": "n", "fields": values}
        body |= {name: values.pop(name) for name in ("name", "state") if name in values}
        changes = parse_new(self.catalog, json.loads(dumps(body)))
        made = documents.new_document(
            self.catalog, num, changes, user="ann", now=f"2024-01-01T00:00:{num % 60:02d}.000000Z"
        )
        return made | {"version": version}

    def store(self) -> None:
        for one in self.documents.values():
            self.table.batch_put([one, *derived_items(self.catalog, one)])
        for chain in blocks_of(self.catalog, self.documents.values()):
            for block in chain:
                self.table.put(block.to_item(TENANT, PROJECT))

    def container(self) -> BlockCache:
        return self.cache or new_container(self.table, self.catalog)

    def page(self, cursor: str | None = None, **body: Any) -> Any:
        metered = self.table.metered()
        query = resolve(self.catalog, body if cursor is None else {**body, "cursor": cursor})
        answer = grid_page(ReadContext(metered, self.catalog, self.container()), query, self.cursors)
        page = json.loads(dumps(answer.body))
        assert metered.meter.rounds <= MAX_ROUNDS, (
            body,
            cursor,
            [(c.round, c.operation) for c in metered.meter.calls],
        )
        return page

    def position(self, num: int, **body: Any) -> int | None:
        metered = self.table.metered()
        query = resolve_row_number(self.catalog, body)
        answer = row_number_of(ReadContext(metered, self.catalog, self.container()), num, query)
        found: int | None = answer.body["row_number"]
        assert metered.meter.rounds <= MAX_ROUNDS
        return found

    def expected(self, **body: Any) -> list[int]:
        """The numbers in order, according to all documents."""
        query = resolve(self.catalog, {name: body[name] for name in ("sort", "filter") if name in body})
        passing = [
            one for one in self.documents.values() if query.filter is None or query.filter.matches(one)
        ]
        keys = tuple(self.key(one.part) for one in query.sort)
        return [place.num for place in in_order(keys, (place_of(keys, one) for one in passing))]

    def key(self, part: Part) -> OrderKey:
        """A key of an order, by its field's own index."""
        order = None if part.field == NUM else self.catalog.field_of(part.field).served
        return OrderKey(order, part.descending, part.nulls_first)


def nums(page: Any) -> list[int]:
    return [row["num"] for row in page["rows"]]


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch)
        yield Project(400)


def condition(draw: random.Random) -> dict[str, Any]:
    choices: list[dict[str, Any]] = [
        {"field": "state", "op": "eq", "value": draw.choice(["open", "closed"])},
        {"field": "day", "op": "gte", "value": f"2023-{draw.randrange(1, 13):02d}-10"},
        {"field": "cost", "op": "lt", "value": draw.randrange(500)},
        {"field": "cost", "op": "eq", "value": draw.randrange(3)},
        {"field": "kind", "op": "in", "value": draw.sample("abcde", 2)},
        {"field": "tags", "op": "has_any", "value": draw.sample("xyz", 1)},
        {"field": "tags", "op": "is_empty"},
        {"field": "day", "op": "is_not_empty"},
        {"field": "note", "op": "contains", "value": "e"},
        {"field": "bare", "op": "eq", "value": draw.randrange(10)},
        {"field": "name", "op": "has_words", "value": str(draw.randrange(12))},
        {"field": "num", "op": "between", "value": [draw.randrange(1, 600), draw.randrange(600, 1200)]},
    ]
    return draw.choice(choices)


def filters(draw: random.Random, depth: int = 2) -> dict[str, Any]:
    kind = draw.randrange(5)
    if depth == 0 or kind > 2:
        return condition(draw)
    if kind == 2:
        return {"not": filters(draw, depth - 1)}
    return {("and", "or")[kind]: [filters(draw, depth - 1) for _ in range(draw.randrange(1, 4))]}


def sorts(draw: random.Random) -> list[dict[str, Any]]:
    return [
        {"field": field, "direction": draw.choice(["asc", "desc"]), "nulls": draw.choice(["first", "last"])}
        for field in draw.sample(SORTED_BY, draw.randrange(1, 4))
    ]


def asked(draw: random.Random) -> dict[str, Any]:
    body: dict[str, Any] = {"sort": sorts(draw)}
    if draw.random() < 0.6:
        body["filter"] = filters(draw)
    return body


@pytest.mark.parametrize("candidates", [2_000, 60, 20])
@pytest.mark.parametrize("seed", range(one_of(3, thorough=12)))
def test_random_pages_are_those_of_all_documents(
    project: Project, monkeypatch: pytest.MonkeyPatch, seed: int, candidates: int
) -> None:
    """Smaller limits for sorts in memory and single reads lead to other plans."""
    monkeypatch.setattr(planner, "CANDIDATES", candidates)
    draw = random.Random(seed * 1000 + candidates)  # noqa: S311
    for _ in range(10):
        body = asked(draw)
        order = project.expected(**body)
        limit, offset = draw.choice([1, 3, 20, 100, 500]), draw.randrange(len(order) + 20)
        page = project.page(**body, limit=limit, offset=offset, count=True)
        assert nums(page) == order[offset : offset + limit], body
        assert (page["total"], page["matched"]) == (len(project.documents), len(order)), body
        assert (page["next"] is None) == (offset + limit >= len(order)), body
        assert (page["prev"] is None) == (offset == 0 or not order), body
        if page["next"] is not None:
            following = project.page(page["next"], **body, limit=limit)
            assert nums(following) == order[offset + limit : offset + 2 * limit], body
        if page["prev"] is not None:
            at = min(offset, len(order))
            assert nums(project.page(page["prev"], **body, limit=limit)) == order[max(at - limit, 0) : at], (
                body
            )


@pytest.mark.parametrize("candidates", [2_000, 60, 20])
@pytest.mark.parametrize("seed", range(one_of(2, thorough=10)))
def test_walks_to_the_end_and_back_show_every_issue_once(
    project: Project, monkeypatch: pytest.MonkeyPatch, seed: int, candidates: int
) -> None:
    monkeypatch.setattr(planner, "CANDIDATES", candidates)
    draw = random.Random(seed)  # noqa: S311
    body = asked(draw)
    order = project.expected(**body)
    limit = draw.choice([7, 30])
    page = project.page(**body, limit=limit)
    pages = [nums(page)]
    while page["next"] is not None:
        page = project.page(page["next"], **body, limit=limit, count=draw.random() < 0.3)
        pages.append(nums(page))
    assert pages == ([order[at : at + limit] for at in range(0, len(order), limit)] or [[]]), body
    while page["prev"] is not None:
        page = project.page(page["prev"], **body, limit=limit)
        pages.pop()
        assert nums(page) == pages[-1], body


@pytest.mark.parametrize("limit", [5, 7])
@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_the_way_back_to_the_first_of_those_without_a_value_ends_there(
    project: Project, direction: str, limit: int
) -> None:
    body: dict[str, Any] = {
        "sort": [{"field": "day", "direction": direction, "nulls": "first"}],
        "limit": limit,
    }
    order = project.expected(**body)
    page = project.page(**body, offset=2 * limit)
    back = project.page(page["prev"], **body)
    first = project.page(back["prev"], **body)
    assert (nums(first), first["prev"]) == (order[:limit], None)


@pytest.mark.parametrize("candidates", [2_000, 60, 20])
@pytest.mark.parametrize("seed", range(one_of(2, thorough=10)))
def test_random_positions_are_those_of_all_documents(
    project: Project, monkeypatch: pytest.MonkeyPatch, seed: int, candidates: int
) -> None:
    monkeypatch.setattr(planner, "CANDIDATES", candidates)
    draw = random.Random(seed)  # noqa: S311
    body = asked(draw)
    order = project.expected(**body)
    for num in draw.sample(sorted(project.documents), 15):
        assert project.position(num, **body) == (order.index(num) if num in order else None), (body, num)


# Plans


def nodes_of(tree: Any) -> Iterator[Any]:
    yield tree
    for child in tree.get("children", ()):
        yield from nodes_of(child)


def explained(project: Project, **body: Any) -> str:
    return " ".join(project.page(**body, explain=True)["explain"]["plan"])


def recorded_fields(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The fields of each read of issues by their keys, from now on; empty for whole documents."""
    whole, read = MemoryTable.batch_get, list[set[str]]()

    def batch_get(table: MemoryTable, wanted: Sequence[Key], *, paths: Any = None, **given: Any) -> Fetched:
        if wanted[0][0].startswith(keys.ISSUE_PREFIX):
            read.append({path[-1] for path in paths or ()})
        return whole(table, wanted, paths=paths, **given)

    monkeypatch.setattr(MemoryTable, "batch_get", batch_get)
    return read


OPEN = {"field": "state", "op": "eq", "value": "open"}
FEW = {"field": "name", "op": "eq", "value": "issue 7"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "Read the issues in number order"),
        ({"sort": [{"field": "name"}]}, "Read the sort entries of name"),
        ({"filter": OPEN}, "sets of issues are in that order already"),
        ({"filter": FEW, "sort": [{"field": "note"}]}, "Few issues remain"),
        ({"filter": OPEN, "sort": [{"field": "note"}], "limit": 5}, "Follow the blocks of note"),
        (
            {"sort": [{"field": "note"}], "offset": 30},
            "Find row 30 by adding up the issues in each block",
        ),
        (
            {"sort": [{"field": "kind"}, {"field": "name"}]},
            "Sort the issues with one kind by name ascending, from their documents",
        ),
        ({"sort": [{"field": "note", "nulls": "first"}]}, "Follow the blocks of note"),
    ],
)
def test_the_plan_is_the_one_for_the_query(
    project: Project, monkeypatch: pytest.MonkeyPatch, body: dict[str, Any], said: str
) -> None:
    assert said in explained(project, **body)


@pytest.mark.parametrize(
    ("body", "said", "fields"),
    [
        ({"filter": FEW, "sort": [{"field": "note"}]}, "Few issues remain", {"name", "state", "note"}),
        ({"filter": {"field": "bare", "op": "lt", "value": 5}}, "issues that the sets leave open", {"bare"}),
    ],
)
def test_documents_that_decide_are_read_without_other_fields(
    project: Project, monkeypatch: pytest.MonkeyPatch, body: dict[str, Any], said: str, fields: set[str]
) -> None:
    read = recorded_fields(monkeypatch)
    assert said in explained(project, **body, columns=["state"])
    stored = {field.key for field in map(project.catalog.get, fields) if field is not None}
    assert read[0] == {"num", "version", "updated", "deleted_by", *stored}


def test_too_many_undecided_issues_are_read_whole(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "CANDIDATES", 20)
    body: dict[str, Any] = {"filter": {"field": "bare", "op": "lt", "value": 5}, "sort": [{"field": "name"}]}
    assert "Read all issues that may match" in explained(project, **body)
    assert nums(project.page(**body, limit=500)) == project.expected(**body)
    monkeypatch.setattr(planner, "WHOLE", 399)
    with pytest.raises(QueryTooExpensive, match="bare"):
        project.page(**body)


def test_explain_returns_the_rounds_and_the_lag_of_the_index(project: Project) -> None:
    found = project.page(filter=OPEN, sort=[{"field": "note"}], limit=5, explain=True)["explain"]
    nodes = list(nodes_of(found["tree"]))
    assert {at for node in nodes for at in node["rounds"]} == set(range(1, found["sequential_calls"] + 1))
    assert all(node["sentence"].endswith(".") for node in nodes)
    assert sum(node["read_units"] for node in nodes) == pytest.approx(found["read_units"])
    assert {node["sentence"] for node in nodes} <= set(found["plan"])
    assert "index" in found["plan"][-1]


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ({"filter": OPEN, "sort": [{"field": "note"}]}, {"bitmap scan", "bucket scan", "matching"}),
        ({"sort": [{"field": "note"}], "offset": 1}, {"bucket scan"}),
    ],
)
def test_estimates_say_whether_the_directories_had_been_read(
    project: Project, body: dict[str, Any], after: set[str]
) -> None:
    found = project.page(**body, limit=5, explain=True)["explain"]
    made = {
        node["node"]: node["estimated"]["directories"]
        for node in nodes_of(found["tree"])
        if "estimated" in node
    }
    assert made["grid page"] == made["directory scan"] == made["freshness"] == "before"
    assert {name for name, moment in made.items() if moment == "after"} == after


def test_a_query_that_takes_too_many_blocks_is_refused(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planner, "MAX_BLOCKS", 5)
    with pytest.raises(QueryTooExpensive, match="at most 5 are read"):
        project.page(sort=[{"field": "note", "nulls": "first"}], offset=1)


def test_blocks_of_the_order_are_read_ahead_within_the_budget_of_blocks(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    body: dict[str, Any] = {"filter": OPEN, "sort": [{"field": "cost"}], "limit": 5}
    query = resolve(project.catalog, body)

    def most_in_a_round() -> int:
        metered = project.table.metered()
        grid_page(ReadContext(metered, project.catalog, project.container()), query, project.cursors)
        read = Counter[int]()
        for call in metered.meter.calls:
            read[call.round] += call.items if call.operation == "batch_get_item" else 0
        return max(read.values())

    assert most_in_a_round() > 10
    monkeypatch.setattr(planner, "MAX_BLOCKS", 10)
    assert most_in_a_round() <= 10
    assert nums(project.page(**body)) == project.expected(**body)[:5]


@pytest.mark.parametrize("nulls", ["first", "last"])
def test_many_issues_without_a_value_are_found_among_the_documents(
    project: Project, monkeypatch: pytest.MonkeyPatch, nulls: str
) -> None:
    monkeypatch.setattr(prices, "LISTED", 0.001)
    body: dict[str, Any] = {"sort": [{"field": "note", "nulls": nulls}], "limit": 30, "explain": True}
    order = project.expected(**body)
    shown, pages = [], [project.page(**body)]
    while pages[-1]["next"] is not None:
        shown += nums(pages[-1])
        pages.append(project.page(pages[-1]["next"], **body))
    assert shown + nums(pages[-1]) == order
    assert (
        nums(project.page(pages[-1]["prev"], **body))
        == order[-30 - len(pages[-1]["rows"]) : -len(pages[-1]["rows"])]
    )
    by_documents = ["without a value of note" in " ".join(page["explain"]["plan"]) for page in pages]
    assert any(by_documents)
    assert by_documents[0] == (nulls == "first")


def test_a_count_of_a_walk_takes_no_extra_round(project: Project) -> None:
    for sort in ("num", "name"):
        without = project.page(sort=[{"field": sort}], explain=True)["explain"]
        counted = project.page(sort=[{"field": sort}], count=True, explain=True)
        assert counted["explain"]["sequential_calls"] == without["sequential_calls"]
        assert (counted["total"], counted["matched"]) == (400, 400)


def test_documents_order_a_block_if_its_sort_entries_would_take_a_fifth_round(project: Project) -> None:
    """Directories, sets and undecided documents come first."""
    undecided = {
        "or": [{"field": "day", "op": "gte", "value": "2023-03-10"}, {"field": "bare", "op": "is_empty"}]
    }
    body: dict[str, Any] = {"sort": [{"field": "created"}], "filter": undecided, "limit": 20, "explain": True}
    page = project.page(**body)
    assert nums(page) == project.expected(**body)[:20]
    assert page["explain"]["sequential_calls"] == 4


# The container's memory


def test_cached_data_give_the_same_pages_with_fewer_reads(project: Project) -> None:
    body: dict[str, Any] = {
        "filter": OPEN,
        "sort": [{"field": "cost"}, {"field": "name"}],
        "limit": 10,
        "explain": True,
    }
    project.cache = project.container()
    try:
        cold, warm = project.page(**body), project.page(**body)
    finally:
        project.cache = None
    assert nums(cold) == nums(warm) == project.expected(**body)[:10]
    assert warm["explain"]["items_read"] < cold["explain"]["items_read"]


def test_a_plain_page_reads_detailed_blocks_once_the_directories_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small_blocks(monkeypatch)
    project = Project(300)  # with a dozen names, so that blocks contain them, and sort entries
    monkeypatch.setattr(prices, "ENTRY", 0.5)  # as many blocks as it takes
    body: dict[str, Any] = {"sort": [{"field": "name", "direction": "desc"}], "limit": 20, "explain": True}
    project.cache = project.container()
    try:
        walked = project.page(**body)
        project.page(**body, offset=30)
        first = project.page(**body)
        second = project.page(first["next"], **body)
        back = project.page(second["prev"], **body)
        by_number = project.page(limit=20, explain=True)
    finally:
        project.cache = None
    order = project.expected(**body)
    assert [nums(page) for page in (walked, first, second, back)] == [
        order[:20],
        order[:20],
        order[20:40],
        order[:20],
    ]
    by_entries = [
        "Read the sort entries" in " ".join(page["explain"]["plan"]) for page in (walked, first, second, back)
    ]
    assert by_entries == [True, False, False, False]
    assert back["explain"]["sequential_calls"] == 1 < walked["explain"]["sequential_calls"]
    assert "the index contains the documents" in by_number["explain"]["plan"][0]


@pytest.mark.parametrize("field", ["state", "kind"])
@pytest.mark.parametrize(("direction", "nulls"), [("asc", "last"), ("desc", "last"), ("asc", "first")])
def test_an_order_without_entries_is_read_by_blocks_from_page_to_page(
    project: Project, field: str, direction: str, nulls: str
) -> None:
    body: dict[str, Any] = {
        "sort": [{"field": field, "direction": direction, "nulls": nulls}],
        "limit": 35,
        "count": True,
    }
    order = project.expected(**body)
    forward = [project.page(explain=True, **body)]
    while forward[-1]["next"]:
        forward.append(project.page(forward[-1]["next"], explain=True, **body))
    assert [num for page in forward for num in nums(page)] == order
    backward = [forward[-1]]
    while backward[-1]["prev"]:
        backward.append(project.page(backward[-1]["prev"], explain=True, **body))
    assert [num for page in backward[::-1] for num in nums(page)] == order
    for page in (*forward, *backward):
        assert page["total"] == len(order)
        assert "sort entries" not in " ".join(page["explain"]["plan"])
    assert forward[0]["explain"]["sequential_calls"] == 3 or nulls == "first"
    project.cache = project.container()
    try:
        project.page(**body)
        warm = project.page(explain=True, **body)
    finally:
        project.cache = None
    assert warm["explain"]["sequential_calls"] == 1  # the documents


@pytest.mark.parametrize(("beyond", "rounds"), [(12, 3), (2, 4)])
def test_issues_without_a_value_are_read_only_if_a_page_reaches_them(
    project: Project, beyond: int, rounds: int
) -> None:
    body: dict[str, Any] = {"sort": [{"field": "kind", "nulls": "first"}], "limit": 5}
    order = project.expected(**body)
    field = project.catalog.get("kind")
    assert field is not None
    without = [num for num in order if field.value_in(project.documents[num]) is None]
    at = len(without) + beyond
    following = project.page(offset=at, **body)
    back = project.page(following["prev"], explain=True, **body)
    assert nums(back) == order[at - 5 : at]
    assert back["explain"]["sequential_calls"] == rounds
    # Two directories, a block or two, five documents; or also the blocks of all numbers and of all kinds.
    assert (back["explain"]["read_units"] < 6) is (rounds == 3)


# Lag


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project that the test may change."""
    small_blocks(monkeypatch)
    return Project(60, seed=5)


@pytest.mark.parametrize("candidates", [2_000, 20])
@pytest.mark.parametrize("sort", [["name"], ["num"], ["kind", "cost"], ["cost", "name"]])
def test_rows_that_no_longer_belong_are_left_out_and_the_walk_goes_on(
    own: Project, monkeypatch: pytest.MonkeyPatch, sort: list[str], candidates: int
) -> None:
    monkeypatch.setattr(planner, "CANDIDATES", candidates)
    body: dict[str, Any] = {"sort": [{"field": field} for field in sort], "filter": OPEN, "limit": 4}
    order = own.expected(**body)
    stale = set(order[2:9]) | {order[-1]}
    for place, num in enumerate(sorted(stale)):
        changed = {"state": "closed", "name": "zzz", "kind": "e", "cost": 10**6}
        if place % 3 == 0:
            own.table.delete(f"issue-{TENANT}.{PROJECT}.{num:08d}", f"project-{TENANT}.{PROJECT}")
        else:
            own.table.put(own.document(num, 2, **changed))
    page = own.page(**body)
    shown = nums(page)
    for _ in range(len(order)):
        if page["next"] is None:
            break
        page = own.page(page["next"], **body)
        shown += nums(page)
    assert page["next"] is None
    assert shown == [num for num in order if num not in stale]


# Composite indexes


def test_a_composite_index_is_walked_as_one_order_and_as_its_reversal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small_blocks(monkeypatch)
    monkeypatch.setattr(planner, "CANDIDATES", 20)
    made = Project(80, seed=9)
    kind, cost = (made.catalog.get(field) for field in ("kind", "cost"))
    assert kind is not None
    assert cost is not None
    sort = (Part(kind.key), Part(cost.key, descending=True, nulls_first=True))
    made.catalog = replace(made.catalog, composites=(Composite("c1", sort, Indexes.complete()),))
    made.store()
    there: list[dict[str, Any]] = [
        {"field": "kind"},
        {"field": "cost", "direction": "desc", "nulls": "first"},
    ]
    back: list[dict[str, Any]] = [
        {"field": "kind", "direction": "desc", "nulls": "first"},
        {"field": "cost"},
    ]
    for asked_for in (there, back):
        order = made.expected(sort=asked_for)
        assert "Read the sort entries of c1" in explained(made, sort=asked_for)
        assert nums(made.page(sort=asked_for, limit=500)) == order
        assert nums(made.page(sort=asked_for, limit=20, offset=30)) == order[30:50]
        filtered = made.expected(sort=asked_for, filter=OPEN)
        page = made.page(sort=asked_for, filter=OPEN, limit=10)
        assert nums(page) == filtered[:10]
        assert nums(made.page(page["next"], sort=asked_for, filter=OPEN, limit=10)) == filtered[10:20]
        assert made.position(order[17], sort=asked_for) == 17
        assert made.position(filtered[17], sort=asked_for, filter=OPEN) == 17
