"""A project's catalog: its fields and composite indexes as of one epoch, and the orders that these give."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from gridview.schema.fields import BUILTINS, NUM, Field, FieldOrder, Option
from gridview.schema.generations import Index, Indexes, order_id
from gridview.schema.manual_orders import ManualOrder, is_rank

MAX_ATTRIBUTES = 400
INDEXED_BY_DEFAULT = 40
MAX_COMPOSITES = 20
MAX_KEYS = 3
"""The most keys that one order can have."""


class HistorySetting(NamedTuple):
    """Whether a project lists its changes, and for how many days it remembers them."""

    enabled: bool = True
    days: int = 90


HISTORY = HistorySetting()
"""The default setting of a project's history."""


class Part(NamedTuple):
    """One key of a sort: the internal id of its field (or `NUM`), its direction, and the place of nulls."""

    field: str
    descending: bool = False
    nulls_first: bool = False


def normal_form(parts: Sequence[Part]) -> tuple[tuple[Part, ...], bool]:
    """Return an equivalent order whose last key is ascending, and whether it is the reversal of the given
    one.

    Ties are broken by issue number in the direction of the last key, so a whole order can be read backwards.
    If every issue has a value in a field, the place of nulls makes no difference and is dropped.
    """
    backwards = parts[-1].descending
    return tuple(
        Part(
            one.field,
            one.descending != backwards,
            one.field not in BUILTINS and one.nulls_first != backwards,
        )
        for one in parts
    ), backwards


@dataclass(frozen=True)
class Composite:
    """An index over several fields, defined by an administrator. `sort` is the order as requested.

    `key` is its id, both internally and in the API; no other index of the project, living or deleted, ever
    has the same key.
    """

    key: str
    sort: tuple[Part, ...]
    indexes: Indexes
    version: int = 1
    created: str = ""
    deleted: int = 0
    """The epoch that deleted it; 0 if it is not deleted. Its definition stays until no issue has an entry in it."""

    @property
    def id(self) -> str:
        """Its id in the API."""
        return self.key

    @cached_property
    def normal(self) -> tuple[Part, ...]:
        """The order of its entries."""
        return normal_form(self.sort)[0]

    def order_id_of(self, index: Index) -> str:
        """Name an order of this index in sort entries: its id and the generation, `c1.1`."""
        return order_id(self.key, index.generation, entries=index.entries)

    @property
    def pending(self) -> int:
        """The epoch of the newest change that does not yet hold for all issues; 0 if there is none."""
        return max(self.indexes.pending, self.deleted)

    def after_pass(self, done: int, epoch: int) -> "Composite":
        """Return the index after a pass over all issues under the definitions of epoch `done`; the result
        holds from `epoch` on.
        """
        return replace(self, indexes=self.indexes.after_pass(done, epoch))


Definition = Field | Composite
"""Anything with generations of an index and a stored item that defines it."""


@dataclass(frozen=True)
class CompositeOrder:
    """An order by several keys, with an entry for every issue. `fields` belong to the keys of
    `composite.normal`.
    """

    composite: Composite
    fields: tuple[Field, ...]
    index: Index

    @property
    def order_id(self) -> str:
        """Its name in sort entries."""
        return self.composite.order_id_of(self.index)

    @property
    def id(self) -> str:
        """The API's name for the index."""
        return self.composite.id

    @property
    def key(self) -> str:
        """The index's internal id."""
        return self.composite.key

    @property
    def nullable(self) -> bool:
        """Whether issues may lack an entry."""
        return False

    @property
    def moving(self) -> bool:
        """Whether options are being moved, so that issues may still be at their former place."""
        return any(field.moving for field in self.fields)

    @cached_property
    def former(self) -> tuple["CompositeOrder", ...]:
        """This order as it was before each move of options that the issues may not have followed yet."""
        epochs = sorted({epoch for field in self.fields for epoch in field.moves})
        return tuple(
            replace(self, fields=tuple(field.before(epoch) for field in self.fields)) for epoch in epochs
        )

    @property
    def arrangement(self) -> tuple[int, ...]:
        """A value that changes whenever the order does. Cursors are bound to it."""
        return self.index.generation, *(one for field in self.fields for one in field.arrangement)


Order = FieldOrder | CompositeOrder


class CompositeServed(NamedTuple):
    """A composite index that gives an order; it is read backwards if `reversed`."""

    order: CompositeOrder
    reversed: bool


@dataclass(frozen=True, eq=False)
class Catalog:
    """All fields of a project as of one epoch. `attributes` are in display order; the next one gets the key
    `a<next_key>`.

    - `own_builtins`: the built-in fields whose index this project has changed.
    - `hidden`: the deleted attributes that can be restored. Issues keep their values, and the index their
      entries.
    - `deleting`: attributes that are being permanently removed, of which issues may still hold values.
    - `composites`: in creation order, including those being removed.
    - `manual_orders`: the orders that users make by hand. No request names them as fields.
    - `history`: the setting of the history.
    - `closed`: the project is deleted and can be restored. Its derived items are kept right, and no request
      sees it.
    - `first_version`: the version of a new comment, view or attribute. After a restore of the table, ids may
      be given out again, and versions are not.

    Compares by identity: `Catalogs` keeps one instance per state.
    """

    tenant: str
    project: str
    epoch: int
    states: tuple[Option, ...]
    attributes: tuple[Field, ...]
    next_key: int
    own_builtins: Mapping[str, Field] = field(default_factory=dict)
    hidden: tuple[Field, ...] = ()
    deleting: tuple[Field, ...] = ()
    composites: tuple[Composite, ...] = ()
    manual_orders: tuple[ManualOrder, ...] = ()
    history: HistorySetting = HISTORY
    closed: bool = False
    first_version: int = 1

    @cached_property
    def builtins(self) -> tuple[Field, ...]:
        """The fields that every issue has, in display order."""
        fields = {**BUILTINS, **self.own_builtins}
        return tuple(
            replace(one, options=self.states) if key == "state" else one for key, one in fields.items()
        )

    @cached_property
    def _by_id(self) -> dict[str, Field]:
        return {entry.id: entry for entry in (*self.builtins, *self.attributes)}

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        """The stored values of new issues whose creator omits these fields, by internal field key."""
        return {one.key: one.default for one in self.attributes if one.default is not None}

    def get(self, field_id: str) -> Field | None:
        """Return the field with this id in the API (never `num`, which is not stored as a value)."""
        return self._by_id.get(field_id)

    @property
    def state(self) -> Field:
        """The built-in field `state`."""
        return self._by_id["state"]

    def deleted(self, key: str) -> bool:
        """Return whether the attribute or manual order with this internal id was deleted. An unknown one may
        also be newer than this copy.
        """
        number = key.removeprefix("m" if is_rank(key) else "a")
        known = key in self._keys or any(one.key == key for one in self.manual_orders)
        return not known and number.isdecimal() and int(number) < self.next_key

    def removed(self, key: str) -> bool:
        """Return whether it was permanently deleted, so that nothing keeps its values."""
        return self.deleted(key) and all(field.key != key for field in self.hidden)

    @cached_property
    def _keys(self) -> frozenset[str]:
        return frozenset(entry.key for entry in self.attributes)

    @cached_property
    def orders(self) -> tuple[Order, ...]:
        """The orders in which a changed issue gets sort entries, whether served or being built."""
        by_field = (
            FieldOrder(one.order_id_of(index), one.as_of(index.begun), index)
            for one in (*self.builtins, *self.attributes, *self.hidden, *self.manual_orders)
            for index in one.indexes.written
        )
        by_several = (
            self._order(one, index) for one in self.living_composites for index in one.indexes.written
        )
        return (*by_field, *by_several)

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """Every field and composite index, including those being removed."""
        return (*self._fields, *self.composites)

    @property
    def _fields(self) -> tuple[Field, ...]:
        return (*self.builtins, *self.attributes, *self.hidden, *self.manual_orders, *self.deleting)

    def manual_order(self, view: int) -> ManualOrder | None:
        """Return the manual order of the saved view with this number; None if it has none."""
        return next((one for one in self.manual_orders if one.view == view), None)

    @cached_property
    def leaving(self) -> Mapping[str, int]:
        """The orders whose entries are being removed, each with the epoch since when. Some entries may still exist."""
        return {
            one.order_id_of(index): index.since for one in self.definitions for index in one.indexes.leaving
        }

    def pending(self) -> Iterator[Definition]:
        """Return the fields and composite indexes with a change that does not yet hold for all issues."""
        return (one for one in self.definitions if one.pending)

    @cached_property
    def living_composites(self) -> tuple[Composite, ...]:
        """The composite indexes that are not deleted.

        Definitions are read one after the other, so a composite index may be read whose newest field was not.
        Such an index is left out.
        """
        return tuple(
            one
            for one in self.composites
            if not one.deleted and all(part.field in self._by_key for part in one.sort)
        )

    def composite(self, index_id: str) -> Composite | None:
        """Return the composite index with this id, if any."""
        return next((one for one in self.living_composites if one.id == index_id), None)

    def readers_of(self, key: str) -> list[Field]:
        """Return the attributes whose formulas read the field with this internal id, also deleted ones that can be
        restored.
        """
        return [
            one
            for one in (*self.attributes, *self.hidden)
            if any(key in version.formula.uses for version in one.formulas)
        ]

    def composites_over(self, key: str) -> list[Composite]:
        """Return the composite indexes that sort by the field with this internal id."""
        return [one for one in self.living_composites if any(part.field == key for part in one.sort)]

    def known(self, key: str) -> Field | None:
        """Return the field with this internal id; None if it is unknown here."""
        return self._by_key.get(key)

    def field_of(self, key: str) -> Field:
        """Return the field with this internal id, even a deleted one. KeyError if there is none."""
        return self._by_key[key]

    def living(self, key: str) -> Field | None:
        """Return the field with this internal id that is not deleted; None if there is none."""
        return self._by_key.get(key) if key in self._keys or key in BUILTINS else None

    @cached_property
    def _by_key(self) -> dict[str, Field]:
        return {one.key: one for one in self._fields}

    def composite_for(self, parts: Sequence[Part]) -> CompositeServed | None:
        """Return the complete composite index that gives this order or its reversal; None if there is none."""
        found = self._composite_of(parts)
        if found is None:
            return None
        composite, backwards = found
        ready = composite.indexes.ready
        return None if ready is None else CompositeServed(self._order(composite, ready), backwards)

    def composite_being_built(self, parts: Sequence[Part]) -> Composite | None:
        """Return the composite index that will give this order when it is complete; None if there is none."""
        found = self._composite_of(parts)
        return found[0] if found is not None and found[0].indexes.ready is None else None

    def _composite_of(self, parts: Sequence[Part]) -> tuple[Composite, bool] | None:
        several = without_number(parts)
        if len(several) < 2:
            return None
        normal, backwards = normal_form(several)
        return next(((one, backwards) for one in self.living_composites if one.normal == normal), None)

    def _order(self, composite: Composite, index: Index) -> CompositeOrder:
        fields = tuple(self.field_of(part.field).as_of(index.begun) for part in composite.normal)
        return CompositeOrder(composite, fields, index)


def without_number(parts: Sequence[Part]) -> Sequence[Part]:
    """Return the keys before the issue number, which decides all ties; empty if without it they do not give
    the same order.
    """
    place = next((at for at, part in enumerate(parts) if part.field == NUM), len(parts))
    if 0 < place < len(parts) and parts[place].descending != parts[place - 1].descending:
        return ()
    return parts[:place]
