"""The stream consumer's handler: its answer to Lambda, which delivers again from the named record."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from devtools.proof.faults.adversary import record
from devtools.proof.faults.bucket import MemoryBatches
from devtools.proof.faults.lambdas import Functions
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.project import PROJECT, TENANT, in_memory
from devtools.proof.faults.watched import Attempted
from gridview.commands.actor import Role
from gridview.derive.images import Poison
from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.journal.log import Log
from gridview.maintenance.waiting import Batch, key_of
from gridview.schema.store import Catalogs
from gridview.support.errors import Overloaded
from tests.support.cloud import Cloud
from tests.support.folds import no_poison
from tests.support.http import Client, Context

WRITER = (TENANT, "ann", Role.EDITOR)


@pytest.fixture
def table() -> MemoryTable:
    """Issues 1 to 3, without derived data."""
    made, _ = in_memory(0)
    assert isinstance(made, MemoryTable)
    functions = Functions(made, Catalogs())
    for name in ("one", "two", "three"):
        assert (
            functions.request(WRITER, "POST", f"/v1/projects/{PROJECT}/issues", {"name": name}).status == 201
        )
    return made


def document(table: Table, num: int) -> Item:
    found = table.get(keys.issue(TENANT, PROJECT, num), keys.project(TENANT, PROJECT))
    assert found is not None
    return found


def batch(table: Table, *nums: int) -> list[dict[str, Any]]:
    """A record of each of these issues, in this order; the first has the sequence number 11."""
    return [record(at, None, document(table, num)) for at, num in enumerate(nums, 11)]


def answer(table: Table, records: list[dict[str, Any]], letters: list[Poison] | None = None) -> Any:
    return Functions(table, Catalogs()).maintain(records, (letters if letters is not None else []).append)


def failing(table: MemoryTable, fails: Callable[[Attempted], bool], error: Exception) -> Table:
    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if fails(attempted):
            raise error
        return perform()

    return table.seen_through(around)


def ledger_of(*nums: int) -> Callable[[Attempted], bool]:
    wanted = {(keys.issue(TENANT, PROJECT, num), derived_keys.LEDGER) for num in nums}
    return lambda attempted: attempted.writes and bool(wanted & {*attempted.keys})


def derived(table: MemoryTable) -> set[int]:
    """The issues that the journal names."""
    return {change.num for item in Log(table, TENANT, PROJECT).all_after(0) for change in item.changes}


def test_a_batch_that_is_done_has_no_failures(table: MemoryTable) -> None:
    assert answer(table, batch(table, 1, 2, 3)) == {"batchItemFailures": []}
    assert derived(table) == {1, 2, 3}


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize(
    ("nums", "failed", "first"),
    [
        ((1, 2, 3), (2,), 12),  # one that failed
        ((1, 2, 3), (3, 2), 12),  # the first of them
        ((3, 1, 2), (3,), 11),
        ((1, 2, 1, 2), (2,), 12),  # its first record, not its last
        ((2, 3, 1), (1, 2, 3), 11),  # all
    ],
)
def test_the_first_record_that_is_not_done_is_named_by_its_sequence_number(
    table: MemoryTable, nums: tuple[int, ...], failed: tuple[int, ...], first: int
) -> None:
    """Another invocation always wins the race for the failing issues."""
    raced = failing(table, ledger_of(*failed), ConditionFailed(None))
    assert answer(raced, batch(table, *nums)) == {"batchItemFailures": [{"itemIdentifier": f"{first:021d}"}]}
    assert derived(table) == {*nums} - {*failed}


def test_an_unknown_outcome_of_one_ledger_repeats_the_whole_batch(
    table: MemoryTable,
) -> None:
    busy = failing(table, ledger_of(2), Overloaded("busy"))
    assert answer(busy, batch(table, 1, 2, 3)) == {"batchItemFailures": [{"itemIdentifier": f"{11:021d}"}]}
    assert derived(table) == set()
    assert answer(table, batch(table, 1, 2, 3)) == {"batchItemFailures": []}
    assert derived(table) == {1, 2, 3}


def waiting(table: Table, records: list[dict[str, Any]], batches: MemoryBatches) -> Any:
    """The answer of a consumer that can store records for later."""
    return Functions(table, Catalogs(), batches=batches).maintain(records, no_poison)


def test_a_refused_batch_waits_and_the_shard_continues(table: MemoryTable) -> None:
    busy = failing(table, ledger_of(2), Overloaded("busy"))
    batches = MemoryBatches()
    assert waiting(busy, batch(table, 1, 2, 1), batches) == {"batchItemFailures": []}
    assert derived(table) == set()
    (content,) = batches.contents.values()
    handed_over = Batch.of(content)
    assert [key_of(one) for one in handed_over.records] == [keys.issue(TENANT, PROJECT, n) for n in (1, 2, 1)]
    assert handed_over.recorded
    history = derived_keys.history(TENANT, PROJECT, 2), derived_keys.history_item(1)
    assert table.get(*history) is not None, "followers of the feed find it"
    batches.make_due(0)
    assert Functions(table, Catalogs(), batches=batches).redrive(no_poison)["batches_done"] == 1
    assert derived(table) == {1, 2}
    assert not batches.contents


def test_one_project_that_is_throttled_holds_up_no_other(table: MemoryTable) -> None:
    """Only the records of refused issues wait."""
    functions = Functions(table, Catalogs())
    ada = (TENANT, "ada", Role.ADMIN)
    assert functions.request(ada, "POST", "/v1/projects", {"id": "quay", "name": "Quay"}).status == 201
    made = functions.request(ada, "POST", "/v1/projects/quay/issues", {"name": "one"})
    assert made.status == 201
    key = keys.issue(TENANT, "quay", 1)
    other = table.get(key, keys.project(TENANT, "quay"))
    batches = MemoryBatches()
    busy = failing(table, ledger_of(1, 2), Overloaded("busy"))
    records = [*batch(table, 1, 2), record(20, None, other)]
    assert waiting(busy, records, batches) == {"batchItemFailures": []}
    (content,) = batches.contents.values()
    assert Batch.of(content).keys == tuple(keys.issue(TENANT, PROJECT, num) for num in (1, 2))
    assert [change.num for item in Log(table, TENANT, "quay").all_after(0) for change in item.changes] == [1]


def test_a_history_that_is_refused_holds_the_shard(table: MemoryTable) -> None:
    def of_history(attempted: Attempted) -> bool:
        return any(key[0].startswith(derived_keys.HISTORY_PREFIX) for key in attempted.keys)

    batches = MemoryBatches()
    busy = failing(table, of_history, Overloaded("busy"))
    assert waiting(busy, batch(table, 2, 1), batches) == {
        "batchItemFailures": [{"itemIdentifier": f"{11:021d}"}]
    }
    assert not batches.contents


def test_no_note_says_that_a_project_is_on_time_of_which_records_wait(table: MemoryTable) -> None:
    records = batch(table, 1, 2)
    for one in records:
        one["dynamodb"]["ApproximateCreationDateTime"] = 1.0
    note = keys.lag(TENANT, PROJECT), keys.LAG
    busy = failing(table, ledger_of(2), Overloaded("busy"))
    assert waiting(busy, records, MemoryBatches()) == {"batchItemFailures": []}
    assert table.get(*note) is None
    assert waiting(table, records, MemoryBatches()) == {"batchItemFailures": []}
    assert table.get(*note) is not None


def test_a_table_that_cannot_be_read_fails_the_whole_batch(table: MemoryTable) -> None:
    busy = failing(table, lambda attempted: attempted.operation == "batch_get", Overloaded("busy"))
    assert answer(busy, batch(table, 2, 1)) == {"batchItemFailures": [{"itemIdentifier": f"{11:021d}"}]}


def test_poison_is_sent_and_is_no_failure(table: MemoryTable) -> None:
    spoilt = document(table, 2)
    table.put({**spoilt, "fields": {"a1": "1 May 2023"}})
    letters: list[Poison] = []
    assert answer(table, batch(table, 1, 2, 3), letters) == {"batchItemFailures": []}
    assert [(letter.key, letter.version) for letter in letters] == [(keys.issue(TENANT, PROJECT, 2), 1)]
    assert derived(table) == {1, 3}


@pytest.mark.parametrize(
    "error",
    [
        Overloaded("busy"),
        ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "PutItem"),
        ValueError("a bug"),
    ],
)
def test_a_note_that_cannot_be_written_does_not_fail_the_batch_before_it(
    table: MemoryTable, error: Exception
) -> None:
    tried: list[Attempted] = []

    def note(attempted: Attempted) -> bool:
        if attempted.key[1] == keys.LAG:
            tried.append(attempted)
        return attempted.key[1] == keys.LAG

    records = batch(table, 1)
    for one in records:
        one["dynamodb"]["ApproximateCreationDateTime"] = 1.0
    assert answer(failing(table, note, error), records) == {"batchItemFailures": []}
    assert len(tried) == 1
    assert derived(table) == {1}


def measured(
    account: Cloud, records: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> dict[str, tuple[str, list[float]]]:
    """The metrics that the handler writes, by name: the unit and the values."""
    capsys.readouterr()
    event = {"Records": records}
    assert account.modules["maintain"].handler(event, Context()) == {"batchItemFailures": []}
    (written,) = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]
    (listed,) = written["_aws"]["CloudWatchMetrics"]
    return {one["Name"]: (one["Unit"], written[one["Name"]]) for one in listed["Metrics"]}


def test_records_of_a_replaced_table_and_throttled_records_are_counted(
    account: Cloud,
    api: Client,
    project: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("one", "two"):
        api.made(f"{project}/issues", {"name": name})
    records = account.stream.take()
    lost = "arn:aws:dynamodb:eu-west-2:123456789012:table/lost/stream/2026-11-21T08:00:00.000"
    of_another = [{**one, "eventSourceARN": lost} for one in records]
    assert measured(account, [*of_another, records[0]], capsys) == {
        "Records": ("Count", [3.0]),
        "LostRecords": ("Count", [2.0]),
    }
    busy = failing(account.table, lambda one: one.key[1] == derived_keys.LEDGER, Overloaded("busy"))
    monkeypatch.setattr(account.modules["maintain"], "table", busy)
    assert measured(account, records, capsys) == {
        "Records": ("Count", [2.0]),
        "ThrottledRecords": ("Count", [2.0]),
    }


def test_an_unforeseen_error_is_raised_so_that_lambda_delivers_everything_again(table: MemoryTable) -> None:
    denied = ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "PutItem")
    with pytest.raises(ClientError):
        answer(failing(table, ledger_of(2), denied), batch(table, 1, 2))
