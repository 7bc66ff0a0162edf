"""Local execution environments of a Lambda function: processes that start on demand and take one event at a time.

Threads would be simpler and untrue. Handlers and their libraries may keep the current request in globals, because Lambda never
runs two requests at once in one environment. A process can also be ended when an invocation hangs, and processes use every core.
"""

import contextlib
import json
import multiprocessing.connection
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

from devtools.failure import FunctionError

_INIT_SECONDS = 60.0
_RESPONSE_GRACE_SECONDS = 0.5


class _EnvironmentLostError(FunctionError):
    """The process cannot be used any more."""


class Container:
    """One process of one function. Not for use by two threads at once."""

    def __init__(self, function: str, *, env: Mapping[str, str], timeout: float) -> None:
        """Start it; the first invocation waits until the handler is imported. `timeout` in seconds."""
        self._timeout = timeout
        self._ready = False
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "devtools.local.container", function, str(theirs.fileno())],
                env=env,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._connection = multiprocessing.connection.Connection(ours.detach())

    def invoke(self, event: Mapping[str, Any]) -> Any:
        """The handler's result for an event; both pass through JSON. FunctionError when the handler fails."""
        if not self._ready:
            self._receive(_INIT_SECONDS, "The function was not ready in time.")
            self._ready = True
        try:
            self._connection.send_bytes(json.dumps({"event": event, "timeout": self._timeout}).encode())
        except OSError as error:
            raise _EnvironmentLostError("The function's process ended.") from error
        answer = self._receive(self._timeout + _RESPONSE_GRACE_SECONDS, "The function timed out.")
        if "error" in answer:
            raise FunctionError(answer["error"])
        return answer["result"]

    def close(self) -> None:
        """End the process at once."""
        self._connection.close()
        self._process.kill()
        self._process.wait()

    def _receive(self, seconds: float, too_late: str) -> Any:
        try:
            if not self._connection.poll(seconds):
                raise _EnvironmentLostError(too_late)
            return json.loads(self._connection.recv_bytes())
        except (EOFError, OSError) as error:
            raise _EnvironmentLostError("The function's process ended.") from error


class BusyError(Exception):
    """As many events are in the function, and wait for it, as may."""


class Pool:
    """The execution environments of one function, at most `size` at a time. For use by many threads.

    AWS has thousands of environments and refuses events beyond a function's concurrency. This machine has few, so
    events wait for one: `waiting` of them, and more are refused. So no function's events can take up all threads of
    the server.
    """

    def __init__(
        self,
        function: str,
        *,
        env: Mapping[str, str],
        size: int,
        timeout: float,
        waiting: int | None = None,
    ) -> None:
        """The first event starts the first process. `waiting` None: any number of events may wait."""
        self._function = function
        self._env = env
        self._timeout = timeout
        self._admitted = threading.Semaphore(sys.maxsize if waiting is None else size + waiting)
        self._free = threading.Semaphore(size)
        self._idle: list[Container] = []

    def invoke(self, event: Mapping[str, Any]) -> Any:
        """The handler's result for an event. Waits for a free environment.

        FunctionError when the handler fails; BusyError when too many events wait already.
        """
        if not self._admitted.acquire(blocking=False):
            raise BusyError
        try:
            return self._invoke(event)
        finally:
            self._admitted.release()

    def _invoke(self, event: Mapping[str, Any]) -> Any:
        with self._free:
            try:
                container = self._idle.pop()  # the last used: the others may go cold
            except IndexError:
                container = Container(self._function, env=self._env, timeout=self._timeout)
            try:
                result = container.invoke(event)
            except _EnvironmentLostError:
                container.close()
                raise
            except FunctionError:
                self._idle.append(container)
                raise
            self._idle.append(container)
            return result

    def close(self) -> None:
        """End the idle environments."""
        while True:
            with contextlib.suppress(IndexError):
                self._idle.pop().close()
                continue
            return
