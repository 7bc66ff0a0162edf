"""The upkeep function's schedule, as EventBridge keeps it in the cloud, but with a shorter interval. `./dev fsck` does the
check."""

import logging
import time
from collections.abc import Callable
from typing import Any

from devtools.failure import FunctionError

FUNCTION = "upkeep"

_SECONDS = 2.0
"""Seconds between two invocations. When nothing is due, an invocation is one query."""
_FAILED_SECONDS = 10.0
"""Seconds after a failed invocation: a function that cannot even be loaded starts a process each time."""

_log = logging.getLogger("gridview.upkeep")


def run(invoke: Callable[[Any], Any], pause: Callable[[float], None] = time.sleep) -> None:
    """Invoke the function for ever, one invocation at a time, whether it fails or not. `pause` waits for some seconds."""
    while True:
        try:
            invoke({"task": "jobs"})
        except (FunctionError, OSError):
            _log.exception("Upkeep failed.")
            pause(_FAILED_SECONDS)
        else:
            pause(_SECONDS)
