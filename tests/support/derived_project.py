"""A project in an in-memory table: issues written to it, processed by the consumer, and folded."""

from collections.abc import Callable
from typing import Any

from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.commands import attributes, projects
from gridview.commands.actor import Actor, Role
from gridview.derive.images import Poison
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.journal.log import Log
from gridview.maintenance.stream_consumer import consume
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Changes
from gridview.schema.store import Catalogs
from tests.support.block_truth import assert_chains, chain
from tests.support.folds import fold_once, no_poison

TENANT, PROJECT = "acme", "bridge"
ADMIN = Actor(TENANT, "ada", Role.ADMIN)


def new_table() -> MemoryTable:
    """A table with a project that has a date and an option."""
    table = MemoryTable()
    projects.create_project(table, ADMIN, {"name": "Bridge", "id": PROJECT})
    for body in (
        {"name": "Start", "id": "start", "type": "date"},
        {"name": "Kind", "id": "kind", "type": "enum", "options": ["a", "b"]},
    ):
        attributes.create_attribute(table, Catalogs(), ADMIN, PROJECT, body)
    return table


def log_of(table: Table) -> Log:
    """The project's journal."""
    return Log(table, TENANT, PROJECT)


def fold(table: Table, send_poison: Callable[[Poison], None] = no_poison) -> int:
    """Run one fold of the project in a new container. Without `send_poison` all blocks must be readable."""
    return fold_once(log_of(table), send_poison)


def catalog_of(table: Table) -> Catalog:
    """The present definitions."""
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
    """Put issues into the table."""
    for document in documents:
        table.put(document)


def before(operation: Callable[[Attempted], bool], act: Callable[[], Any]) -> Callable[..., Any]:
    """An adversary that acts once, before the first matching call."""
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
    """Whether a call puts the item of a number, not a mark."""
    partition, sort_key = attempted.key
    return (
        attempted.operation == "put"
        and derived_keys.is_journal(partition)
        and not derived_keys.is_journal_mark(sort_key)
    )


class Derived:
    """The issues of a project, as its consumer and its folds derive them."""

    def __init__(self, table: MemoryTable) -> None:
        self.table = table
        self._versions: dict[int, int] = {}

    def consume(self, num: int, start: str = "2023-05-01") -> None:
        """Create an issue or change its date, and let the consumer process that."""
        catalog = catalog_of(self.table)
        (key,) = (field.key for field in catalog.attributes if field.id == "start")
        version = self._versions[num] = self._versions.get(num, 0) + 1
        made = documents.new_document(
            catalog, num, Changes({"name": "n"}, {key: start}), user="ann", now="2024-01-01T00:00:00.000000Z"
        )
        made |= {"version": version, "updated": f"2024-01-01T00:00:00.{version:06d}Z"}
        self.table.put(made)
        counter = keys.project(TENANT, PROJECT), keys.COUNTER
        self.table.put({**self.table.items[counter], "last": max(self._versions)})
        change = record(version, None if version == 1 else made, made)
        assert consume(self.table, Catalogs(), [change], no_poison) is None

    def assert_chains(self) -> None:
        """Check that all blocks equal the issues."""
        place = keys.project(TENANT, PROJECT)
        documents = [item for key, item in self.table.items.items() if key[1] == place]
        assert_chains(self.table, catalog_of(self.table), documents)

    def fold(self) -> list[Poison]:
        """Fold everything. Returns the reports of unreadable blocks."""
        letters: list[Poison] = []
        while fold(self.table, letters.append):
            pass
        return letters
