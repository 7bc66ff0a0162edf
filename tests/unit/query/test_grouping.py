"""Groups from blocks: the same as of all documents, by every plan, in at most four rounds."""

import json
import struct
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from importlib import resources
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from devtools.local import bulk
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.oracle import world
from gridview.chains import blocks
from gridview.chains.blocks import Entry
from gridview.commands import attributes, projects
from gridview.commands.actor import Actor, Role
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.metering import Meter
from gridview.encoding import derived_keys
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps
from gridview.encoding.sort_strings import sort_string
from gridview.encoding.values import parse_datetime
from gridview.query import (
    aggregate_planner,
    group_blocks,
    group_plan,
    group_request,
    grouping,
    periods,
    prices,
)
from gridview.query.counting import grouped_counts
from gridview.query.executor import Executor
from gridview.query.group_blocks import Division
from gridview.query.group_filter import GroupFilters
from gridview.query.group_request import GroupsQuery
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.generations import IndexNotReady
from gridview.schema.store import Catalogs
from gridview.support.errors import QueryTooExpensive
from gridview.view.block_cache import BlockCache
from gridview.view.context import ReadContext
from gridview.view.index_view import IndexView
from tests.support.containers import new_container
from tests.support.depth import one_of

ADMIN = Actor("acme", "ada", Role.ADMIN)
PROJECT = "bridge"
CURSORS = Cursors([b"of the tests"], "groups")
MAX_ROUNDS = 4
"""Rounds of calls for an answer, by docs/querying.md."""


class Loaded:
    """A project in a table in memory, with its blocks."""

    def __init__(self, attributes_: Iterable[dict[str, Any]], states: list[str] | None = None) -> None:
        self.table = MemoryTable()
        body = {"id": PROJECT, "name": "Bridge", **({"states": states} if states else {})}
        projects.create_project(self.table, ADMIN, body)
        for one in attributes_:
            attributes.create_attribute(self.table, Catalogs(), ADMIN, PROJECT, one)
        self.documents: list[Item] = []
        self._first = self.catalog

    @property
    def catalog(self) -> Catalog:
        return Catalogs().get(self.table, "acme", PROJECT)

    def container(self) -> BlockCache:
        """The memory of a container before its first request."""
        return new_container(self.table, self.catalog)

    def issue(self, num: int, created: str = "2024-01-01T00:00:00Z", **body: Any) -> Item:
        changes = documents.parse_create(self._first, {"name": "n", **body})
        return documents.new_document(self._first, num, changes, user="ann", now=parse_datetime(created))

    def fill(self, made: Iterable[Item]) -> "Loaded":
        self.documents = sorted(made, key=lambda one: one["num"])
        if self.documents:
            bulk.take_numbers(self.table, self.catalog, self.documents[-1]["num"])
            bulk.load(self.table, self.catalog, self.documents, bulk.in_batches)
        return self

    def edit(self, num: int, **fields: Any) -> None:
        """Change a document, but none of its derived data."""
        (old,) = (one for one in self.documents if one["num"] == num)
        new = {**self.issue(num, fields=fields), "version": old["version"] + 1}
        self.table.put(new)

    def ask(self, **body: Any) -> tuple[list[tuple[Any, ...]], list[str], Meter]:
        """The groups, the plan in words, and the meter of the calls."""
        context = self.context()
        query = group_request.resolve(self.catalog, body)
        found, said = carried_out(context, query)
        shown = found.groups[: query.limit]
        return [(*one.shown, one.count) for one in shown], said, context.table.meter

    def context(self, container: BlockCache | None = None) -> ReadContext:
        """The read context of a request; by default in a new container."""
        return ReadContext(self.table.metered(), self.catalog, container or self.container())

    def groups(self, **body: Any) -> list[tuple[Any, ...]]:
        return self.ask(**body)[0]


def carried_out(context: ReadContext, query: GroupsQuery) -> tuple[group_plan.Found, list[str]]:
    """The groups found, and the plan in words."""
    executor = Executor(context.table, IndexView(context, context.table.metered()))
    plan = aggregate_planner.groups(context.catalog, query)
    found = executor.run(lambda: grouping.run(plan))
    said = []
    node = executor.trace.facts[plan]["chosen"]
    while node is not None:
        facts = executor.trace.facts.get(node, {})
        said.append(node.said(facts))
        node = facts.get("chosen")
    return found, said


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit blocks to few issues."""
    cut(monkeypatch, 120, 6, 10, 3)


def cut(patch: pytest.MonkeyPatch, size: int, popular: int, plain: int, bodies: int) -> None:
    patch.setattr(blocks, "MAX_BYTES", size)
    patch.setattr(blocks, "POPULAR", popular)
    patch.setattr(blocks, "PLAIN_KEYS", plain)
    patch.setattr(blocks, "DETAILED_BODIES", bodies)
    patch.setattr(group_blocks, "_MANY_BODIES", max(bodies // 2, 1))
    patch.setattr(group_blocks, "_SOME_BODIES", 1)


def asked(random: Random, loaded: Loaded, project: world.Project) -> dict[str, Any]:
    while "by" not in (body := world.question(random, project).body):
        continue
    if random.random() < 0.7:
        body["aggregates"] = []
        body.pop("order", None)
    if random.random() < 0.3:
        body.pop("filter", None)
    return body


SIZES = ((3_600, 500, 1_800, 32), (120, 6, 10, 3), (150, 4, 8, 2), (100, 1_000, 6, 1))
PROJECTS, QUESTIONS = one_of(4, thorough=8), 15


@pytest.mark.parametrize("size", SIZES)
def test_groups_are_those_of_all_documents(monkeypatch: pytest.MonkeyPatch, size: tuple[int, ...]) -> None:
    cut(monkeypatch, *size)
    plans: Counter[str] = Counter()
    rounds: Counter[int] = Counter()
    for seed in range(PROJECTS):
        random = Random(f"groups {size} {seed}")  # noqa: S311
        project = world.make(random, sizes=(0, 1, 20, 60, 200, 300))
        loaded = Loaded(project.attributes, project.states)
        loaded.fill(
            {
                **loaded.issue(num, project.stamps[num].created, **body),
                "updated": parse_datetime(project.stamps[num].updated),
                "created_by": project.stamps[num].created_by,
                "updated_by": project.stamps[num].updated_by,
            }
            for num, body in project.issues.items()
        )
        catalog = loaded.catalog
        for _ in range(QUESTIONS):
            # The price decides which is cheaper; each must be right at any price.
            monkeypatch.setattr(prices, "ENTRY", random.choice((0.0, 0.02, 0.2)))
            monkeypatch.setattr(prices, "LISTED", random.choice((0.125, 0.5)))
            body = asked(random, loaded, project)
            query = group_request.resolve(catalog, body)
            expected = group_request.grouped(query, loaded.documents)
            context = loaded.context()
            found, said = carried_out(context, query)
            ours, theirs = (
                dumps([group_request.group_json(query, one) for one in some[: query.limit]])
                for some in (found.groups, expected)
            )
            assert json.loads(ours) == json.loads(theirs), (seed, body, said)
            assert (found.more or len(found.groups) > query.limit) == (len(expected) > query.limit), body
            assert context.table.meter.rounds <= MAX_ROUNDS, (seed, body, said)
            rounds[context.table.meter.rounds] += 1
            plans.update(kind for line in said for kind in KINDS if kind in line)
    assert plans.keys() == set(KINDS)
    assert max(rounds) <= MAX_ROUNDS


KINDS = (
    "count by their size",
    "Intersect them with the sets",
    "Intersect the sets",
    "in parallel ranges of numbers",
    "in memory",
    "for the spelling of the values",
)
"""The words that identify the plans."""


def test_a_field_of_few_values_is_counted_by_only_the_directory(small: None) -> None:
    loaded = Loaded([])
    loaded.fill(loaded.issue(num, state="open" if num % 3 else "closed") for num in range(1, 61))
    found, plan, meter = loaded.ask(by=["state"])
    assert found == [("open", 40), ("closed", 20)]
    assert meter.rounds == 1
    (said,) = plan
    assert "count by their size, and 0 are read" in said


def test_the_first_groups_of_many_read_only_the_first_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    cut(monkeypatch, 120, 6, 10, 32)
    loaded = Loaded([{"id": "cost", "name": "Cost", "type": "number"}])
    loaded.fill(loaded.issue(num, fields={"cost": num * 7 % 311}) for num in range(1, 301))
    directory = len(
        list(loaded.table.query(derived_keys.directory("acme", PROJECT, "a1.1"), index=True).items)
    )
    found, _, meter = loaded.ask(by=["cost"], limit=5)
    assert found == [(num, 1) for num in sorted(num * 7 % 311 for num in range(1, 301))[:5]]
    assert meter.rounds == 2
    assert directory > 5
    entries = [call for call in meter.calls if call.round == 2 and call.operation == "query"]
    assert len(entries) <= 2


def test_issues_without_a_value_are_what_is_missing_to_all(small: None) -> None:
    loaded = Loaded([{"id": "kind", "name": "Kind", "type": "multi_enum", "options": ["b", "a"]}])
    kinds = [None, ["a"], ["b", "a"], ["a"]]
    loaded.fill(
        loaded.issue(num, fields={"kind": one} if one else {}) for num, one in enumerate(kinds * 9, 1)
    )
    assert loaded.groups(by=["kind"]) == [("b", 9), ("a", 27), (None, 9)]
    assert loaded.groups(by=["kind"], limit=1) == [("b", 9)]


def test_a_text_is_spelled_as_its_first_issue_spells_it_today(small: None) -> None:
    loaded = Loaded([{"id": "note", "name": "Note", "type": "text"}])
    notes = ["Ann", "ann", "ANN", "bob"]
    loaded.fill(loaded.issue(num, fields={"note": note}) for num, note in enumerate(notes, 1))
    assert loaded.groups(by=["note"]) == [("Ann", 3), ("bob", 1)]
    loaded.edit(1, note="zoe")
    assert loaded.groups(by=["note"]) == [("ann", 3), ("bob", 1)], "as of the index, which has not followed"
    loaded.edit(4, note="zoe")
    assert loaded.groups(by=["note"]) == [("ann", 3), ("bob", 1)], (
        "nobody spells it any more: as it is compared"
    )


def test_texts_that_begin_alike_are_grouped_by_their_documents(
    small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Loaded([{"id": "note", "name": "Note", "type": "text"}])
    long = "x" * 240
    notes = [f"{long}B", f"{long}a", f"{long}A", "y"]
    loaded.fill(
        loaded.issue(num, state=("open", "closed")[num % 2], fields={"note": note})
        for num, note in enumerate(notes * 4, 1)
    )
    assert loaded.groups(by=["note"]) == [(f"{long}a", 8), (f"{long}B", 4), ("y", 4)]
    assert loaded.groups(by=["note", "state"], limit=2) == [
        (f"{long}a", "open", 4),
        (f"{long}A", "closed", 4),
    ]
    assert loaded.groups(by=["note", "state"], limit=3)[2] == (f"{long}B", "closed", 4)
    monkeypatch.setattr(aggregate_planner, "MAX_DOCUMENTS", 11)
    with pytest.raises(QueryTooExpensive, match="12 issues have texts with the same first 240 characters"):
        loaded.ask(by=["note"])


def test_issues_under_a_rank_of_several_options_are_grouped_by_their_documents(small: None) -> None:
    loaded = Loaded([{"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b"]}])
    loaded.fill(loaded.issue(num, fields={"kind": "ab"[num % 2]}) for num in range(1, 21))
    (stored,) = (item for item in loaded.table.items.values() if item.get("id") == "kind")
    first, second = stored["options"]
    swapped = [
        {**first, "rank": second["rank"], "former": [[9, first["rank"]]]},
        {**second, "rank": first["rank"], "former": [[9, second["rank"]]]},
    ]
    loaded.table.put({**stored, "options": swapped})
    assert loaded.groups(by=["kind"]) == [("b", 10), ("a", 10)]
    state_too = loaded.ask(by=["kind", "state"])
    assert state_too[0] == [("b", "open", 10), ("a", "open", 10)]
    assert state_too[2].rounds <= MAX_ROUNDS


def test_documents_are_no_cheaper_way_if_more_may_match_than_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A block with two values counts as a part, and all its issues match."""
    loaded = Loaded(
        [{"id": "cost", "name": "Cost", "type": "number"}, {"id": "flag", "name": "Flag", "type": "bool"}]
    )
    loaded.fill(loaded.issue(num, fields={"cost": num, "flag": num > 1}) for num in range(1, 31))
    monkeypatch.setattr(aggregate_planner, "MAX_DOCUMENTS", 10)
    only = {"field": "flag", "op": "lte", "value": True}
    sums = [{"field": "cost", "function": "sum"}]
    assert loaded.ask(by=["state"], filter=only, aggregates=sums)[0] == [("open", 30)]


def test_aggregates_of_indexed_numbers_take_no_documents(
    small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Loaded([{"id": "cost", "name": "Cost", "type": "number"}])
    loaded.fill(loaded.issue(num, fields={"cost": num}) for num in range(1, 31))
    monkeypatch.setattr(aggregate_planner, "MAX_DOCUMENTS", 0)
    body = {"by": ["state"], "aggregates": [{"field": name, "function": "sum"} for name in ("cost", "num")]}
    answered = grouped_counts(loaded.context(), group_request.resolve(loaded.catalog, body), CURSORS)
    (group,) = json.loads(dumps(answered.body["groups"]))
    assert [one["value"] for one in group["aggregates"]] == [465, 465]


def test_aggregates_without_an_index_take_the_documents_and_have_their_limit(
    small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Loaded([{"id": "bare", "name": "Bare", "type": "number", "indexed": False}])
    loaded.fill(loaded.issue(num, fields={"bare": num}) for num in range(1, 31))
    total = {"by": ["state"], "aggregates": [{"field": "bare", "function": "sum"}]}
    some = {"filter": {"field": "num", "op": "lte", "value": 10}}
    monkeypatch.setattr(aggregate_planner, "MAX_DOCUMENTS", 10)
    assert loaded.groups(**total, **some) == [("open", 10)]
    more = {"filter": {"field": "num", "op": "lte", "value": 11}}
    for body, count in ((total, 30), ({**total, **more}, 11)):
        with pytest.raises(
            QueryTooExpensive,
            match=f"{count} issues would have to be read.*bare is not indexed.*attributes/bare",
        ):
            loaded.ask(**body)
    assert loaded.groups(by=["state"], **more) == [("open", 11)]


def test_a_field_without_an_index_takes_the_documents_or_says_how_to_get_one(
    small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Loaded([{"id": "kind", "name": "Kind", "type": "text", "indexed": False}])
    loaded.fill(loaded.issue(num, fields={"kind": "ab"[num % 2]}) for num in range(1, 31))
    assert loaded.groups(by=["kind"]) == [("a", 15), ("b", 15)]
    monkeypatch.setattr(aggregate_planner, "MAX_DOCUMENTS", 29)
    with pytest.raises(
        QueryTooExpensive, match=r'PATCH /v1/projects/bridge/attributes/kind \{"indexed": true\}'
    ):
        loaded.ask(by=["kind"])


def test_a_field_without_a_ready_index_is_refused_for_too_many_documents(
    small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Loaded([{"id": "kind", "name": "Kind", "type": "text", "indexed": False}])
    loaded.fill(loaded.issue(num, fields={"kind": "ab"[num % 2]}) for num in range(1, 31))
    attributes.update_attribute(
        loaded.table, Catalogs(), ADMIN, PROJECT, "kind", {"indexed": True}, None, settling=0
    )
    assert loaded.groups(by=["kind"]) == [("a", 15), ("b", 15)]
    monkeypatch.setattr(aggregate_planner, "MAX_DOCUMENTS", 29)
    with pytest.raises(IndexNotReady):
        loaded.ask(by=["kind"])


def test_a_filter_that_sets_cannot_decide_says_what_would_help(
    small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Loaded([])
    loaded.fill(loaded.issue(num, name=f"rust {num}") for num in range(1, 31))
    part = {"filter": {"field": "name", "op": "contains", "value": "us"}}
    assert loaded.groups(by=["state"], **part) == [("open", 30)]
    monkeypatch.setattr(aggregate_planner, "CANDIDATES", 29)
    assert loaded.groups(by=["state"], **part) == [("open", 30)]
    monkeypatch.setattr(aggregate_planner, "MAX_DOCUMENTS", 29)
    with pytest.raises(QueryTooExpensive, match="name contains the value given"):
        loaded.ask(by=["state"], **part)


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [("MAX_WORK", 20, "more than 20 intersections"), ("MAX_BLOCKS", 1, "more than 1 blocks")],
)
def test_documents_are_read_above_the_budget_of_sets_and_have_their_own_budget(
    small: None, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, said: str
) -> None:
    loaded = Loaded([{"id": "cost", "name": "Cost", "type": "number"}])
    loaded.fill(loaded.issue(num, fields={"cost": num}) for num in range(1, 61))
    by = {"by": ["cost", "num"], "limit": 500}
    expected = loaded.groups(**by)
    assert len(expected) == 60
    monkeypatch.setattr(aggregate_planner, limit, value)
    found, plan, _ = loaded.ask(**by)
    assert found == expected
    assert "in memory" in plan[-1]
    monkeypatch.setattr(aggregate_planner, "MAX_DOCUMENTS", 59)
    with pytest.raises(QueryTooExpensive, match=said):
        loaded.ask(**by)


def test_many_plain_blocks_are_not_read_by_their_sort_entries(
    small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Loaded([{"id": "cost", "name": "Cost", "type": "number"}])
    loaded.fill(loaded.issue(num, fields={"cost": num}) for num in range(1, 101))
    monkeypatch.setattr(aggregate_planner, "MAX_QUERIES", 2)
    by = {"by": ["cost"], "limit": 500}
    assert len(loaded.groups(**by)) == 100
    monkeypatch.setattr(aggregate_planner, "MAX_DOCUMENTS", 99)
    with pytest.raises(QueryTooExpensive, match="sort entries of more than 2 blocks"):
        loaded.ask(**by)


def test_explain_returns_the_plan_the_rounds_and_the_lag_of_the_index(small: None) -> None:
    loaded = Loaded([])
    loaded.fill(loaded.issue(num) for num in range(1, 21))
    query = group_request.resolve(loaded.catalog, {"by": ["state"], "explain": True})
    answer, _ = grouped_counts(loaded.context(), query, CURSORS)
    opened = {"field": "state", "op": "eq", "value": "open"}
    assert json.loads(dumps(answer["groups"])) == [{"values": ["open"], "count": 20, "filter": opened}]
    assert answer["explain"]["sequential_calls"] == 1
    tree = answer["explain"]["tree"]
    assert [tree["node"], *(one["node"] for one in tree["children"])] == [
        "grouping", "directory scan", "groups by sizes", "overlay read", "freshness",
    ]  # fmt: skip
    *_, lag = answer["explain"]["plan"]
    assert lag == "The index has processed no change of this project for a week."


# Periods and clocks


def _transitions(zone: str) -> list[int]:
    """The times of changes of a zone's clocks, in seconds since 1970, from its file."""
    path = resources.files("tzdata.zoneinfo")
    for part in zone.split("/"):
        path = path / part
    content = path.read_bytes()

    def header(at: int) -> tuple[int, ...]:
        return struct.unpack_from(">6l", content, at + 20)

    utc, standard, leaps, times, types, letters = header(0)
    second = 44 + times * 5 + types * 6 + letters + leaps * 8 + standard + utc
    (_, _, _, times, _, _) = header(second)
    return list(struct.unpack_from(f">{times}q", content, second + 44))


def test_no_zone_puts_its_clocks_twice_within_the_time_between_two_looks() -> None:
    closest = min(
        later - earlier
        for zone in resources.files("tzdata").joinpath("zones").read_text().split()
        for earlier, later in pairwise(_transitions(zone))
        if earlier > -62_000_000_000
    )
    assert timedelta(seconds=closest) > periods.STEP


ZONES = ("UTC", "Europe/London", "America/St_Johns", "Pacific/Apia", "Asia/Manila", "Africa/Casablanca")


@pytest.mark.parametrize("unit", ["day", "month", "year"])
@pytest.mark.parametrize("zone", ZONES)
def test_a_block_is_of_one_period_only_if_all_that_can_be_in_it_is(zone: str, unit: str) -> None:
    loaded = Loaded([])
    by = {"field": "created", "unit": unit, **({} if zone == "UTC" else {"timezone": zone})}
    (dimension,) = group_request.resolve(loaded.catalog, {"by": [by]}).by
    division = Division(dimension)
    random = Random(f"{zone} {unit}")  # noqa: S311
    clocks = [datetime.fromtimestamp(at, UTC) for at in _transitions("Etc/UTC" if zone == "UTC" else zone)]
    known = Counter[bool]()
    for _ in range(300):
        near = random.choice([*clocks, datetime(2024, 1, 1, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC)])
        begin = near + timedelta(minutes=random.randint(-3_000, 3_000))
        end = begin + timedelta(minutes=random.choice((5, 60, 600, 1_400, 20_000, 300_000)))
        lower, upper = (stored(one) for one in (begin, end))
        entry = Entry("1", sort_string(lower, 1), sort_string(upper, 1), "2", "p1", 9)
        label = division.label_of(entry)
        known[label is not None] += 1
        inside = [begin + (end - begin) * step / 50 for step in range(51)]
        inside += [one for one in (near, near - timedelta(microseconds=1)) if begin <= one <= end]
        found = {member.order for one in inside for member in dimension.members(stored(one))}
        if label is not None:
            assert found == {label.order}
        for one in (begin, end):
            (member,) = dimension.members(stored(one))
            if division.complete(group_blocks.Label(*member), entry.lower):
                assert member.order < min(found)
    assert known[True] > 10


def stored(instant: datetime) -> str:
    return instant.isoformat(timespec="microseconds").replace("+00:00", "Z")


@pytest.mark.parametrize(
    "number",
    [
        *("0", "1", "-1", "100", "1E+30", "-12.5", "1E-130", "-9.99E+125", "0.1"),
        *("9223372036854775807", "-9223372036854775808"),
    ],
)
def test_a_number_of_an_index_is_shown_as_that_of_a_document(number: str, small: None) -> None:
    loaded = Loaded([{"id": "cost", "name": "Cost", "type": "number"}])
    loaded.fill(loaded.issue(num, fields={"cost": number}) for num in range(1, 9))
    query = group_request.resolve(loaded.catalog, {"by": ["cost"]})
    answer, _ = grouped_counts(loaded.context(), query, CURSORS)
    (expected,) = group_request.grouped(query, loaded.documents)
    shown = {**group_request.group_json(query, expected), "filter": GroupFilters(query).of(expected)}
    assert dumps(answer["groups"]) == dumps([shown])
