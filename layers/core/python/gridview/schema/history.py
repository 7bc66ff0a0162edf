"""Changes of issues as data: their stored items, and their events in the API. Pure.

A change has the differences between two versions of an issue: who, when, and the value of each field before
and after it. Its item:

    history-T.P.<num>  <version>    the change; a large one has further parts

The stream consumer puts it (`journal.history`). It depends only on the stream's record, so a redelivery makes
the same one. `change_entries` says how changes are listed.
"""

import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
from uuid import UUID

from gridview.dynamodb.expressions import Item
from gridview.encoding import derived_keys, keys
from gridview.encoding.attribute_values import from_wire, item_size, to_wire
from gridview.encoding.json_codec import dumps
from gridview.encoding.values import datetime_json
from gridview.schema.catalog import Catalog, HistorySetting
from gridview.schema.fields import Field, FieldType, UnknownOption
from gridview.schema.formats import value_json
from gridview.schema.manual_orders import is_rank
from gridview.support import clock

Kind = Literal["create", "update", "delete", "restore"]

RESET = {"kind": "reset"}
"""The event after which a client reads everything again: definitions have changed, or the changes are no
longer known.
"""

FEED_DAYS = 7
"""Every change is remembered as long as a cursor of the feed is valid, whatever the project's setting is."""

_WITHOUT_VALUES = ("was", "was_by", "created", "created_by")
"""The attributes of a change that its item leaves out if they are not known."""

_DAY = 86_400
_PLAIN_BYTES = 1_024
"""A change of more than a write unit is stored compressed, if that makes it smaller."""
_PART_BYTES = 350_000
"""Compressed bytes in one item. A change holds two documents at most, and DynamoDB stores at most 400 KB in an item."""


class Values(NamedTuple):
    """The stored values of a field before and after a change; None: no value."""

    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Change:
    """The change in a version of an issue. `fields` are by internal key; `at` is a stored instant.

    - `by`: empty if the user is not known.
    - `change`: the id of the change that the version is part of; None: of none.
    - `was`, `was_by`: when the version before was made, and by whom; empty if not known.
    - `created`, `created_by`: when the issue was created, and by whom, if it is deleted or restored; empty if
      not known.
    """

    num: int
    version: int
    kind: Kind
    by: str
    at: str
    change: bytes | None
    fields: Mapping[str, Values]
    was: str = ""
    was_by: str = ""
    created: str = ""
    created_by: str = ""

    @property
    def only_places(self) -> bool:
        """Return whether the version only placed its issue in a manual order. Feeds deliver such a change, and no list
        of changes has it.
        """
        return self.kind == "update" and bool(self.fields) and all(map(is_rank, self.fields))

    @property
    def updated(self) -> tuple[str, str]:
        """When the fields that users see were last changed, as of this version, and by whom; empty if not known."""
        return (self.was, self.was_by) if self.only_places else (self.at, self.by)

    @property
    def by_hand(self) -> bool:
        """Return whether someone took the document out of the table by hand. The change has the number of the
        next version, but is none.
        """
        return self.kind == "delete" and not self.by


def floor_of(setting: HistorySetting) -> str:
    """Return the instant before which a project remembers nothing any more, whether or not the table has
    removed it yet.
    """
    return clock.after(-_DAY * (setting.days if setting.enabled else FEED_DAYS))


def expiry_of(setting: HistorySetting, at: str) -> int:
    """Return when changes at an instant are forgotten, in seconds since 1970."""
    days = max(setting.days, FEED_DAYS) if setting.enabled else FEED_DAYS
    return int(clock.instant(at)) + days * _DAY


def to_items(tenant: str, project: str, change: Change, expires: int) -> list[Item]:
    """Return the stored change: its item, and further ones if it is larger than an item can be."""
    base = {keys.PK: derived_keys.history(tenant, project, change.num), keys.TTL_ATTRIBUTE: expires}
    item: Item = {
        **base,
        keys.SK: derived_keys.history_item(change.version),
        "kind": change.kind,
        "by": change.by,
        "at": change.at,
        **({} if change.change is None else {"change": change.change}),
        **{name: value for name in _WITHOUT_VALUES if (value := getattr(change, name))},
    }
    # Not called `fields`: the consumer may put no item with an attribute of that name, as documents have it.
    edits = {key: list(values) for key, values in change.fields.items()}
    if item_size({**item, "edits": edits}) <= _PLAIN_BYTES:
        return [{**item, "edits": edits}]
    packed = zlib.compress(dumps({key: [to_wire(old), to_wire(new)] for key, (old, new) in edits.items()}))
    first, *rest = [packed[at : at + _PART_BYTES] for at in range(0, len(packed), _PART_BYTES)]
    further = [
        {**base, keys.SK: derived_keys.history_part(change.version, place), "packed": part}
        for place, part in enumerate(rest, 1)
    ]
    return [{**item, "packed": first, **({"parts": len(rest)} if rest else {})}, *further]


def parts_of(item: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the keys of the further items of a stored change."""
    version = int(item[keys.SK])
    return [
        (item[keys.PK], derived_keys.history_part(version, place + 1))
        for place in range(item.get("parts", 0))
    ]


def from_item(item: Mapping[str, Any], parts: Iterable[Mapping[str, Any]] = ()) -> Change:
    """Decode a stored change; `parts` are the items of `parts_of`, in order."""
    return Change(
        num=derived_keys.parse_history(item[keys.PK]).num,
        version=int(item[keys.SK]),
        kind=item["kind"],
        by=item["by"],
        at=item["at"],
        change=item.get("change"),
        fields=dict(_edits(item, parts)),
        **{name: item.get(name, "") for name in _WITHOUT_VALUES},
    )


def _edits(item: Mapping[str, Any], parts: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Values]]:
    if "edits" in item:
        yield from ((key, Values(*values)) for key, values in item["edits"].items())
        return
    packed = b"".join((item["packed"], *(part["packed"] for part in parts)))
    for key, (old, new) in json.loads(zlib.decompress(packed)).items():
        yield key, Values(from_wire(old), from_wire(new))


def event_json(catalog: Catalog, change: Change, columns: Collection[str] | None = None) -> dict[str, Any]:
    """Return a change as an event of the API. Fields and options that the catalog does not know any more are
    left out.

    `columns`: the internal ids of the only fields that are shown; None: all.
    """
    shown = (
        (field, change.fields[field.key])
        for field in _fields(catalog)
        if field.key in change.fields and (columns is None or field.key in columns)
    )
    return {
        "id": f"{change.num}.{change.version}",
        "num": change.num,
        "version": change.version,
        "kind": change.kind,
        "by": change.by or None,
        "at": datetime_json(change.at),
        "change": None if change.change is None else str(UUID(bytes=change.change)),
        "fields": {
            field.id: {"old": _value_json(field, old), "new": _value_json(field, new)}
            for field, (old, new) in shown
        },
    }


def _fields(catalog: Catalog) -> tuple[Field, ...]:
    return (*catalog.builtins, *catalog.attributes)


def _value_json(field: Field, stored: Any) -> Any:
    """Return a value as the API has it. None if the catalog cannot express it, such as an option that it does
    not know any more.
    """
    if stored is None:
        return None
    try:
        if field.type is FieldType.MULTI_ENUM:
            stored = [option for option in stored if _knows(field, option)] or None
        return None if stored is None else value_json(field, stored)
    except _NOT_OF_ITS_TYPE:
        return None


_NOT_OF_ITS_TYPE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""The errors of a value that is none of its field's type, as someone may have put it into the table by hand."""


def _knows(field: Field, option: str) -> bool:
    try:
        field.option(option)
    except UnknownOption:
        return False
    return True
