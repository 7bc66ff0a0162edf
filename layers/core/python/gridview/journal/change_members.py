"""The members of a change: the versions of issues that were written under one X-Change-Id, as the stream
consumer noted them.
"""

import heapq
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from gridview.dynamodb.expressions import Bound, Item
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.schema.change_entries import activity_entries, begun_at, member_entries
from gridview.schema.ids import MAX_ISSUE_NUMBER
from gridview.support import clock


class ChangeMember(NamedTuple):
    """A version that is part of a change: whose it is, and its stored instant."""

    num: int
    version: int
    by: str
    at: str


def members_of(
    table: Table,
    tenant: str,
    project: str,
    change: bytes,
    *,
    by: str | None = None,
    first: int = 1,
    last: int = MAX_ISSUE_NUMBER,
) -> Iterator[ChangeMember]:
    """Return the versions that are part of a change, by issue and version, of the issues from the number
    `first` to `last`.

    `by`: only versions by this user.

    Strongly consistent, a page at a time as they are asked for: a read unit for each 4 KB, some 200 versions.
    For a change whose id states its time, the project's activity of two seconds is read before. Expired items
    that the table has not removed yet are included.
    """
    listed = heapq.merge(
        _beside_the_activity(table, tenant, project, change),
        _noted(table, derived_keys.change(tenant, project, change), first, last),
        key=_version,
    )
    for (num, version), same in groupby(listed, key=_version):
        entry = next(same)
        if first <= num <= last and by in (None, entry["by"]):
            yield ChangeMember(num, version, entry["by"], entry["at"])


def _version(entry: Item) -> tuple[int, int]:
    return entry["num"], entry["version"]


def _beside_the_activity(table: Table, tenant: str, project: str, change: bytes) -> list[Item]:
    """Return the versions that only the activity lists, since the change's id states its time."""
    begun = begun_at(change)
    if begun is None:
        return []
    end = clock.stored(clock.instant(begun) + 1)
    between = Bound(
        "between", derived_keys.parse_activity_second(begun), derived_keys.parse_activity_second_end(end)
    )
    found = (
        entry
        for item in _in_range(table, derived_keys.activity(tenant, project), between)
        for entry in activity_entries(item)
        if entry.get("change") == change
    )
    return sorted(found, key=_version)


def _noted(table: Table, partition: str, first: int, last: int) -> Iterator[Item]:
    """Return the versions noted for the change itself, one thousand numbers after the other."""
    items = _in_range(table, partition, Bound("between", *derived_keys.change_range(first, last)))
    for _, of_span in groupby(items, key=lambda item: derived_keys.parse_change_span(item[keys.SK])):
        yield from sorted((entry for item in of_span for entry in member_entries(item)), key=_version)


def _in_range(table: Table, partition: str, between: Bound) -> Iterator[Item]:
    while True:
        page = table.query(partition, bound=between, consistent=True)
        yield from page.items
        if page.last is None:
            return
        between = between._replace(value=f"{page.last}.")  # after it, and before any other
