"""A project in memory with an immediate history, for tests of undo without functions and without an index."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands import attributes, projects
from gridview.commands.actor import Actor, Role
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.journal import history
from gridview.journal.change_members import members_of
from gridview.schema.catalog import Catalog, HistorySetting
from gridview.schema.store import Catalogs

TENANT, PROJECT = "acme", "bridge"
ADA = Actor(TENANT, "ada", Role.ADMIN)
BEN = Actor(TENANT, "ben", Role.EDITOR)
CHANGE = UUID("5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3")

_NOT_SEEN = {"version", "updated", "updated_by", "change", "changed", keys.TTL_ATTRIBUTE}
_OF_A_DELETE = {"deleted_by", "deleted_at"}


class HeldStream:
    """The stream of a table's issues, until `deliver` records it."""

    def __init__(self, table: MemoryTable) -> None:
        self._records: list[dict[str, Any]] = []
        table.set_listener(self._receive)

    def _receive(self, old: dict[str, Any] | None, new: dict[str, Any] | None) -> None:
        one = new or old or {}
        if keys.is_issue(one[keys.PK]) and keys.is_project(one[keys.SK]):
            self._records.append(record(len(self._records) + 1, old, new))

    def deliver(self, table: Table) -> None:
        """Record all changes so far, as the stream consumer does."""
        found, self._records = self._records, []
        history.record(table, found, lambda _: HistorySetting())


def made() -> MemoryTable:
    """A project with a field of several types, and no issues."""
    table = MemoryTable()
    projects.create_project(table, ADA, {"name": "Bridge", "id": PROJECT})
    for body in (
        {"name": "Kind", "id": "kind", "type": "enum", "options": ["a", "b", "c"]},
        {"name": "Tags", "id": "tags", "type": "multi_enum", "options": ["x", "y", "z"]},
        {"name": "Cost", "id": "cost", "type": "number"},
    ):
        attributes.create_attribute(table, Catalogs(), ADA, PROJECT, body)
    return table


def catalog_of(table: Table) -> Catalog:
    return Catalogs().get(table, TENANT, PROJECT)


def seen(table: MemoryTable) -> dict[int, dict[str, Any]]:
    """The issues, including the trash, without the data about their versions."""
    documents = [item for (_, sk), item in table.items.items() if sk == keys.project(TENANT, PROJECT)]
    return {one["num"]: without_version(one) for one in documents if "num" in one}


def without_version(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document without the data about its version, and whether it is deleted."""
    kept = {name: value for name, value in document.items() if name not in _NOT_SEEN | _OF_A_DELETE}
    return {**kept, "deleted": "deleted_by" in document}


def versions_of(table: Table, change: UUID, by: str) -> dict[int, list[int]]:
    """The versions that are part of a change, by issue."""
    found: dict[int, list[int]] = {}
    for one in members_of(table, TENANT, PROJECT, change.bytes, by=by):
        found.setdefault(one.num, []).append(one.version)
    return found
