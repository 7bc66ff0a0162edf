"""The feed: the changes after a position, the place where a reader stops, and the cost."""

from collections.abc import Callable
from typing import Any

import pytest
from typing_extensions import override

from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted, Watched
from gridview.commands import attributes, issues
from gridview.commands.context import WriteContext
from gridview.derive.images import Poison
from gridview.derive.issue_changes import IssueChange
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Page, Table
from gridview.encoding import derived_keys, keys
from gridview.fsck.repair import repair_issue
from gridview.journal.feed_positions import FeedPosition
from gridview.journal.gaps import MISSING_SECONDS
from gridview.live.feed import FeedPage, end_of, read_changes
from gridview.maintenance.stream_consumer import consume
from gridview.schema import documents
from gridview.schema.documents import Changes
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.errors import CursorExpired, NotFound, Overloaded
from tests.support.derived_project import (
    ADMIN,
    PROJECT,
    TENANT,
    catalog_of,
    log_of,
    new_table,
    puts,
    puts_journal_item,
)

pytestmark = pytest.mark.usefixtures("no_pauses")

NOW = 1_780_000_000.0
DAY = 86_400.0


class Time:
    """The clock of a test."""

    def __init__(self) -> None:
        self.now = NOW

    def seconds(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr(clock, "seconds", time.seconds)
    return time


@pytest.fixture
def table(time: Time) -> MemoryTable:
    return new_table()


class Writer:
    """Writes issues, and delivers its writes to the consumer."""

    def __init__(self, table: MemoryTable) -> None:
        self.table = table
        self._documents: dict[int, Item] = {}
        self._waiting: list[dict[str, Any]] = []
        self._sequence = 0

    def edit(self, num: int, **fields: str) -> None:
        """Create an issue, or change it."""
        catalog = catalog_of(self.table)
        values = {field.key: fields[field.id] for field in catalog.attributes if field.id in fields}
        before = self._documents.get(num)
        now = clock.now()
        after = (
            documents.new_document(catalog, num, Changes({"name": "n"}, values), user="ann", now=now)
            if before is None
            else documents.merged(catalog, before, Changes({}, values), user="bob", now=now)
        )
        assert after is not before
        self._documents[num] = after
        self.table.put(after)
        self._sequence += 1
        self._waiting.append(record(self._sequence, before, after))

    def delete(self, num: int) -> None:
        """Move an issue to the trash."""
        before = self._documents[num]
        issues.delete_issue(WriteContext(self.table, catalog_of(self.table), ADMIN), num, None)
        after = self.table.get(before[keys.PK], before[keys.SK])
        assert after is not None
        self._documents[num] = after
        self._sequence += 1
        self._waiting.append(record(self._sequence, before, after))

    def forget(self, *numbers: int) -> None:
        """Remove these issues without a change in the history."""
        for num in numbers:
            self._documents.pop(num)

    def vanish(self, document: Item) -> None:
        """Take an issue out of the table by hand."""
        self._sequence += 1
        self._waiting.append(record(self._sequence, document, None))

    @property
    def waiting(self) -> list[dict[str, Any]]:
        """The records that the consumer has not processed yet."""
        return [*self._waiting]

    def put_back(self, document: Item) -> None:
        """Put back an issue that was taken out of the table, as its next version."""
        back = {**document, "version": document["version"] + 1}
        self._sequence += 1
        self._waiting.append(record(self._sequence, None, back))

    def consume(self, through: Table | None = None) -> str | None:
        """Process all waiting records in one batch; they stay if it fails."""
        failed = consume(through or self.table, Catalogs(), self._waiting, _unexpected)
        if failed is None:
            self._waiting.clear()
        return failed


def _unexpected(poison: Poison) -> None:
    raise AssertionError(poison)


@pytest.fixture
def writer(table: MemoryTable) -> Writer:
    return Writer(table)


def beginning() -> FeedPosition:
    return FeedPosition(1, 0, NOW)


def page(table: Table, position: FeedPosition | None = None, limit: int = 100) -> FeedPage:
    catalog = catalog_of(table)
    return read_changes(table, Catalogs(), catalog, position or beginning(), limit)


def ids(page: FeedPage) -> list[str]:
    return [f"{event.num}.{event.version}" for event in page.events]


def walk(table: Table, limit: int) -> list[str]:
    """The whole feed, in pages of this size."""
    found: list[str] = []
    position = beginning()
    while True:
        one = page(table, position, limit)
        assert len(one.events) <= limit
        found += ids(one)
        if one.ended:
            return found
        assert one.position[:2] > position[:2]
        position = one.position


def test_each_version_is_delivered_once_in_order(writer: Writer) -> None:
    writer.edit(1, start="2023-05-01")
    writer.edit(2)
    writer.edit(1, start="2023-05-02")
    writer.edit(1, start="2023-05-03", kind="o1")
    assert writer.consume() is None
    writer.edit(2, kind="o2")
    assert writer.consume() is None
    found = page(writer.table)
    assert ids(found) == ["1.1", "1.2", "1.3", "2.1", "2.2"]
    assert [event.kind for event in found.events] == ["create", "update", "update", "create", "update"]
    assert found.position[:2] == (3, 0)
    assert not found.reset
    third = found.events[2]
    catalog = catalog_of(writer.table)
    assert {catalog.field_of(key).id: tuple(values) for key, values in third.fields.items()} == {
        "start": ("2023-05-02", "2023-05-03"),
        "kind": (None, "o1"),
    }


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 7, 100])
def test_pages_of_any_size_deliver_the_same(writer: Writer, limit: int) -> None:
    expected = []
    for place in range(12):
        for num in range(1, 2 + place % 4):
            writer.edit(num, start=f"2023-05-{place + 1:02}")
        assert writer.consume() is None
        if place % 5 == 0:
            log_of(writer.table).close(log_of(writer.table).reserve(1))
    expected = ids(page(writer.table))
    assert len(expected) == len(set(expected)) == sum(1 + place % 4 for place in range(12))
    assert walk(writer.table, limit) == expected


def test_nothing_new_is_an_empty_page_at_the_same_place(writer: Writer, time: Time) -> None:
    writer.edit(1)
    assert writer.consume() is None
    end = page(writer.table).position
    time.now += 5
    again = page(writer.table, end)
    assert (again.events, again.reset, again.overdue) == ((), False, ())
    assert again.position == end._replace(since=time.now)


def test_a_reader_stops_at_the_first_number_without_an_item(writer: Writer, time: Time) -> None:
    log = log_of(writer.table)
    writer.edit(1)
    assert writer.consume() is None
    taken = log.reserve(1)
    writer.edit(2)
    assert writer.consume() is None
    found = page(writer.table)
    assert ids(found) == ["1.1"]
    assert found.position[:2] == (taken, 0)
    assert found.overdue == ()
    time.now += MISSING_SECONDS
    late = page(writer.table, found.position)
    assert (late.events, late.overdue) == ((), (taken,))
    for number in late.overdue:
        log.close(number)
    assert ids(page(writer.table, late.position)) == ["2.1"]


def test_a_gap_after_a_full_page_is_not_waited_for(writer: Writer, time: Time) -> None:
    writer.edit(1)
    writer.edit(2)
    assert writer.consume() is None
    log_of(writer.table).reserve(1)
    writer.edit(3)
    assert writer.consume() is None
    time.now += MISSING_SECONDS
    assert page(writer.table, limit=1).overdue == ()
    assert page(writer.table, limit=2).overdue == ()
    assert page(writer.table, limit=3).overdue == (2,)


def test_a_new_follower_gets_everything_committed_from_now_on(writer: Writer) -> None:
    log = log_of(writer.table)
    writer.edit(1)
    assert writer.consume() is None
    taken = log.reserve(1)
    writer.edit(2)
    assert writer.consume() is None
    end = end_of(log)
    assert end[:3] == (taken, 0, NOW)  # the writer that has taken that number may be about to commit
    log.close(taken)
    assert end_of(log)[:3] == (4, 0, NOW)
    writer.edit(2, kind="o1")
    assert writer.consume() is None
    assert ids(page(writer.table, FeedPosition(4, 0, NOW))) == ["2.2"]


def test_a_change_without_its_history_is_a_reset_before_later_events(writer: Writer) -> None:
    for num in (1, 2, 3):
        writer.edit(num)
    assert writer.consume() is None
    writer.table.delete(derived_keys.history(TENANT, PROJECT, 2), derived_keys.history_item(1))
    first = page(writer.table)
    assert (ids(first), first.reset) == (["1.1"], False)
    second = page(writer.table, first.position)
    assert (ids(second), second.reset) == (["3.1"], True)
    assert page(writer.table, second.position).events == ()


def test_a_journal_item_of_older_code_is_a_reset(writer: Writer) -> None:
    log = log_of(writer.table)
    log.put(log.reserve(1), [IssueChange(num, 4, removed=False, revision=1, moves={}) for num in (7, 8)])
    writer.edit(1)
    assert writer.consume() is None
    found = page(writer.table, limit=1)
    assert (ids(found), found.reset) == ([], True)  # the second of them comes with the next page
    found = page(writer.table, found.position, limit=1)
    assert (ids(found), found.reset) == ([], True)
    assert ids(page(writer.table, found.position, limit=1)) == ["1.1"]
    assert (ids(page(writer.table)), page(writer.table).reset) == (["1.1"], True)


def test_a_lost_past_of_a_million_versions_is_not_read(writer: Writer) -> None:
    log = log_of(writer.table)
    log.put(log.reserve(1), [IssueChange(7, 10**6, removed=False, revision=1, moves={}, before=0)])
    read = Reads(writer.table)
    found = page(read.table)
    assert (found.events, found.reset) == ((), True)
    assert found.position[:2] == (2, 0)
    assert [one for one in read.calls if one.operation == "batch_get"] == []


class Reads:
    """A table that records its calls."""

    def __init__(self, table: MemoryTable) -> None:
        self.calls: list[Attempted] = []
        self.table = table.seen_through(self._around)

    def _around(self, attempted: Attempted, perform: Callable[[], Any]) -> Any:
        self.calls.append(attempted)
        return perform()


def test_the_history_comes_late_from_a_copy_and_is_read_again(writer: Writer) -> None:
    writer.edit(1)
    assert writer.consume() is None

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        found = perform()
        if attempted.operation == "batch_get" and not attempted.consistent:
            return found._replace(items={})
        return found

    found = page(writer.table.seen_through(around))
    assert (ids(found), found.reset) == (["1.1"], False)


def test_a_position_is_good_for_seven_days(writer: Writer, time: Time) -> None:
    end = end_of(log_of(writer.table))
    time.now += 7 * DAY
    still = page(writer.table, end)
    assert still.events == ()
    time.now += 1
    with pytest.raises(CursorExpired):
        page(writer.table, end)
    time.now += 7 * DAY - 2
    assert page(writer.table, still.position).events == ()  # a reader that asked meanwhile has a newer one


def test_a_position_within_what_was_read_is_as_old_as_that(writer: Writer, time: Time) -> None:
    writer.edit(1)
    writer.edit(2)
    assert writer.consume() is None
    time.now += DAY
    assert page(writer.table, limit=1).position[:3] == (1, 1, NOW)
    assert page(writer.table).position[:3] == (2, 0, NOW + DAY)


def test_changes_are_delivered_with_definitions_that_contain_them(writer: Writer) -> None:
    """An option that is younger than the reader's definitions."""
    from gridview.commands import attributes

    old = catalog_of(writer.table)
    options = [{"id": "o1", "value": "a"}, {"id": "o2", "value": "b"}, {"value": "c"}]
    attributes.update_attribute(
        writer.table, Catalogs(), ADMIN, PROJECT, "kind", {"options": options}, None, settling=0
    )
    writer.edit(1, kind="o3")
    assert writer.consume() is None
    catalogs = Catalogs()
    assert catalogs.get(writer.table, TENANT, PROJECT).epoch > old.epoch
    found = read_changes(writer.table, catalogs, old, beginning(), 10)
    assert found.catalog.epoch > old.epoch
    assert ids(found) == ["1.1"]


def test_a_deleted_project_is_not_found(writer: Writer) -> None:
    catalog = catalog_of(writer.table)
    writer.edit(1)
    assert writer.consume() is None
    own = keys.project(TENANT, PROJECT), keys.tenant(TENANT)
    writer.table.put({**writer.table.items[own], "deleted": True})
    writer.table.delete(keys.project(TENANT, PROJECT), keys.CATALOG)
    with pytest.raises(NotFound):
        read_changes(writer.table, Catalogs(), catalog, beginning(), 10)


def test_the_read_units_of_the_feed(writer: Writer) -> None:
    catalogs = Catalogs()
    catalog = catalogs.get(writer.table, TENANT, PROJECT)

    def units(position: FeedPosition) -> float:
        metered = writer.table.metered()
        metered.meter.calls.clear()
        read_changes(metered, catalogs, catalog, position, 100)
        return metered.meter.capacity

    read = Reads(writer.table)
    assert read_changes(read.table, catalogs, catalog, beginning(), 100).events == ()
    assert [(one.operation, one.consistent) for one in read.calls] == [("query", False)]  # half a unit
    writer.edit(1)
    assert writer.consume() is None
    assert units(beginning()) == 2  # the item, the history, and the epoch
    for num in range(2, 52):
        writer.edit(num)
    assert writer.consume() is None
    assert units(FeedPosition(2, 0, NOW)) <= 0.5 * (2 + 50) + 1


def test_an_issue_that_was_removed_from_the_table_by_hand_is_a_reset(writer: Writer) -> None:
    """No user made a version then, so there is none to deliver."""
    writer.edit(1)
    assert writer.consume() is None
    end = page(writer.table).position
    document = next(
        item for item in writer.table.items.values() if item.get("num") == 1 and "updated_by" in item
    )
    gone = record(99, document, None)
    assert consume(writer.table, Catalogs(), [gone], _unexpected) is None
    found = page(writer.table, end)
    assert (found.events, found.reset) == ((), True)
    assert page(writer.table, found.position).reset is False


def put_back_by_hand(writer: Writer) -> tuple[FeedPosition, Item]:
    """Put issue 1 back by hand as version 2. Returns the position before that, and the history item of the removal."""
    writer.edit(1)
    assert writer.consume() is None
    document = next(
        item for item in writer.table.items.values() if item.get("num") == 1 and "updated_by" in item
    )
    writer.vanish(document)
    assert writer.consume() is None
    removal = writer.table.items[derived_keys.history(TENANT, PROJECT, 1), derived_keys.history_item(2)]
    end = page(writer.table, page(writer.table).position).position
    writer.put_back(document)
    assert writer.consume() is None
    return end, removal


def test_a_late_copy_of_a_removal_by_hand_is_not_the_version_that_was_put_back(writer: Writer) -> None:
    end, removal = put_back_by_hand(writer)

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        found = perform()
        if attempted.operation == "batch_get" and not attempted.consistent:
            return found._replace(items={(removal[keys.PK], removal[keys.SK]): removal})
        return found

    found = page(writer.table.seen_through(around), end)
    assert ([(one.version, one.kind) for one in found.events], found.reset) == ([(2, "restore")], False)


def test_a_late_write_of_a_removal_by_hand_makes_the_version_that_was_put_back_a_reset(
    writer: Writer,
) -> None:
    end, removal = put_back_by_hand(writer)
    writer.table.put(removal)  # of a dead consumer
    found = page(writer.table, end)
    assert (found.events, found.reset) == ((), True)
    assert page(writer.table, found.position).reset is False


@pytest.mark.parametrize("known", [True, False])
def test_a_delete_that_a_repair_commits_before_the_stream_is_delivered_once(
    writer: Writer, known: bool
) -> None:
    """The repair commits the moves and delivers nothing, not even that the issue is gone."""
    writer.edit(1)
    assert writer.consume() is None
    end = page(writer.table).position
    if not known:
        writer.edit(1, start="2026-01-01")
    writer.delete(1)
    repair_issue(writer.table, Catalogs(), keys.issue(TENANT, PROJECT, 1), 0)
    ahead = page(writer.table, end)
    assert (ids(ahead), ahead.reset) == ([], False)
    assert ahead.position.number > end.number, "the repair has committed what has moved"
    assert writer.consume() is None
    found = page(writer.table, ahead.position)
    delivered = ["1.2"] if known else ["1.2", "1.3"]
    assert (ids(found), found.reset) == (delivered, False)
    assert walk(writer.table, 1) == ["1.1", *delivered]


def test_an_issue_that_was_taken_out_before_the_consumer_knew_it_is_a_reset(writer: Writer) -> None:
    """The item has its last version, and that it is gone. No version says so."""
    writer.edit(1)
    writer.edit(2)
    document = next(
        item for item in writer.table.items.values() if item.get("num") == 1 and "created" in item
    )
    writer.vanish(document)
    assert writer.consume() is None
    found = page(writer.table)
    assert (ids(found), found.reset) == (["1.1"], False)
    found = page(writer.table, found.position)
    assert (ids(found), found.reset) == (["2.1"], True)
    assert walk(writer.table, 1) == ["1.1", "2.1"]


def gone(writer: Writer, how: str) -> None:
    """Delete issue 1, or take it out of the table, before the consumer knows of it."""
    if how == "deleted":
        writer.delete(1)
        return
    (document,) = (one for one in writer.table.items.values() if one.get("num") == 1 and "created" in one)
    writer.table.delete(document[keys.PK], document[keys.SK])
    writer.vanish(document)


def interrupted(table: MemoryTable, meant: Callable[[Attempted], bool]) -> Table:
    """The table for an invocation that dies at these calls."""

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if meant(attempted):
            raise Overloaded("The table is busy; try again.")
        return perform()

    return table.seen_through(around)


def repair_first(table: Table) -> None:
    repair_issue(table, Catalogs(), keys.issue(TENANT, PROJECT, 1), 0)


@pytest.mark.parametrize("dies", [False, True])
@pytest.mark.parametrize("how", ["deleted", "taken out"])
def test_the_repair_of_a_removed_issue_is_not_delivered(writer: Writer, how: str, dies: bool) -> None:
    """Its removal was delivered before, also if the repair is repeated because the first one has died."""
    writer.edit(1)
    assert writer.consume() is None
    gone(writer, how)
    writer.consume(interrupted(writer.table, puts("xvalue")))
    removal = page(writer.table, page(writer.table, limit=1).position)
    assert (ids(removal), removal.reset) == ((["1.2"], False) if how == "deleted" else ([], True))
    if dies:
        with pytest.raises(Overloaded):
            repair_first(interrupted(writer.table, puts_journal_item))
    repair_first(writer.table)
    found = page(writer.table, removal.position)
    assert found.position.number > removal.position.number
    assert (ids(found), found.reset) == ([], False)


def test_a_repeated_delete_under_newer_definitions_is_not_delivered(writer: Writer) -> None:
    writer.edit(1)
    writer.delete(1)
    again = writer.waiting
    assert writer.consume() is None
    first = page(writer.table)
    attributes.create_attribute(
        writer.table, Catalogs(), ADMIN, PROJECT, {"name": "Effort", "id": "effort", "type": "text"}
    )
    assert consume(writer.table, Catalogs(), again, _unexpected) is None
    found = page(writer.table, first.position)
    assert (ids(found), found.reset) == ([], False)


def test_a_removal_is_delivered_though_its_journal_item_was_emptied(writer: Writer) -> None:
    writer.edit(1)
    assert writer.consume() is None
    end = page(writer.table).position
    gone(writer, "taken out")
    assert writer.consume(interrupted(writer.table, puts_journal_item)) is not None
    assert writer.consume() is None
    found = page(writer.table, end)
    assert (ids(found), found.reset) == ([], True)


# A table that was restored to an earlier moment


def goes_on_at_the_end(found: FeedPage, writer: Writer) -> None:
    """Check for a single reset, followed by everything new."""
    assert (found.reset, found.events, found.ended) == (True, (), True)
    writer.edit(90)
    assert writer.consume() is None
    further = page(writer.table, found.position)
    assert (ids(further), further.reset) == (["90.1"], False)


def followed(table: Table) -> list[FeedPosition]:
    """All positions of a feed: after each change, after each item, and that of a new reader."""
    log = log_of(table)
    whole = page(table)
    within = [page(table, limit=count).position for count in range(1, len(whole.events))]
    return [
        *whole.ends,
        *within,
        whole.position,
        page(table, whole.position).position,
        end_of(log),
    ]


def rewritten(writer: Writer) -> list[FeedPosition]:
    """Write two items. Returns the positions that a restore to the first of them loses."""
    writer.edit(1)
    assert writer.consume() is None
    copy, known = writer.table.copy(), followed(writer.table)
    writer.edit(2, start="2023-05-01")
    writer.edit(3, start="2023-05-02")
    assert writer.consume() is None
    lost = [one for one in followed(writer.table) if one.reached > 1]
    assert {one[:2] for one in lost} == {(2, 1), (2, 2), (3, 0)}
    assert not any(page(writer.table, one).reset for one in (*known, *lost))
    writer.table.restore(copy)
    writer.forget(2, 3)
    assert not any(page(writer.table, one).reset for one in known), "what is there still is gone on from"
    return lost


def test_a_position_ahead_of_the_journal_is_a_reset(writer: Writer) -> None:
    ahead = [page(writer.table, position) for position in rewritten(writer)]
    assert {one.position for one in ahead} == {end_of(log_of(writer.table))}
    for found in ahead:
        assert (found.reset, found.events, found.ended) == (True, (), True)
    goes_on_at_the_end(ahead[0], writer)


@pytest.mark.parametrize("more", [1, 2, 5])
def test_a_position_of_another_past_is_a_reset_when_its_number_was_given_out_again(
    writer: Writer, more: int
) -> None:
    """Even at the same instant: an item is identified by its content."""
    lost = rewritten(writer)
    for num in range(2, 2 + more):
        writer.edit(num, kind="o1")
        assert writer.consume() is None
    found = [page(writer.table, position) for position in lost]
    # Right after the last item there is nothing to compare with; the next item shows it, or the next read
    # after a break.
    waiting = [one.position for one in found if not one.reset]
    assert {one[:2] for one in waiting} == ({(3, 0)} if more == 1 else set())
    assert all(one.events == () for one in found)
    writer.edit(80)
    assert writer.consume() is None
    found = [page(writer.table, position) for position in lost]
    assert {(one.reset, one.events) for one in found} == {(True, ())}
    goes_on_at_the_end(found[0], writer)


def test_a_position_of_another_past_is_a_reset_also_where_nothing_comes(writer: Writer, time: Time) -> None:
    lost = rewritten(writer)
    writer.edit(2, kind="o1")
    assert writer.consume() is None
    time.now += 6
    assert all(page(writer.table, position).reset for position in lost)


def test_a_position_that_names_no_item_goes_by_its_time(writer: Writer, time: Time) -> None:
    """Like the cursors of answers, which are of a whole minute."""
    rewritten(writer)
    time.now += 600
    for num in (2, 3):
        writer.edit(num)
        assert writer.consume() is None
    assert page(writer.table, FeedPosition(3, 0, NOW)).reset
    assert not page(writer.table, FeedPosition(3, 0, time.now - 60)).reset


class Late(Watched):
    """A table whose eventually consistent calls read an older copy."""

    def __init__(self, table: MemoryTable) -> None:
        super().__init__(table, lambda _, perform: perform())
        self._copy = table.copy()

    @override
    def metered(self) -> "Late":
        return self

    @override
    def get(self, pk: str, sk: str, *, consistent: bool = False) -> Item | None:
        return (self.beneath if consistent else self._copy).get(pk, sk, consistent=consistent)

    @override
    def query(self, *given: Any, consistent: bool = False, **named: Any) -> Page:
        return (self.beneath if consistent else self._copy).query(*given, consistent=consistent, **named)

    def lose(self, number: int) -> None:
        """Let the copy lack an item of the journal."""
        self._copy.delete(log_of(self).partition, derived_keys.journal_item(number))


def test_a_late_copy_makes_no_position_one_of_another_past(writer: Writer) -> None:
    """A reader that is ahead of a copy is not ahead of the journal: the head itself is read."""
    writer.edit(1)
    assert writer.consume() is None
    late = Late(writer.table)
    writer.edit(2)
    assert writer.consume() is None
    position = page(writer.table).position
    found = page(late, position)
    assert (found.reset, found.events, found.position[:2]) == (False, (), (3, 0))
    writer.edit(3)
    assert writer.consume() is None
    late = Late(writer.table)
    late.lose(2)
    found = page(late, position)
    assert (found.reset, ids(found)) == (False, ["3.1"])


def test_an_item_that_has_expired_is_no_other_past(writer: Writer) -> None:
    for num in (1, 2):
        writer.edit(num)
        assert writer.consume() is None
    position = page(writer.table, limit=1).position
    writer.table.delete(log_of(writer.table).partition, derived_keys.journal_item(1))
    assert (position[:2], ids(page(writer.table, FeedPosition(2, 0, NOW, "gone")))) == ((1, 1), ["2.1"])
