"""Passes over the issues of local tables, done at once in this process: background work does them elsewhere."""

from typing import Final

from devtools.failure import Failure
from gridview.derive.images import Poison
from gridview.dynamodb.table import Table
from gridview.maintenance.job_worker import Worker
from gridview.schema.store import Catalogs

_SECONDS: Final = 3_600.0
"""More than any pass takes."""


def work_off(table: Table) -> None:
    """Do all passes that changed definitions are waiting for. Failure if nothing can be derived from an issue."""
    Worker(table, Catalogs(), lambda: _SECONDS, no_poison, settling=0).work()


def no_poison(poison: Poison) -> None:
    """Failure: everything can be derived from issues that the tools make."""
    raise Failure(f"Nothing can be derived from an issue: {poison}")
