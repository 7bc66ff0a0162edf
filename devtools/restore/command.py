"""`./dev restore`: go on with the data of an earlier moment. docs/restore.md has the whole procedure."""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from devtools.arguments import add_data, count
from devtools.failure import Failure
from devtools.local.folder import Folder
from devtools.operate.target import DEFAULT_STACK
from devtools.restore import deployed, local
from gridview.support.errors import Overloaded

_DESCRIPTION = """\
Restore the data of an earlier moment. Later writes are lost. Their versions, numbers and epochs are never used
again: a client that holds one is refused (412) or gets a reset. If a restore is interrupted, run the same command
again.

For a deployed stack, the command stops all writes to the present table and restores it to a new table, by
point-in-time recovery. It makes the new table ready, and prints the deployment that puts it in place. For the local
stack, it does the same with a copy of the folder engine/tables.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev restore`."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "--lost-writes",
        metavar="N",
        type=count,
        help="for a lost or unreadable table: the most issues that a project has created since the moment",
    )
    here = parser.add_argument_group("the local stack (default)")
    add_data(here)
    here.add_argument(
        "--copy",
        metavar="DIR",
        type=Path,
        help="copy of the folder engine/tables, made while the stack was down",
    )
    there = parser.add_argument_group("a deployed stack")
    there.add_argument("--deployed", action="store_true", help="restore the stack of the active credentials")
    there.add_argument("--stack-name", metavar="NAME", help=f"name of the stack (default: {DEFAULT_STACK})")
    there.add_argument("--profile", metavar="NAME", help="AWS profile")
    there.add_argument("--at", metavar="INSTANT", type=_instant, help="the moment: 2026-11-21T08:00:00Z")
    there.add_argument(
        "--table",
        metavar="NAME",
        help="name of the new table (default: the present name with the moment). An existing table is not restored "
        "again, so it may come from a backup",
    )
    there.add_argument(
        "--resume-writes",
        action="store_true",
        help="give up the restore: allow writes to the present table again",
    )


def run(args: argparse.Namespace) -> int:
    """Restore a stack. Returns 0."""
    try:
        if args.deployed:
            return _deployed(args)
        given = (args.stack_name, args.profile, args.at, args.table, args.resume_writes or None)
        if any(one is not None for one in given):
            raise Failure("These options work with a deployed stack only. Add --deployed, or leave them out.")
        if args.copy is None:
            raise Failure("Name the copy of the tables: --copy DIR.")
        local.restore(Folder(args.data), args.copy, args.lost_writes, _say)
        _say("Start the stack with ./dev up --detach, then compare the index: ./dev fsck --repair")
    except Overloaded as error:
        raise Failure("The table keeps refusing calls. Run the same command again.") from error
    return 0


def _deployed(args: argparse.Namespace) -> int:
    if args.copy is not None:
        raise Failure("--copy works with the local stack only. Leave it out, or leave out --deployed.")
    stack = deployed.open_stack(args.stack_name or DEFAULT_STACK, args.profile)
    if args.resume_writes:
        deployed.resume_writes(stack)
        _say(f"Writes to {stack.table_name} are allowed again.")
        return 0
    if args.at is None and args.table is None:
        raise Failure("Name the moment: --at 2026-11-21T08:00:00Z.")
    made = deployed.restore(stack, args.at, args.table, args.lost_writes, _say)
    _say(
        f"{made.table} is ready. Put it in place, with the settings of your deployment. Then compare the index:\n"
    )
    print(f"./dev deploy -c restored-stream={made.stream}")
    print(f"./dev fsck --deployed --stack-name {stack.name} --repair")
    return 0


def _instant(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise argparse.ArgumentTypeError("must be an instant with its offset: 2026-11-21T08:00:00Z")
    return found.astimezone(UTC)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
