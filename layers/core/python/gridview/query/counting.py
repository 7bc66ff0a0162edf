"""Grouped counts and summaries, as the API answers them."""

from operator import attrgetter
from typing import Any

import orjson

from gridview.dynamodb.table import Table
from gridview.encoding.json_codec import dumps, size_in_response
from gridview.index.block_cache import BlockCache
from gridview.query import aggregate_planner, grouping, summary
from gridview.query.answer import carried_out
from gridview.query.grid import MAX_RESPONSE_BYTES
from gridview.query.group_request import GroupsQuery, group_json
from gridview.query.summary_request import SummaryQuery, summary_json
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import CONFIRMED, EpochCheck


def grouped_counts(
    table: Table,
    catalog: Catalog,
    query: GroupsQuery,
    cache: BlockCache | None = None,
    epoch: EpochCheck = CONFIRMED,
) -> dict[str, Any]:
    """`groups`, in the order of the fields, and whether there are `more`; at most four rounds, unless the index changes under it.

    Read units: `explain` and docs/performance.md tell. `cache`: what the container keeps. Unprocessable where it would take more
    than its budget, IndexNotReady. `epoch`: what finds out whether the catalog is current; StaleDefinitions.
    """
    plan = aggregate_planner.groups(catalog, query)
    found, explained = carried_out(
        plan,
        grouping.run(plan),
        table,
        catalog,
        cache,
        epoch=epoch,
        explain=query.explain,
        issues=attrgetter("issues"),
    )
    shown: list[orjson.Fragment] = []
    size = 0
    for group in found.groups[: query.limit]:
        encoded = dumps(group_json(query, group))
        size += size_in_response(encoded)
        if size > MAX_RESPONSE_BYTES:
            break
        shown.append(orjson.Fragment(encoded))
    return {"groups": shown, "more": found.more or len(shown) < len(found.groups), **explained}


def summarized(
    table: Table,
    catalog: Catalog,
    query: SummaryQuery,
    cache: BlockCache | None = None,
    epoch: EpochCheck = CONFIRMED,
) -> dict[str, Any]:
    """`matched`, and of each field the functions asked for.

    Read units: `explain` and docs/performance.md tell. `cache`: what the container keeps. Unprocessable where it would take more
    than its budget, IndexNotReady. `epoch`: what finds out whether the catalog is current; StaleDefinitions.
    """
    plan = aggregate_planner.summary(catalog, query)
    found, explained = carried_out(
        plan,
        summary.run(plan),
        table,
        catalog,
        cache,
        epoch=epoch,
        explain=query.explain,
        issues=attrgetter("issues"),
    )
    return {**summary_json(found.matched, found.told), **explained}
