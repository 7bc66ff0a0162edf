"""The schedules of the functions of the background, as EventBridge keeps them in the cloud, but with a shorter interval.
`./dev fsck` does the check."""

import logging
import time
from collections.abc import Callable
from typing import Any

from devtools.failure import FunctionError

FUNCTION = "upkeep"
DELIVER = "deliver"

_SECONDS = 2.0
"""Seconds between two invocations. When nothing is due, an invocation is one query."""
_FAILED_SECONDS = 10.0
"""Seconds after a failed invocation: a function that cannot even be loaded starts a process each time."""

_log = logging.getLogger("gridview.upkeep")


def run(
    invoke: Callable[[Any], Any], pause: Callable[[float], None] = time.sleep, task: str = "jobs"
) -> None:
    """Invoke the function for ever, one invocation at a time, whether it fails or not. `pause` waits for some seconds."""
    while True:
        try:
            invoke({"task": task})
        except (FunctionError, OSError):
            _log.exception("The schedule's invocation failed.", extra={"task": task})
            pause(_FAILED_SECONDS)
        else:
            pause(_SECONDS)
