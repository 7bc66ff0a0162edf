"""A restore's changes to a whole table: killed at any write and repeated, they give the same result."""

import pytest

from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from devtools.restore.raising import Raise
from devtools.restore.table_pass import begun, raise_all
from gridview.encoding import derived_keys, keys, live_keys
from gridview.journal.history import record as remember
from gridview.live.feed import end_of, read_changes
from gridview.maintenance.stream_consumer import consume
from gridview.schema.catalog import HISTORY
from gridview.schema.store import Catalogs
from gridview.support import clock
from tests.support.derived_project import PROJECT, TENANT, Derived, catalog_of, log_of, new_table
from tests.support.folds import no_poison
from tests.support.killed import Killed, killing

VERSION = 1_796_000_000_000


@pytest.fixture
def table() -> MemoryTable:
    """Three issues, as their consumer has derived them, and an item that had expired."""
    made = new_table()
    derived = Derived(made)
    for num in (1, 2, 3):
        derived.consume(num)
    derived.consume(2, "2023-06-01")
    derived.fold()
    made.put({keys.PK: live_keys.tickets(TENANT), keys.SK: "spent", keys.TTL_ATTRIBUTE: 1})
    return made


def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run one thread at a time: otherwise the order of writes would be random."""
    monkeypatch.setattr(
        "devtools.restore.table_pass.in_threads", lambda work, things, _: [work(one) for one in things]
    )


def restore_of(lost_writes: int | None = None) -> Raise:
    return Raise(VERSION, clock.seconds(), lost_writes)


def test_every_issue_goes_on_at_one_version_and_nothing_else_is_wrong(table: MemoryTable) -> None:
    lost = table.copy()
    lost.put({**lost.items[keys.project(TENANT, PROJECT), keys.COUNTER], "last": 9})
    assert raise_all(table, lost, restore_of(), "one") > 0
    place = keys.project(TENANT, PROJECT)
    documents = [item for key, item in table.items.items() if key[1] == place]
    assert {item["num"]: item["version"] for item in documents} == dict.fromkeys((1, 2, 3), VERSION)
    ledgers = [item for key, item in table.items.items() if key[1] == derived_keys.LEDGER]
    assert [item["version"] for item in ledgers] == [VERSION] * 3
    assert table.items[place, keys.COUNTER]["last"] == 9
    assert table.items[place, keys.CATALOG]["epoch"] == VERSION
    assert (live_keys.tickets(TENANT), "spent") not in table.items
    assert table.items[keys.RESTORE, keys.RESTORE]["done"]
    derived = Derived(table)
    derived.assert_chains()


def test_followers_get_the_next_version_of_an_issue_once(table: MemoryTable) -> None:
    raise_all(table, table.copy(), restore_of(), "one")
    before = end_of(log_of(table))
    document = table.items[keys.issue(TENANT, PROJECT, 2), keys.project(TENANT, PROJECT)]
    after = {**document, "version": VERSION + 1, "name": "m", "updated": clock.now()}
    table.put(after)
    records = [record(VERSION + 1, document, after)]
    remember(table, records, lambda _: HISTORY)
    assert consume(table, Catalogs(), records, no_poison) is None
    page = read_changes(table, Catalogs(), catalog_of(table), before, 10)
    assert [(one.num, one.version) for one in page.events] == [(2, VERSION + 1)]
    assert not page.reset


def test_a_pass_that_is_killed_at_any_write_and_made_again_comes_to_the_same(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_at_a_time(monkeypatch)
    restore = restore_of(lost_writes=100)
    writes = 0

    def counted(attempted: Attempted, perform: object) -> object:
        nonlocal writes
        writes += attempted.writes
        return perform()  # type: ignore[operator]

    whole = table.copy()
    raise_all(whole.seen_through(counted), None, restore, "one")
    assert writes > 10
    for at in range(1, writes + 1):
        for after in (False, True):
            killed = table.copy()
            dies = killing(at, after=after)

            def around(attempted: Attempted, perform: object, dies: object = dies) -> object:
                return dies(attempted, perform) if attempted.writes else perform()  # type: ignore[operator]

            with pytest.raises(Killed):
                raise_all(killed.seen_through(around), None, restore, "one")
            raise_all(killed, None, restore, "one")
            assert killed.items == whole.items


def test_a_restore_goes_on_at_the_version_with_which_it_began_and_is_made_once(table: MemoryTable) -> None:
    first = begun(table, "one", None)
    assert first is not None
    assert abs(first.version - clock.seconds() * 1_000) < 60_000
    again = begun(table, "one", None)
    assert again is not None
    assert again.version == first.version
    raise_all(table, None, again, "one")
    assert begun(table, "one", None) is None
    # The table of a later restore brings the note back.
    assert begun(table, "two", None) is not None
