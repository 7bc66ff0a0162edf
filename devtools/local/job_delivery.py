"""The delivery of hints at due jobs to the upkeep function, as Lambda delivers a queue's messages: one for each invocation."""

import logging
import time
from collections.abc import Callable
from typing import Any

from devtools.failure import FunctionError
from devtools.local.sqs import Queue
from infra.limits import TIMEOUTS

WORKERS = 2
"""Jobs that are worked on at once: the deployment's default."""

_HIDDEN_SECONDS = TIMEOUTS["upkeep"] * 6
_IDLE_SECONDS = 0.2

_log = logging.getLogger("gridview.jobs")


def run(queue: Queue, invoke: Callable[[Any], Any], pause: Callable[[float], None] = time.sleep) -> None:
    """Deliver for ever, one message at a time. `pause` waits for some seconds."""
    while True:
        if not deliver(queue, invoke):
            pause(_IDLE_SECONDS)


def deliver(queue: Queue, invoke: Callable[[Any], Any]) -> bool:
    """Deliver the next message, and delete it unless the function fails; False if there is none."""
    received = queue.receive(1, _HIDDEN_SECONDS)
    for receipt, message in received:
        record = {
            "messageId": message.id,
            "receiptHandle": receipt,
            "body": message.body,
            "eventSource": "aws:sqs",
        }
        try:
            invoke({"Records": [record]})
        except (FunctionError, OSError):
            _log.exception("A turn of work on a job failed.")
        else:
            queue.delete(receipt)
    return bool(received)
