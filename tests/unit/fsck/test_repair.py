"""Repair of the data derived from one issue, in any state and beside any other worker."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.commands import attributes
from gridview.derive.families import with_entries
from gridview.derive.images import Underivable
from gridview.derive.ledger import EVERY_FAMILY, ImageVersion, Ledger
from gridview.derive.sort_entries import sort_strings_of
from gridview.derive.work import Superseded
from gridview.dynamodb.errors import ItemTooLarge
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.fsck import repair
from gridview.fsck.issue_diff import Collection, DifferenceKind, compared
from gridview.journal import committer
from gridview.journal.log import Log
from gridview.maintenance.stream_consumer import consume
from gridview.schema.store import Catalogs, DefinitionsMissing
from gridview.support import backoff, clock
from gridview.support.errors import Overloaded
from tests.support import damage
from tests.support.block_truth import assert_chains
from tests.support.damage import ADMIN, PLANTED, PROJECT, TENANT, Planted, catalog_of, collection, key_of
from tests.support.depth import one_of
from tests.support.folds import fold_all
from tests.support.removed import remove_project

pytestmark = pytest.mark.usefixtures("no_pauses")

KEY = key_of(1)


class KilledError(BaseException):
    """The process dies."""


@pytest.fixture(scope="module")
def pristine() -> MemoryTable:
    table = MemoryTable()
    damage.make_project(table)
    damage.add_issues(table, 3)
    return table


@pytest.fixture
def table(pristine: MemoryTable) -> MemoryTable:
    return pristine.copy()


def repaired(table: Table, key: str = KEY, hint: int = 0) -> bool:
    return repair.repair_issue(table, Catalogs(), key, hint)


def wrong(table: Table, key: str = KEY) -> list[Any]:
    catalog = None
    try:
        catalog = catalog_of(table)
    except Exception:
        assert table.get(keys.project(TENANT, PROJECT), keys.CATALOG) is None
    found, log = Collection.of(key, collection(table, key)), log_of(table)
    found.look_up(log.known_head())
    found.look_in_journal(log.item)
    return compared(found, catalog)


def log_of(table: Table) -> Log:
    return Log(table, TENANT, PROJECT)


def ledger_of(table: Table, key: str = KEY) -> Ledger:
    """The ledger, which must be committed."""
    ledger = Ledger.from_item(table.get(key, derived_keys.LEDGER, consistent=True))
    if ledger.number:
        record = log_of(table).item(ledger.number)
        assert record is not None
        assert record.changes
        return ledger.committed()
    assert ledger.intent is None
    return ledger


def assert_blocks(table: MemoryTable, wait: Callable[[float], None] | None = None) -> None:
    """Check that all blocks equal the documents after a fold. `wait`: as for `fold_all`."""
    fold_all(table, TENANT, PROJECT, wait)
    partition = keys.project(TENANT, PROJECT)
    documents = [item for (_, sort_key), item in table.items.items() if sort_key == partition]
    assert_chains(table, catalog_of(table), documents)


def live(table: Table, key: str = KEY) -> dict[str, str]:
    prefix = derived_keys.order(TENANT, PROJECT, "")
    return {
        item[keys.SK].removeprefix(prefix): item[keys.SORT]
        for item in collection(table, key)
        if item[keys.SK].startswith(prefix) and keys.SORT in item
    }


def document_in(table: Table, key: str = KEY) -> Item:
    found = table.get(key, keys.project(TENANT, PROJECT), consistent=True)
    assert found is not None
    return found


def all_but_derived(table: MemoryTable) -> dict[tuple[str, str], Item]:
    """All items except the issue's, the journal and the blocks, which it shares with others."""
    return {
        key: item
        for key, item in table.items.items()
        if key[0] != KEY and not derived_keys.is_block(key[0]) and not derived_keys.is_journal(key[0])
    }


def test_a_sound_issue_is_only_read(table: MemoryTable) -> None:
    before = table.items
    assert repaired(table) is False
    assert table.items == before


@pytest.mark.parametrize("planted", [one for one in PLANTED if not one.remains], ids=lambda one: one.name)
def test_any_damage_is_repaired_in_one_go(table: MemoryTable, planted: Planted) -> None:
    others = all_but_derived(table)
    document = table.get(KEY, keys.project(TENANT, PROJECT))
    planted.inflict(table, KEY)
    assert wrong(table)
    assert repaired(table) is True
    assert wrong(table) == []
    assert repaired(table) is False
    left = table.get(KEY, keys.project(TENANT, PROJECT))
    assert live(table) == ({} if left is None else with_entries(sort_strings_of(catalog_of(table), left)))
    assert left in (None, document)
    assert all_but_derived(table) == others
    assert_blocks(table)


def test_a_repaired_ledger_says_where_the_issue_may_still_be_shown(table: MemoryTable) -> None:
    """GSI1 and cached directories show blocks as of before the repair, as they do after a consumer."""
    table.delete(KEY, damage.order_key("a1.1"))
    assert repaired(table)
    ledger = ledger_of(table)
    left = ledger.left_by(int(clock.seconds()))
    assert left.keys() == ledger.applied.keys()
    assert left["a1.1"] == (ledger.applied["a1.1"],)
    table.delete(KEY, derived_keys.LEDGER)
    assert repaired(table)
    left = ledger_of(table).left_by(int(clock.seconds()))
    assert EVERY_FAMILY in left, "the contents of a lost ledger are unknown"


def test_an_unknown_item_stays_as_it_is(table: MemoryTable) -> None:
    before = table.items
    (planted,) = [one for one in PLANTED if one.remains]
    planted.inflict(table, KEY)
    assert repaired(table) is False
    assert {key: item for key, item in table.items.items() if key[1] != "something"} == before
    assert [one.kind for one in wrong(table)] == [DifferenceKind.UNKNOWN]


def test_a_consumer_goes_on_from_a_repair_after_the_ledger_was_lost(table: MemoryTable) -> None:
    damage.change(table, KEY, damage.order_key("a1.1"), {"revision": 40})
    table.delete(KEY, derived_keys.LEDGER)
    before = document_in(table)
    after = {**before, "version": 2, "fields": {**before["fields"], "a1": "2030-01-01"}}
    table.put(after)
    # Without a ledger it begins with revisions that are too low for the entries.
    assert consume(table, Catalogs(), [record(1, before, after)], print) is None
    assert {(one.kind, one.place) for one in wrong(table)} >= {(DifferenceKind.WRONG, "a1.1")}
    assert repaired(table)
    assert wrong(table) == []
    newest = {**after, "version": 3, "fields": {**before["fields"], "a1": "2031-01-01"}}
    table.put(newest)
    assert consume(table, Catalogs(), [record(2, after, newest)], print) is None
    assert wrong(table) == []
    assert live(table)["a1.1"].startswith("2031-01-01")


@pytest.mark.parametrize("lost", ["only ledger", "all"])
def test_writes_in_flight_when_the_ledger_was_lost_come_too_late(table: MemoryTable, lost: str) -> None:
    late: list[Callable[[], Any]] = []

    def keep_entries(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "put" and derived_keys.is_order(attempted.key[1]):
            late.append(perform)
            raise Overloaded("The table is busy; try again.")
        return perform()

    before = document_in(table)
    other = {**before, "version": 2, "fields": {**before["fields"], "a1": "2030-01-01"}}
    consume(table.seen_through(keep_entries), Catalogs(), [record(1, before, other)], print)
    assert late
    for item in collection(table, KEY):
        if item[keys.SK] == derived_keys.LEDGER or (
            lost == "all" and item[keys.SK].startswith(derived_keys.ORDER_PREFIX)
        ):
            table.delete(KEY, item[keys.SK])
    repaired(table)
    for write in late:
        with pytest.raises(Exception, match="condition"):
            write()
    assert wrong(table) == []


def test_a_removed_issue_leaves_tombstones_of_the_newest_version_that_is_known(table: MemoryTable) -> None:
    table.delete(KEY, keys.project(TENANT, PROJECT))
    damage.change(table, KEY, derived_keys.LEDGER, {"version": 4})
    assert repaired(table, hint=3)
    assert live(table) == {}
    ledger = table.get(KEY, derived_keys.LEDGER)
    assert Ledger.from_item(ledger).order == ImageVersion(4, removed=True)
    assert ledger is not None
    assert ledger[keys.TTL_ATTRIBUTE] == pytest.approx(clock.expiry(committer.LEDGER_TOMBSTONE_DAYS), abs=5)
    assert repaired(table, hint=4) is False
    assert repaired(table, hint=7)
    assert Ledger.from_item(table.get(KEY, derived_keys.LEDGER)).order == ImageVersion(7, removed=True)


def test_a_dead_letter_of_an_issue_that_left_nothing_keeps_its_old_versions_out(table: MemoryTable) -> None:
    made = damage.document(table, 9, start="2024-05-05")
    gone = key_of(9)
    assert repaired(table, gone) is False
    assert repaired(table, gone, hint=2)
    assert consume(table, Catalogs(), [record(1, None, made)], print) is None
    assert live(table, gone) == {}


def test_a_document_that_was_put_back_to_an_older_version_holds(table: MemoryTable) -> None:
    damage.change(table, KEY, derived_keys.LEDGER, {"version": 9})
    assert repaired(table)
    assert Ledger.from_item(table.get(KEY, derived_keys.LEDGER)).order == ImageVersion(1, removed=False)
    before = document_in(table)
    after = {**before, "version": 2, "fields": {}}
    table.put(after)
    assert consume(table, Catalogs(), [record(1, before, after)], print) is None
    assert wrong(table) == []


def test_a_ledger_is_never_older_than_an_edit_that_comes_between_the_reads(table: MemoryTable) -> None:
    before = document_in(table)
    after = {**before, "version": 2, "fields": {**before["fields"], "a1": "2030-01-01"}}
    table.delete(KEY, damage.order_key("a3.1"))
    tables = table

    class Torn(MemoryTable):
        """Reads the document, and everything else after a consumer has run."""

        def query_all(self, partition: str, **options: Any) -> Iterator[Item]:
            found = list(super().query_all(partition, **options))
            if document_in(tables)["version"] == 1:
                tables.put(after)
                consume(tables, Catalogs(), [record(1, before, after)], print)
                rest = super().query_all(partition, **options)
                found = [found[0], *(item for item in rest if item[keys.SK] != found[0][keys.SK])]
            yield from found

    torn = Torn(table._store)
    repaired(torn)
    assert Ledger.from_item(table.get(KEY, derived_keys.LEDGER)).version == 2
    assert live(table) == with_entries(sort_strings_of(catalog_of(table), after))


def test_a_deleted_project_keeps_nothing_derived(table: MemoryTable) -> None:
    remove_project(table, ADMIN, PROJECT)
    assert repaired(table)
    assert live(table) == {}
    assert document_in(table)["num"] == 1
    assert repaired(table) is False


def test_without_its_definitions_a_repair_removes_nothing(table: MemoryTable) -> None:
    table.delete(keys.project(TENANT, PROJECT), keys.CATALOG)
    before = table.items
    with pytest.raises(DefinitionsMissing):
        repaired(table)
    assert table.items == before
    table.delete(KEY, keys.project(TENANT, PROJECT))
    assert repaired(table)  # without a document there is nothing to lose
    assert live(table) == {}


def test_an_underivable_document_is_reported_and_left_as_it_was(table: MemoryTable) -> None:
    for spoiled in ({"fields": {"a2": "o99"}}, {"num": 7}, {"version": "x"}):
        damage.change(table, KEY, keys.project(TENANT, PROJECT), spoiled)
        before = table.items
        with pytest.raises(Underivable):
            repaired(table)
        assert table.items == before
    with pytest.raises(Underivable):
        repaired(table, "project-acme.bridge")


def test_a_ledger_that_is_too_large_is_reported(table: MemoryTable) -> None:
    def too_large(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "put" and attempted.key[1] == derived_keys.LEDGER:
            raise ItemTooLarge("The item would be larger than 400 KB.")
        return perform()

    table.delete(KEY, damage.order_key("a3.1"))
    with pytest.raises(ItemTooLarge):
        repaired(table.seen_through(too_large))


def test_a_repair_that_is_always_overtaken_gives_up(table: MemoryTable) -> None:
    table.delete(KEY, damage.order_key("a3.1"))
    seen = 0

    def overtaken(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        nonlocal seen
        if attempted.operation == "put" and attempted.key[1] == derived_keys.LEDGER:
            seen += 1
            ledger = Ledger.from_item(table.get(KEY, derived_keys.LEDGER))
            damage.change(table, KEY, derived_keys.LEDGER, {"revision": ledger.revision + 1})
        return perform()

    with pytest.raises(Superseded):
        repaired(table.seen_through(overtaken))
    assert seen == backoff.ATTEMPTS


def test_definitions_that_it_has_held_for_long_are_not_acted_on(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.delete(KEY, damage.order_key("a3.1"))
    before = table.items
    now = iter([True] * backoff.ATTEMPTS)
    monkeypatch.setattr(clock, "now", lambda: "9999" if next(now) else "")
    with pytest.raises(Superseded):
        repaired(table)
    assert table.items == before


def test_an_index_that_is_being_built_is_written_too(table: MemoryTable) -> None:
    attributes.update_attribute(
        table, Catalogs(), ADMIN, PROJECT, "note", {"indexed": True}, None, settling=60
    )
    assert wrong(table) == []
    assert repaired(table)
    assert "a4.1" in live(table)
    assert wrong(table) == []


def test_killed_at_any_call_it_leaves_what_the_next_one_repairs(
    pristine: MemoryTable, later: Callable[[float], None]
) -> None:
    step = one_of(8)
    for place, planted in enumerate(one for one in PLANTED if not one.remains):
        calls = place % step
        while True:
            table, made = pristine.copy(), 0
            planted.inflict(table, KEY)

            def around(attempted: Attempted, perform: Callable[[], Any], last: int = calls) -> Any:
                nonlocal made
                if made == last:
                    raise KilledError
                made += 1
                return perform()

            try:
                repaired(table.seen_through(around))
            except KilledError:
                repaired(table)
                assert wrong(table) == [], (planted.name, calls)
                assert_blocks(table, later)
                calls += step
            else:
                break
        assert calls > 4


def test_killed_at_any_write_it_leaves_what_a_consumer_finishes(
    pristine: MemoryTable, later: Callable[[float], None]
) -> None:
    for planted in (one for one in PLANTED if one.name in {"entry gone", "entry under another sort string"}):
        writes, complete = 2, False  # the number, and then the ledger: before that there is nothing to finish
        while not complete:
            table, made = pristine.copy(), 0
            planted.inflict(table, KEY)
            extra = {keys.SORT: "x", "version": 1, "revision": 1}
            damage.change(table, KEY, damage.order_key("a77.3"), extra)

            def around(attempted: Attempted, perform: Callable[[], Any], last: int = writes) -> Any:
                nonlocal made
                made += attempted.writes
                if made > last:
                    raise KilledError
                return perform()

            try:
                repaired(table.seen_through(around))
                complete = True
            except KilledError:
                before = document_in(table)
                after = {**before, "version": 2, "fields": {**before["fields"], "a3": 99}}
                table.put(after)
                assert consume(table, Catalogs(), [record(1, before, after)], print) is None
            assert wrong(table) == [], (planted.name, writes)
            assert_blocks(table, later)
            writes += 1
        assert writes > 8


@settings(
    max_examples=one_of(100, thorough=300),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seed=st.integers(0, 2**32))
def test_a_repair_fixes_any_damage_of_an_issue(pristine: MemoryTable, seed: int) -> None:
    random, table = Random(seed), pristine.copy()  # noqa: S311
    for _ in range(random.randint(1, 3)):
        damage.inflict_at_random(random, table, KEY)
        for item in collection(table, KEY):
            if item[keys.SK] != keys.project(TENANT, PROJECT) and random.random() < 0.1:
                table.delete(KEY, item[keys.SK])
    kills = random.randint(0, 3)
    for _ in range(kills):
        after = random.randint(0, 12)

        def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
            nonlocal after
            after -= 1
            if after < 0:
                raise KilledError
            return perform()

        try:
            repaired(table.seen_through(around))
        except KilledError:
            continue
    repaired(table)
    assert wrong(table) == []
    document = table.get(KEY, keys.project(TENANT, PROJECT))
    assert live(table) == (
        {} if document is None else with_entries(sort_strings_of(catalog_of(table), document))
    )


def test_many_at_once_meet_at_an_issue_and_agree(table: MemoryTable, monkeypatch: pytest.MonkeyPatch) -> None:
    for planted in PLANTED[:3]:
        planted.inflict(table, KEY)

    def attempt(_: int) -> None:
        try:
            repaired(table)
        except Superseded:
            return

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(attempt, range(16)))
    assert wrong(table) == []
