from typing import Any

import pytest

from devtools.failure import FunctionError
from devtools.local import schedule


class EnoughError(Exception):
    """The test has seen enough."""


def test_jobs_continue_after_failed_invocations() -> None:
    events: list[Any] = []
    pauses: list[float] = []

    def invoke(event: Any) -> None:
        events.append(event)
        if len(events) == 2:
            raise FunctionError("the detail")
        if len(events) == 3:
            raise OSError("no process can be started")

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 4:
            raise EnoughError

    with pytest.raises(EnoughError):
        schedule.run(invoke, pause)
    # The check is never started: it is for `./dev fsck`.
    assert events == [{"task": "jobs"}] * 4
    assert pauses[0] == pauses[3] < pauses[1] == pauses[2]
