"""A project's catalog: the built-in and custom fields of its issues, as values independent of storage."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

from gridview.schema.generations import Index, Indexes, order_id

MAX_ATTRIBUTES = 400
INDEXED_BY_DEFAULT = 40
MAX_OPTIONS = 200
MAX_COMPOSITES = 20
MAX_KEYS = 3
"""The most keys that one order can have."""


class HistorySetting(NamedTuple):
    """Whether a project lists its changes, and for how many days it remembers them."""

    enabled: bool = True
    days: int = 90


HISTORY = HistorySetting()
"""What a project remembers that says nothing of it."""


class FieldType(StrEnum):
    """The field types of the API."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    DATETIME = "datetime"
    BOOL = "bool"
    ENUM = "enum"
    MULTI_ENUM = "multi_enum"
    USER = "user"

    @property
    def has_options(self) -> bool:
        """Whether values are chosen from a list."""
        return self in (FieldType.ENUM, FieldType.MULTI_ENUM)


Color = Literal["gray", "red", "orange", "yellow", "green", "teal", "blue", "purple", "pink"]
"""The colours of options. They are names, so that each theme chooses tones with enough contrast."""


class FormerRank(NamedTuple):
    """The rank that an option had until an epoch."""

    until: int
    rank: str


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of an enum. Documents hold `id`, which is never reused; `rank` gives the order (`option_ranks`).

    A retired option is no longer in the list. No new value may use it, but an issue that got it from a writer with an older catalog
    still shows it and sorts by it. `former` holds the ranks, oldest first, under which issues may still be indexed until the pass
    over them is done. `moved` is the epoch of the last move. `color` is None where nobody has chosen one.
    """

    id: str
    value: str
    rank: str
    retired: bool = False
    former: tuple[FormerRank, ...] = ()
    moved: int = 0
    color: Color | None = None

    def moved_to(self, rank: str, epoch: int) -> Self:
        """This option with another rank from this epoch on."""
        return replace(self, rank=rank, former=(*self.former, FormerRank(epoch, self.rank)), moved=epoch)

    def rank_before(self, epoch: int) -> str:
        """The rank that it had until this epoch, as far as that still matters."""
        return next((former.rank for former in self.former if former.until >= epoch), self.rank)

    @property
    def ranks(self) -> frozenset[str]:
        """All ranks under which issues may be indexed."""
        return frozenset((self.rank, *(former.rank for former in self.former)))

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the map stored in the definition."""
        return cls(
            item["id"],
            item["value"],
            item["rank"],
            item.get("retired", False),
            tuple(FormerRank(*former) for former in item.get("former", ())),
            item.get("moved", 0),
            item.get("color"),
        )

    def to_item(self) -> dict[str, Any]:
        """Encode as the map stored in the definition."""
        stored: dict[str, Any] = {"id": self.id, "value": self.value, "rank": self.rank}
        if self.retired:
            stored["retired"] = True
        if self.former:
            stored["former"] = [list(former) for former in self.former]
        if self.moved:
            stored["moved"] = self.moved
        return {**stored, "color": self.color} if self.color else stored


FEW_VALUES = frozenset((FieldType.BOOL, FieldType.ENUM))
"""The types whose indexes may be without sort entries."""


def gets_entries(kind: FieldType) -> bool:
    """Whether issues get sort entries in an index of such a field. With few values, blocks contain the order as well."""
    return kind not in FEW_VALUES


class Deletion(NamedTuple):
    """By whom and when (a stored instant) an attribute was deleted that can be restored, and its place among the others then."""

    by: str
    at: str
    position: int


class UnknownOption(LookupError):
    """A document holds an option that this catalog does not know, so the catalog is older than the document."""


@dataclass(frozen=True)
class Field:
    """A built-in field or a custom attribute.

    `id` is its name in the API. `key` is the internal id that documents and derived items hold; no other attribute of the project,
    living or deleted, ever has the same key.
    """

    id: str
    key: str
    name: str
    type: FieldType
    options: tuple[Option, ...] = ()
    required: bool = False
    indexes: Indexes = field(default_factory=Indexes.complete)
    builtin: bool = False
    version: int = 1
    created: str = ""
    updated: str = ""
    next_option: int = 1
    deletion: Deletion | None = None
    """Its deletion, while that can be taken back: nobody sees the attribute, and all that belongs to it is kept."""
    deleted: int = 0
    """The epoch that deleted it for good; 0 before. Its definition stays until no issue holds a value of it."""

    @property
    def indexed(self) -> bool:
        """Whether issues get sort entries, even for an index that is still being built."""
        return bool(self.indexes.written)

    @property
    def searched(self) -> bool:
        """Whether the words of the values are indexed, even for an index that is still being built."""
        return self.indexed and (self.key == "name" or self.indexes.words)

    @cached_property
    def served(self) -> "FieldOrder | None":
        """The order that is served; None if no index of this field is complete."""
        ready = self.indexes.ready
        return None if ready is None else FieldOrder(self.order_id_of(ready), self, ready)

    def order_id_of(self, index: Index) -> str:
        """Name an order of this field in derived items: `a1.1`, or `a1.1b` if its index has no sort entries."""
        return order_id(self.key, index.generation, entries=index.entries)

    @property
    def moving(self) -> int:
        """The epoch of the last move of options whose issues may still be indexed under former ranks; 0 if there is none."""
        return max((former.until for option in self.options for former in option.former), default=0)

    @cached_property
    def former(self) -> tuple["Field", ...]:
        """This field as it was before each move of options that the issues may not have followed yet."""
        return tuple(self.before(epoch) for epoch in self.moves)

    @property
    def moves(self) -> list[int]:
        """The epochs of the moves of options that the issues may not have followed yet."""
        return sorted({former.until for option in self.options for former in option.former})

    def before(self, epoch: int) -> "Field":
        """This field as it was before the moves of this epoch, as far as that still matters."""
        options = tuple(replace(option, rank=option.rank_before(epoch), former=()) for option in self.options)
        return replace(self, options=options)

    @property
    def arrangement(self) -> tuple[int, bool]:
        """A value that changes whenever the options are reordered, and again when all issues have followed."""
        return max((option.moved for option in self.options), default=0), bool(self.moving)

    @property
    def pending(self) -> int:
        """The epoch of the newest change that does not yet hold for all issues; 0 if there is none."""
        return max(self.indexes.pending, self.moving, self.deleted)

    def changed(self, now: str, **values: Any) -> Self:
        """The next version of this field, with these values, as of a stored instant."""
        return replace(self, version=self.version + 1, updated=now, **values)

    def removed_from(self, epoch: int, now: str) -> Self:
        """This field deleted for good from this epoch on."""
        return self.changed(now, deletion=None, deleted=epoch, indexes=self.indexes.off(epoch))

    def after_pass(self, done: int, epoch: int) -> "Field":
        """The field after a pass over all issues under the definitions of epoch `done`; the result holds from `epoch` on."""
        options = tuple(
            replace(option, former=tuple(former for former in option.former if former.until > done))
            for option in self.options
        )
        return replace(self, indexes=self.indexes.after_pass(done, epoch), options=options)

    @cached_property
    def live_options(self) -> tuple[Option, ...]:
        """The options that a new value may use, in display order."""
        return tuple(option for option in self.options if not option.retired)

    @cached_property
    def _option_by_id(self) -> dict[str, Option]:
        return {option.id: option for option in self.options}

    def option(self, option_id: str) -> Option:
        """The option with this id, including retired ones. UnknownOption if there is none."""
        try:
            return self._option_by_id[option_id]
        except KeyError:
            raise UnknownOption("a document holds an option that the catalog does not know") from None

    @cached_property
    def option_by_value(self) -> dict[str, Option]:
        """Every option that a request may name, by value."""
        return {option.value: option for option in self.live_options}

    def value_in(self, document: Mapping[str, Any]) -> Any:
        """The stored value of this field in an issue document, or None."""
        return document.get(self.key) if self.builtin else document.get("fields", {}).get(self.key)

    @property
    def path(self) -> tuple[str, ...]:
        """The path of the value in a document."""
        return (self.key,) if self.builtin else ("fields", self.key)


NUM = "num"
"""The issue number as a sort field. It needs no index of its own, because issues are stored in number order."""

BUILTINS: Mapping[str, Field] = {
    one.key: one
    for one in (
        Field("name", "name", "Name", FieldType.TEXT, required=True, builtin=True),
        Field("state", "state", "State", FieldType.ENUM, required=True, builtin=True),
        Field("created", "created", "Created", FieldType.DATETIME, required=True, builtin=True),
        Field("updated", "updated", "Updated", FieldType.DATETIME, required=True, builtin=True),
    )
}
"""The fields that every issue stores as values, in a project that has not changed their indexes."""


@dataclass(frozen=True, slots=True)
class FieldOrder:
    """An order in which issues with a value of `field` have sort entries."""

    order_id: str
    field: Field
    index: Index

    @property
    def id(self) -> str:
        """The API's name for the sort field."""
        return self.field.id

    @property
    def key(self) -> str:
        """The field's internal id."""
        return self.field.key

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields whose values are compared."""
        return (self.field,)

    @property
    def nullable(self) -> bool:
        """Whether issues may lack an entry."""
        return not self.field.builtin

    @property
    def searched(self) -> bool:
        """Whether the words of the values are indexed too."""
        return self.field.type is FieldType.TEXT and (self.index.words or self.field.key == "name")

    @property
    def moving(self) -> bool:
        """Whether options are being moved, so that issues may still be at their former place."""
        return bool(self.field.moving)

    @property
    def former(self) -> tuple["FieldOrder", ...]:
        """This order as it was before each move of options that the issues may not have followed yet."""
        return tuple(replace(self, field=one) for one in self.field.former)

    @property
    def arrangement(self) -> tuple[int, ...]:
        """A value that changes whenever the order does. Cursors are bound to it."""
        return self.index.generation, *self.field.arrangement


class Part(NamedTuple):
    """One key of a sort: the internal id of its field (or `NUM`), its direction, and the place of nulls."""

    field: str
    descending: bool = False
    nulls_first: bool = False


def normal_form(parts: Sequence[Part]) -> tuple[tuple[Part, ...], bool]:
    """An equivalent order whose last key is ascending, and whether it is the reversal of the given one.

    Ties are broken by issue number in the direction of the last key, so a whole order can be read backwards. If every issue has a
    value in a field, the place of nulls makes no difference and is dropped.
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

    `key` is its id, both internally and in the API; no other index of the project, living or deleted, ever has the same key.
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
        """The index after a pass over all issues under the definitions of epoch `done`; the result holds from `epoch` on."""
        return replace(self, indexes=self.indexes.after_pass(done, epoch))


Definition = Field | Composite
"""Anything with generations of an index and a stored item that defines it."""


@dataclass(frozen=True)
class CompositeOrder:
    """An order by several keys, with an entry for every issue. `fields` are those of `composite.normal`."""

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
    """All fields of a project as of one epoch. `attributes` are in display order; the next one gets the key `a<next_key>`.

    `own_builtins` are the built-in fields whose index this project has changed. `hidden` are the deleted attributes that can be
    restored; issues keep their values, and the index their entries. `deleting` are those that are being removed for good, of which
    issues may still hold values. `composites` are in creation order and include those being removed. `history`: what is remembered
    of changes. `closed`: the project is deleted and can be restored; what is derived of it is kept right, and no one else sees it.
    `first_version`: that of a new comment, view or attribute. After a restore of the table, ids may be given out again, and
    versions are not.
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

    def get(self, field_id: str) -> Field | None:
        """The field with this id in the API (never `num`, which is not stored as a value)."""
        return self._by_id.get(field_id)

    @property
    def state(self) -> Field:
        """The built-in field `state`."""
        return self._by_id["state"]

    def deleted(self, key: str) -> bool:
        """Whether the attribute with this internal id was deleted. An unknown one may also be newer than this copy."""
        number = key.removeprefix("a")
        return key not in self._keys and number.isdecimal() and int(number) < self.next_key

    def removed(self, key: str) -> bool:
        """Whether it was deleted for good, so that nothing keeps its values."""
        return self.deleted(key) and all(field.key != key for field in self.hidden)

    @cached_property
    def _keys(self) -> frozenset[str]:
        return frozenset(entry.key for entry in self.attributes)

    @cached_property
    def orders(self) -> tuple[Order, ...]:
        """The orders in which a changed issue gets sort entries, whether served or being built."""
        by_field = (
            FieldOrder(one.order_id_of(index), one, index)
            for one in (*self.builtins, *self.attributes, *self.hidden)
            for index in one.indexes.written
        )
        by_several = (
            self._order(one, index) for one in self.living_composites for index in one.indexes.written
        )
        return (*by_field, *by_several)

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """Every field and composite index, including those being removed."""
        return (*self.builtins, *self.attributes, *self.hidden, *self.deleting, *self.composites)

    @cached_property
    def leaving(self) -> Mapping[str, int]:
        """The orders whose entries are being removed, each with the epoch since when. Some entries may still exist."""
        return {
            one.order_id_of(index): index.since for one in self.definitions for index in one.indexes.leaving
        }

    def pending(self) -> Iterator[Definition]:
        """The fields and composite indexes with a change that does not yet hold for all issues."""
        return (one for one in self.definitions if one.pending)

    @cached_property
    def living_composites(self) -> tuple[Composite, ...]:
        """The composite indexes that are not deleted.

        Definitions are read one after the other, so a composite index may be read whose newest field was not. Such an index is left
        out.
        """
        return tuple(
            one
            for one in self.composites
            if not one.deleted and all(part.field in self._by_key for part in one.sort)
        )

    def composite(self, index_id: str) -> Composite | None:
        """The composite index with this id, if any."""
        return next((one for one in self.living_composites if one.id == index_id), None)

    def composites_over(self, key: str) -> list[Composite]:
        """The composite indexes that sort by the field with this internal id."""
        return [one for one in self.living_composites if any(part.field == key for part in one.sort)]

    def known(self, key: str) -> Field | None:
        """The field with this internal id; None if it is unknown here."""
        return self._by_key.get(key)

    def field_of(self, key: str) -> Field:
        """The field with this internal id, even a deleted one. KeyError if there is none."""
        return self._by_key[key]

    def living(self, key: str) -> Field | None:
        """The field with this internal id that is not deleted; None if there is none."""
        return self._by_key.get(key) if key in self._keys or key in BUILTINS else None

    @cached_property
    def _by_key(self) -> dict[str, Field]:
        return {one.key: one for one in (*self.builtins, *self.attributes, *self.hidden, *self.deleting)}

    def composite_for(self, parts: Sequence[Part]) -> CompositeServed | None:
        """The complete composite index that gives this order or its reversal; None if there is none."""
        found = self._composite_of(parts)
        if found is None:
            return None
        composite, backwards = found
        ready = composite.indexes.ready
        return None if ready is None else CompositeServed(self._order(composite, ready), backwards)

    def composite_being_built(self, parts: Sequence[Part]) -> Composite | None:
        """The composite index that will give this order when it is complete; None if there is none."""
        found = self._composite_of(parts)
        return found[0] if found is not None and found[0].indexes.ready is None else None

    def _composite_of(self, parts: Sequence[Part]) -> tuple[Composite, bool] | None:
        several = without_number(parts)
        if len(several) < 2:
            return None
        normal, backwards = normal_form(several)
        return next(((one, backwards) for one in self.living_composites if one.normal == normal), None)

    def _order(self, composite: Composite, index: Index) -> CompositeOrder:
        fields = tuple(self.field_of(part.field) for part in composite.normal)
        return CompositeOrder(composite, fields, index)


def without_number(parts: Sequence[Part]) -> Sequence[Part]:
    """The keys before the issue number, which decides all ties; empty if they alone do not give the same order."""
    place = next((at for at, part in enumerate(parts) if part.field == NUM), len(parts))
    if 0 < place < len(parts) and parts[place].descending != parts[place - 1].descending:
        return ()
    return parts[:place]
