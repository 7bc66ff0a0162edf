"""Changes of all issues that a filter matches: killed at every call, overtaken, late, cancelled, limited. No issue is
written twice.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from devtools.local.bulk import blocks_of
from devtools.local.derived_items import derived_items
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.strands import Pool
from devtools.proof.faults.watched import Attempted
from gridview.commands import attributes, issues, jobs, projects
from gridview.commands.actor import Actor, Role
from gridview.commands.context import WriteContext
from gridview.commands.write_rate import WINDOW, WriteRate
from gridview.dynamodb.errors import ConditionFailed, ItemTooLarge
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.leases import LEASE, RETRY
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.cursors import Cursors
from gridview.maintenance import job_line, numbered_turn
from gridview.maintenance.bulk import BulkChanges
from gridview.maintenance.bulk_decision import TRIES
from gridview.maintenance.bulk_request import parse_delete, parse_update
from gridview.maintenance.job_line import MOST_FAILURES, LineWorker
from gridview.maintenance.job_rights import RoleOf, unknown_roles
from gridview.maintenance.job_worker import due_jobs
from gridview.query import executor
from gridview.query.references import Reference
from gridview.schema.catalog import Catalog
from gridview.schema.history import Change, to_items
from gridview.schema.jobs import Hint, Turn
from gridview.schema.previews import Preview
from gridview.schema.store import Catalogs
from gridview.schema.trash import living
from gridview.schema.user_jobs import JobKind
from gridview.support import clock, concurrency
from gridview.support.errors import NotFound, Overloaded
from gridview.view import freshness
from tests.support.depth import one_of
from tests.support.killed import Killed
from tests.support.passing import Passing

pytestmark = pytest.mark.usefixtures("no_pauses")

TENANT, PROJECT = "acme", "bridge"
ADMIN = Actor(TENANT, "ada", Role.ADMIN)
BEN = Actor(TENANT, "ben", Role.EDITOR)
CHANGE = UUID("5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3")
ISSUES = 8
KIND_A = {"field": "kind", "op": "eq", "value": "a"}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make batches and chunks so small that eight issues make several, in a constant order."""
    monkeypatch.setattr(numbered_turn, "BATCH", 3)
    monkeypatch.setattr(numbered_turn, "CHUNK", 5)
    for module in (concurrency, executor):
        monkeypatch.setattr(module, "ThreadPoolExecutor", Pool)


@pytest.fixture
def table() -> MemoryTable:
    """Issues 1 to 8 of the kind a, and 9 of the kind b."""
    table = MemoryTable()
    projects.create_project(table, ADMIN, {"name": "Bridge", "id": PROJECT})
    for body in (
        {"name": "Kind", "id": "kind", "type": "enum", "options": ["a", "b", "c"]},
        {"name": "Cost", "id": "cost", "type": "number"},
        {"name": "Bare", "id": "bare", "type": "number", "indexed": False},
    ):
        attributes.create_attribute(table, Catalogs(), ADMIN, PROJECT, body)
    catalog = now(table)
    for num in range(1, ISSUES + 2):
        kind = "a" if num <= ISSUES else "b"
        fields = {"kind": kind, "cost": num, "bare": num % 2}
        issues.create_issue(WriteContext(table, catalog, ADMIN), {"name": f"issue {num}", "fields": fields})
    index(table)
    return table


def index(table: MemoryTable) -> None:
    """Put all derived data of the issues of a project that has none yet."""
    catalog = now(table)
    documents = [item for (_, sk), item in table.items.items() if sk == keys.project(TENANT, PROJECT)]
    for one in documents:
        table.batch_put(derived_items(catalog, one))
    for chain in blocks_of(catalog, documents):
        for block in chain:
            table.put(block.to_item(TENANT, PROJECT))


def now(table: Table) -> Catalog:
    return Catalogs().get(table, TENANT, PROJECT)


def start(table: Table, body: dict[str, Any], actor: Actor = BEN, change: UUID = CHANGE) -> str:
    kind, parsed = (JobKind.UPDATE, parse_update) if is_edit(body) else (JobKind.DELETE, parse_delete)
    asked = parsed(now(table), body, (), Reference.of(actor.user)).to_stored()
    job: str = jobs.start(table, actor, PROJECT, kind, asked, change)["id"]
    return job


CHANGES: dict[str, dict[str, Any]] = {
    "set": {"filter": KIND_A, "set": {"fields": {"kind": "b", "cost": 70}}},
    "delete": {"filter": KIND_A},
    # There is always another s: no document shows that it has all that it is to have.
    "replace": {"filter": KIND_A, "replace": {"fields": ["name"], "find": "s", "with": "ss"}},
    "copy": {"filter": KIND_A, "copy": {"from": "cost", "to": "name"}},
}


def is_edit(body: dict[str, Any]) -> bool:
    """Whether a job edits issues, and does not delete them."""
    return body.keys() != {"filter"}


@pytest.fixture(params=sorted(CHANGES))
def body(request: pytest.FixtureRequest) -> dict[str, Any]:
    return CHANGES[request.param]


def turn(
    table: Table,
    hint: Hint,
    left: Callable[[], float] = lambda: 60.0,
    rate: int = 0,
    role_of: RoleOf = unknown_roles,
) -> Turn | None:
    changes = BulkChanges(table, Catalogs(), WriteRate(rate, lambda: None))
    works = {JobKind.UPDATE: changes, JobKind.DELETE: changes}
    return LineWorker(table, works, role_of).take_turn(hint, left)


def due_lines(table: Table) -> list[Hint]:
    return [hint for hint in due_jobs(table) if keys.is_job_line(hint.partition)]


def work(table: Table, **options: Any) -> list[Turn]:
    """Run a turn for each line that is due."""
    found = (turn(table, hint, **options) for hint in due_lines(table))
    return [one for one in found if one is not None]


def finish(table: Table, time: Passing, job: str, **options: Any) -> Any:
    """Work until the job is over, with all of its waits."""
    for _ in range(30):
        time.over += LEASE + 1
        work(table, **options)
        found = jobs.get_job(table, BEN, PROJECT, job)
        if found["state"] in ("done", "failed", "cancelled") and not due_lines(table):
            return found
    raise AssertionError(found)


def stored(table: Table, num: int) -> Item | None:
    return living(table.get(keys.issue(TENANT, PROJECT, num), keys.project(TENANT, PROJECT)))


def refused(table: Table, job: str) -> dict[int, str]:
    page = jobs.list_refused(table, BEN, PROJECT, job, {}, Cursors([b"of the tests"], "refused"))
    return {one["num"]: one["problem"]["type"] for one in page["items"]}


def is_own_write(attempted: Attempted) -> bool:
    """Whether a call writes a document, or puts one into the trash."""
    about_issue = attempted.key[0].startswith(keys.ISSUE_PREFIX) and attempted.writes
    return about_issue and (
        attempted.operation == "update" or (attempted.item or {})["change"] == CHANGE.bytes
    )


class Written(Counter[int]):
    """Counts the job's writes of each issue, by the calls that were carried out."""

    def around(self, attempted: Attempted, perform: Callable[[], Any]) -> Any:
        result = perform()
        if is_own_write(attempted):
            self[keys.parse_issue(attempted.key[0]).num] += 1
        return result


def killing(at: int, written: Written, *, after: bool) -> Callable[[Attempted, Callable[[], Any]], Any]:
    """Kills just before, or after, the call of this number."""
    calls = iter(range(1, 10_000))

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        call = next(calls)
        if call == at and not after:
            raise Killed
        result = written.around(attempted, perform)
        if call == at:
            raise Killed
        return result

    return around


def killed_copies(
    table: MemoryTable, time: Passing, every: int = 19
) -> Iterator[tuple[MemoryTable, Written]]:
    """The table after a worker was killed, before or after each of its calls in turn; and its writes."""
    step, killed, began = one_of(every), 0, time.over
    for after in (False, True):
        for at in range(1 + after, 10_000, step):
            copy, written = table.copy(), Written()
            time.over = began
            try:
                work(copy.seen_through(killing(at, written, after=after)))
            except Killed:
                killed += 1
                yield copy, written
            else:
                break
    assert killed > 30 / step


def is_as_wanted(table: Table, body: dict[str, Any], num: int) -> bool:
    found = stored(table, num)
    if not is_edit(body):
        return found is None
    if "replace" in body and (found is None or found["name"] != f"issssue {num}"):
        return False
    return found is not None and (found["updated_by"], found.get("change")) == (BEN.user, CHANGE.bytes)


def test_everything_that_matches_is_changed_once_as_one_change_of_the_user(
    table: MemoryTable, time: Passing, body: dict[str, Any]
) -> None:
    job, written = start(table, body), Written()
    ended = finish(table.seen_through(written.around), time, job)
    assert (ended["state"], ended["done"], ended["total"], ended["refused"]) == ("done", ISSUES, ISSUES, 0)
    assert written == Counter(range(1, ISSUES + 1))
    assert all(is_as_wanted(table, body, num) for num in range(1, ISSUES + 1))
    untouched = stored(table, ISSUES + 1)
    assert untouched is not None
    assert untouched["version"] == 1


def test_a_worker_that_is_killed_at_any_call_is_followed_by_one_that_writes_nothing_twice(
    table: MemoryTable, time: Passing, body: dict[str, Any]
) -> None:
    job = start(table, body)
    for copy, written in killed_copies(table, time):
        ended = finish(copy.seen_through(written.around), time, job)
        assert (ended["state"], ended["done"], ended["total"], ended["refused"]) == (
            "done",
            ISSUES,
            ISSUES,
            0,
        )
        assert written == Counter(range(1, ISSUES + 1))
        assert all(is_as_wanted(copy, body, num) for num in range(1, ISSUES + 1))


def edit(table: Table, num: int, **fields: Any) -> None:
    """An edit by someone else, of an issue that may be gone."""
    with suppress(NotFound):
        issues.update_issue(WriteContext(table, now(table), ADMIN), num, {"fields": fields}, None)


@pytest.mark.parametrize("edits", [1, 2])
@pytest.mark.parametrize("fields", [{"cost": 1}, {"bare": 7}, {"kind": "c"}, {"kind": "a", "cost": 2}])
def test_edits_of_others_after_a_kill_stay_and_no_issue_is_written_twice(
    table: MemoryTable, time: Passing, body: dict[str, Any], fields: dict[str, Any], edits: int
) -> None:
    job, all_edits = start(table, body), [fields, {"bare": 100}][:edits]
    last = {name: value for one in all_edits for name, value in one.items()}
    for copy, written in killed_copies(table, time, every=16):
        before = Counter(written)
        for num in range(1, ISSUES + 1):
            for later in all_edits:
                edit(copy, num, **later)
        ended = finish(copy.seen_through(written.around), time, job)
        assert max(written.values(), default=1) == 1
        assert (ended["state"], ended["done"] + ended["refused"]) == ("done", ended["total"])
        assert len(refused(copy, job)) == ended["refused"]
        for num in range(1, ISSUES + 1):
            found = stored(copy, num)
            if is_edit(body) and before[num]:
                assert found is not None
                assert all(
                    found["fields"][_key(name)] == value for name, value in stored_values(last).items()
                )
            elif written[num]:
                assert is_as_wanted(copy, body, num)
            else:
                assert found is not None
                assert num in refused(copy, job)


@pytest.mark.parametrize("kind", ["set", "replace", "copy"])
@pytest.mark.parametrize("fields", [{"cost": 1}, {"bare": 7}])
def test_the_history_of_an_issue_decides_whether_the_job_has_written_it(
    table: MemoryTable, time: Passing, fields: dict[str, Any], kind: str
) -> None:
    """Two edits by others while the worker is dead; the consumer has processed everything."""
    job, body = start(table, CHANGES[kind]), CHANGES[kind]
    for copy, written in killed_copies(table, time, every=14):
        before = Counter(written)
        for num in range(1, ISSUES + 1):
            first = stored(copy, num)
            edit(copy, num, **fields)
            edit(copy, num, bare=100)
            assert first is not None
            if first["version"] > 1:
                remember(copy, num, 2, BEN.user, CHANGE.bytes)
            else:
                remember(copy, num, 2, ADMIN.user, None)
        ended = finish(copy.seen_through(written.around), time, job)
        assert (ended["done"], ended["refused"], max(written.values())) == (ISSUES, 0, 1)
        for num in range(1, ISSUES + 1):
            found = stored(copy, num)
            assert found is not None
            assert is_as_wanted(copy, body, num) != bool(before[num])


def remember(table: Table, num: int, version: int, by: str, change: bytes | None) -> None:
    """Record a change as the consumer does."""
    change_ = Change(num, version, "update", by, clock.now(), change, {})
    for item in to_items(TENANT, PROJECT, change_, clock.expiry(1)):
        table.put(item)


def _key(name: str) -> str:
    return {"kind": "a1", "cost": "a2", "bare": "a3"}[name]


def stored_values(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: {"a": "o1", "b": "o2", "c": "o3"}.get(value, value) for name, value in fields.items()}


def test_a_late_write_of_a_dead_worker_is_known_for_the_job_s_own(
    table: MemoryTable, time: Passing, body: dict[str, Any]
) -> None:
    """The dead worker's first write is carried out before each call of the next worker in turn."""
    job = start(table, body)
    for at in range(1, 100, one_of(15)):
        copy, began, written = table.copy(), time.over, Written()
        kept: list[tuple[Attempted, Callable[[], Any]]] = []

        def dying(
            attempted: Attempted,
            perform: Callable[[], Any],
            kept: list[tuple[Attempted, Callable[[], Any]]] = kept,
        ) -> Any:
            if is_own_write(attempted):
                kept.append((attempted, perform))
                raise Killed
            return perform()

        with pytest.raises(Killed):
            work(copy.seen_through(dying))
        calls = iter(range(1, 10_000))

        def around(
            attempted: Attempted,
            perform: Callable[[], Any],
            calls: Iterator[int] = calls,
            kept: list[tuple[Attempted, Callable[[], Any]]] = kept,
            written: Written = written,
            at: int = at,
        ) -> Any:
            if next(calls) == at:
                with suppress(ConditionFailed):
                    written.around(*kept[0])
            return written.around(attempted, perform)

        ended = finish(copy.seen_through(around), time, job)
        assert (ended["done"], ended["refused"]) == (ISSUES, 0)
        assert max(written.values(), default=1) == 1
        time.over = began


def test_a_replacement_that_never_settles_is_made_once_where_the_user_writes_beside_it(
    table: MemoryTable, time: Passing
) -> None:
    """The user's own writes under the change's id are not the job's: these have its mark."""
    job, body = start(table, CHANGES["replace"]), CHANGES["replace"]
    for copy, written in killed_copies(table, time, every=14):
        before = Counter(written)
        for num in range(1, ISSUES + 1):
            if not before[num]:
                context = WriteContext(copy, now(copy), BEN, CHANGE)
                issues.update_issue(context, num, {"fields": {"bare": 3}}, None)
        ended = finish(copy.seen_through(written.around), time, job)
        assert (ended["done"], ended["refused"]) == (ISSUES, 0)
        assert written == Counter(range(1, ISSUES + 1))
        assert all(is_as_wanted(copy, body, num) for num in range(1, ISSUES + 1))


@pytest.mark.parametrize("kind", ["set", "replace", "copy"])
def test_a_dry_run_writes_no_issue_and_counts_each_once_however_its_workers_die(
    table: MemoryTable, time: Passing, kind: str
) -> None:
    asked = {**CHANGES[kind], "dry_run": True}
    job, before = start(table, asked), stored(table, 1)
    for copy, written in killed_copies(table, time):
        ended = finish(copy.seen_through(written.around), time, job)
        assert (ended["state"], ended["done"], ended["total"]) == ("done", ISSUES, ISSUES)
        assert (ended["changed"], ended["change"], len(ended["examples"])) == (
            ISSUES,
            None,
            10 if kind == "set" else 8,
        )
        assert not written
        assert stored(copy, 1) == before
    assert [one["num"] for one in ended["examples"]] == sorted(one["num"] for one in ended["examples"])
    first = {
        "set": ("kind", "a", "b"),
        "replace": ("name", "issue 1", "issssue 1"),
        "copy": ("name", "issue 1", "1"),
    }
    assert tuple(ended["examples"][0][name] for name in ("field", "old", "new")) == first[kind]


def test_a_dry_run_counts_no_issue_that_would_stay_as_it_is(table: MemoryTable, time: Passing) -> None:
    asked = {"filter": None, "set": {"fields": {"bare": 1}}, "dry_run": True}
    ended = finish(table, time, start(table, asked))
    assert (ended["done"], ended["changed"]) == (ISSUES + 1, ISSUES // 2)


def test_an_issue_that_is_edited_just_before_it_is_written_is_decided_again(
    table: MemoryTable, time: Passing
) -> None:
    job, seen = start(table, CHANGES["set"]), set[int]()

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if is_own_write(attempted) and (num := keys.parse_issue(attempted.key[0]).num) not in seen:
            seen.add(num)
            edit(table, num, **({"kind": "c"} if num == 2 else {"bare": 50}))
        return perform()

    ended = finish(table.seen_through(around), time, job)
    assert (ended["done"], ended["refused"], refused(table, job)) == (ISSUES - 1, 1, {2: "conflict"})
    for num in {*range(1, ISSUES + 1)} - {2}:
        document = stored(table, num)
        assert document is not None
        assert (document["version"], document["fields"]) == (3, {"a1": "o2", "a2": 70, "a3": 50})


def test_an_issue_that_others_keep_changing_is_refused_in_the_end(table: MemoryTable, time: Passing) -> None:
    job = start(table, CHANGES["set"])
    attempts: Counter[int] = Counter()

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if is_own_write(attempted) and keys.parse_issue(attempted.key[0]).num == 5:
            attempts[5] += 1
            edit(table, 5, bare=attempts[5] + 100)
        return perform()

    ended = finish(table.seen_through(around), time, job)
    assert (ended["done"], refused(table, job)) == (ISSUES - 1, {5: "conflict"})
    assert attempts[5] == TRIES


def test_issues_that_cannot_be_written_are_refused_with_a_reason(table: MemoryTable, time: Passing) -> None:
    catalog = now(table)
    attributes.create_attribute(
        table, Catalogs(), ADMIN, PROJECT, {"name": "Due", "type": "date", "id": "due"}
    )
    attributes.update_attribute(
        table, Catalogs(), ADMIN, PROJECT, "cost", {"required": True}, None, settling=0
    )
    issues.delete_issue(WriteContext(table, catalog, ADMIN), 3, None)
    table.remove(keys.issue(TENANT, PROJECT, 4), keys.project(TENANT, PROJECT), [("fields", "a2")])
    edit(table, 5, kind="b")
    job = start(table, {"filter": KIND_A, "set": {"fields": {"due": "2024-01-01"}}})
    ended = finish(table, time, job)
    assert (ended["state"], ended["done"], ended["refused"], ended["total"]) == (
        "done",
        ISSUES - 3,
        3,
        ISSUES,
    )
    assert refused(table, job) == {3: "not-found", 4: "invalid-request", 5: "conflict"}


@pytest.mark.parametrize(
    "only",
    [{"field": "bare", "op": "eq", "value": 1}, {"and": [KIND_A, {"field": "bare", "op": "eq", "value": 1}]}],
)
def test_documents_decide_which_candidates_belong_to_the_job(
    table: MemoryTable, time: Passing, only: dict[str, Any]
) -> None:
    job = start(table, {"filter": only, "set": {"state": "closed"}})
    ended = finish(table, time, job)
    matching = [1, 3, 5, 7, *([9] if "field" in only else [])]
    assert (ended["done"], ended["total"], ended["refused"]) == (len(matching), len(matching), 0)
    documents = {num: stored(table, num) for num in range(1, ISSUES + 2)}
    assert [num for num, one in documents.items() if one is not None and one["version"] == 2] == matching


def test_rows_of_an_order_are_changed_and_no_others(table: MemoryTable, time: Passing) -> None:
    rows = {"sort": [{"field": "cost", "direction": "desc"}], "from": 1, "to": 3}
    finish(table, time, start(table, {"filter": KIND_A, "rows": rows, "set": {"state": "closed"}}))
    documents = {num: stored(table, num) for num in range(1, ISSUES + 2)}
    assert [num for num, one in documents.items() if one is not None and one["version"] == 2] == [5, 6, 7]


def test_nothing_at_all_is_done_at_once(table: MemoryTable, time: Passing) -> None:
    only = {"field": "cost", "op": "gt", "value": 100}
    ended = finish(table, time, start(table, {"filter": only, "set": {"state": "closed"}}))
    assert (ended["state"], ended["total"], ended["done"]) == ("done", 0, 0)


def test_an_issue_with_the_wanted_values_counts_as_done_and_is_not_written(
    table: MemoryTable, time: Passing
) -> None:
    written = Written()
    job = start(table, {"filter": KIND_A, "set": {"fields": {"cost": 4}}})
    ended = finish(table.seen_through(written.around), time, job)
    assert ended["done"] == ISSUES
    assert written == Counter({*range(1, ISSUES + 1)} - {4})


# Cancelling


class Cancelling:
    """Cancels a job just before a call, and checks that nothing is written after the next save of the job."""

    def __init__(self, table: MemoryTable, job: str, at: int) -> None:
        self.written = Written()
        self._table = table
        self._job = job
        self._calls_left = at
        self._saved = False

    def around(self, attempted: Attempted, perform: Callable[[], Any]) -> Any:
        self._calls_left -= 1
        if self._calls_left == 0:
            jobs.cancel_job(self._table, BEN, PROJECT, self._job)
        assert not (self._saved and is_own_write(attempted))
        result = self.written.around(attempted, perform)
        self._saved |= self._calls_left <= 0 and attempted.writes and attempted.key[1] == self._job
        return result


def test_a_job_that_is_cancelled_at_any_call_reports_what_it_has_done(
    table: MemoryTable, time: Passing, body: dict[str, Any]
) -> None:
    job, began = start(table, body), time.over
    some = set()
    for at in range(1, 1000, one_of(7)):
        copy = table.copy()
        cancelling = Cancelling(copy, job, at)
        time.over = began
        work(copy.seen_through(cancelling.around))
        ended = finish(copy.seen_through(cancelling.written.around), time, job)
        if ended["state"] == "done":
            break
        assert ended["state"] == "cancelled"
        assert ended["ended"] is not None
        assert ended["done"] == cancelling.written.total()
        some.add(ended["done"])
    assert {0, 3} <= some
    assert ended["done"] == ISSUES


def test_a_job_that_is_cancelled_while_its_worker_is_dead_counts_what_was_written(
    table: MemoryTable, time: Passing, body: dict[str, Any]
) -> None:
    job = start(table, body)
    for copy, written in killed_copies(table, time):
        jobs.cancel_job(copy, BEN, PROJECT, job)
        before = written.total()
        ended = finish(copy.seen_through(written.around), time, job)
        assert ended["done"] == written.total() == before
        assert ended["refused"] == 0 or ended["state"] == "done"
        assert ended["state"] == (
            "done" if ended["done"] == ISSUES and ended["state"] == "done" else "cancelled"
        )


class Failing:
    """Fails one call of a turn, by its number."""

    def __init__(self, at: int, failure: Exception) -> None:
        self._calls_left = at
        self._failure = failure

    @property
    def failed(self) -> bool:
        return self._calls_left <= 0

    def around(self, _: Attempted, perform: Callable[[], Any]) -> Any:
        self._calls_left -= 1
        if self._calls_left == 0:
            raise self._failure
        return perform()


@pytest.mark.parametrize("failure", [Overloaded("The table is busy; try again."), ZeroDivisionError()])
@pytest.mark.parametrize("state", ["cancelled", "failed"])
def test_a_job_that_is_over_keeps_its_turns_until_its_writes_are_counted(
    table: MemoryTable, time: Passing, state: str, failure: Exception
) -> None:
    """A worker dies after it wrote two issues. Then the job is cancelled, or its user loses the right to it, and a call
    of the next turn fails.
    """
    job, written = start(table, CHANGES["set"]), Written()
    lost: dict[str, Any] = {} if state == "cancelled" else {"role_of": lambda *_: None}

    def dying(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        result = written.around(attempted, perform)
        if written.total() == 2:
            raise Killed
        return result

    with suppress(Killed):
        work(table.seen_through(dying))
    if state == "cancelled":
        jobs.cancel_job(table, BEN, PROJECT, job)
    began = time.over + LEASE + 1
    for at in range(1, 1_000):
        copy, failing, time.over = table.copy(), Failing(at, failure), began
        with suppress(type(failure)):
            work(copy.seen_through(failing.around), **lost)
        if not failing.failed:
            break
        ended = finish(copy, time, job, **lost)
        assert (ended["state"], ended["done"], written.total()) == (state, 2, 2)
    assert at > 5


def test_a_job_that_is_over_cannot_be_cancelled_any_more(table: MemoryTable, time: Passing) -> None:
    job = start(table, CHANGES["set"])
    ended = finish(table, time, job)
    jobs.cancel_job(table, BEN, PROJECT, job)
    assert jobs.get_job(table, BEN, PROJECT, job) == ended


# Waiting


def test_a_job_waits_while_the_index_lags(
    table: MemoryTable, time: Passing, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lag(seconds: float) -> None:
        note = freshness.Note(clock.seconds(), seconds)
        monkeypatch.setattr(freshness, "read", lambda *_: freshness.Lag(clock.seconds(), note, None))

    job = start(table, CHANGES["set"])
    lag(numbered_turn.TOLERATED_LAG + 1)
    (waited,) = work(table)
    assert waited.issues == 0
    assert RETRY - 1 < clock.until(waited.hints[0].due) <= RETRY
    assert jobs.get_job(table, BEN, PROJECT, job)["total"] is None
    lag(numbered_turn.TOLERATED_LAG)
    assert finish(table, time, job)["done"] == ISSUES


def test_a_job_keeps_to_the_rate_of_its_tenant(table: MemoryTable, time: Passing) -> None:
    """Half a write a second: five in a window, which are the two batches of the first chunk."""
    time.over = -clock.seconds() % WINDOW  # no other window begins meanwhile
    job, done = start(table, CHANGES["set"]), [0]
    rate = WriteRate(1, lambda: None, 0.5)
    assert rate.most == 5
    while due_lines(table):
        (due,) = due_lines(table)
        changes = BulkChanges(table, Catalogs(), rate)
        ended = LineWorker(table, {JobKind.UPDATE: changes}).take_turn(due, lambda: 60.0)
        assert ended is not None
        done.append(jobs.get_job(table, BEN, PROJECT, job)["done"])
        for hint in ended.hints:
            assert 0 < clock.until(hint.due) <= 10
            time.over += 10
    assert done == [0, 5, ISSUES]


def test_a_batch_is_no_larger_than_a_window_of_the_rate(
    table: MemoryTable, time: Passing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numbered_turn, "BATCH", 100)
    written, rate = Written(), WriteRate(1, lambda: None, 0.2)
    job = start(table, CHANGES["set"])
    watched = table.seen_through(written.around)
    (due,) = due_lines(table)
    LineWorker(watched, {JobKind.UPDATE: BulkChanges(watched, Catalogs(), rate)}).take_turn(due, lambda: 60.0)
    assert written.total() == 2 == rate.most
    assert jobs.get_job(table, BEN, PROJECT, job)["done"] == 2


def test_a_job_that_the_table_refuses_waits_a_little_and_writes_nothing_twice(
    table: MemoryTable, time: Passing
) -> None:
    job, written = start(table, CHANGES["set"]), Written()
    busy = iter([False, True, False] * 3)

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        result = written.around(attempted, perform)
        if is_own_write(attempted) and next(busy, False):
            raise Overloaded("The table is busy; try again.")
        return result

    (waited,) = work(table.seen_through(around))
    assert waited.refusals == 1
    assert RETRY - 1 < clock.until(waited.hints[0].due) <= RETRY
    ended = finish(table.seen_through(around), time, job)
    assert ended["done"] == ISSUES
    assert max(written.values(), default=1) == 1


def test_a_turn_ends_when_its_time_is_up_and_another_continues(table: MemoryTable, time: Passing) -> None:
    job = start(table, CHANGES["set"])
    left = iter([60.0] * 3)
    (ended,) = work(table, left=lambda: next(left, 0.0))
    assert ended.issues == 3
    assert jobs.get_job(table, BEN, PROJECT, job)["done"] == 3
    (hint,) = ended.hints
    again = turn(table, hint)
    assert again is not None
    assert (again.issues, again.hints) == (ISSUES - 3, ())


# Concurrent changes


def test_fields_and_options_may_be_renamed_while_a_job_goes_on(table: MemoryTable, time: Passing) -> None:
    job = start(table, {"filter": KIND_A, "set": {"fields": {"kind": "b"}}})
    left = iter([60.0] * 3)
    work(table, left=lambda: next(left, 0.0))
    renamed = {"name": "Sort", "options": [{"id": "o1", "value": "b"}, {"id": "o2", "value": "a"}, "c"]}
    attributes.update_attribute(table, Catalogs(), ADMIN, PROJECT, "kind", renamed, None, settling=0)
    ended = finish(table, time, job)
    assert (ended["done"], ended["refused"]) == (ISSUES, 0)
    documents = [stored(table, num) for num in range(1, ISSUES + 1)]
    assert all(one is not None and one["fields"]["a1"] == "o2" for one in documents)


@pytest.mark.parametrize("deleted", ["kind", "cost"])
def test_a_job_fails_if_its_filter_or_values_lose_their_field(
    table: MemoryTable, time: Passing, deleted: str
) -> None:
    job = start(table, {"filter": KIND_A, "set": {"fields": {"cost": 70}}})
    left = iter([60.0] * 3)
    work(table, left=lambda: next(left, 0.0))
    attributes.delete_attribute(table, Catalogs(), ADMIN, PROJECT, deleted, None)
    ended = finish(table, time, job)
    assert (ended["state"], ended["done"], ended["problem"]["type"]) == ("failed", 3, "conflict")


def test_a_job_that_waits_fails_if_its_order_loses_its_field(table: MemoryTable, time: Passing) -> None:
    rows = {"sort": [{"field": "cost"}], "from": 0, "to": 2}
    job = start(table, {"filter": None, "rows": rows, "set": {"state": "closed"}})
    attributes.delete_attribute(table, Catalogs(), ADMIN, PROJECT, "cost", None)
    ended = finish(table, time, job)
    assert (ended["state"], ended["done"], ended["problem"]["type"]) == ("failed", 0, "conflict")


def test_a_job_fails_if_its_option_is_dropped(table: MemoryTable, time: Passing) -> None:
    job = start(
        table, {"filter": {"field": "kind", "op": "eq", "value": "b"}, "set": {"fields": {"kind": "c"}}}
    )
    options = {"options": [{"id": "o1", "value": "a"}, {"id": "o2", "value": "b"}]}
    attributes.update_attribute(table, Catalogs(), ADMIN, PROJECT, "kind", options, None, settling=0)
    ended = finish(table, time, job)
    assert ended["state"] == "failed"
    assert ended["problem"]["type"] == "conflict"


def test_a_job_of_a_project_that_is_deleted_fails(table: MemoryTable, time: Passing) -> None:
    job = start(table, CHANGES["set"])
    left = iter([60.0] * 3)
    work(table, left=lambda: next(left, 0.0))
    projects.delete_project(table, Catalogs(), ADMIN, PROJECT, None)
    ended = finish(table, time, job)
    assert (ended["state"], ended["problem"]["type"]) == ("failed", "not-found")


# The line


def test_the_jobs_of_a_project_take_turns(table: MemoryTable, time: Passing) -> None:
    first = start(table, {"filter": KIND_A, "set": {"fields": {"cost": 70}}})
    second = start(table, {"filter": KIND_A, "set": {"state": "closed"}})
    seen = []
    for _ in range(20):
        due = due_lines(table)
        if not due:
            break
        (hint,) = due
        left = iter([60.0] * 3)
        turn(table, hint, left=lambda left=left: next(left, 0.0))  # type: ignore[misc]
        seen.append([jobs.get_job(table, BEN, PROJECT, one)["done"] for one in (first, second)])
    assert seen[:4] == [[3, 0], [3, 3], [5, 3], [5, 5]]
    assert seen[-1] == [ISSUES, ISSUES]


def test_a_hint_is_heeded_once_and_the_lease_keeps_others_away(table: MemoryTable, time: Passing) -> None:
    start(table, CHANGES["set"])
    (hint,) = due_lines(table)
    assert turn(table, hint._replace(due=clock.after(0))) is None

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "batch_get":
            assert turn(table, hint) is None
            assert due_lines(table) == []
        return perform()

    assert turn(table.seen_through(around), hint) is not None
    assert turn(table, hint) is None


def test_a_hint_at_a_job_that_late_copies_of_the_table_lack_is_heeded(table: MemoryTable) -> None:
    table.stale(lambda key, states: states if key[1] == keys.LINE else 0)
    start(table, CHANGES["set"])
    (hint,) = due_lines(table)
    worker = LineWorker(table, {JobKind.UPDATE: lambda *_: 60.0})
    assert worker.take_turn(hint, lambda: 60.0) is not None


def test_a_worker_without_its_lease_writes_no_more_of_the_job(table: MemoryTable, time: Passing) -> None:
    job, written = start(table, CHANGES["set"]), Written()
    overtaken: list[Any] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if is_own_write(attempted) and not overtaken:
            overtaken.append(None)
            overtaken.append(finish(table.seen_through(written.around), time, job))
        return written.around(attempted, perform)

    work(table.seen_through(around))
    assert overtaken[1] == jobs.get_job(table, BEN, PROJECT, job)
    assert (overtaken[1]["done"], max(written.values())) == (ISSUES, 1)


def test_a_job_that_joins_while_another_has_its_turn_gets_one_too(table: MemoryTable, time: Passing) -> None:
    first, joined = start(table, CHANGES["set"]), list[str]()

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if is_own_write(attempted) and not joined:
            joined.append(start(table, {"filter": None, "set": {"state": "closed"}}))
        return perform()

    (ended,) = work(table.seen_through(around))
    assert len(ended.hints) == 1
    assert finish(table, time, joined[0])["done"] == ISSUES + 1
    assert jobs.get_job(table, BEN, PROJECT, first)["done"] == ISSUES


def test_a_job_that_fails_by_our_fault_is_given_up_after_a_while(
    table: MemoryTable, time: Passing, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = start(table, CHANGES["set"])
    other = start(table, {"filter": KIND_A, "set": {"state": "closed"}})
    real = BulkChanges.__call__

    def broken(self: BulkChanges, held: job_line.HeldJob, left: Callable[[], float]) -> float:
        if held.job.id == job:
            raise ZeroDivisionError
        return real(self, held, left)

    monkeypatch.setattr(BulkChanges, "__call__", broken)
    failures = 0
    for _ in range(MOST_FAILURES * 3):
        time.over += LEASE + 1
        try:
            work(table)
        except ZeroDivisionError:
            failures += 1
    ended = jobs.get_job(table, BEN, PROJECT, job)
    assert (failures, ended["state"]) == (MOST_FAILURES, "failed")
    assert ended["problem"]["type"] == "internal"
    assert jobs.get_job(table, BEN, PROJECT, other)["done"] == ISSUES


def test_a_job_that_outgrows_its_item_delays_no_other_job(
    table: MemoryTable, time: Passing, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = start(table, CHANGES["set"])
    other = start(table, {"filter": KIND_A, "set": {"state": "closed"}})
    real = BulkChanges.__call__

    def growing(self: BulkChanges, held: job_line.HeldJob, left: Callable[[], float]) -> float:
        if held.job.id == job:
            held.note(replace(held.job, preview=Preview(1, ({"new": "x" * 500_000},))))
            return 0.0
        return real(self, held, left)

    monkeypatch.setattr(BulkChanges, "__call__", growing)
    for _ in range(MOST_FAILURES * 3):
        time.over += LEASE + 1
        with suppress(ItemTooLarge):
            work(table)
    assert jobs.get_job(table, BEN, PROJECT, other)["done"] == ISSUES
    ended = jobs.get_job(table, BEN, PROJECT, job)
    assert (ended["state"], ended["problem"]["type"]) == ("failed", "internal")


def test_a_failure_that_cannot_be_noted_delays_no_other_job(
    table: MemoryTable, time: Passing, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = start(table, CHANGES["set"])
    other = start(table, {"filter": KIND_A, "set": {"state": "closed"}})
    real = BulkChanges.__call__

    def broken(self: BulkChanges, held: job_line.HeldJob, left: Callable[[], float]) -> float:
        if held.job.id == job:
            monkeypatch.setattr(held, "save", broken_too)
            raise ZeroDivisionError
        return real(self, held, left)

    def broken_too(_: object) -> None:
        raise ValueError

    monkeypatch.setattr(BulkChanges, "__call__", broken)
    for _ in range(3):
        time.over += LEASE + 1
        with suppress(ValueError):
            work(table)
    assert jobs.get_job(table, BEN, PROJECT, other)["done"] == ISSUES


def test_an_expired_job_leaves_the_line(table: MemoryTable, time: Passing) -> None:
    job = start(table, CHANGES["set"])
    table.delete(keys.jobs(TENANT, PROJECT), job)
    work(table)
    assert due_lines(table) == []
