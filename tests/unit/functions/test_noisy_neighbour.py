"""One tenant imports and reindexes. Between its calls another tenant works, whose requests all succeed and see their
own writes.
"""

from collections.abc import Callable
from typing import Any

import pytest

from devtools.proof.faults.adversary import record
from devtools.proof.faults.lambdas import Answer, Functions
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.strands import Pool
from devtools.proof.faults.watched import Attempted
from gridview.commands.actor import Role
from gridview.derive.images import Poison
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.maintenance import job_worker
from gridview.schema.store import Catalogs
from gridview.support import concurrency

NOISY, QUIET = "noisy", "quiet"
PATH = "/v1/projects/bridge"
IMPORTED = 40
EVERY = 7
"""Calls of the noisy tenant for each visit of the quiet one."""


def ask(table: Table, tenant: str, method: str, path: str, body: Any = None) -> Answer:
    return Functions(table, Catalogs()).request((tenant, "ada", Role.ADMIN), method, path, body)


def no_poison(poison: Poison) -> None:
    raise AssertionError(poison)


def consume(table: Table, *records: Any) -> None:
    assert Functions(table, Catalogs()).maintain(records, no_poison) == {"batchItemFailures": []}


def record_of(table: MemoryTable, tenant: str, num: int) -> Any:
    """The stream's record of an issue's present document."""
    document = table.items[keys.issue(tenant, "bridge", num), keys.project(tenant, "bridge")]
    return record(num, None, document)


class Neighbour:
    """A tenant who creates an issue at each visit, has it derived, edits it and reads the grid."""

    def __init__(self, table: MemoryTable) -> None:
        self._table = table
        self._busy = False
        self.visits = 0

    def visit(self) -> None:
        if self._busy:
            return
        self._busy = True
        self.visits += 1
        rank = -self.visits
        made = ask(self._table, QUIET, "POST", f"{PATH}/issues", {"name": "mine", "fields": {"rank": 0}})
        edited = ask(self._table, QUIET, "PATCH", f"{PATH}/issues/{self.visits}", {"fields": {"rank": rank}})
        consume(self._table, record_of(self._table, QUIET, self.visits))
        page = ask(self._table, QUIET, "POST", f"{PATH}/grid", {"sort": [{"field": "rank"}], "limit": 2})
        assert (made.status, edited.status, page.status) == (201, 200, 200)
        shown = [row["num"] for row in page.body["rows"]]
        assert shown == [self.visits, self.visits - 1][: self.visits], "the index does not lag"
        self._busy = False

    def among(self, table: MemoryTable) -> Table:
        """The table for the noisy tenant's functions, with visits between their calls."""
        calls = iter(range(1, 1_000_000))

        def around(_: Attempted, perform: Callable[[], Any]) -> Any:
            if next(calls) % EVERY == 0:
                self.visit()
            return perform()

        return table.seen_through(around)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> MemoryTable:
    """A project of each tenant, of the same id."""
    monkeypatch.setattr(concurrency, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(job_worker, "BATCH", 5)
    made = MemoryTable()
    for tenant in (NOISY, QUIET):
        assert ask(made, tenant, "POST", "/v1/projects", {"name": "Bridge", "id": "bridge"}).status == 201
        rank = {"id": "rank", "name": "Rank", "type": "number"}
        assert ask(made, tenant, "POST", f"{PATH}/attributes", rank).status == 201
    return made


def test_while_one_tenant_imports_and_reindexes_anothers_requests_succeed_and_see_what_they_wrote(
    table: MemoryTable,
) -> None:
    quiet = Neighbour(table)
    noisy = quiet.among(table)

    create = [{"create": {"name": "theirs", "fields": {"rank": num}}} for num in range(IMPORTED)]
    answer = ask(noisy, NOISY, "POST", f"{PATH}/issues/batch", {"operations": create})
    assert [one["status"] for one in answer.body["results"]] == [201] * IMPORTED
    imported = quiet.visits
    consume(noisy, *(record_of(table, NOISY, num) for num in range(1, IMPORTED + 1)))
    derived = quiet.visits
    assert ask(noisy, NOISY, "PATCH", f"{PATH}/attributes/rank", {"indexed": False}).status == 200
    Functions(noisy, Catalogs()).upkeep(no_poison)
    assert table.get(keys.project(NOISY, "bridge"), keys.JOB) is None
    assert 0 < imported < derived < quiet.visits


def test_one_tenants_poison_in_a_batch_of_the_stream_holds_up_no_other(table: MemoryTable) -> None:
    for tenant in (NOISY, QUIET):
        issue = {"name": "x", "fields": {"rank": 1}}
        assert ask(table, tenant, "POST", f"{PATH}/issues", issue).status == 201
    key = keys.issue(NOISY, "bridge", 1), keys.project(NOISY, "bridge")
    table.put({**table.items[key], "fields": {"a1": "no number"}})
    letters: list[Poison] = []
    records = [record_of(table, NOISY, 1), record_of(table, QUIET, 1)]
    done = Functions(table, Catalogs()).maintain(records, letters.append)
    assert done == {"batchItemFailures": []}
    assert [letter.key for letter in letters] == [key[0]]
    page = ask(table, QUIET, "POST", f"{PATH}/grid", {"sort": [{"field": "rank"}]})
    assert [row["num"] for row in page.body["rows"]] == [1]
