"""An index that is late by more than half a minute: readers lose nothing, and no work counts as done too early."""

from collections.abc import Callable
from types import ModuleType

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.oracle.asking import grouped, page
from gridview.commands import attributes
from gridview.derive.ledger import SHOWN_SECONDS
from gridview.encoding import keys
from gridview.maintenance.job_worker import Worker
from gridview.schema.store import Catalogs
from gridview.view import journal_tail, recent_changes
from gridview.view.beats import Canary
from gridview.view.block_cache import BlockCache
from gridview.view.context import ReadContext
from gridview.view.issue_count import issues_in
from gridview.view.journal_tail import learn
from tests.support.derived_project import ADMIN, PROJECT, TENANT, Derived, catalog_of, log_of, new_table
from tests.support.folds import no_poison

pytestmark = pytest.mark.usefixtures("no_pauses")

BY_DAY = {"by": [{"field": "start"}]}
Later = Callable[[float], None]
Answers = tuple[list[int], dict[str | None, int], int]


class Late:
    """A project whose index stops at `stops`, while time passes with a canary each minute."""

    def __init__(self, later: Later) -> None:
        self.derived = Derived(new_table())
        self.table: MemoryTable = self.derived.table
        self.warm = BlockCache()
        self._later = later
        self._canary = Canary()
        for num in (1, 2):
            self.derived.consume(num)
        self.derived.fold()
        self.pass_by(2)
        self.answers(self.warm)

    def pass_by(self, minutes: int) -> None:
        for _ in range(minutes):
            self._later(60)
            self._canary.look(self.table)

    def answers(self, cache: BlockCache | None = None) -> Answers:
        """A container's answers; without a cache, those of a new one.

        The rows in order, by sort entries in GSI1; the issues of each day and their sum, by sizes that GSI1 lists.
        """
        used = BlockCache() if cache is None else cache
        learn(log_of(self.table), used)

        def context() -> ReadContext:
            return ReadContext(self.table.metered(), catalog_of(self.table), used)

        rows = [row["num"] for row in page(context(), {"sort": [{"field": "start"}]}).body["rows"]]
        groups = grouped(context(), BY_DAY).body["groups"]
        counts = {one["values"][0]: one["count"] for one in groups}
        return rows, counts, issues_in(self.table, catalog_of(self.table))


@pytest.fixture
def late(later: Later) -> Late:
    return Late(later)


def work(late: Late) -> None:
    """Stop the index; then create, move and fold issues at once."""
    late.table.lag()
    for num in (3, 4, 5):
        late.derived.consume(num)
    late.derived.consume(1, "2023-05-09")
    late.derived.fold()


RIGHT: Answers = ([2, 3, 4, 5, 1], {"2023-05-01": 4, "2023-05-09": 1}, 5)


@pytest.mark.parametrize("minutes", [1, 2, 5])
def test_every_container_includes_what_was_folded_while_the_index_is_stuck(late: Late, minutes: int) -> None:
    work(late)
    late.pass_by(minutes)
    assert late.answers() == RIGHT
    assert late.answers(late.warm) == RIGHT


def test_it_is_right_from_the_first_second_on_at_which_half_a_minute_is_over(
    late: Late, later: Later
) -> None:
    """No canary was due since the index stopped, so the lag is not measured."""
    work(late)
    later(SHOWN_SECONDS + 1)
    assert late.answers() == RIGHT
    assert late.answers(late.warm) == RIGHT


def test_without_the_canary_it_would_be_wrong(late: Late, monkeypatch: pytest.MonkeyPatch) -> None:
    modules: tuple[ModuleType, ...] = (journal_tail, recent_changes)
    for module in modules:
        monkeypatch.setattr(module, "index_time", lambda now, _: now)
    work(late)
    late.pass_by(5)
    rows, _, count = late.answers()
    assert rows != RIGHT[0]
    assert count != RIGHT[2]


def test_once_a_canary_was_seen_readers_overlay_no_more_than_before(late: Late) -> None:
    work(late)
    late.pass_by(3)
    late.table.catch_up_with_all()
    late.pass_by(2)
    cache = BlockCache()
    learn(log_of(late.table), cache)
    own = late.table.metered()
    context = ReadContext(own, catalog_of(late.table), cache)
    answer = page(context, {"sort": [{"field": "start"}]}).body
    assert [row["num"] for row in answer["rows"]] == [2, 3, 4, 5, 1]
    assert answer["index"]["pending"] == 0
    assert late.answers() == RIGHT


def test_while_the_index_is_late_an_answer_counts_the_changes_that_it_overlays(late: Late) -> None:
    work(late)
    late.pass_by(3)
    cache = BlockCache()
    learn(log_of(late.table), cache)
    answer = page(ReadContext(late.table.metered(), catalog_of(late.table), cache), {}).body
    assert answer["index"]["pending"] == 4


def test_a_new_index_is_served_in_full_though_gsi1_shows_none_of_it(late: Late) -> None:
    """The build ends, and reports its end, while GSI1 shows only its job."""
    table = late.table
    _index(table, indexed=False)
    _build(table)
    table.lag()
    _index(table, indexed=True)
    _build(table)
    assert not any(catalog_of(table).pending())
    for minutes in (0, 1, 4):
        late.pass_by(minutes)
        assert late.answers() == ([1, 2], {"2023-05-01": 2}, 2)


def _index(table: MemoryTable, *, indexed: bool) -> None:
    attributes.update_attribute(
        table, Catalogs(), ADMIN, PROJECT, "start", {"indexed": indexed}, None, settling=0
    )


def _build(table: MemoryTable) -> None:
    """Work until nothing is left to do, as a worker that receives the job whatever else GSI1 shows."""
    job = (keys.project(TENANT, PROJECT), keys.JOB)
    for _ in range(20):
        while job in table.waiting:
            table.catch_up(job)
        Worker(table, Catalogs(), lambda: 60.0, no_poison, settling=0).work()
        if job not in table.items:
            return
    raise AssertionError("the build does not end")
