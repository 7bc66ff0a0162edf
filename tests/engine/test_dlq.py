"""`./dev fsck` and `./dev dlq` on a local stack that runs, beside its functions, and killed."""

import argparse
import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from devtools import paths
from devtools.local import engine, stack
from devtools.local.dead_letters import keep_batch
from devtools.local.delivery import Reason
from devtools.local.folder import Folder
from devtools.operate import target
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from tests.engine.test_local_stack import client, dev, given_up, status, up, walk

PROJECT = "yard"
SECONDS = 30


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A stack with a project of 20 issues."""
    folder = tmp_path_factory.mktemp("operated") / "data"
    up(folder, "--empty")
    with client(folder) as api:
        api.post("/v1/projects", json={"id": PROJECT, "name": "Yard"}).raise_for_status()
        attribute = {"id": "due", "name": "Due", "type": "date"}
        api.post(f"/v1/projects/{PROJECT}/attributes", json=attribute).raise_for_status()
        for day in range(1, 21):
            body = {"name": f"Part {day}", "fields": {"due": f"2024-05-{day:02d}"}}
            api.post(f"/v1/projects/{PROJECT}/issues", json=body).raise_for_status()
        wait_until(lambda: len(walk(api, PROJECT, "due")) == 20)
    yield folder
    dev("reset", "--data", folder)


def wait_until(holds: Any) -> None:
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.fixture
def table(data: Path) -> Table:
    return Table(stack.TABLE, engine.client(status(data)["engine"]))


def key_of(num: int) -> str:
    return keys.issue("0807", PROJECT, num)


def document(table: Table, num: int) -> Item:
    found = table.get(key_of(num), keys.project("0807", PROJECT), consistent=True)
    assert found is not None
    return found


def operated(data: Path, *arguments: str, ends: int) -> str:
    ended = dev(*arguments, "--data", str(data))
    told = ended.stdout + ended.stderr
    assert ended.returncode == ends, told
    return told


def test_a_check_finds_what_somebody_has_deleted_and_repairs_it(data: Path, table: Table) -> None:
    one = ("--project", PROJECT, "--tenant", "0807", "--patience", "1")
    assert "20 issues looked at" in operated(data, "fsck", *one, ends=0)
    table.delete(key_of(3), keys.order("0807", PROJECT, "a1.1"))
    table.delete(key_of(4), keys.LEDGER)
    with client(data) as api:
        assert len(walk(api, PROJECT, "due")) == 19
        for arguments in (one, ("--patience", "1")):
            told = operated(data, "fsck", *arguments, ends=1)
            assert f"{key_of(3)}  missing     due (a1.1): nothing, should be 2024-05-03 / 00000003" in told
            assert "2 are wrong" in told
        told = operated(data, "fsck", *one, "--repair", ends=0)
        assert "2 were wrong and are repaired." in told
        assert [row["num"] for row in walk(api, PROJECT, "due")] == list(range(1, 21))
    operated(data, "fsck", "--patience", "1", ends=0)


def test_what_was_poison_is_redriven_when_it_can_be_derived(data: Path, table: Table) -> None:
    sound = document(table, 5)
    spoiled = {**sound, "version": 2, "fields": {"a1": 7}}
    table.put(spoiled)
    wait_until(lambda: "1 dead letters" in operated(data, "dlq", "list", ends=0))
    told = operated(data, "dlq", "list", ends=0)
    assert f"letter  {key_of(5)} version 2: " in told
    assert f"left      {key_of(5)}: " in operated(data, "dlq", "redrive", "--all", ends=1)
    (letter,) = (line.split()[0] for line in told.splitlines() if key_of(5) in line)
    table.put({**sound, "version": 3, "fields": {"a1": "2030-01-01"}})
    assert "1 redriven, 0 left." in operated(data, "dlq", "redrive", letter, ends=0)
    with client(data) as api:
        assert walk(api, PROJECT, "due")[-1]["num"] == 5
    assert "0 dead letters" in operated(data, "dlq", "list", ends=0)
    operated(data, "fsck", "--patience", "1", ends=0)


def test_a_failed_batch_is_redriven_from_the_documents(data: Path, table: Table) -> None:
    entry = keys.order("0807", PROJECT, "a1.1")
    for num in (7, 8):
        table.delete(key_of(num), entry)
    records: list[dict[str, Any]] = [
        {
            "eventName": "MODIFY",
            "dynamodb": {
                "ApproximateCreationDateTime": 1_700_000_000,
                "Keys": {"PK": {"S": key_of(num)}, "SK": {"S": keys.project("0807", PROJECT)}},
                "SequenceNumber": str(num),
                "NewImage": {"version": {"N": "1"}},
            },
        }
        for num in (7, 8, 8)
    ]
    kept = keep_batch(
        Folder(data).failed_batches,
        stream="arn:stream",
        shard="shardId-1",
        function="arn:function",
        records=records,
        reason=Reason.RETRIES,
        invocations=11,
    )
    told = operated(data, "dlq", "list", ends=0)
    assert "3 records of 2 issues: RetryAttemptsExhausted" in told
    assert "1 redriven, 0 left." in operated(data, "dlq", "redrive", "--all", ends=0)
    assert kept not in given_up(data)
    assert {num for num in (7, 8) if table.get(key_of(num), entry, consistent=True)} == {7, 8}
    operated(data, "fsck", "--patience", "1", ends=0)


def test_a_redrive_that_is_killed_at_any_moment_loses_no_letter(data: Path, table: Table) -> None:
    state = Folder(data).require_running()
    queue = target.open(argparse.Namespace(data=data, deployed=False)).queue
    issues = [key_of(num) for num in range(1, 21)]
    for moment in (0.8, 1.3, 1.8):
        for key in issues:
            table.delete(key, keys.LEDGER)
            letter = json.dumps({"key": key, "version": 1, "error": "what"})
            queue.send_message(QueueUrl=state.queue, MessageBody=letter)
        command = [str(paths.ROOT / "dev"), "dlq", "redrive", "--all", "--data", str(data)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:  # noqa: S603
            time.sleep(moment)
            running.kill()
        told = queue.get_queue_attributes(QueueUrl=state.queue, AttributeNames=["All"])["Attributes"]
        letters = int(told["ApproximateNumberOfMessages"]) + int(
            told["ApproximateNumberOfMessagesNotVisible"]
        )
        undone = [key for key in issues if table.get(key, keys.LEDGER, consistent=True) is None]
        assert letters >= len(undone)
        operated(data, "fsck", "--patience", "0", "--repair", ends=0)
