"""From a plan to an answer: it is carried out, and explained if that is asked for."""

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
) -> tuple[Result, dict[str, Any]]:
    """What the steps of a plan give, and what every answer tells besides: `index`, and `explain` if that is asked for.

    They raise what refuses the request. Beside the first round the project's epoch is read (StaleDefinitions if the catalog is not
    the current one), how far the index is behind, and with tokens what they name. `cache`: what the container keeps. `recent`:
    writes that the answer is to hold.
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
    beside[freshness] = _lag(freshness)
    result: Result
    result, *_ = executor.run(side_by_side(steps, *beside.values()))
    facts = executor.trace.facts
    pending = facts[overlay_read]["pending"] if overlay_read in beside else 0
    told: dict[str, Any] = {"index": {"lag_ms": facts[freshness]["lag"].milliseconds, "pending": pending}}
    if explain:
        told["explain"] = explanation_of(plan, tuple(beside), executor.trace, table.meter)
    return result, told


def _recent(node: Node) -> Steps[None]:
    overlay = yield from ask(node, ReadRecent())
    yield from tell(node, behind=overlay.behind, pending=overlay.pending)


def _lag(freshness: Node) -> Steps[None]:
    lag = yield from ask(freshness, ReadFreshness())
    yield from tell(freshness, lag=lag)
