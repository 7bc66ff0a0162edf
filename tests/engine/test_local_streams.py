"""The stream pump's parts against the real engine and the real SDK."""

import http.client
import json
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config

from devtools.failure import FunctionError
from devtools.local import engine as engines
from devtools.local import pump, table
from devtools.local.delivery import sequence_number
from devtools.local.environment import REGION
from devtools.local.folder import Folder
from devtools.local.sqs import SqsServer, queue_url
from devtools.local.streams import NOT_FOUND, TRIMMED, StreamClient, StreamError

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

TABLE = "gridview"


class CrashError(BaseException):
    """The pump's process dies."""


def put(client: Any, tenant: str, number: int, **values: Any) -> None:
    item = {"PK": {"S": f"issue-{tenant}.p.{number:08d}"}, "SK": {"S": f"project-{tenant}.p"}} | values
    client.put_item(TableName=TABLE, Item=item)


def records_of(tenant: str, endpoint: str, after: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """All records of a tenant in the stream, after a sequence number for each shard."""
    client = StreamClient(endpoint)
    stream = client.stream_of(TABLE)
    found = []
    for shard in client.shards(stream):
        iterator: str | None = client.iterator(stream, shard.id, (after or {}).get(shard.id))
        while iterator:
            page = client.read(stream, iterator, 1000)
            found += page.records
            iterator = page.next if page.records else None
    return [record for record in found if f"-{tenant}." in record["dynamodb"]["Keys"]["PK"]["S"]]


def mapping_of(folder: Folder) -> pump.Mapping:
    """The consumer's mapping."""
    return pump.Mapping(pump.FUNCTION, pump.wanted, folder.progress, pump.POLICY)


def test_records_are_as_lambda_delivers_them(engine: engines.Engine, table_name: str, tenant: str) -> None:
    client = engine.client()
    put(
        client,
        tenant,
        1,
        num={"N": "1.50"},
        raw={"B": b"\x00\xff"},
        none={"NULL": True},
        many={"SS": ["a", "b"]},
    )
    put(client, tenant, 1, num={"N": "2"})
    client.delete_item(
        TableName=table_name,
        Key={"PK": {"S": f"issue-{tenant}.p.00000001"}, "SK": {"S": f"project-{tenant}.p"}},
    )
    insert, modify, remove = records_of(tenant, engine.endpoint)
    assert [one["eventName"] for one in (insert, modify, remove)] == ["INSERT", "MODIFY", "REMOVE"]
    assert insert.keys() >= {
        "eventID",
        "eventName",
        "eventVersion",
        "eventSource",
        "awsRegion",
        "dynamodb",
        "eventSourceARN",
    }
    assert insert["eventSource"] == "aws:dynamodb"
    change = insert["dynamodb"]
    assert change["StreamViewType"] == "NEW_AND_OLD_IMAGES"
    assert change["SizeBytes"] > 0
    assert change["ApproximateCreationDateTime"] == pytest.approx(time.time(), abs=120)
    assert change["NewImage"] == change["Keys"] | {
        "num": {"N": "1.5"},
        "raw": {"B": "AP8="},
        "none": {"NULL": True},
        "many": {"SS": ["a", "b"]},
    }
    assert "OldImage" not in change
    assert modify["dynamodb"]["OldImage"] == change["NewImage"]
    assert "NewImage" not in remove["dynamodb"]
    assert sequence_number(insert) < sequence_number(modify) < sequence_number(remove)


def test_refusals_have_the_names_that_the_pump_knows(engine: engines.Engine, table_name: str) -> None:
    client = StreamClient(engine.endpoint)
    stream = client.stream_of(table_name)
    with pytest.raises(StreamError) as refused:
        client.iterator(stream, "shardId-00000000000000000000-00000000", None)
    assert refused.value.code == NOT_FOUND
    with pytest.raises(StreamError) as refused:
        client.stream_of("no-such-table")
    assert refused.value.code == NOT_FOUND
    assert TRIMMED  # cannot be provoked: the engine trims after a day


def test_the_stream_survives_a_kill_of_the_engine(tmp_path: Path) -> None:
    """The pump's assumption: after kill -9 the engine has every acknowledged write, in the table and in the stream."""
    first = engines.start(tmp_path, in_memory=False)
    table.ensure_without_stream(first.client(), TABLE)
    put(first.client(), "filled", 1)
    stream = table.ensure(first.client(), TABLE)
    acknowledged: list[int] = []

    def write() -> None:
        client = first.client(Config(retries={"total_max_attempts": 1}))
        for number in range(1, 100_000):
            try:
                put(client, "tt", number)
            except Exception:  # the engine is gone
                return
            acknowledged.append(number)

    writer = threading.Thread(target=write)
    writer.start()
    while len(acknowledged) < 200:
        time.sleep(0.005)
    first.process.send_signal(signal.SIGKILL)
    first.process.wait()
    writer.join()
    with engines.running(in_memory=False, folder=tmp_path) as second:
        client = second.client()
        assert table.ensure(client, TABLE) == stream
        records = records_of("tt", second.endpoint)
        numbers = [int(one["dynamodb"]["Keys"]["PK"]["S"][-8:]) for one in records]
        assert set(acknowledged) <= set(numbers)
        assert numbers == sorted(set(numbers))
        stored = {
            item["PK"]["S"]
            for page in client.get_paginator("scan").paginate(TableName=TABLE)
            for item in page["Items"]
        }
        # Items that were in the table before it had a stream are in no record.
        assert records_of("filled", second.endpoint) == []
        stored.remove("issue-filled.p.00000001")
        assert {f"issue-tt.p.{number:08d}" for number in numbers} == stored
        # A position from before the kill stays valid.
        (shard,) = StreamClient(second.endpoint).shards(stream)
        rest = records_of("tt", second.endpoint, {shard.id: sequence_number(records[99])})
        assert [sequence_number(one) for one in rest] == [sequence_number(one) for one in records[100:]]


def test_the_pump_moves_what_is_written_and_goes_on_after_a_restart(
    engine: engines.Engine, table_name: str, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole loop, stopped by an exception of the function, as a crash would stop it."""
    client = engine.client()
    seen: list[int] = []

    def consume(event: Any) -> Any:
        for record in event["Records"]:
            key = record["dynamodb"]["Keys"]["PK"]["S"]
            if f"-{tenant}." in key:
                seen.append(int(key[-8:]))
                if len(seen) == 150 or seen[-1] == 300:
                    raise CrashError

    monkeypatch.setattr(pump, "_IDLE_SECONDS", 0.0)
    for number in range(1, 201):
        put(client, tenant, number)
        client.put_item(
            TableName=table_name, Item={"PK": {"S": f"issue-{tenant}.p.{number:08d}"}, "SK": {"S": "xindex"}}
        )
    with pytest.raises(CrashError):
        pump.run(engine.endpoint, table_name, Folder(tmp_path), consume, mapping_of(Folder(tmp_path)))
    for number in range(201, 301):
        put(client, tenant, number)
    with pytest.raises(CrashError):
        pump.run(engine.endpoint, table_name, Folder(tmp_path), consume, mapping_of(Folder(tmp_path)))
    # At least once, in order, and after the crash at most one batch back.
    assert set(seen) == set(range(1, 301))
    assert seen[:150] == list(range(1, 151))
    assert seen[150] > 150 - pump.POLICY.batch_size
    assert seen[150:] == list(range(seen[150], 301))[: len(seen) - 150]


def test_a_batch_that_the_pump_gives_up_is_kept_and_the_rest_delivered(
    engine: engines.Engine, table_name: str, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch with a record that crashes is kept whole after its retries, and the shard continues with the next one."""
    folder = Folder(tmp_path)
    seen: set[str] = set()
    attempts: list[set[str]] = []

    def keys_of(records: Any) -> set[str]:
        return {record["dynamodb"]["Keys"]["PK"]["S"] for record in records}

    def consume(event: Any) -> None:
        keys = keys_of(event["Records"])
        if f"issue-{tenant}.p.00000004" in keys:
            attempts.append(keys)
            if len(attempts) == pump.POLICY.retries + 1:
                put(engine.client(), tenant, 11)
            raise FunctionError("it crashes at this one")
        seen.update(key for key in keys if f"-{tenant}." in key)
        if f"issue-{tenant}.p.00000011" in keys:
            raise CrashError

    monkeypatch.setattr(pump, "pause", lambda _: None)
    for number in range(1, 11):
        put(engine.client(), tenant, number)
    with pytest.raises(CrashError):
        pump.run(engine.endpoint, table_name, folder, consume, mapping_of(folder))
    (kept,) = (path for path in folder.failed_batches.rglob("*") if path.is_file())
    batch = json.loads(kept.read_text())
    assert batch["requestContext"]["approximateInvokeCount"] == len(attempts) == pump.POLICY.retries + 1
    in_batch = keys_of(json.loads(batch["payload"])["Records"])
    assert all(keys == in_batch for keys in attempts)
    assert {key for key in in_batch | seen if f"-{tenant}." in key} == {
        f"issue-{tenant}.p.{number:08d}" for number in range(1, 12)
    }
    assert not in_batch & seen


def test_boto3_takes_the_local_queue_for_sqs(tmp_path: Path) -> None:
    letters = tmp_path / "dead-letters.ndjson"
    with sqs(letters) as (client, queue):
        sent = [
            client.send_message(QueueUrl=queue, MessageBody=body)["MessageId"] for body in ("one", "zwö", "3")
        ]
        assert counted(client, queue) == (3, 0)
        # boto3 checks the digests of sent and received messages.
        got = client.receive_message(QueueUrl=queue, MaxNumberOfMessages=10, VisibilityTimeout=600)[
            "Messages"
        ]
        assert [(one["MessageId"], one["Body"]) for one in got] == list(
            zip(sent, ("one", "zwö", "3"), strict=True)
        )
        assert "Messages" not in client.receive_message(QueueUrl=queue)
        assert counted(client, queue) == (0, 3)
        client.delete_message(QueueUrl=queue, ReceiptHandle=got[0]["ReceiptHandle"])
        client.change_message_visibility(
            QueueUrl=queue, ReceiptHandle=got[1]["ReceiptHandle"], VisibilityTimeout=0
        )
        assert counted(client, queue) == (1, 1)
        with pytest.raises(client.exceptions.ClientError, match="UnsupportedOperation"):
            client.purge_queue(QueueUrl=queue)
    # A message that was not deleted is still there for the next client, even if another has received it.
    with sqs(letters) as (client, queue):
        got = client.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)["Messages"]
        assert [one["MessageId"] for one in got] == sent[1:]
        for one in got:
            client.delete_message(QueueUrl=queue, ReceiptHandle=one["ReceiptHandle"])
    with sqs(letters) as (client, queue):
        assert counted(client, queue) == (0, 0)


def test_a_name_of_the_web_leads_to_no_queue(tmp_path: Path) -> None:
    """A page whose name means 127.0.0.1 (DNS rebinding) would read the dead letters."""
    server = SqsServer(tmp_path / "dead-letters.ndjson")
    server.start()
    host, port = server.socket.getsockname()
    body = json.dumps({"QueueUrl": queue_url(server.endpoint)})
    try:
        for name, status in ((host, 200), ("host.docker.internal", 200), ("evil.example", 403)):
            client = http.client.HTTPConnection(host, port)
            headers = {"Host": f"{name}:{port}", "X-Amz-Target": "AmazonSQS.ReceiveMessage"}
            client.request("POST", "/", body, headers)
            assert client.getresponse().status == status
            client.close()
    finally:
        server.shutdown()
        server.server_close()


def test_an_answer_of_the_queues_is_one_packet(tmp_path: Path) -> None:
    """A body sent after its head would wait for 40 ms: the client acknowledges the head no sooner."""
    server = SqsServer(tmp_path / "dead-letters.ndjson")
    server.start()
    try:
        with socket.create_connection(server.socket.getsockname()) as client:
            for _ in range(5):
                body = json.dumps({"QueueUrl": queue_url(server.endpoint)})
                head = f"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}"
                head = f"{head}\r\nX-Amz-Target: AmazonSQS.ReceiveMessage"
                client.sendall(f"{head}\r\n\r\n{body}".encode())
                head, _, body = client.recv(65536).decode().partition("\r\n\r\n")
                assert head.startswith("HTTP/1.1 200 ")
                assert body == "{}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def sqs(letters: Path) -> Iterator[tuple["SQSClient", str]]:
    """A client of a queue on a socket that another process has bound, as the supervisor does for the pump."""
    server = SqsServer(letters, socket.create_server(("127.0.0.1", 0)))
    server.start()
    try:
        yield (
            boto3.client(
                "sqs",
                endpoint_url=server.endpoint,
                region_name=REGION,
                aws_access_key_id="local",
                aws_secret_access_key="local",
            ),
            queue_url(server.endpoint),
        )
    finally:
        server.shutdown()
        server.server_close()


def counted(client: "SQSClient", queue: str) -> tuple[int, int]:
    """How many messages the queue shows, and how many it hides."""
    attributes = client.get_queue_attributes(QueueUrl=queue, AttributeNames=["All"])["Attributes"]
    return (
        int(attributes["ApproximateNumberOfMessages"]),
        int(attributes["ApproximateNumberOfMessagesNotVisible"]),
    )
