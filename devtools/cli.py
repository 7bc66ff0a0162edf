"""`./dev`: the subcommands and their modules. Only the module of the subcommand that was asked for is imported."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from devtools.failure import Failure

COMMANDS = {
    "up": ("devtools.local.command", "start the local stack"),
    "status": ("devtools.local.command", "tell whether the local stack is running, and where"),
    "down": ("devtools.local.command", "stop the local stack and keep its data"),
    "logs": ("devtools.local.command", "show the log of the local stack"),
    "reset": ("devtools.local.command", "stop the local stack and delete its data"),
    "token": ("devtools.local.command", "print a bearer token for the local stack"),
    "import": ("devtools.importer", "import a CSV or NDJSON file through the API"),
    "test": ("devtools.checks", "run the tests"),
    "prove": ("devtools.proof.prove", "run every proof at full length (two to three hours)"),
    "check": ("devtools.checks", "check style, formatting and types"),
    "faults": (
        "devtools.proof.faults",
        "play scenarios with faults and check that the index stays right",
    ),
    "oracle": ("devtools.proof.oracle", "compare answers to random queries with SQLite's"),
    "bench": ("devtools.bench", "measure pages and writes on projects of growing size"),
    "screenshots": ("devtools.screenshots", "write images of the page into docs/images"),
    "fsck": ("devtools.operate.fsck", "compare the index with the issues and repair it"),
    "forget": ("devtools.operate.forget", "remove a tenant or a person"),
    "dlq": ("devtools.operate.dlq", "list, redrive and drop dead letters and failed batches"),
    "reindex": ("devtools.operate.reindex", "rebuild indexes in the background"),
    "jobs": ("devtools.operate.reindex", "list the background work"),
    "journal": ("devtools.operate.journal", "show the journals of projects"),
    "smoke": ("devtools.smoke.command", "try what a stack is for, from the page to an export"),
    "rotate": ("devtools.operate.rotate", "give a deployed stack another secret"),
    "restore": ("devtools.restore.command", "go on with the data of an earlier moment"),
    "analytics": ("devtools.operate.analytics", "print the SQL by which Athena reads an export of the table"),
    "synth": ("devtools.deployed.command", "write the CloudFormation template"),
    "sam": ("devtools.sam.command", "write what `sam local` needs to run on the local stack's engine"),
    "deploy": ("devtools.deployed.command", "deploy to an AWS account"),
    "destroy": ("devtools.deployed.command", "delete a deployment"),
}
"""Subcommand -> the module whose `register` adds it, and one line of help."""

_USAGE_STATUS = 2
_INTERRUPTED_STATUS = 130


def main(arguments: Sequence[str]) -> int:
    """Run a subcommand; returns the exit status."""
    name = arguments[0] if arguments else "--help"
    if name in {"--help", "-h", "help"}:
        print(_overview())
        return 0 if arguments else _USAGE_STATUS
    if name not in COMMANDS:
        print(f"dev: There is no subcommand {name!r}; see ./dev --help.", file=sys.stderr)
        return _USAGE_STATUS
    try:
        return _run(name, arguments)
    except Failure as failure:
        print(f"dev: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED_STATUS
    except BrokenPipeError:  # the reader of a pipe, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _run(name: str, arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev")
    importlib.import_module(COMMANDS[name][0]).register(
        parser.add_subparsers(metavar="COMMAND", required=True)
    )
    parsed, unknown = parser.parse_known_args(arguments)
    # A subcommand that hands over to another program sets `takes_more` and finds unknown arguments in `more`.
    if unknown and not getattr(parsed, "takes_more", False):
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    parsed.more = unknown
    status: int = parsed.func(parsed)
    return status


def _overview() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {summary}" for name, (_, summary) in COMMANDS.items()]
    lines.append(f"  {'python':<{width}}  run Python with the locked packages and the repository's modules")
    return "usage: ./dev COMMAND [--help] ...\n\n" + "\n".join(lines)
