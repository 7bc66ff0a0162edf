"""`./dev journal`: show the journals of projects.

The consumer writes one item of a project's journal for each batch, and the fold writes blocks for many batches at once.
"""

import argparse
from collections.abc import Iterator
from typing import Final

from rich.console import Console

from devtools.aws_failures import reported
from devtools.failure import Failure
from devtools.operate import target
from gridview.dynamodb.expressions import Condition
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.journal.log import Log

_CATALOGS: Final = Condition("#sk = :catalog", {"#sk": keys.SK}, {":catalog": keys.CATALOG})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommand `list` of `./dev journal`."""
    parser.description = __doc__
    commands = parser.add_subparsers(metavar="list", required=True)
    command = commands.add_parser("list", help="show how far each journal is folded")
    command.add_argument("--tenant", metavar="T", help="the projects of this tenant")
    command.add_argument("--project", metavar="P", help="this project only; needs --tenant")
    command.add_argument("--all", action="store_true", help="all projects; scans the whole table")
    target.register(command)


@reported()
def run(args: argparse.Namespace) -> int:
    """Show the journals. Returns 0."""
    if args.all == (args.tenant is not None) or (args.project is not None and args.tenant is None):
        raise Failure("Name a --tenant, a --tenant with one --project, or --all.")
    console = Console(highlight=False, soft_wrap=True)
    table = target.open(args).table
    for tenant, project in _chosen(args, table):
        console.print(described(Log(table, tenant, project)), markup=False)
    return 0


def _chosen(args: argparse.Namespace, table: Table) -> Iterator[tuple[str, str]]:
    """Tenant and project of the chosen target."""
    if args.project is not None:
        yield args.tenant, args.project
    else:
        yield from projects_of(table, args.tenant) if args.tenant is not None else all_projects(table)


def projects_of(table: Table, tenant: str) -> Iterator[tuple[str, str]]:
    """The projects of a tenant, as the index lists them: 0.5 read units for each 4 KB."""
    for item in table.query_all(keys.tenant(tenant), index=True, paths=()):
        if keys.is_project(item[keys.PK]):
            yield keys.parse_project(item[keys.PK])


def all_projects(table: Table) -> Iterator[tuple[str, str]]:
    """The projects of all tenants: a scan of the whole table, 0.5 read units for each 4 KB."""
    after = None
    while True:
        page = table.scan(after=after, only=_CATALOGS)
        yield from (
            keys.parse_project(item[keys.PK]) for item in page.items if keys.is_project(item[keys.PK])
        )
        if page.last is None:
            return
        after = page.last


def described(log: Log) -> str:
    """One line for the journal of a project."""
    label = f"{log.tenant}/{log.project}"
    head = log.known_head(consistent=True)
    if head is None:
        return f"{label}: no journal"
    if head.due is None:
        return f"{label}: folded up to its last number, {head.last:,}"
    return f"{label}: folded up to {head.folded:,} of {head.last:,}, about {head.waiting:,} changes wait, due at {head.due}"
