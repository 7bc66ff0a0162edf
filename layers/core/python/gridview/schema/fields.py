"""The fields of issues, built in and custom, with their options, as values independent of storage."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

from gridview.schema.computations import Computation, FormulaVersions, Path
from gridview.schema.generations import Index, Indexes, order_id

MAX_OPTIONS = 200


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
    """One choice of an enum. Documents hold `id`, which is never reused; `rank` gives the order
    (`option_ranks`).

    A retired option is no longer in the list. No new value may use it. An issue that got it from a writer
    with an older catalog still shows it and sorts by it. `former` holds the ranks, oldest first, under which
    issues may still be indexed until the pass over them is done. `moved` is the epoch of the last move.
    `color` is None if nobody has chosen one.
    """

    id: str
    value: str
    rank: str
    retired: bool = False
    former: tuple[FormerRank, ...] = ()
    moved: int = 0
    color: Color | None = None

    def moved_to(self, rank: str, epoch: int) -> Self:
        """Return this option with another rank from this epoch on."""
        return replace(self, rank=rank, former=(*self.former, FormerRank(epoch, self.rank)), moved=epoch)

    def rank_before(self, epoch: int) -> str:
        """Return the rank that it had until this epoch, as far as that still matters."""
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


_FEW_VALUES = frozenset((FieldType.BOOL, FieldType.ENUM))
"""The types of few values."""

WRITTEN_WITH_EACH_VERSION = ("updated", "updated_by")
"""The built-in fields that every version of an issue sets. No change lists them."""
WRITERS = {"created_by": "Created by", "updated_by": "Updated by"}
"""The built-in fields whose values are the users who write, and their names."""


class Deletion(NamedTuple):
    """By whom and when (a stored instant) an attribute was deleted that can be restored, and its place among
    the others then.
    """

    by: str
    at: str
    position: int


class UnknownOption(LookupError):
    """A document holds an option that this catalog does not know, so the catalog is older than the document."""


@dataclass(frozen=True)
class Field:
    """A built-in field or a custom attribute.

    `id` is its name in the API. `key` is the internal id that documents and derived items hold; no other
    attribute of the project, living or deleted, ever has the same key.
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
    description: str | None = None
    format: Mapping[str, Any] | None = field(default=None, hash=False)
    """How a page shows its values, as the API returns it (`field_formats`)."""
    default: Any = field(default=None, hash=False)
    """The stored value of new issues whose writer omits the field; None: none."""
    formulas: FormulaVersions = field(default=(), hash=False)
    """The formula of a computed field, with former versions that an index may need; none: values are stored."""
    computation: Computation | None = field(default=None, compare=False, repr=False)
    """The values of a computed field, as its served index has them (`computed_fields`)."""
    deletion: Deletion | None = None
    """Its deletion, while that can be taken back: nobody sees the attribute, and all that belongs to it is kept."""
    deleted: int = 0
    """The epoch that permanently deleted it; 0 before. Its definition stays until no issue holds a value of
    it.
    """

    @property
    def indexed(self) -> bool:
        """Whether issues get sort entries, even for an index that is still being built."""
        return bool(self.indexes.written)

    @property
    def gets_entries(self) -> bool:
        """Whether issues get sort entries in an index of this field. With few values, blocks contain the order
        as well.
        """
        return self.type not in _FEW_VALUES and self.key not in WRITERS

    @property
    def searched(self) -> bool:
        """Whether the words of the values are indexed, even for an index that is still being built."""
        return self.indexed and (self.key == "name" or self.indexes.words)

    @cached_property
    def served(self) -> "FieldOrder | None":
        """The order that is served; None if no index of this field is complete."""
        ready = self.indexes.ready
        return None if ready is None else FieldOrder(self.order_id_of(ready), self.as_of(ready.begun), ready)

    def order_id_of(self, index: Index) -> str:
        """Name an order of this field in derived items: `a1.1`, or `a1.1b` if its index has no sort entries."""
        return order_id(self.key, index.generation, entries=index.entries)

    @property
    def moving(self) -> int:
        """The epoch of the last move of options whose issues may still be indexed under former ranks; 0 if
        there is none.
        """
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
        """Return this field as it was before the moves of this epoch, as far as that still matters."""
        options = tuple(replace(option, rank=option.rank_before(epoch), former=()) for option in self.options)
        return replace(self, options=options)

    @property
    def arrangement(self) -> tuple[int, bool]:
        """A value that changes whenever the options are reordered, and again when all issues have followed.
        Another one if the formula is another.
        """
        if self.computation is not None:
            return self.computation.since, False
        return max((option.moved for option in self.options), default=0), bool(self.moving)

    @property
    def form(self) -> str:
        """The form of its sort strings: one of each type, and that of ranks."""
        return self.type

    @property
    def always_valued(self) -> bool:
        """Whether every issue has a value in it."""
        return self.builtin

    @property
    def pending(self) -> int:
        """The epoch of the newest change that does not yet hold for all issues; 0 if there is none."""
        return max(self.indexes.pending, self.moving, self.deleted)

    def changed(self, now: str, **values: Any) -> Self:
        """Return the next version of this field, with these values, as of a stored instant."""
        return replace(self, version=self.version + 1, updated=now, **values)

    def removed_from(self, epoch: int, now: str) -> Self:
        """Return this field, permanently deleted from this epoch on. It reads no other field any more."""
        return self.changed(now, deletion=None, deleted=epoch, indexes=self.indexes.off(epoch), formulas=())

    def after_pass(self, done: int, epoch: int) -> "Field":
        """Return the field after a pass over all issues under the definitions of epoch `done`; the result
        holds from `epoch` on.
        """
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
        """Return the option with this id, including retired ones. UnknownOption if there is none."""
        try:
            return self._option_by_id[option_id]
        except KeyError:
            raise UnknownOption("a document has an option that the catalog does not know") from None

    @cached_property
    def option_by_value(self) -> dict[str, Option]:
        """Every option that a request may name, by value."""
        return {option.value: option for option in self.live_options}

    @property
    def computed(self) -> bool:
        """Whether its values are computed by a formula. No document holds them, and no request sets them."""
        return bool(self.formulas)

    def as_of(self, epoch: int) -> "Field":
        """Return this field with the formulas of an epoch."""
        if self.computation is None:
            return self
        return replace(self, computation=self.computation.as_of(epoch))

    def value_in(self, document: Mapping[str, Any]) -> Any:
        """Return the value of this field for an issue document in stored form, or None."""
        if self.computation is not None:
            return self.computation.evaluate(document).value
        return document.get(self.key) if self.builtin else document.get("fields", {}).get(self.key)

    @property
    def path(self) -> Path:
        """The path of a stored value in a document."""
        return (self.key,) if self.builtin else ("fields", self.key)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths of the stored values that decide the value of this field."""
        return (self.path,) if self.computation is None else self.computation.paths


NUM = "num"
"""The issue number as a sort field. It needs no index of its own, because issues are stored in number order."""


_WITHOUT_ENTRIES = Indexes.complete(entries=False)

BUILTINS: Mapping[str, Field] = {
    one.key: one
    for one in (
        Field("name", "name", "Name", FieldType.TEXT, required=True, builtin=True),
        Field("state", "state", "State", FieldType.ENUM, required=True, builtin=True),
        Field("created", "created", "Created", FieldType.DATETIME, required=True, builtin=True),
        Field("updated", "updated", "Updated", FieldType.DATETIME, required=True, builtin=True),
        *(
            Field(key, key, name, FieldType.USER, required=True, builtin=True, indexes=_WITHOUT_ENTRIES)
            for key, name in WRITERS.items()
        ),
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
        return not self.field.always_valued

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
