"""Turns of the fold: the time when one is due, its holder, and the items that wait for it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.chains.fence_cache import Fences
from gridview.commands import attributes, issues
from gridview.commands.context import WriteContext
from gridview.derive.images import Poison
from gridview.derive.issue_changes import FamilyChange, IssueChange
from gridview.dynamodb.leases import LEASE, RETRY
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.journal.gaps import MISSING_SECONDS
from gridview.journal.items import PATIENCE, weight
from gridview.maintenance import fold_wakes, folding
from gridview.maintenance.fold_wakes import Wakes
from gridview.maintenance.folding import Folder
from gridview.maintenance.job_worker import Worker, due_jobs, fold_overdue
from gridview.schema.jobs import Hint, Turn
from gridview.schema.store import Catalogs
from gridview.support import clock, fold_pace
from gridview.support.errors import Overloaded
from gridview.support.fold_pace import Pace, pace
from tests.support.block_truth import assert_chains
from tests.support.derived_project import ADMIN, PROJECT, TENANT, before, catalog_of, log_of, new_table

pytestmark = pytest.mark.usefixtures("no_pauses", "own_pace")

HEAD = (derived_keys.journal(TENANT, PROJECT), derived_keys.FOLD)


@pytest.fixture
def own_pace() -> Iterator[None]:
    """Use the deployed pace unless a test sets another; then restore the former one."""
    used = pace()
    fold_pace.use(Pace())
    yield
    fold_pace.use(used)


@pytest.fixture
def table() -> MemoryTable:
    return new_table()


def folder(table: Table) -> Folder:
    return Folder(table, Catalogs(), Fences(), TENANT, PROJECT, _unexpected)


def _unexpected(poison: Poison) -> None:
    raise AssertionError(poison)


def always() -> float:
    return 60.0


def seen(num: int) -> IssueChange:
    return IssueChange(num, 1, removed=False, revision=0, moves={})


def log(table: Table, count: int = 1) -> None:
    own = log_of(table)
    for num in range(1, count + 1):
        assert own.put(own.reserve(1), [seen(num)]) is not None


def due_of(table: MemoryTable) -> str:
    due = log_of(table).head().due
    assert due is not None
    return due


def writes_of_the_head(table: MemoryTable) -> tuple[list[dict[str, Any]], Table]:
    """The head after each write of it, and the table that records them."""
    heads: list[dict[str, Any]] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        answer = perform()
        if attempted.writes and attempted.key == HEAD:
            heads.append(table.items[HEAD])
        return answer

    return heads, table.seen_through(around)


def test_a_little_that_waits_is_offered_after_a_while_and_folded_by_one_write_of_the_head(
    table: MemoryTable, later: Callable[[float], None]
) -> None:
    log(table)
    later(pace().seconds - 60)
    log(table, 2)
    assert due_jobs(table) == []
    assert folder(table).take_turn(due_of(table), always) is None
    later(61)
    (hint,) = due_jobs(table)
    assert (hint.partition, hint.due) == (derived_keys.journal(TENANT, PROJECT), due_of(table))
    written, watched = writes_of_the_head(table)
    assert folder(watched).take_turn(hint.due, always) == Turn()
    assert len(written) == 1
    head = log_of(table).head()
    assert (head.folded, head.due, head.waiting) == (3, None, 0)
    assert due_jobs(table) == []


def test_a_heavy_journal_is_due_at_once_and_claimed(table: MemoryTable) -> None:
    fold_pace.use(Pace(weight=3))
    log(table, 2)
    assert due_jobs(table) == []
    written, watched = writes_of_the_head(table)
    log(watched, 2)
    assert len(written) == 3, "two numbers, and once that the fold is due"
    (hint,) = due_jobs(table)
    written.clear()
    assert folder(watched).take_turn(hint.due, always) == Turn()
    claimed, rested = written
    assert clock.until(claimed[keys.SORT]) == pytest.approx(LEASE, abs=5)
    assert keys.SORT not in rested
    head = log_of(table).head()
    assert (head.folded, head.waiting, head.holder) == (4, 0, "")


def test_a_change_that_comes_meanwhile_waits_as_long_as_any(
    table: MemoryTable, later: Callable[[float], None]
) -> None:
    """It came after the fold had begun, so the fold is due again after the seconds of the pace from then on."""
    log(table, 2)
    later(pace().seconds)
    due = due_of(table)
    around = before(lambda attempted: attempted.writes and attempted.key == HEAD, lambda: log(table))
    assert folder(table.seen_through(around)).take_turn(due, always) == Turn()
    head = log_of(table).head()
    assert (head.last, head.folded, head.waiting) == (3, 2, 1)
    assert clock.until(due_of(table)) == pytest.approx(pace().seconds, abs=5)


def advances(attempted: Attempted) -> bool:
    """Whether a call moves the watermark."""
    condition = attempted.condition
    return attempted.key == HEAD and condition is not None and "folded" in condition.expression


@pytest.mark.parametrize("more", [2, 3])
def test_items_that_come_meanwhile_are_due_at_once_if_heavy_enough(table: MemoryTable, more: int) -> None:
    """The turn ends before it can handle the item."""
    fold_pace.use(Pace(weight=3))
    log(table, 3)
    watched = table.seen_through(before(advances, lambda: log(table, more)))
    seconds = iter([60.0, 60.0])
    turn = folder(watched).take_turn(due_of(table), lambda: next(seconds, 0.0))
    assert turn is not None
    assert [hint.due for hint in turn.hints] == ([] if more < 3 else [due_of(table)])


@pytest.mark.parametrize("more", [2, 3])
def test_the_holder_of_the_fold_continues_if_enough_comes_meanwhile(table: MemoryTable, more: int) -> None:
    fold_pace.use(Pace(weight=3))
    log(table, 3)
    around = before(advances, lambda: log(table, more))
    assert folder(table.seen_through(around)).take_turn(due_of(table), always) == Turn()
    head = log_of(table).head()
    assert (head.last, head.folded, head.due is None) == (3 + more, 3 if more < 3 else 6, more == 3)
    assert not head.holder


def test_an_outdated_hint_is_ignored(table: MemoryTable, later: Callable[[float], None]) -> None:
    log(table)
    later(pace().seconds + 100)
    assert folder(table).take_turn(clock.after(-1), always) is None
    assert folder(table).take_turn(clock.after(100), always) is None
    assert folder(table).take_turn(due_of(table), lambda: 0.0) is None
    assert log_of(table).head().folded == 0


def test_a_fold_is_held_until_its_lease_runs_out(table: MemoryTable, later: Callable[[float], None]) -> None:
    log(table)
    later(pace().seconds)
    due = due_of(table)
    assert log_of(table).claim(due)
    assert log_of(table).head().holder
    assert folder(table).take_turn(due, always) is None
    leased = due_of(table)
    assert folder(table).take_turn(leased, always) is None
    later(LEASE + 1)
    assert folder(table).take_turn(leased, always) == Turn()
    assert log_of(table).head().folded == 1


def test_numbers_that_are_taken_meanwhile_do_not_end_a_lease(table: MemoryTable) -> None:
    fold_pace.use(Pace(weight=1))
    log(table)
    taken = log_of(table).claim(due_of(table))
    assert taken is not None
    log(table)
    assert due_of(table) == taken.due


def test_a_fold_of_little_that_dies_is_offered_again(
    table: MemoryTable, later: Callable[[float], None]
) -> None:
    log(table)
    later(pace().seconds)
    due = due_of(table)

    class Killed(Exception):
        pass

    def die() -> None:
        raise Killed

    dying = table.seen_through(before(lambda attempted: attempted.writes, die))
    with pytest.raises(Killed):
        folder(dying).take_turn(due, always)
    assert [hint.due for hint in due_jobs(table)] == [due]
    assert folder(table).take_turn(due, always) == Turn()


def test_an_unused_number_is_closed_soon_after_the_fold_stops_at_it(
    table: MemoryTable, later: Callable[[float], None]
) -> None:
    log_of(table).reserve(1)
    later(pace().seconds)
    turn = folder(table).take_turn(due_of(table), always)
    assert turn is not None
    (hint,) = turn.hints
    assert hint.due == due_of(table)
    assert 0 < clock.until(hint.due) <= 5
    assert log_of(table).head().seen == 1
    later(PATIENCE + 1)
    assert folder(table).take_turn(hint.due, always) == Turn()
    head = log_of(table).head()
    assert (head.folded, list(head.emptied), head.due) == (1, [1], None)


def test_a_number_at_which_the_fold_stops_is_seen_and_waits_with_what_comes(
    table: MemoryTable, later: Callable[[float], None]
) -> None:
    log(table)
    later(pace().seconds)
    log_of(table).reserve(1)
    assert folder(table).take_turn(due_of(table), always) is not None
    head = log_of(table).head()
    assert (head.folded, head.seen) == (1, 2)


def test_a_busy_table_makes_the_fold_due_again(table: MemoryTable, later: Callable[[float], None]) -> None:
    log(table)
    later(pace().seconds)

    def refuse() -> None:
        raise Overloaded("busy")

    busy = table.seen_through(before(lambda attempted: attempted.writes, refuse))
    turn = folder(busy).take_turn(due_of(table), always)
    assert turn is not None
    assert [hint.due for hint in turn.hints] == [due_of(table)]
    assert 0 < clock.until(due_of(table)) <= RETRY


def test_a_fold_that_leaves_changes_reports_how_long_they_are_overdue(
    table: MemoryTable, later: Callable[[float], None]
) -> None:
    log(table)

    def refuse() -> None:
        raise Overloaded("busy")

    for since, overdue in ((pace().seconds, 0.0), (600.0, 600.0), (1_200.0, 1_800.0)):
        later(since)
        busy = table.seen_through(before(lambda attempted: attempted.writes, refuse))
        turn = folder(busy).take_turn(due_of(table), always)
        assert turn is not None
        assert turn.overdue == pytest.approx(overdue, abs=5), "though it was made due again each time"
    later(RETRY)
    done = folder(table).take_turn(due_of(table), always)
    assert done is not None
    assert done.overdue == 0.0


def test_a_fold_that_no_worker_takes_is_overdue(table: MemoryTable, later: Callable[[float], None]) -> None:
    assert fold_overdue(due_jobs(table)) == 0.0
    log(table)
    assert fold_overdue(due_jobs(table)) == 0.0
    later(pace().seconds + 300)
    assert fold_overdue(due_jobs(table)) == pytest.approx(300, abs=5)
    assert fold_overdue([Hint(keys.project(TENANT, PROJECT), clock.after(-900))]) == 0.0


def test_everything_is_folded_once_no_number_is_open(table: MemoryTable) -> None:
    log(table, 2)
    assert folder(table).fold_all(always)
    number = log_of(table).reserve(1)
    assert not folder(table).fold_all(always)
    assert clock.until(due_of(table)) <= RETRY, "it does not wait for the pace"
    assert log_of(table).head().seen == number
    assert log_of(table).put(number, [seen(1)]) is not None
    assert not folder(table).fold_all(lambda: 0.0)
    assert folder(table).fold_all(always)


@pytest.mark.parametrize("look", range(1, 5))
def test_items_that_another_fold_has_folded_are_not_waited_for(table: MemoryTable, look: int) -> None:
    """The other one works at any moment between two reads of the head."""
    log(table, 3)
    looks: list[Attempted] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "get" and attempted.key == HEAD:
            looks.append(attempted)
            if len(looks) == look:
                assert folder(table).fold_all(always)
        return perform()

    assert folder(table.seen_through(around)).fold_all(always)
    assert len(looks) >= look


def test_a_pass_folds_when_much_waits_and_stops_when_others_cannot_keep_up(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "MOST", 3)
    monkeypatch.setattr(folding, "_TOO_MUCH", 5)
    log(table, 2)
    folder(table).relieve(always)
    assert log_of(table).head().folded == 0
    log(table, 2)
    folder(table).relieve(always)
    assert log_of(table).head().folded == 4
    log(table, 4)
    assert log_of(table).claim(due_of(table))
    folder(table).relieve(always)
    log(table, 1)
    with pytest.raises(Overloaded):
        folder(table).relieve(always)


def test_a_new_index_is_served_when_what_its_pass_has_found_is_folded(table: MemoryTable) -> None:
    for body in ({"name": "one", "fields": {"start": "2023-05-01"}}, {"name": "two"}):
        issues.create_issue(WriteContext(table, catalog_of(table), ADMIN), body)
    attributes.update_attribute(
        table, Catalogs(), ADMIN, PROJECT, "start", {"indexed": False}, None, settling=0
    )
    attributes.update_attribute(
        table, Catalogs(), ADMIN, PROJECT, "start", {"indexed": True}, None, settling=0
    )
    poison: list[Poison] = []
    Worker(table, Catalogs(), always, poison.append, settling=0).work()
    catalog = catalog_of(table)
    assert not any(catalog.pending())
    documents = [
        item for (_, sort_key), item in table.items.items() if sort_key == keys.project(TENANT, PROJECT)
    ]
    assert len(documents) == 2
    assert_chains(table, catalog, documents)
    assert poison == []


# Wakes


class Waker:
    """A container of the consumer that has just put `count` changes into the journal."""

    def __init__(self, table: MemoryTable, count: int, *, known: bool = True) -> None:
        self.table = table
        self.sent: list[Hint] = []
        self._wakes = Wakes(self.sent.append)
        self._catalogs = Catalogs()
        if known:
            self._catalogs.get(table, TENANT, PROJECT)
        log(table, count)

    def look(self, *partitions: str) -> int:
        """Let it look at these records. Returns the number of hints that it has sent."""
        records = [
            {"dynamodb": {"Keys": {keys.PK: {"S": one}}}}
            for one in partitions or (keys.issue(TENANT, PROJECT, 1), keys.issue(TENANT, PROJECT, 2))
        ]
        self._wakes.look(self.table, self._catalogs, records)
        return len(self.sent)


def test_the_fold_is_woken_when_enough_waits(table: MemoryTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fold_wakes, "ENOUGH", 3)
    fold_pace.use(Pace(weight=1))
    waker = Waker(table, 2)
    assert waker.look() == 0
    monkeypatch.setattr(fold_wakes, "_SECONDS_BETWEEN", 0.0)
    log(table)
    assert waker.look() == 1
    assert waker.sent == [Hint(derived_keys.journal(TENANT, PROJECT), due_of(table))]
    turn = folder(table).take_turn(waker.sent[0].due, always)
    assert turn is not None
    assert log_of(table).head().folded == 3
    assert waker.look() == 1, "nothing waits"


def test_no_worker_is_woken_while_another_folds(table: MemoryTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fold_wakes, "ENOUGH", 1)
    waker = Waker(table, 5)
    assert log_of(table).claim(due_of(table))
    assert waker.look() == 0


def test_a_container_looks_once_a_second_and_only_at_journals(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fold_wakes, "ENOUGH", 1)
    fold_pace.use(Pace(weight=1))
    waker = Waker(table, 5)
    assert (waker.look(), waker.look()) == (1, 1)
    own = table.metered()
    waker.table = own
    waker.look()
    waker.look("fsck", keys.project(TENANT, PROJECT), keys.issue(TENANT, "other", 1))
    assert own.meter.calls == []
    assert Waker(table, 1, known=False).look() == 0
    assert Waker(new_table(), 1).look() == 1


def test_no_worker_is_woken_for_a_project_that_is_being_removed(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fold_wakes, "ENOUGH", 1)
    waker = Waker(table, 5)
    table.delete(derived_keys.journal(TENANT, PROJECT), derived_keys.FOLD)
    assert waker.look() == 0


def test_a_look_empties_the_numbers_at_which_others_wait(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = log_of(table).reserve(1)
    waker = Waker(table, 2)
    now = clock.seconds()
    monkeypatch.setattr(clock, "seconds", lambda: now + MISSING_SECONDS + 1)
    waker.look()
    assert log_of(table).item(left) is not None


def test_long_changes_weigh_more() -> None:
    long = IssueChange(1, 1, False, 1, {"a1.1.has": FamilyChange((), "x" * 9_000)})
    assert weight([seen(1), seen(2)]) == 2
    assert weight([seen(1), long]) == 8
