"""The history of changes: written from the stream's records, read back by issue and version.

It is written for every record of an issue before the batch is folded, so a reader that receives a version
finds its change. Each item is put without a condition: a redelivery puts the same item for a change, and
lists it again at the same place. A removal by hand has the number of the next version: a late write of that
may hide the removal (`Change.by_hand`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from gridview.derive.images import NOT_AN_ISSUE
from gridview.dynamodb.errors import TransactionFailed
from gridview.dynamodb.expressions import Bound, Condition, Item, Key, delete, put
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.attribute_values import item_from_wire
from gridview.encoding.keys import IssueKey
from gridview.schema.catalog import HistorySetting
from gridview.schema.change_entries import list_items
from gridview.schema.history import Change, Kind, Values, expiry_of, from_item, parts_of, to_items
from gridview.schema.manual_orders import PLACED_AT, PLACED_BY, PLACED_UNDER, is_rank
from gridview.schema.trash import is_trashed
from gridview.support import backoff, clock
from gridview.support.errors import Overloaded

ProjectKey = tuple[str, str]
"""Tenant and project."""

SettingOf = Callable[[ProjectKey], HistorySetting | None]
"""A project's setting; None: the project was deleted, and nothing is remembered of it."""

_AT_ONCE = 50
_INSTANT = len("2026-11-21T08:00:00.000000Z")


class RecordedChange(NamedTuple):
    """The change in a stream record, and its issue."""

    issue: IssueKey
    change: Change

    @property
    def project(self) -> ProjectKey:
        """Tenant and project."""
        return self.issue.tenant, self.issue.project


RemovedIn = Callable[[ProjectKey, str], bool]
"""Whether the attribute with an internal id was permanently deleted in a project."""


def _none_removed(_: ProjectKey, __: str) -> bool:
    return False


def record(
    table: Table,
    records: Iterable[Mapping[str, Any]],
    setting_of: SettingOf,
    removed: RemovedIn = _none_removed,
) -> None:
    """Record the changes in these stream records, without the values of `removed` attributes.

    1 write unit for a small change, a further one for each KB of its compressed values. If history is on,
    also 1 for some 50 changes of one second. Also 1 for some 50 versions of one change, unless its id states
    the second.

    Overloaded: assume that nothing was written. Records that cannot be read are passed over: their issues are
    poison.
    """
    settings: dict[ProjectKey, HistorySetting | None] = {}
    stored: dict[Key, Item] = {}
    listed: dict[ProjectKey, list[Change]] = defaultdict(list)
    for recorded in filter(None, map(recorded_change, records)):
        if recorded.project not in settings:
            settings[recorded.project] = setting_of(recorded.project)
        setting = settings[recorded.project]
        if setting is None:
            continue
        change = without(recorded.change, partial(removed, recorded.project))
        try:
            items = to_items(*recorded.project, change, expiry_of(setting, change.at))
        except NOT_AN_ISSUE:
            continue
        stored.update(((item[keys.PK], item[keys.SK]), item) for item in items)
        listed[recorded.project].append(change)
    lists = [
        item
        for project, some in listed.items()
        if (setting := settings[project]) is not None
        for item in list_items(*project, setting, some)
    ]
    parts: list[Item] = []
    changes: list[Item] = []
    for item in stored.values():
        (parts if derived_keys.is_history_part(item[keys.SK]) else changes).append(item)
    # The changes themselves go last: a reader that finds one finds all of it, and its place in the lists.
    for items in ([*parts, *lists], changes):
        if items:
            table.batch_put(items)


def without(change: Change, removed: Callable[[str], bool]) -> Change:
    """Return the change without the fields whose internal ids are `removed`; itself if it has none.

    Ranks are kept: they show no data, and that a version only placed its issue.
    """
    kept = {key: values for key, values in change.fields.items() if is_rank(key) or not removed(key)}
    return change if len(kept) == len(change.fields) else replace(change, fields=kept)


def recorded_change(stream_record: Mapping[str, Any]) -> RecordedChange | None:
    """Return the change in a stream record. None if it is of another item, cannot be read, or is no change.

    No change: a document that expires from the trash, or whose values of deleted attributes are taken out.
    """
    stream = stream_record["dynamodb"]
    key, sort_key = stream["Keys"][keys.PK]["S"], stream["Keys"][keys.SK]["S"]
    if not (keys.is_issue(key) and keys.is_project(sort_key)):
        return None
    try:
        issue = keys.parse_issue(key)
        old, new = (_image(stream, name) for name in ("OldImage", "NewImage"))
        if new is None:
            change = _hard_delete(issue.num, old or {}, stream)
        elif stream_record["eventName"] == "MODIFY":
            change = _edit(issue.num, old or {}, new)
        else:
            change = _arrival(issue.num, new)
    except NOT_AN_ISSUE:
        return None
    return None if change is None else RecordedChange(issue, change)


def _image(stream: Mapping[str, Any], name: str) -> Item | None:
    return item_from_wire(stream[name]) if name in stream else None


def _arrival(num: int, new: Item) -> Change:
    """Return a document where there was none: a new one, or one that was put back by hand."""
    kind: Kind = "create" if new["version"] == 1 else "restore"
    if is_trashed(new):
        kind = "delete"
    return _change(num, kind, {}, new)


def _edit(num: int, old: Item, new: Item) -> Change | None:
    if not int(old["version"]) < int(new["version"]):
        return None
    was, is_now = is_trashed(old), is_trashed(new)
    if was and is_now:
        return None
    return _change(num, "restore" if was else "delete" if is_now else "update", old, new)


def _hard_delete(num: int, old: Item, stream: Mapping[str, Any]) -> Change | None:
    """Return a document that was taken out of the table: it says who wrote it last, not who removed it."""
    if is_trashed(old):
        return None
    made = stream.get("ApproximateCreationDateTime")
    at = old["updated"] if made is None else clock.stored(float(made))
    gone = {"version": int(old["version"]) + 1, "deleted_by": "", "deleted_at": at}
    return _change(num, "delete", old, gone)


def _change(num: int, kind: Kind, old: Item, new: Item) -> Change:
    version, fields, change = int(new["version"]), changed(old, new), new.get("change")
    if is_trashed(new):
        by, at = new["deleted_by"], new["deleted_at"]
    elif kind == "update" and fields and all(map(is_rank, fields)):
        by, at, change = new[PLACED_BY], new[PLACED_AT], new.get(PLACED_UNDER)
    else:
        by, at = new["updated_by"], new["updated"]
    if not (0 < version <= derived_keys.MAX_VERSION and isinstance(by, str) and len(at) == _INSTANT):
        raise ValueError("not a version of an issue")
    clock.instant(at)
    before: Item = {} if is_trashed(old) else old
    was, was_by = _text_in(before, "updated"), _text_in(before, "updated_by")
    made = old or new if kind in ("delete", "restore") else {}
    created, created_by = _text_in(made, "created"), _text_in(made, "created_by")
    change_id = change if isinstance(change, bytes) else None
    return Change(num, version, kind, by, at, change_id, fields, was, was_by, created, created_by)


def _text_in(document: Item, name: str) -> str:
    """Return an instant or a user's id in a document; empty if it has none."""
    value = document.get(name)
    return value if isinstance(value, str) else ""


def changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Values]:
    """Return the fields whose values differ between two documents, by internal key. One in the trash, or an
    empty one, has no values.
    """
    before, after = _values(old), _values(new)
    both = {key: Values(before.get(key), after.get(key)) for key in (*before, *after)}
    return {key: values for key, values in both.items() if not _same(*values)}


def _values(document: Mapping[str, Any]) -> dict[str, Any]:
    if not document or is_trashed(document):
        return {}
    return {"name": document["name"], "state": document["state"], **document["fields"]}


def _same(old: Any, new: Any) -> bool:
    """Options are a set: their order makes no difference."""
    if isinstance(old, list) and isinstance(new, list):
        return set(old) == set(new)
    return bool(old == new)


def changes_after(table: Table, tenant: str, project: str, num: int, version: int) -> Iterator[Change]:
    """Return the changes of an issue after a version, as far as they are remembered without a gap, read as
    they are asked for.

    Strongly consistent: a read unit for each 4 KB, in calls of up to 50 changes.
    """
    partition = derived_keys.history(tenant, project, num)
    while True:
        bound = Bound(
            "between",
            derived_keys.history_item(version + 1),
            derived_keys.history_item(derived_keys.MAX_VERSION),
        )
        page = table.query(partition, bound=bound, limit=_AT_ONCE, consistent=True)
        for _, change in whole(table, page.items):
            if change.version != version + 1:
                return
            yield change
            version = change.version
        if page.last is None:
            return


def read_changes(
    table: Table,
    tenant: str,
    project: str,
    wanted: Sequence[tuple[int, int]],
    *,
    consistent: bool = False,
) -> dict[tuple[int, int], Change]:
    """Return the changes that made these versions (num, version), as far as they are remembered.

    0.5 read units for each 4 KB of one, twice that when strongly consistent, in one round; a second round
    only for large ones.
    """
    places = {
        (derived_keys.history(tenant, project, num), derived_keys.history_item(version)): (num, version)
        for num, version in wanted
    }
    now = clock.seconds()
    found = table.batch_get(list(places), consistent=consistent).items
    items = {key: item for key, item in found.items() if item[keys.TTL_ATTRIBUTE] > now}
    return {places[item[keys.PK], item[keys.SK]]: change for item, change in whole(table, items.values())}


def remove_values(table: Table, tenant: str, project: str, num: int, removed: Callable[[str], bool]) -> None:
    """Take the values of `removed` attributes out of an issue's history: a strongly consistent read of it.

    Costs as `rewrite` for each change that has some. Doing it again does no harm. Overloaded: others keep changing it.
    """
    for _ in backoff.attempts():
        stored = table.query_all(derived_keys.history(tenant, project, num), consistent=True)
        try:
            for item in stored:
                if not derived_keys.is_history_part(item[keys.SK]):
                    rewrite(table, item, partial(without, removed=removed))
        except TransactionFailed:
            continue
        return
    raise Overloaded("Other requests keep changing the history of an issue. Try again.")


def rewrite(table: Table, item: Item, edit: Callable[[Change], Change]) -> None:
    """Replace a stored change with `edit` of it, if that differs: a transaction with its further parts, which are read.

    A change whose parts are not all there stays. TransactionFailed: the items are not as they were read. Another
    writer may have taken values out, and a purge removes the whole history: these must stay removed.
    """
    wanted = parts_of(item)
    further = table.batch_get(wanted, consistent=True).items
    if len(further) < len(wanted):
        return
    parts = [further[key] for key in wanted]
    change = from_item(item, parts)
    after = edit(change)
    if after == change:
        return
    issue = derived_keys.parse_history(item[keys.PK])
    seen = {one[keys.SK]: _unchanged(one) for one in (item, *parts)}
    items = to_items(issue.tenant, issue.project, after, item[keys.TTL_ATTRIBUTE])
    writes = [put(one, seen.pop(one[keys.SK], None)) for one in items]
    table.transact([*writes, *(delete(item[keys.PK], one, condition) for one, condition in seen.items())])


def _unchanged(item: Item) -> Condition:
    """Return the condition that all attributes of a stored item are as they were read."""
    held = [name for name in item if name not in (keys.PK, keys.SK)]
    return Condition(
        " AND ".join(f"#a{at} = :a{at}" for at in range(len(held))),
        {f"#a{at}": name for at, name in enumerate(held)},
        {f":a{at}": item[name] for at, name in enumerate(held)},
    )


def whole(table: Table, items: Iterable[Item]) -> list[tuple[Item, Change]]:
    """Return each of these items with the change that it stores; the further parts of large ones are read,
    strongly consistent.

    A change whose parts are not all there is left out.
    """
    held = list(items)
    parts = {key for item in held for key in parts_of(item)}
    further = table.batch_get(sorted(parts), consistent=True).items if parts else {}
    return [
        (item, from_item(item, [further[key] for key in parts_of(item)]))
        for item in held
        if all(key in further for key in parts_of(item))
    ]
