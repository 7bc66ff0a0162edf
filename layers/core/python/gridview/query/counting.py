"""Grouped counts, as the API answers them."""

from typing import Any

import orjson

from gridview.dynamodb.table import Table
from gridview.encoding.json_codec import dumps, size_in_response
from gridview.index.block_cache import BlockCache
from gridview.index.freshness import read_beside
from gridview.query.explain import explanation
from gridview.query.grid import MAX_RESPONSE_BYTES
from gridview.query.group_request import GroupsQuery, group_json
from gridview.query.grouping import GroupsReader
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
