"""The project that every scenario begins with, and the tables that it may be in."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.virtual import Clock, Constants, virtual
from gridview.commands import attributes, projects
from gridview.commands.actor import Actor, Role
from gridview.dynamodb.metering import Meter
from gridview.dynamodb.table import Table
from gridview.schema.store import Catalogs
from gridview.support.fold_pace import Pace

if TYPE_CHECKING:
    from devtools.proof.faults.world import World

TENANT, PROJECT = "acme", "bridge"

ATTRIBUTES = (
    {"id": "start", "name": "Start", "type": "date"},
    {"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b", "c"]},
    {"id": "cost", "name": "Cost", "type": "number"},
    {"id": "tags", "name": "Tags", "type": "multi_enum", "options": ["x", "y", "z"]},
    {"id": "note", "name": "Note", "type": "text", "indexed": False},
)


NEIGHBOURS = (("zeta", PROJECT), (TENANT, "harbor"))
"""Other projects that may be at work in a table: another tenant's with the same id, and another one of the same
tenant.
"""


class Engine(NamedTuple):
    """The engine of a scenario: makes a table with the prepared project, and returns it with the tenant."""

    name: str
    table: Callable[[int], tuple[Table, str]]


def in_memory(_: int) -> tuple[Table, str]:
    """A table of its own for each scenario."""
    return prepared().copy(Meter(recording=False)), TENANT


@cache
def prepared() -> MemoryTable:
    """The table from which each scenario's is copied. Made outside of any scenario, so that all get the same one."""
    table = MemoryTable()
    with virtual(Clock(), 0):
        prepare(table, TENANT)
    return table


def prepare(
    table: Table,
    tenant: str,
    project: str = PROJECT,
    made: Sequence[Mapping[str, Any]] = ATTRIBUTES,
) -> None:
    """The project of every scenario, or another with these attributes."""
    admin = Actor(tenant, "ada", Role.ADMIN)
    projects.create_project(table, admin, {"name": project.title(), "id": project})
    for attribute in made:
        attributes.create_attribute(table, Catalogs(), admin, project, attribute)


def neighbours(world: "World") -> Iterator["World"]:
    """The world as it is seen from other projects, which are made in it: the same attributes have other internal ids there."""
    for tenant, project in NEIGHBOURS:
        prepare(world.engine, tenant, project, ATTRIBUTES[::-1])
        yield world.beside(tenant, project)


MEMORY = Engine("memory", in_memory)


_SIZES: tuple[Mapping[str, Any], ...] = (
    # One body, or two short ones, to a block; every block is detailed.
    {
        "MAX_BYTES": 64,
        "POPULAR": 3,
        "UNPOPULAR": 1,
        "MERGED": 36,
        "ROOMY": 56,
    },
    # Blocks of orders are plain as soon as they hold two bodies, and then hold two keys.
    {
        "MAX_BYTES": 60,
        "_FULL": 0.35,
        "_HALF": 0.35,
        "POPULAR": 3,
        "UNPOPULAR": 2,
        "MERGED": 40,
        "ROOMY": 50,
        "PLAIN_KEYS": 2,
        "_MERGED_KEYS": 2,
        "_ROOMY_KEYS": 2,
        "DETAILED_BODIES": 1,
    },
    # A few bodies to a block. Bodies of two issues get blocks of their own.
    {
        "MAX_BYTES": 100,
        "POPULAR": 2,
        "UNPOPULAR": 1,
        "MERGED": 50,
        "ROOMY": 90,
        "PLAIN_KEYS": 4,
        "_MERGED_KEYS": 2,
        "_ROOMY_KEYS": 3,
        "DETAILED_BODIES": 2,
    },
    # The sets of numbers are cut, too; hardly anything fits together with anything else.
    {
        "MAX_BYTES": 26,
        "POPULAR": 3,
        "UNPOPULAR": 2,
        "MERGED": 26,
        "ROOMY": 26,
        "PLAIN_KEYS": 3,
        "_MERGED_KEYS": 2,
        "_ROOMY_KEYS": 3,
        "DETAILED_BODIES": 1,
    },
)

SMALL: tuple[Constants, ...] = tuple(
    {f"chains.blocks.{name}": value for name, value in sizes.items()} for sizes in _SIZES
)
"""Blocks so small that a handful of issues splits and merges them, in several ways."""

FOLD_PACE: Final = "support.fold_pace._used"
"""The constant that says how much waits for the fold, and for how long."""

_PACES = (Pace(1, 1), Pace(4, 60), Pace(256, 300))
"""A fold that is due at once, one that waits for either, and one that waits for its time."""


def folding(scenario: object) -> Constants:
    """When the fold of a scenario is due, and whether journal items of few sort entries have marks; drawn from what names it."""
    chance = Random(f"folds {scenario}")  # noqa: S311 - the same name is the same scenario
    return {"journal.items.FEW_ENTRIES": chance.choice((0, 8)), FOLD_PACE: chance.choice(_PACES)}
