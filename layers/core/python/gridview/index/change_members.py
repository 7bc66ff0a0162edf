"""What is part of a change: the versions of issues that were written under one X-Change-Id, as the stream consumer noted them."""

from collections.abc import Iterator
from typing import NamedTuple

from gridview.dynamodb.expressions import Bound, Condition
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.ids import MAX_ISSUE_NUMBER


class ChangeMember(NamedTuple):
    """A version that is part of a change: whose it is, and its stored instant (empty if an older version of this code noted it)."""

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
    """The versions that are part of a change, by issue and version, of the issues from the number `first` to `last`.

    `by`: those of this user alone. Strongly consistent, a page at a time as they are asked for: a read unit for each 4 KB, some 30
    versions. What the table has only not removed yet is among them.
    """
    partition = keys.change(tenant, project, change)
    only = None if by is None else Condition("#by = :by", {"#by": "by"}, {":by": by})
    begin, end = keys.change_item(first, 0), keys.change_item(last, keys.MAX_VERSION)
    while True:
        page = table.query(partition, bound=Bound("between", begin, end), consistent=True, only=only)
        for item in page.items:
            yield ChangeMember(item["num"], item["version"], item["by"], item.get("at", ""))
        if page.last is None:
            return
        begin = f"{page.last}."  # behind it, and before any other
