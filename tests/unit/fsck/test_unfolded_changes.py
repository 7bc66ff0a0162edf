"""Changes that are committed and wait for the fold make no suspects: folds rest for minutes, and suspects are few."""

import pytest

from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from gridview.encoding import derived_keys, keys
from gridview.fsck.checker import Check
from gridview.fsck.progress import Finding
from gridview.fsck.walks import TableWalk
from gridview.journal.log import Log
from gridview.maintenance.stream_consumer import consume
from gridview.schema.store import Catalogs
from tests.support import damage
from tests.support.damage import PROJECT, TENANT, key_of
from tests.unit.fsck.conftest import Time
from tests.unit.fsck.test_checker import never, run

ISSUES = 12
EDITED = range(1, 10)
PATIENCE = 900.0


@pytest.fixture
def table(time: Time) -> MemoryTable:
    """A project in which most issues have been edited since the last fold."""
    table = MemoryTable()
    damage.make_project(table)
    damage.add_issues(table, ISSUES)
    catalogs, place = Catalogs(), keys.project(TENANT, PROJECT)
    for num in EDITED:
        before = table.items[key_of(num), place]
        after = damage.document(table, num, version=2, start="2025-01-09", size=num + 100)
        table.put(after)
        assert consume(table, catalogs, [record(num, before, after)], never) is None
    head = Log(table, TENANT, PROJECT).head()
    assert (head.folded, head.last) == (0, len(EDITED))
    return table


def looked(table: MemoryTable, found: list[Finding]) -> Check:
    check = Check(table, TableWalk(table), found.append, patience=PATIENCE)
    while not check.walk.done:
        check.step()
    return check


def test_issues_that_wait_for_the_fold_are_no_suspects(table: MemoryTable, time: Time) -> None:
    metered = table.metered()
    check = looked(metered, [])
    assert check.tally.suspects == {}
    read = [call for call in metered.meter.calls if call.operation == "get_item"]
    assert len(read) <= len(EDITED) + 3, "each change once, and the head with the definitions"
    run(check, time)
    assert check.tally.wrong == 0
    assert time.seconds == 0, "there was nothing to wait for"


def test_an_issue_without_a_committed_change_is_a_suspect(table: MemoryTable, time: Time) -> None:
    journal = derived_keys.journal(TENANT, PROJECT)
    table.delete(journal, derived_keys.journal_item(3))
    table.delete(journal, derived_keys.journal_item(5))
    Log(table, TENANT, PROJECT).close(5)
    assert set(looked(table, []).tally.suspects) == {key_of(3), key_of(5)}


def test_a_suspect_with_a_fault_of_its_own_remains_one(table: MemoryTable, time: Time) -> None:
    table.delete(key_of(4), derived_keys.order(TENANT, PROJECT, "a1.1"))
    assert set(looked(table, []).tally.suspects) == {key_of(4)}
