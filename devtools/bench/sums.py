"""The cost of functions of numbers: over all issues, under filters, and in groups.

The project has only what such requests read: blocks, columns, totals, and the ends of orders. So a million issues fit in
memory. The table in memory counts units as DynamoDB does.
"""

import argparse
import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from pyroaring import BitMap
from rich.console import Console

from devtools.bench import number_issues, output
from devtools.bench.number_issues import DONE, KIND, SHARE
from devtools.local import bulk
from devtools.proof.baseline import service
from devtools.proof.baseline.questions import Question
from devtools.proof.baseline.service import Cost
from devtools.proof.baseline.world import PROJECT, TENANT, World
from devtools.proof.faults.memory_table import MemoryTable
from gridview.chains.column_pages import ColumnPage
from gridview.chains.number_columns import NumberColumn, column_of
from gridview.commands.actor import Actor, Role
from gridview.derive.families import NUMBERS, column_families, derived_strings, families_of
from gridview.encoding import derived_keys, keys
from gridview.encoding.number_pages import parsed
from gridview.encoding.sort_strings import number_of
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs
from gridview.view.block_cache import BlockCache
from gridview.view.journal_tail import learn

SIZE: Final = 100_000
_REPEAT: Final = 9

_LONG: Final = (number_issues.WIDE, number_issues.QUOTIENT)
_ONE_PERCENT: Final = {"field": SHARE, "op": "eq", "value": 0}
_HALF: Final = {"field": DONE, "op": "eq", "value": True}
_SUMS: Final = ["count", "sum", "avg"]


def _summary(
    functions: Sequence[str], only: Any = None, fields: Sequence[str] = number_issues.NUMBERS
) -> dict[str, Any]:
    asked = [{"field": one, "functions": list(functions)} for one in fields]
    return {"fields": asked, **({} if only is None else {"filter": only})}


QUESTIONS: Final = (
    Question("five fields: count, sum, avg", "summary", _summary(_SUMS)),
    Question("the same with min and max", "summary", _summary([*_SUMS, "min", "max"])),
    Question("a sum under a 1 % filter", "summary", _summary(["sum"], _ONE_PERCENT, ["cost"])),
    Question("a sum under a 50 % filter", "summary", _summary(["sum"], _HALF, ["cost"])),
    Question("a median under a 50 % filter", "summary", _summary(["median"], _HALF, ["cost"])),
    Question("distinct numbers under a 50 % filter", "summary", _summary(["distinct"], _HALF, ["cost"])),
    Question(
        "50 groups with a sum, 1 % filter",
        "groups",
        {
            "by": [KIND],
            "filter": _ONE_PERCENT,
            "aggregates": [{"field": "cost", "function": "sum"}],
            "limit": 500,
        },
    ),
    Question("five fields, 1 % filter", "summary", _summary(_SUMS, _ONE_PERCENT)),
    Question(
        "a sum of 48 bits under a 1 % filter",
        "summary",
        _summary(["sum"], _ONE_PERCENT, [number_issues.WIDE]),
    ),
    Question(
        "a sum of quotients under a 1 % filter",
        "summary",
        _summary(["sum"], _ONE_PERCENT, [number_issues.QUOTIENT]),
    ),
)


class Measured(NamedTuple):
    """The cost of a question in a container that keeps nothing, and of the same question again; its CPU time then."""

    question: Question
    cold: Cost
    warm: Cost
    cpu_milliseconds: float


def run(args: argparse.Namespace) -> int:
    """Measure and print."""
    console, progress, size = output.console(), Console(stderr=True), args.size or SIZE
    progress.print(f"Making the index of {size:,} issues in memory ...", highlight=False)
    made = make(size)
    found = measured(made)
    console.print(
        output.table(
            f"\n{size:,} issues with five numbers of 24 bits, and two longer ones",
            ("question", "read units, cold", "warm", "rounds, cold", "warm", "CPU ms, warm"),
            (
                [
                    one.question.name,
                    f"{one.cold.units:,.1f}",
                    f"{one.warm.units:,.1f}",
                    str(one.cold.rounds),
                    str(one.warm.rounds),
                    f"{one.cpu_milliseconds:,.1f}",
                ]
                for one in found
            ),
        )
    )
    console.print(
        output.table(
            "\nA column in memory",
            ("step", "CPU ms"),
            ([name, f"{milliseconds:,.2f}"] for name, milliseconds in steps(made)),
        )
    )
    if args.json is not None:
        figures = [
            {"question": one.question.name, "cold": one.cold.units, "warm": one.warm.units} for one in found
        ]
        output.write_json(args.json, figures)
    return 0


def measured(made: World) -> Iterator[Measured]:
    """The costs of all questions."""
    with service.running(made) as running:
        for question in QUESTIONS:
            cache = BlockCache(clock=lambda: 0.0)
            learn(Log(made.table, TENANT, PROJECT), cache)
            _, cold = running.cost(question, cache)
            _, warm = running.cost(question, cache)
            spent = _cpu(partial(running.cost, question, cache))
            yield Measured(question, cold, warm, spent)


def make(size: int) -> World:
    """The project with the index of so many issues, of which the table has no documents."""
    table, actor = MemoryTable(), Actor(TENANT, "bench", Role.ADMIN)
    catalog = number_issues.make_project(table, actor, PROJECT, _LONG)
    bulk.take_numbers(table, catalog, size)
    gc.disable()  # millions of objects that all stay
    try:
        _load(table, catalog, size)
    finally:
        gc.enable()
    return World(table, size, 1, 1)


def _load(table: MemoryTable, catalog: Catalog, size: int) -> None:
    places, ends = bulk.Places(), dict[str, tuple[str, str]]()
    kept = _families(catalog)
    for derived in _derived(catalog, size):
        some = {family: string for family, string in derived.items() if family in kept}
        places.add(some)
        for family, string in some.items():
            least, most = ends.get(family, (string, string))
            ends[family] = min(least, string), max(most, string)
    pages, totals = places.columns(catalog)
    for page in pages:
        table.put(page.to_item(TENANT, PROJECT))
    for family in column_families(catalog):
        for string in ends[family]:
            order = derived_keys.order(TENANT, PROJECT, family)
            issue = keys.issue(TENANT, PROJECT, number_of(string))
            table.put({keys.PK: issue, keys.SK: order, keys.SORT: string, "version": 1, "revision": 1})
    log = Log(table, TENANT, PROJECT)
    log.put_totals(totals, log.totals())
    for chain in places.chains():
        for block in chain:
            table.put(block.to_item(TENANT, PROJECT))


def _families(catalog: Catalog) -> frozenset[str]:
    """The families that the questions need."""
    asked = {field.id for field in catalog.attributes}
    orders = {one.order_id for one in catalog.orders if one.fields[0].id in asked}
    return frozenset({NUMBERS, *orders} & {*families_of(catalog)})


def _derived(catalog: Catalog, size: int) -> Iterator[Mapping[str, str]]:
    by_id = {field.id: field for field in catalog.attributes}
    kinds = {option.value: option.id for option in by_id[KIND].live_options}
    for num, fields in enumerate(number_issues.fields(size, _LONG), 1):
        values = {by_id[one].key: kinds[value] if one == KIND else value for one, value in fields.items()}
        instant = "2024-01-01T00:00:00.000000Z"
        document = {"num": num, "name": "n", "state": catalog.state.live_options[0].id, "fields": values}
        yield derived_strings(catalog, {**document, "created": instant, "updated": instant})


def steps(made: World) -> Iterator[tuple[str, float]]:
    """The CPU time of steps of a column of all issues."""
    catalog = Catalogs().get(made.table, TENANT, PROJECT)
    partition = derived_keys.column(TENANT, PROJECT, column_families(catalog)[0])
    items = list(made.table.query_all(partition))

    def decoded() -> NumberColumn:
        pages = map(ColumnPage.from_item, items)
        return column_of({page.number: parsed(page.stored) for page in pages})

    column = decoded()
    half = BitMap(range(1, made.size + 1, 2))
    few = BitMap(range(1, made.size + 1, 100))
    groups = [BitMap(range(at, made.size + 1, 50)) for at in range(1, 51)]
    yield "decode and build", _cpu(decoded)
    yield "sum of 1 %", _cpu(lambda: column.among(few).sum)
    yield "sum of 50 %", _cpu(lambda: column.among(half).sum)
    yield "median of 50 %", _cpu(lambda: column.among(half).median)
    yield "distinct of 50 %", _cpu(lambda: column.among(half).distinct)
    yield "sums of 50 groups", _cpu(lambda: [column.among(one).sum for one in groups])


def _cpu(work: Callable[[], Any]) -> float:
    """The median CPU milliseconds of some runs."""
    spent = []
    for _ in range(_REPEAT):
        begun = time.process_time()
        work()
        spent.append((time.process_time() - begun) * 1_000)
    return statistics.median(spent)
