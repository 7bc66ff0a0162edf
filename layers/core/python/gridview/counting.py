"""Grouped counts, and the row number of an issue: answered from all issues of a small project."""

from typing import Any

import orjson

from gridview.catalog import Catalog
from gridview.filters import Filter
from gridview.grid import MAX_RESPONSE_BYTES, explanation
from gridview.groupreading import GroupsReader
from gridview.groups import GroupsQuery, group_json
from gridview.issues import get_issue
from gridview.jsontext import dumps, size_in_response
from gridview.lag import read_beside
from gridview.ordering import Keys, Spot, place_of, rows_before
from gridview.readwhole import matching_places, read_whole
from gridview.setreading import BlockCache
from gridview.storage import Table


def grouped_counts(table: Table, catalog: Catalog, query: GroupsQuery, cache: BlockCache) -> dict[str, Any]:
    """`groups`, in the order of the fields, and whether there are `more`; at most four rounds. Read units: `groupreading`, `explain`.

    Unprocessable where it would take more than its budget, IndexNotReady.
    """
    reader = GroupsReader(table, catalog, query, cache)
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
        answer["explain"] = explanation([*reader.plan, lag.sentence()], table.meter)
    return answer


def position(table: Table, catalog: Catalog, num: int, order: Keys, only: Filter | None) -> dict[str, Any]:
    """`position`: how many rows come before an issue in an order, null when it does not match the filter; NotFound.

    The issue itself is read strongly consistent, all others as of the index.
    """
    document = get_issue(table, catalog, num)
    if only is not None and not only.matches(document):
        return {"position": None}
    judged = [field for key in order for field in key.fields]
    fields = [*judged, *(only.fields() if only is not None else ())]
    others = [one for one in read_whole(table, catalog, fields, ("a position",)) if one["num"] != num]
    places = matching_places(others, order, only)
    return {"position": rows_before(order, places, Spot(place_of(order, document), after=False))}
