"""Grouped counts and summaries, as the API answers them."""

from collections.abc import Sequence
from typing import Any

import orjson

from gridview.dynamodb.table import Table
from gridview.encoding.consistency import Recent, from_texts, to_texts, with_those_of_a_cursor
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps, size_in_response
from gridview.query import aggregate_planner, grouping, summary
from gridview.query.answer import carried_out
from gridview.query.grid import MAX_RESPONSE_BYTES
from gridview.query.group_filter import GroupFilters
from gridview.query.group_request import Group, GroupsQuery, Reached, behind, group_json, reached_by
from gridview.query.summary_request import SummaryQuery, summary_json
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import CONFIRMED, EpochCheck
from gridview.support import clock
from gridview.support.errors import CursorExpired
from gridview.view.block_cache import BlockCache
from gridview.view.shown_versions import Shown

_CURSOR_VERSION = 1


def grouped_counts(
    table: Table,
    catalog: Catalog,
    query: GroupsQuery,
    cursors: Cursors,
    cache: BlockCache,
    epoch: EpochCheck = CONFIRMED,
    recent: Recent = (),
    feed: Cursors | None = None,
    shown: Shown | None = None,
) -> dict[str, Any]:
    """`groups`, in the order of the fields, and the cursor `next`; at most four rounds, unless the index changes under it.

    Read units: `explain` and docs/performance.md tell. `cache`: what the container keeps. Unprocessable where it would take more
    than its budget, IndexNotReady, CursorExpired. `epoch`: what finds out whether the catalog is current; StaleDefinitions.
    `recent`: writes that the index is to hold, besides those that the page before held. `feed`, `shown`: as for `carried_out`.
    """
    binding = query.binding(catalog.tenant, catalog.project)
    reached, before = (None, ()) if query.cursor is None else _opened(query, cursors, binding)
    recent = with_those_of_a_cursor(recent, before, catalog.project, clock.seconds())
    plan = aggregate_planner.groups(catalog, query, reached)
    found, told = carried_out(
        plan,
        lambda: grouping.run(plan),
        table,
        catalog,
        cache,
        epoch=epoch,
        recent=recent,
        explain=query.explain,
        feed=feed,
        shown=shown,
    )
    ahead = behind(found.groups, reached)
    fitting = _fitting(query, ahead[: query.limit])
    more = found.more or len(fitting) < len(ahead)
    end = reached_by(ahead[: len(fitting)], reached) if more else None
    sealed = None
    if end is not None:
        payload = [_CURSOR_VERSION, query.arrangements, *end, *to_texts(recent)]
        sealed = cursors.seal(payload, binding)
    return {"groups": fitting, "more": more, "next": sealed, **told}


def _fitting(query: GroupsQuery, groups: Sequence[Group]) -> list[orjson.Fragment]:
    """The first of these groups, as JSON: as many as an answer can hold, and one at least."""
    filters = GroupFilters(query)
    shown: list[orjson.Fragment] = []
    size = 0
    for group in groups:
        encoded = dumps({**group_json(query, group), "filter": filters.of(group)})
        size += size_in_response(encoded)
        if shown and size > MAX_RESPONSE_BYTES:
            break
        shown.append(orjson.Fragment(encoded))
    return shown


def _opened(query: GroupsQuery, cursors: Cursors, binding: bytes) -> tuple[Reached, Recent]:
    """Where the page ends that gave the query's cursor, and the recent writes that it held."""
    payload: Any = cursors.open(query.cursor or "", binding)
    version, arrangements, *rest = payload
    if version != _CURSOR_VERSION or arrangements != query.arrangements:
        raise CursorExpired(
            "An index was rebuilt, or its options reordered, since the cursor was given; start again without it."
        )
    place, count, *recent = rest
    reached = Reached(tuple((without, body, apart) for without, body, apart in place), count)
    return reached, from_texts(recent)


def summarized(
    table: Table,
    catalog: Catalog,
    query: SummaryQuery,
    cache: BlockCache,
    epoch: EpochCheck = CONFIRMED,
    recent: Recent = (),
    feed: Cursors | None = None,
    shown: Shown | None = None,
) -> dict[str, Any]:
    """`matched`, and of each field the functions asked for.

    Read units: `explain` and docs/performance.md tell. `cache`: what the container keeps. Unprocessable where it would take more
    than its budget, IndexNotReady. `epoch`: what finds out whether the catalog is current; StaleDefinitions. `recent`: writes that
    the index is to hold. `feed`, `shown`: as for `carried_out`.
    """
    plan = aggregate_planner.summary(catalog, query)
    found, told = carried_out(
        plan,
        lambda: summary.run(plan),
        table,
        catalog,
        cache,
        epoch=epoch,
        recent=recent,
        explain=query.explain,
        feed=feed,
        shown=shown,
    )
    return {**summary_json(found.matched, found.told), **told}
