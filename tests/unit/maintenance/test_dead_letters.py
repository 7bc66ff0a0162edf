"""The queue of poison issues: the one message that `./dev dlq` reads."""

import json
from typing import Any

import pytest

from gridview.derive.images import Poison
from gridview.maintenance.dead_letters import DeadLetters
from gridview.support import aws

QUEUE = "https://queue.invalid"


def test_a_poison_issue_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []

    class Client:
        def send_message(self, **message: Any) -> None:
            sent.append(message)

    monkeypatch.setattr(aws, "client", lambda service: Client() if service == "sqs" else None)
    DeadLetters(QUEUE).send(Poison("issue-0807.35e9.1", 7, "ValueError: no number"))
    ((url, body),) = [message.values() for message in sent]
    assert url == QUEUE
    assert json.loads(body) == {"key": "issue-0807.35e9.1", "version": 7, "error": "ValueError: no number"}
