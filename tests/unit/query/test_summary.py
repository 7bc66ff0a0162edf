"""Summaries from blocks: the same as of all documents, by every plan, in at most four rounds."""

import json
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from devtools.proof.oracle import world
from gridview.commands import attributes
from gridview.encoding.json_codec import dumps
from gridview.encoding.values import parse_datetime
from gridview.query import aggregate_planner, prices, summary_columns, summary_request
from gridview.query.counting import summarized
from gridview.query.number_functions import Function
from gridview.query.summary_columns import is_answered_by_blocks
from gridview.query.summary_request import FieldSummary, of_values, resolve, summary_json
from gridview.schema.fields import Field, FieldType, Option
from gridview.schema.generations import IndexNotReady
from gridview.schema.store import Catalogs
from gridview.support.errors import InvalidRequest, QueryTooExpensive
from gridview.view.block_cache import BlockCache
from tests.support.depth import one_of
from tests.unit.query.test_grouping import ADMIN, MAX_ROUNDS, PROJECT, SIZES, Loaded, cut

EVERY = ["count", "empty", "distinct", "min", "max"]
NUMBERS = [*EVERY, "median", "sum", "avg"]


def ask(loaded: Loaded, container: BlockCache | None = None, /, **body: Any) -> tuple[Any, Any]:
    """The answer, and the meter of its calls."""
    context = loaded.context(container)
    answer, _ = summarized(context, resolve(loaded.catalog, body))
    assert answer.pop("index") == {"lag_ms": None, "pending": 0}
    return json.loads(dumps(answer)), context.table.meter


def pages_in(meter: Any) -> int:
    """The pages of columns that were read."""
    return sum(call.items for call in meter.calls if (call.operation, call.target) == ("query", "table"))


def summary_of(loaded: Loaded, field: str, functions: list[str], **body: Any) -> dict[str, Any]:
    """The summary of one field."""
    answer, _ = ask(loaded, fields=[{"field": field, "functions": functions}], **body)
    (found,) = answer["summaries"]
    assert found.pop("field") == field
    return {"matched": answer["matched"], **found}


def expected(loaded: Loaded, body: dict[str, Any]) -> Any:
    query = resolve(loaded.catalog, body)
    some = [one for one in loaded.documents if query.filter is None or query.filter.matches(one)]
    found = []
    for one in query.summaries:
        values = [one.field.value_in(document) for document in some]
        found.append(of_values(one, [value for value in values if value is not None], len(some)))
    return json.loads(dumps(summary_json(len(some), found)))


def asked(random: Random, project: world.Project) -> dict[str, Any]:
    names = random.sample(sorted(project.types), random.choice((1, 1, 2, 4)))
    if random.random() < 0.7:
        names = [name for name in names if name not in project.unindexed] or ["num"]
    body: dict[str, Any] = {"fields": []}
    for name in names:
        functions = NUMBERS if project.types[name] == "number" else EVERY
        body["fields"].append(
            {"field": name, "functions": random.sample(functions, random.randint(1, len(functions)))}
        )
    while random.random() < 0.7:
        question = world.question(random, project).body
        if "filter" in question:
            return {**body, "filter": question["filter"]}
    return body


PROJECTS, QUESTIONS = one_of(2, thorough=8), 25


@pytest.mark.parametrize("size", SIZES)
def test_summaries_are_those_of_all_documents(monkeypatch: pytest.MonkeyPatch, size: tuple[int, ...]) -> None:
    cut(monkeypatch, *size)
    rounds: Counter[int] = Counter()
    for seed in range(PROJECTS):
        random = Random(f"summary {size} {seed}")  # noqa: S311
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
        for _ in range(QUESTIONS):
            # The price decides which is cheaper; each must be right at any price.
            monkeypatch.setattr(prices, "ENTRY", random.choice((0.0, 0.02, 0.2)))
            monkeypatch.setattr(prices, "LISTED", random.choice((0.125, 0.5)))
            body = asked(random, project)
            ours, meter = ask(loaded, **body)
            assert ours == expected(loaded, body), (seed, body)
            assert meter.rounds <= MAX_ROUNDS, (seed, body)
            rounds[meter.rounds] += 1
    assert max(rounds) >= MAX_ROUNDS - 1


@pytest.fixture
def filled(monkeypatch: pytest.MonkeyPatch) -> Loaded:
    """90 issues with a number each, of which every third has a kind, under blocks of few issues."""
    cut(monkeypatch, 120, 6, 10, 3)
    loaded = Loaded(
        [
            {"id": "cost", "name": "Cost", "type": "number"},
            {"id": "day", "name": "Day", "type": "date"},
            {"id": "kind", "name": "Kind", "type": "enum", "options": ["b", "a"]},
            {"id": "note", "name": "Note", "type": "text"},
            {"id": "bare", "name": "Bare", "type": "number", "indexed": False},
            {"id": "tags", "name": "Tags", "type": "multi_enum", "options": ["x", "y"]},
        ]
    )
    return loaded.fill(
        loaded.issue(
            num,
            state="open" if num % 2 else "closed",
            fields={
                "cost": num,
                "day": f"2024-{num // 30 + 1:02}-{num % 28 + 1:02}",
                "bare": num,
                **({"kind": "ab"[num % 2]} if num % 3 == 0 else {}),
                **({"tags": ["xy"[num % 2]]} if num % 30 == 0 else {}),
            },
        )
        for num in range(1, 91)
    )


def test_figures_of_the_directories_take_no_other_read(filled: Loaded) -> None:
    answer, meter = ask(
        filled,
        fields=[
            {"field": "kind", "functions": ["count", "empty", "distinct", "min", "max"]},
            {"field": "state", "functions": ["count", "empty", "distinct"]},
            {"field": "cost", "functions": ["count", "empty"]},
            {"field": "num", "functions": ["count", "distinct"]},
            {"field": "tags", "functions": ["count", "empty"]},
            {"field": "created_by", "functions": ["count", "distinct"]},
        ],
    )
    assert answer == {
        "matched": 90,
        "summaries": [
            {"field": "kind", "count": 30, "empty": 60, "distinct": 2, "min": "b", "max": "a"},
            {"field": "state", "count": 90, "empty": 0, "distinct": 2},
            {"field": "cost", "count": 90, "empty": 0},
            {"field": "num", "count": 90, "distinct": 90},
            {"field": "tags", "count": 3, "empty": 87},
            {"field": "created_by", "count": 90, "distinct": 1},
        ],
    }
    assert meter.rounds == 1


def test_the_ends_of_an_order_are_two_sort_entries(filled: Loaded) -> None:
    answer, meter = ask(filled, fields=[{"field": "cost", "functions": ["min", "max"]}])
    assert answer["summaries"] == [{"field": "cost", "min": 1, "max": 90}]
    assert [(call.operation, call.items) for call in meter.calls if call.items == 1][1:] == [("query", 1)] * 2
    assert meter.rounds == 1


def test_the_ends_of_an_order_of_dates_are_two_sort_entries(filled: Loaded) -> None:
    answer, meter = ask(filled, fields=[{"field": "day", "functions": ["min", "max"]}])
    assert answer["summaries"] == [{"field": "day", "min": "2024-01-01", "max": "2024-04-07"}]
    ends = [call for call in meter.calls if call.round == 2]
    assert [(call.operation, call.items) for call in ends] == [("query", 1)] * 2


def test_figures_of_sets_under_a_filter_read_no_documents(filled: Loaded) -> None:
    few = {"field": "num", "op": "lte", "value": 12}
    answer, meter = ask(
        filled,
        filter=few,
        fields=[{"field": "kind", "functions": ["count", "empty", "distinct", "min", "max"]}],
    )
    assert answer == {
        "matched": 12,
        "summaries": [{"field": "kind", "count": 4, "empty": 8, "distinct": 2, "min": "b", "max": "a"}],
    }
    assert meter.rounds == 2
    assert answer == json.loads(
        dumps(
            expected(
                filled,
                {
                    "filter": few,
                    "fields": [{"field": "kind", "functions": ["count", "empty", "distinct", "min", "max"]}],
                },
            )
        )
    )


def test_sums_are_exact_and_averages_have_38_digits(filled: Loaded) -> None:
    loaded = Loaded([{"id": "cost", "name": "Cost", "type": "number"}])
    costs = ["1E+30", "-1E-30", "0.1", None]
    loaded.fill(loaded.issue(num, fields={"cost": cost} if cost else {}) for num, cost in enumerate(costs, 1))
    query = resolve(loaded.catalog, {"fields": [{"field": "cost", "functions": ["sum", "avg"]}]})
    answer, _ = summarized(loaded.context(), query)
    (found,) = answer["summaries"]
    assert str(found["sum"]) == "1000000000000000000000000000000.099999999999999999999999999999"
    assert str(found["avg"]) == "333333333333333333333333333333.36666667"


@pytest.mark.parametrize("filter_", [None, {"field": "state", "op": "eq", "value": "open"}])
def test_numbers_of_all_issues_and_under_a_filter_take_no_documents(filled: Loaded, filter_: Any) -> None:
    body = {"fields": [{"field": "cost", "functions": NUMBERS}], **({"filter": filter_} if filter_ else {})}
    container = filled.container()
    asked = [ask(filled, container, **body) for _ in range(2)]
    assert [answer for answer, _ in asked] == [expected(filled, body)] * 2
    assert [pages_in(meter) for _, meter in asked] == [1, 0], "the container keeps the column"
    assert all(meter.rounds <= 2 for _, meter in asked)


def test_all_numbers_of_all_issues_take_a_total_and_the_ends(filled: Loaded) -> None:
    body = {"fields": [{"field": "cost", "functions": ["count", "empty", "min", "max", "sum", "avg"]}]}
    answer, meter = ask(filled, **body)
    assert answer == expected(filled, body)
    assert meter.rounds == 1


def test_the_documents_of_few_matches_cost_less_than_a_column(
    filled: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {
        "fields": [{"field": "cost", "functions": ["median"]}],
        "filter": {"field": "num", "op": "lte", "value": 3},
    }
    _, cheap = ask(filled, **body)
    monkeypatch.setattr(prices, "COLUMN_PAGE", 100.0)
    answer, dear = ask(filled, **body)
    assert answer == expected(filled, body)
    assert [pages_in(cheap), pages_in(dear)] == [1, 0]
    assert 3 in [call.items for call in dear.calls], "the documents"


@pytest.mark.parametrize(("least", "most"), [(1, 90), (40, 45), (88, 90), (91, 99)])
def test_the_ends_of_dates_under_a_filter_take_the_blocks_near_them(
    filled: Loaded, monkeypatch: pytest.MonkeyPatch, least: int, most: int
) -> None:
    monkeypatch.setattr(summary_columns, "_NEAR", 1)
    only = {"field": "cost", "op": "between", "value": [least, most]}
    for functions in (["min"], ["max"], ["min", "max"], ["min", "count"]):
        body = {"fields": [{"field": "day", "functions": functions}], "filter": only}
        answer, meter = ask(filled, **body)
        assert answer == expected(filled, body), functions
        assert meter.rounds <= MAX_ROUNDS
    narrow, wide = (
        sum(
            call.items
            for call in ask(filled, fields=[{"field": "day", "functions": one}], filter=only)[1].calls
        )
        for one in (["min"], ["min", "count"])
    )
    assert narrow < wide or (least, most) != (1, 90)


def test_no_values_give_null(filled: Loaded) -> None:
    none = {"field": "num", "op": "gt", "value": 90}
    assert summary_of(filled, "cost", NUMBERS, filter=none) == {
        "matched": 0, "count": 0, "empty": 0, "distinct": 0, "min": None, "max": None, "median": None,
        "sum": None, "avg": None,
    }  # fmt: skip
    assert summary_of(filled, "note", EVERY) == {
        "matched": 90, "count": 0, "empty": 90, "distinct": 0, "min": None, "max": None,
    }  # fmt: skip


def test_a_text_is_spelled_by_an_issue_that_still_has_it(filled: Loaded) -> None:
    loaded = Loaded([{"id": "note", "name": "Note", "type": "text"}])
    loaded.fill(loaded.issue(num, fields={"note": note}) for num, note in enumerate(["Ann", "ann", "bob"], 1))
    assert summary_of(loaded, "note", ["min", "max"]) == {"matched": 3, "min": "Ann", "max": "bob"}
    loaded.edit(1, note="zoe")
    loaded.edit(3, note="zoe")
    assert summary_of(loaded, "note", ["min", "max"]) == {"matched": 3, "min": "ann", "max": "bob"}


def test_a_refusal_names_the_functions_that_take_the_documents(
    filled: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aggregate_planner, "MAX_DOCUMENTS", 10)
    some = {"filter": {"field": "cost", "op": "gt", "value": 10}}
    day = filled.catalog.get("day")
    assert day is not None
    days = len({day.value_in(one) for one in filled.documents})
    assert summary_of(filled, "day", ["distinct"]) == {"matched": 90, "distinct": days}, "by sort entries"
    monkeypatch.setattr(aggregate_planner, "MAX_QUERIES", 1)
    assert summary_of(filled, "day", ["count", "max"])["max"] == "2024-04-07"
    for body in ({}, some):
        with pytest.raises(
            QueryTooExpensive, match=r"^distinct, min of day would need the documents of \d+ issues"
        ):
            summary_of(filled, "day", ["count", "distinct", "min"], **body)
    with pytest.raises(QueryTooExpensive, match=r'count of bare .*attributes/bare \{"indexed": true\}'):
        summary_of(filled, "bare", ["count"])
    unclear = {"field": "name", "op": "contains", "value": "n"}
    monkeypatch.setattr(aggregate_planner, "CANDIDATES", 10)
    with pytest.raises(QueryTooExpensive, match=r"count of cost .*name contains the value given"):
        summary_of(filled, "cost", ["count"], filter=unclear)


def test_texts_that_begin_alike_have_a_limit(filled: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = Loaded([{"id": "note", "name": "Note", "type": "text"}])
    long = "x" * 240
    loaded.fill(loaded.issue(num, fields={"note": f"{long}{'Aab'[num % 3]}"}) for num in range(1, 31))
    assert summary_of(loaded, "note", ["distinct", "min", "max"]) == {
        "matched": 30, "distinct": 2, "min": f"{long}a", "max": f"{long}b",
    }  # fmt: skip
    monkeypatch.setattr(aggregate_planner, "MAX_DOCUMENTS", 29)
    with pytest.raises(
        QueryTooExpensive, match="distinct of note: 30 issues have texts with the same first 240 characters"
    ):
        summary_of(loaded, "note", ["distinct"])


def test_an_index_that_is_being_built_is_not_ready_where_documents_are_too_many(
    filled: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    attributes.update_attribute(
        filled.table, Catalogs(), ADMIN, PROJECT, "bare", {"indexed": True}, None, settling=0
    )
    assert summary_of(filled, "bare", ["sum"])["sum"] == 90 * 91 // 2
    monkeypatch.setattr(aggregate_planner, "MAX_DOCUMENTS", 89)
    with pytest.raises(IndexNotReady):
        summary_of(filled, "bare", ["sum"])


def test_options_that_are_being_moved_are_read_from_documents(filled: Loaded) -> None:
    (stored,) = (item for item in filled.table.items.values() if item.get("id") == "kind")
    first, second = stored["options"]
    swapped = [
        {**first, "rank": second["rank"], "former": [[9, first["rank"]]]},
        {**second, "rank": first["rank"], "former": [[9, second["rank"]]]},
    ]
    filled.table.put({**stored, "options": swapped})
    assert summary_of(filled, "kind", ["min", "max", "count"]) == {
        "matched": 90,
        "min": "a",
        "max": "b",
        "count": 30,
    }


def test_a_live_option_takes_precedence_over_a_retired_one_of_its_rank(filled: Loaded) -> None:
    (stored,) = (item for item in filled.table.items.values() if item.get("id") == "tags")
    first, second = stored["options"]
    gone = {"id": "o3", "value": "gone", "rank": first["rank"], "retired": True}
    filled.table.put({**stored, "options": [first, second, gone]})
    assert summary_of(filled, "tags", ["min", "max"]) == {"matched": 90, "min": ["x"], "max": ["x"]}


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ([], {"fields"}),
        ([{"field": "cost", "functions": []}], {"fields.0.functions"}),
        ([{"field": "none", "functions": ["count"]}], {"fields.0.field"}),
        (
            [{"field": "state", "functions": ["count", "sum", "avg"]}],
            {"fields.0.functions.1", "fields.0.functions.2"},
        ),
        ([{"field": "state", "functions": ["median"]}], {"fields.0.functions.0"}),
        ([{"field": "cost", "functions": ["mode"]}], {"fields.0.functions.0"}),
        ([{"field": "cost", "functions": ["sum"]}] * 2, {"fields.1.field"}),
        ([{"field": "cost", "functions": ["sum"]}] * (summary_request.MAX_FIELDS + 1), {"fields"}),
    ],
)
def test_all_errors_of_a_summary_are_listed(filled: Loaded, fields: Any, wrong: set[str]) -> None:
    with pytest.raises(InvalidRequest) as error:
        resolve(filled.catalog, {"fields": fields})
    assert {one.field for one in error.value.errors} == wrong


@pytest.mark.parametrize(
    ("kind", "functions", "summary_of"),
    [
        (FieldType.ENUM, ("count", "empty"), True),
        (FieldType.ENUM, ("distinct",), False),
        (FieldType.ENUM, ("min",), False),
        (FieldType.MULTI_ENUM, ("count", "empty", "distinct"), True),
        (FieldType.MULTI_ENUM, ("max",), False),
    ],
)
def test_while_options_move_blocks_give_figures_that_do_not_depend_on_ranks(
    kind: FieldType, functions: tuple[Function, ...], *, summary_of: bool
) -> None:
    option = Option("o1", "a", "1")
    field = Field("kind", "a1", "Kind", kind, (option,))
    assert is_answered_by_blocks(FieldSummary(field, functions))
    moved = replace(field, options=(option.moved_to("2", 7),))
    assert is_answered_by_blocks(FieldSummary(moved, functions)) is summary_of
