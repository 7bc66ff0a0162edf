"""Manual orders: the rows of a view in an order that users make. Pure.

An order is a hidden field of the project. It is defined by an item like an attribute's, and no request can name it as a
field. The document of an issue that was placed holds its rank (`fractional_keys`) under the order's internal id, `m17`.
Any other issue has a rank made from its number. So each issue has a value, and an index of it like any other field's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from gridview.encoding.fractional_keys import default_key
from gridview.encoding.sort_strings import RANK
from gridview.schema.fields import Field, FieldType
from gridview.schema.generations import Indexes

MAX_MANUAL_ORDERS = 10
"""The most manual orders of a project."""

MANUAL = "manual"
"""Represents a view's own order in its look, in the place of a field's internal id."""

PLACED_AT, PLACED_BY, PLACED_UNDER = "placed_at", "placed_by", "placed_under"
"""The attributes of a version that only placed its issue in a manual order. They are the stored instant, the user (empty:
the service itself), and the change that it is part of. Such a version keeps `updated` and `updated_by`, and has no `change`.
"""

_KEY_PREFIX = "m"


def is_rank(key: str) -> bool:
    """Return whether this internal id of a field is that of a manual order."""
    return key.startswith(_KEY_PREFIX) and key[1:].isdecimal()


@dataclass(frozen=True)
class ManualOrder(Field):
    """The manual order of the saved view with the number `view`. Its values are ranks."""

    view: int = 0

    @classmethod
    def begun(cls, view: int, number: int, epoch: int, now: str) -> Self:
        """Return a new order, to be built from this epoch on. `number`: the next number of an attribute's internal id."""
        return cls(
            id=f"manual.v{view}",
            key=f"{_KEY_PREFIX}{number}",
            name=f"Manual order of v{view}",
            type=FieldType.TEXT,
            indexes=Indexes().on(epoch),
            created=now,
            updated=now,
            view=view,
        )

    @property
    def form(self) -> str:
        """The form of its sort strings: the ranks themselves."""
        return RANK

    @property
    def always_valued(self) -> bool:
        """Every issue has a rank."""
        return True

    def value_in(self, document: Mapping[str, Any]) -> str:
        """Return the rank of an issue."""
        rank: str | None = document.get("fields", {}).get(self.key)
        return default_key(document["num"]) if rank is None else rank
