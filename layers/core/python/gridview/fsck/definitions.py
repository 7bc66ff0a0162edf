"""The projects' definitions that a check compares issues and blocks with, in a bounded cache."""

from threading import Lock
from typing import NamedTuple

from gridview.derive.families import families_of
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.fsck import chain_check
from gridview.journal.items import Head
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog
from gridview.schema.items import to_catalog
from gridview.schema.store import DefinitionsMissing, read_kept
from gridview.support import clock
from gridview.support.errors import NotFound

_KEPT_FIELDS = 20_000
"""The most fields in the cache, some 30 MB."""


class Defined(NamedTuple):
    """The definitions of a project, as long as it can be restored. A permanently deleted project has no
    catalog; `removing` then says whether its removal is in progress.
    """

    catalog: Catalog | None
    removing: bool
    as_of: str
    families: frozenset[str] = frozenset()
    """The families that may have blocks, including those being removed."""
    head: Head | None = None
    """The head of the project's journal; None if it is lost."""

    def lacks(self, family: str) -> bool:
        """Return whether a family is surely not one of the project's. A project has none once its deletion is
        complete.
        """
        return not self.removing and family not in self.families


class Definitions:
    """The definitions of the projects that issues belong to. A scan keeps returning to all projects, so many
    are cached.
    """

    def __init__(self, table: Table, at_most: int = _KEPT_FIELDS) -> None:
        """`at_most`: fields that are kept."""
        self._table = table
        self._at_most = at_most
        self._kept: dict[tuple[str, str], Defined] = {}
        self._fields = 0
        self._lock = Lock()

    def of(self, tenant: str, project: str) -> Defined:
        """Return the definitions as of any moment since the check began."""
        return self._kept.get((tenant, project)) or self.reload(tenant, project)

    def reload(self, tenant: str, project: str) -> Defined:
        """Return the present definitions, strongly consistent."""
        as_of = clock.now()
        try:
            catalog = to_catalog(tenant, project, read_kept(self._table, tenant, project))
            families = frozenset((*families_of(catalog), *chain_check.left(catalog)))
            head = Log(self._table, tenant, project).known_head(consistent=True)
            defined = Defined(catalog, False, as_of, families, head)
        except (KeyError, DefinitionsMissing, NotFound):
            job = self._table.get(keys.project(tenant, project), keys.JOB, consistent=True)
            defined = Defined(None, job is not None, as_of)
        with self._lock:
            self._forget((tenant, project))
            self._kept[tenant, project] = defined
            self._fields += _fields(defined)
            while self._fields > self._at_most and len(self._kept) > 1:
                self._forget(next(iter(self._kept)))
        return defined

    def _forget(self, project: tuple[str, str]) -> None:
        if project in self._kept:
            self._fields -= _fields(self._kept.pop(project))


def _fields(defined: Defined) -> int:
    return 5 if defined.catalog is None else 5 + len(defined.catalog.attributes)
