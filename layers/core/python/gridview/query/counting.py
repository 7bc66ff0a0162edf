"""Grouped counts and summaries, as the API answers them."""

from typing import Any

import orjson

from gridview.dynamodb.table import Table
from gridview.encoding.json_codec import dumps, size_in_response
from gridview.index.block_cache import BlockCache
from gridview.index.freshness import read_beside
from gridview.query import aggregate_planner, summary
from gridview.query.executor import Executor
from gridview.query.explain import Steps, explanation
from gridview.query.grid import MAX_RESPONSE_BYTES
from gridview.query.group_request import GroupsQuery, group_json
from gridview.query.grouping import GroupsReader
from gridview.query.reads import ReadFreshness
from gridview.query.steps import ask, side_by_side
from gridview.query.summary_request import SummaryQuery, summary_json
from gridview.schema.catalog import Catalog


def grouped_counts(
    table: Table, catalog: Catalog, query: GroupsQuery, cache: BlockCache | None = None
) -> dict[str, Any]:
    """`groups`, in the order of the fields, and whether there are `more`; at most four rounds, unless the index changes under it.

    Read units: `explain` and README tell. `cache`: what the container keeps. Unprocessable where it would take more than its
    budget, IndexNotReady.
    """
    reader = GroupsReader(table, catalog, query, cache or BlockCache(0.0))
    if query.explain:
        found, lag = read_beside(table, catalog, reader.read)
    else:
        found, lag = reader.read(), None
    shown: list[orjson.Fragment] = []
    size = 0
    for group in found.groups[: query.limit]:
        encoded = dumps(group_json(query, group))
        size += size_in_response(encoded)
        if size > MAX_RESPONSE_BYTES:
            break
        shown.append(orjson.Fragment(encoded))
    answer: dict[str, Any] = {"groups": shown, "more": found.more or len(shown) < len(found.groups)}
    if lag is not None:
        plan = [*reader.plan, lag.sentence(reader.issues)]
        answer["explain"] = explanation(plan, table.meter, reader.steps)
    return answer


def summarized(
    table: Table, catalog: Catalog, query: SummaryQuery, cache: BlockCache | None = None
) -> dict[str, Any]:
    """`matched`, and of each field the functions asked for.

    Read units: `explain` and README tell. `cache`: what the container keeps. Unprocessable where it would take more than its
    budget, IndexNotReady.
    """
    executor = Executor(table, catalog, cache or BlockCache(0.0))
    plan = aggregate_planner.summary(catalog, query)
    steps = summary.run(plan)
    if not query.explain:
        found = executor.run(steps)
        return summary_json(found.matched, found.told)
    found, lag = executor.run(side_by_side(steps, ask(plan, ReadFreshness())))
    answer = summary_json(found.matched, found.told)
    way = executor.trace.facts[plan]["chosen"]
    said = [way.said(executor.trace.facts.get(way, {})), lag.sentence(found.issues)]
    return {**answer, "explain": explanation(said, table.meter, Steps(table.meter))}
