"""Grouped counts, and the row number of an issue: answered from all issues of a small project."""

from typing import Any

import orjson

from gridview import groups
from gridview.catalog import Catalog
from gridview.filters import Filter
from gridview.grid import MAX_RESPONSE_BYTES, explanation
from gridview.groups import GroupsQuery, group_json
from gridview.issues import get_issue
from gridview.jsontext import dumps, size_in_response
from gridview.ordering import Keys, Spot, place_of, rows_before
from gridview.planner import WHOLE
from gridview.readwhole import matching_places, read_whole
from gridview.storage import Table


def grouped_counts(table: Table, catalog: Catalog, query: GroupsQuery) -> dict[str, Any]:
    """`groups`, in the order of the fields, and whether there are `more`; two rounds, and read units as of `read_whole`."""
    documents = read_whole(table, catalog, query.fields(), ("grouped counts",))
    found = groups.grouped(query, documents)
    shown: list[orjson.Fragment] = []
    size = 0
    for group in found[: query.limit]:
        encoded = dumps(group_json(query, group))
        size += size_in_response(encoded)
        if size > MAX_RESPONSE_BYTES:
            break
        shown.append(orjson.Fragment(encoded))
    answer: dict[str, Any] = {"groups": shown, "more": len(shown) < len(found)}
    if query.explain:
        answer["explain"] = explanation(_plan(query), table.meter)
    return answer


def _plan(query: GroupsQuery) -> list[str]:
    judge = f"Keep those that match: {query.filter}. " if query.filter is not None else ""
    return [
        f"The project has given out at most {WHOLE:,} issue numbers: read all its issues, in ranges of numbers side by side.",
        f"{judge}Count them by {', then '.join(one.field.id for one in query.by)}, in memory.",
    ]


def position(table: Table, catalog: Catalog, num: int, order: Keys, only: Filter | None) -> dict[str, Any]:
    """`position`: how many rows come before an issue in an order, null when it does not match the filter; NotFound.

    The issue itself is read strongly consistent, all others as of the index.
    """
    document = get_issue(table, catalog, num)
    if only is not None and not only.matches(document):
        return {"position": None}
    judged = [key.field for key in order if key.field is not None]
    fields = [*judged, *(only.fields() if only is not None else ())]
    others = [one for one in read_whole(table, catalog, fields, ("a position",)) if one["num"] != num]
    places = matching_places(others, order, only)
    return {"position": rows_before(order, places, Spot(place_of(order, document), after=False))}
