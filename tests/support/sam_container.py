"""Replaces the container: a process with the code, the layers and the variables of a function, and nothing else.

Run by a Python without packages: `sam_container.py HANDLER FOLDER ...`, where the folders replace the path of Lambda's
runtime. Reads events and writes results as lines of JSON. The function's own output goes to standard error.
"""

import importlib
import json
import os
import sys
import time
import uuid
from typing import Any

SECONDS = 30


class Context:
    """Lambda's description of an invocation."""

    function_name = os.environ["AWS_LAMBDA_FUNCTION_NAME"]
    function_version = "$LATEST"
    memory_limit_in_mb = int(os.environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"])

    def __init__(self) -> None:
        self.aws_request_id = str(uuid.uuid4())
        self.invoked_function_arn = f"arn:aws:lambda:us-east-1:123456789012:function:{self.function_name}"
        self._deadline = time.monotonic() + SECONDS

    def get_remaining_time_in_millis(self) -> int:
        return int((self._deadline - time.monotonic()) * 1000)


def main() -> None:
    name, *folders = sys.argv[1:]
    results = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.path[:0] = folders
    module, _, attribute = name.rpartition(".")
    handler: Any = getattr(importlib.import_module(module), attribute)
    for line in sys.stdin:
        try:
            result = handler(json.loads(line), Context())
        except Exception as error:
            result = {"errorMessage": str(error), "errorType": type(error).__name__}
        print(json.dumps(result), file=results)


main()
