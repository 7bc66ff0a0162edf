"""Orders of one to three keys: the place of an issue in one, and the comparison of places. Pure.

The walk along the index and the sort in memory agree exactly, since both compare the bodies of the sort strings.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cmp_to_key
from operator import attrgetter
from typing import Any, NamedTuple

from gridview.derive.sort_entries import sort_body
from gridview.dynamodb.expressions import Bound
from gridview.encoding import sort_strings
from gridview.schema.catalog import Order
from gridview.schema.fields import NUM, Field


class OrderKey(NamedTuple):
    """One key of an order. `order` is the index whose form is compared; None: the issue number.

    A composite index is the only key of its order.
    """

    order: Order | None
    descending: bool = False
    nulls_first: bool = False

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields whose values it compares; none: the issue number."""
        return self.order.fields if self.order else ()

    @property
    def field_id(self) -> str:
        """The name of the key in the API."""
        return self.order.id if self.order else NUM

    @property
    def nullable(self) -> bool:
        """Whether issues may lack a value."""
        return self.order is not None and self.order.nullable

    @property
    def arrangement(self) -> list[int | bool]:
        """A value that changes whenever the index has become another order."""
        return list(self.order.arrangement) if self.order else []

    def binding(self) -> list[str | bool]:
        """The data that a cursor is bound to."""
        return [self.order.key if self.order else NUM, self.descending, self.nulls_first]

    def part(self, document: Mapping[str, Any]) -> str | None:
        """The part of an issue that this key compares; None: no value."""
        return sort_body(self.order, document) if self.order else sort_strings.issue_number(document["num"])


class Place(NamedTuple):
    """The place of an issue: the part that each key compares, and its number, which breaks ties."""

    parts: tuple[str | None, ...]
    num: int


class Spot(NamedTuple):
    """A spot just before or after a place."""

    place: Place
    after: bool


Keys = tuple[OrderKey, ...]


class RowRange(NamedTuple):
    """Rows of an order, from `first` to `last` inclusive. `first` is the number of rows before the first one."""

    keys: Keys
    first: int
    last: int


def bound_at(key: str, spot: Spot, *, ascending: bool, backward: bool) -> Bound:
    """Return the bound of the rows ahead of a spot with this key. `ascending`: whether keys rise in that direction."""
    if spot.after == backward:  # the row itself is ahead
        return Bound(">=" if ascending else "<=", key)
    return Bound(">" if ascending else "<", key)


def place_of(keys: Keys, document: Mapping[str, Any]) -> Place:
    """Return the place of an issue."""
    return Place(tuple(key.part(document) for key in keys), document["num"])


def in_order(keys: Keys, places: Iterable[Place]) -> list[Place]:
    """Return the places in the order of the keys; ties by number, in the direction of the last key."""
    found = sorted(places, key=attrgetter("num"), reverse=keys[-1].descending)
    for at, key in reversed(list(enumerate(keys))):
        # Each sort is stable, in both directions.
        valued = [place for place in found if place.parts[at] is not None]
        valued.sort(key=lambda place, at=at: place.parts[at], reverse=key.descending)  # type: ignore[misc]
        without = [place for place in found if place.parts[at] is None]
        found = without + valued if key.nulls_first else valued + without
    return found


def rows_before(keys: Keys, ordered: Sequence[Place], spot: Spot) -> int:
    """Return how many of the ordered places come before a spot."""

    def compare(one: Place, other: Place) -> int:
        return _compare(keys, one, other)

    comparable = cmp_to_key(compare)
    bisect = bisect_right if spot.after else bisect_left
    return bisect(ordered, comparable(spot.place), key=comparable)


def _compare(keys: Keys, one: Place, other: Place) -> int:
    for key, mine, theirs in zip(keys, one.parts, other.parts, strict=True):
        if mine == theirs:
            continue
        if mine is None or theirs is None:
            return -1 if (mine is None) == key.nulls_first else 1
        return -1 if (mine < theirs) != key.descending else 1
    if one.num == other.num:
        return 0
    return -1 if (one.num < other.num) != keys[-1].descending else 1
