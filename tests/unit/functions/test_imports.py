"""The cost of a cold start: the modules that each function imports, counted in a process of its own."""

import ast
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gridview
from devtools.local import sqs
from devtools.local.environment import local
from devtools.paths import ROOT

BUDGETS = {
    "query": 762,
    "command": 743,
    "live": 739,
    "socket": 640,
    "deliver": 602,
    "maintain": 497,
    "upkeep": 519,
}
"""The number of modules of a function by Python 3.11, including the standard library. A module takes 0.5 to 1 ms of CPU if its
bytecode exists.

The resolver of Powertools takes 64 of them (decision 0072), and columns of numbers 12 (decision 0086). Rules take 3,
relative operands 3 (decision 0088), manual orders 2 (decision 0092), computed fields 2, and compressed ledgers 1. The
command function has 5 more, for the forms of requests, and 2 for marks of batches and the room of issues. The rest of
the language is imported with the first formula.
"""

MORE = {(3, 12): 2, (3, 13): 1}
"""The modules that the same imports bring in addition, by the version of Python: its library is divided differently."""

DEAR = {
    "boto3",
    "s3transfer",
    "pydantic.v1",
    "aws_lambda_powertools.utilities.parameters",
    "devtools",
    "infra",
}
"""Modules that one careless import would add, and that are not needed."""


@pytest.mark.parametrize("function", BUDGETS)
def test_a_function_imports_what_it_needs(function: str) -> None:
    environment = local(
        {
            "TABLE_NAME": "gridview",
            "CURSOR_SECRET": "a secret of the tests",
            "WEBHOOK_SECRET": "another secret of the tests",
            "SETTLE_SECONDS": "0",
            "SOCKET_URL": "ws://127.0.0.1:9/",
            **sqs.environment("http://127.0.0.1:9"),
            "EXPORT_BUCKET": "gridview-exports",
            "FAILED_BATCHES_BUCKET": "gridview-batches",
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
    assert len(imported) <= BUDGETS[function] + MORE.get(sys.version_info[:2], 0)


@pytest.mark.parametrize("package", ["query_api", "command_api", "live_api"])
def test_a_snapshot_contains_what_endpoints_import_when_they_are_called(package: str) -> None:
    folder = Path(str(gridview.__file__)).parent / package
    later = {
        name
        for path in folder.glob("*.py")
        for function in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom)
        for name in _modules(node)
    }
    resources = importlib.import_module(f"gridview.{package}.resources")
    assert sorted(later) == [*getattr(resources, "LATER", ())]


def _modules(node: ast.ImportFrom) -> Iterator[str]:
    """The modules that an import statement names: `from package import module`, or `from
    package.module import name`.
    """
    found = importlib.import_module(str(node.module))
    for alias in node.names:
        inner = f"{node.module}.{alias.name}"
        yield inner if hasattr(found, "__path__") else found.__name__
