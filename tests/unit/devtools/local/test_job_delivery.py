from typing import Any

import pytest

from devtools.failure import FunctionError
from devtools.local import job_delivery
from devtools.local.sqs import DEAD_LETTERS, JOBS, Queue, answer


class EnoughError(Exception):
    """The test has seen enough."""


def test_each_message_is_one_invocation_and_then_gone() -> None:
    queue = Queue(None)
    for body in ("one", "two"):
        queue.send(body)
    events: list[Any] = []

    def pause(_: float) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        job_delivery.run(queue, events.append, pause)
    assert [[record["body"] for record in event["Records"]] for event in events] == [["one"], ["two"]]
    assert queue.count() == (0, 0)


def test_an_invocation_gets_as_many_messages_as_it_may() -> None:
    queue = Queue(None)
    for body in ("one", "two", "three"):
        queue.send(body)
    events: list[Any] = []
    while job_delivery.deliver(queue, events.append, 2):
        pass
    assert [[record["body"] for record in event["Records"]] for event in events] == [
        ["one", "two"],
        ["three"],
    ]
    assert queue.count() == (0, 0)


@pytest.mark.parametrize("error", [FunctionError("the detail"), OSError("no process can be started")])
def test_a_message_is_hidden_and_kept_if_its_invocation_fails(error: Exception) -> None:
    seconds = 0.0
    queue = Queue(None, lambda: seconds)
    queue.send("one")

    def fail(_: Any) -> None:
        raise error

    assert job_delivery.deliver(queue, fail)
    assert not job_delivery.deliver(queue, fail)
    seconds = 361.0
    assert job_delivery.deliver(queue, lambda _: None)
    assert queue.count() == (0, 0)


def test_a_delayed_message_comes_when_its_time_has_come() -> None:
    seconds = 0.0
    queue = Queue(None, lambda: seconds)
    queue.send("later", 5)
    assert queue.receive(1, 30) == []
    seconds = 5.0
    ((_, message),) = queue.receive(1, 30)
    assert message.body == "later"


def test_a_call_is_answered_by_the_queue_that_it_names() -> None:
    queues = {name: Queue(None) for name in (DEAD_LETTERS, JOBS)}
    for name, status in ((DEAD_LETTERS, 200), (JOBS, 200), ("other", 400)):
        request = {"QueueUrl": f"http://127.0.0.1/1/{name}", "MessageBody": name, "DelaySeconds": 0}
        assert answer(queues, "AmazonSQS.SendMessage", request)[0] == status
    for name, queue in queues.items():
        assert [message.body for _, message in queue.receive(9, 0)] == [name]
    too_late = {"QueueUrl": JOBS, "MessageBody": "x", "DelaySeconds": 901}
    assert answer(queues, "AmazonSQS.SendMessage", too_late)[0] == 400
