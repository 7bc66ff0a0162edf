"""The checker: it finds all faults and no transient state, in bounded memory, and continues after a kill."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest

from devtools.operate import project_walk
from devtools.operate.project_walk import ProjectWalk
from devtools.proof.faults import memory_table
from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.chains.fence_cache import Fences
from gridview.commands import attributes
from gridview.derive.families import column_families, families_of, has_entries
from gridview.dynamodb.expressions import Item, Key
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.attribute_values import item_size
from gridview.fsck import chain_check, chain_visits, checker, nightly
from gridview.fsck.checker import Check
from gridview.fsck.issue_diff import DifferenceKind
from gridview.fsck.progress import Finding, Suspect, Tally, Visit
from gridview.fsck.repairs import Repairs
from gridview.fsck.walks import IssueWalk, TableWalk
from gridview.journal.log import Log
from gridview.maintenance.job_worker import Worker
from gridview.maintenance.stream_consumer import consume
from gridview.schema.jobs import PARTS, Hint, Turn
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.errors import NotFound, Overloaded
from tests.support import damage
from tests.support.damage import ADMIN, PLANTED, PROJECT, TENANT, key_of
from tests.support.depth import one_of
from tests.support.folds import fold_once
from tests.support.removed import remove_project
from tests.unit.fsck.conftest import Time

pytestmark = pytest.mark.usefixtures("time", "no_pauses")

PATIENCE = 60.0


class KilledError(BaseException):
    """The process dies."""


def never(what: object) -> None:
    pytest.fail(f"{what} was not expected")


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a table of a few issues many pages, and a page a part of an issue."""
    monkeypatch.setattr(memory_table, "QUERY_BYTES", 600)


@pytest.fixture(scope="module")
def pristine() -> MemoryTable:
    table = MemoryTable()
    damage.make_project(table)
    damage.add_issues(table, 40)
    damage.make_project(table, "tower", "other")
    damage.add_issues(table, 5, "tower", "other")
    return table


@pytest.fixture
def table(pristine: MemoryTable) -> MemoryTable:
    return pristine.copy()


def the_project(table: Table) -> IssueWalk:
    return ProjectWalk(table, TENANT, PROJECT)


def the_table(table: Table) -> IssueWalk:
    return TableWalk(table)


def segmented(table: Table) -> IssueWalk:
    return TableWalk(table, 3)


WAYS = [segmented, the_table, the_project]
WALKS = pytest.mark.parametrize("walk", WAYS)


def run(check: Check, time: Time) -> None:
    """Run a check to its end, with its pauses."""
    steps = 0
    while not check.done:
        if (instant := check.waits_until) is not None:
            time.wait_until(instant)
        check.step()
        steps += 1
        assert steps < 10_000


def checked(
    table: Table, walk: IssueWalk, time: Time, *, repair: Repairs | None = None, at_most: int = 100
) -> tuple[dict[str, Finding], Tally]:
    found: dict[str, Finding] = {}

    def collect(finding: Finding) -> None:
        assert finding.key not in found
        found[finding.key] = finding

    check = Check(table, walk, collect, patience=PATIENCE, at_most=at_most, repair=repair)
    run(check, time)
    return found, check.tally


def repairs_on(table: Table) -> Repairs:
    return Repairs(table, Catalogs())


@WALKS
def test_a_sound_table_has_no_differences(
    table: MemoryTable, walk: Callable[[Table], IssueWalk], time: Time, small_pages: None
) -> None:
    found, tally = checked(table, walk(table), time)
    assert found == {}
    assert tally == Tally(issues=40 if walk is the_project else 45)
    assert time.seconds == 0  # there was nothing to wait for


@WALKS
def test_all_that_is_wrong_is_found_and_then_repaired(
    table: MemoryTable, walk: Callable[[Table], IssueWalk], time: Time, small_pages: None
) -> None:
    for num, planted in enumerate(PLANTED, 1):
        planted.inflict(table, key_of(num))
    found, tally = checked(table, walk(table), time)
    assert set(found) == {key_of(num) for num in range(1, len(PLANTED) + 1)}
    assert tally.wrong == len(PLANTED)
    assert tally.differences == sum(len(one.differences) for one in found.values())
    repaired, tally = checked(table, walk(table), time, repair=repairs_on(table))
    assert set(repaired) == set(found)
    remaining = {
        PLANTED[num - 1].name for num in range(1, len(PLANTED) + 1) if not repaired[key_of(num)].repaired
    }
    assert remaining == {one.name for one in PLANTED if one.remains}
    assert tally.repaired == len(PLANTED) - len(remaining)
    left, _ = checked(table, walk(table), time)
    assert {finding.differences[0].kind for finding in left.values()} == {DifferenceKind.UNKNOWN}


def test_an_issue_is_judged_only_when_patience_is_over(table: MemoryTable, time: Time) -> None:
    table.delete(key_of(3), derived_keys.LEDGER)
    found: list[Finding] = []
    check = Check(table, the_project(table), found.append, patience=PATIENCE)
    check.step()
    assert not check.done
    assert check.waits_until == clock.after(PATIENCE)
    check.step()
    time.seconds = PATIENCE - 1
    check.step()
    assert found == []
    time.seconds = PATIENCE
    assert check.waits_until is None
    check.step()
    assert [finding.key for finding in found] == [key_of(3)]
    run(check, time)
    assert time.seconds == PATIENCE  # blocks are judged at once


def test_a_difference_that_was_repaired_meanwhile_is_not_reported(table: MemoryTable, time: Time) -> None:
    table.delete(key_of(3), derived_keys.LEDGER)
    table.delete(key_of(4), keys.project(TENANT, PROJECT))
    found: list[Finding] = []
    check = Check(table, the_project(table), found.append, patience=PATIENCE)
    check.step()
    assert set(check.tally.suspects) == {key_of(3), key_of(4)}
    repairs_on(table).issues([key_of(3), key_of(4)])
    run(check, time)
    assert found == []


def test_an_issue_that_was_written_meanwhile_gets_the_patience_again(table: MemoryTable, time: Time) -> None:
    document = damage.document(table, 3)
    found: list[Finding] = []
    check = Check(table, the_project(table), found.append, patience=PATIENCE)
    table.delete(key_of(3), derived_keys.LEDGER)
    check.step()
    for version in range(2, 6):
        table.put({**document, "version": version})
        time.seconds += PATIENCE
        check.step()
        assert found == []
        assert check.waits_until == clock.after(PATIENCE)
    run(check, time)
    assert [finding.key for finding in found] == [key_of(3)]


def test_an_issue_that_is_written_all_the_time_is_left_for_the_next_run(
    table: MemoryTable, time: Time
) -> None:
    document = damage.document(table, 3)
    table.delete(key_of(3), derived_keys.LEDGER)
    check = Check(table, the_project(table), never, patience=PATIENCE)
    version = 1
    while not check.done:
        version += 1
        assert version < 100
        table.put({**document, "version": version})
        time.seconds += PATIENCE
        check.step()
    assert check.tally.unsettled == 1


class People:
    """Users who write issues between any two calls of the checker, at most `at_once`, with a stream that lags up to
    `lag` seconds.

    The consumer processes it, and now and then everything is folded.
    """

    def __init__(
        self, table: MemoryTable, random: Random, time: Time, lag: float, *, at_once: int = 3
    ) -> None:
        self.table, self.random, self.time, self.lag, self.at_once = table, random, time, lag, at_once
        self.log, self.catalogs, self.fences = Log(table, TENANT, PROJECT), Catalogs(), Fences()
        self.stream: list[tuple[float, dict[str, Any]]] = []
        self.busy = threading.RLock()
        self.spared: set[str] = set()
        self.edits = 0

    def around(self, attempted: Attempted, perform: Callable[[], Any]) -> Any:
        with self.busy:
            self.go_on()
            if attempted.operation == "query" and attempted.key[0].startswith(keys.ISSUE_PREFIX):
                return self.torn(perform)
            return perform()

    def torn(self, perform: Callable[[], Any]) -> Any:
        """A query reads each item as of some moment, no two of the same."""
        before = perform()
        self.go_on()
        after = {item[keys.SK]: item for item in perform().items}
        items = [
            item if self.random.random() < 0.5 else after.get(item[keys.SK], item) for item in before.items
        ]
        return before._replace(items=items)

    def go_on(self) -> None:
        for _ in range(self.random.randint(0, self.at_once)):
            self.edit()
        self.time.seconds += self.random.choice([0.0, 0.1, 1.0])
        while self.stream and (
            self.stream[0][0] < self.time.seconds - self.lag or self.random.random() < 0.5
        ):
            self.deliver()
        if self.random.random() < 0.2:
            self.fold()

    def fold(self) -> None:
        while fold_once(self.log, never, self.catalogs, self.fences):
            pass

    def deliver(self) -> None:
        _, one = self.stream.pop(0)
        assert consume(self.table, self.catalogs, [one], never) is None

    def edit(self) -> None:
        num = self.random.randint(1, 45)
        key = key_of(num)
        if key in self.spared:
            return
        before = self.table.get(key, keys.project(TENANT, PROJECT), consistent=True)
        ledger = self.table.get(key, derived_keys.LEDGER, consistent=True) or {"version": 0}
        known = max([before["version"] if before else 0, ledger["version"], self.edits])
        after: Item | None = None
        if before is None or self.random.random() < 0.8:
            fields: dict[str, Any] = {
                "start": f"2025-01-{self.random.randint(1, 28):02d}",
                "kind": self.random.choice(["o1", "o2", "o3"]),
                "size": self.random.randint(-9, 9),
            }
            chosen = {name: value for name, value in fields.items() if self.random.random() < 0.7}
            after = damage.document(self.table, num, version=known + 1, **chosen)
            self.table.put(after)
        else:
            self.table.delete(key, keys.project(TENANT, PROJECT))
        self.edits += 1
        self.stream.append((self.time.seconds, record(self.edits, before, after)))

    def forgetful(self, _: Key, known: int) -> int:
        return self.random.randint(0, known)


@pytest.mark.parametrize("walk", WAYS[:: one_of(3)])
@pytest.mark.parametrize("seed", range(one_of(1, thorough=4)))
def test_nothing_is_found_that_is_only_on_its_way_and_all_that_is_wrong_is(
    table: MemoryTable,
    walk: Callable[[Table], IssueWalk],
    seed: int,
    time: Time,
    small_pages: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checker, "CONCURRENCY", 1)
    monkeypatch.setattr(project_walk, "NUMBERS", 4)
    people = People(table, Random(seed), time, lag=PATIENCE / 2, at_once=one_of(1, thorough=3))  # noqa: S311
    wrong = [key_of(num) for num in (4, 13, 22)] if seed % 2 == 0 else []
    for key in wrong:
        PLANTED[seed % len(PLANTED)].inflict(table, key)
        people.spared.add(key)
    if walk is not the_project:
        table.stale(people.forgetful)
    found, tally = checked(
        table.seen_through(people.around), walk(table.seen_through(people.around)), time, at_most=8
    )
    assert set(found) == set(wrong)
    assert people.edits > 50
    assert tally.unsettled == 0


@WALKS
def test_the_number_of_suspects_is_bounded_for_any_table(
    table: MemoryTable,
    walk: Callable[[Table], IssueWalk],
    time: Time,
    small_pages: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(project_walk, "NUMBERS", 3)
    for num in range(1, 41):
        table.delete(key_of(num), derived_keys.LEDGER)
    found: list[Finding] = []
    check = Check(table, walk(table), found.append, patience=PATIENCE, at_most=5)
    most = 0
    while not check.done:
        if (instant := check.waits_until) is not None:
            for _ in range(3):
                check.step()  # in vain
            most = max(most, len(check.tally.suspects))
            time.wait_until(instant)
        check.step()
        most = max(most, len(check.tally.suspects))
    assert len({finding.key for finding in found}) == len(found) == 40
    assert most <= 5 - 1 + 3  # and those of one page


class Killer:
    """Kills at one call, counted from the beginning."""

    def __init__(self) -> None:
        self.left = 10**9

    def around(self, _: Attempted, perform: Callable[[], Any]) -> Any:
        self.left -= 1
        if self.left < 0:
            raise KilledError
        return perform()


def resumed(position: Any, table: Table, walk: Callable[[Table], IssueWalk]) -> IssueWalk:
    if walk is the_project:
        return ProjectWalk(table, TENANT, PROJECT, position)
    return TableWalk(table, 3 if walk is segmented else 1, position)


@WALKS
def test_killed_at_any_call_it_goes_on_from_where_it_was_saved(
    table: MemoryTable,
    walk: Callable[[Table], IssueWalk],
    time: Time,
    small_pages: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(project_walk, "NUMBERS", 5)
    monkeypatch.setattr(checker, "CONCURRENCY", 2)
    monkeypatch.setattr(chain_visits, "_SIDE_BY_SIDE", 1)
    monkeypatch.setattr(chain_check, "SLICE", 5)
    wrong = {key_of(num) for num in (1, 7, 8, 21, 40)}
    for key in wrong:
        table.delete(key, derived_keys.LEDGER)
    killer = Killer()
    watched = table.seen_through(killer.around)
    saved = json.dumps([None, Tally().to_state()])
    found: set[str] = set()
    steps = kills = 0
    random = Random(7)  # noqa: S311
    while True:
        position, state = json.loads(saved)
        killer.left = random.randint(4, 60)
        try:
            check = Check(
                watched,
                resumed(position, watched, walk),
                lambda finding: found.add(finding.key),
                patience=PATIENCE,
                tally=Tally.from_state(state),
            )
            while not check.done:
                if (instant := check.waits_until) is not None:
                    time.wait_until(instant)
                check.step()
                saved = json.dumps([check.walk.progress, check.tally.to_state()])
            break
        except KilledError:
            kills += 1
        steps += 1
        assert steps < 1_000
    assert kills > 2
    assert found == wrong
    assert check.tally.wrong == len(wrong)
    assert check.tally.issues == (40 if walk is the_project else 45)


@WALKS
def test_a_busy_table_costs_nothing_but_time(
    table: MemoryTable, walk: Callable[[Table], IssueWalk], time: Time, small_pages: None
) -> None:
    PLANTED[0].inflict(table, key_of(4))
    table.delete(key_of(5), derived_keys.LEDGER)
    random = Random(3)  # noqa: S311

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if random.random() < 0.02:
            raise Overloaded("The table is busy; try again.")
        return perform()

    watched = table.seen_through(around)
    found: list[Finding] = []
    check = Check(watched, walk(table), found.append, patience=PATIENCE, repair=repairs_on(watched))
    check.walk = walk(table)
    refusals = 0
    while not check.done:
        if (instant := check.waits_until) is not None:
            time.wait_until(instant)
        try:
            check.step()
        except Overloaded:
            refusals += 1
            assert refusals < 1_000
    assert sorted((finding.key, finding.repaired) for finding in found) == [
        (key_of(4), True),
        (key_of(5), True),
    ]
    assert check.tally.issues == (40 if walk is the_project else 45)


def test_a_check_of_one_project_touches_no_other(table: MemoryTable, time: Time) -> None:
    touched: set[str] = set()

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        assert attempted.operation != "scan"
        touched.update(key for key, _ in attempted.keys)
        return perform()

    for project, tenant in ((PROJECT, TENANT), ("tower", "other")):
        table.delete(key_of(2, project, tenant), derived_keys.LEDGER)
    before = {key: item for key, item in table.items.items() if TENANT not in key[0]}
    watched = table.seen_through(around)
    found, _ = checked(watched, ProjectWalk(watched, TENANT, PROJECT), time, repair=repairs_on(watched))
    assert set(found) == {key_of(2)}
    assert all(f"-{TENANT}.{PROJECT}" in key for key in touched)
    assert {key for key in touched if key.startswith(keys.ISSUE_PREFIX)} <= set(map(key_of, range(1, 41)))
    assert {key: item for key, item in table.items.items() if TENANT not in key[0]} == before


def test_an_issue_costs_one_query_and_a_family_two_and_its_blocks(table: MemoryTable, time: Time) -> None:
    watched = table.metered()
    checked(watched, the_project(watched), time)
    counts = Counter((call.operation, call.target) for call in watched.meter.calls)
    catalog = damage.catalog_of(table)
    families = len(families_of(catalog))
    orders = sum(map(has_entries, families_of(catalog)))
    alone = families - orders
    former = len(chain_check.former_families(catalog))
    columns = len(column_families(catalog))
    # And the definitions, at each step; the pages of columns twice, and those of former families.
    assert counts["query", "table"] <= 40 + families + 3 + 2 * columns + former
    assert counts["query", keys.GSI1] == families + orders + former + 2 * alone + 1  # ranges, sets, documents
    assert counts["batch_get_item", "table"] == families + alone
    # The counter twice, and the journal's head: with the definitions at each step, and to check the journal.
    # And for each total a step, the total, and the head before and after its column was read.
    assert counts["get_item", "table"] == 2 + 7 + 1 + 4 * columns


def test_there_is_no_check_of_a_project_that_never_was(table: MemoryTable) -> None:
    with pytest.raises(NotFound):
        ProjectWalk(table, TENANT, "nothing")


def test_a_deleted_project_is_sound_when_all_is_gone_and_until_then(table: MemoryTable, time: Time) -> None:
    catalogs = Catalogs()
    remove_project(table, ADMIN, PROJECT)
    found, _ = checked(table, the_table(table), time)
    assert found == {}
    before = {
        key: table.get(key, keys.project(TENANT, PROJECT)) for key in (key_of(num) for num in range(1, 41))
    }
    Worker(table, catalogs, lambda: 1e9, never, settling=0).work()
    found, _ = checked(table, the_table(table), time)
    assert set(found) == set(before)  # the stream has not delivered it
    for number, document in enumerate(before.values()):
        assert consume(table, catalogs, [record(number, document, None)], never) is None
    found, _ = checked(table, the_table(table), time)
    assert found == {}


def test_documents_of_a_project_without_definitions_are_left_for_a_person(
    table: MemoryTable, time: Time
) -> None:
    table.delete(keys.project("other", "tower"), keys.CATALOG)
    before = table.items
    found, tally = checked(table, the_table(table), time, repair=repairs_on(table))
    assert set(found) == {key_of(num, "tower", "other") for num in range(1, 6)}
    assert {finding.reason for finding in found.values()} == {
        "The definitions of project-other.tower are missing."
    }
    assert tally.repaired == 0
    assert table.items == before


def test_a_repair_that_others_undo_is_tried_again_and_then_reported(table: MemoryTable, time: Time) -> None:
    key = key_of(2)
    tried: list[str] = []

    class Undone(Repairs):
        def issues(self, partition_keys: Sequence[str]) -> dict[str, bool | Exception]:
            tried.extend(partition_keys)
            repaired = super().issues(partition_keys)
            for one in partition_keys:
                table.delete(one, derived_keys.LEDGER)
            return repaired

    table.delete(key, derived_keys.LEDGER)
    found, tally = checked(table, the_project(table), time, repair=Undone(table, Catalogs()))
    assert tried == [key] * 3
    assert not found[key].repaired
    assert found[key].reason
    assert tally.wrong == 1


def test_definitions_that_change_while_it_looks_make_no_suspects(table: MemoryTable, time: Time) -> None:
    monkey = 0

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        nonlocal monkey
        if attempted.key[0] == key_of(20) and not monkey:
            monkey = 1
            time.seconds += 10
            attributes.update_attribute(
                table, Catalogs(), ADMIN, PROJECT, "size", {"indexed": False}, None, settling=0
            )
            Worker(table, Catalogs(), lambda: 1e9, never, settling=0).work()
            time.seconds += 10
        return perform()

    watched = table.seen_through(around)
    check = Check(watched, TableWalk(watched), never, patience=PATIENCE)
    watched_project = Check(watched, ProjectWalk(watched, TENANT, PROJECT), never, patience=PATIENCE)
    watched_project.step()
    assert monkey
    run(watched_project, time)
    run(check, time)


# The check in the cloud


def go_on(
    table: Table, found: list[Finding], finished: list[Tally], seconds: Callable[[], float] = lambda: 10.0
) -> bool:
    """Work on the item that is due first. Returns False if there was none."""
    hints = hints_at_check(table)
    return bool(hints) and nightly.go_on(table, hints[0], seconds, found.append, finished.append) is not None


def finish(table: Table, time: Time, found: list[Finding], finished: list[Tally]) -> Tally:
    """Work to the end, with the pauses."""
    while hints_at_check(table):
        time.wait_until(due(table))
        go_on(table, found, finished)
    return finished[-1]


def hints_at_check(table: Table) -> list[Hint]:
    """The hints in their order, now or later."""
    found = ((part, table.get(keys.CHECK, keys.job(part))) for part in (0, *PARTS))
    hints = [
        Hint(keys.CHECK, item[keys.SORT], part)
        for part, item in found
        if item is not None and keys.SORT in item
    ]
    return sorted(hints, key=lambda hint: hint.due)


def due(table: Table) -> str:
    return hints_at_check(table)[0].due


def test_a_check_goes_on_over_many_invocations_and_is_forgotten_at_its_end(
    table: MemoryTable, time: Time, small_pages: None
) -> None:
    wrong = {key_of(num) for num in (2, 9, 33)}
    for key in wrong:
        table.delete(key, derived_keys.LEDGER)
    found: list[Finding] = []
    finished: list[Tally] = []
    assert nightly.begin(table)
    assert not nightly.begin(table)
    scans: Counter[int] = Counter()
    turns = 0

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        scans[turns] += attempted.operation == "scan"
        return perform()

    watched = table.seen_through(around)
    while not finished:
        left = iter([1.0] * 6)
        worked = go_on(watched, found, finished, lambda left=left: next(left, 0.0))  # type: ignore[misc]
        if not worked:
            time.wait_until(due(table))
        turns += 1
        assert turns < 1_000
    assert max(scans.values()) in range(2, 6)
    assert {finding.key for finding in found} == wrong
    (tally,) = finished
    assert (tally.issues, tally.wrong) == (45, 3)
    assert time.seconds >= nightly.PATIENCE
    assert not [key for key in table.items if key[0] == keys.CHECK]
    assert not go_on(table, found, finished)
    assert nightly.begin(table)


def test_the_longest_list_of_suspects_fits_into_the_item() -> None:
    key = keys.issue("t" * 32, "p" * 32, 99_999_999)
    due = "2024-01-01T00:00:00.000000Z"
    count = nightly._AT_MOST - 1 + nightly._PAGE
    tally = Tally(
        suspects={str(num): Suspect(key, "f" * 16, due, 19, 2) for num in range(count)},
        visits=[Visit("t" * 32, "p" * 32, "a999.99.has", "f" * 240)] * 8
        + [Visit("t" * 32, "p" * 32, "a999.99.has")] * (checker._VISITS - 1),
        dead=[Visit("t" * 32, "p" * 32, "a999.99.has")] * checker._DEAD,
    )
    assert item_size(tally.to_state()) < 390 * 1024


def test_a_check_in_the_cloud_reads_little_at_a_time(
    table: MemoryTable, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nightly, "_PAGE", 7)
    for num in range(1, 41):
        table.delete(key_of(num), derived_keys.LEDGER)
    monkeypatch.setattr(nightly, "_AT_MOST", 5)
    found: list[Finding] = []
    finished: list[Tally] = []
    nightly.begin(table)
    while not finished:
        go_on(table, found, finished)
        for part in PARTS:
            stored = table.get(keys.CHECK, keys.job(part))
            assert stored is None or len(stored["tally"]["suspects"]) <= 5 - 1 + 7
        if not finished:
            time.wait_until(due(table))
    assert {finding.key for finding in found} == {key_of(num) for num in range(1, 41)}


def test_a_check_that_found_nothing_says_so(table: MemoryTable, time: Time) -> None:
    finished: list[Tally] = []
    nightly.begin(table)
    for _ in PARTS:
        assert go_on(table, [], finished)
        time.seconds += 0.1
    assert finished == []
    assert go_on(table, [], finished)
    assert finished == [Tally(issues=45)]
    assert time.seconds < 1, "the end of the last segment makes the whole due"


def test_a_check_is_not_gone_on_with_before_it_is_due(table: MemoryTable, time: Time) -> None:
    nightly.begin(table)
    later = hints_at_check(table)[-1]
    assert later.due > clock.now()
    assert nightly.go_on(table, later, lambda: 10.0, never, never) is None
    time.wait_until(later.due)
    assert nightly.go_on(table, later, lambda: 10.0, never, never) is not None


def test_a_check_with_a_holder_is_not_taken(table: MemoryTable, time: Time) -> None:
    nightly.begin(table)
    others: list[Turn | None] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "scan":
            others.append(nightly.go_on(table, hint, lambda: 10.0, never, never))
        return perform()

    hint = hints_at_check(table)[0]
    assert go_on(table.seen_through(around), [], [])
    assert others == [None]


def test_killed_at_any_call_the_check_in_the_cloud_goes_on_when_the_lease_is_over(
    pristine: MemoryTable, time: Time, small_pages: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "CONCURRENCY", 2)
    calls, complete = 0, False
    while not complete:
        table = pristine.copy()
        table.delete(key_of(2), derived_keys.LEDGER)
        killer = Killer()
        watched = table.seen_through(killer.around)
        found: list[Finding] = []
        finished: list[Tally] = []
        nightly.begin(table)
        killer.left = calls
        try:
            tally = finish(watched, time, found, finished)
            complete = True
        except KilledError:
            killer.left = 10**9
            tally = finish(watched, time, found, finished)
        assert {finding.key for finding in found} == {key_of(2)}, calls
        assert (tally.issues, tally.wrong) == (45, 1)
        calls += one_of(21, thorough=3)
    assert calls > 50


def test_a_check_killed_while_it_reports_its_end_reports_again(table: MemoryTable, time: Time) -> None:
    def killed(_: Tally) -> None:
        raise KilledError

    nightly.begin(table)
    for _ in PARTS:
        assert go_on(table, [], [])
        time.seconds += 0.1
    (hint,) = hints_at_check(table)
    with pytest.raises(KilledError):
        nightly.go_on(table, hint, lambda: 10.0, never, killed)
    assert finish(table, time, [], []) == Tally(issues=45)


def test_parallel_segments_look_at_everything_once_and_report_one_total(
    table: MemoryTable, time: Time, small_pages: None
) -> None:
    """Their turns alternate, a step each. A removed family has blocks in several of them."""
    dead = [
        block
        for block in table.items
        if block[0].startswith(derived_keys.block(TENANT, PROJECT, "name.1", ""))
    ]
    for pk, sk in dead:
        item = table.items[pk, sk]
        _, _, _, block_id = derived_keys.parse_block(pk)
        moved = (
            derived_keys.block(TENANT, PROJECT, "name.7", block_id),
            derived_keys.directory(TENANT, PROJECT, "name.7"),
        )
        table.put({**item, keys.PK: moved[0], keys.SK: moved[1]})
    found: list[Finding] = []
    finished: list[Tally] = []
    nightly.begin(table)
    while not finished:
        for hint in hints_at_check(table):
            time.wait_until(hint.due)
            left = iter([1.0] * 4)
            seconds = lambda left=left: next(left, 0.0)  # noqa: E731
            nightly.go_on(table, hint, seconds, found.append, finished.append)
    assert [finding.key for finding in found] == [derived_keys.directory(TENANT, PROJECT, "name.7")]
    assert finished == [Tally(issues=45, wrong=1, differences=1)], "each issue counts once"


def test_a_check_of_an_older_version_or_without_a_segment_begins_again(
    table: MemoryTable, time: Time
) -> None:
    nightly.begin(table)
    table.delete(keys.CHECK, keys.job(2))
    for part in (1, 3, 4):
        assert nightly.go_on(table, hint_at(table, part), lambda: 10.0, never, never) is not None
    assert finish(table, time, [], []) == Tally(issues=45)


def test_a_check_without_a_hint_ends_when_its_lease_is_over(table: MemoryTable, time: Time) -> None:
    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "batch_get" and attempted.key[0] == keys.CHECK:
            raise KilledError
        return perform()

    nightly.begin(table)
    for part in PARTS:
        with pytest.raises(KilledError):
            nightly.go_on(table.seen_through(around), hint_at(table, part), lambda: 10.0, never, never)
    (hint,) = hints_at_check(table)
    assert (hint.part, hint.due > clock.after(60)) == (0, True)
    assert finish(table, time, [], []) == Tally(issues=45)


def hint_at(table: Table, part: int) -> Hint:
    return next(hint for hint in hints_at_check(table) if hint.part == part)


def test_a_busy_table_makes_the_check_in_the_cloud_wait(table: MemoryTable, time: Time) -> None:
    nightly.begin(table)

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "scan":
            raise Overloaded("The table is busy; try again.")
        return perform()

    for _ in PARTS:
        assert go_on(table.seen_through(around), [], [])
    assert not go_on(table, [], [])
    time.wait_until(due(table))
    assert time.seconds < 60
    assert finish(table, time, [], []).issues == 45


def test_the_worker_on_jobs_goes_on_with_the_check_by_turns(table: MemoryTable, time: Time) -> None:
    finished: list[Tally] = []
    nightly.begin(table)
    attributes.update_attribute(
        table, Catalogs(), ADMIN, PROJECT, "size", {"indexed": False}, None, settling=0
    )
    worked = Worker(
        table,
        Catalogs(),
        lambda: 60.0,
        never,
        settling=0,
        check=lambda hint, remaining: nightly.go_on(table, hint, remaining, never, finished.append),
    ).work()
    assert worked.jobs == 2, "the check and the job; the fold of what it has derived waits"
    assert finished == [Tally(issues=45)]
    assert table.query(keys.JOB, index=True).items == []


def test_a_worker_without_a_check_ignores_it(table: MemoryTable) -> None:
    nightly.begin(table)
    assert Worker(table, Catalogs(), lambda: 60.0, never, settling=0).work().jobs == 0
    assert table.get(keys.CHECK, keys.JOB) is not None
