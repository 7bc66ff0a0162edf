"""The process that runs one Lambda function locally, one event at a time, as an execution environment of Lambda does.

`containers` starts it as `python -m devtools.local.container FUNCTION FD`. It reads events as JSON from the socket FD and
answers what the handler returned, or that it failed. It ends when the other side closes the socket or dies.
"""

import importlib
import json
import logging
import multiprocessing.connection
import os
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from devtools.local.environment import REGION

type_of_handler = Callable[[Any, "Context"], Any]

ACCOUNT = "000000000000"
MEMORY_MB = 1024

_log = logging.getLogger("gridview.container")


@dataclass(slots=True)
class Context:
    """The context that Lambda passes to a handler beside the event."""

    function_name: str
    deadline: float
    """In seconds of `time.monotonic`."""
    function_version: str = "$LATEST"
    memory_limit_in_mb: int = MEMORY_MB
    aws_request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    identity: None = None
    client_context: None = None

    @property
    def invoked_function_arn(self) -> str:
        """The function's ARN."""
        return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{self.function_name}"

    @property
    def log_group_name(self) -> str:
        """The log group that Lambda would use."""
        return f"/aws/lambda/{self.function_name}"

    @property
    def log_stream_name(self) -> str:
        """The log stream that Lambda would use."""
        return f"[{self.function_version}]{os.getpid()}"

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until Lambda ends the invocation."""
        return max(0, int((self.deadline - time.monotonic()) * 1000))


def load(function: str) -> type_of_handler:
    """The handler of functions/FUNCTION."""
    handler: type_of_handler = importlib.import_module(f"functions.{function}.handler").handler
    return handler


def serve(connection: multiprocessing.connection.Connection, function: str) -> None:
    """Answer events until the other side closes the socket."""
    handler = load(function)
    connection.send_bytes(b"{}")
    while True:
        try:
            call = json.loads(connection.recv_bytes())
        except EOFError:
            return
        context = Context(f"gridview-{function}", time.monotonic() + call["timeout"])
        try:
            answer = json.dumps({"result": handler(call["event"], context)})
        except Exception as error:
            _log.exception("The function failed.")
            answer = json.dumps({"error": f"{type(error).__name__}: {error}"})
        try:
            connection.send_bytes(answer.encode())
        except BrokenPipeError:
            return


def main() -> None:
    """Entry point."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    function, descriptor = sys.argv[1], int(sys.argv[2])
    with multiprocessing.connection.Connection(descriptor) as connection:
        serve(connection, function)


if __name__ == "__main__":
    main()
