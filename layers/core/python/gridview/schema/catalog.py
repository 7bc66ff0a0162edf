"""A project's catalog: the fields that its issues have, built-in and custom, as values without behaviour of storage."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple, Self

from gridview.schema.generations import Index, Indexes

MAX_ATTRIBUTES = 400
INDEXED_BY_DEFAULT = 40
MAX_OPTIONS = 200
MAX_COMPOSITES = 20
MAX_KEYS = 3
"""Keys of one order."""


class FieldType(StrEnum):
    """The types of API.md."""

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


class FormerRank(NamedTuple):
    """The rank that an option had until an epoch."""

    until: int
    rank: str


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of an enum. Documents hold `id`, which is never reused; `rank` gives the order (`ranks`).

    A retired option was dropped from the list: no new value may be it, but an issue that got it from a writer who had not yet
    heard still shows and sorts by it. `former` are the ranks, oldest first, under which issues may stand until the pass over them
    is over; `moved` is the epoch of the last move.
    """

    id: str
    value: str
    rank: str
    retired: bool = False
    former: tuple[FormerRank, ...] = ()
    moved: int = 0

    def moved_to(self, rank: str, epoch: int) -> Self:
        """With another rank from this epoch on."""
        return replace(self, rank=rank, former=(*self.former, FormerRank(epoch, self.rank)), moved=epoch)

    def rank_before(self, epoch: int) -> str:
        """The rank that it had until this epoch, as far as that still matters."""
        return next((former.rank for former in self.former if former.until >= epoch), self.rank)

    @property
    def ranks(self) -> frozenset[str]:
        """The ranks under which issues may stand."""
        return frozenset((self.rank, *(former.rank for former in self.former)))

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """From the map stored in the definition."""
        return cls(
            item["id"],
            item["value"],
            item["rank"],
            item.get("retired", False),
            tuple(FormerRank(*former) for former in item.get("former", ())),
            item.get("moved", 0),
        )

    def to_item(self) -> dict[str, Any]:
        """The map stored in the definition."""
        stored: dict[str, Any] = {"id": self.id, "value": self.value, "rank": self.rank}
        if self.retired:
            stored["retired"] = True
        if self.former:
            stored["former"] = [list(former) for former in self.former]
        return {**stored, "moved": self.moved} if self.moved else stored


class UnknownOption(LookupError):
    """A document holds an option that this catalog does not know: the catalog is older than the document."""


@dataclass(frozen=True)
class Field:
    """A built-in field or a custom attribute.

    `id` is what the API calls it; `key` is the internal id that documents and derived items hold, and no other attribute of the
    project, living or deleted, has or had it.
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
    deleted: int = 0
    """The epoch with which it was deleted; its definition stays until no issue holds a value of it."""

    @property
    def indexed(self) -> bool:
        """Whether issues get sort entries, be it for an index that is not complete yet."""
        return bool(self.indexes.written)

    @property
    def searched(self) -> bool:
        """Whether the words of the values are indexed, be it for an index that is not complete yet."""
        return self.indexed and (self.key == "name" or self.indexes.words)

    @cached_property
    def served(self) -> "FieldOrder | None":
        """The order that is served; None when there is none, or none that is complete."""
        ready = self.indexes.ready
        return None if ready is None else FieldOrder(self.order_id_of(ready), self, ready)

    def order_id_of(self, index: Index) -> str:
        """Names an order of this field in sort entries: the internal id and the generation of the index, `a1.1`."""
        return f"{self.key}.{index.generation}"

    @property
    def moving(self) -> int:
        """The epoch with which options were last moved whose issues may still stand under former ranks; 0 when none do."""
        return max((former.until for option in self.options for former in option.former), default=0)

    @cached_property
    def former(self) -> tuple["Field", ...]:
        """This field as it was before each move of options after which issues may not have been moved yet."""
        return tuple(self.before(epoch) for epoch in self.moves)

    @property
    def moves(self) -> list[int]:
        """The epochs of the moves of options after which issues may not have been moved yet."""
        return sorted({former.until for option in self.options for former in option.former})

    def before(self, epoch: int) -> "Field":
        """This field as it was before the moves of this epoch, as far as that still matters."""
        options = tuple(replace(option, rank=option.rank_before(epoch), former=()) for option in self.options)
        return replace(self, options=options)

    @property
    def arrangement(self) -> tuple[int, bool]:
        """Another one whenever the order of the options has become another one, or all issues have followed."""
        return max((option.moved for option in self.options), default=0), bool(self.moving)

    @property
    def pending(self) -> int:
        """The epoch of the newest change that is not true of all issues yet; 0 when all are."""
        return max(self.indexes.pending, self.moving, self.deleted)

    def after_pass(self, done: int, epoch: int) -> "Field":
        """After a pass over all issues under the definitions of epoch `done`; what follows from that holds from `epoch` on."""
        options = tuple(
            replace(option, former=tuple(former for former in option.former if former.until > done))
            for option in self.options
        )
        return replace(self, indexes=self.indexes.after_pass(done, epoch), options=options)

    @cached_property
    def live_options(self) -> tuple[Option, ...]:
        """The options that a new value may be, in display order."""
        return tuple(option for option in self.options if not option.retired)

    @cached_property
    def _option_by_id(self) -> dict[str, Option]:
        return {option.id: option for option in self.options}

    def option(self, option_id: str) -> Option:
        """The option that a document holds, retired ones included; UnknownOption."""
        try:
            return self._option_by_id[option_id]
        except KeyError:
            raise UnknownOption("a document holds an option that the catalog does not know") from None

    @cached_property
    def option_by_value(self) -> dict[str, Option]:
        """Every option that a request may name."""
        return {option.value: option for option in self.live_options}

    def value_in(self, document: Mapping[str, Any]) -> Any:
        """The stored value of this field in an issue document, or None."""
        return document.get(self.key) if self.builtin else document.get("fields", {}).get(self.key)

    @property
    def path(self) -> tuple[str, ...]:
        """Where a document holds the value."""
        return (self.key,) if self.builtin else ("fields", self.key)


NUM = "num"
"""The field that needs no index of its own: issues are kept in number order."""

BUILTINS: Mapping[str, Field] = {
    one.key: one
    for one in (
        Field("name", "name", "Name", FieldType.TEXT, required=True, builtin=True),
        Field("state", "state", "State", FieldType.ENUM, required=True, builtin=True),
        Field("created", "created", "Created", FieldType.DATETIME, required=True, builtin=True),
        Field("updated", "updated", "Updated", FieldType.DATETIME, required=True, builtin=True),
    )
}
"""The fields that every issue has and that are stored as values, as a project has them that changed nothing about them."""


@dataclass(frozen=True, slots=True)
class FieldOrder:
    """An order in which issues with a value of `field` have sort entries."""

    order_id: str
    field: Field
    index: Index

    @property
    def id(self) -> str:
        """What the API calls what is sorted by."""
        return self.field.id

    @property
    def key(self) -> str:
        """Its internal id."""
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
        """Whether options are being moved, so that issues may stand where they stood before."""
        return bool(self.field.moving)

    @property
    def former(self) -> tuple["FieldOrder", ...]:
        """This order as it was before each move of options after which issues may not have been moved yet."""
        return tuple(replace(self, field=one) for one in self.field.former)

    @property
    def arrangement(self) -> tuple[int, ...]:
        """Another one whenever it has become another order: what cursors are bound to."""
        return self.index.generation, *self.field.arrangement


class Part(NamedTuple):
    """One key of a sort: the internal id of its field (or `NUM`), and how it is sorted by."""

    field: str
    descending: bool = False
    nulls_first: bool = False


def normal_form(parts: Sequence[Part]) -> tuple[tuple[Part, ...], bool]:
    """The same order with its last key ascending, or that of which it is the reversal; and whether it is the reversal.

    Ties are broken by issue number in the direction of the last key, so all of an order can be read backwards. Of a field that
    every issue has it makes no difference where those without it would stand.
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
    """An index over several fields that an administrator has defined; `sort` is the order as it was asked for.

    `key` is its id, inside and in the API, and no other index of the project, living or deleted, has or had it.
    """

    key: str
    sort: tuple[Part, ...]
    indexes: Indexes
    version: int = 1
    created: str = ""
    deleted: int = 0
    """The epoch with which it was deleted; its definition stays until no issue has an entry of it."""

    @property
    def id(self) -> str:
        """What the API calls it."""
        return self.key

    @cached_property
    def normal(self) -> tuple[Part, ...]:
        """The order in which its entries stand."""
        return normal_form(self.sort)[0]

    def order_id_of(self, index: Index) -> str:
        """Names an order of this index in sort entries: its id and the generation, `c1.1`."""
        return f"{self.key}.{index.generation}"

    @property
    def pending(self) -> int:
        """The epoch of the newest change that is not true of all issues yet; 0 when all are."""
        return max(self.indexes.pending, self.deleted)

    def after_pass(self, done: int, epoch: int) -> "Composite":
        """After a pass over all issues under the definitions of epoch `done`; what follows from that holds from `epoch` on."""
        return replace(self, indexes=self.indexes.after_pass(done, epoch))


Definition = Field | Composite
"""What has an index with generations, and a stored item that defines it."""


@dataclass(frozen=True)
class CompositeOrder:
    """An order by several keys, in which every issue has an entry; `fields` are those of `composite.normal`."""

    composite: Composite
    fields: tuple[Field, ...]
    index: Index

    @property
    def order_id(self) -> str:
        """Names it in sort entries."""
        return self.composite.order_id_of(self.index)

    @property
    def id(self) -> str:
        """What the API calls what is sorted by."""
        return self.composite.id

    @property
    def key(self) -> str:
        """Its internal id."""
        return self.composite.key

    @property
    def nullable(self) -> bool:
        """Whether issues may lack an entry."""
        return False

    @property
    def moving(self) -> bool:
        """Whether options are being moved, so that issues may stand where they stood before."""
        return any(field.moving for field in self.fields)

    @cached_property
    def former(self) -> tuple["CompositeOrder", ...]:
        """This order as it was before each move of options after which issues may not have been moved yet."""
        epochs = sorted({epoch for field in self.fields for epoch in field.moves})
        return tuple(
            replace(self, fields=tuple(field.before(epoch) for field in self.fields)) for epoch in epochs
        )

    @property
    def arrangement(self) -> tuple[int, ...]:
        """Another one whenever it has become another order: what cursors are bound to."""
        return self.index.generation, *(one for field in self.fields for one in field.arrangement)


Order = FieldOrder | CompositeOrder


class CompositeServed(NamedTuple):
    """A composite index that gives an order, read backwards when `reversed`."""

    order: CompositeOrder
    reversed: bool


@dataclass(frozen=True, eq=False)
class Catalog:
    """All fields of a project, as of one epoch. `attributes` are in display order; the next one will be `a<next_key>` inside.

    `own_builtins` are the built-in fields whose index this project has changed; `deleting` the deleted attributes that issues
    may still hold values of; `composites` are in the order of their making, those that are being removed included.
    Compares by identity: `catalogs` keeps one.
    """

    tenant: str
    project: str
    epoch: int
    states: tuple[Option, ...]
    attributes: tuple[Field, ...]
    next_key: int
    own_builtins: Mapping[str, Field] = field(default_factory=dict)
    deleting: tuple[Field, ...] = ()
    composites: tuple[Composite, ...] = ()

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
        """The field that the API calls `field_id` (never `num`, which is not stored as a value)."""
        return self._by_id.get(field_id)

    @property
    def state(self) -> Field:
        """The built-in field of the states."""
        return self._by_id["state"]

    def deleted(self, key: str) -> bool:
        """Whether the attribute of this internal id was deleted. One that is not here may also be newer than this copy."""
        number = key.removeprefix("a")
        return key not in self._keys and number.isdecimal() and int(number) < self.next_key

    @cached_property
    def _keys(self) -> frozenset[str]:
        return frozenset(entry.key for entry in self.attributes)

    @cached_property
    def orders(self) -> tuple[Order, ...]:
        """The orders in which a changed issue gets sort entries, served or being built."""
        by_field = (
            FieldOrder(one.order_id_of(index), one, index)
            for one in (*self.builtins, *self.attributes)
            for index in one.indexes.written
        )
        by_several = (
            self._order(one, index) for one in self.living_composites for index in one.indexes.written
        )
        return (*by_field, *by_several)

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """Every field and composite index, those that are being removed included."""
        return (*self.builtins, *self.attributes, *self.deleting, *self.composites)

    @cached_property
    def leaving(self) -> Mapping[str, int]:
        """The orders whose entries are being removed, and the epoch since which they are; some may still be there."""
        return {
            one.order_id_of(index): index.since for one in self.definitions for index in one.indexes.leaving
        }

    def pending(self) -> Iterator[Definition]:
        """The fields and composite indexes of which a change is not true of all issues yet."""
        return (one for one in self.definitions if one.pending)

    @cached_property
    def living_composites(self) -> tuple[Composite, ...]:
        """The composite indexes that are not deleted.

        Definitions are read one after the other, so one may be here whose newest field was not yet there: it is as if it were not.
        """
        return tuple(
            one
            for one in self.composites
            if not one.deleted and all(part.field in self._by_key for part in one.sort)
        )

    def composite(self, index_id: str) -> Composite | None:
        """The composite index of this id."""
        return next((one for one in self.living_composites if one.id == index_id), None)

    def composites_over(self, key: str) -> list[Composite]:
        """The composite indexes that sort by the field of this internal id."""
        return [one for one in self.living_composites if any(part.field == key for part in one.sort)]

    def field_of(self, key: str) -> Field:
        """The field of this internal id, one that is being deleted too; KeyError."""
        return self._by_key[key]

    @cached_property
    def _by_key(self) -> dict[str, Field]:
        return {one.key: one for one in (*self.builtins, *self.attributes, *self.deleting)}

    def composite_for(self, parts: Sequence[Part]) -> CompositeServed | None:
        """The composite index that gives this order or its reversal; None when there is none, or none that is complete."""
        found = self._composite_of(parts)
        if found is None:
            return None
        composite, backwards = found
        ready = composite.indexes.ready
        return None if ready is None else CompositeServed(self._order(composite, ready), backwards)

    def composite_being_built(self, parts: Sequence[Part]) -> Composite | None:
        """The composite index that will give this order when it is complete, and does not yet."""
        found = self._composite_of(parts)
        return found[0] if found is not None and found[0].indexes.ready is None else None

    def _composite_of(self, parts: Sequence[Part]) -> tuple[Composite, bool] | None:
        several = _without_number(parts)
        if len(several) < 2:
            return None
        normal, backwards = normal_form(several)
        return next(((one, backwards) for one in self.living_composites if one.normal == normal), None)

    def _order(self, composite: Composite, index: Index) -> CompositeOrder:
        fields = tuple(self.field_of(part.field) for part in composite.normal)
        return CompositeOrder(composite, fields, index)


def _without_number(parts: Sequence[Part]) -> Sequence[Part]:
    """The keys that give the same order without the issue number, which breaks ties anyway; none when there are no such."""
    place = next((at for at, part in enumerate(parts) if part.field == NUM), len(parts))
    if 0 < place < len(parts) and parts[place].descending != parts[place - 1].descending:
        return ()
    return parts[:place]
