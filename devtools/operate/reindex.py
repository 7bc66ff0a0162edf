"""`./dev reindex` rebuilds indexes in the background; `./dev jobs` lists the background work."""

import argparse
import time
from collections.abc import Iterator
from typing import Final, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from devtools.arguments import count
from devtools.aws_failures import reported
from devtools.operate import target
from gridview.commands.attributes import rebuild
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.sort_strings import SPEC_VERSION
from gridview.schema.catalog import Composite, Definition
from gridview.schema.fields import Field
from gridview.schema.items import ProjectItems, to_catalog
from gridview.schema.jobs import PARTS, Job, left_of
from gridview.schema.store import Catalogs, read
from gridview.schema.user_jobs import JobLine, UserJob
from infra.limits import SETTLE_SECONDS

_LOOK_SECONDS: Final = 1.0

_DESCRIPTION: Final = """\
Rebuild the indexes of a project, or of some of its attributes, in the background. The present indexes serve queries
until the new ones are complete. The work continues after this command ends.
"""


class Work(NamedTuple):
    """The background work of one project."""

    partition: str
    job: Job
    slices: tuple[Job, ...] = ()

    @property
    def done(self) -> int:
        """How many issue numbers have been passed over."""
        return (self.job.last or 0) - left_of(self.job, self.slices)

    @property
    def label(self) -> str:
        """Names the project for a person: `0807/35e9`."""
        return "/".join(keys.parse_project(self.partition))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev reindex`."""
    parser.description = _DESCRIPTION
    target.register(parser)
    parser.add_argument("--tenant", required=True, help="the tenant of the project")
    parser.add_argument("--project", required=True, help="the id of the project")
    parser.add_argument(
        "--attribute",
        action="append",
        metavar="ID",
        help="an attribute, or name, state, created or updated; repeatable (default: all indexed fields)",
    )
    parser.add_argument(
        "--index",
        action="append",
        metavar="ID",
        help="a composite index, such as c1; repeatable (default: all, unless --attribute is given)",
    )
    parser.add_argument(
        "--outdated",
        action="store_true",
        help=f"rebuild only indexes whose sort strings are older than version {SPEC_VERSION}",
    )
    parser.add_argument(
        "--rate",
        type=count,
        default=0,
        metavar="N",
        help="issues a second at most (default: no limit)",
    )
    parser.add_argument("--wait", action="store_true", help="show the progress until the rebuild is done")


@reported()
def run(args: argparse.Namespace) -> int:
    """Start a rebuild of indexes. Returns 0 once it is under way, or with --wait once it is done."""
    console = Console()
    table = target.open(args).table
    attributes, indexes = args.attribute, args.index
    if args.outdated:
        old = list(_outdated(args.tenant, args.project, read(table, args.tenant, args.project)))
        everything = attributes is None and indexes is None
        attributes = [
            one.id for one in old if isinstance(one, Field) and (everything or one.id in (attributes or ()))
        ]
        indexes = [
            one.id for one in old if isinstance(one, Composite) and (everything or one.id in (indexes or ()))
        ]
    begun = rebuild(
        table,
        Catalogs(),
        args.tenant,
        args.project,
        attributes,
        indexes,
        rate=args.rate,
        settling=SETTLE_SECONDS,
    )
    if not begun:
        console.print("There is nothing to rebuild.")
        return 0
    console.print(
        f"Rebuilding: {', '.join(begun)}. "
        f"The work starts within {SETTLE_SECONDS} seconds, when every container knows of it."
    )
    if args.wait:
        _show(table, keys.project(args.tenant, args.project))
    else:
        console.print("To see the progress, run ./dev jobs.")
    return 0


@reported()
def run_jobs(args: argparse.Namespace) -> int:
    """List the background work. Returns 0."""
    console = Console()
    table = target.open(args).table
    found = [*map(described, work_under_way(table)), *open_jobs(table)]
    for line in found:
        console.print(line, highlight=False)
    if not found:
        console.print("No background work.")
    return 0


def work_under_way(table: Table) -> Iterator[Work]:
    """All jobs, ordered by due time, as the index shows them."""
    for item in table.query_all(keys.JOB, index=True, paths=()):
        if (
            item[keys.PK].startswith(keys.PROJECT_PREFIX)
            and (work := _work_on(table, item[keys.PK])) is not None
        ):
            yield work


def open_jobs(table: Table) -> Iterator[str]:
    """A line for each open user job, tenant by tenant in the order of their turns."""
    for item in table.query_all(keys.LINE, index=True, paths=()):
        tenant = keys.parse_job_line(item[keys.PK])
        line = table.get(item[keys.PK], keys.LINE, consistent=True)
        for one in () if line is None else JobLine.from_item(line).open:
            stored = table.get(keys.jobs(tenant, one.project), one.id, consistent=True)
            if stored is not None:
                job = UserJob.from_item(stored)
                total = "" if job.total is None else f" {job.done + job.refused:,} of {job.total:,} issues,"
                yield f"{tenant}/{one.project}: {job.kind} {job.id} by {job.user}:{total} {job.state}"


def _work_on(table: Table, partition: str) -> Work | None:
    wanted = [(partition, keys.job(part)) for part in (0, *PARTS)]
    found = table.batch_get(wanted, consistent=True).items
    job, *slices = (found.get(key) for key in wanted)
    if job is None:
        return None
    return Work(partition, Job.from_item(job), tuple(Job.from_item(one) for one in slices if one is not None))


def described(work: Work) -> str:
    """One line for a job."""
    job = work.job
    if job.rests:
        return f"{work.label}: removes deleted items at {job.due}"
    if job.last is None:
        return f"{work.label}: waits until {job.due}"
    if job.waits:
        return f"{work.label}: {work.done:,} of {job.last:,} issues, in {len(work.slices)} slices"
    rate = f", at most {job.rate:,} issues a second" if job.rate else ""
    state = "in progress" if job.holder else f"due since {job.due}"
    return f"{work.label}: {work.done:,} of {job.last:,} issues, {state}{rate}"


def _outdated(tenant: str, project: str, items: ProjectItems) -> Iterator[Definition]:
    catalog = to_catalog(tenant, project, items)
    definitions: list[Definition] = [
        *catalog.builtins,
        *catalog.attributes,
        *catalog.hidden,
        *catalog.living_composites,
    ]
    for one in definitions:
        specs = {index.spec for index in one.indexes.written}
        if specs - {SPEC_VERSION} and one.indexes.building is None:
            yield one


def _show(table: Table, partition: str) -> None:
    """Show the progress of a project's passes until nothing is left to do."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        shown = progress.add_task("waiting", total=None)
        while (work := _work_on(table, partition)) is not None and not work.job.rests:
            if work.job.last is None:
                progress.update(shown, description="waiting", total=None, completed=0)
            else:
                progress.update(
                    shown, description="passing over issues", total=work.job.last, completed=work.done
                )
            time.sleep(_LOOK_SECONDS)
