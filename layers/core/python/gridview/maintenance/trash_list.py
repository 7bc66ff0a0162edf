"""The list of a project's deleted issues, newest first, as the stream consumer keeps it, and what goes when one is purged.

An item of the list holds nothing but its keys and an expiry: the document tells the rest, and whether the item is true. A record
that is delivered again, after the issue was restored, lists it again; nobody shows such an item, and it expires.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from gridview.derive.images import NOT_AN_ISSUE
from gridview.dynamodb.expressions import Bound, Item, Key
from gridview.dynamodb.partitions import remove_partition
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.attribute_values import from_wire
from gridview.encoding.keys import IssueKey
from gridview.maintenance.forgotten_answers import redact_answers
from gridview.schema.answer_contents import without_issues
from gridview.schema.trash import DELETED_AT, is_trashed
from gridview.support import clock
from gridview.support.concurrency import in_threads


class Heard(NamedTuple):
    """What stream records ask for: items of lists to put, or to delete (None), by key; and the issues that left the trash for good.

    Of those that were `purged` nothing is to be remembered, either.
    """

    listed: Mapping[Key, Item | None]
    gone: frozenset[IssueKey]
    purged: frozenset[IssueKey]


def keep_trash(table: Table, records: Iterable[Mapping[str, Any]]) -> None:
    """List the issues that records say were deleted, and take out those that were restored or purged: 1 write unit for each.

    The comments on what is gone for good are removed, and of what was purged also the history (`remove_partition`), which must
    have been written before, and what remembered answers contain of it (`redact_answers`). Doing it again does no harm.
    Overloaded: some of it may be done.
    """

    def write(change: tuple[Key, Item | None]) -> None:
        key, item = change
        if item is None:
            table.delete(*key)
        else:
            table.put(item)

    heard = hear(records)
    in_threads(write, heard.listed.items())
    for issue in heard.gone:
        of_the_issue = Bound("begins_with", keys.comment_register(issue.num))
        remove_partition(table, keys.comments(issue.tenant, issue.project), lambda: 1.0, of_the_issue)
    purged: dict[tuple[str, str], set[int]] = defaultdict(set)
    for issue in heard.purged:
        remove_partition(table, derived_keys.history(*issue), lambda: 1.0)
        purged[issue.tenant, issue.project].add(issue.num)
    for project, numbers in purged.items():
        redact_answers(table, *project, partial(without_issues, numbers=numbers))


def hear(records: Iterable[Mapping[str, Any]]) -> Heard:
    """What records ask for; of several about the same item, the last one. What has expired goes by itself."""
    listed: dict[Key, Item | None] = {}
    gone: set[IssueKey] = set()
    purged: set[IssueKey] = set()
    for record in records:
        stream = record["dynamodb"]
        if not keys.is_project(stream["Keys"][keys.SK]["S"]):
            continue
        key, old, new = stream["Keys"][keys.PK]["S"], stream.get("OldImage", {}), stream.get("NewImage", {})
        try:
            if is_trashed(old):
                item = _item(key, old)
                early = item[keys.TTL_ATTRIBUTE] > clock.seconds()
                listed |= {(item[keys.PK], item[keys.SK]): None} if early else {}
                left = () if new else (keys.parse_issue(key),)
                gone.update(left)
                purged.update(left if early else ())
            if is_trashed(new):
                item = _item(key, new)
                listed[item[keys.PK], item[keys.SK]] = item
        except NOT_AN_ISSUE:
            continue  # `fold` tells of it
    return Heard(listed, frozenset(gone), frozenset(purged))


def _item(key: str, image: Mapping[str, Any]) -> Item:
    tenant, project, num = keys.parse_issue(key)
    return {
        keys.PK: keys.trash(tenant, project),
        keys.SK: keys.trash_place(from_wire(image[DELETED_AT]), num, int(from_wire(image["version"]))),
        keys.TTL_ATTRIBUTE: int(from_wire(image[keys.TTL_ATTRIBUTE])),
    }
