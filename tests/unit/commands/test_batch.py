"""The budget of a batch's answer: an operation takes its part only once."""

from collections.abc import Callable
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.commands import batch, issues, projects
from gridview.commands.actor import Actor, Role
from gridview.commands.attempts import Attempt
from gridview.commands.batch import parse_batch, run_batch
from gridview.commands.context import WriteContext
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs

TENANT, PROJECT = "acme", "bridge"
ADA = Actor(TENANT, "ada", Role.ADMIN)
LONG = "n" * 200


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> MemoryTable:
    """Two issues, and room for one of them in an answer."""
    table = MemoryTable()
    projects.create_project(table, ADA, {"name": "Bridge", "id": PROJECT})
    for _ in range(2):
        issues.create_issue(WriteContext(table, catalog(table), ADA), {"name": "x"})
    monkeypatch.setattr(batch, "MAX_ANSWER_BYTES", 600)
    return table


def catalog(table: Table) -> Catalog:
    return Catalogs().get(table, TENANT, PROJECT)


def update(num: int, **more: Any) -> dict[str, Any]:
    return {"update": {"num": num, "name": LONG, **more}}


def statuses(table: Table, *operations: dict[str, Any], attempt: Attempt | None = None) -> list[int]:
    request = parse_batch({"operations": list(operations)})
    answer = run_batch(table, catalog(table), ADA, request, None, attempt)
    return [result["status"] for result in answer["results"]]


def raced(table: MemoryTable, num: int, times: int) -> Table:
    """The table, where others change an issue just before so many writes of it."""
    left = [True] * times

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes and attempted.key[0] == keys.issue(TENANT, PROJECT, num) and left:
            left.pop()
            found = table.items[attempted.key]
            table.put({**found, "version": found["version"] + 1})
        return perform()

    return table.seen_through(around)


def test_two_results_do_not_fit(table: MemoryTable) -> None:
    assert sorted(statuses(table, update(1), update(2))) == [200, 413]


def test_an_operation_that_lost_a_race_takes_no_room_twice(table: MemoryTable) -> None:
    assert statuses(raced(table, 1, times=5), update(1)) == [200]


def test_an_operation_that_failed_leaves_its_room_to_the_next(table: MemoryTable) -> None:
    """Both are about one issue, so the second runs after the first has lost every race."""
    operations = update(1), update(1)
    assert statuses(raced(table, 1, times=issues._ATTEMPTS), *operations) == [409, 200]


def test_a_refused_write_changes_nothing(table: MemoryTable) -> None:
    before = {
        num: table.items[keys.issue(TENANT, PROJECT, num), keys.project(TENANT, PROJECT)] for num in (1, 2)
    }
    found = statuses(table, update(1), update(2))
    refused = found.index(413) + 1
    kept = table.items[keys.issue(TENANT, PROJECT, refused), keys.project(TENANT, PROJECT)]
    assert kept == before[refused]


def test_writes_of_an_earlier_attempt_keep_their_room_in_the_next_answer(table: MemoryTable) -> None:
    record = {keys.PK: keys.request(TENANT, PROJECT), keys.SK: keys.remembered("9f86d081"), "lease": 0}
    table.put(record)
    operations = update(1), update(2), {"create": {"name": LONG}}, update(10**9), update(99)
    first = statuses(table, *operations, attempt=Attempt(table, record))
    assert sorted(first) in ([200, 404, 404, 413, 413], [201, 404, 404, 413, 413])
    again = Attempt(table, {**table.items[keys.request(TENANT, PROJECT), "9f86d081"], "again": True})
    before = table.items
    assert statuses(table, *operations, attempt=again) == first
    assert table.items == before
