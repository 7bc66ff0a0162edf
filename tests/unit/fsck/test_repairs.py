"""Repairs of issues and of the chains that they need."""

from collections.abc import Callable
from typing import Any

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.encoding import keys
from gridview.fsck.repairs import Repairs
from gridview.schema.store import Catalogs
from tests.support import damage
from tests.support.damage import key_of


def test_the_chains_of_a_project_are_made_passable_once() -> None:
    table = MemoryTable()
    damage.make_project(table)
    damage.add_issues(table, 3)
    directories: list[str] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.key[0].startswith(keys.DIRECTORY_PREFIX):
            directories.append(attempted.key[0])
        return perform()

    repairs = Repairs(table.seen_through(around), Catalogs())
    repairs.issues([key_of(1)])
    assert directories
    repairs.issues([key_of(2), key_of(3)])
    assert len(directories) == len({*directories})
