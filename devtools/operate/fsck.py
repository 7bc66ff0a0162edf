"""`./dev fsck`: compare everything derived with the issues, and repair it with `--repair`."""

import argparse
import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from devtools.aws_failures import reported
from devtools.failure import Failure
from devtools.operate import target
from devtools.operate.project_walk import ProjectWalk
from gridview.derive.sort_entries import UnknownSpec
from gridview.dynamodb.table import Table
from gridview.encoding import keys, sort_strings
from gridview.fsck.checker import Check
from gridview.fsck.issue_diff import Difference, DifferenceKind
from gridview.fsck.progress import Finding
from gridview.fsck.repairs import Repairs
from gridview.fsck.walks import IssueWalk, TableWalk
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.errors import NotFound, Overloaded

PATIENCE = 60.0

_SEGMENTS = 4
"""Segments of the table that are scanned side by side. More gain nothing, since one process compares them."""
_PAGE = 1_000
"""Items of one Scan. Without a limit DynamoDB Local looks at the whole rest of the table for each page."""
_GLANCE = 0.2
"""Seconds between two looks at the clock while the check waits for suspects."""
_BUSY_SECONDS = 1.0
_BUSY_TIMES = 60
_SHOWN = 48
"""Characters of a sort string that are shown."""

_DESCRIPTION = """\
Compare all derived data with the issues, in one project or in the whole table, and print the differences. Users may
write meanwhile: the check looks at a suspect again after some seconds. It counts the suspect only if it is still
wrong and had no write in between. The exit status is 1 if a difference remains.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev fsck`."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "--project", metavar="P", help="check this project only, issue by issue; needs --tenant"
    )
    parser.add_argument("--tenant", metavar="T", help="the tenant of --project")
    parser.add_argument("--repair", action="store_true", help="repair the differences, and check them again")
    parser.add_argument(
        "--patience",
        metavar="S",
        type=_seconds,
        default=PATIENCE,
        help="seconds until a suspect is checked again; choose more than the stream's lag "
        f"(default: {PATIENCE:.0f})",
    )
    target.register(parser)


@reported()
def run(args: argparse.Namespace) -> int:
    """Check, and repair if asked for. Returns 1 if a difference remains."""
    if (args.project is None) != (args.tenant is None):
        raise Failure("Name both --project and --tenant, or neither to check the whole table.")
    opened, catalogs = target.open(args), Catalogs()
    shown = Shown(Console(highlight=False, soft_wrap=True), opened.table)
    try:
        walk = _walk(args, opened.table)
        check = Check(
            opened.table,
            walk,
            shown,
            patience=args.patience,
            repair=Repairs(opened.table, catalogs) if args.repair else None,
        )
        looked = drive(check, walk.last if isinstance(walk, ProjectWalk) else None)
    except UnknownSpec as error:
        raise Failure(f"An index is newer than these tools: it has {error}. Update this checkout.") from error
    shown.summary(check, looked)
    return 1 if check.tally.wrong else 0


def _walk(args: argparse.Namespace, table: Table) -> IssueWalk:
    if args.project is None:
        return TableWalk(table, _SEGMENTS, limit=_PAGE)
    try:
        return ProjectWalk(table, args.tenant, args.project)
    except NotFound:
        raise Failure(f"The tenant {args.tenant!r} has no project {args.project!r}.") from None


def drive(check: Check, total: int | None) -> float:
    """Run a check to its end and show its progress. Returns the seconds it took, without the waiting.

    Failure when the table keeps refusing calls.
    """
    looked, refusals = 0.0, 0
    with _bar() as bar:
        task = bar.add_task("checking", total=total, issues=0, rate="", note="")
        while not check.done:
            waits = check.waits_until is not None
            if waits:
                clock.sleep(_GLANCE)
            else:
                began, looking = time.monotonic(), not check.walk.done
                try:
                    check.step()
                except Overloaded as error:
                    refusals += 1
                    if refusals == _BUSY_TIMES:
                        raise Failure("The table keeps refusing calls; try again later.") from error
                    clock.sleep(_BUSY_SECONDS)
                else:
                    refusals = 0
                looked += time.monotonic() - began if looking else 0.0
            _show(bar, task, check, looked, waits)
    return looked


def _bar() -> Progress:
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[issues]:,} issues{task.fields[rate]}{task.fields[note]}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _show(bar: Progress, task: TaskID, check: Check, looked: float, waits: bool) -> None:
    tally, walk = check.tally, check.walk
    done = walk.progress[0] - 1 if isinstance(walk, ProjectWalk) else None
    note = f", {len(tally.suspects):,} to look at again" if tally.suspects else ""
    bar.update(
        task,
        description="waiting" if waits else "checking",
        completed=done,
        issues=tally.issues,
        rate=f", {tally.issues / looked:,.0f} a second" if looked > 1 else "",
        note=note,
    )


class Shown:
    """Prints findings as they come."""

    def __init__(self, console: Console, table: Table) -> None:
        self._console = console
        self._table = table
        self._catalogs = Catalogs()
        self._names: dict[tuple[str, str], dict[str, str]] = {}

    def __call__(self, finding: Finding) -> None:
        """Print a line for each difference and its outcome."""
        for one in finding.differences:
            self._print(f"{one.key}  {one.kind.value:<11} {self._place(one)}{_values(one)}")
        if finding.repaired:
            self._print(f"{finding.key}  repaired")
        elif finding.reason:
            self._print(f"{finding.key}  not repaired: {finding.reason}")

    def summary(self, check: Check, seconds: float) -> None:
        """Print the last lines: the findings of the check, and its speed."""
        tally = check.tally
        rate = f"{tally.issues / seconds:,.0f} a second" if seconds else "at once"
        self._print(f"{tally.issues:,} issues checked in {seconds:.1f} s ({rate}).")
        if tally.repaired:
            self._print(f"{tally.repaired:,} were wrong and have been repaired.")
        if tally.unsettled:
            self._print(
                f"{tally.unsettled:,} could not be judged, since users wrote to them meanwhile. Run the check again."
            )
        if tally.wrong:
            self._print(f"{tally.wrong:,} are wrong, in {tally.differences:,} places.")
        else:
            self._print("No other difference remains." if tally.unsettled else "No difference remains.")

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False)

    def _place(self, one: Difference) -> str:
        """An order, named by its field's id, which people know, and by its own id."""
        field = self._fields(one.key).get(one.place.split(".")[0])
        return one.place if field is None or field == one.place else f"{field} ({one.place})"

    def _fields(self, key: str) -> dict[str, str]:
        """Internal id -> id, for the fields of an issue's project."""
        try:
            issue = keys.parse_issue(key)
            project = issue.tenant, issue.project
            if project not in self._names:
                catalog = self._catalogs.get(self._table, *project)
                fields = (*catalog.builtins, *catalog.attributes, *catalog.hidden, *catalog.deleting)
                self._names[project] = {field.key: field.id for field in fields}
            return self._names[project]
        except (KeyError, NotFound, Overloaded, ValueError):
            return {}


def _values(one: Difference) -> str:
    if one.kind is DifferenceKind.UNDERIVABLE:
        return f": {one.found}"
    if one.expected:
        return f": {_short(one.found) or 'nothing'}, should be {_short(one.expected)}"
    return f": {_short(one.found)}" if one.found else ""


def _short(sort: str) -> str:
    text = "".join(
        part if part.isprintable() else " " for part in sort.replace(sort_strings.SEPARATOR, " / ")
    )
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 86_400:
        raise argparse.ArgumentTypeError("must be seconds, from 0 to 86400")
    return seconds
