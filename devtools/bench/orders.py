"""`./dev bench --orders`: reads by a formula and in a manual order, beside those by a stored field of the same type.

The project has what such reads need: blocks, columns, totals, and the documents of the rows on the asked pages. So a
million issues fit in memory. The table in memory counts units as DynamoDB does.
"""

import argparse
import gc
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain, islice
from random import Random
from typing import Any, Final, NamedTuple

from rich.console import Console

from devtools.bench import number_issues, output
from devtools.bench.number_issues import KIND, SHARE
from devtools.local import bulk
from devtools.local.derived_items import derived_items
from devtools.local.passes import work_off
from devtools.proof.baseline import service
from devtools.proof.baseline.questions import Question
from devtools.proof.baseline.service import Cost, Service
from devtools.proof.baseline.world import PROJECT, TENANT, World
from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands.actor import Actor, Role
from gridview.commands.attributes import create_attribute
from gridview.commands.manual_orders import OrdersOfViews
from gridview.derive.families import NUMBERS, derived_strings, families_of
from gridview.derive.sort_entries import sort_entry
from gridview.dynamodb.expressions import Item
from gridview.encoding import keys, sort_strings
from gridview.encoding.fractional_keys import between, default_key
from gridview.encoding.sort_strings import number_of
from gridview.journal.log import Log
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Changes, Document
from gridview.schema.manual_orders import MANUAL
from gridview.schema.store import Catalogs
from gridview.schema.views import View

SIZE: Final = 100_000
NUMBER, NUMBER_FORMULA, TEXT, TEXT_FORMULA, BY_HAND = (
    "number",
    "formula: number",
    "text",
    "formula: text",
    "by hand",
)
ORDERS: Final[Mapping[str, Mapping[str, Any]]] = {
    NUMBER: {"field": "cost"},
    NUMBER_FORMULA: {"field": "total"},
    TEXT: {"field": "part"},
    TEXT_FORMULA: {"field": "label"},
    BY_HAND: {"manual": "v1"},
}
"""The key of each order. A formula has the values of the stored field before it, so the sort strings are the same."""

_ATTRIBUTES: Final[tuple[Mapping[str, Any], ...]] = (
    {"id": "part", "name": "part", "type": "text"},
    {"id": "total", "name": "total", "type": "number", "formula": "{cost} * 1"},
    {"id": "label", "name": "label", "type": "text", "formula": '"" & {part}'},
)
_ONE_PERCENT: Final = {"field": SHARE, "op": "eq", "value": 0}
_BEFORE: Final[Mapping[str, Mapping[str, Any]]] = {
    NUMBER: {"op": "lt", "value": 80_000},
    TEXT: {"op": "starts_with", "value": "k1"},
}
_BOUNDS: Final = {
    **dict.fromkeys(("cost", "total"), (sort_strings.number(Decimal(80_000)),)),
    **dict.fromkeys(("part", "label"), (sort_strings.text("k1"), sort_strings.text("k2"))),
}
"""Field -> where the filters by it begin and end."""
_FIELDS: Final = frozenset(key.get("field", f"manual.{key.get('manual')}") for key in ORDERS.values())
"""The ids of the fields of all orders."""
_COLUMNS: Final = ["name"]
_PAGE: Final = 100
_NEAR: Final = 5_000
"""Entries on either side of such a place: more than a block has."""
_PLACED_EVERY: Final = 10
"""One issue in so many was placed by hand."""
_INSTANT: Final = "2024-01-01T00:00:00.000000Z"


class Measured(NamedTuple):
    """The cost of a question in an order: in a container that keeps nothing, and of the same question again."""

    question: str
    order: str
    cold: Cost
    warm: Cost


def run(args: argparse.Namespace) -> int:
    """Measure and print."""
    console, progress, size = output.console(), Console(stderr=True), args.size or SIZE
    progress.print(f"Making the index of {size:,} issues in memory ...", highlight=False)
    found = measured(make(size))
    figures = {(one.question, one.order): one for one in found}
    questions = list(dict.fromkeys(question for question, _ in figures))
    console.print(
        output.table(
            f"\n{size:,} issues: read units cold / warm, and rounds cold",
            ("question", *ORDERS),
            (
                [question, *(_shown(figures.get((question, order))) for order in ORDERS)]
                for question in questions
            ),
        )
    )
    if args.json is not None:
        output.write_json(
            args.json,
            [
                {
                    "question": one.question,
                    "order": one.order,
                    "cold": one.cold.units,
                    "warm": one.warm.units,
                    "rounds": [one.cold.rounds, one.warm.rounds],
                }
                for one in found
            ],
        )
    return 0


def _shown(one: Measured | None) -> str:
    return "" if one is None else f"{one.cold.units:,.1f} / {one.warm.units:,.1f}, {one.cold.rounds}"


def questions(order: str) -> Iterator[Question]:
    """What is asked in an order, or by its field."""
    key = ORDERS[order]
    grid = {"sort": [key], "columns": _COLUMNS, "limit": _PAGE}
    yield Question("first page", "grid", grid)
    yield Question("page in the middle", "grid", grid, share=0.5)
    yield Question("first page, 1 % filter", "grid", {**grid, "filter": _ONE_PERCENT})
    yield Question("row number in the middle", "row_number", {"sort": [key]}, issue="0.5")
    field = key.get("field")
    if field is None:
        return
    is_number = order in (NUMBER, NUMBER_FORMULA)
    some = {"field": field, **_BEFORE[NUMBER if is_number else TEXT]}
    yield Question(
        "count under a filter by it", "grid", {"filter": some, "columns": ["num"], "limit": 1, "count": True}
    )
    if is_number:
        yield Question("sum", "summary", {"fields": [{"field": field, "functions": ["sum"]}]})
        asked = {"fields": [{"field": field, "functions": ["sum"]}], "filter": _ONE_PERCENT}
        yield Question("sum, 1 % filter", "summary", asked)


def measured(made: World) -> list[Measured]:
    """Return the costs of all questions. AssertionError if a formula's rows differ from the stored field's."""
    answers: dict[tuple[str, str], Any] = {}
    with service.running(made) as running:
        found = [
            _asked(running, order, question, answers) for order in ORDERS for question in questions(order)
        ]
    for formula, stored in ((NUMBER_FORMULA, NUMBER), (TEXT_FORMULA, TEXT)):
        for question in questions(formula):
            rows = answers[formula, question.name].get("rows")
            assert rows == answers[stored, question.name].get("rows"), question.name  # noqa: S101
    return found


def _asked(running: Service, order: str, question: Question, answers: dict[tuple[str, str], Any]) -> Measured:
    answer, cold, warm = running.ask(question)
    assert "status" not in answer, f"{order}, {question.name}: {answer}"  # noqa: S101
    answers[order, question.name] = answer
    return Measured(question.name, order, cold, warm)


def make(size: int) -> World:
    """The project with the index of so many issues, and the documents that the questions ask for."""
    table, actor = MemoryTable(), Actor(TENANT, "bench", Role.ADMIN)
    number_issues.make_project(table, actor, PROJECT)
    for body in _ATTRIBUTES:
        create_attribute(table, Catalogs(), actor, PROJECT, body)
    _begin_order(table)
    work_off(table)
    catalog = Catalogs().get(table, TENANT, PROJECT)
    bulk.take_numbers(table, catalog, size)
    gc.disable()  # millions of objects that all stay
    try:
        _load(table, catalog, size)
    finally:
        gc.enable()
    return World(table, size, 1, 1)


def _begin_order(table: MemoryTable) -> None:
    """Begin the manual order of the shared view v1."""

    def view(sort: list[tuple[str, ...]]) -> View:
        return View(1, "By hand", "shared", "", {"sort": sort}, 1, _INSTANT, "bench", _INSTANT, "bench")

    orders = OrdersOfViews(table, Catalogs(), TENANT, PROJECT, settling=0)
    table.transact([*orders.writes_beside(view([]), view([(MANUAL, "asc", "last")]))])


def _load(table: MemoryTable, catalog: Catalog, size: int) -> None:
    places, families = bulk.Places(), _families(catalog)
    drawn: dict[str, list[str]] = {family: [] for family, field in families.items() if field in _FIELDS}
    for document in _documents(catalog, size):
        derived = derived_strings(catalog, document)
        places.add({family: string for family, string in derived.items() if family in families})
        for family, strings in drawn.items():
            strings.append(derived[family])
    pages, totals = places.columns(catalog)
    log = Log(table, TENANT, PROJECT)
    log.put_totals(totals, log.totals())
    items = (one.to_item(TENANT, PROJECT) for one in pages)
    blocks = (one.to_item(TENANT, PROJECT) for one in chain.from_iterable(places.chains()))
    for item in chain(items, blocks):
        table.put(item)
    wanted, few = {size // 2}, _few(size)
    for family, strings in drawn.items():
        strings.sort()
        ordered = [number_of(string) for string in strings]
        wanted.update(ordered[: 2 * _PAGE], ordered[size // 2 : size // 2 + 2 * _PAGE])
        wanted.update(islice((num for num in ordered if num in few), 2 * _PAGE))
        for entry in _entries(family, families[family], strings, ordered.index(size // 2)):
            table.put(entry)
    for document in _documents(catalog, size):
        for item in (*derived_items(catalog, document), document) if document["num"] in wanted else ():
            table.put(item)


def _entries(family: str, field: str, strings: Sequence[str], of_issue: int) -> Iterator[Item]:
    """The sort entries of an order that are read: near the pages, near an issue, and where a filter begins or ends."""
    places = {
        0,
        len(strings) // 2,
        of_issue,
        *(bisect_left(strings, bound) for bound in _BOUNDS.get(field, ())),
    }
    for string in {one for at in places for one in strings[max(0, at - _NEAR) : at + _NEAR]}:
        issue = keys.issue(TENANT, PROJECT, number_of(string))
        yield sort_entry(issue, family, string, version=1, revision=1)


def _families(catalog: Catalog) -> Mapping[str, str]:
    """The families that the questions need, and the id of the field of each."""
    asked = {field.id for field in catalog.attributes} | {order.id for order in catalog.manual_orders}
    orders = {one.order_id: one.fields[0].id for one in catalog.orders if one.fields[0].id in asked}
    return {
        family: orders.get(family, "")
        for family in families_of(catalog)
        if family in orders or family == NUMBERS
    }


def _few(size: int) -> frozenset[int]:
    """The numbers of the issues that match the filter of 1 %."""
    return frozenset(num for num, given in enumerate(number_issues.fields(size), 1) if given[SHARE] == 0)


def _documents(catalog: Catalog, size: int) -> Iterator[Document]:
    """The same ones each time. One issue in ten was placed by hand, anywhere."""
    (order,) = catalog.manual_orders
    by_id = {field.id: field for field in catalog.attributes}
    kinds = {option.value: option.id for option in by_id[KIND].live_options}
    random = Random(33)  # noqa: S311  (the same each time)
    for num, given in enumerate(number_issues.fields(size), 1):
        values = {**given, KIND: kinds[given[KIND]], "part": f"{given[KIND]} {given['size']}"}
        fields: dict[str, Any] = {by_id[one].key: value for one, value in values.items()}
        if num % _PLACED_EVERY == 0:
            above = random.randrange(1, size)
            (fields[order.key],) = between(default_key(above), default_key(above + 1), random.random)
        changes = Changes({"name": "n"}, fields)
        yield documents.new_document(catalog, num, changes, user="bench", now=_INSTANT)
