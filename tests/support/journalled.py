"""A journalled project in an in-memory table: issues written to it, given to the consumer, and folded."""

from collections.abc import Callable
from typing import Any

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.commands import attributes, projects
from gridview.commands.actor import Actor, Role
from gridview.commands.journals import begin_journal
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.index import fold as folding
from gridview.index.fence_cache import Fences
from gridview.index.journal_log import Log
from gridview.index.maintainer import current_catalog
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs
from tests.support.block_truth import chain

TENANT, PROJECT = "acme", "bridge"
ADMIN = Actor(TENANT, "ada", Role.ADMIN)


def new_table(*, journal: bool = True) -> MemoryTable:
    """A table with a project that has a date and an option, journalled or not."""
    table = MemoryTable()
    projects.create_project(table, ADMIN, {"name": "Bridge", "id": PROJECT})
    for body in (
        {"name": "Start", "id": "start", "type": "date"},
        {"name": "Kind", "id": "kind", "type": "enum", "options": ["a", "b"]},
    ):
        attributes.create_attribute(table, Catalogs(), ADMIN, PROJECT, body)
    if journal:
        begin_journal(table, TENANT, PROJECT)
    return table


def log_of(table: Table) -> Log:
    """The project's journal."""
    return Log(table, TENANT, PROJECT)


def fold(table: Table) -> int:
    """One fold of the project, by a container that knows nothing."""
    return folding.fold(log_of(table), Fences(), lambda: current_catalog(table, Catalogs(), TENANT, PROJECT))


def catalog_of(table: Table) -> Catalog:
    """The definitions as they are now."""
    return Catalogs().get(table, TENANT, PROJECT)


def members(table: MemoryTable, family: str) -> dict[str, list[int]]:
    """Body -> numbers, of all detailed blocks of a family."""
    return {
        body: list(numbers)
        for block in chain(table, catalog_of(table), family)
        for body, numbers in (block.sets or {}).items()
    }


def positions(table: MemoryTable, family: str) -> list[int]:
    """The positions of the blocks of a family, in order."""
    return [block.position for block in chain(table, catalog_of(table), family)]


def put_documents(table: MemoryTable, *documents: Item) -> None:
    """Issues as they stand in the table."""
    for document in documents:
        table.put(document)


def before(operation: Callable[[Attempted], bool], act: Callable[[], Any]) -> Callable[..., Any]:
    """An adversary that does something once, before the first call that is meant."""
    done: list[Attempted] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if not done and operation(attempted):
            done.append(attempted)
            act()
        return perform()

    return around


def puts(sort_key: str) -> Callable[[Attempted], bool]:
    """Whether a call puts an item with a sort key that begins so."""
    return lambda attempted: attempted.operation == "put" and attempted.key[1].startswith(sort_key)


def puts_journal_item(attempted: Attempted) -> bool:
    """Whether a call puts the item of a number, and not a mark."""
    partition, sort_key = attempted.key
    return attempted.operation == "put" and keys.is_journal(partition) and not keys.is_journal_mark(sort_key)
