"""A project with an attribute of every type, and issues with nasty values: ties, nulls, and everything that could break
an order.
"""

from collections.abc import Iterator
from random import Random
from typing import Any

from tests.unit.encoding import test_sort_strings as nasty

OPTIONS = ["medium", "Low", "high", "a", "~last"]
STATES = ["open", "Waiting", "closed"]

ATTRIBUTES: tuple[dict[str, Any], ...] = (
    {"id": "title", "name": "Title", "type": "text"},
    {"id": "amount", "name": "Amount", "type": "number"},
    {"id": "day", "name": "Day", "type": "date"},
    {"id": "moment", "name": "Moment", "type": "datetime"},
    {"id": "done", "name": "Done", "type": "bool"},
    {"id": "level", "name": "Level", "type": "enum", "options": OPTIONS},
    {"id": "labels", "name": "Labels", "type": "multi_enum", "options": OPTIONS},
    {"id": "owner", "name": "Owner", "type": "user"},
    {"id": "rare", "name": "Rare", "type": "date"},
    {"id": "never", "name": "Never", "type": "number"},
    {"id": "always", "name": "Always", "type": "bool"},
)
VALUES: dict[str, Any] = {
    "title": "Rivets",
    "amount": 12.5,
    "day": "2023-05-01",
    "moment": "2023-05-01T12:00:00Z",
    "done": True,
    "level": "Low",
    "labels": ["high", "a"],
    "owner": "ann",
}
"""The values of an issue without a nasty one."""

_BUILT_IN = ("num", "name", "state", "created", "updated", "created_by", "updated_by")
FIELDS = (*_BUILT_IN, *(attribute["id"] for attribute in ATTRIBUTES))
BUILT_IN = len(_BUILT_IN)
"""The number of fields in which every issue has a value."""

_TEXTS = [text for text in nasty.NASTY_TEXTS if text]
_VALUES: dict[str, list[Any]] = {
    "title": _TEXTS,
    "amount": nasty.NASTY_NUMBERS,
    "day": nasty.NASTY_DATES,
    "moment": nasty.NASTY_DATETIMES,
    "done": [False, True],
    "level": OPTIONS,
    "labels": [[OPTIONS[place % 5] for place in places] for places in ([0], [4, 0], [1, 2], [2, 1, 0], [3])],
    # The order of user ids looks at 1,008 bytes, in which a control character takes two.
    "owner": [user for user in nasty.NASTY_USERS if len(user.casefold().encode()) <= 504],
}


def issues(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Bodies that create issues. Every nasty value is in enough of them, and many occur twice."""
    random = Random(seed)  # noqa: S311 - the same issues every time
    for place in range(count):
        fields: dict[str, Any] = {"always": random.random() < 0.5}
        for name, values in _VALUES.items():
            if random.random() < 0.75:
                fields[name] = values[place % len(values)] if place % 2 else random.choice(values)
        if place % 60 == 7:
            fields["rare"] = random.choice(["2023-05-01", "2023-05-02"])
        yield {"name": random.choice(_TEXTS), "state": random.choice(STATES), "fields": fields}
