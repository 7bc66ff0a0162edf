"""Exports: killed at every call, overtaken by edits, late, cancelled. At most one whole file, of one instant, each row
once.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest

from devtools.local.bulk import blocks_of
from devtools.local.derived_items import derived_items
from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.strands import Pool
from gridview.commands import attributes, issues, jobs, projects, trash
from gridview.commands.actor import Actor, Role
from gridview.commands.context import WriteContext
from gridview.dynamodb.leases import LEASE
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.consistency import RecentWrites
from gridview.journal import history
from gridview.maintenance import export
from gridview.maintenance.export import Exports
from gridview.maintenance.export_files import ExportFiles
from gridview.maintenance.export_request import parse_export
from gridview.maintenance.job_line import LineWorker
from gridview.maintenance.job_worker import due_jobs
from gridview.query import executor
from gridview.query.references import Reference
from gridview.schema.catalog import HISTORY, Catalog
from gridview.schema.jobs import Hint
from gridview.schema.store import Catalogs
from gridview.schema.user_jobs import JobKind
from gridview.support import clock, concurrency
from gridview.support.errors import Overloaded
from tests.support.depth import one_of
from tests.support.exports import MemoryS3
from tests.support.killed import Killed, killing
from tests.support.passing import Passing

pytestmark = pytest.mark.usefixtures("no_pauses")

TENANT, PROJECT = "acme", "bridge"
ADMIN = Actor(TENANT, "ada", Role.ADMIN)
BEN = Actor(TENANT, "ben", Role.VIEWER)
CHANGE = UUID("5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3")
ISSUES = 9
KIND_A = {"field": "kind", "op": "eq", "value": "a"}
COLUMNS = ["num", "name", "kind", "cost"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make batches, chunks and parts so small that nine issues make several, in a constant order."""
    monkeypatch.setattr(export, "BATCH", 2)
    monkeypatch.setattr(export, "CHUNK", 5)
    monkeypatch.setattr(export, "PART", 40)
    for module in (concurrency, executor):
        monkeypatch.setattr(module, "ThreadPoolExecutor", Pool)


class World:
    """A table with the history of its issues, and S3."""

    def __init__(self, table: MemoryTable, s3: MemoryS3) -> None:
        self.table, self.s3 = table, s3
        self.waiting: list[dict[str, Any]] = []
        table.set_listener(self._receive)

    def _receive(self, old: Any, new: Any) -> None:
        one = new or old or {}
        if keys.is_issue(one[keys.PK]) and keys.is_project(one[keys.SK]):
            self.waiting.append(record(len(self.waiting) + 1, old, new))

    def remember(self) -> None:
        """Let the consumer process everything."""
        shown, self.waiting = self.waiting, []
        history.record(self.table, shown, lambda _: HISTORY)

    def copy(self) -> "World":
        return World(self.table.copy(), self.s3.copy())


@pytest.fixture
def world() -> World:
    """Issues 1 to 8 of the kind a, and 9 of the kind b."""
    table = MemoryTable()
    projects.create_project(table, ADMIN, {"name": "Bridge", "id": PROJECT})
    for body in (
        {"name": "Kind", "id": "kind", "type": "enum", "options": ["a", "b"]},
        {"name": "Cost", "id": "cost", "type": "number"},
        {"name": "Bare", "id": "bare", "type": "number", "indexed": False},
    ):
        attributes.create_attribute(table, Catalogs(), ADMIN, PROJECT, body)
    catalog = now(table)
    for num in range(1, ISSUES + 1):
        fields = {"kind": "a" if num < ISSUES else "b", "cost": -num, "bare": num % 2}
        issues.create_issue(WriteContext(table, catalog, ADMIN), {"name": f"issue {num}", "fields": fields})
    documents = [item for (_, sk), item in table.items.items() if sk == keys.project(TENANT, PROJECT)]
    for one in documents:
        table.batch_put(derived_items(catalog, one))
    for chain in blocks_of(catalog, documents):
        for block in chain:
            table.put(block.to_item(TENANT, PROJECT))
    return World(table, MemoryS3())


def now(table: Table) -> Catalog:
    return Catalogs().get(table, TENANT, PROJECT)


def begin(world: World, recent: Any = (), form: str = "csv", **query: Any) -> str:
    body = {"query": {"columns": COLUMNS, **query}, "format": form}
    asked = parse_export(now(world.table), body, recent, lambda _: {}, Reference.of(BEN.user)).to_stored()
    job: str = jobs.start(world.table, BEN, PROJECT, JobKind.EXPORT, asked, CHANGE)["id"]
    return job


def work(world: World, table: Table | None = None, left: Callable[[], float] = lambda: 60.0) -> None:
    """Run a turn for each line that is due."""
    files = ExportFiles("files")
    vars(files)["_s3"] = world.s3
    seen = table or world.table
    for hint in due_lines(world.table):
        LineWorker(seen, {JobKind.EXPORT: Exports(seen, Catalogs(), files)}).take_turn(hint, left)


def due_lines(table: Table) -> list[Hint]:
    return [hint for hint in due_jobs(table) if keys.is_job_line(hint.partition)]


def shown(world: World, job: str) -> Any:
    return jobs.get_job(world.table, BEN, PROJECT, job)


def finish(world: World, time: Passing, job: str) -> Any:
    for _ in range(60):
        time.over += LEASE + 1
        work(world)
        if shown(world, job)["state"] in ("done", "failed", "cancelled") and not due_lines(world.table):
            return shown(world, job)
    raise AssertionError(shown(world, job))


def rows(world: World) -> list[dict[str, str]]:
    (body,) = world.s3.files.values()
    return list(csv.DictReader(io.StringIO(body.decode(), newline="")))


def expected(*numbers: int) -> list[dict[str, str]]:
    return [
        {"num": str(num), "name": f"issue {num}", "Kind": "a" if num < ISSUES else "b", "Cost": str(-num)}
        for num in numbers
    ]


def edit(world: World, num: int, **fields: Any) -> None:
    issues.update_issue(WriteContext(world.table, now(world.table), ADMIN), num, {"fields": fields}, None)


def delete(world: World, num: int) -> None:
    issues.delete_issue(WriteContext(world.table, now(world.table), ADMIN, change=CHANGE), num, None)


def one_step() -> Callable[[], float]:
    """Time for one step of a turn, and no more."""
    answers = iter([60.0, 60.0])
    return lambda: next(answers, 0.0)


def turns(world: World, time: Passing, count: int) -> None:
    """Run so many short turns: the first freezes the rows, each other one writes a batch."""
    for _ in range(count):
        time.over += 1
        work(world, left=one_step())


def test_the_rows_of_a_grid_are_in_the_file_in_its_order(world: World, time: Passing) -> None:
    job = begin(world, filter=KIND_A, sort=[{"field": "cost"}])
    done = finish(world, time, job)
    assert (done["state"], done["done"], done["total"], done["refused"]) == ("done", 8, 8, 0)
    assert rows(world) == expected(*range(8, 0, -1))
    assert not world.s3.uploads


def test_nothing_at_all_and_less_than_a_part_are_files_too(world: World, time: Passing) -> None:
    only = {"field": "cost", "op": "gt", "value": 0}
    assert finish(world, time, begin(world, filter=only))["total"] == 0
    assert list(world.s3.files.values()) == [b"num,name,Kind,Cost\r\n"]
    world.s3.objects.clear()
    finish(world, time, begin(world, filter=only, form="ndjson"))
    assert list(world.s3.files.values()) == [b""]


def test_ndjson_has_the_rows_of_the_api(world: World, time: Passing) -> None:
    finish(world, time, begin(world, form="ndjson", columns=None))
    (body,) = world.s3.files.values()
    found = [json.loads(line) for line in body.splitlines()]
    assert [one["num"] for one in found] == list(range(1, 10))
    assert found[0]["fields"] == {"kind": "a", "cost": -1, "bare": 1}
    assert {"created", "updated", "created_by", "updated_by", "version"} <= found[0].keys()


def test_a_turn_of_any_length_is_enough(world: World, time: Passing) -> None:
    job = begin(world)
    turns(world, time, 20)
    assert shown(world, job)["state"] == "done"
    assert rows(world) == expected(*range(1, 10))


def killed_copies(world: World, time: Passing, every: int = 6) -> Iterator[World]:
    """The world after a worker was killed, before or after each of its calls in turn."""
    step, killed, began = one_of(every), 0, time.over
    for after in (False, True):
        for at in range(1 + after, 10_000, step):
            copy = world.copy()
            time.over = began + 1
            around = killing(at, after=after)  # calls of the table and of S3, counted together
            copy.s3.around = around
            try:
                work(copy, copy.table.seen_through(around))
            except Killed:
                killed += 1
                copy.s3.around = lambda _, perform: perform()
                yield copy
            else:
                break
    assert killed > 40 / step


@pytest.mark.parametrize("form", ["csv", "ndjson"])
def test_a_worker_that_is_killed_at_any_call_is_followed_by_one_that_makes_the_same_file(
    world: World, time: Passing, form: str
) -> None:
    query = {"filter": KIND_A, "sort": [{"field": "cost"}]}
    whole = world.copy()
    finish(whole, time, begin(whole, form=form, **query))
    (body,) = whole.s3.files.values()
    job = begin(world, form=form, **query)
    for copy in killed_copies(world, time):
        done = finish(copy, time, job)
        assert (done["state"], done["done"], done["total"], done["refused"]) == ("done", 8, 8, 0)
        assert list(copy.s3.files.values()) == [body]


def test_a_job_that_is_cancelled_at_any_time_has_no_file(world: World, time: Passing) -> None:
    job = begin(world)
    for count in range(1, 8):
        copy = world.copy()
        turns(copy, time, count)
        if shown(copy, job)["state"] == "done":
            break
        jobs.cancel_job(copy.table, BEN, PROJECT, job)
        done = finish(copy, time, job)
        assert (done["state"], done["url"]) == ("cancelled", None)
        assert not copy.s3.files
        assert not copy.s3.uploads, "an upload that stays incomplete would cost money"
    assert count > 3


# As of one instant


def test_values_are_those_of_the_instant_despite_later_changes(world: World, time: Passing) -> None:
    job = begin(world, filter=KIND_A, sort=[{"field": "cost"}])
    edit(world, 3, bare=5)
    turns(world, time, 1)
    assert shown(world, job)["total"] == 8
    time.over += 1
    for _ in range(2):
        edit(world, 1, kind="b", cost=100 + _)
    delete(world, 2)
    edit(world, 9, kind="a")
    delete(world, 4)
    trash.restore_issue(world.table, now(world.table), ADMIN, 4, change=CHANGE)
    issues.create_issue(
        WriteContext(world.table, now(world.table), ADMIN), {"name": "late", "fields": {"kind": "a"}}
    )
    world.remember()
    done = finish(world, time, job)
    assert (done["state"], done["done"], done["total"], done["refused"]) == ("done", 8, 8, 0)
    assert rows(world) == expected(*range(8, 0, -1))


def test_an_exported_version_has_the_user_who_made_it(world: World, time: Passing) -> None:
    edit(world, 1, cost=50)
    world.remember()
    time.over += 1
    before = world.copy()
    finish(before, time, begin(before, form="ndjson", columns=None))
    job = begin(world, form="ndjson", columns=None)
    turns(world, time, 1)
    time.over += 1
    for num in (1, 2):
        issues.update_issue(WriteContext(world.table, now(world.table), BEN), num, {"name": "late"}, None)
    world.remember()
    finish(world, time, job)
    assert list(world.s3.files.values()) == list(before.s3.files.values())


def test_rows_wait_for_the_history_and_are_refused_where_it_never_comes(world: World, time: Passing) -> None:
    job = begin(world)
    turns(world, time, 1)
    time.over += 1
    edit(world, 1, cost=100)
    edit(world, 5, cost=100)
    patient = world.copy()
    patient.waiting = list(world.waiting)
    for _ in range(3):
        time.over += 6
        work(patient)
    assert shown(patient, job)["state"] == "running"
    patient.remember()
    finish(patient, time, job)
    assert rows(patient) == expected(*range(1, 10))
    done = finish(world, time, job)
    assert (done["state"], done["done"], done["total"], done["refused"]) == ("done", 7, 9, 2)
    assert rows(world) == expected(2, 3, 4, 6, 7, 8, 9)
    item = world.table.query_all(keys.job_parts(TENANT, PROJECT, job), consistent=True)
    refused = [num for one in item if keys.refusals() in one[keys.SK] for num, _ in one["refused"]]
    assert sorted(refused) == [1, 5]


def test_a_purged_issue_is_refused_at_once(world: World, time: Passing) -> None:
    job = begin(world)
    turns(world, time, 1)
    world.table.delete(keys.issue(TENANT, PROJECT, 4), keys.project(TENANT, PROJECT))
    work(world)
    done = shown(world, job)
    assert (done["state"], done["done"], done["refused"]) == ("done", 8, 1)


def test_issues_that_no_longer_match_are_no_rows_though_the_index_has_them(
    world: World, time: Passing
) -> None:
    edit(world, 1, kind="b")
    delete(world, 2)
    time.over += 1
    done = finish(world, time, begin(world, filter=KIND_A))
    assert (done["done"], done["total"], done["refused"]) == (6, 6, 0)
    assert rows(world) == expected(*range(3, 9))


@pytest.mark.parametrize("edited_again", [False, True])
def test_the_write_of_a_token_is_included_despite_a_fast_clock(
    world: World, time: Passing, edited_again: bool
) -> None:
    time.over = 3600.0
    edit(world, 9, kind="a", cost=-9)
    time.over = 0.0
    recent = (RecentWrites(PROJECT, int(clock.seconds()) + 60, {9: 2}),)
    job = begin(world, recent, filter=KIND_A, sort=[{"field": "cost"}])
    turns(world, time, 1)
    if edited_again:
        time.over += 1
        edit(world, 9, kind="b", cost=0)
        world.remember()
    work(world)
    done = shown(world, job)
    assert (done["state"], done["done"]) == ("done", 9)
    assert rows(world)[0] == {"num": "9", "name": "issue 9", "Kind": "a", "Cost": "-9"}


# S3


def test_a_foreign_part_has_the_whole_file_written_again(world: World, time: Passing) -> None:
    job = begin(world)
    turns(world, time, 4)
    (parts,) = world.s3.uploads.values()
    assert parts
    parts[1] = b"of a late worker"
    done = finish(world, time, job)
    assert (done["state"], done["done"], done["total"]) == ("done", 9, 9)
    assert rows(world) == expected(*range(1, 10))
    assert not world.s3.uploads


def test_a_file_that_was_completed_by_a_worker_that_died_is_not_made_again(
    world: World, time: Passing
) -> None:
    job = begin(world)

    def dying(operation: str, perform: Callable[[], Any]) -> Any:
        result = perform()
        if operation == "complete_multipart_upload":
            raise Killed
        return result

    world.s3.around = dying
    with pytest.raises(Killed):
        work(world)
    called: list[str] = []

    def noting(operation: str, perform: Callable[[], Any]) -> Any:
        called.append(operation)
        return perform()

    world.s3.around = noting
    assert finish(world, time, job)["state"] == "done"
    assert "create_multipart_upload" not in called
    assert rows(world) == expected(*range(1, 10))


def test_a_job_that_is_cancelled_as_its_file_is_made_has_no_link(
    world: World, time: Passing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "PART", 10_000)
    job = begin(world)

    def cancelling(operation: str, perform: Callable[[], Any]) -> Any:
        if operation == "put_object":
            jobs.cancel_job(world.table, BEN, PROJECT, job)
        return perform()

    world.s3.around = cancelling
    finish(world, time, job)
    assert world.s3.files
    answer = jobs.get_job(world.table, BEN, PROJECT, job, lambda _: "a link")
    assert (answer["state"], answer["url"]) == ("cancelled", None)


def test_an_upload_that_is_lost_again_and_again_fails_the_job(world: World, time: Passing) -> None:
    job = begin(world)

    def losing(operation: str, perform: Callable[[], Any]) -> Any:
        if operation == "complete_multipart_upload":
            world.s3.uploads.clear()
        return perform()

    world.s3.around = losing
    done = finish(world, time, job)
    assert (done["state"], done["problem"]["type"]) == ("failed", "internal")
    assert not world.s3.files


def test_a_job_waits_where_s3_is_busy(world: World, time: Passing) -> None:
    job = begin(world)
    refusals = iter([True, False, True, True])

    def busy(_: str, perform: Callable[[], Any]) -> Any:
        if next(refusals, False):
            raise Overloaded("busy")
        return perform()

    world.s3.around = busy
    finish(world, time, job)
    assert rows(world) == expected(*range(1, 10))


def test_a_field_of_the_filter_that_is_deleted_fails_the_job_and_leaves_nothing(
    world: World, time: Passing
) -> None:
    job = begin(world, filter=KIND_A)
    turns(world, time, 4)
    assert world.s3.uploads
    attributes.delete_attribute(world.table, Catalogs(), ADMIN, PROJECT, "kind", None)
    done = finish(world, time, job)
    assert (done["state"], done["problem"]["type"]) == ("failed", "conflict")
    assert not world.s3.uploads


def test_a_field_of_the_order_that_is_deleted_before_the_rows_are_frozen_fails_the_job(
    world: World, time: Passing
) -> None:
    job = begin(world, sort=[{"field": "cost"}])
    attributes.delete_attribute(world.table, Catalogs(), ADMIN, PROJECT, "cost", None)
    done = finish(world, time, job)
    assert (done["state"], done["problem"]["type"]) == ("failed", "conflict")


def test_a_column_that_is_deleted_meanwhile_stays_and_is_empty(world: World, time: Passing) -> None:
    job = begin(world)
    turns(world, time, 3)
    attributes.delete_attribute(world.table, Catalogs(), ADMIN, PROJECT, "cost", None)
    finish(world, time, job)
    assert [row["Cost"] for row in rows(world)] == ["-1", "-2", "-3", "-4", *[""] * 5]


# Formulas

SUM = {"Sum": "{cost} + {bare}", "Twice": "{sum} * 2"}
BY_FORMULA: dict[str, Any] = {
    "columns": ["num", "twice"],
    "filter": {"field": "sum", "op": "lt", "value": -1},
}


def change_formula(world: World, formula: str) -> None:
    attributes.update_attribute(
        world.table, Catalogs(), ADMIN, PROJECT, "sum", {"formula": formula}, None, settling=0.0
    )


@pytest.fixture
def computed(world: World) -> World:
    """With formulas that have no index, so that another one is served at once."""
    for name, formula in SUM.items():
        body = {"id": name.lower(), "name": name, "type": "number", "formula": formula, "indexed": False}
        attributes.create_attribute(world.table, Catalogs(), ADMIN, PROJECT, body)
    return world


def doubled(world: World) -> dict[str, str]:
    return {row["num"]: row["Twice"] for row in rows(world)}


IN_THE_END = {str(num): str(2 * (-num + num % 2)) for num in range(2, 10)}


@pytest.mark.parametrize("form", ["csv", "ndjson"])
@pytest.mark.parametrize("after", range(1, 5))
def test_formulas_are_those_of_the_instant_despite_later_ones(
    computed: World, time: Passing, after: int, form: str
) -> None:
    job = begin(computed, form=form, **BY_FORMULA)
    turns(computed, time, after)
    change_formula(computed, "{cost} * 100 + 50")
    late = {"id": "late", "name": "Late", "type": "number", "formula": "1 + 1", "indexed": False}
    attributes.create_attribute(computed.table, Catalogs(), ADMIN, PROJECT, late)
    edit(computed, 9, cost=3)
    computed.remember()
    finish(computed, time, job)
    if form == "csv":
        assert doubled(computed) == IN_THE_END
    else:
        (body,) = computed.s3.files.values()
        found = [json.loads(line) for line in body.decode().splitlines()]
        assert {str(one["num"]): str(one["fields"]["twice"]) for one in found} == IN_THE_END


def test_a_file_that_is_written_again_has_the_formulas_of_the_instant(computed: World, time: Passing) -> None:
    job = begin(computed, **BY_FORMULA)
    turns(computed, time, 3)
    change_formula(computed, "{cost} * 100 + 50")
    computed.s3.uploads.clear()
    finish(computed, time, job)
    assert doubled(computed) == IN_THE_END


def test_all_columns_are_those_of_the_instant(computed: World, time: Passing) -> None:
    job = begin(computed, form="ndjson", columns=None)
    turns(computed, time, 2)
    change_formula(computed, "{cost} * 100 + 50")
    late = {"id": "late", "name": "Late", "type": "number", "formula": "1 + 1", "indexed": False}
    attributes.create_attribute(computed.table, Catalogs(), ADMIN, PROJECT, late)
    finish(computed, time, job)
    (body,) = computed.s3.files.values()
    shown_fields = [json.loads(line)["fields"] for line in body.decode().splitlines()]
    assert [one["twice"] for one in shown_fields] == [2 * (-num + num % 2) for num in range(1, 10)]
    assert not any("late" in one for one in shown_fields)
