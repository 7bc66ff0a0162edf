import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from devtools.local.sqs import Queue, answer


class Clock:
    """A queue's clock, which moves only when the test moves it."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "dead-letters.ndjson"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queue(path: Path, clock: Clock) -> Queue:
    return Queue(path, clock)


def call(queue: Queue, operation: str, **request: Any) -> dict[str, Any]:
    status, found = answer({"q": queue}, f"AmazonSQS.{operation}", {"QueueUrl": "http://queue/q", **request})
    assert status == 200, found
    return found


def bodies(queue: Queue) -> list[str]:
    """The bodies that can be received, without receiving them."""
    return [letter.body for _, letter in queue.receive(100, 0)]


def test_a_message_is_on_the_disk_before_it_is_answered(queue: Queue, path: Path) -> None:
    sent = call(queue, "SendMessage", MessageBody="pöison")
    assert sent["MD5OfMessageBody"] == hashlib.md5("pöison".encode()).hexdigest()  # noqa: S324
    kept = json.loads(path.read_text())
    assert (kept["id"], kept["body"]) == (sent["MessageId"], "pöison")


def test_a_received_message_is_hidden_for_its_time_and_comes_back(queue: Queue, clock: Clock) -> None:
    for body in ("a", "b", "c"):
        call(queue, "SendMessage", MessageBody=body)
    first = call(queue, "ReceiveMessage", MaxNumberOfMessages=2, VisibilityTimeout=60)["Messages"]
    assert [one["Body"] for one in first] == ["a", "b"]
    assert first[0]["MD5OfBody"] == hashlib.md5(b"a").hexdigest()  # noqa: S324
    assert [one["Body"] for one in call(queue, "ReceiveMessage")["Messages"]] == ["c"]
    assert call(queue, "ReceiveMessage") == {}
    clock.seconds += 30
    assert bodies(queue) == ["c"]
    clock.seconds += 30
    again = call(queue, "ReceiveMessage", MaxNumberOfMessages=10)["Messages"]
    assert [one["Body"] for one in again] == ["a", "b", "c"]
    assert [one["Attributes"]["ApproximateReceiveCount"] for one in again] == ["2", "2", "3"]


def test_a_message_can_be_given_back_at_once(queue: Queue) -> None:
    call(queue, "SendMessage", MessageBody="a")
    (got,) = call(queue, "ReceiveMessage", VisibilityTimeout=600)["Messages"]
    call(queue, "ChangeMessageVisibility", ReceiptHandle=got["ReceiptHandle"], VisibilityTimeout=0)
    assert bodies(queue) == ["a"]


def test_a_deleted_message_is_gone_and_may_be_deleted_again(queue: Queue, path: Path) -> None:
    for body in ("a", "b"):
        call(queue, "SendMessage", MessageBody=body)
    (got,) = call(queue, "ReceiveMessage")["Messages"]
    for _ in range(2):
        call(queue, "DeleteMessage", ReceiptHandle=got["ReceiptHandle"])
    assert bodies(queue) == ["b"]
    # At once, and on disk: it does not return after a kill -9.
    assert bodies(Queue(path)) == ["b"]


def test_messages_are_counted(queue: Queue) -> None:
    for body in ("a", "b", "c"):
        call(queue, "SendMessage", MessageBody=body)
    call(queue, "ReceiveMessage")
    every = call(queue, "GetQueueAttributes", AttributeNames=["All"])["Attributes"]
    assert every == {"ApproximateNumberOfMessages": "2", "ApproximateNumberOfMessagesNotVisible": "1"}
    one = call(queue, "GetQueueAttributes", AttributeNames=["ApproximateNumberOfMessages"])["Attributes"]
    assert one == {"ApproximateNumberOfMessages": "2"}


def test_a_queue_opened_again_shows_all_that_was_not_deleted(queue: Queue, path: Path) -> None:
    for body in ("a", "b", "c"):
        call(queue, "SendMessage", MessageBody=body)
    got = call(queue, "ReceiveMessage", MaxNumberOfMessages=2, VisibilityTimeout=600)["Messages"]
    call(queue, "DeleteMessage", ReceiptHandle=got[0]["ReceiptHandle"])
    with path.open("a") as file:
        file.write('{"time": 1, "id": "never answ')  # killed in the middle of a line
    again = Queue(path)
    assert bodies(again) == ["b", "c"]
    assert len(path.read_text().splitlines()) == 2
    again.send("d")
    assert bodies(Queue(path)) == ["b", "c", "d"]


def test_a_queue_that_holds_nothing_leaves_no_file(queue: Queue, path: Path) -> None:
    assert not path.exists()
    queue.send("a")
    ((receipt, _),) = queue.receive(1, 30)
    queue.delete(receipt)
    assert bodies(Queue(path)) == []
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("target", "request_"),
    [
        ("AmazonSQS.PurgeQueue", {"QueueUrl": "q"}),
        ("SendMessage", {"QueueUrl": "q", "MessageBody": "a"}),
        ("AmazonSQS.SendMessage", {"QueueUrl": "q"}),
        ("AmazonSQS.SendMessage", {"QueueUrl": "q", "MessageBody": ""}),
        ("AmazonSQS.SendMessage", {"QueueUrl": "q", "MessageBody": "x" * (1024 * 1024 + 1)}),
        ("AmazonSQS.SendMessage", None),
        ("AmazonSQS.ReceiveMessage", {"QueueUrl": "q", "MaxNumberOfMessages": 11}),
        ("AmazonSQS.ReceiveMessage", {"QueueUrl": "q", "VisibilityTimeout": -1}),
        ("AmazonSQS.DeleteMessage", {"QueueUrl": "q"}),
    ],
)
def test_anything_else_is_refused_and_changes_nothing(queue: Queue, target: str, request_: Any) -> None:
    queue.send("kept")
    status, refusal = answer({"q": queue}, target, request_)
    assert status == 400
    assert refusal["__type"].startswith("com.amazonaws.sqs#")
    assert bodies(queue) == ["kept"]
