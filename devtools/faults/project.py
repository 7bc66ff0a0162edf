"""The project that every scenario begins with, and the tables that it may be in."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from devtools.faults.memory_table import MemoryTable
from devtools.faults.virtual import Clock, virtual
from gridview import attributes, projects
from gridview.catalogs import Catalogs
from gridview.identity import Actor
from gridview.routes import Role
from gridview.storage import Meter, Table

TENANT, PROJECT = "acme", "bridge"

ATTRIBUTES = (
    {"id": "start", "name": "Start", "type": "date"},
    {"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b", "c"]},
    {"id": "cost", "name": "Cost", "type": "number"},
    {"id": "tags", "name": "Tags", "type": "multi_enum", "options": ["x", "y", "z"]},
    {"id": "note", "name": "Note", "type": "text", "indexed": False},
)


class Engine(NamedTuple):
    """What a scenario is played on: makes a table with the prepared project, and tells whose that is."""

    name: str
    table: Callable[[int], tuple[Table, str]]


def in_memory(_: int) -> tuple[Table, str]:
    """A table of its own for each scenario."""
    return _prepared().copy(Meter(recording=False)), TENANT


@cache
def _prepared() -> MemoryTable:
    table = MemoryTable()
    with virtual(Clock(), 0):
        prepare(table, TENANT)
    return table


def prepare(table: Table, tenant: str) -> None:
    """The project of every scenario."""
    admin = Actor(tenant, "ada", Role.ADMIN)
    projects.create_project(table, admin, {"name": "Bridge", "id": PROJECT})
    for attribute in ATTRIBUTES:
        attributes.create_attribute(table, Catalogs(), admin, PROJECT, attribute)


MEMORY = Engine("memory", in_memory)
