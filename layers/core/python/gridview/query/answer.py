"""From a plan to an answer: it is carried out, and explained if that is asked for."""

from collections.abc import Callable
from typing import Any, TypeVar

from gridview.dynamodb.table import Table
from gridview.index.block_cache import BlockCache
from gridview.query import planner
from gridview.query.executor import Executor
from gridview.query.explain import explanation_of
from gridview.query.plan import Node
from gridview.query.reads import ReadFreshness
from gridview.query.steps import Steps, ask, side_by_side, tell
from gridview.schema.catalog import Catalog

Result = TypeVar("Result")


def carried_out(
    plan: Node,
    steps: Steps[Result],
    table: Table,
    catalog: Catalog,
    cache: BlockCache | None,
    *,
    explain: bool,
    issues: Callable[[Result], int] | None = None,
) -> tuple[Result, dict[str, Any]]:
    """What the steps of a plan give, and `explain` if that is asked for. They raise what refuses the request.

    `cache`: what the container keeps. How far the index is behind is read beside the first round, for `explain` alone; `issues`
    tells how many there are in the index, where the result does.
    """
    executor = Executor(table, catalog, cache or BlockCache(0.0))
    if not explain:
        return executor.run(steps), {}
    freshness = planner.freshness()

    def beside() -> Steps[None]:
        lag = yield from ask(freshness, ReadFreshness())
        yield from tell(freshness, lag=lag)

    result: Result
    result, _ = executor.run(side_by_side(steps, beside()))
    if issues is not None:
        executor.run(tell(freshness, issues=issues(result)))
    return result, {"explain": explanation_of(plan, freshness, executor.trace, table.meter)}
