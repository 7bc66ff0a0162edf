"""Undo of large changes: killed at every call, cancelled, late, limited. Nothing is taken back twice."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.strands import Pool
from devtools.proof.faults.watched import Attempted
from gridview.commands import issues, jobs
from gridview.commands import undo as undoing
from gridview.commands.actor import Role
from gridview.commands.context import WriteContext
from gridview.commands.undo import UndoOrder
from gridview.commands.write_rate import WINDOW, WriteRate
from gridview.dynamodb.leases import LEASE
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.cursors import Cursors
from gridview.maintenance import numbered_turn
from gridview.maintenance.job_line import LineWorker
from gridview.maintenance.job_worker import due_jobs
from gridview.maintenance.undo_job import UndoChanges
from gridview.schema.catalog import HistorySetting
from gridview.schema.change_entries import list_items, member_entries
from gridview.schema.history import Change
from gridview.schema.jobs import Turn
from gridview.schema.store import Catalogs
from gridview.schema.user_jobs import JobKind
from gridview.support import clock, concurrency
from tests.support import recorded_changes
from tests.support.depth import one_of
from tests.support.killed import Killed, killing
from tests.support.passing import Passing
from tests.support.remembered import (
    ADA,
    BEN,
    CHANGE,
    PROJECT,
    TENANT,
    HeldStream,
    catalog_of,
    made,
    seen,
    versions_of,
)

pytestmark = pytest.mark.usefixtures("no_pauses")

ISSUES = 8
OWN = UUID(int=7)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make batches and chunks so small that eight issues make several, in a constant order."""
    monkeypatch.setattr(numbered_turn, "BATCH", 3)
    monkeypatch.setattr(numbered_turn, "CHUNK", 5)
    monkeypatch.setattr(undoing, "SETTLED", 0.0)
    monkeypatch.setattr(concurrency, "ThreadPoolExecutor", Pool)


BEFORE = made()


@pytest.fixture
def table() -> MemoryTable:
    """Eight issues; ben has renamed the odd ones and deleted the even ones, and ada has renamed the third since."""
    table = BEFORE.copy()
    recorded_changes.on_time(table)
    stream, catalog = HeldStream(table), catalog_of(table)
    for num in range(1, ISSUES + 1):
        issues.create_issue(WriteContext(table, catalog, ADA), {"name": f"issue {num}"})
    for num in range(1, ISSUES + 1):
        if num % 2:
            issues.update_issue(WriteContext(table, catalog, BEN, change=CHANGE), num, {"name": "new"}, None)
        else:
            issues.delete_issue(WriteContext(table, catalog, BEN, change=CHANGE), num, None)
    issues.update_issue(WriteContext(table, catalog, ADA), 3, {"name": "other"}, None)
    stream.deliver(table)
    return table


def start(table: Table, change: UUID = CHANGE, own: UUID = OWN) -> str:
    asked = UndoOrder(change, BEN.user).to_stored()
    job: str = jobs.start(table, BEN, PROJECT, JobKind.UNDO, asked, own)["id"]
    return job


def work(table: Table, rate: int = 0, role: Role = Role.ADMIN) -> list[Turn]:
    """Run a turn for each line that is due. `role`: that of all users."""
    undo = UndoChanges(table, Catalogs(), WriteRate(rate, lambda: None, 0.5))
    worker = LineWorker(table, {JobKind.UNDO: undo}, lambda *_: role)
    hints = [hint for hint in due_jobs(table) if keys.is_job_line(hint.partition)]
    return [turn for hint in hints if (turn := worker.take_turn(hint, lambda: 60.0)) is not None]


def finish(table: Table, time: Passing, job: str, rate: int = 0) -> Any:
    """Work until the job is over, with all of its waits."""
    for _ in range(30):
        time.over += LEASE + 1
        recorded_changes.on_time(table)
        if not work(table, rate):
            return jobs.get_job(table, BEN, PROJECT, job)
    raise AssertionError("the job does not end")


def refused(table: Table, job: str) -> dict[int, str]:
    page = jobs.list_refused(table, BEN, PROJECT, job, {}, Cursors([b"of the tests"], "refused"))
    return {one["num"]: one["problem"]["type"] for one in page["items"]}


def killed_copies(table: MemoryTable, time: Passing, every: int) -> Iterator[MemoryTable]:
    """The table after a worker was killed, before or after each of its calls in turn."""
    step, killed, began = one_of(every), 0, time.over
    for after in (False, True):
        for at in range(1 + after, 10_000, step):
            copy = table.copy()
            time.over = began
            try:
                work(copy.seen_through(killing(at, after=after)))
            except Killed:
                killed += 1
                yield copy
            else:
                break
    assert killed > 30 / step


def versions(table: MemoryTable) -> dict[int, int]:
    documents = [item for item in table.items.values() if "num" in item and "fields" in item]
    return {one["num"]: one["version"] for one in documents}


def is_whole(table: MemoryTable, ended: Any, job: str) -> None:
    """Check that everything is taken back, once, except for changes of others."""
    assert (ended["state"], ended["done"], ended["total"], ended["refused"]) == (
        "done",
        ISSUES - 1,
        ISSUES,
        1,
    )
    assert refused(table, job) == {3: "edit-conflict"}
    assert versions(table) == dict.fromkeys(range(1, ISSUES + 1), 3)
    names = {num: one["name"] for num, one in seen(table).items() if not one["deleted"]}
    assert names == {num: "other" if num == 3 else f"issue {num}" for num in range(1, ISSUES + 1)}


def test_a_large_change_is_taken_back_and_that_again(table: MemoryTable, time: Passing) -> None:
    before, stream = seen(table), HeldStream(table)
    job = start(table)
    is_whole(table, finish(table, time, job), job)
    stream.deliver(table)
    assert versions_of(table, OWN, BEN.user).keys() == set(range(1, ISSUES + 1)) - {3}
    redone = finish(table, time, start(table, OWN, UUID(int=8)))
    assert (redone["done"], redone["refused"]) == (ISSUES - 1, 0)
    assert seen(table) == before


def test_a_worker_that_is_killed_at_any_call_is_followed_by_one_that_takes_nothing_back_twice(
    table: MemoryTable, time: Passing
) -> None:
    job = start(table)
    for copy in killed_copies(table, time, every=8):
        is_whole(copy, finish(copy, time, job), job)


def test_versions_that_only_the_lists_of_the_history_have_are_waited_for(
    table: MemoryTable, time: Passing
) -> None:
    key = derived_keys.history(TENANT, PROJECT, 5), derived_keys.history_item(2)
    late = table.items[key]
    table.delete(*key)
    job = start(table)
    for _ in range(6):
        time.over += LEASE + 1
        recorded_changes.on_time(table)
        work(table)
    state = jobs.get_job(table, BEN, PROJECT, job)["state"]
    assert (state, refused(table, job)) == ("running", {3: "edit-conflict"})
    table.put(late)
    is_whole(table, finish(table, time, job), job)


def test_a_version_that_the_history_never_receives_is_refused_after_a_day(
    table: MemoryTable, time: Passing
) -> None:
    """The history was off when ben edited one issue again, and deleted another one."""
    context = WriteContext(table, catalog_of(table), BEN, change=CHANGE)
    issues.update_issue(context, 1, {"fields": {"cost": 7}}, None)
    issues.delete_issue(context, 5, None)
    job = start(table)
    for _ in range(4):
        time.over += LEASE + 1
        recorded_changes.on_time(table)
        work(table)
    assert jobs.get_job(table, BEN, PROJECT, job)["state"] == "running"
    time.over += 86_400
    ended = finish(table, time, job)
    assert (ended["state"], ended["done"], ended["refused"]) == ("done", ISSUES - 3, 3)
    assert refused(table, job) == {1: "conflict", 3: "edit-conflict", 5: "conflict"}
    assert (versions(table)[1], versions(table)[5]) == (3, 3), "nothing of their change is taken back"


def test_an_undo_of_another_users_change_needs_an_administrator_at_each_turn(
    table: MemoryTable, time: Passing
) -> None:
    asked = UndoOrder(CHANGE, BEN.user).to_stored()
    before = versions(table)
    job: str = jobs.start(table, ADA, PROJECT, JobKind.UNDO, asked, OWN)["id"]
    own = start(table)
    for _ in range(4):
        time.over += LEASE + 1
        recorded_changes.on_time(table)
        work(table, role=Role.EDITOR)
        if jobs.get_job(table, ADA, PROJECT, job)["state"] == "failed":
            break
        assert versions(table) == before
    ended = jobs.get_job(table, ADA, PROJECT, job)
    assert (ended["state"], ended["problem"]["type"]) == ("failed", "forbidden")
    assert "needs the role admin" in ended["problem"]["detail"]
    assert finish(table, time, own)["state"] == "done"


def test_edits_of_others_after_a_kill_stay(table: MemoryTable, time: Passing) -> None:
    """They edit issues that it has taken back; the history has the owner of the former version."""
    job, stream = start(table), HeldStream(table)
    for copy in killed_copies(table, time, every=16):
        stream = HeldStream(copy)
        for document in list(copy.items.values()):
            if "fields" in document and document.get("change") == OWN.bytes:
                issues.update_issue(
                    WriteContext(copy, catalog_of(copy), ADA), document["num"], {"fields": {"cost": 1}}, None
                )
        # The stream delivered the dead worker's writes before.
        for num, version in versions(copy).items():
            remember(copy, num, version)
        stream.deliver(copy)
        ended = finish(copy, time, job)
        assert (ended["done"], ended["refused"]) == (ISSUES - 1, 1)
        assert max(versions(copy).values()) <= 4
        names = {num: one["name"] for num, one in seen(copy).items()}
        assert names == {num: "other" if num == 3 else f"issue {num}" for num in range(1, ISSUES + 1)}


def remember(table: MemoryTable, num: int, version: int) -> None:
    """Record the third version of an issue in the history, if ben's job made it."""
    if version == 4:
        made_by_ben = {
            "kind": "restore" if num % 2 == 0 else "update",
            "by": BEN.user,
            "at": clock.now(),
            "change": OWN.bytes,
            "edits": {"name": ["new", f"issue {num}"]},
        }
        table.put(
            {
                keys.PK: derived_keys.history(TENANT, PROJECT, num),
                keys.SK: derived_keys.history_item(3),
                keys.TTL_ATTRIBUTE: clock.expiry(1),
                **made_by_ben,
            }
        )


def test_a_job_that_is_cancelled_at_any_call_reports_what_it_has_done(
    table: MemoryTable, time: Passing
) -> None:
    job = start(table)
    for at in range(1, 60, one_of(9)):
        copy, calls = table.copy(), iter(range(1, 10_000))

        def around(_: Attempted, perform: Callable[[], Any]) -> Any:
            if next(calls) == at:  # noqa: B023
                jobs.cancel_job(copy, BEN, PROJECT, job)  # noqa: B023
            return perform()

        ended = finish(copy.seen_through(around), time, job)
        assert ended["state"] in ("cancelled", "done")
        back = [num for num, version in versions(copy).items() if version == 3 and num != 3]
        assert ended["done"] == len(back)


def test_a_job_that_is_cancelled_while_its_worker_is_dead_counts_what_was_taken_back(
    table: MemoryTable, time: Passing
) -> None:
    job = start(table)
    for copy in killed_copies(table, time, every=12):
        jobs.cancel_job(copy, BEN, PROJECT, job)
        written = versions(copy)
        ended = finish(copy, time, job)
        if ended["state"] == "cancelled":
            assert versions(copy) == written
            assert ended["done"] == len([num for num, at in written.items() if at == 3 and num != 3])


def test_a_job_waits_until_the_history_is_ready(
    table: MemoryTable, time: Passing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undoing, "SETTLED", 60.0)
    job = start(table)
    (turn,) = work(table)
    assert turn.issues == 0
    assert clock.until(turn.hints[0].due) > 30
    assert jobs.get_job(table, BEN, PROJECT, job)["total"] is None
    is_whole(table, finish(table, time, job), job)


def test_a_job_of_what_is_forgotten_meanwhile_fails(table: MemoryTable, time: Passing) -> None:
    job = start(table)
    long_ago = clock.after(-90 * 86_400)
    members = list(table.query_all(derived_keys.change(TENANT, PROJECT, CHANGE.bytes)))
    listed = [
        Change(entry["num"], entry["version"], entry["kind"], entry["by"], long_ago, CHANGE.bytes, {})
        for item in members
        for entry in member_entries(item)
    ]
    for item in members:
        table.delete(item[keys.PK], item[keys.SK])
    for item in list_items(TENANT, PROJECT, HistorySetting(), listed):
        if item[keys.PK] == members[0][keys.PK]:
            table.put({**item, keys.TTL_ATTRIBUTE: members[0][keys.TTL_ATTRIBUTE]})
    ended = finish(table, time, job)
    assert (ended["state"], ended["problem"]["type"]) == ("failed", "history-expired")


def test_a_job_keeps_to_the_rate_of_its_tenant(table: MemoryTable, time: Passing) -> None:
    """Half of the ten writes of a window: a batch of three, and the next one must wait."""
    time.over = -clock.seconds() % WINDOW  # no other window begins meanwhile
    job = start(table)
    (turn,) = work(table, rate=1)
    assert 0 < turn.issues < ISSUES
    is_whole(table, finish(table, time, job, rate=1), job)
