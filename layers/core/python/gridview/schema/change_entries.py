"""The lists of changes: a project's activity, and the versions that are part of a change. Pure.

- `activity-T.P`, `<second>~<digest>`: up to 50 changes of one second, with their fields and users.
- `change-T.P.<id>`, `<thousand>~<digest>`: up to 50 versions of issues whose numbers are in the same
  thousand.

An entry has the attributes `num`, `version`, `kind`, `by` and `at`. In the activity it also has `keys` (of
the fields). It has `change` if the version is part of one. Its place is its identity: a redelivery in another
batch puts other groups, with entries that are there already. A comment in the activity is a separate item,
whose sort key is its place.

A change whose id states its time needs no item of its own for versions of that second and the next: the
activity lists them.
"""

import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple
from uuid import UUID

from gridview.dynamodb.expressions import Item
from gridview.encoding import derived_keys, keys
from gridview.encoding.json_codec import dumps
from gridview.schema.catalog import HistorySetting
from gridview.schema.history import Change, expiry_of
from gridview.schema.manual_orders import is_rank
from gridview.support import clock
from gridview.support.concurrency import chunked

_TOGETHER = 50
"""Entries of a group: about a KB, a write unit, where they resemble each other."""

_VERSION_WITH_TIME = 7
"""The version of a UUID that begins with the milliseconds since 1970 (RFC 9562, section 5.7)."""

_LAST = 2**47
"""Milliseconds until the year 6429."""


class _ListItem(NamedTuple):
    """An item that is to be stored, and the changes that it lists."""

    partition: str
    sort_key: str
    attributes: Item
    changes: Sequence[Change]


def list_items(tenant: str, project: str, setting: HistorySetting, changes: Iterable[Change]) -> list[Item]:
    """Return the items that list these changes, none where the history is off."""
    if not setting.enabled:
        return []
    listed = (one for one in changes if not one.only_places)
    single = {derived_keys.activity_place(one.at, one.num, one.version): one for one in listed}
    in_order = [single[place] for place in sorted(single)]
    return [
        {
            keys.PK: one.partition,
            keys.SK: one.sort_key,
            **one.attributes,
            keys.TTL_ATTRIBUTE: max(expiry_of(setting, change.at) for change in one.changes),
        }
        for one in _grouped(tenant, project, in_order)
    ]


def activity_entries(item: Item) -> list[Item]:
    """Return the entries of an item of the activity as separate items, each with its place as its sort key. A
    comment is one.
    """
    if "packed" not in item:
        return [{"at": derived_keys.parse_activity_at(item[keys.SK]), **item}]
    return _entries(
        item, lambda entry: derived_keys.activity_place(entry["at"], entry["num"], entry["version"])
    )


def member_entries(item: Item) -> list[Item]:
    """Return the entries of an item of a change as separate items, each with its place as its sort key."""
    return _entries(item, lambda entry: derived_keys.change_place(entry["num"], entry["version"]))


def is_listed_by_time(change: bytes, at: str) -> bool:
    """Return whether the activity of the seconds that a change's id states lists a version of this stored
    instant.
    """
    begun = begun_at(change)
    return begun is not None and 0 <= _second(at) - _second(begun) <= 1


def begun_at(change: bytes) -> str | None:
    """Return the stored instant in the id of a change, if any."""
    made = UUID(bytes=change)
    milliseconds = made.int >> 80
    # Clients may send any id: it may state a time that no instant can.
    if made.version != _VERSION_WITH_TIME or milliseconds > _LAST:
        return None
    return clock.stored(milliseconds / 1000)


def _second(at: str) -> int:
    return int(clock.instant(at))


def _grouped(tenant: str, project: str, changes: Iterable[Change]) -> Iterator[_ListItem]:
    seconds: dict[str, list[Change]] = defaultdict(list)
    spans: dict[tuple[bytes, int], list[Change]] = defaultdict(list)
    for one in changes:
        seconds[derived_keys.parse_activity_second(one.at)].append(one)
        if one.change is not None and not is_listed_by_time(one.change, one.at):
            spans[one.change, derived_keys.change_span(one.num)].append(one)
    for of_second in seconds.values():
        for some in chunked(of_second, _TOGETHER):
            packed = _packed([(*_row(one), sorted(_shown(one))) for one in some])
            sort_key = derived_keys.activity_group(some[0].at, _digest(packed))
            yield _ListItem(derived_keys.activity(tenant, project), sort_key, {"packed": packed}, some)
    for (change_id, _), of_span in spans.items():
        for some in chunked(sorted(of_span, key=lambda one: (one.num, one.version)), _TOGETHER):
            packed = _packed([_row(one) for one in some])
            sort_key = derived_keys.change_group(some[0].num, _digest(packed))
            yield _ListItem(
                derived_keys.change(tenant, project, change_id), sort_key, {"packed": packed}, some
            )


def _shown(change: Change) -> Iterator[str]:
    return (key for key in change.fields if not is_rank(key))


def _row(change: Change) -> tuple[object, ...]:
    change_id = None if change.change is None else change.change.hex()
    return change.num, change.version, change.kind, change.by, change.at, change_id


def _packed(rows: Sequence[tuple[object, ...]]) -> bytes:
    return zlib.compress(dumps(rows))


def _digest(packed: bytes) -> str:
    return blake2b(packed, digest_size=8).hexdigest()


def _entries(item: Item, place: Callable[[Item], str]) -> list[Item]:
    entries = []
    for num, version, kind, by, at, change, *changed in json.loads(zlib.decompress(item["packed"])):
        entry = {"num": num, "version": version, "kind": kind, "by": by, "at": at}
        if change is not None:
            entry["change"] = bytes.fromhex(change)
        if changed:
            (entry["keys"],) = changed
        entries.append({**entry, keys.SK: place(entry), keys.TTL_ATTRIBUTE: item[keys.TTL_ATTRIBUTE]})
    return entries
