"""The delivery of hints at due work to a function, as Lambda delivers a queue's messages."""

import logging
import time
from collections.abc import Callable
from typing import Any

from devtools.failure import FunctionError
from devtools.local.sqs import Queue
from infra.functions import FUNCTIONS

WORKERS = 2
"""Jobs that are worked on at once: the deployment's default."""

_HIDDEN_SECONDS = FUNCTIONS["upkeep"].timeout_seconds * 6
"""As long as for upkeep: no function that hints invoke runs for longer."""
_IDLE_SECONDS = 0.2

_log = logging.getLogger("gridview.jobs")


def run(
    queue: Queue, invoke: Callable[[Any], Any], pause: Callable[[float], None] = time.sleep, most: int = 1
) -> None:
    """Deliver for ever, up to `most` messages in an invocation. `pause` waits for some seconds."""
    while True:
        if not deliver(queue, invoke, most):
            pause(_IDLE_SECONDS)


def deliver(queue: Queue, invoke: Callable[[Any], Any], most: int = 1) -> bool:
    """Deliver the next messages, and delete them unless the function fails; False if there is none."""
    received = queue.receive(most, _HIDDEN_SECONDS)
    if not received:
        return False
    records = [
        {
            "messageId": message.id,
            "receiptHandle": receipt,
            "body": message.body,
            "eventSource": "aws:sqs",
        }
        for receipt, message in received
    ]
    try:
        invoke({"Records": records})
    except (FunctionError, OSError):
        _log.exception("A turn of work failed.")
    else:
        for receipt, _ in received:
            queue.delete(receipt)
    return True
