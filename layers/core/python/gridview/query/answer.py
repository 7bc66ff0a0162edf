"""From a plan to an answer: it is carried out, and explained if that is asked for."""

from collections.abc import Callable
from typing import Any, TypeVar

from gridview.dynamodb.table import Table
from gridview.encoding.consistency import Recent, issues_in
from gridview.index.block_cache import BlockCache
from gridview.query import planner
from gridview.query.executor import Executor
from gridview.query.explain import explanation_of
from gridview.query.plan import Node
from gridview.query.reads import ReadEpoch, ReadFreshness, ReadRecent
from gridview.query.steps import Steps, ask, side_by_side, tell
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck

Result = TypeVar("Result")


def carried_out(
    plan: Node,
    steps: Steps[Result],
    table: Table,
    catalog: Catalog,
    cache: BlockCache | None,
    *,
    epoch: EpochCheck,
    recent: Recent,
    explain: bool,
    issues: Callable[[Result], int] | None = None,
) -> tuple[Result, dict[str, Any]]:
    """What the steps of a plan give, and `explain` if that is asked for. They raise what refuses the request.

    Beside the first round the project's epoch is read (StaleDefinitions if the catalog is not the current one), with tokens what
    they name, and for `explain` alone how far the index is behind. `cache`: what the container keeps. `recent`: writes that the
    answer is to hold. `issues` tells how many there are in the index, where the result does.
    """
    just_written = issues_in(recent)
    executor = Executor(table, catalog, cache or BlockCache(0.0), epoch, just_written)
    epoch_read, freshness = planner.epoch_read(), planner.freshness()
    overlay_read = planner.overlay_read(len(just_written), journal=catalog.journalled)
    beside: dict[Node, Steps[Any]] = {}
    if just_written or catalog.journalled:
        beside[overlay_read] = _recent(overlay_read)
    if epoch.due:
        beside[epoch_read] = ask(epoch_read, ReadEpoch())
    if explain:
        beside[freshness] = _lag(freshness)
    result: Result
    result, *_ = executor.run(side_by_side(steps, *beside.values()))
    if not explain:
        return result, {}
    if issues is not None:
        executor.run(tell(freshness, issues=issues(result)))
    return result, {"explain": explanation_of(plan, tuple(beside), executor.trace, table.meter)}


def _recent(node: Node) -> Steps[None]:
    overlay = yield from ask(node, ReadRecent())
    yield from tell(node, behind=overlay.behind)


def _lag(freshness: Node) -> Steps[None]:
    lag = yield from ask(freshness, ReadFreshness())
    yield from tell(freshness, lag=lag)
