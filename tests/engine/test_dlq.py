"""`./dev fsck` and `./dev dlq` on a local stack: while it runs, beside its functions, and killed."""

import argparse
import json
import signal
from typing import Any

import pytest

from devtools.local import engine
from devtools.local.delivery import Reason
from devtools.local.failed_batches import keep_batch
from devtools.local.folder import Folder
from devtools.local.table import TABLE
from devtools.operate import target
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.attribute_values import item_to_wire
from tests.engine.test_local_stack import walk
from tests.support.stacks import LocalStack, until

PROJECT = "yard"


@pytest.fixture(scope="module", autouse=True)
def project(stack: LocalStack) -> None:
    """A project of 20 issues."""
    with stack.client() as api:
        api.post("/v1/projects", json={"id": PROJECT, "name": "Yard"}).raise_for_status()
        attribute = {"id": "due", "name": "Due", "type": "date"}
        api.post(f"/v1/projects/{PROJECT}/attributes", json=attribute).raise_for_status()
        for day in range(1, 21):
            body = {"name": f"Part {day}", "fields": {"due": f"2024-05-{day:02d}"}}
            api.post(f"/v1/projects/{PROJECT}/issues", json=body).raise_for_status()
        # The grid shows issues that the index does not have yet.
        until(stack.caught_up)
        assert len(walk(api, PROJECT, "due")) == 20


@pytest.fixture
def table(stack: LocalStack) -> Table:
    return Table(TABLE, engine.client(stack.state.engine))


def key_of(num: int) -> str:
    return keys.issue("0807", PROJECT, num)


def document(table: Table, num: int) -> Item:
    found = table.get(key_of(num), keys.project("0807", PROJECT), consistent=True)
    assert found is not None
    return found


def operated(stack: LocalStack, *arguments: str, ends: int) -> str:
    ended = stack.dev(*arguments)
    output = ended.stdout + ended.stderr
    assert ended.status == ends, output
    return output


def test_a_check_finds_deleted_items_and_repairs_them(stack: LocalStack, table: Table) -> None:
    one = ("--project", PROJECT, "--tenant", "0807", "--patience", "1")
    assert "20 issues checked" in operated(stack, "fsck", *one, ends=0)
    table.delete(key_of(3), derived_keys.order("0807", PROJECT, "a1.1"))
    table.delete(key_of(4), derived_keys.LEDGER)
    with stack.client() as api:
        for arguments in (one, ("--patience", "1")):
            output = operated(stack, "fsck", *arguments, ends=1)
            assert f"{key_of(3)}  missing     due (a1.1): nothing, should be 2024-05-03 / 00000003" in output
            assert "2 are wrong" in output
        output = operated(stack, "fsck", *one, "--repair", ends=0)
        assert "2 were wrong and have been repaired." in output
        assert [row["num"] for row in walk(api, PROJECT, "due")] == list(range(1, 21))
    operated(stack, "fsck", "--patience", "1", ends=0)


def test_a_dead_letter_is_redriven_when_its_issue_can_be_derived(stack: LocalStack, table: Table) -> None:
    sound = document(table, 5)
    spoiled = {**sound, "version": 2, "fields": {"a1": 7}}
    table.put(spoiled)
    until(lambda: "1 dead letters" in operated(stack, "dlq", "list", ends=0))
    output = operated(stack, "dlq", "list", ends=0)
    assert f"letter  {key_of(5)} version 2: " in output
    assert f"left      {key_of(5)}: " in operated(stack, "dlq", "redrive", "--all", ends=1)
    (letter,) = (line.split()[0] for line in output.splitlines() if key_of(5) in line)
    table.put({**sound, "version": 3, "fields": {"a1": "2030-01-01"}})
    assert "1 redriven, 0 left." in operated(stack, "dlq", "redrive", letter, ends=0)
    with stack.client() as api:
        assert walk(api, PROJECT, "due")[-1]["num"] == 5
    assert "0 dead letters" in operated(stack, "dlq", "list", ends=0)
    operated(stack, "fsck", "--patience", "1", ends=0)


def test_a_failed_batch_is_redriven_by_upkeep(stack: LocalStack, table: Table) -> None:
    """Its records are older than the derived state, so nothing changes."""
    records: list[dict[str, Any]] = [
        {
            "eventName": "MODIFY",
            "dynamodb": {
                "ApproximateCreationDateTime": 1_700_000_000,
                "Keys": {"PK": {"S": key_of(num)}, "SK": {"S": keys.project("0807", PROJECT)}},
                "SequenceNumber": str(num),
                "NewImage": item_to_wire({**document(table, num), "change": None}),
            },
        }
        for num in (7, 8, 8)
    ]
    kept = keep_batch(
        Folder(stack.data).failed_batches,
        stream="arn:stream",
        shard="shardId-1",
        function="arn:function",
        records=records,
        reason=Reason.RETRIES,
        invocations=11,
    )
    # Each step renames the batch, so one list of the files may miss it.
    until(lambda: not kept.exists() and "0 failed batches" in operated(stack, "dlq", "list", ends=0))
    batches = Folder(stack.data).failed_batches
    until(lambda: not any(path.is_file() for path in batches.rglob("*")))
    operated(stack, "fsck", "--patience", "1", ends=0)


def test_a_redrive_that_is_killed_in_the_midst_loses_no_letter(stack: LocalStack, table: Table) -> None:
    """`tests/unit/devtools/operate/test_dlq.py` kills it at every call."""
    state = Folder(stack.data).require_running()
    queue = target.open(
        argparse.Namespace(data=stack.data, deployed=False, stack_name=None, profile=None)
    ).queue
    assert letters(queue, state.queue) == 0
    issues = [key_of(num) for num in range(1, 21)]
    for key in issues:
        table.delete(key, derived_keys.LEDGER)
        letter = json.dumps({"key": key, "version": 1, "error": "what"})
        queue.send_message(QueueUrl=state.queue, MessageBody=letter)
    with stack.start("dlq", "redrive", "--all") as running:
        assert running.stdout is not None
        for _ in range(3):
            assert "redriven" in running.stdout.readline()
        running.kill()
    assert running.returncode == -signal.SIGKILL
    undone = [key for key in issues if table.get(key, derived_keys.LEDGER, consistent=True) is None]
    assert len(undone) <= len(issues) - 3
    assert len(undone) <= letters(queue, state.queue) <= len(issues) - 3
    operated(stack, "fsck", "--project", PROJECT, "--tenant", "0807", "--patience", "0", "--repair", ends=0)
    assert all(table.get(key, derived_keys.LEDGER, consistent=True) for key in issues)


def letters(queue: Any, url: str) -> int:
    """The number of letters, including received ones that were not deleted."""
    counts = queue.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    return int(counts["ApproximateNumberOfMessages"]) + int(counts["ApproximateNumberOfMessagesNotVisible"])
