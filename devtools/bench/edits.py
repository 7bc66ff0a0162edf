"""Write units of one edit, by the edited field and its indexes: in a small project, since they depend on no size.

Without the fold, whose share depends on the size and on the number of changes in a fold (`devtools.bench.folds`).
"""

import itertools
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from devtools.bench import issues
from devtools.bench.functions import Functions, event, record
from devtools.bench.measure import image
from devtools.local.passes import work_off
from gridview.commands.actor import Actor
from gridview.commands.attributes import update_attribute
from gridview.dynamodb.table import Table
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs

_PROJECT: Final = "edits"
_ISSUES: Final = 10
_NOT_INDEXED: Final = "spent"


@dataclass(frozen=True, slots=True)
class Edit:
    """Write units of an edit of one field: of the document's put, and with all writes of the consumer.

    They are means of 10 issues. `updated_indexed`: whether the field that every edit changes too is indexed.
    `after_change`: the first edit of an issue after a change of the project's definitions that does not concern it.
    """

    indexed: bool
    updated_indexed: bool
    after_change: bool
    document: float
    written: float


def edits(functions: Functions, actor: Actor, table: Table) -> list[Edit]:
    """Edit an indexed field and one that is not; with and without the index of `updated`; before and after definitions change."""
    project = _Project(functions, actor, table)
    measured = []
    for updated_indexed in (True, False):
        if not updated_indexed:
            project.leave_out_updated()
        for indexed, after_change in itertools.product((True, False), (False, True)):
            if after_change:
                project.change_definitions()
            measured.append(project.edit(indexed, updated_indexed, after_change))
    return measured


class _Project:
    def __init__(self, functions: Functions, actor: Actor, table: Table) -> None:
        self._functions = functions
        self._actor = actor
        self._table = table
        self._catalog: Catalog = issues.make_project(table, actor, _PROJECT)
        self._path = f"/v1/projects/{_PROJECT}/issues"
        self._images: dict[int, dict[str, Any]] = {}
        self._values: Iterator[int] = itertools.count(10_000_000)
        for body in issues.bodies(_ISSUES):
            num = functions.command(event(actor, "POST", self._path, body))["num"]
            self._images[num] = image(table, self._catalog, num)
            functions.maintain([record(None, self._images[num], 1)])

    def edit(self, indexed: bool, updated_indexed: bool, after_change: bool) -> Edit:
        attribute = issues.NUMBER if indexed else _NOT_INDEXED
        puts, derived = [], []
        for num, before in self._images.items():
            patch = {"fields": {attribute: next(self._values)}}
            with self._functions.metered() as units:
                self._functions.command(event(self._actor, "PATCH", f"{self._path}/{num}", patch))
            puts.append(units.write)
            self._images[num] = image(self._table, self._catalog, num)
            with self._functions.metered() as units:
                self._functions.maintain([record(before, self._images[num], 1)])
            derived.append(units.write)
        document = statistics.mean(puts)
        return Edit(indexed, updated_indexed, after_change, document, document + statistics.mean(derived))

    def leave_out_updated(self) -> None:
        """Switch the index of `updated` off, and wait until its entries are removed."""
        self._update("updated", {"indexed": False})
        work_off(self._table)

    def change_definitions(self) -> None:
        """Give an attribute another name."""
        self._update(issues.SPARSE, {"name": f"Reviewed {next(self._values)}"})

    def _update(self, attribute: str, body: dict[str, Any]) -> None:
        update_attribute(self._table, Catalogs(), self._actor, _PROJECT, attribute, body, None, settling=0)
