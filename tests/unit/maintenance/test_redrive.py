"""Waiting batches: their back-off, an older record after a newer one, crashes, and the part left to an operator."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from devtools.proof.faults.adversary import record
from devtools.proof.faults.bucket import MemoryBatches, NoBatches
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.commands import attributes, deleted_attributes, projects
from gridview.commands.actor import Actor, Role
from gridview.derive.images import Poison
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.journal.history import read_changes
from gridview.maintenance import redrive
from gridview.maintenance.stream_consumer import consume, derive_again
from gridview.maintenance.waiting import FIRST_WAIT, LONGEST_WAIT, PATIENCE, Batch, Records, Waiting
from gridview.schema import documents
from gridview.schema.documents import Changes
from gridview.schema.store import Catalogs
from gridview.schema.trash import mark_of
from gridview.support import clock
from gridview.support.errors import Overloaded

pytestmark = pytest.mark.usefixtures("no_pauses")

TENANT, PROJECT = "acme", "bridge"
ORDERS = derived_keys.order(TENANT, PROJECT, "")
ADMIN = Actor(TENANT, "ada", Role.ADMIN)


@pytest.fixture
def table() -> MemoryTable:
    table = MemoryTable()
    projects.create_project(table, ADMIN, {"name": "Bridge", "id": PROJECT})
    attributes.create_attribute(table, Catalogs(), ADMIN, PROJECT, {"name": "Start", "type": "date"})
    return table


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock: its one number."""
    held = [1_700_000_000.0]
    monkeypatch.setattr(clock, "seconds", lambda: held[0])
    return held


class Place:
    """A table, the bucket, and the recorded events."""

    def __init__(self, table: MemoryTable) -> None:
        self.table = table
        self.batches = MemoryBatches()
        self.letters: list[Poison] = []
        self.errors: list[Exception] = []

    def consume(self, table: Table, *records: dict[str, Any]) -> str | None:
        def hand_over(some: Records) -> None:
            redrive.hand_over(self.batches, some)

        return consume(table, Catalogs(), records, self.letters.append, hand_over)

    def redrive(
        self,
        table: Table | None = None,
        derive: Callable[[Batch], Batch] | None = None,
        remaining: Callable[[], float] = lambda: 45.0,
    ) -> redrive.Redriven:
        def with_table(batch: Batch) -> Batch:
            return derive_again(table or self.table, Catalogs(), batch, self.letters.append)

        return redrive.redrive(
            self.batches, derive or with_table, self.letters.append, remaining, self.errors.append
        )

    @property
    def waiting(self) -> list[Waiting]:
        return [one for name in self.batches.names() if (one := Waiting.named(name)) is not None]


@pytest.fixture
def place(table: MemoryTable, now: list[float]) -> Place:
    del now
    return Place(table)


def issue_key(num: int) -> str:
    return keys.issue(TENANT, PROJECT, num)


def document(table: MemoryTable, num: int, version: int = 1, **values: Any) -> Item:
    """A version of an issue, which is in the table as it is made."""
    catalog = Catalogs().get(table, TENANT, PROJECT)
    by_id = {field.id: field.key for field in catalog.attributes}
    changes = Changes({"name": f"issue {num}"}, {by_id[name]: value for name, value in values.items()})
    made = documents.new_document(catalog, num, changes, user="ann", now="2024-01-01T00:00:00.000000Z")
    made |= {"version": version, "updated": f"2024-01-01T00:00:00.{version:06d}Z"}
    table.put(made)
    return made


def throttled(table: MemoryTable) -> Table:
    """The table while a key of GSI1 accepts no more writes: each item that is listed there is refused."""

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.item is not None and attempted.item[keys.SK].startswith(ORDERS):
            raise Overloaded("The table is busy; try again.")
        return perform()

    return table.seen_through(around)


def unledgered(table: MemoryTable) -> Table:
    """The table while it accepts no ledger: nothing at all is derived."""

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes and any(key[1] == derived_keys.LEDGER for key in attempted.keys):
            raise Overloaded("The table is busy; try again.")
        return perform()

    return table.seen_through(around)


def entries(table: MemoryTable, num: int) -> dict[str, tuple[str, int]]:
    """Order -> sort string and version of the issue's entries in the index."""
    return {
        sort_key: (item[keys.SORT], item["version"])
        for (pk, sort_key), item in table.items.items()
        if pk == issue_key(num) and sort_key.startswith(ORDERS) and keys.SORT in item
    }


# The back-off


def test_waits_double_up_to_an_hour(now: list[float]) -> None:
    waiting = Waiting.new()
    assert waiting.due - now[0] == FIRST_WAIT
    waits = []
    for _ in range(10):
        waiting = waiting.attempted()
        waits.append(waiting.due - now[0])
    assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, LONGEST_WAIT]


def test_a_name_says_all_of_a_batch_and_names_sort_by_the_due_instant(now: list[float]) -> None:
    first = Waiting.new()
    now[0] += 5
    second = Waiting.new().attempted()
    assert [Waiting.named(one.name) for one in (first, second)] == [first, second]
    assert first.name < second.name
    assert Waiting.named("aws/lambda/1") is None
    assert second.refused().begun is False
    often = replace(second, attempts=998).attempted()
    assert Waiting.named(often.name) == often
    assert often.attempted().attempts == often.attempts == 999, "a name has room for three digits"


def test_a_batch_waits_and_waits_longer_after_each_refusal(place: Place, now: list[float]) -> None:
    refusing = throttled(place.table)
    assert place.consume(refusing, record(1, None, document(place.table, 7))) is None
    assert place.redrive() == redrive.Redriven(), "it is not due"
    now[0] += FIRST_WAIT
    assert place.redrive(refusing) == redrive.Redriven(waiting=1)
    (waiting,) = place.waiting
    assert (waiting.due, waiting.attempts, waiting.begun) == (now[0] + 60, 1, False)
    now[0] += 60
    assert place.redrive(remaining=lambda: 0.0) == redrive.Redriven(), "no time is left"
    assert place.redrive() == redrive.Redriven(done=1)
    assert not place.batches.contents


# An older record after a newer one


@pytest.mark.parametrize("refusing", [throttled, unledgered])
def test_an_older_record_overwrites_nothing_that_a_newer_one_made_right(
    place: Place, now: list[float], refusing: Callable[[MemoryTable], Table]
) -> None:
    """The older one waits, the newer one is derived, then the older one comes."""
    one = document(place.table, 7, 1, start="2024-01-01")
    assert place.consume(refusing(place.table), record(1, None, one)) is None
    assert len(place.waiting) == 1
    assert not entries(place.table, 7)
    two = document(place.table, 7, 2, start="2024-02-02")
    assert place.consume(place.table, record(2, one, two)) is None
    before = entries(place.table, 7)
    assert before[derived_keys.order(TENANT, PROJECT, "a1.1")][1] == 2
    writes = {key: dict(item) for key, item in place.table.items.items()}
    now[0] += FIRST_WAIT
    assert place.redrive() == redrive.Redriven(done=1)
    assert entries(place.table, 7) == before
    assert {key: dict(item) for key, item in place.table.items.items()} == writes, "nothing is written"
    found = read_changes(place.table, TENANT, PROJECT, [(7, 1), (7, 2)], consistent=True)
    assert {version for _, version in found} == {1, 2}, "the feed finds what both changed"


def test_a_removal_that_comes_before_an_older_record_stays(place: Place, now: list[float]) -> None:
    one = document(place.table, 7, 1, start="2024-01-01")
    place.consume(throttled(place.table), record(1, None, one))
    place.table.delete(issue_key(7), keys.project(TENANT, PROJECT))
    assert place.consume(place.table, record(2, one, None)) is None
    now[0] += FIRST_WAIT
    assert place.redrive() == redrive.Redriven(done=1)
    assert not entries(place.table, 7)


def test_only_what_is_left_of_a_batch_waits_on(place: Place, now: list[float]) -> None:
    some = [record(num, None, document(place.table, num)) for num in (7, 8)]
    place.batches.put(Waiting.new().name, Batch(some, recorded=True, reason="Throttled").encoded())
    now[0] += FIRST_WAIT
    assert place.redrive(derive=lambda batch: batch.only([issue_key(8)])) == redrive.Redriven(waiting=1)
    (content,) = place.batches.contents.values()
    assert Batch.of(content).keys == (issue_key(8),)


# Batches that Lambda gave up


def by_lambda(place: Place, *records: dict[str, Any]) -> None:
    content = json.loads(Batch(records, recorded=False, reason="RetryAttemptsExhausted").encoded())
    del content["recorded"]
    content["payload"] = json.dumps(content["payload"])
    name = "aws/lambda/m/s/2024/01/01/2024-01-01T00.00.00-00000000-0000-4000-8000-000000000000"
    place.batches.put(name, json.dumps(content).encode())


def test_a_batch_that_lambda_gave_up_is_derived_with_its_history(place: Place) -> None:
    by_lambda(place, record(1, None, document(place.table, 7)))
    assert place.redrive() == redrive.Redriven(done=1)
    assert read_changes(place.table, TENANT, PROJECT, [(7, 1)], consistent=True)
    assert place.table.get(issue_key(7), derived_keys.LEDGER) is not None
    assert not place.batches.contents


def test_deletes_of_such_a_batch_are_listed_in_the_trash(place: Place) -> None:
    one = document(place.table, 7)
    deleted = {**one, "version": 2, **mark_of("ann", clock.now())}
    place.table.put(deleted)
    by_lambda(place, record(1, one, deleted))
    assert place.redrive() == redrive.Redriven(done=1)
    ((_, listed),) = [key for key in place.table.items if key[0] == keys.trash(TENANT, PROJECT)]
    assert keys.parse_trash_place(listed) == (7, 2)


def test_an_issue_removed_meanwhile_gets_no_history(place: Place) -> None:
    one = document(place.table, 7)
    place.table.delete(issue_key(7), keys.project(TENANT, PROJECT))
    by_lambda(place, record(1, None, one))
    assert place.redrive() == redrive.Redriven(done=1)
    assert not read_changes(place.table, TENANT, PROJECT, [(7, 1)], consistent=True)


def test_values_of_a_permanently_deleted_attribute_do_not_come_back(place: Place) -> None:
    one = document(place.table, 7, start="2024-01-01")
    attributes.delete_attribute(place.table, Catalogs(), ADMIN, PROJECT, "start", None)
    deleted_attributes.purge_attribute(place.table, Catalogs(), ADMIN, PROJECT, "start", None, settling=0)
    by_lambda(place, record(1, None, one))
    assert place.redrive() == redrive.Redriven(done=1)
    ((_, change),) = read_changes(place.table, TENANT, PROJECT, [(7, 1)], consistent=True).items()
    assert "a1" in one["fields"]
    assert "a1" not in change.fields


def test_an_unreadable_batch_stays(place: Place) -> None:
    place.batches.put("aws/lambda/x", b"[]")
    assert place.redrive() == redrive.Redriven()
    assert place.batches.names() == ["aws/lambda/x"]


# Crashes


def test_a_batch_that_crashes_is_cut_until_the_rest_is_done(place: Place, now: list[float]) -> None:
    def derive(batch: Batch) -> Batch:
        if issue_key(8) in batch.keys:
            raise ValueError("a bug")
        return derive_again(place.table, Catalogs(), batch, place.letters.append)

    records = [record(num, None, document(place.table, num)) for num in (7, 8, 9, 10, 7)]
    by_lambda(place, *records)
    for _ in range(12):
        place.redrive(derive=derive)
        now[0] += LONGEST_WAIT
    (content,) = place.batches.contents.values()
    assert Batch.of(content).keys == (issue_key(8),)
    assert all(place.table.get(issue_key(num), derived_keys.LEDGER) is not None for num in (7, 9, 10))
    assert {str(error) for error in place.errors} == {"a bug"}


def test_one_that_kills_the_invocation_waits_as_well(place: Place, now: list[float]) -> None:
    class Killed(BaseException):
        pass

    def derive(_: Batch) -> Batch:
        raise Killed

    by_lambda(place, record(1, None, document(place.table, 7)))
    with pytest.raises(Killed):
        place.redrive(derive=derive)
    (waiting,) = place.waiting
    assert (waiting.due, waiting.attempts, waiting.begun) == (now[0] + 60, 1, True)


# Left to an operator


@pytest.mark.parametrize(("crashes", "says"), [(False, "refused"), (True, "crashed")])
def test_after_a_day_issues_become_dead_letters(
    place: Place, now: list[float], crashes: bool, says: str
) -> None:
    def derive(batch: Batch) -> Batch:
        if crashes:
            raise ValueError("a bug")
        return batch

    place.batches.put(
        Waiting.new().name,
        Batch([record(1, None, document(place.table, 7))], recorded=True, reason="Throttled").encoded(),
    )
    began = now[0]
    while place.batches.contents:
        assert not place.letters
        assert now[0] < began + PATIENCE + 2 * LONGEST_WAIT
        place.redrive(derive=derive)
        now[0] += 60
    assert now[0] >= began + PATIENCE
    (letter,) = place.letters
    assert (letter.key, letter.version, says in letter.error) == (issue_key(7), 0, True)


def test_without_the_bucket_the_batch_is_reported(table: MemoryTable, now: list[float]) -> None:
    del now

    def hand_over(some: Records) -> None:
        redrive.hand_over(NoBatches(), some)

    refusing = throttled(table)
    records = [record(1, None, document(table, 7))]
    failed = consume(refusing, Catalogs(), records, lambda _: None, hand_over)
    assert failed == records[0]["dynamodb"]["SequenceNumber"]
