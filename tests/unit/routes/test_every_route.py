"""Each route has a test of its effect, which runs on both tables."""

import ast
from pathlib import Path

from tests.support.routes import route_keys


def test_each_route_has_one_test_of_its_effect() -> None:
    found = [
        function.name.removeprefix("test_")
        for path in sorted(Path(__file__).parent.glob("test_*.py"))
        for function in ast.parse(path.read_text("utf-8")).body
        if isinstance(function, ast.FunctionDef)
        and function.name.startswith("test_")
        and "example" in (one.arg for one in function.args.args)
    ]
    assert sorted(found) == sorted(route_keys())
