"""`./dev journal`: let projects be journalled, and show their journals.

The consumer of a journalled project writes one journal item for each batch, and the fold writes blocks for many batches at once.
`begin` takes a project over while people work in it: it raises the project's epoch with a mark. From then on batches are
journalled, and blocks count as folded up to number 0. A project that is taken over already is left as it is, so a command that was
interrupted is simply given again. There is no way back.
"""

import argparse
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError
from rich.console import Console

from devtools.failure import Failure
from devtools.local.every_project import all_projects
from devtools.operate import target
from devtools.operate.target import Target
from gridview.commands.journals import begin_journal
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.index.journal_log import Log
from gridview.schema.store import DefinitionsMissing
from gridview.support.errors import Conflict, NotFound, Overloaded

if TYPE_CHECKING:
    from argparse import _SubParsersAction

KNOWN: Final = "Journals"
"""The output of a stack whose functions know journals."""

SETTLED_SECONDS: Final = 600
"""After a change of the stack no container of an older version works any more: far more than an invocation can last."""


def register(subparsers: "_SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand `journal` with its subcommands."""
    parser = subparsers.add_parser(
        "journal", help="let projects be journalled, and show their journals", description=__doc__
    )
    commands = parser.add_subparsers(metavar="begin|list", required=True)
    for name, func, does in (
        ("begin", _begin, "let projects be journalled from now on, for good"),
        ("list", _list, "show how far each journal is folded"),
    ):
        command = commands.add_parser(name, help=does)
        command.add_argument("--tenant", metavar="T", help="the projects of this tenant")
        command.add_argument("--project", metavar="P", help="this project only; needs --tenant")
        command.add_argument("--all", action="store_true", help="all projects of the table, which is scanned")
        target.register(command)
        command.set_defaults(func=func)


def _begin(args: argparse.Namespace) -> int:
    """Take projects over. The exit status is 1 if one could not be."""
    console = Console(highlight=False, soft_wrap=True)
    opened = _opened(args)
    require_settled(opened, time.time())
    begun, known, failed = 0, 0, 0
    for tenant, project in _chosen(args, opened.table):
        try:
            if begin_journal(opened.table, tenant, project):
                begun += 1
                console.print(f"{tenant}/{project}", markup=False)
            else:
                known += 1
        except NotFound:
            if args.project is not None:
                raise Failure(f"The tenant {tenant!r} has no project {project!r}.") from None
        except (Conflict, DefinitionsMissing, Overloaded) as error:
            failed += 1
            console.print(f"{tenant}/{project}: {error}", markup=False)
    console.print(f"Journalled from now on: {begun:,}. Journalled before: {known:,}.")
    if failed:
        console.print(f"{failed:,} could not be taken over; give the command again.")
    return 1 if failed else 0


def _list(args: argparse.Namespace) -> int:
    """Show the journals. Returns 0."""
    console = Console(highlight=False, soft_wrap=True)
    table = _opened(args).table
    for tenant, project in _chosen(args, table):
        console.print(described(Log(table, tenant, project)), markup=False)
    return 0


def _opened(args: argparse.Namespace) -> Target:
    if args.all == (args.tenant is not None) or (args.project is not None and args.tenant is None):
        raise Failure("Name a --tenant, or one --project of it, or --all.")
    return target.open(args)


def require_settled(opened: Target, now: float) -> None:
    """Failure while the stack may still run functions that do not know journals: they would write blocks beside the fold."""
    if opened.changed is None:
        return
    if KNOWN not in opened.outputs:
        raise Failure(f"The functions of {opened.label} do not know journals yet. Deploy this version first.")
    wait = opened.changed + SETTLED_SECONDS - now
    if wait > 0:
        raise Failure(
            f"{opened.label} was changed just now, and a container of its older version may still be at work. "
            f"Try again in {wait / 60:.0f} minutes."
            if wait >= 60
            else f"{opened.label} was changed just now. Try again in a minute."
        )


def _chosen(args: argparse.Namespace, table: Table) -> Iterator[tuple[str, str]]:
    """Tenant and project of what was chosen."""
    try:
        if args.project is not None:
            yield args.tenant, args.project
        else:
            yield from projects_of(table, args.tenant) if args.tenant is not None else all_projects(table)
    except (BotoCoreError, ClientError) as error:
        raise Failure(f"The table cannot be used: {error}") from error


def projects_of(table: Table, tenant: str) -> Iterator[tuple[str, str]]:
    """The projects of a tenant, as the index lists them: 0.5 read units for each 4 KB."""
    for item in table.query_all(keys.tenant(tenant), index=True, paths=()):
        if keys.is_project(item[keys.PK]):
            yield keys.parse_project(item[keys.PK])


def described(log: Log) -> str:
    """One line for the journal of a project."""
    label = f"{log.tenant}/{log.project}"
    head = log.known_head(consistent=True)
    if head is None:
        return f"{label}: not journalled"
    if head.due is None:
        return f"{label}: folded up to its last number, {head.last:,}"
    return f"{label}: folded up to {head.folded:,} of {head.last:,}, about {head.waiting:,} changes wait, due at {head.due}"
