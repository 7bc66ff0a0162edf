"""Reading a project's catalog, and keeping it for a few seconds."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from gridview.dynamodb.errors import TransactionFailed
from gridview.dynamodb.expressions import Condition, Write, put
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.catalog import (
    BUILTINS,
    Catalog,
    Composite,
    Definition,
    Field,
    FieldType,
    Option,
    Part,
    UnknownOption,
)
from gridview.schema.generations import Indexes
from gridview.schema.jobs import Job
from gridview.support.errors import Conflict, CursorExpired, InvalidRequest, NotFound, NotReady

MAX_AGE = 5.0
"""Seconds for which a catalog may be used after the read that brought it began."""

_KEPT = 256
_ATTEMPTS = 5

Result = TypeVar("Result")


class DefinitionsMissing(Exception):
    """A project has no definitions, though nobody has deleted it: somebody has changed the table by hand."""


class ProjectItems(NamedTuple):
    """A project as it is stored: its own item, its catalog item, its definitions' in any order, its counter and its job."""

    project: dict[str, Any]
    catalog: dict[str, Any]
    attributes: tuple[dict[str, Any], ...]
    composites: tuple[dict[str, Any], ...]
    numbers: int
    job: Job | None

    @property
    def next_epoch(self) -> int:
        """The epoch with which a change of what was read holds."""
        return int(self.catalog["epoch"]) + 1

    @property
    def next_composite(self) -> int:
        """The number in the id of the next composite index: none is given twice."""
        return int(self.catalog.get("next_composite", 1))


class _Entry(NamedTuple):
    catalog: Catalog
    read_at: float
    read_at_monotonic: float

    @property
    def fresh(self) -> bool:
        # Two clocks: the monotonic one may stand still while a container is frozen, the other one may be set back.
        age = max(time.time() - self.read_at, time.monotonic() - self.read_at_monotonic)
        return 0 <= age < MAX_AGE


class Catalogs:
    """Catalogs of the projects of a table, none of them staler than `MAX_AGE`. Safe to use from several threads."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], _Entry] = {}
        self._lock = threading.Lock()

    def get(self, table: Table, tenant: str, project: str) -> Catalog:
        """The catalog; NotFound without the project. A read costs 0.5 read units for each 4 KB of definitions, doubled."""
        entry = self._entries.get((tenant, project))
        if entry is not None and entry.fresh:
            return entry.catalog
        return self.reload(table, tenant, project)

    def reload(self, table: Table, tenant: str, project: str) -> Catalog:
        """Read the catalog now, strongly consistent."""
        began, began_monotonic = time.time(), time.monotonic()
        catalog = to_catalog(tenant, project, read(table, tenant, project))
        with self._lock:
            known = self._entries.pop((tenant, project), None)
            if known is not None and known.catalog.epoch == catalog.epoch:
                catalog = known.catalog  # what was made from it (its models) stays good
            self._entries[tenant, project] = _Entry(catalog, began, began_monotonic)
            while len(self._entries) > _KEPT:
                self._entries.pop(next(iter(self._entries)))
        return catalog

    def current(self, table: Table, tenant: str, project: str) -> Catalog:
        """The catalog as it is now: a read unit for its epoch, and all definitions only where the copy here is of another."""
        entry = self._entries.get((tenant, project))
        if entry is None:
            return self.reload(table, tenant, project)
        began, began_monotonic = time.time(), time.monotonic()
        stored = table.get(keys.project(tenant, project), keys.CATALOG, consistent=True)
        if stored is None or stored["epoch"] != entry.catalog.epoch:
            return self.reload(table, tenant, project)
        with self._lock:
            if self._entries.get((tenant, project)) is entry:
                self._entries[tenant, project] = _Entry(entry.catalog, began, began_monotonic)
        return entry.catalog

    def using(self, table: Table, tenant: str, project: str, use: Callable[[Catalog], Result]) -> Result:
        """What `use` makes of the catalog. What an older copy finds wrong is judged again by the current one.

        So a field or an option is known everywhere as soon as it exists, and only what is allowed can be up to `MAX_AGE` late.
        What is wrong by the current one costs a read unit more. `use` must not have written anything when it raises
        InvalidRequest, CursorExpired, NotReady or UnknownOption.
        """
        catalog = self.get(table, tenant, project)
        try:
            return use(catalog)
        except (InvalidRequest, CursorExpired, NotReady, UnknownOption):
            current = self.current(table, tenant, project)
            if current is catalog:
                raise
            return use(current)

    def at_epoch(self, table: Table, tenant: str, project: str, epoch: int) -> Catalog:
        """The catalog of at least this epoch, however old the copy here is: an epoch names one state of the definitions."""
        entry = self._entries.get((tenant, project))
        if entry is not None and entry.catalog.epoch >= epoch:
            return entry.catalog
        return self.reload(table, tenant, project)

    def forget(self, tenant: str, project: str) -> None:
        """Read it anew the next time."""
        with self._lock:
            self._entries.pop((tenant, project), None)


def read(table: Table, tenant: str, project: str) -> ProjectItems:
    """The stored items of a project, strongly consistent; NotFound when there is none or it is deleted."""
    found: dict[str, dict[str, Any]] = {}
    attributes, composites = [], []
    for item in table.query_all(keys.project(tenant, project), consistent=True):
        if item[keys.SK].startswith(keys.ATTRIBUTE_PREFIX):
            attributes.append(item)
        elif item[keys.SK].startswith(keys.COMPOSITE_PREFIX):
            composites.append(item)
        else:
            found[item[keys.SK]] = item
    own = found.get(keys.tenant(tenant))
    if own is None or own.get("deleted"):
        raise NotFound("There is no such project.")
    job = found.get(keys.JOB)
    return ProjectItems(
        own,
        found[keys.CATALOG],
        tuple(attributes),
        tuple(composites),
        found[keys.COUNTER]["last"],
        None if job is None else Job.from_item(job),
    )


def require_deleted(table: Table, tenant: str, project: str) -> None:
    """DefinitionsMissing unless the project's own item says that it was deleted: issues are removed for no other reason."""
    own = table.get(keys.project(tenant, project), keys.tenant(tenant), consistent=True)
    if own is None or not own.get("deleted"):
        raise DefinitionsMissing(f"The definitions of {keys.project(tenant, project)} are missing.")


def to_catalog(tenant: str, project: str, items: ProjectItems) -> Catalog:
    """The catalog that the stored items make."""
    by_key = {item["key"]: to_field(item) for item in items.attributes}
    return Catalog(
        tenant=tenant,
        project=project,
        epoch=items.catalog["epoch"],
        states=tuple(Option.from_item(option) for option in items.project["states"]),
        attributes=tuple(by_key[key] for key in items.catalog["order"]),
        next_key=items.catalog["next_key"],
        own_builtins={key: field for key, field in by_key.items() if field.builtin},
        deleting=tuple(field for field in by_key.values() if field.deleted),
        composites=tuple(sorted(map(to_composite, items.composites), key=lambda one: int(one.key[1:]))),
    )


def to_field(item: Mapping[str, Any]) -> Field:
    """The attribute, or built-in field, that a stored item defines."""
    return Field(
        id=item["id"],
        key=item["key"],
        name=item["name"],
        type=FieldType(item["type"]),
        options=tuple(Option.from_item(option) for option in item["options"]),
        required=item["required"],
        indexes=Indexes.from_item(item),
        builtin=item["key"] in BUILTINS,
        version=item["version"],
        created=item["created"],
        updated=item["updated"],
        next_option=item["next_option"],
        deleted=item.get("deleted", 0),
    )


def to_composite(item: Mapping[str, Any]) -> Composite:
    """The composite index that a stored item defines."""
    return Composite(
        key=item["key"],
        sort=tuple(Part(*part) for part in item["keys"]),
        indexes=Indexes.from_item(item),
        version=item["version"],
        created=item["created"],
        deleted=item.get("deleted", 0),
    )


def orders_in(items: Iterable[Mapping[str, Any]]) -> set[str]:
    """The orders that there may be something of in the index, by the stored items of a project, be it deleted or not."""
    fields = {**BUILTINS}
    composites = []
    for item in items:
        if item[keys.SK].startswith(keys.ATTRIBUTE_PREFIX):
            fields[item["key"]] = to_field(item)
        elif item[keys.SK].startswith(keys.COMPOSITE_PREFIX):
            composites.append(to_composite(item))
    definitions: list[Definition] = [*fields.values(), *composites]
    return {one.order_id_of(index) for one in definitions for index in one.indexes.generations}


def sort_key(tenant: str, project: str, definition: Definition) -> str:
    """Sort key of the item that defines a field or a composite index."""
    if isinstance(definition, Composite):
        return keys.composite(tenant, project, definition.id)
    return keys.attribute(tenant, project, definition.id)


def to_item(tenant: str, project: str, definition: Definition) -> dict[str, Any]:
    """The stored item that defines a field or a composite index."""
    item = {
        keys.PK: keys.project(tenant, project),
        keys.SK: sort_key(tenant, project, definition),
        **_defined(definition),
        **definition.indexes.to_items(),
        "version": definition.version,
        "created": definition.created,
    }
    return {**item, "deleted": definition.deleted} if definition.deleted else item


def _defined(definition: Definition) -> dict[str, Any]:
    if isinstance(definition, Composite):
        return {"key": definition.key, "keys": [list(part) for part in definition.sort]}
    field = definition
    return {
        "id": field.id,
        "key": field.key,
        "name": field.name,
        "type": field.type.value,
        # The states' own options are in the project's item.
        "options": [] if field.builtin else [option.to_item() for option in field.options],
        "next_option": field.next_option,
        "required": field.required,
        "updated": field.updated,
    }


def raise_epoch(
    items: ProjectItems,
    *,
    order: Sequence[str] | None = None,
    next_key: int | None = None,
    next_composite: int | None = None,
) -> Write:
    """The write that makes a change of definitions known: part of every transaction that changes one.

    Its condition is the epoch that was read, so changes of one project follow each other.
    """
    changed = {
        **items.catalog,
        "epoch": items.next_epoch,
        "order": list(items.catalog["order"] if order is None else order),
        "next_key": items.catalog["next_key"] if next_key is None else next_key,
        "next_composite": items.next_composite if next_composite is None else next_composite,
    }
    return put(changed, Condition("epoch = :epoch", values={":epoch": items.catalog["epoch"]}))


def settle(change: Callable[[], Result]) -> Result:
    """Do a change that reads, checks and writes in one transaction; again from the start when it lost a race; then Conflict."""
    for _ in range(_ATTEMPTS):
        try:
            return change()
        except TransactionFailed:
            continue
    raise Conflict("Others are changing the same definitions; try again.")
