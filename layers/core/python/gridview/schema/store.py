"""Reads a project's catalog and caches it for a few seconds."""

import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from gridview.dynamodb.errors import TransactionFailed
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.catalog import (
    Catalog,
    UnknownOption,
)
from gridview.schema.items import ProjectItems, to_catalog
from gridview.schema.jobs import Job
from gridview.support.errors import Conflict, CursorExpired, InvalidRequest, NotFound, NotReady

MAX_AGE = 5.0
"""Seconds for which a catalog may be used, counted from the start of the read that fetched it."""

_KEPT = 256
_ATTEMPTS = 5

Result = TypeVar("Result")


class DefinitionsMissing(Exception):
    """A project that was not deleted has no definitions: somebody has edited the table by hand."""

    def __init__(self, tenant: str, project: str) -> None:
        super().__init__(f"The definitions of {keys.project(tenant, project)} are missing.")


class _Entry(NamedTuple):
    catalog: Catalog
    read_at: float
    read_at_monotonic: float

    @property
    def fresh(self) -> bool:
        # Two clocks: the monotonic one may stop while a container is frozen, and the other one may be set back.
        age = max(time.time() - self.read_at, time.monotonic() - self.read_at_monotonic)
        return 0 <= age < MAX_AGE


class Catalogs:
    """Catalogs of the projects of a table, none staler than `MAX_AGE`. Thread-safe."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], _Entry] = {}
        self._lock = threading.Lock()

    def get(self, table: Table, tenant: str, project: str) -> Catalog:
        """The catalog. NotFound if there is no such project. A read costs one read unit for each 4 KB of definitions."""
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
                catalog = known.catalog  # keep what was made from it, such as its models
            self._entries[tenant, project] = _Entry(catalog, began, began_monotonic)
            while len(self._entries) > _KEPT:
                self._entries.pop(next(iter(self._entries)))
        return catalog

    def current(self, table: Table, tenant: str, project: str) -> Catalog:
        """The current catalog. Costs one read unit for its epoch, plus a read of all definitions if the cached copy is stale."""
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
        """The result of `use` with the catalog. If a cached copy makes it fail, `use` is repeated with the current one.

        So a new field or option is known everywhere at once; only a restriction can take effect up to `MAX_AGE` late.
        An error under the current catalog costs one more read unit. `use` must not have written anything when it raises
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

    def forget(self, tenant: str, project: str) -> None:
        """Drop the cached catalog, so that the next use reads it again."""
        with self._lock:
            self._entries.pop((tenant, project), None)


def read(table: Table, tenant: str, project: str) -> ProjectItems:
    """The stored items of a project, strongly consistent. NotFound if it does not exist or is deleted; DefinitionsMissing."""
    found: dict[str, dict[str, Any]] = {}
    attributes, composites = [], []
    for item in table.query_all(keys.project(tenant, project), consistent=True):
        if keys.is_attribute(item[keys.SK]):
            attributes.append(item)
        elif keys.is_composite(item[keys.SK]):
            composites.append(item)
        else:
            found[item[keys.SK]] = item
    own = found.get(keys.tenant(tenant))
    if own is None or own.get("deleted"):
        raise NotFound("Project not found.")
    if keys.CATALOG not in found:
        raise DefinitionsMissing(tenant, project)
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
        raise DefinitionsMissing(tenant, project)


def retry_lost_races(change: Callable[[], Result]) -> Result:
    """Run a change that reads, checks and writes in one transaction; start over after a lost race, at last raise Conflict."""
    for _ in range(_ATTEMPTS):
        try:
            return change()
        except TransactionFailed:
            continue
    raise Conflict("Other requests are changing the same definitions. Try again.")
