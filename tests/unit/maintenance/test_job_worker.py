"""Background work: killed at every call and resumed, in turns, at a rate, under a lease, and in a new form of the sort
strings.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.strands import Pool
from devtools.proof.faults.watched import Attempted
from gridview.chains import block_writer
from gridview.chains.blocks import HEAD
from gridview.chains.fence_cache import Fences
from gridview.commands import attributes, deleted_attributes, deleted_projects, issues, projects
from gridview.commands.actor import Actor, Role
from gridview.commands.context import WriteContext
from gridview.derive import sort_entries
from gridview.derive.families import NUMBERS, derived_strings, has_entries, with_entries
from gridview.derive.images import Image, Poison
from gridview.derive.ledger import ImageVersion, Ledger
from gridview.derive.sort_entries import sort_strings_of
from gridview.derive.work import Subject, Superseded
from gridview.dynamodb.errors import ItemTooLarge
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.leases import LEASE
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys, sort_strings
from gridview.journal import maintainer
from gridview.journal.committer import settled
from gridview.journal.log import Log
from gridview.maintenance import job_worker
from gridview.maintenance.job_queue import JobQueue, hint_in
from gridview.maintenance.job_worker import Worked, Worker, due_jobs
from gridview.maintenance.rebuild_pass import pass_over
from gridview.schema.catalog import HISTORY, Catalog
from gridview.schema.generations import IndexState
from gridview.schema.history import Change
from gridview.schema.jobs import PARTS, Hint, Job, Turn
from gridview.schema.store import Catalogs, DefinitionsMissing, current_catalog
from gridview.schema.trash import is_trashed
from gridview.support import aws, backoff, clock, concurrency
from gridview.support.errors import Overloaded
from tests.support.block_truth import assert_chains
from tests.support.depth import one_of
from tests.support.derived_project import puts_journal_item
from tests.support.folds import fold_all, fold_once
from tests.support.killed import Killed, killing
from tests.support.recorded_changes import items_of
from tests.support.removed import remove_project

pytestmark = pytest.mark.usefixtures("no_pauses")

TENANT, PROJECT = "acme", "bridge"
PARTITION = keys.project(TENANT, PROJECT)
ADMIN = Actor(TENANT, "ada", Role.ADMIN)
SETTLING = 75.0


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_worker, "BATCH", 2)


@pytest.fixture(params=["whole", "in slices"])
def slices(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a pass is cut into slices: two of six numbers are processed before that."""
    if request.param == "in slices":
        monkeypatch.setattr(job_worker, "SLICE", 1)
    return bool(request.param == "in slices")


class Passing:
    """Time that a test can let pass."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds = 0.0
        now, instant = clock.after, clock.seconds
        monkeypatch.setattr(clock, "after", lambda seconds: now(seconds + self.seconds))
        monkeypatch.setattr(clock, "seconds", lambda: instant() + self.seconds)

    def over(self, seconds: float) -> None:
        """Let so many seconds pass."""
        self.seconds += seconds


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Passing:
    return Passing(monkeypatch)


@pytest.fixture
def table() -> MemoryTable:
    """A project with five issues, indexed by `kind`, with values of `cost`, and one number that is not in use."""
    table = MemoryTable()
    make_project(table, PROJECT)
    return table


def make_project(table: Table, project: str) -> None:
    projects.create_project(table, ADMIN, {"name": "Bridge", "id": project})
    bodies: tuple[dict[str, Any], ...] = (
        {"name": "Cost", "type": "number", "indexed": False},
        {"name": "Kind", "type": "enum", "options": ["a", "b", "c"]},
    )
    for body in bodies:
        attributes.create_attribute(table, Catalogs(), ADMIN, project, body)
    catalog = now(table, project)
    for cost, kind in ((5, "b"), (None, "a"), (3, None), (4, "c"), (None, None), (1, "a")):
        body = {"name": "x", "fields": {"cost": cost, "kind": kind}}
        bring(table, catalog, Image.of(issues.create_issue(WriteContext(table, catalog, ADMIN), body)))
    issues.delete_issue(WriteContext(table, catalog, ADMIN), 3, None)
    follow(table)
    fold_all(table, TENANT, project)
    remember(table, project)


def remember(table: Table, project: str) -> None:
    """Record a change of each number, including the unused one, and a further one of another batch."""
    for num in range(1, 8):
        change = Change(num % 7 or 1, num // 7 + 1, "update", "ann", clock.now(), bytes([num % 3]) * 16, {})
        table.batch_put(items_of(TENANT, project, HISTORY, change))


def remembered(table: MemoryTable, project: str) -> set[str]:
    kinds = (derived_keys.HISTORY_PREFIX, derived_keys.ACTIVITY_PREFIX, derived_keys.CHANGE_PREFIX)
    return {pk for pk, _ in table.items if pk.startswith(kinds) and project in pk.split(".")}


def bring(table: Table, catalog: Catalog | None, image: Image, ledger: Ledger | None = None) -> None:
    """Derive an issue as the stream would."""
    subject = Subject(catalog, image, ledger or Ledger())
    assert maintainer.derive(table, [subject]) == {}


def follow(table: Table) -> None:
    """Derive removed issues as the stream would."""
    assert isinstance(table, MemoryTable)
    for (pk, sk), item in table.items.items():
        if sk == derived_keys.LEDGER and not item.get("removed"):
            tenant, project, num = keys.parse_issue(pk)
            document = table.items.get((pk, keys.project(tenant, project)), item)
            if document is not item and not is_trashed(document):
                continue
            order = ImageVersion(document["version"], removed=True)
            catalog = current_catalog(table, Catalogs(), tenant, project)
            gone = Image(pk, keys.IssueKey(tenant, project, num), order, {})
            bring(table, catalog, gone, Ledger.from_item(item))


def now(table: Table, project: str = PROJECT) -> Catalog:
    return Catalogs().get(table, TENANT, project)


def kept(table: Table) -> Catalog:
    return Catalogs().kept(table, TENANT, PROJECT)


def no_poison(poison: Poison) -> None:
    raise AssertionError(poison)


def work(table: Table, *, remaining: Callable[[], float] = lambda: 99.0) -> Worked:
    return Worker(table, Catalogs(), remaining, no_poison, settling=SETTLING).work()


def worker(table: Table, remaining: Callable[[], float] = lambda: 99.0) -> Worker:
    """A worker as an invocation makes it, in a new container."""
    return Worker(table, Catalogs(), remaining, no_poison, settling=SETTLING)


def due(table: Table) -> list[Hint]:
    """The hints at the jobs that are due now, except at folds."""
    return [hint for hint in due_jobs(table) if not derived_keys.is_journal(hint.partition)]


def turns(table: Table, remaining: Callable[[], float] = lambda: 99.0) -> list[Turn]:
    """The turns of the hints at the jobs that are due now, a worker for each."""
    done = [worker(table, remaining).take_turn(hint) for hint in due(table)]
    return [turn for turn in done if turn is not None]


def finish(table: Table, time: Passing) -> None:
    """Work until nothing is left to do, with all waits."""
    for _ in range(6):
        time.seconds += SETTLING + LEASE
        work(table)
    assert table.get(PARTITION, keys.JOB) is None


# The administrators' changes, each with its expected result


def switch_on(table: Table) -> None:
    attributes.update_attribute(
        table, Catalogs(), ADMIN, PROJECT, "cost", {"indexed": True}, None, settling=SETTLING
    )


def switch_off(table: Table) -> None:
    attributes.update_attribute(
        table, Catalogs(), ADMIN, PROJECT, "kind", {"indexed": False}, None, settling=SETTLING
    )


def move(table: Table) -> None:
    body = {"options": ["c", "a", "b"]}
    attributes.update_attribute(table, Catalogs(), ADMIN, PROJECT, "kind", body, None, settling=SETTLING)


def delete(table: Table, attribute: str = "kind") -> None:
    """Delete an attribute permanently."""
    named = table, Catalogs(), ADMIN, PROJECT, attribute, None
    attributes.delete_attribute(*named)
    deleted_attributes.purge_attribute(*named, settling=SETTLING)


def expire(table: Table) -> None:
    """Make an attribute's deletion eight days old, so that it can no longer be restored."""
    attributes.delete_attribute(table, Catalogs(), ADMIN, PROJECT, "kind", None)
    definition = table.get(PARTITION, keys.attribute(TENANT, PROJECT, "kind"))
    job = table.get(PARTITION, keys.JOB)
    assert definition is not None
    assert job is not None
    user, _, position = definition["deletion"]
    table.put({**definition, "deletion": [user, clock.after(-8 * 86_400), position]})
    table.put({**job, keys.SORT: min(job[keys.SORT], clock.now())})


def rebuild(table: Table) -> None:
    attributes.rebuild(table, Catalogs(), TENANT, PROJECT, None, rate=0, settling=SETTLING)


def delete_project(table: Table) -> None:
    """Delete the project permanently."""
    remove_project(table, ADMIN, PROJECT, SETTLING)


def expire_project(table: Table) -> None:
    """Make the project's deletion eight days old, so that it can no longer be restored."""
    projects.delete_project(table, Catalogs(), ADMIN, PROJECT, None)
    own, job = table.get(PARTITION, keys.tenant(TENANT)), table.get(PARTITION, keys.JOB)
    assert own is not None
    assert job is not None
    table.put({**own, "deletion": [ADMIN.user, clock.after(-8 * 86_400)]})
    table.put({**job, keys.SORT: min(job[keys.SORT], clock.now())})


CHANGES = [switch_on, switch_off, move, delete, expire, rebuild, delete_project, expire_project]
REMOVALS = (delete_project, expire_project)
WRITERS = ("created_by.1b", "updated_by.1b")
EXPECTED_ORDERS = {
    "switch_on": {"name.1", "state.1b", "created.1", "updated.1", *WRITERS, "a1.1", "a2.1b"},
    "switch_off": {"name.1", "state.1b", "created.1", "updated.1", *WRITERS},
    "move": {"name.1", "state.1b", "created.1", "updated.1", *WRITERS, "a2.1b"},
    "delete": {"name.1", "state.1b", "created.1", "updated.1", *WRITERS},
    "expire": {"name.1", "state.1b", "created.1", "updated.1", *WRITERS},
    "rebuild": {"name.2", "state.2b", "created.2", "updated.2", "created_by.2b", "updated_by.2b", "a2.2b"},
    "delete_project": set(),
    "expire_project": set(),
}


def check(table: MemoryTable, change: Callable[[Table], None]) -> None:
    """Check that the derived data equals the issues, and that nothing is left to do."""
    items = table.items
    if change in REMOVALS:
        assert not [key for key in items if key[1] == PARTITION]
        follow(table)
        assert not [partition for partition, _ in items if partition.startswith(derived_keys.BLOCK_PREFIX)]
        assert not remembered(table, PROJECT)
    else:
        assert len(remembered(table, PROJECT)) == 10
        catalog = now(table)
        assert {order.order_id for order in catalog.orders} == EXPECTED_ORDERS[change.__name__]
        assert all(order.index.state is IndexState.READY for order in catalog.orders)
        assert not list(catalog.pending())
        issues_left = {pk: item for (pk, sk), item in items.items() if sk == PARTITION}
        assert any(map(is_trashed, issues_left.values()))
        for pk, item in issues_left.items():
            if not is_trashed(item):
                assert entries(items, pk) == with_entries(sort_strings_of(catalog, item))
                ledger = Ledger.from_item(items[pk, derived_keys.LEDGER])
                assert settled(Log(table, TENANT, PROJECT), [ledger.number]) == {ledger.number: True}
                assert ledger.committed().applied == derived_strings(catalog, item)
            assert all(not catalog.deleted(key) for key in item["fields"])
        assert_chains(table, catalog, [item for item in issues_left.values() if not is_trashed(item)])
    alive = {
        sk.split(".", 2)[2]
        for (_, sk), item in table.items.items()
        if sk.startswith("xvalue-") and keys.SORT in item
    }
    assert alive == set(filter(has_entries, EXPECTED_ORDERS[change.__name__]))


def entries(items: dict[tuple[str, str], Item], pk: str) -> dict[str, str]:
    return {
        sk.split(".", 2)[2]: item[keys.SORT]
        for (key, sk), item in items.items()
        if key == pk and sk.startswith("xvalue-") and keys.SORT in item
    }


@pytest.mark.usefixtures("slices")
@pytest.mark.parametrize("change", CHANGES)
def test_a_worker_that_is_killed_at_any_call_is_followed_by_one_that_ends_the_work(
    table: MemoryTable, time: Passing, change: Callable[[Table], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(concurrency, "ThreadPoolExecutor", Pool)
    change(table)
    time.seconds += SETTLING + 1
    killed, step = 0, one_of(19)
    for after in (False, True):
        for at in range(1 + 2 * after, 1000, step):
            copy, began = table.copy(), time.seconds
            try:
                work(copy.seen_through(killing(at, after=after)))
            except Killed:
                killed += 1
            else:
                break
            finish(copy, time)
            check(copy, change)
            time.seconds = began
    assert killed > 20 / step
    finish(table, time)
    check(table, change)


@pytest.mark.usefixtures("slices")
@pytest.mark.parametrize("second", CHANGES[:: one_of(2)])
@pytest.mark.parametrize("first", [switch_on, move, rebuild])
def test_a_change_in_the_middle_of_a_pass_is_carried_out_too(
    table: MemoryTable,
    time: Passing,
    first: Callable[[Table], None],
    second: Callable[[Table], None],
) -> None:
    first(table)
    time.seconds += SETTLING + 1
    work(table, remaining=for_calls(5))
    stored = table.get(PARTITION, keys.JOB)
    assert stored is not None
    assert stored["next_number"] == 3
    second(table)
    finish(table, time)
    if second in REMOVALS:
        check(table, second)
    else:
        catalog = now(table)
        assert not list(catalog.pending())
        items = table.items
        for (pk, sk), item in items.items():
            if sk == PARTITION and not is_trashed(item):
                assert entries(items, pk) == with_entries(sort_strings_of(catalog, item))


def test_a_delete_while_a_worker_ends_is_processed(table: MemoryTable, time: Passing) -> None:
    switch_on(table)
    time.seconds += SETTLING + 1
    deleted: list[bool] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        job = table.get(PARTITION, keys.JOB)
        is_over = not list(now(table).pending()) and job is not None and job["last_number"] is not None
        if attempted.operation == "transact" and is_over and not deleted:
            deleted.append(True)
            attributes.delete_attribute(table, Catalogs(), ADMIN, PROJECT, "kind", None)
        return perform()

    work(table.seen_through(around))
    assert deleted
    for _ in range(3):
        time.seconds += LEASE
        work(table)
    job = table.get(PARTITION, keys.JOB)
    assert job is not None
    assert job["rests"]
    assert job[keys.SORT] <= clock.after(7 * 86_400)
    time.seconds += 7 * 86_400
    finish(table, time)
    assert all("a2" not in item["fields"] for (_, sk), item in table.items.items() if sk == PARTITION)


def test_a_project_that_is_deleted_while_a_worker_ends_is_looked_after(
    table: MemoryTable, time: Passing
) -> None:
    switch_on(table)
    time.seconds += SETTLING + 1
    deleted: list[bool] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        job = table.get(PARTITION, keys.JOB)
        is_over = not list(kept(table).pending()) and job is not None and job["last_number"] is not None
        if attempted.operation == "transact" and is_over and not deleted:
            deleted.append(True)
            projects.delete_project(table, Catalogs(), ADMIN, PROJECT, None)
        return perform()

    work(table.seen_through(around))
    assert deleted
    for _ in range(3):
        time.seconds += LEASE
        work(table)
    job = table.get(PARTITION, keys.JOB)
    assert job is not None
    assert job["rests"]
    assert job[keys.SORT] <= clock.after(7 * 86_400)
    time.seconds += 7 * 86_400
    finish(table, time)
    check(table, delete_project)


def test_a_pass_does_not_count_an_issue_as_done_that_others_keep_changing(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def overtaken(_: Table, subjects: Sequence[Subject], *, touch: bool) -> dict[str, Exception]:
        asked.append(len(subjects))
        return {subject.image.key: Superseded() for subject in subjects if subject.image.issue.num == 2}

    monkeypatch.setattr(maintainer, "derive", overtaken)
    with pytest.raises(Overloaded):
        pass_over(table, Catalogs(), Fences(), TENANT, PROJECT, [1, 2], no_poison)
    assert asked == [2, *[1] * (backoff.ATTEMPTS - 1)]  # the other is not derived again


def test_a_pass_over_a_project_that_is_deleted_meanwhile_ends(table: MemoryTable, time: Passing) -> None:
    rebuild(table)
    time.seconds += SETTLING + 1
    work(table, remaining=for_calls(5))
    projects.delete_project(table, Catalogs(), ADMIN, PROJECT, None)
    for _ in range(3):
        time.seconds += SETTLING + LEASE
        work(table)
    assert not list(kept(table).pending())
    deleted_projects.restore_project(table, Catalogs(), ADMIN, PROJECT)
    check(table, rebuild)
    time.seconds += 8 * 86_400
    work(table)
    assert table.get(PARTITION, keys.JOB) is None
    check(table, rebuild)


@pytest.mark.parametrize("second", [switch_off, move, delete])
def test_the_pass_for_such_a_change_begins_when_all_know_of_it(
    table: MemoryTable, time: Passing, second: Callable[[Table], None]
) -> None:
    switch_on(table)
    time.seconds += SETTLING + 1
    work(table, remaining=for_calls(5))
    second(table)
    work(table)
    before = table.get(PARTITION, keys.JOB)
    assert before is not None
    assert clock.after(SETTLING - 10) < before[keys.SORT] <= clock.after(SETTLING)
    assert work(table) == Worked(0, 0)


def for_calls(number: int) -> Callable[[], float]:
    """Time that is over after so many reads of it."""
    left = iter([99.0] * number)
    return lambda: next(left, 0.0)


# Leases, turns and rates


def test_a_held_job_is_not_taken(table: MemoryTable, time: Passing) -> None:
    switch_on(table)
    time.seconds += SETTLING + 1

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "batch_get":
            assert work(table) == Worked(0, 0)
            raise Killed
        return perform()

    with pytest.raises(Killed):
        work(table.seen_through(around))
    assert work(table) == Worked(0, 0)
    time.seconds += LEASE + 1
    assert work(table).issues == 5


def test_a_worker_that_finds_its_lease_run_out_leaves_the_job_to_the_other(
    table: MemoryTable, time: Passing
) -> None:
    switch_on(table)
    time.seconds += SETTLING + 1
    overtaken: list[Worked] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "batch_get" and not overtaken:
            time.seconds += LEASE + 1
            overtaken.append(work(table))
        return perform()

    assert work(table.seen_through(around)).issues == 2, "what it had begun"
    assert overtaken == [Worked(1, 5)], "the fold of what it has derived waits"
    finish(table, time)
    check(table, switch_on)


def test_jobs_take_turns(table: MemoryTable, time: Passing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_worker, "_TURN", 4.0)
    make_project(table, "other")
    switch_on(table)
    attributes.update_attribute(
        table, Catalogs(), ADMIN, "other", "cost", {"indexed": True}, None, settling=SETTLING
    )
    time.seconds += SETTLING + 1
    seen = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "batch_get" and attempted.key[0].startswith(keys.ISSUE_PREFIX):
            seen.append(keys.parse_issue(attempted.key[0]).project)
        return perform()

    left = iter(range(99, 0, -1))
    assert work(table.seen_through(around), remaining=lambda: float(next(left, 0))).jobs == 2, (
        "the folds of what they have derived wait"
    )
    assert seen[:2] == ["bridge", "other"]
    assert set(seen[2:]) == {"bridge", "other"}


def test_a_job_that_the_table_refuses_waits_a_little(table: MemoryTable, time: Passing) -> None:
    switch_on(table)
    time.seconds += SETTLING + 1

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "batch_get":
            raise Overloaded("The table is busy; try again.")
        return perform()

    refused = table.seen_through(around)
    for refusals in (1, 2, 3):
        (turn,) = turns(refused)
        assert turn.refusals == refusals
        (following,) = turn.hints
        assert 4 < clock.until(following.due) <= 5
        assert work(table) == Worked(0, 0)
        time.seconds += 6
    assert work(table) == Worked(1, 5), "the fold of what it has derived waits"
    time.seconds += SETTLING + 1
    rebuild(table)
    time.seconds += SETTLING + 1
    assert [turn.refusals for turn in turns(refused)] == [1], "in succession"


@pytest.mark.parametrize("change", [switch_off, delete_project])
def test_a_removal_longer_than_an_invocation_is_continued(
    table: MemoryTable, time: Passing, monkeypatch: pytest.MonkeyPatch, change: Callable[[Table], None]
) -> None:
    """Each call takes one of an invocation's fifty seconds; no lease must run out before the next."""
    monkeypatch.setattr(job_worker, "_TURN", 50.0)
    monkeypatch.setattr(concurrency, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(block_writer, "_REMOVED_AT_ONCE", 1)
    change(table)
    interrupted = 0
    for _ in range(40):
        time.seconds += SETTLING + 1
        calls: list[Attempted] = []
        before = len(removable(table))

        def around(attempted: Attempted, perform: Callable[[], Any], calls: list[Attempted] = calls) -> Any:
            calls.append(attempted)
            return perform()

        work(table.seen_through(around), remaining=lambda calls=calls: 50.0 - len(calls))  # type: ignore[misc]
        assert len(calls) < 70, "the clock is looked at"
        if table.get(PARTITION, keys.JOB) is None:
            break
        interrupted += 0 < len(removable(table)) < before
    assert interrupted or change is switch_off
    check(table, change)


def removable(table: MemoryTable) -> list[str]:
    """Blocks, and the remembered items except histories, which go with their issues."""
    kinds = (derived_keys.BLOCK_PREFIX, derived_keys.ACTIVITY_PREFIX, derived_keys.CHANGE_PREFIX)
    return [partition for partition, _ in table.items if partition.startswith(kinds)]


def test_a_rate_is_kept(table: MemoryTable, time: Passing, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(clock, "sleep", slept.append)
    attributes.rebuild(table, Catalogs(), TENANT, PROJECT, ["kind"], rate=1, settling=SETTLING)
    time.seconds += SETTLING + 1
    work(table)
    assert len(slept) == 6, "one number at a time"
    assert all(0.5 < seconds <= 1 for seconds in slept)
    stored = table.get(PARTITION, keys.JOB)
    assert stored is not None, "the old index is still to be removed"
    assert Job.from_item(stored).rate == 1


@pytest.mark.parametrize(
    ("broken", "version"),
    [
        ({"fields": {"a2": "o99"}}, 1),
        ({"fields": "nothing of the kind"}, 1),
        ({"version": "x"}, 0),
        ({"version": None}, 0),
    ],
)
def test_an_underivable_issue_is_sent_as_poison_and_the_pass_continues(
    table: MemoryTable, time: Passing, broken: dict[str, Any], version: int
) -> None:
    document = table.items[keys.issue(TENANT, PROJECT, 2), PARTITION]
    table.put({**document, **broken})
    switch_on(table)
    time.seconds += SETTLING + 1
    sent: list[Poison] = []
    Worker(table, Catalogs(), lambda: 99.0, sent.append, settling=SETTLING).work()
    assert [(poison.key, poison.version) for poison in sent] == [(document[keys.PK], version)]
    assert now(table).attributes[0].served is not None


def test_an_issue_with_entries_too_large_for_an_item_is_sent_as_poison(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    too_large = {keys.issue(TENANT, PROJECT, 2): ItemTooLarge("400 KB")}
    monkeypatch.setattr(maintainer, "derive", lambda *_, **__: too_large)
    sent: list[Poison] = []
    pass_over(table, Catalogs(), Fences(), TENANT, PROJECT, [1, 2], sent.append)
    assert [(poison.key, poison.error) for poison in sent] == [(keys.issue(TENANT, PROJECT, 2), "400 KB")]


def test_an_issue_that_cannot_be_derived_loses_the_values_of_a_deleted_attribute_too(
    table: MemoryTable, time: Passing
) -> None:
    document = table.items[keys.issue(TENANT, PROJECT, 1), PARTITION]
    table.put({**document, "fields": {**document["fields"], "a2": "o99"}})
    delete(table, "cost")
    time.seconds += SETTLING + 1
    Worker(table, Catalogs(), lambda: 99.0, lambda _: None, settling=SETTLING).work()
    assert table.items[document[keys.PK], PARTITION]["fields"] == {"a2": "o99"}


def test_a_project_without_its_definitions_does_not_count_as_deleted(
    table: MemoryTable, time: Passing
) -> None:
    switch_on(table)
    table.delete(PARTITION, keys.CATALOG)
    time.seconds += SETTLING + 1
    with pytest.raises(DefinitionsMissing):
        work(table)
    assert len([key for key in table.items if key[1] == PARTITION]) == 6


def test_a_job_that_fails_holds_up_no_other(table: MemoryTable, time: Passing) -> None:
    make_project(table, "other")
    switch_on(table)
    attributes.update_attribute(
        table, Catalogs(), ADMIN, "other", "cost", {"indexed": True}, None, settling=SETTLING
    )
    key = PARTITION, keys.CATALOG
    lost = table.items[key]
    table.delete(*key)
    time.seconds += SETTLING + 1
    with pytest.raises(DefinitionsMissing):
        work(table)
    assert now(table, "other").attributes[0].served is not None
    assert work(table) == Worked(0, 0), "not again at once"
    table.put(lost)
    finish(table, time)
    check(table, switch_on)


def test_an_unreadable_set_of_numbers_in_the_middle_of_a_pass_is_rebuilt(
    table: MemoryTable, time: Passing
) -> None:
    switch_on(table)
    time.seconds += SETTLING + 1
    work(table, remaining=for_calls(5))
    stored = table.get(PARTITION, keys.JOB)
    assert stored is not None
    assert stored["next_number"] == 3
    block = (
        derived_keys.block(TENANT, PROJECT, NUMBERS, HEAD),
        derived_keys.directory(TENANT, PROJECT, NUMBERS),
    )
    table.put({**table.items[block], "set": b"\x07"})
    finish(table, time)
    check(table, switch_on)


# Hints


def test_a_hint_that_comes_twice_or_late_is_ignored(table: MemoryTable, time: Passing) -> None:
    switch_on(table)
    time.seconds += SETTLING + 1
    (hint,) = due(table)
    first = worker(table, for_calls(4)).take_turn(hint)
    assert first is not None
    assert (first.issues, len(first.hints)) == (2, 1)
    assert worker(table).take_turn(hint) is None
    (following,) = due(table)
    assert first.hints == (following,), "what the next minute hints at is the same"
    second = worker(table).take_turn(following)
    assert second is not None
    assert second.issues == 3
    assert worker(table).take_turn(following) is None
    finish(table, time)
    check(table, switch_on)


def test_a_hint_at_a_job_that_another_worker_holds_is_ignored(table: MemoryTable, time: Passing) -> None:
    switch_on(table)
    time.seconds += SETTLING + 1
    (hint,) = due(table)
    second: list[Turn | None] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "update" and not second:
            second.append(worker(table).take_turn(hint))  # it has read the job, and not yet taken it
        return perform()

    first = worker(table.seen_through(around)).take_turn(hint)
    assert first == Turn(), "it finds the job taken when it comes to take it"
    assert second[0] is not None
    assert second[0].issues == 5


def test_hints_may_be_lost(table: MemoryTable, time: Passing) -> None:
    """Only the next minute's hints continue after a turn."""
    switch_on(table)
    passed = 0
    for _ in range(20):
        time.seconds += SETTLING
        passed += sum(turn.issues for turn in turns(table, for_calls(4)))
    assert passed == 5
    assert table.get(PARTITION, keys.JOB) is None
    check(table, switch_on)


def test_a_small_project_does_not_wait_for_a_large_one(table: MemoryTable, time: Passing) -> None:
    """One worker, a line of hints, and turns in which a worker processes one batch: a hundred issues against five."""
    make_project(table, "large")
    catalog = now(table, "large")
    for _ in range(94):
        issues.create_issue(WriteContext(table, catalog, ADMIN), {"name": "x", "fields": {}})
    for project in ("large", PROJECT):
        body = {"indexed": True}
        attributes.update_attribute(table, Catalogs(), ADMIN, project, "cost", body, None, settling=SETTLING)
        time.seconds += 1
    time.seconds += SETTLING
    line = deque(due_jobs(table))
    taken = 0
    served: dict[str, int] = {}
    while line:
        hint = line.popleft()
        time.seconds += max(clock.until(hint.due), 0.0)
        turn = worker(table, for_calls(4)).take_turn(hint)
        taken += 1
        line += turn.hints if turn is not None else ()
        for project in ("large", PROJECT):
            if now(table, project).attributes[0].served is not None:
                served.setdefault(project, taken)
    assert served[PROJECT] < 12
    assert served["large"] > 24


# Slices


def parts_of(table: Table) -> list[Job]:
    """The job, if there is one, and its slices."""
    stored = (table.get(PARTITION, keys.job(part), consistent=True) for part in (0, *PARTS))
    return [Job.from_item(item) for item in stored if item is not None]


@pytest.fixture
def sliced(table: MemoryTable, time: Passing, monkeypatch: pytest.MonkeyPatch) -> list[Hint]:
    """A pass that was cut into slices of a number each, after the first two numbers. Returns their hints."""
    monkeypatch.setattr(job_worker, "SLICE", 1)
    switch_on(table)
    time.seconds += SETTLING + 1
    (first,) = turns(table)
    assert first.issues == 2
    return list(first.hints)


def test_a_pass_ends_when_all_its_slices_have_in_any_order(
    table: MemoryTable, sliced: list[Hint], time: Passing
) -> None:
    assert sorted(sliced) == sorted(due(table)), "the job itself is not due"
    assert [hint.part for hint in sliced] == [1, 2, 3, 4]
    for done, hint in enumerate(reversed(sliced), 3):
        assert now(table).attributes[0].served is None
        job, *slices = parts_of(table)
        assert job.progress_of(job.epoch, 99, slices) == (done - 1, 6)
        turn = worker(table).take_turn(hint) or Turn()
    (woken,) = turn.hints
    assert due(table) == [woken]
    assert worker(table).take_turn(woken) is not None
    assert now(table).attributes[0].served is not None
    finish(table, time)
    check(table, switch_on)


def test_slices_that_meet_in_the_journal_all_come_to_their_end(
    table: MemoryTable, sliced: list[Hint], time: Passing
) -> None:
    """Before a slice's worker puts the item of its number, another does the other slices, and a fold waits for the
    first.
    """
    mine = sliced.pop(1)
    others = deque(sliced)

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        while others and puts_journal_item(attempted):
            assert worker(table).take_turn(others.popleft()) is not None
            log = Log(table, TENANT, PROJECT)
            fold_once(log)
            assert log.head().folded == derived_keys.parse_journal_number(attempted.key[1]) - 1
        return perform()

    turn = worker(table.seen_through(around)).take_turn(mine)
    assert not others
    assert turn is not None
    assert [hint.part for hint in turn.hints] == [0]
    finish(table, time)
    check(table, switch_on)


def test_a_job_without_a_hint_finds_that_no_slice_is_left(
    table: MemoryTable, sliced: list[Hint], time: Passing
) -> None:
    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        result = perform()
        if attempted.operation == "delete":
            raise Killed
        return result

    for hint in sliced:
        with pytest.raises(Killed):
            worker(table.seen_through(around)).take_turn(hint)
    assert due(table) == []
    time.seconds += LEASE + 1
    work(table)
    assert now(table).attributes[0].served is not None


def test_slices_of_a_project_that_is_deleted_end_and_its_removal_waits_until_all_know(
    table: MemoryTable, sliced: list[Hint], time: Passing
) -> None:
    assert worker(table).take_turn(sliced[0]) is not None
    delete_project(table)
    for hint in sliced[1:]:
        assert worker(table).take_turn(hint) == Turn(), "nothing is passed over, and no worker is woken"
    (job,) = parts_of(table)
    assert clock.until(job.due) > SETTLING - 5
    finish(table, time)
    check(table, delete_project)


def test_a_rate_that_is_asked_for_meanwhile_is_shared_by_the_slices(
    table: MemoryTable, sliced: list[Hint], monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(clock, "sleep", slept.append)
    attributes.rebuild(table, Catalogs(), TENANT, PROJECT, ["kind"], rate=8, settling=SETTLING)
    assert worker(table).take_turn(sliced[0]) is not None
    assert [round(seconds, 1) for seconds in slept] == [0.5], "one number, two a second"


def test_unreadable_numbers_in_a_slice_are_rebuilt_from_the_first_issue_on(
    table: MemoryTable, sliced: list[Hint], time: Passing
) -> None:
    block = (
        derived_keys.block(TENANT, PROJECT, NUMBERS, HEAD),
        derived_keys.directory(TENANT, PROJECT, NUMBERS),
    )
    table.put({**table.items[block], "set": b"\x07"})
    for hint in sliced:
        assert worker(table).take_turn(hint) is not None
    (job,) = parts_of(table)
    assert job.next == 1
    finish(table, time)
    check(table, switch_on)


def test_a_message_carries_a_hint_and_comes_when_the_job_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []

    class Client:
        def send_message(self, **message: Any) -> None:
            sent.append(message)

    monkeypatch.setattr(aws, "client", lambda _: Client())
    queue = JobQueue("https://queue.invalid")
    hints = [Hint(PARTITION, clock.after(seconds)) for seconds in (-60, 4.5, 10_000)]
    for hint in hints:
        queue.send(hint)
    assert [hint_in(message["MessageBody"]) for message in sent] == hints
    assert [message["DelaySeconds"] for message in sent] == [0, 5, 900]
    assert {message["MessageGroupId"] for message in sent} == {TENANT}, "a group for each tenant"


# The specification of the sort strings


def test_an_index_in_an_older_form_is_written_and_served_in_it_until_one_in_the_new_form_is_complete(
    table: MemoryTable, time: Passing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release raises the version; nothing is rewritten before an operator says so, and no order
    ever mixes the two.
    """
    second = {
        kind: lambda field, value, body=body: "2" + body(field, value)
        for kind, body in sort_entries.SPECS[1].items()
    }
    monkeypatch.setattr(sort_entries, "SPECS", {**sort_entries.SPECS, 2: second})
    monkeypatch.setattr(sort_strings, "SPEC_VERSION", 2)
    catalog = now(table)
    assert {order.index.spec for order in catalog.orders} == {1}
    document = issues.create_issue(
        WriteContext(table, catalog, ADMIN), {"name": "y", "fields": {"kind": "a"}}
    )
    bring(table, catalog, Image.of(document))
    assert not any(
        sort.startswith("2") for sort in entries(table.items, document[keys.PK]).values() if "y" in sort
    )
    rebuild(table)
    both = now(table)
    assert {order.index.spec: order.index.state for order in both.orders} == {
        1: IndexState.READY,
        2: IndexState.BUILDING,
    }
    assert {order.order_id for order in both.orders if order.id == "kind"} == {"a2.1b", "a2.2b"}
    served = both.attributes[1].served
    assert served is not None
    assert served.index.spec == 1
    finish(table, time)
    catalog = now(table)
    assert {order.index.spec for order in catalog.orders} == {2}
    for (_, sk), item in table.items.items():
        if sk.startswith("xvalue-") and keys.SORT in item:
            assert item[keys.SORT].startswith("2"), sk
            assert sk.endswith(".2")


def test_code_that_does_not_know_the_form_of_an_index_leaves_the_issue_to_one_that_does(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """During a release it is no fault of the issue, so it must not go to the dead letters."""
    catalog = now(table)
    monkeypatch.setattr(sort_entries, "SPECS", {2: sort_entries.SPECS[1]})
    document = table.items[keys.issue(TENANT, PROJECT, 1), PARTITION]
    with pytest.raises(sort_entries.UnknownSpec):
        bring(table, catalog, Image.of({**document, "version": 2}))
