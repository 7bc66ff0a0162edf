"""An issue is read in its present state."""

from collections.abc import Callable
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.schema.document_store import get_issue
from gridview.support.errors import NotFound
from tests.support import damage
from tests.support.damage import catalog_of


def test_an_issue_is_read_strongly_consistent_and_one_that_cannot_be_is_not_looked_for() -> None:
    table = MemoryTable()
    damage.make_project(table)
    damage.add_issues(table, 1)
    consistent: list[bool] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        consistent.append(attempted.consistent)
        return perform()

    seen, catalog = table.seen_through(around), catalog_of(table)
    assert get_issue(seen, catalog, 1)["num"] == 1
    for num in (2, 0, 100_000_000):
        with pytest.raises(NotFound):
            get_issue(seen, catalog, num)
    assert consistent == [True, True]
