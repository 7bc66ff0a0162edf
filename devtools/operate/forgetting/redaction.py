"""Items without a person: the id becomes `FORMER_USER`. Pure.

Attributes are replaced in place, and the version stays: no writer loses a race because of it. Each write is on
condition that the replaced values are unchanged.
"""

import json
import zlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

from gridview.derive.issue_changes import FamilyChange, IssueChange
from gridview.dynamodb.expressions import Condition, Item
from gridview.encoding import sort_strings
from gridview.encoding.json_codec import dumps
from gridview.journal.items import JournalItem
from gridview.schema import ids
from gridview.schema.catalog import CompositeOrder
from gridview.schema.fields import FieldType
from gridview.schema.history import Change, Values
from gridview.schema.ids import FORMER_USER
from gridview.schema.manual_orders import PLACED_BY
from gridview.schema.remembered import Answer

_CREATED_AND_UPDATED = ("created_by", "updated_by", "deleted_by")
NAMED = {
    "project": (*_CREATED_AND_UPDATED, "deletion"),
    "attribute": (*_CREATED_AND_UPDATED, "deletion"),
    "issue": (*_CREATED_AND_UPDATED, PLACED_BY),
    "comment activity": ("by", "mentions"),
    "webhook": (*_CREATED_AND_UPDATED, "view"),
    "shared view": (*_CREATED_AND_UPDATED, "look"),
    "private view": (*_CREATED_AND_UPDATED, "look"),
    "comment": (*_CREATED_AND_UPDATED, "mentions"),
    "line of jobs": ("open",),
    "job": ("user", "at", "problem"),
    "job request": ("asked",),
    "issues refused by a job": ("refused",),
}
"""The attributes of each kind of item in which ids of users are."""


class InPlace(NamedTuple):
    """Attributes to replace, on condition that they are as they were seen."""

    assign: Mapping[str, Any]
    unchanged: Condition


def in_place(name: str, item: Item, user: str) -> InPlace | None:
    """The replacement of the person in the attributes of an item of the kind `name`; None if there is none."""
    after: dict[str, Any] = {}
    for attribute in NAMED.get(name, ()):
        if attribute in item and (changed := renamed(item[attribute], user)) != item[attribute]:
            after[attribute] = changed
    if name in ("activity", "part of a change"):
        rows = json.loads(zlib.decompress(item["packed"]))
        changed = renamed(rows, user)
        after |= {} if changed == rows else {"packed": zlib.compress(dumps(changed))}
    if name == "subscription":
        rows = json.loads(item["rows"])
        after |= {} if renamed(rows, user) == rows else {"rows": dumps(renamed(rows, user)).decode()}
    if is_default(name, item, user):
        after["default"] = None
    if name == "delivery" and any(_in_key(one, user) for one in item["row"] or ()):
        after["row"] = None
    return replacing(item, after) if after else None


def is_default(name: str, item: Item, user: str) -> bool:
    """Whether an item of the kind `name` defines a field of users in which new issues have the person."""
    return name == "attribute" and item["type"] == FieldType.USER and item.get("default") == user


def replacing(item: Item, after: Mapping[str, Any]) -> InPlace:
    """The replacement of these attributes of an item."""
    names = {f"#a{at}": name for at, name in enumerate(after)}
    values = {f":a{at}": item[name] for at, name in enumerate(after)}
    expression = " AND ".join(f"#a{at} = :a{at}" for at in range(len(after)))
    return InPlace(after, Condition(expression, names, values))


def renamed(value: Any, user: str) -> Any:
    """A value in which each string that is the person's id is another, in lists and maps as well. Mentions stay a set."""
    if value == user and isinstance(value, str):
        return FORMER_USER
    if isinstance(value, list | tuple):
        inner = [renamed(one, user) for one in value]
        once = user in value and FORMER_USER in value
        return [
            one for at, one in enumerate(inner) if not once or one != FORMER_USER or one not in inner[:at]
        ]
    if isinstance(value, Mapping):
        return {name: renamed(one, user) for name, one in value.items()}
    return value


def values(fields: Mapping[str, Any], user_keys: Collection[str], user: str) -> dict[str, Any]:
    """The values of `user` fields that are the person, by internal key, as they are to be."""
    return {key: FORMER_USER for key, value in fields.items() if key in user_keys and value == user}


def change_without(change: Change, user_keys: Collection[str], user: str) -> Change | None:
    """A change of the history without the person; None if it has none."""
    fields = {
        key: Values(*(FORMER_USER if one == user else one for one in both)) if key in user_keys else both
        for key, both in change.fields.items()
    }
    after = replace(
        change,
        by=_former(change.by, user),
        was_by=_former(change.was_by, user),
        created_by=_former(change.created_by, user),
        fields=fields,
    )
    return None if after == change else after


def _former(one: str, user: str) -> str:
    return FORMER_USER if one == user else one


def answer_without(answer: Answer, user: str) -> Answer | None:
    """A remembered answer without the person; None if it has none."""
    try:
        body = json.loads(answer.body, parse_float=Decimal)
    except ValueError:
        return None
    after = renamed(body, user)
    return None if after == body else answer._replace(body=dumps(after))


class Strings:
    """The sort strings of a person: in orders by one `user` field, and in composite ones.

    `simple`: the internal ids of `user` fields. `composites`: by id, the order of each present composite index. In
    deleted ones, any part that looks like the person's counts as one.
    """

    def __init__(self, user: str, simple: Collection[str], composites: Mapping[str, CompositeOrder]) -> None:
        self._bodies = sort_strings.user(user), sort_strings.user(FORMER_USER)
        self._simple = simple
        self._composites = composites

    def renamed(self, family: str, sort: str) -> str:
        """The sort string, or fence key, with the former user in the place of the person; itself without the person."""
        definition = family.split(".")[0]
        if ids.COMPOSITE.fullmatch(definition):
            known = self._composites.get(definition)
            return self._in_any(sort) if known is None else self._in_order(known, sort)
        if definition not in self._simple:
            return sort
        (old, new), end = self._bodies, _end_of(sort, 0, descending=False, last=True)
        return new + sort[end:] if sort[:end] == old else sort

    def names(self, family: str, sort: str) -> bool:
        """Whether the person is in a sort string or a fence key."""
        return self.renamed(family, sort) != sort

    def _in_order(self, order: CompositeOrder, sort: str) -> str:
        at, parts = 0, list(zip(order.composite.normal, order.fields, strict=True))
        for place, (part, field) in enumerate(parts):
            if sort[at : at + 1] != _VALUED:
                at += 1
                continue
            end = _end_of(sort, at + 1, descending=part.descending, last=place == len(parts) - 1)
            old, new = (_form(body, descending=part.descending) for body in self._bodies)
            if field.type is FieldType.USER and sort[at + 1 : end] == old:
                sort, end = sort[: at + 1] + new + sort[end:], at + 1 + len(new)
            at = end + (1 if part.descending else len(_END))
        return sort

    def _in_any(self, sort: str) -> str:
        for descending, end in ((False, _END), (False, sort_strings.SEPARATOR), (True, _END_INVERTED)):
            old, new = (_VALUED + _form(body, descending=descending) + end for body in self._bodies)
            sort = sort.replace(old, new)
        return sort


_VALUED = "1"
_END = sort_strings.ESCAPE + " "
_END_INVERTED = "\N{LATIN SMALL LETTER Y WITH DIAERESIS}"


def _form(body: str, *, descending: bool) -> str:
    """A body as a part of a composite key has it."""
    if not descending:
        return body
    whole = sort_strings.composite([sort_strings.KeyPart(body, descending=True), sort_strings.KeyPart(None)])
    return whole[len(_VALUED) : -len(_END_INVERTED) - 1]


def _end_of(sort: str, begin: int, *, descending: bool, last: bool) -> int:
    """The end of the part that begins there. A fence key may end before the part does."""
    marks = (
        [_END_INVERTED] if descending else [sort_strings.SEPARATOR, sort_strings.ESCAPE] if last else [_END]
    )
    found = [at for mark in marks if (at := sort.find(mark, begin)) >= 0]
    return min(found, default=len(sort))


def journal_without(record: JournalItem, strings: Strings) -> JournalItem | None:
    """A journal item without the person's sort strings; it goes on to be known by the same id. None if it has none."""
    changes = tuple(_moves_without(one, strings) for one in record.changes)
    return None if changes == record.changes else replace(record, changes=changes, known_as=record.id)


def _moves_without(change: IssueChange, strings: Strings) -> IssueChange:
    moves = {
        family: FamilyChange(
            tuple(dict.fromkeys(strings.renamed(family, one) for one in move.left)),
            None if move.to is None else strings.renamed(family, move.to),
            move.thorough,
        )
        for family, move in change.moves.items()
    }
    return change._replace(moves=moves)


def _in_key(key: str | None, user: str) -> bool:
    return key is not None and user.casefold() in key.casefold()
