"""The subcommands `test` and `check`."""

import argparse
import itertools
import os
import subprocess
import sys

from devtools.paths import PYTHONPATH, ROOT

SUITES = {
    "unit": "moto, no sockets",
    "infra": "the synthesized template",
    "web": "the front end, Chromium",
    "engine": "DynamoDB Local",
    "deploy": "MiniStack, a real ./dev deploy",
    "bench": "the benchmark",
}
"""The folders of tests, quick ones first, and what each runs on."""

_LONG = {"bench"}
"""Suites that run only when they are named, or as a part of `./dev prove`."""

_SIDE_BY_SIDE = ("-n", "3", "--dist", "loadfile", "--no-loadscope-reorder")
"""Three processes, one of which mostly waits for the deployed stack; tests/conftest.py decides which tests stay
together.
"""

_TYPED = ("layers/core/python/gridview", "functions", "infra", "devtools", "app.py", "tests")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `./dev test`, whose arguments go to pytest."""
    suites = "; ".join(f"{name} ({what})" for name, what in SUITES.items())
    parser.usage = "./dev test [SUITE ...] [pytest arguments ...]"
    default = f"Without a suite, run all but {', '.join(sorted(_LONG))}."
    parser.description = f"Run the tests of some suites. {default}\n\nSuites: {suites}."
    parser.epilog = "Arguments after the suites go to pytest: -k WORD, -x, --durations=10, tests/unit/encoding/test_keys.py ..."
    parser.set_defaults(takes_more=True)


def test(args: argparse.Namespace) -> int:
    """Run the tests of some suites or paths. Returns pytest's status."""
    suites = list(itertools.takewhile(lambda argument: argument in {*SUITES, "all"}, args.more))
    others = args.more[len(suites) :]
    if (not suites and not any(_is_path(argument) for argument in others)) or "all" in suites:
        # The long ones begin, so that all processes end together.
        suites = [suite for suite in reversed(SUITES) if suite not in _LONG]
    side_by_side = _SIDE_BY_SIDE if suites else ()
    return _python("pytest", *side_by_side, *(f"tests/{suite}" for suite in suites), *others)


def _is_path(argument: str) -> bool:
    """Whether an argument for pytest is a path."""
    return not argument.startswith("-") and ("/" in argument or argument.endswith(".py"))


def check(_: argparse.Namespace) -> int:
    """Run ruff check, ruff format --check, mypy --strict and devtools.prose, even when one fails. Returns the worst status."""
    statuses = [
        _python("ruff", "check", "."),
        _python("ruff", "format", "--check", "."),
        _python("mypy", "--strict", *_TYPED),
        _python("devtools.prose"),
    ]
    return max(statuses)


def _python(module: str, *arguments: str) -> int:
    """Run a module from the repository's root; returns its exit status."""
    environment = os.environ | {"PYTHONPATH": PYTHONPATH}
    status = subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=ROOT, env=environment, check=False
    ).returncode
    return status if status >= 0 else 128 - status  # a signal, as a shell says it
