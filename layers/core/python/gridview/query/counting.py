"""Answers requests for grouped counts and summaries."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import orjson

from gridview.encoding.consistency import Recent, from_texts, to_texts
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps, size_in_response
from gridview.query import aggregate_planner, grouping, summary
from gridview.query.answer import carried_out
from gridview.query.grid import MAX_RESPONSE_BYTES
from gridview.query.group_filter import GroupFilters
from gridview.query.group_request import Group, GroupsQuery, Reached, group_json, groups_after, reached_by
from gridview.query.summary_request import SummaryQuery, summary_json
from gridview.query.timed_cursors import TimedCursor
from gridview.support.errors import CursorExpired
from gridview.view.context import ReadContext
from gridview.view.shown_versions import Answered

_CURSOR_VERSION = 1


def grouped_counts(context: ReadContext, query: GroupsQuery, cursors: Cursors) -> Answered:
    """Return `groups` in order, and the cursor `next`; at most four rounds, unless the index changes.

    A fifth, if texts that begin alike must be distinguished before more than 1,000 groups are ordered.

    Read units: see `explain` and docs/performance.md. The answer also includes the writes that the result page before
    included. Raises QueryTooExpensive if it exceeds its budget, IndexNotReady, CursorExpired, and the errors of `carried_out`.
    """
    catalog = context.catalog
    binding = query.binding(catalog.tenant, catalog.project)
    reached, before = (None, ()) if query.cursor is None else _opened(query, cursors, binding)
    context = context.holding(before)
    plan = aggregate_planner.groups(catalog, query, reached)
    found, members, shown = carried_out(
        context, plan, lambda: grouping.run(plan), explain=query.explain, operands=query.operands
    )
    ahead = groups_after(query, found.groups, reached)
    fitting = _fitting(query, ahead[: query.limit])
    more = found.more or len(fitting) < len(ahead)
    end = reached_by(query, ahead[: len(fitting)], reached) if more else None
    sealed = None
    if end is not None:
        without, rank = end.rank
        place = [end.place, end.shown, without, str(rank)]
        payload = [_CURSOR_VERSION, query.arrangements, *place, *to_texts(context.recent)]
        sealed = str(TimedCursor(cursors.seal(payload, binding), query.at))
    return Answered({"groups": fitting, "more": more, "next": sealed, **members}, shown)


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
    """Return where the page with the query's cursor ends, and the recent writes that it included."""
    payload: Any = cursors.open(query.cursor or "", binding)
    version, arrangements, *rest = payload
    if version != _CURSOR_VERSION or arrangements != query.arrangements:
        raise CursorExpired(
            "An index was rebuilt, or its options reordered, since the cursor was returned. Start again without "
            "the cursor."
        )
    place, count, unranked, rank, *recent = rest
    orders = tuple((without, body, apart) for without, body, apart in place)
    reached = Reached(orders, count, (unranked, Decimal(rank)))
    return reached, from_texts(recent)


def summarized(context: ReadContext, query: SummaryQuery) -> Answered:
    """Return `matched`, and the requested functions of each field.

    Read units: see `explain` and docs/performance.md. Raises QueryTooExpensive if it exceeds its budget, IndexNotReady, and
    the errors of `carried_out`.
    """
    plan = aggregate_planner.summary(context.catalog, query)
    found, members, shown = carried_out(
        context, plan, lambda: summary.run(plan), explain=query.explain, operands=query.operands
    )
    return Answered({**summary_json(found.matched, found.answers), **members}, shown)
