"""`./dev`: the subcommands and their modules. Only the module of the subcommand that was asked for is imported."""

import argparse
import os
import pkgutil
import sys
from collections.abc import Sequence
from typing import NamedTuple

from devtools.failure import Failure
from gridview.support.version import VERSION


class Command(NamedTuple):
    """A subcommand: a line of help, and as `module:function` its code and the function that adds its arguments to a
    parser.
    """

    summary: str
    run: str
    arguments: str | None = None

    @classmethod
    def of(cls, module: str, summary: str) -> "Command":
        """A subcommand that has a module to itself."""
        return cls(summary, f"{module}:run", f"{module}:add_arguments")


_LOCAL = "devtools.local.command"
_DATA = "devtools.arguments:add_data"
_CHECKS = "devtools.checks"
_DEPLOYED = "devtools.deployed.command"
_STACK = "devtools.operate.target:register"

COMMANDS = {
    "up": Command("start the local stack", f"{_LOCAL}:up", f"{_LOCAL}:add_up"),
    "status": Command(
        "show whether the local stack is running, and where", f"{_LOCAL}:status", f"{_LOCAL}:add_status"
    ),
    "down": Command("stop the local stack and keep its data", f"{_LOCAL}:down", _DATA),
    "logs": Command("show the log of the local stack", f"{_LOCAL}:logs", f"{_LOCAL}:add_logs"),
    "reset": Command("stop the local stack and delete its data", f"{_LOCAL}:reset", _DATA),
    "token": Command("print a bearer token for the local stack", f"{_LOCAL}:token", f"{_LOCAL}:add_token"),
    "import": Command(
        "import a CSV or NDJSON file through the API",
        "devtools.importer.command:run",
        "devtools.importer.arguments:add_arguments",
    ),
    "test": Command("run the tests", f"{_CHECKS}:test", f"{_CHECKS}:add_arguments"),
    "prove": Command.of("devtools.proof.prove.command", "run all proofs at full length (two to four hours)"),
    "soak": Command.of(
        "devtools.proof.soak.command", "load and kill a local stack for an hour, then compare"
    ),
    "check": Command("check style, formatting, types and English", f"{_CHECKS}:check"),
    "faults": Command.of(
        "devtools.proof.faults.command", "play fault scenarios and check that the index stays right"
    ),
    "oracle": Command.of(
        "devtools.proof.oracle.command", "compare the answers of random queries with SQLite"
    ),
    "bench": Command.of("devtools.bench", "measure pages and writes on projects of growing size"),
    "screenshots": Command.of("devtools.screenshots", "write images of the web page into docs/images"),
    "fsck": Command.of("devtools.operate.fsck", "compare the index with the issues and repair it"),
    "forget": Command.of("devtools.operate.forget", "remove a tenant or a person"),
    "dlq": Command.of("devtools.operate.dlq", "list, redrive and drop dead letters and failed batches"),
    "reindex": Command.of("devtools.operate.reindex", "rebuild indexes in the background"),
    "jobs": Command(
        "list the background work of all projects, and its progress",
        "devtools.operate.reindex:run_jobs",
        _STACK,
    ),
    "journal": Command.of("devtools.operate.journal", "show the journals of projects"),
    "smoke": Command.of("devtools.smoke.command", "test a running stack from end to end"),
    "rotate": Command.of("devtools.operate.rotate", "replace a secret of a deployed stack"),
    "restore": Command.of("devtools.restore.command", "restore the data of an earlier moment"),
    "analytics": Command.of(
        "devtools.operate.analytics", "print the SQL for Athena to read an export of the table"
    ),
    "synth": Command(
        "write the CloudFormation template to cdk.out (needs no account; network only the first time)",
        f"{_DEPLOYED}:synth",
        f"{_DEPLOYED}:add_arguments",
    ),
    "sam": Command.of(
        "devtools.sam.command", "write the files to run `sam local` on the local stack's engine"
    ),
    "deploy": Command(
        "deploy to the AWS account of the active credentials (a first deployment runs twice, then is protected)",
        f"{_DEPLOYED}:deploy",
        f"{_DEPLOYED}:add_arguments",
    ),
    "destroy": Command(
        "delete a deployment, unless it is protected; with --backups, also its backups",
        f"{_DEPLOYED}:destroy",
        f"{_DEPLOYED}:add_arguments",
    ),
}
"""The subcommands.

Nothing of one is imported before the user names it, and its code not before its arguments are right.
"""

_USAGE_STATUS = 2
_INTERRUPTED_STATUS = 130


def main(arguments: Sequence[str]) -> int:
    """Run a subcommand; returns the exit status."""
    name = arguments[0] if arguments else "--help"
    if name in {"--help", "-h", "help"}:
        print(_overview())
        return 0 if arguments else _USAGE_STATUS
    if name == "--version":
        print(f"gridview {VERSION}")
        return 0
    if name not in COMMANDS:
        print(f"dev: There is no subcommand {name!r}. To list them: ./dev --help.", file=sys.stderr)
        return _USAGE_STATUS
    try:
        return _run(name, arguments[1:])
    except Failure as failure:
        print(f"dev: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED_STATUS
    except BrokenPipeError:  # the reader of a pipe, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def parser_of(name: str) -> argparse.ArgumentParser:
    """The parser of a subcommand's arguments. Its description is the line of help, unless the subcommand has a longer one."""
    parser = argparse.ArgumentParser(
        prog=f"./dev {name}",
        description=COMMANDS[name].summary,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if (arguments := COMMANDS[name].arguments) is not None:
        pkgutil.resolve_name(arguments)(parser)
    return parser


def _run(name: str, arguments: Sequence[str]) -> int:
    parser = parser_of(name)
    parsed, unknown = parser.parse_known_args(arguments)
    # A subcommand that hands over to another program sets `takes_more` and finds unknown arguments in `more`.
    if unknown and not getattr(parsed, "takes_more", False):
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    parsed.more = unknown
    status: int = pkgutil.resolve_name(COMMANDS[name].run)(parsed)
    return status


def _overview() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {summary}" for name, (summary, *_) in COMMANDS.items()]
    lines.append(f"  {'python':<{width}}  run Python with the locked packages and the repository's modules")
    return "usage: ./dev COMMAND [--help] ...\n       ./dev --version\n\n" + "\n".join(lines)
