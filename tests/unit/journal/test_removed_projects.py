"""The issues of a permanently deleted project: none of their derived data stays, with invocations that meet or die at
any write.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import pytest
from greenlet import getcurrent, greenlet

from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.strands import Killed
from devtools.proof.faults.watched import Attempted
from gridview.derive.ledger import Ledger
from gridview.dynamodb.expressions import Item
from gridview.encoding import derived_keys, keys
from gridview.maintenance.job_worker import Worker
from gridview.maintenance.stream_consumer import consume
from gridview.schema.store import Catalogs
from tests.support.derived_project import ADMIN, PROJECT, TENANT, Derived, new_table, puts
from tests.support.folds import no_poison
from tests.support.removed import remove_project

ISSUE = keys.issue(TENANT, PROJECT, 1)
WRITES = 9
"""More writes than an invocation makes: the intent, the tombstones of its sort entries, the finished ledger."""


pytestmark = pytest.mark.usefixtures("no_pauses")


@pytest.fixture(scope="module", params=[False, True], ids=["", "an edit half done"])
def removed(request: pytest.FixtureRequest) -> tuple[MemoryTable, Item, Item]:
    """A table from which a project was removed before the stream delivered an edit and the removal of its only issue.

    Also the issue's images from the stream, before the edit and after it. Half done, an invocation processed the edit
    before that, and died before the first of its sort entries.
    """
    table = new_table()
    Derived(table).consume(1)
    before = table.get(ISSUE, keys.project(TENANT, PROJECT))
    assert before is not None
    after = {**before, "version": 2, "updated": "2024-01-02T00:00:00.000000Z", "name": "renamed"}
    table.put(after)
    if request.param:
        with pytest.raises(Killed):
            consume(table.seen_through(dies), Catalogs(), [record(1, before, after)], no_poison)
        assert ledger(table).intent
    remove_project(table, ADMIN, PROJECT)
    Worker(table, Catalogs(), lambda: 1e9, no_poison, settling=0).work()
    assert table.get(keys.project(TENANT, PROJECT), keys.CATALOG) is None
    assert len(entries(table)) >= 4
    return table, before, after


def dies(attempted: Attempted, perform: Callable[[], Any]) -> Any:
    """An adversary that kills before a sort entry is written."""
    if puts("xvalue")(attempted):
        raise Killed
    return perform()


def entries(table: MemoryTable) -> list[Item]:
    """The sort entries of the issue, without tombstones."""
    return [
        item
        for (pk, _), item in table.items.items()
        if pk == ISSUE and keys.SORT in item and "num" not in item
    ]


def progress(item: Mapping[str, Any]) -> tuple[int, int]:
    return item.get("revision", 0), item.get("version", 0)


class Invocation:
    """An invocation of the consumer that stops before each of its writes."""

    def __init__(self, table: MemoryTable, *changes: dict[str, Any]) -> None:
        self._hub = getcurrent()

        def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
            if not attempted.writes or attempted.key[0] != ISSUE:
                return perform()
            self._hub.switch()
            former = table.items.get(attempted.key, {})
            try:
                return perform()
            finally:
                assert progress(table.items[attempted.key]) >= progress(former), "a write goes back"

        def run() -> None:
            failed = consume(table.seen_through(around), Catalogs(), changes, no_poison)
            assert failed is None

        self._strand = greenlet(run)

    def go_on(self, writes: int = 1_000) -> None:
        """Let it make so many writes, or all of them."""
        for _ in range(writes + (not self._strand)):
            if self._strand.dead:
                return
            self._strand.switch()

    def die(self) -> None:
        """Stop it: it makes no further write."""
        if not self._strand.dead:
            self._strand.throw(greenlet.GreenletExit)


def ledger(table: MemoryTable) -> Ledger:
    found = table.get(ISSUE, derived_keys.LEDGER)
    assert found is not None
    return Ledger.from_item(found)


def cleared(table: MemoryTable) -> bool:
    now = ledger(table)
    return not entries(table) and now.intent is None and not now.applied


def deliveries(before: Item, after: Item) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    created, edited, gone = record(0, None, before), record(1, before, after), record(2, after, None)
    yield gone, gone
    yield edited, gone
    yield gone, edited
    yield created, gone
    yield gone, created


MEETINGS = ("the removal twice", "the edit first", "the edit late", "the creation first", "the creation late")


@pytest.mark.parametrize("which", range(len(MEETINGS)), ids=MEETINGS)
@pytest.mark.parametrize("left", [0, 1, 2, WRITES])
def test_two_invocations_that_meet_leave_nothing(
    removed: tuple[MemoryTable, Item, Item], which: int, left: int
) -> None:
    """The second one dies after `left` more writes, when the first one is finished."""
    pristine, before, after = removed
    changes = [*deliveries(before, after)][which]
    gone = record(2, after, None)
    for mine, theirs in product(range(WRITES), repeat=2):
        table = pristine.copy()
        one, other = (Invocation(table, change) for change in changes)
        one.go_on(mine)
        other.go_on(theirs)
        one.go_on()
        other.go_on(left)
        other.die()
        if changes[0] != gone:
            Invocation(table, gone).go_on()  # the stream delivers the removal again
        assert cleared(table), (mine, theirs)
        assert ledger(table).removed, (mine, theirs)


@pytest.mark.parametrize("first", ["the edit", "the removal"])
def test_the_last_version_of_a_cleared_issue_stays(
    removed: tuple[MemoryTable, Item, Item], first: str
) -> None:
    pristine, before, after = removed
    # The ledger records a step over a version, though nothing else is written.
    last = {**after, "version": 4}
    edited, gone = record(2, {**after, "version": 3}, last), record(3, last, None)
    table = pristine.copy()
    Invocation(table, record(1, before, after)).go_on()
    assert cleared(table)
    one, other = (Invocation(table, change) for change in (edited, gone))
    for invocation in (one, other):
        invocation.go_on(0)
    for invocation in (one, other) if first == "the edit" else (other, one):
        invocation.go_on()
    assert ledger(table).removed


def test_an_invocation_that_dies_at_any_write_is_followed_by_one_that_clears_all(
    removed: tuple[MemoryTable, Item, Item],
) -> None:
    pristine, _, after = removed
    gone = record(1, after, None)
    for writes in range(WRITES):
        table = pristine.copy()
        dying = Invocation(table, gone)
        dying.go_on(writes)
        dying.die()
        Invocation(table, gone).go_on()
        assert cleared(table), writes
