"""A project's catalog: the fields that its issues have, built-in and custom, as values without behaviour of storage."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Self

MAX_ATTRIBUTES = 400
INDEXED_BY_DEFAULT = 40
MAX_OPTIONS = 200


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


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of an enum. Documents hold `id`, which is never reused; `rank` gives the order (`ranks`).

    A retired option was dropped from the list: no new value may be it, but an issue that got it from a writer who had not yet
    heard still shows and sorts by it.
    """

    id: str
    value: str
    rank: str
    retired: bool = False

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """From the map stored in the definition."""
        return cls(item["id"], item["value"], item["rank"], item.get("retired", False))

    def to_item(self) -> dict[str, Any]:
        """The map stored in the definition."""
        stored = {"id": self.id, "value": self.value, "rank": self.rank}
        return {**stored, "retired": True} if self.retired else stored


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
    indexed: bool = True
    generation: int = 1
    builtin: bool = False
    version: int = 1
    created: str = ""
    updated: str = ""
    next_option: int = 1

    @property
    def order_id(self) -> str:
        """Names the order of this field in sort entries: the internal id and the generation of its index, `a1.1`."""
        return f"{self.key}.{self.generation}"

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


@dataclass(frozen=True, eq=False)
class Catalog:
    """All fields of a project, as of one epoch. `attributes` are in display order; the next one will be `a<next_key>` inside.

    Compares by identity: `catalogs` keeps one.
    """

    tenant: str
    project: str
    epoch: int
    states: tuple[Option, ...]
    attributes: tuple[Field, ...]
    next_key: int
    builtins: tuple[Field, ...] = field(init=False)

    def __post_init__(self) -> None:
        builtins = (
            Field("name", "name", "Name", FieldType.TEXT, required=True, builtin=True),
            Field(
                "state", "state", "State", FieldType.ENUM, options=self.states, required=True, builtin=True
            ),
            Field("created", "created", "Created", FieldType.DATETIME, required=True, builtin=True),
            Field("updated", "updated", "Updated", FieldType.DATETIME, required=True, builtin=True),
        )
        object.__setattr__(self, "builtins", builtins)

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
        return key not in self._keys and int(key.removeprefix("a")) < self.next_key

    @cached_property
    def _keys(self) -> frozenset[str]:
        return frozenset(entry.key for entry in self.attributes)

    @cached_property
    def indexed(self) -> tuple[Field, ...]:
        """The fields that have sort entries."""
        return tuple(entry for entry in (*self.builtins, *self.attributes) if entry.indexed)
