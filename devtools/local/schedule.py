"""The upkeep function's schedule: what EventBridge is in the cloud, only that jobs begin sooner. The check is for `./dev fsck`."""

import logging
import time
from collections.abc import Callable
from typing import Any

from devtools.failure import FunctionError

FUNCTION = "upkeep"

_SECONDS = 2.0
"""Between one invocation and the next; with nothing due it is one query."""
_FAILED_SECONDS = 10.0
"""After one that failed: a function that cannot even be loaded starts a process each time."""

_log = logging.getLogger("gridview.upkeep")


def run(invoke: Callable[[Any], Any], pause: Callable[[float], None] = time.sleep) -> None:
    """Invoke the function for ever, one invocation at a time, whatever becomes of each; `pause` waits for so many seconds."""
    while True:
        try:
            invoke({"task": "jobs"})
        except (FunctionError, OSError):
            _log.exception("Upkeep failed.")
            pause(_FAILED_SECONDS)
        else:
            pause(_SECONDS)
