"""A batch of the consumer: the order of its writes, and the issues left out of its journal item."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from devtools.local.derived_items import derived_items
from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.chains.fence_cache import Fences
from gridview.commands import attributes
from gridview.derive.images import Poison
from gridview.derive.ledger import Ledger, Report
from gridview.derive.sort_entries import sort_entry
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.fsck.issue_diff import differences
from gridview.fsck.repair import repair_issue
from gridview.journal import items as journal
from gridview.journal.committer import complete, make_whole, put_entry, settled
from gridview.journal.items import JournalItem
from gridview.maintenance.rebuild_pass import pass_over
from gridview.maintenance.stream_consumer import consume
from gridview.schema import documents
from gridview.schema.documents import Changes
from gridview.schema.store import Catalogs
from gridview.support.errors import Overloaded
from tests.support.derived_project import (
    ADMIN,
    PROJECT,
    TENANT,
    before,
    catalog_of,
    fold,
    log_of,
    new_table,
    puts,
    puts_journal_item,
)

pytestmark = pytest.mark.usefixtures("no_pauses")


@pytest.fixture
def table() -> MemoryTable:
    return new_table()


def issue(num: int) -> str:
    return keys.issue(TENANT, PROJECT, num)


def document(table: Table, num: int, version: int = 1, start: str = "2023-05-01", **more: Any) -> Item:
    catalog = catalog_of(table)
    (key,) = (field.key for field in catalog.attributes if field.id == "start")
    made = documents.new_document(
        catalog, num, Changes({"name": "n"}, {key: start}), user="ann", now="2024-01-01T00:00:00.000000Z"
    )
    return made | {"version": version, "updated": f"2024-01-01T00:00:00.{version:06d}Z"} | more


def given(table: Table, *made: Item) -> str | None:
    """The consumer's answer to these images, none of which is poison."""
    poison: list[Poison] = []
    records = [record(at, None if one["version"] == 1 else one, one) for at, one in enumerate(made, 1)]
    answer = consume(table, Catalogs(), records, poison.append)
    assert poison == []
    return answer


def ledger(table: MemoryTable, num: int) -> Ledger:
    return Ledger.from_item(table.get(issue(num), derived_keys.LEDGER))


def record_of(table: MemoryTable, number: int) -> JournalItem | None:
    return log_of(table).item(number)


def numbers_in(found: JournalItem | None) -> list[int]:
    assert found is not None
    return sorted(change.num for change in found.changes)


def lost() -> Exception:
    return Overloaded("The table is busy; try again.")


def test_a_batch_is_one_item_that_names_what_its_issues_leave_and_take(table: MemoryTable) -> None:
    one, two = document(table, 1), document(table, 2)
    assert given(table, one, two) is None
    found = record_of(table, 1)
    assert numbers_in(found) == [1, 2]
    assert found is not None
    first = found.changes[0]
    assert (first.version, first.revision) == (1, 1)
    assert all(move.left == () and not move.thorough for move in first.moves.values())
    assert first.moves["num"].to == "\x0100000001"
    assert given(table, document(table, 1, version=2, start="2023-05-02")) is None
    second = record_of(table, 2)
    assert second is not None
    moved = {family: (move.left, move.to) for family, move in second.changes[0].moves.items()}
    assert moved["a1.1"] == (("2023-05-01\x0100000001",), "2023-05-02\x0100000001")
    assert set(moved) == {"a1.1", "updated.1"}  # and no other family


@pytest.mark.parametrize("few", [0, journal.FEW_ENTRIES])
def test_the_writes_come_in_the_order_that_makes_them_right(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(journal, "FEW_ENTRIES", few)
    written: list[str] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes:
            partition, sort_key = attempted.key
            written.append(partition.partition("-")[0] + " " + sort_key.partition("-")[0])
        return perform()

    assert given(table.seen_through(around), document(table, 1)) is None
    mark = [] if few else ["journal 000000000001+"]
    lists, begun, entries = written[0], written[1:5], written[5 : len(written) - len(mark)]
    assert lists.startswith(("activity ", "change "))
    assert begun == ["history 0000000000001", "journal fold", "issue xindex", "journal 000000000001"]
    assert set(entries) == {"issue xvalue"}
    assert written[5 + len(entries) :] == mark
    assert not any(sort_key.startswith("block") for sort_key in written)


def test_an_edit_that_changes_nothing_indexed_is_named_all_the_same(table: MemoryTable) -> None:
    first = document(table, 1)
    assert given(table, first) is None
    assert given(table, {**first, "version": 2}) is None
    found = record_of(table, 2)
    assert found is not None
    assert [(change.num, change.version, change.moves) for change in found.changes] == [(1, 2, {})]
    assert given(table, first) is None  # repeated, and it is nothing new
    assert given(table, {**first, "version": 2}) is None
    assert log_of(table).head().last == 2


def a_newer_epoch(table: MemoryTable) -> int:
    """Change definitions without an effect on an issue. Returns the new epoch."""
    body = {"name": "End", "id": "end", "type": "date"}
    attributes.create_attribute(table, Catalogs(), ADMIN, PROJECT, body)
    return catalog_of(table).epoch


def test_a_ledger_that_only_comes_to_a_newer_epoch_is_finished_at_once(table: MemoryTable) -> None:
    """An invocation that seems dead may write it and die before a journal item, and no other follows."""
    one = document(table, 1)
    table.put(one)
    assert given(table, one) is None
    was, epoch = ledger(table, 1), a_newer_epoch(table)
    assert given(table.seen_through(fails_at(puts_journal_item)), one) is None
    found = ledger(table, 1)
    assert (found.epoch, found.revision, found.applied) == (epoch, 2, was.committed().applied)
    assert (found.number, found.report, found.intent) == (1, was.report, {})
    assert log_of(table).head().last == 1
    fold(table)
    items = table.query_all(issue(1), consistent=True)
    assert differences(issue(1), items, catalog_of(table), head=log_of(table).head()) == []
    assert given(table, {**one, "version": 2}) is None
    assert journaled(table) == [(1, 0, 1), (1, 1, 2)]


def bulk_load(table: MemoryTable, *made: Item) -> None:
    """Put issues with their derived data, as a bulk load does."""
    for one in made:
        for item in (one, *derived_items(catalog_of(table), one)):
            table.put(item)


def test_a_ledger_of_a_bulk_load_comes_to_a_newer_epoch_without_a_number(table: MemoryTable) -> None:
    one = document(table, 1)
    bulk_load(table, one)
    epoch = a_newer_epoch(table)
    assert given(table, one) is None
    found = ledger(table, 1)
    assert (found.epoch, found.number, found.intent) == (epoch, 0, None)
    assert log_of(table).head().last == 0


def test_an_unfinished_ledger_that_intends_nothing_is_finished_by_an_item(table: MemoryTable) -> None:
    """Its own number is empty, and the number before it is not known any more."""
    one = document(table, 1)
    assert given(table, one) is None
    log, was = log_of(table), ledger(table, 1).committed()
    number = log.reserve(1)
    log.close(number)
    unfinished = replace(was, revision=2, intent={}, number=number, report=Report(1, 1))
    table.put(unfinished.to_item(issue(1)))
    a_newer_epoch(table)
    assert given(table, one) is None
    assert ledger(table, 1).number == 3
    assert numbers_in(record_of(table, 3)) == [1]
    assert journaled(table) == [(1, 0, 1)]


# The items for the feed


def journaled(table: MemoryTable) -> list[tuple[int, int | None, int]]:
    """Number, and the versions after which and up to which it delivers changes, for each change in order that delivers
    any.
    """
    return [
        (change.num, change.before, change.version)
        for item in log_of(table).all_after(0)
        for change in item.changes
        if change.before != change.version
    ]


def test_each_version_is_journaled_once(table: MemoryTable) -> None:
    versions = [document(table, 1, version=version) for version in range(1, 8)]
    assert given(table, versions[0], versions[1]) is None
    assert given(table, versions[1], versions[2]) is None
    assert given(table, versions[0]) is None
    assert given(table, *versions[3:6]) is None
    assert given(table, *versions) is None
    assert journaled(table) == [(1, 0, 2), (1, 2, 3), (1, 3, 6), (1, 6, 7)]


def test_a_version_that_a_pass_derives_is_journaled_when_the_stream_brings_it(table: MemoryTable) -> None:
    first, second = document(table, 1), document(table, 1, version=2, start="2023-05-02")
    assert given(table, first) is None
    pass_over_with(table, second)
    assert ledger(table, 1).version == 2
    assert journaled(table) == [(1, 0, 1)]
    pass_over_with(table, second)
    assert given(table, second) is None
    assert given(table, second) is None
    assert journaled(table) == [(1, 0, 1), (1, 1, 2)]


def test_a_version_that_a_pass_has_gone_past_is_journaled_with_the_next(table: MemoryTable) -> None:
    one, two, three = (document(table, 1, version, f"2023-05-0{version}") for version in (1, 2, 3))
    assert given(table, one) is None
    pass_over_with(table, three)
    assert given(table, two) is None  # the stream has three too
    assert journaled(table) == [(1, 0, 1)]
    assert given(table, three) is None
    assert journaled(table) == [(1, 0, 1), (1, 1, 3)]


def test_completing_the_intent_of_a_dead_pass_does_not_journal_it(table: MemoryTable) -> None:
    one, two, three = (document(table, 1, version, f"2023-05-0{version}") for version in (1, 2, 3))
    assert given(table, one) is None
    with pytest.raises(Overloaded):
        pass_over_with(table, three, seen=table.seen_through(fails_at(puts_journal_item)))
    assert given(table, two) is None  # completes what the ledger intends, which is three
    assert journaled(table) == [(1, 0, 1)]
    assert given(table, three) is None
    assert journaled(table) == [(1, 0, 1), (1, 1, 3)]


def pass_over_with(table: MemoryTable, document: Item, seen: Table | None = None) -> None:
    """Derive an issue from its present document in a pass, before the consumer does."""
    table.put(document)
    pass_over(seen or table, Catalogs(), Fences(), TENANT, PROJECT, [document["num"]], _unexpected)


def _unexpected(poison: Poison) -> None:
    raise AssertionError(poison)


@pytest.mark.parametrize("finished_by", ["the consumer", "a pass", "a later version", "an older version"])
def test_the_versions_of_an_emptied_item_are_journaled_by_the_next(
    table: MemoryTable, finished_by: str
) -> None:
    versions = [document(table, 1, version, f"2023-05-0{version}") for version in range(1, 5)]
    assert given(table, versions[0]) is None
    watched = table.seen_through(fails_at(puts_journal_item))
    assert given(watched, *versions[1:3]) is not None
    if finished_by == "a pass":
        pass_over_with(table, versions[2])
        assert journaled(table) == [(1, 0, 1), (1, 1, 3)]
    later = {"a later version": versions[3:], "an older version": versions[1:2]}.get(finished_by, [])
    assert given(table, *(later or versions[1:3])) is None
    last = 4 if finished_by == "a later version" else 3
    assert journaled(table) == [(1, 0, 1), (1, 1, last)]


def fails_at(meant: Callable[[Attempted], bool]) -> Callable[..., Any]:
    """A table that refuses these calls."""

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if meant(attempted):
            raise lost()
        return perform()

    return around


def test_the_versions_of_a_bulk_load_are_not_journaled(table: MemoryTable) -> None:
    bulk_load(table, document(table, 1))
    assert given(table, document(table, 1)) is None
    assert given(table, document(table, 1, version=2)) is None
    assert journaled(table) == [(1, 1, 2)]


def test_after_a_lost_ledger_the_version_before_is_unknown(table: MemoryTable) -> None:
    first = document(table, 1)
    assert given(table, first) is None
    table.put(first)
    table.delete(issue(1), derived_keys.LEDGER)
    assert repair_issue(table, Catalogs(), issue(1))
    assert journaled(table) == [(1, 0, 1)]
    assert given(table, document(table, 1, version=2)) is None
    assert journaled(table) == [(1, 0, 1), (1, None, 2)]
    assert given(table, document(table, 1, version=3)) is None
    assert journaled(table)[-1] == (1, 2, 3)


def test_a_number_is_emptied_at_once_when_the_table_refuses_its_item(table: MemoryTable) -> None:
    one = document(table, 1)
    watched = table.seen_through(
        fails_at(lambda attempted: puts_journal_item(attempted) and "changes" in (attempted.item or {}))
    )
    assert given(watched, one) is not None
    assert numbers_in(record_of(table, 1)) == []
    assert given(table, one) is None
    assert journaled(table) == [(1, 0, 1)]


def test_an_item_that_arrived_after_all_is_left(table: MemoryTable) -> None:
    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if puts_journal_item(attempted) and "changes" in (attempted.item or {}):
            perform()
            raise lost()
        return perform()

    assert given(table.seen_through(around), document(table, 1)) is None
    assert journaled(table) == [(1, 0, 1)]
    assert log_of(table).head().last == 1


def test_an_issue_that_lost_its_ledger_is_in_the_item_of_a_later_number(table: MemoryTable) -> None:
    """Another invocation overtakes issue 1 before its ledger is written."""
    one, two = document(table, 1), document(table, 2)

    def rival() -> None:
        assert given(table, one) is None

    watched = table.seen_through(before(puts(derived_keys.LEDGER), rival))
    assert given(watched, one, two) is None
    first, second = (numbers_in(record_of(table, number)) for number in (1, 2))
    assert (first, second) == ([2], [1])  # the number was taken first, and its item came last
    assert ledger(table, 1).number == 2
    assert ledger(table, 2).number == 1


def test_if_the_fate_of_a_ledger_is_unknown_the_number_is_given_up(table: MemoryTable) -> None:
    """The put arrives, but its answer is lost: the item would leave out an issue whose ledger names it."""

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if puts(derived_keys.LEDGER)(attempted) and attempted.key[0] == issue(1):
            perform()
            raise lost()
        return perform()

    one, two = document(table, 1), document(table, 2)
    assert given(table.seen_through(around), one, two) is not None
    assert numbers_in(record_of(table, 1)) == []
    assert given(table, one, two) is None
    assert numbers_in(record_of(table, log_of(table).head().last)) == [1, 2]


def test_an_answer_that_the_sdk_missed_is_not_taken_for_a_lost_race(table: MemoryTable) -> None:
    def twice(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if puts(derived_keys.LEDGER)(attempted) or puts_journal_item(attempted):
            perform()
        return perform()

    assert given(table.seen_through(twice), document(table, 1)) is None
    assert log_of(table).head().last == 1
    assert numbers_in(record_of(table, 1)) == [1]


def test_an_item_that_comes_too_late_fails_and_the_batch_is_planned_again(table: MemoryTable) -> None:
    watched = table.seen_through(before(puts_journal_item, lambda: log_of(table).close(1)))
    assert given(watched, document(table, 1)) is None
    assert numbers_in(record_of(table, 1)) == []
    assert numbers_in(record_of(table, 2)) == [1]
    found = record_of(table, 2)
    assert found is not None
    assert all(move.thorough for move in found.changes[0].moves.values())


def test_a_ledger_without_its_journal_item_is_unfinished_and_the_number_is_closed(table: MemoryTable) -> None:
    """Its writer died before the item."""
    one = document(table, 1)

    def dies(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if puts_journal_item(attempted):
            raise lost()
        return perform()

    assert given(table.seen_through(dies), one) is not None
    assert record_of(table, 1) is None
    assert ledger(table, 1).number == 1
    assert given(table, one) is None
    assert numbers_in(record_of(table, 1)) == []
    assert numbers_in(record_of(table, 2)) == [1]


@pytest.mark.parametrize("few", [0, journal.FEW_ENTRIES])
def test_the_next_writer_completes_an_item_without_its_mark(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(journal, "FEW_ENTRIES", few)
    one = document(table, 1)
    assert given(table, one) is None
    lost_entries = [(pk, sk) for pk, sk in table.items if derived_keys.is_order(sk)]
    for key in [*lost_entries, (derived_keys.journal(TENANT, PROJECT), derived_keys.journal_mark(1))]:
        table.delete(*key)
    assert given(table, {**one, "version": 2}) is None
    assert [(pk, sk) for pk, sk in table.items if derived_keys.is_order(sk)] == lost_entries
    assert log_of(table).marked([1]) == (set() if few else {1})


def test_existing_entries_of_an_item_are_not_put_again(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "FEW_ENTRIES", 0)
    assert given(table, document(table, 1)) is None
    assert given(table, document(table, 1, version=2, start="2023-05-02")) is None
    first, second = record_of(table, 1), record_of(table, 2)
    assert first is not None
    assert second is not None
    (gone,) = ((pk, sk) for pk, sk in table.items if derived_keys.is_order(sk) and sk.endswith("updated.1"))
    was = table.items
    stale = table.items[gone[0], derived_keys.order(TENANT, PROJECT, "a1.1")]
    table.put({**stale, "revision": 1, keys.SORT: "2023-05-01"})
    table.delete(*gone)
    written: list[tuple[str, str]] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes:
            written.append(attempted.key)
        return perform()

    make_whole(replace(log_of(table), table=table.seen_through(around)), [first, second])
    entries = [key for key in written if derived_keys.is_order(key[1])]
    assert set(entries) == {gone, (stale[keys.PK], stale[keys.SK])}
    assert {key: item for key, item in table.items.items() if derived_keys.is_order(key[1])} == {
        key: item for key, item in was.items() if derived_keys.is_order(key[1])
    }
    assert log_of(table).marked([1, 2]) == {1, 2}


def test_completing_an_old_item_overtakes_nothing(table: MemoryTable) -> None:
    one, two = document(table, 1), document(table, 1, version=2, start="2023-05-02")
    assert given(table, one) is None
    assert given(table, two) is None
    before_that = table.items
    old = record_of(table, 1)
    assert old is not None
    complete(log_of(table), old)
    changed = {key for key in before_that if table.items[key] != before_that[key]}
    assert {sk for _, sk in changed} <= {derived_keys.journal_mark(1)}


def test_an_entry_of_a_lower_revision_is_not_put(table: MemoryTable) -> None:
    new, old = (
        sort_entry(issue(1), "a1.1", sort, version=revision, revision=revision)
        for sort, revision in (("new", 5), ("old", 4))
    )
    put_entry(table, new)
    put_entry(table, old)
    assert table.get(new[keys.PK], new[keys.SK]) == new


def test_the_head_is_enough_for_numbers_that_it_knows(table: MemoryTable) -> None:
    assert settled(log_of(table), []) == {}
    log = log_of(table)
    numbers = [log.reserve(1) for _ in range(2)]
    head = log.head()
    moved = log.advance(head, [log.close(number) for number in numbers], 0.0)
    assert moved is not None
    assert settled(log, numbers) == {1: False, 2: False}
    assert list(moved.emptied) == [1, 2]
