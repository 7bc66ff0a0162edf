"""The number of issues of a project: from blocks, and from the journal beyond them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from devtools.proof.baseline.service import at_once
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.derive.families import NUMBERS
from gridview.derive.issue_changes import FamilyChange, IssueChange
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys
from gridview.encoding.sort_strings import sort_string
from gridview.view.issue_count import issues_in
from tests.support.derived_project import catalog_of, fold, log_of, new_table


@pytest.fixture
def table() -> MemoryTable:
    return new_table()


def there(num: int) -> IssueChange:
    return IssueChange(num, 1, False, 1, {NUMBERS: FamilyChange((), sort_string("", num))})


def gone(num: int) -> IssueChange:
    return IssueChange(num, 1, True, 2, {NUMBERS: FamilyChange((sort_string("", num),), None)})


def unsure(change: IssueChange) -> IssueChange:
    """The same by a writer who does not know whether blocks have it already."""
    return change._replace(
        moves={family: one._replace(thorough=True) for family, one in change.moves.items()}
    )


def commit(table: MemoryTable, *changes: IssueChange) -> None:
    number = log_of(table).reserve(len(changes))
    assert log_of(table).put(number, changes) is not None


def counted(table: Table) -> int:
    return issues_in(table, catalog_of(table))


def test_issues_count_before_they_are_folded_and_afterwards(table: MemoryTable) -> None:
    assert counted(table) == 0
    commit(table, there(1), there(2), there(3))
    assert counted(table) == 3
    assert fold(table) == 1
    assert counted(table) == 3
    commit(table, gone(2), there(4), there(5))
    assert counted(table) == 4
    assert fold(table) == 1
    assert counted(table) == 4


def test_an_index_that_is_late_counts_no_issue_twice(table: MemoryTable) -> None:
    """The directory shows the block from before the fold, and the block itself is current."""
    commit(table, there(1))
    assert fold(table) == 1
    table.stale(lambda _, states: states)
    commit(table, there(2), gone(1), there(3))
    assert fold(table) == 1
    assert counted(table) == 2


def test_a_copy_of_the_journal_that_is_late_is_not_believed(table: MemoryTable) -> None:
    commit(table, there(1))
    table.stale(lambda _, states: states)
    commit(table, there(2))
    assert counted(table) == 2


def test_a_fold_after_the_journal_was_read_is_not_missed(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal is read first, and then the directory, which shows more than the journal had."""
    monkeypatch.setattr(ThreadPoolExecutor, "submit", at_once)
    commit(table, there(1))
    assert fold(table) == 1
    commit(table, unsure(there(2)))
    done: list[Attempted] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        result = perform()
        if not done and attempted.operation == "query" and derived_keys.is_journal(attempted.key[0]):
            done.append(attempted)
            commit(table, gone(2))
            assert fold(table) == 2
        return result

    assert counted(table.seen_through(around)) == 1
    assert done


def test_sizes_that_the_journal_does_not_explain_are_read(table: MemoryTable) -> None:
    commit(table, there(1), there(2))
    assert fold(table) == 1
    commit(table, unsure(there(2)), unsure(there(3)))
    own = table.metered()
    assert issues_in(own, catalog_of(table)) == 3
    assert sorted(call.operation for call in own.meter.calls) == [
        "batch_get_item",
        "batch_get_item",
        "query",
        "query",
    ]


def test_without_anything_pending_it_is_one_query_and_the_journal(table: MemoryTable) -> None:
    own = table.metered()
    assert issues_in(own, catalog_of(table)) == 0
    assert sorted(call.operation for call in own.meter.calls) == ["batch_get_item", "query", "query"]
