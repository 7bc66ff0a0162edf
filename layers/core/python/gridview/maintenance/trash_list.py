"""The list of a project's deleted issues, newest first, as the stream consumer keeps it; and the removal of
purged issues' data.

An item of the list has only its keys and an expiry: the document has the rest, and decides whether the item
is true. A record that is delivered again, after the issue was restored, lists it again. Such an item is never
shown, and expires.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gridview.derive.images import NOT_AN_ISSUE
from gridview.dynamodb.expressions import Bound, Item, Key
from gridview.dynamodb.partitions import remove_partition
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.attribute_values import from_wire
from gridview.encoding.keys import IssueKey
from gridview.maintenance.forgotten_answers import note_purged
from gridview.schema.comments import Comment
from gridview.schema.trash import DELETED_AT, is_trashed
from gridview.support import clock
from gridview.support.concurrency import in_threads


class Effects(NamedTuple):
    """The effects of stream records: items of lists to put, or to delete (None), by key; and the permanently
    deleted issues.

    `purged`: the issues whose history is to be removed too.
    """

    listed: Mapping[Key, Item | None]
    gone: frozenset[IssueKey]
    purged: frozenset[IssueKey]


def keep_trash(table: Table, records: Iterable[Mapping[str, Any]]) -> None:
    """List the issues that records say were deleted, and take restored or purged ones out: 1 write unit for
    each.

    Removes the comments on permanently deleted issues, also from the activity. For purged ones also removes the history
    (`remove_partition`), which must have been written before, and has upkeep remove their values from
    remembered answers (`note_purged`). Doing it again does no harm. Overloaded: some of it may be done.
    """

    def write(change: tuple[Key, Item | None]) -> None:
        key, item = change
        if item is None:
            table.delete(*key)
        else:
            table.put(item)

    effects = effects_of(records)
    in_threads(write, effects.listed.items())
    for issue in effects.gone:
        _remove_comments(table, issue)
    purged: dict[tuple[str, str], set[int]] = defaultdict(set)
    for issue in effects.purged:
        remove_partition(table, derived_keys.history(*issue), lambda: 1.0)
        purged[issue.tenant, issue.project].add(issue.num)
    for project, numbers in purged.items():
        note_purged(table, *project, numbers)


def _remove_comments(table: Table, issue: IssueKey) -> None:
    """Remove the comments on an issue, each after its item in the activity: whatever dies, a repetition finds the rest.

    A read unit for each 4 KB, and a write unit for each KB and for each item in the activity.
    """
    register = keys.comment_register(issue.num)

    def remove_event(item: Item) -> None:
        if item[keys.SK] != register:
            table.delete(*Comment.from_item(item).activity_key(issue.tenant, issue.project))

    of_the_issue = Bound("begins_with", register)
    remove_partition(
        table, keys.comments(issue.tenant, issue.project), lambda: 1.0, of_the_issue, remove_event
    )


def effects_of(records: Iterable[Mapping[str, Any]]) -> Effects:
    """Return the effects of records; the last of several about the same item. Expired items are left to the
    table.
    """
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
            continue  # `fold` reports it
    return Effects(listed, frozenset(gone), frozenset(purged))


def _item(key: str, image: Mapping[str, Any]) -> Item:
    tenant, project, num = keys.parse_issue(key)
    return {
        keys.PK: keys.trash(tenant, project),
        keys.SK: keys.trash_place(from_wire(image[DELETED_AT]), num, int(from_wire(image["version"]))),
        keys.TTL_ATTRIBUTE: int(from_wire(image[keys.TTL_ATTRIBUTE])),
    }
