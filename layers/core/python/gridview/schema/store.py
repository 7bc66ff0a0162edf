"""Reads a project's catalog, and keeps it until the project's epoch shows that there is a newer one."""

import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from gridview.dynamodb.errors import TransactionFailed
from gridview.dynamodb.expressions import Bound
from gridview.dynamodb.side_by_side import side_by_side
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck, FoundEpoch, StaleDefinitions
from gridview.schema.fields import UnknownOption
from gridview.schema.items import ProjectItems, to_catalog
from gridview.schema.jobs import PARTS, Job
from gridview.schema.numbering import Numbering
from gridview.support.errors import Conflict, NotFound, RequestError

_KEPT = 256
_ATTEMPTS = 5
_NO_PROJECT = "Project not found."

Result = TypeVar("Result")


class DefinitionsMissing(Exception):
    """A project that was not deleted has no definitions: someone has edited the table by hand."""

    def __init__(self, tenant: str, project: str) -> None:
        super().__init__(f"The definitions of {keys.project(tenant, project)} are missing.")


class ProjectClosed(NotFound):
    """The project is deleted and can be restored. Indistinguishable from a missing project."""

    def __init__(self) -> None:
        super().__init__(_NO_PROJECT)


class Catalogs:
    """Catalogs of the projects of a table. Thread-safe.

    A copy may be of any age, and the epoch shows whether it is current. `using` and `existing` are for
    requests, and see every change made before the request began. `current` is for work in a user's name.
    `kept` is for work that keeps derived items right: only it returns the catalog of a deleted project that
    can be restored.
    """

    def __init__(self, beside: Callable[[Table, str, str], object] | None = None) -> None:
        """`beside(table, tenant, project)` reads further things that a container has to know, in the same
        round, when a catalog is read.
        """
        self._beside = beside
        self._entries: dict[tuple[str, str], Catalog] = {}
        self._lock = threading.Lock()

    def get(self, table: Table, tenant: str, project: str) -> Catalog:
        """Return the catalog as this container knows it, however old; read if it does not. NotFound if there
        is no such project.

        A read costs one read unit for each 4 KB of definitions.
        """
        known = self._entries.get((tenant, project))
        return self.reload(table, tenant, project) if known is None or known.closed else known

    def known(self, tenant: str, project: str) -> Catalog | None:
        """Return the catalog as this container knows it, however old; None if it does not."""
        return self._entries.get((tenant, project))

    def reload(self, table: Table, tenant: str, project: str) -> Catalog:
        """Read the catalog now, strongly consistent. NotFound."""
        return self._read_now(table, tenant, project)[0]

    def _read_now(self, table: Table, tenant: str, project: str) -> tuple[Catalog, EpochCheck]:
        catalog, epoch = self._read_kept(table, tenant, project)
        return _opened(catalog), epoch

    def _read_kept(self, table: Table, tenant: str, project: str) -> tuple[Catalog, EpochCheck]:
        items = self._read(table, tenant, project)
        catalog = to_catalog(tenant, project, items)
        with self._lock:
            known = self._entries.pop((tenant, project), None)
            if known is not None and known.epoch == catalog.epoch:
                catalog = known  # keep the objects made from it, such as its models
            self._entries[tenant, project] = catalog
            while len(self._entries) > _KEPT:
                self._entries.pop(next(iter(self._entries)))
        return catalog, EpochCheck(numbering=items.numbering)

    def _read(self, table: Table, tenant: str, project: str) -> ProjectItems:
        beside = self._beside
        if beside is None:
            return read_kept(table, tenant, project)
        items, _ = side_by_side(
            table, lambda: read_kept(table, tenant, project), lambda own: beside(own, tenant, project)
        )
        return items

    def current(self, table: Table, tenant: str, project: str) -> Catalog:
        """Return the current catalog. NotFound.

        Costs one read unit for its epoch, plus a read of all definitions if the cached copy is stale.
        """
        return _opened(self.kept(table, tenant, project))

    def kept(self, table: Table, tenant: str, project: str) -> Catalog:
        """Return the current catalog, also of a deleted project that can be restored. NotFound for any other.
        Costs the same.
        """
        known = self._entries.get((tenant, project))
        if known is not None and _is_current(table, known):
            return known
        return self._read_kept(table, tenant, project)[0]

    def using(
        self,
        table: Table,
        tenant: str,
        project: str,
        use: Callable[[Catalog, EpochCheck], Result],
        *,
        numbered: bool = False,
    ) -> Result:
        """Return the result of `use` with the current catalog. NotFound.

        The cached copy is tried first. `use` has its check made beside its first round, and before it writes
        anything. Otherwise the check is made afterwards, in a round of its own. If the copy was stale, the
        catalog is read again and `use` is repeated once. So it must not have written when it raises
        UnknownOption, or anything before the check. `numbered`: the check reads the project's counter too.
        """
        known = self._entries.get((tenant, project))
        if known is not None and known.closed:
            known = self.current(table, tenant, project)
        if known is None:
            catalog, epoch = self._read_now(table, tenant, project)
        else:
            catalog = known
            read = _numbered if numbered else _unnumbered
            epoch = EpochCheck(lambda own: read(own, catalog))
        try:
            result = use(catalog, epoch)
            epoch.confirm(table)
        except UnknownOption:
            if _is_current(table, catalog):  # a document may be younger than the check
                raise
        except (RequestError, StaleDefinitions):
            if epoch.holds(table):
                raise
        else:
            return result
        return use(*self._read_now(table, tenant, project))

    def existing(self, table: Table, tenant: str, project: str, act: Callable[[Catalog], Result]) -> Result:
        """Return the result of `act`, which reads, and depends on no definition but that the project exists.
        NotFound.

        The epoch is read beside it: 1 read unit.
        """
        catalog = self._entries.get((tenant, project))
        if catalog is None or catalog.closed:
            return act(self.current(table, tenant, project))
        result, _ = side_by_side(table, lambda: act(catalog), lambda own: self.current(own, tenant, project))
        return result

    def forget(self, tenant: str, project: str) -> None:
        """Drop the cached catalog, so that the next use reads it again."""
        with self._lock:
            self._entries.pop((tenant, project), None)


def _numbered(table: Table, catalog: Catalog) -> FoundEpoch:
    """Return the project's epoch, and its counter with it: 1 read unit, as their keys follow each other."""
    partition = keys.project(catalog.tenant, catalog.project)
    both = Bound("between", keys.CATALOG, keys.COUNTER)
    found = {item[keys.SK]: item for item in table.query(partition, bound=both, consistent=True).items}
    if keys.CATALOG not in found or keys.COUNTER not in found:
        return FoundEpoch(False)
    numbering = Numbering.from_item(found[keys.COUNTER])
    return FoundEpoch(bool(found[keys.CATALOG]["epoch"] == catalog.epoch), numbering)


def _unnumbered(table: Table, catalog: Catalog) -> FoundEpoch:
    """Return only the project's epoch: 1 read unit."""
    return FoundEpoch(_is_current(table, catalog))


def _is_current(table: Table, catalog: Catalog) -> bool:
    """Return whether this is the catalog of the project's epoch: 1 read unit."""
    stored = table.get(keys.project(catalog.tenant, catalog.project), keys.CATALOG, consistent=True)
    return stored is not None and bool(stored["epoch"] == catalog.epoch)


def _opened(catalog: Catalog) -> Catalog:
    if catalog.closed:
        raise ProjectClosed
    return catalog


def read(table: Table, tenant: str, project: str) -> ProjectItems:
    """Return the stored items of a project, strongly consistent. NotFound if it does not exist or is deleted;
    DefinitionsMissing.
    """
    items = read_kept(table, tenant, project)
    if items.deletion is not None:
        raise ProjectClosed
    return items


def read_kept(table: Table, tenant: str, project: str) -> ProjectItems:
    """Return the same, also of a deleted project that can be restored."""
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
        raise NotFound(_NO_PROJECT)
    if keys.CATALOG not in found:
        raise DefinitionsMissing(tenant, project)
    job = found.get(keys.JOB)
    slices = (found.get(keys.job(part)) for part in PARTS)
    return ProjectItems(
        own,
        found[keys.CATALOG],
        tuple(attributes),
        tuple(composites),
        found[keys.COUNTER]["last"],
        None if job is None else Job.from_item(job),
        tuple(Job.from_item(item) for item in slices if item is not None),
        Numbering.from_item(found[keys.COUNTER]),
    )


def current_catalog(table: Table, catalogs: Catalogs, tenant: str, project: str) -> Catalog | None:
    """Return the catalog of the table's present epoch, also of a deleted project that can be restored
    (`Catalogs.kept`).

    None if there are no definitions: nothing is derived from the issues of a permanently deleted project
    (`require_deleted`).
    """
    try:
        return catalogs.kept(table, tenant, project)
    except (DefinitionsMissing, NotFound):
        return None


def require_deleted(table: Table, tenant: str, project: str) -> None:
    """Raise DefinitionsMissing unless the project's own item says that it was permanently deleted: only that
    lets issues be removed.
    """
    own = table.get(keys.project(tenant, project), keys.tenant(tenant), consistent=True)
    if own is None or not own.get("deleted"):
        raise DefinitionsMissing(tenant, project)


def retry_lost_races(
    change: Callable[[], Result], current: Callable[[], Mapping[str, Any]] | None = None
) -> Result:
    """Run a change that reads, checks and writes in one transaction; start over after a lost race, at last
    raise Conflict.

    `current` reads the resource as the API returns it, for the Conflict. A NotFound of it takes the place of the
    Conflict.
    """
    for _ in range(_ATTEMPTS):
        try:
            return change()
        except TransactionFailed:
            continue
    raise Conflict(
        "Other requests are changing the same resource. Try again.",
        current=None if current is None else current(),
    )
