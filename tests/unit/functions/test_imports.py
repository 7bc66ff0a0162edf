"""What a cold start pays for: the modules that each function imports, counted in a process of its own."""

import json
import subprocess
import sys

import pytest

from devtools.local import sqs
from devtools.local.environment import local
from devtools.paths import ROOT

BUDGETS = {
    "query": 651,
    "command": 628,
    "live": 632,
    "socket": 625,
    "deliver": 600,
    "maintain": 490,
    "upkeep": 507,
}
"""Modules of a function, the standard library's included. A module takes 0.5 to 1 ms of CPU when its bytecode is there."""

DEAR = {
    "boto3",
    "s3transfer",
    "pydantic.v1",
    "aws_lambda_powertools.utilities.parameters",
    "devtools",
    "infra",
}
"""What would come in by one careless import, and need not."""


@pytest.mark.parametrize("function", BUDGETS)
def test_a_function_imports_what_it_needs(function: str) -> None:
    environment = local(
        {
            "TABLE_NAME": "gridview",
            "CURSOR_SECRET": "a secret of the tests",
            "SETTLE_SECONDS": "0",
            "SOCKET_URL": "ws://127.0.0.1:9/",
            **sqs.environment("http://127.0.0.1:9"),
            "EXPORT_BUCKET": "gridview-exports",
            "POWERTOOLS_SERVICE_NAME": function,
            "POWERTOOLS_METRICS_NAMESPACE": "gridview",
        }
    )
    program = f"import json, sys; import functions.{function}.handler; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-P", "-c", program],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    imported = json.loads(done.stdout)
    assert DEAR.isdisjoint(imported)
    assert len(imported) <= BUDGETS[function]
