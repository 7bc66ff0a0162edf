import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from devtools import deadletters
from devtools.delivery import Reason


def test_a_message_is_kept_before_it_is_answered() -> None:
    kept: list[Mapping[str, Any]] = []
    status, answer = deadletters.send_message(
        "AmazonSQS.SendMessage", {"QueueUrl": "http://queue", "MessageBody": "pöison"}, kept.append
    )
    assert status == 200
    assert answer["MD5OfMessageBody"] == hashlib.md5("pöison".encode()).hexdigest()  # noqa: S324
    assert kept[0]["body"] == "pöison"
    assert kept[0]["queue"] == "http://queue"
    assert kept[0]["id"] == answer["MessageId"]


@pytest.mark.parametrize(
    ("target", "request_"),
    [
        ("AmazonSQS.ReceiveMessage", {"QueueUrl": "q"}),
        ("AmazonSQS.SendMessage", {"QueueUrl": "q"}),
        ("AmazonSQS.SendMessage", {"QueueUrl": "q", "MessageBody": ""}),
        ("AmazonSQS.SendMessage", {"QueueUrl": "q", "MessageBody": "x" * (1024 * 1024 + 1)}),
        ("AmazonSQS.SendMessage", None),
    ],
)
def test_anything_else_is_refused_and_not_kept(target: str, request_: Any) -> None:
    status, answer = deadletters.send_message(target, request_, lambda letter: pytest.fail(f"kept {letter}"))
    assert status == 400
    assert answer["__type"].startswith("com.amazonaws.sqs#")


def test_a_batch_is_kept_whole(tmp_path: Path) -> None:
    records = [{"dynamodb": {"SequenceNumber": f"{n:021d}"}} for n in (4, 5)]
    path = tmp_path / "failed-batches.ndjson"
    for _ in range(2):
        deadletters.keep_batch(
            path,
            stream="arn:s",
            shard="shard-1",
            function="arn:f",
            records=records,
            reason=Reason.RETRIES,
            invocations=6,
        )
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 2
    assert lines[0]["requestContext"]["condition"] == "RetryAttemptsExhausted"
    assert lines[0]["requestContext"]["approximateInvokeCount"] == 6
    assert lines[0]["DDBStreamBatchInfo"] == {
        "shardId": "shard-1",
        "startSequenceNumber": f"{4:021d}",
        "endSequenceNumber": f"{5:021d}",
        "batchSize": 2,
        "streamArn": "arn:s",
    }
    assert json.loads(lines[0]["payload"]) == {"Records": records}
